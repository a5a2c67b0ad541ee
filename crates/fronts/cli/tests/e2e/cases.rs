//! Cases as data: each folder of `tests/e2e/cases` has `case.toml`, input files, and `expected.snap` with the
//! output. The exit code is in `case.toml`, so accepting a snapshot never accepts another exit code.

use super::support::{Ran, planforge, ran, root};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

struct Case {
    name: String,
    folder: PathBuf,
    about: String,
    args: Vec<String>,
    exit: i32,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/e2e/cases")).unwrap() {
        let folder = entry.unwrap().path();
        let table: toml::Table =
            toml::from_str(&std::fs::read_to_string(folder.join("case.toml")).unwrap()).unwrap();
        cases.push(Case {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            about: table["about"].as_str().unwrap().to_owned(),
            args: table["args"].as_array().unwrap().iter().map(|a| a.as_str().unwrap().to_owned()).collect(),
            exit: i32::try_from(table["exit"].as_integer().unwrap()).unwrap(),
            folder,
        });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

impl Case {
    fn run(&self) -> Ran {
        Ran::wait(planforge().args(&self.args).current_dir(&self.folder).spawn().unwrap())
    }

    fn check(&self) {
        let ran = self.run();
        ran.expect(self.exit);
        let shown = format!("exit: {}\n--- stdout\n{}--- stderr\n{}", ran.exit, ran.stdout, ran.stderr);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(&self.folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_description(self.about.clone());
        settings.bind(|| insta::assert_snapshot!("expected", shown));
    }
}

#[test]
fn every_case_prints_what_it_should() {
    let cases = cases();
    assert!(cases.len() > 20, "{}", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        if std::panic::catch_unwind(|| case.check()).is_err() {
            wrong.push(case.name.as_str());
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// `--json` prints one object whose diagnostics are the ones of the text form, and exits the same way.
#[test]
fn text_and_json_agree() {
    let mut compared = 0;
    let words = ["pddl validate", "pddl plan", "check"];
    for case in cases().iter().filter(|case| words.iter().any(|words| case.args.join(" ").starts_with(words)))
    {
        if case.args.iter().any(|a| a == "--json" || a == "--trace") || [30, 32].contains(&case.exit) {
            continue;
        }
        let text = case.run();
        let json =
            Ran::wait(planforge().args(&case.args).arg("--json").current_dir(&case.folder).spawn().unwrap());
        let report = json.json(case.exit);
        if let Some(diagnostics) = report["diagnostics"].as_array() {
            for diagnostic in diagnostics {
                let code = diagnostic["code"].as_str().unwrap();
                assert!(text.stderr.contains(code), "{}: {code} is only in the JSON", case.name);
                for key in ["severity", "message", "file", "line", "column"] {
                    assert!(!diagnostic[key].is_null(), "{}: {code} has no {key}", case.name);
                }
            }
            let shown = text.stderr.matches("error[").count() + text.stderr.matches("warning[").count();
            let told = diagnostics.iter().filter(|d| d["severity"] != "advice").count();
            if case.args[1] != "plan" || case.exit != 20 {
                assert_eq!(shown, told, "{}", case.name);
            }
        }
        compared += 1;
    }
    assert!(compared > 10, "{compared}");
}

/// Test files with the exit codes that no case folder reaches.
const ELSEWHERE: &[(i32, &str)] = &[
    (11, "run.rs"),
    (12, "solve.rs"),
    (21, "limits.rs"),
    (22, "limits.rs"),
    (23, "run.rs"),
    (25, "run.rs"),
    (26, "batch.rs"),
    (27, "solve.rs"),
    (29, "interrupted.rs"),
    (34, "run.rs"),
    (35, "record.rs"),
    (36, "secrets.rs"),
];

/// Exit codes that no command line reaches on its own, and why.
const UNREACHED: &[(i32, &str)] = &[
    (24, "the searches of planner-classical without time are complete; other planners may answer so"),
    (39, "a bug"),
];

#[test]
fn the_exit_codes_of_the_help_are_the_ones_that_tests_reach() {
    let help = ran(["--help"]);
    let table = help.expect(0).stdout.split_once("Exit codes:\n").unwrap().1.to_owned();
    let documented: BTreeMap<i32, &str> = table
        .lines()
        .filter_map(|line| line.trim().split_once("  "))
        .map(|(code, about)| (code.parse().unwrap(), about))
        .collect();
    assert!(documented.values().all(|about| !about.trim().is_empty()));
    let reached: BTreeSet<i32> = cases().iter().map(|c| c.exit).collect();
    for (code, file) in ELSEWHERE {
        let text =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e").join(file))
                .unwrap();
        let asserted =
            [format!("expect({code})"), format!("json({code})")].iter().any(|word| text.contains(word));
        assert!(asserted, "{file} does not reach {code}");
    }
    let all: BTreeSet<i32> =
        reached.into_iter().chain(ELSEWHERE.iter().chain(UNREACHED).map(|(code, _)| *code)).collect();
    assert_eq!(documented.keys().copied().collect::<BTreeSet<_>>(), all);
}

#[test]
fn every_shipped_pipeline_is_without_mistakes() {
    let mut files = 0;
    for entry in std::fs::read_dir(root().join("configs/pipelines")).unwrap() {
        let path = entry.unwrap().path();
        let ran = ran(["check".as_ref(), path.as_os_str()]);
        ran.expect(0);
        assert_eq!((ran.stdout, ran.stderr.as_str()), (format!("{}: good\n", path.display()), ""));
        files += 1;
    }
    assert!(files >= 3, "{files}");
}

#[test]
fn the_schema_in_the_repository_is_the_one_that_is_printed() {
    let committed = std::fs::read_to_string(root().join("configs/schema/pipeline.schema.json")).unwrap();
    assert_eq!(ran(["check", "--schema"]).expect(0).stdout, committed);
    let contract = ran(["check", "--schema", "contract"]).json(0);
    for document in ["PlanRequest", "PlanOutcome", "VerifyRequest", "TranslateRequest", "CompletionRequest"] {
        assert!(contract.to_string().contains(document), "{document}");
    }
}

/// Every code that a case prints can be explained, and every code in the list as well.
#[test]
fn every_code_has_an_explanation() {
    let list = ran(["explain"]);
    // A title continues on an indented line.
    let lines = list.expect(0).stdout.lines().skip(2).filter(|line| !line.starts_with(' '));
    let listed: Vec<&str> = lines.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(listed.len() > 100, "{}", listed.len());
    let mut printed = BTreeSet::new();
    for case in cases() {
        let snapshot = std::fs::read_to_string(case.folder.join("expected.snap")).unwrap_or_default();
        for mark in ["error[", "warning["] {
            printed
                .extend(snapshot.split(mark).skip(1).filter_map(|t| t.split(']').next()).map(str::to_owned));
        }
    }
    assert!(printed.len() > 10, "{printed:?}");
    for code in &printed {
        assert!(listed.contains(&code.as_str()), "{code} is not listed");
    }
    for code in printed.iter().map(String::as_str).chain(listed.iter().copied().step_by(20)) {
        let ran = ran(["explain", code]);
        assert!(ran.expect(0).stdout.starts_with(&format!("{code}: ")), "{}", ran.stdout);
    }
}

#[test]
fn every_bundled_plugin_shows_its_options() {
    let list = ran(["plugins", "list", "--json"]).json(0);
    let plugins = list["plugins"].as_array().unwrap();
    assert!(plugins.len() >= 6, "{list}");
    for plugin in plugins {
        let id = plugin["id"].as_str().unwrap();
        assert_eq!((&plugin["origin"], &plugin["failure"]), (&"bundled".into(), &serde_json::Value::Null));
        let info = ran(["plugins", "show", id, "--json"]).json(0);
        assert_eq!((&info["id"], &info["kind"]), (&plugin["id"], &plugin["kind"]));
        let text = ran(["plugins", "show", id]);
        assert!(text.expect(0).stdout.starts_with(&format!("{id} ")), "{}", text.stdout);
        if let Some(options) = info["options_schema"]["properties"].as_object() {
            for (name, schema) in options {
                assert!(text.stdout.contains(name.as_str()), "{id}: {name}");
                assert!(schema["description"].as_str().is_some_and(|d| !d.is_empty()), "{id}: {name}");
            }
        }
    }
}
