//! Rules that are made from declarations: of the domain (paper, section 3.3, rules of the first kind) and of a knowledge file.
//!
//! From `(cocktail-part1 ?c - cocktail ?i - ingredient)` come
//!
//! ```text
//! object(X, cocktail) :- init(cocktail_part1(X, _)).
//! object(X, ingredient) :- init(cocktail_part1(_, X)).
//! ```
//!
//! the same for goals and negative goals, and for the arguments of numeric functions; from `shot - container` comes
//! `object(X, container) :- object(X, shot).`; from a constant its types. An argument of the type `(either a b)` is known to be what a and b have
//! in common, and one of the type `object`, or of no type, to be an object.

use crate::declarations::{Declarations, GRID};
use crate::names::mangle;
use crate::syntax::ast::{Atom, Rule, Term, atom, constant, function, rule, variable};
use planforge_diagnostics::Span;
use planforge_pddl::ast::{Domain, TypeRef, TypedName};
use planforge_pddl::{TypeHierarchy, TypeId};
use std::collections::{BTreeMap, BTreeSet};

/// A rule that was made, and the declaration that it was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeRule {
    pub rule: Rule,
    /// True if the declaration is in the domain, false if it is in the knowledge file.
    pub of_domain: bool,
    pub span: Span,
}

/// Every rule that the declarations give, and the types above each type of the domain, by the names of the representation.
#[derive(Debug, Clone, Default)]
pub struct TypeRules {
    /// The rules, those of the domain first.
    pub rules: Vec<MadeRule>,
    /// For each type of the domain all types above it, without `object`.
    pub above: BTreeMap<String, BTreeSet<String>>,
    /// The predicates of the domain and of the knowledge file, with their number of arguments.
    pub predicates: BTreeSet<(String, usize)>,
}

impl TypeRules {
    /// Makes the rules. `with_object` adds that everything is an object, for programs that count or pair objects of any type.
    pub fn of(domain: &Domain, declared: &Declarations, with_object: bool) -> Self {
        let types = TypeHierarchy::of(domain);
        let mut maker = Maker { found: Self::default(), types: &types, of_domain: true };
        maker.hierarchy(domain, with_object);
        maker.constants(domain);
        maker.predicates(domain);
        maker.functions(domain);
        maker.of_domain = false;
        maker.add_declared_predicates(declared);
        maker.found
    }
}

struct Maker<'a> {
    found: TypeRules,
    types: &'a TypeHierarchy,
    of_domain: bool,
}

/// Contexts of a fact: the predicate around it, and whether it is negated.
const STATES: [(&str, bool); 4] = [("init", false), ("goal", false), ("goal", true), ("init", true)];

impl Maker<'_> {
    fn add(&mut self, head: Atom, body: Vec<Atom>, span: Span) {
        self.found.rules.push(MadeRule { rule: rule(head, body), of_domain: self.of_domain, span });
    }

    fn name(&self, ty: TypeId) -> String {
        mangle(self.types.name(ty).key())
    }

    fn hierarchy(&mut self, domain: &Domain, with_object: bool) {
        for declared in &domain.types {
            let (below, span) = (mangle(declared.name.key()), declared.name.span);
            let Some(id) = self.types.get(declared.name.key()) else { continue };
            let above =
                (1..self.types.len() as TypeId).filter(|ty| *ty != id && self.types.is_subtype(id, *ty));
            let above: BTreeSet<String> = above.map(|ty| self.name(ty)).collect();
            self.found.above.insert(below.clone(), above);
            for parent in declared.ty.iter().flat_map(|ty| &ty.alternatives) {
                let parent = mangle(parent.key());
                if parent != "object" && below != "object" && parent != below {
                    self.typing(&parent, atom("object", vec![variable("X"), constant(&below)], span), span);
                }
            }
        }
        if with_object {
            let span = Span::default();
            let mut made =
                rule(object("object", span), vec![atom("object", vec![variable("X"), variable("T")], span)]);
            made.body.push(crate::syntax::ast::Literal::Comparison {
                left: variable("T"),
                relation: crate::syntax::ast::Relation::NotEqual,
                right: constant("object"),
                span,
            });
            self.found.rules.push(MadeRule { rule: made, of_domain: true, span });
        }
    }

    /// `object(X, ty) :- body.`
    fn typing(&mut self, ty: &str, body: Atom, span: Span) {
        self.add(object(ty, span), vec![body], span);
    }

    fn constants(&mut self, domain: &Domain) {
        for declared in &domain.constants {
            let span = declared.name.span;
            for ty in self.known_types(declared.ty.as_ref()) {
                let arguments = vec![constant(&mangle(declared.name.key())), constant(&ty)];
                self.add(atom("object", arguments, span), Vec::new(), span);
            }
        }
    }

    /// Types that follow for an object of that type: the type itself, or the most specific common types of
    /// its alternatives.
    fn known_types(&self, ty: Option<&TypeRef>) -> Vec<String> {
        let Some(ids) = self.types.resolve(ty) else { return Vec::new() };
        if let [id] = ids.as_slice() {
            return vec![self.name(*id)];
        }
        let common: Vec<TypeId> = (0..self.types.len() as TypeId)
            .filter(|above| ids.iter().all(|id| self.types.is_subtype(*id, *above)))
            .collect();
        let lowest = common
            .iter()
            .filter(|ty| !common.iter().any(|other| other != *ty && self.types.is_subtype(*other, **ty)));
        lowest.map(|ty| self.name(*ty)).collect()
    }

    fn predicates(&mut self, domain: &Domain) {
        for predicate in &domain.predicates {
            let name = mangle(predicate.name.key());
            let types = self.argument_types(&predicate.parameters);
            self.arguments(&name, &types, predicate.span);
            self.pairing(&name, types.len(), predicate.span);
            self.found.predicates.insert((name, types.len()));
        }
    }

    fn argument_types(&self, parameters: &[TypedName]) -> Vec<Vec<String>> {
        parameters.iter().map(|parameter| self.known_types(parameter.ty.as_ref())).collect()
    }

    /// Types that follow from the arguments of a predicate, in every context.
    fn arguments(&mut self, name: &str, types: &[Vec<String>], span: Span) {
        for (at, known) in types.iter().enumerate() {
            let fact = function(name, open(types.len(), at));
            for (ty, (state, negated)) in known.iter().flat_map(|ty| STATES.map(|state| (ty, state))) {
                let said = if negated { function("neg", vec![fact.clone()]) } else { fact.clone() };
                self.typing(ty, atom(state, vec![said], span), span);
            }
        }
    }

    fn functions(&mut self, domain: &Domain) {
        for declared in &domain.functions {
            let name = mangle(declared.name.key());
            let types = self.argument_types(&declared.parameters);
            for (at, known) in types.iter().enumerate() {
                let call = function(&name, open(types.len(), at));
                for ty in known {
                    let value = function("value", vec![call.clone(), Term::Anonymous]);
                    self.typing(ty, atom("init", vec![value], declared.span), declared.span);
                    for sides in [[call.clone(), Term::Anonymous], [Term::Anonymous, call.clone()]] {
                        let [left, right] = sides;
                        let bound = function("compare", vec![Term::Anonymous, left, right]);
                        self.typing(ty, atom("goal", vec![bound], declared.span), declared.span);
                    }
                }
            }
        }
    }

    fn add_declared_predicates(&mut self, declared: &Declarations) {
        for predicate in &declared.predicates {
            let (name, span) = (&predicate.name, predicate.span);
            let known = |ty: &String| declared.has_type(ty) || self.types_by_name(ty);
            let types: Vec<Vec<String>> = predicate
                .arguments
                .iter()
                .map(|ty| if known(ty) { vec![ty.clone()] } else { Vec::new() })
                .collect();
            self.arguments(name, &types, span);
            self.pairing(name, types.len(), span);
            if let (Some(grid), 3) = (name.strip_suffix(GRID), types.len()) {
                let places = || ["R", "C", "X"].map(variable).to_vec();
                let head = [vec![constant(grid)], places()].concat();
                let said = atom("init", vec![function(name, places())], span);
                self.add(atom("grid", head, span), vec![said], span);
            }
            self.found.predicates.insert((name.clone(), types.len()));
        }
    }

    fn types_by_name(&self, name: &str) -> bool {
        self.types.names().any(|ty| mangle(ty.key()) == name)
    }

    /// `init(P(X, Y)) :- pair(init, P, X, Y).` for maps, and the same for goals.
    fn pairing(&mut self, name: &str, arguments: usize, span: Span) {
        if arguments != 2 {
            return;
        }
        for state in ["init", "goal"] {
            let (x, y) = (variable("X"), variable("Y"));
            let paired = vec![constant(state), constant(name), x.clone(), y.clone()];
            let head = atom(state, vec![function(name, vec![x, y])], span);
            self.add(head, vec![atom("pair", paired, span)], span);
        }
    }
}

fn object(ty: &str, span: Span) -> Atom {
    atom("object", vec![variable("X"), constant(ty)], span)
}

/// `_, X, _`: that many arguments, X at one of them.
fn open(arguments: usize, at: usize) -> Vec<Term> {
    (0..arguments).map(|i| if i == at { variable("X") } else { Term::Anonymous }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_diagnostics::SourceId;

    /// The rules of a domain and a knowledge file, as text.
    fn rules(domain: &str, knowledge: &str, with_object: bool) -> Vec<String> {
        let domain = planforge_pddl::parse_domain(&format!("(define (domain d) {domain})"), SourceId(0));
        assert!(!domain.has_errors(), "{:?}", domain.diagnostics);
        let knowledge = crate::syntax::parse(knowledge, SourceId(1));
        let (declared, findings) = Declarations::read(&knowledge.program, &domain.value, SourceId(1));
        assert_eq!(findings, []);
        TypeRules::of(&domain.value, &declared, with_object)
            .rules
            .iter()
            .map(|r| r.rule.to_string())
            .collect()
    }

    fn of_init(rules: &[String]) -> Vec<&str> {
        rules
            .iter()
            .map(String::as_str)
            .filter(|rule| rule.contains(":- init(") && !rule.contains("neg("))
            .collect()
    }

    #[test]
    fn arguments_say_types_in_every_state() {
        let rules =
            rules("(:types cocktail part) (:predicates (has-part ?c - cocktail ?p - part))", "", false);
        let expected = [
            "object(X, cocktail) :- init(has_part(X, _)).",
            "object(X, cocktail) :- goal(has_part(X, _)).",
            "object(X, cocktail) :- goal(neg(has_part(X, _))).",
            "object(X, cocktail) :- init(neg(has_part(X, _))).",
            "object(X, part) :- init(has_part(_, X)).",
            "object(X, part) :- goal(has_part(_, X)).",
            "object(X, part) :- goal(neg(has_part(_, X))).",
            "object(X, part) :- init(neg(has_part(_, X))).",
            "init(has_part(X, Y)) :- pair(init, has_part, X, Y).",
            "goal(has_part(X, Y)) :- pair(goal, has_part, X, Y).",
        ];
        assert_eq!(rules, expected);
    }

    #[test]
    fn arguments_without_a_type_are_objects() {
        let rules = rules("(:predicates (clear ?x) (at ?x - object ?n))", "", false);
        let expected = [
            "object(X, object) :- init(clear(X)).",
            "object(X, object) :- init(at(X, _)).",
            "object(X, object) :- init(at(_, X)).",
        ];
        assert_eq!(of_init(&rules), expected);
    }

    #[test]
    fn alternatives_are_what_they_have_in_common() {
        let types = "(:types hoist surface place area - object container - place storearea transitarea - area area crate - surface)";
        let rules = rules(
            &format!(
                "{types} (:predicates (in ?x - (either storearea crate)) (by ?x - (either hoist crate)) (on ?x - (either storearea transitarea)))"
            ),
            "",
            false,
        );
        let expected = [
            "object(X, surface) :- init(in(X)).",
            "object(X, object) :- init(by(X)).",
            "object(X, area) :- init(on(X)).",
        ];
        assert_eq!(of_init(&rules), expected);
        let below: Vec<&String> = rules.iter().filter(|rule| rule.contains(":- object(")).collect();
        let expected = [
            "object(X, place) :- object(X, container).",
            "object(X, area) :- object(X, storearea).",
            "object(X, area) :- object(X, transitarea).",
            "object(X, surface) :- object(X, area).",
            "object(X, surface) :- object(X, crate).",
        ];
        assert_eq!(below, expected);
    }

    #[test]
    fn constants_functions_and_everything_that_is_an_object() {
        let rules = rules(
            "(:types truck place) (:constants the-yard - place pole) (:predicates (open)) (:functions (fuel ?t - truck) (total-cost))",
            "",
            true,
        );
        let expected = [
            "object(X, object) :- object(X, T), T != object.",
            "object(the_yard, place).",
            "object(pole, object).",
            "object(X, truck) :- init(value(fuel(X), _)).",
            "object(X, truck) :- goal(compare(_, fuel(X), _)).",
            "object(X, truck) :- goal(compare(_, _, fuel(X))).",
        ];
        assert_eq!(rules, expected);
    }

    #[test]
    fn declared_predicates_say_types_and_make_grids() {
        let knowledge = "ir_type(row, \"a row\"). ir_predicate(tile_grid(row, column, tile), \"\").";
        let rules = rules("(:types tile) (:predicates (p))", knowledge, false);
        let expected = [
            "object(X, row) :- init(tile_grid(X, _, _)).",
            "object(X, tile) :- init(tile_grid(_, _, X)).",
            "grid(tile, R, C, X) :- init(tile_grid(R, C, X)).",
        ];
        assert_eq!(of_init(&rules), expected);
    }
}
