//! The names that a model's text may use: types, predicates and functions of the domain and of a knowledge
//! file.

use crate::declarations::{Declarations, NUMBERS};
use crate::names::Naming;
use crate::names::mangle;
use planforge_pddl::ast::{Domain, TypedName};
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
    /// For each predicate and function the types of its arguments that have an `ir_prefix`; `None` for other
    /// arguments.
    pub numbered: BTreeMap<String, Vec<Option<String>>>,
    /// Names for numbered objects.
    pub naming: Naming,
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
        signature.naming = declarations.naming.clone();
        let of_domain = domain
            .predicates
            .iter()
            .map(|p| (&p.name, &p.parameters))
            .chain(domain.functions.iter().map(|f| (&f.name, &f.parameters)))
            .map(|(name, parameters)| (mangle(name.key()), parameters.iter().map(type_name).collect()));
        let declared = declarations.predicates.iter().map(|p| (p.name.clone(), p.arguments.clone()));
        for (name, types) in declared.chain(of_domain) {
            let types: Vec<String> = types;
            let prefixed = |ty: String| signature.naming.has_prefix(&ty).then_some(ty);
            signature.numbered.insert(name, types.into_iter().map(prefixed).collect());
        }
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

    /// The name of the object with a number, if the argument's type has an `ir_prefix`: `n2` for 2.
    pub fn numbered_object(&self, predicate: &str, argument: usize, number: i64) -> Option<String> {
        let ty = self.numbered.get(predicate)?.get(argument)?.as_ref()?;
        self.object_of_type(ty, number)
    }

    /// As [`Signature::numbered_object`], for a known type.
    pub fn object_of_type(&self, ty: &str, number: i64) -> Option<String> {
        let is_named = self.naming.has_prefix(ty) && number >= self.naming.first(ty);
        is_named.then(|| self.naming.name(ty, number))
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

/// The mangled name of a parameter's type.
fn type_name(parameter: &TypedName) -> String {
    match parameter.ty.as_ref().map(|ty| ty.alternatives.as_slice()) {
        Some([name]) => mangle(name.key()),
        _ => "object".to_owned(),
    }
}
