//! Checks of the rules of a knowledge file. A rule with an unknown name never applies, or always does behind
//! `not`, and the problem would differ from what was meant. So every name is resolved before anything is
//! solved.

use crate::Declarations;
use crate::codes::program as code;
use crate::declarations::{GRID, declaration};
use crate::library::{self, is_word};
use crate::reader::{Signature, nearest, unbound};
use crate::syntax::ast::{Atom, Program, Rule, StatementKind, Term};
use crate::syntax::walk::{body_atoms, head_atoms};
use crate::syntax::{MOST_KEPT, sort_and_limit};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::Domain;
use std::collections::BTreeSet;

/// Names that are listed where none is near.
const MOST_LISTED: usize = 12;

/// Words of the library whose first argument is a type.
const OF_TYPES: &[&str] =
    &["cardinality", "missing", "generated", "index", "amount", "first", "last", "follows"];
/// Words of the library whose first argument is a grid.
const OF_GRIDS: &[&str] = &["grid", "next_row", "next_column", "adjacent"];

/// Reads a knowledge file: its declarations, checked against the domain, and diagnostics of its declarations and rules (unknown names,
/// unbound variables, directives).
pub fn read_knowledge(
    program: &Program,
    domain: &Domain,
    source: SourceId,
) -> (Declarations, Vec<Diagnostic>) {
    let (declarations, mut diagnostics) = Declarations::read(program, domain, source);
    diagnostics.extend(check(program, domain, &declarations, source));
    (declarations, diagnostics)
}

/// Finds names that nothing has and variables that nothing binds in the rules of a knowledge file.
fn check(program: &Program, domain: &Domain, declared: &Declarations, source: SourceId) -> Vec<Diagnostic> {
    let rules: Vec<&Rule> = program
        .statements
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Rule(rule) if declaration(rule).is_none() => Some(rule),
            _ => None,
        })
        .collect();
    let heads = rules.iter().flat_map(|rule| head_atoms(rule));
    let mut checker = Checker {
        signature: Signature::new(domain, declared),
        grids: declared
            .predicates
            .iter()
            .filter_map(|p| p.name.strip_suffix(GRID))
            .map(str::to_owned)
            .collect(),
        helpers: heads.map(|head| (head.name.clone(), head.arguments.len())).collect(),
        source,
        reported: BTreeSet::new(),
        left_out: 0,
        found: Vec::new(),
    };
    for rule in rules {
        checker.found.extend(unbound(rule, source));
        head_atoms(rule).into_iter().for_each(|atom| checker.atom(atom));
        body_atoms(rule).for_each(|atom| checker.atom(atom));
    }
    sort_and_limit(checker.found, checker.left_out, source)
}

struct Checker {
    signature: Signature,
    /// Names of declared grids.
    grids: BTreeSet<String>,
    /// Predicates that the file's own rules derive.
    helpers: BTreeSet<(String, usize)>,
    source: SourceId,
    /// Starts and messages of the errors about names.
    reported: BTreeSet<(u32, String)>,
    /// Unknown names beyond those that are kept.
    left_out: usize,
    found: Vec<Diagnostic>,
}

impl Checker {
    fn error(&mut self, message: String, span: Span, help: String) {
        if self.reported.insert((span.start, message.clone())) {
            self.found
                .push(Diagnostic::error(code::KNOWLEDGE_NAME, message).at(self.source, span, "").help(help));
        }
    }

    fn atom(&mut self, atom: &Atom) {
        let (name, count) = (atom.name.as_str(), atom.arguments.len());
        match (name, atom.arguments.as_slice()) {
            ("init" | "goal", [fact]) => self.fact(name, fact, atom.span),
            ("object", [_, ty]) => self.ty(ty, atom.span),
            _ if is_word(name, count) && OF_TYPES.contains(&name) => self.ty(&atom.arguments[0], atom.span),
            _ if is_word(name, count) && OF_GRIDS.contains(&name) => self.grid(&atom.arguments[0], atom.span),
            _ if is_word(name, count) || self.helpers.contains(&(name.to_owned(), count)) => {}
            _ => self.predicate(name, count, atom.span),
        }
    }

    /// Checks the argument of `init` or `goal`.
    fn fact(&mut self, state: &str, fact: &Term, span: Span) {
        match fact {
            Term::Function { name, arguments } if !name.is_empty() => {
                match (name.as_str(), arguments.as_slice()) {
                    ("neg", [fact]) => self.fact(state, fact, span),
                    ("map", [from, Term::Function { name, arguments }, to]) if arguments.is_empty() => {
                        self.ty(from, span);
                        self.predicate(name, 2, span);
                        self.ty(to, span);
                    }
                    ("map", [_, _, _]) | ("value", [_, _]) | ("compare", [_, _, _]) => {}
                    _ => self.predicate(name, arguments.len(), span),
                }
            }
            Term::Variable(_) | Term::External { .. } => {}
            other => {
                let message = format!("`{other}` inside `{state}` is no fact");
                let help = "write a predicate with its objects; hyphens of the domain's names are `_` here";
                self.error(message, span, help.to_owned());
            }
        }
    }

    fn predicate(&mut self, name: &str, count: usize, span: Span) {
        match self.signature.arity(name) {
            Some(arity) if arity == count => {}
            Some(arity) => {
                let message = format!("`{name}` takes {arity} arguments, not {count}");
                self.error(message, span, "compare with its declaration".to_owned());
            }
            // An unknown name is compared with all that are known, which takes longer than all the rest.
            None if self.reported.len() >= MOST_KEPT => self.left_out += 1,
            None => {
                let helpers =
                    self.helpers.iter().map(|(name, _)| name.as_str()).filter(|name| !is_a_word(name));
                let known: BTreeSet<&str> = self.signature.all_predicates().chain(helpers).collect();
                let near = nearest(name, known.iter().copied().chain(words()));
                let help = format!(
                    "{} A predicate of the representation alone is declared with ir_predicate.",
                    near_or_all(near, "predicates", &known)
                );
                self.error(format!("nothing has or derives the predicate `{name}`"), span, help);
            }
        }
    }

    fn ty(&mut self, ty: &Term, span: Span) {
        let Some(name) = ty.as_constant() else { return };
        if !self.signature.has_type(name) {
            let known: BTreeSet<&str> = self.signature.all_types().collect();
            let near = near_or_all(nearest(name, known.iter().copied()), "types", &known);
            let help = format!("{near} A type of the representation alone is declared with ir_type.");
            self.error(format!("there is no type `{name}`"), span, help);
        }
    }

    fn grid(&mut self, grid: &Term, span: Span) {
        let Some(name) = grid.as_constant() else { return };
        if !self.grids.contains(name) {
            let known: BTreeSet<&str> = self.grids.iter().map(String::as_str).collect();
            let near = near_or_all(nearest(name, known.iter().copied()), "grids", &known);
            let help = format!(
                "{near} A grid is declared as ir_predicate({name}_grid(row, column, TYPE), \"...\")."
            );
            self.error(format!("there is no grid `{name}`"), span, help.trim_start().to_owned());
        }
    }
}

fn words<'a>() -> impl Iterator<Item = &'a str> {
    library::WORDS.iter().map(|(name, _)| *name)
}

fn is_a_word(name: &str) -> bool {
    words().any(|word| word == name)
}

/// "Did you mean", or what there is.
fn near_or_all(near: Option<&str>, what: &str, known: &BTreeSet<&str>) -> String {
    match near {
        Some(near) => format!("Did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => {
            let listed: Vec<&str> = known.iter().copied().take(MOST_LISTED).collect();
            format!("The {what} are {}.", listed.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

    use super::read_knowledge;
    use crate::syntax::parse;
    use planforge_diagnostics::SourceId;
    use std::path::Path;

    const DOMAIN: &str = "(define (domain d) (:requirements :typing) (:types shelf trolley book) (:predicates (next-to ?a ?b - shelf) \
    (on ?b - book ?s - shelf) (has-space ?s - shelf)))";
    const GRID: &str =
        "ir_type(rack, \"a rack\"). ir_predicate(shelf_grid(row, column, shelf), \"a grid\").\n";

    /// Diagnostics for a knowledge file of the domain above: code, message and first help.
    fn diagnostics_of(rules: &str) -> Vec<String> {
        let domain = planforge_pddl::parse_domain(DOMAIN, SourceId(0)).value;
        let parsed = parse(&format!("{GRID}{rules}"), SourceId(1));
        assert_eq!(parsed.diagnostics, []);
        let (_, found) = read_knowledge(&parsed.program, &domain, SourceId(1));
        found.into_iter().map(|d| format!("{} {}: {}", d.code, d.message, d.help[0])).collect()
    }

    #[test]
    fn names_that_are_known_are_let_through() {
        let good = "init(next_to(A, B)) :- adjacent(shelf, A, B). init(has_space(S)) :- object(S, shelf), not init(on(_, S)).\n\
        full(S) :- on(_, S). goal(neg(has_space(S))) :- full(S). object(R, shelf) :- object(R, rack).\n\
        :- cardinality(shelf, N), N != #count { R, C : grid(shelf, R, C, _) }.\n\
        init(next_to(B, A)) :- follows(shelf, A, B), index(T, I, A), T != book, I > 1. goal(F) :- init(F), full(s1).\n\
        init(map(book, on, shelf)) :- cardinality(book, 3). init(value(total_cost, 0)). metric(minimize, total_cost).\n\
        conflict(crowded(S)) :- on(B, S), on(C, S), B < C. object(@id(shelf, I), shelf) :- I = 1..3.";
        assert_eq!(diagnostics_of(good), Vec::<String>::new());
    }

    #[test]
    fn directives_are_told_beside_other_mistakes() {
        let found = diagnostics_of("#const n = 3. init(has_spaces(a1)).");
        let codes: Vec<&str> = found.iter().filter_map(|told| told.split(' ').next()).collect();
        assert_eq!(codes, ["asp.directive", "asp.knowledge-name"], "{found:?}");
    }

    #[test]
    fn names_that_nothing_has_are_told_with_what_is_near() {
        let cases = [
            ("init(has_room(a1)).", "nothing has or derives the predicate `has_room`: "),
            (
                "init(has_spaces(a1)).",
                "nothing has or derives the predicate `has_spaces`: Did you mean `has_space`?",
            ),
            (
                "init(has_space(S)) :- object(S, shelf), not taken(S).",
                "nothing has or derives the predicate `taken`: The predicates are has_space, next_to, on, shelf_grid. A ",
            ),
            (
                "init(next_to(A, B)) :- adjacent(shelves, A, B).",
                "there is no grid `shelves`: The grids are shelf. A grid is declared as ir_predicate(shelves_grid(",
            ),
            ("object(X, rak) :- object(X, rack).", "there is no type `rak`: Did you mean `rack`?"),
            ("goal(on(X)) :- object(X, book).", "`on` takes 2 arguments, not 1: "),
            ("init(has-space(a1)).", "`has-space(a1)` inside `init` is no fact: "),
            ("init(map(book, onto, shelf)).", "nothing has or derives the predicate `onto`: "),
            (":- cardinality(books, N), N > 3.", "there is no type `books`: Did you mean `book`?"),
            (
                ":- 3 < #count { S : inti(has_space(S)) }.",
                "nothing has or derives the predicate `inti`: Did you mean `init`?",
            ),
        ];
        for (rule, expected) in cases {
            let found = diagnostics_of(rule);
            let [only] = found.as_slice() else { panic!("{rule}: {found:?}") };
            let only = only.replace("has - space", "has-space");
            assert!(only.starts_with(&format!("asp.knowledge-name {expected}")), "{rule}: {only}");
        }
    }

    #[test]
    fn a_variable_that_nothing_binds_is_told_before_anything_is_solved() {
        let [found] = diagnostics_of("init(has_space(S)) :- not init(on(_, S)).").try_into().unwrap();
        assert!(found.starts_with("ir.unsafe-variable nothing says what `S` ranges over: "), "{found}");
    }

    #[test]
    fn our_knowledge_files_have_no_such_name() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
        let mut files = 0;
        for folder in std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path()) {
            let read = |name: &str| std::fs::read_to_string(folder.join(name));
            let (Ok(knowledge), Ok(domain)) = (read("knowledge.lp"), read("domain.pddl")) else { continue };
            let parsed = parse(&knowledge, SourceId(1));
            let domain = planforge_pddl::parse_domain(&domain, SourceId(0)).value;
            let (_, found) = read_knowledge(&parsed.program, &domain, SourceId(1));
            assert_eq!((parsed.diagnostics, found), (Vec::new(), Vec::new()), "{}", folder.display());
            files += 1;
        }
        assert!(files >= 7);
    }
}
