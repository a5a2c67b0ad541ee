//! LLM+P blocksworld: what is on what.

use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("You have {n} blocks", |ir, p| ir.count("block", p[0])),
    ("{name} is on top of {name}", |ir, p| ir.init("on", p)),
    ("{name} is on the table", |ir, p| ir.init("on_table", p)),
    ("{name} is clear", |ir, p| ir.init("clear", p)),
    ("Your arm is empty", |ir, _| ir.init("arm_empty", &[])),
    // Announces the sentences with "should".
    ("Your goal is to move the blocks", |_, _| {}),
    ("{name} should be on top of {name}", |ir, p| ir.goal("on", p)),
];
