//! A simulated critic: it compares what it is shown with the reference, overlooks mistakes, and objects to what is right, at stated rates.

use crate::options::{Critic, OracleOptions};
use crate::reply;
use crate::revise::{Fault, Schema, faults};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_planning::CountingLimits;
use planforge_planning::walk::{Model, ModelOptions, NamedStep, execute_steps};
use serde_json::{Value, json};

/// A critique, and the notes about it for the record.
pub(crate) struct Critique {
    pub(crate) text: String,
    pub(crate) note: Value,
    /// Mistakes overlooked, and findings that are none.
    pub(crate) wrong: usize,
}

/// A part that is judged on its own: an action, or the facts of a problem.
pub(crate) struct Part {
    place: String,
    /// Each list of its terms, and what is wrong with it.
    lists: Vec<(&'static str, Vec<String>, Vec<Fault>)>,
}

struct Finding {
    place: String,
    finding: String,
    change: String,
}

/// The actions of a domain, each against what it should be.
pub(crate) fn actions(wanted: &Domain, current: &Domain) -> Vec<Part> {
    let schemas = Schema::all(current, true);
    let part = |goal: Schema| {
        let now = goal.find_in(&schemas);
        let lists = now.lists().into_iter().zip(goal.lists());
        Part {
            place: format!("action {}", goal.name),
            lists: lists.map(|((what, now), (_, goal))| (what, now.clone(), faults(now, goal))).collect(),
        }
    };
    Schema::all(wanted, true).into_iter().map(part).collect()
}

/// The initial state of a problem.
pub(crate) fn facts(facts: Vec<String>, faults: Vec<Fault>) -> Vec<Part> {
    vec![Part { place: "initial state".to_owned(), lists: vec![("list of facts", facts, faults)] }]
}

pub(crate) fn criticise(options: &OracleOptions, parts: &[Part], random: &mut Random) -> Critique {
    let critic = &options.critic;
    let mut findings = Vec::new();
    let (mut found, mut overlooked, mut invented) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let mut sound = true;
        for (what, _, faults) in &part.lists {
            for fault in faults {
                sound = false;
                let finding = real(part, what, fault);
                let said = format!("{}: {}", finding.place, finding.finding);
                if random.chance(critic.finds) {
                    found.push(said);
                    findings.push(finding);
                } else {
                    overlooked.push(said);
                }
            }
        }
        if sound
            && random.chance(critic.false_findings)
            && let Some(finding) = invent(part, random)
        {
            invented.push(format!("{}: {}", finding.place, finding.finding));
            findings.push(finding);
        }
    }
    Critique {
        text: write_critique(critic, &findings),
        wrong: overlooked.len() + invented.len(),
        note: json!({ "found": found, "overlooked": overlooked, "invented": invented }),
    }
}

fn real(part: &Part, what: &str, fault: &Fault) -> Finding {
    let (finding, change) = match (&fault.old, &fault.new) {
        (Some(old), Some(new)) => {
            (format!("the {what} wrongly has {old}"), format!("write {new} in place of {old}"))
        }
        (Some(old), None) => {
            (format!("the {what} wrongly has {old}"), format!("remove {old} from the {what}"))
        }
        (None, new) => {
            let new = new.as_deref().unwrap_or_default();
            (format!("{new} is missing in the {what}"), format!("add {new} to the {what}"))
        }
    };
    Finding { place: part.place.clone(), finding, change }
}

/// An objection to a term that is right.
fn invent(part: &Part, random: &mut Random) -> Option<Finding> {
    let terms: Vec<(&str, &String)> =
        part.lists.iter().flat_map(|(what, terms, _)| terms.iter().map(move |term| (*what, term))).collect();
    let (what, term) = *random.pick(&terms)?;
    let fault = Fault { old: Some(term.clone()), new: None };
    Some(real(part, what, &fault))
}

fn write_critique(critic: &Critic, findings: &[Finding]) -> String {
    if critic.prose {
        if findings.is_empty() {
            return reply::prose("No errors.");
        }
        let one = |(index, f): (usize, &Finding)| {
            format!("{}. {}: {}.\n   Suggested change: {}.", index + 1, f.place, f.finding, f.change)
        };
        return reply::prose(&findings.iter().enumerate().map(one).collect::<Vec<_>>().join("\n"));
    }
    let one = |f: &Finding| json!({ "finding": f.finding, "place": f.place, "severity": "error", "change": f.change });
    let all: Vec<Value> = findings.iter().map(one).collect();
    let document = json!({ "findings": all, "approves": findings.is_empty() });
    reply::block("json", &serde_json::to_string_pretty(&document).unwrap_or_default())
}

/// Limits on answering a question. They count, so the answer is the same on every machine.
const LIMITS: CountingLimits = CountingLimits { polls: 10_000_000, bytes: 1 << 30 };

/// A question as its text asks it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Question {
    /// The numbered actions that are done first.
    before: Vec<NamedStep>,
    /// The action that may be possible after them; `None` asks if the goal is reached.
    action: Option<NamedStep>,
}

impl Question {
    /// Reads the text; `None` if it asks neither about an action nor about the goal.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let numbered = |line: &str| {
            let (number, step) = line.trim().split_once(". ")?;
            let is_step = number.parse::<u32>().is_ok() && step.starts_with('(') && step.ends_with(')');
            NamedStep::parse(step).filter(|_| is_step)
        };
        let before = text.lines().filter_map(numbered).collect();
        let about_action = text.lines().rev().find_map(|line| {
            let (_, rest) = line.split_once("can the action (")?;
            NamedStep::parse(rest.split_once(')')?.0)
        });
        let about_goal = text.contains("is the goal of the task reached?");
        (about_action.is_some() || about_goal).then_some(Self { before, action: about_action })
    }

    /// The answer of the reference; `None` if it cannot be executed within the limits. What cannot be reached cannot be done.
    pub(crate) fn answer(&self, domain: &Domain, problem: &Problem) -> Option<bool> {
        let mut limits = LIMITS;
        let model = Model::new(domain, problem, &ModelOptions::default(), &mut limits).ok()?;
        let steps: Vec<NamedStep> = self.before.iter().chain(&self.action).cloned().collect();
        let executed = execute_steps(&model, &steps, &mut limits).ok()?;
        match &self.action {
            _ if executed.refusal.is_some() => Some(false),
            Some(_) => Some(true),
            None => Some(model.simulator()?.is_goal(&executed.state)),
        }
    }
}

/// The answer that the simulated model gives: the right one with that probability.
pub(crate) fn draw(right: bool, probability: f64, random: &mut Random) -> bool {
    right == random.chance(probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_from_their_text() {
        let step = |text: &str| NamedStep::parse(text).unwrap();
        let text =
            "Things.\n\n1. (pick a)\n2. (put a b)\n\nAfter that, can the action (pick c) be done?\n\nAnswer.";
        let read = Question::read(text).unwrap();
        assert_eq!(
            read,
            Question { before: vec![step("(pick a)"), step("(put a b)")], action: Some(step("(pick c)")) }
        );
        let goal = Question::read("At the beginning of the task, is the goal of the task reached?").unwrap();
        assert_eq!(goal, Question { before: Vec::new(), action: None });
        assert_eq!(Question::read("What is wrong?"), None);
    }
}
