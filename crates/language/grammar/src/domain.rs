//! The grammar of whole domains.

use crate::pddl::Pddl;
use crate::problem::requirements;
use crate::scope::Objects;
use crate::tree::{Expr, Grammar};
use planforge_pddl::ast::Domain;

/// The grammar of whole domains: syntax only. Of `domain` it takes the name. Which predicates, types and variables a domain declares itself
/// cannot be said by a context-free grammar, so arguments and names are free.
pub fn domain_grammar(domain: &Domain) -> Grammar {
    let nothing = Domain { name: domain.name.clone(), ..Domain::default() };
    let mut pddl = Pddl::new(&nothing, Objects::Any, &[]);
    let name = match &nothing.name {
        Some(name) => Expr::text(name.as_str()),
        None => pddl.name.clone(),
    };
    let typed = free_typed(&mut pddl);
    let names = typed_list(&pddl, &pddl.name.clone(), &typed);
    let variables = typed_list(&pddl, &pddl.variable.clone(), &typed);
    let declared = Expr::sequence([pddl.name.clone(), pddl.spaced(variables.clone()).optional()]);
    let declared = pddl.list([declared]);
    let declaration = pddl.builder.rule("declaration", declared);
    let function = Expr::sequence([
        declaration.clone(),
        Expr::sequence([pddl.spaced(Expr::text("-")), pddl.spaced(Expr::text("number"))]).optional(),
    ]);
    let parameters = pddl.list([variables.optional()]);
    let parameters = pddl.builder.rule("parameters", parameters);
    let term = pddl.builder.rule("term", Expr::choice([pddl.name.clone(), pddl.variable.clone()]));
    let atom = pddl.list([pddl.name.clone(), pddl.spaced(term.clone()).any_number()]);
    let atom = pddl.builder.rule("atom", atom);
    let number = free_number(&mut pddl, &atom);
    let condition = free_condition(&mut pddl, &atom, &term, &number, &parameters);
    let effect = free_effect(&mut pddl, &atom, &number, &condition, &parameters);
    let field = |pddl: &Pddl<'_>, key: &str, value: &Expr| {
        Expr::sequence([pddl.gap.clone(), Expr::text(key), value.clone()])
    };
    let action = pddl.section(
        ":action",
        [
            pddl.spaced(pddl.name.clone()),
            pddl.spaced(Expr::text(":parameters")),
            parameters.clone(),
            field(&pddl, ":precondition", &condition).optional(),
            field(&pddl, ":effect", &effect),
        ],
    );
    let derived = pddl.section(":derived", [declaration.clone(), condition]);
    let sections = [
        Expr::text("define"),
        pddl.list([Expr::text("domain"), pddl.spaced(name)]),
        requirements(&mut pddl).optional(),
        pddl.section(":types", [pddl.spaced(names.clone()).optional()]).optional(),
        pddl.section(":constants", [pddl.spaced(names).optional()]).optional(),
        pddl.section(":predicates", [declaration.any_number()]),
        pddl.section(":functions", [function.any_number()]).optional(),
        derived.any_number(),
        action.any_number(),
    ];
    let start = Expr::sequence([pddl.list(sections), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// ` - type` with any name as a type.
fn free_typed(pddl: &mut Pddl<'_>) -> Expr {
    let name = pddl.spaced(pddl.name.clone());
    let either = pddl.list([Expr::text("either"), name.clone().at_least_once()]);
    let typed = Expr::sequence([pddl.spaced(Expr::text("-")), Expr::choice([name, either])]);
    pddl.builder.rule("typed", typed)
}

fn typed_list(pddl: &Pddl<'_>, entry: &Expr, typed: &Expr) -> Expr {
    let next = Expr::sequence([typed.clone().optional(), pddl.spaced(entry.clone())]);
    Expr::sequence([entry.clone(), next.any_number(), typed.clone().optional()])
}

fn free_number(pddl: &mut Pddl<'_>, atom: &Expr) -> Expr {
    let id = pddl.builder.reserve("numeric");
    let inner = Expr::Rule(id);
    let of = |op: &str, more: Expr| pddl.list([Expr::text(op), inner.clone(), more]);
    let alternatives = [
        pddl.spaced(pddl.number.clone()),
        atom.clone(),
        of("+", inner.clone().at_least_once()),
        of("*", inner.clone().at_least_once()),
        of("-", inner.clone().optional()),
        of("/", inner.clone()),
    ];
    pddl.builder.set(id, Expr::choice(alternatives));
    inner
}

fn free_condition(pddl: &mut Pddl<'_>, atom: &Expr, term: &Expr, number: &Expr, parameters: &Expr) -> Expr {
    let id = pddl.builder.reserve("condition");
    let inner = Expr::Rule(id);
    let term = pddl.spaced(term.clone());
    let of = |word: &str, items: &[&Expr]| {
        Expr::sequence([Expr::text(word)].into_iter().chain(items.iter().map(|item| (*item).clone())))
    };
    let several = inner.clone().any_number();
    let compare = Expr::choice(["<", "<=", ">", ">=", "="].map(Expr::text));
    let lists = [
        of("and", &[&several]),
        of("or", &[&several]),
        of("not", &[&inner]),
        of("imply", &[&inner, &inner]),
        of("exists", &[parameters, &inner]),
        of("forall", &[parameters, &inner]),
        of("=", &[&term, &term]),
        Expr::sequence([compare, number.clone(), number.clone()]),
    ];
    let list = pddl.list([Expr::choice(lists).optional()]);
    pddl.builder.set(id, Expr::choice([atom.clone(), list]));
    inner
}

fn free_effect(pddl: &mut Pddl<'_>, atom: &Expr, number: &Expr, condition: &Expr, parameters: &Expr) -> Expr {
    let id = pddl.builder.reserve("effect");
    let inner = Expr::Rule(id);
    let of = |word: &str, items: &[&Expr]| {
        Expr::sequence([Expr::text(word)].into_iter().chain(items.iter().map(|item| (*item).clone())))
    };
    let ops = Expr::choice(["assign", "increase", "decrease", "scale-up", "scale-down"].map(Expr::text));
    let lists = [
        of("and", &[&inner.clone().any_number()]),
        of("not", &[atom]),
        of("forall", &[parameters, &inner]),
        of("when", &[condition, &inner]),
        Expr::sequence([ops, atom.clone(), number.clone()]),
    ];
    let list = pddl.list([Expr::choice(lists)]);
    pddl.builder.set(id, Expr::choice([atom.clone(), list]));
    inner
}
