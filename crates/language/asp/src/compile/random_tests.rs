//! Random answers: nothing panics, the printed problem has no syntax errors, and the order of atoms does not
//! matter.

use super::tests::{BAR, compiled_with};
use super::{Compiled, IrOnly};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = String> {
    let names = [
        "s1",
        "s2",
        "s10",
        "gin",
        "hand1",
        "left_hand",
        "sHAKER",
        "shaker",
        "row1",
        "x",
        "3",
        "-1",
        "\"s1\"",
        "\"the shot\"",
        "f(s1)",
        "(s1,s2)",
        "object",
        "n_1",
    ];
    prop::sample::select(names.to_vec()).prop_map(str::to_owned)
}

fn object() -> impl Strategy<Value = String> {
    let types = ["shot", "shaker", "beverage", "hand", "container", "object", "glass", "shots", "4"];
    (name(), prop::sample::select(types.to_vec())).prop_map(|(name, ty)| format!("object({name},{ty})"))
}

fn fact() -> impl Strategy<Value = String> {
    let predicates =
        ["clean", "contains", "next_to", "hand_empty", "claen", "shelf_grid", "map", "value", "content"];
    (prop::sample::select(predicates.to_vec()), prop::collection::vec(name(), 0..3)).prop_map(
        |(predicate, arguments)| match arguments.is_empty() {
            true => predicate.to_owned(),
            false => format!("{predicate}({})", arguments.join(",")),
        },
    )
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => object(),
        3 => fact().prop_map(|fact| format!("init({fact})")),
        3 => fact().prop_map(|fact| format!("goal({fact})")),
        1 => fact().prop_map(|fact| format!("goal(neg({fact}))")),
        1 => name().prop_map(|name| format!("init({name})")),
        1 => (fact(), name()).prop_map(|(f, n)| format!("init(value({f},{n}))")),
        1 => (fact(), name()).prop_map(|(f, n)| format!("goal(compare(\"<\",{f},{n}))")),
        1 => fact().prop_map(|fact| format!("metric(minimize,{fact})")),
    ]
}

fn compiled(atoms: &[String]) -> Compiled {
    let ir_only = IrOnly { types: ["glass".to_owned()].into(), predicates: ["shelf_grid".to_owned()].into() };
    compiled_with(BAR, &atoms.iter().map(|atom| format!("{atom}. ")).collect::<String>(), &ir_only)
}

/// Codes of the diagnostics, without counts and places.
fn codes(compiled: &Compiled) -> Vec<String> {
    let mut codes: Vec<String> = compiled.diagnostics.iter().map(|d| d.code.to_string()).collect();
    codes.sort();
    codes.dedup();
    codes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_answer_is_compiled_or_refused(atoms in prop::collection::vec(atom(), 0..12), turn in 0usize..12) {
        let first = compiled(&atoms);
        for diagnostic in first.diagnostics.iter().filter(|d| d.code.starts_with("asp.")) {
            prop_assert!(!diagnostic.help.is_empty(), "no way out: {}", diagnostic.message);
        }
        match first.problem() {
            Some(text) => {
                let found = planforge_pddl::read_task(BAR, text);
                prop_assert!(found.is_ok(), "{text}\n{found:#?}");
            }
            None => prop_assert!(first.diagnostics.iter().any(|d| d.is_error() && !d.message.is_empty())),
        }
        let mut turned = atoms.clone();
        turned.rotate_left(turn % atoms.len().max(1));
        let second = compiled(&turned);
        prop_assert_eq!(first.problem(), second.problem());
        prop_assert_eq!(codes(&first), codes(&second));
    }

    #[test]
    fn good_answers_compile(
        shots in prop::collection::btree_set(1u32..30, 1..6),
        clean in prop::collection::btree_set(1u32..30, 0..6),
    ) {
        let mut atoms: Vec<String> = shots.iter().map(|n| format!("object(shot{n},shot)")).collect();
        atoms.push("object(gin,beverage)".to_owned());
        let dirty: Vec<&u32> = shots.intersection(&clean).collect();
        atoms.extend(dirty.iter().map(|n| format!("init(clean(shot{n}))")));
        atoms.extend(shots.iter().map(|n| format!("goal(contains(shot{n},gin))")));
        let compiled = compiled(&atoms);
        let text = compiled.problem();
        prop_assert!(text.is_some(), "{:#?}", compiled.diagnostics);
        let text = text.unwrap_or_default();
        prop_assert_eq!(text.matches("(clean ").count(), dirty.len());
        prop_assert_eq!(text.matches("(contains ").count(), shots.len());
    }
}
