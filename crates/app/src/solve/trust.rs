//! What an answer rests on: readings, answers, assumptions, and the sentences that nothing came from.

use super::dialogue::{Dialogue, Reading};
use super::folder::HEADING;
use super::numbers::unmatched_numbers;
use super::phrases::{Phrases, of_number};
use super::questions::{OpenPoint, PointStatus, without_yes_or_no};
use super::readings::Readings;
use planforge_plugin_common::reading::{Part, Sentence, Source, sentences, sources, unused};
use planforge_plugin_common::telling::fill;
use planforge_plugin_sdk::wording::list_with;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What an answer rests on. `trust.json` is its JSON form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trust {
    /// Readings that were made.
    pub readings: usize,
    /// Of these, the readings that have PDDL without mistakes.
    pub usable: usize,
    /// Of these, the readings that allow the same steps and are done after the same ones.
    pub agree: usize,
    /// Further readings, which divide the actions otherwise: the plan can be followed in them step by step.
    pub follow: usize,
    /// Usable readings that are word for word one of the others: they are no evidence of their own.
    pub copies: usize,
    /// Points and readings that could not be compared; the remarks say why.
    pub not_looked_at: usize,
    /// Usable readings that a critic has looked through for open points.
    pub looked_through: usize,
    /// The agreement was shown for sequences of at most so many steps; absent: it is proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agree_up_to_steps: Option<u32>,
    /// The models that made the readings.
    pub models: Vec<String>,
    /// Points that a person answered, and what is followed.
    pub answers: Vec<Followed>,
    /// Points that a sentence of the text decides against the first reading.
    pub decided_by_text: Vec<Followed>,
    /// Points that nobody answered, and what the plan assumes.
    pub assumptions: Vec<Followed>,
    /// Points on which the plan does not depend.
    pub either_way: Vec<Followed>,
    /// Sentences that became no part of the PDDL.
    pub unused_sentences: Vec<NumberedSentence>,
    /// Parts of the PDDL that come from no sentence.
    pub assumed_parts: Vec<String>,
    /// The parts of the PDDL with the numbers of their sentences.
    pub sources: Vec<Source>,
    /// Readings that were left out, and why.
    pub left_out: Vec<String>,
    /// Further remarks, a sentence each.
    pub remarks: Vec<String>,
}

/// A point and what is followed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Followed {
    /// The question.
    pub question: String,
    /// The choice that the plan follows.
    pub follows: String,
}

/// A sentence of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NumberedSentence {
    /// Its number, from 1.
    pub number: usize,
    /// The sentence.
    pub text: String,
}

impl Trust {
    /// What a dialogue rests on. `text`: the task's text, with the rules behind it.
    pub(super) fn of(readings: &Readings, dialogue: &Dialogue, text: &str) -> Self {
        let parts = sources(&dialogue.model.domain_text, &dialogue.model.problem_text);
        let all = sentences(text);
        let sentence = |number: usize| all.get(number.checked_sub(1)?).map(numbered);
        // A reading without comments says nothing about sentences.
        let has_sources = parts.iter().any(|part| !part.sentences.is_empty());
        let unused = if has_sources { unused(text, &parts) } else { Vec::new() };
        let of = |status| {
            dialogue.points.iter().filter(move |point| point.status == status).map(followed).collect()
        };
        let numbers = unmatched_numbers(&all, &parts, &dialogue.model);
        let models: BTreeSet<String> =
            readings.models.iter().filter(|model| !model.is_empty()).cloned().collect();
        Self {
            readings: readings.made,
            usable: readings.usable.len(),
            agree: dialogue.agreeing.len(),
            follow: dialogue.following,
            copies: copies(&readings.usable),
            not_looked_at: dialogue.not_looked_at,
            looked_through: readings.usable.iter().filter(|reading| reading.points.is_some()).count(),
            agree_up_to_steps: dialogue.agreed_up_to,
            models: models.into_iter().collect(),
            answers: of(PointStatus::Answered),
            decided_by_text: of(PointStatus::DecidedByText),
            assumptions: of(PointStatus::Assumed),
            either_way: of(PointStatus::EitherWay),
            unused_sentences: unused
                .into_iter()
                .filter_map(sentence)
                .filter(|one| one.text != HEADING)
                .collect(),
            assumed_parts: parts.iter().filter(|part| part.assumed).map(part_text).collect(),
            sources: parts,
            left_out: readings.left_out.clone(),
            remarks: dialogue.remarks.iter().cloned().chain(numbers).collect(),
        }
    }

    /// The sentence behind `planned: 14 steps.` While questions wait, nothing is assumed yet.
    pub(super) fn sentence(&self, is_waiting: bool, phrases: &Phrases) -> String {
        let line = &phrases.line;
        let counted = |texts, number: usize| match number {
            0 => String::new(),
            _ => fill(of_number(texts, number), &[&number]),
        };
        let readings = match (self.readings, self.models.len()) {
            (1, _) => line.one_reading.to_owned(),
            (all, models) => {
                let models = fill(of_number(line.models, models), &[&models]);
                let agree = fill(of_number(line.agree, self.agree), &[&self.agree, &all, &models]);
                let up_to = self.agree_up_to_steps.map(|steps| fill(line.up_to, &[&steps]));
                agree + &up_to.unwrap_or_default() + &counted([line.follow; 2], self.follow)
            }
        };
        let unseen = match self.usable - self.looked_through.min(self.usable) {
            0 => String::new(),
            unseen if unseen == self.usable => line.nothing_looked_for.to_owned(),
            unseen => fill(line.not_looked_for, &[&unseen]),
        };
        let assumed = match self.assumptions.as_slice() {
            _ if is_waiting => String::new(),
            [] => line.no_assumption.to_owned(),
            [one] => fill(line.assumptions[0], &[&short(one)]),
            several => {
                let told: Vec<String> = several.iter().take(3).map(short).collect();
                fill(line.assumptions[1], &[&several.len(), &told.join("; ")])
            }
        };
        let sentences = match self.unused_sentences.as_slice() {
            _ if self.sources.iter().all(|part| part.sentences.is_empty()) => line.no_sources.to_owned(),
            [] => line.all_used.to_owned(),
            unused => {
                let numbers: Vec<String> = unused.iter().map(|one| one.number.to_string()).collect();
                fill(of_number(line.not_used, unused.len()), &[&list_with(&numbers, phrases.plan.and)])
            }
        };
        let parts = [
            readings,
            counted(line.copies, self.copies),
            counted(line.answers, self.answers.len()),
            counted(line.corrections, self.decided_by_text.len()),
            assumed,
            if self.readings > 1 {
                counted(line.unusable, self.readings - self.usable.min(self.readings))
            } else {
                String::new()
            },
            counted(line.not_looked_at, self.not_looked_at),
            unseen,
        ];
        format!("{}, {sentences}.", parts.concat())
    }
}

/// Readings that are word for word an earlier one.
fn copies(readings: &[Reading]) -> usize {
    let text = |reading: &Reading| (reading.model.domain_text.clone(), reading.model.problem_text.clone());
    let distinct: BTreeSet<(String, String)> = readings.iter().map(text).collect();
    readings.len() - distinct.len()
}

pub(super) fn numbered(sentence: &Sentence) -> NumberedSentence {
    NumberedSentence { number: sentence.number, text: sentence.text.clone() }
}

fn followed(point: &OpenPoint) -> Followed {
    let choice = point.follows.checked_sub(1).and_then(|at| point.choices.get(at));
    let follows = match (choice, point.answer.as_str()) {
        (_, words) if point.status == PointStatus::Answered && !["1", "2"].contains(&words) => {
            words.to_owned()
        }
        (choice, _) => choice.cloned().unwrap_or_default(),
    };
    Followed { question: point.question.clone(), follows }
}

/// The clause of a choice, or the question with it if there is no clause.
fn short(followed: &Followed) -> String {
    let clause = followed.follows.split(" [").next().unwrap_or_default();
    without_yes_or_no(clause).map_or_else(|| format!("{} {clause}", followed.question), str::to_owned)
}

fn part_text(part: &Source) -> String {
    let kind = match part.part {
        Part::Object => "object",
        Part::Type => "type",
        Part::Predicate => "predicate",
        Part::Action => "action",
        Part::Precondition => "precondition of",
        Part::Effect => "effect of",
        Part::Fact => "fact",
        Part::Goal => "goal",
    };
    format!("{kind} {}", part.text)
}
