//! Simulated answers to questions about what can be done: right at a stated rate.

use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_planning::Unlimited;
use planforge_planning::walk::{Model, ModelOptions, NamedStep, execute_steps};

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

    /// The answer of the reference; `None` if it cannot be executed. What cannot be reached cannot be done.
    pub(crate) fn answer(&self, domain: &Domain, problem: &Problem) -> Option<bool> {
        let model = Model::new(domain, problem, &ModelOptions::default(), &mut Unlimited).ok()?;
        let steps: Vec<NamedStep> = self.before.iter().chain(&self.action).cloned().collect();
        let executed = execute_steps(&model, &steps);
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
