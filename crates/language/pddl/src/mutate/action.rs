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

mod arguments;
mod broken;
mod literals;
mod scan;
mod words;

use crate::ast::{Action, Domain};
use crate::print::print_action;
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
    Literals(Box<literals::Sets>),
}

impl Pool {
    fn new(domain: &Domain, action: &Action, kind: ActionMutantKind, random: &mut Random) -> Self {
        let mut listed = match kind {
            ActionMutantKind::WrongName => words::names(domain, action),
            ActionMutantKind::WrongArity => arguments::wrong_arities(domain, action),
            ActionMutantKind::WrongType => arguments::wrong_types(domain, action),
            ActionMutantKind::BrokenText => {
                return Pool { kind, source: Source::Listed(broken::all(action, random)) };
            }
            _ => {
                let sets = literals::Sets::new(domain, action, kind, random);
                return Pool { kind, source: Source::Literals(Box::new(sets)) };
            }
        };
        let all = listed.len();
        random.shuffle_front(&mut listed, all);
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
