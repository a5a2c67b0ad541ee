//! Plans that are improved until a limit: cuts at every point, costs of all sizes, long plans.

use crate::support::read;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::{
    Algorithm, CountingLimits, Plan, PlanOptions, PlanResult, Poll, ResourceLimits, SearchOutcome,
    SearchPart, StopReason, Unlimited, parse_plan, plan, plan_with_progress, validate,
};

/// Balls, and a robot with two hands. One ball at a time is the plan that comes first to mind, and it is too long.
const CARRY: &str = "(define (domain carry) (:requirements :strips :action-costs)
  (:predicates (door ?a ?b) (here ?r) (at ?b ?r) (held ?b ?h) (free ?h))
  (:functions (total-cost))
  (:action move :parameters (?a ?b) :precondition (and (here ?a) (door ?a ?b))
    :effect (and (here ?b) (not (here ?a)) (increase (total-cost) MOVE)))
  (:action pick :parameters (?b ?r ?h) :precondition (and (at ?b ?r) (here ?r) (free ?h))
    :effect (and (held ?b ?h) (not (at ?b ?r)) (not (free ?h)) (increase (total-cost) LIFT)))
  (:action drop :parameters (?b ?r ?h) :precondition (and (held ?b ?h) (here ?r))
    :effect (and (at ?b ?r) (not (held ?b ?h)) (free ?h) (increase (total-cost) LIFT))))";

/// Balls in the first of `rooms` rooms that are wanted in the last.
fn carry(rooms: usize, balls: usize, moving: &str, lifting: &str) -> (Domain, Problem) {
    carry_for("(total-cost)", rooms, balls, moving, lifting)
}

fn carry_for(metric: &str, rooms: usize, balls: usize, moving: &str, lifting: &str) -> (Domain, Problem) {
    let names = |letter: char, count: usize| (0..count).map(|n| format!(" {letter}{n}")).collect::<String>();
    let doors: String = (1..rooms).map(|r| format!("(door r{0} r{r}) (door r{r} r{0})", r - 1)).collect();
    let at = |room: usize| (0..balls).map(|b| format!("(at b{b} r{room})")).collect::<String>();
    let problem = format!(
        "(define (problem one) (:domain carry) (:objects{}{} left right)
         (:init (here r0) (free left) (free right) (= (total-cost) 0) {doors} {})
         (:goal (and {})) (:metric minimize {metric}))",
        names('r', rooms),
        names('b', balls),
        at(0),
        at(rooms - 1)
    );
    read(&CARRY.replace("MOVE", moving).replace("LIFT", lifting), &problem)
}

fn improve(
    task: &(Domain, Problem),
    max_nodes: u64,
    limits: &mut dyn ResourceLimits,
) -> (PlanResult, Vec<(f64, &'static str)>) {
    let options = PlanOptions { algorithm: Algorithm::Anytime, max_nodes, ..PlanOptions::default() };
    let mut reported = Vec::new();
    let mut on_plan = |plan: &Plan, method: &'static str| {
        assert_valid(task, plan);
        reported.push((plan.cost.unwrap(), method));
    };
    let result = plan_with_progress(&task.0, &task.1, &options, limits, &mut on_plan).unwrap();
    (result, reported)
}

fn assert_valid(task: &(Domain, Problem), plan: &Plan) {
    let text = parse_plan(&plan.step_texts().join("\n"), SourceId(2));
    let report = validate(&task.0, &task.1, &text, &mut Unlimited).unwrap();
    assert!(report.is_valid() && report.cost == plan.cost, "{:?}: {plan}", report.decision);
}

fn plan_of(result: PlanResult) -> Plan {
    match result.outcome {
        SearchOutcome::Plan(plan) => plan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn improvement_ends_with_a_proof() {
    let (result, reported) = improve(&carry(2, 6, "3", "1"), u64::MAX, &mut Unlimited);
    assert_eq!(result.stopped, None);
    let plan = plan_of(result);
    // Three trips, of which the last needs no way back.
    assert_eq!((plan.cost, plan.bound, plan.optimal), (Some(27.0), Some(27.0), true));
    assert!(reported.windows(2).all(|pair| pair[1].0 <= pair[0].0), "{reported:?}");
}

#[test]
fn the_sequence_of_plans_is_the_same_in_every_run() {
    let task = carry(5, 6, "1", "1");
    let run = |nodes| improve(&task, nodes, &mut Unlimited);
    let (first, second) = (run(100_000), run(100_000));
    assert_eq!(first.1, second.1);
    assert_eq!(plan_of(first.0).step_texts(), plan_of(second.0).step_texts());
    // A lower limit cuts the sequence.
    assert!(second.1.starts_with(&run(1_000).1));
}

/// Limits that never stop the work, and two threads.
struct TwoThreads {
    side_by_side: u32,
}

impl ResourceLimits for TwoThreads {
    fn poll(&mut self) -> Poll {
        Poll::Continue
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        Poll::Continue
    }
    fn release(&mut self, _bytes: u64) {}
    fn run_side_by_side(&mut self, first: SearchPart<'_>, second: SearchPart<'_>) -> bool {
        self.side_by_side += 1;
        std::thread::scope(|scope| {
            scope.spawn(|| second(&mut Unlimited));
            first(&mut Unlimited);
        });
        true
    }
}

#[test]
fn two_threads_find_the_same_plans_in_the_same_order() {
    let mut plans = 0;
    for (rooms, balls, nodes) in [(5, 6, 1_000), (5, 6, 100_000), (3, 4, u64::MAX)] {
        let task = carry(rooms, balls, "1", "1");
        let mut threads = TwoThreads { side_by_side: 0 };
        let (one, in_turns) = improve(&task, nodes, &mut Unlimited);
        let (two, side_by_side) = improve(&task, nodes, &mut threads);
        assert!(threads.side_by_side > 0);
        assert_eq!(in_turns, side_by_side);
        plans += in_turns.len();
        assert_eq!((one.method, one.statistics, one.stopped), (two.method, two.statistics, two.stopped));
        let (one, two) = (plan_of(one), plan_of(two));
        assert_eq!((one.step_texts(), one.bound, one.optimal), (two.step_texts(), two.bound, two.optimal));
    }
    assert!(plans > 4, "{plans}");
}

#[test]
fn a_task_that_is_solved_at_once_starts_no_thread() {
    let mut threads = TwoThreads { side_by_side: 0 };
    let (result, _) = improve(&carry(2, 2, "1", "1"), u64::MAX, &mut threads);
    assert!(plan_of(result).optimal && threads.side_by_side == 0);
}

#[test]
fn a_landmark_has_no_operator_that_needs_another_one_of_it() {
    // A plan has `both` (2) for `a`, and 1 for `c`. If `late` were part of the first landmark beside `both`, the second one would cost 0.
    let domain = "(define (domain cuts) (:predicates (a) (b) (c)) (:functions (total-cost))
      (:action both :parameters () :effect (and (a) (b) (increase (total-cost) 2)))
      (:action early :parameters () :effect (and (c) (increase (total-cost) 1)))
      (:action late :parameters () :precondition (a) :effect (and (b) (c) (increase (total-cost) 1))))";
    let problem = "(define (problem one) (:domain cuts) (:init (= (total-cost) 0)) (:goal (and (b) (c)))
      (:metric minimize (total-cost)))";
    let mut threads = TwoThreads { side_by_side: 0 };
    let (result, _) = improve(&read(domain, problem), u64::MAX, &mut threads);
    // The bound of the initial state is the cost of the plan, so no further search starts.
    let plan = plan_of(result);
    assert_eq!((plan.cost, plan.optimal, threads.side_by_side), (Some(3.0), true, 0));
}

#[test]
fn the_limit_on_nodes_holds_inside_a_window() {
    let task = carry(5, 6, "1", "1");
    let first = plan(&task.0, &task.1, &PlanOptions::default(), &mut Unlimited).unwrap().statistics.generated;
    // At most two moves, and for each ball two ways to pick it or one to drop it; in both of the searches that work side by side.
    let branches = 2 * (2 + 2 * 6);
    for nodes in [10, 100, 1_000, 10_000] {
        let (result, _) = improve(&task, nodes.max(first), &mut Unlimited);
        let generated = result.statistics.generated - first;
        assert_eq!(result.stopped, Some(StopReason::Nodes));
        assert!((nodes..nodes.max(first) + branches).contains(&generated), "{nodes}: {generated}");
    }
}

#[test]
fn a_common_cost_of_all_actions_does_not_change_the_plan() {
    for nodes in [3_000, 30_000, 100_000] {
        let [cheap, dear] = ["1", "1000"].map(|cost| {
            let (result, reported) = improve(&carry(5, 6, cost, cost), nodes, &mut Unlimited);
            (plan_of(result).step_texts(), reported.len())
        });
        assert_eq!(cheap, dear, "{nodes}");
    }
}

#[test]
fn a_cut_at_any_poll_gives_the_best_plan_so_far() {
    let task = carry(4, 4, "1", "1");
    let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
    let optimum = plan_of(plan(&task.0, &task.1, &options, &mut Unlimited).unwrap()).cost.unwrap();
    let mut last = f64::INFINITY;
    let mut cut = 0;
    for polls in (0..400).chain((400..20_000).step_by(500)) {
        let (result, reported) = improve(&task, u64::MAX, &mut CountingLimits { polls, bytes: u64::MAX });
        let stopped = result.stopped;
        match result.outcome {
            SearchOutcome::LimitReached(reason) => {
                assert!(reason == StopReason::Time && reported.is_empty() && last == f64::INFINITY);
            }
            SearchOutcome::Plan(plan) => {
                let cost = plan.cost.unwrap();
                assert_valid(&task, &plan);
                assert_eq!(reported.last().map(|best| best.0), Some(cost));
                assert!(optimum <= cost && cost <= last && plan.bound.is_none_or(|bound| bound <= optimum));
                assert!(!plan.optimal || cost == optimum);
                assert_eq!(plan.optimal, stopped.is_none());
                cut += usize::from(stopped == Some(StopReason::Time));
                last = cost;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(cut > 10, "{cut}");
}

#[test]
fn the_memory_limit_with_a_plan_at_hand_gives_that_plan() {
    let task = carry(6, 8, "1", "1");
    let mut kept = 0;
    for bytes in (10..=24).map(|power| 1 << power) {
        // Less memory than two searches take does not end the third.
        let (result, _) = improve(&task, 30_000, &mut CountingLimits { polls: u64::MAX, bytes });
        match result.outcome {
            SearchOutcome::Plan(plan) => {
                assert_valid(&task, &plan);
                kept += 1;
            }
            SearchOutcome::LimitReached(reason) => assert_eq!((reason, kept), (StopReason::Memory, 0)),
            other => panic!("{other:?}"),
        }
    }
    assert!((2..15).contains(&kept), "{kept}");
}

#[test]
fn costs_of_zero_and_costs_near_the_end_of_64_bits() {
    let (result, _) = improve(&carry(3, 4, "0", "0"), u64::MAX, &mut Unlimited);
    let free = plan_of(result);
    assert_eq!((free.cost, free.bound, free.optimal), (Some(0.0), Some(0.0), true));
    for (moving, lifting) in
        [("0", "1"), ("1", "0"), ("9223372036854775807", "0"), ("4294967296", "4294967295")]
    {
        let (result, _) = improve(&carry(2, 4, moving, lifting), u64::MAX, &mut Unlimited);
        let plan = plan_of(result);
        let [moving, lifting] = [moving, lifting].map(|text| text.parse::<f64>().unwrap());
        assert_eq!((plan.cost, plan.optimal), (Some(3.0 * moving + 8.0 * lifting), true));
    }
    // Beyond 64 bits for a plan: nothing overflows.
    let (result, _) =
        improve(&carry(9, 6, "9223372036854775807", "9223372036854775807"), 3_000, &mut Unlimited);
    assert!(plan_of(result).cost.unwrap() > 2f64.powi(64));
}

#[test]
fn a_goal_that_holds_needs_no_steps() {
    let (result, reported) = improve(&carry(1, 2, "1", "1"), u64::MAX, &mut Unlimited);
    let plan = plan_of(result);
    assert_eq!((plan.steps.len(), plan.cost, plan.optimal, reported.len()), (0, Some(0.0), true, 1));
}

#[test]
fn a_metric_that_is_not_a_sum_of_costs_leaves_the_first_plan() {
    for (metric, lifting, reasons) in [
        ("(* (total-cost) (total-cost))", "1", &["a metric that is not linear"][..]),
        ("(total-cost)", "-1", &["better, `pick`", "better, `drop`"][..]),
        ("(- 10 (total-cost))", "1", &["better, `move`", "better, `pick`", "better, `drop`"][..]),
    ] {
        let (result, reported) = improve(&carry_for(metric, 3, 4, "1", lifting), u64::MAX, &mut Unlimited);
        let note = result.note.as_deref().unwrap();
        let end = |reason: &&str| note.ends_with(&format!("{reason}, so the first plan is not improved"));
        assert!(reasons.iter().any(end), "{note}");
        let plan = plan_of(result);
        assert_eq!((plan.cost, plan.bound, plan.optimal, reported.len()), (None, None, false, 0));
    }
}

#[test]
fn a_negative_cost_is_refused_by_name_where_a_cheapest_plan_is_wanted() {
    let task = carry(2, 1, "1", "-1");
    let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
    let result = plan(&task.0, &task.1, &options, &mut Unlimited).unwrap();
    let SearchOutcome::Unsupported(why) = result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!(why[0].what, "an action that makes the metric better");
}

#[test]
fn a_plan_of_more_than_100_000_steps_is_improved_within_its_limits() {
    // Guards against recursion over the steps of a plan, which overflows the stack, and against work that is quadratic in their number,
    // which the limit on states does not end.
    // The task is a binary counter. Adding two is one step, and it costs more than adding one twice.
    let bits = 17;
    let all = (1u32 << bits) - 1;
    let action = |name: &str, bit: usize, from: usize, cost: u32| {
        let low = |not: &str| {
            (from..bit)
                .map(|b| format!("({not}one b{b}){}", &")"[..usize::from(!not.is_empty())]))
                .collect::<String>()
        };
        format!(
            "(:action {name}-{bit} :parameters () :precondition (and {} (not (one b{bit})))
              :effect (and {} (one b{bit}) (increase (total-cost) {cost})))",
            low(""),
            low("not (")
        )
    };
    let actions: String = (0..bits)
        .map(|bit| action("one", bit, 0, 1))
        .chain((1..bits).map(|bit| action("two", bit, 1, 5)))
        .collect();
    let names: String = (0..bits).map(|bit| format!(" b{bit}")).collect();
    let goal: String = (0..bits).map(|bit| format!("(one b{bit})")).collect();
    let domain = format!(
        "(define (domain count) (:constants{names}) (:predicates (one ?b)) (:functions (total-cost)) {actions})"
    );
    let problem = format!(
        "(define (problem all) (:domain count) (:init (= (total-cost) 0)) (:goal (and {goal}))
         (:metric minimize (total-cost)))"
    );
    let task = read(&domain, &problem);
    let options =
        PlanOptions { algorithm: Algorithm::Anytime, max_nodes: 2_000_000, ..PlanOptions::default() };
    let mut costs = Vec::new();
    let mut on_plan = |plan: &Plan, _: &'static str| costs.push(plan.cost.unwrap());
    let result = plan_with_progress(&task.0, &task.1, &options, &mut Unlimited, &mut on_plan).unwrap();
    let plan = plan_of(result);
    assert_valid(&task, &plan);
    assert!(costs[0] > f64::from(all), "{}", costs[0]);
    // Only adding one throughout is optimal.
    assert_eq!((plan.cost, plan.steps.len()), (Some(f64::from(all)), all as usize));
}

#[test]
fn a_plan_of_thousands_of_steps_is_improved_to_the_optimum() {
    // Hops of two rooms are fewer steps, and they cost more.
    let domain = "(define (domain row) (:predicates (here ?r) (door ?a ?b)) (:functions (total-cost))
      (:action step :parameters (?a ?b) :precondition (and (here ?a) (door ?a ?b))
        :effect (and (not (here ?a)) (here ?b) (increase (total-cost) 1)))
      (:action hop :parameters (?a ?b ?c) :precondition (and (here ?a) (door ?a ?b) (door ?b ?c))
        :effect (and (not (here ?a)) (here ?c) (increase (total-cost) 5))))";
    let rooms = 4_200;
    let objects: String = (0..=rooms).map(|r| format!(" r{r}")).collect();
    let doors: String = (0..rooms).map(|r| format!("(door r{r} r{})", r + 1)).collect();
    let problem = format!(
        "(define (problem one) (:domain row) (:objects{objects}) (:init (here r0) (= (total-cost) 0) {doors})
         (:goal (here r{rooms})) (:metric minimize (total-cost)))"
    );
    let (result, reported) = improve(&read(domain, &problem), u64::MAX, &mut Unlimited);
    let plan = plan_of(result);
    assert_eq!((reported[0].0, plan.cost, plan.optimal), (10_500.0, Some(4_200.0), true));
}
