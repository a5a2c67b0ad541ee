//! One task: draws of a seed until one is good, each judged by the front end, and by the template's plan or a search with a limit in nodes.

use super::template::{NoRendering, Rendered};
use super::{GenerationError, Generator, Instance, silent_objects};
use crate::codes;
use crate::rendering::{RenderRequest, Template};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_pddl::ast::Problem;
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

/// The result of a draw.
enum Draw {
    Good { problem: String, text: String, plan: String },
    Again(String),
}

pub(super) fn instance(
    generator: &Generator,
    seed: u64,
    index: u32,
    limits: &Limits,
    budget: &mut dyn ResourceLimits,
) -> Result<Instance, GenerationError> {
    // Tasks have streams of their own, so that one more task, or one more draw, changes no other.
    let own = Random::stream(seed, u64::from(index)).next_u64();
    let mut redrawn = Vec::new();
    for attempt in 0..MAX_DRAWS {
        match draw(generator, (own, u64::from(attempt)), index, limits, budget)? {
            Draw::Good { problem, text, plan } => {
                return Ok(Instance { stem: Generator::stem(index), problem, text, plan, redrawn });
            }
            Draw::Again(why) => redrawn.push(why),
        }
    }
    let mut reasons = redrawn;
    reasons.dedup();
    let message = format!(
        "none of {MAX_DRAWS} draws for {} is a good task: {}",
        Generator::stem(index),
        reasons.join("; ")
    );
    let diagnostic = Diagnostic::error(codes::NO_DRAW, message)
        .help("let the template make only tasks that can be solved, or smaller ones");
    Err(generator.error_with_text(diagnostic, None))
}

fn draw(
    generator: &Generator,
    stream: (u64, u64),
    index: u32,
    limits: &Limits,
    budget: &mut dyn ResourceLimits,
) -> Result<Draw, GenerationError> {
    let template = Template::Generator { index, name: generator.name(index) };
    let request = RenderRequest { source: generator.source.clone(), stream, template };
    let Rendered { problem, text, plan } = match generator.renderer.render(&request) {
        Ok(rendered) => rendered,
        Err(NoRendering::Redraw(why)) => return Ok(Draw::Again(why)),
        Err(NoRendering::Wrong { message, line }) => return Err(wrong(generator, message, line)),
    };
    let problem = read(generator, index, &problem)?;
    let silent = silent_objects(&problem, &text);
    if !silent.is_empty() {
        let message = format!("the text of {} never mentions {}", Generator::stem(index), silent.join(", "));
        let diagnostic = Diagnostic::error(codes::SILENT, message).at(SourceId(0), Span::empty(0), "");
        return Err(generator.error_with_text(diagnostic, Some(("text", Cow::Borrowed(&text)))));
    }
    let found = match plan {
        Some(plan) => validate_plan(generator, &problem, index, plan, budget)?,
        None => search(generator, &problem, index, limits, budget)?,
    };
    Ok(match found {
        SearchResult::Plan(plan) if plan.is_empty() => Draw::Again("the goal holds already".to_owned()),
        SearchResult::Plan(plan) => Draw::Good { problem: print_problem(&problem), text, plan },
        SearchResult::None(why) => Draw::Again(why),
    })
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
fn read(generator: &Generator, index: u32, text: &str) -> Result<Problem, GenerationError> {
    let mut sources = SourceMap::default();
    let domain = sources.add("domain.pddl", generator.domain_text.clone());
    let shown = format!("{} ({}, problem)", generator.place, Generator::stem(index));
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
    index: u32,
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
    let stem = Generator::stem(index);
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
