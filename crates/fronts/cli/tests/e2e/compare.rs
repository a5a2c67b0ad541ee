//! `planforge compare`: evaluations and single runs of simulated models, held against each other.

use super::support::{Ran, example, noisy_oracle, ran, simulated};
use planforge_testkit::{planned_and_validated, stage};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Three problems a task for the given domain, each planned for and judged; with so many mistakes in each.
fn samples(errors: u32) -> String {
    let stages = concat!(
        stage!(translate "problem" use = "translator-direct" n = 3 roles = { writer = "main" } options = { mode = "problem" }),
        planned_and_validated!(),
    );
    noisy_oracle(errors, "[given]\ndomain = true\n", stages)
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(place.path("right.toml"), samples(0)).unwrap();
        fs::write(place.path("wrong.toml"), samples(4)).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn name(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn evaluate(&self) -> String {
        let suite = |name: &str| example(name, "").display().to_string();
        let out = self.name("out");
        ran([
            "evaluate",
            "--suite",
            &suite("garden"),
            "--suite",
            &suite("parcels"),
            "--pipeline",
            &self.name("right.toml"),
            "--pipeline",
            &self.name("wrong.toml"),
            "--seeds",
            "42-43",
            "--tasks",
            "2",
            "--out",
            &out,
        ])
        .expect(0);
        out
    }
}

fn compare(a: &str, b: &str, more: &[&str]) -> Ran {
    ran(["compare", a, b].iter().chain(more))
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn two_pipelines_of_an_evaluation_are_compared_and_exchanging_them_changes_signs() {
    let place = Place::new();
    let out = place.evaluate();
    compare(&out, &out, &[]).expect(30).says(&["has 2 pipelines", "--pipeline-a: right, wrong"]);
    compare(&out, &out, &["--pipeline-a", "rihgt"]).expect(30).says(&["no pipeline `rihgt`"]);
    let ways = [
        ["--pipeline-a", "right", "--pipeline-b", "wrong"],
        ["--pipeline-a", "wrong", "--pipeline-b", "right"],
    ];
    let [one, other] = ways.map(|way| json(compare(&out, &out, &[&way[..], &["--json"]].concat()).expect(0)));
    assert_eq!((&one["pairs"], &one["clusters"]), (&8.into(), &4.into()), "{one}");
    let success = &one["success"];
    let counted: u64 =
        ["both", "only_a", "only_b", "neither", "open"].iter().map(|n| success[n].as_u64().unwrap()).sum();
    assert_eq!((counted, success["rate_a"].as_f64()), (8, Some(1.0)), "{success}");
    assert_eq!(success["p"], other["success"]["p"]);
    assert_eq!(success["only_a"], other["success"]["only_b"]);
    // A simulated model counts no tokens, but its calls are counted, and each task's three samples were judged.
    let calls = one["metrics"].as_array().unwrap().iter().find(|metric| metric["name"] == "calls").unwrap();
    assert!(calls["mean_a"].as_f64().unwrap() >= 1.0, "{calls}");
    let pass = &one["samples"][0];
    assert_eq!((&pass["estimator"], &pass["over_a"]), (&"pass@k".into(), &"samples of `problem`".into()));
    assert_eq!(pass["at"].as_array().unwrap().len(), 3, "{pass}");
    assert_eq!(pass["at"][0]["a"]["value"], 1.0, "{pass}");
    let shown = compare(&out, &out, &ways[0]);
    shown.expect(0);
    for part in
        ["8 runs paired by suite, task and seed; 4 tasks", "Holm", "what was spent", "Pass@k", "simulated"]
    {
        assert!(shown.stdout.contains(part), "{part}:\n{}", shown.stdout);
    }
    let csv = compare(&out, &out, &[&ways[0][..], &["--csv"]].concat());
    assert!(csv.expect(0).stdout.starts_with("section,name,k,a,b,difference,"), "{}", csv.stdout);
    let markdown = compare(&out, &out, &[&ways[0][..], &["--markdown"]].concat());
    assert!(markdown.expect(0).stdout.contains("| success per"), "{}", markdown.stdout);
    let again = compare(&out, &out, &ways[0]);
    assert_eq!(again.stdout, shown.stdout, "the bootstrap is seeded");
}

#[test]
fn single_runs_are_replayed_and_paired_by_seed_or_by_task() {
    let place = Place::new();
    let task = example("garden", "p01").display().to_string();
    let start = |runs: &str, seed: &str| {
        let runs = place.name(runs);
        ran(["run", &place.name("right.toml"), "--task", &task, "--seed", seed, "--runs", &runs]).expect(0);
        let made = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
        made.display().to_string()
    };
    let (a, b) = (start("a", "1"), start("b", "2"));
    let nothing = compare(&a, &b, &[]);
    nothing.expect(20).says(&["compare.nothing-paired", "garden.p01, seed 1", "--pair-by task"]);
    let paired = json(compare(&a, &b, &["--pair-by", "task", "--json"]).expect(0));
    assert_eq!((&paired["pairs"], &paired["success"]["both"]), (&1.into(), &1.into()), "{paired}");
    assert_eq!(paired["a"]["wall"]["sessions"], 1);
    compare(&a, &b, &["--pair-by", "task", "--by", "problem"]).expect(20).says(&["compare.not-asked"]);
    compare(&a, &b, &["--pipeline-a", "other"]).expect(30).says(&["is a run of `right`"]);
    // A run that was killed before its task ended has an unfinished task, not a failed one.
    for entry in fs::read_dir(PathBuf::from(&b).join("events")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = text.lines().filter(|line| !line.contains("task-finished")).collect();
        fs::write(&path, kept.join("\n") + "\n").unwrap();
    }
    let open = compare(&a, &b, &["--pair-by", "task"]);
    open.expect(20);
    assert!(open.stdout.contains("B: 1 not run"), "{}", open.stdout);
}

#[test]
fn edited_results_of_an_evaluation_are_refused_and_merge_writes_them_anew() {
    let place = Place::new();
    let out = place.evaluate();
    let columns = ["--pipeline-a", "right", "--pipeline-b", "wrong"];
    compare(&out, &out, &columns).expect(0);
    for (file, code) in [
        ("evaluation.json", "evaluate.changed"),
        ("cells/garden/right/42/report.json", "record.report-changed"),
    ] {
        let path = place.path("out").join(file);
        let written = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{written} ")).unwrap();
        compare(&out, &out, &columns).expect(31).says(&[code, file]);
        let merged = ran(["evaluate", "merge", out.as_str()]);
        match code {
            "evaluate.changed" => merged.expect(0),
            _ => merged.expect(31).says(&[code, file]),
        };
        if code == "record.report-changed" {
            let cell = path.parent().unwrap().display().to_string();
            ran(["replay", cell.as_str()]).expect(0);
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), written);
        compare(&out, &out, &columns).expect(0);
    }
}

#[test]
fn replies_for_actions_are_paired_by_action() {
    let place = tempfile::tempdir().unwrap();
    let suite = example("grippers", "");
    let sides = [("right", 0), ("wrong", 6)].map(|(side, errors)| {
        let folder = place.path().join(side);
        fs::create_dir(&folder).unwrap();
        let options = format!("errors = 0\nactions = {{ errors = {errors}.0 }}");
        let file = simulated(&folder, "actions", std::slice::from_ref(&suite), &options);
        let out = folder.join("out").display().to_string();
        let (suite, file) = (suite.display().to_string(), file.display().to_string());
        let words =
            ["evaluate", "--suite", &suite, "--pipeline", &file, "--seeds", "1", "--tasks", "1", "--out"];
        ran(words.into_iter().chain([out.as_str()])).expect(0);
        out
    });
    let compared = |a: &str, b: &str| -> Value {
        let ran = ran(["compare", a, b, "--by", "classes", "--json"]);
        assert!([0, 20].contains(&ran.exit), "{}", ran.stderr);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let found = compared(&sides[0], &sides[1]);
    // Three actions, two samples each.
    assert_eq!((&found["clusters"], &found["pairs"]), (&3.into(), &6.into()), "{found}");
    assert!(found["success"]["rate_a"].as_f64() > found["success"]["rate_b"].as_f64(), "{found}");
    // A run by itself says the same as the evaluation that it is a cell of.
    let run = format!("{}/cells/grippers/actions/1", sides[0]);
    let again = compared(&run, &sides[1]);
    assert_eq!(again["success"], found["success"]);
    let place = Place::new();
    let out = place.evaluate();
    let words = ["compare", &out, &out, "--pipeline-a", "right", "--pipeline-b", "wrong", "--by", "classes"];
    ran(words).expect(20).says(&["compare.not-asked", "verifier-classes"]);
}

#[test]
fn tables_and_comparisons_fit_a_terminal_of_80_columns() {
    let place = Place::new();
    let out = place.evaluate();
    let layouts = ["walks", "accuracy", "scaling", "plans", "classes", "methods"];
    let layout = |name| ran(["evaluate", "--resume", "--out", &out, "--layout", name]);
    let compared = compare(&out, &out, &["--pipeline-a", "right", "--pipeline-b", "wrong"]);
    for shown in layouts.map(layout).iter().chain([&compared]) {
        let wide = shown.expect(0).stdout.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}
