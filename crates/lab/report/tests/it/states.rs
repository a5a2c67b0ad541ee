//! A plan with its states, step by step.

use planforge_contract::Sentences;
use planforge_planning::Unlimited;
use planforge_plugin_sdk::wording::Wording;
use planforge_report::states::{PlanStates, PlanTexts, PlanVerdict, StatesLimits, plan_states};
use std::collections::{BTreeMap, BTreeSet};

const DOMAIN: &str = "(define (domain shelf) (:requirements :typing :negative-preconditions :numeric-fluents) (:types book)
    (:predicates (on ?a ?b - book) (shelved ?b - book) (held ?b - book) (busy)) (:functions (moves))
    (:action take :parameters (?b - book) :precondition (and (shelved ?b) (not (busy)))
      :effect (and (held ?b) (busy) (not (shelved ?b)) (increase (moves) 1)))
    (:action put :parameters (?b ?c - book) :precondition (and (held ?b) (shelved ?c))
      :effect (and (on ?b ?c) (not (held ?b)) (not (busy)) (increase (moves) 1)))
    (:action shelve :parameters (?b - book) :precondition (held ?b) :effect (and (shelved ?b) (not (held ?b)) (not (busy)))))";
const PROBLEM: &str = "(define (problem two) (:domain shelf) (:objects atlas novel - book)
    (:init (shelved atlas) (shelved novel) (= (moves) 0)) (:goal (and (on novel atlas) (shelved atlas) (not (busy)))) (:metric minimize (moves)))";
const PICTURE: &str =
    "schema = 1\n[[stack]]\non = \"on ?above ?below\"\nbottom = \"shelved ?what\"\nheld = \"held ?what\"\n";

fn states(plan: &str, limits: &StatesLimits) -> PlanStates {
    let sentences = Sentences { yes: "{1} is in a hand.".to_owned(), no: String::new() };
    let wording = Wording::new(&BTreeMap::from([("held".to_owned(), sentences)]));
    let texts =
        PlanTexts { domain: DOMAIN, problem: PROBLEM, plan, picture: Some(PICTURE), wording: Some(&wording) };
    plan_states(texts, limits, &mut Unlimited)
}

/// The state after so many steps, out of the changes.
fn after(states: &PlanStates, steps: usize) -> BTreeSet<&str> {
    let name = |id: &u32| states.names[*id as usize].as_str();
    let mut state: BTreeSet<&str> = states.initial.iter().map(name).collect();
    for step in &states.steps[..steps] {
        step.deleted.iter().for_each(|id| assert!(state.remove(name(id))));
        step.added.iter().for_each(|id| assert!(state.insert(name(id))));
    }
    state
}

#[test]
fn a_plan_is_followed_step_by_step() {
    let states = states("(take novel)\n(put novel atlas)\n", &StatesLimits::default());
    assert_eq!(states.verdict, PlanVerdict::Valid);
    assert_eq!(after(&states, 0).into_iter().collect::<Vec<_>>(), ["(shelved atlas)", "(shelved novel)"]);
    assert_eq!(
        after(&states, 1).into_iter().collect::<Vec<_>>(),
        ["(busy)", "(held novel)", "(shelved atlas)"]
    );
    assert_eq!(after(&states, 2).into_iter().collect::<Vec<_>>(), ["(on novel atlas)", "(shelved atlas)"]);
    let goal: Vec<&str> = states.goal.iter().map(|id| states.names[*id as usize].as_str()).collect();
    assert_eq!(goal, ["(on novel atlas)", "(shelved atlas)", "(not (busy))"]);
    assert_eq!(states.goal_initially, [1, 2]);
    assert_eq!((&states.steps[0].goal_lost, &states.steps[1].goal_gained), (&vec![2], &vec![0, 2]));
    assert_eq!(
        states.steps[1].numbers.first().map(|(id, v)| (states.names[*id as usize].as_str(), *v)),
        Some(("(moves)", Some(2.0)))
    );
    assert_eq!(states.cost, Some(2.0));
    assert_eq!(states.pictures.iter().map(|p| p.step).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(states.failing.is_none() && states.missing.is_empty() && states.findings.is_empty());
    let told: Vec<&str> =
        states.pictures[1].undrawn.iter().map(|id| states.names[*id as usize].as_str()).collect();
    assert_eq!(told, ["(busy)", "(moves)"]);
    let words = states.in_words.unwrap();
    assert_eq!(words.verdict, "The plan is valid: after 2 steps, the goal holds.");
    let changes = ["novel is in a hand.", "busy holds.", "shelved does not hold for novel.", "moves is 1."]
        .map(str::to_owned);
    let told: BTreeSet<String> = words.steps[0].changes.iter().cloned().collect();
    assert_eq!(told, BTreeSet::from(changes));
}

#[test]
fn the_first_failing_step_names_its_unmet_conditions() {
    let states = states("(take novel)\n(take atlas)\n(put novel atlas)\n", &StatesLimits::default());
    assert_eq!((states.verdict, states.steps.len(), states.steps_in_plan), (PlanVerdict::Invalid, 1, 3));
    let failing = states.failing.unwrap();
    assert_eq!((failing.index, failing.text.as_str()), (1, "(take atlas)"));
    assert_eq!(failing.conditions[0].needs, "(not (busy))");
    assert_eq!(failing.conditions[0].why, "(busy) is true since step 1 (take novel)");
    assert_eq!(states.in_words.unwrap().refusal.unwrap().needs[0].instead, "busy holds since step 1.");
}

#[test]
fn a_plan_that_ends_early_names_the_missing_goals() {
    let states = states("(take novel)\n", &StatesLimits::default());
    assert_eq!(states.verdict, PlanVerdict::Invalid);
    assert_eq!(states.missing.len(), 2);
    assert!(states.missing[0].starts_with("(on novel atlas): "), "{:?}", states.missing);
}

#[test]
fn omissions_by_limits_are_counted() {
    let plan = "(take novel)\n(shelve novel)\n".repeat(50);
    let limits = StatesLimits { steps: 7, atoms: 1, pictures: 3, picture_bytes: 1 << 20 };
    let cut = states(&plan, &limits);
    assert_eq!((cut.steps.len(), cut.steps_left_out, cut.steps_in_plan), (7, 93, 100));
    assert_eq!(cut.in_words.map(|words| words.steps.len()), Some(7));
    assert_eq!((cut.initial.len() + cut.initial_numbers.len(), cut.initial_left_out), (1, 2));
    assert_eq!((cut.pictures.len(), cut.pictures_left_out), (3, 5));
    let bytes = states(&plan, &StatesLimits { picture_bytes: 1, ..limits });
    assert_eq!((bytes.pictures.len(), bytes.pictures_left_out), (1, 7));
    let none = states(&plan, &StatesLimits::default().without_pictures());
    assert_eq!((none.pictures.len(), none.picture_note), (0, None));
}

#[test]
fn unreadable_plans_have_no_verdict() {
    let at = |domain: &str, problem: &str, plan: &str| {
        plan_states(
            PlanTexts { domain, problem, plan, picture: None, wording: None },
            &StatesLimits::default(),
            &mut Unlimited,
        )
    };
    let unreadable = at("(define (domain", PROBLEM, "(take novel)");
    assert_eq!(unreadable.verdict, PlanVerdict::Unreadable);
    assert!(!unreadable.findings.is_empty() && unreadable.pictures.is_empty());
    let undefined = at(DOMAIN, &PROBLEM.replace("(on novel atlas)", "(beside novel atlas)"), "");
    assert_eq!(undefined.verdict, PlanVerdict::Unreadable);
    assert!(undefined.findings[0].starts_with("planning.undefined: "), "{:?}", undefined.findings);
    let durative = DOMAIN.replace(
        "(:action shelve :parameters (?b - book) :precondition (held ?b) :effect (and (shelved ?b) (not (held ?b)) (not (busy))))",
        "(:durative-action shelve :parameters (?b - book) :duration (= ?duration 1) :condition (at start (held ?b)) :effect (at end (shelved ?b)))",
    );
    assert_eq!(at(&durative, PROBLEM, "(take novel)").verdict, PlanVerdict::Unsupported);
    let prose = at(DOMAIN, PROBLEM, "Sure! Here is (the) plan [");
    assert_eq!((prose.verdict, prose.steps.len()), (PlanVerdict::Invalid, 0));
    assert_eq!((prose.pictures.len(), prose.picture_note.as_deref()), (1, Some("there is no picture.toml")));
}
