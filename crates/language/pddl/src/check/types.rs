//! The type hierarchy of a domain, and checks of the declarations: types, duplicates, clashing names.

use super::{Checker, Feature};
use crate::ast::{Domain, TypeRef, TypedName};
use crate::name::Name;
use planforge_diagnostics::{Diagnostic, Severity, SourceId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Index of a type in a [`TypeHierarchy`].
pub type TypeId = u32;

/// Relation between the type of a term and the required type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeFit {
    /// Every object of the one is an object of the other.
    Always,
    /// Some are: the given type is wider, or both have a type below them in common.
    Sometimes,
    /// No object of the term's type has the required type.
    Never,
}

/// Declared types with their parents. `object` is always there and is above everything.
///
/// A parent that is declared nowhere counts as a type below `object`, and a type may have several parents, as
/// in domains people use.
#[derive(Debug, Clone)]
pub struct TypeHierarchy {
    names: Vec<Name>,
    parents: Vec<SmallVec<[TypeId; 1]>>,
    ids: FxHashMap<Name, TypeId>,
    /// Ancestors of all types, ascending for each type. Every question about the hierarchy is a look-up here.
    ancestors: Vec<TypeId>,
    /// End of each type's ancestors.
    ends: Vec<u32>,
    /// True if some type has several parents.
    several_parents: bool,
}

impl TypeHierarchy {
    /// The root of every hierarchy.
    pub const OBJECT: TypeId = 0;

    /// The types a domain declares.
    pub fn of(domain: &Domain) -> Self {
        let mut types = Self::declared(domain);
        types.find_ancestors(usize::MAX);
        types
    }

    /// Returns true if the types of a domain have at most that many pairs of a type and an ancestor.
    pub(crate) fn has_at_most(domain: &Domain, most_pairs: usize) -> bool {
        Self::declared(domain).find_ancestors(most_pairs)
    }

    /// The declared types without their ancestors.
    fn declared(domain: &Domain) -> Self {
        let mut types = Self {
            names: Vec::new(),
            parents: Vec::new(),
            ids: FxHashMap::default(),
            ancestors: Vec::new(),
            ends: Vec::new(),
            several_parents: false,
        };
        types.add(&Name::synthetic("object"));
        for declared in &domain.types {
            types.add(&declared.name);
        }
        let mut given: FxHashSet<(TypeId, TypeId)> = FxHashSet::default();
        for declared in &domain.types {
            let id = types.add(&declared.name);
            for parent in declared.ty.iter().flat_map(|ty| &ty.alternatives) {
                let parent = types.add(parent);
                if id != Self::OBJECT && parent != id && given.insert((id, parent)) {
                    types.parents[id as usize].push(parent);
                }
            }
        }
        types.several_parents = types.parents.iter().any(|parents| parents.len() > 1);
        types
    }

    /// Lists the ancestors of every type. Stops and returns false if there are more than `most` in all.
    fn find_ancestors(&mut self, most: usize) -> bool {
        let mut last_visit = vec![TypeId::MAX; self.names.len()];
        for id in 0..self.names.len() as TypeId {
            let first = self.ancestors.len();
            let mut next = first;
            let mut at = id;
            loop {
                for &parent in &self.parents[at as usize] {
                    if std::mem::replace(&mut last_visit[parent as usize], id) != id {
                        self.ancestors.push(parent);
                    }
                }
                if self.ancestors.len() > most {
                    return false;
                }
                let Some(&ancestor) = self.ancestors.get(next) else { break };
                at = ancestor;
                next += 1;
            }
            self.ancestors[first..].sort_unstable();
            self.ends.push(self.ancestors.len() as u32);
        }
        true
    }

    /// The ancestors of a type, ascending.
    fn ancestors(&self, id: TypeId) -> &[TypeId] {
        let end = |id: TypeId| self.ends[id as usize] as usize;
        &self.ancestors[id.checked_sub(1).map_or(0, end)..end(id)]
    }

    fn add(&mut self, name: &Name) -> TypeId {
        let next = self.names.len() as TypeId;
        let id = *self.ids.entry(name.clone()).or_insert(next);
        if id == next {
            self.names.push(name.clone());
            self.parents.push(SmallVec::new());
        }
        id
    }

    /// The id of a type by its lower-case name.
    pub fn get(&self, key: &str) -> Option<TypeId> {
        self.ids.get(key).copied()
    }

    /// The type's name as first written.
    pub fn name(&self, id: TypeId) -> &Name {
        &self.names[id as usize]
    }

    /// Number of types, `object` included; ids are below it.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Never: `object` is always there.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The parents a type was given; none means `object`.
    pub fn parents(&self, id: TypeId) -> &[TypeId] {
        &self.parents[id as usize]
    }

    /// Every type's name, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.names.iter()
    }

    /// Returns true if `below` is `above` or a descendant of it.
    pub fn is_subtype(&self, below: TypeId, above: TypeId) -> bool {
        above == Self::OBJECT || below == above || self.ancestors(below).binary_search(&above).is_ok()
    }

    /// A type that is its own ancestor, if there is one. Linear in the number of types.
    pub fn cycle(&self) -> Option<TypeId> {
        // Types without unvisited children are taken away from the bottom; what remains is on or above a cycle.
        let mut children = vec![0u32; self.names.len()];
        for &parent in self.parents.iter().flatten() {
            children[parent as usize] += 1;
        }
        let mut bare: Vec<usize> = (0..children.len()).filter(|&id| children[id] == 0).collect();
        let mut removed = vec![false; children.len()];
        while let Some(id) = bare.pop() {
            removed[id] = true;
            for &parent in &self.parents[id] {
                let left = &mut children[parent as usize];
                *left -= 1;
                if *left == 0 {
                    bare.push(parent as usize);
                }
            }
        }
        let on_or_above = |id: usize| !removed[id] && id != Self::OBJECT as usize;
        let mut at = (0..removed.len()).rev().find(|&id| on_or_above(id))?;
        // Going up from a type above the cycle would leave it, so step down: every one left has a child left.
        let mut first_child: Vec<Option<usize>> = vec![None; removed.len()];
        for id in (0..removed.len()).filter(|&id| !removed[id]) {
            for &parent in &self.parents[id] {
                first_child[parent as usize].get_or_insert(id);
            }
        }
        let mut seen = vec![false; removed.len()];
        while !seen[at] {
            seen[at] = true;
            at = first_child[at]?;
        }
        Some(at as TypeId)
    }

    /// The ids of a written type; nothing when one of its names is unknown.
    pub fn resolve(&self, ty: Option<&TypeRef>) -> Option<SmallVec<[TypeId; 1]>> {
        match ty {
            None => Some(SmallVec::from_slice(&[Self::OBJECT])),
            Some(ty) => ty.alternatives.iter().map(|name| self.get(name.key())).collect(),
        }
    }

    /// Compares the types of a term, any of `given`, with the required types, any of `wanted`.
    pub fn fit(&self, given: &[TypeId], wanted: &[TypeId]) -> TypeFit {
        self.union(wanted).fit(given)
    }

    /// The union of these types, to compare many terms with.
    pub fn union<'a>(&'a self, ids: &'a [TypeId]) -> TypeUnion<'a> {
        const FEW: usize = 8;
        let set = (ids.len() > FEW).then(|| ids.iter().copied().collect());
        TypeUnion { types: self, ids, set }
    }
}

/// A union of types.
pub struct TypeUnion<'a> {
    types: &'a TypeHierarchy,
    ids: &'a [TypeId],
    /// The same ids where they are many.
    set: Option<FxHashSet<TypeId>>,
}

impl TypeUnion<'_> {
    /// Compares the types of a term, any of `given`, with those of the union, which are required.
    pub fn fit(&self, given: &[TypeId]) -> TypeFit {
        if given.iter().all(|&id| self.is_above(id)) {
            return TypeFit::Always;
        }
        let types = self.types;
        let given_union = types.union(given);
        let related = given.iter().any(|&id| self.is_above(id))
            || self.ids.iter().any(|&id| given_union.is_above(id))
            || types.several_parents
                && (0..types.names.len() as TypeId).any(|id| self.is_above(id) && given_union.is_above(id));
        if related { TypeFit::Sometimes } else { TypeFit::Never }
    }

    /// Returns true if every object of the type `id` is in the union.
    fn is_above(&self, id: TypeId) -> bool {
        match &self.set {
            None => self.ids.iter().any(|&above| self.types.is_subtype(id, above)),
            Some(set) => {
                let mut same_or_above = self.types.ancestors(id).iter().chain([&id, &TypeHierarchy::OBJECT]);
                same_or_above.any(|above| set.contains(above))
            }
        }
    }
}

impl<'a> Checker<'a> {
    pub(super) fn declarations(&mut self, domain: &'a Domain) {
        self.declared_types(domain);
        self.type_refs(&domain.constants);
        self.unique_objects("constant", &domain.constants);
        self.unique("predicate", domain.predicates.iter().map(|p| &p.name));
        self.unique("function", domain.functions.iter().map(|f| &f.name));
        let actions = domain.actions.iter().map(|a| &a.name);
        let actions = actions.chain(domain.durative_actions.iter().map(|a| &a.name));
        self.unique("action", actions.filter(|n| !n.as_str().is_empty()));
        for predicate in &domain.predicates {
            self.variables(&predicate.parameters, Severity::Warning);
            if matches!(
                predicate.name.key(),
                "=" | "and" | "or" | "not" | "forall" | "exists" | "imply" | "when"
            ) {
                let message = format!("`{}` is a word of PDDL and cannot name a predicate", predicate.name);
                self.error("pddl.reserved-name", message, predicate.name.span);
            }
        }
        for function in &domain.functions {
            self.variables(&function.parameters, Severity::Warning);
        }
    }

    /// Reports names that a list declares more than once.
    pub(super) fn unique(&mut self, what: &str, names: impl Iterator<Item = &'a Name>) {
        let mut seen: FxHashMap<&str, &Name> = FxHashMap::default();
        for name in names {
            let Some(first) = seen.insert(name.key(), name) else { continue };
            let source = self.sink.source;
            self.push(
                Diagnostic::error("pddl.duplicate-name", format!("the {what} `{name}` is declared twice"))
                    .at(source, name.span, "")
                    .also(source, first.span, "also declared here"),
            );
        }
    }

    /// Reports objects that a list declares more than once.
    pub(super) fn unique_objects(&mut self, what: &str, objects: &'a [TypedName]) {
        let mut seen: FxHashMap<&str, &TypedName> = FxHashMap::default();
        for object in objects {
            let Some(first) = seen.insert(object.name.key(), object) else { continue };
            let source = self.sink.source;
            let message = format!("the {what} `{}` is declared twice", object.name);
            self.push(second_object(message, (first, source), (object, source)));
        }
    }

    fn declared_types(&mut self, domain: &'a Domain) {
        if let Some(first) = domain.types.first() {
            self.features.note(Feature::Typing, first.name.span);
        }
        let mut first_of: FxHashMap<&str, &TypedName> = FxHashMap::default();
        for declared in &domain.types {
            let name = &declared.name;
            if name.is("object") {
                let message = "`object` is built in and need not be declared".to_owned();
                self.warning("pddl.object-declared", message, name.span);
                continue;
            }
            match first_of.get(name.key()).copied() {
                None => {
                    first_of.insert(name.key(), declared);
                }
                Some(first) => self.second_declaration(first, declared),
            }
        }
        self.undeclared_parents(domain, &first_of);
        self.type_cycle(domain);
    }

    fn second_declaration(&mut self, first: &TypedName, second: &TypedName) {
        let parent = |entry: &TypedName| entry.ty.as_ref().map(|ty| ty.alternatives.clone());
        let source = self.sink.source;
        let name = &second.name;
        let diagnostic = if parent(first) == parent(second) {
            Diagnostic::warning("pddl.duplicate-name", format!("the type `{name}` is declared twice"))
        } else {
            Diagnostic::warning(
                "pddl.several-parents",
                format!("the type `{name}` is declared under two parents"),
            )
            .help("it is taken to be below both; planners differ here")
        };
        self.push(diagnostic.at(source, name.span, "").also(source, first.name.span, "also declared here"));
    }

    /// Treats an undeclared parent as a type below `object`, but reports a near miss of a declared type as an
    /// error.
    fn undeclared_parents(&mut self, domain: &'a Domain, declared: &FxHashMap<&str, &TypedName>) {
        let mut reported: FxHashSet<&str> = FxHashSet::default();
        for parent in domain.types.iter().filter_map(|t| t.ty.as_ref()).flat_map(|ty| &ty.alternatives) {
            let known = parent.is("object") || declared.contains_key(parent.key());
            if known || !reported.insert(parent.key()) {
                continue;
            }
            if self.sink.is_full() {
                break;
            }
            let mut diagnostic = Diagnostic::warning(
                "pddl.undeclared-parent",
                format!(
                    "the parent type `{parent}` is not declared itself; it is taken to be below `object`"
                ),
            )
            .at(self.sink.source, parent.span, "");
            let known = declared.values().map(|t| t.name.as_str());
            diagnostic.help.extend(self.sink.suggestion(parent.key(), known));
            self.push(diagnostic);
        }
    }

    fn type_cycle(&mut self, domain: &'a Domain) {
        let Some(id) = self.types.cycle() else { return };
        let name = self.types.name(id);
        debug_assert_ne!(id, TypeHierarchy::OBJECT);
        let place = domain.types.iter().find(|t| t.name == *name).map_or(name.span, |t| t.name.span);
        let message = format!("the type `{name}` is below itself");
        self.error("pddl.type-cycle", message, place);
    }
}

/// The warning for the second declaration of an object or constant. It names both types if they differ.
pub(super) fn second_object(
    message: String,
    (first, first_source): (&TypedName, SourceId),
    (second, second_source): (&TypedName, SourceId),
) -> Diagnostic {
    let keys = |entry: &TypedName| {
        let mut keys: Vec<String> = type_names(entry).map(|name| name.to_ascii_lowercase()).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    let warning = |message: String| Diagnostic::warning("pddl.duplicate-name", message);
    if keys(first) == keys(second) {
        return warning(message).at(second_source, second.name.span, "").also(
            first_source,
            first.name.span,
            "also declared here",
        );
    }
    let quoted = |entry: &TypedName| {
        let names: Vec<&str> = type_names(entry).collect();
        match names.as_slice() {
            [name] => format!("`{name}`"),
            names => format!("`(either {})`", names.join(" ")),
        }
    };
    let (of_first, of_second) = (quoted(first), quoted(second));
    warning(format!("{message}: as {of_first} and as {of_second}"))
        .at(second_source, second.name.span, format!("as {of_second}"))
        .also(first_source, first.name.span, format!("also declared here, as {of_first}"))
}

/// The types of an entry as written; `object` if there is none.
fn type_names(entry: &TypedName) -> impl Iterator<Item = &str> {
    let written = entry.ty.iter().flat_map(|ty| &ty.alternatives).map(Name::as_str);
    written.chain(entry.ty.is_none().then_some("object"))
}
