//! Exploration walks compared with brute force: every walk enumerated by an interpreter of the typed tree.

use crate::support::{Features, Interpreter, TextState, random_task, read};
use planforge_planning::walk::{
    CounterexampleLimits, CounterexampleOutcome, DeadEnds, DirectionSampler, Model, ModelOptions, NamedStep,
    Refusal, SampleSpec, Semantics, WalkDirection, WalkPolicy, counterexample, counterexamples,
    exact_direction, execute_steps, interval, minimise, sample_direction, sample_walks,
};
use planforge_planning::{CountingLimits, StopReason, Unlimited};
use std::collections::BTreeMap;

const BOTH: [DeadEnds; 2] = [DeadEnds::CONDITION, DeadEnds::Truncate];

fn model_with(domain: &str, problem: &str, semantics: Semantics) -> Model {
    let options = ModelOptions { semantics, ..ModelOptions::default() };
    Model::from_texts(domain, problem, &options, &mut Unlimited).unwrap_or_else(|e| panic!("{e:?}"))
}

fn model(domain: &str, problem: &str) -> Model {
    model_with(domain, problem, Semantics::Strips)
}

/// One-sided scores by enumerating every walk.
struct BruteForce<'t> {
    source: &'t Interpreter<'t>,
    target: &'t Interpreter<'t>,
}

impl BruteForce<'_> {
    /// The probability of walks of exactly `left` more steps (without the division by that of all such walks), and of those
    /// among them that the target executes.
    fn conditioned_score(&self, s: &TextState, t: Option<&TextState>, left: u32) -> (f64, f64) {
        if left == 0 {
            return (1.0, f64::from(u8::from(t.is_some())));
        }
        let successors = self.source.successors(s);
        let mut executable = t.map(|t| self.target.successors(t)).unwrap_or_default();
        let mut sums = (0.0, 0.0);
        for (action, (next, _)) in &successors {
            let reached = executable.remove(action).map(|(state, _)| state);
            let (all, executed) = self.conditioned_score(next, reached.as_ref(), left - 1);
            sums.0 += all / successors.len() as f64;
            sums.1 += executed / successors.len() as f64;
        }
        sums
    }

    fn truncated_score(&self, s: &TextState, t: &TextState, left: u32) -> f64 {
        let successors = self.source.successors(s);
        if left == 0 || successors.is_empty() {
            return 1.0;
        }
        let mut executable = self.target.successors(t);
        let executed = successors.iter().map(|(action, (next, _))| {
            let reached = executable.remove(action);
            reached.map_or(0.0, |(reached, _)| self.truncated_score(next, &reached, left - 1))
        });
        executed.sum::<f64>() / successors.len() as f64
    }

    fn probability(&self, length: u32, dead_ends: DeadEnds) -> Option<f64> {
        let (s, t) = (&self.source.initial, &self.target.initial);
        match dead_ends {
            DeadEnds::Truncate => Some(self.truncated_score(s, t, length)),
            DeadEnds::Condition { .. } => {
                let (all, executed) = self.conditioned_score(s, Some(t), length);
                (all > 0.0).then(|| executed / all)
            }
        }
    }

    /// For each action schema that is refused within `most` steps, the steps of its shortest failing walk.
    fn shortest_by_schema(&self, most: u32) -> BTreeMap<String, u32> {
        let mut shortest = BTreeMap::new();
        let mut layer = vec![(self.source.initial.clone(), self.target.initial.clone())];
        for length in 1..=most {
            let mut next = Vec::new();
            for (s, t) in layer {
                let mut executable = self.target.successors(&t);
                for (action, (reached, _)) in self.source.successors(&s) {
                    match executable.remove(&action) {
                        Some((other, _)) => next.push((reached, other)),
                        None => {
                            let name = NamedStep::parse(&action).unwrap().name;
                            shortest.entry(name).or_insert(length);
                        }
                    }
                }
            }
            next.sort();
            next.dedup();
            layer = next;
        }
        shortest
    }
}

/// Exact mode against brute force in both directions, and sampled mode against exact mode.
fn check_pair(name: &str, one: (&str, &str), two: (&str, &str), t_max: u32) -> [Option<f64>; 2] {
    let (trees, other_trees) = (read(one.0, one.1), read(two.0, two.1));
    let slow = (Interpreter::new(&trees.0, &trees.1), Interpreter::new(&other_trees.0, &other_trees.1));
    let (reference, candidate) = (model(one.0, one.1), model(two.0, two.1));
    for dead_ends in BOTH {
        for direction in [WalkDirection::ReferenceToCandidate, WalkDirection::CandidateToReference] {
            let (source, target) = direction.models(&reference, &candidate);
            let (slow_source, slow_target) = direction.models(&slow.0, &slow.1);
            let brute = BruteForce { source: slow_source, target: slow_target };
            let exact = exact_direction(source, target, t_max, dead_ends, 100_000, &mut Unlimited).unwrap();
            let Some(exact) = exact else {
                assert!(slow_source.successors(&slow_source.initial).is_empty(), "{name}");
                continue;
            };
            for length in &exact.lengths {
                let expected = brute.probability(length.length, dead_ends);
                let same = match (length.probability, expected) {
                    (Some(a), Some(b)) => (a - b).abs() < 1e-12,
                    (a, b) => a == b,
                };
                assert!(
                    same,
                    "{name} {direction:?} {dead_ends:?} {length:?} {expected:?}\n{}\n{}",
                    one.0, two.0
                );
            }
        }
    }
    let directions = [WalkDirection::ReferenceToCandidate, WalkDirection::CandidateToReference];
    let by_schema = directions.map(|direction| {
        let (source, target) = direction.models(&slow.0, &slow.1);
        BruteForce { source, target }.shortest_by_schema(t_max)
    });
    let shortest = by_schema.iter().flat_map(|lengths| lengths.values()).min().copied();
    let limits = CounterexampleLimits { max_length: Some(t_max), ..CounterexampleLimits::default() };
    match counterexample(&reference, &candidate, limits, &[], &mut Unlimited) {
        CounterexampleOutcome::Found(found) => {
            assert!(
                found.shortest && Some(found.walk.len() as u32) == shortest,
                "{name}: {found:?} {shortest:?}"
            );
        }
        other => assert_eq!((other, shortest), (CounterexampleOutcome::None, None), "{name}"),
    }
    let each = counterexamples(&reference, &candidate, limits, &[], &mut Unlimited);
    assert!(each.is_sorted_by_key(|c| c.walk.len()), "{name}: {each:?}");
    for (direction, expected) in directions.into_iter().zip(&by_schema) {
        let own = each.iter().filter(|c| c.direction == direction);
        let found: Vec<_> = own.map(|c| (c.walk.action.name.clone(), c.walk.len() as u32)).collect();
        assert_eq!((found.len(), &found.into_iter().collect()), (expected.len(), expected), "{name}");
    }
    [(&reference, &candidate), (&candidate, &reference)].map(|(source, target)| {
        let exact = exact_direction(source, target, t_max, DeadEnds::CONDITION, 100_000, &mut Unlimited);
        exact.unwrap().and_then(|e| e.score())
    })
}

/// A robot that may stay where it is: `(move a a)` changes nothing.
const ROBOT: (&str, &str) = (
    "(define (domain robot) (:requirements :typing) (:types room ball)
 (:predicates (at ?r - room) (lies ?b - ball ?r - room) (held ?b - ball) (free))
 (:action move :parameters (?from ?to - room) :precondition (at ?from) :effect (and (at ?to) (not (at ?from))))
 (:action take :parameters (?b - ball ?r - room) :precondition (and (at ?r) (lies ?b ?r) (free))
  :effect (and (held ?b) (not (lies ?b ?r)) (not (free))))
 (:action drop :parameters (?b - ball ?r - room) :precondition (and (at ?r) (held ?b))
  :effect (and (lies ?b ?r) (free) (not (held ?b)))))",
    "(define (problem one) (:domain robot) (:objects a b - room x y - ball)
 (:init (at a) (lies x a) (lies y b) (free)) (:goal (lies x b)))",
);

/// Matches burn once: every walk ends at a dead end.
const MATCHES: (&str, &str) = (
    "(define (domain matches) (:types match lamp)
 (:predicates (fresh ?m - match) (lit ?l - lamp) (wet ?m - match))
 (:action strike :parameters (?m - match ?l - lamp) :precondition (and (fresh ?m) (not (wet ?m)))
  :effect (and (lit ?l) (not (fresh ?m))))
 (:action dip :parameters (?m - match) :precondition (and (fresh ?m) (not (wet ?m))) :effect (wet ?m)))",
    "(define (problem one) (:domain matches) (:objects m1 m2 m3 - match l1 l2 - lamp)
 (:init (fresh m1) (fresh m2) (fresh m3)) (:goal (lit l1)))",
);

/// Pressing a switch toggles the lamps wired to it.
const SWITCHES: (&str, &str) = (
    "(define (domain switches) (:requirements :adl) (:types switch lamp)
 (:predicates (wired ?s - switch ?l - lamp) (on ?l - lamp) (stuck ?s - switch))
 (:action press :parameters (?s - switch) :precondition (not (stuck ?s))
  :effect (and (forall (?l - lamp) (and (when (and (wired ?s ?l) (on ?l)) (not (on ?l)))
                                        (when (and (wired ?s ?l) (not (on ?l))) (on ?l))))
               (when (exists (?l - lamp) (and (on ?l) (not (wired ?s ?l)))) (stuck ?s))))
 (:action free :parameters (?s - switch) :precondition (and (stuck ?s) (exists (?l - lamp) (on ?l)))
  :effect (not (stuck ?s))))",
    "(define (problem one) (:domain switches) (:objects s t - switch l m n - lamp)
 (:init (wired s l) (wired s m) (wired t m) (wired t n)) (:goal (on l)))",
);

/// A torch reaches what open doors connect: a derived predicate.
const DOORS: (&str, &str) = (
    "(define (domain doors) (:requirements :adl :derived-predicates) (:types room)
 (:predicates (door ?a ?b - room) (open ?a ?b - room) (here ?r - room) (reach ?r - room))
 (:derived (reach ?r - room) (or (here ?r) (exists (?q - room) (and (reach ?q) (open ?q ?r)))))
 (:action unlock :parameters (?a ?b - room) :precondition (and (reach ?a) (door ?a ?b) (not (open ?a ?b)))
  :effect (open ?a ?b))
 (:action jump :parameters (?a ?b - room) :precondition (and (here ?a) (reach ?b) (not (= ?a ?b)))
  :effect (and (here ?b) (not (here ?a)))))",
    "(define (problem one) (:domain doors) (:objects a b c - room)
 (:init (here a) (door a b) (door b c) (door c a)) (:goal (here c)))",
);

/// Disjunction, equality, `either` and constants.
const PARTY: (&str, &str) = (
    "(define (domain party) (:requirements :adl) (:types person cat dog - object) (:constants host - person)
 (:predicates (in ?x - (either person cat)) (fed ?x - (either cat dog)) (noisy))
 (:action enter :parameters (?x - (either person cat)) :precondition (and (not (in ?x)) (or (in host) (= ?x host)))
  :effect (and (in ?x) (when (not (= ?x host)) (noisy))))
 (:action leave :parameters (?x - person) :precondition (and (in ?x) (imply (= ?x host) (not (noisy)))) :effect (not (in ?x)))
 (:action feed :parameters (?x - (either cat dog)) :precondition (in host) :effect (and (fed ?x) (not (noisy)))))",
    "(define (problem one) (:domain party) (:objects guest - person tom - cat rex - dog) (:init) (:goal (fed rex)))",
);

#[test]
fn exact_mode_equals_brute_force() {
    // Each pair: a domain, what is replaced in it, by what.
    let pairs = [
        (ROBOT, "(lies ?b ?r) (free))\n", "(lies ?b ?r))\n"),
        (ROBOT, ":precondition (at ?from)", ":precondition (and (at ?from) (free))"),
        (MATCHES, "(and (fresh ?m) (not (wet ?m))) :effect (wet ?m)", "(fresh ?m) :effect (wet ?m)"),
        (MATCHES, "(and (lit ?l) (not (fresh ?m)))", "(lit ?l)"),
        (SWITCHES, "(when (and (wired ?s ?l) (on ?l)) (not (on ?l)))", ""),
        (SWITCHES, "(and (stuck ?s) (exists (?l - lamp) (on ?l)))", "(stuck ?s)"),
        (DOORS, "(and (reach ?q) (open ?q ?r))", "(and (here ?q) (open ?q ?r))"),
        (DOORS, " (not (= ?a ?b))", ""),
        (PARTY, "(or (in host) (= ?x host))", "(in host)"),
        (PARTY, "(and (fed ?x) (not (noisy)))", "(fed ?x)"),
        (PARTY, "(imply (= ?x host) (not (noisy)))", "(not (= ?x host))"),
    ];
    let mut below_one = 0;
    for (number, ((domain, problem), part, instead)) in pairs.into_iter().enumerate() {
        assert!(domain.contains(part), "{part}");
        let changed = domain.replacen(part, instead, 1);
        let scores = check_pair(&format!("pair {number}"), (domain, problem), (&changed, problem), 4);
        below_one += usize::from(scores.iter().any(|s| s.is_some_and(|s| s < 1.0)));
    }
    assert!(below_one >= 9, "{below_one}");
}

#[test]
fn exact_mode_equals_brute_force_on_random_pairs() {
    compare_random_pairs(3, [10, 0]);
}

#[test]
#[ignore = "study of a quarter of a minute: cargo xtask long-tests"]
fn exact_mode_equals_brute_force_on_36_random_pairs() {
    compare_random_pairs(12, [40, 5]);
}

/// Compares exact scores of pairs of random tasks with brute force. `minimum` bounds the defined scores and those between 0 and 1.
fn compare_random_pairs(seeds: u64, minimum: [usize; 2]) {
    let all = [
        Features { adl: false, derived: false, costs: false },
        Features { adl: true, derived: false, costs: true },
        Features { adl: true, derived: true, costs: false },
    ];
    let (mut between, mut defined) = (0, 0);
    for seed in 0..seeds {
        for features in all {
            let (one, two) = (random_task(seed, features), random_task(seed + 1000, features));
            // The second domain with the first one's problem, and the two as they are.
            let problem = if seed % 2 == 0 { &one.1 } else { &two.1 };
            let name = format!("seed {seed}");
            for score in check_pair(&name, (&one.0, &one.1), (&two.0, problem), 3).into_iter().flatten() {
                defined += 1;
                between += usize::from(score > 0.0 && score < 1.0);
            }
        }
    }
    assert!(defined > minimum[0] && between > minimum[1], "{defined} {between}");
}

#[test]
fn a_model_compared_with_itself_scores_exactly_one() {
    for (domain, problem) in [ROBOT, MATCHES, SWITCHES, DOORS, PARTY] {
        for semantics in [Semantics::Strips, Semantics::GroundNoOpsDropped] {
            let own = model_with(domain, problem, semantics);
            for dead_ends in BOTH {
                let exact = exact_direction(&own, &own, 10, dead_ends, 1_000_000, &mut Unlimited).unwrap();
                assert_eq!(exact.unwrap().score(), Some(1.0), "{domain}");
                let spec = SampleSpec { dead_ends, ..SampleSpec::reference_code(1) };
                let sampled = sample_direction(&own, &own, &spec, &mut Unlimited).unwrap().unwrap();
                assert_eq!(sampled.score(), Some(1.0), "{domain}");
                assert!(sampled.first_failing.is_none() && sampled.schemas.iter().all(|s| s.refused == 0));
            }
            assert_eq!(
                counterexample(&own, &own, CounterexampleLimits::default(), &[], &mut Unlimited),
                CounterexampleOutcome::None
            );
        }
    }
}

#[test]
fn sampled_scores_come_from_the_distribution_that_exact_mode_computes() {
    let changed =
        MATCHES.0.replace("(and (fresh ?m) (not (wet ?m))) :effect (wet ?m)", "(fresh ?m) :effect (wet ?m)");
    for (one, two) in [(MATCHES.0, changed.as_str()), (changed.as_str(), MATCHES.0)] {
        let (source, target) = (model(one, MATCHES.1), model(two, MATCHES.1));
        for dead_ends in BOTH {
            let exact =
                exact_direction(&source, &target, 5, dead_ends, 100_000, &mut Unlimited).unwrap().unwrap();
            let spec = SampleSpec {
                t_max: 5,
                walks_per_length: 4000,
                seed: 5,
                dead_ends,
                policy: WalkPolicy::Uniform,
            };
            let sampled = sample_direction(&source, &target, &spec, &mut Unlimited).unwrap().unwrap();
            for (exact, sampled) in exact.lengths.iter().zip(&sampled.lengths) {
                assert_eq!(exact.probability.is_none(), sampled.walks == 0, "{exact:?} {sampled:?}");
                let Some(p) = exact.probability else { continue };
                let share = interval::clopper_pearson(sampled.executable.into(), sampled.walks.into(), 1e-6);
                assert!(share.contains(p), "{exact:?} {sampled:?}");
            }
            let all = interval::direction_interval(&interval::strata([&sampled]), 1e-6);
            assert!(all.contains(exact.score().unwrap()) && all.width() < 0.06, "{all:?}");
        }
    }
}

#[test]
fn walks_drawn_in_parts_are_those_of_one_sample() {
    let mut refused = 0;
    for seed in 0..40 {
        let features = Features { adl: seed % 2 == 0, derived: seed % 3 == 0, costs: false };
        let (first, second) = (random_task(seed, features), random_task(seed + 1, features));
        let (one, two) = (model(&first.0, &first.1), model(&second.0, &first.1));
        for dead_ends in BOTH {
            let spec = |per_length| SampleSpec {
                walks_per_length: per_length,
                t_max: 4,
                dead_ends,
                ..SampleSpec::reference_code(seed)
            };
            let Some(mut sampler) = DirectionSampler::new(&one, &two, &spec(1), &mut Unlimited).unwrap()
            else {
                continue;
            };
            for per_length in [1, 3, 10] {
                let whole = sample_direction(&one, &two, &spec(per_length), &mut Unlimited).unwrap().unwrap();
                sampler.draw_to(u64::from(per_length) * 4, &mut Unlimited).unwrap();
                assert_eq!(sampler.score(), whole.score());
                refused += usize::from(whole.first_failing.is_some());
                if per_length == 10 {
                    assert_eq!(sampler.finish(), whole);
                    break;
                }
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_length_without_walks_is_left_out_and_reported() {
    let own = model(MATCHES.0, MATCHES.1);
    let spec = SampleSpec {
        walks_per_length: 30,
        dead_ends: DeadEnds::Condition { redraws: 50 },
        ..SampleSpec::reference_code(3)
    };
    let sampled = sample_direction(&own, &own, &spec, &mut Unlimited).unwrap().unwrap();
    // Three matches, one step each, whether it is struck or dipped.
    assert_eq!(sampled.left_out().collect::<Vec<_>>(), [4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(sampled.lengths[3].given_up, 1);
    assert_eq!(sampled.lengths[3].rejected, 51);
    assert_eq!((sampled.lengths[2].walks, sampled.lengths[2].rejected), (30, 0));
    assert_eq!(sampled.score(), Some(1.0));
    let walks = sample_walks(&own, &spec, &mut Unlimited).unwrap().unwrap();
    assert_eq!(walks.len(), 300);
    assert_eq!(walks.iter().flatten().map(Vec::len).max(), Some(3));
    assert_eq!(walks.iter().filter(|w| w.is_none()).count(), 210);
    let truncated = SampleSpec { dead_ends: DeadEnds::Truncate, ..spec };
    let sampled = sample_direction(&own, &own, &truncated, &mut Unlimited).unwrap().unwrap();
    assert!(sampled.lengths.iter().all(|l| l.walks == 30 && l.executable == 30));
}

#[test]
fn ground_no_ops_are_legal_or_not_as_the_semantics_says() {
    let strips = model(ROBOT.0, ROBOT.1);
    let dropped = model_with(ROBOT.0, ROBOT.1, Semantics::GroundNoOpsDropped);
    let stay = [NamedStep::parse("(move a a)").unwrap()];
    assert_eq!(execute_steps(&strips, &stay, &mut Unlimited).unwrap().refusal, None);
    assert_eq!(execute_steps(&dropped, &stay, &mut Unlimited).unwrap().refusal, Some(Refusal::NoEffect));
    let elsewhere = [NamedStep::parse("(MOVE b b)").unwrap()];
    assert_eq!(
        execute_steps(&dropped, &elsewhere, &mut Unlimited).unwrap().refusal,
        Some(Refusal::NotApplicable)
    );
    let legal = |m: &Model| {
        m.applicable(&m.initial(), &mut Unlimited)
            .unwrap()
            .into_iter()
            .map(|a| m.step(a).to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(legal(&strips).len(), 3);
    assert_eq!(legal(&dropped).len(), 2);
    // Walks of the one on the other: refused exactly where they stay.
    let exact =
        exact_direction(&strips, &dropped, 1, DeadEnds::CONDITION, 100, &mut Unlimited).unwrap().unwrap();
    assert!((exact.score().unwrap() - 2.0 / 3.0).abs() < 1e-15);
    let back =
        exact_direction(&dropped, &strips, 3, DeadEnds::CONDITION, 1000, &mut Unlimited).unwrap().unwrap();
    assert_eq!(back.score(), Some(1.0));
}

#[test]
fn no_ops_of_every_form_are_detected() {
    let domain = "(define (domain n) (:requirements :adl) (:predicates (p) (q) (r) (never) (always))
 (:action readd :parameters () :precondition (p) :effect (and (p) (not (never))))
 (:action guarded :parameters () :precondition (and (p) (not (q))) :effect (and (when (q) (r)) (not (q)) (always)))
 (:action works :parameters () :precondition (p) :effect (when (q) (r)))
 (:action turn :parameters () :precondition (p) :effect (and (q) (not (p))))
 (:action back :parameters () :precondition (q) :effect (and (p) (not (q)))))";
    let problem = "(define (problem n) (:domain n) (:init (p) (always)) (:goal (r)))";
    let legal = |semantics| {
        let m = model_with(domain, problem, semantics);
        let mut all: Vec<String> =
            m.applicable(&m.initial(), &mut Unlimited).unwrap().into_iter().map(|a| m.step(a).name).collect();
        all.sort();
        all
    };
    assert_eq!(legal(Semantics::Strips), ["guarded", "readd", "turn", "works"]);
    assert_eq!(legal(Semantics::GroundNoOpsDropped), ["turn", "works"]);
}

#[test]
fn names_that_the_target_lacks_are_reported() {
    let own = model(PARTY.0, PARTY.1);
    let refusal = |text: &str| {
        execute_steps(&own, &[NamedStep::parse(text).unwrap()], &mut Unlimited)
            .unwrap()
            .refusal
            .map(|r| r.to_string())
    };
    assert_eq!(refusal("(dance host)").unwrap(), "there is no action dance");
    assert_eq!(refusal("(enter host tom)").unwrap(), "enter takes 1 arguments, not 2");
    assert_eq!(refusal("(enter nobody)").unwrap(), "there is no object nobody");
    assert_eq!(
        refusal("(enter rex)").unwrap(),
        "rex is of type dog, but ?x must be of type (either person cat)"
    );
    assert_eq!(refusal("(feed rex)").unwrap(), "the precondition does not hold");
    assert_eq!(refusal("( Enter HOST )"), None);
    // A renamed action is a difference, found as such.
    let renamed = model(&PARTY.0.replace("feed", "nourish"), PARTY.1);
    let found = counterexample(&own, &renamed, CounterexampleLimits::default(), &[], &mut Unlimited);
    let CounterexampleOutcome::Found(found) = found else { panic!("{found:?}") };
    assert_eq!(found.walk.len(), 2);
    assert_eq!(found.walk.refusal, Refusal::UnknownAction { name: "nourish".into() });
    assert_eq!(found.direction, WalkDirection::CandidateToReference);
}

#[test]
fn a_side_without_an_initial_action_leaves_the_other_direction() {
    let stuck = PARTY.0.replace("(or (in host) (= ?x host))", "(in host)");
    let (own, stuck) = (model(PARTY.0, PARTY.1), model(&stuck, PARTY.1));
    let spec = SampleSpec::reference_code(1);
    assert_eq!(sample_direction(&stuck, &own, &spec, &mut Unlimited), Ok(None));
    assert_eq!(exact_direction(&stuck, &own, 3, DeadEnds::Truncate, 100, &mut Unlimited), Ok(None));
    assert_eq!(sample_direction(&own, &stuck, &spec, &mut Unlimited).unwrap().unwrap().score(), Some(0.0));
    let exact = exact_direction(&own, &stuck, 3, DeadEnds::Truncate, 100, &mut Unlimited).unwrap().unwrap();
    assert_eq!(exact.score(), Some(0.0));
}

#[test]
fn counts_by_schema_add_up() {
    let changed = ROBOT.0.replace("(lies ?b ?r) (free))\n", "(lies ?b ?r))\n");
    let (source, target) = (model(&changed, ROBOT.1), model(ROBOT.0, ROBOT.1));
    let spec = SampleSpec { walks_per_length: 2000, ..SampleSpec::reference_code(2) };
    let sampled = sample_direction(&source, &target, &spec, &mut Unlimited).unwrap().unwrap();
    let refused: u64 = sampled.schemas.iter().map(|s| s.refused).sum();
    let failing: u32 = sampled.lengths.iter().map(|l| l.walks - l.executable).sum();
    assert_eq!(refused, u64::from(failing));
    assert!(sampled.schemas.iter().all(|s| s.name == "take" || s.refused == 0 || s.name == "drop"));
    let exact =
        exact_direction(&source, &target, 10, DeadEnds::Truncate, 100_000, &mut Unlimited).unwrap().unwrap();
    let refused: f64 = exact.schemas.iter().map(|s| s.refused).sum();
    assert!((1.0 - refused - exact.lengths[9].probability.unwrap()).abs() < 1e-12);
    let shortest = sampled.shortest_failing.unwrap();
    assert!(shortest.len() <= sampled.first_failing.unwrap().len() && shortest.len() >= 2);
}

#[test]
fn coverage_guided_walks_execute_rare_actions_sooner() {
    // One rare action among many common ones.
    let domain = "(define (domain c) (:types thing) (:predicates (seen ?t - thing) (done))
 (:action look :parameters (?t - thing) :precondition () :effect (seen ?t))
 (:action finish :parameters () :precondition (not (done)) :effect (done)))";
    let things: Vec<String> = (0..60).map(|i| format!("t{i}")).collect();
    let problem = format!(
        "(define (problem c) (:domain c) (:objects {} - thing) (:init) (:goal (done)))",
        things.join(" ")
    );
    let source = model(domain, &problem);
    let target = model(&domain.replace("(not (done))", "(and (not (done)) (done))"), &problem);
    let refused = |policy| {
        let spec = SampleSpec { policy, ..SampleSpec::reference_code(4) };
        let sampled = sample_direction(&source, &target, &spec, &mut Unlimited).unwrap().unwrap();
        sampled.schemas.iter().map(|s| s.refused).sum::<u64>()
    };
    assert!(refused(WalkPolicy::CoverageGuided) > 3 * refused(WalkPolicy::Uniform));
    let spec = SampleSpec { policy: WalkPolicy::CoverageGuided, ..SampleSpec::reference_code(4) };
    assert_eq!(
        sample_direction(&source, &source, &spec, &mut Unlimited).unwrap().unwrap().score(),
        Some(1.0)
    );
}

#[test]
fn sampled_failing_walks_are_minimised_where_the_search_does_not_fit() {
    let changed = ROBOT.0.replace("(lies ?b ?r) (free))\n", "(lies ?b ?r))\n");
    let (reference, candidate) = (model(ROBOT.0, ROBOT.1), model(&changed, ROBOT.1));
    let step = |text: &str| NamedStep::parse(text).unwrap();
    let long =
        ["(move a a)", "(take x a)", "(move a b)", "(move b b)", "(move b a)", "(move a b)", "(take y b)"];
    let steps = long.map(step);
    let replayed = execute_steps(&reference, &steps, &mut Unlimited).unwrap();
    let failing = planforge_planning::walk::FailingWalk {
        prefix: steps[..replayed.executed].to_vec(),
        action: steps[replayed.executed].clone(),
        refusal: replayed.refusal.unwrap(),
    };
    assert_eq!(failing.len(), 7);
    let shorter = minimise(&candidate, &reference, &failing, &mut Unlimited);
    let texts: Vec<String> = shorter.prefix.iter().map(NamedStep::to_string).collect();
    assert_eq!(texts, ["(take x a)", "(move a b)"]);
    assert_eq!(shorter.refusal, Refusal::NotApplicable);
    let tight = CounterexampleLimits { max_pairs: 1, max_length: None };
    let sampled = [(WalkDirection::CandidateToReference, &failing)];
    let CounterexampleOutcome::Found(found) =
        counterexample(&reference, &candidate, tight, &sampled, &mut Unlimited)
    else {
        panic!("not found")
    };
    assert_eq!((found.walk.len(), found.shortest), (3, false));
    // The refused action stays the same: the prefix has a shorter walk for `take`, and this one is for another ball.
    let each = counterexamples(&reference, &candidate, tight, &sampled, &mut Unlimited);
    assert_eq!(each, [found]);
    assert_eq!(each[0].walk.action, failing.action);
    let none = counterexample(&reference, &candidate, tight, &[], &mut Unlimited);
    assert_eq!(none, CounterexampleOutcome::LimitReached { searched: 0, reason: None });
}

#[test]
fn limits_are_reported() {
    let own = model(ROBOT.0, ROBOT.1);
    let fits = exact_direction(&own, &own, 10, DeadEnds::Truncate, 20, &mut Unlimited);
    assert!(fits.unwrap_err().to_string().contains("more than 20 pairs"));
    let mut none = CountingLimits { polls: 0, bytes: u64::MAX };
    let spec = SampleSpec::reference_code(1);
    assert_eq!(sample_direction(&own, &own, &spec, &mut none), Err(StopReason::Time));
    let stopped = counterexample(&own, &own, CounterexampleLimits::default(), &[], &mut none);
    assert_eq!(stopped, CounterexampleOutcome::LimitReached { searched: 0, reason: Some(StopReason::Time) });
    let options = ModelOptions::default();
    let broken = Model::from_texts(
        "(define (domain d) (:action a :parameters (?x - ghost)))",
        "",
        &options,
        &mut Unlimited,
    );
    assert!(broken.is_err());
}
