//! `planforge check`: every mistake of a pipeline file, without contacting anything.

use crate::args::OverrideArgs;
use crate::context::Context;
use crate::exit::Exit;
use clap::{Args, ValueEnum};
use planforge_app::check::{CheckRequest, check, document_schemas, pipeline_schema};
use std::path::PathBuf;

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
        (Some(Schema::Pipeline), _) => context.output.json(&pipeline_schema()),
        (Some(Schema::Contract), _) => context.output.json(&document_schemas()),
        (None, None) => return Exit::Usage,
        (None, Some(path)) => {
            let (model, set) = (args.overrides.model(), args.overrides.set());
            let request = CheckRequest { pipeline: path.clone(), model, set };
            return context.show(check(&context.app, &request), |result| {
                if args.json {
                    context.output.json(&result);
                    return result.status;
                }
                context.output.diagnostics(&result.diagnostics, &result.sources);
                if result.status == Exit::Good {
                    let lines: String = result.starts.iter().map(|line| format!("{line}\n")).collect();
                    context.output.result(&format!("{}: good\n{lines}", result.name));
                }
                result.status
            });
        }
    }
    Exit::Good
}
