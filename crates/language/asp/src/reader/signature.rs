//! The names that a model's text may use: types, predicates and functions of the domain and of a knowledge
//! file.

use crate::declarations::{Declarations, NUMBERS};
use crate::names::mangle;
use planforge_pddl::ast::Domain;
use planforge_pddl::{TypeHierarchy, undeclared_constants};
use std::collections::{BTreeMap, BTreeSet};

/// The names that a text may use, all as answer set programs write them ([`mangle`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signature {
    /// Types of the domain; `object` is always one.
    pub types: BTreeSet<String>,
    /// Predicates of the domain with their number of arguments.
    pub predicates: BTreeMap<String, usize>,
    /// Numeric functions of the domain with their number of arguments.
    pub functions: BTreeMap<String, usize>,
    /// Types that only the representation has.
    pub ir_types: BTreeSet<String>,
    /// Predicates that only the representation has, with the types of their arguments.
    pub ir_predicates: BTreeMap<String, Vec<String>>,
    /// Objects that the domain or the knowledge file names.
    pub objects: BTreeSet<String>,
}

impl Signature {
    /// Collects the names of a domain and of its knowledge file. Without a knowledge file, pass
    /// `Declarations::default()`.
    pub fn new(domain: &Domain, declarations: &Declarations) -> Self {
        let mut signature = Self::of_domain(domain);
        signature.ir_types.extend(declarations.types.iter().map(|ty| ty.name.clone()));
        signature
            .ir_predicates
            .extend(declarations.predicates.iter().map(|p| (p.name.clone(), p.arguments.clone())));
        signature.objects.extend(declarations.objects.iter().cloned());
        signature
    }

    fn of_domain(domain: &Domain) -> Self {
        let types = TypeHierarchy::of(domain);
        let constants = domain.constants.iter().map(|constant| &constant.name);
        let named = constants.chain(undeclared_constants(domain, &types));
        Self {
            types: types
                .names()
                .map(|name| mangle(name.key()))
                .chain(std::iter::once("object".to_owned()))
                .collect(),
            predicates: domain
                .predicates
                .iter()
                .map(|p| (mangle(p.name.key()), p.parameters.len()))
                .collect(),
            functions: domain.functions.iter().map(|f| (mangle(f.name.key()), f.parameters.len())).collect(),
            objects: named.map(|name| mangle(name.key())).collect(),
            ..Self::default()
        }
    }

    /// True for a type of the domain or of the representation.
    pub fn has_type(&self, name: &str) -> bool {
        self.types.contains(name) || self.ir_types.contains(name)
    }

    /// The number of arguments of a predicate of the domain or of the representation.
    pub fn arity(&self, name: &str) -> Option<usize> {
        let of_ir = || self.ir_predicates.get(name).map(Vec::len);
        self.predicates.get(name).copied().or_else(of_ir)
    }

    /// True if an argument of a predicate may be a number: its declared type is `row`, `column` or `number`.
    pub fn is_number(&self, predicate: &str, argument: usize) -> bool {
        !self.predicates.contains_key(predicate)
            && self
                .ir_predicates
                .get(predicate)
                .and_then(|types| types.get(argument))
                .is_some_and(|ty| NUMBERS.contains(&ty.as_str()))
    }

    pub fn all_types(&self) -> impl Iterator<Item = &str> + Clone {
        self.types.iter().chain(&self.ir_types).map(String::as_str)
    }

    pub fn all_predicates(&self) -> impl Iterator<Item = &str> + Clone {
        self.predicates.keys().chain(self.ir_predicates.keys()).map(String::as_str)
    }
}
