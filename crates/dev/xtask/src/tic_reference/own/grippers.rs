//! Our grippers: everything has a name.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("There are {n} rooms: {list}", |ir, p| {
        ir.count("room", p[0]);
        items(p[1]).for_each(|room| ir.object(room, "room"));
    }),
    (r"(robot\d+) is in {name}", |ir, p| {
        ir.init("robot_in", p);
        ir.last = vec![p[0].to_owned()];
    }),
    ("Its grippers, {name} and {name}, are empty", |ir, p| {
        for robot in std::mem::take(&mut ir.last) {
            p.iter().for_each(|gripper| ir.init("empty", &[&robot, gripper]));
        }
    }),
    (r"(ball\d+) is in {name}", |ir, p| ir.init("ball_in", p)),
    ("In the end {name} should be in {name}", |ir, p| ir.goal("ball_in", p)),
];
