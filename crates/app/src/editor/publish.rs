//! Findings as diagnostics of the protocol.

use super::analysis::Analysis;
use super::workspace::Document;
use planforge_diagnostics::{Diagnostic, Severity, SourceId, Span};
use serde_json::{Value, json};

/// Most diagnostics that are sent for a document.
pub const MOST_DIAGNOSTICS: usize = 1_000;

/// A finding about a document. `domain` is what labels in [`super::check::DOMAIN_SOURCE`] point into.
pub fn diagnostic(
    uri: &str,
    document: &Document,
    finding: &Diagnostic,
    domain: Option<(&str, &Analysis)>,
) -> Value {
    let own = |source| source == SourceId(0);
    let primary = finding.primary().filter(|label| own(label.source));
    let span = primary.map_or(Span::empty(0), |label| label.span);
    let mut message = finding.message.clone();
    if let Some(label) = primary.filter(|label| !label.message.is_empty()) {
        message += &format!(": {}", label.message);
    }
    for help in &finding.help {
        message += &format!("\nhelp: {help}");
    }
    let others =
        finding.labels.iter().filter(|label| primary.is_none_or(|primary| !std::ptr::eq(*label, primary)));
    let related: Vec<Value> = others
        .filter_map(|label| {
            let (uri, range) = match domain {
                _ if own(label.source) => (uri, document.index.range(&document.text, label.span)),
                Some((uri, domain)) => (uri, domain.index.range(&domain.text, label.span)),
                None => return None,
            };
            let message = if label.message.is_empty() { "here" } else { &label.message };
            Some(json!({ "location": { "uri": uri, "range": range }, "message": message }))
        })
        .collect();
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Advice => 3,
    };
    let range = document.index.range(&document.text, span);
    let mut value = json!({ "range": range, "severity": severity, "code": finding.code, "source": "planforge", "message": message });
    if !related.is_empty() {
        value["relatedInformation"] = Value::Array(related);
    }
    value
}
