//! `actions.toml`: a suite's descriptions of its actions, by class, and of its predicates, verbatim.

use crate::front::reader::{At, TableReader, error_at, with_help};
use crate::front::tree::{Key, Node, SourcePlace, Table, Value, parse};
use crate::suggest::help_for;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Domain, PredicateDecl, TypedName};
use planforge_pddl::{parse_domain, print_typed_list};
use std::collections::BTreeMap;

use super::DescriptionClass;

/// The texts for one action; absent texts are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionTexts {
    /// Its purpose and parameters.
    pub base: Option<String>,
    /// Base with what it needs and makes false.
    pub flipped: Option<String>,
    /// Base with some conditions and effects.
    pub random: Option<String>,
}

impl ActionTexts {
    pub(super) fn of(&self, class: DescriptionClass) -> Option<&String> {
        match class {
            DescriptionClass::Base => self.base.as_ref(),
            DescriptionClass::Flipped => self.flipped.as_ref(),
            DescriptionClass::Random => self.random.as_ref(),
        }
    }
}

/// The text for one predicate, which stands beside its declaration in a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PredicateText {
    /// The declaration that the text's names come from, such as `(on ?x - block ?y - block)`; the domain's own where it is absent.
    pub declaration: Option<String>,
    /// Its meaning, verbatim.
    pub text: String,
}

/// The contents of the file.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct ActionFile {
    /// By action, in lower case.
    pub(in super::super) actions: BTreeMap<String, ActionTexts>,
    /// By predicate, in lower case.
    pub(in super::super) predicates: BTreeMap<String, PredicateText>,
}

/// Reads the file: a table `[actions]` with a text, or a table of texts by class, for each action of the reference domain, and a table
/// `[predicates]` with a text, or a table of declaration and text, for its predicates.
pub(in super::super) fn read(
    text: &str,
    source: SourceId,
    domain: Option<&str>,
    out: &mut Vec<Diagnostic>,
) -> ActionFile {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let mut file = ActionFile::default();
    let place = SourcePlace { source, span: Span::empty(0) };
    let domain = domain.map(|text| parse_domain(text, SourceId(0)).value);
    let mut reader = TableReader::new(&parsed.root, place, "actions.toml");
    let actions = domain.as_ref().map(|d| d.actions.iter().map(|a| a.name.key().to_owned()).collect());
    for (name, node) in known_names(&mut reader, "actions", "action", actions, &mut found) {
        file.actions.insert(name.name.to_lowercase(), action(&name.name, node, &mut found));
    }
    let predicates = domain.as_ref().map(|d| d.predicates.iter().map(|p| p.name.key().to_owned()).collect());
    for (name, node) in known_names(&mut reader, "predicates", "predicate", predicates, &mut found) {
        if let Some(told) = predicate(name, node, domain.as_ref(), &mut found) {
            file.predicates.insert(name.name.to_lowercase(), told);
        }
    }
    reader.finish("suite.actions", &mut found);
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.actions".into();
        d
    }));
    file
}

/// Returns the entries whose names the reference domain has and reports the others.
fn known_names<'a>(
    reader: &mut TableReader<'a>,
    key: &'static str,
    what: &str,
    names: Option<Vec<String>>,
    out: &mut Vec<Diagnostic>,
) -> Vec<&'a (Key, Node)> {
    let Some((table, _)) = reader.table(key, out) else { return Vec::new() };
    let table: &'a Table = table;
    let mut entries = Vec::new();
    for entry in &table.entries {
        let name = &entry.0;
        match &names {
            Some(names) if !names.contains(&name.name.to_lowercase()) => {
                let known: Vec<&str> = names.iter().map(String::as_str).collect();
                let message = format!("the reference domain has no {what} `{}`", name.name);
                let help = help_for(&name.name, &known, &format!("its {what}s are"));
                out.push(with_help(error_at("suite.actions", message, name.place), help));
            }
            _ => entries.push(entry),
        }
    }
    entries
}

fn action(name: &str, node: &Node, out: &mut Vec<Diagnostic>) -> ActionTexts {
    match &node.value {
        Value::String(base) => ActionTexts { base: Some(base.clone()), ..ActionTexts::default() },
        Value::Table(table) => {
            let mut reader = TableReader::new(table, node.place, format!("the texts of `{name}`"));
            let mut text = |key, out: &mut Vec<Diagnostic>| reader.string(key, out).map(|at| at.value);
            let (base, flipped, random) = (text("base", out), text("flipped", out), text("random", out));
            reader.finish("suite.actions", out);
            ActionTexts { base, flipped, random }
        }
        _ => {
            let message = format!("`{name}` must be a text or a table of texts, not {}", node.kind());
            out.push(error_at("suite.actions", message, node.place).help("write NAME = \"what it does\""));
            ActionTexts::default()
        }
    }
}

fn predicate(
    name: &Key,
    node: &Node,
    domain: Option<&Domain>,
    out: &mut Vec<Diagnostic>,
) -> Option<PredicateText> {
    match &node.value {
        Value::String(text) => Some(PredicateText { declaration: None, text: text.clone() }),
        Value::Table(table) => {
            let mut reader =
                TableReader::new(table, node.place, format!("the entry of predicate `{}`", name.name));
            let text = reader.string("text", out);
            if text.is_none() && table.get("text").is_none() {
                reader.missing("text", "\"what it says of its parameters\"", out);
            }
            let declaration = reader.string("declaration", out);
            reader.finish("suite.actions", out);
            if let Some(at) = &declaration
                && let Err(why) = fits(at, &name.name, domain)
            {
                let help = "write it as the domain does; its parameters may have other names";
                out.push(error_at("suite.actions", why, at.place).help(help));
            }
            Some(PredicateText { declaration: declaration.map(|at| at.value), text: text?.value })
        }
        _ => {
            let message = format!(
                "`{}` must be a text or a table of declaration and text, not {}",
                name.name,
                node.kind()
            );
            out.push(error_at("suite.actions", message, node.place).help("write NAME = \"its text\""));
            None
        }
    }
}

fn fits(at: &At<String>, name: &str, domain: Option<&Domain>) -> Result<(), String> {
    let written = read_declaration(&at.value)?;
    if !written.name.as_str().eq_ignore_ascii_case(name) {
        return Err(format!("the declaration is that of `{}` and not of `{name}`", written.name));
    }
    let declared = domain.and_then(|d| d.predicates.iter().find(|p| p.name == written.name));
    declared.map_or(Ok(()), |declared| same_parameters(declared, &written))
}

/// Reads the declaration of one predicate, such as `(on ?x - block ?y - block)`.
///
/// # Errors
/// Reason why the text is not one declaration.
pub fn read_declaration(text: &str) -> Result<PredicateDecl, String> {
    let parsed = parse_domain(&format!("(define (domain d) (:predicates {text}))"), SourceId(0));
    let wrong = parsed.diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.as_str());
    let mut declared = parsed.value.predicates;
    match (declared.pop(), declared.is_empty(), wrong) {
        (Some(declaration), true, None) => Ok(declaration),
        (_, _, Some(why)) => Err(format!("`{text}` is not a declaration of a predicate: {why}")),
        _ => Err(format!("`{text}` is not the declaration of one predicate")),
    }
}

/// Checks that two declarations have the same number of parameters of the same types, under any names.
///
/// # Errors
/// The difference, with both declarations.
pub fn same_parameters(declared: &PredicateDecl, written: &PredicateDecl) -> Result<(), String> {
    let same = declared.parameters.len() == written.parameters.len()
        && declared.parameters.iter().zip(&written.parameters).all(|(a, b)| type_of(a) == type_of(b));
    match same {
        true => Ok(()),
        false => Err(format!(
            "`{}` is declared as `{}` in the domain",
            print_declaration(written),
            print_declaration(declared)
        )),
    }
}

fn type_of(parameter: &TypedName) -> Vec<String> {
    match &parameter.ty {
        None => vec!["object".to_owned()],
        Some(ty) => {
            let mut names: Vec<String> = ty.alternatives.iter().map(|n| n.key().to_owned()).collect();
            names.sort();
            names
        }
    }
}

/// A declaration with its parentheses.
pub(super) fn print_declaration(declared: &PredicateDecl) -> String {
    match declared.parameters.is_empty() {
        true => format!("({})", declared.name),
        false => format!("({} {})", declared.name, print_typed_list(&declared.parameters)),
    }
}
