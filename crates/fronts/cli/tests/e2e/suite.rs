//! `planforge suite`: generating, checking, templates, and texts written by a scripted model.

use super::support::{Ran, example, example_text, files, pipeline, planforge, ran, root, saying, simulated};
use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        files(folder).iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_generated_folder_is_a_separate_suite() {
    let out = tempfile::tempdir().unwrap();
    let grippers = example("grippers", "");
    let args = |seed: &str| {
        let mut command = planforge();
        command.arg("suite").arg("generate").arg(&grippers).arg("--out").arg(out.path());
        command.args(["--tasks", "3", "--from", "4", "--seed", seed]);
        command
    };
    let report = Ran::wait(args("7").arg("--json").spawn().unwrap()).json(0);
    assert_eq!(report["tasks"].as_array().unwrap().len(), 3);
    assert_eq!(report["tasks"][0]["stem"], "p04");
    for file in [
        "domain.nl",
        "domain.pddl",
        "generator.jinja",
        "p05.nl",
        "p06.pddl",
        "p06_template.pddl",
        "sentences.toml",
    ] {
        assert!(out.path().join(file).exists(), "{file}");
    }
    let text = std::fs::read_to_string(out.path().join("p06.pddl")).unwrap();
    // The same again changes nothing; another seed would, and is refused without --force.
    Ran::wait(args("7").spawn().unwrap()).expect(0);
    Ran::wait(args("8").spawn().unwrap()).expect(31).says(&["cli.file-exists", "--force"]);
    assert_eq!(std::fs::read_to_string(out.path().join("p06.pddl")).unwrap(), text);
    Ran::wait(args("8").arg("--force").spawn().unwrap()).expect(0);
    assert_ne!(std::fs::read_to_string(out.path().join("p06.pddl")).unwrap(), text);
    let checked =
        Ran::wait(planforge().args(["suite", "check", "--solve", "--json"]).arg(out.path()).spawn().unwrap());
    let report = checked.json(0);
    assert_eq!(report["suites"][0]["suite"], "grippers");
    assert_eq!(report["suites"][0]["tasks"].as_array().unwrap().len(), 3);
    assert!(report["suites"][0]["tasks"][2]["solved"]["plan"].as_u64().unwrap() > 0);
}

#[test]
fn a_generator_with_a_mistake_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["domain.nl", "domain.pddl"] {
        std::fs::copy(example("grippers", file), folder.path().join(file)).unwrap();
    }
    let generate = || Ran::wait(planforge().args(["suite", "generate"]).arg(folder.path()).spawn().unwrap());
    generate().expect(10).says(&["generate.no-generator"]);
    std::fs::write(folder.path().join("generator.jinja"), "%% problem\n{{ nothing }}\n%% text\nx\n").unwrap();
    generate().expect(10).says(&["generate.template", "generator.jinja:2"]);
    assert_eq!(listing(folder.path()), ["domain.nl", "domain.pddl", "generator.jinja"]);
}

/// `~` and `+` cannot be limited inside the template engine, so the process that renders is.
#[test]
fn a_generator_whose_values_grow_without_end_stops_at_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["domain.nl", "domain.pddl"] {
        std::fs::copy(example("grippers", file), folder.path().join(file)).unwrap();
    }
    let memory = "ran out of memory under its limit of 512 MiB";
    for (grow, limit) in [
        ("{% set v.s = v.s ~ v.s %}", memory),
        ("{% set v.s = v.s + v.s %}", memory),
        ("{% set v.s = v.s | replace('x' * 200, 'x' * 400) %}", memory),
        ("{% set v.s = [v.s, v.s] | join %}", memory),
        ("{% set v.s = '%s%s' | format(v.s, v.s) %}", memory),
        ("{% set v.s = twice(v.s) %}", memory),
        ("{% set s %}{{ v.s }}{{ v.s }}{% endset %}{% set v.s = s %}", memory),
        ("{% set v.l = (v.l + v.l) | list %}", memory),
        ("{% set v.l = v.l + v.l %}{% if i == 20 %}{{ v.l | join }}{% endif %}", memory),
        ("{% set v.s = v.s * 99 %}", "generator.jinja:2"),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "2000000 steps"),
        ("{% for a in range(9999) %}{{ v.s }}{% endfor %}", "1048576 bytes"),
    ] {
        let template = format!(
            "{{% macro twice(s) %}}{{{{ s }}}}{{{{ s }}}}{{% endmacro %}}{{% set v = namespace(s='x' * 200, l=['x' * 9000]) %}}\n\
             {{% for i in range(60) %}}{grow}{{% endfor %}}\n%% problem\nx\n%% text\nx\n"
        );
        std::fs::write(folder.path().join("generator.jinja"), template).unwrap();
        let ran = Ran::wait(planforge().args(["suite", "generate"]).arg(folder.path()).spawn().unwrap());
        ran.expect(10).says(&["generate.template", "generator.jinja", limit]);
    }
    let wordings = "{% set v = namespace(s='x') %}{% for i in range(60) %}{% set v.s = v.s ~ v.s %}{% endfor %}\n%% wording\nx\n";
    std::fs::write(folder.path().join("wordings.jinja"), wordings).unwrap();
    for file in ["p01.nl", "p01.pddl"] {
        std::fs::copy(example("grippers", file), folder.path().join(file)).unwrap();
    }
    let mut command = planforge();
    command.args(["suite", "paraphrase"]).arg(folder.path()).arg("--out").arg(folder.path().join("out"));
    Ran::wait(command.spawn().unwrap()).expect(10).says(&["paraphrase.template", "wordings.jinja", memory]);
}

#[test]
fn check_distinguishes_good_bad_and_unreadable_suites() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["domain.nl", "domain.pddl", "p01.nl", "p01.pddl", "domain_template.pddl"] {
        std::fs::copy(example("blocks", file), folder.path().join(file)).unwrap();
    }
    let check = |more: &[&str]| {
        Ran::wait(planforge().args(["suite", "check"]).arg(folder.path()).args(more).spawn().unwrap())
    };
    check(&[]).expect(0);
    let problem = example_text("blocks", "p01.pddl");
    std::fs::write(folder.path().join("p02.pddl"), &problem).unwrap();
    check(&[]).expect(0).says(&["suite.no-text", "p02"]);
    check(&["--strict"]).expect(10);
    std::fs::write(folder.path().join("p02.pddl"), problem.replace("arm-free", "arm-fre")).unwrap();
    check(&[]).expect(10).says(&["pddl.undefined-predicate", "p02.pddl:"]);
    let report = check(&["--json"]).json(10);
    assert_eq!(report["suites"][0]["errors"], 1);
    assert_eq!(report["suites"][0]["diagnostics"][1]["line"], 6);
    ran(["suite", "check", "/nonexistent/suite"]).expect(31).says(&["suite.not-a-folder"]);
    ran(["suite", "check"]).expect(30);
}

#[test]
fn templates_are_made_from_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = example("blocks", "");
    Ran::wait(
        planforge().args(["suite", "template"]).arg(&blocks).arg("--out").arg(folder.path()).spawn().unwrap(),
    )
    .expect(0);
    for file in ["domain_template.pddl", "p01_template.pddl", "p_example_template.pddl"] {
        let made = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert_eq!(made, example_text("blocks", file));
        assert!(!made.contains("arm-free") && !made.contains("stands-on"), "{made}");
    }
}

#[test]
fn a_paraphrased_suite_passes_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let mut outs = Vec::new();
    for suite in ["barman", "blocks", "floortile", "grippers", "storage", "termes", "tyres"] {
        let out = folder.path().join(suite);
        let mut command = planforge();
        command
            .args(["suite", "paraphrase"])
            .arg(example(suite, ""))
            .arg("--out")
            .arg(&out)
            .args(["--tasks", "2", "--json"]);
        let report = Ran::wait(command.spawn().unwrap()).json(0);
        assert_eq!(report["tasks"].as_array().unwrap().len(), 10);
        let read = |file: &str| std::fs::read_to_string(out.join(file)).unwrap();
        assert_eq!(read("p02-w3.pddl"), example_text(suite, "p02.pddl"), "the reference is the same");
        assert_eq!(read("p_example.nl"), example_text(suite, "p_example.nl"));
        assert_ne!(read("p02-w3.nl"), example_text(suite, "p02.nl"));
        outs.push(out);
    }
    let checked =
        Ran::wait(planforge().args(["suite", "check", "--strict", "--json"]).args(&outs).spawn().unwrap());
    let report = checked.json(0);
    assert_eq!(report["suites"][1]["suite"], "blocks-paraphrased");
    assert_eq!(report["suites"][1]["tasks"].as_array().unwrap().len(), 11);
}

/// Suites with numbers, durations, deadlines and wishes.
const EXTENDED: [&str; 4] = ["market", "bakery", "post", "outing"];

fn extended(name: &str) -> PathBuf {
    root().join("examples/extended").join(name)
}

#[test]
fn llm_p_solves_tasks_with_numbers_and_wishes() {
    let folder = tempfile::tempdir().unwrap();
    let suites = ["market", "outing"].map(extended);
    let exact = "errors = 0\nproblem_errors = 0\npredicate_argument = 0";
    let file = simulated(folder.path(), "llm-p", &suites, exact);
    let out = folder.path().join("out");
    let mut command = planforge();
    command.arg("evaluate").arg("--pipeline").arg(&file).args(["--seeds", "5", "--tasks", "2"]);
    command.arg("--out").arg(&out);
    for suite in &suites {
        command.arg("--suite").arg(suite);
    }
    Ran::wait(command.spawn().unwrap()).expect(0);
    for suite in ["market", "outing"] {
        let report = out.join("cells").join(suite).join("llm-p/5/report.json");
        let report: Value = serde_json::from_str(&std::fs::read_to_string(report).unwrap()).unwrap();
        for task in report["tasks"].as_array().unwrap() {
            assert_eq!(task["verdict"]["verdict"], "accepted", "{suite} {}", task["stem"]);
        }
    }
}

/// The simulated model writes no durative actions, so the reply is the reference. The environment executes the plan by its times.
#[test]
fn llm_p_solves_a_task_with_times() {
    let folder = tempfile::tempdir().unwrap();
    let task = extended("bakery").join("p01");
    let problem = std::fs::read_to_string(task.with_extension("pddl")).unwrap();
    let server = saying(&format!("```pddl\n{problem}```"));
    let mut command = planforge();
    command.arg("run").arg(pipeline("llm-p.toml")).arg("--task").arg(&task);
    command.arg("--set").arg(format!("llm.main.base_url={}", server.base_url()));
    command.arg("--runs").arg(folder.path().join("runs"));
    let ran = Ran::wait(command.spawn().unwrap());
    ran.expect(0);
    let printed = format!("{}{}", ran.stdout, ran.stderr);
    for words in ["(burn oven1) [96.000]", "The environment accepts the plan"] {
        assert!(printed.contains(words), "{words}: {printed}");
    }
}

/// Timed facts, wishes and the terms of a metric are stated beside the facts, and each of them is needed.
#[test]
fn a_level_without_a_deadline_or_a_wish_does_not_imply_its_problem() {
    let out = tempfile::tempdir().unwrap();
    for (name, from, to, code) in [
        (
            "post",
            "= pddl (:init (at {{ (closes | where(1, v))[0][0] }} (not (open {{ v }}))))",
            "",
            "paraphrase.not-implied",
        ),
        ("outing", "(* {{ wish[1] }}", "(* 1{{ wish[1] }}", "paraphrase.not-implied"),
        ("outing", "(sometime (class-at {{ pass[0][1] }}))", "(sometime (class-at", "paraphrase.not-implied"),
        (
            "bakery",
            "%% level 2",
            "%% level 2\nThe sooner the better.\n= metric(minimize, total_time).",
            "paraphrase.needless-sentence",
        ),
        ("market", "= metric(minimize, walked).", "= irrelevant", "paraphrase.not-implied"),
    ] {
        let copy = out.path().join(name);
        let _ = std::fs::remove_dir_all(&copy);
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(extended(name)).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
        }
        let wordings = std::fs::read_to_string(copy.join("wordings.jinja")).unwrap();
        assert!(wordings.contains(from), "{name}: {from}");
        std::fs::write(copy.join("wordings.jinja"), wordings.replacen(from, to, 1)).unwrap();
        let mut command = planforge();
        command.args(["suite", "paraphrase"]).arg(&copy).args(["--level", "2", "--tasks", "1", "--out"]);
        let ran = Ran::wait(command.arg(out.path().join("none")).spawn().unwrap());
        ran.expect(10).says(&[code, "-L2"]);
    }
}

/// clingo proves each text; what is checked here is that a wrong text fails.
#[test]
fn levels_of_all_domains_imply_their_problems() {
    let suites = [
        "barman",
        "blocks",
        "childsnack",
        "floortile",
        "grippers",
        "hiking",
        "miconic",
        "storage",
        "termes",
        "tyres",
    ];
    let mut check = planforge();
    check.args(["suite", "check", "--strict", "--json"]).args(suites.map(|suite| example(suite, "")));
    check.args(EXTENDED.map(extended));
    let report = Ran::wait(check.spawn().unwrap()).json(0);
    for suite in report["suites"].as_array().unwrap() {
        assert_eq!(suite["level_texts"], 10, "{}", suite["suite"]);
    }
    let out = tempfile::tempdir().unwrap();
    let level = |suite: &Path, level: &str, folder: &str| {
        let mut command = planforge();
        command.args(["suite", "paraphrase"]).arg(suite).args(["--level", level, "--tasks", "2"]);
        Ran::wait(command.arg("--out").arg(out.path().join(folder)).spawn().unwrap())
    };
    level(&example("grippers", ""), "3", "third").expect(0);
    level(&example("grippers", ""), "4", "fourth").expect(0);
    let read = |file: &str| std::fs::read_to_string(out.path().join(file)).unwrap();
    assert_eq!(read("third/p02-L3.nl"), read("fourth/p02-L4.nl"));
    assert_eq!(read("third/domain.nl"), example_text("grippers", "domain.nl"));
    assert_eq!(read("fourth/domain.nl"), example_text("grippers", "domain_brief.nl"));
    assert!(read("third/p02-L3.lp").contains("cardinality(room, 3)."));
    // A level without one of its facts, with a fact told twice, and with a sentence whose facts are missing.
    let copy = copy_without("grippers", out.path(), |_| false);
    let wordings = example_text("grippers", "wordings.jinja");
    for (from, to, code) in [
        ("cardinality(room, {{ rooms | length }}).", "", "paraphrase.not-implied"),
        ("%% level 2", "%% level 2\nThere is room1.\n= object(room1, room).", "paraphrase.needless-sentence"),
        ("= {{ wanted |", "{{ wanted |", "paraphrase.template"),
    ] {
        assert!(wordings.contains(from));
        std::fs::write(copy.join("wordings.jinja"), wordings.replacen(from, to, 1)).unwrap();
        level(&copy, "2", "none").expect(10).says(&[code, "-L2"]);
    }
    let checked = Ran::wait(planforge().args(["suite", "check", "--json"]).arg(&copy).spawn().unwrap());
    let checked = checked.json(10);
    let diagnostics = checked["suites"][0]["diagnostics"].as_array().unwrap();
    assert!(
        diagnostics.iter().any(|diagnostic| diagnostic["code"] == "paraphrase.template"),
        "{diagnostics:?}"
    );
    assert!(!out.path().join("none").exists());
}

#[test]
fn a_suite_without_wordings_is_not_paraphrased() {
    let out = tempfile::tempdir().unwrap();
    let mut command = planforge();
    command.args(["suite", "paraphrase"]).arg(example("parcels", "")).arg("--out").arg(out.path());
    Ran::wait(command.spawn().unwrap()).expect(10).says(&["paraphrase.no-wordings", "wordings.jinja"]);
    assert!(listing(out.path()).is_empty());
    // More than the templates can tell apart.
    let mut command = planforge();
    command.args(["suite", "paraphrase"]).arg(example("blocks", "")).arg("--out").arg(out.path());
    let refused = Ran::wait(command.args(["--wordings", "900", "--tasks", "1"]).spawn().unwrap());
    refused.expect(10).says(&["paraphrase.alike", "p01-w"]);
    assert!(listing(out.path()).is_empty());
}

/// A suite without texts: the PDDL of two tasks.
fn silent_suite() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["domain.pddl", "p01.pddl", "p02.pddl", "p03.pddl"] {
        std::fs::copy(example("miconic", file), folder.path().join(file)).unwrap();
    }
    std::fs::write(folder.path().join("suite.toml"), "schema = 1\nname = \"lift\"\n").unwrap();
    folder
}

fn sentences() -> String {
    let domain = ["above", "lift-at", "waits-at", "wants-to", "in-lift", "arrived"];
    let entries: Vec<String> = domain
        .iter()
        .map(|name| {
            let slots = if ["above", "waits-at", "wants-to"].contains(name) { "{1} {2}" } else { "{1}" };
            format!("\"{name}\": {{\"yes\": \"{name} {slots}\", \"no\": \"not {name} {slots}\"}}")
        })
        .collect();
    format!("```json\n{{{}}}\n```", entries.join(", "))
}

/// The scripted model's reply to each kind of request.
fn describer(request: &ScriptedRequest) -> Scripted {
    let question = request.question();
    if question.starts_with("Tell the following PDDL domain") {
        return Scripted::replies(&["```text\nA lift: go-up, go-down, enter, leave.\n```"]);
    }
    if question.starts_with("For each type") {
        return Scripted::replies(&[r#"{"passenger": "a passenger.", "FLOOR": "a  floor"}"#]);
    }
    if question.starts_with("For each predicate") {
        return Scripted::replies(&[&sentences()]);
    }
    let number =
        question.matches("passenger4").count().min(1) + question.matches("passenger3").count().min(1);
    Scripted::replies(&[&format!(
        "```text\nTold {number}: {}\n```",
        if question.contains("Told") { "alike" } else { "first" }
    )])
}

fn describe(folder: &Path, runs: &Path, base_url: &str, more: &[&str]) -> Ran {
    let mut command = planforge();
    command.args(["suite", "describe"]).arg(folder).arg("--pipeline").arg(pipeline("describe.toml"));
    command.arg("--runs").arg(runs).arg("--set").arg(format!("llm.main.base_url={base_url}"));
    command.args(["--set", "llm.main.max_attempts=1"]).args(more);
    Ran::wait(command.spawn().unwrap())
}

#[test]
fn describe_writes_what_is_missing_and_the_result_passes_the_check() {
    let (folder, runs) = (silent_suite(), tempfile::tempdir().unwrap());
    let server = ScriptedServer::matching(describer).unwrap();
    let ran = describe(folder.path(), runs.path(), &server.base_url(), &[]);
    ran.expect(0);
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!(read("domain.nl"), "A lift: go-up, go-down, enter, leave.\n");
    assert_eq!(read("p01.nl"), "Told 0: first\n");
    assert_eq!(
        (read("p02.nl"), read("p03.nl")),
        ("Told 1: alike\n".to_owned(), "Told 2: alike\n".to_owned())
    );
    assert!(read("sentences.toml").contains("waits-at = { yes = \"waits-at {1} {2}\""));
    assert!(
        read("sentences.toml").starts_with("[types]\nfloor = \"a floor\"\npassenger = \"a passenger\"\n")
    );
    // One question each: the domain, the sentences, the types, three tasks. Examples of other suites are ours; the plan is in no prompt.
    assert_eq!(server.count(), 6);
    let first = server
        .requests()
        .iter()
        .find(|r| r.question().starts_with("Tell the following PDDL domain"))
        .unwrap()
        .question();
    assert!(first.contains(example_text("termes", "domain.nl").trim()));
    // Objects that the scripted texts leave out are warned about.
    ran.says(&["describe.unnamed"]);
    let checked = Ran::wait(planforge().args(["suite", "check"]).arg(folder.path()).spawn().unwrap());
    checked.expect(0).says(&["suite.unnamed-object"]);
    // A second time there is nothing to ask, and nothing is overwritten.
    describe(folder.path(), runs.path(), &server.base_url(), &[]).expect(0);
    assert_eq!(server.count(), 6);
}

#[test]
fn describe_replays_texts_from_earlier_runs() {
    let (folder, runs) = (silent_suite(), tempfile::tempdir().unwrap());
    let server = ScriptedServer::matching(describer).unwrap();
    describe(folder.path(), runs.path(), &server.base_url(), &[]).expect(0);
    let asked = server.count();
    let mut recorded: Vec<_> = std::fs::read_dir(runs.path()).unwrap().map(|e| e.unwrap().path()).collect();
    recorded.sort();
    assert_eq!(recorded.len(), 2);
    let again = silent_suite();
    let replay: Vec<&str> = recorded.iter().flat_map(|run| ["--replay", run.to_str().unwrap()]).collect();
    describe(again.path(), &runs.path().join("again"), "http://127.0.0.1:9", &replay).expect(0);
    assert_eq!(server.count(), asked);
    for file in ["domain.nl", "p01.nl", "p02.nl", "p03.nl", "sentences.toml"] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(file)).unwrap();
        assert_eq!(read(folder.path()), read(again.path()), "{file}");
    }
}

#[test]
fn sentences_that_cannot_be_read_leave_the_other_texts() {
    let (folder, runs) = (silent_suite(), tempfile::tempdir().unwrap());
    let server =
        ScriptedServer::matching(|request| match request.question().starts_with("For each predicate") {
            true => {
                Scripted::replies(&["{\"above\": {\"yes\": \"{1} is above {3}.\", \"no\": \"{1} {2}\"}}"])
            }
            false => describer(request),
        })
        .unwrap();
    let ran = describe(folder.path(), runs.path(), &server.base_url(), &[]);
    ran.expect(11).says(&["describe.sentences", "`yes` of `above` has slot {3}", "`arrived` has no entry"]);
    assert!(folder.path().join("p03.nl").exists());
    let file = || std::fs::read_to_string(folder.path().join("sentences.toml")).unwrap();
    assert!(file().starts_with("[types]") && !file().contains("[predicates]"), "{}", file());
    // What is there by then is not asked for again, and stays.
    let mended = ScriptedServer::matching(describer).unwrap();
    describe(folder.path(), runs.path(), &mended.base_url(), &[]).expect(0);
    assert_eq!(mended.count(), 1);
    assert!(file().starts_with("[types]\nfloor") && file().contains("[predicates]"), "{}", file());
}

#[test]
fn types_are_added_to_the_sentences_that_a_person_wrote() {
    let (folder, runs) = (silent_suite(), tempfile::tempdir().unwrap());
    let by_hand = example_text("miconic", "sentences.toml");
    let by_hand = &by_hand[by_hand.find("[predicates]").unwrap()..];
    let by_hand = format!("# By hand.\n{}", by_hand.split("[types]").next().unwrap());
    std::fs::write(folder.path().join("sentences.toml"), &by_hand).unwrap();
    let server = ScriptedServer::matching(describer).unwrap();
    describe(folder.path(), runs.path(), &server.base_url(), &[]).expect(0);
    let file = std::fs::read_to_string(folder.path().join("sentences.toml")).unwrap();
    assert!(
        file.starts_with(by_hand.trim_end()) && file.contains("\n\n[types]\nfloor = \"a floor\"\n"),
        "{file}"
    );
    let checked = Ran::wait(planforge().args(["suite", "check"]).arg(folder.path()).spawn().unwrap());
    checked.expect(0);
    assert!(!checked.stderr.contains("suite.no-type"), "{}", checked.stderr);
    // A type that is left out, or that nobody knows, is told with the rest.
    let folder = silent_suite();
    let server = ScriptedServer::matching(|request| match request.question().starts_with("For each type") {
        true => Scripted::replies(&[r#"{"flor": "a floor", "passenger": " "}"#]),
        false => describer(request),
    })
    .unwrap();
    describe(folder.path(), runs.path(), &server.base_url(), &[]).expect(11).says(&[
        "describe.types",
        "`floor` has no entry",
        "`passenger` has an empty text",
        "no type `flor`",
    ]);
    assert!(!std::fs::read_to_string(folder.path().join("sentences.toml")).unwrap().contains("[types]"));
}

#[test]
fn describe_keeps_existing_texts_without_force() {
    let (folder, runs) = (silent_suite(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("domain.nl"), "By hand.\n").unwrap();
    std::fs::write(folder.path().join("p02.nl"), "Told by hand.\n").unwrap();
    let server = ScriptedServer::matching(describer).unwrap();
    describe(folder.path(), runs.path(), &server.base_url(), &[]).expect(0);
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    assert_eq!((read("domain.nl"), read("p02.nl")), ("By hand.\n".to_owned(), "Told by hand.\n".to_owned()));
    // The text by hand is the example that the others are told after.
    assert!(read("p01.nl").ends_with("alike\n"));
    describe(folder.path(), runs.path(), &server.base_url(), &["--force"]).expect(0);
    assert_eq!(read("domain.nl"), "A lift: go-up, go-down, enter, leave.\n");
    assert!(read("p02.nl").ends_with("alike\n") && read("p01.nl").ends_with("first\n"));
}

#[test]
fn describe_needs_pddl_and_a_pipeline_that_gives_it() {
    let (folder, runs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("domain.nl"), "Two jugs.").unwrap();
    std::fs::write(folder.path().join("p01.nl"), "Measure.").unwrap();
    describe(folder.path(), runs.path(), "http://127.0.0.1:9", &[])
        .expect(31)
        .says(&["cli.nothing-to-describe"]);
    let folder = silent_suite();
    let mut command = planforge();
    command.args(["suite", "describe"]).arg(folder.path()).arg("--pipeline").arg(pipeline("llm-p.toml"));
    Ran::wait(command.arg("--runs").arg(runs.path()).spawn().unwrap())
        .expect(32)
        .says(&["cli.nothing-to-describe"]);
}

/// Published descriptions of actions become folders that are suites, all of them or none.
#[test]
fn descriptions_of_actions_are_imported_as_suites() {
    let data = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = data.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "pddl-problems/doors.pddl",
        "(define (domain doors) (:predicates (shut) (open)) (:action pull :parameters () :precondition (shut) :effect (and (open) (not (shut)))))",
    );
    write(
        "pddl-problems/doors/1.pddl",
        "(define (problem one) (:domain doors) (:init (shut)) (:goal (open)))",
    );
    write("predicate-descriptions/doors.txt", "(shut) : the door is shut.\n(open) : the door is open.\n");
    let table = "domain,action,pddl,preds,NL\nDoors,pull,(:action pull :parameters () :precondition (shut) :effect (and (open) (not (shut)))),,";
    write("domainNL/Base-HC.csv", &format!("{table}Somebody pulls the door\n"));
    write("domainNL/Flipped-HC.csv", &format!("{table}if the door is shut.\n"));
    write("domainNL/Rand-HC.csv", &format!("{table}. After the action the door is open.\n"));
    let out = tempfile::tempdir().unwrap();
    let import = |more: &[&str]| {
        let mut command = planforge();
        command.args(["suite", "import-actions"]).arg(data.path()).arg("--out").arg(out.path()).args(more);
        Ran::wait(command.spawn().unwrap())
    };
    let report = import(&["--json"]).json(0);
    assert_eq!(report["suites"][0]["suite"], "doors");
    assert_eq!(report["suites"][0]["texts"], 3);
    assert_eq!(report["warnings"], 0);
    // The same again changes nothing, and a file that a person changed is not replaced unasked.
    import(&[]).expect(0);
    std::fs::write(out.path().join("doors/actions.toml"), "# mine\n").unwrap();
    import(&[]).expect(31).says(&["doors/actions.toml"]);
    import(&["--force"]).expect(0);
    let mut check = planforge();
    check.args(["suite", "check"]).arg(out.path().join("doors")).args(["--solve", "--json"]);
    let checked = Ran::wait(check.spawn().unwrap()).json(0);
    assert_eq!(checked["suites"][0]["errors"], 0);
    write("domainNL/Base-HC.csv", &format!("{table}x\nDoors,push,(),,x\n"));
    import(&["--force"]).expect(31).says(&["Base-HC.csv:3", "`push`"]);
}

/// A copy of a suite without some of its files.
fn copy_without(suite: &str, folder: &Path, left_out: impl Fn(&str) -> bool) -> std::path::PathBuf {
    let copy = folder.join(suite);
    std::fs::create_dir_all(&copy).unwrap();
    for file in files(&example(suite, "")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        if !left_out(&name) {
            std::fs::copy(&file, copy.join(name)).unwrap();
        }
    }
    copy
}

/// Suites whose texts `suite check` reads.
const READ: [&str; 4] = ["floortile", "storage", "termes", "tyres"];

#[test]
fn texts_are_read_back_to_the_facts_of_their_problems() {
    let mut check = planforge();
    check.args(["suite", "check", "--strict", "--json"]).args(READ.map(|suite| example(suite, "")));
    let report = Ran::wait(check.spawn().unwrap()).json(0);
    for suite in report["suites"].as_array().unwrap() {
        // Five tasks and the in-context example.
        assert_eq!(suite["read_texts"], 6, "{}", suite["suite"]);
    }
}

/// A text without one of its sentences does not state its problem, unless the sentence is a count or what knowledge.lp says.
#[test]
fn a_text_that_leaves_out_a_sentence_is_found() {
    const NEEDLESS: [&str; 3] = ["The floor has ", "A tile lies directly", "The store has "];
    let place = tempfile::tempdir().unwrap();
    let mut folders = Vec::new();
    let add = |suite: &str, text: String, number: usize, folders: &mut Vec<PathBuf>| {
        let others =
            |name: &str| name == "wordings.jinja" || name.starts_with("p0") && !name.starts_with("p02");
        let left_out = |name: &str| others(name) || name.starts_with("p_example");
        let copy = copy_without(suite, &place.path().join(number.to_string()), left_out);
        std::fs::write(copy.join("p02.nl"), text).unwrap();
        folders.push(copy);
    };
    for suite in READ {
        let text = example_text(suite, "p02.nl");
        let sentences: Vec<&str> =
            text.lines().flat_map(|line| line.split_inclusive(". ")).map(str::trim).collect();
        for (at, left_out) in sentences.iter().enumerate() {
            if !NEEDLESS.iter().any(|begin| left_out.starts_with(begin)) {
                let kept = sentences.iter().enumerate().filter(|(other, _)| *other != at);
                let text = kept.map(|(_, sentence)| format!("{sentence}\n")).collect();
                add(suite, text, folders.len(), &mut folders);
            }
        }
    }
    let wrong =
        example_text("termes", "p02.nl").replace("should have height level2", "should have height level1");
    add("termes", wrong, folders.len(), &mut folders);
    let mut check = planforge();
    check.args(["suite", "check", "--json"]).args(&folders);
    let report = Ran::wait(check.spawn().unwrap()).json(10);
    let found = report["suites"].as_array().unwrap();
    assert!(found.len() > 40, "{}", found.len());
    for (suite, folder) in found.iter().zip(&folders) {
        let text = || std::fs::read_to_string(folder.join("p02.nl")).unwrap();
        let is_found = suite["diagnostics"]
            .as_array()
            .unwrap()
            .iter()
            .any(|own| own["code"] == "paraphrase.not-implied");
        assert!(is_found, "{}:\n{}", suite["suite"], text());
    }
    let unread = example_text("termes", "p02.nl") + "The robot is red.\n";
    let mut folders = Vec::new();
    add("termes", unread, 1000, &mut folders);
    let checked = ran([std::ffi::OsStr::new("suite"), "check".as_ref(), folders[0].as_os_str()]);
    checked.expect(10).says(&["no sentence of reading.toml fits this one", "The robot is red."]);
}

const SOUND: &str = "errors = 0\npredicate_argument = 0.0\ndamage = 0.0\nrepair_named = 1.0";

#[test]
fn a_suite_without_an_example_is_reported_by_check_run_and_report() {
    let folder = tempfile::tempdir().unwrap();
    let copy = copy_without("garden", folder.path(), |name| name.starts_with("p_example"));
    let checked = ran([std::ffi::OsStr::new("suite"), "check".as_ref(), copy.as_os_str()]);
    checked.expect(0);
    let line = "  llm-p without p_example.nl and p_example.pddl: requests have no example (zero-shot)";
    assert!(checked.stdout.lines().any(|own| own == line), "{}", checked.stdout);
    let file = simulated(folder.path(), "llm-p", std::slice::from_ref(&copy), SOUND);
    let run = |suite: &Path| {
        let mut command = planforge();
        command
            .arg("run")
            .arg(&file)
            .args(["--seed", "1", "--json", "--runs"])
            .arg(folder.path().join("runs"));
        Ran::wait(command.arg("--task").arg(suite.join("p01")).spawn().unwrap())
    };
    let without = run(&copy);
    without.says(&["suite.zero-shot", "no in-context example (zero-shot)"]);
    let noted = |report: &serde_json::Value| {
        report["tasks"][0]["written"][0]["diagnostics"].to_string().contains("translate.zero-shot")
    };
    assert!(noted(&without.json(0)), "{}", without.stdout);
    let with = run(&example("garden", ""));
    assert!(!with.stderr.contains("zero-shot") && !noted(&with.json(0)), "{}", with.stderr);
}

/// The types of the beds and taps have a common parent, which no signature names.
#[test]
fn a_suite_without_templates_keeps_its_type_hierarchy_in_a_chain() {
    let folder = tempfile::tempdir().unwrap();
    let copy = copy_without("garden", folder.path(), |name| name.ends_with("_template.pddl"));
    let file = simulated(folder.path(), "pd-chain", std::slice::from_ref(&copy), SOUND);
    let mut command = planforge();
    command.arg("run").arg(&file).args(["--seed", "1", "--json", "--runs"]).arg(folder.path().join("runs"));
    let report = Ran::wait(command.arg("--task").arg(copy.join("p01")).spawn().unwrap()).json(0);
    let domain = report["tasks"][0]["candidate"]["domain"].as_str().unwrap();
    assert!(domain.contains("bed tap - place"), "{domain}");
}

/// `tests/unseen` has a second version of each domain, written from the same specification by somebody
/// who did not see the first.
#[test]
fn six_unseen_domains_written_twice_are_the_same() {
    let mut check = planforge();
    check.args(["suite", "check", "--json"]);
    for name in ["lab", "oven", "returns", "rota", "scenes", "tides"] {
        let suite = root().join("examples/unseen").join(name);
        check.arg(&suite);
        let mut command = planforge();
        command.args(["pddl", "equivalent", "domain"]).arg(suite.join("domain.pddl"));
        command.arg(root().join("tests/unseen").join(format!("{name}.pddl"))).arg("--json");
        command.arg("--problems").arg(suite.join("p01.pddl")).arg(suite.join("p02.pddl"));
        let compared = Ran::wait(command.spawn().unwrap()).json(0);
        assert_eq!(compared["decision"], "equal", "{name}: {compared}");
        assert_eq!(compared["problems"].as_array().unwrap().len(), 2, "{name}: {compared}");
    }
    let checked = Ran::wait(check.spawn().unwrap()).json(0);
    let suites = checked["suites"].as_array().unwrap();
    assert_eq!(suites.len(), 6);
    for suite in suites {
        assert_eq!(suite["errors"], 0, "{suite}");
        assert_eq!(suite["warnings"], 0, "{suite}");
        assert_eq!(suite["tasks"].as_array().unwrap().len(), 6, "the example and five tasks: {suite}");
    }
}
