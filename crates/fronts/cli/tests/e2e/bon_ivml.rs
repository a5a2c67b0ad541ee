//! The shipped pipelines of the test-time-scaling paper with a simulated writer and critic, from end to end.

use super::support::{Ran, Run, example, fenced, planforge, saying, simulated};
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const METHODS: [&str; 10] = [
    "bon",
    "bon-clusters",
    "bon-fan-out",
    "bon-ivml-fan-out",
    "bon-ivml",
    "ivml-single",
    "bon-ivml-critics",
    "bon-prob2domain",
    "bon-ivml-prob2domain",
    "bon-ivml-problem",
];

fn run(folder: &Path, file: &Path, tasks: &[PathBuf], more: &[&str]) -> Value {
    let mut command = planforge();
    command
        .arg("run")
        .arg(file)
        .args(["--seed", "1", "--json", "--runs"])
        .arg(folder.join("runs"))
        .args(more);
    for task in tasks {
        command.arg("--task").arg(task);
    }
    Ran::wait(command.spawn().unwrap()).json(0)
}

fn lineages(report: &Value) -> Vec<(String, &Value)> {
    let tasks = report["tasks"].as_array().unwrap();
    tasks.iter().map(|task| (task["task"].to_string(), &task["candidate"]["lineage"])).collect()
}

fn decision<'a>(task: &'a Value, stage: &str) -> &'a str {
    task["candidate"]["assessments"][stage]["decision"].as_str().unwrap_or("none")
}

/// All events of that kind in the only run there is.
fn events(folder: &Path, kind: &str) -> Vec<Value> {
    let run = fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path();
    super::support::events(&run, kind)
}

#[test]
fn rounds_of_critique_repair_findings_and_their_recording_serves_best_of_n() {
    let folder = tempfile::tempdir().unwrap();
    let suites: Vec<PathBuf> = ["blocks", "grippers", "parcels"].map(|name| example(name, "")).into();
    let tasks: Vec<PathBuf> = ["blocks", "grippers", "parcels"].map(|name| example(name, "p01")).into();
    let options = "errors = 3\ndamage = 0.0\nrepair_named = 1.0\nlikelihood = { per_mistake = 2.0 }\n\
                   critic = { finds = 1.0, false_findings = 0.0 }";
    let cassette = folder.path().join("bon-ivml.jsonl").display().to_string();
    let file = simulated(folder.path(), "bon-ivml", &suites, options);
    let refined = run(folder.path(), &file, &tasks, &["--record", &cassette]);
    for task in refined["tasks"].as_array().unwrap() {
        assert_eq!(
            (decision(task, "same"), decision(task, "environment")),
            ("accepted", "accepted"),
            "{task}"
        );
        let thought = task["candidate"]["thought"].as_str().unwrap();
        assert!(thought.contains("predicate ") && thought.contains("action "), "{thought}");
    }
    // One question for the eight samples, then one for each of two roles in each of five rounds.
    assert_eq!(events(folder.path(), "round-finished").len(), 15);
    let lines = fs::read_to_string(&cassette).unwrap();
    assert_eq!(lines.lines().count(), 1 + 3 * 11);
    let file = simulated(folder.path(), "bon", &suites, options);
    let best = run(folder.path(), &file, &tasks, &["--replay", &cassette]);
    for ((task, best), (same, refined)) in lineages(&best).into_iter().zip(lineages(&refined)) {
        assert_eq!((task, &best[0]), (same, &refined[0]), "the same sample is the likeliest");
        assert_eq!((best.as_array().unwrap().len(), refined.as_array().unwrap().len()), (1, 6));
    }
}

#[test]
fn a_writer_without_mistakes_is_right_in_every_pipeline_and_prob2domain_needs_no_texts() {
    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("blocks");
    fs::create_dir(&bare).unwrap();
    for name in ["suite.toml", "domain.pddl", "p01.pddl"] {
        fs::copy(example("blocks", name), bare.join(name)).unwrap();
    }
    for name in METHODS {
        let suite = if name.ends_with("prob2domain") { bare.clone() } else { example("blocks", "") };
        let options =
            "errors = 0\nproblem_errors = 0\ndamage = 0.0\ncritic = { false_findings = 0.5, prose = true }";
        let file = simulated(folder.path(), name, std::slice::from_ref(&suite), options);
        let report = run(folder.path(), &file, &[suite.join("p01")], &[]);
        let task = &report["tasks"][0];
        let measured = if name.ends_with("problem") { "equivalent" } else { "same" };
        for stage in ["pddl", measured, "valid", "environment"] {
            assert_eq!(decision(task, stage), "accepted", "{name}: {stage}: {task}");
        }
    }
}

#[test]
fn without_log_probabilities_the_sample_with_fewest_errors_is_selected_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let suite = example("blocks", "");
    let file = simulated(folder.path(), "bon", std::slice::from_ref(&suite), "errors = 2");
    run(folder.path(), &file, &[example("blocks", "p01")], &[]);
    let selected = events(folder.path(), "selected");
    assert_eq!(selected.len(), 1);
    assert_eq!(
        (&selected[0]["stage"], &selected[0]["groups"][0]["by"]),
        (&"best".into(), &"drafts.clean".into())
    );
}

/// The first task's domain serves the others, which are in a table of their own; the model is asked for one domain.
#[test]
fn one_domain_for_all_tasks_is_judged_on_held_back_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let suite = example("blocks", "");
    let options = "errors = 0\ndamage = 0.0\ncritic = { finds = 1.0, false_findings = 0.0 }";
    for (name, calls) in [("bon-fan-out", 1), ("bon-ivml-fan-out", 11)] {
        let file = simulated(folder.path(), name, std::slice::from_ref(&suite), options);
        let out = folder.path().join("out").join(name);
        let mut command = planforge();
        command
            .arg("evaluate")
            .arg("--suite")
            .arg(&suite)
            .arg("--pipeline")
            .arg(&file)
            .arg("--out")
            .arg(&out);
        command.args(["--tasks", "3", "--seeds", "1", "--layout", "plans"]);
        let ran = Ran::wait(command.spawn().unwrap());
        assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("Held-back tasks") && ran.stdout.contains("100.0 (2)"), "{}", ran.stdout);
        let evaluation = fs::read_to_string(out.join("evaluation.json")).unwrap();
        let evaluation: Value = serde_json::from_str(&evaluation).unwrap();
        let cell = &evaluation["cells"][0];
        let held_back: Vec<bool> =
            cell["tasks"].as_array().unwrap().iter().map(|task| task["held_back"] == true).collect();
        assert_eq!(held_back, [false, true, true]);
        assert_eq!(cell["usage"]["calls"], calls, "{name}: {}", cell["usage"]);
    }
}

/// Most samples are wrong, each in its own way; the likelihood says nothing. The right ones agree, and a critic that is right finds them
/// when they do not.
#[test]
fn clusters_and_questions_find_right_samples_that_the_likelihood_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let suites: Vec<PathBuf> = ["blocks", "grippers", "parcels"].map(|name| example(name, "")).into();
    let tasks: Vec<PathBuf> = ["blocks", "grippers", "parcels"].map(|name| example(name, "p01")).into();
    let options = "errors = 2\nerror_count = \"poisson\"\ncritic = { answers = 1.0 }\nlikelihood = { spread = 3.0, per_mistake = 0.0 }";
    let right = |name: &str, set: &[&str]| {
        let file = simulated(folder.path(), name, &suites, options);
        let more: Vec<&str> = set.iter().flat_map(|set| ["--set", set]).collect();
        let mut command = planforge();
        command
            .arg("run")
            .arg(&file)
            .args(["--seed", "4", "--json", "--runs"])
            .arg(folder.path().join("runs"));
        command.args(["--set", "stage.domain.n=16"]).args(more);
        for task in &tasks {
            command.arg("--task").arg(task);
        }
        let ran = Ran::wait(command.spawn().unwrap());
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        report["tasks"].as_array().unwrap().iter().filter(|task| decision(task, "same") == "accepted").count()
    };
    let likelihood = right("bon", &[]);
    let clusters = right("bon-clusters", &[]);
    let asked = right("bon-clusters", &["stage.clusters.options.questions=1"]);
    assert_eq!((likelihood, clusters, asked), (0, 2, 3));
}

/// Without the interface the writer calls actions as it likes: the reference's domain with other names and another order of
/// parameters is right.
#[test]
fn a_right_domain_with_renamed_actions_counts_as_plan_valid() {
    let reference = fs::read_to_string(example("parcels", "domain.pddl")).unwrap();
    let domain = reference
        .replace("(:action drive", "(:action travel")
        .replace("(:action load", "(:action pick-up-box")
        .replace("(:action unload", "(:action put-down-box");
    let server = saying(&format!("# Domain\n{}", fenced(&domain)));
    let mut run = Run::new("bon-prob2domain.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    run = run
        .set("given.interface", "false")
        .set("stage.domain.options.template", "false")
        .set("stage.domain.n", "1");
    let report = run.go().json(0);
    let task = &report["tasks"][0];
    assert_eq!(task["verdict"]["verdict"], "accepted", "{task}");
    assert_eq!(decision(task, "same"), "accepted", "{task}");
    assert_eq!(task["candidate"]["assessments"]["ew"]["metrics"]["score"], 1.0, "{task}");
}

/// The verdict is that of one candidate: keeping several does not let the reference choose among them.
#[test]
fn the_number_of_kept_candidates_does_not_change_a_verdict() {
    let right = fs::read_to_string(example("parcels", "domain.pddl")).unwrap();
    let wrong = right.replace("(and (van-at ?from) (road ?from ?to))", "(van-at ?from)");
    assert_ne!(right, wrong);
    let reply = |domain: &str| format!("# Domain\n{}", fenced(domain));
    let server =
        ScriptedServer::matching(move |_| Scripted::replies(&[&reply(&wrong), &reply(&right)])).unwrap();
    for (keep, candidates) in [("1", Value::Null), ("2", serde_json::json!({"accepted": 1, "rejected": 1}))] {
        let mut run = Run::new("bon.toml", &server.base_url()).task("parcels", "p01").arg("--json");
        run = run.set("stage.domain.n", "2").set("stage.best.keep", keep);
        let report = run.go().json(0);
        let task = &report["tasks"][0];
        assert_eq!(task["verdict"]["verdict"], "rejected", "keep = {keep}: {task}");
        assert_eq!((&task["verdict"]["stage"], &task["candidates"]), (&"environment".into(), &candidates));
    }
}
