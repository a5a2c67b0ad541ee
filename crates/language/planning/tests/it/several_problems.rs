//! Overall results of comparing two domains on several problems.

use crate::support::{read_domain, read_problem};
use planforge_pddl::ast::Problem;
use planforge_planning::Unlimited;
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    ComparisonVerdict, Comparisons, EquivalenceLimits, ExactReference, compare_domains,
};

const DOMAIN: &str = "(define (domain lamp) (:requirements :strips :negative-preconditions)
  (:predicates (lit) (broken))
  (:action press :parameters () :precondition (not (broken)) :effect (lit))
  (:action drop :parameters () :precondition (lit) :effect (broken)))";

/// A lamp with facts at the start.
fn problem(init: &str) -> Problem {
    let text = format!("(define (problem p) (:domain lamp) (:init {init}) (:goal (lit)))");
    read_problem(&text)
}

/// Compares on every problem, without stopping at a difference.
fn all(second: &str, inits: &[&str], limits: &EquivalenceLimits) -> Comparisons {
    let [a, b] = [DOMAIN, second].map(read_domain);
    let one = |init: &&str| {
        let p = problem(init);
        compare_domains([&a, &b], [&p, &p], limits, &mut Unlimited)
    };
    Comparisons(inits.iter().map(one).collect())
}

#[test]
fn a_reference_is_compared_up_to_the_first_difference() {
    let other = read_domain(&DOMAIN.replace(":precondition (lit)", ":precondition (and (lit) (broken))"));
    let problems = ["(broken)", "", "(lit)"].map(problem);
    let own: Vec<&Problem> = problems.iter().collect();
    let limits = EquivalenceLimits::default();
    let reference = ExactReference::new(&read_domain(DOMAIN), &own, &limits, &mut Unlimited).unwrap();
    let found = reference.compare(&other, &mut Unlimited);
    // Where the lamp is broken nothing can be done; where it is dark it has to be pressed first.
    assert_eq!(
        (found.0.len(), found.verdict(), found.equal_up_to()),
        (2, ComparisonVerdict::Different, None)
    );
    let (place, outcome) = found.decisive().unwrap();
    assert_eq!((place, outcome.as_ref().unwrap().shown_after()), (1, Some(2)));
}

#[test]
fn equality_needs_every_problem_and_a_limit_leaves_it_open() {
    let same = all(DOMAIN, &["", "(lit)"], &EquivalenceLimits::default());
    assert_eq!((same.verdict(), same.equal_up_to()), (ComparisonVerdict::Equal, None));
    assert_eq!(Comparisons(Vec::new()).verdict(), ComparisonVerdict::Open);

    // The domains differ after two steps; the limit is one.
    let other = DOMAIN.replace(":precondition (lit)", ":precondition (and (lit) (broken))");
    let shallow = EquivalenceLimits { max_depth: Some(1), ..EquivalenceLimits::default() };
    let open = all(&other, &["", "(broken)"], &shallow);
    assert_eq!((open.verdict(), open.equal_up_to()), (ComparisonVerdict::Open, Some(1)));

    // A problem that is not a model in one domain leaves the result open without a depth. A difference elsewhere decides.
    let smashed = other.replace("(broken)", "(smashed)");
    let missing = all(&smashed, &["(broken)"], &EquivalenceLimits::default());
    assert!(matches!(&missing.0[0], Err(not) if not.side == ComparedSide::Second), "{missing:?}");
    assert_eq!((missing.verdict(), missing.equal_up_to()), (ComparisonVerdict::Open, None));
    let both = all(&smashed, &["(broken)", ""], &EquivalenceLimits::default());
    assert_eq!(both.verdict(), ComparisonVerdict::Different);
}
