//! Definition, references and rename across a domain and its problems, and the parts of a definition as a tree.

use super::analysis::{Analysis, Content};
use super::occurrences::{NameClass, Occurrence, Role};
use super::position::{DocumentParams, Position};
use super::workspace::{Related, Workspace};
use planforge_diagnostics::Span;
use serde_json::{Map, Value, json};
use std::rc::Rc;

/// A name at the cursor with the definitions in which it can occur.
struct Target {
    own: Rc<Analysis>,
    wanted: Occurrence,
    related: Related,
}

impl Target {
    fn at(workspace: &Workspace, uri: &str, position: Position) -> Option<Self> {
        let own = workspace.documents.get(uri)?.analysis()?;
        let offset = own.index.offset(&own.text, position);
        let wanted = own.at(offset)?.clone();
        let is_local =
            matches!(wanted.class, NameClass::Variable | NameClass::Preference | NameClass::Problem);
        let related = if is_local {
            Related { definitions: vec![(uri.to_owned(), Rc::clone(&own))], is_complete: true }
        } else {
            let mut related = workspace.related(uri);
            // The objects of other problems only have the same names.
            let is_constant = || {
                related
                    .definitions
                    .iter()
                    .any(|(_, a)| a.domain().is_some() && a.declaration(&wanted).is_some())
            };
            if wanted.class == NameClass::Object && !is_constant() {
                related.definitions.retain(|(_, analysis)| Rc::ptr_eq(analysis, &own));
                related.is_complete = true;
            }
            related
        };
        Some(Self { own, wanted, related })
    }

    /// Every place of the name with its document.
    fn places(&self) -> impl Iterator<Item = (&str, &Analysis, &Occurrence)> {
        self.related.definitions.iter().flat_map(|(uri, analysis)| {
            analysis.places(&self.wanted).map(move |place| (uri.as_str(), analysis.as_ref(), place))
        })
    }
}

fn location(uri: &str, analysis: &Analysis, occurrence: &Occurrence) -> Value {
    json!({ "uri": uri, "range": analysis.index.range(&analysis.text, occurrence.name.span) })
}

/// The declaration of the name at the cursor.
pub fn definition(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let target = Target::at(workspace, &params.text_document.uri, params.position)?;
    // An object of this problem before one of another.
    let own = target.related.definitions.iter().filter(|(_, analysis)| Rc::ptr_eq(analysis, &target.own));
    own.chain(&target.related.definitions)
        .find_map(|(uri, analysis)| Some(location(uri, analysis, analysis.declaration(&target.wanted)?)))
}

/// Every place of the name at the cursor.
pub fn references(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let target = Target::at(workspace, &params.text_document.uri, params.position)?;
    let wanted = |place: &Occurrence| params.context.include_declaration || place.role != Role::Declared;
    let places = target.places().filter(|(_, _, place)| wanted(place));
    Some(places.map(|(uri, analysis, place)| location(uri, analysis, place)).collect())
}

/// Places of the name in the document, for marking them.
pub fn highlights(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let own = workspace.documents.get(&params.text_document.uri)?.analysis()?;
    let wanted = own.at(own.index.offset(&own.text, params.position))?;
    let kind = |role| if matches!(role, Role::Declared | Role::Added | Role::Deleted) { 3 } else { 2 };
    let places = own.places(wanted);
    Some(places.map(|place| json!({ "range": own.index.range(&own.text, place.name.span), "kind": kind(place.role) })).collect())
}

/// The range of the name at the cursor, if it can be renamed.
pub fn prepare_rename(workspace: &Workspace, params: &DocumentParams) -> Option<Value> {
    let own = workspace.documents.get(&params.text_document.uri)?.analysis()?;
    let wanted = own.at(own.index.offset(&own.text, params.position))?;
    let range = own.index.range(&own.text, wanted.name.span);
    Some(json!({ "range": range, "placeholder": own.slice(wanted.name.span) }))
}

/// The edits that rename the name at the cursor everywhere.
///
/// # Errors
/// A new name that is not one, or that something else has, and a domain with too many problems.
pub fn rename(workspace: &Workspace, params: &DocumentParams) -> Result<Value, String> {
    let target =
        Target::at(workspace, &params.text_document.uri, params.position).ok_or("there is no name here")?;
    let is_variable = target.wanted.class == NameClass::Variable;
    let new_name = match params.new_name.trim() {
        name if is_variable && !name.starts_with('?') => format!("?{name}"),
        name => name.to_owned(),
    };
    check_name(&new_name, is_variable)?;
    if !target.related.is_complete {
        return Err("the folder has too many PDDL files to rename in all of them".to_owned());
    }
    let key = new_name.to_lowercase();
    let taken = |(uri, analysis): &(String, Rc<Analysis>)| {
        let same_kind = |o: &&Occurrence| {
            o.class == target.wanted.class && o.name.key() == key && key != target.wanted.name.key()
        };
        // Variables of other schemas may have the name.
        let in_scope = |o: &&Occurrence| !is_variable || o.owner == target.wanted.owner;
        analysis
            .occurrences
            .iter()
            .filter(same_kind)
            .find(in_scope)
            .map(|_| uri.rsplit('/').next().unwrap_or(uri).to_owned())
    };
    if let Some(place) = target.related.definitions.iter().find_map(taken) {
        return Err(format!("`{new_name}` is already used in {place}"));
    }
    let mut changes: Map<String, Value> = Map::new();
    for (uri, analysis, place) in target.places() {
        let edit =
            json!({ "range": analysis.index.range(&analysis.text, place.name.span), "newText": new_name });
        if let Value::Array(edits) = changes.entry(uri).or_insert_with(|| json!([])) {
            edits.push(edit);
        }
    }
    Ok(json!({ "changes": changes }))
}

/// Refuses what the reader would not read as one name.
fn check_name(name: &str, is_variable: bool) -> Result<(), String> {
    let rest = if is_variable { name.strip_prefix('?').unwrap_or(name) } else { name };
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    if rest.starts_with(char::is_alphabetic) && rest.chars().all(is_part) {
        Ok(())
    } else {
        Err(format!(
            "`{}` is not a name: a name begins with a letter and has letters, digits, `-` and `_`",
            name.escape_debug()
        ))
    }
}

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

fn range(analysis: &Analysis, span: Span) -> super::position::Range {
    analysis.index.range(&analysis.text, span)
}
