//! The states around a plan.

use crate::support::read;
use planforge_diagnostics::SourceId;
use planforge_planning::graph::{GraphOptions, StateGraph, state_graph};
use planforge_planning::task::GroundAction;
use planforge_planning::*;
use std::sync::Arc;

const DOMAIN: &str = "(define (domain lamps) (:requirements :strips :typing)
  (:types lamp)
  (:predicates (lit ?l - lamp) (near ?l - lamp) (link ?a ?b - lamp))
  (:functions (total-cost) - number)
  (:action go :parameters (?a ?b - lamp) :precondition (and (near ?a) (link ?a ?b))
    :effect (and (near ?b) (not (near ?a)) (increase (total-cost) 2)))
  (:action switch :parameters (?l - lamp) :precondition (near ?l) :effect (and (lit ?l) (increase (total-cost) 1))))";
const PROBLEM: &str = "(define (problem l1) (:domain lamps) (:objects red blue - lamp)
  (:init (near red) (link red blue) (link blue red) (= (total-cost) 0))
  (:goal (and (lit red) (lit blue))) (:metric minimize (total-cost)))";

fn graph(plan: &str, distance: usize, max_states: usize) -> (Simulator, StateGraph) {
    let (domain, problem) = read(DOMAIN, PROBLEM);
    let lifted = normalize(&domain, &problem).unwrap();
    let task = Arc::new(ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap());
    let validator = Validator::new(lifted);
    let (steps, _) = validator.resolve(&parse_plan(plan, SourceId(2)));
    let steps: Vec<GroundAction> = steps.into_iter().flatten().collect();
    let simulator = Simulator::new(task);
    let graph =
        state_graph(&simulator, &steps, &GraphOptions { distance, max_states }, &mut Unlimited).unwrap();
    (simulator, graph)
}

fn edge_texts(simulator: &Simulator, graph: &StateGraph) -> Vec<String> {
    let symbols = &simulator.task().symbols;
    graph
        .edges
        .iter()
        .map(|e| format!("{} {} {} {:?}", e.from, symbols.step(&e.action), e.to, e.steps))
        .collect()
}

#[test]
fn a_plan_is_a_path_with_its_neighbours() {
    let (simulator, graph) = graph("(switch red) (go red blue) (switch blue)", 1, 100);
    assert_eq!(
        edge_texts(&simulator, &graph),
        [
            "0 (go red blue) 4 []",
            "0 (switch red) 1 [1]",
            "1 (go red blue) 2 [2]",
            "1 (switch red) 1 []",
            "2 (go blue red) 1 []",
            "2 (switch blue) 3 [3]",
            "3 (go blue red) 5 []",
            "3 (switch blue) 3 []",
        ]
    );
    let goals: Vec<bool> = graph.states.iter().map(|s| s.goal).collect();
    assert_eq!(goals, [false, false, false, true, false, true]);
    let distances: Vec<usize> = graph.states.iter().map(|s| s.distance).collect();
    assert_eq!((distances, graph.executed, graph.left_out()), (vec![0, 0, 0, 0, 1, 1], 3, 0));
    let text =
        |atoms: &[task::Atom]| atoms.iter().map(|a| simulator.task().symbols.atom(a)).collect::<Vec<_>>();
    let third = &graph.states[2];
    assert_eq!(
        (text(&third.added), text(&third.deleted)),
        (vec!["(near blue)".into()], vec!["(near red)".into()])
    );
    assert_eq!(third.applicable, Some(2));
    assert_eq!(graph.states[4].applicable, None, "too far away to be expanded");
}

#[test]
fn a_plan_with_a_cycle_or_an_inapplicable_step_is_shown_up_to_that_step() {
    let (simulator, graph) =
        graph("(go red blue) (go blue red) (go red blue) (switch red) (switch blue)", 0, 1);
    assert_eq!(edge_texts(&simulator, &graph), ["0 (go red blue) 1 [1, 3]", "1 (go blue red) 0 [2]"]);
    let visits: Vec<&[usize]> = graph.states.iter().map(|s| s.after_steps.as_slice()).collect();
    assert_eq!((visits, graph.executed), (vec![&[0, 2][..], &[1, 3]], 3));
}

#[test]
fn a_node_counts_the_successors_beyond_the_limit() {
    let (simulator, whole) = graph("", 9, 100);
    assert_eq!((whole.states.len(), whole.edges.len(), whole.left_out()), (8, 16, 0));
    let (_, cut) = graph("", 9, 3);
    assert_eq!((cut.states.len(), cut.left_out()), (3, 2), "{:?}", edge_texts(&simulator, &cut));
    assert_eq!(cut.states.iter().map(|s| s.left_out).collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn a_resource_limit_ends_the_graph() {
    let (domain, problem) = read(DOMAIN, PROBLEM);
    let lifted = normalize(&domain, &problem).unwrap();
    let simulator =
        Simulator::new(Arc::new(ground(&lifted, GroundLimits::default(), &mut Unlimited).unwrap()));
    let mut resources = CountingLimits { polls: 3, bytes: 1 << 20 };
    let stopped = state_graph(&simulator, &[], &GraphOptions { distance: 5, max_states: 10 }, &mut resources);
    assert_eq!(stopped.unwrap_err(), StopReason::Time);
}
