//! Candidates that are the same, by text or by meaning.

use crate::run::beam::Entry;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Parsed, Problem, TypedName};
use planforge_pddl::{parse_domain, parse_problem, print_domain, print_typed_list};
use planforge_planning::CountingLimits;
use planforge_planning::equivalence::are_equivalent;
use std::collections::BTreeSet;

/// Most pairs of objects that a comparison tries. No object is renamed, so few are needed.
const MAX_CHOICES: u64 = 10_000;
/// Limits on the work of a comparison: counts, so that it ends alike on every machine.
const LIMITS: CountingLimits = CountingLimits { polls: 100_000, bytes: 1 << 28 };

/// True if two candidates have the same texts, and the same plan if there is one.
pub(super) fn is_copy(a: &Entry, b: &Entry) -> bool {
    let (one, other) = (&a.candidate, &b.candidate);
    one.domain == other.domain && one.problem == other.problem && steps(a) == steps(b)
}

/// True if two candidates have the same domain apart from layout, comments and letter case, the same problem by
/// [`same_problem`], and the same plan if there is one.
pub(super) fn is_equal(a: &Entry, b: &Entry) -> bool {
    let (one, other) = (&a.candidate, &b.candidate);
    let pair = |a: &Option<String>, b: &Option<String>, same: fn(&str, &str) -> bool| match (a, b) {
        (Some(a), Some(b)) => a == b || same(a, b),
        (a, b) => a == b,
    };
    pair(&one.domain, &other.domain, same_domain)
        && pair(&one.problem, &other.problem, same_problem)
        && steps(a) == steps(b)
}

fn steps(entry: &Entry) -> Option<Vec<String>> {
    entry.candidate.plan.as_ref().and_then(|plan| plan.best()).map(|plan| plan.steps.clone())
}

fn readable<T>(parsed: Parsed<T>) -> Option<T> {
    (!parsed.has_errors()).then_some(parsed.value)
}

fn same_domain(a: &str, b: &str) -> bool {
    let read = |text| readable(parse_domain(text, SourceId(0))).map(|d| print_domain(&d).to_lowercase());
    read(a).is_some_and(|a| Some(a) == read(b))
}

/// True if two problems have the same objects and types, the same initial state, the same goal and the same metric under the same
/// names: order, repetitions and the problems' names make no difference. Texts with errors equal nothing.
fn same_problem(a: &str, b: &str) -> bool {
    let read = |text| readable(parse_problem(text, SourceId(0)));
    let (Some(a), Some(b)) = (read(a), read(b)) else { return false };
    let objects = |problem: &Problem| -> BTreeSet<String> {
        let one = |object: &TypedName| print_typed_list(std::slice::from_ref(object)).to_lowercase();
        problem.objects.iter().map(one).collect()
    };
    // Constants are never renamed.
    let fixed = Domain { constants: a.objects.clone(), ..Domain::default() };
    objects(&a) == objects(&b)
        && are_equivalent(&fixed, &a, &b, MAX_CHOICES, &mut LIMITS.clone()) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROBLEM: &str = "(define (problem one) (:domain d) (:objects a b - room k - key)
      (:init (at k a) (open a b) (open b a)) (:goal (and (at k b) (not (open a b)))))";

    fn entry(domain: Option<&str>, problem: &str) -> Entry {
        let mut entry = Entry::default();
        entry.candidate.domain = domain.map(str::to_owned);
        entry.candidate.problem = Some(problem.to_owned());
        entry
    }

    fn equal(other: &str) -> bool {
        is_equal(&entry(None, PROBLEM), &entry(None, other))
    }

    #[test]
    fn problems_in_other_words_are_equal_and_others_are_not() {
        let other = "; a comment\n(DEFINE (problem two) (:domain e) (:objects k - key b a - room)
          (:init (open b a) (at K a) (open a b) (at k a)) (:goal (and (not (open a b)) (at k b))))";
        assert!(equal(PROBLEM) && equal(other));
        let changes = [
            ("(at k b)", "(at k a)"),
            ("(open b a)", "(open b b)"),
            ("(not (open a b))", "(open a b)"),
            ("a b - room", "a b c - room"),
            ("k - key", "k - room"),
            // The same up to the names of the rooms, which mean something in the environment.
            (
                "(:init (at k a) (open a b) (open b a)) (:goal (and (at k b) (not (open a b))))",
                "(:init (at k b) (open a b) (open b a)) (:goal (and (at k a) (not (open b a))))",
            ),
            ("(:goal", "(:gaol"),
        ];
        for (from, to) in changes {
            assert!(PROBLEM.contains(from) && !equal(&PROBLEM.replace(from, to)), "{to}");
        }
    }

    #[test]
    fn domains_are_equal_apart_from_layout() {
        let domain =
            "(define (domain d) (:predicates (at ?x)) (:action go :parameters (?x) :effect (at ?x)))";
        let spaced = domain.replace(" (", "\n  (").replace("at", "AT");
        let with = |domain| entry(Some(domain), PROBLEM);
        assert!(is_equal(&with(domain), &with(&spaced)) && !is_copy(&with(domain), &with(&spaced)));
        let other = domain.replace("go", "walk");
        assert!(!is_equal(&with(domain), &with(&other)));
        assert!(!is_equal(&with(domain), &entry(None, PROBLEM)));
    }
}
