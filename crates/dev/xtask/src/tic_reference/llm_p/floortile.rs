//! LLM+P floortile: a grid by the names of its tiles, robots, a pattern of colours.

use super::super::ir::{Ir, items};
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("You have {n} rows and {n} columns of unpainted floor tiles", |ir, p| {
        ir.count("row", p[0]);
        ir.count("column", p[1]);
    }),
    (r"((?:tile_\d+-\d+ ?)+)", |ir, p| p[0].split(' ').for_each(|tile| place(ir, tile))),
    ("You have {n} robots?", |ir, p| ir.count("robot", p[0])),
    ("Each robot can paint in color {list}", |ir, p| {
        items(p[0]).for_each(|colour| ir.init("available_color", &[colour]));
    }),
    ("{name} is at {name}", |ir, p| ir.init("robot_at", p)),
    // Announces the list of tiles and colours.
    ("Your goal is to paint the grid in the following pattern:", |_, _| {}),
    (r"((?:tile_\d+-\d+ is \w+(?:; )?)+)", |ir, p| {
        ir.each(p[0], "{name} is {name}", |ir, p| ir.goal("painted", p));
    }),
];

/// `tile_2-3` is in row 2 and column 3.
fn place(ir: &mut Ir, tile: &str) {
    match tile.trim_start_matches("tile_").split_once('-') {
        Some((row, column)) => ir.cell("floortile_grid", row, column, tile),
        None => ir.problem(format!("`{tile}` has no row and column")),
    }
}
