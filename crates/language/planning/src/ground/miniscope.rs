//! Narrows quantifiers before formulas are instantiated: variables that do not occur are dropped, and parts that share no
//! variable are quantified on their own. A quantifier over k variables of n objects then has n instances where each part
//! has one of them, not n^k.

use crate::lifted::{Formula, LiftedTask, Variable};
use crate::satisfy::{group_by_variables, occurring};
use planforge_diagnostics::Span;
use std::borrow::Cow;

/// The task with narrow quantifiers.
pub(crate) fn miniscope(task: &LiftedTask) -> Cow<'_, LiftedTask> {
    let groups = task.schemas.iter().flat_map(|s| &s.effects);
    let conditions = task.schemas.iter().map(|s| &s.precondition).chain(groups.map(|g| &g.condition));
    let mut all = conditions.chain(task.rules.iter().map(|r| &r.body)).chain([&task.goal]);
    if !all.any(can_be_narrowed) {
        return Cow::Borrowed(task);
    }
    let mut task = task.clone();
    let narrow = |formula: &mut Formula| {
        if can_be_narrowed(formula) {
            *formula = narrowed(formula);
        }
    };
    for schema in &mut task.schemas {
        narrow(&mut schema.precondition);
        schema.effects.iter_mut().for_each(|group| narrow(&mut group.condition));
    }
    task.rules.iter_mut().for_each(|rule| narrow(&mut rule.body));
    narrow(&mut task.goal);
    Cow::Owned(task)
}

/// Returns true if a quantifier has several variables, and one does not occur in some part of its body.
fn can_be_narrowed(formula: &Formula) -> bool {
    match formula {
        Formula::And(parts) | Formula::Or(parts, _) => parts.iter().any(can_be_narrowed),
        Formula::Exists(variables, body, _) | Formula::Forall(variables, body, _) => {
            let parts = match &**body {
                Formula::And(parts) | Formula::Or(parts, _) => parts.as_slice(),
                single => std::slice::from_ref(single),
            };
            let open: Vec<&Variable> = variables.iter().collect();
            parts.iter().any(|part| occurring(part, &open).len() < open.len()) && !open.is_empty()
                || can_be_narrowed(body)
        }
        Formula::Literal { .. } | Formula::Equal { .. } | Formula::Compare { .. } => false,
    }
}

fn narrowed(formula: &Formula) -> Formula {
    match formula {
        Formula::And(parts) => Formula::And(parts.iter().map(narrowed).collect()),
        Formula::Or(parts, span) => Formula::Or(parts.iter().map(narrowed).collect(), *span),
        Formula::Exists(variables, body, span) => quantified(true, variables, narrowed(body), *span),
        Formula::Forall(variables, body, span) => quantified(false, variables, narrowed(body), *span),
        other => other.clone(),
    }
}

/// The quantified formula, its quantifier moved inwards by one step.
fn quantified(exists: bool, variables: &[Variable], body: Formula, span: Span) -> Formula {
    let junction = |parts: Vec<Formula>, conjunction: bool| {
        if conjunction { Formula::And(parts) } else { Formula::Or(parts, span) }
    };
    let quantifier = |variables: Vec<Variable>, body: Formula| match (variables.is_empty(), exists) {
        (true, _) => body,
        (false, true) => Formula::Exists(variables, Box::new(body), span),
        (false, false) => Formula::Forall(variables, Box::new(body), span),
    };
    if variables.iter().any(|v| v.objects.is_empty()) {
        return junction(Vec::new(), !exists);
    }
    let open: Vec<&Variable> = variables.iter().collect();
    let of = |list: Vec<u32>| -> Vec<Variable> {
        list.into_iter().map(|v| variables[v as usize].clone()).collect()
    };
    match body {
        // The quantifier distributes over its own junction.
        Formula::Or(parts, _) if exists => {
            let one = |part: Formula| quantified(exists, &of(occurring(&part, &open)), part, span);
            Formula::Or(parts.into_iter().map(one).collect(), span)
        }
        Formula::And(parts) if !exists => {
            let one = |part: Formula| quantified(exists, &of(occurring(&part, &open)), part, span);
            Formula::And(parts.into_iter().map(one).collect())
        }
        // Over the other one it is split by the variables that parts share.
        Formula::And(parts) | Formula::Or(parts, _) => {
            let with_variables = parts.into_iter().map(|part| {
                let variables = occurring(&part, &open);
                (part, variables)
            });
            let (closed, rest): (Vec<_>, Vec<_>) = with_variables.partition(|(_, list)| list.is_empty());
            let mut done: Vec<Formula> = closed.into_iter().map(|(part, _)| part).collect();
            for mut group in group_by_variables(rest, open.len()) {
                let body = match group.parts.len() {
                    1 => group.parts.pop().unwrap_or(Formula::And(Vec::new())),
                    _ => junction(group.parts, exists),
                };
                done.push(quantifier(of(group.variables), body));
            }
            match done.len() {
                1 => done.pop().unwrap_or(Formula::And(Vec::new())),
                _ => junction(done, exists),
            }
        }
        body => quantifier(of(occurring(&body, &open)), body),
    }
}
