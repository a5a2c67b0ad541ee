//! The type hierarchy of a domain.

use crate::ast::{Domain, TypeRef};
use crate::name::Name;
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
