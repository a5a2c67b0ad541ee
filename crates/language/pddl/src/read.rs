//! The reader: from lists and atoms to the typed tree. It never fails; what it cannot read it reports and leaves out.
//!
//! Typed lists are `a b - t c - (either t u) d`, for types, objects, parameters and functions.

mod condition;
mod definition;

use crate::ast::{Domain, FunctionDecl, Parsed, PredicateDecl, Problem, Section, TypeRef, TypedName};
use crate::name::Name;
use crate::sexpr;
use crate::sexpr::{Children, NodeId, Tree};
use crate::sink::Sink;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Reads the domain in a text. Further definitions in the text are reported and skipped.
pub fn parse_domain(text: &str, source: SourceId) -> Parsed<Domain> {
    parse(text, source, "domain", |reader, define| reader.domain(define))
}

/// Reads the problem in a text. Further definitions in the text are reported and skipped.
pub fn parse_problem(text: &str, source: SourceId) -> Parsed<Problem> {
    parse(text, source, "problem", |reader, define| reader.problem(define))
}

fn parse<T: Default>(
    text: &str,
    source: SourceId,
    kind: &str,
    read: impl FnOnce(&mut TreeReader<'_, '_>, NodeId) -> T,
) -> Parsed<T> {
    if let Some(refusal) = crate::bytes::refuse_text(text, source) {
        return Parsed { value: T::default(), diagnostics: vec![refusal] };
    }
    let mut sink = Sink::new(source);
    let tree = sexpr::read(text, &mut sink);
    let mut reader = TreeReader {
        tree: &tree,
        names: FxHashMap::default(),
        hierarchical: false,
        alternatives: 0,
        too_many_types: false,
        sink,
    };
    let value = if tree.too_deep {
        T::default()
    } else {
        reader.definition(kind).map(|define| read(&mut reader, define)).unwrap_or_default()
    };
    let value = if reader.too_many_types { T::default() } else { value };
    Parsed { value, diagnostics: reader.sink.finish() }
}

/// Reads typed trees off a tree of lists.
struct TreeReader<'a, 't> {
    tree: &'a Tree<'t>,
    names: FxHashMap<&'t str, Name>,
    /// True if the definition has sections of HDDL.
    hierarchical: bool,
    /// Types that `either` has given to names.
    alternatives: usize,
    /// True after a limit on types was passed; nothing of the text is then used.
    too_many_types: bool,
    sink: Sink,
}

impl<'a, 't> TreeReader<'a, 't> {
    /// Finds the definition of that kind. Reports other content outside every list.
    fn definition(&mut self, kind: &str) -> Option<NodeId> {
        let tree = self.tree;
        let defines: Vec<NodeId> = tree.roots().filter(|id| tree.head_is(*id, "define")).collect();
        let chosen = defines.iter().copied().find(|id| self.is_definition_of(*id, kind));
        let other = if kind == "domain" { "problem" } else { "domain" };
        let chosen = match (chosen, defines.first()) {
            (Some(chosen), _) => chosen,
            (None, Some(&first)) if self.is_definition_of(first, other) => {
                self.error(
                    "pddl.wrong-kind",
                    format!("this text defines a {other}, not a {kind}"),
                    self.head_span(first),
                );
                return None;
            }
            // Neither `(domain` nor `(problem` was recognised: read it as the requested kind.
            (None, Some(&first)) => first,
            (None, None) => {
                let place = tree.roots().next().map_or(Span::empty(0), |id| tree.span(id));
                let diagnostic =
                    Diagnostic::error("pddl.no-definition", "the text contains no `(define ...)`")
                        .at(self.sink.source, place, "")
                        .help(format!("a {kind} begins with `(define ({kind} NAME)`"));
                self.sink.push(diagnostic);
                return None;
            }
        };
        self.report_outside(kind, chosen);
        Some(chosen)
    }

    fn is_definition_of(&self, define: NodeId, kind: &str) -> bool {
        self.tree.children(define).any(|id| self.tree.head_is(id, kind))
    }

    /// Reports text outside the chosen definition: another definition of the same kind makes the text
    /// ambiguous.
    fn report_outside(&mut self, kind: &str, chosen: NodeId) {
        let tree = self.tree;
        let mut run: Option<Span> = None;
        for id in tree.roots().filter(|id| *id != chosen) {
            if tree.head_is(id, "define") {
                let span = self.head_span(id);
                if self.is_definition_of(id, kind) {
                    self.error("pddl.several-definitions", format!("the text defines a second {kind}"), span);
                } else {
                    self.warning("pddl.other-definition", "this definition is not read here", span);
                }
            } else if tree.head_is(id, "in-package") {
                self.warning("pddl.lisp-form", "this form of Lisp means nothing in PDDL", tree.span(id));
            } else {
                run = Some(run.map_or(tree.span(id), |span| span.to(tree.span(id))));
            }
        }
        if let Some(span) = run {
            let place = if self.tree.span(chosen).start > span.start { "before" } else { "after" };
            self.error("pddl.stray-token", format!("there is text {place} the definition"), span);
        }
    }

    /// The opening parenthesis and the head of a list, to point at a list without underlining all of it.
    fn head_span(&self, list: NodeId) -> Span {
        let span = self.tree.span(list);
        let end = self
            .tree
            .children(list)
            .next()
            .filter(|head| !self.tree.is_list(*head))
            .map_or(span.start + 1, |head| self.tree.span(head).end);
        Span::new(span.start, end)
    }

    /// The name written at an atom. Equal spellings share one text.
    fn name(&mut self, id: NodeId) -> Name {
        let span = self.tree.span(id);
        let text = self.tree.text(id);
        if let Some(name) = self.names.get(text) {
            return name.at(span);
        }
        self.check_characters(text, span);
        let name = Name::new(text, span);
        self.names.insert(text, name.clone());
        name
    }

    /// Reports, once for each spelling, characters that no PDDL reader takes in a name.
    fn check_characters(&mut self, text: &str, span: Span) {
        let bad =
            |c: char| c.is_control() || matches!(c, ',' | '"' | '\'' | '`' | '[' | ']' | '{' | '}' | '\\');
        if let Some((at, c)) = text.char_indices().find(|(_, c)| bad(*c)) {
            let start = span.start + at as u32;
            let place = Span::new(start, start + c.len_utf8() as u32);
            let message = format!("`{}` cannot be part of a name", c.escape_default());
            self.error("pddl.invalid-character", message, place);
        } else if !text.is_ascii() {
            let message = "names outside ASCII are read here, but by few planners";
            self.warning("pddl.non-ascii-name", message, span);
        }
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        let diagnostic = Diagnostic::error(code, message).at(self.sink.source, span, "");
        self.sink.push(diagnostic);
    }

    fn warning(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        let diagnostic = Diagnostic::warning(code, message).at(self.sink.source, span, "");
        self.sink.push(diagnostic);
    }

    /// An error with one way out.
    fn error_help(&mut self, code: &'static str, message: String, span: Span, help: impl Into<String>) {
        let diagnostic = Diagnostic::error(code, message).at(self.sink.source, span, "").help(help);
        self.sink.push(diagnostic);
    }

    /// A word that is none of those known, with the nearest of them.
    fn unknown_word(&mut self, code: &'static str, what: &str, span: Span, known: &[&str]) {
        let word = &self.tree.text[span.range()];
        let mut diagnostic =
            Diagnostic::error(code, format!("unknown {what} `{word}`")).at(self.sink.source, span, "");
        diagnostic.help.extend(self.sink.suggestion(word, known.iter().copied()));
        self.sink.push(diagnostic);
    }

    /// Reports everything left of a list as not belonging there.
    fn expect_end(&mut self, mut rest: Children<'a, 't>, whose: &str) {
        let Some(first) = rest.next() else { return };
        let span = rest.fold(self.tree.span(first), |span, id| span.to(self.tree.span(id)));
        self.error("pddl.stray-token", format!("{whose} ends before this"), span);
    }

    /// The single atom that a list such as `(:domain NAME)` or `(problem NAME)` holds.
    fn only_name(&mut self, list: NodeId, what: &str) -> Option<Name> {
        let mut children = self.tree.children(list);
        children.next();
        let name = match children.next() {
            Some(id) if !self.tree.is_list(id) => Some(self.name(id)),
            _ => {
                self.error("pddl.missing-name", format!("the {what} has no name"), self.tree.span(list));
                None
            }
        };
        self.expect_end(children, &format!("the {what}'s name"));
        name
    }

    /// Notes a section and reports a second one of the same keyword, whose content is still read.
    fn note_section(&mut self, sections: &mut Vec<Section>, list: NodeId, keyword: NodeId, repeats: bool) {
        let keyword = self.name(keyword);
        if !repeats && let Some(first) = sections.iter().find(|s| s.keyword == keyword) {
            let diagnostic =
                Diagnostic::error("pddl.duplicate-section", format!("`{keyword}` is given a second time"))
                    .at(self.sink.source, self.head_span(list), "")
                    .also(self.sink.source, first.keyword.span, "first given here")
                    .help("move everything into one section");
            self.sink.push(diagnostic);
        }
        sections.push(Section { keyword, span: self.tree.span(list) });
    }

    /// Reports a section that a definition cannot do without.
    fn require_section(&mut self, sections: &[Section], keyword: &str, define: NodeId, error: bool) {
        if sections.iter().any(|s| s.keyword.is(keyword)) {
            return;
        }
        let message = format!("there is no `({keyword} ...)`");
        let place = self.head_span(define);
        if error {
            self.error("pddl.missing-section", message, place);
        } else {
            self.warning("pddl.missing-section", message, place);
        }
    }
}

/// Most variables of one list: a look-up takes time linear in their number.
const MAX_PARAMETERS: usize = 1000;

/// Most types that the `either` of one text give to names, in all.
const MAX_ALTERNATIVES: usize = 1_000_000;

/// Most pairs of a type and one of its ancestors.
const MAX_TYPE_PAIRS: usize = 1_000_000;

/// Kind of the names in a typed list.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Entry {
    Variable,
    Object,
    Type,
}

impl<'a, 't> TreeReader<'a, 't> {
    /// Reads entries to the end of `rest`.
    fn typed_list(&mut self, mut rest: Children<'a, 't>, entry: Entry) -> Vec<TypedName> {
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
        let ty = self.affordable_type(list.len() - *typed, ty);
        for entry in &mut list[*typed..] {
            entry.ty = ty.clone();
        }
        *typed = list.len();
    }

    /// The type for so many names. Each name has a list of its own, so a short text with a wide `either` can need
    /// a long one.
    fn affordable_type(&mut self, names: usize, ty: Option<TypeRef>) -> Option<TypeRef> {
        let ty = ty?;
        if !ty.is_either() {
            return Some(ty);
        }
        let types = ty.alternatives.len();
        self.alternatives = self.alternatives.saturating_add(names.saturating_mul(types));
        if self.alternatives <= MAX_ALTERNATIVES {
            return Some(ty);
        }
        if !self.too_many_types {
            let message = format!(
                "`either` gives {names} names {types} types each, with those before {} in all; at most \
                 {MAX_ALTERNATIVES} are read",
                self.alternatives
            );
            let span = Span::new(ty.span.start, (ty.span.start + 7).min(ty.span.end));
            self.error_help("pddl.too-many-types", message, span, "declare one type above these types");
        }
        self.too_many_types = true;
        None
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
    fn parameter_list(&mut self, id: NodeId) -> Vec<TypedName> {
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
    fn declaration(&mut self, id: NodeId, what: &str) -> Option<PredicateDecl> {
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
    fn functions(&mut self, mut rest: Children<'a, 't>) -> Vec<FunctionDecl> {
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
                let ty = self.affordable_type(list.len() - typed, ty);
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
    fn object_fluent(&mut self, span: planforge_diagnostics::Span) {
        let message = "functions with objects as values (PDDL 3.1) are not supported".to_owned();
        let help = "use a predicate that holds for exactly one object instead";
        self.error_help("pddl.object-fluent", message, span, help);
    }
}
