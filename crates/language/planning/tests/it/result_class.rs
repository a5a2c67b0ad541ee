//! Replies by hand, one for each class of the paper, and the places that classes carry.

use crate::support::{read_domain, read_problem};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::domains::{ComparisonVerdict, EquivalenceLimits, ExactReference};
use planforge_planning::equivalence::hde::{HdeOptions, HdeReference};
use planforge_planning::result_class::{
    BadPreconditionRule, ClassifiedReply, ResultClass, ResultGroup, classify_action, classify_domain,
    fit_action, fit_all_actions, named_action,
};
use std::num::NonZeroUsize;

const RULE: BadPreconditionRule = BadPreconditionRule::Requirement;

const DOMAIN: &str = "(define (domain lamps) (:requirements :strips :typing)
  (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (here ?r - room) (lit ?l - lamp) (dark ?l - lamp) (door ?a ?b - room))
  (:action go :parameters (?a ?b - room)
    :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))
  (:action light :parameters (?l - lamp ?r - room)
    :precondition (and (here ?r) (in ?l ?r) (dark ?l)) :effect (and (lit ?l) (not (dark ?l)))))";

const PROBLEM: &str = "(define (problem two) (:domain lamps) (:objects a b - lamp hall attic - room)
  (:init (here hall) (door hall attic) (door attic hall) (in a hall) (in b attic) (dark a) (dark b))
  (:goal (and (lit a) (lit b))))";

fn reference() -> (Domain, HdeReference) {
    let domain = read_domain(DOMAIN);
    let problem: Problem = read_problem(PROBLEM);
    let options = HdeOptions { k: NonZeroUsize::new(10).unwrap(), ..HdeOptions::default() };
    let reference = HdeReference::new(&domain, &[&problem], &options, &mut Unlimited).unwrap();
    (domain, reference)
}

fn class(reply: &str) -> ClassifiedReply {
    let (domain, reference) = reference();
    classify_action(reply, SourceId(3), &domain, "light", RULE, &reference, &mut Unlimited)
}

/// The text that the deciding finding points at.
fn at<'a>(reply: &'a str, found: &ClassifiedReply) -> &'a str {
    let label = found.diagnostics[0].primary().unwrap();
    assert_eq!(label.source, SourceId(3));
    &reply[label.span.range()]
}

fn action(precondition: &str, effect: &str) -> String {
    format!(
        "Here it is:\n```pddl\n(:action light :parameters (?l - lamp ?r - room)\n  :precondition {precondition}\n  :effect {effect})\n```\n"
    )
}

const PRE: &str = "(and (here ?r) (in ?l ?r) (dark ?l))";
const EFF: &str = "(and (lit ?l) (not (dark ?l)))";

#[test]
fn the_true_action_is_equivalent_in_every_wrapping() {
    let bare = "(:action light :parameters (?l - lamp ?r - room) :precondition (and (here ?r) (in ?l ?r) (dark ?l)) :effect (and (lit ?l) (not (dark ?l))))";
    let whole = format!("(define (domain lamps) (:predicates (lit ?l))\n{bare}\n)");
    let twice = format!(
        "First (:action go :parameters () :effect ()) and then\n\n{bare}\nThat is all there is to it."
    );
    for reply in [action(PRE, EFF), bare.to_owned(), whole, twice, bare.to_uppercase()] {
        let found = class(&reply);
        assert_eq!(found.class, ResultClass::Equivalent, "{reply}\n{:?}", found.diagnostics);
        assert!(found.domain.is_some() && found.diagnostics.is_empty());
    }
}

#[test]
fn syntax_errors_come_first_with_their_place() {
    let no_action = class("The lamp is lit if it is dark.");
    assert_eq!(no_action.class, ResultClass::NoPddl);
    let lost = action("(and (here ?r) (in ?l ?r) (dark ?l)", EFF);
    assert_eq!(class(&lost).class, ResultClass::PError);
    let early = action("(and (here ?r)))", EFF);
    assert_eq!(class(&early).class, ResultClass::PError);
    let one_more = action(PRE, "(and (lit ?l)))");
    assert_eq!(class(&one_more).class, ResultClass::PError);
    let twice = action("(here ?r)\n  :precondition (dark ?l)", EFF);
    let found = class(&twice);
    assert_eq!(found.class, ResultClass::UToken);
    assert!(at(&twice, &found).contains(":precondition"), "{}", at(&twice, &found));
    let typed_atom = action("(and (here ?r - room) (dark ?l))", EFF);
    assert_eq!(class(&typed_atom).class, ResultClass::UToken);
    // Of an error of syntax and one of meaning the first counts.
    let both = action("(and (here ?r ?r ?r) (shining ?l)", EFF);
    assert_eq!(class(&both).class, ResultClass::PError);
}

#[test]
fn errors_of_meaning_follow_in_the_papers_order() {
    let cases = [
        (action("(and (here ?l) (dark ?l))", EFF), ResultClass::TError, "?l"),
        (action(PRE, EFF).replace("?r - room", "?r - place"), ResultClass::TError, "place"),
        (action("(and (here ?r ?l) (dark ?l))", EFF), ResultClass::PAError, "(here ?r ?l)"),
        (action("(shining ?l)", EFF), ResultClass::PAError, "shining"),
        (action("(dark ?x)", EFF), ResultClass::PAError, "?x"),
        (action(PRE, EFF).replace(":action light", ":action kindle"), ResultClass::NError, "kindle"),
        (action("(and (here ?r) (in ?l ?r) (not (lit ?l)))", EFF), ResultClass::BPError, "(not (lit ?l))"),
    ];
    for (reply, wanted, place) in cases {
        let found = class(&reply);
        assert_eq!(found.class, wanted, "{reply}\n{:?}", found.diagnostics);
        assert!(at(&reply, &found).contains(place), "{wanted:?} points at `{}`", at(&reply, &found));
        assert_eq!(wanted.group(), ResultGroup::Semantic);
    }
    let all =
        action("(and (here ?l) (here ?r ?r) (not (lit ?l)))", EFF).replace(":action light", ":action kindle");
    let found = class(&all);
    assert_eq!(found.class, ResultClass::TError);
    assert!(found.diagnostics.len() >= 4, "everything is told: {:?}", found.diagnostics);
}

#[test]
fn behaviour_is_classified_by_plans() {
    let cases = [
        (action("(and (here ?r) (in ?l ?r) (lit ?l))", EFF), ResultClass::NoPlan),
        (action("(dark ?l)", EFF), ResultClass::NPApp),
        (action(PRE, "(lit ?l)"), ResultClass::Equivalent),
        (action("(and (here ?r) (in ?l ?r))", EFF), ResultClass::NPApp),
    ];
    for (reply, wanted) in cases {
        let found = class(&reply);
        // Without the deletion a lamp can be lit twice: new plans are longer and not among the cheapest ten.
        if wanted == ResultClass::Equivalent {
            assert!(matches!(found.class, ResultClass::Equivalent | ResultClass::NPApp), "{:?}", found.class);
            continue;
        }
        assert_eq!(found.class, wanted, "{reply}");
        assert_eq!(found.class.group(), ResultGroup::Different);
        assert!(found.hde.is_some());
    }
    // A stronger precondition leaves a plan out: new plans are plans of the original, an original one is lost.
    let stronger = action("(and (here ?r) (in ?l ?r) (dark ?l) (door ?r ?r))", EFF);
    assert_eq!(class(&stronger).class, ResultClass::NoPlan);
}

#[test]
fn a_limit_gives_undecided_and_never_no_plan() {
    let (domain, _) = reference();
    let problem = read_problem(PROBLEM);
    // Enough for the reference's own plans, too little for an action that opens many more sequences.
    for nodes in [40, 60, 80, 120, 200] {
        let options =
            HdeOptions { max_nodes: nodes, k: NonZeroUsize::new(3).unwrap(), ..HdeOptions::default() };
        let Ok(reference) = HdeReference::new(&domain, &[&problem], &options, &mut Unlimited) else {
            continue;
        };
        let reply = action("(and (here ?r) (in ?l ?r) (lit ?l))", "(and (lit ?l) (dark ?l))");
        let found = classify_action(&reply, SourceId(0), &domain, "light", RULE, &reference, &mut Unlimited);
        assert!(
            matches!(found.class, ResultClass::NoPlan | ResultClass::Undecided),
            "{nodes}: {:?}",
            found.class
        );
    }
    let tiny = HdeOptions { max_nodes: 12, k: NonZeroUsize::new(1).unwrap(), ..HdeOptions::default() };
    if let Ok(reference) = HdeReference::new(&domain, &[&problem], &tiny, &mut Unlimited) {
        let reply = action("(here ?r)", "(dark ?l)");
        let found = classify_action(&reply, SourceId(0), &domain, "light", RULE, &reference, &mut Unlimited);
        assert_ne!(found.class, ResultClass::Equivalent);
    }
}

#[test]
fn a_whole_domain_has_the_class_of_its_first_unfit_action_or_of_its_behaviour() {
    let (domain, reference) = reference();
    let go = "(:action go :parameters (?a ?b - room) :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))";
    let one = |name: &str, text: &str| {
        classify_action(text, SourceId(0), &domain, name, RULE, &reference, &mut Unlimited)
    };
    let whole = |go: &str, light: &str| {
        let (go, light) = (one("go", go), one("light", light));
        let parts = [("go", &go), ("light", &light)];
        let found = classify_domain(&domain, &parts, &reference, &mut Unlimited);
        assert_eq!(fit_all_actions(&domain, &parts).is_ok(), found.domain.is_some());
        (go.class, light.class, found)
    };
    let (a, b, all) = whole(go, &action(PRE, EFF));
    assert_eq!(
        (a, b, all.class),
        (ResultClass::Equivalent, ResultClass::Equivalent, ResultClass::Equivalent)
    );
    // A wrong type precedes a wrong predicate, whatever their places. Behaviour is then not compared.
    let (_, _, all) = whole(&go.replace("(door ?a ?b)", "(door ?a)"), &action("(here ?l)", EFF));
    assert_eq!((all.class, all.hde.is_none()), (ResultClass::TError, true));
    assert_eq!(all.reason.as_deref(), Some("action `light` does not fit"));
    // Each by itself leaves the problem solvable, both together do not: one has no way back, the other needs it.
    let oneway = go.replace("(door ?a ?b))", "(door ?a ?b) (in a ?a))").replace("(in a ?a)", "(door ?b ?a)");
    let (a, _, all) = whole(&oneway, &action("(and (here ?r) (dark ?l))", EFF));
    assert_eq!((a, all.class), (ResultClass::Equivalent, ResultClass::NPApp));
    let text = format!("{go}\n{}", action(PRE, EFF));
    assert!(named_action(&text, "LIGHT").unwrap().text.starts_with("(:action light"));
    assert!(named_action(&text, "fly").is_none());
}

#[test]
fn fitting_an_action_needs_neither_plans_nor_true_actions() {
    let (domain, _) = reference();
    let header = Domain { actions: Vec::new(), ..domain };
    let fitting = fit_action(&action("(lit ?l)", "(dark ?l)"), SourceId(0), &header, "light", RULE).unwrap();
    assert_eq!((fitting.action.name.as_str(), fitting.domain.actions.len()), ("light", 1));
    let not = fit_action(&action("(lit ?l ?l)", EFF), SourceId(0), &header, "light", RULE).unwrap_err();
    assert_eq!(not.class, ResultClass::PAError);
}

#[test]
fn the_exact_comparison_stops_at_the_first_problem_that_differs() {
    let (domain, _) = reference();
    let two = read_problem(PROBLEM);
    let near = read_problem(&PROBLEM.replace("(in b attic)", "(in b hall)"));
    let limits = EquivalenceLimits::default();
    let models = ExactReference::new(&domain, &[&near, &two], &limits, &mut Unlimited).unwrap();
    assert_eq!(models.problems(), 2);
    let same = models.compare(&domain, &mut Unlimited);
    assert_eq!((same.verdict(), same.0.len(), same.equal_up_to()), (ComparisonVerdict::Equal, 2, None));
    let fitting =
        fit_action(&action("(and (here ?r) (dark ?l))", EFF), SourceId(0), &domain, "light", RULE).unwrap();
    let other = models.compare(&fitting.domain, &mut Unlimited);
    // In the first problem lamps are lit from the attic too, so it shows the difference and the second is not compared.
    assert_eq!(
        (other.verdict(), other.0.len(), other.decisive().unwrap().0),
        (ComparisonVerdict::Different, 1, 0)
    );
    let few = EquivalenceLimits { max_pairs: 2, ..limits };
    let models = ExactReference::new(&domain, &[&near, &two], &few, &mut Unlimited).unwrap();
    let renamed = fit_action(
        &action("(and (dark ?l) (here ?r) (in ?l ?r))", "(and (lit ?l) (not (dark ?l)) (door ?r ?r))"),
        SourceId(0),
        &domain,
        "light",
        RULE,
    )
    .unwrap();
    let open = models.compare(&renamed.domain, &mut Unlimited);
    assert_eq!((open.verdict(), open.0.len()), (ComparisonVerdict::Open, 2));
    assert!(open.equal_up_to().is_some() && !open.is_cancelled());
}

#[test]
fn an_object_of_the_problems_has_its_type_there() {
    // `hall` is a room and no constant of the domain: right as a room, wrong as a lamp.
    let wrong = action("(and (here ?r) (in hall ?r) (dark ?l))", EFF);
    let found = class(&wrong);
    assert_eq!(found.class, ResultClass::TError, "{:?}", found.diagnostics);
    assert_eq!(at(&wrong, &found), "hall");
    assert_eq!(found.diagnostics.len(), 1, "{:?}", found.diagnostics);
    let right = class(&action("(and (here hall) (in ?l ?r) (dark ?l))", EFF));
    assert!(right.class.group() == ResultGroup::Different, "{:?}", right.diagnostics);
    // Where problems are not known, neither are its types.
    let (domain, _) = reference();
    assert!(fit_action(&wrong, SourceId(3), &domain, "light", RULE).is_ok());
}

#[test]
fn an_action_in_another_order_of_parameters_is_equivalent_and_different_by_position() {
    let swapped = action(PRE, EFF).replace("?l - lamp ?r - room", "?r - room ?l - lamp");
    let found = class(&swapped);
    assert_eq!(found.class, ResultClass::Equivalent, "{:?}", found.reason);
    assert_eq!((found.positional, found.by_position()), (Some(ResultClass::NPApp), ResultClass::NPApp));
    assert_eq!(found.parameters.as_deref(), Some([1, 0].as_slice()));
    let graded = found.domain.as_ref().unwrap().actions.iter().find(|a| a.name.is("light")).unwrap();
    let names: Vec<&str> = graded.parameters.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["?l", "?r"]);
    // A wrong action stays wrong in every order, with the plan of the order that fits the types.
    let wrong =
        action("(and (here ?r) (dark ?l))", EFF).replace("?l - lamp ?r - room", "?r - room ?l - lamp");
    let found = class(&wrong);
    assert_eq!((found.class, found.positional), (ResultClass::NPApp, None));
    assert_eq!(found.parameters.as_deref(), Some([1, 0].as_slice()));
    // The whole domain is graded the same way.
    let (domain, reference) = reference();
    let go = "(:action go :parameters (?b ?a - room) :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))";
    let one = classify_action(go, SourceId(3), &domain, "go", RULE, &reference, &mut Unlimited);
    assert_eq!(
        (one.class, one.by_position()),
        (ResultClass::Equivalent, ResultClass::NPApp),
        "a swap within a type"
    );
    let light = class(&swapped);
    let parts = [("go", &one), ("light", &light)];
    let whole = classify_domain(&domain, &parts, &reference, &mut Unlimited);
    assert_eq!((whole.class, whole.by_position()), (ResultClass::Equivalent, ResultClass::NPApp));
}

#[test]
fn bad_preconditions_follow_the_domain_the_papers_text_or_its_planner() {
    use BadPreconditionRule::{Negation, Requirement, UnguardedDelete};
    let (plain, reference) = reference();
    let declared = read_domain(&DOMAIN.replace(":strips", ":strips :negative-preconditions"));
    let negated = action("(and (here ?r) (in ?l ?r) (dark ?l) (not (lit ?l)))", EFF);
    let unguarded = action("(and (here ?r) (in ?l ?r) (not (lit ?l)))", EFF);
    let class = |reply: &str, domain: &Domain, rule| {
        classify_action(reply, SourceId(0), domain, "light", rule, &reference, &mut Unlimited)
    };
    for (reply, domain, rule, bad) in [
        (&negated, &plain, Requirement, Some("(not (lit ?l))")),
        (&negated, &declared, Requirement, None),
        (&negated, &declared, Negation, Some("(not (lit ?l))")),
        (&negated, &plain, UnguardedDelete, None),
        (&unguarded, &declared, UnguardedDelete, Some("(not (dark ?l))")),
        (&action(PRE, EFF), &plain, UnguardedDelete, None),
        (&action(PRE, EFF), &plain, Negation, None),
    ] {
        let found = class(reply, domain, rule);
        assert_eq!(found.class == ResultClass::BPError, bad.is_some(), "{rule:?} {reply}: {:?}", found.class);
        if let Some(place) = bad {
            let span = found.diagnostics[0].primary().unwrap().span;
            assert_eq!(&reply[span.range()], place, "{rule:?}");
        }
    }
}
