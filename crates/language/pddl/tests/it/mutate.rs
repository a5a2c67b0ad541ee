//! Seeded mistakes: listing, drawing, and the resulting domains.

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::{
    KeepPolicy, Mutation, MutationKind, MutationPlace, Omissions, RewriteKind, TermList, all_mutations,
    apply_mutations, apply_mutations_to_problem, differing_terms, quantity_mistakes, random_mutations,
    random_rewrite, terms,
};
use planforge_pddl::random::Random;
use planforge_pddl::{
    StripSpans, check_domain, check_problem, parse_domain, parse_problem, print_domain, print_problem,
};
use std::collections::BTreeMap;

const FERRY: &str = "(define (domain harbour)
  (:requirements :strips :typing :action-costs)
  (:types car boat - thing port)
  (:constants home - port)
  (:predicates (at ?t - thing ?p - port) (free ?b - boat) (aboard ?c - car ?b - boat) (route ?p ?q - port)
    (docked ?t - thing ?p - port) (wet ?b - boat))
  (:functions (total-cost) - number)
  (:action board :parameters (?c - car ?b - boat ?p - port)
    :precondition (and (at ?c ?p) (at ?b ?p) (free ?b))
    :effect (and (aboard ?c ?b) (not (at ?c ?p)) (not (free ?b)) (increase (total-cost) 1)))
  (:action sail :parameters (?b - boat ?p ?q - port)
    :precondition (and (at ?b ?p) (route ?p ?q))
    :effect (and (at ?b ?q) (not (at ?b ?p))))
  (:action sound :parameters (?b - boat) :precondition (free ?b) :effect (and (wet ?b))))";

const CROSSING: &str = "(define (problem crossing) (:domain harbour)
  (:objects red blue - car big small - boat far - port)
  (:init (at red home) (at blue home) (at big home) (at small far) (free big) (free small) (aboard blue big)
    (route home far) (route far home) (= (total-cost) 0))
  (:goal (and (at red far) (not (aboard blue big)))))";

fn domain() -> Domain {
    let parsed = parse_domain(FERRY, SourceId(0));
    assert!(!parsed.has_errors());
    parsed.value
}

fn problem() -> Problem {
    parse_problem(CROSSING, SourceId(1)).value
}

/// Parses the domain's printed text and asserts that it has no errors.
fn sound(domain: &Domain) -> Domain {
    let text = print_domain(domain);
    let parsed = parse_domain(&text, SourceId(0));
    let found = check_domain(&parsed.value, SourceId(0));
    let errors: Vec<_> = parsed.diagnostics.iter().chain(&found).filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    parsed.value
}

fn lines(mutations: &[Mutation]) -> Vec<String> {
    mutations.iter().map(ToString::to_string).collect()
}

#[test]
fn terms_are_top_level_conjuncts_without_the_cost() {
    let texts: Vec<String> =
        terms(&domain()).iter().map(|t| format!("{} {} {} {}", t.action, t.list, t.index, t.text)).collect();
    assert_eq!(texts.len(), 12);
    assert_eq!(texts[3], "board effect 0 (aboard ?c ?b)");
    assert_eq!(texts[10], "sound precondition 0 (free ?b)");
    assert!(!texts.iter().any(|t| t.contains("total-cost")));
}

#[test]
fn every_mutation_of_every_kind_is_sound_and_one_change() {
    let reference = domain();
    for kind in MutationKind::CLASSICAL {
        let all = all_mutations(&reference, kind);
        assert!(!all.is_empty(), "{kind}");
        for mutation in &all {
            let mutated = sound(&mutation.apply(&reference));
            let differing = differing_terms(&reference, &mutated);
            let expected = match kind {
                MutationKind::Omission | MutationKind::Addition => 1,
                MutationKind::SwappedParameters | MutationKind::WidenedType => 0,
                MutationKind::PredicateArgument => {
                    // Nothing uses `docked`.
                    let used = !mutation.to_string().contains("docked");
                    assert!((differing > 0) == used && mutation.action.is_none());
                    continue;
                }
                _ => 2,
            };
            assert_eq!(differing, expected, "{mutation}");
            assert_eq!(differing_terms(&mutated, &reference), expected);
        }
        let mut texts = lines(&all);
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), all.len(), "{kind} lists nothing twice");
    }
}

#[test]
fn mutations_are_those_that_the_types_allow() {
    let of = |kind| lines(&all_mutations(&domain(), kind));
    assert_eq!(
        of(MutationKind::SwappedArguments),
        ["action sail: precondition (route ?p ?q) became (route ?q ?p) (swapped-arguments)"]
    );
    assert_eq!(
        of(MutationKind::ReplacedArgument),
        [
            // In `board`, a boat may replace a car, as both are things; a car for the boat would repeat the next literal.
            "action board: effect (not (at ?c ?p)) became (not (at ?b ?p)) (replaced-argument)",
            "action sail: precondition (at ?b ?p) became (at ?b ?q) (replaced-argument)",
            "action sail: precondition (route ?p ?q) became (route ?q ?q) (replaced-argument)",
            "action sail: precondition (route ?p ?q) became (route ?p ?p) (replaced-argument)",
        ]
    );
    let retargets = of(MutationKind::Retarget);
    assert!(
        retargets.contains(&"action board: precondition (free ?b) became (wet ?b) (retarget)".to_owned())
    );
    assert!(retargets.iter().all(|r| !r.contains("became (aboard") && !r.contains("became (route")));
    let negations = of(MutationKind::Negation);
    assert!(
        negations.contains(&"action board: effect (not (free ?b)) became (free ?b) (negation)".to_owned())
    );
    assert_eq!(negations.len(), 12);
    // Negative preconditions are not allowed by the requirements, so none is added; constants are used.
    let additions = of(MutationKind::Addition);
    assert!(additions.iter().all(|a| !a.contains("precondition (not")));
    assert!(additions.contains(&"action board: precondition (at ?c home) added".to_owned()));
    assert!(!additions.contains(&"action board: precondition (at ?c ?p) added".to_owned()), "it is there");
}

#[test]
fn a_negated_precondition_adds_its_requirement() {
    let negated = &all_mutations(&domain(), MutationKind::Negation)[0];
    let mutated = negated.apply(&domain());
    assert!(mutated.requirements.iter().any(|r| r.is(":negative-preconditions")));
    let omitted = all_mutations(&domain(), MutationKind::Omission)[0].apply(&domain());
    assert_eq!(omitted.requirements.len(), domain().requirements.len());
}

#[test]
fn a_lost_argument_is_lost_in_domain_and_problem_alike() {
    let reference = domain();
    let all = all_mutations(&reference, MutationKind::PredicateArgument);
    assert_eq!(all.len(), 8, "four predicates of two arguments");
    for mutation in &all {
        let mutated = sound(&mutation.apply(&reference));
        let written = apply_mutations_to_problem(&problem(), std::slice::from_ref(mutation));
        let read = parse_problem(&print_problem(&written), SourceId(1)).value;
        let sources = planforge_pddl::TaskSources { domain: SourceId(0), problem: SourceId(1) };
        let found = check_problem(&mutated, &read, sources);
        assert!(!found.iter().any(|d| d.is_error()), "{mutation}: {found:?}");
    }
    // (aboard ?c ?b) without its boat; (route ?p ?q) without its end, where two facts stay two.
    let aboard = |m: &&Mutation| matches!(&m.place, MutationPlace::Argument { predicate, position: 1 } if predicate.is("aboard"));
    let mutation = all.iter().find(aboard).unwrap();
    assert_eq!(
        mutation.to_string(),
        "predicate (aboard ?c - car ?b - boat) became (aboard ?c - car) (predicate-argument)"
    );
    let text = print_problem(&apply_mutations_to_problem(&problem(), std::slice::from_ref(mutation)));
    assert!(text.contains("(aboard blue)") && text.contains("(not (aboard blue))"), "{text}");
    // (at ?t ?p) without its thing makes three of its facts one.
    let at = |m: &&Mutation| matches!(&m.place, MutationPlace::Argument { predicate, position: 0 } if predicate.is("at"));
    let merged = apply_mutations_to_problem(&problem(), std::slice::from_ref(all.iter().find(at).unwrap()));
    assert_eq!(merged.init.len(), problem().init.len() - 2);
    // Both arguments of one predicate can be dropped together, in any order.
    let both: Vec<Mutation> =
        all.iter().filter(|m| m.before.as_deref().unwrap().starts_with("(route")).cloned().collect();
    assert!(print_domain(&apply_mutations(&reference, &both)).contains("(route)"));
}

#[test]
fn parameters_change_places_and_types_with_what_they_are_called() {
    let reference = domain();
    let swaps = all_mutations(&reference, MutationKind::SwappedParameters);
    assert_eq!(swaps.len(), 6, "three of three, and none of one");
    assert_eq!(
        swaps[0].to_string(),
        "action board: parameters (?c - car ?b - boat ?p - port) became (?b - boat ?c - car ?p - port) (swapped-parameters)"
    );
    let text = print_domain(&sound(&swaps[0].apply(&reference)));
    assert!(text.contains(":parameters (?b - boat ?c - car ?p - port)"), "{text}");
    let widened = lines(&all_mutations(&reference, MutationKind::WidenedType));
    // A car is a thing, a thing and a port are objects; a place that requires only a thing stays well typed.
    assert_eq!(
        widened,
        [
            "action board: parameter ?c - car became ?c - thing (widened-type), wider than (aboard ?c ?b) may be given",
            "action board: parameter ?b - boat became ?b - thing (widened-type), wider than (free ?b), (aboard ?c ?b) may be given",
            "action board: parameter ?p - port became ?p (widened-type), wider than (at ?c ?p), (at ?b ?p) may be given",
            "action sail: parameter ?b - boat became ?b - thing (widened-type)",
            "action sail: parameter ?p - port became ?p (widened-type), wider than (at ?b ?p), (route ?p ?q) may be given",
            "action sail: parameter ?q - port became ?q (widened-type), wider than (route ?p ?q), (at ?b ?q) may be given",
            "action sound: parameter ?b - boat became ?b - thing (widened-type), wider than (free ?b), (wet ?b) may be given",
        ]
    );
    // An untyped parameter before typed ones is printed as the object it is; a quantifier's variable is another.
    let board = all_mutations(&reference, MutationKind::WidenedType)[2].apply(&reference);
    assert!(print_domain(&board).contains("(?c - car ?b - boat ?p)"), "{}", print_domain(&board));
    let hidden = "(define (domain d) (:requirements :adl) (:types a) (:predicates (p ?x - a))
      (:action go :parameters (?x - a) :precondition (forall (?x - a) (p ?x)) :effect (p ?x)))";
    let hidden = parse_domain(hidden, SourceId(0)).value;
    assert!(
        lines(&all_mutations(&hidden, MutationKind::WidenedType))[0]
            .ends_with("wider than (p ?x) may be given")
    );
    // Types first, then places, in any order of the arguments.
    let both = [swaps[0].clone(), all_mutations(&reference, MutationKind::WidenedType)[0].clone()];
    let text = print_domain(&apply_mutations(&reference, &both));
    assert!(text.contains("(?b - boat ?c - thing ?p - port)"), "{text}");
    let kinds = [(MutationKind::SwappedParameters, 1.0), (MutationKind::WidenedType, 1.0)];
    assert_eq!(random_mutations(&reference, &kinds, 100, &mut Random::new(2)).len(), 2 + 7);
}

#[test]
fn rewrites_give_sound_texts_and_describe_themselves() {
    let reference = domain();
    let mut random = Random::new(4);
    for kind in RewriteKind::ALL {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..30 {
            let Some(rewrite) = random_rewrite(&reference, kind, &mut random) else { panic!("{kind}: none") };
            let read = sound(&rewrite.domain);
            assert!(!read.eq_ignoring_spans(&reference) || kind == RewriteKind::Capitals, "{rewrite}");
            assert_ne!(print_domain(&rewrite.domain), print_domain(&reference), "{rewrite}");
            // The problem file can be used as it is, and nothing is used without being declared.
            let sources = planforge_pddl::TaskSources { domain: SourceId(0), problem: SourceId(1) };
            assert!(!check_problem(&read, &problem(), sources).iter().any(|d| d.is_error()), "{rewrite}");
            let found = check_domain(&read, SourceId(0));
            assert!(found.iter().all(|d| d.code != "pddl.undeclared-requirement"), "{rewrite}: {found:?}");
            seen.insert(rewrite.to_string());
        }
        assert!(!seen.is_empty());
    }
    let mut texts = |kind| random_rewrite(&reference, kind, &mut random).unwrap().to_string();
    let double = texts(RewriteKind::DoubleNegation);
    assert!(double.contains(" became (not (not (") && double.ends_with(", :negative-preconditions declared"));
    assert!(texts(RewriteKind::ImpliedExistence).contains("(exists (?any - "));
    // Rewrites never keep an atom that the effect deletes.
    for seed in 0..100 {
        let idle =
            random_rewrite(&reference, RewriteKind::IdleEffect, &mut Random::new(seed)).unwrap().to_string();
        assert!(!idle.contains("(at ") && !idle.contains("board: effect (free"), "{idle}");
    }
    let same = |seed| random_rewrite(&reference, RewriteKind::Implication, &mut Random::new(seed)).unwrap();
    assert_eq!(same(5), same(5));
    let nothing = parse_domain("(define (domain empty))", SourceId(0)).value;
    for kind in RewriteKind::ALL.into_iter().filter(|k| *k != RewriteKind::UnusedPredicate) {
        assert_eq!(random_rewrite(&nothing, kind, &mut random), None, "{kind}");
    }
    // A domain that declares nothing stays so; wide requirements suffice.
    for (declared, then) in [("", 0), ("(:requirements :adl)", 1)] {
        let text = format!(
            "(define (domain d) {declared} (:predicates (p ?x)) (:action go :parameters (?x) :precondition (p ?x) :effect (p ?x)))"
        );
        let domain = parse_domain(&text, SourceId(0)).value;
        let rewrite = random_rewrite(&domain, RewriteKind::DoubleNegation, &mut random).unwrap();
        assert_eq!((rewrite.declared, rewrite.domain.requirements.len()), (None, then));
    }
}

#[test]
fn numbers_that_change_in_an_order_are_left_in_it() {
    let text = "(define (domain d) (:functions (n)) (:predicates (p) (q))
      (:action two :effect (and (assign (n) 2) (increase (n) 1) (p)))
      (:action one :effect (and (increase (n) 1) (p) (not (q)))))";
    let domain = parse_domain(text, SourceId(0)).value;
    for seed in 0..20 {
        let rewrite = random_rewrite(&domain, RewriteKind::ReorderedEffect, &mut Random::new(seed)).unwrap();
        assert!(rewrite.action.unwrap().is("one"));
    }
}

#[test]
fn mutations_are_made_together_and_do_not_move_each_other() {
    let reference = domain();
    let omissions = all_mutations(&reference, MutationKind::Omission);
    let swap = &all_mutations(&reference, MutationKind::SwappedArguments)[0];
    let some = [omissions[0].clone(), omissions[2].clone(), omissions[6].clone(), swap.clone()];
    let mutated = apply_mutations(&reference, &some);
    let left: Vec<String> = terms(&mutated).into_iter().map(|t| format!("{} {}", t.action, t.text)).collect();
    assert_eq!(left[0], "board (at ?b ?p)");
    assert!(left.contains(&"sail (route ?q ?p)".to_owned()) && !left.contains(&"sail (at ?b ?p)".to_owned()));
    assert_eq!(differing_terms(&reference, &mutated), 5);
    assert!(print_domain(&mutated).contains("(increase (total-cost) 1)"), "the cost is no term and stays");
    assert!(apply_mutations(&reference, &[]).eq_ignoring_spans(&reference));
}

#[test]
fn random_mutations_are_of_the_kinds_asked_for_and_repeat_with_their_seed() {
    let reference = domain();
    let kinds = [
        (MutationKind::Omission, 2.0),
        (MutationKind::Addition, 1.0),
        (MutationKind::ReplacedArgument, 1.0),
        (MutationKind::Retarget, 0.0),
    ];
    let draw = |seed| random_mutations(&reference, &kinds, 5, &mut Random::new(seed));
    assert_eq!(lines(&draw(3)), lines(&draw(3)));
    assert_ne!(lines(&draw(3)), lines(&draw(4)));
    let mut seen: BTreeMap<MutationKind, usize> = BTreeMap::new();
    for seed in 0..300 {
        let mutations = draw(seed);
        assert_eq!(mutations.len(), 5);
        mutations.iter().for_each(|m| *seen.entry(m.kind).or_default() += 1);
        let mutated = sound(&apply_mutations(&reference, &mutations));
        let single: usize = mutations.iter().map(|m| differing_terms(&reference, &m.apply(&reference))).sum();
        assert!(differing_terms(&reference, &mutated) <= single);
        for action in &mutated.actions {
            assert!(!action.precondition.as_ref().unwrap().is_empty(), "no list is emptied");
        }
    }
    // Weights 2:1:1 of 1500; the four replaced arguments run out now and then, so only a broad band is held.
    assert!((650..850).contains(&seen[&MutationKind::Omission]), "{seen:?}");
    assert!(!seen.contains_key(&MutationKind::Retarget));
    // What runs out is drawn no more: six omissions leave one term in each list.
    let all = random_mutations(&reference, &[(MutationKind::Omission, 1.0)], 100, &mut Random::new(1));
    assert_eq!(all.len(), 6);
}

#[test]
fn omissions_are_uniform_and_respect_the_keep_policy() {
    let reference = domain();
    let omissions = Omissions::new(&reference, KeepPolicy::OneInEachList);
    // Lists of 3, 3, 2, 2, 1 and 1 terms.
    assert_eq!((omissions.terms(), omissions.most()), (12, 6));
    assert_eq!(Omissions::new(&reference, KeepPolicy::Nothing).most(), 12);
    assert!(omissions.draw(7, &mut Random::new(1)).is_none());
    // All six: 3 * 3 * 2 * 2 ways.
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut random = Random::new(5);
    for _ in 0..7200 {
        let damaged = omissions.draw(6, &mut random).unwrap();
        assert_eq!(damaged.omitted.len(), 6);
        *seen.entry(lines(&damaged.omitted).join("\n")).or_default() += 1;
    }
    // 200 expected; five standard deviations are about 70.
    assert!(seen.len() == 36 && seen.values().all(|n| n.abs_diff(200) < 70), "{seen:?}");
    // Two of them: all pairs of the ten terms in longer lists, but for the two that would empty a list of two.
    seen.clear();
    for _ in 0..8600 {
        let damaged = omissions.draw(2, &mut random).unwrap();
        assert_eq!(differing_terms(&reference, &damaged.domain), 2);
        *seen.entry(lines(&damaged.omitted).join("\n")).or_default() += 1;
    }
    assert!(seen.len() == 43 && seen.values().all(|n| n.abs_diff(200) < 70), "{}", seen.len());
}

#[test]
fn pairs_omit_and_differ_in_the_requested_numbers_of_terms() {
    let reference = domain();
    let mut random = Random::new(9);
    for keep in [KeepPolicy::OneInEachList, KeepPolicy::Nothing] {
        let omissions = Omissions::new(&reference, keep);
        for (first, second) in [(3usize, 3usize), (3, 4), (4, 3), (0, 2), (0, 0)] {
            for differing in 0..=8 {
                let possible = differing <= first + second
                    && (first + second - differing) % 2 == 0
                    && first.abs_diff(second) <= differing;
                let Some(sampler) = omissions.sampler(first, second, differing) else {
                    assert!(!possible, "{first} {second} {differing}");
                    continue;
                };
                assert!(possible);
                for _ in 0..20 {
                    let (a, b) = sampler.draw(&mut random);
                    assert_eq!((a.omitted.len(), b.omitted.len()), (first, second));
                    assert_eq!(differing_terms(&a.domain, &b.domain), differing);
                    assert_eq!(differing_terms(&reference, &a.domain), first);
                    for damaged in [&a.domain, &b.domain] {
                        let lists = |list| {
                            terms(damaged).into_iter().filter(move |t| t.list == list).map(|t| t.action)
                        };
                        let mut effects: Vec<_> = lists(TermList::Effect).collect();
                        effects.dedup();
                        assert!(keep == KeepPolicy::Nothing || effects.len() == 3);
                    }
                }
            }
        }
    }
    // Twelve terms cannot lose seven in one half and seven others in the other.
    assert!(Omissions::new(&reference, KeepPolicy::Nothing).sampler(7, 7, 14).is_none());
    assert!(Omissions::new(&reference, KeepPolicy::Nothing).sampler(7, 7, 10).is_some());
}

#[test]
fn terms_that_are_not_literals_are_not_mutated() {
    let adl = "(define (domain lamps) (:requirements :adl)
      (:predicates (lit ?l) (broken ?l) (dark))
      (:derived (dark) (forall (?l) (not (lit ?l))))
      (:action flip :parameters (?l ?m)
        :precondition (and (not (= ?l ?m)) (or (lit ?l) (not (broken ?l))) (dark))
        :effect (and (when (lit ?l) (not (lit ?l))) (forall (?k) (when (broken ?k) (not (lit ?k)))) (lit ?m))))";
    let domain = parse_domain(adl, SourceId(0)).value;
    assert_eq!(all_mutations(&domain, MutationKind::Omission).len(), 6, "whatever their form");
    let negations = lines(&all_mutations(&domain, MutationKind::Negation));
    assert_eq!(
        negations,
        [
            "action flip: precondition (not (= ?l ?m)) became (= ?l ?m) (negation)",
            "action flip: precondition (dark) became (not (dark)) (negation)",
            "action flip: effect (lit ?m) became (not (lit ?m)) (negation)",
        ]
    );
    // `dark` is derived, so no effect may change it.
    let additions = lines(&all_mutations(&domain, MutationKind::Addition));
    assert!(additions.iter().all(|a| !a.contains("effect (dark)") && !a.contains("(not (dark))")));
    assert!(additions.contains(&"action flip: precondition (not (broken ?m)) added".to_owned()));
    let nothing = parse_domain("(define (domain empty))", SourceId(0)).value;
    for kind in MutationKind::CLASSICAL.into_iter().chain(QUANTITIES) {
        assert!(all_mutations(&nothing, kind).is_empty());
        assert!(random_mutations(&nothing, &[(kind, 1.0)], 3, &mut Random::new(0)).is_empty());
    }
    assert_eq!(
        Omissions::new(&nothing, KeepPolicy::OneInEachList).draw(0, &mut Random::new(0)).unwrap().omitted,
        []
    );
}

const QUANTITIES: [MutationKind; 3] = [MutationKind::Number, MutationKind::Time, MutationKind::Weight];

const BATH: &str = "(define (domain bath)
  (:requirements :typing :durative-actions :numeric-fluents :timed-initial-literals :action-costs)
  (:types tap tub) (:predicates (free ?t - tap) (full ?b - tub))
  (:functions (flow ?t - tap) (heat ?t - tap) (size ?b - tub) (total-cost))
  (:durative-action fill :parameters (?t - tap ?b - tub) :duration (>= ?duration (size ?b))
    :condition (and (at start (free ?t)) (over all (> (flow ?t) 2)))
    :effect (and (at start (not (free ?t))) (at end (full ?b)) (at end (decrease (size ?b) 1))))
  (:durative-action wait :parameters () :duration (= ?duration 3) :effect (at end (increase (total-cost) 1)))
  (:action turn :parameters (?t - tap) :precondition (free ?t) :effect (assign (flow ?t) (heat ?t))))";

const EVENING: &str = "(define (problem evening) (:domain bath) (:objects left - tap tub1 - tub)
  (:init (free left) (= (flow left) 3) (= (size tub1) 0) (at 7 (not (free left))))
  (:goal (and (full tub1) (preference warm (>= (flow left) 2))))
  (:constraints (within 9 (full tub1)))
  (:metric minimize (+ (total-time) (* 4 (is-violated warm)))))";

#[test]
fn mistakes_in_numbers_times_and_weights_are_sound_and_one_change() {
    let reference = parse_domain(BATH, SourceId(0)).value;
    let of = |kind| lines(&all_mutations(&reference, kind));
    assert_eq!(
        of(MutationKind::Number),
        [
            "action turn: effect (assign (flow ?t) (heat ?t)) became (increase (flow ?t) (heat ?t)) (number)",
            "action turn: effect (assign (flow ?t) (heat ?t)) became (assign (heat ?t) (heat ?t)) (number)",
            "action turn: effect (assign (flow ?t) (heat ?t)) became (assign (flow ?t) (flow ?t)) (number)",
            "action fill: precondition (over all (> (flow ?t) 2)) became (over all (< (flow ?t) 2)) (number)",
            "action fill: precondition (over all (> (flow ?t) 2)) became (over all (>= (flow ?t) 2)) (number)",
            "action fill: precondition (over all (> (flow ?t) 2)) became (over all (> (heat ?t) 2)) (number)",
            "action fill: precondition (over all (> (flow ?t) 2)) became (over all (> (flow ?t) 4)) (number)",
            "action fill: precondition (over all (> (flow ?t) 2)) became (over all (> (flow ?t) 3)) (number)",
            "action fill: precondition (over all (> (flow ?t) 2)) became (over all (> (flow ?t) 1)) (number)",
            "action fill: effect (at end (decrease (size ?b) 1)) became (at end (increase (size ?b) 1)) (number)",
            "action fill: effect (at end (decrease (size ?b) 1)) became (at end (decrease (size ?b) 2)) (number)",
        ]
    );
    let times = of(MutationKind::Time);
    assert_eq!(times.iter().filter(|time| time.contains("duration (")).count(), 3, "{times:?}");
    for expected in [
        "action fill: precondition (at start (free ?t)) became (over all (free ?t)) (time)",
        "action fill: effect (at end (full ?b)) became (at start (full ?b)) (time)",
        "action wait: duration (= ?duration 3) became (= ?duration 6) (time)",
        "action wait: duration (= ?duration 3) became (= ?duration 4) (time)",
        "action wait: duration (= ?duration 3) became (= ?duration 2) (time)",
    ] {
        assert!(times.contains(&expected.to_owned()), "{expected}: {times:#?}");
    }
    assert_eq!(all_mutations(&reference, MutationKind::Weight), []);
    let omissions = of(MutationKind::Omission);
    assert!(
        omissions.contains(&"action fill: effect (at end (full ?b)) omitted".to_owned()),
        "{omissions:?}"
    );
    let canonical = |domain: &Domain| print_domain(domain);
    for kind in QUANTITIES {
        for mutation in all_mutations(&reference, kind) {
            let mutated = sound(&mutation.apply(&reference));
            assert_ne!(canonical(&mutated), canonical(&reference), "{mutation}");
        }
        // No two mistakes are made in one term.
        let mutations = random_mutations(&reference, &[(kind, 1.0)], 100, &mut Random::new(1));
        let mutated = sound(&apply_mutations(&reference, &mutations));
        let terms = [2, 7, 0][QUANTITIES.iter().position(|other| *other == kind).unwrap()];
        assert_eq!(
            mutations.len(),
            terms + usize::from(kind == MutationKind::Number),
            "{kind}: {mutations:?}"
        );
        assert_eq!(print_domain(&mutated) == print_domain(&reference), mutations.is_empty());
    }
}

#[test]
fn mistakes_in_the_quantities_of_a_problem_are_sound_and_one_change() {
    let domain = parse_domain(BATH, SourceId(0)).value;
    let problem = parse_problem(EVENING, SourceId(1)).value;
    let of = |kind| -> Vec<String> {
        let mutants = quantity_mistakes(&domain, &problem, kind);
        for mutant in &mutants {
            let text = print_problem(&mutant.apply(&problem));
            let parsed = parse_problem(&text, SourceId(1));
            let sources = planforge_pddl::TaskSources::default();
            let found = check_problem(&domain, &parsed.value, sources);
            assert!(!parsed.diagnostics.iter().chain(&found).any(|d| d.is_error()), "{text}");
            assert_ne!(text, print_problem(&problem), "{mutant}");
        }
        mutants.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        of(MutationKind::Number),
        [
            "init: (= (flow left) 3) became (= (flow left) 6)",
            "init: (= (flow left) 3) became (= (flow left) 4)",
            "init: (= (flow left) 3) became (= (flow left) 2)",
            "init: (= (size tub1) 0) became (= (size tub1) 1)",
            "goal: (preference warm (>= (flow left) 2)) became (preference warm (<= (flow left) 2))",
            "goal: (preference warm (>= (flow left) 2)) became (preference warm (> (flow left) 2))",
            "goal: (preference warm (>= (flow left) 2)) became (preference warm (>= (heat left) 2))",
            "goal: (preference warm (>= (flow left) 2)) became (preference warm (>= (flow left) 4))",
            "goal: (preference warm (>= (flow left) 2)) became (preference warm (>= (flow left) 3))",
            "goal: (preference warm (>= (flow left) 2)) became (preference warm (>= (flow left) 1))",
        ]
    );
    assert_eq!(of(MutationKind::Time).len(), 6);
    assert_eq!(
        of(MutationKind::Weight)[0],
        "metric: (+ (total-time) (* 4 (is-violated warm))) became (+ (total-time) (* 8 (is-violated warm)))"
    );
    let unweighted =
        "(define (problem p) (:domain bath) (:init) (:goal (and)) (:metric minimize (* 4 (total-time))))";
    let unweighted = parse_problem(unweighted, SourceId(1)).value;
    assert!(quantity_mistakes(&domain, &unweighted, MutationKind::Weight).is_empty());
}
