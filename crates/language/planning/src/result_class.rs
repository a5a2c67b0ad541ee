//! Result classes (Oswald et al. 2024, section 3): the classes of an action schema that a model wrote.
//!
//! The action replaces the one of that name in an otherwise true domain. Classes follow the paper's order of
//! precedence, and the first that applies counts: errors of syntax, errors of meaning, behaviour. Each of the
//! first two stems from a diagnostic and has its place in the reply. Behaviour is judged by [heuristic domain
//! equivalence](crate::equivalence::hde).
//!
//! The paper's lists omit errors that its own parser does not notice. Here an undeclared predicate, an
//! unbound variable and a name without an object are argument errors (PAError). By default a construct whose
//! requirement the domain neither declares nor uses itself, not negation alone, is a bad precondition (BPError);
//! [`BadPreconditionRule`] has the paper's definition and its planner's. A constant that the domain does not
//! declare may be an object of every problem; it has its type there, and a wrong one is TError. An action under
//! the name of another one of the domain has a wrong name (NError). A limit is [`ResultClass::Undecided`], never
//! "no plan".
//!
//! The paper compares parameters by position, so an action in the order of its text can be a different domain
//! for its order alone. Here behaviour is compared up to a typed bijection of the parameters, and the class by
//! position stands beside it ([`ClassifiedReply::positional`]).

mod bad_precondition;
mod class;
mod fit;

pub use bad_precondition::BadPreconditionRule;
pub use class::{ResultClass, ResultGroup};
pub use fit::{FittedAction, fit_action};

use crate::equivalence::hde::{HdeOutcome, HdeReference, HdeResult};
use crate::equivalence::parameters::{has_same_types, keeps_positions, reorder_parameters, typed_orders};
use crate::resources::{ResourceLimits, StopReason};
use crate::walk::ModelError;
use fit::fit_with_problems;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::action_blocks;
use planforge_pddl::ast::{Action, Domain};
use planforge_pddl::extract::PddlBlock;

/// A classified reply and the findings behind the class.
#[derive(Debug, Clone)]
pub struct ClassifiedReply {
    /// The first class that applies, up to a typed bijection of the parameters.
    pub class: ResultClass,
    /// The class with parameters by position, as the paper has it, if it is another.
    pub positional: Option<ResultClass>,
    /// The order in which the behaviour was compared, if it is not the written one: by parameter of the
    /// reference, the place of the written action's.
    pub parameters: Option<Vec<usize>>,
    /// Everything that was found wrong with the action, the finding that decides the class first. Places are in the reply.
    pub diagnostics: Vec<Diagnostic>,
    /// The action, where it can be read; spans are in the reply.
    pub action: Option<Action>,
    /// The domain with the action in it, where they fit; its parameters in the order of the comparison.
    pub domain: Option<Domain>,
    /// Comparison of plans; `None` if behaviour was not compared.
    pub hde: Option<HdeResult>,
    /// The limit that left it open, where one did.
    pub stopped: Option<StopReason>,
    /// Reason why the class is [`ResultClass::Undecided`], or which action of a whole domain does not fit.
    pub reason: Option<String>,
}

/// The action in a reply that is meant to be `name`: the last of that name, else the last.
pub fn meant_action(reply: &str, name: &str) -> Option<PddlBlock> {
    let mut blocks = action_blocks(reply);
    match blocks.iter().rposition(|block| is_named(block, name)) {
        Some(index) => Some(blocks.swap_remove(index)),
        None => blocks.pop(),
    }
}

/// The last action of that name in a text, such as a whole domain.
pub fn named_action(text: &str, name: &str) -> Option<PddlBlock> {
    action_blocks(text).into_iter().rfind(|block| is_named(block, name))
}

fn is_named(block: &PddlBlock, name: &str) -> bool {
    let word = block.text.get("(:action".len()..).unwrap_or_default().split_whitespace().next();
    word.is_some_and(|word| word.trim_end_matches('(').eq_ignore_ascii_case(name))
}

/// The class of a reply that is meant to hold the action `name` of `domain`; `reference` was made of that domain and the problems.
/// `source` is the reply's in the diagnostics.
pub fn classify_action(
    reply: &str,
    source: SourceId,
    domain: &Domain,
    name: &str,
    rule: BadPreconditionRule,
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    match fit_with_problems(reply, source, domain, name, rule, Some(reference)) {
        Ok(fit) => up_to_order(fit, domain, name, reference, resources),
        Err(classified) => *classified,
    }
}

impl ClassifiedReply {
    /// The class with parameters by position, as in the paper.
    pub fn by_position(&self) -> ResultClass {
        self.positional.unwrap_or(self.class)
    }

    /// The action with its parameters in the order of the comparison.
    fn ordered_action(&self) -> Option<Action> {
        let action = self.action.as_ref()?;
        match &self.parameters {
            Some(order) => reorder_parameters(action, order),
            None => Some(action.clone()),
        }
    }
}

/// Classifies the behaviour of an action, as it is written and, if plans fail, in other orders of its
/// parameters. An order in which it is equivalent decides. Otherwise the written order does, unless its types
/// are not the reference's: then the order with the least reconstruction error.
fn up_to_order(
    fit: FittedAction,
    domain: &Domain,
    name: &str,
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    let FittedAction { action, domain: whole } = fit;
    let mut written = behaviour(&whole, reference, resources);
    written.action = Some(action.clone());
    written.domain = Some(whole);
    let original = domain.actions.iter().find(|own| own.name.is(&name.to_lowercase()));
    let (ResultClass::NPApp | ResultClass::OPApp, Some(original)) = (written.class, original) else {
        return written;
    };
    let mut best: Option<ClassifiedReply> = None;
    for order in typed_orders(original, &action) {
        let Some(reordered) = reorder_parameters(&action, &order).filter(|_| !keeps_positions(&order)) else {
            continue;
        };
        let whole = with_action(domain, name, reordered);
        let mut found = behaviour(&whole, reference, resources);
        found.positional = (found.class != written.class).then_some(written.class);
        found.parameters = Some(order);
        found.action = Some(action.clone());
        found.domain = Some(whole);
        match found.class {
            ResultClass::Equivalent => return found,
            ResultClass::Undecided => {
                let stopped = found.stopped.is_some();
                best = Some(found);
                if stopped {
                    break;
                }
            }
            _ if best.is_none() && !has_same_types(original, &action) => best = Some(found),
            _ => {}
        }
    }
    best.unwrap_or(written)
}

/// Classifies the domain in which each of these actions replaces the true one of the given name. If some do
/// not fit, the domain has the first of their classes in the order of precedence, and the reason names the
/// action. Otherwise its behaviour decides.
pub fn classify_domain(
    domain: &Domain,
    actions: &[(&str, &ClassifiedReply)],
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    match fit_all_actions(domain, actions) {
        Ok(whole) => {
            let mut classified = behaviour(&whole, reference, resources);
            if actions.iter().any(|(_, c)| c.parameters.is_some()) {
                let written = actions.iter().filter_map(|(name, c)| Some((name, c.action.clone()?)));
                let as_written = written.fold(domain.clone(), |all, (name, a)| with_action(&all, name, a));
                let positional = behaviour(&as_written, reference, resources).class;
                classified.positional = (positional != classified.class).then_some(positional);
            }
            classified.domain = Some(whole);
            classified
        }
        Err(classified) => *classified,
    }
}

/// Builds the domain of [`classify_domain`] without judging its behaviour; the parameters of each action are in
/// the order in which it was compared.
///
/// # Errors
/// The first class of syntax or meaning among the actions.
pub fn fit_all_actions(
    domain: &Domain,
    actions: &[(&str, &ClassifiedReply)],
) -> Result<Domain, Box<ClassifiedReply>> {
    let wrong = |c: &ClassifiedReply| matches!(c.class.group(), ResultGroup::Syntax | ResultGroup::Semantic);
    let first = actions.iter().filter(|(_, c)| wrong(c)).min_by_key(|(_, c)| c.class);
    if let Some((name, classified)) = first {
        let reason = Some(format!("action `{name}` does not fit"));
        return Err(Box::new(ClassifiedReply { reason, ..found(classified.class, Vec::new()) }));
    }
    let written = actions.iter().filter_map(|(name, c)| Some((name, c.ordered_action()?)));
    Ok(written.fold(domain.clone(), |whole, (name, action)| with_action(&whole, name, action)))
}

/// Returns the true domain with `action` in place of `name`.
pub fn with_action(domain: &Domain, name: &str, action: Action) -> Domain {
    let mut whole = domain.clone();
    match whole.actions.iter_mut().find(|old| old.name.is(&name.to_lowercase())) {
        Some(old) => *old = action,
        None => whole.actions.push(action),
    }
    whole
}

fn found(class: ResultClass, diagnostics: Vec<Diagnostic>) -> ClassifiedReply {
    ClassifiedReply {
        class,
        positional: None,
        parameters: None,
        diagnostics,
        action: None,
        domain: None,
        hde: None,
        stopped: None,
        reason: None,
    }
}

fn behaviour(
    domain: &Domain,
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    let hde = match reference.compare(domain, resources) {
        Ok(hde) => hde,
        Err(not) => {
            let stopped = match not.error {
                ModelError::Limit(reason) => Some(reason),
                _ => None,
            };
            return ClassifiedReply {
                stopped,
                reason: Some(not.error.to_string()),
                ..found(ResultClass::Undecided, Vec::new())
            };
        }
    };
    let mut left = None;
    let (class, reason) = match &hde.outcome {
        HdeOutcome::Equivalent => (ResultClass::Equivalent, None),
        HdeOutcome::Different { difference, .. } => (difference.class().into(), None),
        HdeOutcome::Undecided { problem, stopped, .. } => {
            left = Some(*stopped);
            let reason =
                format!("{stopped} was reached before all plans of problem {} were found", problem + 1);
            (ResultClass::Undecided, Some(reason))
        }
    };
    ClassifiedReply { hde: Some(hde), stopped: left, reason, ..found(class, Vec::new()) }
}
