//! `planforge study calibrate`: the same tables and files for any number of threads, and refused input.

use super::support::{Ran, ran, root, saying};
use planforge_testkit::{Scripted, ScriptedServer};
use std::fs;
use std::path::Path;

fn calibrate(more: &[&str]) -> Ran {
    let suites = root().join("examples/suites");
    let suites = ["blocks", "garden", "jugs"].map(|name| suites.join(name).display().to_string());
    let fixed = [
        "study",
        "calibrate",
        "--suites",
        &suites[0],
        &suites[1],
        &suites[2],
        "--mutants",
        "40",
        "--walks",
        "10,100",
    ];
    ran(fixed.into_iter().chain(more.iter().copied()))
}

#[test]
fn a_calibration_writes_tables_and_a_figure_that_threads_do_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/one").display().to_string();
    let one = calibrate(&["--out", &out, "--jobs", "1"]);
    one.expect(0);
    assert!(one.stderr.contains("jugs has no domain.pddl and is passed over"), "{}", one.stderr);
    assert!(one.stdout.starts_with("40 mutants of 2 domains (seed 42): "), "{}", one.stdout);
    for word in ["walks-100 ", "exact-depth-5 ", "False accepts by kind", "blocks (p01 p02; 20)"] {
        assert!(one.stdout.contains(word), "{word}: {}", one.stdout);
    }
    let read = |file: &str| fs::read_to_string(Path::new(&out).join(file)).unwrap();
    let mutants = read("calibration-mutants.csv");
    assert_eq!(mutants.lines().count(), 41);
    assert!(read("calibration.csv").starts_with("verifier,asked_elsewhere_as,equal_accepted,"));
    assert!(read("calibration-kinds.csv").starts_with("kind,verifier,equal,different,open,"));
    assert!(read("calibration.md").contains("| walks-10 "));
    assert!(read("calibration.svg").contains("Cohen"));
    let other = folder.path().join("four").display().to_string();
    let four = calibrate(&["--out", &other, "--jobs", "4", "--json"]).json(0);
    assert_eq!(fs::read_to_string(Path::new(&other).join("calibration-mutants.csv")).unwrap(), mutants);
    let labels: Vec<u64> = four["labels"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    assert!(labels[0] > 5 && labels[1] > 5 && labels.iter().sum::<u64>() == 40, "{labels:?}");
    assert_eq!(four["verifiers"][0]["verifier"], "pddl");
}

#[test]
fn only_the_named_kinds_and_problems_are_used() {
    let named =
        calibrate(&["--only", "blocks", "--problems", "p03", "--kinds", "negation,capitals", "--json"])
            .json(0);
    assert_eq!(named["suites"][0]["problems"], serde_json::json!(["p03"]));
    assert_eq!(named["kinds"].as_array().unwrap().len(), 2);
    let wrong = calibrate(&["--kinds", "negated"]);
    wrong.expect(30);
    assert!(wrong.stderr.contains("the kinds are omission, addition, "), "{}", wrong.stderr);
    let wrong = calibrate(&["--only", "blocks", "--problems", "p01,p99,q7"]);
    wrong.expect(31);
    for line in ["blocks has no problem `p99`", "blocks has no problem `q7`", "its problems are p01, p02"] {
        assert!(wrong.stderr.contains(line), "{line}: {}", wrong.stderr);
    }
    let wrong = calibrate(&["--only", "blocs"]);
    wrong.expect(30);
    assert!(wrong.stderr.contains("there is no suite `blocs`"), "{}", wrong.stderr);
}

#[test]
fn a_critic_is_an_additional_verifier_and_is_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let critic = root().join("examples/studies/calibration/simulated.toml").display().to_string();
    let (first, second, cassettes) = (place("first"), place("second"), place("cassettes"));
    let asked = ["--critic", &critic, "--critic-mutants", "12", "--json"];
    let run = |more: &[&str]| calibrate(&[&asked[..], more].concat()).json(0);
    let recorded = run(&["--record", &cassettes, "--out", &first, "--set", "llm.critic.critic.finds=1.0"]);
    let last = |study: &serde_json::Value| study["verifiers"].as_array().unwrap().last().unwrap().clone();
    let figures = last(&recorded);
    assert_eq!((&figures["verifier"], &figures["cost"]["judgements"]), (&"simulated".into(), &12.into()));
    let verdicts = &figures["tally"]["verdicts"];
    let count = |name: &str| verdicts[name].as_u64().unwrap();
    assert_eq!(count("good_accepted") + count("good_rejected"), 6, "{verdicts}");
    // It compares what it is shown with the reference, and here it finds everything.
    assert_eq!((count("bad_accepted"), count("bad_rejected")), (0, 6), "{verdicts}");
    // What it was asked and said is a run folder, and the questions hold mutants.
    assert_eq!(fs::read_dir(Path::new(&first).join("runs")).unwrap().count(), 1);
    let replayed = run(&["--replay", &cassettes, "--out", &second, "--set", "llm.critic.critic.finds=1.0"]);
    assert_eq!(last(&replayed)["tally"], figures["tally"]);
    let mutants = |out: &str| fs::read_to_string(Path::new(out).join("calibration-mutants.csv")).unwrap();
    assert_eq!(mutants(&first), mutants(&second));
    // Others were never asked about.
    let missing =
        calibrate(&["--critic", &critic, "--critic-mutants", "20", "--replay", &cassettes, "--out", &second]);
    assert_eq!(missing.exit, 35, "{}", missing.stderr);
    assert_eq!(missing.stdout.matches("failed: 8;").count(), 1, "{}", missing.stdout);
}

#[test]
fn a_pipeline_that_does_not_judge_mutants_is_refused_before_anything_is_judged() {
    let shipped = root().join("configs/pipelines/llm-p.toml").display().to_string();
    let refused = calibrate(&["--critic", &shipped]);
    refused.expect(32);
    assert!(refused.stderr.contains("does more than judge and plan"), "{}", refused.stderr);
    assert!(refused.stdout.is_empty());
    let alone = calibrate(&["--critic-mutants", "3"]);
    alone.expect(30);
}

#[test]
fn approving_and_failing_critics_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let critic = root().join("examples/studies/calibration/critic.toml").display().to_string();
    let ask = |url: &str, out: &str| {
        let out = folder.path().join(out).display().to_string();
        let url = format!("llm.critic.base_url={url}");
        let asked = ["--critic", &critic, "--critic-mutants", "8", "--out", &out, "--json"];
        calibrate(&[&asked[..], &["--set", &url, "--set", "llm.critic.max_attempts=1"]].concat())
    };
    let tally =
        |study: &serde_json::Value| study["verifiers"].as_array().unwrap().last().unwrap()["tally"].clone();
    let server = saying("The domain is correct. Nothing is wrong with it. APPROVE");
    let pleased = tally(&ask(&server.base_url(), "pleased").json(0));
    // In prose, and with nothing behind it: every different mutant is accepted, and every equal one.
    assert_eq!(
        (&pleased["verdicts"]["bad_accepted"], &pleased["verdicts"]["good_accepted"]),
        (&4.into(), &4.into()),
        "{pleased}"
    );
    // What it was shown are mutants, not their references.
    let questions = server.requests();
    assert_eq!(questions.len(), 8);
    let reference = fs::read_to_string(root().join("examples/suites/blocks/domain.pddl")).unwrap();
    assert!(questions.iter().all(|q| !q.question().contains(reference.trim())));
    let broken =
        ScriptedServer::matching(|_| Scripted::error(500, "overloaded", "scripted: not now")).unwrap();
    let failed = ask(&broken.base_url(), "failed");
    failed.expect(34);
    let failed: serde_json::Value = serde_json::from_str(&failed.stdout).unwrap();
    assert_eq!((&tally(&failed)["failed"], &tally(&failed)["undecided"]), (&8.into(), &0.into()), "{failed}");
}
