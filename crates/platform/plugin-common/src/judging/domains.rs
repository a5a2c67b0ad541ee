//! Results of domain comparisons as documents: evidence of verifiers, and the output of `planforge pddl equivalent domain`.

use crate::judging::reports::{
    ComparedProblem, DomainCostDifference, DomainReconstructionError, MatchedAction, MatchedInterface,
};
use crate::judging::{Rule, Semantics};
use planforge_contract::{
    ActionReconstructionError, DomainDifference, FailingDomainPlan, HeuristicEquivalence,
};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::are::{ActionError, DomainError};
use planforge_planning::equivalence::domains::{
    Behaviour, BehaviourDifference, ComparisonVerdict, Costs, DifferenceKind, DomainComparison, NotCompared,
    SearchEnd,
};
use planforge_planning::equivalence::hde::{
    FailingPlan, HdeClass, HdeDifference, HdeOptions, HdeOutcome, HdeResult,
};
use planforge_planning::equivalence::interface::Interface;
use planforge_planning::walk::{self, NamedStep};

/// One problem's comparison, or why there is none.
pub type Outcome = Result<DomainComparison, NotCompared>;

/// `first` or `second`.
pub const fn side(side: ComparedSide) -> &'static str {
    match side {
        ComparedSide::First => "first",
        ComparedSide::Second => "second",
    }
}

/// `equal`, `different` or `undecided`.
pub const fn decision(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Equal => "equal",
        ComparisonVerdict::Different => "different",
        ComparisonVerdict::Open => "undecided",
    }
}

/// `strips` or `ground-no-ops-dropped`.
pub fn semantics(semantics: walk::Semantics) -> &'static str {
    Semantics::from(semantics).name()
}

/// One problem's exact comparison, or why there is none.
pub fn to_compared_problem(problem: &str, outcome: &Outcome) -> ComparedProblem {
    let problem = problem.to_owned();
    let comparison = match outcome {
        Ok(comparison) => comparison,
        Err(NotCompared { side: of, error }) => {
            let reason = Some(format!("the {} domain with this problem: {error}", side(*of)));
            return ComparedProblem {
                problem,
                decision: "undecided".to_owned(),
                reason,
                ..Default::default()
            };
        }
    };
    let mut shown = ComparedProblem {
        problem,
        decision: decision(comparison.verdict()).to_owned(),
        pairs: comparison.pairs,
        same_model: comparison.behaviour == Behaviour::Equal { same_model: true },
        ..Default::default()
    };
    match &comparison.costs {
        Costs::Different(cost) => {
            let [first, second] = cost.costs;
            shown.cost_difference = Some(DomainCostDifference { steps: steps(&cost.steps), first, second });
        }
        Costs::NotCompared { side: of, what } => {
            shown.reason = Some(format!("costs were not compared: the {} has {what}", side(*of)));
        }
        Costs::Equal | Costs::NotAsked => {}
    }
    match &comparison.behaviour {
        Behaviour::Equal { .. } => {}
        Behaviour::EqualUpTo { steps, end } => {
            shown.equal_up_to = Some(*steps);
            shown.reason = Some(end_reason(*end));
        }
        Behaviour::Different(found) => shown.difference = Some(difference(found)),
    }
    shown
}

/// Why a search ended, as a clause.
pub fn end_reason(end: SearchEnd) -> String {
    match end {
        SearchEnd::Pairs => "the limit on pairs of states was reached".to_owned(),
        SearchEnd::Depth => "longer sequences were not asked for".to_owned(),
        SearchEnd::Stopped(reason) => format!("{reason} was reached"),
    }
}

fn steps(list: &[NamedStep]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// The shortest sequence that shows that two domains behave differently.
pub fn difference(found: &BehaviourDifference) -> DomainDifference {
    let (kind, by, why, conditions) = match &found.kind {
        DifferenceKind::Refused { by, refusal, conditions } => {
            ("refused", *by, refusal.to_string(), conditions)
        }
        DifferenceKind::Goal { holds_in, conditions } => {
            ("goal", holds_in.other(), "the goal does not hold".to_owned(), conditions)
        }
    };
    DomainDifference {
        kind: kind.to_owned(),
        by: side(by).to_owned(),
        steps: steps(&found.steps),
        why,
        conditions: conditions.clone(),
    }
}

/// A comparison by the cheapest plans.
pub fn heuristic(found: &HdeResult, options: &HdeOptions) -> HeuristicEquivalence {
    let mut shown = HeuristicEquivalence {
        decision: "equivalent".to_owned(),
        k: options.k.get() as u64,
        rule: Rule::from(options.rule).name().to_owned(),
        semantics: semantics(options.semantics).to_owned(),
        plans: found.plans.iter().map(|p| p.map(|n| n as u64)).collect(),
        shared: found.shared as u64,
        ..HeuristicEquivalence::default()
    };
    match &found.outcome {
        HdeOutcome::Equivalent => {}
        HdeOutcome::Undecided { problem, side: of, stopped } => {
            shown.decision = "undecided".to_owned();
            shown.problem = Some(*problem as u64);
            shown.why = Some(format!("{stopped} kept plans of the {} domain from being found", side(*of)));
        }
        HdeOutcome::Different { problem, difference } => {
            shown.decision = "different".to_owned();
            shown.problem = Some(*problem as u64);
            let class = match difference.class() {
                HdeClass::NoPlan => "no-plan",
                HdeClass::NPApp => "new-plan-fails",
                HdeClass::OPApp => "old-plan-fails",
            };
            shown.class = Some(class.to_owned());
            match difference {
                HdeDifference::NoPlan(why) => shown.why = Some(why.text()),
                HdeDifference::Number { reference, candidate } => {
                    shown.why = Some(format!(
                        "the problem has {reference} plans in the first domain and {candidate} in the second"
                    ));
                }
                HdeDifference::NewPlanFails(plan) => {
                    shown.failing_plan = Some(failing(ComparedSide::Second, plan))
                }
                HdeDifference::OldPlanFails(plan) => {
                    shown.failing_plan = Some(failing(ComparedSide::First, plan))
                }
            }
        }
    }
    shown
}

fn failing(of: ComparedSide, plan: &FailingPlan) -> FailingDomainPlan {
    let why = plan.failing.as_ref().map_or("the goal does not hold".to_owned(), |f| f.1.to_string());
    FailingDomainPlan {
        plan_of: side(of).to_owned(),
        rank: plan.rank as u64,
        steps: steps(&plan.steps),
        failing_step: plan.failing.as_ref().map(|f| f.0 as u64),
        why,
        conditions: plan.conditions.clone(),
    }
}

/// Action reconstruction errors of a domain.
pub fn reconstruction_error(found: &DomainError) -> DomainReconstructionError {
    DomainReconstructionError {
        by_name: found.by_name as u64,
        by_position: found.by_position as u64,
        least: found.least.map(|n| n as u64),
        actions: found.actions.iter().map(|(name, error)| action_error(name, error.as_ref())).collect(),
        extra: found.extra.clone(),
    }
}

/// The reconstruction error of one action; `None` where the other domain has no such action.
pub fn action_error(action: &str, found: Option<&ActionError>) -> ActionReconstructionError {
    ActionReconstructionError {
        action: action.to_owned(),
        by_name: found.map(|e| e.by_name as u64),
        by_position: found.map(|e| e.by_position as u64),
        least: found.and_then(|e| e.least.as_ref()).map(|l| l.error as u64),
    }
}

/// The renaming of the actions, parameters and types of a domain.
pub fn interface(found: &Interface) -> MatchedInterface {
    let actions = found.actions.iter().map(|a| MatchedAction {
        reference: a.reference.clone(),
        candidate: a.candidate.clone(),
        parameters: a.parameters.iter().map(|&p| p as u64).collect(),
        error: a.error as u64,
    });
    MatchedInterface {
        actions: actions.collect(),
        types: found.types.iter().map(|(a, b)| [a.clone(), b.clone()]).collect(),
        error: found.error as u64,
        identity: found.is_identity(),
        types_agree: found.types_agree,
        exact: found.exact,
    }
}
