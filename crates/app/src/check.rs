//! Every mistake of a pipeline file, without contacting anything; and the JSON schemas of files and documents.

use crate::catalogue::registry;
use crate::context::Context;
use crate::error::Error;
use crate::files::{text_of, unreadable};
use crate::pipelines::check_models::check_models;
use crate::pipelines::consent::Consent;
use crate::pipelines::loaded::RegistryCatalogue;
use crate::pipelines::model_choice::{model_table, overrides_of};
use crate::pipelines::prepare::Preparation;
use crate::pipelines::prices::Prices;
use crate::pipelines::programs::{StartedProgram, started_programs};
use crate::run::ModelChoice;
use crate::status::Status;
use planforge_contract::{DocumentSchemas, Failure, ReportedDiagnostic};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pipeline::Checked;
use planforge_plugin_common::judging::reports::ValidateReport;
use planforge_plugin_host::Registry;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A pipeline file to check.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// The file.
    pub pipeline: PathBuf,
    /// The model of `[llm.main]`.
    pub model: ModelChoice,
    /// Keys that are changed, as `KEY=VALUE`.
    pub set: Vec<String>,
}

/// The findings about a pipeline file. Its JSON form is a validation report with the programs.
#[derive(Debug)]
pub struct CheckResult {
    /// Name of the file.
    pub name: String,
    /// The findings.
    pub diagnostics: Vec<Diagnostic>,
    /// The texts.
    pub sources: SourceMap,
    /// One line for each program and library that a run starts.
    pub starts: Vec<String>,
    programs: Vec<StartedProgram>,
    /// Negative if the file has mistakes; the status of an input that cannot be read.
    pub status: Status,
}

impl Serialize for CheckResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Document<'a> {
            #[serde(flatten)]
            report: ValidateReport,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            starts: &'a [StartedProgram],
        }
        let diagnostics = self.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &self.sources)).collect();
        let decision = match self.status {
            Status::Good => "accepted",
            Status::Input => "undecided",
            _ => "rejected",
        };
        let report = ValidateReport {
            makespan: None,
            epsilon: None,
            preferences: Vec::new(),
            valid: self.status == Status::Good,
            decision: decision.to_owned(),
            diagnostics,
            cost: None,
        };
        Document { report, starts: &self.programs }.serialize(serializer)
    }
}

/// Checks a pipeline file. A file that cannot be read is a finding.
///
/// # Errors
/// An unknown model, or a user's file that cannot be read.
pub fn check(context: &Context, request: &CheckRequest) -> Result<CheckResult, Error> {
    let path = context.path(&request.pipeline);
    let name = path.display().to_string();
    let mut overrides = match &request.model {
        ModelChoice::Named(name) => overrides_of(&model_table(context, name)?),
        ModelChoice::OfFile | ModelChoice::Client => Vec::new(),
    };
    overrides.extend(request.set.iter().cloned());
    let text = match text_of(&path) {
        Ok(text) => text,
        Err(diagnostic) => {
            let status = unreadable(&path, (*diagnostic).clone()).status;
            let sources = SourceMap::single(name.clone(), "");
            let diagnostics = vec![*diagnostic];
            return Ok(CheckResult {
                name,
                diagnostics,
                sources,
                starts: Vec::new(),
                programs: Vec::new(),
                status,
            });
        }
    };
    let registry = registry(context);
    let prices = Prices::listed(context)?;
    let (checked, programs) = check_text(context, &registry, &prices, (&text, &name), &overrides);
    let good = checked.pipeline.is_some() && !checked.diagnostics.iter().any(Diagnostic::is_error);
    Ok(CheckResult {
        name,
        diagnostics: checked.diagnostics,
        sources: checked.sources,
        starts: programs.iter().map(StartedProgram::line).collect(),
        programs,
        status: if good { Status::Good } else { Status::Negative },
    })
}

/// The JSON schema of pipeline files.
pub fn pipeline_schema() -> Value {
    json!(planforge_pipeline::pipeline_schema())
}

/// The JSON schemas of the documents that plugins exchange and commands print.
pub fn document_schemas() -> Value {
    let mut schemas = DocumentSchemas::default();
    planforge_contract::visit_documents(&mut schemas);
    planforge_record::visit_documents(&mut schemas);
    planforge_plugin_common::judging::reports::visit_documents(&mut schemas);
    json!(schemas.0)
}

/// The refusal of a program as advice: the check starts nothing, and another user may allow it.
fn consent_advice(refused: Failure) -> Diagnostic {
    let mut diagnostic = Diagnostic::advice("", refused.message);
    diagnostic.code = refused.code.into();
    match refused.help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

/// Every finding about a pipeline file, given as its text and name, and the programs that a run of it starts.
pub(crate) fn check_text(
    context: &Context,
    registry: &Registry,
    prices: &Prices,
    (text, name): (&str, &str),
    overrides: &[String],
) -> (Checked, Vec<StartedProgram>) {
    let catalogue = RegistryCatalogue { registry, prices };
    let mut checked = planforge_pipeline::check(text, name, &catalogue, overrides);
    let mut starts = Vec::new();
    if let Some(pipeline) = &checked.pipeline {
        let consent = Consent::new(context);
        let folder = pipeline.folder();
        let with = Preparation { context, registry, name, text, folder, replays: false, consent: &consent };
        checked.diagnostics.extend(check_models(&pipeline.config, &with));
        starts = started_programs(&pipeline.config, registry, folder);
        let refused = starts.iter().filter_map(|program| consent.check_command(program, (name, text)).err());
        checked.diagnostics.extend(refused.map(consent_advice));
    }
    (checked, starts)
}
