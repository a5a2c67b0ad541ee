//! The grammar of edits: the calls that translator-edit reads, as Python.

use crate::action::ActionHead;
use crate::pddl::{Pddl, Use};
use crate::scope::{Objects, Variables};
use crate::tree::{Expr, Grammar};
use planforge_pddl::ast::{Action, Domain, TypedName};

/// The names of the functions that an edit calls.
#[derive(Debug, Clone, Copy)]
pub struct EditFunctions<'a> {
    /// Declares predicates.
    pub predicates: &'a str,
    /// Fills in an action.
    pub action: &'a str,
    /// Edit the objects, the initial state and the goal of the problem.
    pub problem: Option<[&'a str; 3]>,
}

impl EditFunctions<'static> {
    /// The functions that edit the domain.
    pub const DOMAIN: Self =
        Self { predicates: "add_or_update_predicates", action: "modify_action", problem: None };
    /// The functions that edit the domain or the problem.
    pub const BOTH: Self =
        Self { problem: Some(["edit_objects", "edit_initial_state", "edit_goal"]), ..Self::DOMAIN };
}

/// The grammar of the calls that edit a domain, and with `functions.problem` a problem. Actions are those of the domain, and
/// arguments outside of quantifiers are parameters of the edited action, constants, or objects. As a call may declare predicates, every name may
/// be a predicate. Without `objects`, the objects of the problem are any names.
pub fn edit_grammar(domain: &Domain, objects: Option<&[TypedName]>, functions: EditFunctions<'_>) -> Grammar {
    let scopes = action_scopes(domain);
    let known = known_objects(domain, objects, functions);
    let mut pddl = Pddl::new(domain, known, &[]).with_open_predicates();
    let mut calls = vec![declare(&mut pddl, functions.predicates)];
    for (action, scope) in &scopes {
        pddl.enter(scope);
        let condition = pddl.condition(Variables::Parameters);
        let effect = pddl.effect(Variables::Parameters);
        let name = Expr::text(format!("\"{}\"", action.name));
        let (conditions, effects) = (strings(&mut pddl, condition), strings(&mut pddl, effect));
        calls.push(call(&mut pddl, functions.action, vec![name, conditions, effects]));
    }
    if let Some([of_objects, of_init, of_goal]) = functions.problem {
        let entry = pddl.typed_list(&pddl.name.clone());
        let entry = Expr::sequence([pddl.gap.clone(), entry]);
        let fact = pddl.atom(Use::Change, Variables::None);
        let fact = Expr::choice([fact, pddl.value()]);
        let goal = pddl.condition(Variables::None);
        for (function, item) in [(of_objects, entry), (of_init, fact), (of_goal, goal)] {
            let list = strings(&mut pddl, item);
            calls.push(call(&mut pddl, function, vec![list.clone(), list]));
        }
    }
    let call = pddl.builder.rule("call", Expr::choice(calls));
    let next = pddl.spaced(call.clone());
    let start = [pddl.gap.clone(), call, next.any_number(), pddl.gap.clone()];
    pddl.builder.finish(Expr::sequence(start))
}

/// Each action with its parameters and variables.
pub(crate) fn action_scopes(domain: &Domain) -> Vec<(&Action, Vec<TypedName>)> {
    domain.actions.iter().map(|action| (action, ActionHead::Interface(action).scope())).collect()
}

/// The objects that edits may name.
pub(crate) fn known_objects(
    domain: &Domain,
    objects: Option<&[TypedName]>,
    functions: EditFunctions<'_>,
) -> Objects {
    match (objects, functions.problem) {
        (None, Some(_)) => Objects::Any,
        (Some(objects), _) => Objects::with_constants(domain, objects),
        (None, None) => Objects::constants(domain),
    }
}

/// `function(["(name ?x - t ...)", ...])`.
fn declare(pddl: &mut Pddl<'_>, function: &str) -> Expr {
    let variables = pddl.typed_list(&pddl.variable.clone());
    let declaration = pddl.list([pddl.name.clone(), pddl.spaced(variables).optional()]);
    let declarations = strings(pddl, declaration);
    call(pddl, function, vec![declarations])
}

/// `function(argument, ...)`; a comma behind the last argument is allowed.
fn call(pddl: &mut Pddl<'_>, function: &str, arguments: Vec<Expr>) -> Expr {
    let gap = pddl.gap.clone();
    let mut parts = vec![Expr::text(function), Expr::text("(")];
    for (n, argument) in arguments.into_iter().enumerate() {
        if n > 0 {
            parts.extend([gap.clone(), Expr::text(",")]);
        }
        parts.extend([gap.clone(), argument]);
    }
    let comma = Expr::sequence([gap.clone(), Expr::text(",")]);
    parts.extend([comma.optional(), gap, Expr::text(")")]);
    Expr::sequence(parts)
}

/// A list of strings that contain one item each, which has the blanks before it.
fn strings(pddl: &mut Pddl<'_>, item: Expr) -> Expr {
    let gap = pddl.gap.clone();
    let string = Expr::sequence([Expr::text("\""), item, gap.clone(), Expr::text("\"")]);
    let comma = Expr::sequence([gap.clone(), Expr::text(",")]);
    let next = Expr::sequence([comma.clone(), gap.clone(), string.clone()]);
    let items = Expr::sequence([gap.clone(), string, next.any_number(), comma.optional()]);
    let list = [Expr::text("["), items.optional(), gap, Expr::text("]")];
    pddl.builder.rule("strings", Expr::sequence(list))
}
