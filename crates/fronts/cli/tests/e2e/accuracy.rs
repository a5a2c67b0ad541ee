//! Accuracy of Translate-Infer-Compile and LLM+P: with a simulated model, and on recorded replies of a real
//! one.

use super::support::{Ran, Run, example, example_text, fenced, pipeline, planforge, root, saying, verdict};
use std::fs;
use std::path::Path;

/// A shipped pipeline with a simulated model that writes the tasks of these suites, each with so many wrong facts.
fn simulated(name: &str, suites: &[&str], wrong: u32) -> String {
    let text = fs::read_to_string(pipeline(&format!("{name}.toml"))).unwrap();
    let (before, rest) = text.split_once("[llm.main]\n").unwrap();
    let (_, after) = rest.split_once("\n[").unwrap();
    let folders: Vec<String> =
        suites.iter().map(|s| format!("{:?}", example(s, "").display().to_string())).collect();
    format!(
        "{before}[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = [{}]\nerrors = 0\nproblem_errors = {wrong}\n\n[{after}",
        folders.join(", ")
    )
}

fn evaluate(args: &[&str]) -> Ran {
    Ran::wait(planforge().arg("evaluate").args(args).spawn().unwrap())
}

/// The figures of a suite in the table of that title.
fn row(text: &str, title: &str, suite: &str) -> Vec<String> {
    let from = text.find(title).unwrap_or_else(|| panic!("{title}:\n{text}"));
    let line = text[from..].lines().find(|line| line.starts_with(&format!("{suite} ")));
    let words = line.unwrap_or_else(|| panic!("{suite}:\n{text}")).split_whitespace();
    words.skip(1).map(str::to_owned).collect()
}

const SAME: &str = "% of problems that are the reference problem";

#[test]
fn all_methods_infer_the_reference_without_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let suites = ["barman", "blocks", "floortile", "grippers", "storage", "termes", "tyres"];
    let methods = ["llm-p", "tic-ic", "tic-g3", "tic-g1"];
    let mut args: Vec<String> =
        ["--seeds", "1", "--tasks", "1", "--layout", "accuracy", "--out"].map(str::to_owned).into();
    args.push(path("out"));
    for suite in suites {
        args.extend(["--suite".to_owned(), example(suite, "").display().to_string()]);
    }
    for method in methods {
        fs::write(path(&format!("{method}.toml")), simulated(method, &suites, 0)).unwrap();
        args.extend(["--pipeline".to_owned(), path(&format!("{method}.toml"))]);
    }
    let ran = evaluate(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let text = &ran.expect(0).stdout;
    for suite in suites {
        assert_eq!(row(text, SAME, suite), ["100"; 4], "{text}");
        assert_eq!(row(text, "% of tasks solved", suite), ["100"; 4], "{text}");
    }
    assert!(text.matches("(simulated)").count() >= methods.len(), "{text}");
}

/// The problem names a parcel otherwise, as a text may that never names it.
#[test]
fn a_right_problem_under_other_names_is_solved_in_every_table() {
    let reference = example_text("parcels", "p01.pddl");
    let server = saying(&fenced(&reference.replace("parcel1", "box1")));
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").arg("--json");
    let report = run.go().json(0);
    assert_eq!(verdict(&report, 0), "accepted", "{report}");
    let environment = &report["tasks"][0]["candidate"]["assessments"]["environment"];
    assert_eq!(environment["summary"], "The environment accepts the plan: 10 steps, with 1 object renamed.");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let (suite, file) = (example("parcels", ""), pipeline("llm-p.toml"));
    let base_url = format!("llm.main.base_url={}", server.base_url());
    let (suite, file) = (suite.display().to_string(), file.display().to_string());
    let args = [
        "--suite",
        &suite,
        "--pipeline",
        &file,
        "--tasks",
        "1",
        "--seeds",
        "1",
        "--set",
        &base_url,
        "--out",
        &out,
    ];
    let shown = evaluate(&[&args as &[&str], &["--layout", "accuracy"]].concat());
    assert_eq!(row(&shown.expect(0).stdout, SAME, "parcels"), ["100"], "{}", shown.stdout);
    assert_eq!(row(&shown.stdout, "% of tasks solved", "parcels"), ["100"], "{}", shown.stdout);
    let lines = fs::read_to_string(folder.path().join("out/tasks.csv")).unwrap();
    assert!(lines.lines().nth(1).unwrap().contains(",p01,solved,accepted,"), "{lines}");
    let best = evaluate(&["--resume", "--out", &out]);
    assert!(best.expect(0).stdout.contains("1.00 / "), "{}", best.stdout);
}

#[test]
fn one_wrong_fact_makes_every_problem_different_and_two_seeds_are_averaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    for method in ["llm-p", "tic-ic"] {
        let text = simulated(method, &["blocks", "grippers"], 1);
        // A repair would put the wrong fact right.
        let text = text.replace("repair_rounds = 2", "repair_rounds = 0");
        fs::write(path(&format!("{method}.toml")), text).unwrap();
    }
    let (llm_p, tic_ic, out) = (path("llm-p.toml"), path("tic-ic.toml"), path("out"));
    let (blocks, grippers) =
        (example("blocks", "").display().to_string(), example("grippers", "").display().to_string());
    let mut args =
        vec!["--suite", &blocks, "--suite", &grippers, "--pipeline", &llm_p, "--pipeline", &tic_ic];
    args.extend(["--seeds", "1-2", "--tasks", "3", "--layout", "accuracy", "--out", &out]);
    let ran = evaluate(&args);
    assert!(ran.stdout.contains("over 2 runs"), "{}\n{}", ran.stdout, ran.stderr);
    for suite in ["blocks", "grippers"] {
        assert_eq!(row(&ran.stdout, SAME, suite)[..2], ["0", "0"], "{}", ran.stdout);
    }
    let csv = fs::read_to_string(path("out/accuracy.csv")).unwrap();
    assert_eq!(csv.lines().count(), 5, "{csv}");
    assert!(csv.lines().skip(1).all(|line| line.contains(",true,2,6,0.0000,0.0000,0.0000,")), "{csv}");
}

/// The page of the studies, and the further tables beside the recording of a study.
fn written_tables(study: &str) -> String {
    let page = fs::read_to_string(root().join("docs/studies/README.md")).unwrap();
    let tables = root().join("examples/recordings").join(study).join("tables.md");
    format!("{page}\n{}", fs::read_to_string(tables).unwrap())
}

/// Replays a study and compares its tables; no request is sent.
fn replays(study: &str, tables: &str, suites: &[&str], methods: &[&str], words: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").display().to_string();
    let recorded = root().join("examples/recordings").join(study).display().to_string();
    let mut args: Vec<String> = vec!["--replay".to_owned(), recorded, "--out".to_owned(), out];
    for suite in suites {
        args.extend(["--suite".to_owned(), example(suite, "").display().to_string()]);
    }
    for method in methods {
        // The pipeline that was recorded, where the shipped one has changed.
        let own = root().join("examples/recordings").join(study).join(method);
        let file = if own.exists() { own } else { pipeline(method) };
        args.extend(["--pipeline".to_owned(), file.display().to_string()]);
    }
    args.extend(words.iter().map(|word| (*word).to_owned()));
    args.extend(["--seeds", "1", "--set", "llm.main.base_url=http://127.0.0.1:9/v1"].map(str::to_owned));
    let ran = evaluate(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let written = written_tables(study);
    let shown = fs::read_to_string(folder.path().join("out").join(tables)).unwrap();
    let all: Vec<&str> = shown.split("\n\n").filter(|part| part.starts_with('|')).collect();
    assert!(!all.is_empty(), "{shown}");
    for table in all {
        assert!(written.contains(table.trim_end()), "{study} lacks\n{table}");
    }
    ran
}

#[test]
fn the_recorded_comparison_with_a_real_model_replays() {
    let ran = replays(
        "tic-local-model",
        "accuracy.md",
        &["blocks", "grippers", "barman"],
        &["llm-p.toml", "tic-ic.toml"],
        &["--tasks", "4", "--layout", "accuracy", "--set", "llm.main.max_tokens=1024"],
    );
    // Some replies held nothing usable; that is in the table, and counts as not solved.
    assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains('?'), "nothing is open: {}", ran.stdout);
}

/// Best-of-N is answered from the recording of best-of-N with rounds, VAL's answers from the recording too.
#[test]
fn the_recorded_test_time_scaling_of_a_real_model_replays() {
    let suites = ["parcels", "garden", "storage", "miconic", "blocks", "driverlog"];
    let rounds: &[&str] = &["--set", "stage.ivml.rounds=2"];
    for (method, further) in [("bon.toml", &[] as &[&str]), ("bon-ivml.toml", rounds)] {
        let common = ["--tasks", "1", "--layout", "scaling", "--set", "stage.domain.n=4"];
        let val = ["--set", "stage.pddl.options.what=domain", "--set", "stage.pddl.options.parser=val"];
        let words = [&common, &val as &[&str], further].concat();
        let ran = replays("test-time-local-model", "scaling.md", &suites, &[method], &words);
        assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
    }
}

/// The recorded samples are chosen among by clusters, without a further request.
#[test]
fn the_recorded_samples_of_a_real_model_are_selected_by_clusters() {
    let suites = ["parcels", "garden", "storage", "miconic", "blocks", "driverlog"];
    let words = ["--tasks", "1", "--layout", "scaling", "--set", "stage.domain.n=4"];
    let ran = replays("test-time-local-model", "scaling.md", &suites, &["bon-clusters.toml"], &words);
    assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
}

/// The answers of round 0 are those of `actions.toml`: one recording holds both.
#[test]
fn the_recorded_actions_of_a_real_model_replay() {
    let suites = ["grippers", "blocks", "parcels", "miconic", "garden"];
    for (method, set) in
        [("actions.toml", "stage.actions.n=1"), ("actions-corrective.toml", "stage.correct.rounds=2")]
    {
        let words = ["--tasks", "1", "--layout", "classes", "--set", set];
        let ran = replays("actions-local-model", "classes.md", &suites, &[method], &words);
        assert_eq!(ran.exit, 0, "{}\n{}", ran.stdout, ran.stderr);
    }
}

/// Replays a study of grammars into `folder`.
fn replays_grammars(study: &str, layout: &str, folder: &str) -> Ran {
    let recorded = root().join("examples/recordings/grammar-local-model").display().to_string();
    let matrix = root().join(format!("examples/studies/grammar/{study}.toml")).display().to_string();
    evaluate(&["--matrix", &matrix, "--replay", &recorded, "--layout", layout, "--out", folder])
}

#[test]
fn the_recorded_studies_of_grammars_give_the_tables_of_their_page() {
    let page = written_tables("grammar-local-model");
    for (study, layout, head) in [("actions", "classes", "| result"), ("llm-p", "accuracy", "| domain  ")] {
        let out = tempfile::tempdir().unwrap();
        let ran = replays_grammars(study, layout, &out.path().display().to_string());
        let written = fs::read_to_string(out.path().join(format!("{layout}.md"))).expect(&ran.stderr);
        let tables = written.split("\n\n").filter(|part| part.starts_with(head));
        // Not the table of null baselines.
        let tables: Vec<&str> = tables.filter(|table| !table.contains("skeleton")).collect();
        assert!(!tables.is_empty(), "{written}");
        for table in tables {
            assert!(page.contains(table.trim_end()), "{study}: {table}");
        }
    }
}

#[test]
fn the_recorded_comparisons_of_grammars_give_the_answers_of_their_page() {
    let page = written_tables("grammar-local-model");
    let classes = ["--by", "classes"];
    for (study, arms, layout, by) in [
        ("llm-p-zero", &["llm-p@grammar-zero"][..], "accuracy", &[][..]),
        ("llm-p-thought", &["llm-p@grammar-thought"], "accuracy", &[]),
        ("tic", &["tic-g1@grammar", "tic-ic@grammar"], "accuracy", &[]),
        ("likelihoods", &["tic-clusters@grammar"], "accuracy", &[]),
        ("corrections", &["actions-corrective@grammar"], "classes", &classes),
        ("edits", &["edit@grammar"], "accuracy", &[]),
    ] {
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().display().to_string();
        let ran = replays_grammars(study, layout, &folder);
        for grammar in arms {
            let free = grammar.replace("@grammar", "@free");
            let arms = ["compare", &folder, &folder, "--pipeline-a", &free, "--pipeline-b", grammar];
            let compared = Ran::wait(planforge().args(arms).args(by).spawn().unwrap());
            let answer = compared.stdout.lines().next().expect(&ran.stderr);
            let row = format!("| `{study}`");
            let row_of = |line: &str| line.starts_with(&row) && line.contains(&format!("`{grammar}`"));
            assert!(
                page.lines().any(|line| row_of(line) && line.contains(answer)),
                "{study}, {grammar}: {answer}"
            );
        }
    }
}

#[test]
fn the_recorded_benchmark_gives_the_tables_of_its_page() {
    let out = tempfile::tempdir().unwrap();
    let recorded = root().join("examples/recordings/benchmark-local-model").display().to_string();
    let matrix = root().join("configs/matrices/benchmark.toml").display().to_string();
    let folder = out.path().display().to_string();
    let only = ["--only", "pipeline=intrinsic,llm-p", "--layout", "methods", "--markdown"];
    let args = ["--matrix", &matrix, "--replay", &recorded, "--out", &folder];
    let ran = evaluate(&[&args[..], &only].concat());
    let page = written_tables("benchmark-local-model");
    let own = ["* intrinsic: ", "* llm-p: ", "* null baseline, ", "| intrinsic ", "| llm-p "];
    let lines: Vec<&str> =
        ran.stdout.lines().filter(|line| own.iter().any(|begin| line.starts_with(begin))).collect();
    assert_eq!(lines.len(), 9, "{}\n{}", ran.stdout, ran.stderr);
    for line in lines {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
        assert!(page.lines().any(|shown| words(shown) == words(line)), "{line}");
    }
}

/// The commands are those of the recording's README. Every verdict is the one that an independent validator gave: all plans are valid.
#[test]
fn the_recorded_frontier_model_solves_what_its_readme_says() {
    let readme = fs::read_to_string(root().join("examples/recordings/frontier/README.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let commands = readme.lines().filter_map(|line| line.strip_prefix("    planforge evaluate "));
    let mut ran = 0;
    for command in commands {
        let word = |word: &str| match word.strip_prefix("out/") {
            Some(folder) => place.path().join(folder).display().to_string(),
            None => word.to_owned(),
        };
        let args: Vec<String> = command.split_whitespace().map(word).collect();
        let mut started = planforge();
        started.current_dir(root()).arg("evaluate").args(args);
        Ran::wait(started.spawn().unwrap()).expect(0);
        ran += 1;
    }
    assert_eq!(ran, 5, "{readme}");
    for (folder, solved) in [("benchmark", 79), ("unseen", 22)] {
        let lines = fs::read_to_string(place.path().join(folder).join("tasks.jsonl")).unwrap();
        let all = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let ended: Vec<_> = all.filter(|line| line["outcome"] != "unfinished").collect();
        assert!(ended.iter().all(|line| line["outcome"] == "solved"), "{ended:#?}");
        assert_eq!(ended.len(), solved, "{folder}");
        assert!(readme.contains(&format!("{solved} of {solved} |")), "{folder}");
        let cost = |line: &&serde_json::Value| {
            (&line["suite"], &line["pipeline"]) == (&"rota".into(), &"pd-chain".into())
        };
        if let Some(rota) = ended.iter().find(cost) {
            // A valid plan that is not the cheapest is solved.
            let figures = ["plan_cost", "best_plan_cost"].map(|key| rota[key].as_f64());
            assert_eq!((figures, &rota["best_is_proven"]), ([Some(22.0), Some(19.0)], &true.into()));
        }
    }
    recommends(&place.path().join("benchmark"));
}

/// The suites of harder tasks are made again, and their requests are those that were recorded.
#[test]
fn the_recorded_replies_to_harder_tasks_solve_what_their_readme_says() {
    let place = tempfile::tempdir().unwrap();
    let readme = fs::read_to_string(root().join("examples/recordings/frontier-harder/README.md")).unwrap();
    let commands: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("    planforge ")).collect();
    assert_eq!(commands.len(), 15, "{readme}");
    let mut remarks = String::new();
    for command in commands {
        let word = |word: &str| match word.strip_prefix("out/") {
            Some(folder) => place.path().join(folder).display().to_string(),
            None => word.to_owned(),
        };
        let mut started = planforge();
        started.current_dir(root()).args(command.split_whitespace().map(word));
        remarks += &Ran::wait(started.spawn().unwrap()).expect(0).stderr;
    }
    // The second replies are those that are judged in `again`.
    let drift = "`frontier-at-once` gave other replies to 6 of 8 repeated requests, at temperature 0 or with the same seed";
    assert!(remarks.contains(drift), "{remarks}");
    for (folder, solved, not_run) in [("ladder", 8, 2), ("harder", 16, 8), ("again", 8, 16)] {
        let lines = fs::read_to_string(place.path().join(folder).join("tasks.jsonl")).unwrap();
        let all = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let (ended, open): (Vec<_>, Vec<_>) = all.partition(|line| line["outcome"] != "unfinished");
        assert!(ended.iter().all(|line| line["outcome"] == "solved"), "{ended:#?}");
        assert_eq!((ended.len(), open.len()), (solved, not_run), "{folder}");
        assert!(readme.contains(&format!("| {solved} of {solved} |")), "{folder}");
    }
}

/// The model of examples/recordings/frontier.
const FRONTIER: [&str; 4] = ["--model", "batch:frontier", "--seeds", "1"];

/// A recording without one cell: the tasks and the stage are named at the end, and only they fail.
#[test]
fn a_reply_that_a_recording_lacks_is_named_with_task_and_stage() {
    let place = tempfile::tempdir().unwrap();
    let recording = place.path().join("recording");
    fs::create_dir(&recording).unwrap();
    for suite in ["lab", "tides"] {
        let name = format!("{suite}.llm-p@batch-frontier.1.jsonl.gz");
        fs::copy(root().join("examples/recordings/frontier").join(&name), recording.join(&name)).unwrap();
    }
    let unseen = |suite: &str| root().join("examples/unseen").join(suite).display().to_string();
    let (lab, tides, method) = (unseen("lab"), unseen("tides"), pipeline("llm-p.toml").display().to_string());
    let (recording, out) = (recording.display().to_string(), place.path().join("out").display().to_string());
    let args = [&["--suite", &lab, "--suite", &tides, "--pipeline", &method][..], &FRONTIER].concat();
    let ran = evaluate(&[&args[..], &["--tasks", "2", "--replay", &recording, "--out", &out]].concat());
    ran.says(&[
        "the recording lacks a reply of 2 tasks:",
        "lab.p02 llm-p@batch-frontier 1 at `problem`",
        "tides.p02 ",
    ]);
    assert!(ran.stdout.contains("Tasks solved: llm-p@batch-frontier 2 of 4 (2 failed)"), "{}", ran.stdout);
}

/// Writes a cassette as a recording of the same requests with other replies.
fn with_other_replies(cassette: &Path, to: &Path) {
    let unpacked = std::process::Command::new("gzip").arg("-dc").arg(cassette).output().unwrap();
    let text = String::from_utf8(unpacked.stdout).unwrap();
    let change = |line: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        if let Some(content) = record.pointer_mut("/result/replies/0/content") {
            *content = "I cannot say.".into();
        }
        record.to_string() + "\n"
    };
    fs::write(to, text.lines().map(change).collect::<String>()).unwrap();
}

/// Two recordings are replayed as one. Where they answer a request differently, the first counts, and the model is named.
#[test]
fn recordings_are_united_and_other_replies_to_the_same_request_are_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = place.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    let cassette = |suite: &str| {
        let name = format!("{suite}.llm-p@batch-frontier.1.jsonl.gz");
        (root().join("examples/recordings/frontier").join(&name), name)
    };
    for (person, suite) in [("ann", "lab"), ("ben", "tides")] {
        let (from, name) = cassette(suite);
        fs::copy(from, folder(person).join(name)).unwrap();
    }
    with_other_replies(&cassette("lab").0, &folder("later").join("lab.llm-p@batch-frontier.1.jsonl"));
    let suite = |name: &str| root().join("examples/unseen").join(name).display().to_string();
    let (lab, tides, method) = (suite("lab"), suite("tides"), pipeline("llm-p.toml").display().to_string());
    let replay = |recordings: &[&str]| {
        let out = folder("out").join(recordings.join("-")).display().to_string();
        let recordings: Vec<String> =
            recordings.iter().map(|name| folder(name).display().to_string()).collect();
        let replays: Vec<&str> = recordings.iter().flat_map(|folder| ["--replay", folder]).collect();
        let args =
            [&["--suite", &lab, "--suite", &tides, "--pipeline", &method, "--tasks", "1"][..], &FRONTIER]
                .concat();
        evaluate(&[&args[..], &["--layout", "methods", "--out", &out], &replays].concat())
    };
    let united = replay(&["ann", "ben"]);
    assert!(united.expect(0).stdout.contains("2 of 2"), "{}", united.stdout);
    assert!(!united.stderr.contains("other replies"), "{}", united.stderr);
    let named = [
        "`frontier` gave other replies to 1 of 1 repeated request",
        "1 request has other replies in a second recording",
    ];
    let drifted = replay(&["ann", "later", "ben"]);
    drifted.expect(0).says(&named);
    drifted.says(&["lab.p01/problem"]);
    assert!(drifted.stdout.contains("2 of 2"), "{}", drifted.stdout);
    let other_first = replay(&["later", "ann", "ben"]);
    other_first.says(&named);
    assert!(other_first.stdout.contains("1 of 2"), "{}", other_first.stdout);

    let newer = folder("newer").join("lab.llm-p@batch-frontier.1.jsonl");
    let text = fs::read_to_string(folder("later").join("lab.llm-p@batch-frontier.1.jsonl")).unwrap();
    fs::write(newer, text.replacen("\"planforge_cassette\":1", "\"planforge_cassette\":2", 1)).unwrap();
    replay(&["newer"])
        .expect(31)
        .says(&["record.version", "the cassette has version 2, this planforge reads version 1"]);
}

/// A matrix from which a suite was taken after it was run: its results are not in the tables, which says so.
#[test]
fn results_that_an_edited_matrix_lacks_are_named() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out").display().to_string();
    let recording = root().join("examples/recordings/frontier").display().to_string();
    let suite = |name: &str| root().join("examples/unseen").join(name).display().to_string();
    let (lab, tides, method) = (suite("lab"), suite("tides"), pipeline("llm-p.toml").display().to_string());
    let common =
        [&["--pipeline", &method, "--tasks", "1", "--replay", &recording, "--out", &out][..], &FRONTIER]
            .concat();
    evaluate(&[&["--suite", &lab, "--suite", &tides], &common[..]].concat()).expect(0);
    let edited = evaluate(&[&["--suite", &lab, "--resume"], &common[..]].concat());
    edited.expect(0).says(&["1 cell was run and is not in the matrix", "cells/tides/llm-p@batch-frontier/1"]);
    let again = evaluate(&[&["--suite", &lab, "--suite", &tides, "--resume"], &common[..]].concat());
    assert!(!again.expect(0).stderr.contains("not in the matrix"), "{}", again.stderr);
}

/// The results of a cell whose texts changed after the run are not in the tables, which say so.
#[test]
fn results_of_changed_texts_are_marked_and_named() {
    let place = tempfile::tempdir().unwrap();
    let suite = place.path().join("lab");
    fs::create_dir(&suite).unwrap();
    for entry in fs::read_dir(root().join("examples/unseen/lab")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), suite.join(entry.file_name())).unwrap();
    }
    let recording = root().join("examples/recordings/frontier").display().to_string();
    let out = place.path().join("out").display().to_string();
    let (folder, method) = (suite.display().to_string(), pipeline("llm-p.toml").display().to_string());
    let args = [&["--suite", &folder, "--pipeline", &method, "--tasks", "1"][..], &FRONTIER].concat();
    let common = ["--replay", &recording, "--out", &out];
    evaluate(&[&args[..], &common].concat()).expect(0);
    let text = fs::read_to_string(suite.join("p01.nl")).unwrap();
    fs::write(suite.join("p01.nl"), text + "There is another shelf.\n").unwrap();
    let ran = evaluate(&[&["--resume"], &common[..]].concat());
    let named = ["the results of 1 cell with other inputs:", "  lab llm-p@batch-frontier 1"];
    ran.expect(30).says(&named);
    assert!(
        ran.stdout.contains("Tasks solved: llm-p@batch-frontier 0 of 0 (1 unfinished)"),
        "{}",
        ran.stdout
    );
    let lines = fs::read_to_string(place.path().join("out/tasks.csv")).unwrap();
    assert!(lines.contains("the cell was run with other inputs"), "{lines}");
    let merged = Ran::wait(planforge().args(["evaluate", "merge", &out]).spawn().unwrap());
    merged.says(&named);
}

/// The method to use, from these results: every method solved its tasks, and no money is known.
fn recommends(folder: &std::path::Path) {
    let recommend = |args: &[&str]| {
        let mut started = planforge();
        started.args(["evaluate", "recommend"]).arg(folder).args(args);
        Ran::wait(started.spawn().unwrap())
    };
    let needed = recommend(&["--need", "90%"]);
    let words = needed.expect(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = "use intrinsic@batch-frontier: 15 of 15 right (100 %, 95 % interval 80 to 100 %; 35 not run), 1.0 requests and an unknown \
                 amount of money a task (the server did not count all tokens).";
    assert!(words.starts_with(first), "{words}");
    for part in
        ["not shown to hold", "Not shown to differ: llm-p@batch-frontier 15 of 15", "harder tasks are needed"]
    {
        assert!(words.contains(part), "{part}: {words}");
    }
    let json = recommend(&["--json"]).json(0);
    assert_eq!((&json["use"], &json["answer"]), (&"intrinsic@batch-frontier".into(), &"use".into()));
    assert!(json["methods"][0]["usd"].is_null(), "{json}");
    // Unknown money is not within a budget.
    let priced = recommend(&["--budget", "2USD"]);
    assert!(
        priced.expect(20).stdout.starts_with("no method is known to be within 2.00 USD a task"),
        "{}",
        priced.stdout
    );
    for args in
        [["--need", "90"], ["--need", "101%"], ["--need", "0%"], ["--need", "NaN%"], ["--budget", "2EUR"]]
    {
        recommend(&args).expect(30);
    }
    for budget in ["-1USD", "0USD", "infUSD", "NaNUSD", "twoUSD"] {
        recommend(&["--budget", budget]).expect(30);
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let mut started = planforge();
    started.args(["evaluate", "recommend"]).arg(elsewhere.path());
    Ran::wait(started.spawn().unwrap()).expect(30).says(&["has no results of an evaluation"]);
}

/// Parts of an evaluation, run in random orders, give at the end the tables of one uninterrupted run, and no part loses the results
/// of the parts before it.
#[test]
fn parts_in_any_order_give_the_tables_of_one_run() {
    const PARTS: [&[&str]; 6] = [
        &["--only", "suite=grippers*", "--only", "pipeline=llm-p", "--only", "task=p01"],
        &["--only", "suite=termes*", "--only", "task=p02"],
        &["--only", "pipeline=intrinsic"],
        &["--except", "pipeline=llm-p", "--except", "task=p02"],
        &["--only", "suite=*-L2"],
        &["--only", "task=p0*", "--except", "suite=termes", "--except", "pipeline=intrinsic"],
    ];
    let place = tempfile::tempdir().unwrap();
    let recorded = root().join("examples/recordings/benchmark-local-model").display().to_string();
    let matrix = place.path().join("matrix.toml");
    let list = |paths: [&str; 2]| format!("{:?}", paths.map(|path| root().join(path).display().to_string()));
    let text = format!(
        "schema = 1\n[matrix]\nsuites = {}\npipelines = {}\nseeds = [1]\ntasks = 2\nlevels = [1, 2]\n",
        list(["examples/suites/grippers", "examples/suites/termes"]),
        list(["configs/pipelines/intrinsic.toml", "configs/pipelines/llm-p.toml"]),
    );
    fs::write(&matrix, text).unwrap();
    let run = |name: &str, part: &[&str]| {
        let out = place.path().join(name).display().to_string();
        let resume: &[&str] = if place.path().join(name).exists() { &["--resume"] } else { &[] };
        let matrix = matrix.display().to_string();
        let args = ["--matrix", &matrix, "--replay", &recorded, "--layout", "methods", "--out", &out];
        let ran = evaluate(&[&args[..], resume, part].concat());
        assert!(ran.stdout.contains("tasks solved"), "{}\n{}", ran.stdout, ran.stderr);
    };
    let finished = |name: &str| {
        let lines = fs::read_to_string(place.path().join(name).join("tasks.csv")).unwrap();
        lines.lines().filter(|line| !line.contains("unfinished")).map(str::to_owned).collect::<Vec<_>>()
    };
    let tables = |name: &str| {
        let files = ["tasks.csv", "methods.csv", "methods.md", "methods.json"];
        files.map(|file| fs::read_to_string(place.path().join(name).join(file)).unwrap())
    };
    run("whole", &[]);
    let mut random = 7_u64;
    for order in ["first", "second"] {
        let mut parts = PARTS.to_vec();
        while !parts.is_empty() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let part = parts.remove((random >> 33) as usize % parts.len());
            let before = if place.path().join(order).exists() { finished(order) } else { Vec::new() };
            run(order, part);
            let after = finished(order);
            assert!(before.iter().all(|line| after.contains(line)), "{part:?}: {before:#?}\n{after:#?}");
            if order == "first" {
                // Tables that are made again from the cells, of which some ran in part, are the same.
                let before = tables(order);
                let out = place.path().join(order).display().to_string();
                Ran::wait(
                    planforge().args(["evaluate", "merge", &out, "--layout", "methods"]).spawn().unwrap(),
                );
                assert_eq!(tables(order), before, "{part:?}");
            }
        }
        run(order, &[]);
        assert_eq!(tables(order), tables("whole"));
    }
}
