//! Tests of `check`: every kind of mistake is found at its place, all at once, and published folders can be
//! read.

use planforge_diagnostics::Severity;
use planforge_planning::{CountingLimits, ResourceLimits, Unlimited};
use planforge_suites::check::{Checked, Goal, Solved, check};
use std::fs;
use std::path::Path;

const DOMAIN: &str = "(define (domain balls)\n (:requirements :strips :typing)\n (:types ball room)\n (:predicates (in ?b - ball ?r - room) \
    (door ?a ?b - room))\n (:action roll\n  :parameters (?b - ball ?from ?to - room)\n  :precondition (and (in ?b ?from) (door ?from \
    ?to))\n  :effect (and (in ?b ?to) (not (in ?b ?from)))))\n";
const DOMAIN_TEMPLATE: &str = "(define (domain balls) (:requirements :strips :typing) (:types ball room) (:predicates) (:action roll \
    :parameters (?x - ball ?y ?z - room) :precondition () :effect ()))";

fn problem(init: &str, goal: &str) -> String {
    format!(
        "(define (problem p) (:domain balls)\n (:objects red - ball hall kitchen - room)\n (:init {init})\n (:goal {goal}))\n"
    )
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn codes(checked: &Checked) -> Vec<&str> {
    let mut codes: Vec<&str> = checked.diagnostics.iter().map(|d| &*d.code).collect();
    codes.sort_unstable();
    codes
}

fn check_with_search(folder: &Path) -> Checked {
    check(folder, &[], &mut || Box::new(Unlimited), true)
}

#[test]
fn a_good_suite_has_nothing_wrong() {
    let good = problem("(in red hall) (door hall kitchen)", "(in red kitchen)");
    let folder = folder(&[
        ("domain.nl", "Balls roll through doors."),
        ("domain.pddl", DOMAIN),
        ("domain_template.pddl", DOMAIN_TEMPLATE),
        ("p01.nl", "The red ball is in the hall. A door leads to the kitchen."),
        ("p01.pddl", &good),
        (
            "p01_template.pddl",
            "(define (problem p) (:domain balls) (:objects red - ball kitchen hall - room) (:init) (:goal (and)))",
        ),
        ("p_example.nl", "red, hall, kitchen"),
        ("p_example.pddl", &good),
        ("p_example.sol", "(roll red hall kitchen)\n"),
        (
            "sentences.toml",
            "[predicates]\nin = { yes = \"{1} is in {2}.\", no = \"{1} is not in {2}.\" }\ndoor = { yes = \"{1} to {2}\", no = \"no {1} {2}\" }\n",
        ),
    ]);
    let checked = check_with_search(folder.path());
    assert!(checked.diagnostics.is_empty(), "{:#?}", checked.diagnostics);
    assert!(checked.suite.is_some());
    let row = &checked.tasks[1];
    assert_eq!((row.stem.as_str(), row.objects, row.facts, row.goal), ("p01", 3, 2, Goal::Open));
    assert_eq!(row.solved, Some(Solved::Plan(1)));
}

#[test]
fn a_description_in_another_order_of_parameters_is_found() {
    let texts = |text: &str| {
        let folder = folder(&[
            ("domain.nl", "Balls roll through doors."),
            ("domain.pddl", DOMAIN),
            ("actions.toml", &format!("[actions]\nroll = 'The action \"roll\" {text}'\n")),
        ]);
        let checked = check(folder.path(), &[], &mut || Box::new(Unlimited), false);
        let order = checked.diagnostics.iter().find(|d| d.code == "suite.parameter-order");
        order.map(|d| (d.severity, d.message.clone()))
    };
    let message = "the description of `roll` names its parameters in another order than the PDDL: from, b, to for b, from, to";
    let wanted = Some((Severity::Advice, message.to_owned()));
    assert_eq!(texts("takes from a room from a ball b, which rolls to a room to."), wanted);
    assert_eq!(texts("has a ball b roll from a room from to a room to."), None);
    assert_eq!(texts("has something roll."), None);
}

#[test]
fn the_pipelines_that_a_suite_cannot_serve_are_named_with_the_missing_files() {
    let problem = problem("(in red hall) (door hall kitchen)", "(in red kitchen)");
    let files =
        [("domain.nl", "Balls roll through doors."), ("domain.pddl", DOMAIN), ("p01.nl", "The red ball.")];
    let needs = |files: &[(&str, &str)], name: &str| {
        let folder = folder(files);
        let checked = check(folder.path(), &[], &mut || Box::new(Unlimited), false);
        checked.pipelines.into_iter().find(|own| own.pipelines.contains(&name)).unwrap()
    };
    assert_eq!(needs(&files, "bon-prob2domain").missing, ["p01.pddl"]);
    let llm_p = needs(&files, "llm-p");
    assert!(llm_p.missing.is_empty());
    assert_eq!(llm_p.without[0], "p01.pddl: nothing judges the result");
    assert!(needs(&[("p01.nl", "The red ball.")], "solve").missing.is_empty());
    let whole = [&files[..], &[("p01.pddl", problem.as_str())]].concat();
    let llm_p = needs(&whole, "llm-p");
    assert!(llm_p.missing.is_empty());
    assert_eq!(llm_p.without, ["p_example.nl and p_example.pddl: requests have no example (zero-shot)"]);
    let text_alone = needs(&whole[2..3], "pd-tree");
    assert_eq!(text_alone.missing, ["domain.pddl, or an environment that describes the actions"]);
    assert!(needs(&whole[1..], "bon-prob2domain").missing.is_empty());
}

#[test]
fn pipelines_with_walks_do_not_serve_suites_that_the_environment_does_not_simulate() {
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/extended");
    for (suite, lacks) in [
        ("market", None),
        ("bakery", Some("instantaneous actions")),
        ("post", Some("instantaneous actions")),
        ("outing", Some("tasks without preferences")),
    ] {
        let checked = check(&examples.join(suite), &[], &mut || Box::new(Unlimited), false);
        let needs = |name: &str| checked.pipelines.iter().find(|own| own.pipelines.contains(&name)).unwrap();
        for name in ["actions", "actions-whole", "pd-tree"] {
            assert_eq!(needs(name).missing.first().map(String::as_str), lacks, "{suite}, {name}");
        }
        let llm_p = needs("llm-p");
        assert!(llm_p.missing.is_empty() && needs("solve").missing.is_empty(), "{suite}");
        let undecided = llm_p.without.iter().any(|without| without.contains("nor judges plans"));
        assert_eq!(undecided, lacks.is_some(), "{suite}");
    }
}

#[test]
fn every_kind_of_mistake_is_found_at_once() {
    let folder = folder(&[
        ("domain.nl", "Balls roll through doors."),
        ("domain.pddl", DOMAIN),
        (
            "domain_template.pddl",
            "(define (domain balls) (:types ball room) (:predicates) (:action roll :parameters (?b - ball ?to - room) :precondition (and) \
             :effect (in ?b ?to)) (:action stop :parameters () :precondition (and) :effect (and)))",
        ),
        ("p01.nl", "The red ball is in the hall."),
        ("p01.pddl", &problem("(in red hall)", "(in red hall)")),
        ("p02.nl", "red hall kitchen"),
        ("p02.pddl", &problem("(in red hall)", "(in red kitchen)")),
        (
            "p02_template.pddl",
            "(define (problem p) (:domain balls) (:objects red - room green - ball) (:init (in red hall)) (:goal (and)))",
        ),
        ("p03.nl", "red hall kitchen"),
        ("p03.pddl", &problem("(in red attic)", "(in red kitchen)")),
        ("p04.pddl", &problem("(in red hall) (door hall kitchen)", "(in red kitchen)")),
        ("p05.nl", "A task without a problem."),
        ("p_example.nl", "red hall kitchen"),
        ("p_example.pddl", &problem("(in red hall) (door hall kitchen)", "(in red kitchen)")),
        ("p_example.sol", "(roll red kitchen hall)\n"),
        ("sentences.toml", "[predicates]\nin = { yes = \"{1} is in {3}.\" }\nat = { yes = \"{1}\" }\n"),
        ("suite.toml", "schema = 1\ntittle = \"?\"\n"),
    ]);
    let checked = check_with_search(folder.path());
    assert!(checked.suite.is_some());
    for code in [
        "pddl.undefined-object",
        "suite.goal-holds",
        "suite.manifest",
        "suite.no-problem",
        "suite.no-sentence",
        "suite.no-text",
        "suite.sentences",
        "suite.template-differs",
        "suite.template-shows",
        "suite.unnamed-object",
        "suite.unsolvable",
        "suite.wrong-plan",
    ] {
        assert!(codes(&checked).contains(&code), "{code} is missing in {:?}", codes(&checked));
    }
    let differs: Vec<&str> = checked
        .diagnostics
        .iter()
        .filter(|d| d.code == "suite.template-differs")
        .map(|d| d.message.as_str())
        .collect();
    assert_eq!(
        differs,
        [
            "action `roll` has parameters (ball room room) in the domain and (ball room) in the template",
            "the domain has no action `stop`",
            "the template lacks hall - room, kitchen - room, red - ball",
            "the problem has no green - ball, red - room",
        ]
    );
    let stems: Vec<(&str, bool, bool)> =
        checked.tasks.iter().map(|t| (t.stem.as_str(), t.text, t.problem)).collect();
    assert_eq!(
        stems,
        [
            ("p_example", true, true),
            ("p01", true, true),
            ("p02", true, true),
            ("p03", true, true),
            ("p04", false, true),
            ("p05", true, false)
        ]
    );
    assert_eq!(checked.tasks[1].goal, Goal::Holds);
    assert_eq!(checked.tasks[2].solved, Some(Solved::Unsolvable));
    assert_eq!(checked.tasks[3].errors, 1);
    // Each finding in a file says which file, and where.
    for d in checked.diagnostics.iter().filter(|d| !d.labels.is_empty()) {
        assert!(checked.sources.get(d.labels[0].source).is_some(), "{d:?}");
    }
}

#[test]
fn pddl_alone_and_texts_alone_are_legal() {
    let pddl = folder(&[
        ("domain.pddl", DOMAIN),
        ("prob-7.pddl", &problem("(in red hall) (door hall kitchen)", "(in red kitchen)")),
    ]);
    let checked = check(pddl.path(), &[], &mut || Box::new(Unlimited), false);
    assert_eq!(codes(&checked), ["suite.no-text"]);
    assert_eq!((checked.tasks.len(), checked.tasks[0].solved.clone()), (1, None));
    let texts = folder(&[("domain.nl", "Two jugs."), ("p01.nl", "Measure four litres.")]);
    let checked = check(texts.path(), &[], &mut || Box::new(Unlimited), false);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    assert_eq!(checked.tasks[0].goal, Goal::Unknown);
}

#[test]
fn a_limit_is_no_verdict_and_a_plan_in_prose_is_not_checked() {
    let good = problem("(in red hall) (door hall kitchen)", "(in red kitchen)");
    let folder = folder(&[
        ("domain.nl", "Balls roll."),
        ("domain.pddl", DOMAIN),
        ("p01.nl", "red hall kitchen"),
        ("p01.pddl", &good),
        ("p_example.nl", "red hall kitchen"),
        ("p_example.pddl", &good),
        ("p_example.sol", "Roll the red ball from the hall into the kitchen.\n"),
    ]);
    let mut stop = || -> Box<dyn ResourceLimits> { Box::new(CountingLimits { polls: 0, bytes: 0 }) };
    let checked = check(folder.path(), &[], &mut stop, true);
    assert_eq!(
        codes(&checked),
        ["plan.limit", "plan.limit", "suite.prose-plan", "suite.undecided", "suite.undecided"]
    );
    assert_eq!(checked.count(Severity::Error), 0);
    assert!(matches!(&checked.tasks[1].solved, Some(Solved::Undecided(_))));
}

#[test]
fn a_folder_that_is_not_there_is_unreadable() {
    let checked = check(Path::new("/nonexistent/suite"), &[], &mut || Box::new(Unlimited), false);
    assert!(checked.suite.is_none());
    assert_eq!(codes(&checked), ["suite.not-a-folder"]);
}

#[test]
fn shared_folders_are_read_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites");
    let mut folders = 0;
    for collection in ["llm-p", "exploration-walk", "classical"] {
        let Ok(entries) = fs::read_dir(root.join(collection)) else { continue };
        for entry in entries {
            let checked = check(&entry.unwrap().path(), &[], &mut || Box::new(Unlimited), false);
            assert!(checked.suite.is_some() && !checked.tasks.is_empty(), "{}", checked.name);
            assert!(checked.tasks.iter().all(|task| task.problem), "{}", checked.name);
            // The only broken file there: an example that names a second robot and does not declare it.
            let broken: Vec<&str> =
                checked.tasks.iter().filter(|t| t.errors > 0).map(|t| t.stem.as_str()).collect();
            let known: &[&str] = if checked.name == "floortile" { &["p_example"] } else { &[] };
            assert_eq!(broken, known, "{}: {:?}", checked.name, codes(&checked));
            folders += 1;
        }
    }
    if folders == 0 {
        println!("skipped: no suites in {}", root.display());
    }
}
