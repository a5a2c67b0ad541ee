//! Lines that are called idle can go: the problem without them is the same. The others cannot.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod common;

use common::World;
use planforge_asp::answer::read_answers;
use planforge_asp::compile::IrOnly;
use planforge_asp::reader::{Signature, read as read_ir};
use planforge_asp::syntax::ast::Term;
use std::collections::BTreeSet;
use std::path::Path;

/// True if an atom reaches the PDDL.
fn is_compiled(atom: &Term, ir_only: &IrOnly) -> bool {
    let Term::Function { name, arguments } = atom else { return false };
    let name_of = |term: &Term| match term {
        Term::Function { name, .. } => name.clone(),
        _ => String::new(),
    };
    match (name.as_str(), arguments.as_slice()) {
        ("object", [_, ty]) => !ir_only.types.contains(&name_of(ty)),
        ("init" | "goal", [fact]) => {
            let fact = name_of(fact);
            fact != "map" && !ir_only.predicates.contains(&fact)
        }
        ("metric", _) => true,
        _ => false,
    }
}

/// The compiled atoms of a representation, and its idle lines. None where it is in conflict.
fn problem(domain: &str, knowledge: &str, ir: &str) -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let world = World::new(domain, knowledge, ir);
    let ir_only = IrOnly::from(&world.declarations);
    let (assembled, reply) = world.solve();
    let answers = read_answers(&assembled, &reply).ok()?;
    let answer = &answers.answers[0];
    let compiled = |atom: &Term| is_compiled(atom, &ir_only);
    let atoms = answer.materialized.atoms.iter().filter(|atom| compiled(atom)).map(Term::to_string).collect();
    let idle =
        answer.derivations.idle(&|atom| answer.derivations.term(atom).is_some_and(|term| compiled(&term)));
    let lines = idle.iter().map(|(rule, _)| assembled.table.rules[*rule as usize].written.to_string());
    Some((atoms, lines.collect()))
}

#[test]
fn idle_lines_can_go_and_the_others_cannot() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let mut tried = 0;
    for folder in std::fs::read_dir(suites).unwrap() {
        let folder = folder.unwrap().path();
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let (Some(domain), Some(knowledge), Some(ir)) =
            (text("domain.pddl"), text("knowledge.lp"), text("p_example.lp"))
        else {
            continue;
        };
        let world = World::new(&domain, &knowledge, "");
        let read = read_ir(&ir, common::IR, &Signature::new(&world.domain, &world.declarations));
        assert!(read.is_complete(), "{:?}", read.refusals);
        let lines: Vec<&str> = read.text.lines().collect();
        let (whole, idle) = problem(&domain, &knowledge, &read.text).unwrap();
        for at in 0..lines.len() {
            let rest: Vec<&str> =
                lines.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, l)| *l).collect();
            let same =
                problem(&domain, &knowledge, &rest.join("\n")).is_some_and(|(atoms, _)| atoms == whole);
            // Without a line that names a counted object, one of the same name may be made; the line has said it all the same.
            let names_object = lines[at].starts_with("object(");
            let is_idle = idle.contains(lines[at]);
            assert!(same == is_idle || (same && names_object), "{}: {}", folder.display(), lines[at]);
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
}
