//! `planforge check`: every mistake of a pipeline file, without contacting anything.

use crate::args::OverrideArgs;
use crate::catalogue::{RegistryCatalogue, registry};
use crate::check_models::check_models;
use crate::context::Context;
use crate::exit::Exit;
use crate::inputs::read_text;
use crate::pipeline::consent;
use crate::prepare::Preparation;
use crate::prices::Prices;
use crate::programs::{StartedProgram, started_programs};
use clap::{Args, ValueEnum};
use planforge_contract::{DocumentSchemas, Failure, ReportedDiagnostic};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pipeline::Checked;
use planforge_plugin_common::judging::reports::ValidateReport;
use planforge_plugin_host::Registry;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Report every mistake in a pipeline file; contact nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  planforge check configs/pipelines/llm-p.toml
  planforge check --schema > configs/schema/pipeline.schema.json
  planforge check --schema contract")]
pub(crate) struct CheckArgs {
    /// The pipeline file.
    #[arg(required_unless_present = "schema", conflicts_with = "schema")]
    pipeline: Option<PathBuf>,
    /// Print a JSON schema instead: of pipeline files, or of the documents that plugins exchange.
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, default_missing_value = "pipeline")]
    schema: Option<Schema>,
    #[command(flatten)]
    overrides: OverrideArgs,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Schema {
    Pipeline,
    Contract,
}

pub(crate) fn run(context: &Context, args: &CheckArgs) -> Exit {
    match (args.schema, &args.pipeline) {
        (Some(Schema::Pipeline), _) => context.output.json(&planforge_pipeline::pipeline_schema()),
        (Some(Schema::Contract), _) => context.output.json(&document_schemas().0),
        (None, Some(path)) => return check(context, args, path).unwrap_or_else(|exit| exit),
        (None, None) => return Exit::Usage,
    }
    Exit::Good
}

/// The report of `planforge check --json`.
#[derive(Serialize)]
struct CheckReport {
    #[serde(flatten)]
    report: ValidateReport,
    /// The programs and libraries that a run starts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    starts: Vec<StartedProgram>,
}

fn document_schemas() -> DocumentSchemas {
    let mut schemas = DocumentSchemas::default();
    planforge_contract::visit_documents(&mut schemas);
    planforge_record::visit_documents(&mut schemas);
    planforge_plugin_common::judging::reports::visit_documents(&mut schemas);
    schemas
}

fn check(context: &Context, args: &CheckArgs, path: &Path) -> Result<Exit, Exit> {
    let name = path.display().to_string();
    let overrides = args.overrides.all(context)?;
    let text = match read_text(path) {
        Ok(text) => text,
        Err(diagnostic) => {
            let sources = SourceMap::single(name, "");
            if args.json {
                let diagnostics = vec![ReportedDiagnostic::of(&diagnostic, &sources)];
                let decision = "undecided".to_owned();
                context.output.json(&ValidateReport { valid: false, decision, diagnostics, cost: None });
            } else {
                context.output.diagnostics(&[*diagnostic], &sources);
            }
            return Ok(Exit::Input);
        }
    };
    let registry = registry(context);
    let prices = Prices::listed(context)?;
    let (checked, starts) = check_text(context, &registry, &prices, (&text, &name), &overrides)?;
    let good = checked.pipeline.is_some() && !checked.diagnostics.iter().any(Diagnostic::is_error);
    if args.json {
        let diagnostics =
            checked.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &checked.sources)).collect();
        let decision = if good { "accepted" } else { "rejected" }.to_owned();
        let report = ValidateReport { valid: good, decision, diagnostics, cost: None };
        context.output.json(&CheckReport { report, starts });
    } else {
        context.output.diagnostics(&checked.diagnostics, &checked.sources);
        if good {
            let lines = starts.iter().map(|program| format!("{}\n", program.line()));
            context.output.result(&format!("{name}: good\n{}", lines.collect::<String>()));
        }
    }
    Ok(if good { Exit::Good } else { Exit::Negative })
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
) -> Result<(Checked, Vec<StartedProgram>), Exit> {
    let catalogue = RegistryCatalogue { registry, prices };
    let mut checked = planforge_pipeline::check(text, name, &catalogue, overrides);
    let mut starts = Vec::new();
    if let Some(pipeline) = &checked.pipeline {
        let consent = consent(context).map_err(|failure| context.print_failure(&failure))?;
        let folder = pipeline.folder();
        let with = Preparation { registry, name, text, folder, replays: false, consent: &consent };
        checked.diagnostics.extend(check_models(&pipeline.config, &with));
        starts = started_programs(&pipeline.config, registry, folder);
        let refused = starts.iter().filter_map(|program| consent.check_command(program, (name, text)).err());
        checked.diagnostics.extend(refused.map(consent_advice));
    }
    Ok((checked, starts))
}
