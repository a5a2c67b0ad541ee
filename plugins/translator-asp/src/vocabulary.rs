//! The types, predicates and functions that the generic questions list, as the intermediate representation
//! names them, with descriptions if there are any.

use crate::codes;
use planforge_asp::Declarations;
use planforge_asp::names::mangle;
use planforge_contract::{ReportedDiagnostic, Sentences, TaskView};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::ast::{Domain, TypeRef, TypedName};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The materials that the descriptions come from.
const TYPES: &str = "types";
const PREDICATES: &str = "predicates";

/// Most names in one remark.
const MOST_NAMED: usize = 8;

/// A type and what its objects are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct TypeEntry {
    #[serde(rename = "type")]
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// A predicate and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PredicateEntry {
    #[serde(rename = "predicate")]
    pub(crate) name: String,
    pub(crate) arity: usize,
    #[serde(rename = "argument types")]
    pub(crate) arguments: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// A type and the names of its first two objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct NumberedType {
    name: String,
    first: String,
    second: String,
}

/// Types, predicates and functions in the order of their declarations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vocabulary {
    pub(crate) types: Vec<TypeEntry>,
    pub(crate) predicates: Vec<PredicateEntry>,
    /// `fuel(truck)`; not the cost of a plan, which no text states.
    pub(crate) functions: Vec<String>,
    /// Types whose objects the knowledge file names by a prefix and a number.
    pub(crate) numbered: Vec<NumberedType>,
    /// Materials that are there and cannot be read, with the reason.
    pub(crate) unreadable: Vec<(String, String)>,
}

impl Vocabulary {
    /// The vocabulary of the domain and the knowledge file.
    pub(crate) fn of(domain: &Domain, declared: &Declarations, task: &TaskView) -> Self {
        let materials = &task.materials;
        let unreadable = [TYPES, PREDICATES].into_iter();
        let unreadable =
            unreadable.filter_map(|name| Some((name.to_owned(), materials.read_error(name)?))).collect();
        let types = with_mangled_keys(&materials.types);
        let sentences: BTreeMap<String, Sentences> = with_mangled_keys(&materials.sentences);
        let mut seen = BTreeSet::new();
        let of_domain = domain.types.iter().map(|t| mangle(t.name.key()));
        let names: Vec<String> =
            of_domain.filter(|name| name != "object" && seen.insert(name.clone())).collect();
        let of_domain =
            names.into_iter().map(|name| TypeEntry { description: types.get(&name).cloned(), name });
        let of_knowledge = declared.types.iter().map(|t| TypeEntry {
            name: t.name.clone(),
            description: Some(t.description.clone())
                .filter(|d| !d.is_empty())
                .or_else(|| types.get(&t.name).cloned()),
        });
        let mut types: Vec<TypeEntry> = of_domain.chain(of_knowledge).collect();
        if types.is_empty() {
            let description = Some("everything that the text is about".to_owned());
            types.push(TypeEntry { name: "object".to_owned(), description });
        }
        let of_domain = domain.predicates.iter().map(|p| {
            let name = mangle(p.name.key());
            let description = sentences.get(&name).map(|s| describe_atom(&name, p.parameters.len(), &s.yes));
            PredicateEntry {
                arity: p.parameters.len(),
                arguments: arguments(&p.parameters),
                description,
                name,
            }
        });
        let of_knowledge = declared.predicates.iter().map(|p| PredicateEntry {
            name: p.name.clone(),
            arity: p.arguments.len(),
            arguments: p.arguments.clone(),
            description: Some(p.description.clone()).filter(|d| !d.is_empty()),
        });
        let naming = &declared.naming;
        let numbered = types.iter().filter(|ty| naming.has_prefix(&ty.name)).map(|ty| NumberedType {
            name: ty.name.clone(),
            first: naming.name(&ty.name, naming.first(&ty.name)),
            second: naming.name(&ty.name, naming.first(&ty.name) + 1),
        });
        let functions = domain.functions.iter().filter(|f| !f.name.is("total-cost"));
        Self {
            numbered: numbered.collect(),
            types,
            predicates: of_domain.chain(of_knowledge).collect(),
            functions: functions.map(|f| call(&mangle(f.name.key()), &arguments(&f.parameters))).collect(),
            unreadable,
        }
    }

    /// Remarks about names without a description.
    pub(crate) fn remarks(&self) -> Vec<ReportedDiagnostic> {
        let broken = self.unreadable.iter().map(|(name, error)| {
            remark(format!("the material `{name}` cannot be read, so nothing is described by it: {error}"))
        });
        let bare = self.bare();
        let names = match bare.as_slice() {
            [] => None,
            names if names.len() <= MOST_NAMED => Some(names.join(", ")),
            names => {
                Some(format!("{} and {} more", names[..MOST_NAMED].join(", "), names.len() - MOST_NAMED))
            }
        };
        let lacking = names.map(|names| {
            remark(format!(
                "no description of {names}: the model was told names, numbers of arguments and types"
            ))
        });
        broken.chain(lacking).collect()
    }

    /// Names without a description.
    fn bare(&self) -> Vec<&str> {
        let types = self.types.iter().filter(|t| t.description.is_none()).map(|t| t.name.as_str());
        let predicates = self.predicates.iter().filter(|p| p.description.is_none()).map(|p| p.name.as_str());
        types.chain(predicates).collect()
    }

    /// One line of JSON for each type.
    pub(crate) fn type_lines(&self) -> String {
        lines(&self.types)
    }

    /// One line of JSON for each predicate.
    pub(crate) fn predicate_lines(&self) -> String {
        lines(&self.predicates)
    }
}

fn remark(message: String) -> ReportedDiagnostic {
    let diagnostic = Diagnostic::advice(codes::DESCRIPTIONS, message)
        .help("describe types and predicates in the suite's sentences.toml, under [types] and [predicates]");
    ReportedDiagnostic::of(&diagnostic, &SourceMap::default())
}

fn lines<T: Serialize>(entries: &[T]) -> String {
    entries.iter().map(on_one_line).collect::<Vec<_>>().join("\n")
}

/// JSON with a space after each comma and colon, as in the example of the questions.
pub(crate) fn on_one_line<T: Serialize>(value: &T) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Spaced);
    match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => error.to_string(),
    }
}

struct Spaced;

impl serde_json::ser::Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }
    fn begin_object_key<W: io::Write + ?Sized>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }
    fn begin_object_value<W: io::Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

/// The entries under the keys that the intermediate representation writes.
fn with_mangled_keys<T: Clone>(entries: &BTreeMap<String, T>) -> BTreeMap<String, T> {
    entries.iter().map(|(key, value)| (mangle(key), value.clone())).collect()
}

fn arguments(parameters: &[TypedName]) -> Vec<String> {
    parameters.iter().map(|p| p.ty.as_ref().map_or_else(|| "object".to_owned(), either)).collect()
}

fn either(ty: &TypeRef) -> String {
    ty.alternatives.iter().map(|name| mangle(name.key())).collect::<Vec<_>>().join(" or ")
}

fn call(name: &str, arguments: &[String]) -> String {
    match arguments {
        [] => name.to_owned(),
        _ => format!("{name}({})", arguments.join(", ")),
    }
}

/// `stands_on(A, B): A stands on B`, made from the suite's sentence "{1} stands on {2}."
fn describe_atom(name: &str, arity: usize, sentence: &str) -> String {
    let letters: Vec<String> = (0..arity).map(letter).collect();
    let mut told = sentence.trim().trim_end_matches('.').to_owned();
    for (number, letter) in letters.iter().enumerate() {
        told = told.replace(&format!("{{{}}}", number + 1), letter);
    }
    format!("{}: {told}", call(name, &letters))
}

/// A, B, ..., Z, A1, ...
fn letter(number: usize) -> String {
    let first = char::from(b'A' + (number % 26) as u8);
    match number / 26 {
        0 => first.to_string(),
        further => format!("{first}{further}"),
    }
}
