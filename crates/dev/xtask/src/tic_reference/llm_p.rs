//! Patterns for the texts of the seven LLM+P domains.

use super::patterns::{Ir, Pattern, items};

/// Domains and their patterns.
pub(crate) const DOMAINS: [(&str, &[Pattern]); 7] = [
    ("barman", BARMAN),
    ("blocksworld", BLOCKSWORLD),
    ("floortile", FLOORTILE),
    ("grippers", GRIPPERS),
    ("storage", STORAGE),
    ("termes", TERMES),
    ("tyreworld", TYREWORLD),
];

/// LLM+P barman: counts, one pairing, properties of all glasses, recipes.
const BARMAN: &[Pattern] = &[
    ("You have {n} shaker with {n} levels, {n} shot glasses, {n} dispensers for {n} ingredients", |ir, p| {
        for (of, number) in ["shaker", "level", "shot", "dispenser", "ingredient"].iter().zip(p) {
            ir.count(of, number);
        }
        ir.map("init", "dispenser", "dispenses", "ingredient");
    }),
    ("The {list} are ((?:clean|empty|on the table|, |and )+)", |ir, p| {
        for subject in items(p[0]) {
            match subject {
                "shaker" => properties(ir, "shaker", p[1]),
                "shot glasses" => properties(ir, "shot", p[1]),
                other => ir.problem(format!("`{other}` is not read")),
            }
        }
    }),
    ("Your {name} and {name} hands are empty", |ir, p| {
        ir.init("handempty", &[p[0]]);
        ir.init("handempty", &[p[1]]);
    }),
    ("The first ingredient of {name} is {name}", |ir, p| ir.init("cocktail_part1", p)),
    ("The second ingredient of {name} is {name}", |ir, p| ir.init("cocktail_part2", p)),
    ("Your goal is to make {n} cocktails", |ir, p| ir.count("cocktail", p[0])),
    ("{name} contains {name}", |ir, p| ir.goal("contains", p)),
];

fn properties(ir: &mut Ir, of: &str, list: &str) {
    for property in items(list) {
        let predicate = if property == "on the table" { "ontable" } else { property };
        ir.all("init", predicate, of, &[]);
    }
}

/// LLM+P blocksworld: what is on what.
const BLOCKSWORLD: &[Pattern] = &[
    ("You have {n} blocks", |ir, p| ir.count("block", p[0])),
    ("{name} is on top of {name}", |ir, p| ir.init("on", p)),
    ("{name} is on the table", |ir, p| ir.init("on_table", p)),
    ("{name} is clear", |ir, p| ir.init("clear", p)),
    ("Your arm is empty", |ir, _| ir.init("arm_empty", &[])),
    // Announces the sentences with "should".
    ("Your goal is to move the blocks", |_, _| {}),
    ("{name} should be on top of {name}", |ir, p| ir.goal("on", p)),
];

/// LLM+P floortile: a grid by the names of its tiles, robots, a pattern of colours.
const FLOORTILE: &[Pattern] = &[
    ("You have {n} rows and {n} columns of unpainted floor tiles", |ir, p| {
        ir.count("row", p[0]);
        ir.count("column", p[1]);
    }),
    (r"((?:tile_\d+-\d+ ?)+)", |ir, p| p[0].split(' ').for_each(|tile| place_tile(ir, tile))),
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
fn place_tile(ir: &mut Ir, tile: &str) {
    match tile.trim_start_matches("tile_").split_once('-') {
        Some((row, column)) => ir.cell("floortile_grid", row, column, tile),
        None => ir.problem(format!("`{tile}` has no row and column")),
    }
}

/// LLM+P grippers: robots and balls in rooms; each robot has two grippers that are never named.
const GRIPPERS: &[Pattern] = &[
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

/// LLM+P storage: counts, names of places, a map of the depot, connections.
const STORAGE: &[Pattern] = &[
    ("You have {list}", |ir, p| ir.each(p[0], "{n} (.+?)", |ir, p| have_storage(ir, p[0], p[1]))),
    ("(Depot|Container) storeareas are: {list}", |ir, p| {
        let of = format!("{}_storearea", p[0].to_lowercase());
        p[1].split(' ').for_each(|place| ir.object(place, &of));
    }),
    // Announces the map.
    ("Here is a map of depot storeareas:", |_, _| {}),
    (r"((?:depot\d+-\d+-\d+ ?)+)", |ir, p| p[0].split(' ').for_each(|name| place_in_depot(ir, name))),
    ("According to the map, adjacent depot storeareas are connected", |ir, _| {
        ir.say("init(connected(X, Y)) :- init(adjacent(X, Y)).");
    }),
    ("All {list} are in {name}", |ir, p| {
        for kind in items(p[0]) {
            all(ir, "in", kind, p[1]);
        }
    }),
    ("{name} is on {name}", |ir, p| ir.init("on", p)),
    ("All {list} are connected to {name}", |ir, p| all(ir, "connected", p[0], p[1])),
    ("{name} and {name} are connected", |ir, p| ir.init("connected", p)),
    ("{list} are clear", |ir, p| p[0].split(' ').for_each(|place| ir.init("clear", &[place]))),
    ("{name} is in {name}", |ir, p| ir.init("at", p)),
    ("All hoists are available", |ir, _| ir.all("init", "available", "hoist", &[])),
    ("Your goal is to move all crates to {name}", |ir, p| ir.all("goal", "in", "crate", p)),
];

/// A count, or one thing that is named after its kind.
fn have_storage(ir: &mut Ir, number: &str, what: &str) {
    let named = |name: &str| match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "container" => Some("container"),
        "depot" => Some("depot"),
        "loadarea" => Some("transitarea"),
        _ => None,
    };
    match (storage_kind(what), named(what)) {
        (Some(of), _) => ir.count(of, number),
        (None, Some(of)) => {
            ir.count(of, number);
            ir.object(what, of);
        }
        (None, None) => ir.problem(format!("`{what}` is not read")),
    }
}

fn storage_kind(plural: &str) -> Option<&'static str> {
    match plural {
        "depot storeareas" => Some("depot_storearea"),
        "container storeareas" => Some("container_storearea"),
        "hoists" => Some("hoist"),
        "crates" => Some("crate"),
        _ => None,
    }
}

fn all(ir: &mut Ir, predicate: &str, plural: &str, to: &str) {
    match storage_kind(plural) {
        Some(of) => ir.all("init", predicate, of, &[to]),
        None => ir.problem(format!("`{plural}` is not read")),
    }
}

/// `depot48-1-2` is in row 1 and column 2.
fn place_in_depot(ir: &mut Ir, name: &str) {
    let parts: Vec<&str> = name.split('-').collect();
    match parts.as_slice() {
        [_, row, column] => ir.cell("depot_storearea_grid", row, column, name),
        _ => ir.problem(format!("`{name}` has no row and column")),
    }
}

/// LLM+P termes: a grid by the names of its positions, and the goal heights.
const TERMES: &[Pattern] = &[
    ("The robot is on a grid with {n} rows and {n} columns", |ir, p| {
        ir.count("row", p[0]);
        ir.count("column", p[1]);
    }),
    (r"((?:pos-\d+-\d+ ?)+)", |ir, p| p[0].split(' ').for_each(|name| place_position(ir, name))),
    ("The robot is at {name}", |ir, p| ir.init("at", p)),
    ("The depot for new blocks is at {name}", |ir, p| ir.init("is_depot", p)),
    ("The maximum height of blocks is {n}", |ir, p| {
        let highest = ir.number(p[0]);
        ir.say(format!("init(max_height({highest}))."));
    }),
    ("Your goal is to build blocks so that {list}", |ir, p| {
        ir.each(p[0], "the height at {name} is {n}", |ir, p| {
            let height = format!("n{}", ir.number(p[1]));
            ir.goal("height", &[p[0], &height]);
        });
    }),
    ("You cannot have an unplaced block at the end", |ir, _| ir.say("goal(not has_block).")),
];

/// `pos-2-0` is in row 2 and column 0.
fn place_position(ir: &mut Ir, name: &str) {
    match name.trim_start_matches("pos-").split_once('-') {
        Some((row, column)) => ir.cell("termes_pos_grid", row, column, name),
        None => ir.problem(format!("`{name}` has no row and column")),
    }
}

/// LLM+P tyreworld: four things with names, four kinds that are only counted; statements are about all of a
/// kind.
const TYREWORLD: &[Pattern] = &[
    ("You have {list}", |ir, p| ir.each(p[0], "(an?|[0-9]+) {list}", |ir, p| have_tyre(ir, p[0], p[1]))),
    ("(?:The )?{list} (are|should be) in the {name}", |ir, p| {
        items(p[0]).for_each(|what| holds(ir, state(p[1]), "in", what, &[p[2]]));
    }),
    ("The {name} is unlocked but is closed", |ir, p| {
        ir.init("unlocked", p);
        ir.init("closed", p);
    }),
    ("The {list} are not inflated", |ir, p| holds(ir, "init", "not_inflated", p[0], &[])),
    ("{list} should be inflated", |ir, p| holds(ir, "goal", "inflated", &p[0].to_lowercase(), &[])),
    ("The {list} are on the hubs", |ir, p| pairs(ir, "init", p[0], "on")),
    ("The {list} are on the ground", |ir, p| holds(ir, "init", "on_ground", p[0], &[])),
    ("The {list} (are|should be) tight on the hubs", |ir, p| pairs(ir, state(p[1]), p[0], "tight")),
    ("The {list} are fastened", |ir, p| holds(ir, "init", "fastened", p[0], &[])),
    ("Your goal is to replace flat tyres with {list} on the hubs", |ir, p| pairs(ir, "goal", p[0], "on")),
    ("The {name} should be closed", |ir, p| ir.goal("closed", p)),
];

fn state(verb: &str) -> &'static str {
    if verb == "are" { "init" } else { "goal" }
}

fn tyre_kind(plural: &str) -> Option<&'static str> {
    match plural {
        "hubs" => Some("hub"),
        "nuts" => Some("nut"),
        "flat tyres" => Some("flat_tyre"),
        "intact tyres" => Some("intact_tyre"),
        _ => None,
    }
}

fn have_tyre(ir: &mut Ir, number: &str, what: &str) {
    match (tyre_kind(what), what) {
        (Some(of), _) => ir.count(of, number),
        (None, "jack" | "pump" | "wrench") => ir.object(what, "tool"),
        (None, "boot") => ir.object(what, "container"),
        _ => ir.problem(format!("`{what}` is not read")),
    }
}

/// A property of one thing or of all of a kind.
fn holds(ir: &mut Ir, state: &str, predicate: &str, what: &str, rest: &[&str]) {
    let what = what.trim_start_matches("The ").trim_start_matches("the ");
    match tyre_kind(what) {
        Some(of) => ir.all(state, predicate, of, rest),
        None => ir.fact(state, predicate, &[&[what], rest].concat()),
    }
}

fn pairs(ir: &mut Ir, state: &str, plural: &str, predicate: &str) {
    match tyre_kind(plural) {
        Some(of) => ir.map(state, of, predicate, "hub"),
        None => ir.problem(format!("`{plural}` is not read")),
    }
}
