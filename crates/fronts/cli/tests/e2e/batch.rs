//! Requests in batch files: how a run parks, resumes, and ends with the result of a direct run.

use super::support::{
    Ran, example, example_text, fenced, files, pipeline, planforge, ran, right_reply, root, verdict,
};
use planforge_testkit::{Choice, Scripted, ScriptedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A shipped pipeline whose model is that table.
pub(super) fn with_model(folder: &Path, name: &str, file: &str, table: &str) -> PathBuf {
    let text = fs::read_to_string(pipeline(&format!("{name}.toml"))).unwrap();
    // Its paths are relative to where it was.
    let text = text.replace("../../examples/suites", &example("", "").display().to_string());
    let (before, rest) = text.split_once("[llm.main]\n").unwrap();
    let (_, after) = rest.split_once("\n[").unwrap();
    let path = folder.join(file);
    fs::write(&path, format!("{before}[llm.main]\n{table}\n[{after}")).unwrap();
    path
}

pub(super) const BATCH: &str = "use = \"provider-batch\"\nmodel = \"noisy-oracle\"\n";

/// A folder with one run.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, lines: &[String]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        path
    }

    /// Starts `llm-p` on these parcels tasks.
    fn start(&self, stems: &[&str], more: &[&str]) -> Ran {
        let file = with_model(self.folder.path(), "llm-p", "batch.toml", BATCH);
        let mut command = planforge();
        command.arg("run").arg(file).arg("--runs").arg(self.path("runs")).args(more);
        for stem in stems {
            command.arg("--task").arg(example("parcels", stem));
        }
        Ran::wait(command.spawn().unwrap())
    }

    fn run(&self) -> PathBuf {
        let folders: Vec<PathBuf> =
            fs::read_dir(self.path("runs")).unwrap().map(|e| e.unwrap().path()).collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].clone()
    }

    fn resume(&self, answers: &[&Path]) -> Ran {
        let mut command = planforge();
        command.arg("run").arg("--resume").arg(self.run()).arg("--json");
        for file in answers {
            command.arg("--answers").arg(file);
        }
        Ran::wait(command.spawn().unwrap())
    }

    fn batch(&self) -> PathBuf {
        self.run().join("batch")
    }
}

/// The lines of a request file.
pub(super) fn requests(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn id(request: &Value) -> String {
    request["custom_id"].as_str().unwrap().to_owned()
}

/// The right reply to a question about a parcels task, by hand.
pub(super) fn by_hand(request: &Value) -> String {
    let question = request["body"]["messages"].to_string();
    let stem = ["p01", "p02", "p03"].into_iter().find(|stem| {
        let text = Value::from(example_text("parcels", &format!("{stem}.nl")).trim()).to_string();
        question.contains(text.trim_matches('"'))
    });
    let content = fenced(&example_text("parcels", &format!("{}.pddl", stem.unwrap())));
    json!({"custom_id": id(request), "content": content}).to_string()
}

fn error_line(request: &Value, line: Value) -> String {
    let mut line = line;
    line["custom_id"] = id(request).into();
    line.to_string()
}

#[test]
fn a_run_leaves_its_questions_ends_with_26_and_goes_on_with_answers_by_hand() {
    let place = Place::new();
    let first = place.start(&["p01", "p02"], &["--json"]);
    let report = first.json(26);
    assert_eq!((&report["state"], verdict(&report, 0)), (&"parked".into(), "none"));
    let pending = &report["pending"];
    assert_eq!([&pending["pending"], &pending["new"], &pending["open"]], [2, 2, 0]);
    let file = place.batch().join("requests-0001.jsonl");
    first.says(&["2 requests wait", &file.display().to_string(), "planforge run --resume", "--answers FILE"]);
    let asked = requests(&place.batch(), "requests-0001.jsonl");
    assert_eq!(asked.len(), 2);
    for request in &asked {
        assert_eq!((&request["method"], &request["url"]), (&"POST".into(), &"/v1/chat/completions".into()));
        assert_eq!(
            (&request["body"]["model"], request["body"].get("stream")),
            (&"noisy-oracle".into(), None)
        );
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        assert!(id(request).len() <= 64 && id(request).chars().all(plain), "{request}");
    }

    // Nothing has come: the same question stands in no second file.
    let report = place.resume(&[]).json(26);
    assert_eq!([&report["pending"]["new"], &report["pending"]["open"]], [0, 2]);
    assert!(!place.batch().join("requests-0002.jsonl").exists());

    // One is answered, the other still waits.
    let one = place.write("one.jsonl", &[by_hand(&asked[1])]);
    let report = place.resume(&[&one]).json(26);
    assert_eq!([verdict(&report, 0), verdict(&report, 1)], ["none", "accepted"]);
    assert_eq!([&report["pending"]["pending"], &report["pending"]["open"]], [1, 1]);
    assert!(place.batch().join("answers/one.jsonl").exists(), "answers are kept with the run");

    // The rest is put where answers are looked for.
    fs::write(place.batch().join("answers/two.jsonl"), by_hand(&asked[0])).unwrap();
    let done = place.resume(&[]);
    let report = done.json(0);
    assert_eq!([verdict(&report, 0), verdict(&report, 1)], ["accepted"; 2]);
    assert!(report.get("pending").is_none());
    assert_eq!(report["tasks"][0]["usage"]["main"]["unmetered"], 1, "nobody counted the tokens");

    // From now on the record has it all.
    fs::remove_dir_all(place.batch()).unwrap();
    assert_eq!(
        ran(["replay".as_ref(), place.run().as_os_str(), "--json".as_ref()]).expect(0).stdout,
        done.stdout
    );
}

#[test]
fn transient_errors_are_retried_and_others_are_failures() {
    let place = Place::new();
    place.start(&["p01", "p02", "p03"], &[]).expect(26);
    let asked = requests(&place.batch(), "requests-0001.jsonl");
    let errors = [
        error_line(
            &asked[0],
            json!({"response": null, "error": {"code": "batch_expired", "message": "late"}}),
        ),
        error_line(
            &asked[1],
            json!({"response": {"status_code": 429, "body": {"error": {"message": "slow down"}}}}),
        ),
        error_line(
            &asked[2],
            json!({"response": {"status_code": 400, "body": {"error": {"message": "no such field"}}}}),
        ),
    ];
    let errors = place.write("errors.jsonl", &errors);
    let ran = place.resume(&[&errors]);
    let report = ran.json(26);
    assert_eq!([0, 1, 2].map(|task| verdict(&report, task)), ["none", "none", "failed"]);
    assert_eq!(report["tasks"][2]["verdict"]["failure"]["code"], "llm.bad-request");
    let pending = &report["pending"];
    assert_eq!([&pending["again"], &pending["new"], &pending["open"]], [2, 0, 0]);
    assert_eq!(
        (&pending["failed"]["timeout"], &pending["failed"]["rate-limited (429)"]),
        (&1.into(), &1.into())
    );
    ran.says(&["2 sent again", "rate-limited (429)"]);
    let again: Vec<String> = requests(&place.batch(), "requests-0002.jsonl").iter().map(id).collect();
    assert_eq!(again, [id(&asked[0]), id(&asked[1])], "the same questions under the same names");
    // They are asked once for each time that they failed.
    let report = place.resume(&[]).json(26);
    assert_eq!([&report["pending"]["again"], &report["pending"]["open"]], [0, 2]);

    let answers: Vec<String> = asked[..2].iter().map(by_hand).collect();
    let report = place.resume(&[&place.write("answers.jsonl", &answers)]).json(34);
    assert_eq!([0, 1, 2].map(|task| verdict(&report, task)), ["accepted", "accepted", "failed"]);
}

#[test]
fn all_invalid_answer_lines_are_reported_and_nothing_is_kept() {
    let place = Place::new();
    place.start(&["p01"], &[]).expect(26);
    let asked = requests(&place.batch(), "requests-0001.jsonl");
    let before = files(&place.run());
    let wrong = place.write(
        "wrong.jsonl",
        &[
            by_hand(&asked[0]),
            "not json".into(),
            error_line(&asked[0], json!({"content": ""})),
            json!({"content": "whose?"}).to_string(),
        ],
    );
    let ran = place.resume(&[&wrong]);
    ran.expect(31).says(&["wrong.jsonl:2", "wrong.jsonl:3", "wrong.jsonl:4", "3 errors", "batch.line"]);
    let twice = [by_hand(&asked[0]), error_line(&asked[0], json!({"content": "something else"}))];
    let twice = place.write("twice.jsonl", &twice);
    place.resume(&[&twice]).expect(31).says(&[
        "batch.twice",
        "twice.jsonl:1",
        "twice.jsonl:2",
        &id(&asked[0]),
    ]);
    fs::write(place.path("bytes.jsonl"), b"{\"custom_id\": \"\xff\"}\n").unwrap();
    let missing = place.path("missing.jsonl");
    place.resume(&[&place.path("bytes.jsonl"), &missing]).expect(31).says(&["not UTF-8", "missing.jsonl"]);
    assert_eq!(files(&place.run()), before, "nothing was kept and nothing was run");
    ran_usage(&place);
}

/// Answers without a run to resume are a usage error.
fn ran_usage(place: &Place) {
    place.start(&["p01"], &["--answers", "x.jsonl"]).expect(30);
}

#[test]
fn truncated_and_foreign_answers_are_reported_and_the_rest_is_used() {
    let place = Place::new();
    place.start(&["p01", "p02"], &[]).expect(26);
    let asked = requests(&place.batch(), "requests-0001.jsonl");
    let answers: Vec<String> = asked.iter().map(by_hand).collect();
    let stray = json!({"custom_id": "pf-of-another-run", "content": "x"}).to_string();
    let whole = format!("{}\n{stray}\n{}\n", answers[0], answers[1]);
    let file = place.path("answers.jsonl");
    fs::write(&file, &whole[..whole.len() - 20]).unwrap();
    let ran = place.resume(&[&file]);
    let report = ran.json(26);
    ran.says(&["batch.torn", "answers.jsonl:3", "batch.unknown-id", "pf-of-another-run"]);
    assert_eq!([verdict(&report, 0), verdict(&report, 1)], ["accepted", "none"]);
    assert_eq!(report["pending"]["unknown"][0][0], "pf-of-another-run");
    // The same file, once it is complete, takes the place of what was there of it.
    fs::write(&file, &whole).unwrap();
    let ran = place.resume(&[&file]);
    assert_eq!(verdict(&ran.json(0), 1), "accepted");
    assert!(!ran.stderr.contains("batch.torn"), "{}", ran.stderr);
    assert_eq!(fs::read_dir(place.batch().join("answers")).unwrap().count(), 1);
}

/// A question that waits goes to no other model of its role; one that failed does.
#[test]
fn a_fallback_model_is_used_after_an_error_and_not_while_an_answer_is_pending() {
    let place = Place::new();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let backup = format!(
        "{BATCH}\n[llm.backup]\nuse = \"provider-openai\"\nmodel = \"b\"\nbase_url = {:?}\n",
        server.base_url()
    );
    let file = with_model(place.folder.path(), "llm-p", "several.toml", &backup);
    let text = fs::read_to_string(&file).unwrap();
    let several = text.replace("writer = \"main\"", "writer = [\"main\", \"backup\"]");
    assert_ne!(text, several);
    fs::write(&file, several).unwrap();
    let mut command = planforge();
    command.arg("run").arg(file).arg("--runs").arg(place.path("runs")).arg("--json");
    command.arg("--task").arg(example("parcels", "p01"));
    Ran::wait(command.spawn().unwrap()).expect(26);
    place.resume(&[]).expect(26);
    assert_eq!(server.count(), 0);
    let asked = requests(&place.batch(), "requests-0001.jsonl");
    let refusal = json!({"response": {"status_code": 400, "body": {"error": {"message": "no such field"}}}});
    let report = place.resume(&[&place.write("refused.jsonl", &[error_line(&asked[0], refusal)])]).json(0);
    assert_eq!((verdict(&report, 0), server.count()), ("accepted", 1));
}

/// The example's script, with a server and by hand. Skipped if there is no Python.
#[test]
fn the_example_s_script_answers_a_file_with_a_server_and_by_hand() {
    let place = Place::new();
    place.start(&["p01", "p02"], &[]).expect(26);
    let script = root().join("examples/batch/answer.py");
    let answers = place.path("answers.jsonl");
    let answer = |how: &[&str], input: &str| {
        let mut command = Command::new("python3");
        command.arg(&script).arg(place.batch().join("requests-0001.jsonl")).arg(&answers).args(how);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().ok()?;
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Some(child.wait().unwrap().success())
    };
    let server = ScriptedServer::matching(right_reply).unwrap();
    let Some(good) = answer(&["--server", &server.base_url()], "") else {
        println!("skipped: there is no python3");
        return;
    };
    assert!(good && server.count() == 2);
    assert_eq!(answer(&["--server", &server.base_url()], ""), Some(true));
    assert_eq!(server.count(), 2, "what is answered is not asked again");
    // An error is no answer, and a line that was cut off never came.
    let text = fs::read_to_string(&answers).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    let id = first.split('"').nth(3).unwrap();
    let failed = format!(
        r#"{{"custom_id": "{id}", "response": {{"status_code": 503, "body": {{}}}}, "error": null}}"#
    );
    fs::write(&answers, format!("{failed}\n{}", &second[..40])).unwrap();
    assert_eq!(answer(&["--server", &server.base_url()], ""), Some(true));
    assert_eq!(server.count(), 4);
    let report = place.resume(&[&answers]).json(0);
    assert_eq!([verdict(&report, 0), verdict(&report, 1)], ["accepted"; 2]);

    let place = Place::new();
    place.start(&["p01"], &[]).expect(26);
    let answers = place.path("by-hand.jsonl");
    let mut command = Command::new("python3");
    command.arg(&script).arg(place.batch().join("requests-0001.jsonl")).arg(&answers).arg("--by-hand");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let input = format!("{}\n.\n", fenced(&example_text("parcels", "p01.pddl")));
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(verdict(&place.resume(&[&answers]).json(0), 0), "accepted");
}

#[test]
fn an_explained_plan_can_be_pending_too() {
    let place = Place::new();
    place.start(&["p01"], &["--explain-plan", "main"]).expect(26);
    let first = requests(&place.batch(), "requests-0001.jsonl");
    let report = place.resume(&[&place.write("a.jsonl", &[by_hand(&first[0])])]).json(26);
    assert_eq!((verdict(&report, 0), &report["pending"]["new"]), ("accepted", &1.into()));
    let second = requests(&place.batch(), "requests-0002.jsonl");
    let words = error_line(&second[0], json!({"content": "The van drives."}));
    let report = place.resume(&[&place.write("b.jsonl", &[words])]).json(0);
    assert!(report["told"].to_string().contains("The van drives."), "{}", report["told"]);
}

#[test]
fn cells_of_an_evaluation_share_batch_files_and_run_on_independently() {
    let place = Place::new();
    // The same pipeline under two names asks the same questions at the same places.
    for name in ["one.toml", "two.toml"] {
        with_model(place.folder.path(), "llm-p", name, BATCH);
    }
    let other = with_model(place.folder.path(), "llm-p", "other.toml", &BATCH.replace("noisy-oracle", "a/b"));
    let out = place.path("out").display().to_string();
    let mut args: Vec<String> =
        ["evaluate", "--out", &out, "--seeds", "1", "--tasks", "2"].map(str::to_owned).into();
    args.extend(["--suite".to_owned(), example("parcels", "").display().to_string()]);
    for file in [place.path("one.toml"), place.path("two.toml"), other] {
        args.extend(["--pipeline".to_owned(), file.display().to_string()]);
    }
    let first = ran(args);
    first.expect(26).says(&["4 requests wait", "planforge evaluate --resume --out"]);
    let batch = place.path("out/batch");
    let asked = requests(&batch, "requests-0001.noisy-oracle.jsonl");
    let others = requests(&batch, "requests-0001.a-b.jsonl");
    assert_eq!((asked.len(), others.len()), (2, 2), "four cells' tasks are two questions to this model");
    assert!(asked.iter().chain(&others).all(|r| r["body"]["seed"].is_u64()));

    let answers: Vec<String> = asked.iter().map(by_hand).collect();
    let file = place.write("answers.jsonl", &answers).display().to_string();
    let next = ran(["evaluate", "--resume", "--out", &out, "--answers", &file, "--json"]);
    let table = next.json(26);
    next.says(&["2 requests wait", "0 new", "2 open"]);
    assert_eq!(table["pending"]["open"], 2, "{}", table["pending"]);
    for cell in table["cells"].as_array().unwrap() {
        let outcomes: Vec<&str> =
            cell["tasks"].as_array().unwrap().iter().map(|task| task["outcome"].as_str().unwrap()).collect();
        let waits = cell["pipeline"] == "other";
        assert_eq!(outcomes, if waits { ["unfinished"; 2] } else { ["solved"; 2] }, "{cell}");
    }
    let answers: Vec<String> = others.iter().map(by_hand).collect();
    place.write("out/batch/answers/others.jsonl", &answers);
    ran(["evaluate", "--resume", "--out", &out]).expect(0);
}

/// The result of a run, without the parts that depend on the provider.
fn report(run: &Ran) -> String {
    let mut report: Value = serde_json::from_str(&run.stdout).unwrap();
    report.as_object_mut().unwrap().remove("prices");
    report.to_string()
}

/// The replies of a live run by messages and seed.
fn recorded(run: &Path) -> BTreeMap<String, Value> {
    use planforge_record::{Lookup, RunFolder};
    let record = RunFolder::open(run, Arc::default()).unwrap();
    let mut replies = BTreeMap::new();
    for key in record.completion_keys() {
        let completion = record.completion(&key).unwrap().unwrap();
        let sampling = &completion.request["sampling"];
        let asked = format!("{} {}", sampling["seed"], completion.request["messages"]);
        replies.insert(asked, json!(completion.result.expect("a live run without failures")));
    }
    replies
}

/// A service's line for a request, out of what was recorded.
fn served(request: &Value, replies: &BTreeMap<String, Value>) -> String {
    let asked = format!("{} {}", request["body"]["seed"], request["body"]["messages"]);
    let result = &replies.get(&asked).unwrap_or_else(|| panic!("the live run did not ask {request}"));
    let choice = |(index, reply): (usize, &Value)| {
        let logprobs = &reply["logprobs"];
        let logprobs = if logprobs.is_null() { Value::Null } else { json!({"content": logprobs}) };
        let message = json!({"role": "assistant", "content": reply["content"]});
        json!({"index": index, "message": message, "finish_reason": reply["finish"], "logprobs": logprobs})
    };
    let choices: Vec<Value> = result["replies"].as_array().unwrap().iter().enumerate().map(choice).collect();
    let body = json!({"model": result["model"], "choices": choices, "usage": result["usage"]});
    let response = json!({"status_code": 200, "request_id": "r", "body": body});
    json!({"id": "b", "custom_id": id(request), "response": response, "error": null}).to_string()
}

/// A plan, a text or a criticism, by the seed: what kind of answer it is matters less than that it is always the same.
fn scripted(request: &ScriptedRequest) -> Scripted {
    let body = request.json();
    let seed = body["seed"].as_u64().unwrap_or(0);
    let texts = [
        "```\n(move robot1 room1 room2)\n(pick robot1 ball1 room1 lgripper1)\n```\n",
        "There is nothing wrong with it. No errors were found.\n\nVerdict: correct\n",
        "1. The plan does not reach the goal.\n\nVerdict: wrong\n",
        "```toml\n[predicates]\n```\n",
    ];
    let choice = |index: u64| Choice::new(texts[((seed + index) % 4) as usize]);
    // As many local servers do, it gives no more than two replies at a time.
    let n = body["n"].as_u64().unwrap_or(1).min(2);
    Scripted::choices(&(0..n).map(choice).collect::<Vec<_>>())
}

/// A shipped pipeline, made small.
struct Shipped {
    name: &'static str,
    /// True if the simulated model can reply; otherwise a scripted one does.
    simulated: bool,
    /// Replacements that make the pipeline smaller.
    less: &'static [(&'static str, &'static str)],
    /// Waves of questions, each of which needs the answers to the one before.
    waves: usize,
}

fn shipped(name: &'static str, waves: usize, less: &'static [(&'static str, &'static str)]) -> Shipped {
    let simulated = !name.starts_with("intrinsic") && name != "describe";
    Shipped { name, simulated, less, waves }
}

const ROUNDS: &[(&str, &str)] = &[("rounds = 5", "rounds = 2")];
const TREE: &[(&str, &str)] = &[("n = 5", "n = 2"), ("n = 10", "n = 2"), ("rounds = 4", "rounds = 2")];

fn all_shipped() -> Vec<Shipped> {
    vec![
        shipped("actions", 1, &[]),
        shipped("actions-corrective", 2, &[]),
        shipped("actions-grown", 8, &[]),
        shipped("actions-whole", 3, &[]),
        shipped("bon", 1, &[]),
        shipped("bon-clusters", 1, &[]),
        shipped("bon-fan-out", 1, &[]),
        shipped("bon-ivml", 5, ROUNDS),
        shipped("bon-ivml-budget", 8, &[("calls = 40", "calls = 8")]),
        shipped("bon-ivml-critics", 5, ROUNDS),
        shipped("bon-ivml-fan-out", 5, ROUNDS),
        shipped("bon-ivml-prob2domain", 5, ROUNDS),
        shipped("bon-ivml-problem", 5, ROUNDS),
        shipped("bon-prob2domain", 1, &[]),
        shipped("describe", 1, &[]),
        shipped("intrinsic", 1, &[]),
        shipped("intrinsic-cot", 1, &[]),
        shipped("intrinsic-pass1", 1, &[]),
        shipped("intrinsic-pass8", 1, &[]),
        shipped("intrinsic-self-critique", 6, ROUNDS),
        shipped("ivml-single", 5, ROUNDS),
        shipped("llm-p", 1, &[]),
        shipped("pd-chain", 4, &[("rounds = 4", "rounds = 2")]),
        shipped("pd-search", 5, &[("calls = 200", "calls = 3")]),
        shipped("pd-tree", 4, TREE),
        shipped("pd-tree-domprop", 5, TREE),
        shipped("pd-tree-joint", 4, TREE),
        shipped("solve", 5, &[]),
        shipped("tic-g1", 1, &[]),
        shipped("tic-g3", 3, &[]),
        shipped("tic-ic", 1, &[]),
    ]
}

fn run_command(file: &Path, runs: &Path, jobs: usize, stems: &[&str]) -> Ran {
    let mut command = planforge();
    command.arg("run").arg(file).args(["--json", "--seed", "3", "--runs"]).arg(runs);
    command.arg(format!("--jobs={jobs}"));
    for stem in stems {
        command.arg("--task").arg(example("grippers", stem));
    }
    Ran::wait(command.spawn().unwrap())
}

fn only(runs: &Path) -> PathBuf {
    fs::read_dir(runs).unwrap().next().unwrap().unwrap().path()
}

/// Runs it at once, then in waves that are answered out of the record of the first, at one job and at eight in turn. Returns how many waves.
fn in_waves(shipped: &Shipped, first_jobs: usize) -> (usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let suite = format!("{:?}", example("grippers", "").display().to_string());
    let server = ScriptedServer::matching(scripted).unwrap();
    let table = match shipped.simulated {
        true => format!(
            "use = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = [{suite}]\nerrors = 2\n\
             critic = {{ finds = 0.8, false_findings = 0.1 }}\nlikelihood = {{ per_mistake = 2.0 }}\n"
        ),
        false => format!(
            "use = \"provider-openai\"\nmodel = \"noisy-oracle\"\nbase_url = {:?}\n",
            server.base_url()
        ),
    };
    let smaller = |file: PathBuf| {
        let mut text = fs::read_to_string(&file).unwrap();
        for (from, to) in shipped.less {
            assert!(text.contains(from), "{}: {from}", shipped.name);
            text = text.replace(from, to);
        }
        fs::write(&file, text).unwrap();
        file
    };
    let live = smaller(with_model(folder.path(), shipped.name, "live.toml", &table));
    // Two tasks where a fan-out stage carries the result of the first over to the second.
    let stems: &[&str] = if shipped.name.starts_with("pd-") || shipped.name.ends_with("fan-out") {
        &["p01", "p02"]
    } else {
        &["p01"]
    };
    let live = run_command(&live, &folder.path().join("live"), 4, stems);
    let replies = recorded(&only(&folder.path().join("live")));
    let batch = smaller(with_model(folder.path(), shipped.name, "batch.toml", BATCH));
    let runs = folder.path().join("runs");
    let mut ran = run_command(&batch, &runs, first_jobs, stems);
    let run = only(&runs);
    let mut asked = Vec::new();
    let mut waves = 0;
    while ran.exit == 26 {
        waves += 1;
        let name = format!("requests-{waves:04}.jsonl");
        let lines: Vec<String> =
            requests(&run.join("batch"), &name).iter().map(|request| served(request, &replies)).collect();
        asked.push(fs::read_to_string(run.join("batch").join(&name)).unwrap());
        let answers = folder.path().join(format!("answers-{waves}.jsonl"));
        fs::write(&answers, lines.join("\n") + "\n").unwrap();
        let mut command = planforge();
        command.arg("run").arg("--resume").arg(&run).arg("--answers").arg(&answers);
        command.args([
            "--json",
            &format!("--jobs={}", if waves % 2 == 0 { first_jobs } else { 9 - first_jobs }),
        ]);
        ran = Ran::wait(command.spawn().unwrap());
    }
    assert_eq!(ran.exit, live.exit, "{}: {}\n{}", shipped.name, ran.stderr, live.stderr);
    assert_eq!(report(&ran), report(&live), "{}", shipped.name);
    assert!(!run.join(format!("batch/requests-{:04}.jsonl", waves + 1)).exists());
    let all: usize = asked.iter().map(|file| file.lines().count()).sum();
    assert_eq!(all, replies.len(), "{}: each question is asked once, and no other", shipped.name);
    (waves, asked)
}

/// Every shipped pipeline is covered, and each gives the same result.
#[test]
fn every_shipped_pipeline_has_the_same_result_in_batch_waves() {
    let all = all_shipped();
    let mut names: Vec<String> = fs::read_dir(pipeline(""))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, all.iter().map(|shipped| shipped.name).collect::<Vec<_>>());
    let (next, other) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(shipped) = all.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let (waves, asked) = in_waves(shipped, 8);
                    if waves != shipped.waves {
                        let told = format!("{}: {waves} waves, not {}", shipped.name, shipped.waves);
                        other.lock().unwrap().push(told);
                    }
                    let questions: usize = asked.iter().map(|file| file.lines().count()).sum();
                    println!("{:<26} {waves:>3} waves {questions:>4} questions", shipped.name);
                }
            });
        }
    });
    assert_eq!(other.into_inner().unwrap(), Vec::<String>::new());
}

#[test]
fn one_job_and_eight_jobs_write_the_same_batch_files() {
    for shipped in all_shipped().iter().filter(|shipped| ["actions-whole", "pd-tree"].contains(&shipped.name))
    {
        assert_eq!(in_waves(shipped, 1), in_waves(shipped, 8), "{}", shipped.name);
    }
}
