//! What stands beside a domain and its tasks: the rules and the example of pipelines that infer.

use crate::codes;
use planforge_asp::reader::{self, Signature};
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

/// The knowledge file and the example's representation: whether they can be read, whether what the one declares goes with the domain,
/// and whether the other is what a model could be asked to write.
pub(super) fn programs(suite: &Suite, domain: &Domain, sources: &mut SourceMap) -> Vec<Diagnostic> {
    let place = |file: &str| match suite.add_on.as_ref().filter(|used| used.files.contains_key(file)) {
        Some(used) => format!("{}/{file}", used.folder),
        None => suite.folder.join(file).display().to_string(),
    };
    let mut found = Vec::new();
    let mut declarations = Declarations::default();
    if let Some(text) = &suite.knowledge {
        let source = sources.add(place("knowledge.lp"), text.as_str());
        let parsed = syntax::parse(text, source);
        found.extend(parsed.diagnostics);
        let (declared, wrong) = Declarations::read(&parsed.program, domain, source);
        found.extend(wrong);
        declarations = declared;
    }
    if let Some(text) = suite.example.as_ref().and_then(|example| example.ir.as_ref()) {
        let source = sources.add(place("p_example.lp"), text.as_str());
        found.extend(reader::read(text, source, &Signature::new(domain, &declarations)).diagnostics());
    }
    found
}
