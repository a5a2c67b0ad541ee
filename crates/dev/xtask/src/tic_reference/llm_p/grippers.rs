//! LLM+P grippers: robots and balls in rooms; each robot has two grippers that are never named.

use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
    ("You control {n} robots, each robot has a left gripper and a right gripper", |ir, p| {
        ir.count("robot", p[0]);
        ir.map("init", "robot", "robot_left_gripper_map", "left_gripper");
        ir.map("init", "robot", "robot_right_gripper_map", "right_gripper");
    }),
    ("There are {n} rooms and {n} balls", |ir, p| {
        ir.count("room", p[0]);
        ir.count("ball", p[1]);
    }),
    (r"(robot\d+) is in {name}", |ir, p| ir.init("at_robby", p)),
    (r"(ball\d+) is in {name}", |ir, p| ir.init("at", p)),
    ("The robots' grippers are free", |ir, _| {
        for side in ["left", "right"] {
            ir.say(format!("init(free(X, Y)) :- init(robot_{side}_gripper_map(X, Y))."));
        }
    }),
    // Announces the sentences with "should".
    ("Your goal is to transport the balls to their destinations", |_, _| {}),
    ("{name} should be in {name}", |ir, p| ir.goal("at", p)),
];
