//! Every task of the project's own suites, taken apart into the atoms that a reasoner would answer with, compiles to a problem
//! that is equivalent to it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]
use planforge_asp::Materialized;
use planforge_asp::compile::{Compiled, Entry, Input, IrOnly, Section, compile};
use planforge_asp::syntax::ast::Term;
use planforge_pddl::ast::{self, Condition, Domain, InitElement, MetricDirection, NumericExpr, Problem};
use planforge_pddl::{Name, TaskSources, TypeHierarchy, TypeId, read_task};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemEquivalence, equivalent_problems};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

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

fn compiled(domain: &Domain, atoms: Vec<Term>) -> Compiled {
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
    let whole = compiled(&domain, atoms.clone());
    let again = whole.problem().unwrap_or_else(|| panic!("{path:?} {:#?}", whole.diagnostics));
    let verdict = equivalent(&domain, &problem, again);
    assert!(matches!(verdict, ProblemEquivalence::Equal { .. }), "{path:?} {verdict:?}");
    entries_are_the_problem(&whole.entries, again);

    let facts = |atom: &Term| matches!(atom, Term::Function { name, .. } if name == "init" || name == "goal");
    let at = (0..atoms.len()).cycle().skip(dice.roll(atoms.len())).find(|&at| facts(&atoms[at])).unwrap();
    let lost = atoms.remove(at);
    let less = compiled(&domain, atoms);
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
