//! The domain's names as the intermediate representation writes them, and back.

use crate::names;
use planforge_pddl::ast::{Domain, FunctionDecl, PredicateDecl, TypedName};
use planforge_pddl::{Name, TypeHierarchy, TypeId, undeclared_constants};
use rustc_hash::FxHashMap;

/// Names of the domain by their names in the intermediate representation.
pub(super) struct Spelling<'a> {
    predicates: FxHashMap<String, (usize, &'a PredicateDecl)>,
    functions: FxHashMap<String, (usize, &'a FunctionDecl)>,
    types: FxHashMap<String, TypeId>,
    /// Objects that the domain itself names, declared (with their declaration) or not.
    constants: FxHashMap<String, (&'a Name, Option<&'a TypedName>)>,
    /// Names that the domain's actions use and that nothing declares, in order.
    pub(super) undeclared: Vec<&'a Name>,
}

/// A PDDL name as the intermediate representation writes it.
pub(super) fn mangle(name: &Name) -> String {
    names::mangle(name.key())
}

impl<'a> Spelling<'a> {
    pub(super) fn of(domain: &'a Domain, types: &'a TypeHierarchy) -> Self {
        let undeclared = undeclared_constants(domain, types);
        let mut constants: FxHashMap<String, (&Name, Option<&TypedName>)> = FxHashMap::default();
        for constant in &domain.constants {
            constants.entry(mangle(&constant.name)).or_insert((&constant.name, Some(constant)));
        }
        for name in &undeclared {
            constants.entry(mangle(name)).or_insert((name, None));
        }
        let mut predicates = FxHashMap::default();
        for (index, predicate) in domain.predicates.iter().enumerate() {
            predicates.entry(mangle(&predicate.name)).or_insert((index, predicate));
        }
        let mut functions = FxHashMap::default();
        for (index, function) in domain.functions.iter().enumerate() {
            functions.entry(mangle(&function.name)).or_insert((index, function));
        }
        let mut by_name = FxHashMap::default();
        for id in 0..types.len() as TypeId {
            by_name.entry(mangle(types.name(id))).or_insert(id);
        }
        Self { predicates, functions, types: by_name, constants, undeclared }
    }

    pub(super) fn predicate(&self, name: &str) -> Option<(usize, &'a PredicateDecl)> {
        find(&self.predicates, name)
    }

    pub(super) fn function(&self, name: &str) -> Option<(usize, &'a FunctionDecl)> {
        find(&self.functions, name)
    }

    pub(super) fn ty(&self, name: &str) -> Option<TypeId> {
        find(&self.types, name)
    }

    pub(super) fn constant(&self, name: &str) -> Option<(&'a Name, Option<&'a TypedName>)> {
        find(&self.constants, name)
    }

    /// Predicates as the intermediate representation writes them, for suggestions.
    pub(super) fn predicates(&self) -> impl Iterator<Item = &str> {
        self.predicates.keys().map(String::as_str)
    }

    pub(super) fn functions(&self) -> impl Iterator<Item = &str> {
        self.functions.keys().map(String::as_str)
    }

    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }
}

/// Looks a name up. Names in answers match the keys exactly, except names that were written as texts.
fn find<T: Copy>(map: &FxHashMap<String, T>, name: &str) -> Option<T> {
    map.get(name).or_else(|| map.get(&names::mangle(name))).copied()
}
