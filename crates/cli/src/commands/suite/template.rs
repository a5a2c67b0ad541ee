//! `planforge suite template`: the files that show an interface and objects, and nothing else of the reference.

use super::files::{Files, counted};
use crate::args::SuiteTemplateArgs;
use crate::commands::Context;
use crate::exit::Exit;
use planforge_diagnostics::Diagnostic;
use planforge_pipeline::load_suite;
use planforge_suites::template::templates;

pub(crate) fn run(context: &Context, args: &SuiteTemplateArgs) -> Exit {
    let loaded = load_suite(&args.suite);
    context.output.diagnostics(&loaded.diagnostics, &loaded.sources);
    let Some(suite) = loaded.suite else { return Exit::Input };
    let files = templates(&suite);
    if files.is_empty() {
        let message = format!("{} has no reference to make templates from", args.suite.display());
        let diagnostic =
            Diagnostic::error("generate.no-domain", message).help("add domain.pddl and NAME.pddl");
        context.output.diagnostics(&[diagnostic], &Default::default());
        return Exit::Input;
    }
    let folder = args.out.as_deref().unwrap_or(&args.suite);
    match Files::new(folder, files).write(context, args.force) {
        Ok(entries) if args.json => {
            context.output.json(&serde_json::json!({ "suite": suite.name, "files": entries }));
            Exit::Good
        }
        Ok(entries) => {
            context.output.result(&format!("{}: {}\n", folder.display(), counted(&entries)));
            Exit::Good
        }
        Err(exit) => exit,
    }
}
