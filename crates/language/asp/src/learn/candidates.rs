//! Candidate rules, level by level: rules of one more condition from those that conclude a missing fact and a wrong one.

use super::relations::{Conclusion, Form, Relations};
use crate::syntax::ast::Term;
use crate::syntax::parse_ground_term;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;

/// An argument of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Argument {
    /// A variable of the conclusion, by position.
    Head(usize),
    /// The variable that only conditions have.
    Other,
    /// `_`.
    Any,
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Atom {
        relation: usize,
        negated: bool,
        arguments: Vec<Argument>,
    },
    /// `X != Y`, by positions in the conclusion.
    Different(usize, usize),
}

/// A rule: its conditions, besides the types of the conclusion's variables, as indices into the conditions of its level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) conditions: Vec<Condition>,
    indices: Vec<usize>,
}

/// The candidates of one number of conditions.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    pub(super) rules: Vec<Candidate>,
    /// The conditions that rules are made of. Those of the first level that are of no use are left out later.
    conditions: Vec<Condition>,
}

impl Level {
    /// The rule without conditions.
    pub(super) fn first() -> Self {
        Self {
            rules: vec![Candidate { conditions: Vec::new(), indices: Vec::new() }],
            conditions: Vec::new(),
        }
    }
}

/// The candidates of one more condition. `open`: those rules of the level that conclude a missing fact and a wrong one. A rule that
/// concludes no missing fact has no use with more conditions, and one without wrong facts needs none.
pub(super) fn next(level: &Level, open: &[bool], conclusion: &Conclusion, relations: &Relations) -> Level {
    let is_first = level.conditions.is_empty();
    let conditions = match is_first {
        true => conditions(conclusion, relations),
        false => level.conditions.clone(),
    };
    let open_rules: Vec<&Candidate> =
        level.rules.iter().zip(open).filter(|(_, open)| **open).map(|(rule, _)| rule).collect();
    let known: HashSet<&[usize]> = open_rules.iter().map(|rule| rule.indices.as_slice()).collect();
    let mut rules = Vec::new();
    for rule in &open_rules {
        let from = rule.indices.last().map_or(0, |last| last + 1);
        for index in from..conditions.len() {
            let indices: Vec<usize> = rule.indices.iter().copied().chain([index]).collect();
            if is_first || every_part_is_open(&indices, &known) {
                let conditions = indices.iter().map(|i| conditions[*i].clone()).collect();
                rules.push(Candidate { conditions, indices });
            }
        }
    }
    Level { rules, conditions }
}

/// True if every rule of one condition less is open.
fn every_part_is_open(indices: &[usize], known: &HashSet<&[usize]>) -> bool {
    (0..indices.len()).all(|without| {
        let part: Vec<usize> =
            indices.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, i)| *i).collect();
        known.contains(part.as_slice())
    })
}

/// All conditions on the variables of a conclusion, positive ones first.
fn conditions(conclusion: &Conclusion, relations: &Relations) -> Vec<Condition> {
    let head = conclusion.relation;
    let own: Vec<Argument> = (0..relations.arity(head)).map(Argument::Head).collect();
    let mut found = Vec::new();
    for negated in [false, true] {
        for relation in relations.usable(head).filter(|r| !negated || *r != head) {
            for arguments in assignments(relation, conclusion, relations, negated) {
                let is_conclusion = relation == head && arguments == own;
                let is_type = !negated
                    && matches!(arguments.as_slice(), [Argument::Head(at)] if conclusion.types[*at] == Some(relation));
                if !is_conclusion && !is_type {
                    found.push(Condition::Atom { relation, negated, arguments });
                }
            }
        }
        if !negated {
            let pairs = (0..own.len()).flat_map(|i| (i + 1..own.len()).map(move |j| (i, j)));
            let alike = pairs.filter(|(i, j)| relations.overlap((head, *i), (head, *j)));
            found.extend(alike.map(|(i, j)| Condition::Different(i, j)));
        }
    }
    found
}

/// The arguments that a condition about a relation may have: at least one variable of the conclusion, none twice.
fn assignments(
    relation: usize,
    conclusion: &Conclusion,
    relations: &Relations,
    negated: bool,
) -> Vec<Vec<Argument>> {
    let fits = |own: usize, position: usize| {
        conclusion.types[own].is_some_and(|ty| relations.overlap((ty, 0), (relation, position)))
    };
    let mut found: Vec<Vec<Argument>> = vec![Vec::new()];
    for position in 0..relations.arity(relation) {
        let mut choices = vec![Argument::Any];
        choices.extend((0..conclusion.types.len()).filter(|own| fits(*own, position)).map(Argument::Head));
        // A negated condition binds nothing.
        choices.extend((!negated).then_some(Argument::Other));
        found = found
            .iter()
            .flat_map(|before| choices.iter().map(move |choice| (before, *choice)))
            .filter(|(before, choice)| *choice == Argument::Any || !before.contains(choice))
            .map(|(before, choice)| before.iter().copied().chain([choice]).collect())
            .collect();
    }
    found.retain(|arguments| arguments.iter().any(|a| matches!(a, Argument::Head(_))));
    found
}

impl Candidate {
    /// The cost of this rule: conditions first, then properties that make it less likely to hold in other tasks.
    pub(super) fn cost(&self, conclusion: &Conclusion, relations: &Relations) -> u32 {
        let of_init = matches!(relations.form(conclusion.relation), Form::Init(_));
        let one = |condition: &Condition| match condition {
            Condition::Different(..) => 10,
            Condition::Atom { relation, negated, .. } => {
                let of_goal = matches!(relations.form(*relation), Form::Goal(_) | Form::NegatedGoal(_));
                10 + u32::from(*negated)
                    + if of_init && of_goal { 3 } else { 0 }
                    + u32::from(condition.has_other())
            }
        };
        10 + self.conditions.iter().map(one).sum::<u32>()
    }

    /// The rule as a knowledge file has it. The type of a variable is left out if a condition implies it.
    pub(super) fn text(&self, conclusion: &Conclusion, relations: &Relations) -> String {
        let bound = |at: usize| {
            self.conditions.iter().any(|condition| condition.implies_type(at, conclusion, relations))
        };
        let types = conclusion.types.iter().enumerate().filter(|(at, _)| !bound(*at));
        let types = types.filter_map(|(at, ty)| Some(relations.form((*ty)?).write(&[variable(at)])));
        let body: Vec<String> =
            types.chain(self.conditions.iter().map(|condition| condition.text(relations))).collect();
        let head = head_text(conclusion, relations);
        match body.is_empty() {
            true => format!("{head}."),
            false => format!("{head} :- {}.", body.join(", ")),
        }
    }
}

impl Condition {
    fn has_other(&self) -> bool {
        matches!(self, Self::Atom { arguments, .. } if arguments.contains(&Argument::Other))
    }

    pub(super) fn text(&self, relations: &Relations) -> String {
        match self {
            Self::Atom { negated: true, .. } => format!("not {}", self.atom_text(relations)),
            _ => self.atom_text(relations),
        }
    }

    /// The condition without `not`.
    pub(super) fn atom_text(&self, relations: &Relations) -> String {
        match self {
            Self::Different(a, b) => format!("{} != {}", variable(*a), variable(*b)),
            Self::Atom { relation, arguments, .. } => {
                let arguments: Vec<String> = arguments.iter().map(|a| a.text()).collect();
                relations.form(*relation).write(&arguments)
            }
        }
    }

    /// True if the objects of a variable in this condition have the type of the variable in every example.
    fn implies_type(&self, at: usize, conclusion: &Conclusion, relations: &Relations) -> bool {
        let (Self::Atom { relation, negated: false, arguments }, Some(ty)) = (self, conclusion.types[at])
        else {
            return false;
        };
        let position = arguments.iter().position(|a| *a == Argument::Head(at));
        position.is_some_and(|position| {
            (0..relations.examples).all(|example| {
                let objects = relations.wanted(ty, example);
                relations.wanted(*relation, example).iter().all(|t| objects.contains(&t[position..=position]))
            })
        })
    }
}

impl Argument {
    pub(super) fn text(self) -> String {
        match self {
            Self::Head(at) => variable(at),
            Self::Other => "Other".to_owned(),
            Self::Any => "_".to_owned(),
        }
    }
}

/// X, Y, Z, X3, X4, ...
pub(super) fn variable(at: usize) -> String {
    ["X", "Y", "Z"].get(at).map_or_else(|| format!("X{at}"), |name| (*name).to_owned())
}

/// The conclusion as an atom.
pub(super) fn head_text(conclusion: &Conclusion, relations: &Relations) -> String {
    let variables: Vec<String> = (0..relations.arity(conclusion.relation)).map(variable).collect();
    relations.form(conclusion.relation).write(&variables)
}

// The programs that judge candidates and choose rules, and their answers.

/// The judgement of one candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Judged {
    /// It concludes a missing fact.
    pub(super) live: bool,
    /// It concludes a fact that no reference has.
    pub(super) wrong: bool,
    /// The missing facts that it concludes, by index; empty if it is wrong.
    pub(super) covers: BTreeSet<usize>,
}

/// The program whose answer says which candidates conclude missing and wrong facts.
pub(super) fn coverage(relations: &Relations, conclusion: &Conclusion, rules: &[Candidate]) -> String {
    let mut out = format!("t(0..{}).\n", relations.examples.saturating_sub(1));
    let head = conclusion.relation;
    for example in 0..relations.examples {
        for relation in relations.usable(head) {
            for tuple in relations.wanted(relation, example) {
                let name = if relation == head { "right" } else { "holds" };
                let _ = writeln!(out, "{name}({example}, {}).", relations.form(relation).write(tuple));
            }
        }
        for tuple in relations.given(head, example) {
            let _ = writeln!(out, "given({example}, {}).", relations.form(head).write(tuple));
        }
    }
    for (index, (example, tuple)) in conclusion.missing.iter().enumerate() {
        let _ = writeln!(out, "missing({example}, {}, {index}).", relations.form(head).write(tuple));
    }
    for (index, rule) in rules.iter().enumerate() {
        push_rule(&mut out, index, rule, conclusion, relations);
    }
    out.push_str(
        "live(R) :- derived(R, T, F), missing(T, F, _).\n\
         wrong(R) :- derived(R, T, F), not right(T, F).\n\
         covers(R, I) :- derived(R, T, F), missing(T, F, I), not wrong(R).\n\
         #show live/1.\n#show wrong/1.\n#show covers/2.\n",
    );
    out
}

/// `derived(INDEX, T, HEAD) :- ...`. Conditions on the conclusion's own relation are about given and derived facts alone.
fn push_rule(
    out: &mut String,
    index: usize,
    rule: &Candidate,
    conclusion: &Conclusion,
    relations: &Relations,
) {
    let mut body = vec!["t(T)".to_owned()];
    for (at, ty) in conclusion.types.iter().enumerate() {
        body.extend(ty.map(|ty| format!("holds(T, {})", relations.form(ty).write(&[variable(at)]))));
    }
    let mut recurs = false;
    for condition in &rule.conditions {
        body.push(match condition {
            Condition::Different(..) => condition.text(relations),
            Condition::Atom { relation, negated, .. } => {
                let own = *relation == conclusion.relation;
                recurs |= own;
                let not = if *negated { "not " } else { "" };
                let from = if own { format!("own({index}, T, ") } else { "holds(T, ".to_owned() };
                format!("{not}{from}{})", condition.atom_text(relations))
            }
        });
    }
    let _ =
        writeln!(out, "derived({index}, T, {}) :- {}.", head_text(conclusion, relations), body.join(", "));
    if recurs {
        let _ = writeln!(
            out,
            "own({index}, T, F) :- given(T, F).\nown({index}, T, F) :- derived({index}, T, F)."
        );
    }
}

/// The judgements of so many candidates.
pub(super) fn judgements(atoms: &[String], count: usize) -> Vec<Judged> {
    let mut judged = vec![Judged::default(); count];
    for (name, numbers) in atoms.iter().filter_map(|atom| call(atom)) {
        let Some(entry) = numbers.first().and_then(|index| judged.get_mut(*index)) else { continue };
        match (name.as_str(), numbers.as_slice()) {
            ("live", _) => entry.live = true,
            ("wrong", _) => entry.wrong = true,
            ("covers", [_, fact]) => drop(entry.covers.insert(*fact)),
            _ => {}
        }
    }
    judged
}

/// The program whose optimal answer is the cheapest set of rules that concludes all missing facts. Of rules that conclude the same
/// ones the cheapest takes part, and of these the first. `rules`: costs and concluded facts.
pub(super) fn selection(rules: &[(u32, &BTreeSet<usize>)], missing: usize) -> String {
    let mut best: BTreeMap<&BTreeSet<usize>, (u32, usize)> = BTreeMap::new();
    for (index, (cost, covers)) in rules.iter().enumerate() {
        let entry = best.entry(covers).or_insert((*cost, index));
        *entry = (*entry).min((*cost, index));
    }
    let mut out = format!("missing(0..{}).\n", missing.saturating_sub(1));
    for (covers, (cost, index)) in best {
        let _ = writeln!(out, "cost({index}, {cost}).");
        for fact in covers {
            let _ = writeln!(out, "covers({index}, {fact}).");
        }
    }
    out.push_str(
        "{ use(R) } :- cost(R, _).\n\
         :- missing(I), not use(R) : covers(R, I).\n\
         #minimize { C@2, R : use(R), cost(R, C) }.\n\
         #minimize { R@1, R : use(R) }.\n\
         #show use/1.\n",
    );
    out
}

/// The indices of the chosen rules.
pub(super) fn chosen(atoms: &[String]) -> Vec<usize> {
    let calls = atoms.iter().filter_map(|atom| call(atom));
    let mut found: Vec<usize> =
        calls.filter(|(name, _)| name == "use").filter_map(|(_, numbers)| numbers.first().copied()).collect();
    found.sort_unstable();
    found
}

/// An atom whose arguments are numbers.
fn call(atom: &str) -> Option<(String, Vec<usize>)> {
    let Term::Function { name, arguments } = parse_ground_term(atom)? else { return None };
    let number = |term: &Term| match term {
        Term::Number(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    Some((name, arguments.iter().map(number).collect::<Option<_>>()?))
}
