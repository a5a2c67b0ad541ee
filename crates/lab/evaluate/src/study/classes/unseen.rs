//! The reason why the cheapest plans do not show a difference that is there.
//!
//! The shortest sequence that one domain executes and the other does not is continued to a plan of the one
//! that executes it. Where that is possible, the plan is one of one domain alone, and what it costs says why
//! it is not among the k cheapest.

use super::setup::Setup;
use super::{ExactDifference, Witness, hde_options};
use planforge_pddl::ast::{Domain, InitElement, Problem, Term};
use planforge_pddl::{Name, print_init};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{EquivalenceLimits, comparable};
use planforge_planning::equivalence::hde::{HdeReference, HdeRule};
use planforge_planning::walk::{Model, NamedStep, Refusal, Semantics, execute_steps};
use planforge_planning::{StopReason, TopKOptions, TopKOutcome, top_k};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// The reason why plans do not show a difference.
#[derive(Debug, Clone, PartialEq)]
pub enum Unseen {
    /// Behind the sequence the goal cannot be reached: no plan goes through this difference.
    DeadEnd,
    /// The cheapest plan through the difference costs more than the dearest plan in the comparison.
    Dearer {
        /// The plan.
        witness: Witness,
        cost: f64,
        /// The cost of the last plan in the comparison, in the domain that it is a plan of.
        last: f64,
    },
    /// It costs as much as the last plan in the comparison: k cut this layer of cost.
    CutLayer {
        /// The plan.
        witness: Witness,
        cost: f64,
    },
    /// It has a step without effect; the plans of the comparison have none.
    NoOp {
        /// The plan.
        witness: Witness,
    },
    /// Only costs differ.
    Cost,
    /// It was not found out.
    Unknown(String),
}

impl Unseen {
    /// The reason in tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Unseen::DeadEnd => "no plan goes through it",
            Unseen::Dearer { .. } => "plans through it are dearer",
            Unseen::CutLayer { .. } => "cut inside its cost",
            Unseen::NoOp { .. } => "a step without effect",
            Unseen::Cost => "cost alone",
            Unseen::Unknown(_) => "not found out",
        }
    }

    /// The plan of one domain alone.
    pub const fn witness(&self) -> Option<&Witness> {
        match self {
            Unseen::Dearer { witness, .. } | Unseen::CutLayer { witness, .. } | Unseen::NoOp { witness } => {
                Some(witness)
            }
            Unseen::DeadEnd | Unseen::Cost | Unseen::Unknown(_) => None,
        }
    }
}

pub(super) fn unseen(setup: &Setup<'_>, mutant: &Domain, difference: &ExactDifference) -> Unseen {
    let Some(side) = difference.executed_by else { return Unseen::Cost };
    let domain = if side == ComparedSide::First { &setup.suite.domain } else { mutant };
    find_reason(setup, domain, side, difference).unwrap_or_else(Unseen::Unknown)
}

fn find_reason(
    setup: &Setup<'_>,
    domain: &Domain,
    side: ComparedSide,
    difference: &ExactDifference,
) -> Result<Unseen, String> {
    let problem = &setup.suite.tasks.get(difference.problem).ok_or("no such problem")?.problem;
    let own = comparable(side, domain, problem, &EquivalenceLimits::default(), &mut setup.budget())
        .map_err(|no| no.error.to_string())?;
    let model = own.model();
    let Some(rest) = continue_to_goal(setup, domain, problem, model, &difference.steps)? else {
        return Ok(Unseen::DeadEnd);
    };
    let steps = [difference.steps.as_slice(), &rest].concat();
    let valid = [side == ComparedSide::First, side == ComparedSide::Second];
    let cost = cost(model, &steps).ok_or("the plan is not executed")?;
    let witness = Witness { problem: difference.problem, steps, valid };
    if has_step_without_effect(setup, domain, problem, &witness.steps)? {
        return Ok(Unseen::NoOp { witness });
    }
    let k = *setup.spec.k.first().ok_or("no number of plans")?;
    let looked_at = HdeReference::new(
        domain,
        &[problem],
        &hde_options(setup.spec, k, HdeRule::Definition),
        &mut setup.budget(),
    );
    let looked_at = looked_at.map_err(|no| no.to_string())?;
    let last = looked_at.plans(0).last().and_then(|plan| self::cost(model, plan)).ok_or("no plan")?;
    if cost > last {
        Ok(Unseen::Dearer { witness, cost, last })
    } else if cost == last && looked_at.plans(0).len() == k.get() {
        Ok(Unseen::CutLayer { witness, cost })
    } else {
        Err(format!("a plan of cost {cost} is not among those up to {last}"))
    }
}

/// The cheapest steps from behind the sequence to the goal; `None` where there are none.
fn continue_to_goal(
    setup: &Setup<'_>,
    domain: &Domain,
    problem: &Problem,
    model: &Model,
    steps: &[NamedStep],
) -> Result<Option<Vec<NamedStep>>, String> {
    let after = execute_steps(model, steps);
    if after.refusal.is_some() {
        return Err("the sequence is not executed".to_owned());
    }
    let options = TopKOptions {
        semantics: Semantics::GroundNoOpsDropped,
        max_nodes: setup.spec.max_nodes,
        ..TopKOptions::new(NonZeroUsize::MIN)
    };
    let behind = Problem { init: state(problem, model, &after.state), ..problem.clone() };
    match top_k(domain, &behind, &options, &mut setup.budget()).map(|result| result.outcome) {
        Ok(TopKOutcome::Plans { plans, .. }) => {
            let texts = plans.first().map(planforge_planning::Plan::step_texts).unwrap_or_default();
            Ok(Some(texts.iter().filter_map(|text| NamedStep::parse(text)).collect()))
        }
        Ok(TopKOutcome::ProvenUnsolvable(_)) => Ok(None),
        Ok(TopKOutcome::LimitReached(reason)) => Err(format!("{reason} was reached behind the sequence")),
        Ok(TopKOutcome::Unsupported(_)) => Err(StopReason::Grounding.to_string()),
        Err(_) => Err("the state after the sequence is not an initial state".to_owned()),
    }
}

/// A state as a problem's initial state: what cannot change stays, and of the rest what holds.
fn state(problem: &Problem, model: &Model, state: &planforge_planning::State) -> Vec<InitElement> {
    let symbols = &model.lifted().symbols;
    let atom = |atom: &planforge_planning::task::Atom| {
        let name = |text: &str| Name::synthetic(text);
        let args = atom.args.iter().map(|&o| Term::Constant(name(&symbols.objects[o as usize]))).collect();
        InitElement::Atom(planforge_pddl::ast::Atom {
            predicate: name(&symbols.predicates[atom.predicate as usize]),
            args,
            span: planforge_diagnostics::Span::default(),
        })
    };
    let key = |element: &InitElement| print_init(element).to_lowercase();
    let changing: BTreeSet<String> = model
        .simulator()
        .map(|s| s.task().facts.iter().take(s.task().basic_facts).map(|fact| key(&atom(fact))).collect())
        .unwrap_or_default();
    let mut init: Vec<InitElement> =
        problem.init.iter().filter(|element| !changing.contains(&key(element))).cloned().collect();
    init.extend(model.atoms(state).iter().map(atom));
    init
}

/// The cost of a plan: its metric, or its number of steps. Absent if it is not executable.
fn cost(model: &Model, steps: &[NamedStep]) -> Option<f64> {
    let simulator = model.simulator()?;
    let costs = steps
        .iter()
        .map(|step| model.resolve(step).ok().flatten().map(|action| simulator.cost(action).to_f64()));
    costs.sum()
}

/// True if plans exclude one of the steps: a ground action that changes nothing wherever it is executable.
fn has_step_without_effect(
    setup: &Setup<'_>,
    domain: &Domain,
    problem: &Problem,
    steps: &[NamedStep],
) -> Result<bool, String> {
    let dropped =
        EquivalenceLimits { semantics: Semantics::GroundNoOpsDropped, ..EquivalenceLimits::default() };
    let own = comparable(ComparedSide::First, domain, problem, &dropped, &mut setup.budget())
        .map_err(|no| no.error.to_string())?;
    Ok(execute_steps(own.model(), steps).refusal == Some(Refusal::NoEffect))
}
