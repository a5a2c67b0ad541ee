//! What stands beside a domain and its tasks: the rules and the example of pipelines that infer.

use crate::codes;
use planforge_asp::{Declarations, syntax};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::ast::Domain;
use planforge_pipeline::Suite;

/// Where a suite describes types at all, it describes all of them.
pub(super) fn types(suite: &Suite, domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let described =
        |name: &str| suite.types.is_empty() || suite.types.contains_key(&name.to_ascii_lowercase());
    let missing = domain.types.iter().filter(|ty| !described(ty.name.as_str()));
    missing
        .map(|ty| {
            let name = ty.name.as_str();
            let message = format!("sentences.toml does not say what a `{name}` is");
            let help = format!("add `{name} = \"...\"` to [types]");
            Diagnostic::warning(codes::NO_TYPE, message).help(help).at(source, ty.name.span, "")
        })
        .collect()
}

/// `p_example.lp` without the text that it is read from.
pub(super) fn example_without_text(suite: &Suite) -> Option<Diagnostic> {
    let path = suite.folder.join("p_example.lp");
    (suite.example.is_none() && path.exists()).then(|| {
        let message = format!("{}: there is no p_example.nl that this would be read from", path.display());
        let help = "write the example's text, or remove this file";
        Diagnostic::warning(codes::IDLE_FILE, message).help(help)
    })
}

/// The knowledge file of a suite: whether it can be read, and whether what it declares goes with the domain.
pub(super) fn knowledge(suite: &Suite, domain: &Domain, sources: &mut SourceMap) -> Vec<Diagnostic> {
    let Some(text) = &suite.knowledge else { return Vec::new() };
    let file = "knowledge.lp";
    let place = match suite.add_on.as_ref().filter(|used| used.files.contains_key(file)) {
        Some(used) => format!("{}/{file}", used.folder),
        None => suite.folder.join(file).display().to_string(),
    };
    let source = sources.add(place, text.as_str());
    let parsed = syntax::parse(text, source);
    let mut found = parsed.diagnostics;
    found.extend(Declarations::read(&parsed.program, domain, source).1);
    found
}
