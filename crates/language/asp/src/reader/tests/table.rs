//! Many small texts: what is understood, and every finding with its way out, as snapshots.

use super::print_reading;

/// Each text with its reading.
fn table(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("> {}\n{}\n", text.replace('\n', "\n> "), print_reading(text))).collect()
}

macro_rules! table {
    ($name:ident: $($text:literal),* $(,)?) => {
        #[test]
        fn $name() {
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(table(&[$($text),*]));
            });
        }
    };
}

table! { lost_dots_and_parentheses:
    "init(clean(shot1))\ninit(clean(shot2))",
    "init(clean(shot1)) init(clean(shot2)).",
    "init(clean(shot1)), init(clean(shot2)).",
    "init(clean(shot1)),\ninit(clean(shot2)),\ngoal(clean(shot1)).",
    "init(clean(shot1); init(clean(shot2)).",
    "init(clean(shot1), init(clean(shot2).",
    "init(init(clean(shot1))).",
    "init(map(dispenser, dispenses, ingredient).",
    "init(clean(X) :- object(X, shot).",
    "init(clean(X)) :- object(X, shot, not init(empty(X).",
    "init(clean(X)) :-\n    object(X, shot),\n    not init(empty(X)).",
    "init(holding(left,\n    shot1)).",
    "init(clean(X)) :- object(X, shot)\ninit(empty(X)) :- object(X, shot)",
    "init(clean(X)) :- object(X, shot),\ninit(empty(X)) :- object(X, shot).",
    "init(holding(left,\ninit(clean(shot1)).",
    "init(clean(shot1)) :-\ninit(clean(X)) :- object(X, shot).",
    "init(clean(X)) :- object(X, shot),\n  init(empty(X)). init(empty(X)) :- object(X, shot).",
    "goal(clean(shot1))).",
    "goal(not lights_out)).",
    "init(clean(shot1))..\ninit(clean(shot2)).",
    "init(max_height(N)) :- N = #count { X : object(X, shot }.",
}

table! { prose_and_marks:
    "Here is the program:\n\ninit(clean(shot1)).\n\nI hope this helps!",
    "```\ninit(clean(shot1)).\nThat was the initial state.\ngoal(clean(shot1)).\n```",
    "```\ninit(clean(shot1)).\n```\nand the goal\n```prolog\ngoal(clean(shot1)).\n```",
    "init(clean(shot1)).\n```\ngoal(clean(shot1)).\n```",
    "- init(clean(shot1)).\n* init(clean(shot2)).\n1. goal(clean(shot1)).\n2) `goal(clean(shot2)).`",
    "# Initial state\ninit(clean(shot1)). # a clean glass\n// Goal\ngoal(clean(shot1)). // still clean",
    "**Goal**\n### State\n---\ninit(clean(shot1)).",
    "<think>\nMaybe init(clean(shot9)). No.\n</think>\ninit(clean(shot1)).",
    "The shots (all of them) are clean.\ninit(clean(shot1)).",
    "init on(a, b)).\ninit(clean(shot1)).",
    "Note: init(clean(shot2)).",
    "Goal: `goal(clean(shot2)).`",
    "I cannot do that.",
    "",
    "```\n```",
}

table! { goals_and_numbers:
    "goal(not clean(shot1)). goal(not(clean(shot2))). goal(not lights_out). goal(-clean(shot3)). goal(~clean(shot4)).",
    "goal(not clean(X)) :- object(X, shot).",
    "init(not clean(shot1)).",
    "goal(not clean(shot1), clean(shot2)).",
    "goal(clean(shot1), clean(shot2)) :- object(shot1, shot).",
    "goal(and(clean(shot1), not_inflated(shot2))).",
    "init(total_cost = 0). init(fuel(robot1) = 2.50). init(fuel(robot2) = -1.5). goal(fuel(robot1) >= 3).",
    "init(total_cost > 0). goal(total_cost != 0).",
    "init(value(total_cost, 0)). init(value(total-cost, \"many\")). goal(compare(\"~\", total_cost, 0)).",
    "metric(minimize, total_cost). metric(minimize, total-time). metric(smallest, total_cost). metric(minimize, cost).",
    "clean(shot1). lights_out. map(dispenser, dispenses, ingredient).",
    "goal(clean(X)) :- on_table(X), not empty(X).",
    "shot(shot1). init(shaker(shaker1)). init(clean(X)) :- shot(X), not init(shaker(X)). goal(shot(shot2)).",
    "Object(shot1, Shot). init(clean(X)) :- object(X, Shot). init(empty(X)) :- object(X, T), not object(T, shot).",
}

table! { names:
    "init(on-table(tile-0-1)). init(ON_TABLE(shot1)). init(onTable(shot2)). Init(Clean(shot3)).",
    "init(robot_at(robot1, tile_0-1)). init(robot_at(robot2, tile_0_1)).",
    "init(robot_at(Robot1, Tile-0-1)).",
    "init(clean(A)). init(clean(B)). goal(clean(A)).",
    "init(clean(X)).",
    "init(clean(Tray)) :- object(X, shot), init(on_table(X)).",
    "init(clean(Jar)) :- object(X, shot), init(on_table(X)).",
    "init(not-inflated(shot1)). goal(not not-inflated(shot1)).",
    "init(holding(\"left\", \"Shot-1\")).",
    "init(floor_grid(N-1, M - 1, tile1)) :- N = 1..2, M = N+1.",
    "init(clean(shotA)). init(clean(SHOTB)).",
    "init(robot-at(\u{201c}robot1\u{201d}, tile\u{2013}0\u{2013}1)).",
    "init(clean(caf\u{e9})). init(\u{441}lean(shot1)).",
    "init(clean(1st_shot)). init(clean(shot 1)).",
    "goal(painted(X, white)) :- floor_grid(_, N, X), N \u{2264} 3 and not clean(X) & N =< 2.",
    "init(clean(X)) <- object(X, shot). init(empty(X)) : object(X, shot).",
}

table! { refusals:
    "#script (lua) function f() end #end.\ninit(clean(shot1)).",
    "#include \"/etc/passwd\". #show clean/1. #external init(clean(shot1)). #const n = 3.",
    "init(clean(@system(1))). init(clean(X)) :- X = @os(2).",
    "init(cleen(shot1)). hold(left, shot1). init(p(X)) :- q(X).",
    "init(clean(shot1, shot2)). object(shot1). cardinality(shot). init. goal().",
    "cardinality(shots, 3). object(a, glass). init(map(dispensers, dispenses, ingredient)).",
    "init(map(dispenser, clean, ingredient)). init(map(dispenser, gives, ingredient)). init(map(shot, shot)).",
    "init(clean(_)). init(clean(Y)) :- object(X, shot). init(clean(X)) :- not object(X, shot).",
    "init(clean(X)) :- object(X, shot), Y < 3. init(clean(X)) :- object(X, shot), #count { Y : init(clean(Z)) } > 0.",
    "{ init(clean(shot1)) }. 1 { init(clean(X)) : object(X, shot) } 1.",
    ":- init(clean(shot1)). init(clean(shot1)) ; init(clean(shot2)).",
    "init(clean(f(shot1))). init(clean((a, b))). init(clean(3)). init(next(0, 1)). init(clean(\"a b\")).",
    "object(shot1..shot4, shot). init(clean(shot1;shot2)). cardinality(shot, 1..3).",
    "init(clean(X)) :- object(X, shot), #sum { 1 : object(X, shot) } > 0.",
    "init(clean(X)) :- object(X, shot) : init(empty(X)).",
    "init(clean(X)) :- object(X, shot); object(X, shaker).",
    "-clean(shot1). not init(clean(shot1)). init(X) :- goal(X).",
    "init(clean(shot1)) :- total_cost > 3.",
    "init(max_height(X + 1)) :- init(max_height(X)).",
    "init(max_height(Y)) :- init(max_height(X)), Y = X + 1.",
    "init(max_height(X)) :- init(max_height(X + 1)).",
    "init(max_height(X)) :- cardinality(row, X). cardinality(row, X * 2) :- init(max_height(X)).",
    "init(max_height(X..9)) :- init(max_height(X)).",
    "init(clean(X)) :- object(X, shot), not init(clean(X)).",
    "init(clean(X)) :- object(X, shot), not init(empty(X)). init(empty(X)) :- object(X, shot), not init(clean(X)).",
    "init(max_height(N)) :- N = #count { X : init(max_height(X)) }.",
    "init(max_height(9999999999)).",
    "init(clean(shot1)) :- init(clean(shot1)), goal(neg(neg(clean(shot1)))).",
    "init(clean(shot1)).\ngoal(contains(shot1, cock",
    "init(clean(shot1)).\ngoal(contains(shot1,",
    "init(clean(\"shot1)).",
    "init(clean(shot1)) | init(clean(shot2)). init(clean(?x)).",
}

table! { sizes:
    "init(floor_grid(1..10000, 1, t1)).",
    "init(floor_grid(0..10000, 1, t1)).",
    "init(floor_grid(X, Y, t1)) :- X = 1..1000, Y = 1..1000.",
    "init(floor_grid(1..100, 1..100, t1)). init(max_height(X * Y * Z)) :- floor_grid(X, _, _), floor_grid(Y, _, _), floor_grid(Z, _, _).",
    "cardinality(shot, 10001). cardinality(shot, 100 * 1000). cardinality(shaker, 10000).",
    "cardinality(shot, 700). init(holding(X, Y)) :- object(X, shot), object(Y, shot).",
    "cardinality(shot, 400). init(holding(X, Y)) :- object(X, shot), object(Y, shot).",
    "cardinality(shot, 100). init(clean(X)) :- object(X, shot), 3 < #count { Y, Z, W : object(Y, shot), object(Z, shot), object(W, shot) }.",
    "init(max_height(N)) :- N = 1..9000 * 9000.",
    "cardinality(row, 200). init(floor_grid(X, Y, t1)) :- cardinality(row, N), X = 1..N, Y = 1..N, Z = 1..N.",
}
