//! Compares a model's claims about its plan with the facts (test-time-scaling paper, section 4.6): metrics of
//! 0 and 1 for each class of failure, and a finding for each wrong claim. They do not change the verdict on
//! the plan and are not feedback.
//!
//! A metric is absent if nothing comparable was claimed. States are compared up to the first step that cannot
//! be executed. Literals are looked up by name; sentences are matched with the suite's own. In an environment
//! the claims are compared with the reference model if verifiers may read it; else with the environment's
//! descriptions of states (see `described_states.rs`).

mod described_states;

use crate::codes;
use crate::environment::{in_plan, other_answer};
use crate::options::PlanVerifierOptions;
use described_states::StateClaim;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host, LogLevel};
use planforge_contract::{
    Assessment, Candidate, Decision, EnvironmentOpen, EnvironmentVerdict, Failure, FailureClass,
    PlanDocument, ProgressTimer, ReportedDiagnostic, ReportedSeverity, Sentences, TaskView,
};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::claims::{
    ClaimFailures, LiteralClaim, LiteralVerdict, Optimality, PlanClaim, PlanExecution, check_literals,
    optimality,
};
use planforge_planning::{
    Algorithm, GroundLimits, PlanOptions, Poll, ResourceLimits, StopReason, ValidationReport, Validator,
    normalize, parse_plan,
};
use planforge_plugin_sdk::checked::Checked;
use planforge_plugin_sdk::wording::Wording;
use std::collections::BTreeMap;

const PLAN: SourceId = SourceId(2);
/// Most claims in the evidence.
const MOST_CLAIMS: usize = 500;
/// Caps on grounding for the search for a cheapest plan.
const GROUND: GroundLimits = GroundLimits { instances: 200_000, atoms: 200_000, formula_parts: 2_000_000 };

/// Everything that claims are compared with.
struct JudgedClaims {
    execution: PlanExecution,
    states: Vec<StateClaim>,
    /// Of a valid plan, if there is a model to search.
    optimality: Option<Optimality>,
}

/// The task that claims are compared with.
struct Model<'m> {
    domain: &'m Domain,
    problem: &'m Problem,
    validator: Validator,
    wording: Wording,
}

/// The metrics of claims, with the words that tables have for them.
pub(crate) const METRICS: [(&str, &str); 9] = [
    ("rule_violation", "1 if a step of the plan cannot be executed, else 0 (claims = true)"),
    ("wrong_state", "1 if a claimed fact is false, 0 if all compared ones are true"),
    ("wrong_goal_claim", "1 if the claim about reaching the goal is false, else 0"),
    ("wrong_self_evaluation", "1 if the model, or the stage `critic`, judges the plan wrongly, else 0"),
    ("wrong_cost", "1 if the claimed cost is wrong, else 0"),
    ("not_optimal", "1 if a cheaper plan exists, 0 if the valid plan is proven cheapest"),
    ("claims_compared", "claimed facts that were compared with a state"),
    ("claims_wrong", "claimed facts that are false"),
    ("claims_unread", "claimed facts that are unreadable or unrelated to the task"),
];

/// Compares the claims with the candidate's own domain and problem.
pub(crate) fn by_candidate(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    task: &TaskView,
    candidate: &Candidate,
    plan: &PlanDocument,
    checked: &Checked,
    assessment: &mut Assessment,
) -> Result<(), Failure> {
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else { return Ok(()) };
    let Some(model) = Model::new(domain, problem, &task.materials.sentences) else { return Ok(()) };
    let mut deadline = options.limits.deadline(host, 1);
    let report = model.validator.validate(&parse_plan(&plan.to_ipc(), PLAN), &mut deadline);
    let Some(execution) = PlanExecution::of(&report) else { return Ok(()) };
    let judged = model.judge(host, options, plan, &report, execution)?;
    tell(host, options, candidate, plan, &judged, assessment);
    Ok(())
}

/// Compares the claims with the environment.
pub(crate) fn by_environment(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    candidate: &Candidate,
    plan: &PlanDocument,
    verdict: &EnvironmentVerdict,
    assessment: &mut Assessment,
) -> Result<(), Failure> {
    let model = match host.environment(EnvironmentCall::Describe) {
        Ok(EnvironmentAnswer::Describe(info)) => info.model,
        Ok(_) => return Err(other_answer()),
        Err(failure) if failure.class == FailureClass::Cancelled => return Err(failure),
        // An environment that only judges still gives a verdict.
        Err(failure) => {
            host.log(LogLevel::Warn, &format!("the environment opens no model: {}", failure.message));
            None
        }
    };
    let mut execution = PlanExecution {
        steps: plan.steps.len(),
        executed: verdict.executed as usize,
        valid: verdict.valid,
        // Violations are reported where everything else is right.
        reaches_goal: verdict.valid || !verdict.violations.is_empty(),
        cost: None,
    };
    let read = model.as_ref().and_then(texts);
    let empty = BTreeMap::new();
    let sentences = model.as_ref().map_or(&empty, |m| &m.sentences);
    let model = read.as_ref().and_then(|(domain, problem)| Model::new(domain, problem, sentences));
    let judged = match model {
        Some(model) => {
            let mut deadline = options.limits.deadline(host, 1);
            let report = model.validator.validate(&parse_plan(&plan.to_ipc(), PLAN), &mut deadline);
            execution.cost = PlanExecution::of(&report).and_then(|e| e.cost);
            model.judge(host, options, plan, &report, execution)?
        }
        None => JudgedClaims {
            execution,
            states: described_states::states(host, plan, execution.executed)?,
            optimality: None,
        },
    };
    tell(host, options, candidate, plan, &judged, assessment);
    Ok(())
}

/// The reference model's trees.
fn texts(model: &EnvironmentOpen) -> Option<(Domain, Problem)> {
    let domain = parse_domain(model.domain.as_deref()?, SourceId(0)).value;
    Some((domain, parse_problem(model.problem.as_deref()?, SourceId(1)).value))
}

impl<'m> Model<'m> {
    /// `None` if the task has errors, which are reported elsewhere, or cannot be executed.
    fn new(
        domain: &'m Domain,
        problem: &'m Problem,
        sentences: &BTreeMap<String, Sentences>,
    ) -> Option<Self> {
        let task = normalize(domain, problem).ok().filter(|task| task.unsupported.is_empty())?;
        Some(Self { domain, problem, validator: Validator::new(task), wording: Wording::new(sentences) })
    }

    fn judge(
        &self,
        host: &dyn Host,
        options: &PlanVerifierOptions,
        plan: &PlanDocument,
        report: &ValidationReport,
        execution: PlanExecution,
    ) -> Result<JudgedClaims, Failure> {
        let claimed = plan.claims.iter().flat_map(|c| &c.states);
        let mut texts: Vec<(usize, &str)> = Vec::new();
        let mut claims: Vec<LiteralClaim> = Vec::new();
        for state in claimed {
            let after = state.after as usize;
            for literal in &state.literals {
                texts.push((after, literal));
                claims.push(LiteralClaim { after, literal: literal.clone() });
            }
            for sentence in &state.sentences {
                texts.push((after, sentence));
                claims.push(LiteralClaim { after, literal: self.literal(sentence).unwrap_or_default() });
            }
        }
        let verdicts = check_literals(&self.validator, report, &claims);
        let states = texts.into_iter().zip(claims.iter().zip(verdicts));
        let states = states.map(|((after, text), (claim, verdict))| StateClaim {
            after,
            text: text.to_owned(),
            verdict: match claim.literal.is_empty() {
                true => LiteralVerdict::Unread("it is no sentence of the suite".to_owned()),
                false => verdict,
            },
        });
        let optimality = match (execution.valid, execution.cost) {
            (true, Some(cost)) => Some(self.optimality(host, options, cost)?),
            _ => None,
        };
        Ok(JudgedClaims { execution, states: states.collect(), optimality })
    }

    /// A sentence of the suite as a literal.
    fn literal(&self, sentence: &str) -> Option<String> {
        let fact = self.wording.read_fact(sentence, &|word| self.validator.object(word).is_some())?;
        let words: Vec<&str> =
            std::iter::once(&fact.predicate).chain(&fact.arguments).map(String::as_str).collect();
        let atom = format!("({})", words.join(" "));
        Some(if fact.holds { atom } else { format!("(not {atom})") })
    }

    /// Compares the claimed cost with the optimum. The search has a limit of nodes and no clock, so the
    /// answer is the same on every machine.
    fn optimality(
        &self,
        host: &dyn Host,
        options: &PlanVerifierOptions,
        cost: f64,
    ) -> Result<Optimality, Failure> {
        let search =
            PlanOptions { algorithm: Algorithm::AStar, max_nodes: options.optimal_nodes, ground: GROUND };
        let timer = ProgressTimer::new(host, "seconds of search");
        let found = optimality(self.domain, self.problem, cost, &search, &mut UntilCancelled(&timer));
        if host.cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"));
        }
        // The task was normalised before, so this is not reached.
        Ok(found.unwrap_or_else(|_| Optimality::Undecided("the task has errors".to_owned())))
    }
}

struct UntilCancelled<'a>(&'a ProgressTimer<'a>);

impl ResourceLimits for UntilCancelled<'_> {
    fn poll(&mut self) -> Poll {
        if self.0.is_cancelled() { Poll::Stop(StopReason::Cancelled) } else { Poll::Continue }
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        self.poll()
    }
    fn release(&mut self, _bytes: u64) {}
}

/// The verdict of the stage `critic` on the plan.
fn critic(host: &dyn Host, options: &PlanVerifierOptions, candidate: &Candidate) -> Option<bool> {
    let label = options.critic.as_deref()?;
    match candidate.assessments.get(label).map(|a| &a.decision) {
        Some(Decision::Accepted) => Some(true),
        Some(Decision::Rejected) => Some(false),
        Some(_) => None,
        None => {
            let message =
                format!("stage `{label}` has not judged this plan, so its judgement is not compared");
            host.log(LogLevel::Warn, &message);
            None
        }
    }
}

/// Writes metrics, findings and evidence.
fn tell(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    candidate: &Candidate,
    plan: &PlanDocument,
    judged: &JudgedClaims,
    assessment: &mut Assessment,
) {
    let claims = plan.claims.clone().unwrap_or_default();
    let claim = PlanClaim {
        goal_reached: claims.goal_reached,
        cost: claims.cost,
        valid: claims.valid,
        critic: critic(host, options, candidate),
    };
    let verdicts: Vec<LiteralVerdict> = judged.states.iter().map(|s| s.verdict.clone()).collect();
    let failures = ClaimFailures::of(&judged.execution, &verdicts, &claim);
    let not_optimal = match &judged.optimality {
        Some(Optimality::Cheaper(_)) => Some(true),
        Some(Optimality::Optimal) => Some(false),
        Some(Optimality::Undecided(_)) | None => None,
    };
    let count = |test: fn(&LiteralVerdict) -> bool| Some(verdicts.iter().filter(|v| test(v)).count() as f64);
    let flag = |value: Option<bool>| value.map(f64::from);
    let values = [
        flag(Some(failures.rule_violation)),
        flag(failures.wrong_state),
        flag(failures.wrong_goal_claim),
        flag(failures.wrong_self_evaluation),
        flag(failures.wrong_cost),
        flag(not_optimal),
        count(|v| matches!(v, LiteralVerdict::Right | LiteralVerdict::Wrong)),
        count(|v| matches!(v, LiteralVerdict::Wrong)),
        count(|v| matches!(v, LiteralVerdict::Unread(_))),
    ];
    for ((name, _), value) in METRICS.iter().zip(values) {
        assessment.metrics.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    assessment.diagnostics.extend(findings(plan, &claim, judged, &failures));
    if !assessment.evidence.is_object() {
        assessment.evidence = serde_json::json!({});
    }
    assessment.evidence["claims"] = evidence(&claim, judged);
}

/// A finding for each wrong claim.
fn findings(
    plan: &PlanDocument,
    claim: &PlanClaim,
    judged: &JudgedClaims,
    failures: &ClaimFailures,
) -> Vec<ReportedDiagnostic> {
    let execution = &judged.execution;
    let last = plan.steps.len().saturating_sub(1);
    let mut found = Vec::new();
    for state in judged.states.iter().filter(|s| s.verdict == LiteralVerdict::Wrong) {
        let when = match plan.steps.get(state.after.wrapping_sub(1)) {
            Some(step) => format!("after step {} {step}", state.after),
            None => "initially".to_owned(),
        };
        let message = format!("{} is claimed to hold {when}, and does not", state.text);
        found.push(finding(plan, state.after.saturating_sub(1), codes::CLAIMED_STATE, message));
    }
    let stopped = match plan.steps.get(execution.executed) {
        Some(step) => format!("step {} {step} cannot be executed", execution.executed + 1),
        None if execution.valid => "the plan is executed and reaches the goal".to_owned(),
        None => "the plan is executed and misses the goal".to_owned(),
    };
    if let (Some(true), Some(said)) = (failures.wrong_goal_claim, claim.goal_reached) {
        let said = if said { "reached" } else { "not reached" };
        let message = format!("the goal is claimed to be {said}, and {stopped}");
        found.push(finding(plan, last, codes::CLAIMED_GOAL, message));
    }
    for (who, said) in [("its author", claim.valid), ("the critic", claim.critic)] {
        if let Some(said) = said.filter(|said| *said != execution.valid) {
            let said = if said { "valid" } else { "not valid" };
            let message = format!("the plan is called {said} by {who}, and {stopped}");
            found.push(finding(plan, execution.executed.min(last), codes::CLAIMED_VALIDITY, message));
        }
    }
    if let (Some(true), Some(said), Some(is)) = (failures.wrong_cost, claim.cost, execution.cost) {
        let message = format!("the plan is claimed to cost {said}, and costs {is}");
        found.push(finding(plan, last, codes::CLAIMED_COST, message));
    }
    if let (Some(Optimality::Cheaper(least)), Some(cost)) = (&judged.optimality, execution.cost) {
        let message = format!("the plan costs {cost}, and a cheapest plan costs {least}");
        found.push(finding(plan, last, codes::NOT_OPTIMAL, message));
    }
    found
}

/// A warning at a step: a wrong claim is not an error of the plan.
fn finding(plan: &PlanDocument, step: usize, code: &str, message: String) -> ReportedDiagnostic {
    let mut found = in_plan(plan, step, code, message);
    found.severity = ReportedSeverity::Warning;
    found
}

/// The claims about states with their judgements, those about the plan, and the reason if optimality is open.
fn evidence(claim: &PlanClaim, judged: &JudgedClaims) -> serde_json::Value {
    let states: Vec<serde_json::Value> = judged
        .states
        .iter()
        .take(MOST_CLAIMS)
        .map(|state| {
            let (verdict, why) = match &state.verdict {
                LiteralVerdict::Right => ("right", None),
                LiteralVerdict::Wrong => ("wrong", None),
                LiteralVerdict::NotReached => ("not reached", None),
                LiteralVerdict::Unread(why) => ("unread", Some(why)),
            };
            serde_json::json!({ "after": state.after, "claim": state.text, "verdict": verdict, "why": why })
        })
        .collect();
    let optimality = judged.optimality.as_ref().map(|o| match o {
        Optimality::Optimal => serde_json::json!({ "optimal": true }),
        Optimality::Cheaper(least) => serde_json::json!({ "optimal": false, "least_cost": least }),
        Optimality::Undecided(why) => serde_json::json!({ "undecided": why }),
    });
    serde_json::json!({
        "states_left_out": judged.states.len() - states.len(),
        "states": states,
        "goal_reached": claim.goal_reached,
        "cost": claim.cost,
        "valid": claim.valid,
        "critic": claim.critic,
        "optimality": optimality,
    })
}

/// Checks the options that belong to `claims`.
pub(crate) fn check_options(options: &PlanVerifierOptions) -> Result<(), Failure> {
    if options.critic.is_some() && !options.claims {
        let message = "`critic` names a stage whose judgement is compared, and claims are not compared";
        return Err(Failure::new(FailureClass::Request, codes::OPTIONS, message)
            .help("set `claims = true`, or take `critic` out"));
    }
    if options.claims && !options.judges_plans() {
        let message = "`claims = true` is about plans, and this stage judges PDDL alone";
        return Err(Failure::new(FailureClass::Request, codes::OPTIONS, message)
            .help("set `what = \"plan\"`, or take `claims` out"));
    }
    Ok(())
}
