//! Plans with times: every plan is valid by the definitions, concurrency and deadlines are met, hostile input ends with one clear result.

use crate::support::{Random, read};
use crate::timed::{OBJECTS, Step, judge, random_plan, random_task, tests};
use planforge_diagnostics::SourceId;
use planforge_pddl::Number;
use planforge_planning::{
    Algorithm, CountingLimits, Plan, PlanOptions, PlanResult, ResourceLimits, SearchOutcome, StopReason,
    Unlimited, ValidationOptions, Validator, normalize, parse_plan, plan_with_progress,
};

fn solve(domain: &str, problem: &str, algorithm: Algorithm, limits: &mut dyn ResourceLimits) -> PlanResult {
    let (domain, problem) = read(domain, problem);
    let options = PlanOptions { algorithm, max_nodes: 10_000, ..PlanOptions::default() };
    plan_with_progress(&domain, &problem, &options, limits, &mut |_, _| ()).unwrap()
}

/// A plan with the times in the ticks of the simulator, which are half thousandths.
fn ticks(plan: &Plan) -> Vec<Step> {
    let count = |time: Number| {
        let (ticks, denominator) = (time * Number::integer(2000)).parts().unwrap();
        assert_eq!(denominator, 1, "{plan}");
        ticks as i64
    };
    let steps = plan.steps.iter().zip(&plan.times).map(|(step, times)| Step {
        schema: plan.symbols.actions[step.action as usize].strip_prefix("act").unwrap().parse().unwrap(),
        object: OBJECTS.iter().position(|o| *o == plan.symbols.objects[step.args[0] as usize]).unwrap(),
        start: count(times.start),
        duration: times.duration.map_or(0, count),
    });
    steps.collect()
}

#[test]
fn plans_of_tiny_tasks_are_valid_by_the_definitions() {
    let (mut found, mut with_plan, mut missed, mut steps) = (0, 0, 0, 0);
    for seed in (0..300).chain(980..1_000) {
        let mut random = Random::new(seed);
        let mut task = random_task(&mut random);
        task.goal = tests(&mut random, 80, false);
        let (domain, problem) = task.texts();
        let has_plan = (0..20).any(|_| judge(&task, &random_plan(&mut random, &task)).is_some());
        let algorithm = if seed % 10 == 0 { Algorithm::Anytime } else { Algorithm::Greedy };
        let result = solve(&domain, &problem, algorithm, &mut Unlimited);
        with_plan += u32::from(has_plan);
        match &result.outcome {
            SearchOutcome::Plan(plan) => {
                let verdict = judge(&task, &ticks(plan));
                let metric = verdict.map(|(_, metric)| Number::fraction(metric.into(), 2000).to_f64());
                assert!(
                    metric.is_some() && plan.cost == metric,
                    "seed {seed}: {verdict:?}\n{domain}\n{problem}\n{plan}"
                );
                found += 1;
                steps += plan.steps.len();
            }
            SearchOutcome::ProvenUnsolvable(why) => {
                assert!(!has_plan, "seed {seed}: {why:?}\n{domain}\n{problem}");
            }
            SearchOutcome::Exhausted | SearchOutcome::LimitReached(StopReason::Nodes) => {
                missed += u32::from(has_plan)
            }
            // Without time, preferences and numeric conditions are not planned with.
            SearchOutcome::Unsupported(_)
                if !domain.contains("durative-action ") && !problem.contains("(at ") => {}
            other => panic!("seed {seed}: {other:?}\n{domain}\n{problem}"),
        }
    }
    println!(
        "{found} plans of {steps} steps; {with_plan} tasks have a plan by chance, {missed} of them missed"
    );
    assert!(found > 50, "{found} {with_plan} {missed}");
}

const CELLAR: &str = "(define (domain cellar) (:requirements :typing :negative-preconditions :durative-actions
     :duration-inequalities :fluents :timed-initial-literals)
  (:types match fuse) (:predicates (unused ?m - match) (light) (free) (broken ?f - fuse) (mended ?f - fuse) (open) (bought))
  (:functions (money) (charge))
  (:durative-action burn :parameters (?m - match) :duration (= ?duration 8) :condition (at start (unused ?m))
    :effect (and (at start (not (unused ?m))) (at start (light)) (at end (not (light)))))
  (:durative-action mend :parameters (?f - fuse) :duration (= ?duration 5)
    :condition (and (at start (free)) (at start (broken ?f)) (over all (light)))
    :effect (and (at start (not (free))) (at end (free)) (at end (mended ?f)) (at start (not (broken ?f)))))
  (:durative-action shop :parameters () :duration (= ?duration 2) :condition (over all (open)) :effect (at end (bought)))
  (:durative-action load :parameters () :duration (and (>= ?duration 1) (<= ?duration 10))
    :effect (at end (increase (charge) (* 2 ?duration))))
  (:durative-action odd :parameters () :duration (= ?duration DURATION) :effect (at end (bought)))
  (:durative-action wide :parameters () :duration (and (>= ?duration 3) (<= ?duration 2)) :effect (at end (bought))))";

/// The outcome on the cellar: a plan in its printed form, or one word.
fn cellar(duration: &str, init: &str, goal: &str) -> String {
    let domain = CELLAR.replace("DURATION", duration);
    let domain =
        if duration.is_empty() { domain.replace("(= ?duration )", "(= ?duration (none))") } else { domain };
    let domain = domain.replace("(:functions (money)", "(:functions (money) (none)");
    let problem = format!(
        "(define (problem x) (:domain cellar) (:objects m1 m2 - match f1 f2 - fuse)
         (:init (unused m1) (unused m2) (free) (broken f1) (broken f2) (= (money) 1) (= (charge) 0) {init})
         (:goal (and {goal})))"
    );
    match solve(&domain, &problem, Algorithm::Anytime, &mut Unlimited).outcome {
        SearchOutcome::Plan(plan) => plan.to_string(),
        SearchOutcome::ProvenUnsolvable(why) => {
            assert!(!why.text().contains('@'), "{}", why.text());
            "unsolvable".to_owned()
        }
        SearchOutcome::Exhausted => "exhausted".to_owned(),
        SearchOutcome::LimitReached(reason) => reason.to_string(),
        SearchOutcome::Unsupported(what) => what[0].what.clone(),
    }
}

#[test]
fn what_needs_concurrency_or_a_clock_is_planned() {
    // One match burns while one fuse is mended: the second fuse needs the second match.
    let plan = cellar("1", "", "(mended f1) (mended f2)");
    assert_eq!(plan.matches("(burn").count(), 2, "{plan}");
    let makespan = plan.lines().last().unwrap();
    assert!(makespan.starts_with("; cost = "), "{plan}");
    // A shop that opens at 4 and closes at 7, and one that closes too early.
    let plan = cellar("500", "(at 4 (open)) (at 7 (not (open)))", "(bought)");
    assert_eq!(plan, "4.000: (shop) [2.000]\n; cost = 6\n");
    let plan = cellar("500", "(at 4 (open)) (at 5 (not (open)))", "(bought)");
    assert_eq!(plan, "0.000: (odd) [500.000]\n; cost = 500\n");
    // The least duration gives 2, the longest one 20.
    assert_eq!(cellar("1", "", "(>= (charge) 2)"), "0.000: (load) [1.000]\n; cost = 1\n");
    assert_eq!(cellar("1", "", "(= (charge) 20)"), "0.000: (load) [10.000]\n; cost = 10\n");
}

#[test]
fn strange_durations_have_one_clear_outcome() {
    let huge = format!("1{}", "0".repeat(30));
    let tiny = format!("0.{}1", "0".repeat(30));
    for (duration, init, expected) in [
        ("0", "", "0.000: (odd) [0.000]\n; cost = 0\n"),
        ("0.0005", "", "0.000: (odd) [0.000500]\n; cost = 0.0005\n"),
        ("(/ 10 3)", "", "0.000: (odd) [3.333333]\n; cost = 3.333333\n"),
        ("-1", "", "exhausted"),
        ("", "", "exhausted"),
        ("(/ (money) 0)", "", "exhausted"),
        ("1", "(at 3 (not (bought)))", "0.000: (odd) [1.000]\n2.001: (odd) [1.000]\n; cost = 3.001\n"),
        (&huge, "", "exhausted"),
        (&tiny, "", "0.000: (odd) [0.000]\n; cost = 0\n"),
    ] {
        let found = cellar(duration, init, "(bought)");
        assert_eq!(found, expected, "{duration} {init}");
    }
}

#[test]
fn copies_of_one_action_do_not_overlap() {
    let domain =
        "(define (domain d) (:requirements :durative-actions :fluents) (:predicates (p)) (:functions (n))
      (:durative-action work :parameters () :duration (= ?duration 4) :effect (at end (increase (n) 1))))";
    let problem = "(define (problem x) (:domain d) (:init (= (n) 0)) (:goal (= (n) 3)))";
    let SearchOutcome::Plan(plan) = solve(domain, problem, Algorithm::Anytime, &mut Unlimited).outcome else {
        panic!()
    };
    assert_eq!(plan.makespan(), Some(Number::fraction(12_002, 1000)), "{plan}");
}

#[test]
fn the_faster_of_two_ways_is_found_after_the_first_plan() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (here) (a) (b) (both))
      (:durative-action one :parameters () :duration (= ?duration 9) :effect (and (at end (a)) (at end (b))))
      (:durative-action left :parameters () :duration (= ?duration 4) :effect (at end (a)))
      (:durative-action right :parameters () :duration (= ?duration 5) :effect (at end (b))))";
    let problem =
        "(define (problem x) (:domain d) (:init) (:goal (and (a) (b))) (:metric minimize (total-time)))";
    let SearchOutcome::Plan(plan) = solve(domain, problem, Algorithm::Anytime, &mut Unlimited).outcome else {
        panic!()
    };
    assert_eq!((plan.cost, plan.optimal), (Some(5.0), false), "{plan}");
}

#[test]
fn every_limit_ends_planning_with_time() {
    let problem = "(define (problem x) (:domain cellar) (:objects m1 m2 - match f1 f2 - fuse)
      (:init (unused m1) (unused m2) (free) (broken f1) (broken f2) (= (money) 1) (= (charge) 0) (at 50 (open)))
      (:goal (and (mended f1) (mended f2) (bought) (>= (charge) 7))))";
    let domain = CELLAR.replace("DURATION", "60");
    let mut plans = 0;
    for polls in [0, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 10_000] {
        let limits = &mut CountingLimits { polls, bytes: u64::MAX };
        match solve(&domain, problem, Algorithm::Anytime, limits).outcome {
            SearchOutcome::Plan(_) => plans += 1,
            SearchOutcome::LimitReached(reason) => assert_eq!(reason, StopReason::Time),
            other => panic!("{other:?}"),
        }
    }
    assert!((1..13).contains(&plans), "{plans}");
    for bytes in [0, 1_000, 10_000, 100_000] {
        let limits = &mut CountingLimits { polls: u64::MAX, bytes };
        let result = solve(&domain, problem, Algorithm::Greedy, limits);
        assert!(
            matches!(
                result.outcome,
                SearchOutcome::Plan(_) | SearchOutcome::LimitReached(StopReason::Memory)
            ),
            "{result:?}"
        );
    }
}

#[test]
fn the_search_with_time_keeps_the_limit_on_nodes() {
    let problem = "(define (problem x) (:domain cellar) (:objects m1 m2 m3 - match f1 f2 - fuse)
      (:init (unused m1) (unused m2) (unused m3) (free) (broken f1) (broken f2) (= (money) 1) (= (charge) 0)
        (at 50 (open)))
      (:goal (and (mended f1) (mended f2) (bought) (>= (charge) 100000))))";
    let (domain, problem) = read(&CELLAR.replace("DURATION", "60"), problem);
    for max_nodes in [1, 100, 1_000] {
        let options = PlanOptions { algorithm: Algorithm::Greedy, max_nodes, ..PlanOptions::default() };
        let result = plan_with_progress(&domain, &problem, &options, &mut Unlimited, &mut |_, _| ()).unwrap();
        assert!(
            matches!(result.outcome, SearchOutcome::LimitReached(StopReason::Nodes)),
            "{:?}",
            result.outcome
        );
        assert!(result.statistics.generated <= max_nodes + 100, "{:?}", result.statistics);
    }
}

#[test]
fn the_memory_of_what_derived_facts_read_is_limited() {
    let objects: String = (0..40).map(|n| format!(" o{n}")).collect();
    let values: String =
        (0..1_600).map(|n| format!("(= (w o{} o{}) 0)", n / 40, n % 40)).collect::<Vec<_>>().join(" ");
    let domain = "(define (domain m) (:requirements :adl :derived-predicates :durative-actions :fluents)
      (:predicates (heavy ?x ?y) (p ?x)) (:functions (w ?x ?y))
      (:derived (heavy ?x ?y) (> (w ?x ?y) 5))
      (:durative-action load :parameters (?x ?y) :duration (= ?duration 1)
        :condition (at start (not (heavy ?x ?y)))
        :effect (and (at end (increase (w ?x ?y) 1)) (at end (p ?x)))))";
    let problem =
        format!("(define (problem m) (:domain m) (:objects{objects}) (:init {values}) (:goal (p o1)))");
    // 1600 facts of 1600 numbers, four bytes each.
    let limits = &mut CountingLimits { polls: u64::MAX, bytes: 9_000_000 };
    let outcome = solve(domain, &problem, Algorithm::Greedy, limits).outcome;
    assert!(matches!(outcome, SearchOutcome::LimitReached(StopReason::Memory)), "{outcome:?}");
}

#[test]
fn reasons_name_what_the_user_named_with_an_at_sign() {
    let domain = "(define (domain a) (:requirements :durative-actions) (:predicates (p@ ?x) (q ?x))
      (:durative-action a :parameters (?x) :duration (= ?duration 1) :condition (at start (q ?x))
        :effect (at end (p@ ?x))))";
    let problem = "(define (problem z) (:domain a) (:objects o@1) (:init) (:goal (p@ o@1)))";
    let SearchOutcome::ProvenUnsolvable(why) =
        solve(domain, problem, Algorithm::Greedy, &mut Unlimited).outcome
    else {
        panic!()
    };
    assert_eq!(why.headline(), None, "{}", why.text());
    assert!(why.text().contains("p@"), "{}", why.text());
}

#[test]
fn what_planning_with_time_does_not_handle_is_named() {
    let problem = "(define (problem x) (:domain cellar) (:objects m1 - match f1 - fuse)
      (:init (unused m1) (free) (broken f1) (= (money) 1) (= (charge) 0)) (:goal (mended f1))
      (:constraints (sometime (light))))";
    let domain =
        CELLAR.replace("DURATION", "1").replace(":durative-actions", ":durative-actions :constraints");
    for algorithm in [Algorithm::AStar, Algorithm::BreadthFirst] {
        let SearchOutcome::Unsupported(found) = solve(&domain, problem, algorithm, &mut Unlimited).outcome
        else {
            panic!()
        };
        assert_eq!(found[0].what, "a durative action");
    }
}

/// The plan for a goal under a constraint, as a text, or why there is none.
fn constrained(goal: &str, constraint: &str) -> String {
    let domain = CELLAR
        .replace("DURATION", "1")
        .replace(":durative-actions", ":durative-actions :constraints :preferences");
    let problem = format!(
        "(define (problem x) (:domain cellar) (:objects m1 m2 - match f1 f2 - fuse)
         (:init (unused m1) (unused m2) (free) (broken f1) (broken f2) (= (money) 1) (= (charge) 0))
         (:goal (and {goal})) (:constraints {constraint}))"
    );
    match solve(&domain, &problem, Algorithm::Greedy, &mut Unlimited).outcome {
        SearchOutcome::Plan(plan) => plan.to_string(),
        SearchOutcome::Exhausted => "exhausted".to_owned(),
        SearchOutcome::LimitReached(StopReason::Nodes) => "limit".to_owned(),
        other => panic!("{constraint}: {other:?}"),
    }
}

/// The planner validates its plans, so that each plan here satisfies its constraint.
#[test]
fn trajectory_constraints_beside_time_are_satisfied() {
    let without = constrained("(mended f1)", "(and)");
    assert!(!without.contains("bought") && !without.contains("load"), "{without}");
    for (constraint, step) in [
        ("(always (unused m1))", "(burn m2)"),
        ("(always (unused m2))", "(burn m1)"),
        ("(sometime (bought))", "(odd)"),
        ("(forall (?f - fuse) (sometime (mended ?f)))", "(mend f2)"),
        ("(sometime-before (mended f1) (bought))", "(odd)"),
        ("(sometime-after (mended f1) (bought))", "(odd)"),
        ("(always-within 6 (light) (mended f1))", "(mend f1)"),
        ("(within 9 (mended f1))", "(mend f1)"),
        ("(and (within 2 (bought)) (hold-after 9 (not (light))))", "(odd)"),
        ("(hold-during 20 24 (light))", "(burn m2)"),
        ("(hold-after 40 (bought))", "(odd)"),
        ("(hold-during 40 50 (bought))", "(odd)"),
        ("(at end (= (charge) 2))", "(load)"),
        ("(sometime (>= (charge) 2))", "(load)"),
        ("(and (always (<= (charge) 2)) (sometime-before (mended f1) (= (charge) 2)))", "(load)"),
    ] {
        let plan = constrained("(mended f1)", constraint);
        assert!(plan.contains(step), "{constraint}: {plan}");
    }
    let goal = "(mended f1) (mended f2)";
    assert!(constrained(goal, "(and)").contains("(mend f2)"));
    // Without a plan, the search ends before the limit on nodes.
    let outcomes = [
        "(at-most-once (light))",
        "(within 3 (mended f1))",
        "(hold-after 3 (not (light)))",
        "(always (= (charge) 1))",
    ]
    .map(|constraint| constrained(goal, constraint));
    assert_eq!(outcomes, ["exhausted"; 4]);
    let during = constrained(goal, "(hold-during 0 5 (not (light)))");
    assert!(during.contains("(mend f2)"), "{during}");
}

#[test]
fn a_printed_plan_is_read_and_valid() {
    let domain = CELLAR.replace("DURATION", "1");
    let problem = "(define (problem x) (:domain cellar) (:objects m1 m2 - match f1 f2 - fuse)
      (:init (unused m1) (unused m2) (free) (broken f1) (broken f2) (= (money) 1) (= (charge) 0))
      (:goal (and (mended f1) (mended f2))))";
    let SearchOutcome::Plan(plan) = solve(&domain, problem, Algorithm::Anytime, &mut Unlimited).outcome
    else {
        panic!()
    };
    let (domain, problem) = read(&domain, problem);
    let options = ValidationOptions { time: true, ..ValidationOptions::default() };
    let file = parse_plan(&plan.to_string(), SourceId(0));
    let report =
        Validator::new(normalize(&domain, &problem).unwrap()).validate_with(&file, &options, &mut Unlimited);
    assert!(report.is_valid() && report.cost == plan.cost, "{plan}");
}
