//! Lenses above a definition, and the commands behind them.

use super::analysis::Header;
use super::hover::sentences;
use super::workspace::{Document, Workspace, path_of, uri_of};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::equivalence::domains::{EquivalenceLimits, compare_domains};
use planforge_planning::{
    PlanOptions, ResourceLimits, SearchOutcome, ValidationOptions, Validator, normalize, parse_plan, plan,
};
use planforge_plugin_common::judging::domains::to_compared_problem;
use planforge_plugin_common::judging::reports::ComparedProblem;
use planforge_plugin_common::telling::{tell_differences, tell_plan};
use planforge_plugin_sdk::wording::Wording;
use planforge_report::picture::standalone;
use planforge_report::states::{PlanTexts, StatesLimits, plan_states};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Commands that the server executes. Each takes the URI of a document.
pub const COMMANDS: &[&str] = &["planforge.plan", "planforge.validate", "planforge.compare"];

/// Endings of plan files beside a problem.
const PLAN_ENDINGS: &[&str] = &["plan", "sol", "soln", "plan.txt"];

/// Limits on states and pictures in an answer.
const STATES: StatesLimits = StatesLimits { steps: 500, atoms: 5_000, pictures: 60, picture_bytes: 4 << 20 };

/// Most problems on which a domain is compared with its reference.
const MOST_COMPARED: usize = 10;

/// The lenses of a document.
pub fn lenses(workspace: &Workspace, uri: &str) -> Option<Value> {
    let own = workspace.documents.get(uri)?.analysis()?;
    let lens = |title: &str, command: &str| {
        let at = own.index.position(&own.text, own.text.find('(').unwrap_or_default());
        json!({ "range": { "start": at, "end": at }, "command": { "title": title, "command": command, "arguments": [uri] } })
    };
    let mut lenses = Vec::new();
    if own.header.is_problem && workspace.domain_for(uri).is_some() {
        lenses.push(lens("Plan", "planforge.plan"));
        if let Some(plan) = plan_file(uri) {
            let name = plan.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            lenses.push(lens(&format!("Validate {name}"), "planforge.validate"));
        }
    }
    if reference(workspace, uri).is_some() {
        lenses.push(lens("Compare with the reference", "planforge.compare"));
    }
    Some(Value::Array(lenses))
}

/// The plan beside a problem.
fn plan_file(uri: &str) -> Option<PathBuf> {
    let path = path_of(uri)?;
    PLAN_ENDINGS.iter().map(|ending| path.with_extension(ending)).find(|file| file.is_file())
}

/// The domain.pddl beside another domain file or in the folder above, if both define the same domain.
fn reference(workspace: &Workspace, uri: &str) -> Option<PathBuf> {
    let path = path_of(uri)?;
    let own = workspace.documents.get(uri)?.analysis()?;
    let name = own.header.domain.as_ref().filter(|_| !own.header.is_problem)?;
    let defines = |file: &PathBuf| {
        workspace.text(file).and_then(|text| Header::of(&text).domain).as_ref() == Some(name)
    };
    let folders = path.ancestors().skip(1).take(2);
    folders.map(|folder| folder.join("domain.pddl")).find(|file| *file != path && defines(file))
}

/// The texts of a command, read before its thread begins.
pub enum Work {
    Plan(TaskTexts),
    Validate(TaskTexts, String),
    Compare(ComparedTexts),
}

/// A domain and its reference, with problems of the reference by their names.
pub struct ComparedTexts {
    reference: String,
    written: String,
    problems: Vec<(String, String)>,
    wording: Wording,
}

/// The texts of a task.
pub struct TaskTexts {
    domain: String,
    problem: String,
    picture: Option<String>,
    wording: Wording,
}

impl Work {
    /// Collects the texts of a command.
    ///
    /// # Errors
    /// An unknown command, and a document without what it needs.
    pub fn of(workspace: &Workspace, command: &str, arguments: &[Value]) -> Result<Self, String> {
        let uri = arguments
            .first()
            .and_then(Value::as_str)
            .ok_or("the first argument must be the URI of a document")?;
        let document = workspace.documents.get(uri).ok_or("the document is not open")?;
        match command {
            "planforge.plan" => Ok(Self::Plan(TaskTexts::of(workspace, uri, document)?)),
            "planforge.validate" => {
                let plan = match arguments.get(1).and_then(Value::as_str) {
                    Some(text) => text.to_owned(),
                    None => {
                        let file = plan_file(uri).ok_or("there is no plan file beside the problem")?;
                        workspace.text(&file).ok_or("the plan file cannot be read")?
                    }
                };
                Ok(Self::Validate(TaskTexts::of(workspace, uri, document)?, plan))
            }
            "planforge.compare" => {
                let file = reference(workspace, uri).ok_or(
                    "there is no reference: no domain.pddl beside this file or in the folder above defines the same domain",
                )?;
                let wording = wording(workspace, &file);
                let reference = workspace.text(&file).ok_or("the reference cannot be read")?;
                let problems = workspace.problems_beside(&file, MOST_COMPARED);
                Ok(Self::Compare(ComparedTexts {
                    reference,
                    written: document.text.clone(),
                    problems,
                    wording,
                }))
            }
            other => Err(format!("unknown command `{}`", other.escape_debug())),
        }
    }

    /// Does the work. The answer has a `summary` of one line and a `text`; plans have `plan` and `states`.
    ///
    /// # Errors
    /// Texts with errors.
    pub fn run(&self, limits: &mut dyn ResourceLimits) -> Result<Value, String> {
        match self {
            Self::Plan(texts) => texts.plan(limits),
            Self::Validate(texts, plan) => texts.validate(plan, limits),
            Self::Compare(texts) => texts.compare(limits),
        }
    }
}

impl ComparedTexts {
    fn compare(&self, limits: &mut dyn ResourceLimits) -> Result<Value, String> {
        let (a, b) = (parse_domain(&self.reference, SourceId(0)), parse_domain(&self.written, SourceId(0)));
        if a.has_errors() || b.has_errors() {
            return Err("a domain has errors; correct them first".to_owned());
        }
        let (a, b) = (a.value, b.value);
        let told = tell_differences(&a, &b, ("the reference", "this domain"), &self.wording);
        let mut problems = Vec::new();
        for (name, text) in &self.problems {
            let problem = parse_problem(text, SourceId(1));
            if problem.has_errors() {
                continue;
            }
            let both = [&problem.value, &problem.value];
            let compared = compare_domains([&a, &b], both, &EquivalenceLimits::default(), limits);
            problems.push(to_compared_problem(name, &compared));
            if problems.last().is_some_and(|problem| problem.decision == "different") {
                break;
            }
        }
        let summary = behaviour(&problems).unwrap_or_else(|| match told.len() {
            0 => "The domain has the same content as the reference.".to_owned(),
            1 => "The domain differs from the reference in 1 part.".to_owned(),
            n => format!("The domain differs from the reference in {n} parts."),
        });
        let conditions = problems.iter().filter_map(|problem| problem.difference.as_ref());
        let conditions =
            conditions.flat_map(|found| &found.conditions).map(|c| format!("Does not hold: {c}"));
        let text: Vec<String> =
            std::iter::once(summary.clone()).chain(conditions).chain(told.iter().cloned()).collect();
        Ok(json!({ "summary": summary, "text": text.join("\n"), "differences": told, "problems": problems }))
    }
}

/// The result of the comparisons in a sentence; `None` if there are none.
fn behaviour(problems: &[ComparedProblem]) -> Option<String> {
    let last = problems.last()?;
    let side = |side: &str| if side == "first" { "the reference" } else { "this domain" };
    if let Some(found) = &last.difference {
        let (by, steps) = (side(&found.by), found.steps.join(" "));
        let what = match found.kind.as_str() {
            "goal" => format!("after {steps} the goal does not hold in {by} alone"),
            _ => format!("{by} refuses the last step of {steps}: {}", found.why),
        };
        return Some(format!("The domain behaves differently on {}: {what}.", last.problem));
    }
    if let Some(found) = &last.cost_difference {
        let (step, problem) = (found.steps.last().map_or("", String::as_str), &last.problem);
        let costs = format!("{} in the reference and {} in this domain", found.first, found.second);
        return Some(format!("The domain behaves differently on {problem}: {step} costs {costs}."));
    }
    let count =
        if problems.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", problems.len()) };
    let open = problems.iter().find(|problem| problem.decision != "equal");
    Some(match open.map(|open| (&open.problem, open.reason.as_deref().unwrap_or(&open.decision))) {
        None => format!("The domain behaves as the reference on {count}."),
        Some((problem, reason)) => {
            format!("No difference in behaviour was found on {count}; {problem} is undecided: {reason}.")
        }
    })
}

fn wording(workspace: &Workspace, domain: &Path) -> Wording {
    let text = workspace.text(domain).unwrap_or_default();
    let uri = uri_of(domain).unwrap_or_default();
    Wording::new(&sentences(workspace, &uri, &text).facts)
}

impl TaskTexts {
    fn of(workspace: &Workspace, uri: &str, document: &Document) -> Result<Self, String> {
        let (domain_uri, domain) =
            workspace.domain_for(uri).ok_or("no file beside the problem defines its domain")?;
        let file = path_of(&domain_uri);
        let picture = file.as_ref().and_then(|file| workspace.text(&file.with_file_name("picture.toml")));
        let wording = Wording::new(&sentences(workspace, &domain_uri, &domain.text).facts);
        Ok(Self { domain: domain.text.clone(), problem: document.text.clone(), picture, wording })
    }

    fn read(&self) -> Result<(Domain, Problem), String> {
        let (domain, problem) =
            (parse_domain(&self.domain, SourceId(0)), parse_problem(&self.problem, SourceId(1)));
        if domain.has_errors() || problem.has_errors() {
            return Err("the domain or the problem has errors; correct them first".to_owned());
        }
        Ok((domain.value, problem.value))
    }

    fn plan(&self, limits: &mut dyn ResourceLimits) -> Result<Value, String> {
        let (domain, problem) = self.read()?;
        let result = plan(&domain, &problem, &PlanOptions::default(), limits)
            .map_err(|found| first_message(&found))?;
        let summary = match result.outcome {
            SearchOutcome::Plan(plan) => return self.validate(&plan.to_string(), limits),
            SearchOutcome::ProvenUnsolvable(explanation) => {
                format!("There is no plan. {}", explanation.text())
            }
            SearchOutcome::Exhausted => "No plan was found, and that there is none is not proven.".to_owned(),
            SearchOutcome::LimitReached(reason) => format!("No plan was found: {reason} ended the search."),
            SearchOutcome::Unsupported(parts) => {
                let parts: Vec<&str> = parts.iter().map(|part| part.what.as_str()).collect();
                format!("The task cannot be solved here: it has {}.", parts.join(", "))
            }
        };
        Ok(json!({ "summary": summary, "text": summary }))
    }

    fn validate(&self, plan: &str, limits: &mut dyn ResourceLimits) -> Result<Value, String> {
        let (domain, problem) = self.read()?;
        let task = normalize(&domain, &problem).map_err(|found| first_message(&found))?;
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        let report = Validator::new(task).validate_with(&parse_plan(plan, SourceId(2)), &options, limits);
        let told = tell_plan(&report, &self.wording);
        let picture = self.picture.as_deref();
        let texts = PlanTexts { domain: &self.domain, problem: &self.problem, plan, picture, wording: None };
        let mut states = plan_states(texts, &STATES, limits);
        states.pictures.iter_mut().for_each(|picture| picture.svg = standalone(&picture.svg));
        Ok(json!({ "summary": told.verdict, "text": told.to_string(), "plan": plan, "states": states }))
    }
}

fn first_message(found: &[planforge_diagnostics::Diagnostic]) -> String {
    found.first().map_or_else(|| "the task has errors".to_owned(), |diagnostic| diagnostic.message.clone())
}
