//! Each way in which the planner answers, on small tasks.

use super::*;
use planforge_planning::Unlimited;
use planforge_plugin_sdk::testing::TestHost;

const DOMAIN: &str = "(define (domain rooms)
  (:requirements :strips :typing :action-costs)
  (:types room)
  (:predicates (in ?r - room) (door ?a ?b - room) (lit ?r - room))
  (:functions (total-cost) - number)
  (:action walk
    :parameters (?a ?b - room)
    :precondition (and (in ?a) (door ?a ?b))
    :effect (and (not (in ?a)) (in ?b) (increase (total-cost) 1)))
  (:action jump
    :parameters (?a ?b - room)
    :precondition (in ?a)
    :effect (and (not (in ?a)) (in ?b) (increase (total-cost) 9)))
  (:action light
    :parameters (?r - room)
    :precondition (in ?r)
    :effect (and (lit ?r) (increase (total-cost) 1))))";

fn problem(goal: &str, metric: bool) -> String {
    let metric = if metric { "\n  (:metric minimize (total-cost))" } else { "" };
    format!(
        "(define (problem r)
  (:domain rooms)
  (:objects a b c - room)
  (:init (in a) (door a b) (door b c) (= (total-cost) 0))
  (:goal {goal}){metric})"
    )
}

fn plan(options: ClassicalPlannerOptions, request: &PlanRequest) -> PlanOutcome {
    plan_with(&TestHost::for_kind(PluginKind::Planner), options, request)
}

fn plan_with(host: &TestHost, options: ClassicalPlannerOptions, request: &PlanRequest) -> PlanOutcome {
    ClassicalPlanner::create(options, &Secrets::default()).unwrap().plan(host, request).unwrap()
}

fn request(problem: String) -> PlanRequest {
    PlanRequest { domain: DOMAIN.into(), problem, k: 1, ..PlanRequest::default() }
}

fn with(search: Search) -> ClassicalPlannerOptions {
    ClassicalPlannerOptions { search, ..Default::default() }
}

#[test]
fn astar_proves_the_cheapest_plan() {
    let outcome = plan(with(Search::Astar), &request(problem("(lit c)", true)));
    let PlanOutcome::Plan { plans, optimal, statistics } = outcome else { panic!("{outcome:?}") };
    assert_eq!(plans[0].steps, ["(walk a b)", "(walk b c)", "(light c)"]);
    assert_eq!((plans[0].cost, optimal), (Some(3.0), true));
    assert!(statistics.expanded.is_some() && statistics.ground_actions.is_some());
    assert!(statistics.search.contains("LM-cut"), "{}", statistics.search);
}

#[test]
fn bfs_finds_the_fewest_steps_and_calls_them_cheapest_only_without_a_metric() {
    let counted = plan(with(Search::Bfs), &request(problem("(lit c)", false)));
    let PlanOutcome::Plan { plans, optimal, .. } = counted else { panic!("{counted:?}") };
    assert_eq!((plans[0].steps.len(), optimal), (2, true));
    let costed = plan(with(Search::Bfs), &request(problem("(lit c)", true)));
    let PlanOutcome::Plan { plans, optimal, .. } = costed else { panic!("{costed:?}") };
    assert_eq!((plans[0].steps.len(), plans[0].cost, optimal), (2, Some(10.0), false));
}

#[test]
fn greedy_never_claims_the_cheapest() {
    let outcome = plan(ClassicalPlannerOptions::default(), &request(problem("(and (lit a) (lit c))", true)));
    let PlanOutcome::Plan { plans, optimal, .. } = outcome else { panic!("{outcome:?}") };
    assert!(!optimal);
    let file = planforge_planning::parse_plan(&plans[0].to_ipc(), planforge_diagnostics::SourceId(2));
    let ids = planforge_pddl::TaskSources::default();
    let domain = planforge_pddl::parse_domain(DOMAIN, ids.domain).value;
    let problem = planforge_pddl::parse_problem(&problem("(and (lit a) (lit c))", true), ids.problem).value;
    let report = planforge_planning::validate(&domain, &problem, &file, &mut Unlimited).unwrap();
    assert!(report.is_valid(), "{:?}", report.diagnostics);
    assert_eq!(report.cost, plans[0].cost);
}

#[test]
fn no_plan_is_proven_and_explained() {
    let mut request = request(problem("(lit c)", false));
    request.domain = DOMAIN.replace("(and (lit ?r) (increase (total-cost) 1))", "(increase (total-cost) 1)");
    let outcome = plan(ClassicalPlannerOptions::default(), &request);
    let PlanOutcome::ProvenUnsolvable { explanation, .. } = outcome else { panic!("{outcome:?}") };
    assert!(explanation.iter().any(|line| line.contains("lit")), "{explanation:?}");
}

#[test]
fn a_task_with_errors_is_unreadable_and_every_error_has_its_place() {
    let broken = problem("(lit kitchen)", false).replace("(in a)", "(inside a)");
    let outcome = plan(ClassicalPlannerOptions::default(), &request(broken));
    let PlanOutcome::Unreadable { diagnostics } = outcome else { panic!("{outcome:?}") };
    let errors: Vec<(&str, u32)> = diagnostics
        .iter()
        .filter(|d| d.severity == ReportedSeverity::Error)
        .map(|d| (d.file.as_str(), d.line))
        .collect();
    assert_eq!(errors, [("problem", 4), ("problem", 5)], "{diagnostics:?}");
    let empty = plan(ClassicalPlannerOptions::default(), &PlanRequest { k: 1, ..PlanRequest::default() });
    assert_eq!(empty.name(), "unreadable");
}

#[test]
fn a_problem_for_another_domain_is_unreadable() {
    let outcome = plan(
        ClassicalPlannerOptions::default(),
        &request(problem("(lit a)", false).replace("rooms", "halls")),
    );
    let PlanOutcome::Unreadable { diagnostics } = outcome else { panic!("{outcome:?}") };
    assert!(diagnostics.iter().any(|d| d.code == "pddl.wrong-domain"), "{diagnostics:?}");
}

#[test]
fn unsupported_constructs_are_reported_with_their_place() {
    let domain = "(define (domain d)
  (:requirements :durative-actions)
  (:predicates (p) (q))
  (:durative-action a
    :parameters ()
    :duration (= ?duration 1)
    :condition (at start (p))
    :effect (at end (q))))";
    let problem = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))";
    let request =
        PlanRequest { domain: domain.into(), problem: problem.into(), k: 1, ..PlanRequest::default() };
    let PlanOutcome::Plan { plans, .. } = plan(with(Search::Greedy), &request) else { panic!("no plan") };
    assert_eq!(plans[0].to_ipc(), "0.000: (a) [1.000]\n; cost = 1\n");
    let outcome = plan(with(Search::Astar), &request);
    let PlanOutcome::Unsupported { diagnostics } = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        (diagnostics[0].code.as_str(), diagnostics[0].file.as_str(), diagnostics[0].line),
        ("planner.unsupported", "domain", 4)
    );
    assert!(!diagnostics[0].help.is_empty());
}

#[test]
fn several_plans_are_the_cheapest_in_order_with_any_search() {
    let request = PlanRequest { k: 3, ..request(problem("(lit b)", true)) };
    for search in [Search::Greedy, Search::Astar, Search::Bfs, Search::TopK] {
        let PlanOutcome::Plan { plans, optimal, .. } = plan(with(search), &request) else {
            panic!("no plans")
        };
        let found: Vec<(f64, String)> = plans.iter().map(|p| (p.cost.unwrap(), p.steps.join(" "))).collect();
        let expected = [
            (2.0, "(walk a b) (light b)"),
            (3.0, "(light a) (walk a b) (light b)"),
            (3.0, "(walk a b) (light b) (light b)"),
        ];
        assert_eq!(found, expected.map(|(cost, text)| (cost, text.to_owned())));
        assert!(optimal);
    }
}

#[test]
fn quality_bounds_the_plans_and_fewer_than_asked_for_are_all() {
    let request = PlanRequest { k: 50, ..request(problem("(lit b)", true)) };
    let options = ClassicalPlannerOptions { quality: Some(1.5), ..Default::default() };
    let PlanOutcome::Plan { plans, .. } = plan(options, &request) else { panic!("no plans") };
    assert!(plans.len() > 2 && plans.len() < 50 && plans.iter().all(|p| p.cost.unwrap() <= 3.0));
    let dropped = ClassicalPlannerOptions {
        semantics: planforge_plugin_common::judging::Semantics::GroundNoOpsDropped,
        ..with(Search::TopK)
    };
    let one = PlanRequest { k: 1, ..request };
    let PlanOutcome::Plan { plans, .. } = plan(dropped, &one) else { panic!("no plans") };
    assert_eq!((plans.len(), plans[0].cost), (1, Some(2.0)));
}

#[test]
fn a_limit_before_the_last_plan_is_a_limit() {
    let limits = PlanLimits { nodes: Some(50), ..PlanLimits::default() };
    let request = PlanRequest { k: 1000, limits, ..request(problem("(lit b)", true)) };
    let outcome = plan(ClassicalPlannerOptions::default(), &request);
    assert!(outcome.best().is_none(), "what a limit leaves is no answer");
    let PlanOutcome::LimitReached { limit: LimitKind::Nodes, message, plans, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert!(!plans.is_empty() && plans.len() < 1000);
    let found = format!("{} of 1000 plans had been found; they are the cheapest", plans.len());
    assert!(message.contains(&found), "{message}");
    let whole = PlanRequest { limits: PlanLimits::default(), k: plans.len() as u32, ..request.clone() };
    let PlanOutcome::Plan { plans: first, .. } = plan(ClassicalPlannerOptions::default(), &whole) else {
        panic!("no plans")
    };
    assert_eq!(plans, first, "what a limit leaves is the beginning of the whole answer");
    let limits = PlanLimits { nodes: Some(2), ..PlanLimits::default() };
    let none = plan(ClassicalPlannerOptions::default(), &PlanRequest { limits, ..request });
    let PlanOutcome::LimitReached { message, plans, .. } = none else { panic!("{none:?}") };
    assert!(plans.is_empty() && message.ends_with("0 of 1000 plans had been found"), "{message}");
}

/// A task whose search takes far longer than any limit here.
fn hard() -> PlanRequest {
    let balls: String = (0..40).map(|n| format!(" k{n}")).collect();
    let goal: String = (0..40).map(|n| format!(" (at k{n} z)")).collect();
    let init: String = (0..40).map(|n| format!(" (at k{n} y)")).collect();
    PlanRequest {
        domain: "(define (domain carry) (:predicates (at ?k ?r) (place ?r) (held ?k))
            (:action take :parameters (?k ?r) :precondition (at ?k ?r) :effect (and (held ?k) (not (at ?k ?r))))
            (:action put :parameters (?k ?r) :precondition (and (held ?k) (place ?r)) :effect (and (at ?k ?r) (not (held ?k)))))"
            .into(),
        problem: format!("(define (problem c) (:domain carry) (:objects y z{balls}) (:init (place y) (place z){init}) (:goal (and{goal})))"),
        k: 1,
        ..PlanRequest::default()
    }
}

fn limit(outcome: PlanOutcome) -> LimitKind {
    match outcome {
        PlanOutcome::LimitReached { limit, message, .. } => {
            assert!(!message.is_empty());
            limit
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_limit_is_named() {
    let limited = |limits: PlanLimits| limit(plan(with(Search::Bfs), &PlanRequest { limits, ..hard() }));
    assert_eq!(limited(PlanLimits { time_ms: Some(30), ..PlanLimits::default() }), LimitKind::Time);
    assert_eq!(limited(PlanLimits { nodes: Some(100), ..PlanLimits::default() }), LimitKind::Nodes);
    assert_eq!(
        limited(PlanLimits { memory_bytes: Some(1 << 20), ..PlanLimits::default() }),
        LimitKind::Memory
    );
}

#[test]
fn the_lower_of_stage_and_option_counts() {
    let options = ClassicalPlannerOptions { node_limit: Some(50), ..with(Search::Bfs) };
    let limits = PlanLimits { nodes: Some(u64::MAX), ..PlanLimits::default() };
    assert_eq!(limit(plan(options, &PlanRequest { limits, ..hard() })), LimitKind::Nodes);
    let options = ClassicalPlannerOptions { memory_limit_mb: Some(1), ..with(Search::Bfs) };
    assert_eq!(limit(plan(options, &hard())), LimitKind::Memory);
}

#[test]
fn the_hosts_deadline_and_an_interrupt_end_the_search() {
    assert_eq!(
        limit(plan_with(&TestHost::new().remaining_ms(80), with(Search::Bfs), &hard())),
        LimitKind::Time
    );
    let host = TestHost::new();
    host.cancel();
    assert_eq!(limit(plan_with(&host, with(Search::Bfs), &hard())), LimitKind::Cancelled);
}

/// Eight balls, two hands and a row of six rooms: the first plan carries one ball at a time.
fn balls() -> PlanRequest {
    let domain = "(define (domain balls)
      (:predicates (door ?a ?b) (here ?r) (at ?b ?r) (held ?b ?h) (free ?h))
      (:action move :parameters (?a ?b) :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))
      (:action pick :parameters (?b ?r ?h) :precondition (and (at ?b ?r) (here ?r) (free ?h))
        :effect (and (held ?b ?h) (not (at ?b ?r)) (not (free ?h))))
      (:action drop :parameters (?b ?r ?h) :precondition (and (held ?b ?h) (here ?r))
        :effect (and (at ?b ?r) (not (held ?b ?h)) (free ?h))))";
    let numbered =
        |count, text: &str| (0..count).map(|n| text.replace('#', &n.to_string())).collect::<String>();
    let doors: String = (1..6).map(|r| format!("(door r{0} r{r}) (door r{r} r{0})", r - 1)).collect();
    let problem = format!(
        "(define (problem one) (:domain balls) (:objects left right{}{})
          (:init (here r0) (free left) (free right) {doors} {}) (:goal (and {})))",
        numbered(6, " r#"),
        numbered(8, " b#"),
        numbered(8, "(at b# r0)"),
        numbered(8, "(at b# r5)")
    );
    PlanRequest { domain: domain.into(), problem, k: 1, ..PlanRequest::default() }
}

fn only_plan(outcome: PlanOutcome) -> PlanDocument {
    let PlanOutcome::Plan { mut plans, .. } = outcome else { panic!("{outcome:?}") };
    plans.pop().unwrap()
}

#[test]
fn anytime_reports_each_better_plan_and_gives_the_last_with_its_bound() {
    let host = TestHost::for_kind(PluginKind::Planner);
    let options = ClassicalPlannerOptions { node_limit: Some(200_000), ..with(Search::Anytime) };
    let best = only_plan(plan_with(&host, options.clone(), &balls()));
    let logs: Vec<String> = host.logs().into_iter().map(|log| log.1).collect();
    let size = format!("{} steps after ", best.steps.len());
    assert!(logs.last().unwrap().starts_with(&size), "{logs:?}");
    assert!(best.bound.unwrap() > 16.0 && best.bound <= best.cost, "{best:?}");
    let first = only_plan(plan(with(Search::Greedy), &balls()));
    assert!(best.steps.len() < first.steps.len() && first.bound.is_none());
    assert_eq!(best, only_plan(plan(options.clone(), &balls())));
    // One thread finds the same plans in the same order.
    let other = TestHost::for_kind(PluginKind::Planner);
    let alone = ClassicalPlannerOptions { threads: Some(1), ..options };
    assert_eq!(best, only_plan(plan_with(&other, alone, &balls())));
    let sizes = |host: &TestHost| -> Vec<String> {
        let first_words = |text: &str| text.split(" after ").next().unwrap().to_owned();
        host.logs().iter().map(|log| first_words(&log.1)).collect()
    };
    assert_eq!(sizes(&host), sizes(&other));
}

#[test]
fn each_plan_is_reported_once_where_that_is_an_option() {
    let host = TestHost::for_kind(PluginKind::Planner);
    let limited = ClassicalPlannerOptions { node_limit: Some(200_000), ..with(Search::Anytime) };
    let options = ClassicalPlannerOptions { report_plans: true, ..limited.clone() };
    let best = only_plan(plan_with(&host, options, &balls()));
    let reported: Vec<PlanDocument> = host
        .logs()
        .into_iter()
        .filter(|log| log.0 == LogLevel::Debug)
        .map(|log| serde_json::from_str(&log.1).unwrap())
        .collect();
    assert!(
        reported.len() > 1 && reported.windows(2).all(|pair| pair[1].cost < pair[0].cost),
        "{reported:?}"
    );
    assert_eq!(reported[0].steps, only_plan(plan(with(Search::Greedy), &balls())).steps);
    assert_eq!(reported.last().unwrap().steps, best.steps);
    let silent = TestHost::for_kind(PluginKind::Planner);
    plan_with(&silent, limited, &balls());
    assert!(silent.logs().iter().all(|log| log.0 != LogLevel::Debug));
}

#[test]
fn an_interrupt_ends_the_work_on_both_threads() {
    let host = TestHost::new();
    let mut budget = CallBudget { threads: 2, ..CallBudget::new(&host, &PlanLimits::default()) };
    let wait = |limits: &mut dyn ResourceLimits| while limits.poll() == Poll::Continue {};
    let mut second = wait;
    let mut first = |limits: &mut dyn ResourceLimits| {
        host.cancel();
        wait(limits);
    };
    assert!(budget.run_side_by_side(&mut first, &mut second));
    budget.threads = 1;
    assert!(!budget.run_side_by_side(&mut first, &mut second));
}

#[test]
fn a_limit_after_the_first_plan_gives_the_best_so_far() {
    let first = only_plan(plan(with(Search::Greedy), &balls()));
    let at_once = ClassicalPlannerOptions { improve_s: Some(0), ..with(Search::Anytime) };
    assert_eq!(only_plan(plan(at_once, &balls())).steps, first.steps);
    let limits = [
        PlanLimits { time_ms: Some(1_000), ..PlanLimits::default() },
        PlanLimits { memory_bytes: Some(3 << 20), time_ms: Some(1_000), ..PlanLimits::default() },
    ];
    for limits in limits {
        let best = only_plan(plan(with(Search::Anytime), &PlanRequest { limits, ..balls() }));
        assert!(best.steps.len() <= first.steps.len());
    }
}

#[test]
fn improvement_ends_after_ten_seconds_only_without_another_limit() {
    let limits = |time_ms, nodes| PlanLimits { time_ms, nodes, ..PlanLimits::default() };
    let seconds = |improve_s, limits| {
        ClassicalPlannerOptions { improve_s, ..with(Search::Anytime) }.improvement(&limits)
    };
    assert_eq!(seconds(None, limits(None, None)), Some(Duration::from_secs(10)));
    assert_eq!(seconds(None, limits(Some(1), None)), None);
    assert_eq!(seconds(None, limits(None, Some(1))), None);
    assert_eq!(seconds(Some(3), limits(Some(1), Some(1))), Some(Duration::from_secs(3)));
}

#[test]
fn every_code_is_explained_once() {
    let codes: std::collections::BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.iter().all(|c| c.starts_with("planner.")));
}

#[test]
fn the_example_suites_have_plans_that_validate() {
    let suites = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/suites");
    let ids = planforge_pddl::TaskSources::default();
    let mut solved = 0;
    // The others' tasks are planned for, greedily, by the tests of planforge-suites.
    for suite in ["parcels", "garden"].map(|name| suites.join(name)) {
        let domain = std::fs::read_to_string(suite.join("domain.pddl")).unwrap();
        for file in std::fs::read_dir(&suite).unwrap().map(|e| e.unwrap().path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            if !name.starts_with('p') || !name.ends_with(".pddl") || name.ends_with("_template.pddl") {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let request =
                PlanRequest { domain: domain.clone(), problem: text.clone(), k: 1, ..PlanRequest::default() };
            let outcome = plan(with(Search::Astar), &request);
            let PlanOutcome::Plan { plans, optimal: true, .. } = outcome else {
                panic!("{name}: {outcome:?}")
            };
            let tree = planforge_pddl::parse_domain(&domain, ids.domain).value;
            let problem = planforge_pddl::parse_problem(&text, ids.problem).value;
            let file = planforge_planning::parse_plan(&plans[0].to_ipc(), planforge_diagnostics::SourceId(2));
            let report = planforge_planning::validate(&tree, &problem, &file, &mut Unlimited).unwrap();
            assert!(report.is_valid(), "{name}: {:?}", report.diagnostics);
            solved += 1;
        }
    }
    assert!(solved >= 8, "{solved} tasks of two suites");
}
