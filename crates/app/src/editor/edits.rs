//! Quick fixes and formatting.

use super::protocol::{DocumentParams, Range};
use super::workspace::{Document, Workspace};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_format::format_pddl;
use planforge_pddl::extract::BlockKind;
use planforge_pddl::fix_all;
use serde_json::{Value, json};

/// The fixes of the findings in a range, and one that applies all fixes.
pub fn code_actions(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let uri = &params.text_document.uri;
    let document = workspace.documents.get(uri)?;
    let touches = |range: Range| range.start <= params.range.end && params.range.start <= range.end;
    let in_range = |d: &&Diagnostic| {
        d.primary().is_some_and(|label| touches(document.index.range(&document.text, label.span)))
    };
    let mut actions: Vec<Value> = Vec::new();
    for finding in document.findings.iter().filter(in_range) {
        let Some(fix) =
            finding.fix.as_ref().filter(|fix| fix.edits.iter().all(|edit| edit.source == SourceId(0)))
        else {
            continue;
        };
        let edits = fix.edits.iter().map(|edit| {
            json!({ "range": document.index.range(&document.text, edit.span), "newText": edit.replacement })
        });
        actions.push(json!({
            "title": capital(&fix.title),
            "kind": "quickfix",
            "isPreferred": true,
            "diagnostics": [super::publish::diagnostic(uri, document, finding, None)],
            "edit": { "changes": { uri.as_str(): edits.collect::<Value>() } },
        }));
    }
    if document.findings.iter().filter(|finding| finding.fix.is_some()).count() > 1 {
        actions.extend(all_fixes(uri, document));
    }
    Some(Value::Array(actions))
}

fn all_fixes(uri: &str, document: &Document) -> Option<Value> {
    let analysis = document.analysis()?;
    let kind = if analysis.header.is_problem { BlockKind::Problem } else { BlockKind::Domain };
    let fixed = fix_all(&document.text, kind);
    let title = format!("Apply all {} fixes", fixed.fixes.len());
    let edit = replace_all(document, &fixed.text)?;
    Some(json!({ "title": title, "kind": "source.fixAll", "edit": { "changes": { uri: edit } } }))
}

/// The edits that format a document; none if it has errors of form.
pub fn format(workspace: &Workspace, uri: &str) -> Option<Value> {
    let document = workspace.documents.get(uri)?;
    document.analysis()?;
    let formatted = format_pddl(&document.text, SourceId(0)).ok()?;
    Some(replace_all(document, &formatted).unwrap_or_else(|| json!([])))
}

/// One edit that replaces the text; `None` if it stays the same.
fn replace_all(document: &Document, text: &str) -> Option<Value> {
    (document.text != text)
        .then(|| json!([{ "range": document.index.whole(&document.text), "newText": text }]))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
