//! Every verdict, and the feedback texts as snapshots: they are what a model learns from.

mod claims;

use super::*;
use planforge_plugin_sdk::testing::TestHost;
use std::sync::Arc;

const DOMAIN: &str = "(define (domain kitchen)
  (:requirements :strips :typing)
  (:types cup)
  (:predicates (clean ?c - cup) (full ?c - cup) (hot) (served ?c - cup))
  (:action boil
    :parameters ()
    :precondition (not (hot))
    :effect (hot))
  (:action pour
    :parameters (?c - cup)
    :precondition (and
      (hot)
      (clean ?c))
    :effect (and (full ?c) (not (hot))))
  (:action serve
    :parameters (?c - cup)
    :precondition (full ?c)
    :effect (and (served ?c) (not (full ?c)) (not (clean ?c)))))";

const PROBLEM: &str = "(define (problem tea)
  (:domain kitchen)
  (:objects blue red - cup)
  (:init (clean blue) (clean red))
  (:goal (and
    (served blue)
    (served red))))";

const PLAN: &str = "(boil) (pour blue) (serve blue) (boil) (pour red) (serve red)";

fn domain() -> String {
    DOMAIN.replace(":typing", ":typing :negative-preconditions")
}

fn found(steps: &str) -> PlanOutcome {
    let steps = steps.split_inclusive(')').map(|s| s.trim().to_owned()).filter(|s| !s.is_empty()).collect();
    PlanOutcome::Plan {
        plans: vec![PlanDocument { steps, ..PlanDocument::default() }],
        optimal: false,
        statistics: SearchStatistics::default(),
    }
}

fn candidate(domain: &str, problem: &str, plan: Option<&str>) -> Candidate {
    Candidate {
        domain: Some(domain.into()),
        problem: Some(problem.into()),
        plan: plan.map(found),
        ..Candidate::default()
    }
}

fn assess_with(
    host: &TestHost,
    options: PlanVerifierOptions,
    candidate: Candidate,
) -> Result<Assessment, Failure> {
    let request = VerifyRequest { candidates: vec![candidate], ..VerifyRequest::default() };
    let verifier = ValVerifier::create(options, &Secrets::default()).unwrap();
    verifier.verify(host, &request).unwrap().results.remove(0).into_result()
}

fn assess(options: PlanVerifierOptions, candidate: Candidate) -> Assessment {
    assess_with(&TestHost::for_kind(PluginKind::Verifier), options, candidate).unwrap()
}

fn auto(candidate: Candidate) -> Assessment {
    assess(PlanVerifierOptions::default(), candidate)
}

fn undecided(assessment: &Assessment) -> Option<UndecidedReason> {
    match assessment.decision {
        Decision::Undecided { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn a_valid_plan_is_accepted_with_cost_and_trace() {
    let got = auto(candidate(&domain(), PROBLEM, Some(PLAN)));
    assert_eq!(got.decision, Decision::Accepted);
    let metric = |name: &str| got.metrics.get(name).copied();
    assert_eq!(
        [metric("errors"), metric("steps"), metric("executed"), metric("cost")],
        [Some(0.0), Some(6.0), Some(6.0), Some(6.0)]
    );
    assert!(got.feedback.is_empty());
    assert_eq!(got.summary, "The plan is valid: 6 steps, cost 6.");
    insta::assert_json_snapshot!(got.evidence);
}

#[test]
fn a_refused_step_is_reported_with_line_and_remedy() {
    let got = auto(candidate(&domain(), PROBLEM, Some("(boil) (pour blue) (serve blue) (pour blue)")));
    assert_eq!(got.decision, Decision::Rejected);
    assert_eq!(got.metrics.get("executed"), Some(&3.0));
    assert!(!got.metrics.contains_key("cost"));
    assert!(got.diagnostics.iter().any(|d| d.code == "plan.precondition" && d.file == "plan" && d.line == 4));
    insta::assert_snapshot!(got.feedback.join("\n---\n"));
}

#[test]
fn a_missed_goal_is_reported_with_line_and_remedy() {
    let got = auto(candidate(&domain(), PROBLEM, Some("(boil) (pour blue) (serve blue)")));
    assert_eq!(got.decision, Decision::Rejected);
    insta::assert_snapshot!(got.feedback.join("\n---\n"));
}

#[test]
fn an_unreadable_step_is_reported_with_a_similar_action() {
    let got = auto(candidate(&domain(), PROBLEM, Some("(boil) (por blue green) (serve boil)")));
    assert_eq!(got.decision, Decision::Rejected);
    assert_eq!(got.metrics.get("executed"), Some(&1.0));
    insta::assert_snapshot!(got.feedback.join("\n---\n"));
}

#[test]
fn errors_of_the_pddl_reject_and_are_quoted() {
    let broken_domain = domain().replace("(full ?c) (not (hot))", "(ful ?c) (not (hot ?c))");
    let broken_problem = PROBLEM.replace("(clean red)", "(clean green)").replace("))))", "))");
    let got = auto(candidate(&broken_domain, &broken_problem, None));
    assert_eq!(got.decision, Decision::Rejected);
    assert!(got.metrics["errors"] >= 3.0, "{:?}", got.metrics);
    assert_eq!(got.metrics["clean"], 1.0 / (1.0 + got.metrics["errors"]));
    assert_eq!(got.feedback.len(), 2, "one text for the domain, one for the problem");
    insta::assert_snapshot!(got.feedback.join("\n---\n"));
}

#[test]
fn a_plan_for_pddl_with_errors_is_rejected_for_the_pddl() {
    let got = auto(candidate(&domain().replace("(full ?c) (not", "(ful ?c) (not"), PROBLEM, Some(PLAN)));
    assert_eq!(got.decision, Decision::Rejected);
    assert!(got.feedback[0].starts_with("The domain has 1 error."), "{:?}", got.feedback);
    assert!(!got.metrics.contains_key("steps"), "the plan was not judged");
}

#[test]
fn warnings_leave_a_candidate_accepted() {
    let got = auto(candidate(DOMAIN, PROBLEM, None));
    assert_eq!(got.decision, Decision::Accepted, "{:?}", got.diagnostics);
    assert!(got.metrics["warnings"] >= 1.0);
    assert!(got.feedback.is_empty());
    assert!(got.summary.contains("no errors and "), "{}", got.summary);
}

#[test]
fn a_missing_text_leaves_the_candidate_undecided() {
    let plan = PlanVerifierOptions { what: What::Plan, ..Default::default() };
    let none = assess(plan.clone(), candidate(&domain(), PROBLEM, None));
    assert_eq!(undecided(&none), Some(UndecidedReason::MissingInput));
    let exhausted = PlanOutcome::Exhausted { explanation: vec![], statistics: SearchStatistics::default() };
    let unplanned = Candidate { plan: Some(exhausted), ..candidate(&domain(), PROBLEM, None) };
    let got = assess(plan, unplanned.clone());
    assert_eq!(undecided(&got), Some(UndecidedReason::MissingInput));
    assert!(got.summary.contains("exhausted"), "{}", got.summary);
    assert_eq!(auto(unplanned).decision, Decision::Accepted, "auto judges the PDDL where there is no plan");
    assert_eq!(undecided(&auto(Candidate::default())), Some(UndecidedReason::MissingInput));
    let planned = Candidate { plan: Some(found(PLAN)), ..Candidate::default() };
    assert_eq!(undecided(&auto(planned)), Some(UndecidedReason::MissingInput));
}

#[test]
fn a_plan_that_cannot_be_found_is_explained() {
    let plan = PlanVerifierOptions { what: What::Plan, ..Default::default() };
    let statistics = SearchStatistics::default;
    let judged = |domain: &str, problem: &str, outcome: PlanOutcome| {
        let candidate = Candidate { plan: Some(outcome), ..candidate(domain, problem, None) };
        let got = assess(plan.clone(), candidate);
        assert_eq!(undecided(&got), Some(UndecidedReason::MissingInput), "a missing plan is no wrong plan");
        got.feedback.join("\n---\n")
    };
    let proven = || PlanOutcome::ProvenUnsolvable { explanation: vec![], statistics: statistics() };
    let limit = || PlanOutcome::LimitReached {
        limit: LimitKind::Time,
        message: "the time limit was reached".into(),
        plans: Vec::new(),
        statistics: statistics(),
    };
    let exhausted = || PlanOutcome::Exhausted { explanation: vec![], statistics: statistics() };
    let dirty = PROBLEM.replace(" (clean red)", "");
    let texts = [
        judged(&domain(), &dirty, proven()),
        judged(&domain(), &dirty, limit()),
        judged(&domain(), PROBLEM, limit()),
        judged(&domain(), PROBLEM, exhausted()),
        judged(
            &domain().replace("(full ?c) (not (clean ?c))", "(full ?c) (not (clean blue)) (not (clean red))"),
            PROBLEM,
            proven(),
        ),
        judged(
            &domain().replace(
                "(not (full ?c)) (not (clean ?c))",
                "(not (full ?c)) (not (served blue)) (not (clean ?c))",
            ),
            &PROBLEM.replace("(served red)", "(not (clean red))"),
            proven(),
        ),
        judged(
            &domain(),
            &PROBLEM.replace("(clean red)", "(clean green)"),
            PlanOutcome::Unreadable { diagnostics: vec![] },
        ),
    ];
    insta::assert_snapshot!(texts.join("\n======\n"));
    let host = TestHost::new().remaining_ms(0);
    let stopped = Candidate { plan: Some(proven()), ..candidate(&domain(), &dirty, None) };
    let got = assess_with(&host, plan, stopped).unwrap();
    assert_eq!(
        undecided(&got),
        Some(UndecidedReason::Limit),
        "what a deadline cut short is recorded as such"
    );
}

#[test]
fn the_given_domain_is_used_for_candidates_without_one() {
    let request = VerifyRequest {
        task: TaskView { given: Given { domain: Some(domain()), problem: None }, ..TaskView::default() },
        candidates: vec![Candidate { domain: None, ..candidate("", PROBLEM, Some(PLAN)) }],
        ..VerifyRequest::default()
    };
    let verifier = ValVerifier::create(PlanVerifierOptions::default(), &Secrets::default()).unwrap();
    let got = verifier.verify(&TestHost::new(), &request).unwrap().results.remove(0).into_result().unwrap();
    assert_eq!(got.decision, Decision::Accepted, "{:?}", got.diagnostics);
}

#[test]
fn constructs_that_validation_does_not_execute_are_undecided() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (p) (q)) (:durative-action a :parameters () :duration (= ?duration 1) :condition (at start (p)) :effect (at end (q))))";
    let problem = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))";
    let times = vec![planforge_contract::StepTimes { start: 0.0, duration: Some(1.0) }];
    for (times, decision) in [(times, Decision::Accepted), (Vec::new(), Decision::Rejected)] {
        let plan = PlanDocument { steps: vec!["(a)".to_owned()], times, ..PlanDocument::default() };
        let plan =
            PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics: SearchStatistics::default() };
        let got = auto(Candidate { plan: Some(plan), ..candidate(domain, problem, None) });
        assert_eq!(got.decision, decision, "{:?}", got.diagnostics);
    }
    let domain =
        domain.replace(":effect", ":effect (and (increase (n) (* #t 2))").replace("(q))))", "(q)))))");
    let domain = domain.replace("(:durative-action", "(:functions (n)) (:durative-action");
    let got = auto(candidate(&domain, problem, Some("(a)")));
    assert_eq!(undecided(&got), Some(UndecidedReason::Unsupported));
    assert!(got.feedback.is_empty());
}

#[test]
fn pddl_is_judged_without_a_plan_on_request() {
    let options = PlanVerifierOptions { what: What::Pddl, ..Default::default() };
    let got = assess(options, candidate(&domain(), PROBLEM, Some("(nonsense)")));
    assert_eq!(got.decision, Decision::Accepted);
}

#[test]
fn a_written_domain_without_effects_is_empty_and_a_given_one_is_not_judged() {
    let skeleton = "(define (domain kitchen)\n  (:predicates)\n  (:action boil :parameters () :precondition (and) :effect (and)))";
    let pddl = PlanVerifierOptions { what: What::Pddl, ..PlanVerifierOptions::default() };
    let candidate = Candidate { domain: Some(skeleton.to_owned()), ..Candidate::default() };
    for options in [pddl.clone(), PlanVerifierOptions { what: What::Domain, ..pddl.clone() }] {
        let assessment = assess(options, candidate.clone());
        assert_eq!((&assessment.decision, assessment.metrics["empty"]), (&Decision::Rejected, 1.0));
        assert!(assessment.diagnostics.iter().any(|d| d.code == "verify.empty-domain"));
        assert!(assessment.feedback[0].contains("no action has an effect"), "{:?}", assessment.feedback);
    }
    let right = assess(pddl, Candidate { domain: Some(domain()), ..Candidate::default() });
    assert_eq!((&right.decision, right.metrics.get("empty")), (&Decision::Accepted, None));
}

#[test]
fn long_feedback_is_cut_with_a_note() {
    let wrong: String = (0..14).map(|n| format!(" (wrong{n})")).collect();
    let got = auto(candidate(&domain(), &PROBLEM.replace("(clean red)", &wrong), None));
    assert!(got.feedback[0].starts_with("The problem has 14 errors."), "{}", got.feedback[0]);
    assert!(got.feedback[0].ends_with("There are 4 more."), "{}", got.feedback[0]);
    assert_eq!(got.metrics["errors"], 14.0);
}

/// A withheld reference that refuses plans without a cup and has a secret in its messages.
struct Reference;

impl Environment for Reference {
    fn describe(&self, _: &dyn Host, _: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        Err(Failure::forbidden("describe"))
    }
    fn walks(&self, _: &dyn Host, _: &EnvironmentOpen, _: &WalkSpec) -> Result<Walks, Failure> {
        Err(Failure::forbidden("walks"))
    }
    fn execute(&self, _: &dyn Host, _: &EnvironmentOpen, _: &Sequences) -> Result<ExecutionReport, Failure> {
        Err(Failure::forbidden("execute"))
    }
    fn validate(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        let executed = plan.steps.iter().take_while(|s| !s.contains("red")).count();
        let all = executed == plan.steps.len();
        Ok(EnvironmentVerdict {
            valid: all && plan.steps.len() > 1,
            executed: executed as u32,
            reasons: vec!["SECRET-PREDICATE is false".into()],
            violations: match plan.steps.as_slice() {
                [step] if step.as_str() == "(serve blue)" => {
                    vec!["the constraint (sometime (hot)) is violated: it never holds".into()]
                }
                _ => vec![],
            },
            diagnostics: vec![],
        })
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        let next = query.focus.as_deref().unwrap_or("nothing");
        let told = format!("{} actions were executed and {next} comes next.", query.actions.len());
        Ok(StateDescription { sentences: vec![told], atoms: vec![] })
    }
}

fn in_environment(plan: &str) -> Assessment {
    let host =
        TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(Reference), EnvironmentOpen::default());
    let options = PlanVerifierOptions { against: Against::Environment, ..Default::default() };
    assess_with(&host, options, candidate(&domain(), PROBLEM, Some(plan))).unwrap()
}

#[test]
fn the_environment_decides_and_its_model_stays_out_of_the_feedback() {
    let refused = in_environment(PLAN);
    assert_eq!(refused.decision, Decision::Rejected, "valid for the candidate, refused by the reference");
    assert_eq!(refused.metrics.get("executed"), Some(&4.0));
    assert_eq!(
        (refused.diagnostics[0].code.as_str(), refused.diagnostics[0].line),
        ("verify.environment-refused", 5)
    );
    assert_eq!(
        &PLAN_FILE[refused.diagnostics[0].start as usize..refused.diagnostics[0].end as usize],
        "(pour red)"
    );
    let missed = in_environment("(boil)");
    assert_eq!(
        (missed.decision.name(), missed.diagnostics[0].code.as_str()),
        ("rejected", "verify.environment-goal")
    );
    for assessment in [&refused, &missed] {
        let told = format!("{:?}{:?}{}", assessment.feedback, assessment.diagnostics, assessment.summary);
        assert!(!told.contains("SECRET"), "{told}");
        assert!(assessment.evidence.to_string().contains("SECRET"), "the evidence keeps what was said");
    }
    let accepted = in_environment("(boil) (pour blue)");
    assert_eq!((accepted.decision, accepted.feedback.len()), (Decision::Accepted, 0));
    let options = PlanVerifierOptions { against: Against::Environment, ..Default::default() };
    let host = TestHost::new().environment(Arc::new(Reference), EnvironmentOpen::default());
    let intrinsic = Candidate { plan: Some(found("(pour red)")), ..Candidate::default() };
    let bare = assess_with(&host, options, intrinsic).unwrap();
    assert!(
        !bare.feedback[0].contains("domain"),
        "nothing was written that could be at fault: {:?}",
        bare.feedback
    );
    insta::assert_snapshot!([refused.feedback, missed.feedback].concat().join("\n---\n"));
}

#[test]
fn a_violated_constraint_of_the_environment_is_told_and_its_formula_stays_out_of_the_feedback() {
    let got = in_environment("(serve blue)");
    assert_eq!((got.decision.name(), got.diagnostics.len()), ("rejected", 1));
    assert_eq!(got.diagnostics[0].code, "verify.environment-constraint");
    let told = got.feedback.concat() + &got.summary + &got.diagnostics[0].message;
    assert!(told.contains("a constraint on the way is violated"), "{told}");
    assert!(!told.contains("hot") && !told.contains("does not hold"), "{told}");
}

const PLAN_FILE: &str = "(boil)\n(pour blue)\n(serve blue)\n(boil)\n(pour red)\n(serve red)\n";

#[test]
fn a_broken_environment_is_a_failure_of_that_candidate_and_no_verdict() {
    let options = PlanVerifierOptions { against: Against::Environment, ..Default::default() };
    let failure =
        assess_with(&TestHost::new(), options, candidate(&domain(), PROBLEM, Some(PLAN))).unwrap_err();
    assert_eq!(failure.code, "host.no-environment");
}

#[test]
fn an_interrupted_run_is_a_failure() {
    let host = TestHost::new();
    host.cancel();
    let failure =
        assess_with(&host, PlanVerifierOptions::default(), candidate(&domain(), PROBLEM, None)).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Cancelled, "verify.cancelled"));
}

fn info() -> PluginInfo {
    planforge_plugin_sdk::__private::describe::<
        __planforge::Names,
        planforge_plugin_sdk::kinds::Verifier,
        ValVerifier,
    >()
}

#[test]
fn metrics_are_those_declared_and_codes_are_explained_once() {
    let info = info();
    let declared: Vec<&str> = info.metrics.iter().map(|m| m.name.as_str()).collect();
    for assessment in [auto(candidate(&domain(), PROBLEM, Some(PLAN))), in_environment(PLAN)] {
        assert!(
            assessment.metrics.keys().all(|k| declared.contains(&k.as_str())),
            "{:?}",
            assessment.metrics
        );
    }
    let codes: std::collections::BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.iter().all(|c| c.starts_with("verify.")));
}

#[test]
fn an_installed_val_decides_and_a_crash_of_it_decides_nothing() {
    // A program with VAL's output and file names.
    let with = |script: &str| {
        let command = ["/bin/sh", "-c", script, "val"].map(String::from).to_vec();
        let options =
            PlanVerifierOptions { backend: Backend::Val, val_command: command, ..Default::default() };
        let host = TestHost::for_kind(PluginKind::Verifier);
        assess_with(&host, options, candidate(&domain(), PROBLEM, Some(PLAN)))
    };
    let good = with(
        "grep -q kitchen \"$1\" && grep -q tea \"$2\" && grep -q boil \"$3\" && \
         printf 'Plan valid\\nFinal value: 6\\n\\nSuccessful plans:\\nValue: 6\\n'",
    );
    assert_eq!(good.unwrap().decision, Decision::Accepted);
    let bad =
        with("printf 'Goal not satisfied\\nPlan invalid\\n\\nFailed plans:\\n plan\\n'; exit 1").unwrap();
    assert_eq!(bad.decision, Decision::Rejected);
    assert!(bad.summary.contains("the own validator disagrees"), "{}", bad.summary);
    for crash in ["kill -SEGV $$", "exit 0", "echo 'Plan valid'; exit 255", "exec /no/such/program"] {
        let assessment = with(crash).unwrap();
        assert_eq!(undecided(&assessment), Some(UndecidedReason::Unsupported), "{crash}: {assessment:?}");
    }
    let missing = PlanVerifierOptions {
        backend: Backend::Val,
        val_command: vec!["/no/Validate".into()],
        ..Default::default()
    };
    let host = TestHost::for_kind(PluginKind::Verifier);
    let failure = assess_with(&host, missing, candidate(&domain(), PROBLEM, Some(PLAN))).unwrap_err();
    assert_eq!(failure.code, "verify.val");
    let both =
        PlanVerifierOptions { backend: Backend::Val, against: Against::Environment, ..Default::default() };
    assert_eq!(ValVerifier::create(both, &Secrets::default()).unwrap_err().code, "verify.options");
}

#[test]
fn val_s_parser_decides_beside_planforge_s_reader() {
    // A program that answers as VAL's Parser does, under its names for files.
    let with = |script: &str, what: What, candidate: Candidate| {
        let command = ["/bin/sh", "-c", script, "parser"].map(String::from).to_vec();
        let options = PlanVerifierOptions {
            what,
            parser: PddlParser::Val,
            parser_command: command,
            ..Default::default()
        };
        assess_with(&TestHost::for_kind(PluginKind::Verifier), options, candidate)
    };
    let figures = |assessment: &Assessment| {
        assert!(assessment.metrics.keys().all(|name| info().metrics.iter().any(|m| m.name == *name)));
        ["val_accepts", "front_end_accepts", "errors", "warnings"].map(|name| assessment.metrics[name])
    };
    let both = "grep -q kitchen \"$1\" && grep -q tea \"$2\" && \
                printf '(domain)\\nErrors: 0, warnings: 0\\n(problem)\\nErrors: 0, warnings: 0\\n'";
    let good = with(both, What::Pddl, candidate(&domain(), PROBLEM, None)).unwrap();
    assert_eq!((good.decision.clone(), figures(&good)), (Decision::Accepted, [1.0, 1.0, 0.0, 0.0]));
    // The domain alone, whatever the problem; VAL only warns of a predicate that is nowhere declared.
    let alone = "test $# = 1 && printf '(domain)\\nErrors: 0, warnings: 1\\ndomain.pddl: line: 9: Warning: Undeclared symbol: warm\\n'";
    let undeclared = domain().replace("(hot)\n      (clean", "(warm)\n      (clean");
    let lenient = with(alone, What::Domain, candidate(&undeclared, "(define (problem", None)).unwrap();
    assert_eq!((lenient.decision.clone(), figures(&lenient)), (Decision::Accepted, [1.0, 0.0, 1.0, 0.0]));
    assert!(lenient.summary.contains("disagrees") && lenient.feedback.is_empty(), "{lenient:?}");
    assert_eq!(
        lenient.evidence["val"]["findings"][0],
        "domain.pddl: line: 9: Warning: Undeclared symbol: warm"
    );
    let skeleton = "(define (domain kitchen) (:predicates) (:action boil :parameters () :precondition (and) :effect (and)))";
    let copied =
        with("printf '(domain)\nErrors: 0, warnings: 0\n'", What::Domain, candidate(skeleton, PROBLEM, None))
            .unwrap();
    assert_eq!((copied.decision.clone(), figures(&copied)), (Decision::Rejected, [1.0, 0.0, 1.0, 1.0]));
    let strict =
        "printf '(domain)\\nErrors: 1, warnings: 0\\ndomain.pddl: line: 2: Error: Unreadable structure\\n'";
    let refused = with(strict, What::Domain, candidate(&domain(), PROBLEM, None)).unwrap();
    assert_eq!((refused.decision.clone(), figures(&refused)), (Decision::Rejected, [0.0, 1.0, 0.0, 0.0]));
    assert!(refused.feedback[0].contains("Unreadable structure"), "{refused:?}");
    for crash in ["kill -SEGV $$", "exit 0", "printf '(domain)\\nErrors: 0, warnings: 0\\n'; exit 1"] {
        let failure = with(crash, What::Domain, candidate(&domain(), PROBLEM, None)).unwrap_err();
        assert_eq!(failure.code, "verify.val-broke", "{crash}");
    }
    let nothing = with(both, What::Domain, Candidate::default()).unwrap();
    assert_eq!(undecided(&nothing), Some(UndecidedReason::MissingInput));
    let missing = PlanVerifierOptions {
        what: What::Domain,
        parser: PddlParser::Val,
        parser_command: vec!["/no/Parser".into()],
        ..Default::default()
    };
    let host = TestHost::for_kind(PluginKind::Verifier);
    let failure = assess_with(&host, missing, candidate(&domain(), PROBLEM, None)).unwrap_err();
    assert!(failure.code == "verify.val" && failure.help.unwrap().contains("parser_command"));
    let plan = PlanVerifierOptions { parser: PddlParser::Val, ..Default::default() };
    assert_eq!(ValVerifier::create(plan, &Secrets::default()).unwrap_err().code, "verify.options");
    // Answers of an external program are journalled.
    let options = serde_json::json!({"parser": "val"}).as_object().cloned().unwrap();
    assert!(info().is_external(&options) && !info().is_external(&JsonObject::new()));
}

/// An environment with the domain and the problem of these tests, under other names.
fn reference_environment(domain: &str, problem: &str) -> TestHost {
    let environment =
        planforge_environment_pddl::PddlEnvironment::create(Default::default(), &Secrets::default()).unwrap();
    let open = EnvironmentOpen {
        suite: "kitchen".into(),
        task: "p01".into(),
        domain: Some(domain.into()),
        problem: Some(problem.into()),
        ..EnvironmentOpen::default()
    };
    TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open)
}

fn against_environment(host: &TestHost, task: TaskView, candidate: Candidate) -> Assessment {
    let options = PlanVerifierOptions { against: Against::Environment, ..Default::default() };
    let request = VerifyRequest { task, candidates: vec![candidate], ..VerifyRequest::default() };
    let verifier = ValVerifier::create(options, &Secrets::default()).unwrap();
    verifier.verify(host, &request).unwrap().results.remove(0).into_result().unwrap()
}

#[test]
fn a_reference_that_the_environment_does_not_simulate_leaves_the_plan_undecided() {
    let domain = "(define (domain d) (:requirements :durative-actions :numeric-fluents) (:predicates (p) (q)) (:functions (x)) (:durative-action a :parameters () :duration (= ?duration 1) :condition (at start (p)) :effect (and (at end (q)) (increase (x) (* #t 1)))))";
    let problem = "(define (problem x) (:domain d) (:init (p) (= (x) 0)) (:goal (q)))";
    let host = reference_environment(domain, problem);
    let got = against_environment(&host, TaskView::default(), candidate(domain, problem, Some("(a)")));
    assert_eq!(undecided(&got), Some(UndecidedReason::Unsupported));
    assert!(got.summary.contains("does not execute") && got.feedback.is_empty(), "{got:?}");
}

#[test]
fn a_plan_with_times_is_judged_by_the_environment() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (p) (q)) (:durative-action a :parameters () :duration (= ?duration 1) :condition (at start (p)) :effect (at end (q))))";
    let problem = "(define (problem x) (:domain d) (:init (p)) (:goal (q)))";
    let host = reference_environment(domain, problem);
    let judge = |duration: f64| {
        let mut candidate = candidate(domain, problem, Some("(a)"));
        if let Some(PlanOutcome::Plan { plans, .. }) = &mut candidate.plan {
            plans[0].times = vec![planforge_contract::StepTimes { start: 0.0, duration: Some(duration) }];
        }
        against_environment(&host, TaskView::default(), candidate).decision
    };
    assert_eq!(judge(1.0), Decision::Accepted);
    assert_eq!(judge(3.0), Decision::Rejected);
}

#[test]
fn a_plan_is_right_under_names_that_the_text_never_gives() {
    // One cup is dirty: the cups cannot be exchanged.
    let reference = PROBLEM.replace("(clean red)", "").replace("\n    (served red)", "");
    let own = reference.replace("blue", "cup2").replace("red", "cup1");
    let plan = "(boil) (pour cup2) (serve cup2)";
    let host = reference_environment(&domain(), &reference);
    let given = Given { domain: Some(domain()), ..Given::default() };
    let task = TaskView { given, ..TaskView::default() };
    let got = against_environment(&host, task.clone(), candidate(&domain(), &own, Some(plan)));
    assert_eq!(got.summary, "The environment accepts the plan: 3 steps, with 2 objects renamed.");
    assert_eq!((got.decision, got.feedback.len()), (Decision::Accepted, 0));
    assert_eq!(got.evidence["renaming"]["steps"][2], "(serve blue)");
    // Another problem stays wrong, and so does a plan that the right problem does not allow.
    let other = own.replace("(served cup2)", "(full cup2)");
    for (problem, plan) in [(&other, "(boil) (pour cup2)"), (&own, "(boil) (pour cup1) (serve cup1)")] {
        let got = against_environment(&host, task.clone(), candidate(&domain(), problem, Some(plan)));
        assert_eq!(got.decision, Decision::Rejected, "{problem} {plan}");
        assert!(got.feedback[0].contains("cup"), "{:?}", got.feedback);
    }
    // Names that were given are to be used.
    let cup = |name: &str| TypedName { name: name.into(), type_name: "cup".into() };
    let interface =
        ActionInterface { actions: Vec::new(), objects: vec![cup("blue"), cup("red")], types: Vec::new() };
    let told = TaskView { action_interface: Some(interface), ..task };
    let got = against_environment(&host, told, candidate(&domain(), &own, Some(plan)));
    assert_eq!(got.decision, Decision::Rejected);
}

#[test]
fn a_plan_is_right_under_other_names_of_actions() {
    let domain = "(define (domain shelf) (:requirements :strips :typing) (:types box place)
      (:predicates (in ?b - box ?p - place))
      (:action carry :parameters (?b - box ?from ?to - place)
        :precondition (in ?b ?from) :effect (and (in ?b ?to) (not (in ?b ?from)))))";
    let problem = "(define (problem tidy) (:domain shelf) (:objects red - box attic cellar - place)
      (:init (in red attic)) (:goal (in red cellar)))";
    let own = domain
        .replace(
            "carry :parameters (?b - box ?from ?to - place)",
            "move :parameters (?x ?y - place ?b - box)",
        )
        .replace("?from", "?x")
        .replace("?to", "?y");
    let host = reference_environment(domain, problem);
    let given = Given { problem: Some(problem.into()), ..Given::default() };
    let task = TaskView { given, ..TaskView::default() };
    let right = candidate(&own, problem, Some("(move attic cellar red)"));
    let got = against_environment(&host, task.clone(), right.clone());
    assert_eq!(got.summary, "The environment accepts the plan: 1 step, with 1 action renamed.");
    assert_eq!(got.evidence["renaming"]["steps"][0], "(carry red attic cellar)");
    let wrong = candidate(&own, problem, Some("(move cellar attic red)"));
    assert_eq!(against_environment(&host, task.clone(), wrong).decision, Decision::Rejected);
    // The interface was given, so its names are to be used.
    let carry = ActionSignature { name: "carry".into(), parameters: Vec::new() };
    let interface = ActionInterface { actions: vec![carry], objects: Vec::new(), types: Vec::new() };
    let told = TaskView { action_interface: Some(interface), ..task };
    assert_eq!(against_environment(&host, told, right).decision, Decision::Rejected);
}
