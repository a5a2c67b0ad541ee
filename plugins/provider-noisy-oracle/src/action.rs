//! One action of a domain at a time: the reference's, with mistakes of content and of form, or a shown one that is corrected.

use crate::options::{Actions, OracleOptions};
use crate::reply::{self, SimulatedReply};
use crate::revise::{self, Schema};
use planforge_diagnostics::{Diagnostic, SourceId};
use planforge_pddl::ast::{Action, Domain, Effect, PredicateDecl, Term, TypeRef};
use planforge_pddl::extract::code_blocks;
use planforge_pddl::mutate::{apply_mutations, random_mutations};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, action_blocks, parse_domain, print_action, rename_parameters};
use std::collections::BTreeSet;

/// Suffix of a listed predicate that is proposed a second time.
const AGAIN: &str = "-again";

/// A question for one action.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    /// The action as it should be.
    wanted: &'a Action,
    /// True if new predicates may be proposed.
    growing: bool,
    /// Names of the predicates that are listed, in lower case.
    listed: BTreeSet<String>,
    /// The previous text, if it is to be corrected.
    previous: Option<String>,
}

impl<'a> Question<'a> {
    /// Reads a question. None if it names no action of the domain.
    pub(crate) fn of(text: &str, domain: &'a Domain) -> Option<Self> {
        let quoted = text.split('`').map(|word| word.trim().to_lowercase());
        let wanted =
            quoted.filter_map(|word| domain.actions.iter().find(|a| a.name.is(&word))).next_back()?;
        // Solved actions of other domains come first, each with its own predicates.
        let (before, own) = text.rsplit_once("\nDescription:").unwrap_or(("", text));
        let list = before.rsplit_once("\nPredicates:").map_or(before, |(_, list)| list);
        let previous = own.contains("written before").then(|| match code_blocks(own).last() {
            Some(block) => own.get(block.clone()).unwrap_or_default().trim().to_owned(),
            None => String::new(),
        });
        let heads = list.lines().filter_map(|line| line.trim_start().strip_prefix('('));
        let word = |head: &str| head.split([' ', ')']).next().unwrap_or_default().to_lowercase();
        Some(Self {
            wanted,
            growing: own.contains("New predicates:"),
            listed: heads.map(word).collect(),
            previous,
        })
    }
}

/// A mistake of form: one that keeps the action out of its domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    NoAction,
    BrokenText,
    TypedArgument,
    WrongType,
    WrongArity,
    WrongName,
    NegatedPrecondition,
}

impl Form {
    const fn name(self) -> &'static str {
        match self {
            Self::NoAction => "no-action",
            Self::BrokenText => "broken-text",
            Self::TypedArgument => "typed-argument",
            Self::WrongType => "wrong-type",
            Self::WrongArity => "wrong-arity",
            Self::WrongName => "wrong-name",
            Self::NegatedPrecondition => "negated-precondition",
        }
    }

    fn draw(odds: &Actions, random: &mut Random) -> Option<Self> {
        let mut rest = random.unit();
        let all = [
            (Self::NoAction, odds.no_action),
            (Self::BrokenText, odds.broken_text),
            (Self::TypedArgument, odds.typed_argument),
            (Self::WrongType, odds.wrong_type),
            (Self::WrongArity, odds.wrong_arity),
            (Self::WrongName, odds.wrong_name),
            (Self::NegatedPrecondition, odds.negated_precondition),
        ];
        all.into_iter()
            .find(|(_, p)| {
                rest -= p;
                rest < 0.0
            })
            .map(|(form, _)| form)
    }
}

/// The writer of the actions of one domain.
pub(crate) struct ActionWriter<'a> {
    pub(crate) options: &'a OracleOptions,
    pub(crate) domain: &'a Domain,
    pub(crate) question: &'a Question<'a>,
}

/// An action as text, and what is wrong with it.
struct Draft {
    text: Option<String>,
    mistakes: Vec<String>,
}

impl ActionWriter<'_> {
    pub(crate) fn write(&self, random: &mut Random) -> SimulatedReply {
        let wanted = self.question.wanted;
        match &self.question.previous {
            None => {
                let draft = self.first(wanted, Form::draw(&self.options.actions, random), random);
                let note = serde_json::json!({ "action": wanted.name.as_str(), "mistakes": draft.mistakes });
                let mistakes = draft.mistakes.len();
                self.write_reply(draft.text, note, mistakes, random)
            }
            Some(previous) => self.again(wanted, previous, random),
        }
    }

    /// A first answer: mistakes of content, and at most one of form.
    fn first(&self, wanted: &Action, form: Option<Form>, random: &mut Random) -> Draft {
        if form == Some(Form::NoAction) {
            return Draft { text: None, mistakes: vec![Form::NoAction.name().to_owned()] };
        }
        let errors = reply::poisson(self.options.actions.errors, random) as usize;
        let (action, mut mistakes) = self.mutate(wanted, errors, random);
        let text = match form.map(|form| (form, self.break_form(&action, form, random))) {
            Some((form, Some(text))) => {
                mistakes.push(form.name().to_owned());
                text
            }
            // A mistake that does not fit is left out, such as a wrong type in an action without parameters.
            _ => print_action(&action),
        };
        Draft { text: Some(text), mistakes }
    }

    fn mutate(&self, action: &Action, errors: usize, random: &mut Random) -> (Action, Vec<String>) {
        let alone = Domain { actions: vec![action.clone()], ..self.domain.clone() };
        let mutations = random_mutations(&alone, &self.options.kinds.weights(), errors, random);
        let made = apply_mutations(&alone, &mutations).actions.into_iter().next();
        (made.unwrap_or_else(|| action.clone()), mutations.iter().map(ToString::to_string).collect())
    }

    /// The action with a mistake of form; `None` if the form does not fit.
    fn break_form(&self, action: &Action, form: Form, random: &mut Random) -> Option<String> {
        let mut wrong = action.clone();
        match form {
            Form::NoAction => return None,
            Form::BrokenText => return Some(broken(&print_action(action))),
            Form::TypedArgument => return typed_argument(action),
            Form::WrongType => {
                let index = random.below(wrong.parameters.len().max(1) as u64) as usize;
                let parameter = wrong.parameters.get_mut(index)?;
                let old = parameter.ty.as_ref().and_then(|ty| ty.alternatives.first());
                let name = format!("{}-kind", old.map_or("thing", |name| name.as_str()));
                parameter.ty = Some(TypeRef::single(Name::synthetic(&name)));
            }
            Form::WrongArity => {
                let schema = Schema::of(action, true);
                let lists = [schema.preconditions.len(), schema.effects.len()];
                let at = random.below(lists.iter().sum::<usize>().max(1) as u64) as usize;
                // The first literal with an argument from there on, around the end.
                let all: Vec<&String> = schema.preconditions.iter().chain(&schema.effects).collect();
                let places = (0..all.len()).map(|step| (at + step) % all.len());
                let (place, short) = places
                    .into_iter()
                    .find_map(|place| Some((place, drop_last_argument(all.get(place)?)?)))?;
                let mut schema = schema.clone();
                let slot = match place.checked_sub(schema.preconditions.len()) {
                    None => schema.preconditions.get_mut(place)?,
                    Some(effect) => schema.effects.get_mut(effect)?,
                };
                *slot = short;
                schema.write_to(&mut wrong);
            }
            Form::WrongName => wrong.name = Name::synthetic(&format!("do-{}", action.name)),
            Form::NegatedPrecondition => {
                let mut schema = Schema::of(action, true);
                let positive =
                    |term: &&String| !term.starts_with("(not") && term.split_whitespace().count() > 0;
                let added =
                    schema.effects.iter().filter(|e| !e.starts_with("(increase")).find(positive).cloned();
                match added {
                    Some(effect) => schema.preconditions.push(format!("(not {effect})")),
                    None => {
                        let first = schema.preconditions.iter_mut().find(|term| !term.starts_with("(not"))?;
                        *first = format!("(not {first})");
                    }
                }
                schema.write_to(&mut wrong);
            }
        }
        Some(print_action(&wrong))
    }

    /// The previous text with each mistake repaired with probability `repair_named`: the question is about
    /// this action.
    fn again(&self, wanted: &Action, previous: &str, random: &mut Random) -> SimulatedReply {
        let p = self.options.repair_named;
        let Some(old) = read(previous) else {
            let form = (!random.chance(p)).then_some(Form::NoAction);
            let draft = self.first(wanted, form, random);
            let repaired = if form.is_none() { vec![Form::NoAction.name()] } else { Vec::new() };
            let note = serde_json::json!({
                "action": wanted.name.as_str(), "repaired": repaired, "mistakes": draft.mistakes,
            });
            let mistakes = draft.mistakes.len();
            return self.write_reply(draft.text, note, mistakes, random);
        };
        let wanted = match old.action.parameters.len() == wanted.parameters.len() {
            true => rename_parameters(wanted, &old.action.parameters),
            false => wanted.clone(),
        };
        let mut repairs = Repairs { p, repaired: Vec::new(), left: Vec::new() };
        let mut action = old.action.clone();
        if !action.name.is(wanted.name.key()) && repairs.mends(Form::WrongName.name(), random) {
            action.name = wanted.name.clone();
        }
        let types = |action: &Action| -> Vec<_> {
            action.parameters.iter().map(|p| p.ty.as_ref().map(|ty| ty.alternatives.clone())).collect()
        };
        if types(&action) != types(&wanted) && repairs.mends("parameters", random) {
            action.parameters.clone_from(&wanted.parameters);
        }
        let goal = Schema::of(&wanted, true);
        let mut schema = Schema::of(&action, true);
        repairs.list(&mut schema.preconditions, &goal.preconditions, "precondition", random);
        repairs.list(&mut schema.effects, &goal.effects, "effect", random);
        schema.write_to(&mut action);
        let form = old.form.filter(|form| !repairs.mends(form.name(), random));
        let faulty = !repairs.repaired.is_empty() || !repairs.left.is_empty();
        let mut damaged = Vec::new();
        if !faulty && random.chance(self.options.damage) {
            (action, damaged) = self.mutate(&action, 1, random);
        }
        let text = form.and_then(|form| self.break_form(&action, form, random));
        let text = text.unwrap_or_else(|| print_action(&action));
        let note = serde_json::json!({
            "action": wanted.name.as_str(),
            "repaired": repairs.repaired,
            "damaged": damaged,
            "mistakes_left": repairs.left.len(),
        });
        self.write_reply(Some(text), note, repairs.left.len() + damaged.len(), random)
    }

    /// The reply. If predicates may be proposed, the unlisted ones of the action come first, and sometimes a
    /// listed one under another name.
    fn write_reply(
        &self,
        text: Option<String>,
        mut note: serde_json::Value,
        mut mistakes: usize,
        random: &mut Random,
    ) -> SimulatedReply {
        let Some(mut text) = text else {
            return SimulatedReply::new(reply::prose("The action cannot be written."), note, mistakes);
        };
        let mut lines = Vec::new();
        if self.question.growing {
            let used = |p: &&PredicateDecl| mentions(&text, p.name.as_str());
            let used: Vec<&PredicateDecl> = self.domain.predicates.iter().filter(used).collect();
            let mut again = Vec::new();
            for predicate in used {
                if !self.question.listed.contains(predicate.name.key()) {
                    lines.push(proposal(predicate, ""));
                } else if random.chance(self.options.actions.synonym) {
                    lines.push(proposal(predicate, AGAIN));
                    text = rename_predicate(&text, predicate.name.as_str());
                    again.push(predicate.name.to_string());
                }
            }
            mistakes += again.len();
            if let Some(note) = note.as_object_mut().filter(|_| !again.is_empty()) {
                note.insert("made_up_again".to_owned(), serde_json::json!(again));
            }
        }
        let block = format!("```pddl\n{}\n```", text.trim_end());
        let text = match lines.is_empty() {
            true => block,
            false => format!("New predicates:\n{}\n\nAction:\n{block}", lines.join("\n")),
        };
        SimulatedReply::new(reply::prose(&text), note, mistakes)
    }
}

/// Reports predicates that were proposed twice, each with probability `repair_named`.
pub(crate) fn unify(options: &OracleOptions, question: &str, random: &mut Random) -> SimulatedReply {
    let (mut seen, mut missed) = (Vec::new(), Vec::new());
    for line in question.lines() {
        let Some(name) = line.trim_start().strip_prefix('(').and_then(|l| l.split([' ', ')']).next()) else {
            continue;
        };
        let Some(stem) = name.to_lowercase().strip_suffix(AGAIN).map(str::to_owned) else { continue };
        let pair = format!("{name} -> {stem}");
        if random.chance(options.repair_named) { seen.push(pair) } else { missed.push(pair) }
    }
    let text = if seen.is_empty() { "none".to_owned() } else { seen.join("\n") };
    let note = serde_json::json!({ "unified": seen, "missed": missed });
    SimulatedReply::new(reply::prose(&text), note, missed.len())
}

/// An action that was written before.
struct Old {
    action: Action,
    /// The mistake of form.
    form: Option<Form>,
}

fn read(text: &str) -> Option<Old> {
    let block = action_blocks(text).pop()?;
    let parsed = parse_domain(&format!("(define (domain d)\n{}\n)", block.text), SourceId(0));
    let form = match (block.complete, parsed.diagnostics.iter().any(Diagnostic::is_error)) {
        (false, _) => Some(Form::BrokenText),
        (true, true) => Some(Form::TypedArgument),
        (true, false) => None,
    };
    parsed.value.actions.into_iter().next().map(|action| Old { action, form })
}

struct Repairs {
    p: f64,
    repaired: Vec<String>,
    left: Vec<String>,
}

impl Repairs {
    fn mends(&mut self, what: &str, random: &mut Random) -> bool {
        let mended = random.chance(self.p);
        if mended {
            self.repaired.push(what.to_owned())
        } else {
            self.left.push(what.to_owned())
        }
        mended
    }

    fn list(&mut self, list: &mut Vec<String>, goal: &[String], what: &str, random: &mut Random) {
        let repairs = revise::repair(list, goal, self.p, random);
        self.repaired.extend(repairs.made.into_iter().map(|made| format!("{what} {made}")));
        self.left.extend((0..repairs.left).map(|_| what.to_owned()));
    }
}

/// Without its last parenthesis.
fn broken(text: &str) -> String {
    text.trim_end().strip_suffix(')').unwrap_or(text).to_owned()
}

/// The action with a type annotation at an argument, which is allowed in parameters only. The paper saw this
/// often.
fn typed_argument(action: &Action) -> Option<String> {
    let mut text = print_action(action);
    let at = text.find(":precondition").or_else(|| text.find(":effect"))?;
    let variable = at + text.get(at..)?.find(" ?")? + 1;
    let rest = text.get(variable..)?;
    let end = variable + rest.find([' ', ')']).unwrap_or(rest.len());
    let name = text.get(variable..end)?;
    let parameter = action.parameters.iter().find(|p| p.name.as_str() == name);
    let ty = parameter.and_then(|p| p.ty.as_ref()).and_then(|ty| ty.alternatives.first());
    let ty = ty.map_or("object", |name| name.as_str()).to_owned();
    text.insert_str(end, &format!(" - {ty}"));
    Some(text)
}

/// A literal without its last argument; `None` without arguments or for other expressions.
fn drop_last_argument(term: &str) -> Option<String> {
    let text = format!("(define (domain d) (:action a :parameters () :effect {term}))");
    let action = parse_domain(&text, SourceId(0)).value.actions.into_iter().next()?;
    let (mut atom, negated) = match action.effect? {
        Effect::Add(atom) => (atom, false),
        Effect::Delete(atom, _) => (atom, true),
        _ => return None,
    };
    let mut args: Vec<Term> = atom.args.to_vec();
    args.pop()?;
    atom.args = args.into_iter().collect();
    let short = planforge_pddl::print_atom(&atom);
    Some(if negated { format!("(not {short})") } else { short })
}

fn proposal(predicate: &PredicateDecl, behind: &str) -> String {
    let parameters = planforge_pddl::print_typed_list(&predicate.parameters);
    let space = if parameters.is_empty() { "" } else { " " };
    format!("({}{behind}{space}{parameters}): as in the reference", predicate.name)
}

/// True if a literal of the text has that predicate.
fn mentions(text: &str, name: &str) -> bool {
    places(text, name).next().is_some()
}

/// The text with another name for a predicate.
fn rename_predicate(text: &str, name: &str) -> String {
    let ends: Vec<usize> = places(text, name).collect();
    let mut renamed = text.to_owned();
    for end in ends.into_iter().rev() {
        renamed.insert_str(end, AGAIN);
    }
    renamed
}

/// The ends of a name at the head of lists.
fn places<'t>(text: &'t str, name: &str) -> impl Iterator<Item = usize> + 't {
    let head = format!("({}", name.to_lowercase());
    let length = head.len();
    let lower = text.to_ascii_lowercase();
    let found: Vec<usize> = lower.match_indices(&head).map(|(at, _)| at + length).collect();
    found.into_iter().filter(move |end| {
        text.get(*end..).and_then(|rest| rest.chars().next()).is_none_or(|c| c.is_whitespace() || c == ')')
    })
}
