//! From text to problem: the representation of each suite's in-context example, completed with the suite's knowledge, solved, read and
//! compiled, is the problem that stands beside it.

use crate::common::{DOMAIN, IR, World};
use planforge_asp::Materialized;
use planforge_asp::answer::{ExplainedAnswer, read_answers};
use planforge_asp::compile::{Compiled, Entry, Input, IrOnly, Place, Section, compile};
use planforge_asp::reader::{self, Signature};
use planforge_asp::syntax::ast::Term;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{self, Condition, Domain, InitElement, MetricDirection, NumericExpr, Problem};
use planforge_pddl::{Name, TaskSources, TypeHierarchy, TypeId, parse_problem, read_task};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use std::collections::BTreeMap;
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

// Every task of the project's own suites, taken apart into the atoms that a reasoner would answer with, compiles to a problem
// that is equivalent to it.

/// A small generator of numbers: which of several types are given, and in which order atoms come.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

fn function(name: &str, arguments: Vec<Term>) -> Term {
    Term::Function { name: name.to_owned(), arguments }
}

fn constant(name: &Name) -> Term {
    function(&name.key().replace('-', "_"), Vec::new())
}

fn call(name: &Name, args: &[ast::Term]) -> Term {
    function(&name.key().replace('-', "_"), args.iter().map(|arg| constant(arg.name())).collect())
}

fn number(value: planforge_pddl::Number) -> Term {
    match value.parts() {
        Some((whole, 1)) => Term::Number(whole as i64),
        _ => Term::Text(value.to_string()),
    }
}

fn expression(expr: &NumericExpr) -> Term {
    match expr {
        NumericExpr::Fluent(fluent) => call(&fluent.function, &fluent.args),
        NumericExpr::Number(value, _) => number(*value),
        NumericExpr::TotalTime(_) => function("total_time", Vec::new()),
        other => panic!("the representation has no {other:?}"),
    }
}

/// An object's type, and some of those above it as the type rules would add them.
fn types(domain: &Domain, ty: Option<&ast::TypeRef>, dice: &mut Dice) -> Vec<Term> {
    let hierarchy = TypeHierarchy::of(domain);
    let own = hierarchy.resolve(ty).expect("a known type")[0];
    (0..hierarchy.len() as TypeId)
        .filter(|&id| id == own || hierarchy.is_subtype(own, id) && dice.roll(2) == 0)
        .map(|id| constant(hierarchy.name(id)))
        .collect()
}

fn answer(domain: &Domain, problem: &Problem, dice: &mut Dice) -> Vec<Term> {
    let mut atoms = Vec::new();
    for object in &problem.objects {
        for ty in types(domain, object.ty.as_ref(), dice) {
            atoms.push(function("object", vec![constant(&object.name), ty]));
        }
    }
    for element in &problem.init {
        let content = match element {
            InitElement::Atom(atom) => call(&atom.predicate, &atom.args),
            InitElement::Value(fluent, value, _) => {
                function("value", vec![call(&fluent.function, &fluent.args), number(*value)])
            }
            other => panic!("the representation has no {other:?}"),
        };
        atoms.push(function("init", vec![content]));
    }
    for part in problem.goal.as_ref().expect("a goal").conjuncts() {
        let content = match part {
            Condition::Atom(atom) => call(&atom.predicate, &atom.args),
            Condition::Not(inner, _) => match &**inner {
                Condition::Atom(atom) => function("neg", vec![call(&atom.predicate, &atom.args)]),
                other => panic!("the representation has no {other:?}"),
            },
            Condition::Compare(c) => {
                let op = Term::Text(
                    planforge_pddl::print_condition(part)[1..]
                        .split(' ')
                        .next()
                        .unwrap_or_default()
                        .to_owned(),
                );
                function("compare", vec![op, expression(&c.left), expression(&c.right)])
            }
            other => panic!("the representation has no {other:?}"),
        };
        atoms.push(function("goal", vec![content]));
    }
    if let Some(metric) = &problem.metric {
        let direction = match metric.direction {
            MetricDirection::Minimize => "minimize",
            MetricDirection::Maximize => "maximize",
        };
        atoms.push(function("metric", vec![function(direction, Vec::new()), expression(&metric.expr)]));
    }
    for at in (1..atoms.len()).rev() {
        atoms.swap(at, dice.roll(at + 1));
    }
    atoms
}

fn pddl_files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found.retain(|path| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with('p') && name.ends_with(".pddl") && !name.contains("template")
    });
    found
}

/// Every suite below a folder.
fn suites(root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("domain.pddl").exists());
    folders.sort();
    folders
}

fn compile_atoms(domain: &Domain, atoms: Vec<Term>) -> Compiled {
    compile(&Input {
        domain,
        materialized: &Materialized::of(atoms),
        ir_only: &IrOnly::default(),
        name: "again",
        spellings: &BTreeMap::new(),
        places: &|_| Vec::new(),
        sources: TaskSources::default(),
    })
}

fn equivalent(domain: &Domain, problem: &Problem, text: &str) -> ProblemEquivalence {
    let again = planforge_pddl::parse_problem(text, TaskSources::default().problem).value;
    equivalent_problems(domain, problem, &again, 1_000_000, &mut Unlimited)
}

/// Takes a task apart, compiles it, and compiles it again without one of its facts. A task with errors of its own is none.
fn survives(path: &Path, domain: &str, seed: u64) -> bool {
    let text = fs::read_to_string(path).unwrap();
    let Ok((domain, problem)) = read_task(domain, &text) else { return false };
    let mut dice = Dice(seed);
    let mut atoms = answer(&domain, &problem, &mut dice);
    let whole = compile_atoms(&domain, atoms.clone());
    let again = whole.problem().unwrap_or_else(|| panic!("{path:?} {:#?}", whole.diagnostics));
    let verdict = equivalent(&domain, &problem, again);
    assert!(matches!(verdict, ProblemEquivalence::Equal { .. }), "{path:?} {verdict:?}");
    entries_are_the_problem(&whole.entries, again);

    let facts = |atom: &Term| matches!(atom, Term::Function { name, .. } if name == "init" || name == "goal");
    let at = (0..atoms.len()).cycle().skip(dice.roll(atoms.len())).find(|&at| facts(&atoms[at])).unwrap();
    let lost = atoms.remove(at);
    let less = compile_atoms(&domain, atoms);
    let verdict = equivalent(&domain, &problem, &less.text);
    assert!(matches!(verdict, ProblemEquivalence::Different(_)), "{path:?} without {lost:?}: {verdict:?}");
    true
}

/// How many tasks there are, and how many of them were taken apart: those without errors of their own.
fn all_survive(root: &Path) -> (usize, usize) {
    let (mut files, mut tasks) = (0, 0);
    for folder in suites(root) {
        let domain = fs::read_to_string(folder.join("domain.pddl")).unwrap();
        for path in pddl_files(&folder) {
            files += 1;
            tasks += usize::from(survives(&path, &domain, tasks as u64));
        }
    }
    (files, tasks)
}

#[test]
fn every_task_of_the_suites_survives() {
    let (files, tasks) = all_survive(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites"));
    assert!(tasks == files && tasks >= 80, "{tasks} of {files} tasks");
}

/// The same for suites that are not part of the repository, where they are there.
#[test]
fn every_task_of_the_published_suites_survives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/suites/llm-p");
    if !root.exists() {
        eprintln!("skipped: there is no {}", root.display());
        return;
    }
    let (files, tasks) = all_survive(&root);
    assert!(tasks >= 56, "{tasks} of {files} tasks");
}

/// Each part of the problem has its entry, in the order of the text.
fn entries_are_the_problem(entries: &[Entry], text: &str) {
    let problem = planforge_pddl::parse_problem(text, TaskSources::default().problem).value;
    let of = |section: Section| {
        entries.iter().filter(|e| e.section == section).map(|e| e.pddl.clone()).collect::<Vec<_>>()
    };
    let init: Vec<String> = problem.init.iter().map(planforge_pddl::print_init).collect();
    assert_eq!(of(Section::Init), init);
    let goal = problem.goal.as_ref().unwrap().conjuncts();
    assert_eq!(of(Section::Goal), goal.iter().map(planforge_pddl::print_condition).collect::<Vec<_>>());
    assert_eq!(of(Section::Objects).len(), problem.objects.len());
    assert_eq!(of(Section::Metric).len(), usize::from(problem.metric.is_some()));
    assert!(entries.iter().all(|e| !e.atoms.is_empty()));
}
