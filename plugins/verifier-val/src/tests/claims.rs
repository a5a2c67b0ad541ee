//! Claims about plans: each class of failure, by each of the three sources.

use super::*;
use planforge_planning::Unlimited;
use std::collections::BTreeMap;

const GOOD: &str = "(boil) (pour blue) (serve blue) (boil) (pour red) (serve red)";

fn state(after: u32, literals: &[&str], sentences: &[&str]) -> ClaimedState {
    let own = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
    ClaimedState { after, literals: own(literals), sentences: own(sentences) }
}

fn claiming(steps: &str, claims: PlanClaims) -> Candidate {
    let mut candidate = candidate(&domain(), PROBLEM, Some(steps));
    if let Some(PlanOutcome::Plan { plans, .. }) = &mut candidate.plan {
        plans[0].claims = Some(claims);
    }
    candidate
}

fn all(said: bool, cost: f64, states: Vec<ClaimedState>) -> PlanClaims {
    PlanClaims { states, goal_reached: Some(said), cost: Some(cost), valid: Some(said) }
}

fn options() -> PlanVerifierOptions {
    PlanVerifierOptions { what: What::Plan, claims: true, ..Default::default() }
}

fn metrics(assessment: &Assessment) -> Vec<(&str, f64)> {
    let named = |(name, _): &(&'static str, &str)| Some((*name, *assessment.metrics.get(*name)?));
    crate::claims::METRICS.iter().filter_map(named).collect()
}

fn found(assessment: &Assessment) -> Vec<(&str, u32, &str)> {
    let claims = assessment.diagnostics.iter().filter(|d| d.severity == ReportedSeverity::Warning);
    claims.map(|d| (d.code.as_str(), d.line, d.message.as_str())).collect()
}

#[test]
fn claims_that_are_right_leave_zeros() {
    let states = vec![state(1, &["(hot)"], &[]), state(2, &["(full blue)", "(not (hot))"], &[])];
    let got = assess(options(), claiming(GOOD, all(true, 6.0, states)));
    assert_eq!(got.decision, Decision::Accepted);
    assert_eq!(
        metrics(&got),
        [
            ("rule_violation", 0.0),
            ("wrong_state", 0.0),
            ("wrong_goal_claim", 0.0),
            ("wrong_self_evaluation", 0.0),
            ("wrong_cost", 0.0),
            ("not_optimal", 0.0),
            ("claims_compared", 3.0),
            ("claims_wrong", 0.0),
            ("claims_unread", 0.0),
        ]
    );
    assert!(found(&got).is_empty(), "{:?}", got.diagnostics);
}

#[test]
fn each_wrong_claim_is_a_finding_with_its_step_and_changes_no_verdict() {
    let states = vec![
        state(0, &["(hot)"], &[]),
        state(2, &["(hot)", "(tepid)"], &["the cup blue is full"]),
        state(4, &["(hot)"], &[]),
    ];
    let steps = "(boil) (pour blue) (serve blue) (pour red)";
    let claims = all(true, 9.0, states);
    let got = assess(options(), claiming(steps, claims.clone()));
    assert_eq!(got.decision, Decision::Rejected);
    assert_eq!(
        metrics(&got),
        [
            ("rule_violation", 1.0),
            ("wrong_state", 1.0),
            ("wrong_goal_claim", 1.0),
            ("wrong_self_evaluation", 1.0),
            ("claims_compared", 2.0),
            ("claims_wrong", 2.0),
            ("claims_unread", 2.0),
        ]
    );
    let stopped = "step 4 (pour red) cannot be executed";
    assert_eq!(
        found(&got),
        [
            ("verify.claimed-state", 1, "(hot) is claimed to hold initially, and does not"),
            ("verify.claimed-state", 2, "(hot) is claimed to hold after step 2 (pour blue), and does not"),
            ("verify.claimed-goal", 4, &*format!("the goal is claimed to be reached, and {stopped}")),
            (
                "verify.claimed-validity",
                4,
                &*format!("the plan is called valid by its author, and {stopped}")
            ),
        ]
    );
    let bare = assess(PlanVerifierOptions { claims: false, ..options() }, claiming(steps, claims));
    assert_eq!((&bare.decision, &bare.feedback), (&got.decision, &got.feedback));
    assert_eq!(bare.metrics["errors"], got.metrics["errors"]);
    assert!(!bare.metrics.contains_key("rule_violation"));
    insta::assert_json_snapshot!(got.evidence["claims"]);
}

#[test]
fn what_was_not_claimed_is_no_failure() {
    let got = assess(options(), claiming("(boil)", PlanClaims::default()));
    let counted = [("claims_compared", 0.0), ("claims_wrong", 0.0), ("claims_unread", 0.0)];
    assert_eq!(metrics(&got)[0], ("rule_violation", 0.0));
    assert_eq!(metrics(&got)[1..], counted);
    let without = assess(options(), candidate(&domain(), PROBLEM, Some("(boil)")));
    assert_eq!(metrics(&got), metrics(&without), "a plan without claims is judged the same");
    let unplanned = assess(options(), candidate(&domain(), PROBLEM, None));
    assert!(metrics(&unplanned).is_empty(), "{:?}", unplanned.metrics);
}

#[test]
fn a_longer_plan_is_not_optimal_and_a_limit_leaves_that_open() {
    let longer = "(boil) (pour red) (boil) (pour blue) (boil) (serve red) (serve blue)";
    let got = assess(options(), claiming(longer, all(true, 6.0, vec![])));
    assert_eq!(got.decision, Decision::Accepted);
    assert_eq!((got.metrics["not_optimal"], got.metrics["wrong_cost"]), (1.0, 1.0));
    let messages: Vec<&str> = found(&got).iter().map(|f| f.2).collect();
    assert_eq!(
        messages,
        ["the plan is claimed to cost 6, and costs 7", "the plan costs 7, and a cheapest plan costs 6"]
    );
    let few = PlanVerifierOptions { optimal_nodes: 1, ..options() };
    let open = assess(few, claiming(longer, all(true, 7.0, vec![])));
    assert!(!open.metrics.contains_key("not_optimal"));
    let why = open.evidence["claims"]["optimality"]["undecided"].as_str().unwrap();
    assert!(why.starts_with("the limit on search nodes"), "{why}");
}

#[test]
fn a_critic_s_verdict_on_the_plan_is_its_evaluation_of_itself() {
    let with = |decision: Option<Decision>| {
        let mut candidate = claiming(GOOD, PlanClaims::default());
        candidate.assessments.extend(decision.map(|d| ("self".to_owned(), Assessment::new(d, ""))));
        let host = TestHost::for_kind(PluginKind::Verifier);
        let options = PlanVerifierOptions { critic: Some("self".into()), ..options() };
        let got = assess_with(&host, options, candidate).unwrap();
        (got.metrics.get("wrong_self_evaluation").copied(), host.logs().len())
    };
    assert_eq!(with(Some(Decision::Accepted)), (Some(0.0), 0));
    assert_eq!(with(Some(Decision::Rejected)), (Some(1.0), 0));
    assert_eq!(with(Some(Decision::NotComparable { message: "?".into() })), (None, 0));
    assert_eq!(with(None), (None, 1), "a stage that did not judge the plan is told");
}

/// An environment that executes with planforge's validator, and shows its model or only atoms.
struct Kitchen {
    open: bool,
}

impl Kitchen {
    fn report(steps: &[String]) -> planforge_planning::ValidationReport {
        let id = planforge_diagnostics::SourceId;
        let domain = planforge_pddl::parse_domain(&domain(), id(0)).value;
        let problem = planforge_pddl::parse_problem(PROBLEM, id(1)).value;
        planforge_planning::validate(
            &domain,
            &problem,
            &planforge_planning::parse_plan(&steps.join("\n"), id(2)),
            &mut Unlimited,
        )
        .unwrap()
    }
}

impl Environment for Kitchen {
    fn describe(&self, _: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        Ok(EnvironmentInfo { model: self.open.then(|| task.clone()), ..EnvironmentInfo::default() })
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
        let report = Self::report(&plan.steps);
        Ok(EnvironmentVerdict {
            valid: report.is_valid(),
            executed: report.trace.len() as u32,
            ..EnvironmentVerdict::default()
        })
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        let report = Self::report(&query.actions);
        let atoms = report.state_after(report.trace.len());
        Ok(StateDescription {
            sentences: vec!["The Kitchen is open.".into()],
            atoms: atoms.iter().map(|a| report.symbols.atom(a)).collect(),
        })
    }
}

fn in_kitchen(open: bool, steps: &str, claims: PlanClaims) -> Assessment {
    let yes = |text: &str| Sentences { yes: text.into(), no: String::new() };
    let task = EnvironmentOpen {
        domain: Some(domain()),
        problem: Some(PROBLEM.into()),
        sentences: BTreeMap::from([("full".to_owned(), yes("The {1} cup is full."))]),
        ..EnvironmentOpen::default()
    };
    let host = TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(Kitchen { open }), task);
    let mut candidate = claiming(steps, claims);
    (candidate.domain, candidate.problem) = (None, None);
    assess_with(&host, PlanVerifierOptions { against: Against::Environment, ..options() }, candidate).unwrap()
}

fn claimed() -> Vec<ClaimedState> {
    vec![
        state(
            2,
            &["(clean blue)", "(not (clean red))", "(hot)"],
            &["the blue cup is full", "the kitchen is open."],
        ),
        state(3, &["(served red)", "(not (full blue))"], &["Red cup is full."]),
        state(5, &["(hot)"], &[]),
    ]
}

#[test]
fn an_environment_s_open_model_is_compared_with_and_its_sentences_are_read() {
    let got = in_kitchen(true, "(boil) (pour blue) (serve blue) (pour red)", all(true, 4.0, claimed()));
    let wrong: Vec<&str> =
        found(&got).iter().filter(|f| f.0 == "verify.claimed-state").map(|f| f.2).collect();
    let after = |what: &str, step: &str| format!("{what} is claimed to hold after step {step}, and does not");
    assert_eq!(
        wrong,
        [
            after("(not (clean red))", "2 (pour blue)"),
            after("(hot)", "2 (pour blue)"),
            after("(served red)", "3 (serve blue)"),
            after("Red cup is full", "3 (serve blue)").replace("full is", "full. is"),
        ]
    );
    assert_eq!((got.metrics["claims_compared"], got.metrics["claims_unread"]), (7.0, 1.0));
    assert_eq!(got.metrics["rule_violation"], 1.0);
    assert!(!got.feedback.join("\n").contains("claim"), "{:?}", got.feedback);
    let good = in_kitchen(true, GOOD, all(true, 6.0, vec![]));
    assert_eq!((good.metrics["wrong_cost"], good.metrics["not_optimal"]), (0.0, 0.0));
}

#[test]
fn an_environment_without_a_model_is_compared_with_as_far_as_it_tells() {
    let got = in_kitchen(false, "(boil) (pour blue) (serve blue) (pour red)", all(false, 4.0, claimed()));
    let verdicts: Vec<&str> = got.evidence["claims"]["states"]
        .as_array()
        .unwrap()
        .iter()
        .map(|state| state["verdict"].as_str().unwrap())
        .collect();
    // `hot` and `full` occur in no description: it is unknown if they hold.
    let second = ["right", "wrong", "unread", "unread", "right"];
    let third = ["wrong", "unread", "unread"];
    assert_eq!(verdicts, [&second[..], &third[..], &["not reached"]].concat());
    assert_eq!((got.metrics["wrong_state"], got.metrics["wrong_goal_claim"]), (1.0, 0.0));
    let good = in_kitchen(false, GOOD, all(true, 1.0, vec![]));
    assert!(!good.metrics.contains_key("wrong_cost") && !good.metrics.contains_key("not_optimal"));
    // One that describes nothing has still judged.
    let host =
        TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(Reference), EnvironmentOpen::default());
    let options = PlanVerifierOptions { against: Against::Environment, ..options() };
    let got =
        assess_with(&host, options, claiming("(boil) (pour blue)", all(false, 2.0, claimed()))).unwrap();
    assert_eq!((got.metrics["wrong_goal_claim"], got.metrics["claims_compared"]), (1.0, 0.0));
}

#[test]
fn options_that_have_nothing_to_compare_are_refused() {
    let code =
        |options: PlanVerifierOptions| ValVerifier::create(options, &Secrets::default()).unwrap_err().code;
    assert_eq!(
        code(PlanVerifierOptions { claims: false, critic: Some("self".into()), ..options() }),
        "verify.options"
    );
    assert_eq!(code(PlanVerifierOptions { what: What::Domain, ..options() }), "verify.options");
}
