//! LLM+P termes: a grid by the names of its positions, and the goal heights.

use super::super::ir::Ir;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("The robot is on a grid with {n} rows and {n} columns", |ir, p| {
        ir.count("row", p[0]);
        ir.count("column", p[1]);
    }),
    (r"((?:pos-\d+-\d+ ?)+)", |ir, p| p[0].split(' ').for_each(|name| place(ir, name))),
    ("The robot is at {name}", |ir, p| ir.init("at", p)),
    ("The depot for new blocks is at {name}", |ir, p| ir.init("is_depot", p)),
    ("The maximum height of blocks is {n}", |ir, p| {
        let highest = ir.number(p[0]);
        ir.say(format!("init(max_height({highest}))."));
    }),
    ("Your goal is to build blocks so that {list}", |ir, p| {
        ir.each(p[0], "the height at {name} is {n}", |ir, p| {
            let height = format!("n{}", ir.number(p[1]));
            ir.goal("height", &[p[0], &height]);
        });
    }),
    ("You cannot have an unplaced block at the end", |ir, _| ir.say("goal(not has_block).")),
];

/// `pos-2-0` is in row 2 and column 0.
fn place(ir: &mut Ir, name: &str) {
    match name.trim_start_matches("pos-").split_once('-') {
        Some((row, column)) => ir.cell("termes_pos_grid", row, column, name),
        None => ir.problem(format!("`{name}` has no row and column")),
    }
}
