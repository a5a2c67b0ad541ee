//! LLM+P tyreworld: four things with names, four kinds that are only counted; statements are about all of a
//! kind.

use super::super::ir::{Ir, items};
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("You have {list}", |ir, p| ir.each(p[0], "(an?|[0-9]+) {list}", |ir, p| have(ir, p[0], p[1]))),
    ("(?:The )?{list} (are|should be) in the {name}", |ir, p| {
        items(p[0]).for_each(|what| holds(ir, state(p[1]), "in", what, &[p[2]]));
    }),
    ("The {name} is unlocked but is closed", |ir, p| {
        ir.init("unlocked", p);
        ir.init("closed", p);
    }),
    ("The {list} are not inflated", |ir, p| holds(ir, "init", "not_inflated", p[0], &[])),
    ("{list} should be inflated", |ir, p| holds(ir, "goal", "inflated", &p[0].to_lowercase(), &[])),
    ("The {list} are on the hubs", |ir, p| pairs(ir, "init", p[0], "on")),
    ("The {list} are on the ground", |ir, p| holds(ir, "init", "on_ground", p[0], &[])),
    ("The {list} (are|should be) tight on the hubs", |ir, p| pairs(ir, state(p[1]), p[0], "tight")),
    ("The {list} are fastened", |ir, p| holds(ir, "init", "fastened", p[0], &[])),
    ("Your goal is to replace flat tyres with {list} on the hubs", |ir, p| pairs(ir, "goal", p[0], "on")),
    ("The {name} should be closed", |ir, p| ir.goal("closed", p)),
];

fn state(verb: &str) -> &'static str {
    if verb == "are" { "init" } else { "goal" }
}

fn kind(plural: &str) -> Option<&'static str> {
    match plural {
        "hubs" => Some("hub"),
        "nuts" => Some("nut"),
        "flat tyres" => Some("flat_tyre"),
        "intact tyres" => Some("intact_tyre"),
        _ => None,
    }
}

fn have(ir: &mut Ir, number: &str, what: &str) {
    match (kind(what), what) {
        (Some(of), _) => ir.count(of, number),
        (None, "jack" | "pump" | "wrench") => ir.object(what, "tool"),
        (None, "boot") => ir.object(what, "container"),
        _ => ir.problem(format!("`{what}` is not read")),
    }
}

/// A property of one thing or of all of a kind.
fn holds(ir: &mut Ir, state: &str, predicate: &str, what: &str, rest: &[&str]) {
    let what = what.trim_start_matches("The ").trim_start_matches("the ");
    match kind(what) {
        Some(of) => ir.all(state, predicate, of, rest),
        None => ir.fact(state, predicate, &[&[what], rest].concat()),
    }
}

fn pairs(ir: &mut Ir, state: &str, plural: &str, predicate: &str) {
    match kind(plural) {
        Some(of) => ir.map(state, of, predicate, "hub"),
        None => ir.problem(format!("`{plural}` is not read")),
    }
}
