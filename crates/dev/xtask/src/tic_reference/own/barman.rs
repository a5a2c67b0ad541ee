//! Our barman: everything has a name; one sentence describes glasses and shaker.

use super::super::ir::items;
use super::super::patterns::Pattern;

pub(crate) const PATTERNS: &[Pattern] = &[
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
