//! Our tyres: hubs, nuts and wheels by name; the goal describes the nuts and wheels that are on the car now.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("The boot {name} is (open|closed)", |ir, p| ir.init(p[1], &p[..1])),
    ("The {list} are in {name}", |ir, p| tools(p[0]).for_each(|tool| ir.init("in_boot", &[tool, p[1]]))),
    ("{name} stands on the ground and is fastened: {name} is (tight|loose) on it", |ir, p| {
        ir.init("on_ground", &p[..1]);
        ir.init("fastened", &p[..1]);
        ir.init(p[2], &[p[1], p[0]]);
    }),
    ("The wheel {name} is on {name}; it is (flat|inflated) and not intact", |ir, p| {
        ir.init("wheel_on", &p[..2]);
        ir.init(p[2], &p[..1]);
    }),
    ("The wheel {name} is in {name}; it is intact and (flat|inflated)", |ir, p| {
        ir.init("in_boot", &p[..2]);
        ir.init("intact", &p[..1]);
        ir.init(p[2], &p[..1]);
    }),
    ("In the end {list}", |ir, p| {
        ir.each(p[0], "{name} should be on {name}", |ir, p| {
            ir.goal("wheel_on", p);
            ir.last.push(p[0].to_owned());
        });
    }),
    (
        "Th(?:is wheel|ese wheels) should be inflated, and on {list} the same nuts as now should be tight",
        |ir, p| {
            for wheel in std::mem::take(&mut ir.last) {
                ir.goal("inflated", &[&wheel]);
            }
            for hub in items(p[0]) {
                let hub = ir.name(hub);
                for now in ["tight", "loose"] {
                    ir.say(format!("goal(tight(X, {hub})) :- init({now}(X, {hub}))."));
                }
            }
        },
    ),
    (
        "The wheels? that (?:is|are) on the car now, {list} should be in {name}, and {name} should be closed",
        |ir, p| {
            let boot = ir.name(p[1]);
            ir.say(format!("goal(in_boot(X, {boot})) :- init(wheel_on(X, _))."));
            tools(p[0]).for_each(|tool| ir.goal("in_boot", &[tool, p[1]]));
            ir.goal("closed", &p[2..]);
        },
    ),
];

/// `The wrench, the jack and the pump`: things that are called by what they are.
fn tools(list: &str) -> impl Iterator<Item = &str> {
    items(list).map(|tool| tool.trim_start_matches("the "))
}
