//! `planforge explain CODE`.

use super::Context;
use crate::args::ExplainArgs;
use crate::exit::Exit;

pub(crate) fn run(context: &Context, args: &ExplainArgs) -> Exit {
    let tables = crate::codes::tables();
    let Some(code) = &args.code else {
        let mut infos: Vec<_> = tables.iter().flat_map(|t| t.iter()).collect();
        infos.sort_by_key(|info| info.code);
        let width = infos.iter().map(|i| i.code.len()).max().unwrap_or(0);
        let list: String = infos.iter().map(|i| format!("{:width$}  {}\n", i.code, i.title)).collect();
        context.output.result(&list);
        return Exit::Good;
    };
    if let Some(info) = planforge_diagnostics::find_code(&tables, code) {
        context.output.result(&format!("{}: {}\n\n{}\n", info.code, info.title, info.explanation.trim()));
        return Exit::Good;
    }
    let known = tables.iter().flat_map(|t| t.iter()).map(|i| i.code);
    let nearest =
        known.max_by(|a, b| strsim::jaro_winkler(a, code).total_cmp(&strsim::jaro_winkler(b, code)));
    context
        .output
        .note(&format!("error: there is no code `{}`", planforge_diagnostics::render::escape(code)));
    if let Some(nearest) = nearest {
        context.output.note(&format!("help: the nearest is `{nearest}`; `planforge explain` lists all"));
    }
    Exit::Usage
}
