//! Our storage: cells, what joins them, what is on them.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("The store has {n} cells: {list}", |ir, p| {
        ir.count("cell", p[0]);
        items(p[1]).for_each(|cell| ir.object(cell, "cell"));
    }),
    ("Where two cells are joined, they are joined in both directions", |ir, _| {
        ir.say("init(joined(X, Y)) :- init(joined(Y, X)).");
    }),
    ("{name} and {name} are joined", |ir, p| ir.init("joined", p)),
    ("{name} is on {name} and is unladen", |ir, p| {
        ir.init("cart_on", p);
        ir.init("unladen", &p[..1]);
    }),
    ("{name} is on {name}", |ir, p| ir.init("box_on", p)),
    ("All other cells are vacant", |ir, _| {
        ir.say("init(vacant(X)) :- object(X, cell), not init(cart_on(_, X)), not init(box_on(_, X)).");
    }),
    ("In the end {list}", |ir, p| ir.each(p[0], "{name} should be on {name}", |ir, p| ir.goal("box_on", p))),
];
