//! Upper bound on the requests of a pipeline, from its file alone.
//!
//! A plugin declares bounds on the requests of one call ([`planforge_contract::Capabilities::requests`]). A plugin that has roles and
//! declares none leaves the pipeline without a bound, and the reason is reported.

use crate::stages::Stage;
use crate::stages::plugin_use::PluginUse;
use planforge_contract::{JsonObject, PluginInfo, RequestBound, RequestCount};
use planforge_llm::RoleModels;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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
    /// The reason why there is no bound; empty if there is one.
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

/// The most requests of one task of a pipeline. `info` returns a plugin's description, `actions` is the
/// number of actions of the task.
pub fn question_bounds(
    stages: &[Stage],
    info: &dyn Fn(&str) -> Option<PluginInfo>,
    actions: u64,
) -> TaskBounds {
    let mut walk = BoundWalk::new(info, actions);
    let mut beam = BeamBound { width: 1, before: 0 };
    for stage in stages {
        beam = walk.stage(stage, beam, 1);
    }
    TaskBounds { each: walk.found, lead: walk.lead }
}

/// The most candidates at a place, and the most replies on the way to one of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeamBound {
    pub(crate) width: u64,
    pub(crate) before: u64,
}

/// Questions and replies of one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct CallBound {
    questions: u64,
    replies: u64,
}

/// Adds up the most requests of stages in a row.
pub(crate) struct BoundWalk<'a> {
    info: &'a dyn Fn(&str) -> Option<PluginInfo>,
    actions: u64,
    /// Label of a stage -> most candidates that it made, for groups.
    pub(crate) made: BTreeMap<String, u64>,
    pub(crate) found: Vec<QuestionBound>,
    /// The requests of stages that the lead task of a suite alone goes through.
    pub(crate) lead: Vec<QuestionBound>,
}

impl<'a> BoundWalk<'a> {
    fn new(info: &'a dyn Fn(&str) -> Option<PluginInfo>, actions: u64) -> Self {
        Self { info, actions, made: BTreeMap::new(), found: Vec::new(), lead: Vec::new() }
    }

    /// The requests of stages in a row, by themselves.
    pub(crate) fn series<'s>(
        &self,
        stages: impl IntoIterator<Item = &'s Stage>,
        start: BeamBound,
    ) -> Vec<QuestionBound> {
        let mut walk = Self::new(self.info, self.actions);
        let mut beam = start;
        for stage in stages {
            beam = walk.stage(stage, beam, 1);
        }
        walk.found
    }

    /// Adds a stage over a beam, `times` times. Returns the beam after it.
    pub(crate) fn stage(&mut self, stage: &Stage, beam: BeamBound, times: u64) -> BeamBound {
        stage.definition().bound(self, beam, times)
    }

    /// Adds the calls of a plugin, one for each candidate.
    pub(crate) fn calls(&mut self, plugin: &PluginUse<'_>, samples: u64, beam: BeamBound, times: u64) {
        let models: BTreeSet<&str> = plugin.roles.values().flat_map(RoleModels::names).collect();
        let models: Vec<String> = models.into_iter().map(str::to_owned).collect();
        let info = (self.info)(plugin.id);
        if models.is_empty() || info.as_ref().is_some_and(|info| info.roles.is_empty()) {
            return;
        }
        let label = plugin.stage.to_owned();
        let calls = beam.width.saturating_mul(times);
        let asked =
            info.as_ref().and_then(|info| requests_of_call(info, plugin.options, samples, self.actions));
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
                why: format!("`{}` does not say how many requests stage `{label}` sends", plugin.id),
                stage: label,
                models,
                ..QuestionBound::default()
            },
        });
    }

    /// Adds up the bounds of the same stage.
    pub(crate) fn merge(&mut self) {
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
}

/// True if the plugin declares that a call with these options makes no request.
pub(crate) fn makes_no_request(info: &PluginInfo, options: &JsonObject) -> bool {
    requests_of_call(info, options, 1, 1).is_some_and(|bound| bound.questions == 0)
}

/// The declared bound on the requests of one call, and on the replies to them; `None` where the plugin declares none.
fn requests_of_call(
    info: &PluginInfo,
    options: &JsonObject,
    samples: u64,
    actions: u64,
) -> Option<CallBound> {
    let holds = |bound: &&RequestBound| {
        bound.condition.as_ref().is_none_or(|when| when.holds(&info.options_schema, options))
    };
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
) -> Option<CallBound> {
    let equal = |number: u64| Some(CallBound { questions: number, replies: number });
    let fold = |parts: &[RequestCount], start: u64, combine: fn(u64, u64) -> u64| {
        parts.iter().try_fold(CallBound { questions: start, replies: start }, |sum, part| {
            let part = evaluate(part, info, options, samples, actions)?;
            Some(CallBound {
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
            Some(CallBound { questions: *requests, replies: requests.saturating_mul(samples) })
        }
        RequestCount::Product(factors) => fold(factors, 1, u64::saturating_mul),
        RequestCount::Sum(parts) => fold(parts, 0, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests;
