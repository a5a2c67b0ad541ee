//! The crate against a slow interpreter on random tasks: same states, same successors, same optimal costs, and every
//! plan found is valid.

use crate::support::{Features, GroundText, Interpreter, TextState, random_task, read};
use planforge_diagnostics::SourceId;
use planforge_planning::task::{Atom, Symbols};
use planforge_planning::{
    Algorithm, GroundLimits, PlanOptions, SearchOutcome, Simulator, Unlimited, ValidationDecision, ground,
    normalize, parse_plan, plan, validate,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

const STATES: usize = 60;
/// Spaces beyond this are not searched by the slow interpreter.
const SMALL: usize = 100;

fn text(symbols: &Symbols, atom: &Atom) -> GroundText {
    std::iter::once(symbols.predicates[atom.predicate as usize].to_lowercase())
        .chain(atom.args.iter().map(|&o| symbols.objects[o as usize].to_lowercase()))
        .collect()
}

/// Walks both state spaces together.
fn same_spaces(seed: u64, features: Features) {
    let (domain_text, problem_text) = random_task(seed, features);
    let (domain, problem) = read(&domain_text, &problem_text);
    let slow = Interpreter::new(&domain, &problem);
    let lifted = normalize(&domain, &problem).unwrap();
    let task = Arc::new(ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
    let simulator = Simulator::new(Arc::clone(&task));
    let tracked: BTreeSet<GroundText> = task.facts.iter().map(|a| text(&task.symbols, a)).collect();
    let mut open = vec![(slow.initial.clone(), simulator.initial())];
    let mut seen = BTreeSet::new();
    while let Some((expected, state)) = open.pop() {
        if seen.len() >= STATES || !seen.insert(expected.clone()) {
            continue;
        }
        let facts: TextState = simulator
            .atoms(&state)
            .filter(|a| !task.symbols.predicates[a.predicate as usize].starts_with('@'))
            .map(|a| text(&task.symbols, a))
            .collect();
        let wanted: TextState = expected.intersection(&tracked).cloned().collect();
        assert_eq!(facts, wanted, "seed {seed}: state differs\n{domain_text}\n{problem_text}");
        assert_eq!(
            simulator.is_goal(&state),
            slow.is_goal(&expected),
            "seed {seed}: goal\n{domain_text}\n{problem_text}"
        );
        let applicable = simulator.applicable(&state);
        let names: BTreeSet<String> =
            applicable.iter().map(|&a| task.symbols.step(&task.actions[a as usize]).to_lowercase()).collect();
        let mut successors = slow.successors(&expected);
        let expected_names: BTreeSet<String> = successors.keys().cloned().collect();
        assert_eq!(names, expected_names, "seed {seed}: applicable\n{domain_text}\n{problem_text}");
        for action in applicable {
            let name = task.symbols.step(&task.actions[action as usize]).to_lowercase();
            let (next, _) = successors.remove(&name).unwrap();
            open.push((next, simulator.successor(&state, action).unwrap()));
        }
    }
}

/// Solves with every algorithm and compares with the slow optimum.
fn same_answers(seed: u64, features: Features) {
    let (domain_text, problem_text) = random_task(seed, features);
    let (domain, problem) = read(&domain_text, &problem_text);
    let slow = Interpreter::new(&domain, &problem);
    let Some(distances) = slow.distances(!features.costs, SMALL) else { return };
    let steps = slow.distances(true, SMALL).unwrap()[&slow.initial];
    let best = distances[&slow.initial];
    for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst] {
        let options = PlanOptions { algorithm, ..PlanOptions::default() };
        let result = plan(&domain, &problem, &options, &mut Unlimited).unwrap();
        match (&result.outcome, best) {
            (SearchOutcome::Plan(found), Some(best)) => {
                let file = parse_plan(&found.to_string(), SourceId(2));
                let report = validate(&domain, &problem, &file, &mut Unlimited).unwrap();
                assert_eq!(
                    report.decision,
                    ValidationDecision::Valid,
                    "seed {seed} {algorithm:?} {:?}",
                    report.diagnostics
                );
                assert_eq!(
                    report.cost, found.cost,
                    "seed {seed} {algorithm:?}\n{domain_text}\n{problem_text}"
                );
                if algorithm == Algorithm::AStar {
                    assert_eq!(
                        found.cost,
                        Some(best as f64),
                        "seed {seed}\n{domain_text}\n{problem_text}\n{found}"
                    );
                }
                if algorithm == Algorithm::BreadthFirst {
                    assert_eq!(Some(found.steps.len() as u64), steps, "seed {seed}");
                }
            }
            (SearchOutcome::ProvenUnsolvable(why), None) => {
                for reason in &why.reasons {
                    let set = impossible_set(&reason.message);
                    let holds =
                        |state: &TextState| set.iter().all(|(atom, wanted)| state.contains(atom) == *wanted);
                    assert!(
                        set.is_empty() || !distances.keys().any(holds),
                        "seed {seed} {algorithm:?}: {}\n{domain_text}\n{problem_text}",
                        reason.message
                    );
                }
            }
            (other, best) => panic!(
                "seed {seed} {algorithm:?}: {other:?}, expected {best:?}\n{domain_text}\n{problem_text}"
            ),
        }
    }
}

/// The literals of which a reason claims that they never hold together, or that the only one never holds.
fn impossible_set(message: &str) -> Vec<(GroundText, bool)> {
    let end =
        ["can never hold together", "can never become true"].iter().find_map(|claim| message.find(claim));
    let Some(end) = end else { return Vec::new() };
    let literal = |text: &str| {
        let words: GroundText =
            text.split(['(', ')', ' ']).filter(|w| !w.is_empty()).map(str::to_owned).collect();
        match words.split_first() {
            Some((not, atom)) if not == "not" => (atom.to_vec(), false),
            _ => (words, true),
        }
    };
    let start = message.find('(').unwrap_or(end);
    message[start..end].replace(" and ", ", ").split(", ").map(literal).collect()
}

/// A plan with a step left out or repeated is judged as the slow interpreter judges it.
fn same_verdicts(seed: u64, features: Features) {
    let (domain_text, problem_text) = random_task(seed, features);
    let (domain, problem) = read(&domain_text, &problem_text);
    let slow = Interpreter::new(&domain, &problem);
    let mut random = crate::support::Random::new(seed ^ 0xabcd);
    let (mut state, mut steps, mut valid) = (slow.initial.clone(), Vec::new(), true);
    for _ in 0..random.below(6) {
        let successors = slow.successors(&state);
        if successors.is_empty() || random.chance(10) {
            steps.push("(act0 a1)".to_owned());
            match successors.get("(act0 a1)") {
                Some((next, _)) => state = next.clone(),
                None => {
                    valid = false;
                    break;
                }
            }
            continue;
        }
        let (name, (next, _)) = successors.iter().nth(random.below(successors.len())).unwrap();
        steps.push(name.clone());
        state = next.clone();
    }
    let expected = valid && slow.is_goal(&state);
    let file = parse_plan(&steps.join("\n"), SourceId(2));
    let report = validate(&domain, &problem, &file, &mut Unlimited).unwrap();
    assert_eq!(
        report.is_valid(),
        expected,
        "seed {seed} {steps:?} {:?}\n{domain_text}\n{problem_text}",
        report.diagnostics
    );
    if !expected {
        assert!(report.diagnostics.iter().any(|d| d.is_error()));
    }
}

const STRIPS: Features = Features { adl: false, derived: false, costs: false };
const COSTS: Features = Features { adl: false, derived: false, costs: true };
const ADL: Features = Features { adl: true, derived: false, costs: true };
const FULL: Features = Features { adl: true, derived: true, costs: false };

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn grounded_and_interpreted_state_spaces_agree(seed in 0u64..1_000_000) {
        for features in [STRIPS, ADL, FULL] {
            same_spaces(seed, features);
        }
    }

    #[test]
    fn planner_and_interpreter_agree_on_random_tasks(seed in 0u64..1_000_000) {
        for features in [STRIPS, COSTS, ADL, FULL] {
            same_answers(seed, features);
        }
    }

    #[test]
    fn validator_and_interpreter_agree_on_plans(seed in 0u64..1_000_000) {
        for features in [STRIPS, ADL, FULL] {
            same_verdicts(seed, features);
        }
    }
}

#[test]
fn random_tasks_are_worth_comparing() {
    let (mut solved, mut long, mut unsolvable) = (0, 0, 0);
    for seed in 0..200 {
        let (domain, problem) = random_task(seed, ADL);
        let (domain, problem) = read(&domain, &problem);
        let slow = Interpreter::new(&domain, &problem);
        let Some(distances) = slow.distances(true, SMALL) else { continue };
        match distances[&slow.initial] {
            Some(steps) => {
                solved += 1;
                long += u32::from(steps > 1);
            }
            None => unsolvable += 1,
        }
    }
    assert!(solved >= 15 && long >= 5 && unsolvable >= 10, "{solved} {long} {unsolvable}");
}
