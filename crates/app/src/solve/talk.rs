//! A dialogue whose answers may contradict each other, or leave no plan: who answered is asked again, or it is said.

use super::behaviour::Found;
use super::dialogue::{Classes, Dialogue, Reading, Settings, Unfollowed, talk_once};
use super::questions::{Answer, OpenPoint, PointStatus, said, statements};
use crate::context::Context;
use crate::question::Question;
use std::collections::BTreeSet;

/// Most points whose other side is tried where there is no plan.
const MOST_TRIED: usize = 8;

/// Goes through all open points of some readings. `readings` is not empty.
pub(super) fn talk(context: &Context, readings: &[Reading], settings: &Settings<'_>) -> Dialogue {
    let classes = Classes::of(context, readings);
    let mut talk = Talk {
        context,
        settings,
        answers: settings.answers.to_vec(),
        overruled: BTreeSet::new(),
        remarks: Vec::new(),
    };
    let once = |answers: &[OpenPoint], ask: bool| {
        talk_once(context, readings, &classes, &Settings { answers, ask, ..*settings })
    };
    // Each round decides one contradiction, or takes the answer that makes a plan.
    let mut decided = 0;
    loop {
        let mut dialogue = once(&talk.answers, settings.ask);
        if context.cancellation.is_cancelled() {
            return dialogue;
        }
        if !dialogue.statements.is_empty() {
            let said = std::mem::take(&mut dialogue.statements);
            return talk.restart(dialogue, said);
        }
        talk.keep_answers(&dialogue.points);
        let unfollowed = std::mem::take(&mut dialogue.unfollowed);
        let most = talk.answers.len();
        let mut undecided = unfollowed.iter().filter(|_| decided < most);
        // An answer that no reading allows contradicts none, but one after it may.
        match undecided.find_map(|one| talk.decide(one, &dialogue.points)) {
            Some(Decision::Point(point)) => {
                talk.give(point);
                decided += 1;
                continue;
            }
            Some(Decision::Words(words)) => return talk.restart(dialogue, words),
            None => {}
        }
        let is_solved = |answers: &[OpenPoint]| once(answers, false).found.steps().is_some();
        if matches!(dialogue.found, Found::Unsolvable(_)) {
            dialogue.solvable_if = talk.solvable_if(&dialogue.points, is_solved);
            match talk.asked_to_change(&dialogue.solvable_if) {
                Some(Decision::Point(changed)) => {
                    talk.give(changed);
                    continue;
                }
                Some(Decision::Words(words)) => return talk.restart(dialogue, words),
                None => {}
            }
        }
        talk.remarks.extend(unfollowed.iter().map(not_followed));
        talk.end(&mut dialogue);
        return dialogue;
    }
}

/// What follows from an answer to a question about answers.
enum Decision {
    /// The answer to a point.
    Point(OpenPoint),
    /// Statements of the author: the text is read anew with them.
    Words(Vec<String>),
}

struct Talk<'t> {
    context: &'t Context,
    settings: &'t Settings<'t>,
    /// The answers that are followed.
    answers: Vec<OpenPoint>,
    /// Ids of the points whose answer another one overrules.
    overruled: BTreeSet<String>,
    remarks: Vec<String>,
}

impl Talk<'_> {
    fn has_person(&self) -> bool {
        self.settings.ask && self.context.questions.is_some()
    }

    /// Keeps the answers that were given in a dialogue.
    fn keep_answers(&mut self, points: &[OpenPoint]) {
        for point in points.iter().filter(|point| !point.answer.is_empty()) {
            let is_kept = |known: &OpenPoint| known.id == point.id && !known.answer.trim().is_empty();
            if !self.answers.iter().any(is_kept) {
                self.give(point.clone());
            }
        }
    }

    /// Answers a point.
    fn give(&mut self, point: OpenPoint) {
        self.answers.retain(|known| known.id != point.id);
        self.answers.push(point);
    }

    /// Decides which of two answers counts: the person says it, else the later one. `None` if the answer contradicts no other one.
    fn decide(&mut self, unfollowed: &Unfollowed, points: &[OpenPoint]) -> Option<Decision> {
        let given = |id: &str| self.answers.iter().find(|answer| answer.id == id);
        let one = unfollowed.excluded_by.as_deref().and_then(given)?;
        let other = given(&unfollowed.given.id)?;
        let followed = points.iter().find(|point| point.id == one.id)?;
        // The sheet says which answers were followed before.
        let is_new = |point: &OpenPoint| {
            let known = self.settings.answers.iter().find(|known| known.id == point.id);
            known.is_none_or(|known| known.status != PointStatus::Answered)
        };
        let (earlier, later) = match is_new(one) && !is_new(other) {
            true => (other.clone(), one.clone()),
            false => (one.clone(), other.clone()),
        };
        let words = |point: &OpenPoint| {
            let point = if point.id == followed.id { followed } else { point };
            match point.read_answer(self.settings.phrases) {
                Answer::Choice(choice) => said(point, choice),
                Answer::Open(_) | Answer::Words(_) => point.question.clone(),
            }
        };
        let both = [words(&earlier), words(&later)];
        let loser = match self.ask(self.settings.phrases.contradiction, &both) {
            Some(Answer::Choice(1)) => later,
            Some(Answer::Choice(2)) => earlier,
            Some(Answer::Words(words)) => {
                let mut known = self.answers.clone();
                known.retain(|point| point.id != earlier.id && point.id != later.id);
                let mut said = statements(&known, self.settings.phrases);
                said.push(format!("{} {words}", earlier.question));
                return Some(Decision::Words(said));
            }
            Some(Answer::Choice(_) | Answer::Open(_)) | None => {
                let [first, second] = both;
                self.remarks.push(format!(
                    "two answers contradict each other, and the later one counts: \"{first}\" \"{second}\""
                ));
                self.overruled.insert(earlier.id.clone());
                earlier
            }
        };
        match loser.read_answer(self.settings.phrases) {
            Answer::Choice(choice) => {
                Some(Decision::Point(OpenPoint { answer: (3 - choice).to_string(), ..loser }))
            }
            Answer::Open(_) | Answer::Words(_) => None,
        }
    }

    /// Asks the person at the terminal, if there is one, which of some sentences holds: the number of one, or other words.
    fn ask(&self, text: &str, sentences: &[String]) -> Option<Answer> {
        if !self.has_person() {
            return None;
        }
        let [_, own_words, unknown] = self.settings.phrases.other_choices;
        let choices = sentences.iter().map(String::as_str).chain([own_words, unknown]);
        let question = Question {
            text: text.to_owned(),
            choices: choices.map(str::to_owned).collect(),
            own_words: Some(sentences.len() + 1),
            ..Question::default()
        };
        let answer = self.context.ask(question)?;
        let is_number = |words: &str| words.trim_end_matches('.').parse::<usize>().is_ok();
        Some(match Answer::read_among(&answer, sentences, &[own_words, unknown]) {
            // The number of no choice says nothing.
            Answer::Words(words) if words.is_empty() || is_number(&words) => Answer::Open("unknown"),
            answer => answer,
        })
    }

    /// The points whose other side alone makes a plan, with that side as their answer.
    fn solvable_if(&self, points: &[OpenPoint], is_solved: impl Fn(&[OpenPoint]) -> bool) -> Vec<OpenPoint> {
        let is_choice = |point: &&OpenPoint| {
            [PointStatus::Answered, PointStatus::Assumed, PointStatus::DecidedByText].contains(&point.status)
        };
        let mut found = Vec::new();
        for point in points.iter().filter(is_choice).take(MOST_TRIED) {
            let other = 3 - point.follows.clamp(1, 2);
            let changed = OpenPoint {
                answer: other.to_string(),
                status: PointStatus::Assumed,
                follows: other,
                holds: !point.holds,
                ..point.clone()
            };
            let mut answers = self.answers.clone();
            answers.retain(|known| known.id != point.id);
            answers.push(changed.clone());
            if is_solved(&answers) {
                found.push(changed);
            }
        }
        found
    }

    /// The point that the person says is otherwise, or what else is true.
    fn asked_to_change(&self, solvable_if: &[OpenPoint]) -> Option<Decision> {
        if solvable_if.is_empty() {
            return None;
        }
        let sentences: Vec<String> = solvable_if.iter().map(|point| said(point, point.follows)).collect();
        match self.ask(self.settings.phrases.no_plan, &sentences)? {
            Answer::Choice(number) => solvable_if.get(number.checked_sub(1)?).cloned().map(Decision::Point),
            Answer::Words(words) => {
                let mut said = statements(&self.answers, self.settings.phrases);
                said.push(words);
                Some(Decision::Words(said))
            }
            Answer::Open(_) => None,
        }
    }

    /// Ends the dialogue with statements, with which the text is read anew. An overruled answer is not a statement of the author.
    fn restart(self, mut dialogue: Dialogue, said: Vec<String>) -> Dialogue {
        let overruled = self.answers.iter().filter(|answer| self.overruled.contains(&answer.id));
        let overruled: Vec<OpenPoint> = overruled.cloned().collect();
        let overruled = statements(&overruled, self.settings.phrases);
        dialogue.statements = said.into_iter().filter(|said| !overruled.contains(said)).collect();
        dialogue.kept = self.kept(&dialogue.points);
        // The new version has remarks about its own dialogue only.
        for remark in self.remarks {
            self.context.warn(remark);
        }
        dialogue
    }

    /// The answers to points that are not among these.
    fn kept(&self, points: &[OpenPoint]) -> Vec<OpenPoint> {
        let is_kept = |answer: &&OpenPoint| {
            let is_point = points.iter().any(|point| point.id == answer.id);
            let says_something = match answer.read_answer(self.settings.phrases) {
                Answer::Choice(_) => true,
                Answer::Words(words) => !words.is_empty(),
                Answer::Open(_) => false,
            };
            !is_point && !self.overruled.contains(&answer.id) && says_something
        };
        let kept = self.answers.iter().filter(is_kept).cloned();
        kept.map(|answer| OpenPoint { status: PointStatus::Answered, ..answer }).collect()
    }

    /// Says which answers are not followed, and keeps them.
    fn end(self, dialogue: &mut Dialogue) {
        dialogue.kept = self.kept(&dialogue.points);
        for point in dialogue.points.iter_mut().filter(|point| self.overruled.contains(&point.id)) {
            // The sheet has the side that is followed, so that the next use follows it, too.
            point.status = PointStatus::Assumed;
        }
        let overruled = dialogue.points.iter().filter(|point| self.overruled.contains(&point.id));
        let overruled: Vec<String> = overruled.map(|point| said(point, point.follows)).collect();
        dialogue.allowed_by.retain(|(_, answer)| !overruled.contains(answer));
        dialogue.remarks.extend(self.remarks);
    }
}

fn not_followed(unfollowed: &Unfollowed) -> String {
    let Unfollowed { given, excluded_by } = unfollowed;
    let why = match excluded_by {
        Some(_) => "another answer excludes this one",
        None => "no reading allows this answer",
    };
    format!("{why}: {}", said(given, given.follows))
}
