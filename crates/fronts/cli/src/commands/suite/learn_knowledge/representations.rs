//! The intermediate representations of a suite's texts: recorded replies, files, or the reference problems reduced.

use crate::context::Context;
use crate::exit::Exit;
use planforge_asp::names::mangle;
use planforge_asp::syntax::ast::{Head, Program, StatementKind, Term};
use planforge_contract::{CompletionResult, Failure};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::ast::{Atom, Condition, Domain, InitElement, Problem};
use planforge_pddl::natural;
use planforge_pipeline::Suite;
use planforge_record::{Cassette, Lookup, Redactor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Representations by task, and their origin in words.
pub(super) struct Representations {
    pub(super) origin: String,
    pub(super) by_task: BTreeMap<String, String>,
}

impl Representations {
    /// Reads them from a run folder, a cassette or a folder of files, or else makes them from the references.
    pub(super) fn of(context: &Context, suite: &Suite, replies: Option<&Path>) -> Result<Self, Exit> {
        match replies {
            None => Self::of_references(context, suite),
            Some(path) if path.is_dir() && !path.join("run.json").exists() => Ok(Self::of_files(suite, path)),
            Some(path) => Self::of_record(context, suite, path),
        }
    }

    /// `TASK.lp` or `TASK/TASK.lp` for each task that has one.
    fn of_files(suite: &Suite, folder: &Path) -> Self {
        let read = |stem: &str| {
            let file = format!("{stem}.lp");
            let text = std::fs::read_to_string(folder.join(&file));
            text.or_else(|_| std::fs::read_to_string(folder.join(stem).join(&file))).ok()
        };
        let by_task = suite.tasks.iter().filter_map(|task| Some((task.stem.clone(), read(&task.stem)?)));
        Self { origin: format!("files of {}", folder.display()), by_task: by_task.collect() }
    }

    /// For each task its first reply that states facts.
    fn of_record(context: &Context, suite: &Suite, path: &Path) -> Result<Self, Exit> {
        let redactor = Arc::new(Redactor::new([]));
        let failed = |error| context.print_failure(&Failure::from(error));
        let cassette = Cassette::open(path, redactor).map_err(failed)?;
        let mut replies: Vec<(String, String)> = Vec::new();
        for key in cassette.completion_keys() {
            let Some(record) = cassette.completion(&key).map_err(failed)? else { continue };
            let Some(CompletionResult::Replies(found)) = record.result else { continue };
            let path = record.path.to_string();
            let texts = found.replies.into_iter().map(|reply| reply.content);
            replies.extend(texts.filter(|text| text.contains("init(")).map(|text| (path.clone(), text)));
        }
        replies.sort_by(|(a, _), (b, _)| natural(a, b));
        let by_task = suite.tasks.iter().filter_map(|task| {
            let start = format!("{}.{}/", suite.name, task.stem);
            let (_, reply) = replies.iter().find(|(path, _)| path.starts_with(&start))?;
            Some((task.stem.clone(), reply.clone()))
        });
        let by_task = by_task.collect();
        Ok(Self { origin: format!("a model's replies recorded in {}", path.display()), by_task })
    }

    /// The reference problems without the predicates that `p_example.lp` leaves out of `p_example.pddl`.
    fn of_references(context: &Context, suite: &Suite) -> Result<Self, Exit> {
        let example = suite.example.as_ref().and_then(|e| Some((e.ir.as_deref()?, e.problem.as_deref()?)));
        let (Some((ir, problem)), Some(domain)) = (example, suite.reference_domain.as_deref()) else {
            let message = format!("nothing tells what the texts of {} state", suite.folder.display());
            let diagnostic = Diagnostic::error("cli.no-representation", message).help(
                "give the representations with --replies (a run folder, a cassette, or a folder of TASK.lp), or add p_example.lp",
            );
            context.output.diagnostics(&[diagnostic], &SourceMap::default());
            return Err(Exit::Input);
        };
        let parse = |text: &str| planforge_pddl::parse_problem(text, SourceId(0)).value;
        let stated = stated(&planforge_asp::syntax::parse(ir, SourceId(0)).program);
        let omitted: BTreeSet<Predicate> =
            facts(&parse(problem)).map(|(predicate, _)| predicate).filter(|p| !stated.contains(p)).collect();
        let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
        let by_task = suite.tasks.iter().filter_map(|task| {
            let problem = parse(task.reference_problem.as_deref()?);
            Some((task.stem.clone(), reduced(&domain, &problem, &omitted)))
        });
        let names: Vec<String> = omitted.iter().map(|(state, name)| format!("{state}({name})")).collect();
        let origin = format!(
            "the reference problems without the predicates of which p_example.lp states no single facts: {}",
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        );
        Ok(Self { origin, by_task: by_task.collect() })
    }
}

/// A predicate in a state: `("init", "on")`.
type Predicate = (String, String);

/// The predicates of the facts of a program.
fn stated(program: &Program) -> BTreeSet<Predicate> {
    let facts = program.statements.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Rule(rule) if rule.body.is_empty() => match &rule.head {
            Head::Atom(atom) => Some(atom),
            _ => None,
        },
        _ => None,
    });
    facts
        .filter_map(|atom| match atom.arguments.as_slice() {
            [Term::Function { name, .. }] => Some((atom.name.clone(), name.clone())),
            _ => None,
        })
        .collect()
}

/// The positive facts of the initial state and the goal.
fn facts(problem: &Problem) -> impl Iterator<Item = (Predicate, &Atom)> {
    let init = problem.init.iter().filter_map(|element| match element {
        InitElement::Atom(atom) => Some(("init", atom)),
        _ => None,
    });
    let goal = problem.goal.iter().flat_map(Condition::conjuncts).filter_map(|part| match part {
        Condition::Atom(atom) => Some(("goal", atom)),
        _ => None,
    });
    init.chain(goal).map(|(state, atom)| ((state.to_owned(), mangle(atom.predicate.key())), atom))
}

/// The representation of a problem: objects with their types, facts that are not omitted, and negative goals.
fn reduced(domain: &Domain, problem: &Problem, omitted: &BTreeSet<Predicate>) -> String {
    let mut out = String::new();
    for object in &problem.objects {
        let ty = object.ty.as_ref().and_then(|ty| ty.alternatives.first()).map_or("object", |ty| ty.key());
        let _ = writeln!(out, "object({}, {}).", mangle(object.name.key()), mangle(ty));
    }
    let known = |atom: &Atom| domain.predicates.iter().any(|p| p.name.key() == atom.predicate.key());
    for (predicate, atom) in
        facts(problem).filter(|(predicate, atom)| known(atom) && !omitted.contains(predicate))
    {
        let _ = writeln!(out, "{}({}).", predicate.0, fact(atom));
    }
    for part in problem.goal.iter().flat_map(Condition::conjuncts) {
        if let Condition::Not(inner, _) = part
            && let Condition::Atom(atom) = inner.as_ref()
        {
            let _ = writeln!(out, "goal(not {}).", fact(atom));
        }
    }
    out
}

fn fact(atom: &Atom) -> String {
    let name = mangle(atom.predicate.key());
    let arguments: Vec<String> = atom.args.iter().map(|term| mangle(term.name().key())).collect();
    if arguments.is_empty() { name } else { format!("{name}({})", arguments.join(", ")) }
}
