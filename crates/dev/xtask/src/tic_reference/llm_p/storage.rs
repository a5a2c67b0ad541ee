//! LLM+P storage: counts, names of places, a map of the depot, connections.

use super::super::ir::{Ir, items};
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("You have {list}", |ir, p| ir.each(p[0], "{n} (.+?)", |ir, p| have(ir, p[0], p[1]))),
    ("(Depot|Container) storeareas are: {list}", |ir, p| {
        let of = format!("{}_storearea", p[0].to_lowercase());
        p[1].split(' ').for_each(|place| ir.object(place, &of));
    }),
    // Announces the map.
    ("Here is a map of depot storeareas:", |_, _| {}),
    (r"((?:depot\d+-\d+-\d+ ?)+)", |ir, p| p[0].split(' ').for_each(|name| place(ir, name))),
    ("According to the map, adjacent depot storeareas are connected", |ir, _| {
        ir.say("init(connected(X, Y)) :- init(adjacent(X, Y)).");
    }),
    ("All {list} are in {name}", |ir, p| {
        for kind in items(p[0]) {
            all(ir, "in", kind, p[1]);
        }
    }),
    ("{name} is on {name}", |ir, p| ir.init("on", p)),
    ("All {list} are connected to {name}", |ir, p| all(ir, "connected", p[0], p[1])),
    ("{name} and {name} are connected", |ir, p| ir.init("connected", p)),
    ("{list} are clear", |ir, p| p[0].split(' ').for_each(|place| ir.init("clear", &[place]))),
    ("{name} is in {name}", |ir, p| ir.init("at", p)),
    ("All hoists are available", |ir, _| ir.all("init", "available", "hoist", &[])),
    ("Your goal is to move all crates to {name}", |ir, p| ir.all("goal", "in", "crate", p)),
];

/// A count, or one thing that is named after its kind.
fn have(ir: &mut Ir, number: &str, what: &str) {
    let named = |name: &str| match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "container" => Some("container"),
        "depot" => Some("depot"),
        "loadarea" => Some("transitarea"),
        _ => None,
    };
    match (kind(what), named(what)) {
        (Some(of), _) => ir.count(of, number),
        (None, Some(of)) => {
            ir.count(of, number);
            ir.object(what, of);
        }
        (None, None) => ir.problem(format!("`{what}` is not read")),
    }
}

fn kind(plural: &str) -> Option<&'static str> {
    match plural {
        "depot storeareas" => Some("depot_storearea"),
        "container storeareas" => Some("container_storearea"),
        "hoists" => Some("hoist"),
        "crates" => Some("crate"),
        _ => None,
    }
}

fn all(ir: &mut Ir, predicate: &str, plural: &str, to: &str) {
    match kind(plural) {
        Some(of) => ir.all("init", predicate, of, &[to]),
        None => ir.problem(format!("`{plural}` is not read")),
    }
}

/// `depot48-1-2` is in row 1 and column 2.
fn place(ir: &mut Ir, name: &str) {
    let parts: Vec<&str> = name.split('-').collect();
    match parts.as_slice() {
        [_, row, column] => ir.cell("depot_storearea_grid", row, column, name),
        _ => ir.problem(format!("`{name}` has no row and column")),
    }
}
