//! Our blocks: piles described by what is on what.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("There are {n} blocks: {list}", |ir, p| {
        ir.count("block", p[0]);
        items(p[1]).for_each(|block| ir.object(block, "block"));
    }),
    ("The arm is free", |ir, _| ir.init("arm_free", &[])),
    ("The blocks? {list} stands? on the table", |ir, p| {
        items(p[0]).for_each(|block| ir.init("on_table", &[block]));
    }),
    ("{name} stands on {name}", |ir, p| ir.init("stands_on", p)),
    // What is not written does not hold.
    ("No other block stands on another", |_, _| {}),
    ("In the end {list}", |ir, p| {
        ir.each(p[0], "{name} should stand on {name}", |ir, p| ir.goal("stands_on", p));
    }),
];
