//! How many questions a pipeline asks of models at most, from its file alone: before anything is asked, or paid for.
//!
//! A plugin declares bounds on the requests of one call ([`planforge_contract::Capabilities::requests`]). A plugin that has roles and
//! declares none leaves the pipeline without a bound, and the reason is reported.

use crate::config::{BudgetStage, PlanStage, RefineStage, Stage, TranslateStage};
use planforge_contract::{JsonObject, PluginInfo, RequestBound, RequestCount};
use serde::Serialize;
use std::collections::BTreeMap;

/// The questions of one stage, or of all stages inside of a budget stage.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct QuestionBound {
    /// The stage's label.
    pub stage: String,
    /// The `[llm.NAME]` tables that may be asked.
    pub models: Vec<String>,
    /// Questions at most; absent where the file does not bound them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<u64>,
    /// Replies to all of them at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replies: Option<u64>,
    /// Over all questions at most, the sum of how many replies came before each on the way to its candidate: conversations grow by them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// The tokens that a budget stage may spend; its last pulls may go beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The US dollars that a budget stage may spend; its last pulls may go beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// Why there is no bound; empty where there is one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// The questions of the tasks of a suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TaskBounds {
    /// Of the stages that every task goes through; behind a fan-out where there is one.
    pub each: Vec<QuestionBound>,
    /// Of the stages before a fan-out, which the lead task of each suite alone goes through.
    pub lead: Vec<QuestionBound>,
}

impl QuestionBound {
    /// The same for so many tasks.
    #[must_use]
    pub fn times(&self, tasks: u64) -> Self {
        let times = |count: Option<u64>| count.map(|count| count.saturating_mul(tasks));
        Self {
            questions: times(self.questions),
            replies: times(self.replies),
            before: times(self.before),
            tokens: times(self.tokens),
            usd: self.usd.map(|usd| usd * tasks as f64),
            ..self.clone()
        }
    }
}

/// The questions of one task of a pipeline. `info` says what a plugin says of itself, `actions` is how many actions the task has.
pub fn question_bounds(
    stages: &[Stage],
    info: &dyn Fn(&str) -> Option<PluginInfo>,
    actions: u64,
) -> TaskBounds {
    let mut walk = Walk { info, actions, made: BTreeMap::new(), found: Vec::new() };
    let mut bounds = TaskBounds::default();
    let mut beam = Beam { width: 1, before: 0 };
    for stage in stages {
        if matches!(stage, Stage::FanOut(_)) {
            bounds.lead = std::mem::take(&mut walk.found);
            // The others start from the survivors' domains, without a conversation; the lead goes on with its own.
            continue;
        }
        beam = walk.stage(stage, beam, 1);
    }
    bounds.each = walk.found;
    bounds
}

/// The most candidates at a place, and the most replies on the way to one of them.
#[derive(Debug, Clone, Copy)]
struct Beam {
    width: u64,
    before: u64,
}

/// Questions and replies of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Asked {
    questions: u64,
    replies: u64,
}

struct Walk<'a> {
    info: &'a dyn Fn(&str) -> Option<PluginInfo>,
    actions: u64,
    /// Label of a stage -> candidates at most that have come out of it, for groups.
    made: BTreeMap<String, u64>,
    found: Vec<QuestionBound>,
}

impl Walk<'_> {
    /// A stage over a beam, `times` times.
    fn stage(&mut self, stage: &Stage, beam: Beam, times: u64) -> Beam {
        match stage {
            Stage::Translate(stage) => self.translate(stage, beam, times),
            Stage::Verify(_) => {
                self.calls(stage, 1, beam, times);
                beam
            }
            Stage::Plan(plan) => self.plan(stage, plan, beam, times),
            Stage::Select(select) => {
                let groups = select
                    .group_by
                    .as_ref()
                    .map_or(1, |label| self.made.get(label).copied().unwrap_or(beam.width));
                let kept = groups.saturating_mul(u64::from(select.keep));
                Beam { width: beam.width.min(kept), ..beam }
            }
            Stage::Refine(refine) => self.refine(refine, beam),
            Stage::Budget(budget) => self.budget(budget, beam),
            Stage::FanOut(_) => beam,
        }
    }

    fn translate(&mut self, stage: &TranslateStage, beam: Beam, times: u64) -> Beam {
        let n = u64::from(stage.n);
        self.calls(&Stage::Translate(stage.clone()), n, beam, times);
        let width = beam.width.saturating_mul(n);
        self.made.insert(stage.label.clone(), width);
        Beam { width, before: beam.before + 1 }
    }

    fn plan(&mut self, stage: &Stage, plan: &PlanStage, beam: Beam, times: u64) -> Beam {
        let n = if plan.makes_children() { u64::from(plan.n) } else { 1 };
        // Each plan is a call of its own.
        let calls = Beam { width: beam.width.saturating_mul(n), ..beam };
        self.calls(stage, 1, calls, times);
        self.made.insert(plan.label.clone(), calls.width);
        let writes = u64::from(plan.makes_children());
        Beam { width: calls.width, before: beam.before + writes }
    }

    /// The calls of a stage, one a candidate.
    fn calls(&mut self, stage: &Stage, samples: u64, beam: Beam, times: u64) {
        let Some((plugin, options)) = stage.plugin() else { return };
        let mut models: Vec<String> = stage.models().map(str::to_owned).collect();
        models.sort();
        models.dedup();
        let info = (self.info)(plugin);
        if models.is_empty() || info.as_ref().is_some_and(|info| info.roles.is_empty()) {
            return;
        }
        let label = stage.label().to_owned();
        let calls = beam.width.saturating_mul(times);
        let asked = info.as_ref().and_then(|info| requests_of_call(info, options, samples, self.actions));
        self.found.push(match asked {
            Some(asked) => QuestionBound {
                stage: label,
                models,
                questions: Some(asked.questions.saturating_mul(calls)),
                replies: Some(asked.replies.saturating_mul(calls)),
                // What a call asks after its first question may show the replies to those before it.
                before: Some(
                    asked
                        .questions
                        .saturating_mul(beam.before)
                        .saturating_add(asked.questions.saturating_sub(1))
                        .saturating_mul(calls),
                ),
                ..QuestionBound::default()
            },
            None => QuestionBound {
                why: format!("`{plugin}` does not say how many questions stage `{label}` asks"),
                stage: label,
                models,
                ..QuestionBound::default()
            },
        });
    }

    /// Every round goes on from one candidate, and one is returned.
    fn refine(&mut self, stage: &RefineStage, beam: Beam) -> Beam {
        let writer = stage.writer().unwrap_or(0);
        let mut before = beam.before;
        for _ in 0..stage.rounds {
            let mut inside = Beam { width: 1, before };
            for (position, inner) in stage.round.iter().enumerate() {
                let after = self.stage(inner, inside, beam.width);
                // What looks at the candidate before it is written anew leaves one.
                inside = if position < writer { Beam { width: 1, ..after } } else { after };
            }
            before = inside.before;
        }
        self.merge();
        Beam { width: beam.width, before }
    }

    /// Stages of several rounds stand together.
    fn merge(&mut self) {
        let mut merged: Vec<QuestionBound> = Vec::new();
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        for bound in self.found.drain(..) {
            match merged.iter_mut().find(|known| known.stage == bound.stage) {
                Some(known) => {
                    known.questions = sum(known.questions, bound.questions);
                    known.replies = sum(known.replies, bound.replies);
                    known.before = sum(known.before, bound.before);
                }
                None => merged.push(bound),
            }
        }
        self.found = merged;
    }

    /// A pull is begun where something is left, so the last ones, as many as stand side by side, may go beyond the budget.
    fn budget(&mut self, stage: &BudgetStage, beam: Beam) -> Beam {
        let series = |stages: &mut dyn Iterator<Item = &Stage>, start: Beam, actions: u64| {
            let mut walk = Walk { info: self.info, actions, made: BTreeMap::new(), found: Vec::new() };
            let mut inside = start;
            for inner in stages {
                inside = walk.stage(inner, inside, 1);
            }
            walk.found
        };
        let one = Beam { width: 1, before: 0 };
        let sample = series(&mut stage.sample.iter().chain(&stage.judge), one, self.actions);
        let refined = series(&mut stage.round.iter().chain(&stage.judge), one, self.actions);
        let entered = series(&mut stage.judge.iter(), beam, self.actions);
        let all = || sample.iter().chain(&refined).chain(&entered);
        let mut models: Vec<String> = all().flat_map(|bound| bound.models.iter().cloned()).collect();
        models.sort();
        models.dedup();
        let width = beam.width.max(u64::from(stage.keep));
        if models.is_empty() {
            return Beam { width, before: beam.before + 1 };
        }
        let sum = |found: &[QuestionBound]| {
            found.iter().try_fold(0_u64, |sum, bound| Some(sum.saturating_add(bound.questions?)))
        };
        // A pull is refined once more than the last: at most as many replies stand before a question as there are pulls.
        let largest = all().filter_map(|b| Some(b.replies? / b.questions?.max(1))).max().unwrap_or(1).max(1);
        let pull = Some(sum(&sample)).flatten().zip(sum(&refined)).map(|(a, b)| a.max(b));
        let questions = stage.budget.calls.zip(pull).zip(sum(&entered)).map(|((calls, pull), entered)| {
            let begun = calls.saturating_sub(1).max(entered);
            begun.saturating_add(pull.saturating_mul(u64::from(stage.width)))
        });
        let why = match (questions, pull, stage.budget.calls) {
            (Some(_), ..) => String::new(),
            (None, None, _) => all().find(|b| !b.why.is_empty()).map(|b| b.why.clone()).unwrap_or_default(),
            _ => format!("the budget of stage `{}` limits no questions", stage.label),
        };
        self.found.push(QuestionBound {
            stage: stage.label.clone(),
            models,
            questions,
            replies: questions.map(|questions| questions.saturating_mul(largest)),
            // Every pull may refine what the last one made, which carries one reply more.
            before: questions.map(|questions| questions.saturating_mul(beam.before + 1)),
            tokens: stage.budget.tokens,
            usd: stage.budget.money,
            why,
        });
        Beam { width, before: beam.before + 1 }
    }
}

/// The declared bound on the requests of one call, and on the replies to them; `None` where the plugin declares none.
fn requests_of_call(info: &PluginInfo, options: &JsonObject, samples: u64, actions: u64) -> Option<Asked> {
    let holds = |bound: &&RequestBound| bound.condition.as_ref().is_none_or(|when| when.holds(info, options));
    let bound = info.capabilities.requests.iter().find(holds)?;
    evaluate(&bound.count, info, options, samples, actions)
}

/// `None` where an option that the count names has no whole number.
fn evaluate(
    count: &RequestCount,
    info: &PluginInfo,
    options: &JsonObject,
    samples: u64,
    actions: u64,
) -> Option<Asked> {
    let equal = |number: u64| Some(Asked { questions: number, replies: number });
    let fold = |parts: &[RequestCount], start: u64, combine: fn(u64, u64) -> u64| {
        parts.iter().try_fold(Asked { questions: start, replies: start }, |sum, part| {
            let part = evaluate(part, info, options, samples, actions)?;
            Some(Asked {
                questions: combine(sum.questions, part.questions),
                replies: combine(sum.replies, part.replies),
            })
        })
    };
    match count {
        RequestCount::Number(number) => equal(*number),
        RequestCount::Samples => equal(samples),
        RequestCount::Actions => equal(actions),
        RequestCount::Option(name) => equal(info.option_value(options, name)?.as_u64()?),
        RequestCount::ForAllSamples(requests) => {
            Some(Asked { questions: *requests, replies: requests.saturating_mul(samples) })
        }
        RequestCount::Product(factors) => fold(factors, 1, u64::saturating_mul),
        RequestCount::Sum(parts) => fold(parts, 0, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests;
