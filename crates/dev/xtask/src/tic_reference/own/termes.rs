//! Our termes: adjacency cell by cell, levels in their order, one or two towers.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("The floor has {n} cells", |ir, p| ir.count("cell", p[0])),
    ("{name} is adjacent to {list}", |ir, p| {
        items(p[1]).for_each(|other| ir.init("adjacent", &[p[0], other]));
    }),
    (
        "From the lowest to the highest, the levels are {list}; each is one above the one before it",
        |ir, p| {
            let levels: Vec<&str> = items(p[0]).collect();
            levels.iter().for_each(|level| ir.object(level, "level"));
            levels.windows(2).for_each(|pair| ir.init("one_above", &[pair[1], pair[0]]));
        },
    ),
    ("The stack at every cell has height {name}", |ir, p| ir.all("init", "height", "cell", p)),
    ("The depot is {name}", |ir, p| ir.init("depot", p)),
    ("The robot is at {name} and carries no block", |ir, p| ir.init("robot_at", p)),
    ("In the end {list}", |ir, p| {
        ir.each(p[0], "the stack at {name} should have height {name}", |ir, p| {
            ir.goal("height", p);
            ir.last.push(p[0].to_owned());
        });
    }),
    (
        "The stack at every other cell should have height {name}, and the robot should carry no block",
        |ir, p| {
            let mut others = String::new();
            for cell in std::mem::take(&mut ir.last) {
                others.push_str(&format!(", X != {}", ir.name(&cell)));
            }
            let level = ir.name(p[0]);
            ir.say(format!("goal(height(X, {level})) :- object(X, cell){others}."));
            ir.say("goal(not carries_block).");
        },
    ),
];
