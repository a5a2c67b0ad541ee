//! Typed lists: `a b - t c - (either t u) d`, for types, objects, parameters and functions.

use super::TreeReader;
use crate::ast::{FunctionDecl, PredicateDecl, TypeRef, TypedName};
use crate::name::Name;
use crate::sexpr::{Children, NodeId};
use planforge_diagnostics::Diagnostic;
use smallvec::SmallVec;

/// Most variables of one list: a look-up takes time linear in their number.
const MAX_PARAMETERS: usize = 1000;

/// Kind of the names in a typed list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Entry {
    Variable,
    Object,
    Type,
}

impl<'a, 't> TreeReader<'a, 't> {
    /// Reads entries to the end of `rest`.
    pub(super) fn typed_list(&mut self, mut rest: Children<'a, 't>, entry: Entry) -> Vec<TypedName> {
        let mut list: Vec<TypedName> = Vec::new();
        let mut typed = 0;
        while let Some(id) = rest.next() {
            if self.tree.is_list(id) {
                self.list_in_typed_list(id, entry);
                continue;
            }
            let text = self.tree.text(id);
            if text == "-" {
                // No type is called like a variable: the type before one was left out.
                let is_type =
                    |next: &NodeId| !self.tree.atom(*next).is_some_and(|word| word.starts_with('?'));
                let ty = match rest.peek().filter(is_type) {
                    Some(next) => {
                        rest.next();
                        self.type_ref(next)
                    }
                    None => {
                        self.error("pddl.missing-type", "a type is missing after `-`", self.tree.span(id));
                        None
                    }
                };
                self.give_type(&mut list, &mut typed, id, ty);
            } else if text.len() > 1 && text.starts_with('-') {
                let ty = self.glued_type(id);
                self.give_type(&mut list, &mut typed, id, Some(ty));
            } else if let Some(name) = self.entry_name(id, entry) {
                list.push(TypedName { name, ty: None });
            }
        }
        list
    }

    /// Gives the names since the last type this one.
    fn give_type(&mut self, list: &mut [TypedName], typed: &mut usize, dash: NodeId, ty: Option<TypeRef>) {
        if *typed == list.len() {
            self.error("pddl.stray-token", "there is no name before this `-`", self.tree.span(dash));
        }
        for entry in &mut list[*typed..] {
            entry.ty = ty.clone();
        }
        *typed = list.len();
    }

    /// `-block` for `- block`.
    fn glued_type(&mut self, id: NodeId) -> TypeRef {
        let mut span = self.tree.span(id);
        let diagnostic = Diagnostic::warning("pddl.glued-dash", "a space is missing after `-`")
            .at(self.sink.source, span, "")
            .help("planners read this as a name that begins with a dash");
        self.sink.push(diagnostic);
        span.start += 1;
        TypeRef::single(Name::new(&self.tree.text[span.range()], span))
    }

    fn entry_name(&mut self, id: NodeId, entry: Entry) -> Option<Name> {
        let name = self.name(id);
        let is_variable = name.as_str().starts_with('?');
        match (entry, is_variable) {
            (Entry::Variable, true) | (Entry::Object | Entry::Type, false) => Some(name),
            (Entry::Variable, false) => {
                let help = format!("write `?{name}`");
                self.error_help(
                    "pddl.expected-variable",
                    format!("`{name}` is not a variable"),
                    name.span,
                    help,
                );
                Some(Name::new(&format!("?{name}"), name.span))
            }
            (Entry::Object | Entry::Type, true) => {
                let message = format!("a variable such as `{name}` cannot be declared here");
                self.error("pddl.unexpected-variable", message, name.span);
                None
            }
        }
    }

    fn list_in_typed_list(&mut self, id: NodeId, entry: Entry) {
        let what = match entry {
            Entry::Variable => "parameters",
            Entry::Object => "objects",
            Entry::Type => "types",
        };
        let help = format!("{what} are written without parentheses: `a b - t`");
        self.error_help("pddl.unexpected-list", format!("a list among {what}"), self.head_span(id), help);
    }

    /// A type name or `(either ...)`.
    fn type_ref(&mut self, id: NodeId) -> Option<TypeRef> {
        if !self.tree.is_list(id) {
            return Some(TypeRef::single(self.name(id)));
        }
        let span = self.tree.span(id);
        let mut children = self.tree.children(id);
        if !self.tree.head_is(id, "either") {
            let help = "a type is a name or `(either a b)`";
            self.error_help("pddl.unexpected-list", "this list is not a type".into(), span, help);
            return None;
        }
        children.next();
        let mut alternatives = SmallVec::new();
        for child in children {
            if self.tree.is_list(child) {
                self.error("pddl.unexpected-list", "a list among type names", self.tree.span(child));
            } else {
                alternatives.push(self.name(child));
            }
        }
        if alternatives.is_empty() {
            self.error("pddl.missing-type", "`either` names no type", span);
            return None;
        }
        Some(TypeRef { alternatives, span })
    }

    /// The parameter list of an action or a quantifier: a list of variables.
    pub(super) fn parameter_list(&mut self, id: NodeId) -> Vec<TypedName> {
        if self.tree.is_list(id) {
            let mut list = self.typed_list(self.tree.children(id), Entry::Variable);
            if list.len() > MAX_PARAMETERS {
                let message = format!("{} variables; at most {MAX_PARAMETERS} are read", list.len());
                self.error("pddl.too-many-parameters", message, self.head_span(id));
                list.truncate(MAX_PARAMETERS);
            }
            return list;
        }
        let help = "write `(?x - type ...)`, or `()` for none";
        let message = "a list of variables is expected".to_owned();
        self.error_help("pddl.expected-list", message, self.tree.span(id), help);
        Vec::new()
    }

    /// Reads `(name ?x - t ...)`, the declaration of a predicate or function.
    pub(super) fn declaration(&mut self, id: NodeId, what: &str) -> Option<PredicateDecl> {
        let span = self.tree.span(id);
        if !self.tree.is_list(id) {
            let name = self.name(id);
            let message = format!("the {what} `{name}` needs parentheses");
            self.error_help("pddl.expected-list", message, span, format!("write `({name})`"));
            if !name.as_str().starts_with(|c: char| c.is_alphabetic()) {
                return None;
            }
            return Some(PredicateDecl { name, parameters: Vec::new(), span });
        }
        let mut children = self.tree.children(id);
        match children.next() {
            Some(head) if !self.tree.is_list(head) => {
                let name = self.name(head);
                if name.as_str().starts_with('?') {
                    let message = format!("`{name}` cannot be a {what}'s name");
                    self.error("pddl.unexpected-variable", message, name.span);
                    return None;
                }
                let parameters = self.typed_list(children, Entry::Variable);
                Some(PredicateDecl { name, parameters, span })
            }
            _ => {
                self.error("pddl.missing-name", format!("the {what} has no name"), span);
                None
            }
        }
    }

    /// `(f ?x) (g) - number (h)`: a typed list of declarations.
    pub(super) fn functions(&mut self, mut rest: Children<'a, 't>) -> Vec<FunctionDecl> {
        let mut list: Vec<FunctionDecl> = Vec::new();
        let mut typed = 0;
        while let Some(id) = rest.next() {
            if self.tree.atom(id) == Some("-") {
                let ty = rest.next().and_then(|ty| self.type_ref(ty));
                match &ty {
                    None => {
                        self.error("pddl.missing-type", "a type is missing after `-`", self.tree.span(id))
                    }
                    Some(ty) if !ty.alternatives.iter().all(|t| t.is("number")) => {
                        self.object_fluent(ty.span)
                    }
                    Some(_) => {}
                }
                for function in &mut list[typed..] {
                    function.ty.clone_from(&ty);
                }
                typed = list.len();
            } else if let Some(decl) = self.declaration(id, "function") {
                let PredicateDecl { name, parameters, span } = decl;
                list.push(FunctionDecl { name, parameters, ty: None, span });
            }
        }
        list
    }

    /// Functions with objects as values: recognised, not read.
    pub(super) fn object_fluent(&mut self, span: planforge_diagnostics::Span) {
        let message = "functions with objects as values (PDDL 3.1) are not supported".to_owned();
        let help = "use a predicate that holds for exactly one object instead";
        self.error_help("pddl.object-fluent", message, span, help);
    }
}
