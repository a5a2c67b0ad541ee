//! The rules of a knowledge file, learned from pairs of texts and problems and judged on the other tasks.

use super::inferred::{Comparison, InferredComparer};
use crate::context::Context;
use crate::error::Error;
use crate::files::refuse_part_of_run;
use crate::inference::Inferrer;
use crate::pipelines::tasks::add_on;
use crate::status::Status;
use planforge_asp::learn::LearnLimits;
use planforge_asp::names::mangle;
use planforge_asp::syntax::ast::{Head, Program, StatementKind, Term};
use planforge_contract::{
    Candidate, CompletionResult, Failure, FailureClass, Given, TaskView, TranslateRequest,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_pddl::ast::{Atom, Condition, Domain, InitElement, Problem};
use planforge_pddl::natural;
use planforge_pipeline::{Suite, SuiteTask, load_leniently};
use planforge_record::{Cassette, Lookup, Redactor, read_regular_text};
use planforge_translator_asp::{AspTranslatorOptions, LearnInput, LearnPair, Mode};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use planforge_translator_asp::LearnResult;

/// Rules to learn from tasks of a suite.
#[derive(Debug, Clone, Default)]
pub struct LearnRequest {
    /// The suite's folder, with reference problems.
    pub suite: PathBuf,
    /// Stems of the tasks to learn from.
    pub from: Vec<String>,
    /// Representations of the texts: a run folder or cassette of translator-asp, or a folder of files TASK.lp. `None` for the reference
    /// problems, without the predicates of which the suite's p_example.lp states no single facts.
    pub replies: Option<PathBuf>,
    /// Folders whose knowledge.lp and p_example.lp replace those of the suite.
    pub add_ons: Vec<PathBuf>,
    /// Most conditions of a rule, apart from the types of its variables.
    pub max_conditions: u32,
    /// Rules tried for one predicate.
    pub max_candidates: u32,
    /// Seconds for the search; afterwards the rules found so far are judged.
    pub seconds: f64,
    /// A file for the learned knowledge.
    pub out: Option<PathBuf>,
}

/// Learns rules until the representations of the pairs give their reference problems, and compares the problems of all tasks.
///
/// # Errors
/// A suite without references, tasks without both parts of a pair, or a tool that broke.
pub fn learn_knowledge(context: &Context, request: &LearnRequest) -> Result<KnowledgeReport, Error> {
    let out = request.out.as_ref().map(|path| context.path(path));
    if let Some(path) = &out {
        refuse_part_of_run(path)?;
    }
    let loaded = load_leniently(&context.path(&request.suite));
    // Texts are not needed.
    let errors: Vec<Diagnostic> = loaded.diagnostics.into_iter().filter(Diagnostic::is_error).collect();
    let Some(suite) = loaded.suite.filter(|_| errors.is_empty()) else {
        return Err(Error::findings(Status::Input, errors, loaded.sources));
    };
    let mut suites = vec![suite];
    let add_ons: Vec<PathBuf> = request.add_ons.iter().map(|folder| context.path(folder)).collect();
    add_on(context, &add_ons, &mut suites)?;
    let suite = suites.remove(0);
    let replies = request.replies.as_ref().map(|path| context.path(path));
    let representations = Representations::of(&suite, replies.as_deref())?;
    let pairs = pairs(request, &suite, &representations)?;
    let options = AspTranslatorOptions { mode: Mode::Infer, ..AspTranslatorOptions::default() };
    let inferrer = Inferrer::new(context, &options)?;
    let progress = context.start_work("learning", Some(0));
    let (knowledge, result) = learned(context, request, &suite, pairs, &inferrer)?;
    drop(progress);
    if let Some(path) = &out
        && let Err(error) = std::fs::write(path, &knowledge)
    {
        let message = format!("{} cannot be written: {error}", path.display());
        let diagnostic = Diagnostic::error("cli.unwritable-file", message);
        return Err(Error::findings(Status::System, vec![diagnostic], SourceMap::default()));
    }
    let judge = Judge { comparer: InferredComparer { context, suite: &suite, inferrer: &inferrer } };
    let progress = context.start_work("tasks", Some(suite.tasks.len() as u64));
    let mut tasks = Vec::new();
    for task in &suite.tasks {
        let role = if request.from.contains(&task.stem) { TaskRole::Learned } else { TaskRole::HeldBack };
        let representation = representations.by_task.get(&task.stem).map(String::as_str);
        tasks.push(judge.task(task, role, representation, &knowledge, &result)?);
        progress.advance();
    }
    Ok(KnowledgeReport {
        suite: suite.name.clone(),
        representations: representations.origin,
        knowledge,
        result,
        tasks,
    })
}

/// The pairs to learn from.
fn pairs(
    args: &LearnRequest,
    suite: &Suite,
    representations: &Representations,
) -> Result<Vec<LearnPair>, Error> {
    let mut pairs = Vec::new();
    for name in &args.from {
        let task = suite.tasks.iter().find(|task| task.stem == *name);
        let problem = task.and_then(|task| task.reference_problem.clone());
        let representation = representations.by_task.get(name).cloned();
        let (Some(problem), Some(representation)) = (problem, representation) else {
            let message = match task {
                None => format!("{} has no task `{name}`", args.suite.display()),
                Some(_) => format!("`{name}` has no reference problem or no representation"),
            };
            return Err(Error::usage(message, Some("name tasks with both with --from")));
        };
        pairs.push(LearnPair { name: name.clone(), representation, problem });
    }
    Ok(pairs)
}

fn learned(
    context: &Context,
    args: &LearnRequest,
    suite: &Suite,
    pairs: Vec<LearnPair>,
    inferrer: &Inferrer,
) -> Result<(String, LearnResult), Failure> {
    let limits = LearnLimits { max_conditions: args.max_conditions, max_candidates: args.max_candidates };
    let input = LearnInput { pairs, limits, time_s: args.seconds };
    let document =
        |error: serde_json::Error| Failure::new(FailureClass::Plugin, "translate-asp.job", error.to_string());
    let request = TranslateRequest {
        task: TaskView {
            suite: suite.name.clone(),
            given: Given { domain: suite.reference_domain.clone(), problem: None },
            ..TaskView::default()
        },
        candidate: Candidate {
            texts: [("pairs", serde_json::to_string(&input).map_err(document)?)].into_iter().collect(),
            ..Candidate::default()
        },
        n: 1,
        ..TranslateRequest::default()
    };
    let patch = inferrer.call(context, &request)?;
    let text = |name: &str| patch.texts.named.get(name).cloned().unwrap_or_default();
    Ok((text("knowledge"), serde_json::from_str(&text("learned")).map_err(document)?))
}

/// The part of a task in learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaskRole {
    /// It is learned from.
    Learned,
    /// It is not seen by the search.
    HeldBack,
}

/// The results of one task; empty without a representation.
#[derive(Debug, Clone, Serialize)]
pub struct TaskResult {
    /// Stem of the task.
    pub task: String,
    /// Its part.
    pub role: TaskRole,
    /// With the declarations alone.
    pub without_rules: Option<Comparison>,
    /// With the learned knowledge file.
    pub learned: Option<Comparison>,
    /// With the suite's own knowledge file.
    pub own_file: Option<Comparison>,
}

/// The result of the command.
#[derive(Debug, Clone, Serialize)]
pub struct KnowledgeReport {
    /// Name of the suite.
    pub suite: String,
    /// The origin of the representations.
    pub representations: String,
    /// The learned file.
    pub knowledge: String,
    /// What the search found.
    #[serde(flatten)]
    pub result: LearnResult,
    /// The results of each task.
    pub tasks: Vec<TaskResult>,
}

/// Infers and compares.
struct Judge<'a> {
    comparer: InferredComparer<'a>,
}

impl Judge<'_> {
    fn task(
        &self,
        task: &SuiteTask,
        role: TaskRole,
        representation: Option<&str>,
        knowledge: &str,
        result: &LearnResult,
    ) -> Result<TaskResult, Failure> {
        let declarations = result.declarations.join("\n");
        let compare = |knowledge: Option<&str>| {
            let (Some(representation), Some(knowledge)) = (representation, knowledge) else {
                return Ok(None);
            };
            self.comparer.compare(task, representation, Some(knowledge)).map(Some)
        };
        Ok(TaskResult {
            task: task.stem.clone(),
            role,
            without_rules: compare(Some(&declarations))?,
            learned: compare(Some(knowledge))?,
            own_file: compare(self.comparer.suite.knowledge.as_deref())?,
        })
    }
}

impl KnowledgeReport {
    /// The held-back tasks with a representation.
    pub fn held_back(&self) -> impl Iterator<Item = &TaskResult> {
        self.tasks.iter().filter(|task| task.role == TaskRole::HeldBack && task.learned.is_some())
    }

    /// Negative if a held-back task is not equivalent with the learned rules.
    pub fn status(&self) -> Status {
        let is_equivalent = |task: &TaskResult| task.learned == Some(Comparison::Equivalent);
        if self.held_back().all(is_equivalent) { Status::Good } else { Status::Negative }
    }
}

/// Representations by task, and their origin in words.
struct Representations {
    origin: String,
    by_task: BTreeMap<String, String>,
}

impl Representations {
    /// Reads them from a run folder, a cassette or a folder of files, or else makes them from the references.
    fn of(suite: &Suite, replies: Option<&Path>) -> Result<Self, Error> {
        match replies {
            None => Self::of_references(suite),
            Some(path) if path.is_dir() && !path.join("run.json").exists() => Ok(Self::of_files(suite, path)),
            Some(path) => Self::of_record(suite, path),
        }
    }

    /// `TASK.lp` or `TASK/TASK.lp` for each task that has one.
    fn of_files(suite: &Suite, folder: &Path) -> Self {
        let read = |stem: &str| {
            let file = format!("{stem}.lp");
            let text = read_regular_text(&folder.join(&file), MAX_TEXT_BYTES as u64);
            text.or_else(|_| read_regular_text(&folder.join(stem).join(&file), MAX_TEXT_BYTES as u64)).ok()
        };
        let by_task = suite.tasks.iter().filter_map(|task| Some((task.stem.clone(), read(&task.stem)?)));
        Self { origin: format!("files of {}", folder.display()), by_task: by_task.collect() }
    }

    /// For each task its first reply that states facts.
    fn of_record(suite: &Suite, path: &Path) -> Result<Self, Error> {
        let redactor = Arc::new(Redactor::new([]));
        let cassette = Cassette::open(path, redactor)?;
        let mut replies: Vec<(String, String)> = Vec::new();
        for key in cassette.completion_keys() {
            let Some(record) = cassette.completion(&key)? else { continue };
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
    fn of_references(suite: &Suite) -> Result<Self, Error> {
        let example = suite.example.as_ref().and_then(|e| Some((e.ir.as_deref()?, e.problem.as_deref()?)));
        let (Some((ir, problem)), Some(domain)) = (example, suite.reference_domain.as_deref()) else {
            let message = format!("nothing tells what the texts of {} state", suite.folder.display());
            let diagnostic = Diagnostic::error("cli.no-representation", message).help(
                "give the representations with --replies (a run folder, a cassette, or a folder of TASK.lp), or add p_example.lp",
            );
            return Err(Error::findings(Status::Input, vec![diagnostic], SourceMap::default()));
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
