//! Conversion of PDDL names to names of answer set programs and back.
//!
//! PDDL ignores case and allows hyphens; constants of answer set programs start with a lower-case letter and
//! have no hyphens. Two PDDL names may therefore map to one, which [`collisions`] reports because the way
//! back would be ambiguous.

use crate::codes::reader::NAME_COLLISION;
use crate::syntax::ast::Term;
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::Domain;
use planforge_pddl::{Name, TypeHierarchy, undeclared_constants};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A name of PDDL as answer set programs write it: in lower case, `_` for what a constant cannot have, and with a letter first.
///
/// `cocktail-part1` becomes `cocktail_part1`, `2x4` becomes `x2x4`, `not` becomes `not_`.
pub fn mangle(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let written: String = name.chars().flat_map(char::to_lowercase).map(plain).collect();
    if written == "not" {
        return "not_".to_owned();
    }
    match written.trim_start_matches('_').chars().next() {
        Some(first) if first.is_ascii_lowercase() => written,
        _ => format!("x{written}"),
    }
}

/// A key that is equal for names that differ only in case, hyphens and underscores: `onTable`, `on-table` and
/// `on_table`.
pub fn fold_spelling(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// Names of one kind, by what answer set programs call them. The way back from a mangled name is [`NameTable::get`].
#[derive(Debug, Clone, Default)]
pub struct NameTable<'a> {
    names: BTreeMap<String, &'a Name>,
    collisions: Vec<(&'a Name, &'a Name)>,
}

impl<'a> NameTable<'a> {
    /// The table of these names; of two that collide the first is kept.
    pub fn new(names: impl IntoIterator<Item = &'a Name>) -> Self {
        let mut table = Self::default();
        for name in names {
            match table.names.get(&mangle(name.key())) {
                Some(first) if first.key() != name.key() => table.collisions.push((first, name)),
                Some(_) => {}
                None => {
                    table.names.insert(mangle(name.key()), name);
                }
            }
        }
        table
    }

    /// The name of PDDL that is called so.
    pub fn get(&self, mangled: &str) -> Option<&'a Name> {
        self.names.get(mangled).copied()
    }

    /// The mangled names, in their order.
    pub fn mangle(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Pairs of different names that are called the same, in the order given.
    pub fn collisions(&self) -> &[(&'a Name, &'a Name)] {
        &self.collisions
    }
}

/// The names in a text that answer set programs write otherwise, by what they write: `tile0_1` is `tile0-1`. Where a text has two that
/// become one, such as `a-b` and `a_b`, neither is here: nothing could tell which is meant.
pub fn spellings(text: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, Option<String>> = BTreeMap::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_')) {
        let word = word.trim_matches('-').to_ascii_lowercase();
        if word.starts_with(|c: char| c.is_ascii_lowercase()) {
            let entry = found.entry(mangle(&word)).or_insert_with(|| Some(word.clone()));
            if entry.as_ref() != Some(&word) {
                *entry = None;
            }
        }
    }
    found
        .into_iter()
        .filter_map(|(written, word)| word.filter(|w| *w != written).map(|w| (written, w)))
        .collect()
}

/// An error for every two types, predicates, functions or constants of a domain that answer set programs cannot tell apart.
pub fn collisions(domain: &Domain, source: SourceId) -> Vec<Diagnostic> {
    let types = TypeHierarchy::of(domain);
    let undeclared = undeclared_constants(domain, &types);
    let declared = domain.constants.iter().map(|constant| &constant.name);
    let kinds = [
        ("types", NameTable::new(types.names())),
        ("predicates", NameTable::new(domain.predicates.iter().map(|p| &p.name))),
        ("functions", NameTable::new(domain.functions.iter().map(|f| &f.name))),
        ("objects", NameTable::new(declared.chain(undeclared))),
    ];
    let mut found = Vec::new();
    for (kind, table) in &kinds {
        for (first, second) in table.collisions() {
            let message = format!(
                "the {kind} `{first}` and `{second}` are both `{}` for the reasoner",
                mangle(first.key())
            );
            found.push(
                Diagnostic::error(NAME_COLLISION, message)
                    .at(source, second.span, "")
                    .also(source, first.span, "the other one")
                    .help("rename one of the two in the domain"),
            );
        }
    }
    found
}

// Names of objects that nothing names.

/// Names for objects that the text only counts: a prefix (by default the type's name) and an index (by
/// default from 1).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Naming {
    prefixes: BTreeMap<String, String>,
    first: BTreeMap<String, i64>,
}

impl Naming {
    /// Objects of that type are called by that prefix.
    pub fn set_prefix(&mut self, ty: &str, prefix: &str) {
        self.prefixes.insert(ty.to_owned(), prefix.to_owned());
    }

    /// True if objects of that type have a prefix of their own.
    pub fn has_prefix(&self, ty: &str) -> bool {
        self.prefixes.contains_key(ty)
    }

    /// Objects of that type are counted from that index.
    pub fn set_first(&mut self, ty: &str, index: i64) {
        self.first.insert(ty.to_owned(), index);
    }

    /// The index of the first object of a type.
    pub fn first(&self, ty: &str) -> i64 {
        self.first.get(ty).copied().unwrap_or(1)
    }

    /// The name of the object of a type at an index.
    pub fn name(&self, ty: &str, index: i64) -> String {
        format!("{}{index}", self.prefixes.get(ty).map_or(ty, String::as_str))
    }

    /// The index at which an object of a type has that name; `None` for a name of another form.
    pub fn index(&self, ty: &str, name: &str) -> Option<i64> {
        let prefix = self.prefixes.get(ty).map_or(ty, String::as_str);
        let index = name.strip_prefix(prefix)?.parse().ok()?;
        (index >= self.first(ty) && self.name(ty, index) == name).then_some(index)
    }

    /// The trusted functions of the library: `@id(T, I)`. `None` for any other name.
    pub fn call(&self, function: &str, arguments: &[Term]) -> Option<Result<Term, String>> {
        if function != "id" {
            return None;
        }
        Some(match arguments {
            [Term::Function { name, arguments }, Term::Number(index)]
                if arguments.is_empty() && !name.is_empty() =>
            {
                Ok(Term::Function { name: self.name(name, *index), arguments: Vec::new() })
            }
            _ => Err("takes a type and an index".to_owned()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_ground_term;
    use planforge_pddl::parse_domain;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    #[test]
    fn names_are_written_as_constants() {
        let same = [
            ("cocktail-part1", "cocktail_part1"),
            ("Block-A", "block_a"),
            ("2x4", "x2x4"),
            ("not", "not_"),
            ("_", "x_"),
            ("caf\u{e9}", "caf_"),
        ];
        for (name, written) in same {
            assert_eq!(mangle(name), written);
        }
        assert_eq!(fold_spelling("onTable"), fold_spelling("ON-table"));
    }

    #[test]
    fn a_text_says_how_its_names_are_spelled() {
        let text = "Tile0-1 (north of tile0-2), a-b, a_b and pos_1-2. - A dash; well-known.";
        let found: Vec<(String, String)> = spellings(text).into_iter().collect();
        let wanted = [
            ("pos_1_2", "pos_1-2"),
            ("tile0_1", "tile0-1"),
            ("tile0_2", "tile0-2"),
            ("well_known", "well-known"),
        ];
        assert_eq!(found, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn names_that_become_one_are_told_with_both() {
        let text = "(define (domain d) (:types a-b A_B c) (:constants k-1 - c k_1 - c)
            (:predicates (on-top ?x) (on_top ?x ?y) (free)) (:functions (x-y) (x_y)))";
        let domain = parse_domain(text, SourceId(0)).value;
        let messages: Vec<String> = collisions(&domain, SourceId(0)).into_iter().map(|d| d.message).collect();
        assert_eq!(
            messages,
            [
                "the types `a-b` and `A_B` are both `a_b` for the reasoner",
                "the predicates `on-top` and `on_top` are both `on_top` for the reasoner",
                "the functions `x-y` and `x_y` are both `x_y` for the reasoner",
                "the objects `k-1` and `k_1` are both `k_1` for the reasoner",
            ]
        );
        let table = NameTable::new(domain.predicates.iter().map(|p| &p.name));
        assert_eq!(table.get("on_top").map(Name::as_str), Some("on-top"));
        assert_eq!(table.mangle().collect::<Vec<_>>(), ["free", "on_top"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(3), ..ProptestConfig::default() })]

        #[test]
        fn every_name_becomes_a_constant(name in "\\PC{1,8}") {
            let written = mangle(&name);
            prop_assert!(parse_ground_term(&written).is_some(), "{name} -> {written}");
            prop_assert_eq!(mangle(&written), written);
        }
    }
}
