//! Actions in words, and the examples of other domains.

use planforge_contract::{ActionDescription, PredicateDescription};
use planforge_pipeline::{DescriptionClass, GivenSpec, Pipeline, Suite, load_suite, task_view};
use serde_json::json;
use std::path::{Path, PathBuf};

fn suites() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites")
}

/// Without its own descriptions of actions.
fn grippers() -> Suite {
    let mut suite = load_suite(&suites().join("grippers")).suite.unwrap();
    suite.action_texts.clear();
    suite
}

const SHED: &str = "(define (domain shed) (:requirements :adl :numeric-fluents) (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (lit ?l - lamp) (broken ?l - lamp) (fresh ?l - lamp) (seen ?r - room) (dusty ?r - room)
    (sooty ?r - room))
  (:functions (oil ?l - lamp))
  (:action swap :parameters (?l - lamp ?r - room)
    :precondition (and (in ?l ?r) (lit ?l) (not (broken ?l)) (or (dusty ?r) (seen ?r)) (>= (oil ?l) 1))
    :effect (and (not (in ?l ?r)) (not (lit ?l)) (fresh ?l) (not (seen ?r)) (decrease (oil ?l) 1)
      (when (dusty ?r) (broken ?l))
      (when (and (dusty ?r) (not (seen ?r))) (sooty ?r))
      (when (or (dusty ?r) (seen ?r)) (dusty ?r))
      (forall (?k - lamp) (when (lit ?k) (not (in ?k ?r))))))
  (:action look :parameters (?r - room) :precondition (and) :effect (seen ?r)))";

const SHED_SENTENCES: &str = "[types]\nlamp = \"an oil lamp\"\n[predicates]
in = { yes = \"{1} is in {2}.\", no = \"{1} is not in {2}.\" }
lit = { yes = \"{1} is lit.\" }
broken = { yes = \"{1} is broken.\", no = \"{1} is whole.\" }
seen = { yes = \"Somebody has seen {1}.\" }
dusty = { yes = \"{1} is dusty.\" }
sooty = { yes = \"{1} is sooty.\" }
";

fn shed(sentences: &str, actions: &str) -> Result<Suite, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("domain.nl", "A shed."),
        ("domain.pddl", SHED),
        ("p01.nl", "Swap."),
        ("p01.pddl", "(define (problem p) (:domain shed) (:init) (:goal (and)))"),
        ("sentences.toml", sentences),
        ("actions.toml", actions),
    ];
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let loaded = load_suite(folder.path());
    loaded
        .suite
        .ok_or_else(|| loaded.diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message)).collect())
}

fn material<T: serde::de::DeserializeOwned>(suite: &Suite, class: DescriptionClass, name: &str) -> T {
    let given = GivenSpec { actions: Some(class), ..GivenSpec::default() };
    let view = task_view(suite, &suite.tasks[0], &given, None).unwrap();
    assert!(view.given.domain.is_none() && view.given.problem.is_none());
    serde_json::from_str(&view.materials.to_texts()[name]).unwrap()
}

fn text(suite: &Suite, class: DescriptionClass, action: &str) -> String {
    let all: Vec<ActionDescription> = material(suite, class, "actions");
    all.into_iter().find(|a| a.name == action).unwrap().text
}

#[test]
fn the_three_classes_are_made_from_the_sentences() {
    let suite = grippers();
    let base = text(&suite, DescriptionClass::Base, "grasp");
    assert_eq!(
        base,
        "The action \"grasp\" is done with a robot r, a gripper of a robot g, a ball b and a room place."
    );
    let flipped = text(&suite, DescriptionClass::Flipped, "grasp");
    let told = ", if b lies in place and gripper g of r is empty.";
    assert_eq!(flipped, format!("{}{told}", base.trim_end_matches('.')));
    let random = text(&suite, DescriptionClass::Random, "grasp");
    assert_eq!(random, text(&suite, DescriptionClass::Random, "grasp"), "the draw is the same each time");
    assert_ne!(random, base, "two literals are told");
    let go = text(&suite, DescriptionClass::Flipped, "go");
    assert!(go.ends_with(", if r is in from."), "{go}");
}

#[test]
fn predicates_are_declared_and_told_and_the_header_has_no_action() {
    let suite = grippers();
    let declared: Vec<PredicateDescription> = material(&suite, DescriptionClass::Base, "predicates.declared");
    assert_eq!(declared[0].declaration, "(robot-in ?r - robot ?place - room)");
    assert_eq!(declared[0].text, "r is in place");
    assert_eq!(declared.len(), 4);
    let given = GivenSpec { actions: Some(DescriptionClass::Base), ..GivenSpec::default() };
    let header = task_view(&suite, &suite.tasks[0], &given, None).unwrap().materials.actions.header.unwrap();
    assert!(header.contains(":predicates") && !header.contains(":action"), "{header}");
}

#[test]
fn written_texts_come_first_and_mistakes_have_their_place() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["domain.pddl", "domain.nl", "p01.nl", "p01.pddl", "sentences.toml"] {
        std::fs::copy(suites().join("grippers").join(name), folder.path().join(name)).unwrap();
    }
    let write = |text: &str| std::fs::write(folder.path().join("actions.toml"), text).unwrap();
    write(
        "[actions]\nGO = \"A robot goes.\"\ngrasp = { base = \"It grasps.\", flipped = \"It grasps what lies there.\" }\n",
    );
    let suite = load_suite(folder.path()).suite.unwrap();
    assert_eq!(text(&suite, DescriptionClass::Base, "go"), "A robot goes.");
    assert_eq!(text(&suite, DescriptionClass::Flipped, "go"), "A robot goes, if r is in from.");
    assert_eq!(text(&suite, DescriptionClass::Flipped, "grasp"), "It grasps what lies there.");
    write("[actions]\ngro = \"x\"\ngrasp = 3\n");
    let found = load_suite(folder.path()).diagnostics;
    let lines: Vec<&str> = found.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(found.iter().filter(|d| d.code == "suite.actions" && d.is_error()).count(), 2, "{lines:?}");
}

/// pre(a) ∩ del(a) of the literals among the conjuncts; neither numbers nor a disjunction are literals.
#[test]
fn flipped_tells_what_is_needed_and_made_false() {
    let suite = shed(SHED_SENTENCES, "").unwrap();
    let swap = text(&suite, DescriptionClass::Flipped, "swap");
    assert_eq!(
        swap,
        "The action \"swap\" is done with an oil lamp l and a room r, if l is in r and l is lit."
    );
    let look = text(&suite, DescriptionClass::Flipped, "look");
    assert_eq!(look, "The action \"look\" is done with a room r.");
    assert_eq!(look, text(&suite, DescriptionClass::Random, "look"), "as many are drawn as flipped tells");
}

/// Over many draws every literal that may be described is, each in its one form.
#[test]
fn random_draws_from_conditions_and_effects_and_says_which_they_are() {
    let mut suite = shed(SHED_SENTENCES, "[actions]\nswap = \"Somebody swaps.\"\n").unwrap();
    let before = ["l is in r", "l is lit", "l is whole"];
    let after = [
        "fresh holds for l",
        "it is not true that somebody has seen r",
        "if r is dusty and it is not true that somebody has seen r, r is sooty",
        "for every oil lamp k, if k is lit, k is not in r",
    ];
    let mut seen = vec![0; before.len() + after.len()];
    for draw in 0..400 {
        suite.name = format!("shed-{draw}");
        let text = text(&suite, DescriptionClass::Random, "swap");
        let rest = text.strip_prefix("Somebody swaps").unwrap();
        let (conditions, effects) = match rest.split_once(". After the action, ") {
            Some((conditions, effects)) => (conditions, effects.strip_suffix('.').unwrap()),
            None => (rest.strip_suffix('.').unwrap(), ""),
        };
        let mut conditions = conditions.strip_prefix(", if ").unwrap_or(conditions).to_owned();
        let mut effects = effects.to_owned();
        let mut told = 0;
        // The longest first, for one contains others.
        for (index, clause) in after.iter().enumerate().rev() {
            if effects.contains(clause) {
                effects = effects.replacen(clause, "", 1);
                seen[before.len() + index] += 1;
                told += 1;
            }
        }
        for (index, clause) in before.iter().enumerate() {
            if conditions.contains(clause) {
                conditions = conditions.replacen(clause, "", 1);
                seen[index] += 1;
                told += 1;
            }
        }
        assert_eq!(told, 2, "{text}");
        let left = format!("{conditions}{effects}");
        assert!(left.is_empty() || left == " and ", "{text}: {left}");
    }
    assert!(seen.iter().all(|n| *n > 60), "2 of 7 atoms are drawn, each with the same chance: {seen:?}");
}

#[test]
fn a_description_of_a_predicate_is_shown_word_for_word() {
    let own = "[predicates]\nLIT = \"the lamp l burns.\"\nin = { declaration = \"(in ?x - lamp ?y - room)\", text = \"x is somewhere in y.\" }\n";
    let suite = shed(SHED_SENTENCES, own).unwrap();
    let declared: Vec<PredicateDescription> = material(&suite, DescriptionClass::Base, "predicates.declared");
    let shown: Vec<(&str, &str)> =
        declared.iter().map(|d| (d.declaration.as_str(), d.text.as_str())).collect();
    assert_eq!(shown[0], ("(in ?x - lamp ?y - room)", "x is somewhere in y."));
    assert_eq!(shown[1], ("(lit ?l - lamp)", "the lamp l burns."));
    assert_eq!(shown[2], ("(broken ?l - lamp)", "l is broken"));
    let wrong = "[predicates]\nburning = \"x\"\nlit = { declaration = \"(lit ?l - room)\", text = \"x\" }
in = { declaration = \"(at ?l - lamp ?r - room)\", text = \"x\" }\nseen = { declaration = \"(seen ?r - room\", text = \"x\" }\nbroken = 3
dusty = { declaration = \"(dusty ?r - room)\" }\n";
    let found = shed(SHED_SENTENCES, wrong).unwrap_err();
    let all = found.join("\n");
    assert_eq!(found.len(), 6, "{all}");
    assert!(found.iter().all(|line| line.starts_with("suite.actions: ")), "{all}");
    for part in [
        "no predicate `burning`",
        "`(lit ?l - room)` is declared as `(lit ?l - lamp)` in the domain",
        "that of `at` and not of `in`",
        "is not a declaration of a predicate",
        "`broken` must be a text",
        "`text`",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

/// Whoever writes the actions must be allowed to write them as they are.
#[test]
fn the_header_declares_what_the_actions_use() {
    let header = |requirements: &str| {
        let mut suite = grippers();
        let domain = format!(
            "(define (domain d) {requirements} (:predicates (p)) (:action a :parameters () :precondition (not (p)) :effect (p)))"
        );
        suite.reference_domain = Some(domain);
        let given = GivenSpec { actions: Some(DescriptionClass::Base), ..GivenSpec::default() };
        task_view(&suite, &suite.tasks[0], &given, None).unwrap().materials.actions.header.unwrap()
    };
    for undeclared in ["", "(:requirements :strips)"] {
        assert!(header(undeclared).contains(":negative-preconditions"), "{}", header(undeclared));
    }
    let declared = header("(:requirements :strips :negative-preconditions)");
    assert_eq!(declared.matches(":negative-preconditions").count(), 1, "{declared}");
    assert!(!header("(:requirements :adl)").contains(":negative-preconditions"));
}

/// Descriptions of actions that no pipeline sees do not change the digest.
#[test]
fn action_texts_are_told_apart_by_the_materials_that_show_them() {
    let with = load_suite(&suites().join("grippers")).suite.unwrap();
    let without = grippers();
    assert!(!with.action_texts.is_empty());
    assert_eq!(with.digest(&with.tasks[0]), without.digest(&without.tasks[0]));
    let shown = |suite| text(suite, DescriptionClass::Base, "go");
    assert_ne!(shown(&with), shown(&without));
}

/// The order of names makes the pool the same everywhere; the domain asked about is left out under its other name too.
#[test]
fn a_folder_of_suites_brings_all_of_them_once() {
    let pipeline: Pipeline = serde_json::from_value(json!({
        "schema": 1,
        "given": { "actions": "base", "action_examples": [".", "miconic"] },
        "stage": [],
    }))
    .unwrap();
    let tasks = planforge_pipeline::run_tasks(&pipeline, &[grippers()], &suites()).unwrap();
    let examples = tasks[0].view.materials.actions.examples.clone().unwrap();
    let mut names: Vec<&str> = examples.iter().map(|e| e.suite.as_str()).collect();
    names.dedup();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted, "each suite once, in order");
    assert_eq!(names.len(), 13, "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("grippers")));
}

#[test]
fn examples_come_from_other_suites_alone() {
    let pipeline: Pipeline = serde_json::from_value(json!({
        "schema": 1,
        "given": { "actions": "base", "action_examples": ["grippers", "miconic"] },
        "stage": [],
    }))
    .unwrap();
    let tasks = planforge_pipeline::run_tasks(&pipeline, &[grippers()], &suites()).unwrap();
    let examples = tasks[0].view.materials.actions.examples.clone().unwrap();
    assert_eq!(examples.len(), 4);
    assert!(examples.iter().all(|e| e.suite == "miconic" && e.pddl.starts_with("(:action")));
}

#[test]
fn without_the_predicates_nothing_that_is_made_of_them_is_given() {
    let suite = load_suite(&suites().join("grippers")).suite.unwrap();
    let given =
        GivenSpec { actions: Some(DescriptionClass::Base), predicates: false, ..GivenSpec::default() };
    let materials = task_view(&suite, &suite.tasks[0], &given, None).unwrap().materials.to_texts();
    assert!(!materials.contains_key("predicates.declared"));
    assert!(materials["domain.header"].contains(":types"));
    for name in ["robot-in", "ball-in", "(empty", "(holds", "(:action"] {
        assert!(materials.values().all(|text| !text.contains(name)), "{name}");
    }
}

/// A literal without a sentence is described by its predicate's name.
#[test]
fn a_description_that_would_name_a_withheld_predicate_is_refused() {
    let mut suite = grippers();
    let given = |class, predicates| GivenSpec { actions: Some(class), predicates, ..GivenSpec::default() };
    let refused = |suite: &Suite, given: &GivenSpec| {
        let found = task_view(suite, &suite.tasks[0], given, None).err().unwrap_or_default();
        found.iter().map(|d| d.code.to_string()).collect::<Vec<_>>()
    };
    assert!(
        refused(&suite, &given(DescriptionClass::Flipped, false)).is_empty(),
        "there is a sentence for all"
    );
    suite.sentences.remove("robot-in");
    assert_eq!(refused(&suite, &given(DescriptionClass::Flipped, false)), vec!["suite.no-sentence"; 1]);
    assert!(refused(&suite, &given(DescriptionClass::Flipped, true)).is_empty());
    assert!(refused(&suite, &given(DescriptionClass::Base, false)).is_empty());
}

/// The suites that examples come from where actions are asked for of grippers as it reads after a change, in a suite called `balls`.
fn examples_for(change: impl Fn(&str) -> String) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("suite.toml"), "schema = 1\nname = \"balls\"\n").unwrap();
    for name in ["domain.nl", "p01.nl", "p01.pddl", "domain.pddl"] {
        let text = std::fs::read_to_string(suites().join("grippers").join(name)).unwrap();
        std::fs::write(folder.path().join(name), change(&text)).unwrap();
    }
    let loaded = load_suite(folder.path());
    let suite = loaded.suite.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let pipeline: Pipeline = serde_json::from_value(json!({
        "schema": 1,
        "given": { "actions": "base", "action_examples": ["grippers", "miconic"] },
        "stage": [],
    }))
    .unwrap();
    let tasks = planforge_pipeline::run_tasks(&pipeline, &[suite], &suites()).unwrap();
    let examples = tasks[0].view.materials.actions.examples.clone().unwrap();
    let mut from: Vec<String> = examples.into_iter().map(|example| example.suite).collect();
    from.dedup();
    from
}

#[test]
fn a_domain_under_another_suite_s_name_is_no_example_of_its_own() {
    assert_eq!(examples_for(str::to_owned), ["miconic"], "the domain is called the same");
    let renamed = |text: &str| {
        text.replace("(domain grippers)", "(domain balls)").replace(":domain grippers", ":domain balls")
    };
    assert_eq!(examples_for(renamed), ["miconic"], "its actions read the same");
    // Other names throughout make another domain, as far as anybody can tell.
    let names = [("robot-in", "at"), ("ball-in", "lies"), ("holds", "has"), ("(empty ", "(free ")];
    let other = |text: &str| names.iter().fold(renamed(text), |text, (from, to)| text.replace(from, to));
    assert_eq!(examples_for(other), ["grippers", "miconic"]);
}
