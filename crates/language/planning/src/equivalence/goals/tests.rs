//! Goals completed by hand, and all renamings enumerated on small random problems whose states are all
//! listed.

use super::*;
use crate::equivalence::ComparedSide;
use crate::resources::{CountingLimits, Unlimited};
use crate::simulate::{Simulator, State};
use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, parse_problem};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const BLOCKS: &str = "(define (domain blocks) (:requirements :strips :typing) (:types block)
  (:predicates (on ?x ?y - block) (ontable ?x - block) (clear ?x - block) (handempty) (holding ?x - block))
  (:action pick-up :parameters (?x - block) :precondition (and (clear ?x) (ontable ?x) (handempty))
    :effect (and (not (ontable ?x)) (not (clear ?x)) (not (handempty)) (holding ?x)))
  (:action put-down :parameters (?x - block) :precondition (holding ?x)
    :effect (and (not (holding ?x)) (clear ?x) (handempty) (ontable ?x)))
  (:action stack :parameters (?x ?y - block) :precondition (and (holding ?x) (clear ?y))
    :effect (and (not (holding ?x)) (not (clear ?y)) (clear ?x) (handempty) (on ?x ?y)))
  (:action unstack :parameters (?x ?y - block) :precondition (and (on ?x ?y) (clear ?x) (handempty))
    :effect (and (holding ?x) (clear ?y) (not (clear ?x)) (not (handempty)) (not (on ?x ?y)))))";

const CARRIERS: &str =
    "(define (domain carriers) (:requirements :strips :typing) (:types robot hand ball room)
  (:constants left right - hand)
  (:predicates (robot-at ?r - robot ?p - room) (at ?b - ball ?p - room) (free ?r - robot ?h - hand)
    (carry ?r - robot ?b - ball ?h - hand))
  (:action move :parameters (?r - robot ?a ?b - room) :precondition (robot-at ?r ?a)
    :effect (and (robot-at ?r ?b) (not (robot-at ?r ?a))))
  (:action pick :parameters (?r - robot ?b - ball ?p - room ?h - hand)
    :precondition (and (at ?b ?p) (robot-at ?r ?p) (free ?r ?h))
    :effect (and (carry ?r ?b ?h) (not (at ?b ?p)) (not (free ?r ?h))))
  (:action drop :parameters (?r - robot ?b - ball ?p - room ?h - hand)
    :precondition (and (carry ?r ?b ?h) (robot-at ?r ?p))
    :effect (and (at ?b ?p) (free ?r ?h) (not (carry ?r ?b ?h)))))";

/// Limits under which only proofs and searches decide: not all states are visited.
const BLIND: GoalLimits = GoalLimits {
    max_states: 0,
    max_choices: 100_000,
    max_nodes: 2_000,
    max_questions: 200,
    ground: GroundLimits { instances: 100_000, atoms: 100_000, formula_parts: 100_000 },
};

fn problem(objects: &str, init: &str, goal: &str) -> Problem {
    let text = format!("(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))");
    parse_problem(&text, SourceId(1)).value
}

fn compare(domain: &str, a: &Problem, b: &Problem, limits: &GoalLimits) -> GoalEquivalence {
    equivalent_goals(&parse_domain(domain, SourceId(0)).value, a, b, limits, &mut Unlimited)
}

fn is_equal(found: &GoalEquivalence) -> bool {
    matches!(found.outcome, GoalOutcome::Equal { .. })
}

/// Blocks a, b, c on the table.
fn blocks(goal: &str) -> Problem {
    let init = "(ontable a) (ontable b) (ontable c) (clear a) (clear b) (clear c) (handempty)";
    problem("a b c - block", init, goal)
}

#[test]
fn consequences_of_a_goal_make_no_difference_and_other_literals_do() {
    let tower = blocks("(and (on a b) (on b c))");
    for limits in [GoalLimits::default(), BLIND] {
        for more in [
            "(clear a)",
            "(ontable c)",
            "(handempty)",
            "(not (on c a))",
            "(clear a) (not (clear c)) (ontable c)",
        ] {
            let longer = blocks(&format!("(and (on a b) (on b c) {more})"));
            assert!(is_equal(&compare(BLOCKS, &tower, &longer, &limits)), "{more} with {limits:?}");
        }
        let pair = blocks("(on a b)");
        for (more, follows) in [("(clear a)", false), ("(ontable b)", false), ("(not (on b a))", true)] {
            let longer = blocks(&format!("(and (on a b) {more})"));
            let found = compare(BLOCKS, &pair, &longer, &limits);
            assert_eq!(is_equal(&found), follows, "{more} {found:?}");
            assert_eq!(matches!(found.outcome, GoalOutcome::Different { .. }), !follows, "{more} {found:?}");
        }
    }
    let found = compare(BLOCKS, &tower, &blocks("(and (on a b) (on b c) (clear a))"), &GoalLimits::default());
    let positive =
        |list: &[String]| list.iter().filter(|l| !l.starts_with("(not")).cloned().collect::<Vec<_>>();
    assert_eq!(positive(&found.added[0]), ["(ontable c)", "(clear a)", "(handempty)"]);
    assert_eq!(positive(&found.added[1]), ["(ontable c)", "(handempty)"]);
}

#[test]
fn a_witness_is_reachable_and_satisfies_exactly_one_goal() {
    let found =
        compare(BLOCKS, &blocks("(on a b)"), &blocks("(and (on a b) (clear a))"), &GoalLimits::default());
    let GoalOutcome::Different { witness: Some(witness), .. } = found.outcome else { panic!("{found:?}") };
    assert_eq!(witness.satisfies, ComparedSide::First);
    assert!(
        witness.facts.contains(&"(on a b)".to_owned()) && !witness.facts.contains(&"(clear a)".to_owned())
    );
    assert!(witness.steps.len() >= 4, "{witness:?}");
}

#[test]
fn problems_that_differ_in_more_than_the_goal_are_different_without_a_witness() {
    let other = problem(
        "a b c - block",
        "(ontable a) (ontable b) (on c a) (clear b) (clear c) (handempty)",
        "(on a b)",
    );
    let found = compare(BLOCKS, &blocks("(on a b)"), &other, &GoalLimits::default());
    assert!(matches!(found.outcome, GoalOutcome::Different { witness: None, .. }), "{found:?}");
    assert_eq!(found.added, [Vec::<String>::new(), Vec::new()]);
}

#[test]
fn goals_that_no_state_satisfies_are_the_same() {
    let circle = blocks("(and (on a b) (on b a))");
    assert!(is_equal(&compare(
        BLOCKS,
        &circle,
        &blocks("(and (on a b) (holding b))"),
        &GoalLimits::default()
    )));
    let found = compare(BLOCKS, &circle, &blocks("(on a b)"), &BLIND);
    let GoalOutcome::Different { witness: Some(witness), .. } = found.outcome else { panic!("{found:?}") };
    assert_eq!(witness.satisfies, ComparedSide::Second);
}

#[test]
fn goals_beyond_conjunctions_are_compared_by_their_states() {
    let equal = |a: &str, b: &str| is_equal(&compare(BLOCKS, &blocks(a), &blocks(b), &GoalLimits::default()));
    assert!(equal("(or (on a b) (and (on a b) (clear c)))", "(on a b)"));
    assert!(equal("(exists (?x - block) (holding ?x))", "(not (handempty))"));
    assert!(equal("(forall (?x - block) (ontable ?x))", "(and (ontable a) (ontable b) (ontable c))"));
    assert!(!equal("(or (on a b) (on b c))", "(or (on a b) (on a c))"));
    let unknown =
        compare(BLOCKS, &blocks("(or (on a b) (on b c))"), &blocks("(or (on a b) (on a c))"), &BLIND);
    assert!(matches!(unknown.outcome, GoalOutcome::Undecided { stopped: None, .. }), "{unknown:?}");
}

#[test]
fn large_tasks_are_decided_by_proofs_and_searches() {
    let balls: Vec<String> = (0..12).map(|i| format!("b{i}")).collect();
    let init: String = balls.iter().map(|b| format!("(at {b} hall) ")).collect();
    let init = format!(
        "(robot-at r1 hall) (robot-at r2 hall) (free r1 left) (free r1 right) (free r2 left) (free r2 right) {init}"
    );
    let objects = format!("r1 r2 - robot hall attic cellar - room {} - ball", balls.join(" "));
    let goal = |balls: &[String], more: &str| {
        let at: String = balls.iter().map(|b| format!("(at {b} attic) ")).collect();
        problem(&objects, &init, &format!("(and {at} {more})"))
    };
    let all = goal(&balls, "");
    assert!(is_equal(&compare(CARRIERS, &all, &goal(&balls, "(free r1 left) (free r2 right)"), &BLIND)));
    let found = compare(CARRIERS, &all, &goal(&balls, "(robot-at r1 attic)"), &BLIND);
    assert!(matches!(found.outcome, GoalOutcome::Different { witness: Some(_), .. }), "{found:?}");
    let found = compare(CARRIERS, &all, &goal(&balls[1..], ""), &BLIND);
    let GoalOutcome::Different { witness: Some(witness), .. } = found.outcome else { panic!("{found:?}") };
    assert_eq!(witness.satisfies, ComparedSide::Second);
    // Any ball may be the one that is left.
    assert!(is_equal(&compare(
        CARRIERS,
        &goal(&balls[..11], "(free r1 left)"),
        &goal(&balls[1..], "(free r2 left)"),
        &BLIND
    )));
}

#[test]
fn limits_and_unsupported_constructs_leave_the_question_open() {
    let (a, b) = (blocks("(and (on a b) (on b c))"), blocks("(and (on a b) (on b c) (clear a))"));
    let domain = parse_domain(BLOCKS, SourceId(0)).value;
    let mut none = CountingLimits { polls: 0, bytes: u64::MAX };
    let found = equivalent_goals(&domain, &a, &b, &GoalLimits::default(), &mut none);
    assert!(
        matches!(found.outcome, GoalOutcome::Undecided { stopped: Some(StopReason::Time), .. }),
        "{found:?}"
    );
    let numeric = BLOCKS
        .replace("(:action pick-up", "(:functions (load)) (:action pick-up")
        .replace("(ontable ?x) (handempty))", "(ontable ?x) (handempty) (< (load) 3))")
        .replace("(handempty) (ontable ?x)))", "(handempty) (ontable ?x) (increase (load) 1)))");
    let [a, b] = [a, b].map(|p| {
        let text = planforge_pddl::print_problem(&p).replace("(:init", "(:init (= (load) 0)");
        parse_problem(&text, SourceId(1)).value
    });
    let found = compare(&numeric, &a, &b, &GoalLimits::default());
    assert!(matches!(found.outcome, GoalOutcome::Undecided { stopped: None, .. }), "{found:?}");
}

/// Texts of the atoms of a state.
type Facts = BTreeSet<String>;

/// All reachable states that satisfy the goal.
fn goal_states(problem: &Problem) -> BTreeSet<Facts> {
    let domain = parse_domain(BLOCKS, SourceId(0)).value;
    let lifted = normalize(&domain, problem).unwrap();
    let task = Arc::new(ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
    let simulator = Simulator::new(Arc::clone(&task));
    let atoms = |state: &State| -> Facts {
        let names = simulator.atoms(state).map(|a| task.symbols.atom(a));
        names.filter(|n| !n.starts_with("(@")).collect()
    };
    let (mut seen, mut goals) = (BTreeSet::new(), BTreeSet::new());
    let mut queue = VecDeque::from([simulator.initial()]);
    while let Some(state) = queue.pop_front() {
        if !seen.insert(state.bits().to_vec()) {
            continue;
        }
        if simulator.is_goal(&state) {
            goals.insert(atoms(&state));
        }
        queue.extend(simulator.applicable(&state).into_iter().filter_map(|a| simulator.successor(&state, a)));
    }
    goals
}

/// A text with blocks exchanged.
fn rename_blocks(text: &str, names: &BTreeMap<char, char>) -> String {
    let words = text.split_inclusive([' ', '(', ')']);
    words
        .map(|word| {
            let name = word.trim_end_matches([' ', '(', ')']);
            let mut letters = name.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) => format!("{}{}", names[&letter], &word[1..]),
                _ => word.to_owned(),
            }
        })
        .collect()
}

fn permutations() -> Vec<BTreeMap<char, char>> {
    ["abc", "acb", "bac", "bca", "cab", "cba"]
        .iter()
        .map(|p| "abc".chars().zip(p.chars()).collect())
        .collect()
}

const INITS: [&str; 4] = [
    "(ontable a) (ontable b) (ontable c) (clear a) (clear b) (clear c) (handempty)",
    "(on a b) (ontable b) (ontable c) (clear a) (clear c) (handempty)",
    "(on a b) (on b c) (ontable c) (clear a) (handempty)",
    "(holding a) (ontable b) (ontable c) (clear b) (clear c)",
];

fn random_literal(random: &mut Random) -> String {
    let block = |random: &mut Random| ["a", "b", "c"][random.below(3) as usize];
    let atom = match random.below(5) {
        0 | 1 => format!("(on {} {})", block(random), block(random)),
        2 => format!("(clear {})", block(random)),
        3 => format!("(ontable {})", block(random)),
        _ => format!("(holding {})", block(random)),
    };
    if random.chance(0.2) { format!("(not {atom})") } else { atom }
}

fn random_goal(random: &mut Random) -> String {
    let literals: Vec<String> = (0..1 + random.below(3)).map(|_| random_literal(random)).collect();
    let word = if random.chance(0.2) { "or" } else { "and" };
    format!("({word} {})", literals.join(" "))
}

#[test]
fn the_answer_equals_that_of_all_renamings_and_all_states() {
    let mut random = Random::stream(11, 0);
    let [mut equal, mut different, mut open] = [0, 0, 0];
    for _ in 0..400 {
        let (init, goal) = (INITS[random.below(4) as usize], random_goal(&mut random));
        let names = permutations().swap_remove(random.below(6) as usize);
        let mut other_goal = rename_blocks(&goal, &names);
        match random.below(4) {
            0 => other_goal = random_goal(&mut random),
            1 | 2 => other_goal = format!("(and {other_goal} {})", random_literal(&mut random)),
            _ => {}
        }
        let a = problem("a b c - block", init, &goal);
        let other_init = rename_blocks(init, &names);
        let b = problem("a b c - block", &other_init, &other_goal);
        let (states_a, states_b) = (goal_states(&a), goal_states(&b));
        let initial =
            |text: &str| -> Facts { text.split(") ").map(|f| f.trim_end_matches(')').to_owned()).collect() };
        let fits = |names: &BTreeMap<char, char>| {
            let image: BTreeSet<Facts> =
                states_a.iter().map(|s| s.iter().map(|f| rename_blocks(f, names)).collect()).collect();
            initial(&rename_blocks(init, names)) == initial(&other_init) && image == states_b
        };
        let truth = permutations().iter().any(fits);
        for limits in [GoalLimits::default(), BLIND] {
            let found = compare(BLOCKS, &a, &b, &limits);
            let told = format!("{init} {goal} against {other_goal}: {found:?}");
            match found.outcome {
                GoalOutcome::Equal { .. } => {
                    assert!(truth, "{told}");
                    equal += 1;
                }
                GoalOutcome::Different { witness, .. } => {
                    assert!(!truth, "{told}");
                    let witness = witness.unwrap_or_else(|| panic!("{told}"));
                    check(&witness, &states_a, &states_b);
                    different += 1;
                }
                GoalOutcome::Undecided { .. } => {
                    assert_eq!(limits, BLIND, "{told}");
                    open += 1;
                }
            }
        }
    }
    assert!(equal > 200 && different > 200 && open < 150, "{equal} {different} {open}");
}

/// Asserts that a witness satisfies its goal, and not the other goal under its renaming.
fn check(witness: &Witness, first: &BTreeSet<Facts>, second: &BTreeSet<Facts>) {
    let letter = |name: &String| name.chars().next().unwrap();
    let state: Facts = witness.facts.iter().cloned().collect();
    let (own, other, names): (_, _, BTreeMap<char, char>) = match witness.satisfies {
        ComparedSide::First => {
            (first, second, witness.renaming.iter().map(|(a, b)| (letter(a), letter(b))).collect())
        }
        ComparedSide::Second => {
            (second, first, witness.renaming.iter().map(|(a, b)| (letter(b), letter(a))).collect())
        }
    };
    assert!(own.contains(&state), "{witness:?}");
    let image: Facts = state.iter().map(|f| rename_blocks(f, &names)).collect();
    assert!(!other.contains(&image), "{witness:?}");
}
