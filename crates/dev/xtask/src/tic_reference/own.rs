//! Patterns for the texts of seven suites of our own (`examples/suites`).

use super::patterns::{Pattern, items};

/// Suites and their patterns.
pub(crate) const SUITES: [(&str, &[Pattern]); 7] = [
    ("barman", BARMAN),
    ("blocks", BLOCKS),
    ("floortile", FLOORTILE),
    ("grippers", GRIPPERS),
    ("storage", STORAGE),
    ("termes", TERMES),
    ("tyres", TYRES),
];

/// Our barman: everything has a name; one sentence describes glasses and shaker.
const BARMAN: &[Pattern] = &[
    ("There is {n} shaker, {name}, and there are {n} glasses: {list}", |ir, p| {
        ir.count("shaker", p[0]);
        ir.object(p[1], "shaker");
        ir.count("glass", p[2]);
        items(p[3]).for_each(|glass| ir.object(glass, "glass"));
    }),
    ("They all stand on the counter, clean and empty", |ir, _| {
        for predicate in ["on_counter", "clean", "empty"] {
            ir.all("init", predicate, "shaker", &[]);
            ir.all("init", predicate, "glass", &[]);
        }
    }),
    ("The barkeeper has {n} hands, {name} and {name}, and both are free", |ir, p| {
        ir.count("hand", p[0]);
        ir.object(p[1], "hand");
        ir.object(p[2], "hand");
        ir.all("init", "hand_free", "hand", &[]);
    }),
    ("The levels are ([^:]+): {list}", |ir, p| {
        items(p[0]).for_each(|level| ir.object(level, "level"));
        ir.each(p[1], "{name} (?:is followed )?by {name}", |ir, p| ir.init("followed_by", p));
    }),
    ("The shaker {name} is filled to {name}, which is its lowest level", |ir, p| {
        ir.init("filled_to", p);
        ir.init("lowest", p);
    }),
    ("The ingredients are {list}", |ir, p| items(p[0]).for_each(|i| ir.object(i, "ingredient"))),
    ("{name} pours {name}", |ir, p| ir.init("pours", p)),
    ("{name} is a cocktail", |ir, p| {
        ir.object(p[0], "cocktail");
        ir.last = vec![p[0].to_owned()];
    }),
    ("Its first ingredient is {name} and its second ingredient is {name}", |ir, p| {
        for cocktail in std::mem::take(&mut ir.last) {
            ir.init("first_part", &[&cocktail, p[0]]);
            ir.init("second_part", &[&cocktail, p[1]]);
        }
    }),
    ("In the end {list}", |ir, p| {
        ir.each(p[0], "{name} should hold {name}", |ir, p| ir.goal("holds_drink", p))
    }),
];

/// Our blocks: piles described by what is on what.
const BLOCKS: &[Pattern] = &[
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

/// Our floortile: a grid by the order in which its tiles are listed.
const FLOORTILE: &[Pattern] = &[
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

/// Our grippers: everything has a name.
const GRIPPERS: &[Pattern] = &[
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

/// Our storage: cells, what joins them, what is on them.
const STORAGE: &[Pattern] = &[
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

/// Our termes: adjacency cell by cell, levels in their order, one or two towers.
const TERMES: &[Pattern] = &[
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

/// Our tyres: hubs, nuts and wheels by name; the goal describes the nuts and wheels that are on the car now.
const TYRES: &[Pattern] = &[
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
