//! The parts of a definition as a tree.

use super::analysis::{Analysis, Content};
use super::workspace::Workspace;
use planforge_diagnostics::Span;
use serde_json::{Value, json};

/// Symbol kinds of the protocol.
const MODULE: u8 = 2;
const CLASS: u8 = 5;
const METHOD: u8 = 6;
const FIELD: u8 = 8;
const FUNCTION: u8 = 12;
const CONSTANT: u8 = 14;
const OBJECT: u8 = 19;

/// Most entries of one section.
const MOST_ENTRIES: usize = 2_000;

/// The outline of a document.
pub fn outline(workspace: &Workspace, uri: &str) -> Option<Value> {
    let own = workspace.documents.get(uri)?.analysis()?;
    let symbol = |name: &str, kind: u8, whole: Span, name_span: Span, children: Vec<Value>| {
        // The protocol refuses an empty name, and a selection outside the whole.
        let name = if name.is_empty() { "(no name)" } else { name };
        let whole = whole.to(name_span);
        json!({ "name": name, "kind": kind, "range": range(&own, whole), "selectionRange": range(&own, name_span), "children": children })
    };
    let mut children: Vec<(Span, Value)> = Vec::new();
    let (name, whole, sections) = match &own.content {
        Content::Domain(domain) => {
            let entry = |kind| {
                move |name: &planforge_pddl::Name, span: Span| {
                    symbol(name.as_str(), kind, span, name.span, Vec::new())
                }
            };
            let typed = |list: &[planforge_pddl::ast::TypedName], kind| -> Vec<Value> {
                list.iter()
                    .take(MOST_ENTRIES)
                    .map(|t| symbol(t.name.as_str(), kind, t.name.span, t.name.span, Vec::new()))
                    .collect()
            };
            for section in &domain.sections {
                let inner: Vec<Value> = match section.keyword.key() {
                    ":types" => typed(&domain.types, CLASS),
                    ":constants" => typed(&domain.constants, CONSTANT),
                    ":predicates" => domain
                        .predicates
                        .iter()
                        .take(MOST_ENTRIES)
                        .map(|p| entry(FUNCTION)(&p.name, p.span))
                        .collect(),
                    ":functions" => domain
                        .functions
                        .iter()
                        .take(MOST_ENTRIES)
                        .map(|f| entry(FIELD)(&f.name, f.span))
                        .collect(),
                    ":requirements" | ":constraints" => Vec::new(),
                    _ => continue,
                };
                children.push((
                    section.span,
                    symbol(section.keyword.as_str(), OBJECT, section.span, section.keyword.span, inner),
                ));
            }
            children.extend(domain.actions.iter().map(|a| (a.span, entry(METHOD)(&a.name, a.span))));
            children.extend(domain.durative_actions.iter().map(|a| (a.span, entry(METHOD)(&a.name, a.span))));
            children.extend(domain.derived.iter().map(|d| (d.span, entry(METHOD)(&d.predicate, d.span))));
            (domain.name.as_ref(), domain.span, domain.sections.len())
        }
        Content::Problem(problem) => {
            for section in &problem.sections {
                let objects = if section.keyword.is(":objects") { problem.objects.as_slice() } else { &[] };
                let inner = objects
                    .iter()
                    .take(MOST_ENTRIES)
                    .map(|o| symbol(o.name.as_str(), CONSTANT, o.name.span, o.name.span, Vec::new()));
                children.push((
                    section.span,
                    symbol(
                        section.keyword.as_str(),
                        OBJECT,
                        section.span,
                        section.keyword.span,
                        inner.collect(),
                    ),
                ));
            }
            (problem.name.as_ref(), problem.span, problem.sections.len())
        }
    };
    if sections == 0 && name.is_none() {
        return Some(json!([]));
    }
    children.sort_by_key(|(span, _)| span.start);
    let children = children.into_iter().map(|(_, child)| child).collect();
    let name_span = name.map_or(Span::empty(whole.start), |name| name.span);
    Some(json!([symbol(name.map_or("", |name| name.as_str()), MODULE, whole, name_span, children)]))
}

fn range(analysis: &Analysis, span: Span) -> super::protocol::Range {
    analysis.index.range(&analysis.text, span)
}
