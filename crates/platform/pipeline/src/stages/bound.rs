//! Upper bound on the requests of a pipeline, from its file alone.
//!
//! A plugin declares bounds on the requests of one call ([`planforge_contract::Capabilities::requests`]). A plugin that has roles and
//! declares none leaves the pipeline without a bound, and the reason is reported.

use super::Stage;
use crate::calls::PluginUse;
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
mod tests {
    use super::*;
    use crate::pipeline::Pipeline;
    use planforge_contract::RequestCount::{ForAllSamples, Samples};
    use planforge_contract::{Capabilities, Declared, OptionCondition, PluginKind};
    use serde_json::{Value, json};

    fn info(id: &str) -> Option<PluginInfo> {
        let always = |count: RequestCount| vec![RequestBound { count, condition: None }];
        let (role, requests, schema): (&str, Vec<RequestBound>, Value) = match id {
            "writer" => {
                let none = OptionCondition::new("mode", &["none"]);
                let more = OptionCondition::new("mode", &["two", "three"]);
                let repaired = ForAllSamples(2) + Samples * RequestCount::option("repairs");
                let bounds = vec![
                    RequestBound { count: 0.into(), condition: Some(none) },
                    RequestBound { count: repaired, condition: Some(more) },
                    RequestBound { count: ForAllSamples(1), condition: None },
                ];
                let schema = json!({"properties": {"repairs": {"default": 3}, "mode": {"default": "one"}}});
                ("writer", bounds, schema)
            }
            "actions" => ("writer", always(Samples * RequestCount::Actions), json!({})),
            "critic" => ("critic", always(1.into()), json!({})),
            "silent" => ("critic", Vec::new(), json!({})),
            "walker" => ("", Vec::new(), json!({})),
            _ => return None,
        };
        Some(PluginInfo {
            id: id.to_owned(),
            kind: PluginKind::Verifier,
            version: String::new(),
            contract: 1,
            about: String::new(),
            capabilities: Capabilities { requests, ..Capabilities::default() },
            roles: if role.is_empty() { Vec::new() } else { vec![Declared::new(role, "")] },
            metrics: Vec::new(),
            measures: Vec::new(),
            options_schema: schema,
            secrets: Vec::new(),
            files: Vec::new(),
            folders: Vec::new(),
            suites: Vec::new(),
            servers: Vec::new(),
            commands: Vec::new(),
            max_concurrency: 0,
        })
    }

    fn bounds(stages: Value) -> TaskBounds {
        let pipeline: Pipeline = serde_json::from_value(json!({"schema": 1, "stage": stages})).unwrap();
        question_bounds(&pipeline.stages, &info, 5)
    }

    fn write(label: &str, n: u32) -> Value {
        json!({"do": "translate", "label": label, "use": "writer", "n": n, "roles": {"writer": "main"}})
    }

    fn critic(label: &str) -> Value {
        json!({"do": "verify", "label": label, "use": "critic", "roles": {"critic": "critic"}})
    }

    fn counts(bounds: &[QuestionBound]) -> Vec<(&str, Option<u64>, Option<u64>)> {
        bounds.iter().map(|b| (b.stage.as_str(), b.questions, b.replies)).collect()
    }

    #[test]
    fn samples_candidates_and_selections_multiply_as_the_runner_does() {
        let keep = |keep: u32, by: Option<&str>| match by {
            Some(label) => {
                json!({"do": "select", "label": "s", "by": "x.y", "keep": keep, "group_by": label})
            }
            None => json!({"do": "select", "label": "s", "by": "x.y", "keep": keep}),
        };
        let found = bounds(json!([
            write("a", 3),
            write("b", 4),
            keep(2, Some("a")),
            critic("c"),
            keep(2, None),
            write("d", 1)
        ]));
        // 3 children, 12 grandchildren, the best two of each of three groups, and the best two of all.
        let expected = [
            ("a", Some(1), Some(3)),
            ("b", Some(3), Some(12)),
            ("c", Some(6), Some(6)),
            ("d", Some(2), Some(2)),
        ];
        assert_eq!(counts(&found.each), expected);
        assert_eq!(found.each[1].before, Some(3), "each of b's questions has a reply before it");
        assert_eq!(found.each[0].times(10).replies, Some(30));
    }

    #[test]
    fn a_plugin_says_how_many_questions_a_call_asks() {
        let with = |options: Value| {
            let mut stage = write("a", 4);
            stage["options"] = options;
            let found = bounds(json!([stage]));
            (found.each[0].questions, found.each[0].replies)
        };
        assert_eq!(with(json!({})), (Some(1), Some(4)));
        assert_eq!(with(json!({"mode": "two"})), (Some(2 + 12), Some(8 + 12)), "the option's default counts");
        assert_eq!(with(json!({"mode": "three", "repairs": 0})), (Some(2), Some(8)));
        assert_eq!(with(json!({"mode": "none"})), (Some(0), Some(0)));
        let actions =
            json!({"do": "translate", "label": "a", "use": "actions", "n": 2, "roles": {"writer": "main"}});
        assert_eq!(counts(&bounds(json!([actions])).each), [("a", Some(10), Some(10))]);
        // Who asks no model is not in it, and who does not say leaves no bound.
        let walk = json!({"do": "verify", "label": "w", "use": "walker"});
        assert!(bounds(json!([walk])).each.is_empty());
        let silent = json!({"do": "verify", "label": "v", "use": "silent", "roles": {"critic": "critic"}});
        let found = bounds(json!([silent]));
        assert_eq!(found.each[0].questions, None);
        assert!(found.each[0].why.contains("`silent`"));
    }

    #[test]
    fn rounds_go_on_from_one_candidate_each() {
        let refine = json!({
            "do": "refine", "label": "refine", "rounds": 3, "by": "c.errors",
            "round": [critic("before"), write("edit", 5), critic("after")],
        });
        let found = bounds(json!([write("a", 2), refine, critic("last")]));
        let expected = [
            ("a", Some(1), Some(2)),
            ("before", Some(2 * 3), Some(6)),
            ("edit", Some(2 * 3), Some(30)),
            ("after", Some(2 * 3 * 5), Some(30)),
            ("last", Some(2), Some(2)),
        ];
        assert_eq!(counts(&found.each), expected);
        // Two candidates with one reply before the first round, two before the second, three before the third.
        assert_eq!(found.each[2].before, Some(2 * (1 + 2 + 3)));
    }

    #[test]
    fn a_budget_bounds_questions_up_to_its_last_pulls() {
        let budget = |limits: Value| {
            json!({
                "do": "budget", "label": "search", "by": "c.errors", "width": 2, "budget": limits,
                "sample": [write("new", 3)], "round": [critic("look"), write("edit", 1)], "judge": [critic("c")],
            })
        };
        let found = bounds(json!([budget(json!({"calls": 40, "tokens": 1000}))]));
        // A sample asks 1 + 3 questions, a refinement 1 + 1 + 1; what came in is judged once.
        assert_eq!(found.each.len(), 1);
        assert_eq!((found.each[0].questions, found.each[0].tokens), (Some(39 + 2 * 4), Some(1000)));
        assert_eq!(found.each[0].replies, Some(47 * 3));
        assert_eq!(found.each[0].models, ["critic", "main"]);
        let unlimited = bounds(json!([budget(json!({"tokens": 1000}))]));
        assert_eq!((unlimited.each[0].questions, unlimited.each[0].tokens), (None, Some(1000)));
        assert!(unlimited.each[0].why.contains("`search`"));
    }

    #[test]
    fn before_a_fan_out_the_lead_alone_is_asked_about() {
        let fan_out = json!({"do": "fan_out", "label": "others"});
        let found = bounds(json!([write("domain", 3), fan_out, write("problem", 2)]));
        assert_eq!(counts(&found.lead), [("domain", Some(1), Some(3))]);
        assert_eq!(counts(&found.each), [("problem", Some(3), Some(6))], "three survivors each");
    }
}
