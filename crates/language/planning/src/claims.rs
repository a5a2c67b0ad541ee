//! Compares claims about a plan with its execution: the failures of language models as planners
//! (test-time-scaling paper, section 4.6). A claimed state is compared up to the first step that cannot be
//! executed. After it there is no state to compare with.

use crate::plan::{PlanOptions, SearchOutcome};
use crate::resources::{CountingLimits, ResourceLimits};
use crate::satisfy::Work;
use crate::solve::plan;
use crate::task::{Atom, ObjectId};
use crate::validate::world::{Args, World};
use crate::validate::{ValidationDecision, ValidationReport, Validator};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::{Domain, MetricDirection, Problem};

/// A literal that is claimed to hold at some point of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteralClaim {
    /// After how many steps; 0 is the initial state.
    pub after: usize,
    /// `(at a b)` or `(not (at a b))`, in any case.
    pub literal: String,
}

/// Result of comparing a claimed literal with the state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiteralVerdict {
    /// It is the case.
    Right,
    /// It is not the case.
    Wrong,
    /// The plan is not executed so far.
    NotReached,
    /// The literal is not one of the task. Contains the reason, as a clause.
    Unread(String),
}

/// Polls allowed for the derived atoms of one state.
const DERIVATION_POLLS: u64 = 100_000;

/// Compares claimed literals with the states of a plan, derived atoms and those that never change included. One verdict a claim, in
/// order.
pub fn check_literals(
    validator: &Validator,
    report: &ValidationReport,
    claims: &[LiteralClaim],
) -> Vec<LiteralVerdict> {
    let mut verdicts = vec![LiteralVerdict::NotReached; claims.len()];
    let mut order: Vec<usize> = (0..claims.len()).collect();
    order.sort_by_key(|&i| claims[i].after);
    let limits = CountingLimits { polls: DERIVATION_POLLS, bytes: u64::MAX };
    let mut world = World::initial(validator.task());
    let mut at = 0;
    for i in order {
        let claim = &claims[i];
        let literal = read(validator, &claim.literal);
        if claim.after > report.trace.len() {
            // An unreadable literal is unread, even after the last executed step.
            if let Err(why) = literal {
                verdicts[i] = LiteralVerdict::Unread(why);
            }
            continue;
        }
        while at < claim.after {
            let step = &report.trace[at];
            step.deleted.iter().for_each(|a| {
                world.remove(a.predicate, &Args::from_slice(&a.args));
            });
            step.added.iter().for_each(|a| {
                world.insert(a.predicate, Args::from_slice(&a.args));
            });
            step.numbers
                .iter()
                .for_each(|(f, v)| world.set_number(f.predicate, Args::from_slice(&f.args), *v));
            at += 1;
        }
        verdicts[i] = match literal {
            Err(why) => LiteralVerdict::Unread(why),
            Ok((atom, _))
                if validator.task().predicates[atom.predicate as usize].derived
                    && world.close(&mut Work::new(&mut limits.clone())).is_err() =>
            {
                LiteralVerdict::Unread("the derived atoms were not computed within the limits".to_owned())
            }
            Ok((atom, negated))
                if world.contains(atom.predicate, &Args::from_slice(&atom.args)) != negated =>
            {
                LiteralVerdict::Right
            }
            Ok(_) => LiteralVerdict::Wrong,
        };
    }
    verdicts
}

/// A literal's atom, and whether it is negated.
fn read(validator: &Validator, text: &str) -> Result<(Atom, bool), String> {
    let text = text.trim();
    let inside = |t: &str| -> Option<String> {
        Some(t.trim().strip_prefix('(')?.strip_suffix(')')?.trim().to_lowercase())
    };
    let Some(mut body) = inside(text) else { return Err(format!("{text} is no literal")) };
    let negated = body.strip_prefix("not").is_some_and(|r| r.trim_start().starts_with('('));
    if negated {
        body = inside(&body[3..]).ok_or_else(|| format!("{text} is no literal"))?;
    }
    let mut words = body.split_whitespace();
    let Some(name) = words.next().filter(|_| !body.contains(['(', ')'])) else {
        return Err(format!("{text} is no literal"));
    };
    let task = validator.task();
    let known = task.symbols.predicates.iter().position(|p| !p.starts_with('@') && p.to_lowercase() == name);
    let Some(predicate) = known else { return Err(format!("there is no predicate {name}")) };
    let mut args: Vec<ObjectId> = Vec::new();
    for word in words {
        match validator.object(word) {
            Some(object) => args.push(object),
            None => return Err(format!("there is no object {word}")),
        }
    }
    let arity = task.predicates[predicate].arity;
    if args.len() != arity {
        return Err(format!("{name} has {arity} arguments, not {}", args.len()));
    }
    Ok((Atom { predicate: predicate as u32, args: args.into() }, negated))
}

/// Execution of a plan, by the validator or by an environment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanExecution {
    /// Steps in the plan.
    pub steps: usize,
    /// Steps executed before the first that cannot be.
    pub executed: usize,
    /// True if the plan is valid: executed to its end, the goal holds there, and no trajectory constraint is violated.
    pub valid: bool,
    /// True if the plan is executed to its end and the goal holds there.
    pub reaches_goal: bool,
    /// The plan's cost. `None` if the plan was not executed to its end or the cost is unknown.
    pub cost: Option<f64>,
}

impl PlanExecution {
    /// Returns the execution that the validator reports, or `None` if it did not judge the plan.
    pub fn of(report: &ValidationReport) -> Option<Self> {
        if matches!(report.decision, ValidationDecision::Unsupported(_) | ValidationDecision::LimitReached(_))
        {
            return None;
        }
        let executed = report.trace.len();
        Some(Self {
            steps: report.steps,
            executed,
            valid: report.is_valid(),
            reaches_goal: report.failing_step.is_none() && report.missing_goals.is_empty(),
            cost: report.cost.filter(|_| executed == report.steps),
        })
    }
}

/// Claims about a plan as a whole. `None` means not claimed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PlanClaim {
    /// Claim that the goal is reached, or that it is not.
    pub goal_reached: Option<bool>,
    /// Claimed cost.
    pub cost: Option<f64>,
    /// Claim of the plan's author that the plan is valid, or that it is not.
    pub valid: Option<bool>,
    /// The same claim, by a model that reviewed the plan later.
    pub critic: Option<bool>,
}

/// The failures of section 4.6, each `None` where nothing was claimed that could be wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClaimFailures {
    /// A step cannot be executed.
    pub rule_violation: bool,
    /// Some claimed literal is not the case; `None` where no literal could be compared.
    pub wrong_state: Option<bool>,
    /// The claim about the goal is false; `None` without a claim.
    pub wrong_goal_claim: Option<bool>,
    /// The plan is called valid and is not, or the other way round: by its author or by the critic.
    pub wrong_self_evaluation: Option<bool>,
    /// The cost is not what the plan costs; `None` also where the plan is not executed to its end.
    pub wrong_cost: Option<bool>,
}

impl ClaimFailures {
    /// Compares the claims with the execution and with the verdicts on the claimed literals.
    pub fn of(execution: &PlanExecution, literals: &[LiteralVerdict], claim: &PlanClaim) -> Self {
        let wrong = literals.contains(&LiteralVerdict::Wrong);
        let compared = wrong || literals.contains(&LiteralVerdict::Right);
        let is_wrong = |said: bool| said != execution.valid;
        let judgements: Vec<bool> = [claim.valid, claim.critic].into_iter().flatten().map(is_wrong).collect();
        Self {
            rule_violation: execution.executed < execution.steps,
            wrong_state: compared.then_some(wrong),
            wrong_goal_claim: claim.goal_reached.map(|said| said != execution.reaches_goal),
            wrong_self_evaluation: (!judgements.is_empty()).then(|| judgements.contains(&true)),
            wrong_cost: claim
                .cost
                .zip(execution.cost)
                .map(|(said, is)| (said - is).abs() > 1e-6 * is.abs().max(1.0)),
        }
    }
}

/// Result of comparing a valid plan's cost with the cost of a cheapest plan.
#[derive(Debug, Clone, PartialEq)]
pub enum Optimality {
    /// No plan costs less.
    Optimal,
    /// A cheapest plan costs this much.
    Cheaper(f64),
    /// It could not be shown: why, as a clause.
    Undecided(String),
}

/// Compares what a valid plan costs with a cheapest plan, searched under the limits of `options` and `resources`; the algorithm should be
/// [`Algorithm::AStar`](crate::Algorithm::AStar).
///
/// # Errors
/// As [`plan`].
pub fn optimality(
    domain: &Domain,
    problem: &Problem,
    cost: f64,
    options: &PlanOptions,
    resources: &mut dyn ResourceLimits,
) -> Result<Optimality, Vec<Diagnostic>> {
    let undecided = |why: String| Ok(Optimality::Undecided(why));
    let maximize = problem.metric.as_ref().is_some_and(|m| m.direction == MetricDirection::Maximize);
    let better = |least: f64| if maximize { least > cost } else { least < cost };
    match plan(domain, problem, options, resources)?.outcome {
        SearchOutcome::Plan(best) => match best.cost.filter(|_| best.optimal) {
            Some(least) if better(least) => Ok(Optimality::Cheaper(least)),
            Some(_) => Ok(Optimality::Optimal),
            None => undecided("the cost of a cheapest plan is not known".to_owned()),
        },
        SearchOutcome::LimitReached(reason) => {
            undecided(format!("{reason} ended the search for a cheapest plan"))
        }
        SearchOutcome::Unsupported(constructs) => {
            let what: Vec<&str> = constructs.iter().map(|c| c.what.as_str()).collect();
            undecided(format!("a search for cheapest plans does not handle {}", what.join(", ")))
        }
        SearchOutcome::Exhausted | SearchOutcome::ProvenUnsolvable(_) => {
            undecided("the search found no plan at all".to_owned())
        }
    }
}
