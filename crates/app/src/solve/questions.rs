//! Questions to the author of a text in words, and the answers to them.

use super::behaviour::{BehaviourTest, Model, in_words};
use super::phrases::Phrases;
use crate::question::{Question, Side, Statement};
use planforge_planning::walk::NamedStep;
use planforge_plugin_common::reading::Point as CriticPoint;
use planforge_plugin_common::telling::fill;
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
    /// The answer: the number or the beginning of a choice, yes or no, `either`, `unknown`, or words. Empty: none.
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
    pub(super) fn read_answer(&self, phrases: &Phrases) -> Answer {
        Answer::read(&self.answer, &self.choices, phrases)
    }

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
    /// Reads an answer to a point with these two sides: a choice of its question by [`choice_of`], `either` or `unknown`; all else is a
    /// statement.
    pub(super) fn read(answer: &str, sides: &[String], phrases: &Phrases) -> Self {
        Self::read_among(answer, sides, &phrases.other_choices)
    }

    /// As [`Answer::read`], with these choices after the sides: none of them says more than that the answer is open.
    pub(super) fn read_among(answer: &str, sides: &[String], others: &[&'static str]) -> Self {
        let choices: Vec<&str> = sides.iter().map(String::as_str).chain(others.iter().copied()).collect();
        let has_either = others.len() == 3;
        let word = answer.trim().trim_end_matches('.').to_lowercase();
        match choice_of(answer, &choices) {
            _ if word == "either" => Self::Open("either"),
            _ if word == "unknown" => Self::Open("unknown"),
            Some(number) if number <= sides.len() => Self::Choice(number),
            Some(number) if has_either && number == sides.len() + 1 => Self::Open("either"),
            // Also where a person wants to write what is true, and no words were given.
            Some(_) => Self::Open("unknown"),
            None => Self::Words(answer.trim().to_owned()),
        }
    }
}

/// The number, from 1, of the choice that a typed answer means; `None`: it is a statement. The first of these rules that finds one choice
/// counts; case, accents and a stop at the end do not.
///
/// 1. The number of a choice.
/// 2. Yes or no in English, German, French or Spanish, or the first letter of it: the choice that is such a word, or begins with it and a
///    colon or comma.
/// 3. The beginning of a choice, unless it is yes or no.
pub fn choice_of<T: AsRef<str>>(typed: &str, choices: &[T]) -> Option<usize> {
    let typed = folded(typed.trim().trim_end_matches('.'));
    if typed.is_empty() {
        return None;
    }
    let only = |is_meant: &dyn Fn(&str) -> bool| {
        let mut meant = choices.iter().zip(1..).filter(|(choice, _)| is_meant(choice.as_ref()));
        meant.next().map(|(_, number)| number).filter(|_| meant.next().is_none())
    };
    let number = typed.parse().ok().filter(|number| (1..=choices.len()).contains(number));
    let is_short_for = |word: &str| word == typed || typed.len() == 1 && word.starts_with(&typed);
    let yes_or_no = [true, false].into_iter().find(|yes| words_for(*yes).any(|word| is_short_for(&word)));
    let has_word =
        |yes: bool| move |choice: &str| words_for(yes).any(|word| word == folded(split_clause(choice).0));
    let is_word = words_for(true).chain(words_for(false)).any(|word| word == typed);
    number
        .or_else(|| only(&has_word(yes_or_no?)))
        .or_else(|| only(&|choice| !is_word && folded(choice).starts_with(&typed)))
}

/// Yes or no in all languages.
fn words_for(yes: bool) -> impl Iterator<Item = String> {
    Phrases::ALL.into_iter().map(move |phrases| folded(if yes { phrases.yes } else { phrases.no }))
}

/// A choice, without what follows from it, before and after its first colon or comma. The second part is empty if there is none.
fn split_clause(choice: &str) -> (&str, &str) {
    let clause = choice.split(" [").next().unwrap_or(choice);
    let (first, rest) = clause.split_once([':', ',']).unwrap_or((clause, ""));
    (first.trim(), rest.trim())
}

/// The text in lower case and without accents.
fn folded(text: &str) -> String {
    let plain = |letter| match letter {
        'á' | 'à' | 'â' | 'ä' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ñ' => 'n',
        'ç' => 'c',
        letter => letter,
    };
    text.to_lowercase().chars().map(plain).collect()
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
pub(super) fn statements(points: &[OpenPoint], phrases: &Phrases) -> Vec<String> {
    let statement = |point: &OpenPoint| match point.read_answer(phrases) {
        Answer::Choice(choice) => Some(format!("{} {}", point.question, clause(point, choice)?)),
        Answer::Words(words) if !words.is_empty() => Some(format!("{} {words}", point.question)),
        Answer::Open(_) | Answer::Words(_) => None,
    };
    points.iter().filter_map(statement).collect()
}

/// The question as a person sees it.
pub(super) fn question_of(point: &OpenPoint, phrases: &Phrases) -> Question {
    let mut choices = point.choices.clone();
    choices.extend(phrases.other_choices.map(str::to_owned));
    let own_words = Some(point.choices.len() + 2);
    Question { text: point.question.clone(), choices, sides: sides_of(point), own_words }
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

/// True for a clause that begins with yes, in any language: it comes first.
pub(super) fn is_yes(clause: &str) -> bool {
    let first = folded(split_clause(clause).0);
    words_for(true).any(|yes| yes == first)
}

/// A clause without the yes or no that it begins with; `None` if it does not, or is nothing else.
pub(super) fn without_yes_or_no(clause: &str) -> Option<&str> {
    let (first, rest) = split_clause(clause);
    let first = folded(first);
    let is_word = words_for(true).chain(words_for(false)).any(|word| word == first);
    (is_word && !rest.is_empty()).then_some(rest)
}

/// A question about a difference that no critic has put into words.
pub(super) fn headline(test: &BehaviourTest, phrases: &Phrases) -> String {
    let steps = shortened(in_words(&test.steps), phrases).join(phrases.then);
    let question = match (test.states, test.steps.is_empty()) {
        (Statement::Possible, _) => phrases.is_possible,
        (Statement::Done, true) => phrases.is_done_at_start,
        (Statement::Done, false) => phrases.is_done,
    };
    fill(question, &[&steps])
}

/// Long sequences without their middle.
fn shortened(mut steps: Vec<String>, phrases: &Phrases) -> Vec<String> {
    if let Some(more) = steps.len().checked_sub(MOST_STEPS).filter(|more| *more > 1) {
        steps.splice(2..2 + more, [fill(phrases.more_steps, &[&more])]);
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
        (Statement::Possible, true, _) => fill(phrases.possible, &[&joined(&steps)]),
        (Statement::Possible, false, Some((last, []))) => fill(phrases.not_possible_at_start, &[last]),
        (Statement::Possible, false, Some((last, before))) => {
            fill(phrases.not_possible_after, &[&joined(before), last])
        }
        (Statement::Done, true, Some(_)) => fill(phrases.done, &[&joined(&steps)]),
        (Statement::Done, false, Some(_)) => fill(phrases.not_done, &[&joined(&steps)]),
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
