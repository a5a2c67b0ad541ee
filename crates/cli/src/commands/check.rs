//! `planforge check`: every mistake of a pipeline file, without contacting anything.

use super::Context;
use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::inputs::read_text;
use planforge_contract::{ReportedDiagnostic, ValidateReport};
use planforge_diagnostics::SourceMap;

pub(crate) fn run(context: &Context, args: &CheckArgs) -> Exit {
    let name = args.pipeline.display().to_string();
    let text = match read_text(&args.pipeline) {
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
            return Exit::Input;
        }
    };
    let registry = crate::session::registry(context);
    let checked =
        planforge_pipeline::check(&text, &name, &crate::catalogue::OfRegistry(&registry), &args.overrides);
    let good = checked.pipeline.is_some();
    if args.json {
        let diagnostics =
            checked.diagnostics.iter().map(|d| ReportedDiagnostic::of(d, &checked.sources)).collect();
        let decision = if good { "accepted" } else { "rejected" }.to_owned();
        context.output.json(&ValidateReport { valid: good, decision, diagnostics, cost: None });
    } else {
        context.output.diagnostics(&checked.diagnostics, &checked.sources);
        if good {
            context.output.result(&format!("{name}: good\n"));
        }
    }
    if good { Exit::Good } else { Exit::Negative }
}
