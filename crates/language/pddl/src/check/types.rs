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
}

impl TypeHierarchy {
    /// The root of every hierarchy.
    pub const OBJECT: TypeId = 0;

    /// The types a domain declares.
    pub fn of(domain: &Domain) -> Self {
        let mut types = Self { names: Vec::new(), parents: Vec::new(), ids: FxHashMap::default() };
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
        types
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

    /// Returns true if `below` is `above` or a descendant of it. Terminates on cycles.
    pub fn is_subtype(&self, below: TypeId, above: TypeId) -> bool {
        if above == Self::OBJECT || below == above {
            return true;
        }
        // Short chains need no set.
        const FEW: usize = 16;
        let mut list: SmallVec<[TypeId; FEW]> = SmallVec::from_slice(&[below]);
        let mut seen: FxHashSet<TypeId> = FxHashSet::default();
        let mut next = 0;
        while next < list.len() {
            for &parent in self.parents(list[next]) {
                if parent == above {
                    return true;
                }
                if list.len() == FEW && seen.is_empty() {
                    seen.extend(&list);
                }
                let fresh = if list.len() < FEW { !list.contains(&parent) } else { seen.insert(parent) };
                if fresh {
                    list.push(parent);
                }
            }
            next += 1;
        }
        false
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
        let below_wanted = |id: TypeId| wanted.iter().any(|&w| self.is_subtype(id, w));
        if given.iter().all(|&g| below_wanted(g)) {
            return TypeFit::Always;
        }
        let shared = |id: TypeId| below_wanted(id) && given.iter().any(|&g| self.is_subtype(id, g));
        if (0..self.names.len() as TypeId).any(shared) { TypeFit::Sometimes } else { TypeFit::Never }
    }
}
