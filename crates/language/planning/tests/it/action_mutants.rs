//! Actions with one flaw by construction come out as what they are, on every suite of the project.

use crate::support::{read_domain, read_problem, read_task, suites};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::action::{ActionMutant, ActionMutantKind, action_mutants};
use planforge_pddl::print_action;
use planforge_pddl::random::Random;
use planforge_planning::Unlimited;
use planforge_planning::equivalence::hde::{HdeOptions, HdeReference};
use planforge_planning::result_class::{BadPreconditionRule, ResultClass, ResultGroup, classify_action};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// A reference with one plan of one problem, which takes little work. Errors in a text do not depend on it.
fn reference(domain: &Domain, problem: &Problem) -> HdeReference {
    let mut options = HdeOptions { k: NonZeroUsize::MIN, max_nodes: 3_000, ..HdeOptions::default() };
    loop {
        match HdeReference::new(domain, &[problem], &options, &mut Unlimited) {
            Ok(reference) => return reference,
            Err(not) => assert!(options.max_nodes < 100_000_000, "{not}"),
        }
        options.max_nodes *= 10;
    }
}

#[test]
fn mutants_get_the_class_of_their_constructed_flaw() {
    let (mut known, mut kinds, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for folder in suites() {
        let suite = folder.display();
        let (domain, problem) = read_task(&folder, 1);
        let reference = reference(&domain, &problem);
        for (number, action) in domain.actions.iter().enumerate() {
            let name = action.name.as_str();
            let class = |reply: &str| {
                classify_action(reply, SourceId(0), &domain, name, RULE, &reference, &mut Unlimited).class
            };
            assert_eq!(class(&print_action(action)), ResultClass::Equivalent, "{suite} {name}");
            for mutant in action_mutants(&domain, action, 64, &mut Random::stream(7, number as u64)) {
                let Some(flaw) = mutant.flaw else { continue };
                let found = class(&mutant.reply);
                known += 1;
                kinds.insert(mutant.kind);
                if found != ResultClass::from(flaw) {
                    wrong.push(format!(
                        "{suite} {name}: {} ({flaw:?}) is {found:?}\n{}",
                        mutant.change, mutant.reply
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {known}\n{}", wrong.len(), wrong.join("\n"));
    assert!(known > 2_000, "{known}");
    for kind in [ActionMutantKind::WrongName, ActionMutantKind::WrongArity, ActionMutantKind::WrongType] {
        assert!(kinds.contains(&kind));
    }
    assert!(kinds.contains(&ActionMutantKind::BrokenText) && kinds.contains(&ActionMutantKind::Negate));
}

const RULE: BadPreconditionRule = BadPreconditionRule::Requirement;

const LAMPS: &str = "(define (domain lamps) (:requirements :strips :typing) (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (here ?r - room) (lit ?l - lamp) (door ?a ?b - room))
  (:action go :parameters (?a ?b - room)
    :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))
  (:action light :parameters (?l - lamp ?r - room)
    :precondition (and (here ?r) (in ?l ?r) NEGATED) :effect (lit ?l)))";

fn lamps(negated: &str) -> (Domain, HdeReference) {
    let domain = read_domain(&LAMPS.replace("NEGATED", negated));
    let problem = "(define (problem one) (:domain lamps) (:objects a - lamp hall attic - room)
      (:init (here hall) (door hall attic) (door attic hall) (in a attic)) (:goal (lit a)))";
    let problem = read_problem(problem);
    let reference = reference(&domain, &problem);
    (domain, reference)
}

fn mutants(domain: &Domain, action: usize) -> Vec<ActionMutant> {
    action_mutants(domain, &domain.actions[action], 400, &mut Random::new(3))
}

#[test]
fn negation_is_wrong_where_the_domain_neither_declares_nor_uses_it() {
    for (negated, wrong) in [("", true), ("(not (lit ?l))", false)] {
        let (domain, reference) = lamps(negated);
        for (number, name) in [(0, "go"), (1, "light")] {
            let class = |reply: &str| {
                classify_action(reply, SourceId(0), &domain, name, RULE, &reference, &mut Unlimited).class
            };
            assert_eq!(
                class(&print_action(&domain.actions[number])),
                ResultClass::Equivalent,
                "its own is right"
            );
            let negations: Vec<ActionMutant> =
                mutants(&domain, number).into_iter().filter(|m| m.kind == ActionMutantKind::Negate).collect();
            assert_eq!(negations.iter().any(|m| m.flaw.is_some()), wrong);
            assert!(
                negations
                    .iter()
                    .filter(|m| m.flaw.is_some())
                    .all(|m| class(&m.reply) == ResultClass::BPError)
            );
            assert!(
                negations
                    .iter()
                    .filter(|m| m.flaw.is_none())
                    .all(|m| class(&m.reply) != ResultClass::BPError)
            );
        }
        // What the domain does itself hides nothing else that it does not declare.
        let either = "(:action go :parameters (?a ?b - room)
          :precondition (and (here ?a) (or (door ?a ?b) (door ?b ?a))) :effect (and (here ?b) (not (here ?a))))";
        let found = classify_action(either, SourceId(0), &domain, "go", RULE, &reference, &mut Unlimited);
        assert_eq!(found.class, ResultClass::BPError);
        assert!(
            found.diagnostics[0].message.contains(":disjunctive-preconditions"),
            "{:?}",
            found.diagnostics
        );
    }
}

#[test]
fn another_actions_name_is_a_wrong_name_and_an_unknown_name_a_wrong_argument() {
    let (domain, reference) = lamps("");
    let class =
        |reply: &str| classify_action(reply, SourceId(0), &domain, "light", RULE, &reference, &mut Unlimited);
    let other = print_action(&domain.actions[1]).replace("light", "go");
    let found = class(&other);
    assert_eq!(found.class, ResultClass::NError, "{:?}", found.diagnostics);
    assert_eq!(found.diagnostics.len(), 1, "it is said once: {:?}", found.diagnostics);
    let constant = print_action(&domain.actions[1]).replace("(in ?l ?r)", "(in ?l cellar)");
    assert_eq!(class(&constant).class, ResultClass::PAError);
    // An object that the problems have is one.
    let object = print_action(&domain.actions[1]).replace("(in ?l ?r)", "(in ?l attic)");
    assert!([ResultGroup::Different, ResultGroup::Equivalent].contains(&class(&object).class.group()));
}

#[test]
fn parentheses_around_the_action_count_too() {
    let (domain, reference) = lamps("");
    let text = print_action(&domain.actions[1]);
    let class = |reply: &str| {
        classify_action(reply, SourceId(0), &domain, "light", RULE, &reference, &mut Unlimited).class
    };
    for lost in [
        format!("({text}"),
        format!("( {text}"),
        text.replace(":action ", ":action )"),
        text.replace(":parameters ", ":parameters )"),
        text.replace(":precondition ", ":precondition ) "),
        text.replace(":effect ", ":effect )"),
        format!("{text})"),
    ] {
        assert_eq!(class(&lost), ResultClass::PError, "{lost}");
        assert_eq!(class(&format!("So:\n```\n{lost}\n```\nDone.")), ResultClass::PError, "{lost}");
    }
    // An effect without a value lacks it, and a list behind the action is it.
    let before = &text[..text.find(":effect").unwrap()];
    assert_eq!(class(&format!("{before} :effect)\nThat is all.")), ResultClass::UToken);
    assert_eq!(class(&format!("{before} :effect)\n(lit ?l)")), ResultClass::PError);
    for around in
        [format!("(see above) {text} (as told)"), format!("(define (domain d) (:predicates (p))\n{text})")]
    {
        assert_eq!(class(&around), ResultClass::Equivalent, "{around}");
    }
}

#[test]
fn mutants_are_distinct_and_depend_on_the_seed_alone() {
    let (domain, _) = lamps("");
    let made = mutants(&domain, 1);
    assert_eq!(made, mutants(&domain, 1));
    assert_ne!(made, action_mutants(&domain, &domain.actions[1], 400, &mut Random::new(4)));
    let texts: BTreeSet<&str> = made.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts.len(), made.len());
    assert!(!texts.contains(print_action(&domain.actions[1]).as_str()));
    let kinds = |made: &[ActionMutant]| made.iter().map(|m| m.kind).collect::<BTreeSet<_>>();
    assert_eq!(kinds(&mutants(&domain, 0)[..8]).len(), 8, "the kinds take turns");
    assert_eq!(
        kinds(&made).len(),
        7,
        "no other predicate takes a lamp and a room, and no other variable fits"
    );
    // Nothing is wrong with what a comparison has to decide.
    let reference = lamps("").1;
    for mutant in made.iter().filter(|m| m.flaw.is_none()) {
        let class =
            classify_action(&mutant.reply, SourceId(0), &domain, "light", RULE, &reference, &mut Unlimited)
                .class;
        let told = [ResultGroup::Different, ResultGroup::Equivalent, ResultGroup::Undecided];
        assert!(told.contains(&class.group()), "{}: {class:?}", mutant.change);
    }
}
