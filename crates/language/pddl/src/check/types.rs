//! Checks of the declarations: types, duplicates, clashing names.

use super::{Checker, Feature};
use crate::ast::{Domain, TypedName};
use crate::hierarchy::TypeHierarchy;
use crate::name::Name;
use planforge_diagnostics::{Diagnostic, Severity, SourceId};
use rustc_hash::{FxHashMap, FxHashSet};

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
            if declared.ty.iter().flat_map(|ty| &ty.alternatives).any(|parent| parent == name) {
                let message = format!(
                    "the type `{name}` is declared below itself, with all names before it that have no type"
                );
                let help = "write `- object` behind names that are below no other type";
                self.push(
                    Diagnostic::warning("pddl.own-parent", message)
                        .at(self.sink.source, name.span, "")
                        .help(help),
                );
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
