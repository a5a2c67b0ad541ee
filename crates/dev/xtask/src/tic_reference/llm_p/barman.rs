//! LLM+P barman: counts, one pairing, properties of all glasses, recipes.

use super::super::ir::{Ir, items};
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("You have {n} shaker with {n} levels, {n} shot glasses, {n} dispensers for {n} ingredients", |ir, p| {
        for (of, number) in ["shaker", "level", "shot", "dispenser", "ingredient"].iter().zip(p) {
            ir.count(of, number);
        }
        ir.map("init", "dispenser", "dispenses", "ingredient");
    }),
    ("The {list} are ((?:clean|empty|on the table|, |and )+)", |ir, p| {
        for subject in items(p[0]) {
            match subject {
                "shaker" => properties(ir, "shaker", p[1]),
                "shot glasses" => properties(ir, "shot", p[1]),
                other => ir.problem(format!("`{other}` is not read")),
            }
        }
    }),
    ("Your {name} and {name} hands are empty", |ir, p| {
        ir.init("handempty", &[p[0]]);
        ir.init("handempty", &[p[1]]);
    }),
    ("The first ingredient of {name} is {name}", |ir, p| ir.init("cocktail_part1", p)),
    ("The second ingredient of {name} is {name}", |ir, p| ir.init("cocktail_part2", p)),
    ("Your goal is to make {n} cocktails", |ir, p| ir.count("cocktail", p[0])),
    ("{name} contains {name}", |ir, p| ir.goal("contains", p)),
];

fn properties(ir: &mut Ir, of: &str, list: &str) {
    for property in items(list) {
        let predicate = if property == "on the table" { "ontable" } else { property };
        ir.all("init", predicate, of, &[]);
    }
}
