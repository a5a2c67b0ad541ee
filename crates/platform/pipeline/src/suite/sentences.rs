//! `sentences.toml`: a suite's wording of facts and numbers (exploration-walk paper, Appendix C) and its
//! descriptions of types (translate-infer-compile paper, Appendix B).

use crate::front::reader::{At, TableReader, error_at, with_help};
use crate::front::tree::{Key, Node, SourcePlace, Table, Value, parse};
use crate::suggest::help_for;
use planforge_contract::{Sentences, sentence_slots};
use planforge_diagnostics::{Diagnostic, Severity, SourceId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Names in the reference that sentences can be for.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Predicate or function, in lower case -> number of parameters.
    pub(super) arities: BTreeMap<String, usize>,
    /// Types, in lower case.
    pub(super) types: BTreeSet<String>,
}

impl Declared {
    /// The names that a domain's text declares.
    pub(super) fn of(domain: &str) -> Self {
        let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
        let predicates = domain.predicates.iter().map(|p| (&p.name, p.parameters.len()));
        let functions = domain.functions.iter().map(|f| (&f.name, f.parameters.len()));
        let derived = domain.derived.iter().map(|d| (&d.predicate, d.parameters.len()));
        let entries = predicates.chain(functions).chain(derived);
        Self {
            arities: entries.map(|(name, arity)| (name.as_str().to_ascii_lowercase(), arity)).collect(),
            types: domain.types.iter().map(|t| t.name.as_str().to_ascii_lowercase()).collect(),
        }
    }
}

/// The contents of a `sentences.toml`.
#[derive(Debug, Default)]
pub struct SentenceFile {
    /// Predicate or function, in lower case -> its sentences.
    pub facts: BTreeMap<String, Sentences>,
    /// Type, in lower case -> what its objects are, such as `a place that holds one crate`.
    pub types: BTreeMap<String, String>,
}

/// Reads a `sentences.toml` for a domain, given as text. Mistakes in it are added to `out`.
pub fn read_sentences(text: &str, source: SourceId, domain: &str, out: &mut Vec<Diagnostic>) -> SentenceFile {
    read(text, source, Some(&Declared::of(domain)), out)
}

/// Reads the file. Where the suite has a reference domain, `declared` holds its predicates and functions, and every entry must
/// be one of them with slots that it has.
pub(super) fn read(
    text: &str,
    source: SourceId,
    declared: Option<&Declared>,
    out: &mut Vec<Diagnostic>,
) -> SentenceFile {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let mut told = SentenceFile::default();
    let place = SourcePlace { source, span: Span::empty(0) };
    let mut reader = TableReader::new(&parsed.root, place, "sentences.toml");
    for key in ["predicates", "functions"] {
        let Some((table, _)) = reader.table(key, &mut found) else { continue };
        for (name, node) in &table.entries {
            if let Some(entry) = entry(name, node, key == "functions", declared, &mut found) {
                told.facts.insert(name.name.to_ascii_lowercase(), entry);
            }
        }
    }
    for (name, at) in reader.string_map("types", &mut found) {
        type_described(name, &at, declared, &mut found);
        told.types.insert(name.name.to_ascii_lowercase(), at.value.trim().to_owned());
    }
    reader.finish("suite.sentences", &mut found);
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.sentences".into();
        d
    }));
    told
}

/// Warns about a description that is never used: the file may serve several versions of a domain.
fn type_described(name: &Key, at: &At<String>, declared: Option<&Declared>, out: &mut Vec<Diagnostic>) {
    if at.value.trim().is_empty() {
        let message = format!("the description of type `{}` is empty", name.name);
        out.push(
            error_at("suite.sentences", message, at.place).help("say what an object of it is: `\"a room\"`"),
        );
    }
    let lower = name.name.to_ascii_lowercase();
    let Some(declared) = declared.filter(|declared| lower != "object" && !declared.types.contains(&lower))
    else {
        return;
    };
    let names: Vec<&str> = declared.types.iter().map(String::as_str).collect();
    let message = format!("the reference domain has no type `{}`", name.name);
    let mut unknown = error_at("suite.sentences", message, name.place);
    unknown.severity = Severity::Warning;
    out.push(with_help(unknown, help_for(&name.name, &names, "its types are")));
}

fn entry(
    name: &Key,
    node: &Node,
    function: bool,
    declared: Option<&Declared>,
    out: &mut Vec<Diagnostic>,
) -> Option<Sentences> {
    let Value::Table(table) = &node.value else {
        let message = format!("`{}` must be a table with `yes` and `no`, not {}", name.name, node.kind());
        out.push(error_at("suite.sentences", message, node.place));
        return None;
    };
    let arity = match declared {
        Some(declared) => match declared.arities.get(&name.name.to_ascii_lowercase()) {
            Some(arity) => Some(*arity),
            None => {
                let names: Vec<&str> = declared.arities.keys().map(String::as_str).collect();
                let message = format!("the reference domain declares no `{}`", name.name);
                let help = help_for(&name.name, &names, "it declares");
                out.push(with_help(error_at("suite.sentences", message, name.place), help));
                return None;
            }
        },
        None => None,
    };
    let side = |key: &'static str, reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>| {
        let at = reader.string(key, out)?;
        check_slots(name, &at.value, at.place, function, arity, out);
        Some(at.value)
    };
    let mut reader = TableReader::new(table, node.place, format!("the entry of `{}`", name.name));
    let yes = side("yes", &mut reader, out);
    if yes.is_none() && !has(table, "yes") {
        reader.missing("yes", "\"{1} is ...\"", out);
    }
    let no = if function { None } else { side("no", &mut reader, out) };
    reader.finish("suite.sentences", out);
    Some(Sentences { yes: yes?, no: no.unwrap_or_default() })
}

fn has(table: &Table, key: &str) -> bool {
    table.get(key).is_some()
}

fn check_slots(
    name: &Key,
    sentence: &str,
    place: SourcePlace,
    function: bool,
    arity: Option<usize>,
    out: &mut Vec<Diagnostic>,
) {
    let wrong = |message: String| {
        let help = "slots are {1}, {2}, ... for the arguments, and {value} for the value of a function";
        error_at("suite.sentences", message, place).help(help)
    };
    let name = &name.name;
    match sentence_slots(sentence) {
        Err(why) => out.push(wrong(format!("the sentence of `{name}` cannot be read: {why}"))),
        Ok(slots) => {
            if let Some(arity) = arity.filter(|arity| slots.highest > *arity) {
                let message = format!(
                    "the sentence of `{name}` has slot {{{}}}, and `{name}` has {arity} argument(s)",
                    slots.highest
                );
                out.push(wrong(message));
            }
            if slots.value && !function {
                out.push(wrong(format!("the sentence of predicate `{name}` has slot {{value}}")));
            }
        }
    }
}
