//! `planforge runs explain` on what a run inferred and on what `planforge pddl infer` wrote: the same derivations, down to the lines that a
//! model wrote.

use super::support::{Run, example, ran, saying, verdict};
use std::fs;

/// The representation of blocks p01, with two redundant lines.
const IR: &str = "cardinality(block, 4).
object(block1, block).
init(arm_free).
init(on_table(X)) :- object(X, block), X != block1.
init(stands_on(block1, block4)).
init(uncovered(block1)).
goal(stands_on(block4, block2)).
goal(stands_on(block3, block4)).
";

#[test]
fn a_fact_of_a_run_is_traced_to_lines_of_the_reply() {
    let server = saying(&format!("The program:\n\n```asp\n{IR}```\n"));
    let mut run = Run::new("tic-ic.toml", &server.base_url()).task("blocks", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted", "{report:#}");
    let folder = run.folder();
    let explain = |args: &[&str]| {
        let folder = folder.display().to_string();
        ran([&["runs", "explain", &folder], args].concat())
    };

    let fact = explain(&["(uncovered block2)"]);
    fact.expect(0);
    let lines: Vec<&str> = fact.stdout.lines().map(str::trim).collect();
    assert_eq!(lines[1], "(uncovered block2)  in :init", "{}", fact.stdout);
    assert!(lines[0].starts_with("=== blocks.p01/problem"), "{}", fact.stdout);
    for wanted in [
        "by knowledge:3:1: init(uncovered(B)) :- object(B, block), not init(stands_on(_, B)), not init(held(B)).",
        "with not init(stands_on(_, block2))",
        "with not init(held(block2))",
        "goal(stands_on(block4, block2))",
    ] {
        assert!(lines.contains(&wanted), "no `{wanted}` in\n{}", fact.stdout);
    }

    let idle = explain(&["--idle"]);
    idle.expect(0);
    for wanted in ["init(uncovered(block1)).", "what it says follows from the other lines"] {
        assert!(idle.stdout.contains(wanted), "no `{wanted}` in\n{}", idle.stdout);
    }
    assert!(!idle.stdout.contains("init(stands_on(block1, block4))"), "{}", idle.stdout);

    explain(&["(uncovered block4)"]).expect(10).says(&["no inferred problem has `(uncovered block4)`"]);
    explain(&["(uncovered block2)", "--section", "goal"]).expect(10);
    for task in ["p01", "blocks.p01"] {
        explain(&["(uncovered block2)", "--task", task]).expect(0);
    }
    explain(&["(uncovered block2)", "--task", "p02"])
        .expect(31)
        .says(&["no inferred problem of the task `p02`", "those of blocks.p01 are there"]);
    // Every line is where the record has it.
    let ir = report["tasks"][0]["candidate"]["texts"]["ir"].as_str().unwrap();
    let all = explain(&["--json"]).json(0);
    let atoms = all["found"].as_array().unwrap().iter().flat_map(|part| part["atoms"].as_array().unwrap());
    let rules: Vec<&serde_json::Value> = atoms.map(|atom| &atom["rule"]).collect();
    for rule in rules.iter().filter(|rule| rule["origin"] == "text") {
        let line = ir.lines().nth(rule["line"].as_u64().unwrap() as usize - 1);
        assert_eq!(line, rule["text"].as_str(), "{ir}");
    }
    assert!(rules.iter().any(|rule| rule["text"] == "goal(stands_on(block3, block4))."), "{rules:?}");
    let json = explain(&["block3 - block", "--json"]).json(0);
    assert_eq!(json["found"][0]["section"], "objects");
    assert_eq!(json["found"][0]["task"], "blocks.p01");
}

#[test]
fn a_run_without_an_inferred_problem_is_reported() {
    let place = tempfile::tempdir().unwrap();
    ran(["runs".as_ref(), "explain".as_ref(), place.path(), "(p)".as_ref()]).expect(31).says(&["run.json"]);
    let missing = place.path().join("p01.json");
    ran(["runs".as_ref(), "explain".as_ref(), missing.as_path(), "(p)".as_ref()])
        .expect(31)
        .says(&["No such file", "help: "]);
    fs::write(&missing, "{\"inference\": {\"rules\": 3}}").unwrap();
    ran(["runs".as_ref(), "explain".as_ref(), missing.as_path(), "(p)".as_ref()])
        .expect(31)
        .says(&["cli.no-inference", "help: "]);
    let task = ["(p)", "--task", "p01"].map(AsRef::as_ref);
    ran([&["runs".as_ref(), "explain".as_ref(), missing.as_path()], task.as_slice()].concat()).expect(30);
}

#[test]
fn a_file_of_infer_is_explained_and_its_control_characters_are_escaped() {
    let place = tempfile::tempdir().unwrap();
    let (ir, json) = (place.path().join("p01.lp"), place.path().join("p01.json"));
    fs::write(&ir, IR).unwrap();
    let suite = example("blocks", "");
    let inferred =
        ran(["pddl".as_ref(), "infer".as_ref(), "--suite".as_ref(), suite.as_path(), &ir, "--json".as_ref()]);
    inferred.expect(0);
    fs::write(&json, &inferred.stdout).unwrap();
    let all = ran(["runs".as_ref(), "explain".as_ref(), json.as_path()]);
    all.expect(0);
    let report: serde_json::Value = serde_json::from_str(&inferred.stdout).unwrap();
    for entry in report["inference"]["entries"].as_array().unwrap() {
        assert!(all.stdout.contains(entry["pddl"].as_str().unwrap()), "{entry}");
    }
    fs::write(&json, inferred.stdout.replace("init(arm_free).", "init(arm_free).\\u001b[2J\\u202e")).unwrap();
    let hostile = ran(["runs".as_ref(), "explain".as_ref(), json.as_path(), "(arm-free)".as_ref()]);
    hostile.expect(0);
    assert!(hostile.stdout.contains("ir:3:1"), "{}", hostile.stdout);
    assert!(!hostile.stdout.contains(['\u{1b}', '\u{202e}']), "{:?}", hostile.stdout);
}
