//! Grammars of problems and of their objects.

use crate::pddl::{Pddl, Use};
use crate::scope::{Objects, Variables};
use crate::tree::{Expr, Grammar};
use planforge_pddl::ast::{Domain, TypedName};

/// The grammar of the problems of a domain. With `objects`, which may come from a problem, these are declared as they are, and every
/// argument is one of them or a constant of the type; without them, objects are names of the model's choice and arguments any name.
pub fn problem_grammar(domain: &Domain, objects: Option<&[TypedName]>) -> Grammar {
    let known = objects.map_or(Objects::Any, |objects| Objects::with_constants(domain, objects));
    let mut pddl = Pddl::new(domain, known, &[]);
    let objects = match objects {
        None => objects_section(&mut pddl).optional(),
        Some([]) => pddl.section(":objects", []).optional(),
        Some(objects) => {
            let list = pddl.fixed_typed_list(objects);
            pddl.section(":objects", [pddl.spaced(list)])
        }
    };
    let objects = pddl.builder.rule("objects", objects);
    let init = init_section(&mut pddl);
    let condition = pddl.condition(Variables::None);
    let mut sections = vec![
        Expr::text("define"),
        heading(&mut pddl, domain),
        requirements(&mut pddl).optional(),
        objects,
        init,
        pddl.section(":goal", [condition.clone()]),
    ];
    if pddl.declares(&[":constraints"]) {
        sections.push(pddl.section(":constraints", [condition]).optional());
    }
    sections.push(metric_section(&mut pddl).optional());
    let start = Expr::sequence([pddl.list(sections), pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// The grammar of the objects of a problem: the section `(:objects ...)` with names of the model's choice. In a domain with types each
/// has one.
pub fn objects_grammar(domain: &Domain) -> Grammar {
    let mut pddl = Pddl::new(domain, Objects::Any, &[]);
    let list = pddl.fully_typed_list(&pddl.name.clone());
    let section = pddl.section(":objects", [pddl.spaced(list).optional()]);
    let start = Expr::sequence([section, pddl.gap.clone()]);
    pddl.builder.finish(start)
}

/// `(problem NAME) (:domain NAME)`.
fn heading(pddl: &mut Pddl<'_>, domain: &Domain) -> Expr {
    let first = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')]);
    let inner = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_'), ('-', '-'), ('.', '.')]);
    let label = pddl.builder.token("label", Expr::sequence([first, inner.repeat(0, Some(60))]));
    let of = match &domain.name {
        Some(name) => Expr::text(name.as_str()),
        None => label.clone(),
    };
    let problem = pddl.list([Expr::text("problem"), pddl.spaced(label)]);
    Expr::sequence([problem, pddl.section(":domain", [pddl.spaced(of)])])
}

/// `(:requirements :KEY ...)`.
pub(crate) fn requirements(pddl: &mut Pddl<'_>) -> Expr {
    let key = Expr::class(&[('a', 'z'), ('-', '-')]).repeat(2, Some(40));
    let key = pddl.builder.token("requirement", Expr::sequence([Expr::text(":"), key]));
    pddl.section(":requirements", [pddl.spaced(key).any_number()])
}

fn objects_section(pddl: &mut Pddl<'_>) -> Expr {
    let list = pddl.typed_list(&pddl.name.clone());
    pddl.section(":objects", [pddl.spaced(list).optional()])
}

fn init_section(pddl: &mut Pddl<'_>) -> Expr {
    let fact = pddl.atom(Use::Change, Variables::None);
    let mut entries = vec![fact.clone(), pddl.value()];
    if pddl.declares(&[":timed-initial-literals"]) || !pddl.domain.durative_actions.is_empty() {
        let time = pddl.spaced(pddl.number.clone());
        let negated = pddl.list([Expr::text("not"), fact]);
        let timed = Expr::choice(entries.clone().into_iter().chain([negated]));
        entries.push(pddl.list([Expr::text("at"), time, timed]));
    }
    let entry = pddl.builder.rule("init", Expr::choice(entries));
    pddl.section(":init", [entry.any_number()])
}

fn metric_section(pddl: &mut Pddl<'_>) -> Expr {
    let number = metric_number(pddl);
    let direction = pddl.one_of("direction", &["minimize".to_owned(), "maximize".to_owned()]);
    pddl.section(":metric", [pddl.spaced(direction), number])
}

/// A numeric expression of a metric: also of the time of a plan and of violated preferences.
fn metric_number(pddl: &mut Pddl<'_>) -> Expr {
    let fluent = pddl.fluent(Variables::None);
    let id = pddl.builder.reserve("metric");
    let inner = Expr::Rule(id);
    let total = pddl.spaced(Expr::text("total-time"));
    let number = pddl.spaced(pddl.number.clone());
    let mut alternatives = vec![number, fluent, total, pddl.list([Expr::text("total-time")])];
    if pddl.declares(&[":preferences"]) {
        alternatives.push(pddl.list([Expr::text("is-violated"), pddl.spaced(pddl.name.clone())]));
    }
    for op in ["+", "*", "-", "/"] {
        let more = match op {
            "/" => inner.clone(),
            "-" => inner.clone().optional(),
            _ => inner.clone().at_least_once(),
        };
        alternatives.push(pddl.list([Expr::text(op), inner.clone(), more]));
    }
    pddl.builder.set(id, Expr::choice(alternatives));
    inner
}
