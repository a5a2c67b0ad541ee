//! Checks a suite's folder: its PDDL, texts, templates, sentences and tasks. Also reads the layouts of LLM+P
//! and of the exploration-walk data, and folders of PDDL alone.

mod beside;
mod order;
mod pipelines;
mod templates;

pub use pipelines::PipelineNeeds;

use crate::codes;
use crate::generate::silent_objects;
use planforge_diagnostics::{Diagnostic, Severity, SourceId, SourceMap, Span};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{TaskSources, check_domain, check_problem, parse_domain, parse_problem};
use planforge_pipeline::{LoadedSuite, Suite, apply_add_ons, load_leniently};
use planforge_planning::{
    PlanOptions, ResourceLimits, SearchOutcome, ValidationDecision, Validator, normalize, parse_plan, plan,
};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Findings in one folder.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The suite's name; the folder's where it cannot be read.
    pub name: String,
    /// The suite with what add-ons bring for it; `None` if the folder cannot be read.
    pub suite: Option<Suite>,
    /// A row for each task, the in-context example first.
    pub tasks: Vec<TaskRow>,
    /// The shipped pipelines with what the suite lacks for them; empty if it cannot be read.
    pub pipelines: Vec<PipelineNeeds>,
    pub diagnostics: Vec<Diagnostic>,
    /// The texts that the diagnostics point into.
    pub sources: SourceMap,
}

impl Checked {
    /// Number of findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == severity).count()
    }
}

/// State of a goal in the initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Goal {
    /// It does not hold yet.
    Open,
    /// It holds already: the empty plan is right.
    Holds,
    /// It could not be evaluated.
    Unknown,
}

/// The result of a search for a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Solved {
    /// A plan with so many steps.
    Plan(usize),
    Unsolvable,
    /// The search ended without an answer; why.
    Undecided(String),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskRow {
    /// The stem of its files.
    pub stem: String,
    /// True if the task has a text.
    pub text: bool,
    /// True if the task has a problem.
    pub problem: bool,
    /// Objects of the problem.
    pub objects: usize,
    /// Entries of the initial state.
    pub facts: usize,
    /// The goal in the initial state.
    pub goal: Goal,
    /// The result of the search, if requested.
    pub solved: Option<Solved>,
    /// Errors in its files.
    pub errors: usize,
}

/// Makes the limits of one search.
pub type FreshLimits<'a> = &'a mut dyn FnMut() -> Box<dyn ResourceLimits>;

/// Checks a folder, read with what add-ons bring for it. Each plan is validated under
/// fresh limits. With `solve`, each task is also planned, under fresh limits.
pub fn check(folder: &Path, add_ons: &[PathBuf], limits: FreshLimits<'_>, solve: bool) -> Checked {
    let LoadedSuite { mut suite, mut diagnostics, mut sources } = load_leniently(folder);
    if let Some(suite) = &mut suite {
        diagnostics.extend(apply_add_ons(add_ons, std::slice::from_mut(suite), &mut sources));
    }
    let mut check = Check { found: diagnostics, sources, limits, solve, rows: Vec::new() };
    let Some(suite) = suite else {
        let name = folder.display().to_string();
        let (diagnostics, sources) = (check.found, check.sources);
        let (tasks, pipelines) = (Vec::new(), Vec::new());
        return Checked { name, suite: None, tasks, pipelines, diagnostics, sources };
    };
    check.suite(&suite);
    Checked {
        pipelines: pipelines::needs(&suite),
        name: suite.name.clone(),
        suite: Some(suite),
        tasks: check.rows,
        diagnostics: check.found,
        sources: check.sources,
    }
}

struct Check<'a> {
    found: Vec<Diagnostic>,
    sources: SourceMap,
    limits: FreshLimits<'a>,
    solve: bool,
    rows: Vec<TaskRow>,
}

/// A domain that problems are read with.
struct Reference {
    domain: Domain,
    source: SourceId,
    usable: bool,
}

/// The files of one task.
struct Files<'a> {
    stem: &'a str,
    text: Option<&'a str>,
    problem: Option<&'a str>,
    template: Option<&'a str>,
    plan: Option<&'a str>,
}

impl Check<'_> {
    fn suite(&mut self, suite: &Suite) {
        let reference = suite.reference_domain.as_deref().map(|text| self.domain(suite, "domain.pddl", text));
        if let Some(text) = &suite.validation_domain {
            self.domain(suite, "domain_validation.pddl", text);
        }
        if let Some(reference) = &reference {
            self.sentences(suite, reference);
            self.found.extend(beside::types(suite, &reference.domain, reference.source));
            self.found.extend(order::descriptions(suite, &reference.domain, reference.source));
            self.found.extend(beside::programs(suite, &reference.domain, &mut self.sources));
            if let Some(template) = &suite.domain_template {
                let source = self.add(suite, "domain_template.pddl", template);
                self.found.extend(templates::domain(&reference.domain, template, source));
            }
        }
        self.found.extend(beside::example_without_text(suite));
        if suite.tasks.is_empty() {
            let message = format!("{} has no tasks", suite.folder.display());
            let help = "a task is a file NAME.nl, with NAME.pddl as its reference";
            self.found.push(Diagnostic::warning(codes::NO_TASKS, message).help(help));
        }
        if let Some(example) = &suite.example {
            let files = Files {
                stem: "p_example",
                text: Some(&example.text),
                problem: example.problem.as_deref(),
                template: None,
                plan: example.plan.as_deref(),
            };
            self.task(suite, reference.as_ref(), &files);
        }
        for task in &suite.tasks {
            let files = Files {
                stem: &task.stem,
                text: Some(task.text.as_str()).filter(|text| !text.is_empty()),
                problem: task.reference_problem.as_deref(),
                template: task.objects_template.as_deref(),
                plan: None,
            };
            self.task(suite, reference.as_ref(), &files);
        }
    }

    fn add(&mut self, suite: &Suite, file: &str, text: &str) -> SourceId {
        self.sources.add(suite.folder.join(file).display().to_string(), text)
    }

    fn domain(&mut self, suite: &Suite, file: &str, text: &str) -> Reference {
        let source = self.add(suite, file, text);
        let parsed = parse_domain(text, source);
        let mut found = parsed.diagnostics;
        found.extend(check_domain(&parsed.value, source));
        let usable = !found.iter().any(Diagnostic::is_error);
        self.found.extend(found);
        Reference { domain: parsed.value, source, usable }
    }

    /// Checks that a suite with sentences for facts has one for every fact.
    fn sentences(&mut self, suite: &Suite, reference: &Reference) {
        if suite.sentences.is_empty() {
            return;
        }
        for predicate in &reference.domain.predicates {
            let name = predicate.name.as_str();
            let told = suite.sentences.get(&name.to_ascii_lowercase());
            let missing = match told {
                None => "no sentences",
                Some(told) if told.no.is_empty() => "no sentence for where it does not hold",
                Some(_) => continue,
            };
            let message = format!("sentences.toml has {missing} for `{name}`");
            let help = format!("add `{name} = {{ yes = \"...\", no = \"...\" }}` to [predicates]");
            let place = Diagnostic::warning(codes::NO_SENTENCE, message).help(help);
            self.found.push(place.at(reference.source, predicate.name.span, ""));
        }
    }

    fn task(&mut self, suite: &Suite, reference: Option<&Reference>, files: &Files<'_>) {
        let before = self.errors();
        let mut row = TaskRow {
            stem: files.stem.to_owned(),
            text: files.text.is_some(),
            problem: files.problem.is_some(),
            objects: 0,
            facts: 0,
            goal: Goal::Unknown,
            solved: None,
            errors: 0,
        };
        if let Some(text) = files.problem {
            let source = self.add(suite, &format!("{}.pddl", files.stem), text);
            let parsed = parse_problem(text, source);
            self.found.extend(parsed.diagnostics);
            let problem = parsed.value;
            row.objects = problem.objects.len();
            row.facts = problem.init.len();
            if let Some(reference) = reference {
                let sources = TaskSources { domain: reference.source, problem: source };
                self.found.extend(check_problem(&reference.domain, &problem, sources));
                if reference.usable && self.errors() == before {
                    self.behaviour(suite, &reference.domain, &problem, source, files, &mut row);
                }
            }
            self.text(suite, &problem, files);
            if let Some(template) = files.template {
                let source = self.add(suite, &format!("{}_template.pddl", files.stem), template);
                self.found.extend(templates::problem(&problem, template, source));
            }
        }
        row.errors = self.errors() - before;
        self.rows.push(row);
    }

    fn errors(&self) -> usize {
        self.found.iter().filter(|d| d.is_error()).count()
    }

    fn text(&mut self, suite: &Suite, problem: &Problem, files: &Files<'_>) {
        let Some(text) = files.text else { return };
        let silent = silent_objects(problem, text);
        if silent.is_empty() {
            return;
        }
        let source = self.add(suite, &format!("{}.nl", files.stem), text);
        let message = match silent.len() == problem.objects.len() {
            true => "the text names none of the problem's objects".to_owned(),
            false => format!("the text never names {}", silent.join(", ")),
        };
        let help = "who reads the text alone cannot know an object that it does not name";
        self.found
            .push(Diagnostic::warning(codes::UNNAMED, message).at(source, Span::empty(0), "").help(help));
    }

    /// Checks the behaviour of the task: an already satisfied goal, the example's plan, and solvability.
    fn behaviour(
        &mut self,
        suite: &Suite,
        domain: &Domain,
        problem: &Problem,
        source: SourceId,
        files: &Files<'_>,
        row: &mut TaskRow,
    ) {
        let lifted = match normalize(domain, problem) {
            Ok(lifted) => lifted,
            Err(diagnostics) => return self.found.extend(diagnostics),
        };
        let validator = Validator::new(lifted);
        let empty = validator.validate(&parse_plan("", source), (self.limits)().as_mut());
        row.goal = match empty.decision {
            ValidationDecision::Valid => Goal::Holds,
            ValidationDecision::Invalid => Goal::Open,
            ValidationDecision::Unsupported(_) => Goal::Unknown,
            ValidationDecision::LimitReached(_) => {
                self.found.extend(empty.diagnostics);
                Goal::Unknown
            }
        };
        if row.goal == Goal::Holds {
            let place = problem.goal.as_ref().map_or(Span::empty(0), |goal| goal.span());
            let message = "the goal holds already: the empty plan solves this task";
            self.found.push(Diagnostic::warning(codes::GOAL_HOLDS, message).at(source, place, ""));
        }
        if let Some(text) = files.plan {
            let file = format!("{}.sol", files.stem);
            let plan_source = self.add(suite, &file, text);
            let report = validator.validate(&parse_plan(text, plan_source), (self.limits)().as_mut());
            if is_prose(text) {
                let message = "the example's plan is prose and was not checked";
                let help = "a plan file has a step a line: `(action object object)`";
                let prose =
                    Diagnostic::advice(codes::PROSE_PLAN, message).at(plan_source, Span::empty(0), "");
                self.found.push(prose.help(help));
            } else if matches!(report.decision, ValidationDecision::LimitReached(_)) {
                self.found.extend(report.diagnostics);
            } else if matches!(report.decision, ValidationDecision::Invalid) {
                let why =
                    report.diagnostics.iter().find(|d| d.is_error()).map(|d| format!(": {}", d.message));
                let message =
                    format!("the example's plan is not a plan for its problem{}", why.unwrap_or_default());
                let wrong = Diagnostic::error(codes::WRONG_PLAN, message).at(plan_source, Span::empty(0), "");
                self.found
                    .push(wrong.help("`planforge pddl validate` with the three files shows every step"));
            }
        }
        self.search_plan(domain, problem, source, row);
    }

    fn search_plan(&mut self, domain: &Domain, problem: &Problem, source: SourceId, row: &mut TaskRow) {
        if !self.solve {
            return;
        }
        let mut budget = (self.limits)();
        let outcome = match plan(domain, problem, &PlanOptions::default(), budget.as_mut()) {
            Ok(result) => result.outcome,
            Err(diagnostics) => return self.found.extend(diagnostics),
        };
        let place = problem.goal.as_ref().map_or(Span::empty(0), |goal| goal.span());
        let undecided = |why: String| {
            let message = format!("whether the task has a plan was not decided: {why}");
            (Diagnostic::warning(codes::UNDECIDED, message).at(source, place, ""), Solved::Undecided(why))
        };
        let (diagnostic, solved) = match outcome {
            SearchOutcome::Plan(plan) => {
                row.solved = Some(Solved::Plan(plan.steps.len()));
                return;
            }
            SearchOutcome::ProvenUnsolvable(explanation) => {
                let unsolvable = Diagnostic::error(codes::UNSOLVABLE, "the task has no plan; this is proven")
                    .at(source, place, "");
                (unsolvable.help(explanation.text()), Solved::Unsolvable)
            }
            SearchOutcome::LimitReached(reason) => undecided(format!("{reason} was reached")),
            SearchOutcome::Unsupported(found) => {
                let what: Vec<&str> = found.iter().map(|u| u.what.as_str()).collect();
                undecided(format!("the planner does not plan with {}", what.join(", ")))
            }
        };
        self.found.push(diagnostic);
        row.solved = Some(solved);
    }
}

/// True if no line of a plan file looks like a step. LLM+P and the exploration-walk data give their examples'
/// plans as prose.
fn is_prose(plan: &str) -> bool {
    let mut lines = plan.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(';'));
    let mut any = false;
    let steps = lines.any(|line| {
        any = true;
        line.contains('(')
    });
    any && !steps
}
