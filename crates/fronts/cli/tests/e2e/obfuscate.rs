//! Suites under other names: what was solved before is solved, no old name is in any prompt, and results come back under the old names.

use super::support::{Ran, example, planforge, ran, simulated};
use planforge_diagnostics::SourceId;
use planforge_pddl::{Name, NameKind, VisitNames, diff_domains, diff_problems, parse_domain, parse_problem};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const SUITES: [&str; 4] = ["blocks", "tyres", "miconic", "floortile"];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The names in the suite's PDDL, without variables.
fn names(suite: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut note = |symbol: NameKind, name: &mut Name| {
        if symbol != NameKind::Variable {
            names.insert(name.key().to_owned());
        }
    };
    parse_domain(&read(&example(suite, "domain.pddl")), SourceId(0)).value.visit_names(&mut note);
    for stem in ["p01", "p02", "p_example"] {
        let text = read(&example(suite, &format!("{stem}.pddl")));
        parse_problem(&text, SourceId(0)).value.visit_names(&mut note);
    }
    names
}

/// The questions of a run, as its record has them.
fn questions(run: &Path) -> Vec<String> {
    let folder = planforge_record::RunFolder::open(run, Default::default()).unwrap();
    let journal: &dyn planforge_record::Journal = &folder;
    let asked = journal.events().into_iter().filter_map(|event| match event {
        planforge_record::Event::Completion(planforge_record::CompletionEvent { request, .. }) => {
            Some(request)
        }
        _ => None,
    });
    asked.map(|blob| String::from_utf8(journal.get(&blob).unwrap()).unwrap()).collect()
}

fn pipelines(folder: &Path) -> Vec<PathBuf> {
    let suites: Vec<PathBuf> = SUITES.iter().map(|suite| example(suite, "")).collect();
    let exact = "errors = 0\nproblem_errors = 0\npredicate_argument = 0";
    ["llm-p", "tic-ic", "tic-g1"].iter().map(|name| simulated(folder, name, &suites, exact)).collect()
}

#[test]
fn obfuscated_tasks_are_solved_and_reported_under_their_own_names() {
    let folder = tempfile::tempdir().unwrap();
    let pipelines = pipelines(folder.path());
    let [llm_p, tic_ic, tic_g1] = pipelines.as_slice() else { panic!("{pipelines:?}") };
    for (pipeline, styles) in
        [(llm_p, &["random", "misleading"] as &[&str]), (tic_ic, &["misleading"]), (tic_g1, &["random"])]
    {
        let name = pipeline.file_stem().unwrap().to_string_lossy().into_owned();
        for style in styles {
            let out = folder.path().join(format!("{name}-{style}"));
            let mut command = planforge();
            command.arg("evaluate").arg("--pipeline").arg(pipeline).arg("--out").arg(&out);
            for suite in SUITES {
                command.arg("--suite").arg(example(suite, ""));
            }
            command.args(["--seeds", "5", "--tasks", "2", "--set", &format!("obfuscate.names={style}")]);
            Ran::wait(command.spawn().unwrap()).expect(0);
            let cell = |suite: &'static str| (suite, out.join("cells").join(suite).join(&name).join("5"));
            let cells = SUITES.map(cell);
            cells.iter().for_each(|(suite, cell)| solved_under_its_own_names(cell, suite));
            nothing_is_told(&cells);
        }
    }
}

fn solved_under_its_own_names(cell: &Path, suite: &str) {
    let report: Value = serde_json::from_str(&read(&cell.join("report.json"))).unwrap();
    let tasks = report["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2);
    let domain = parse_domain(&read(&example(suite, "domain.pddl")), SourceId(0)).value;
    for task in tasks {
        let what = format!("{} {}", cell.display(), task["stem"]);
        assert_eq!(
            (&task["suite"], &task["verdict"]["verdict"]),
            (&suite.into(), &"accepted".into()),
            "{what}"
        );
        assert!(task["renaming"]["names"].as_object().unwrap().len() > 10);
        assert_eq!(task.get("recalled"), None);
        let candidate = &task["candidate"];
        let written = parse_domain(candidate["domain"].as_str().unwrap(), SourceId(0)).value;
        assert!(diff_domains(&domain, &written).is_empty(), "{what}: {:?}", diff_domains(&domain, &written));
        let stem = task["stem"].as_str().unwrap();
        let problem = parse_problem(&read(&example(suite, &format!("{stem}.pddl"))), SourceId(0)).value;
        let mut written = parse_problem(candidate["problem"].as_str().unwrap(), SourceId(0)).value;
        // A method that writes no name gives the task's.
        written.name.clone_from(&problem.name);
        assert!(
            diff_problems(&problem, &written).is_empty(),
            "{what}: {:?}",
            diff_problems(&problem, &written)
        );
        // The plan is one of the suite itself.
        let steps = candidate["plan"]["plans"][0]["steps"].as_array().unwrap();
        let plan: String = steps.iter().map(|step| format!("{}\n", step.as_str().unwrap())).collect();
        let file = cell.join(format!("{stem}.plan"));
        std::fs::write(&file, plan).unwrap();
        let mut command = planforge();
        command.args(["pddl", "validate"]).arg(example(suite, "domain.pddl"));
        command.arg(example(suite, &format!("{stem}.pddl"))).arg(&file);
        Ran::wait(command.spawn().unwrap()).expect(0);
    }
}

/// The words of a run's questions.
fn words(cell: &Path) -> BTreeSet<String> {
    let questions = questions(cell);
    assert!(questions.len() >= 2, "{}", cell.display());
    let text = questions.join(" ").to_lowercase().replace("\\n", " ").replace("\\\"", " ");
    let words = text.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c)));
    words.map(str::to_owned).collect()
}

/// Asserts that no request contains a name of its suite, except words of the method such as `in one code
/// block`.
fn nothing_is_told(cells: &[(&str, PathBuf)]) {
    let told: Vec<BTreeSet<String>> = cells.iter().map(|(_, cell)| words(cell)).collect();
    let to_all = |word: &String| told.iter().all(|words| words.contains(word));
    for ((suite, cell), words) in cells.iter().zip(&told) {
        // `above` is a word of the language; in PDDL it has another name.
        let seen: Vec<String> = names(suite)
            .into_iter()
            .filter(|name| words.contains(name) || words.contains(&name.replace('-', "_")))
            .filter(|name| !to_all(name) && name != "above")
            .collect();
        assert!(seen.is_empty(), "{}: {seen:?}", cell.display());
    }
}

#[test]
fn an_obfuscated_folder_is_a_suite_and_equals_the_one_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    for (suite, names) in [("blocks", "misleading"), ("floortile", "random"), ("movie", "random")] {
        let out = folder.path().join(suite);
        let mut command = planforge();
        command
            .args(["suite", "obfuscate", "--names", names, "--seed", "7", "--out"])
            .arg(&out)
            .arg(example(suite, ""));
        let ran = Ran::wait(command.spawn().unwrap());
        let text = &ran.expect(0).stdout;
        assert!(text.contains(&format!("suite {suite} under {names} names")), "{text}");
        Ran::wait(planforge().args(["suite", "check", "--strict"]).arg(&out).spawn().unwrap()).expect(0);
        let mapping: Value = serde_json::from_str(&read(&out.join("mapping.json"))).unwrap();
        assert!(mapping["names"].as_object().unwrap().len() > 10);
        // Read again it is, to the last byte, the suite that a run has in memory.
        let own = planforge_pipeline::load_suite(&example(suite, "")).suite.unwrap();
        let style = serde_json::from_value(names.into()).unwrap();
        let memory =
            planforge_pipeline::disguise_suite(&own, &planforge_obfuscate::DisguiseOptions::all(style, 7))
                .unwrap();
        let read = planforge_pipeline::load_suite(&out).suite.unwrap();
        assert_eq!(read.tasks.len(), own.tasks.len());
        for (a, b) in memory.tasks.iter().zip(&read.tasks) {
            assert_eq!(memory.digest(a), read.digest(b), "{suite} {}", a.stem);
        }
        assert_eq!(memory.action_texts, read.action_texts);
        // It is not written over the suite itself.
        let mut again = planforge();
        again.args(["suite", "obfuscate", "--names", names, "--force", "--out"]).arg(&out).arg(&out);
        Ran::wait(again.spawn().unwrap()).expect(31).says(&["suite's own folder"]);
    }
    let jugs = example("jugs", "").display().to_string();
    let out = folder.path().join("jugs").display().to_string();
    ran(["suite", "obfuscate", "--names", "random", "--out", &out, &jugs])
        .expect(31)
        .says(&["suite.disguise"]);
}

#[test]
fn an_obfuscated_run_is_resumed_and_replayed_to_the_same_report() {
    let folder = tempfile::tempdir().unwrap();
    let suites = [example("blocks", "")];
    let pipeline = simulated(folder.path(), "llm-p", &suites, "errors = 0\nproblem_errors = 1");
    let runs = folder.path().join("runs");
    let mut command = planforge();
    command.arg("run").arg(&pipeline).arg("--suite").arg(example("blocks", "")).arg("--runs").arg(&runs);
    command.args(["--set", "obfuscate.names=random", "--json"]);
    let first = Ran::wait(command.spawn().unwrap()).json(0);
    assert!(first.to_string().contains("(on-table block1)") || first.to_string().contains("on-table"));
    let run = std::fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let run = run.display().to_string();
    for words in [vec!["replay", &run, "--json"], vec!["run", "--resume", &run, "--json"]] {
        assert_eq!(ran(&words).json(0)["tasks"], first["tasks"], "{words:?}");
    }
}
