//! Declarations of a knowledge file: types and predicates of the intermediate representation, objects that
//! the domain names, and names for objects that the text only counts.

use crate::codes::program as code;
use crate::library::is_word;
use crate::names::Naming;
use crate::names::mangle;
use crate::syntax::ast::{Atom, Head, Program, Rule, StatementKind, Term};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::Domain;

/// Argument types for numbers, which need no declaration.
pub const NUMBERS: &[&str] = &["number", "row", "column"];

/// The names of the facts that declare something, with their number of arguments.
const FACTS: &[(&str, usize)] =
    &[("ir_type", 2), ("ir_predicate", 2), ("ir_object", 1), ("ir_prefix", 2), ("ir_first_index", 2)];

/// The end of the name of a grid's predicate.
pub(crate) const GRID: &str = "_grid";

/// Everything that a knowledge file declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Declarations {
    /// `ir_type(block, "a block").`
    pub types: Vec<DeclaredType>,
    /// `ir_predicate(floortile_grid(row, column, tile), "...").`
    pub predicates: Vec<DeclaredPredicate>,
    /// `ir_object(wrench).`: objects that the domain names.
    pub objects: Vec<String>,
    /// `ir_prefix(level, l).` and `ir_first_index(level, 0).`
    pub naming: Naming,
}

/// A type that only the representation has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredType {
    pub name: String,
    /// Description of an object of the type.
    pub description: String,
    pub span: Span,
}

/// A predicate that only the representation has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredPredicate {
    pub name: String,
    /// The types of its arguments: of the domain, declared, or one of [`NUMBERS`].
    pub arguments: Vec<String>,
    /// Meaning of the predicate.
    pub description: String,
    pub span: Span,
}

impl Declarations {
    /// True if the file declares this type.
    pub fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|ty| ty.name == name)
    }

    /// Returns the declared predicate with this name and number of arguments.
    pub fn predicate(&self, name: &str, arguments: usize) -> Option<&DeclaredPredicate> {
        self.predicates.iter().find(|p| p.name == name && p.arguments.len() == arguments)
    }

    /// Reads the declarations of a knowledge file and checks them against the domain. Reports directives, which the file must not have.
    pub(crate) fn read(program: &Program, domain: &Domain, source: SourceId) -> (Self, Vec<Diagnostic>) {
        let mut reader = DeclarationReader { found: Self::default(), diagnostics: Vec::new(), source };
        for statement in &program.statements {
            match &statement.kind {
                StatementKind::Directive { name, .. } => {
                    reader.diagnostics.push(directive_error(name, source, statement.span));
                }
                StatementKind::Rule(rule) => {
                    if let Some(atom) = declaration(rule) {
                        reader.read(rule, atom, statement.span);
                    }
                }
            }
        }
        reader.check(domain);
        (reader.found, reader.diagnostics)
    }
}

/// The error for a directive in a text that a program is assembled from.
pub(crate) fn directive_error(name: &str, source: SourceId, span: Span) -> Diagnostic {
    let message = format!("`#{name}` has no place in a program that is assembled from parts");
    Diagnostic::error(code::ASSEMBLED_DIRECTIVE, message)
        .at(source, span, "")
        .help("say it with rules: conflicts with constraints, constants with facts")
}

/// The declaring atom of a rule, where it is one.
pub(crate) fn declaration(rule: &Rule) -> Option<&Atom> {
    match &rule.head {
        Head::Atom(atom) if FACTS.iter().any(|(name, _)| *name == atom.name) => Some(atom),
        _ => None,
    }
}

struct DeclarationReader {
    found: Declarations,
    diagnostics: Vec<Diagnostic>,
    source: SourceId,
}

impl DeclarationReader {
    fn error(&mut self, code: &'static str, message: String, span: Span, help: &str) {
        self.diagnostics.push(Diagnostic::error(code, message).at(self.source, span, "").help(help));
    }

    fn read(&mut self, rule: &Rule, atom: &Atom, span: Span) {
        if !rule.body.is_empty() {
            let message = format!("`{}` is said once and for all, so it has no conditions", atom.name);
            self.error(code::DECLARATION, message, span, "end the statement before `:-`");
            return;
        }
        let read = match (atom.name.as_str(), atom.arguments.as_slice()) {
            ("ir_type", [name, Term::Text(text)]) => name.as_constant().map(|name| {
                let (name, description) = (name.to_owned(), text.clone());
                self.found.types.push(DeclaredType { name, description, span });
            }),
            ("ir_predicate", [Term::Function { name, arguments }, Term::Text(text)]) if !name.is_empty() => {
                arguments.iter().map(|a| a.as_constant().map(str::to_owned)).collect::<Option<Vec<_>>>().map(
                    |arguments| {
                        let (name, description) = (name.clone(), text.clone());
                        self.found.predicates.push(DeclaredPredicate { name, arguments, description, span });
                    },
                )
            }
            ("ir_object", [name]) => name.as_constant().map(|name| self.found.objects.push(name.to_owned())),
            ("ir_prefix", [ty, prefix]) => ty
                .as_constant()
                .zip(prefix.as_constant())
                .map(|(ty, prefix)| self.found.naming.set_prefix(ty, prefix)),
            ("ir_first_index", [ty, Term::Number(first)]) if *first >= 0 => {
                ty.as_constant().map(|ty| self.found.naming.set_first(ty, *first))
            }
            _ => None,
        };
        if read.is_none() {
            let message = format!("`{atom}` declares nothing");
            self.error(
                code::DECLARATION,
                message,
                span,
                "the forms are ir_type(block, \"a block\"), ir_predicate(on_top(block, block), \"X is on Y\"), \
                 ir_object(wrench), ir_prefix(level, l) and ir_first_index(level, 0)",
            );
        }
    }

    fn check(&mut self, domain: &Domain) {
        let types = TypeHierarchy::of(domain);
        let of_domain: Vec<String> = types.names().map(|name| mangle(name.key())).collect();
        for (at, declared) in self.found.types.clone().iter().enumerate() {
            if of_domain.contains(&declared.name) {
                let message = format!("the domain has a type `{}` already", declared.name);
                self.error(
                    code::SHADOWED,
                    message,
                    declared.span,
                    "leave the declaration out or rename the type",
                );
            }
            if self.found.types[..at].iter().any(|other| other.name == declared.name) {
                let message = format!("the type `{}` is declared twice", declared.name);
                self.error(code::DECLARED_TWICE, message, declared.span, "leave one of both out");
            }
        }
        for (at, declared) in self.found.predicates.clone().iter().enumerate() {
            self.check_predicate(domain, declared, at);
            for argument in &declared.arguments {
                let known = of_domain.contains(argument)
                    || self.found.has_type(argument)
                    || NUMBERS.contains(&argument.as_str());
                if !known {
                    let message =
                        format!("`{}` has an argument of the unknown type `{argument}`", declared.name);
                    let help = "name a type of the domain, a type that `ir_type` declares, `row`, `column` or `number`";
                    self.error(code::UNKNOWN_ARGUMENT_TYPE, message, declared.span, help);
                }
            }
        }
    }

    fn check_predicate(&mut self, domain: &Domain, declared: &DeclaredPredicate, at: usize) {
        let name = &declared.name;
        if domain.predicates.iter().any(|p| mangle(p.name.key()) == *name) {
            let message = format!("the domain has a predicate `{name}` already");
            self.error(
                code::SHADOWED,
                message,
                declared.span,
                "leave the declaration out or rename the predicate",
            );
        }
        if is_word(name, declared.arguments.len()) || name.starts_with('_') {
            let message = format!("`{name}` with {} arguments is the library's", declared.arguments.len());
            self.error(code::SHADOWED, message, declared.span, "rename the predicate");
        }
        if self.found.predicates[..at].iter().any(|other| other.name == *name) {
            let message = format!("the predicate `{name}` is declared twice");
            self.error(code::DECLARED_TWICE, message, declared.span, "leave one of both out");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str =
        "(define (domain d) (:types tile) (:predicates (clear ?t - tile) (robot-at ?t - tile)))";

    fn read(knowledge: &str) -> (Declarations, Vec<Diagnostic>) {
        let domain = planforge_pddl::parse_domain(DOMAIN, SourceId(0)).value;
        let parsed = crate::syntax::parse(knowledge, SourceId(1));
        assert_eq!(parsed.diagnostics, []);
        Declarations::read(&parsed.program, &domain, SourceId(1))
    }

    #[test]
    fn every_form_is_read() {
        let (found, diagnostics) = read(
            "ir_type(robot, \"a robot\"). ir_predicate(tile_grid(row, column, tile), \"where T is\").
             ir_predicate(lit, \"the light is on\"). ir_object(wrench). ir_prefix(level, l). ir_first_index(level, 0).
             init(clear(T)) :- object(T, tile).",
        );
        assert_eq!(diagnostics, []);
        assert!(found.has_type("robot") && !found.has_type("tile"));
        assert_eq!(found.predicate("tile_grid", 3).map(|p| p.description.as_str()), Some("where T is"));
        assert!(found.predicate("lit", 0).is_some() && found.predicate("lit", 1).is_none());
        assert_eq!(found.objects, ["wrench"]);
        assert_eq!((found.naming.first("level"), found.naming.name("level", 0)), (0, "l0".to_owned()));
        assert_eq!((found.naming.first("shot"), found.naming.name("shot", 5)), (1, "shot5".to_owned()));
    }

    #[test]
    fn each_mistake_gets_its_code() {
        for (knowledge, code) in [
            ("ir_type(robot).", code::DECLARATION),
            ("ir_type(\"robot\", \"a robot\").", code::DECLARATION),
            ("ir_type(robot, \"a robot\") :- object(x, tile).", code::DECLARATION),
            ("ir_first_index(tile, -1).", code::DECLARATION),
            ("ir_predicate(tile_grid(R, C, T), \"\").", code::DECLARATION),
            ("ir_type(tile, \"a tile\").", code::SHADOWED),
            ("ir_predicate(robot_at(tile), \"\").", code::SHADOWED),
            ("ir_predicate(clear(tile, tile), \"\").", code::SHADOWED),
            ("ir_predicate(object(tile, tile), \"\").", code::SHADOWED),
            ("ir_predicate(next_row(tile, tile, tile), \"\").", code::SHADOWED),
            ("ir_type(a, \"\"). ir_type(a, \"\").", code::DECLARED_TWICE),
            ("ir_predicate(a(tile), \"\"). ir_predicate(a(tile), \"\").", code::DECLARED_TWICE),
            ("ir_predicate(a(robot), \"\").", code::UNKNOWN_ARGUMENT_TYPE),
        ] {
            let (_, diagnostics) = read(knowledge);
            let codes: Vec<&str> = diagnostics.iter().map(|d| d.code.as_ref()).collect();
            assert_eq!(codes, [code], "{knowledge}");
            assert!(!diagnostics[0].labels.is_empty() && !diagnostics[0].help.is_empty(), "{knowledge}");
        }
    }
}
