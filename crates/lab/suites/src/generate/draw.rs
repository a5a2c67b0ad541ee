//! One task: draws of a seed until one is good, each judged by the front end, and by the template's plan or a search with a limit in nodes.

use super::template::{NoRendering, Rendered};
use super::{GenerationError, Generator, Instance, Rung, silent_objects};
use crate::codes;
use crate::ladder::{Fact, Finding, MAX_CHARS, Task, Text, read_text, write_text};
use crate::rendering::{RenderRequest, Template};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::{InitElement, Problem};
use planforge_pddl::random::Random;
use planforge_pddl::{TaskSources, check_problem, parse_problem, print_problem};
use planforge_planning::{
    Algorithm, PlanOptions, ResourceLimits, SearchOutcome, StopReason, ValidationDecision, ValidationOptions,
    Validator, normalize, parse_plan, plan,
};
use std::borrow::Cow;

/// Most draws for one task.
pub const MAX_DRAWS: u32 = 20;

/// Limits of the search for a plan of each draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most nodes of a search for any plan.
    pub nodes: u64,
    /// Most nodes of the search for a cheapest plan of the in-context example; beyond, it gets any plan.
    pub optimal_nodes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 200_000, optimal_nodes: 50_000 }
    }
}

/// The task to draw.
pub(super) enum Requested<'a> {
    /// By number; 0 is the in-context example.
    Number(u32),
    Rung(&'a Rung),
}

impl Requested<'_> {
    /// The stem of its files.
    fn stem(&self) -> String {
        match self {
            Self::Number(0) => "p_example".to_owned(),
            Self::Number(index) => format!("p{index:02}"),
            Self::Rung(Rung { size, axes, number }) => {
                format!("{}-{size:03}-{number}", axes.to_string().replace('+', "-"))
            }
        }
    }

    /// Name of its problem, which does not tell the axes.
    fn name(&self, suite: &str) -> String {
        match self {
            Self::Number(0) => format!("{suite}-example"),
            Self::Number(index) => format!("{suite}-{index:02}"),
            Self::Rung(Rung { size, number, .. }) => format!("{suite}-{size:03}-{number}"),
        }
    }

    /// Variables of the template.
    const fn index_and_size(&self) -> (u32, u32) {
        match self {
            Self::Number(index) => (*index, 0),
            Self::Rung(rung) => (rung.number, rung.size),
        }
    }
}

/// The result of a draw.
enum Draw {
    Good { problem: String, text: Text, plan: String },
    Again(String),
}

pub(super) fn instance(
    generator: &Generator,
    seed: u64,
    requested: &Requested<'_>,
    limits: &Limits,
    budget: &mut dyn ResourceLimits,
) -> Result<Instance, GenerationError> {
    // Tasks have streams of their own, so that one more task, or one more draw, changes no other.
    let (index, size) = requested.index_and_size();
    let own = Random::stream(seed, u64::from(index) | u64::from(size) << 32).next_u64();
    let mut redrawn = Vec::new();
    for attempt in 0..MAX_DRAWS {
        match draw(generator, (own, u64::from(attempt)), requested, limits, budget)? {
            Draw::Good { problem, text: Text { text, gap }, plan } => {
                let axes = match requested {
                    Requested::Number(_) => None,
                    Requested::Rung(rung) => Some(rung.axes.clone()),
                };
                let (stem, gap) = (requested.stem(), gap.map(|fact| fact.to_string()));
                return Ok(Instance { stem, problem, text, plan, redrawn, axes, gap });
            }
            Draw::Again(why) => redrawn.push(why),
        }
    }
    let mut reasons = redrawn;
    reasons.dedup();
    let message =
        format!("none of {MAX_DRAWS} draws for {} is a good task: {}", requested.stem(), reasons.join("; "));
    let diagnostic = Diagnostic::error(codes::NO_DRAW, message)
        .help("let the template make only tasks that can be solved, or smaller ones");
    Err(generator.error_with_text(diagnostic, None))
}

fn draw(
    generator: &Generator,
    stream: (u64, u64),
    requested: &Requested<'_>,
    limits: &Limits,
    budget: &mut dyn ResourceLimits,
) -> Result<Draw, GenerationError> {
    let (index, size) = requested.index_and_size();
    let template = Template::Generator { index, size, name: requested.name(&generator.suite) };
    let request = RenderRequest { source: generator.source.clone(), stream, template };
    let Rendered { problem, text, plan } = match generator.renderer.render(&request) {
        Ok(rendered) => rendered,
        Err(NoRendering::Redraw(why)) => return Ok(Draw::Again(why)),
        Err(NoRendering::Wrong { message, line }) => return Err(wrong(generator, message, line)),
    };
    let stem = requested.stem();
    let problem = read(generator, &stem, &problem)?;
    let objects = problem.objects.len();
    if matches!(requested, Requested::Rung(_)) && objects != size as usize {
        let message = format!("the template makes {objects} objects for {stem}, where `size` is {size}");
        return Err(wrong(generator, message, None));
    }
    let silent = silent_objects(&problem, &text);
    if !silent.is_empty() {
        let message = format!("the text of {stem} never mentions {}", silent.join(", "));
        let diagnostic = Diagnostic::error(codes::SILENT, message).at(SourceId(0), Span::empty(0), "");
        return Err(generator.error_with_text(diagnostic, Some(("text", Cow::Borrowed(&text)))));
    }
    let found = match plan {
        Some(plan) => validate_plan(generator, &problem, &stem, plan, budget)?,
        None => search(generator, &problem, index, limits, budget)?,
    };
    Ok(match found {
        SearchResult::Plan(plan) if plan.is_empty() => Draw::Again("the goal holds already".to_owned()),
        SearchResult::Plan(plan) => {
            let text = match requested {
                Requested::Number(_) => Text { text, gap: None },
                Requested::Rung(rung) => ladder_text(generator, &problem, rung, stream, &plan, budget)?,
            };
            Draw::Good { problem: print_problem(&problem), text, plan }
        }
        SearchResult::None(why) => Draw::Again(why),
    })
}

/// The text of a rung, which is read back before it is used.
fn ladder_text(
    generator: &Generator,
    problem: &Problem,
    rung: &Rung,
    (own, attempt): (u64, u64),
    plan: &str,
    budget: &mut dyn ResourceLimits,
) -> Result<Text, GenerationError> {
    let refused = |code: &'static str, message: String| {
        let stem = Requested::Rung(rung).stem();
        generator.error_with_text(Diagnostic::error(code, format!("{stem}: {message}")), None)
    };
    let Some(lexicon) = &generator.lexicon else {
        let message = "the suite has no ladder.toml with sentences for its facts".to_owned();
        return Err(refused(codes::LADDER_SENTENCES, message));
    };
    let task = Task::new(&generator.domain, problem).map_err(|why| refused(codes::LADDER_SENTENCES, why))?;
    // The text has a stream of its own for each combination of axes.
    let axes = rung
        .axes
        .to_string()
        .bytes()
        .fold(attempt, |sum, byte| sum.wrapping_mul(257).wrapping_add(byte.into()));
    let mut random = Random::stream(own, axes);
    let mut stopped = None;
    let mut needed = |fact: &Fact| match solves_without(generator, problem, fact, plan, budget) {
        Ok(solves) => !solves,
        Err(why) => {
            stopped.get_or_insert(why);
            false
        }
    };
    let text = write_text(lexicon, &task, &rung.axes, &mut random, &mut needed);
    if let Some(why) = stopped {
        return Err(refused(codes::STOPPED, why));
    }
    let text = text.map_err(|why| refused(codes::LADDER_SENTENCES, why))?;
    let length = text.text.chars().count();
    if length > MAX_CHARS {
        let message = format!("the text has {length} characters, and at most {MAX_CHARS} are allowed");
        return Err(refused(codes::LADDER_TOO_LONG, message));
    }
    let found = read_text(lexicon, &task, &rung.axes, &text.text, text.gap.as_ref());
    match found.first() {
        None => Ok(text),
        Some(first) => {
            let what = match first {
                Finding::Sentence(sentence) => format!("this is not understood: {sentence}"),
                Finding::Missing(fact) => format!("no sentence states {fact}"),
                Finding::Wrong(fact) => format!("the text states {fact}, which does not hold"),
                Finding::Object(object) => format!("text and problem differ in the object `{object}`"),
                Finding::TellsGap(fact) => format!("the text denies {fact}, which tells the fact left out"),
            };
            Err(refused(
                codes::LADDER_UNREAD,
                format!("the text read back is not the problem: {what} ({} findings)", found.len()),
            ))
        }
    }
}

/// True if the plan is valid where a fact of the initial state is left out.
///
/// # Errors
/// The reason why that was not decided: a limit or an interruption.
fn solves_without(
    generator: &Generator,
    problem: &Problem,
    fact: &Fact,
    plan: &str,
    budget: &mut dyn ResourceLimits,
) -> Result<bool, String> {
    let is_fact = |element: &InitElement| match element {
        InitElement::Atom(atom) => {
            atom.predicate.key() == fact.predicate
                && atom
                    .args
                    .iter()
                    .map(|term| term.name().key())
                    .eq(fact.arguments.iter().map(String::as_str))
        }
        _ => false,
    };
    let init = problem.init.iter().filter(|element| !is_fact(element)).cloned().collect();
    let without = Problem { init, ..problem.clone() };
    let Ok(lifted) = normalize(&generator.domain, &without) else { return Ok(false) };
    let options = ValidationOptions { time: true, ..ValidationOptions::default() };
    let report = Validator::new(lifted).validate_with(&parse_plan(plan, SourceId(0)), &options, budget);
    match report.decision {
        ValidationDecision::Valid => Ok(true),
        ValidationDecision::Invalid => Ok(false),
        ValidationDecision::LimitReached(reason) => Err(format!("generating was ended by {reason}")),
        ValidationDecision::Unsupported(_) => Err("plans of this domain are not validated".to_owned()),
    }
}

fn wrong(generator: &Generator, message: String, line: Option<usize>) -> GenerationError {
    let mut diagnostic = Diagnostic::error(codes::TEMPLATE, message)
        .help("`planforge explain generate.template` lists what a generator may use");
    let span = match line {
        Some(line) => {
            let start: usize =
                generator.source.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
            let length =
                generator.source.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
            let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            Span::new(at(start), at(start + length))
        }
        // Names the file.
        None => Span::empty(0),
    };
    diagnostic = diagnostic.at(SourceId(0), span, "");
    generator.error_with_text(diagnostic, None)
}

/// Reads a rendered problem; any warning is a mistake of the template as well.
fn read(generator: &Generator, stem: &str, text: &str) -> Result<Problem, GenerationError> {
    let mut sources = SourceMap::default();
    let domain = sources.add("domain.pddl", generator.domain_text.clone());
    let shown = format!("{} ({stem}, problem)", generator.place);
    let problem = sources.add(shown, text.to_owned());
    let parsed = parse_problem(text, problem);
    let mut diagnostics = parsed.diagnostics;
    diagnostics.extend(check_problem(&generator.domain, &parsed.value, TaskSources { domain, problem }));
    match diagnostics.iter().any(Diagnostic::is_error) {
        true => Err(GenerationError { diagnostics, sources }),
        false => Ok(parsed.value),
    }
}

enum SearchResult {
    Plan(String),
    None(String),
}

/// The plan that the template gives, if it is valid. An empty plan is returned where the goal holds at the start, as a search does.
fn validate_plan(
    generator: &Generator,
    problem: &Problem,
    stem: &str,
    plan: String,
    budget: &mut dyn ResourceLimits,
) -> Result<SearchResult, GenerationError> {
    let lifted = normalize(&generator.domain, problem)
        .map_err(|diagnostics| GenerationError { diagnostics, sources: SourceMap::default() })?;
    let validator = Validator::new(lifted);
    let options = ValidationOptions { time: true, ..ValidationOptions::default() };
    let empty = validator.validate_with(&parse_plan("", SourceId(0)), &options, budget);
    if empty.is_valid() {
        return Ok(SearchResult::Plan(String::new()));
    }
    let report = validator.validate_with(&parse_plan(&plan, SourceId(0)), &options, budget);
    let diagnostic = match report.decision {
        ValidationDecision::Valid => return Ok(SearchResult::Plan(plan)),
        ValidationDecision::Invalid => {
            let why = report.diagnostics.iter().find(|d| d.is_error());
            let why = why.map(|d| format!(": {}", d.message)).unwrap_or_default();
            let message = format!("the plan that the template prints for {stem} is not a plan for it{why}");
            let help =
                "correct the lines under `%% plan`, or leave them out where a plan can be searched for";
            Diagnostic::error(codes::WRONG_GIVEN_PLAN, message).at(SourceId(0), Span::empty(0), "").help(help)
        }
        ValidationDecision::Unsupported(found) => {
            let what: Vec<&str> = found.iter().map(|u| u.what.as_str()).collect();
            let message = format!("plans with {} are not validated", what.join(", "));
            Diagnostic::error(codes::UNSUPPORTED, message)
        }
        ValidationDecision::LimitReached(reason) => {
            Diagnostic::error(codes::STOPPED, format!("generating was ended by {reason}"))
        }
    };
    Err(generator.error_with_text(diagnostic, Some(("plan", Cow::Borrowed(&plan)))))
}

fn search(
    generator: &Generator,
    problem: &Problem,
    index: u32,
    limits: &Limits,
    budget: &mut dyn ResourceLimits,
) -> Result<SearchResult, GenerationError> {
    if index == 0 {
        let cheapest = ask(generator, problem, Algorithm::AStar, limits.optimal_nodes, budget)?;
        if matches!(cheapest, SearchResult::Plan(_)) {
            return Ok(cheapest);
        }
    }
    ask(generator, problem, Algorithm::Greedy, limits.nodes, budget)
}

fn ask(
    generator: &Generator,
    problem: &Problem,
    algorithm: Algorithm,
    max_nodes: u64,
    budget: &mut dyn ResourceLimits,
) -> Result<SearchResult, GenerationError> {
    let options = PlanOptions { algorithm, max_nodes, ..PlanOptions::default() };
    let stopped = |reason: StopReason| {
        let message = format!("generating was ended by {reason}");
        generator.error_with_text(Diagnostic::error(codes::STOPPED, message), None)
    };
    let result = plan(&generator.domain, problem, &options, budget)
        .map_err(|diagnostics| GenerationError { diagnostics, sources: SourceMap::default() })?;
    match result.outcome {
        SearchOutcome::Plan(plan) => {
            Ok(SearchResult::Plan(plan.lines().iter().map(|step| format!("{step}\n")).collect()))
        }
        SearchOutcome::ProvenUnsolvable(_) => Ok(SearchResult::None("it has no plan".to_owned())),
        SearchOutcome::Exhausted => Ok(SearchResult::None("no plan was found".to_owned())),
        // These two are counted and come out alike everywhere; clock and memory do not.
        SearchOutcome::LimitReached(reason @ (StopReason::Nodes | StopReason::Grounding)) => {
            Ok(SearchResult::None(format!("no plan was found within {reason}")))
        }
        SearchOutcome::LimitReached(reason) => Err(stopped(reason)),
        SearchOutcome::Unsupported(found) => {
            let what: Vec<&str> = found.iter().map(|u| u.what.as_str()).collect();
            let message = format!("the planner does not plan with {}", what.join(", "));
            let help =
                "let the template print a plan for each task under a line `%% plan`: it is validated instead";
            Err(generator.error_with_text(Diagnostic::error(codes::UNSUPPORTED, message).help(help), None))
        }
    }
}
