//! `planforge schema`: what editors and plugin authors in other languages read.

use super::Context;
use crate::args::SchemaArgs;
use crate::exit::Exit;

pub(crate) fn run(context: &Context, args: &SchemaArgs) -> Exit {
    if args.contract {
        context.output.json(&planforge_contract::schema::documents());
    } else {
        context.output.json(&planforge_pipeline::pipeline_schema());
    }
    Exit::Good
}
