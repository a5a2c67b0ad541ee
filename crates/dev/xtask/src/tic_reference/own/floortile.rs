//! Our floortile: a grid by the order in which its tiles are listed.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("The floor has {n} rows of {n} tiles", |ir, p| {
        ir.count("row", p[0]);
        ir.count("column", p[1]);
    }),
    ("The (?:southernmost row|next row to the north) is, from west to east, {list}", |ir, p| {
        let row = ir.row.to_string();
        for (column, tile) in items(p[0]).enumerate() {
            ir.cell("floor_grid", &row, &column.to_string(), tile);
        }
        ir.row += 1;
    }),
    // What the grid means is in the knowledge file.
    (
        "A tile lies directly to the east of the one before it in its row, and directly to the north of the tile at the same place in the row before",
        |_, _| {},
    ),
    ("{name} stands on {name} and is loaded with {name} paint", |ir, p| {
        ir.init("stands", &p[..2]);
        ir.init("loaded", &[p[0], p[2]]);
    }),
    ("The paints {list} are in stock", |ir, p| items(p[0]).for_each(|paint| ir.init("in_stock", &[paint]))),
    ("No tile is painted, and every tile without a robot on it is free", |ir, _| {
        ir.say("init(free(X)) :- object(X, tile), not init(stands(_, X)).");
    }),
    ("In the end {list} should be painted in {name}", |ir, p| {
        items(p[0]).for_each(|tile| ir.goal("painted", &[tile, p[1]]));
    }),
];
