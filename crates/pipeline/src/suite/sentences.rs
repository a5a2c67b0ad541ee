//! `sentences.toml`: how a suite tells facts and numbers in plain language (exploration-walk paper, Appendix C).

use crate::front::reader::{Reader, error_at, with_help};
use crate::front::tree::{Key, Node, Place, Table, Value, parse};
use crate::suggest::help_for;
use planforge_contract::{Sentences, sentence_slots};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use std::collections::BTreeMap;

/// What the reference says about the names that sentences are for.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Predicate or function, in lower case -> number of parameters.
    pub(super) arities: BTreeMap<String, usize>,
}

/// Reads the file. Where the suite has a reference domain, `declared` holds its predicates and functions, and every entry must
/// be one of them with slots that it has.
pub(super) fn read(
    text: &str,
    source: SourceId,
    declared: Option<&Declared>,
    out: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Sentences> {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let mut sentences = BTreeMap::new();
    let place = Place { source, span: Span::empty(0) };
    let mut reader = Reader::new(&parsed.root, place, "sentences.toml");
    for key in ["predicates", "functions"] {
        let Some((table, _)) = reader.table(key, &mut found) else { continue };
        for (name, node) in &table.entries {
            if let Some(entry) = entry(name, node, key == "functions", declared, &mut found) {
                sentences.insert(name.name.to_ascii_lowercase(), entry);
            }
        }
    }
    reader.finish("suite.sentences", &mut found);
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.sentences".into();
        d
    }));
    sentences
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
    let side = |key: &'static str, reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>| {
        let at = reader.string(key, out)?;
        check_slots(name, &at.value, at.place, function, arity, out);
        Some(at.value)
    };
    let mut reader = Reader::new(table, node.place, format!("the entry of `{}`", name.name));
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
    place: Place,
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
