//! `planforge explain CODE`.

use crate::context::Context;
use crate::exit::Exit;
use clap::Args;
use planforge_evaluate::{Align, Table};

/// Explain a diagnostic code and how to fix its cause.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  planforge explain pddl.undefined-predicate")]
pub(crate) struct ExplainArgs {
    /// The code, such as `pddl.undefined-predicate`; without it, all codes are listed.
    pub(crate) code: Option<String>,
}

pub(crate) fn run(context: &Context, args: &ExplainArgs) -> Exit {
    let tables = crate::codes::tables();
    let Some(code) = &args.code else {
        let mut infos: Vec<_> = tables.iter().flat_map(|t| t.iter()).collect();
        infos.sort_by_key(|info| info.code);
        let mut table = Table::new(["code", "title"].map(|name| (name, Align::Left)));
        infos.iter().for_each(|info| table.row([info.code, info.title]));
        context.output.result(&table.text());
        return Exit::Good;
    };
    if let Some(info) = planforge_diagnostics::find_code(&tables, code) {
        context.output.result(&format!("{}: {}\n\n{}\n", info.code, info.title, info.explanation.trim()));
        return Exit::Good;
    }
    let known = tables.iter().flat_map(|t| t.iter()).map(|i| i.code);
    let nearest =
        known.max_by(|a, b| strsim::jaro_winkler(a, code).total_cmp(&strsim::jaro_winkler(b, code)));
    let message = format!("there is no code `{}`", planforge_diagnostics::render::escape(code));
    let help = nearest.map(|nearest| format!("the nearest is `{nearest}`; `planforge explain` lists all"));
    context.usage_error(message, help.as_deref())
}
