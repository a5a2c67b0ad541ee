//! Checks of the files of inferring pipelines: the knowledge file and the example's representation.

use crate::codes;
use planforge_asp::reader::{self, Signature};
use planforge_asp::{Declarations, read_knowledge, syntax};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::ast::Domain;
use planforge_pipeline::Suite;

/// Checks that a suite with descriptions of types has one for every type.
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
        let message = format!("{}: p_example.nl, the text that it represents, is missing", path.display());
        let help = "write the example's text, or remove this file";
        Diagnostic::warning(codes::IDLE_FILE, message).help(help)
    })
}

/// Checks the knowledge file and the example's representation: that both can be read, that the declarations
/// fit the domain, and that the representation is in the form that models write.
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
        let (declared, wrong) = read_knowledge(&parsed.program, domain, source);
        found.extend(wrong);
        declarations = declared;
    }
    if let Some(text) = suite.example.as_ref().and_then(|example| example.ir.as_ref()) {
        let source = sources.add(place("p_example.lp"), text.as_str());
        found.extend(reader::read(text, source, &Signature::new(domain, &declarations)).diagnostics());
    }
    found
}
