//! `planforge demo`: a pipeline over three tasks, on recorded replies of a real model.

use crate::context::Context;
use crate::exit::Exit;
use crate::outcome::print_result;
use clap::Args;
use planforge_app::demo::demo;

/// Show the whole way from text to validated plan, on recorded replies of a real model.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  planforge demo\n  planforge demo --model local:weights/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
)]
pub(crate) struct DemoArgs {
    /// Ask this model in the place of the recorded one, as in `planforge run`.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(context: &Context, args: &DemoArgs) -> Exit {
    context.show(demo(&context.app, args.model.as_deref()), |result| {
        print_result(context, &result, args.json);
        result.status(false)
    })
}
