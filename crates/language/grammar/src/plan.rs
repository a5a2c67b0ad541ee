//! Grammars of plans.

use crate::pddl::Pddl;
use crate::scope::{Objects, Variables};
use crate::tree::{Expr, Grammar};
use planforge_pddl::ast::{Domain, TypedName};

/// The grammar of plans: ground actions of a domain with arguments of the right types. Without `objects`, arguments are any names.
pub fn plan_grammar(domain: &Domain, objects: Option<&[TypedName]>) -> Grammar {
    let known = objects.map_or(Objects::Any, |objects| Objects::with_constants(domain, objects));
    let mut pddl = Pddl::new(domain, known, &[]);
    let plain = domain.actions.iter().map(|a| (a.name.to_string(), a.parameters.as_slice())).collect();
    let durative =
        domain.durative_actions.iter().map(|a| (a.name.to_string(), a.parameters.as_slice())).collect();
    let plain = pddl.applications("action", plain, Variables::None);
    let timed = pddl.applications("durative", durative, Variables::None);
    let timed = Expr::sequence([
        pddl.gap.clone(),
        pddl.number.clone(),
        pddl.gap.clone(),
        Expr::text(":"),
        timed,
        pddl.gap.clone(),
        Expr::text("["),
        pddl.gap.clone(),
        pddl.number.clone(),
        pddl.gap.clone(),
        Expr::text("]"),
    ]);
    let step = pddl.builder.rule("step", Expr::choice([plain, timed]));
    let start = Expr::sequence([step.any_number(), pddl.gap.clone()]);
    pddl.builder.finish(start)
}
