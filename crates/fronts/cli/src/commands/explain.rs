//! `planforge explain CODE`.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_app::codes::{all, explain};
use planforge_app::table::{Align, Table};

/// Explain a diagnostic code and how to fix its cause.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge explain pddl.undefined-predicate")]
pub(crate) struct ExplainArgs {
    /// The code, such as `pddl.undefined-predicate`; without it, all codes are listed.
    pub(crate) code: Option<String>,
}

pub(crate) fn run(context: &Context, args: &ExplainArgs) -> Exit {
    let Some(code) = &args.code else {
        let mut table = Table::new(["code", "title"].map(|name| (name, Align::Left)));
        all().iter().for_each(|info| table.row([info.code, info.title]));
        context.output.result(&table.text());
        return Exit::Good;
    };
    context.show(explain(code), |info| {
        context.output.result(&format!("{}: {}\n\n{}\n", info.code, info.title, info.explanation.trim()));
        Exit::Good
    })
}
