//! Types, objects, predicates and functions by number.

use crate::lifted::Predicate;
use crate::task::{ObjectId, SourcePlace, Symbols, TaskText, Unsupported};
use planforge_diagnostics::Diagnostic;
use planforge_pddl::Name;
use planforge_pddl::ast::{self, TypeRef, TypedName};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Most members of all types together: an object is a member of each type above its own.
const MAX_MEMBERS: usize = 20_000_000;

fn too_many_members(name: &Name, text: TaskText) -> Unsupported {
    let what = format!("a task whose objects are members of more than {MAX_MEMBERS} types in all");
    Unsupported { what, place: SourcePlace { text, span: name.span } }
}

/// Everything that names resolve to.
pub(crate) struct Tables {
    /// Set if there are more than [`MAX_MEMBERS`]. Nothing is read after the object that reaches them.
    pub(super) too_many_members: Option<Unsupported>,
    pub(crate) symbols: Symbols,
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) function_arity: Vec<usize>,
    objects: FxHashMap<Name, ObjectId>,
    predicate_ids: FxHashMap<Name, u32>,
    function_ids: FxHashMap<Name, u32>,
    /// Objects of each type, ascending; `object` has all.
    members: FxHashMap<Name, Arc<[ObjectId]>>,
    declared_types: Vec<Vec<String>>,
}

/// A type as written, `object` where none is.
pub(crate) fn type_text(ty: Option<&TypeRef>) -> String {
    match ty {
        None => "object".to_owned(),
        Some(t) if t.is_either() => {
            let names: Vec<&str> = t.alternatives.iter().map(Name::as_str).collect();
            format!("(either {})", names.join(" "))
        }
        Some(t) => t.alternatives.first().map_or("object", Name::as_str).to_owned(),
    }
}

impl Tables {
    pub(crate) fn new(
        domain: &ast::Domain,
        problem: &ast::Problem,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut tables = Tables {
            too_many_members: None,
            symbols: Symbols::default(),
            predicates: Vec::new(),
            function_arity: Vec::new(),
            objects: FxHashMap::default(),
            predicate_ids: FxHashMap::default(),
            function_ids: FxHashMap::default(),
            members: FxHashMap::default(),
            declared_types: Vec::new(),
        };
        tables.read_objects(domain, problem, diagnostics);
        if tables.too_many_members.is_some() {
            return tables;
        }
        let names = domain.actions.iter().map(|action| &action.name);
        let names = names.chain(domain.durative_actions.iter().map(|action| &action.name));
        tables.symbols.actions = names.map(|name| name.as_str().to_owned()).collect();
        tables.read_predicates(domain, diagnostics);
        for function in &domain.functions {
            if !tables.function_ids.contains_key(&function.name) {
                tables.function_ids.insert(function.name.clone(), tables.function_arity.len() as u32);
                tables.function_arity.push(function.parameters.len());
                tables.symbols.functions.push(function.name.as_str().to_owned());
            }
        }
        tables
    }

    /// Numbers the objects and spreads each over its types and all their ancestors.
    fn read_objects(
        &mut self,
        domain: &ast::Domain,
        problem: &ast::Problem,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut parents: FxHashMap<Name, Vec<Name>> = FxHashMap::default();
        for typed in &domain.types {
            let entry = parents.entry(typed.name.clone()).or_default();
            entry.extend(typed.ty.iter().flat_map(|t| t.alternatives.iter().cloned()));
        }
        let named: Vec<Name> = parents.values().flatten().cloned().collect();
        for parent in named {
            parents.entry(parent).or_default();
        }
        let mut members: FxHashMap<Name, Vec<ObjectId>> =
            parents.keys().map(|n| (n.clone(), vec![])).collect();
        members.entry(Name::synthetic("object")).or_default();
        let lists = [(&domain.constants, TaskText::Domain), (&problem.objects, TaskText::Problem)];
        let mut count = 0;
        for (list, text) in lists {
            for typed in list {
                count += self.read_object(typed, text, &parents, &mut members, diagnostics);
                if count > MAX_MEMBERS {
                    self.too_many_members = Some(too_many_members(&typed.name, text));
                    return;
                }
            }
        }
        for (name, mut objects) in members {
            objects.sort_unstable();
            objects.dedup();
            self.members.insert(name, objects.into());
        }
    }

    /// Returns the number of types that the object has.
    fn read_object(
        &mut self,
        typed: &TypedName,
        text: TaskText,
        parents: &FxHashMap<Name, Vec<Name>>,
        members: &mut FxHashMap<Name, Vec<ObjectId>>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> usize {
        let fresh = self.symbols.objects.len() as ObjectId;
        let id = *self.objects.entry(typed.name.clone()).or_insert(fresh);
        if id == fresh {
            self.symbols.objects.push(typed.name.as_str().to_owned());
            self.declared_types.push(Vec::new());
        }
        self.declared_types[id as usize].push(type_text(typed.ty.as_ref()));
        let mut open: Vec<Name> = typed.ty.iter().flat_map(|t| t.alternatives.iter().cloned()).collect();
        for name in &open {
            if !members.contains_key(name) {
                diagnostics.push(undefined_name("type", name, text));
            }
        }
        open.push(Name::synthetic("object"));
        let mut seen: FxHashSet<Name> = FxHashSet::default();
        while let Some(name) = open.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            if let Some(list) = members.get_mut(&name) {
                list.push(id);
            }
            open.extend(parents.get(&name).into_iter().flatten().cloned());
        }
        seen.len()
    }

    fn read_predicates(&mut self, domain: &ast::Domain, diagnostics: &mut Vec<Diagnostic>) {
        for declared in &domain.predicates {
            if self.predicate_ids.contains_key(&declared.name) {
                continue;
            }
            let arguments = declared
                .parameters
                .iter()
                .map(|p| self.objects_of(p.ty.as_ref(), TaskText::Domain, diagnostics))
                .collect();
            self.predicate_ids.insert(declared.name.clone(), self.predicates.len() as u32);
            self.symbols.predicates.push(declared.name.as_str().to_owned());
            self.predicates.push(Predicate {
                arity: declared.parameters.len(),
                arguments,
                derived: false,
                fluent: false,
                span: declared.span,
            });
        }
        for rule in &domain.derived {
            match self.predicate_ids.get(&rule.predicate) {
                Some(&id) => {
                    self.predicates[id as usize].derived = true;
                    self.predicates[id as usize].fluent = true;
                }
                None => diagnostics.push(undefined_name("predicate", &rule.predicate, TaskText::Domain)),
            }
        }
    }

    /// The objects of a type, all of them where none is written.
    pub(crate) fn objects_of(
        &self,
        ty: Option<&TypeRef>,
        text: TaskText,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Arc<[ObjectId]> {
        let all = || (0..self.symbols.objects.len() as ObjectId).collect();
        let Some(ty) = ty else { return all() };
        if let [name] = ty.alternatives.as_slice()
            && let Some(objects) = self.members.get(name)
        {
            return Arc::clone(objects);
        }
        let mut objects: Vec<ObjectId> = Vec::new();
        for name in &ty.alternatives {
            match self.members.get(name) {
                Some(members) => objects.extend_from_slice(members),
                None => diagnostics.push(undefined_name("type", name, text)),
            }
        }
        objects.sort_unstable();
        objects.dedup();
        objects.into()
    }

    pub(crate) fn object(&self, name: &Name) -> Option<ObjectId> {
        self.objects.get(name).copied()
    }

    pub(crate) fn predicate(&self, name: &Name) -> Option<u32> {
        self.predicate_ids.get(name).copied()
    }

    pub(crate) fn function(&self, name: &Name) -> Option<u32> {
        self.function_ids.get(name).copied()
    }

    pub(crate) fn object_types(&self) -> Vec<String> {
        self.declared_types.iter().map(|types| types.join(", ")).collect()
    }
}

/// The diagnostic for a name that nothing declares.
pub(crate) fn undefined_name(kind: &str, name: &Name, text: TaskText) -> Diagnostic {
    Diagnostic::error("planning.undefined", format!("the {kind} {name} is not declared"))
        .at(text.source(), name.span, "not declared")
        .help(format!("declare {name}, or correct its spelling"))
}
