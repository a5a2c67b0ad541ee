//! `[obfuscate]`: everything that plugins and models see of a suite is under other names, and the report is under its own.

use crate::common::*;
use planforge_contract::*;
use planforge_diagnostics::SourceId;
use planforge_obfuscate::{DisguiseOptions, NameGroup, NameStyle};
use planforge_pddl::{Name, NameKind, VisitNames as _, parse_domain, parse_problem};
use planforge_pipeline::*;
use planforge_record::TaskVerdict;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn pipelines() -> PathBuf {
    root().join("configs/pipelines")
}

fn suite(name: &str) -> Suite {
    load_suite(&root().join("examples/suites").join(name)).suite.unwrap()
}

fn suites() -> Vec<Suite> {
    let folder = root().join("examples/suites");
    let mut names: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|folder| folder.join("domain.pddl").exists());
    names.sort();
    names.iter().map(|folder| load_suite(folder).suite.unwrap()).collect()
}

/// Names in its PDDL, without variables.
fn names(suite: &Suite) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut note = |symbol: NameKind, name: &mut Name| {
        if symbol != NameKind::Variable {
            names.insert(name.key().to_owned());
        }
    };
    parse_domain(suite.reference_domain.as_ref().unwrap(), SourceId(0)).value.visit_names(&mut note);
    let example = suite.example.iter().filter_map(|example| example.problem.as_ref());
    for text in suite.tasks.iter().filter_map(|task| task.reference_problem.as_ref()).chain(example) {
        parse_problem(text, SourceId(0)).value.visit_names(&mut note);
    }
    names
}

/// The names that occur in a text as whole words.
fn names_in<'a>(text: &str, names: &'a BTreeSet<String>) -> Vec<&'a String> {
    let text = text.to_lowercase();
    let words: BTreeSet<&str> = text.split(|c: char| !(c.is_alphanumeric() || "-_".contains(c))).collect();
    names
        .iter()
        .filter(|name| words.contains(name.as_str()) || words.contains(name.replace('-', "_").as_str()))
        .collect()
}

fn disguising(file: &Path, style: &str) -> CheckedPipeline {
    let text = std::fs::read_to_string(file).unwrap();
    let overrides = [format!("obfuscate.names={style}"), "seed=11".to_owned()];
    let checked = check(&text, &file.display().to_string(), &Scripted, &overrides);
    checked.pipeline.unwrap_or_else(|| panic!("{}: {:?}", file.display(), checked.diagnostics))
}

fn shipped_pipelines() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(pipelines()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    files.sort();
    assert!(files.len() >= 20);
    files
}

/// Everything of a task that a translator, a verifier, a planner or a model could ever see: its view and what the environment is opened with.
#[test]
fn no_name_of_a_suite_reaches_a_plugin_of_any_shipped_pipeline() {
    let suites = suites();
    let known: BTreeMap<&str, BTreeSet<String>> =
        suites.iter().map(|s| (s.name.as_str(), names(s))).collect();
    let mut looked = 0;
    for (number, file) in shipped_pipelines().into_iter().enumerate() {
        for style in ["random", "misleading"] {
            let pipeline = disguising(&file, style);
            // Each pipeline runs on a third of the suites, and each suite under a third of the pipelines.
            let own = suites.iter().skip(number % 3).step_by(3);
            // The suite that the file shows as an example is none that it runs on.
            let example = pipeline.config.given.example_suite().unwrap_or("none").to_owned();
            let run: Vec<Suite> =
                own.filter(|suite| !example.ends_with(&format!("/{}", suite.name))).cloned().collect();
            let tasks = run_tasks(&pipeline.config, &run, pipeline.folder()).unwrap();
            for task in &tasks {
                let names = &known[task.reference.suite.as_str()];
                let renaming = task.renaming.as_ref().unwrap();
                // Words of the language stay in texts; a name that consists of nothing else is told by them.
                let allowed = |name: &&String| renaming.left.contains(name) || renaming.kept.contains(name);
                let mut view = task.view.clone();
                // Other suites' stories have words of their own.
                let others = |name: &String| name.starts_with("example.") && !example.ends_with("none");
                let mut shown = view.materials.to_texts();
                shown.retain(|name, _| !others(name) && name != "example.actions");
                view.materials = shown.into();
                let reference = EnvironmentOpen {
                    suite: String::new(),
                    problems: task.reference.problems.clone(),
                    ..task.reference.clone()
                };
                for text in
                    [serde_json::to_string(&view).unwrap(), serde_json::to_string(&reference).unwrap()]
                {
                    // JSON's escapes would join words.
                    let text = text.replace("\\n", " ").replace("\\\"", " ");
                    let mut found = names_in(&text, names);
                    found.retain(|name| !allowed(name) && !KEYS.contains(&name.as_str()));
                    assert!(
                        found.is_empty(),
                        "{} {} {style}: {found:?} in {text}",
                        file.display(),
                        task.name
                    );
                    looked += 1;
                }
                assert_ne!(task.view.suite, task.reference.suite);
            }
        }
    }
    assert!(looked > 1000, "{looked}");
}

/// Words that the documents themselves have: keys of JSON and names of materials.
const KEYS: [&str; 0] = [];

/// In-context examples are under names of their own, and still never show the suite whose tasks are run.
#[test]
fn examples_of_other_suites_are_disguised_and_never_show_the_own_one() {
    let pipeline = disguising(&pipelines().join("actions.toml"), "random");
    let run = [suite("grippers"), suite("grippers-ood")];
    let tasks = run_tasks(&pipeline.config, &run, pipeline.folder()).unwrap();
    let own = names(&run[0]);
    for task in &tasks {
        let examples = task.view.materials.actions.examples.as_ref().unwrap();
        // Both have one domain; under other names nobody could tell, so it is looked up under their own.
        assert!(examples.iter().all(|e| !e.suite.starts_with("grippers")));
        assert!(examples.len() > 30);
        let blocks = names(&suite("blocks"));
        for example in examples.iter().filter(|e| e.suite == "blocks") {
            assert_eq!(names_in(&example.pddl, &blocks), Vec::<&String>::new());
            assert_eq!(names_in(&example.action.text, &blocks), Vec::<&String>::new());
        }
    }
    assert!(!own.is_empty());
    let chained = disguising(&pipelines().join("pd-chain.toml"), "random");
    assert!(chained.config.given.example_suite().is_some_and(|path| path.ends_with("blocks")));
    let wrong = run_tasks(&chained.config, &[suite("blocks")], chained.folder()).unwrap_err();
    assert!(wrong.iter().any(|d| d.code == "suite.own-example"), "{wrong:?}");
    let shown = run_tasks(&chained.config, &[suite("garden")], chained.folder()).unwrap();
    let materials = shown[0].view.materials.to_texts();
    assert!(
        materials.keys().filter(|name| name.starts_with("example.")).count() >= 3,
        "{:?}",
        materials.keys()
    );
    let blocks = names(&suite("blocks"));
    for (name, text) in materials.iter().filter(|(name, _)| name.starts_with("example.")) {
        assert_eq!(names_in(text, &blocks), Vec::<&String>::new(), "{name}: {text}");
    }
}

#[test]
fn a_task_alone_is_disguised_as_among_all() {
    let options = DisguiseOptions::all(NameStyle::Random, 4);
    let all = disguise_suite(&suite("tyres"), &options).unwrap();
    let one = load_task(&root().join("examples/suites/tyres/p03")).suite.unwrap();
    let one = disguise_suite(&one, &options).unwrap();
    let third = all.tasks.iter().find(|task| task.stem == "p03").unwrap();
    assert_eq!(&one.tasks[0], third);
    assert_eq!(one.reference_domain, all.reference_domain);
    assert_eq!(one.digest(&one.tasks[0]), all.digest(third));
    assert_ne!(one.digest(&one.tasks[0]), suite("tyres").digest(third));
    // Once is enough.
    assert_eq!(disguise_suite(&all, &DisguiseOptions::all(NameStyle::Misleading, 5)).unwrap(), all);
}

#[test]
fn a_description_that_is_drawn_tells_the_same_under_other_names() {
    let given = GivenSpec { actions: Some(DescriptionClass::Random), ..GivenSpec::default() };
    for name in ["grippers", "storage"] {
        let own = suite(name);
        let new = disguise_suite(&own, &DisguiseOptions::all(NameStyle::Random, 9)).unwrap();
        let told = |suite: &Suite| {
            let view = task_view(suite, &suite.tasks[0], &given, None).unwrap();
            let actions = view.materials.actions.described.unwrap();
            actions.into_iter().map(|action| (action.name, action.text)).collect::<BTreeMap<_, _>>()
        };
        let names = &new.disguise.as_ref().unwrap().names;
        let new = told(&new);
        for (action, text) in told(&own) {
            assert_eq!(new[&names.name(&action)], names.action_text(&text));
        }
    }
}

#[test]
fn suites_without_pddl_cannot_be_disguised() {
    let jugs = load_suite(&root().join("examples/suites/jugs")).suite.unwrap();
    let found = disguise_suite(&jugs, &DisguiseOptions::all(NameStyle::Random, 1)).unwrap_err();
    assert_eq!(found[0].code, "suite.disguise");
    assert!(found[0].message.contains("no `domain.pddl`"), "{}", found[0].message);
    let mut blocks = suite("blocks");
    blocks.tasks[1].reference_problem = None;
    let found = disguise_suite(&blocks, &DisguiseOptions::all(NameStyle::Random, 1)).unwrap_err();
    assert!(found[0].message.contains("p02"), "{}", found[0].message);
    let mut broken = suite("blocks");
    broken.reference_domain = Some("(define (domain blocks) (:predicates (on ?x) (:action".to_owned());
    assert_eq!(
        disguise_suite(&broken, &DisguiseOptions::all(NameStyle::Random, 1)).unwrap_err()[0].code,
        "suite.disguise"
    );
}

const CHAIN: &str = concat!(
    toml!(schema = 1 seed = 3),
    model!(main "m"),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" }),
);

fn check_chain(rest: &str, overrides: &[&str]) -> Checked {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    check(&format!("{CHAIN}{rest}"), "test.toml", &Scripted, &overrides)
}

#[test]
fn the_table_says_what_is_disguised_and_can_be_made_by_an_override() {
    assert_eq!(good(CHAIN).config.disguise(), None);
    let options = |rest: &str, overrides: &[&str]| {
        let checked = check_chain(rest, overrides);
        checked.pipeline.unwrap_or_else(|| panic!("{:?}", checked.diagnostics)).config.disguise().unwrap()
    };
    assert_eq!(options("", &["obfuscate.names=random"]), DisguiseOptions::all(NameStyle::Random, 3));
    let table = "[obfuscate]\nnames = \"misleading\"\nwhat = [\"types\", \"objects\"]\nreorder = false\ntexts = false\nseed = 8\n";
    let wanted = DisguiseOptions {
        names: NameStyle::Misleading,
        what: [NameGroup::Types, NameGroup::Objects].into(),
        texts: false,
        reorder: false,
        seed: 8,
    };
    assert_eq!(options(table, &[]), wanted);
    assert_eq!(options(table, &["obfuscate.names=original"]).names, NameStyle::Original);
    for (table, code) in [
        ("[obfuscate]\n", "pipeline.missing-field"),
        ("[obfuscate]\nnames = \"strange\"\n", "pipeline.value"),
        ("[obfuscate]\nnames = \"random\"\nwhat = [\"verbs\"]\n", "pipeline.value"),
        ("[obfuscate]\nnames = \"random\"\nreordered = true\n", "pipeline.unknown-key"),
    ] {
        let checked = check_chain(table, &[]);
        assert!(checked.diagnostics.iter().any(|d| d.code == code), "{table}: {:?}", checked.diagnostics);
        assert!(checked.pipeline.is_none());
    }
    // A program outside knows the original names alone.
    let process =
        CHAIN.replace("environment-pddl", "environment-process") + "[obfuscate]\nnames = \"random\"\n";
    let checked = check(&process, "test.toml", &Scripted, &[]);
    assert!(checked.diagnostics.iter().any(|d| d.code == "pipeline.obfuscate"), "{:?}", checked.diagnostics);
}

#[test]
fn a_report_is_told_under_the_suite_s_own_names_and_its_record_is_not() {
    let pipeline = disguising(&pipelines().join("llm-p.toml"), "misleading");
    let own = suite("blocks");
    let tasks = run_tasks(&pipeline.config, std::slice::from_ref(&own), pipeline.folder()).unwrap();
    let task = &tasks[0];
    let (domain, problem) = (task.reference.domain.clone().unwrap(), task.reference.problem.clone().unwrap());
    let renaming = task.renaming.clone().unwrap();
    let step = format!("({} {})", renaming.name("lift"), renaming.name("block1"));
    let plan = PlanOutcome::Plan {
        plans: vec![PlanDocument { steps: vec![step.clone()], ..PlanDocument::default() }],
        optimal: true,
        statistics: SearchStatistics::default(),
    };
    let mut assessment =
        Assessment::new(Decision::Rejected, format!("step 1, {step}, needs ({})", renaming.name("arm-free")));
    assessment.evidence = serde_json::json!({ renaming.name("block2"): [step.clone()] });
    assessment.messages = vec![Message::user(step.clone())];
    // One predicate is the writer's own, and one it remembers although nobody told it.
    let written = domain.replacen("(:predicates", "(:predicates (glows) (uncovered)", 1);
    let candidate = Candidate {
        domain: Some(written.clone()),
        problem: Some(problem),
        plan: Some(plan),
        conversation: vec![Message::user(step.clone())],
        assessments: [("val".to_owned(), assessment)].into(),
        ..Candidate::default()
    };
    let message = format!("({} x) is wrong", renaming.name("stands-on"));
    let verdict = TaskVerdict::Rejected { stage: "val".into(), message };
    let written = serde_json::json!({
        "stage": "domain", "path": "blocks.p01", "raw_reply": written, "fixes": [], "diagnostics": [],
    });
    let report = serde_json::json!({
        "task": task.name, "suite": "blocks", "stem": "p01", "verdict": verdict, "candidate": candidate, "path": null,
        "written": [written], "stages": [], "usage": {},
    });
    let run = serde_json::json!({ "schema": 1, "state": "finished", "tasks": [report] });
    let mut run: RunReport = serde_json::from_value(run).unwrap();
    run.undisguise(&tasks);
    let once = run.clone();
    run.undisguise(&tasks);
    assert_eq!(run, once);
    let report = &run.tasks[0];
    assert_eq!(report.recalled, ["uncovered"]);
    assert_eq!(report.renaming.as_ref(), Some(&renaming));
    let candidate = report.candidate.as_ref().unwrap();
    let domain = candidate.domain.as_ref().unwrap();
    assert!(domain.contains("(glows)") && domain.contains("(uncovered-of-its-own)"), "{domain}");
    assert!(domain.contains("(:action unstack") && domain.contains("(arm-free)"), "{domain}");
    let plan = serde_json::to_value(&candidate.plan).unwrap();
    assert_eq!(plan["plans"][0]["steps"][0], "(lift block1)");
    let assessment = &candidate.assessments["val"];
    assert_eq!(assessment.summary, "step 1, (lift block1), needs (arm-free)");
    assert_eq!(assessment.evidence, serde_json::json!({ "block2": ["(lift block1)"] }));
    assert_eq!(
        report.verdict,
        Some(TaskVerdict::Rejected { stage: "val".into(), message: "(stands-on x) is wrong".into() })
    );
    // What was said and answered is the record.
    assert_eq!(assessment.messages, [Message::user(step.clone())]);
    assert_eq!(candidate.conversation, [Message::user(step)]);
    assert_eq!(report.written[0].raw_reply, written["raw_reply"]);
}
