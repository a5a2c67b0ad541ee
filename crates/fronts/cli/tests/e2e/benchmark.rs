//! `planforge evaluate` at several levels of texts, `--layout methods`, and the benchmark's matrix.

use super::support::{Ran, example, ran, root, simulated};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Two tasks of grippers at levels 1 and 2, for LLM+P with a model that is right and one that is wrong.
struct Benchmark {
    folder: tempfile::TempDir,
}

impl Benchmark {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        // The simulated model knows the suites that it writes by their names.
        let told = place.path("told/grippers-L2").display().to_string();
        let suite = example("grippers", "").display().to_string();
        ran(["suite", "paraphrase", &suite, "--level", "2", "--tasks", "2", "--out", &told]).expect(0);
        let suites = [PathBuf::from(&suite), PathBuf::from(told)];
        simulated(place.folder.path(), "llm-p", &suites, "errors = 0");
        let matrix = format!(
            "schema = 1\n[matrix]\nsuites = [{suite:?}]\npipelines = [\"llm-p.toml\"]\nseeds = [1]\ntasks = 2\nlevels = [1, 2]\n\
             [matrix.models.right]\nset = [\"llm.main.model=right\"]\n\
             [matrix.models.wrong]\nset = [\"llm.main.model=wrong\", \"llm.main.problem_errors=9\"]\n"
        );
        fs::write(place.path("matrix.toml"), matrix).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn evaluate(&self, out: &str, args: &[&str]) -> Ran {
        let out = self.path(out).display().to_string();
        ran(["evaluate", "--layout", "methods", "--out", &out].iter().chain(args))
    }

    fn matrix(&self) -> String {
        self.path("matrix.toml").display().to_string()
    }
}

fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<(String, String)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn methods_have_sentences_and_success_by_level() {
    let place = Benchmark::new();
    let first = place.evaluate("out", &["--matrix", &place.matrix()]);
    first.expect(0);
    for words in [
        "llm-p@right: 4 of 4 tasks solved (100 %, 95 % interval 51 to 100 %), 1.0 calls a task, tokens not counted. The model is simulated",
        "llm-p@wrong: 0 of 4 tasks solved (0 %, 95 % interval 0 to 49 %)",
        "null baseline, copy of the example: 0 of 4 tasks solved",
        "by the level of texts",
        "llm-p@right (simulated)  100 [34, 100] n=2  100 [34, 100] n=2",
    ] {
        assert!(first.stdout.replace('\n', " ").contains(words), "{words}:\n{}", first.stdout);
    }
    assert_eq!(files(&place.path("out/suites/grippers-L2")), files(&place.path("told/grippers-L2")));
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    let matrix: Value = serde_json::from_str(&read("out/matrix.json")).unwrap();
    assert!(matrix["levels"].is_null() && matrix["suites"][1] == "suites/grippers-L2", "{matrix}");
    let evaluation: Value = serde_json::from_str(&read("out/evaluation.json")).unwrap();
    let tasks: Vec<_> = evaluation["tasks"].as_array().unwrap().iter().map(|t| &t["level"]).collect();
    assert_eq!(tasks, [1, 1, 2, 2]);

    // The same from the output folder, from the file, and from shards.
    let again = place.evaluate("out", &["--resume"]);
    assert_eq!(again.expect(0).stdout, first.stdout);
    let again = place.evaluate("out", &["--resume", "--matrix", &place.matrix()]);
    assert_eq!(again.expect(0).stdout, first.stdout);
    for shard in ["1/2", "2/2"] {
        place.evaluate("shards", &["--matrix", &place.matrix(), "--shard", shard]).expect(0);
    }
    let shards = place.path("shards").display().to_string();
    ran(["evaluate", "merge", &shards, "--layout", "methods"]).expect(0);
    assert_eq!(read("shards/methods.json"), read("out/methods.json"));
}

#[test]
fn an_evaluation_with_levels_can_be_moved() {
    let place = Benchmark::new();
    let first = place.evaluate("out", &["--matrix", &place.matrix()]);
    fs::rename(place.path("out"), place.path("moved")).unwrap();
    // What is missing is run from the texts that moved along.
    fs::remove_dir_all(place.path("moved/cells/grippers-L2")).unwrap();
    assert_eq!(place.evaluate("moved", &["--resume"]).expect(0).stdout, first.expect(0).stdout);
    let moved = place.path("moved").display().to_string();
    let merged = ran(["evaluate", "merge", &moved, "--layout", "methods"]);
    assert_eq!(merged.expect(0).stdout, first.stdout);
    let page = place.path("report.html").display().to_string();
    let report = ran(["report", &moved, "--out", &page]);
    assert!(!report.expect(0).stderr.contains("warning"), "{}", report.stderr);
    let html = fs::read_to_string(page).unwrap();
    let (_, rest) = html.split_once("id=\"index\"").unwrap();
    let json = rest.split_once('>').unwrap().1.split_once("</script>").unwrap().0;
    let index: Value = serde_json::from_str(json).unwrap();
    let methods = &index["methods"][0];
    assert!(methods["sentences"][0].as_str().unwrap().starts_with("llm-p@right: 4 of 4 tasks solved"));
    let table = &methods["tables"][0];
    assert!(table["caption"].as_str().unwrap().contains("by the level of texts"), "{table}");
    assert_eq!(table["columns"], serde_json::json!(["method", "level 1", "level 2"]));
    assert_eq!(table["rows"][1][2], "0 [0, 66] n=2", "{table}");
}

#[test]
fn a_dry_run_at_levels_writes_nothing_and_missing_templates_are_one_error() {
    let place = Benchmark::new();
    let dry = place.evaluate("out", &["--matrix", &place.matrix(), "--dry-run"]);
    dry.expect(0);
    assert!(dry.stdout.contains("grippers-L2") && !place.path("out").exists(), "{}", dry.stdout);
    let text = fs::read_to_string(place.matrix()).unwrap();
    let garden = format!("{:?}", example("garden", "").display().to_string());
    let with_garden =
        text.replace("suites = [", &format!("suites = [{garden}, ")).replace("[1, 2]", "[1, 2, 3]");
    fs::write(place.path("matrix.toml"), with_garden).unwrap();
    let refused = place.evaluate("out", &["--matrix", &place.matrix()]);
    refused
        .expect(31)
        .says(&["evaluate.matrix", "no templates for `garden` at level 2, `garden` at level 3"]);
    assert!(!place.path("out").exists());
}

#[test]
fn the_benchmark_can_be_planned_and_written_into_batch_files() {
    let matrix = root().join("configs/matrices/benchmark.toml").display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let dry = ran(["evaluate", "--matrix", &matrix, "--out", &out, "--dry-run", "--json"]).json(0);
    assert!(dry.is_object(), "{dry}");
    let batch = [
        "--model",
        "batch:gpt-4o",
        "--layout",
        "methods",
        "--only",
        "suite=grippers,grippers-L2",
        "--only",
        "pipeline=llm-p",
    ];
    let waits = ran(["evaluate", "--matrix", &matrix, "--out", &out].iter().chain(&batch));
    waits.expect(26);
    let requests = fs::read_to_string(folder.path().join("out/batch/requests-0001.jsonl")).unwrap();
    assert_eq!(requests.lines().count(), 4, "two tasks at two levels");
    // A reply without PDDL to each.
    let answer = |line: &str| {
        let request: Value = serde_json::from_str(line).unwrap();
        format!("{}\n", serde_json::json!({"custom_id": request["custom_id"], "content": "I cannot."}))
    };
    let answers = folder.path().join("answers.jsonl");
    fs::write(&answers, requests.lines().map(answer).collect::<String>()).unwrap();
    let answers = answers.display().to_string();
    let ended = ran([
        "evaluate",
        "--resume",
        "--out",
        &out,
        "--layout",
        "methods",
        "--answers",
        &answers,
        "--only",
        "suite=grippers,grippers-L2",
        "--only",
        "pipeline=llm-p",
    ]);
    // The sentence takes several lines, up to that of the next method.
    let (_, rest) = ended.stdout.split_once("\nllm-p: ").unwrap();
    let sentence = rest.split_once("\ntic-ic: ").unwrap().0.replace('\n', " ");
    assert!(
        sentence.starts_with("0 of 4 tasks solved") && sentence.contains("Open: 36 unfinished."),
        "{sentence}"
    );
}
