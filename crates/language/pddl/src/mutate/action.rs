//! Mutants of one action: mistakes in its meaning, and damage to its text.
//!
//! The eight kinds are those that result classes are tested with. For five the expected finding ([`Flaw`]) is
//! known: a broken text, another name, an atom with one argument more or fewer, an undeclared or unsuitable
//! type, a negated precondition where the domain does not allow any. Terms that are dropped, added or
//! retargeted, and other negated terms, give a text without errors. Only a comparison decides its meaning.
//!
//! A mutant that would not contain the intended mistake is not generated: negation in a domain that declares
//! or uses it, a type that is wider or narrower than required (planners accept it), a term that the list
//! already contains.

mod broken;

use super::list::Literal;
use super::terms::{list_sites, part_at};
use super::{
    Mutation, MutationKind, MutationPlace, Part, Site, TermList, all_mutations, apply_mutations, replace_term,
};
use crate::ast::{Action, Atom, Condition, Domain, Term, TypeRef, TypedName};
use crate::check::{allows, undeclared_requirements};
use crate::hierarchy::{TypeFit, TypeHierarchy};
use crate::name::Name;
use crate::print::{print_action, print_atom, print_typed_list};
use crate::random::Random;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::fmt;

/// Kind of change of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ActionMutantKind {
    /// Terms are left out.
    Drop,
    /// Well-typed literals that do not belong there are added.
    Add,
    /// Literals have another predicate or other arguments, well typed.
    Retarget,
    /// Literals of the precondition or effect are negated.
    Negate,
    /// The action has another name.
    WrongName,
    /// An atom has one argument more or fewer.
    WrongArity,
    /// A parameter has a type that is not declared or does not fit, or an argument is of a type that does not fit.
    WrongType,
    /// The text is damaged.
    BrokenText,
}

impl ActionMutantKind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::Drop,
        Self::Add,
        Self::Retarget,
        Self::Negate,
        Self::WrongName,
        Self::WrongArity,
        Self::WrongType,
        Self::BrokenText,
    ];

    /// The kind's name in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Add => "add",
            Self::Retarget => "retarget",
            Self::Negate => "negate",
            Self::WrongName => "wrong name",
            Self::WrongArity => "wrong arity",
            Self::WrongType => "wrong type",
            Self::BrokenText => "broken text",
        }
    }
}

impl fmt::Display for ActionMutantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Kind of damage to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Damage {
    /// A parenthesis is lost.
    LostParenthesis,
    /// There is a parenthesis too many.
    ExtraParenthesis,
    /// A word or a comma occurs where it is not allowed.
    StrayToken,
    /// A word that the form needs is lost or misspelt.
    LostWord,
    /// A field is given twice.
    DuplicatedField,
    /// A type occurs among the arguments of an atom.
    TypedArgument,
    /// The text holds no action: prose, another notation, another keyword.
    NoAction,
}

impl Damage {
    /// All kinds of damage.
    pub const ALL: [Self; 7] = [
        Self::LostParenthesis,
        Self::ExtraParenthesis,
        Self::StrayToken,
        Self::LostWord,
        Self::DuplicatedField,
        Self::TypedArgument,
        Self::NoAction,
    ];

    /// Returns the finding that a reader must report.
    pub const fn flaw(self) -> Flaw {
        match self {
            Self::LostParenthesis | Self::ExtraParenthesis => Flaw::Parentheses,
            Self::StrayToken | Self::LostWord | Self::DuplicatedField | Self::TypedArgument => Flaw::Token,
            Self::NoAction => Flaw::NoAction,
        }
    }
}

/// The expected finding, known from the way a text was generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Flaw {
    /// It holds no action.
    NoAction,
    /// Parentheses do not match.
    Parentheses,
    /// A token is misplaced or missing.
    Token,
    /// A type is unknown or does not fit.
    Type,
    /// An atom has the wrong number of arguments.
    Arguments,
    /// The action has another name.
    Name,
    /// The precondition is negated where the domain does not allow it.
    Requirement,
}

/// An action as somebody else might write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionMutant {
    /// Kind of the change.
    pub kind: ActionMutantKind,
    /// The expected finding; `None` if only the meaning may differ.
    pub flaw: Option<Flaw>,
    /// Description of the change.
    pub change: String,
    /// Text of the action.
    pub text: String,
    /// The whole reply: the text alone, in a code block, or between sentences.
    pub reply: String,
}

/// At most `count` mutants of an action, no text twice and none the action's own. The kinds take turns, so there are equally many of each
/// as long as they have more; a kind that has no more is passed over. What is drawn depends on the domain, the action and `random`.
pub fn action_mutants(
    domain: &Domain,
    action: &Action,
    count: usize,
    random: &mut Random,
) -> Vec<ActionMutant> {
    let mut seen = FxHashSet::default();
    seen.insert(print_action(action));
    let mut pools: VecDeque<Pool> =
        ActionMutantKind::ALL.into_iter().map(|kind| Pool::new(domain, action, kind, random)).collect();
    let mut made = Vec::with_capacity(count);
    while made.len() < count
        && let Some(mut pool) = pools.pop_front()
    {
        if let Some((draft, kind)) = pool.next(&mut seen, random) {
            let reply = wrap_in_reply(&draft, random);
            let Draft { flaw, change, text } = draft;
            made.push(ActionMutant { kind, flaw, change, text, reply });
            pools.push_back(pool);
        }
    }
    made
}

/// A mutant before its reply.
#[derive(Debug, Clone)]
struct Draft {
    flaw: Option<Flaw>,
    change: String,
    text: String,
}

/// The mutants of one kind.
struct Pool {
    kind: ActionMutantKind,
    source: Source,
}

enum Source {
    /// All there are, in random order; the last is the next.
    Listed(Vec<Draft>),
    /// Sets of mistakes in literals.
    Literals(Box<Sets>),
}

impl Pool {
    fn new(domain: &Domain, action: &Action, kind: ActionMutantKind, random: &mut Random) -> Self {
        let mut listed = match kind {
            ActionMutantKind::WrongName => wrong_names(domain, action),
            ActionMutantKind::WrongArity => wrong_arities(domain, action),
            ActionMutantKind::WrongType => wrong_types(domain, action),
            ActionMutantKind::BrokenText => {
                return Pool { kind, source: Source::Listed(broken::all(action, random)) };
            }
            _ => {
                let sets = Sets::new(domain, action, kind, random);
                return Pool { kind, source: Source::Literals(Box::new(sets)) };
            }
        };
        random.shuffle(&mut listed);
        Pool { kind, source: Source::Listed(listed) }
    }

    fn next(
        &mut self,
        seen: &mut FxHashSet<String>,
        random: &mut Random,
    ) -> Option<(Draft, ActionMutantKind)> {
        let draft = match &mut self.source {
            Source::Listed(list) => loop {
                let draft = list.pop()?;
                if seen.insert(draft.text.clone()) {
                    break draft;
                }
            },
            Source::Literals(sets) => sets.next(seen, random)?,
        };
        Some((draft, self.kind))
    }
}

/// Wraps an action in a reply. A draft without an action is not wrapped.
fn wrap_in_reply(draft: &Draft, random: &mut Random) -> String {
    let text = &draft.text;
    let form = random.below(3);
    match (draft.flaw, form) {
        (Some(Flaw::NoAction), _) | (_, 0) => text.clone(),
        (_, 1) => format!("Here is the action:\n\n```pddl\n{text}\n```\n"),
        _ => format!("The action in PDDL:\n\n{text}\n\nIt follows the description.\n"),
    }
}

/// A literal of the action and its place.
struct Placed {
    site: Site,
    list: TermList,
    literal: Literal,
}

/// An action's literals. The domain has it as its only action.
fn literals(domain: &Domain, action: &Action) -> Vec<Placed> {
    let mut found = Vec::new();
    for list in [TermList::Precondition, TermList::Effect] {
        for site in list_sites(action, 0, list) {
            if let Some(literal) = part_at(domain, site).as_ref().and_then(Literal::of) {
                found.push(Placed { site, list, literal });
            }
        }
    }
    found
}

fn alone(domain: &Domain, action: &Action) -> Domain {
    Domain { actions: vec![action.clone()], ..domain.clone() }
}

impl Placed {
    /// The action with other arguments in this literal.
    fn with(&self, action: &Action, args: Vec<Term>, flaw: Flaw) -> Draft {
        let mut literal = self.literal.clone();
        let before = print_atom(&literal.atom);
        literal.atom = Atom { args, ..literal.atom };
        let change = format!("{} {before} became {}", self.list, print_atom(&literal.atom));
        let part: Part = literal.part(self.list);
        Draft { flaw: Some(flaw), change, text: print_action(&replace_term(action, self.site, part)) }
    }
}

/// Returns the terms that an action may use: its variables, or the domain's constants, or a new variable.
fn terms(domain: &Domain, action: &Action) -> Vec<Term> {
    let variables = action.parameters.iter().chain(&action.vars).map(|v| Term::Variable(v.name.clone()));
    let mut terms: Vec<Term> = variables.collect();
    if terms.is_empty() {
        terms.extend(domain.constants.iter().map(|c| Term::Constant(c.name.clone())));
    }
    if terms.is_empty() {
        terms.push(Term::Variable(Name::synthetic("?x")));
    }
    terms
}

/// Every literal with an argument left out, and with a further one at any place.
fn wrong_arities(domain: &Domain, action: &Action) -> Vec<Draft> {
    let domain = alone(domain, action);
    let terms = terms(&domain, action);
    let mut made = Vec::new();
    for placed in literals(&domain, action) {
        let args = &placed.literal.atom.args;
        // The number of arguments that a predicate takes is known only of one that is declared.
        if !domain.predicates.iter().any(|p| p.name == placed.literal.atom.predicate) {
            continue;
        }
        for position in 0..args.len() {
            let mut fewer = args.clone();
            fewer.remove(position);
            made.push(placed.with(action, fewer, Flaw::Arguments));
        }
        for position in 0..=args.len() {
            for term in &terms {
                let mut more = args.clone();
                more.insert(position, term.clone());
                made.push(placed.with(action, more, Flaw::Arguments));
            }
        }
    }
    made
}

/// Generates parameters with an undeclared type, or a type that never fits one of their occurrences; and
/// literals with an argument whose type never fits.
fn wrong_types(domain: &Domain, action: &Action) -> Vec<Draft> {
    let types = TypeHierarchy::of(domain);
    let domain = alone(domain, action);
    let literals = literals(&domain, action);
    let mut made = Vec::new();
    for (position, parameter) in action.parameters.iter().enumerate() {
        if parameter.ty.as_ref().is_some_and(TypeRef::is_either) {
            continue;
        }
        let written = parameter.ty.as_ref().and_then(|ty| ty.alternatives.first());
        let mut wrong: Vec<String> = slips(written.map_or("object", |ty| ty.as_str()));
        wrong.extend(["thing", "item-type", "string", "agent-type"].map(str::to_owned));
        wrong.extend(domain.predicates.iter().map(|p| p.name.as_str().to_owned()));
        wrong.retain(|ty| types.get(&ty.to_lowercase()).is_none());
        let unfit = types.names().map(|ty| ty.as_str().to_owned());
        wrong.extend(unfit.filter(|ty| never_fits(&domain, &types, &literals, &parameter.name, ty)));
        made.extend(wrong.iter().map(|ty| with_type(action, position, parameter, ty)));
    }
    for placed in &literals {
        for (position, old) in placed.literal.atom.args.iter().enumerate() {
            for new in action.parameters.iter().filter(|new| new.name != *old.name()) {
                if fit(&domain, &types, &placed.literal.atom.predicate, position, new.ty.as_ref())
                    == Some(TypeFit::Never)
                {
                    let mut args = placed.literal.atom.args.clone();
                    args[position] = Term::Variable(new.name.clone());
                    made.push(placed.with(action, args, Flaw::Type));
                }
            }
        }
    }
    made
}

fn with_type(action: &Action, position: usize, parameter: &TypedName, ty: &str) -> Draft {
    let typed = TypedName { ty: Some(TypeRef::single(Name::synthetic(ty))), ..parameter.clone() };
    let mut changed = action.clone();
    let list = |entry: &TypedName| print_typed_list(std::slice::from_ref(entry));
    let change = format!("parameter {} became {}", list(parameter), list(&typed));
    changed.parameters[position] = typed;
    Draft { flaw: Some(Flaw::Type), change, text: print_action(&changed) }
}

/// Returns true if a variable of that type never fits one of its occurrences.
fn never_fits(
    domain: &Domain,
    types: &TypeHierarchy,
    literals: &[Placed],
    variable: &Name,
    ty: &str,
) -> bool {
    let ty = TypeRef::single(Name::synthetic(ty));
    literals.iter().any(|placed| {
        let atom = &placed.literal.atom;
        let places = atom.args.iter().enumerate().filter(|(_, arg)| arg.name() == variable);
        let mut fits = places.map(|(position, _)| fit(domain, types, &atom.predicate, position, Some(&ty)));
        fits.any(|fit| fit == Some(TypeFit::Never))
    })
}

/// Compares a type with an argument position of a predicate; `None` if the position has no type, or a type is
/// unknown.
fn fit(
    domain: &Domain,
    types: &TypeHierarchy,
    predicate: &Name,
    position: usize,
    given: Option<&TypeRef>,
) -> Option<TypeFit> {
    let decl = domain.predicates.iter().find(|p| p.name == *predicate)?;
    let wanted = types.resolve(Some(decl.parameters.get(position)?.ty.as_ref()?))?;
    Some(types.fit(&types.resolve(given)?, &wanted))
}

/// Draws of one size without a new result before the next size is tried.
const TRIES: usize = 200;
/// Most mistakes of a set.
const MOST: usize = 3;

/// Mistakes of one kind in one action, drawn in sets.
struct Sets {
    kind: ActionMutantKind,
    /// The domain with only this action.
    domain: Domain,
    /// True if a negated precondition is not an error.
    negation: bool,
    singles: Vec<Mutation>,
    /// The next single one.
    at: usize,
    size: usize,
}

impl Sets {
    fn new(domain: &Domain, action: &Action, kind: ActionMutantKind, random: &mut Random) -> Self {
        let kinds: &[MutationKind] = match kind {
            ActionMutantKind::Drop => &[MutationKind::Omission],
            ActionMutantKind::Add => &[MutationKind::Addition],
            ActionMutantKind::Negate => &[MutationKind::Negation],
            _ => &[MutationKind::Retarget, MutationKind::SwappedArguments, MutationKind::ReplacedArgument],
        };
        let negation = negation_allowed(domain);
        let domain = Domain { actions: vec![action.clone()], ..domain.clone() };
        let mut singles: Vec<Mutation> =
            kinds.iter().flat_map(|kind| all_mutations(&domain, *kind)).collect();
        if kind == ActionMutantKind::Add && !negation {
            // A negated precondition is another kind of mistake.
            singles.retain(|m| {
                !matches!(m.place, MutationPlace::Term { list: TermList::Precondition, .. })
                    || !m.after.as_deref().is_some_and(|after| after.starts_with("(not "))
            });
        }
        random.shuffle(&mut singles);
        Sets { kind, domain, negation, singles, at: 0, size: 2 }
    }

    /// One that was not there yet.
    fn next(&mut self, seen: &mut FxHashSet<String>, random: &mut Random) -> Option<Draft> {
        while let Some(single) = self.singles.get(self.at).cloned() {
            self.at += 1;
            if let Some(draft) = self.build_draft(&[single]).filter(|draft| seen.insert(draft.text.clone())) {
                return Some(draft);
            }
        }
        while self.size <= MOST.min(self.singles.len()) {
            for _ in 0..TRIES {
                let size = self.size;
                random.shuffle_front(&mut self.singles, size);
                let drawn = self.singles[..size].to_vec();
                if let Some(draft) = self.build_draft(&drawn).filter(|draft| seen.insert(draft.text.clone()))
                {
                    return Some(draft);
                }
            }
            self.size += 1;
        }
        None
    }

    /// The action with these mistakes; nothing where two are in one term, or one atom would be in a list twice.
    fn build_draft(&self, mutations: &[Mutation]) -> Option<Draft> {
        let one_place = mutations.iter().enumerate().any(|(i, a)| {
            mutations[..i]
                .iter()
                .any(|b| a.place == b.place && !matches!(a.place, MutationPlace::Term { index: None, .. }))
        });
        let mutated = apply_mutations(&self.domain, mutations);
        let action = mutated.actions.first()?;
        if one_place || repeats(&mutated, action) {
            return None;
        }
        let flaw = (self.kind == ActionMutantKind::Negate && !self.negation && negates(action))
            .then_some(Flaw::Requirement);
        let change: Vec<String> = mutations.iter().map(change).collect();
        Some(Draft { flaw, change: change.join("; "), text: print_action(action) })
    }
}

/// Returns true if the domain allows a negated precondition: it declares the requirement, or uses one itself.
fn negation_allowed(domain: &Domain) -> bool {
    const NEGATION: &str = ":negative-preconditions";
    allows(&domain.requirements, NEGATION) || undeclared_requirements(domain).contains(&NEGATION)
}

fn negates(action: &Action) -> bool {
    let conditions = action.precondition.as_ref().map_or(&[][..], Condition::conjuncts);
    conditions
        .iter()
        .any(|c| matches!(c, Condition::Not(inner, _) if !matches!(**inner, Condition::Equal(..))))
}

/// Returns true if a list has an atom twice, with either sign.
fn repeats(domain: &Domain, action: &Action) -> bool {
    [TermList::Precondition, TermList::Effect].into_iter().any(|list| {
        let sites = list_sites(action, 0, list).into_iter();
        let literals: Vec<Literal> =
            sites.filter_map(|site| part_at(domain, site).as_ref().and_then(Literal::of)).collect();
        literals.iter().enumerate().any(|(i, a)| literals[..i].iter().any(|b| b.same_atom(&a.atom)))
    })
}

/// Describes a mutation, without the action's name.
fn change(mutation: &Mutation) -> String {
    let list = match mutation.place {
        MutationPlace::Term { list, .. } => list.to_string(),
        _ => String::new(),
    };
    match (&mutation.before, &mutation.after) {
        (Some(before), Some(after)) => format!("{list} {before} became {after}"),
        (Some(before), None) => format!("{list} {before} dropped"),
        (None, Some(after)) => format!("{list} {after} added"),
        (None, None) => list,
    }
}

/// The action under every other name that is a slip for its own, or another action's.
fn wrong_names(domain: &Domain, action: &Action) -> Vec<Draft> {
    let mut names: Vec<String> = domain.actions.iter().map(|other| other.name.as_str().to_owned()).collect();
    names.extend(slips(action.name.as_str()));
    names.extend(["do-", "try-", "my-"].map(|before| format!("{before}{}", action.name)));
    names.extend(["-action", "-1", "2", "_"].map(|behind| format!("{}{behind}", action.name)));
    let wrong = names.into_iter().filter(|name| !name.eq_ignore_ascii_case(action.name.as_str()));
    wrong
        .map(|name| Draft {
            flaw: Some(Flaw::Name),
            change: format!("called {name}"),
            text: print_action(&Action { name: Name::synthetic(&name), ..action.clone() }),
        })
        .collect()
}

/// A word with a letter left out, written twice, exchanged with the next or replaced; all begin with a letter, and none is the word.
fn slips(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let mut made = Vec::new();
    for i in 0..letters.len() {
        let with = |replacement: &[char], skip: usize| -> String {
            letters[..i].iter().chain(replacement).chain(&letters[i + skip..]).collect()
        };
        made.push(with(&[], 1));
        made.push(with(&[letters[i], letters[i]], 1));
        if let Some(&next) = letters.get(i + 1) {
            made.push(with(&[next, letters[i]], 2));
        }
        if letters[i] == '-' {
            made.push(with(&['_'], 1));
        } else {
            made.extend(['e', 'n', 's'].map(|letter| with(&[letter], 1)));
        }
    }
    made.retain(|slip| {
        slip.starts_with(|c: char| c.is_ascii_alphabetic()) && !slip.eq_ignore_ascii_case(word)
    });
    made
}
