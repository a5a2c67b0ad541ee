//! Objects, each once, under the most specific of its types.

use super::{Compiler, Entry, Section, is_name};
use crate::materialized::Membership;
use crate::syntax::ast::Term;
use planforge_diagnostics::Diagnostic;
use planforge_pddl::ast::{self, TypeRef, TypedName};
use planforge_pddl::{Name, TypeFit, TypeHierarchy, TypeId, natural, nearest};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// The objects by how the answer names them.
#[derive(Default)]
pub(super) struct Objects {
    by_term: FxHashMap<Term, usize>,
    list: Vec<Object>,
}

impl Objects {
    fn rank(&mut self) {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by(|&a, &b| match (self.list.get(a), self.list.get(b)) {
            (Some(a), Some(b)) => natural(a.name.key(), b.name.key()),
            _ => Ordering::Equal,
        });
        for (rank, at) in (0..).zip(order) {
            if let Some(object) = self.list.get_mut(at) {
                object.rank = rank;
            }
        }
    }
}

pub(super) struct Object {
    /// As PDDL writes it.
    pub(super) name: Name,
    /// Its types as a term has them: one, or the alternatives of a constant declared `(either ...)`.
    pub(super) types: SmallVec<[TypeId; 2]>,
    place: ObjectStatus,
    /// Its place among all objects as people count.
    pub(super) rank: u32,
    /// Atoms that decided its type.
    atoms: Vec<u32>,
}

/// Place of an object's declaration.
#[derive(PartialEq, Eq)]
enum ObjectStatus {
    Declared,
    /// The domain declares it.
    Constant,
    /// All its types belong to the intermediate representation, so it is left out of the PDDL.
    IrOnly,
    /// The object is wrong, and the mistake is reported.
    Refused,
}

/// Statements of the answer about one object.
struct StatedTypes {
    term: Term,
    /// Types of the domain, each with the atom that states it.
    types: Vec<(TypeId, u32)>,
    atoms: Vec<u32>,
    unknown_type: bool,
}

impl Compiler<'_> {
    /// Reads every object; the domain's constants are objects too.
    pub(super) fn read_objects(&mut self) {
        let mut said: Vec<StatedTypes> = Vec::new();
        let mut index: FxHashMap<&Term, usize> = FxHashMap::default();
        for membership in &self.input.materialized.objects {
            let at = *index.entry(&membership.object).or_insert_with(|| {
                let (term, types, atoms) = (membership.object.clone(), Vec::new(), Vec::new());
                said.push(StatedTypes { term, types, atoms, unknown_type: false });
                said.len() - 1
            });
            let ty = self.type_of(membership);
            if let Some(said) = said.get_mut(at) {
                said.atoms.push(membership.atom);
                match ty {
                    Type::Domain(id) => said.types.push((id, membership.atom)),
                    Type::IrOnly => {}
                    Type::Unknown => said.unknown_type = true,
                }
            }
        }
        let mut by_key: FxHashMap<String, (usize, u32)> = FxHashMap::default();
        for said in said {
            // A row's number is an object of the representation and needs no name in PDDL.
            if said.types.is_empty() && !said.unknown_type && constant_of(self, &said.term).is_none() {
                let name = Name::synthetic(&said.term.to_string());
                self.add(said.term, name, SmallVec::new(), ObjectStatus::IrOnly, said.atoms);
                continue;
            }
            let Some(name) = self.object_name(&said) else {
                self.add(said.term, Name::synthetic(""), SmallVec::new(), ObjectStatus::Refused, said.atoms);
                continue;
            };
            if let Some((first, _)) = by_key.get(name.key()) {
                self.same_name(*first, &name, &said);
            }
            let first_atom = said.atoms.first().copied().unwrap_or_default();
            by_key.entry(name.key().to_owned()).or_insert((self.objects.list.len(), first_atom));
            self.add_typed(name, said);
        }
        self.constants_left();
        self.objects.rank();
    }

    fn add(
        &mut self,
        term: Term,
        name: Name,
        types: SmallVec<[TypeId; 2]>,
        place: ObjectStatus,
        atoms: Vec<u32>,
    ) {
        self.objects.by_term.insert(term, self.objects.list.len());
        self.objects.list.push(Object { name, types, place, rank: 0, atoms });
    }

    fn add_typed(&mut self, name: Name, said: StatedTypes) {
        if let Some((_, Some(declared))) = constant_of(self, &said.term) {
            let types = self.types.resolve(declared.ty.as_ref()).unwrap_or_default().into_iter().collect();
            self.constant_fits(&name, &types, &said);
            self.add(said.term, name, types, ObjectStatus::Constant, said.atoms);
            return;
        }
        if said.types.is_empty() {
            self.add(said.term, name, SmallVec::new(), ObjectStatus::Refused, said.atoms);
            return;
        }
        let lowest = self.lowest(&said.types);
        let (place, types) = match self.most_specific(&name, &lowest) {
            Some(ty) => (ObjectStatus::Declared, SmallVec::from_slice(&[ty])),
            None => (ObjectStatus::Refused, SmallVec::new()),
        };
        let atoms = lowest.into_iter().map(|(_, atom)| atom).collect();
        self.add(said.term, name, types, place, atoms);
    }

    /// The domain's constants that the answer does not mention, and names that its actions use without declaring them: the
    /// problem must.
    fn constants_left(&mut self) {
        for constant in &self.input.domain.constants {
            let types = self.types.resolve(constant.ty.as_ref()).unwrap_or_default().into_iter().collect();
            self.add_unless_there(&constant.name, types, ObjectStatus::Constant);
        }
        for name in self.spelling.undeclared.clone() {
            if self.add_unless_there(
                name,
                SmallVec::from_slice(&[TypeHierarchy::OBJECT]),
                ObjectStatus::Declared,
            ) {
                self.report(format!("undeclared {}", name.key()), |compiler| {
                    let message = format!(
                        "the domain's actions name `{name}`, which nothing in the text or the knowledge file makes an object; \
                         it is declared as `object`"
                    );
                    Diagnostic::warning("asp.undeclared-constant", message)
                        .at(compiler.input.sources.domain, name.span, "")
                        .help(format!(
                            "say what it is in the knowledge file: `object({}, TYPE).`",
                            super::mangle(name)
                        ))
                });
            }
        }
    }

    fn add_unless_there(&mut self, name: &Name, types: SmallVec<[TypeId; 2]>, place: ObjectStatus) -> bool {
        let term = Term::Function { name: super::mangle(name), arguments: Vec::new() };
        let there = self.objects.by_term.contains_key(&term)
            || self.objects.list.iter().any(|object| object.name == *name);
        if !there {
            self.add(term, name.clone(), types, place, Vec::new());
        }
        !there
    }

    /// The objects that the problem declares, by type in the domain's order, then as people count.
    pub(super) fn object_list(&mut self) -> (Vec<TypedName>, Vec<Entry>) {
        let mut listed: Vec<&Object> =
            self.objects.list.iter().filter(|object| object.place == ObjectStatus::Declared).collect();
        listed.sort_by(|a, b| a.types.cmp(&b.types).then(a.rank.cmp(&b.rank)));
        let typed = !self.input.domain.types.is_empty();
        let mut names = Vec::with_capacity(listed.len());
        let mut entries = Vec::with_capacity(listed.len());
        for object in listed {
            let ty = object.types.first().filter(|_| typed).map(|&id| self.types.name(id).clone());
            let pddl = match &ty {
                Some(ty) => format!("{} - {ty}", object.name),
                None => object.name.to_string(),
            };
            names.push(TypedName { name: object.name.clone(), ty: ty.map(TypeRef::single) });
            entries.push(Entry { section: Section::Objects, pddl, atoms: object.atoms.clone() });
        }
        (names, entries)
    }

    /// Resolves an argument to an object. Reports each mistake once.
    pub(super) fn object(&mut self, term: &Term, atom: u32) -> Option<&Object> {
        let found = self.objects.by_term.get(term).copied();
        match found.and_then(|index| self.objects.list.get(index)) {
            Some(object) if matches!(object.place, ObjectStatus::Declared | ObjectStatus::Constant) => {}
            Some(object) if object.place == ObjectStatus::Refused => return None,
            Some(_) => {
                self.report(format!("object {term}"), |compiler| {
                    let message = format!(
                        "`{term}` is an argument in `{}`, but it has only types that PDDL does not get",
                        compiler.print_atom_text(atom)
                    );
                    compiler.with_origins(Diagnostic::error("asp.ir-only-object", message), atom).help(
                        "a rule of the knowledge file has to say which of the domain's types it has: \
                         `object(X, TYPE) :- object(X, IR_TYPE).`",
                    )
                });
                return None;
            }
            None => {
                self.not_an_object(term, atom);
                return None;
            }
        }
        found.and_then(|index| self.objects.list.get(index))
    }

    fn not_an_object(&mut self, term: &Term, atom: u32) {
        let name = term.to_string();
        self.report(format!("object {name}"), |compiler| {
            let message = format!(
                "`{name}` is an argument in `{}`, but it is no object",
                compiler.print_atom_text(atom)
            );
            let diagnostic = compiler.with_origins(Diagnostic::error("asp.not-an-object", message), atom);
            let known = compiler.objects.list.iter().map(|object| object.name.as_str());
            match (term, nearest(&name, known)) {
                (Term::Number(_), _) => diagnostic.help("a number is no object: name the object itself"),
                (_, Some(near)) => diagnostic.help(format!("did you mean `{near}`?")),
                (_, None) => diagnostic.help(format!("add `object({name}, TYPE).`")),
            }
        });
    }

    /// The PDDL name of an object. Reports names that PDDL does not allow.
    fn object_name(&mut self, said: &StatedTypes) -> Option<Name> {
        let atom = said.atoms.first().copied().unwrap_or_default();
        if let Some((name, _)) = constant_of(self, &said.term) {
            return Some(name.at(planforge_diagnostics::Span::default()));
        }
        let text = match &said.term {
            Term::Function { name, arguments } if arguments.is_empty() => Some(name),
            Term::Text(text) => Some(text),
            _ => None,
        };
        if let Some(name) = text.filter(|text| is_name(text)) {
            let spelled = self.input.spellings.get(name).filter(|spelled| is_name(spelled));
            return Some(Name::synthetic(spelled.unwrap_or(name)));
        }
        let shown = said.term.to_string();
        self.report(format!("name {shown}"), |compiler| {
            let message = format!("`{shown}` cannot be an object's name in PDDL");
            compiler.with_origins(Diagnostic::error("asp.object-name", message), atom).help(
                match &said.term {
                    Term::Number(n) => format!("put its type in front: `level{n}`"),
                    Term::Function { arguments, .. } if !arguments.is_empty() => {
                        "write one name, for example `pos_1_2` instead of `pos(1, 2)`".to_owned()
                    }
                    _ => "a name is a letter, followed by letters, digits, `_` and `-`".to_owned(),
                },
            )
        });
        None
    }

    /// Two objects whose names differ only in what PDDL does not tell apart.
    fn same_name(&mut self, first: usize, name: &Name, said: &StatedTypes) {
        let atom = said.atoms.first().copied().unwrap_or_default();
        self.report(format!("collision {}", name.key()), |compiler| {
            let other =
                compiler.objects.list.get(first).map(|object| object.name.as_str()).unwrap_or_default();
            let message = format!("`{}` and `{other}` are one name in PDDL, `{}`", said.term, name.key());
            compiler
                .with_origins(Diagnostic::error("asp.name-collision", message), atom)
                .help("PDDL has no upper and lower case: rename one of them")
        });
    }

    fn type_of(&mut self, membership: &Membership) -> Type {
        let name = match &membership.ty {
            Term::Function { name, arguments } if arguments.is_empty() => name,
            Term::Text(text) => text,
            other => {
                let shown = other.to_string();
                return self.unknown_type(&shown, membership.atom);
            }
        };
        match self.spelling.ty(name) {
            Some(id) => Type::Domain(id),
            None if self.input.ir_only.types.contains(name) => Type::IrOnly,
            None => self.unknown_type(name, membership.atom),
        }
    }

    fn unknown_type(&mut self, name: &str, atom: u32) -> Type {
        self.report(format!("type {name}"), |compiler| {
            let message = format!("`{name}` in `{}` is not a type of the domain", compiler.print_atom_text(atom));
            let ir_only = compiler.input.ir_only.types.iter().map(String::as_str);
            let help = match nearest(name, compiler.spelling.types().chain(ir_only)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "use a type of the domain; a type of the representation alone is declared in the knowledge file: \
                     `ir_type({name}, \"what it is\").`"
                ),
            };
            compiler.with_origins(Diagnostic::error("asp.unknown-type", message), atom).help(help)
        });
        Type::Unknown
    }

    /// The types of an object that none of its others is below.
    fn lowest(&self, said: &[(TypeId, u32)]) -> Vec<(TypeId, u32)> {
        let mut lowest: Vec<(TypeId, u32)> = Vec::new();
        for &(ty, atom) in said {
            let covered = said.iter().any(|&(other, _)| self.is_below(other, ty));
            if !covered && !lowest.iter().any(|&(other, _)| other == ty) {
                lowest.push((ty, atom));
            }
        }
        lowest
    }

    fn is_below(&self, a: TypeId, b: TypeId) -> bool {
        a != b && self.types.is_subtype(a, b) && !self.types.is_subtype(b, a)
    }

    /// The type that an object is declared with: the one below all the others; where there is none, the widest that is below
    /// all of them, as only its objects have them all.
    fn most_specific(&mut self, name: &Name, lowest: &[(TypeId, u32)]) -> Option<TypeId> {
        if let [(ty, _)] = lowest {
            return Some(*ty);
        }
        let types = self.types;
        let common: Vec<TypeId> = (0..types.len() as TypeId)
            .filter(|&id| lowest.iter().all(|&(ty, _)| types.is_subtype(id, ty)))
            .collect();
        let widest: Vec<TypeId> = common
            .iter()
            .copied()
            .filter(|&id| !common.iter().any(|&other| self.is_below(id, other)))
            .collect();
        let named: Vec<String> = lowest.iter().map(|(ty, _)| format!("`{}`", types.name(*ty))).collect();
        let named = named.join(" and ");
        let (diagnostic, chosen) = match widest.as_slice() {
            [ty] => {
                let message =
                    format!("`{name}` is {named} at once, so it is declared as `{}`", types.name(*ty));
                let help = "say `object(NAME, TYPE)` if it is meant to be another";
                (Diagnostic::advice("asp.common-subtype", message).help(help), Some(*ty))
            }
            _ => {
                let message = format!("`{name}` cannot be {named} at once");
                let help = "the lines shown make it one of each: correct the one that is wrong";
                (Diagnostic::error("asp.several-types", message).help(help), None)
            }
        };
        self.report(format!("types {}", name.key()), |compiler| compiler.both_placed(diagnostic, lowest));
        chosen
    }

    /// Points at the line of each type, one each.
    fn both_placed(&self, mut diagnostic: Diagnostic, types: &[(TypeId, u32)]) -> Diagnostic {
        for (ty, atom) in types {
            let Some(place) = (self.input.places)(*atom).into_iter().next() else { continue };
            let message = format!("`{}` from here", self.types.name(*ty));
            diagnostic = match diagnostic.labels.is_empty() {
                true => diagnostic.at(place.source, place.span, message),
                false => diagnostic.also(place.source, place.span, message),
            };
        }
        diagnostic
    }

    /// Checks the stated types of a constant against the domain, which decides its type: stated types may be
    /// wider, not different.
    fn constant_fits(&mut self, name: &Name, declared: &SmallVec<[TypeId; 2]>, said: &StatedTypes) {
        let wrong = said.types.iter().find(|(ty, _)| self.types.fit(declared, &[*ty]) != TypeFit::Always);
        let Some(&(ty, atom)) = wrong else { return };
        self.report(format!("constant {}", name.key()), |compiler| {
            let types = compiler.types;
            let names: Vec<String> = declared.iter().map(|id| format!("`{}`", types.name(*id))).collect();
            let message = format!(
                "`{name}` is a constant of the domain with the type {}, but `{}` makes it a `{}`",
                names.join(" or "),
                compiler.print_atom_text(atom),
                types.name(ty)
            );
            compiler
                .with_origins(Diagnostic::error("asp.constant-type", message), atom)
                .help("correct the line, or the rule that the type follows by")
        });
    }
}

enum Type {
    Domain(TypeId),
    IrOnly,
    Unknown,
}

/// The object that the domain itself names so.
fn constant_of<'a>(compiler: &Compiler<'a>, term: &Term) -> Option<(&'a Name, Option<&'a TypedName>)> {
    match term {
        Term::Function { name, arguments } if arguments.is_empty() => compiler.spelling.constant(name),
        Term::Text(text) => compiler.spelling.constant(text),
        _ => None,
    }
}

// Arguments of facts and numeric functions as PDDL terms, with their order in the printed problem.

/// Position of a fact or number in the problem: by the declaration of its predicate or function, then by its
/// objects in natural order.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash, Clone)]
pub(super) struct OrderKey {
    pub(super) declaration: usize,
    pub(super) objects: Ranks,
}

/// Objects by their [`Object::rank`].
pub(super) type Ranks = SmallVec<[u32; 4]>;

impl Compiler<'_> {
    /// Arguments as PDDL writes them, and their ranks, checked for their number and types.
    pub(super) fn arguments(
        &mut self,
        declared: &Name,
        parameters: &[TypedName],
        arguments: &[Term],
        atom: u32,
        what: &str,
    ) -> Option<(Vec<ast::Term>, Ranks)> {
        if parameters.len() != arguments.len() {
            self.report(format!("arity {declared} {}", arguments.len()), |compiler| {
                let message = format!(
                    "the {what} `{declared}` has {} argument(s), but `{}` gives it {}",
                    parameters.len(),
                    compiler.print_atom_text(atom),
                    arguments.len()
                );
                compiler
                    .with_origins(Diagnostic::error("asp.arity", message), atom)
                    .help(format!("the domain declares it as `{}`", shape(declared, parameters)))
            });
            return None;
        }
        let mut args = Vec::with_capacity(arguments.len());
        let mut ranks = Ranks::new();
        let mut wrong = false;
        for (position, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
            let Some(object) = self.object(argument, atom) else {
                wrong = true;
                continue;
            };
            let (name, types) = (object.name.clone(), object.types.clone());
            ranks.push(object.rank);
            let wanted = self.types.resolve(parameter.ty.as_ref());
            if wanted.is_some_and(|wanted| self.types.fit(&types, &wanted) == TypeFit::Never) {
                wrong = true;
                let given: Vec<String> =
                    types.iter().map(|id| format!("`{}`", self.types.name(*id))).collect();
                let given = given.join(" or ");
                self.report(format!("type of {declared} {position} {given}"), |compiler| {
                    let message = format!(
                        "`{name}` is a {given}, but argument {} of `{declared}` in `{}` is for another type",
                        position + 1,
                        compiler.print_atom_text(atom)
                    );
                    compiler
                        .with_origins(Diagnostic::error("asp.wrong-type", message), atom)
                        .help(format!("the domain declares it as `{}`", shape(declared, parameters)))
                });
            }
            args.push(ast::Term::Constant(name));
        }
        (!wrong).then_some((args, ranks))
    }
}

/// `(on ?x - block ?y - block)`.
fn shape(name: &Name, parameters: &[TypedName]) -> String {
    let list = planforge_pddl::print_typed_list(parameters);
    match list.is_empty() {
        true => format!("({name})"),
        false => format!("({name} {list})"),
    }
}
