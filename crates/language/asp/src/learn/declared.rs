//! The declarations that representations need: their types and predicates that the domain lacks.

use crate::build::function;
use crate::declarations::GRID;
use crate::names::mangle;
use crate::syntax::ast::{Atom, Head, Literal, Program, StatementKind, Term};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::Domain;
use std::collections::{BTreeMap, BTreeSet};

/// Declarations for the names of representations that the domain lacks, without descriptions. `type_of`: type of an object of the
/// reference problems.
pub fn declarations(
    domain: &Domain,
    programs: &[Program],
    type_of: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let types = TypeHierarchy::of(domain);
    let mut reader = Reader {
        types: types.names().map(|name| mangle(name.key())).collect(),
        predicates: domain.predicates.iter().map(|p| mangle(p.name.key())).collect(),
        type_of,
        new_types: BTreeSet::new(),
        new_predicates: BTreeMap::new(),
    };
    for program in programs {
        program.statements.iter().for_each(|statement| {
            if let StatementKind::Rule(rule) = &statement.kind {
                let head = match &rule.head {
                    Head::Atom(atom) => Some(atom),
                    _ => None,
                };
                let body = rule.body.iter().filter_map(|literal| match literal {
                    Literal::Atom { atom, .. } => Some(atom),
                    _ => None,
                });
                head.into_iter().chain(body).for_each(|atom| reader.atom(atom));
            }
        });
    }
    reader.finish()
}

/// The types that a representation counts without naming one of their objects. `objects`: objects with their types.
pub fn counted(program: &Program, objects: &BTreeSet<(String, String)>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut mentioned = BTreeSet::new();
    for statement in &program.statements {
        let StatementKind::Rule(rule) = &statement.kind else { continue };
        let Head::Atom(head) = &rule.head else { continue };
        match (head.name.as_str(), head.arguments.as_slice()) {
            ("cardinality", [ty, _]) => found.extend(ty.as_constant().map(str::to_owned)),
            _ => head.arguments.iter().for_each(|term| constants(term, &mut mentioned)),
        }
    }
    found.retain(|ty| !objects.iter().any(|(object, of)| of == ty && mentioned.contains(object)));
    found
}

fn constants(term: &Term, found: &mut BTreeSet<String>) {
    match term {
        Term::Function { name, arguments } if arguments.is_empty() => drop(found.insert(name.clone())),
        Term::Function { arguments, .. } => arguments.iter().for_each(|term| constants(term, found)),
        _ => {}
    }
}

struct Reader<'a> {
    types: BTreeSet<String>,
    predicates: BTreeSet<String>,
    type_of: &'a dyn Fn(&str) -> Option<String>,
    new_types: BTreeSet<String>,
    /// Argument types by name and number of arguments; `None` where nothing shows the type.
    new_predicates: BTreeMap<(String, usize), Vec<Option<String>>>,
}

impl Reader<'_> {
    fn atom(&mut self, atom: &Atom) {
        match (atom.name.as_str(), atom.arguments.as_slice()) {
            ("cardinality", [ty, _]) | ("object", [_, ty]) => self.ty(ty),
            ("init" | "goal", [Term::Function { name, arguments }]) => self.fact(name, arguments),
            _ => {}
        }
    }

    fn ty(&mut self, ty: &Term) {
        if let Some(name) = ty.as_constant().filter(|name| !self.types.contains(*name)) {
            self.new_types.insert(name.to_owned());
        }
    }

    fn fact(&mut self, name: &str, arguments: &[Term]) {
        match (name, arguments) {
            ("neg" | "not", [Term::Function { name, arguments }]) => self.fact(name, arguments),
            ("map", [from, Term::Function { name, .. }, to]) => {
                self.ty(from);
                self.ty(to);
                let types = [from, to].map(|ty| ty.as_constant().map(str::to_owned));
                self.predicate(name, types.to_vec());
            }
            ("value" | "compare" | "", _) => {}
            _ => {
                let types = arguments.iter().enumerate().map(|(at, term)| match term {
                    Term::Number(_) => Some(number_type(name, arguments.len(), at).to_owned()),
                    term => (self.type_of)(term.as_constant()?),
                });
                let types = types.collect();
                self.predicate(name, types);
            }
        }
    }

    fn predicate(&mut self, name: &str, types: Vec<Option<String>>) {
        if self.predicates.contains(name) {
            return;
        }
        let key = (name.to_owned(), types.len());
        let known = self.new_predicates.entry(key).or_insert_with(|| vec![None; types.len()]);
        for (known, ty) in known.iter_mut().zip(types) {
            *known = known.take().or(ty);
        }
    }

    fn finish(self) -> Vec<String> {
        let types = self.new_types.iter().map(|ty| format!("ir_type({ty}, \"\")."));
        let predicates = self.new_predicates.iter().map(|((name, _), types)| {
            let types = types.iter().map(|ty| function(ty.as_deref().unwrap_or("object"), Vec::new()));
            format!("ir_predicate({}, \"\").", function(name, types.collect()))
        });
        types.chain(predicates).collect()
    }
}

/// The type of a number: the first arguments of a grid are its row and column.
fn number_type(name: &str, arguments: usize, at: usize) -> &'static str {
    match (name.ends_with(GRID) && arguments == 3, at) {
        (true, 0) => "row",
        (true, 1) => "column",
        _ => "number",
    }
}
