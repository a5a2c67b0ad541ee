//! `planforge evaluate` over a matrix with models: columns, folders, and overrides that do not fit.

use super::support::{Ran, example, pipeline, planforge, ran, right_reply};
use super::support::{signal, wait_for};
use planforge_testkit::{Scripted, ScriptedServer, planned_and_validated, stage, table, toml};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A pipeline of a simulated model that writes problems, compared with the reference.
const PIPELINE: &str = concat!(
    toml!(schema = 1),
    table!("given" domain = true),
    table!("llm.main" use = "provider-noisy-oracle" model = "noisy-oracle" suites = [GARDEN] errors = 0),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" } options = { mode = "problem" }),
    stage!(verify "same" use = "verifier-equivalence" measure = true),
    planned_and_validated!(),
);

pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Two pipelines, two models, two seeds, two tasks of one suite.
    fn new() -> Self {
        Self::with_tasks(2)
    }

    /// Two pipelines, two models, two seeds, and so many tasks of one suite.
    pub(crate) fn with_tasks(tasks: usize) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let garden = format!("{:?}", example("garden", "").display().to_string());
        let text = PIPELINE.replace("GARDEN", &garden);
        fs::write(place.path("one.toml"), &text).unwrap();
        fs::write(place.path("two.toml"), text).unwrap();
        let matrix = format!(
            "schema = 1
[matrix]
suites = [{garden}]
pipelines = [\"one.toml\", \"two.toml\"]
seeds = \"7-8\"
tasks = {tasks}
[matrix.models.right]
set = [\"llm.main.model=right\"]
[matrix.models.wrong]
set = [\"llm.main.model=other\", \"llm.main.problem_errors=2\"]
"
        );
        fs::write(place.path("matrix.toml"), matrix).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn evaluate(&self, args: &[&str]) -> Ran {
        let out = self.path("out").display().to_string();
        ran(["evaluate", "--out", &out].iter().chain(args))
    }

    pub(crate) fn matrix(&self) -> String {
        self.path("matrix.toml").display().to_string()
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(file)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.path(file), text.replace(from, to)).unwrap();
    }
}

#[test]
fn each_pipeline_with_each_model_is_a_column_with_separate_folders() {
    let place = Place::new();
    let first = place.evaluate(&["--matrix", &place.matrix(), "--layout", "accuracy"]);
    first.expect(0);
    // The layout tells models and pipelines apart.
    for word in ["right: one", "wrong: two", "(simulated)", " 100 "] {
        assert!(first.stdout.contains(word), "{word}:\n{}", first.stdout);
    }
    for column in ["one@right", "one@wrong", "two@right", "two@wrong"] {
        for seed in ["7", "8"] {
            assert!(place.path("out/cells/garden").join(column).join(seed).join("report.json").exists());
        }
    }
    let walks = place.evaluate(&["--resume"]);
    walks.expect(0);
    for word in ["one@right", "two@wrong", "(simulated)"] {
        assert!(walks.stdout.contains(word), "{word}:\n{}", walks.stdout);
    }
    let read = |name: &str| fs::read_to_string(place.path("out").join(name)).unwrap();
    let evaluation: Value = serde_json::from_str(&read("evaluation.json")).unwrap();
    assert_eq!(evaluation["columns"][1]["model"], "wrong");
    assert_eq!(evaluation["columns"][1]["judges"]["models"][0], "other");
    assert_eq!(evaluation["cells"][0]["model"], "right");
    assert!(read("cells.csv").lines().any(|line| line.starts_with("garden,one,wrong,8,finished,")));
    let scaling = read("scaling.csv");
    assert!(scaling.lines().any(|line| line.starts_with("wrong,two,two,")), "{scaling}");

    // compare takes a column by its name, and a pipeline's name where that is enough.
    let out = place.path("out").display().to_string();
    let compared =
        |a: &str, b: &str| ran(["compare", &out, &out, "--pipeline-a", a, "--pipeline-b", b, "--json"]);
    let found: Value = serde_json::from_str(&compared("one@right", "two@wrong").expect(0).stdout).unwrap();
    assert_eq!(found["a"]["pipeline"], "one@right");
    compared("one", "two@wrong").expect(30).says(&["`one` with several models", "one@right, one@wrong"]);
}

#[test]
fn overrides_that_fit_no_pipeline_are_reported_once_before_any_run() {
    let place = Place::new();
    place.change("matrix.toml", "llm.main.model=right", "llm.writer.model=right");
    place.change("matrix.toml", "llm.main.problem_errors=2", "llm.main.problem_erors=2");
    let ran = place.evaluate(&["--matrix", &place.matrix()]);
    ran.expect(32).says(&[
        "evaluate.model",
        "the model `right` of the matrix set `llm.writer.model`, and in the pipelines `one`, `two` there is no [llm.writer]",
        "[llm.main]",
        "`llm.main.problem_erors`",
        "did you mean `problem_errors`?",
    ]);
    assert_eq!(ran.stderr.matches("evaluate.model").count(), 2, "{}", ran.stderr);
    assert!(!place.path("out").exists());
}

/// The lines of tasks.jsonl.
fn lines(place: &Place) -> Vec<Value> {
    let text = fs::read_to_string(place.path("out/tasks.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn with(lines: &[Value], key: &str, value: &str) -> usize {
    lines.iter().filter(|line| line[key] == value).count()
}

#[test]
fn a_filter_restricts_the_run_and_drops_nothing_from_the_table() {
    let place = Place::new();
    let some = place.evaluate(&[
        "--matrix",
        &place.matrix(),
        "--only",
        "model=right",
        "--only",
        "seed=7",
        "--except",
        "pipeline=t*",
    ]);
    some.expect(0).says(&["7 cells are not selected", "7 of 8 cells are not finished"]);
    assert!(some.stdout.contains("not run / -") && some.stdout.contains("two@wrong"), "{}", some.stdout);
    assert!(place.path("out/cells/garden/one@right/7/report.json").exists());
    assert!(
        !place.path("out/cells/garden/one@right/8").exists()
            && !place.path("out/cells/garden/two@right").exists()
    );
    let all = lines(&place);
    assert_eq!(
        (all.len(), with(&all, "outcome", "solved"), with(&all, "outcome", "unfinished")),
        (16, 2, 14)
    );

    // Tasks of a cell, and later the others: the cell is whole once all of them were run.
    let part = place.evaluate(&[
        "--resume",
        "--only",
        "model=wrong",
        "--only",
        "pipeline=one",
        "--only",
        "task=*2",
        "--cells",
        "2",
    ]);
    part.expect(0);
    let report = place.path("out/cells/garden/one@wrong/7/report.json");
    assert!(!report.exists());
    let all = lines(&place);
    assert_eq!(
        (all.len(), with(&all, "outcome", "not-solved"), with(&all, "outcome", "unfinished")),
        (16, 2, 12)
    );
    place
        .evaluate(&["--resume", "--only", "model=wrong", "--only", "pipeline=one", "--only", "task=p01"])
        .expect(0);
    assert!(report.exists(), "what was run before is in the record, so now the cell is whole");
    assert_eq!(with(&lines(&place), "outcome", "unfinished"), 10);

    // The rest, several cells side by side: the same files as those of an evaluation in one go.
    place.evaluate(&["--resume", "--cells", "3", "-j", "3"]).expect(0);
    let other = Place::new();
    other.evaluate(&["--matrix", &other.matrix()]).expect(0);
    let table = |place: &Place, name: &str| fs::read_to_string(place.path("out").join(name)).unwrap();
    for name in ["table.csv", "accuracy.csv", "plans.csv"] {
        assert_eq!(table(&place, name), table(&other, name), "{name}");
    }
}

#[test]
fn filters_that_match_nothing_are_mistakes() {
    let place = Place::new();
    let run = |args: &[&str]| place.evaluate(&[&["--matrix", &place.matrix()], args].concat());
    run(&["--only", "model=rihgt"]).expect(30).says(&[
        "evaluate.filter",
        "model=rihgt",
        "did you mean `right`?",
    ]);
    run(&["--except", "task=q*"]).expect(30).says(&["--except task=q* matches no task", "`p01`, `p02`"]);
    run(&["--only", "seed=7", "--except", "seed=7"]).expect(30).says(&["leave no cell"]);
    run(&["--only", "sede=7"]).expect(30).says(&["did you mean `seed`?"]);
    run(&["--shard", "3/2"]).expect(30).says(&["part 3 of 2 is out of range"]);
    assert!(!place.path("out").exists());
}

#[test]
fn task_lines_junit_and_exit_code_agree() {
    let place = Place::new();
    let junit = place.path("reports/tasks.xml").display().to_string();
    place.evaluate(&["--matrix", &place.matrix(), "--junit", &junit, "--fail-on", "negative"]).expect(10);
    let all = lines(&place);
    assert_eq!((with(&all, "outcome", "solved"), with(&all, "outcome", "not-solved")), (8, 8));
    let right = &all[0];
    assert_eq!(
        (&right["model"], &right["verdict"], &right["stage"]),
        (&"right".into(), &"accepted".into(), &Value::Null)
    );
    assert_eq!(
        (&right["run"], &right["problem"]),
        (&"cells/garden/one@right/7".into(), &"equivalent".into())
    );
    assert_eq!(
        (&right["calls"], &right["replies"], &right["failed_calls"]),
        (&1.into(), &1.into(), &0.into())
    );
    assert!(place.path("out").join(right["run"].as_str().unwrap()).join("run.json").exists());
    let wrong = all.iter().find(|line| line["outcome"] == "not-solved").unwrap();
    assert!(wrong["stage"].is_string() && !wrong["why"].as_str().unwrap().is_empty(), "{wrong}");
    let csv = fs::read_to_string(place.path("out/tasks.csv")).unwrap();
    assert!(csv.starts_with("suite,pipeline,model,seed,task,outcome,verdict,stage,problem,"), "{csv}");
    assert_eq!(csv.lines().count(), 17);
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(
        xml.contains("tests=\"16\"") && xml.contains("failures=\"8\"") && xml.contains("errors=\"0\""),
        "{xml}"
    );
    assert!(xml.contains("name=\"garden.one@right.7\""), "{xml}");
    // Without the option a task that is not solved is a result like any other.
    place.evaluate(&["--resume"]).expect(0);
    let part = place.evaluate(&["--resume", "--fail-on", "negative", "--only", "model=right"]);
    part.expect(0);
}

/// An evaluation of llm-p.toml on parcels with a server.
fn with_server(place: &Place, server: &ScriptedServer, args: &[&str]) -> std::process::Command {
    let mut command = planforge();
    command.arg("evaluate").arg("--out").arg(place.path("out")).arg("--suite").arg(example("parcels", ""));
    command.arg("--pipeline").arg(pipeline("llm-p.toml"));
    command.args(["--set", &format!("llm.main.base_url={}", server.base_url())]).args(args);
    command
}

#[test]
fn a_killed_evaluation_leaves_the_lines_of_finished_tasks() {
    let place = Place::new();
    let server =
        ScriptedServer::matching(
            |request| {
                if request.number == 1 { Scripted::stall() } else { right_reply(request) }
            },
        )
        .unwrap();
    let mut child = with_server(&place, &server, &["--seeds", "1-3", "--tasks", "1"]).spawn().unwrap();
    // The first cell has one question; the second cell's is left without an answer.
    wait_for(&server, 2, &mut child);
    signal(&child, "KILL");
    drop(child.wait());
    let all = lines(&place);
    assert_eq!((all.len(), with(&all, "outcome", "solved"), with(&all, "outcome", "unfinished")), (3, 1, 2));
    assert!(!place.path("out/evaluation.json").exists());
    place.evaluate(&["--resume"]).expect(0);
    assert_eq!(with(&lines(&place), "outcome", "solved"), 3);
}

/// The record of a cell that is not selected is enough for its tasks in the tables: no key, no consent, no request.
#[test]
fn a_cell_outside_the_selection_needs_no_key_and_sends_nothing() {
    let place = Place::new();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let address = server.base_url();
    let (suite, llm_p) = (example("parcels", ""), pipeline("llm-p.toml"));
    let matrix = format!(
        "schema = 1
[matrix]
suites = [{suite:?}]
pipelines = [{llm_p:?}]
seeds = [1]
tasks = 2
[matrix.models.open]
set = [\"llm.main.base_url={address}\"]
[matrix.models.keyed]
set = [\"llm.main.base_url={address}\", \"llm.main.api_key_env=SCRIPTED_KEY\"]
"
    );
    fs::write(place.path("matrix.toml"), matrix).unwrap();
    let evaluate = |key: Option<&str>, args: &[&str]| {
        let mut command = planforge();
        command.arg("evaluate").arg("--out").arg(place.path("out")).args(args);
        key.map(|key| command.env("SCRIPTED_KEY", key));
        Ran::wait(command.spawn().unwrap())
    };
    let matrix = place.matrix();
    let part = ["--matrix", &matrix, "--only", "model=keyed", "--only", "task=p01", "--allow-host", &address];
    evaluate(Some("sk-scripted-0123456789"), &part).expect(0);
    assert_eq!(server.requests().len(), 1);
    evaluate(None, &["--resume", "--only", "model=open"]).expect(0);
    assert_eq!(server.requests().len(), 3);
    let all = lines(&place);
    let is_solved = |line: &&Value, model: &str| line["outcome"] == "solved" && line["model"] == model;
    let solved = |model: &str| all.iter().filter(|line| is_solved(line, model)).count();
    assert_eq!((solved("open"), solved("keyed"), with(&all, "outcome", "unfinished")), (2, 1, 1));
}

#[test]
fn parallel_cells_send_no_more_requests_at_a_time_than_jobs_allow() {
    let place = Place::new();
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (asking, seen) = (Arc::clone(&now), Arc::clone(&most));
    let server = ScriptedServer::matching(move |request| {
        seen.fetch_max(asking.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // The first waits for a second; later ones stay for a moment, so that a fourth would be seen.
        while seen.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_millis(50));
        asking.fetch_sub(1, Ordering::SeqCst);
        right_reply(request)
    })
    .unwrap();
    let args = ["--seeds", "1-4", "--tasks", "2", "--cells", "2", "-j", "3"];
    let child = with_server(&place, &server, &args)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    Ran::wait(child).expect(0);
    assert_eq!(server.count(), 8);
    let most = most.load(Ordering::SeqCst);
    assert!((2..=3).contains(&most), "{most} calls at a time");
}
