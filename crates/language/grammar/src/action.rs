//! Grammars of single actions.

use crate::pddl::Pddl;
use crate::scope::{Objects, Variables};
use crate::tree::{Expr, Grammar};
use planforge_pddl::ast::{Action, Domain, TypedName};

/// The known beginning of an action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ActionHead<'a> {
    /// Nothing: the model chooses name and parameters.
    Open,
    /// The name; the model chooses the parameters.
    Named(&'a str),
    /// Name, parameters and variables are those of this action.
    Interface(&'a Action),
}

impl<'a> ActionHead<'a> {
    pub(crate) fn interface(self) -> Option<&'a Action> {
        match self {
            Self::Interface(action) => Some(action),
            Self::Open | Self::Named(_) => None,
        }
    }

    /// The name, if it is known.
    pub fn name(self) -> Option<&'a str> {
        match self {
            Self::Open => None,
            Self::Named(name) => Some(name),
            Self::Interface(action) => Some(action.name.as_str()),
        }
    }

    /// Parameters and variables.
    pub(crate) fn scope(self) -> Vec<TypedName> {
        let all =
            self.interface().into_iter().flat_map(|action| action.parameters.iter().chain(&action.vars));
        all.cloned().collect()
    }
}

/// The grammar of one action of a domain. With an interface, name, parameters and variables stand as they are, and outside of quantifiers
/// every argument is a parameter or constant of the type. Otherwise any variable may be an argument.
pub fn action_grammar(domain: &Domain, head: ActionHead<'_>) -> Grammar {
    let scope = head.scope();
    let mut pddl = Pddl::new(domain, Objects::constants(domain), &scope);
    let start = action_expr(&mut pddl, head);
    let start = Expr::sequence([start, pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// The grammar of the beginning `(:action NAME :parameters (...))` of an action of that name, or of any. The model chooses the
/// parameters; in a domain with types each has one.
pub fn parameters_grammar(domain: &Domain, name: Option<&str>) -> Grammar {
    let mut pddl = Pddl::new(domain, Objects::constants(domain), &[]);
    let list = pddl.fully_typed_list(&pddl.variable.clone()).optional();
    let parts = beginning(&pddl, name, list);
    let start = Expr::sequence([pddl.list(parts), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// `:action NAME :parameters (PARAMETERS)`.
fn beginning(pddl: &Pddl<'_>, name: Option<&str>, parameters: Expr) -> Vec<Expr> {
    let name = name.map_or(pddl.name.clone(), Expr::text);
    let keyword = pddl.spaced(Expr::text(":parameters"));
    vec![Expr::text(":action"), pddl.spaced(name), keyword, pddl.list([parameters])]
}

/// `(:action NAME :parameters (...) :precondition CONDITION :effect EFFECT)`.
fn action_expr(pddl: &mut Pddl<'_>, head: ActionHead<'_>) -> Expr {
    let interface = head.interface();
    let variables = if interface.is_some() { Variables::Parameters } else { Variables::Any };
    let free = pddl.typed_list(&pddl.variable.clone()).optional();
    let parameters = interface.map_or(free, |action| pddl.fixed_typed_list(&action.parameters));
    let field =
        |pddl: &Pddl<'_>, key: &str, value: Expr| Expr::sequence([pddl.gap.clone(), Expr::text(key), value]);
    let mut parts = beginning(pddl, head.name(), parameters);
    if let Some(action) = interface.filter(|action| !action.vars.is_empty()) {
        let vars = pddl.fixed_typed_list(&action.vars);
        parts.push(field(pddl, ":vars", pddl.list([vars])));
    }
    let condition = pddl.condition(variables);
    parts.push(field(pddl, ":precondition", condition).optional());
    let effect = pddl.effect(variables);
    parts.push(field(pddl, ":effect", effect));
    pddl.list(parts)
}
