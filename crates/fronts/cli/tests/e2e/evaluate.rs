//! `planforge evaluate`: two suites x two pipelines x two seeds with a simulated model, and the retry of
//! failed cells.

use super::support::{
    Ran, example, example_text, files, noisy_oracle, pipeline, planforge, ran, right_reply, root,
};
use super::support::{signal, wait_for};
use planforge_testkit::{Scripted, ScriptedServer, planned_and_validated, round, stage, table, toml};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const TRANSLATE: &str = stage!(translate "problem" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" });

/// A pipeline that writes only the problem, without mistakes.
fn given() -> String {
    noisy_oracle(0, table!("given" domain = true), &[TRANSLATE, planned_and_validated!()].concat())
}

/// Problem and domain, two domains a round, two rounds, measured by walks.
fn refined() -> String {
    let refine = concat!(
        stage!(refine "refine" rounds = 2 by = "ew.rating"),
        round!(translate "edit" use = "translator-edit" n = 2 roles = { writer = "main" } feedback = ["edit", "ew"]),
        round!(verify "ew" use = "verifier-ew"),
        stage!(verify "final" use = "verifier-ew" measure = true),
        planned_and_validated!(),
    );
    let head = concat!(toml!(feedback = "environment"), table!("given" interface = true objects = true));
    noisy_oracle(2, head, &[TRANSLATE, refine].concat())
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(place.path("given.toml"), given()).unwrap();
        fs::write(place.path("refined.toml"), refined()).unwrap();
        let suites =
            ["garden", "parcels"].map(|suite| format!("{:?}", example(suite, "").display().to_string()));
        let matrix = format!(
            "schema = 1\n[matrix]\nsuites = [{}]\npipelines = [\"given.toml\", \"refined.toml\"]\nseeds = \"42-43\"\ntasks = 2\n",
            suites.join(", ")
        );
        fs::write(place.path("matrix.toml"), matrix).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn evaluate(&self, args: &[&str]) -> Ran {
        let out = self.path("out").display().to_string();
        ran(["evaluate", "--out", &out].iter().chain(args))
    }

    fn matrix(&self) -> String {
        self.path("matrix.toml").display().to_string()
    }
}

/// Every file of the cells with its bytes.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = files(folder).into_iter().map(|f| (f.clone(), fs::read(f).unwrap())).collect();
    all.sort();
    all
}

#[test]
fn eight_cells_with_a_simulated_model_make_one_table() {
    let place = Place::new();
    let first = place.evaluate(&["--matrix", &place.matrix()]);
    first.expect(0);
    let (ranking, tables) = first.stdout.split_once("\n\n").unwrap();
    assert!(
        ranking.starts_with("No method is shown to be the best: given (8 of 8 tasks solved) is not shown"),
        "{ranking}"
    );
    assert!(tables.starts_with("Tasks solved: given 8 of 8, refined "), "{tables}");
    first.says(&["8 new cells: At most ", " requests, at an unknown cost, in about "]);
    assert!(first.stdout.contains(".\n\nBest@2 (tasks solved / walk score)"), "{}", first.stdout);
    for word in [
        "garden",
        "parcels",
        "given (simulated)",
        "refined (simulated)",
        "average",
        "suites solved",
        "n_p n_d c_max + N",
    ] {
        assert!(first.stdout.contains(word), "{word}:\n{}", first.stdout);
    }
    let json: Value = serde_json::from_slice(&fs::read(place.path("out/evaluation.json")).unwrap()).unwrap();
    assert_eq!(json["cells"].as_array().unwrap().len(), 8);
    let summaries = &json["rows"][0]["summaries"];
    // The model makes no mistake where the domain is given, so every task is solved and no walk is measured.
    assert_eq!((&summaries[0]["best_solved"], &summaries[0]["best_walk"]), (&1.0.into(), &Value::Null));
    assert_eq!((&summaries[0]["seeds_solved"], &summaries[0]["standing"]), (&2.into(), &"solved".into()));
    let walk = summaries[1]["best_walk"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&walk), "{walk}");
    // Two seeds of: two tasks, each with 1 * 2 * 2 domains, and one problem for each.
    assert_eq!(summaries[1]["reply_bound"], 20);
    assert!(summaries[1]["usage"]["replies"].as_u64().unwrap() <= 20);
    let lines = |file: &str| fs::read_to_string(place.path("out").join(file)).unwrap().lines().count();
    assert_eq!((lines("table.csv"), lines("cells.csv"), lines("tasks.csv")), (5, 9, 17));

    let before = contents(&place.path("out/cells"));
    let again = place.evaluate(&["--resume", "-j1"]);
    again.expect(0);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(contents(&place.path("out/cells")), before, "finished cells are only read");
}

#[test]
fn an_evaluation_fills_the_tables_of_test_time_scaling_and_its_rounds_are_shown() {
    let place = Place::new();
    let curves = place.path("curves").display().to_string();
    let first = place.evaluate(&["--matrix", &place.matrix(), "--layout", "scaling", "--curves", &curves]);
    first.expect(0);
    for part in [
        "% of tasks whose plan is valid",
        "Problem",
        "NL2Domain",
        "with PDDL",
        "Not measured: % of domains that VAL's Parser",
    ] {
        assert!(first.stdout.contains(part), "{part}:\n{}", first.stdout);
    }
    let read = |path: &str| fs::read_to_string(place.path(path)).unwrap();
    let table: Value = serde_json::from_str(&read("out/scaling.json")).unwrap();
    let rows = table["rows"].as_array().unwrap();
    let refined = rows.iter().find(|row| row["method"] == "refined").unwrap();
    let cell = &refined["cells"]["NL2Domain"];
    // Every reply of the simulated model is counted, those of rounds too.
    let (replies, parsed) =
        (cell["replies"]["replies"].as_u64().unwrap(), cell["replies"]["parsed"].as_u64().unwrap());
    assert!(
        parsed > 0 && parsed <= replies && replies == cell["usage"]["replies"].as_u64().unwrap(),
        "{cell}"
    );
    assert_eq!((&cell["rates"]["plan"]["domains"], &cell["seeds"]), (&2.into(), &2.into()));
    let csv = read("curves/curves.csv");
    assert!(csv.lines().any(|line| line.starts_with("refined,rounds,front end,1,")), "{csv}");
    assert!(read("curves/curves_rounds.svg").starts_with("<svg"));
    let plans = place.evaluate(&["--resume", "--layout", "plans", "--method", "given=LLM+P", "--markdown"]);
    plans.expect(0);
    assert!(
        plans.stdout.contains("| LLM+P (simulated)") && plans.stdout.contains("PDDL as abstraction"),
        "{}",
        plans.stdout
    );
    place.evaluate(&["--resume", "--base", "given"]).expect(0);
    place
        .evaluate(&["--resume", "--base", "gven"])
        .expect(30)
        .says(&["no method is called `gven`", "refined"]);
    place.evaluate(&["--resume", "--method", "gven=x"]).expect(30).says(&["no pipeline `gven`"]);

    let run = place.path("out/cells/garden/refined/42").display().to_string();
    let rounds_of = |args: &[&str]| ran(["runs", "rounds"].iter().chain(args));
    let told = rounds_of(&[&run, "--json"]);
    told.expect(0);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let rounds = told["tasks"][0]["candidates"][0]["rounds"].as_array().unwrap().clone();
    assert_eq!(rounds[0]["round"], 1);
    rounds_of(&[&run, "--task", "p99"]).expect(31).says(&["cli.no-rounds"]);
    rounds_of(&[&run, "--action", "no-such-action"]).expect(10).says(&["no-such-action"]);
    let given = place.path("out/cells/garden/given/42").display().to_string();
    rounds_of(&[&given]).expect(31).says(&["refined no candidate"]);
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let (one, many) = (Place::new(), Place::new());
    let first = one.evaluate(&["--matrix", &one.matrix(), "-j1"]);
    assert_eq!(many.evaluate(&["--matrix", &many.matrix(), "-j8"]).stdout, first.stdout);
    // Apart from the time that questions took, which stands before what may hold commas.
    let tasks = |place: &Place| {
        let text = fs::read_to_string(place.path("out/tasks.csv")).unwrap();
        let at = text.lines().next().unwrap().split(',').position(|column| column == "seconds").unwrap();
        let without = |line: &str| {
            let mut fields: Vec<String> = line.splitn(at + 2, ',').map(str::to_owned).collect();
            fields.remove(at);
            fields
        };
        text.lines().map(without).collect::<Vec<_>>()
    };
    assert_eq!(tasks(&one), tasks(&many));
}

#[test]
fn a_folder_holds_one_evaluation() {
    let place = Place::new();
    place.evaluate(&["--matrix", &place.matrix(), "--json"]).expect(0);
    place
        .evaluate(&["--matrix", &place.matrix()])
        .expect(30)
        .says(&["already holds an evaluation", "--resume"]);
    fs::write(place.path("refined.toml"), refined().replace("n = 2", "n = 3")).unwrap();
    let other = place.evaluate(&["--resume"]);
    other.expect(30).says(&["made with other inputs: the pipeline's text", "help: name another folder"]);
    // What is finished and unchanged is shown all the same.
    assert!(other.stdout.contains("1.00 / -") && other.stdout.contains("not run / -"), "{}", other.stdout);
}

#[test]
fn mistakes_are_found_before_any_run() {
    let place = Place::new();
    fs::write(place.path("given.toml"), given().replace("provider-noisy-oracle", "provider-nosy-oracle"))
        .unwrap();
    place.evaluate(&["--matrix", &place.matrix()]).expect(32);
    let twice = fs::read_to_string(place.path("matrix.toml")).unwrap().replace("\"42-43\"", "[4, 4]");
    fs::write(place.path("matrix.toml"), twice).unwrap();
    place
        .evaluate(&["--matrix", &place.matrix()])
        .expect(31)
        .says(&["evaluate.matrix", "seed 4 is listed twice"]);
    place.evaluate(&[]).expect(30);
    let garden = root().join("examples/suites/garden").display().to_string();
    let file = place.path("refined.toml").display().to_string();
    place
        .evaluate(&["--suite", &garden, "--pipeline", &file, "--seeds", "9-3"])
        .expect(30)
        .says(&["--seeds", "`9-3`"]);
    assert!(!place.path("out").exists(), "nothing is begun");
}

/// A model with replies to every parcels task that fails at the second until it is repaired.
struct Shaky {
    server: ScriptedServer,
    mended: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
}

impl Shaky {
    fn new() -> Self {
        let (mended, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (works, count) = (Arc::clone(&mended), Arc::clone(&asked));
        let second = example_text("parcels", "p02.nl");
        let server = ScriptedServer::matching(move |request| {
            count.fetch_add(1, Ordering::SeqCst);
            if !works.load(Ordering::SeqCst) && request.question().contains(second.trim()) {
                return Scripted::error(400, "overloaded", "this request breaks the server");
            }
            right_reply(request)
        })
        .unwrap();
        Self { server, mended, asked }
    }
}

#[test]
fn failures_are_shown_and_retried() {
    let place = Place::new();
    let shaky = Shaky::new();
    let base_url = format!("llm.main.base_url={}", shaky.server.base_url());
    let (suite, file) =
        (example("parcels", "").display().to_string(), pipeline("llm-p.toml").display().to_string());
    let first = place.evaluate(&[
        "--suite",
        &suite,
        "--pipeline",
        &file,
        "--seeds",
        "7",
        "--tasks",
        "2",
        "--set",
        &base_url,
        "--set",
        "llm.main.max_attempts=1",
    ]);
    first.expect(34);
    assert!(first.stdout.contains("0.50? / - (1f)"), "{}", first.stdout);
    let line = first.stdout.lines().next().unwrap();
    assert!(line.ends_with("1 of 2 (1 failed)."), "{line}");
    assert!(first.stdout.contains("0 of 1 (1 open)"), "{}", first.stdout);
    first.says(&["1 task failed; `planforge evaluate --retry-errors --out"]);
    assert!(first.stdout.contains("Cost unknown, or known in part: the model has no stated price."));
    let asked = shaky.asked.load(Ordering::SeqCst);
    assert_eq!(asked, 2);

    shaky.mended.store(true, Ordering::SeqCst);
    let read = place.evaluate(&["--resume"]);
    read.expect(34);
    assert_eq!(read.stdout, first.stdout, "a finished cell is only read, also where something broke in it");
    assert_eq!(shaky.asked.load(Ordering::SeqCst), asked);

    let second = place.evaluate(&["--retry-errors"]);
    second.expect(0);
    assert!(second.stdout.contains("1.00 / -") && !second.stdout.contains("simulated"), "{}", second.stdout);
    assert_eq!(shaky.asked.load(Ordering::SeqCst), asked + 1, "only what broke is asked again");

    // Without its report a cell is run again from its own journal.
    fs::remove_file(place.path("out/cells/parcels/llm-p/7/report.json")).unwrap();
    assert_eq!(place.evaluate(&["--resume"]).expect(0).stdout, second.stdout);
    assert_eq!(place.evaluate(&["--retry-errors"]).expect(0).stdout, second.stdout);
    assert_eq!(shaky.asked.load(Ordering::SeqCst), asked + 1);
}

#[test]
fn ctrl_c_in_a_later_cell_stops_all_and_resuming_sends_only_missing_requests() {
    let place = Place::new();
    // The first cell has one question; the second cell's is left without an answer.
    let server =
        ScriptedServer::matching(
            |request| {
                if request.number == 1 { Scripted::stall() } else { right_reply(request) }
            },
        )
        .unwrap();
    let base_url = format!("llm.main.base_url={}", server.base_url());
    let out = place.path("out");
    let mut command = planforge();
    command.arg("evaluate").arg("--out").arg(&out).arg("--suite").arg(example("parcels", ""));
    command
        .arg("--pipeline")
        .arg(pipeline("llm-p.toml"))
        .args(["--seeds", "1-3", "--tasks", "1", "--set", &base_url]);
    let mut child = command.spawn().unwrap();
    wait_for(&server, 2, &mut child);
    signal(&child, "INT");
    let stopped = Ran::wait(child);
    stopped.expect(29).says(&["interrupted; go on with `planforge evaluate --resume --out"]);
    assert!(stopped.stdout.contains("1.00 / - (2o)"), "{}", stopped.stdout);
    let resumed = place.evaluate(&["--resume"]);
    resumed.expect(0);
    assert!(resumed.stdout.contains("3 of 3"), "{}", resumed.stdout);
    assert_eq!(server.count(), 4, "one answer a cell, and one question that was interrupted");
}

/// A pipeline of a simulated model that writes problems with so many wrong facts, compared with the reference.
fn compared(problem_errors: u32, model: &str) -> String {
    let compare = concat!(
        stage!(verify "pddl" use = "verifier-val" options = { what = "pddl" }),
        stage!(verify "same" use = "verifier-equivalence" measure = true),
        planned_and_validated!(),
    );
    let text = noisy_oracle(0, table!("given" domain = true), &[TRANSLATE, compare].concat());
    text.replace("errors = 0", &format!("errors = 0\nproblem_errors = {problem_errors}"))
        .replace("model = \"noisy-oracle\"", &format!("model = \"{model}\""))
}

#[test]
fn the_accuracy_of_two_methods_over_two_seeds_fills_the_table() {
    let place = Place::new();
    fs::write(place.path("given.toml"), compared(0, "large")).unwrap();
    fs::write(place.path("refined.toml"), compared(1, "large")).unwrap();
    let first = place.evaluate(&["--matrix", &place.matrix(), "--layout", "accuracy"]);
    let (_, tables) = first.expect(0).stdout.split_once("\n\n").unwrap();
    let (solved, text) = tables.split_once("\n\n").unwrap();
    assert!(solved.starts_with("Tasks solved: given 8 of 8"), "{solved}");
    assert!(
        text.starts_with("% of problems that are the reference problem") && text.contains("over 2 runs"),
        "{text}"
    );
    let row = |title: &str, suite: &str| -> Vec<String> {
        let from = text.find(title).unwrap_or_else(|| panic!("{title}:\n{text}"));
        let line = text[from..].lines().find(|line| line.starts_with(suite)).unwrap();
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("% of problems that are the reference", "garden"), ["garden", "100", "0"]);
    assert_eq!(row("% of problems that are the reference", "average "), ["average", "100", "0"]);
    // A wrong problem can be valid and even lead to a right plan; both stand beside the accuracy.
    assert_eq!(row("% of problems that are valid", "parcels"), ["parcels", "100", "100"]);
    assert_eq!(row("% of tasks solved", "parcels")[..2], ["parcels", "100"]);
    assert!(text.contains("refined (simulated)"), "{text}");
    let read = |file: &str| fs::read_to_string(place.path("out").join(file)).unwrap();
    // On screen, prose fits a terminal.
    assert_eq!(planforge_evaluate::wrapped(&read("accuracy.txt")), text);
    assert!(read("accuracy.md").contains("| garden "));
    let csv = read("accuracy.csv");
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.contains("garden,large,given,true,2,4,100.0000,100.0000,0.0000,"), "{csv}");
    assert!(read("tasks.csv").contains(",equivalent,yes,") && read("tasks.csv").contains(",different,yes,"));

    // Another model beside it, from an evaluation of its own.
    let other = Place::new();
    fs::write(other.path("given.toml"), compared(1, "small")).unwrap();
    fs::write(other.path("refined.toml"), compared(0, "small")).unwrap();
    other.evaluate(&["--matrix", &other.matrix(), "--json"]).expect(0);
    let also = other.path("out").display().to_string();
    let both = place.evaluate(&["--resume", "--layout", "accuracy", "--also", &also, "--json"]).json(0);
    let columns: Vec<String> = both["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| format!("{} {}", c["model"].as_str().unwrap(), c["pipeline"].as_str().unwrap()))
        .collect();
    assert_eq!(columns, ["large given", "large refined", "small given", "small refined"]);
    let means: Vec<f64> = (0..4).map(|i| both["cells"][0][i]["accuracy"]["mean"].as_f64().unwrap()).collect();
    assert_eq!(means, [100.0, 0.0, 0.0, 100.0]);
    let own = place.path("out").display().to_string();
    place
        .evaluate(&["--resume", "--layout", "accuracy", "--also", &own])
        .expect(30)
        .says(&["--also", "`garden` is there twice under large and given"]);
    place.evaluate(&["--resume", "--also", "/nonexistent"]).expect(31);
}

#[test]
fn the_deciding_stage_can_be_named() {
    let place = Place::new();
    fs::write(place.path("given.toml"), compared(0, "m")).unwrap();
    fs::write(place.path("refined.toml"), compared(1, "m")).unwrap();
    let by = |label: &str| {
        place.evaluate(&["--matrix", &place.matrix(), "--layout", "accuracy", "--accuracy-by", label])
    };
    by("plan").expect(30).says(&["no pipeline has a verify stage `plan`"]);
    assert!(!place.path("out").exists());
    let text = by("environment").expect(0).stdout.clone();
    assert!(text.lines().find(|l| l.starts_with("garden")).unwrap().contains("100"), "{text}");
    // Without a stage that compares there is nothing to show.
    let bare = Place::new();
    let shown = bare.evaluate(&["--matrix", &bare.matrix(), "--layout", "accuracy"]);
    let line = shown.expect(0).stdout.lines().find(|l| l.starts_with("garden")).unwrap().to_owned();
    assert_eq!(line.matches("not measured").count(), 2, "{}", shown.stdout);
    assert!(!bare.path("out/accuracy.csv").exists());
}

#[test]
fn a_reply_without_a_problem_counts_against_a_method_and_a_broken_server_does_not() {
    let place = Place::new();
    let (suite, file) =
        (example("parcels", "").display().to_string(), pipeline("llm-p.toml").display().to_string());
    let first = example_text("parcels", "p01.nl");
    let server = ScriptedServer::matching(move |request| match request.question().contains(first.trim()) {
        true => Scripted::replies(&["I would rather not."]),
        false => Scripted::error(500, "overloaded", "not now"),
    })
    .unwrap();
    let base_url = format!("llm.main.base_url={}", server.base_url());
    let mut args = vec!["--suite", &suite, "--pipeline", &file, "--seeds", "1", "--set", &base_url];
    args.extend(["--set", "llm.main.max_attempts=1", "--layout", "accuracy", "--tasks"]);
    let two: Vec<&str> = args.iter().copied().chain(["2"]).collect();
    let shown = place.evaluate(&two).expect(34).stdout.clone();
    let rows = shown.lines().filter(|l| l.starts_with("parcels") && l.ends_with("0? (1f)")).count();
    assert_eq!(rows, 3, "one table each for equivalent, valid and solved:\n{shown}");
    let alone = Place::new();
    let one: Vec<&str> = args.iter().copied().chain(["1"]).collect();
    let shown = alone.evaluate(&one).stdout;
    let rows: Vec<&str> = shown.lines().filter(|l| l.starts_with("parcels")).collect();
    assert!(rows.iter().all(|row| row.split_whitespace().last() == Some("0")), "{shown}");
}

#[test]
fn a_recorded_evaluation_gives_the_same_table_without_a_model() {
    let (place, again) = (Place::new(), Place::new());
    let server = ScriptedServer::matching(right_reply).unwrap();
    let base_url = format!("llm.main.base_url={}", server.base_url());
    let (suite, file) =
        (example("parcels", "").display().to_string(), pipeline("llm-p.toml").display().to_string());
    let cassettes = place.path("cassettes").display().to_string();
    let shared =
        ["--suite", &suite, "--pipeline", &file, "--seeds", "1-2", "--tasks", "2", "--layout", "accuracy"];
    let with =
        |more: &[&str]| -> Vec<String> { shared.iter().chain(more).map(|s| (*s).to_owned()).collect() };
    let record = with(&["--set", &base_url, "--record", &cassettes]);
    let record: Vec<&str> = record.iter().map(String::as_str).collect();
    let first = place.evaluate(&record);
    first.expect(0);
    assert_eq!(server.count(), 4);
    let mut names: Vec<String> = files(&place.path("cassettes"))
        .iter()
        .map(|f| f.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["parcels.llm-p.1.jsonl", "parcels.llm-p.2.jsonl"]);
    drop(server);
    let replay = with(&["--set", "llm.main.base_url=http://127.0.0.1:9/v1", "--replay", &cassettes]);
    let replay: Vec<&str> = replay.iter().map(String::as_str).collect();
    assert_eq!(again.evaluate(&replay).expect(0).stdout, first.stdout);
    // A cell without its cassette is an error that names it, and the other cells are in the table.
    fs::remove_file(place.path("cassettes/parcels.llm-p.2.jsonl")).unwrap();
    let lacking = Place::new();
    let ran = lacking.evaluate(&replay);
    assert!(ran.exit >= 30, "{} {}", ran.exit, ran.stdout);
    ran.says(&["parcels.llm-p.2.jsonl"]);
    assert!(ran.stdout.contains("(2o)"), "{}", ran.stdout);
}
