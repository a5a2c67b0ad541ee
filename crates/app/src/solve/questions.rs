//! Questions to the author of a text in words, and the answers to them.

use super::behaviour::{BehaviourTest, Model, in_words};
use super::phrases::Phrases;
use crate::question::{Question, Side, Statement};
use planforge_planning::walk::NamedStep;
use planforge_plugin_common::reading::Point as CriticPoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A point that the text leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OpenPoint {
    /// Names the point: the same text, question and choices have the same one.
    pub id: String,
    /// The kind of gap, such as `capacity`; `readings` where the readings differ by themselves.
    pub kind: String,
    /// The question.
    pub question: String,
    /// The two sides: what each means, and what follows from it.
    pub choices: Vec<String>,
    /// What became of it.
    pub status: PointStatus,
    /// The answer: `1` or `2`, `either`, `unknown`, or words. Empty: none.
    #[serde(default)]
    pub answer: String,
    /// The choice that the plan follows, from 1.
    pub follows: usize,
    /// What is true or not true by the answer.
    pub test: BehaviourTest,
    /// Whether it is true under the choice that the plan follows.
    pub holds: bool,
}

impl OpenPoint {
    /// The point with the answer that one of its choices holds, from 1.
    pub(super) fn with_choice(mut self, choice: usize) -> Self {
        if choice != self.follows {
            self.holds = !self.holds;
            self.follows = choice;
        }
        self.answer = choice.to_string();
        self.status = PointStatus::Answered;
        self
    }
}

/// What became of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PointStatus {
    /// It waits for an answer.
    Open,
    /// A person answered it.
    Answered,
    /// The critic quotes the sentence that decides it.
    DecidedByText,
    /// Nobody answered: the plan follows what most readers would mean.
    Assumed,
    /// The same plan is right, and as good, on both sides.
    EitherWay,
}

/// Most steps of a difference between readings that is asked about in its own words.
pub(super) const MOST_STEPS: usize = 6;

/// The choice after which a person writes what is true.
pub const OWN_WORDS: &str = "none of these (type what is true)";

/// True if the words of a critic fit the steps that show the difference: they name no other object of a type that the steps have an
/// object of, unless the change names it too. The steps stand behind the words in every choice, so all of their objects and actions are
/// named.
pub(super) fn fits(told: &CriticPoint, steps: &[String], model: &Model) -> bool {
    let of_steps: BTreeSet<String> = steps
        .iter()
        .filter_map(|step| NamedStep::parse(step))
        .flat_map(|step| step.args)
        .map(|object| object.to_lowercase())
        .collect();
    let all = || model.problem.objects.iter().chain(&model.domain.constants);
    let types = |object: &str| -> BTreeSet<String> {
        let named = all().filter(|known| known.name.key() == object);
        let types = named.flat_map(|known| known.ty.iter().flat_map(|ty| &ty.alternatives));
        types.map(|ty| ty.key().to_owned()).collect()
    };
    let typed: BTreeSet<String> = of_steps.iter().flat_map(|object| types(object)).collect();
    let words = words_of(&format!("{} {} {}", told.question, told.here, told.otherwise));
    let change = words_of(&format!("{:?}", told.change));
    let has = |text: &[String], name: &[String]| text.windows(name.len()).any(|window| window == name);
    let is_foreign = |object: &str| {
        let name = words_of(object);
        // A name of one letter, such as `a`, is a word of the language too.
        object.len() > 1
            && !of_steps.contains(object)
            && !types(object).is_disjoint(&typed)
            && has(&words, &name)
            && !has(&change, &name)
    };
    !all().any(|object| is_foreign(object.name.key()))
}

/// The words of a text in lower case; the parts of `box-1` are two.
fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// An answer of a person.
pub(super) enum Answer {
    /// The number of a choice, from 1.
    Choice(usize),
    /// It does not matter, or nobody knows.
    Open(&'static str),
    Words(String),
}

impl Answer {
    pub(super) fn read(answer: &str, choices: &[String]) -> Self {
        let word = answer.trim().to_lowercase();
        // `yes`, or its word in the language of the text.
        let first_word = |at: usize| -> Option<String> {
            let (word, _) = choices.get(at)?.split_once([':', ','])?;
            Some(word.trim().to_lowercase())
        };
        let (first, second) = (first_word(0), first_word(1));
        let is_word = |of: &Option<String>, typed: &str| {
            first != second
                && of.as_ref().is_some_and(|word| {
                    word == typed || ["yes", "no"].contains(&word.as_str()) && word.starts_with(typed)
                })
        };
        match word.trim_end_matches('.') {
            "1" => Self::Choice(1),
            "2" => Self::Choice(2),
            typed if !typed.is_empty() && is_word(&first, typed) => Self::Choice(1),
            typed if !typed.is_empty() && is_word(&second, typed) => Self::Choice(2),
            "3" | "either" => Self::Open("either"),
            // No words were given.
            "4" | "5" | "unknown" => Self::Open("unknown"),
            _ => Self::Words(answer.trim().to_owned()),
        }
    }
}

/// The question with one of its choices, without what follows from it.
pub(super) fn said(point: &OpenPoint, choice: usize) -> String {
    let clause = clause(point, choice).unwrap_or_default();
    format!("{} {}", point.question, clause.trim_end_matches('.')) + "."
}

/// A choice, from 1, without what follows from it.
fn clause(point: &OpenPoint, choice: usize) -> Option<&str> {
    point.choices.get(choice.checked_sub(1)?)?.split(" [").next()
}

/// The answers as statements of the author, for a text that is read anew.
pub(super) fn statements(points: &[OpenPoint]) -> Vec<String> {
    let statement = |point: &OpenPoint| match Answer::read(&point.answer, &point.choices) {
        Answer::Choice(choice) => Some(format!("{} {}", point.question, clause(point, choice)?)),
        Answer::Words(words) if !words.is_empty() => Some(format!("{} {words}", point.question)),
        Answer::Open(_) | Answer::Words(_) => None,
    };
    points.iter().filter_map(statement).collect()
}

/// The question as a person sees it.
pub(super) fn question_of(point: &OpenPoint) -> Question {
    let mut choices = point.choices.clone();
    choices.extend(["it does not matter", OWN_WORDS, "I do not know"].map(str::to_owned));
    Question { text: point.question.clone(), choices, sides: sides_of(point) }
}

/// Consequences of the two sides of a point.
fn sides_of(point: &OpenPoint) -> Vec<Side> {
    let side = |choice: usize| Side {
        clause: clause(point, choice).unwrap_or_default().to_owned(),
        steps: in_words(&point.test.steps),
        states: point.test.states,
        holds: point.holds == (choice == point.follows),
    };
    (1..=point.choices.len()).map(side).collect()
}

/// True for a clause that begins with yes, in one of some languages: it comes first.
pub(super) fn is_yes(clause: &str) -> bool {
    ["yes", "ja", "oui", "sí", "si", "sì"]
        .iter()
        .any(|yes| clause.strip_prefix(yes).is_some_and(|rest| rest.starts_with([':', ','])))
}

/// A question about a difference that no critic has put into words.
pub(super) fn headline(test: &BehaviourTest, phrases: &Phrases) -> String {
    let steps = shortened(in_words(&test.steps), phrases).join(phrases.then);
    let question = match (test.states, test.steps.is_empty()) {
        (Statement::Possible, _) => phrases.is_possible,
        (Statement::Done, true) => phrases.is_done_at_start,
        (Statement::Done, false) => phrases.is_done,
    };
    question.replace("{}", &steps)
}

/// Long sequences without their middle.
fn shortened(mut steps: Vec<String>, phrases: &Phrases) -> Vec<String> {
    if let Some(more) = steps.len().checked_sub(MOST_STEPS).filter(|more| *more > 1) {
        steps.splice(2..2 + more, [phrases.more_steps.replace("{}", &more.to_string())]);
    }
    steps
}

/// One side of a question: its clause and what follows.
pub(super) fn choice(
    clause: &str,
    holds: bool,
    test: &BehaviourTest,
    conditions: &[String],
    phrases: &Phrases,
) -> String {
    let steps = shortened(in_words(&test.steps), phrases);
    let joined = |steps: &[String]| steps.join(phrases.then);
    let follows = match (test.states, holds, steps.split_last()) {
        (Statement::Possible, true, _) => phrases.possible.replace("{}", &joined(&steps)),
        (Statement::Possible, false, Some((last, []))) => phrases.not_possible_at_start.replace("{}", last),
        (Statement::Possible, false, Some((last, before))) => {
            let [after, step] = phrases.not_possible_after;
            after.replace("{}", &joined(before)) + &step.replace("{}", last)
        }
        (Statement::Done, true, Some(_)) => phrases.done.replace("{}", &joined(&steps)),
        (Statement::Done, false, Some(_)) => phrases.not_done.replace("{}", &joined(&steps)),
        (_, true, None) => phrases.done_at_start.to_owned(),
        (_, false, None) => phrases.not_done_at_start.to_owned(),
    };
    let because = match (holds, conditions) {
        (false, [first, ..]) => format!(" ({first})"),
        _ => String::new(),
    };
    match clause.trim().trim_end_matches('.') {
        "" => format!("{}: {follows}{because}", if holds { phrases.yes } else { phrases.no }),
        clause => format!("{clause} [{follows}]"),
    }
}
