//! From text to problem: the representation of each suite's in-context example, completed with the suite's knowledge, solved, read and
//! compiled, is the problem that stands beside it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod common;

use common::{DOMAIN, IR, World};
use planforge_asp::answer::{ExplainedAnswer, read_answers};
use planforge_asp::compile::{Compiled, Input, IrOnly, Place, compile};
use planforge_asp::reader::{self, Signature};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Problem;
use planforge_pddl::{TaskSources, parse_problem, read_task};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use std::fs;
use std::path::{Path, PathBuf};

const PROBLEM: SourceId = SourceId(3);

fn compiled(world: &World, answer: &ExplainedAnswer<'_>) -> Compiled {
    let place = |(source, span)| Place { source, span };
    compile(&Input {
        domain: &world.domain,
        materialized: &answer.materialized,
        ir_only: &IrOnly::from(&world.declarations),
        name: "example",
        spellings: &Default::default(),
        places: &|atom| answer.derivations.places(atom).into_iter().map(place).collect(),
        sources: TaskSources { domain: DOMAIN, problem: PROBLEM },
    })
}

/// A folder's files: those of a suite, where an add-on's stand in for them.
fn text(folders: &[&Path], name: &str) -> Option<String> {
    folders.iter().find_map(|folder| fs::read_to_string(folder.join(name)).ok())
}

/// Compares the example of a suite with its problem. False where the suite's own problem has errors.
fn example(folders: &[&Path]) -> bool {
    let domain = text(folders, "domain.pddl").unwrap();
    let reference = text(folders, "p_example.pddl").unwrap();
    let Ok((_, reference)) = read_task(&domain, &reference) else { return false };
    let knowledge = text(folders, "knowledge.lp").unwrap_or_default();
    let ir = text(folders, "p_example.lp").unwrap();
    let mut world = World::new(&domain, &knowledge, "");
    // As a model's text is read: `goal(not p)` and the like are forms that the reasoner does not have.
    let reading = reader::read(&ir, IR, &Signature::new(&world.domain, &world.declarations));
    assert_eq!(reading.refusals, [], "{folders:?}");
    assert!(reading.repairs.iter().all(|repair| repair.code == "ir.negative-goal"), "{folders:?}");
    (world.ir_text, world.ir) = (ir, reading.program);
    let (assembled, reply) = world.solve();
    let answers = read_answers(&assembled, &reply).unwrap_or_else(|why| panic!("{folders:?} {why:#?}"));
    assert_eq!((answers.answers.len(), answers.complete), (1, true), "{folders:?}");
    let answer = answers.answers.first().unwrap();
    let compiled = compiled(&world, answer);
    let problem = compiled.problem().unwrap_or_else(|| panic!("{folders:?} {:#?}", compiled.diagnostics));
    let problem = parse_problem(problem, PROBLEM).value;
    same(folders, &world, &reference, &problem);
    // Everything that the problem has goes back to a line of the text, the knowledge or the domain.
    for entry in &compiled.entries {
        assert!(!entry.atoms.is_empty(), "{folders:?} {entry:?}");
        for atom in &entry.atoms {
            assert!(answer.derivations.derivation(*atom).is_some(), "{folders:?} {entry:?}");
        }
    }
    true
}

fn same(folders: &[&Path], world: &World, reference: &Problem, problem: &Problem) {
    let verdict = equivalent_problems(&world.domain, reference, problem, 1_000_000, &mut Unlimited);
    assert!(matches!(verdict, ProblemEquivalence::Equal { .. }), "{folders:?} {verdict:#?}");
}

fn folders_with(root: &Path, file: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|folder| folder.join(file).exists());
    found.sort();
    found
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples")
}

#[test]
fn every_suite_s_example_leads_to_its_problem() {
    let suites = folders_with(&examples().join("suites"), "p_example.lp");
    assert!(suites.len() >= 10, "{suites:?}");
    for suite in suites {
        assert!(example(&[&suite]), "{suite:?}");
    }
}

/// The same for the add-ons of published suites, where those are there.
#[test]
fn every_add_on_s_example_leads_to_its_suite_s_problem() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites/llm-p");
    if !root.exists() {
        eprintln!("skipped: there is no {}", root.display());
        return;
    }
    let add_ons = folders_with(&examples().join("add-ons/llm-p"), "p_example.lp");
    assert_eq!(add_ons.len(), 7);
    let readable = add_ons.iter().filter(|add_on| {
        let suite = root.join(add_on.file_name().unwrap());
        example(&[add_on, &suite])
    });
    assert!(readable.count() >= 6);
}
