//! Fake planners that answer, hang, fork, flood and lie. All are `/bin/sh` scripts.

use super::*;
use planforge_contract::{LimitKind, PlanLimits};
use planforge_plugin_sdk::testing::TestHost;
use std::time::{Duration, Instant};

const DOMAIN: &str = "(define (domain lift)
  (:predicates (floor ?f) (next ?a ?b) (at ?f))
  (:action go
    :parameters (?a ?b)
    :precondition (and (at ?a) (next ?a ?b))
    :effect (and (at ?b) (not (at ?a)))))";

const PROBLEM: &str = "(define (problem up) (:domain lift)
  (:objects f0 f1 f2)
  (:init (at f0) (next f0 f1) (next f1 f2))
  (:goal (at f2)))";

const GOOD: &str = "(go f0 f1)\\n(go f1 f2)\\n";

/// A planner without preset: a script whose first argument is the plan file.
fn script(text: &str) -> ExternalPlannerOptions {
    ExternalPlannerOptions {
        command: vec!["/bin/sh".into(), "-c".into(), text.into(), "planner".into()],
        arguments: ["{plan}", "{domain}", "{problem}"].map(String::from).to_vec(),
        exit_codes: ExitCodes {
            unsolvable: vec![11],
            exhausted: vec![12],
            time: vec![23],
            memory: vec![22],
            unsupported: vec![34],
            ..ExitCodes::default()
        },
        time_limit_s: 300,
        ..Default::default()
    }
}

/// The same script where a preset's program is expected.
fn preset(preset: Preset, text: &str) -> ExternalPlannerOptions {
    ExternalPlannerOptions { preset: Some(preset), arguments: vec![], ..script(text) }
}

fn request() -> PlanRequest {
    PlanRequest { domain: DOMAIN.into(), problem: PROBLEM.into(), k: 1, ..PlanRequest::default() }
}

fn ask(options: ExternalPlannerOptions, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
    ExternalPlanner::create(options, &Secrets::default()).unwrap().plan(&TestHost::new(), request)
}

fn failure(options: ExternalPlannerOptions) -> Failure {
    ask(options, &request()).unwrap_err()
}

#[test]
fn a_plan_is_read_tried_and_its_cost_is_known() {
    let outcome = ask(script(&format!("printf '{GOOD}' > \"$1\"")), &request()).unwrap();
    let plan = outcome.best().unwrap();
    assert_eq!(plan.steps, ["(go f0 f1)", "(go f1 f2)"]);
    assert_eq!(plan.cost, Some(2.0));
}

#[test]
fn times_of_a_plan_are_read_and_validated() {
    let domain =
        "(define (domain cellar) (:requirements :durative-actions) (:predicates (light) (dark) (mended))
      (:durative-action burn :parameters () :duration (= ?duration 8) :condition (at start (dark))
        :effect (and (at start (not (dark))) (at start (light)) (at end (not (light)))))
      (:durative-action mend :parameters () :duration (= ?duration 5) :condition (over all (light))
        :effect (at end (mended))))";
    let problem = "(define (problem p) (:domain cellar) (:init (dark)) (:goal (mended)))";
    let request = PlanRequest { domain: domain.into(), problem: problem.into(), ..request() };
    let text = "printf '0.000: (burn) [8.000]\\n0.001: (mend) [5.000]\\n' > \"$1\"";
    let outcome = ask(script(text), &request).unwrap();
    let plan = outcome.best().unwrap();
    assert_eq!(plan.timed_steps(), ["0.000: (burn) [8.000]", "0.001: (mend) [5.000]"]);
    assert_eq!((plan.cost, plan.makespan()), (Some(8.0), Some(8.0)));
    let late = text.replace("0.001", "4.000");
    assert_eq!(ask(script(&late), &request).unwrap_err().code, "external.wrong-plan");
    // Without durative actions, the times are only the order.
    let text = "printf '0: (go f0 f1) [1]\\n0: (go f1 f2) [1]\\n' > \"$1\"";
    let outcome = ask(script(text), &self::request()).unwrap();
    assert_eq!(outcome.best().unwrap().timed_steps(), ["(go f0 f1)", "(go f1 f2)"]);
}

#[test]
fn the_program_gets_the_task_in_a_folder_of_its_own() {
    let text =
        format!("cmp -s \"$2\" domain.pddl && grep -q 'problem up' \"$3\" && printf '{GOOD}' > sas_plan");
    assert_eq!(ask(script(&text), &request()).unwrap().name(), "plan");
    let secret = "[ -z \"$CARGO_MANIFEST_DIR\" ] && [ \"$GIVEN\" = yes ] && exit 12; exit 1";
    let options = ExternalPlannerOptions { env: [("GIVEN".into(), "yes".into())].into(), ..script(secret) };
    assert_eq!(
        ask(options, &request()).unwrap().name(),
        "exhausted",
        "its environment is what the options say"
    );
}

#[test]
fn every_exit_code_has_its_outcome_and_none_reads_as_another() {
    let outcome = |code: i32| ask(script(&format!("exit {code}")), &request());
    assert_eq!(outcome(11).unwrap().name(), "proven-unsolvable");
    assert_eq!(outcome(12).unwrap().name(), "exhausted");
    assert_eq!(outcome(34).unwrap().name(), "unsupported");
    let limit = |code| match outcome(code).unwrap() {
        PlanOutcome::LimitReached { limit, .. } => limit,
        other => panic!("{other:?}"),
    };
    assert_eq!((limit(22), limit(23)), (LimitKind::Memory, LimitKind::Time));
    assert_eq!(outcome(1).unwrap_err().code, "external.broke");
    let fd = |code: i32| {
        let text = format!("printf '{GOOD}' > sas_plan.1; exit {code}");
        ask(preset(Preset::FastDownward, &text), &request()).map(|o| o.name())
    };
    let names = [0, 1, 2, 3, 10, 11, 12, 20, 23, 34].map(|c| fd(c).unwrap());
    let plan = "plan";
    assert_eq!(
        names,
        [
            plan,
            plan,
            plan,
            plan,
            "proven-unsolvable",
            "proven-unsolvable",
            "exhausted",
            plan,
            plan,
            "unsupported"
        ],
        "a plan found before a limit is kept"
    );
    for code in [4, 30, 31, 32, 33, 35, 36, 127] {
        assert_eq!(fd(code).unwrap_err().code, "external.broke", "{code}");
    }
}

#[test]
fn only_valid_plans_of_a_program_are_accepted() {
    let say = |which, text: &str| ask(preset(which, &format!("echo '{text}'")), &request());
    assert_eq!(
        say(Preset::KStar, "The problem was proved unsolvable by the planner").unwrap().name(),
        "exhausted"
    );
    assert_eq!(say(Preset::KStar, "Timeout was reached before").unwrap().name(), "limit-reached");
    assert_eq!(say(Preset::Pyperplan, "WARNING No solution could be found").unwrap().name(), "exhausted");
    assert_eq!(say(Preset::KStar, "The following error occurred").unwrap_err().code, "external.broke");
    let text = "printf 'Plan 1, of cost 2\\n1. (go f0 f1)\\n2. (go f1 f2)\\n'";
    let PlanOutcome::Plan { optimal, plans, .. } = ask(preset(Preset::KStar, text), &request()).unwrap()
    else {
        panic!("a plan was printed")
    };
    assert!(optimal && plans.len() == 1);
    let text = format!("printf '{GOOD}' > problem.pddl.soln");
    assert_eq!(ask(preset(Preset::Pyperplan, &text), &request()).unwrap().name(), "plan");
}

#[test]
fn several_plans_come_best_first_and_no_more_than_asked_for() {
    let domain = DOMAIN.replace(
        "(:action go",
        "(:action stay :parameters (?a) :precondition (at ?a) :effect (at ?a))\n  (:action go",
    );
    let write = "printf '(stay f0)\\n(go f0 f1)\\n(go f1 f2)\\n' > sas_plan.1; printf '(go f0 f1)\\n(go f1 f2)\\n' > sas_plan.2";
    let request = PlanRequest { domain, k: 5, ..request() };
    let count = |k| match ask(script(write), &PlanRequest { k, ..request.clone() }).unwrap() {
        PlanOutcome::Plan { plans, .. } => plans.iter().map(|p| p.cost.unwrap()).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!((count(5), count(1)), (vec![2.0, 3.0], vec![2.0]));
}

#[test]
fn liars_are_failures_of_the_program() {
    assert_eq!(failure(script("exit 0")).code, "external.no-plan-file");
    assert_eq!(failure(script("echo 'found it, see above' > \"$1\"")).code, "external.no-plan-file");
    let wrong = failure(script("printf '(go f1 f2)\\n' > \"$1\""));
    assert_eq!(wrong.code, "external.wrong-plan");
    assert!(wrong.message.contains("step 1 (go f1 f2)"), "{wrong}");
    assert_eq!(failure(script("printf '(go f0 f1)\\n' > \"$1\"")).code, "external.wrong-plan");
    assert_eq!(failure(script("ln -s /etc/hostname \"$1\"")).code, "external.no-plan-file");
    assert_eq!(failure(script("kill -SEGV $$")).code, "external.broke");
    let believed = ExternalPlannerOptions { validate: false, ..script("printf '(go f1 f2)\\n' > \"$1\"") };
    assert_eq!(ask(believed, &request()).unwrap().name(), "plan");
}

#[test]
fn a_program_that_hangs_is_killed_with_all_that_it_started() {
    // On a busy machine the program needs longer than that to start what is to be killed.
    let attempt = |time_ms| {
        let pids = tempfile::NamedTempFile::new().unwrap();
        let text = format!(
            "sleep 3600 & echo $! >> {0}; (setsid sleep 3600 & echo $! >> {0}); sleep 3600",
            pids.path().display()
        );
        let limits = PlanLimits { time_ms: Some(time_ms), ..PlanLimits::default() };
        let outcome = ask(script(&text), &PlanRequest { limits, ..request() }).unwrap();
        assert!(matches!(outcome, PlanOutcome::LimitReached { limit: LimitKind::Time, .. }), "{outcome:?}");
        let started = std::fs::read_to_string(pids.path()).unwrap();
        let started: Vec<String> = started.lines().map(str::to_owned).collect();
        (started.len() == 2).then_some(started)
    };
    let started = [400, 4_000, 40_000].into_iter().find_map(attempt).unwrap();
    // A killed process that was not waited for still has an id; its state is zombie.
    let lives = |pid: &String| {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    let looks = (0..30_000).take_while(|_| started.iter().any(lives));
    assert!(looks.map(|_| std::thread::sleep(Duration::from_millis(10))).count() < 30_000, "{started:?}");
}

#[test]
fn a_program_that_floods_is_killed() {
    let small = |text: &str| ExternalPlannerOptions { output_limit_kb: 64, ..script(text) };
    assert_eq!(failure(small("yes")).code, "external.flooded");
    assert_eq!(failure(small("yes >&2")).code, "external.flooded");
    let file = failure(small("head -c 200000 /dev/zero > \"$1\""));
    assert_eq!(file.code, "external.flooded");
}

#[test]
fn an_interrupt_ends_the_program() {
    let host = TestHost::new();
    host.cancel();
    let planner = ExternalPlanner::create(script("sleep 3600"), &Secrets::default()).unwrap();
    let outcome = planner.plan(&host, &request()).unwrap();
    assert!(matches!(outcome, PlanOutcome::LimitReached { limit: LimitKind::Cancelled, .. }), "{outcome:?}");
}

#[test]
fn a_program_that_is_not_there_is_named_with_the_way_to_get_it() {
    let options = ExternalPlannerOptions {
        preset: Some(Preset::Pyperplan),
        command: vec!["/no/such/planner".into()],
        ..Default::default()
    };
    let failure = failure(options);
    assert_eq!(failure.code, "external.not-started");
    assert!(failure.help.iter().any(|h| h.contains("pip install pyperplan")), "{failure:?}");
}

#[test]
fn damaged_and_unsupported_tasks_never_start_the_program() {
    let never = || script("exit 1");
    let damaged = PlanRequest { problem: PROBLEM.replace("(at f2)", "(over f2)"), ..request() };
    assert_eq!(ask(never(), &damaged).unwrap().name(), "unreadable");
    let domain = DOMAIN.replace("(next ?a ?b))", "(next ?a ?b) (not (at ?b)))");
    let negative = PlanRequest { domain, ..request() };
    let pyperplan = ExternalPlannerOptions { preset: Some(Preset::Pyperplan), arguments: vec![], ..never() };
    let PlanOutcome::Unsupported { diagnostics } = ask(pyperplan.clone(), &negative).unwrap() else {
        panic!("pyperplan has no negative preconditions")
    };
    insta::assert_json_snapshot!(diagnostics);
    assert_eq!(ask(pyperplan, &PlanRequest { k: 3, ..request() }).unwrap().name(), "unsupported");
    assert_eq!(
        ask(never(), &negative).unwrap_err().code,
        "external.broke",
        "without preset every task is tried"
    );
}

#[test]
fn a_running_program_is_progress() {
    let host = TestHost::new().cancel_at_progress();
    let hour_ago = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
    let timer = ProgressTimer::since(&host, "seconds of the planner", hour_ago);
    // The program does not end by itself: the report interrupts it.
    let outcome = solve::run(&timer, &script("exec sleep 3600"), &request()).unwrap();
    assert!(matches!(outcome, PlanOutcome::LimitReached { limit: LimitKind::Cancelled, .. }), "{outcome:?}");
    assert!(host.progress_reports()[0].0 >= 3600);
}
