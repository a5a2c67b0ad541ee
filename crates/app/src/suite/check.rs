//! Everything wrong with suites, and a table of their tasks.

use super::{inferred, template_renderer};
use crate::context::Context;
use crate::error::Error;
use crate::limits::WorkLimits;
use crate::status::Status;
use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::Severity;
use planforge_planning::ResourceLimits;
use planforge_suites::check::check;
use planforge_suites::paraphrase::Paraphraser;
use serde::{Serialize, Serializer};
use std::path::PathBuf;

pub use planforge_suites::check::{Checked, Goal, PipelineNeeds, Solved, TaskRow};

/// Suites to check.
#[derive(Debug, Clone, Default)]
pub struct SuiteCheckRequest {
    /// Folders of suites.
    pub suites: Vec<PathBuf>,
    /// Folders whose files replace those of the suites.
    pub add_ons: Vec<PathBuf>,
    /// True to search for a plan of every task too.
    pub solve: bool,
    /// Seconds that the validation of one plan, or the search for one, may take.
    pub seconds: f64,
    /// True if warnings count as mistakes.
    pub strict: bool,
}

/// A checked suite.
#[derive(Debug)]
pub struct SuiteReport {
    /// The suite, its tasks and findings.
    pub checked: Checked,
    /// Texts of levels whose proofs were tried.
    pub level_texts: usize,
    /// Texts that `reading.toml` read.
    pub read_texts: usize,
}

/// The checked suites.
#[derive(Debug)]
pub struct SuiteCheckResult {
    /// In the order of the request; fewer after a cancellation.
    pub suites: Vec<SuiteReport>,
    /// Negative if a suite has mistakes, and the status of an input that cannot be read.
    pub status: Status,
}

#[derive(Serialize)]
struct Document<'a> {
    suite: &'a str,
    readable: bool,
    errors: usize,
    warnings: usize,
    tasks: &'a [TaskRow],
    level_texts: usize,
    read_texts: usize,
    /// The shipped pipelines with what the suite lacks for them.
    pipelines: &'a [PipelineNeeds],
    diagnostics: Vec<ReportedDiagnostic>,
}

impl Serialize for SuiteReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let checked = &self.checked;
        let found = checked.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &checked.sources));
        let document = Document {
            suite: &checked.name,
            readable: checked.suite.is_some(),
            errors: checked.count(Severity::Error),
            warnings: checked.count(Severity::Warning),
            tasks: &checked.tasks,
            level_texts: self.level_texts,
            read_texts: self.read_texts,
            pipelines: &checked.pipelines,
            diagnostics: found.collect(),
        };
        document.serialize(serializer)
    }
}

impl Serialize for SuiteCheckResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::json!({ "good": self.status == Status::Good, "suites": self.suites })
            .serialize(serializer)
    }
}

/// Checks suites. `each` receives every suite as soon as it is checked.
///
/// # Errors
/// A tool that broke; mistakes of suites are results.
pub fn check_suites(
    context: &Context,
    request: &SuiteCheckRequest,
    mut each: impl FnMut(&SuiteReport),
) -> Result<SuiteCheckResult, Error> {
    let overall = WorkLimits::new(&context.cancellation, None);
    let progress = context.start_work("suites", Some(request.suites.len() as u64));
    let add_ons: Vec<PathBuf> = request.add_ons.iter().map(|folder| context.path(folder)).collect();
    let mut suites: Vec<SuiteReport> = Vec::new();
    for folder in &request.suites {
        let mut fresh = || -> Box<dyn ResourceLimits> {
            Box::new(WorkLimits::new(&context.cancellation, Some(request.seconds)))
        };
        let mut checked = check(&context.path(folder), &add_ons, &mut fresh, request.solve);
        let read_texts = check_readings(context, &mut checked)?;
        let level_texts = check_levels(context, &mut checked)?;
        let report = SuiteReport { checked, level_texts, read_texts };
        progress.advance();
        each(&report);
        suites.push(report);
        if overall.is_interrupted() {
            break;
        }
    }
    let statuses = suites.iter().map(|suite| status_of(&suite.checked, request.strict));
    let status = match overall.is_interrupted() {
        true => Status::Interrupted,
        false => statuses.max().unwrap_or(Status::Good),
    };
    Ok(SuiteCheckResult { suites, status })
}

/// Reads the suite's own texts, proves that each implies its problem, and returns their number.
fn check_readings(context: &Context, checked: &mut Checked) -> Result<usize, Error> {
    if checked.count(Severity::Error) > 0 {
        return Ok(0);
    }
    let Some(suite) = checked.suite.as_ref().filter(|suite| suite.level == 1) else { return Ok(0) };
    let Some(reading) = &suite.reading else { return Ok(0) };
    let read = inferred::prove_readings(context, suite, reading, &mut checked.sources)?;
    checked.diagnostics.extend(read.diagnostics);
    Ok(read.texts.len())
}

/// Proves the texts of all levels of the suite, and returns their number.
fn check_levels(context: &Context, checked: &mut Checked) -> Result<usize, Error> {
    if checked.count(Severity::Error) > 0 {
        return Ok(0);
    }
    let Some(suite) = checked.suite.as_ref().filter(|suite| suite.wordings.is_some()) else { return Ok(0) };
    // Without a reference domain there is nothing to prove.
    let Ok(paraphraser) = Paraphraser::new(suite, template_renderer(context)?) else { return Ok(0) };
    let levels: Vec<u8> = paraphraser.levels().collect();
    if levels.is_empty() {
        return Ok(0);
    }
    let proven = inferred::prove(context, suite, &paraphraser, &levels, 1, &mut checked.sources)?;
    checked.diagnostics.extend(proven.diagnostics);
    Ok(proven.texts.len())
}

fn status_of(checked: &Checked, strict: bool) -> Status {
    let wrong = checked.count(Severity::Error) + if strict { checked.count(Severity::Warning) } else { 0 };
    match (checked.suite.is_some(), wrong) {
        (false, _) => Status::Input,
        (true, 0) => Status::Good,
        (true, _) => Status::Negative,
    }
}
