//! The stages of a pipeline that decide or that classify actions, and the quantities that its stages measure.

use planforge_contract::{Measure, PluginInfo};
use planforge_pipeline::{DescriptionClass, KeepRound, Pipeline, Stage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stages that decide, and what the pipeline may ask at most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judges {
    /// The verify stage that decides whether a task is solved: the last one that judges plans against the
    /// environment, else the last one that judges plans. Without one the task's verdict counts.
    pub solved_by: Option<String>,
    /// The stage that measures exploration walks: the last one that declares `walk-score`, outside refine stages if there is one.
    pub walk: Option<String>,
    /// The stage that compares the problem with the reference problem up to names of objects: the last one that declares `equivalence` and
    /// compares problems, outside refine stages if there is one.
    #[serde(default)]
    pub equivalent: Option<String>,
    /// The last verify stage that judges plans against the candidate's own task.
    #[serde(default)]
    pub own_plan: Option<String>,
    /// The last stage with `what = "pddl"`, which judges PDDL alone.
    #[serde(default)]
    pub valid: Option<String>,
    /// The last stage of a plan verifier with `what = "pddl"` or `"domain"`: the result of planforge's own reader.
    #[serde(default)]
    pub reads: Option<String>,
    /// The last such stage that asks VAL's Parser: the test-time-scaling paper's criterion.
    #[serde(default)]
    pub val: Option<String>,
    /// The last stage that declares `equivalence` and compares domains.
    #[serde(default)]
    pub same_domain: Option<String>,
    /// The translate stages, those of rounds included.
    #[serde(default)]
    pub writers: Vec<String>,
    /// The ranking of the first writer's samples: the metrics of the first select stage, each used if the one
    /// before is not known of all samples.
    #[serde(default)]
    pub ranked_by: Vec<String>,
    /// True if the lowest value ranks first.
    #[serde(default)]
    pub ranked_low: bool,
    /// The output of the pipeline, in the test-time-scaling paper's words where it has any.
    #[serde(default)]
    pub asked_for: AskedFor,
    /// The fan-out stage, behind which tasks start with the domain of another task; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<String>,
    /// The stages that classify actions; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<ClassStages>,
    /// The models of the pipeline, each once, by name.
    #[serde(default)]
    pub models: Vec<String>,
    /// The paper's bound on replies; absent where the pipeline refines nothing.
    pub bound: Option<Bound>,
    /// True if a model of the pipeline is simulated. Its figures say nothing about a language model, and
    /// tables say so.
    pub simulated: bool,
}

/// The output of a pipeline for a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AskedFor {
    /// A domain from text.
    #[default]
    NL2Domain,
    /// A domain from a problem, without text.
    Prob2Domain,
    /// A problem, for a domain that is given.
    Problem,
    /// A plan without PDDL.
    Plan,
}

impl AskedFor {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NL2Domain => "NL2Domain",
            Self::Prob2Domain => "Prob2Domain",
            Self::Problem => "Problem",
            Self::Plan => "Plan",
        }
    }

    fn of(pipeline: &Pipeline) -> Self {
        let writes = pipeline.all_stages().any(|stage| matches!(stage, Stage::Translate(_)));
        match (writes, pipeline.given.domain) {
            (false, _) => Self::Plan,
            (true, true) => Self::Problem,
            (true, false) if !pipeline.given.text => Self::Prob2Domain,
            (true, false) => Self::NL2Domain,
        }
    }
}

/// The parts of `n_p n_d c_max + N` (paper, Appendix B.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// Problem candidates that are refined.
    pub problems: u64,
    /// Domain candidates of a round.
    pub domains: u64,
    pub rounds: u64,
    /// True if every task is refined, because the pipeline does not fan out from a lead task.
    pub each_task: bool,
}

impl Bound {
    /// The bound for a suite of so many tasks. It counts one problem a task, as the paper does; with n_p
    /// candidates, n_p - 1 further replies are requested for each task that is refined.
    pub fn replies(&self, tasks: usize) -> u64 {
        let refined = if self.each_task { tasks as u64 } else { 1 };
        refined * self.problems * self.domains * self.rounds + tasks as u64
    }
}

impl Judges {
    /// Finds the stages. `plugins` describes the plugin with an id.
    pub fn of(pipeline: &Pipeline, plugins: impl Fn(&str) -> Option<PluginFacts>) -> Self {
        let plugins = PipelinePlugins::new(pipeline, plugins);
        let outer = || verify(&pipeline.stages);
        let plans = || outer().filter(|stage| plugins.judges_plans(stage));
        let walks = |stages| verify(stages).find(|stage| plugins.measures(stage, Measure::WalkScore));
        let equal = |stages| {
            let compares = |stage: &&Stage| plugins.measures(stage, Measure::Equivalence);
            verify(stages).filter(compares).find(|stage| !option(stage, "what", "domain"))
        };
        let reads = || {
            let pddl = |stage: &&Stage| option(stage, "what", "pddl") || option(stage, "what", "domain");
            outer().filter(|stage| plugins.measures(stage, Measure::PlanValidity)).filter(pddl)
        };
        let same_domain = outer()
            .filter(|stage| plugins.measures(stage, Measure::Equivalence))
            .find(|stage| option(stage, "what", "domain"));
        let writers = pipeline.all_stages().filter(|stage| matches!(stage, Stage::Translate(_)));
        let (ranked_by, ranked_low) = ranking(&pipeline.stages);
        let label = |stage: &Stage| stage.label().to_owned();
        let solved_by =
            plans().find(|stage| option(stage, "against", "environment")).or_else(|| plans().next());
        let rounds = || pipeline.stages.iter().rev().find_map(|stage| walks(stage.round()));
        Self {
            solved_by: solved_by.map(label),
            walk: walks(&pipeline.stages).or_else(rounds).map(label),
            equivalent: equal(&pipeline.stages)
                .or_else(|| pipeline.stages.iter().rev().find_map(|stage| equal(stage.round())))
                .map(label),
            own_plan: plans().find(|stage| !option(stage, "against", "environment")).map(label),
            valid: outer().find(|stage| option(stage, "what", "pddl")).map(label),
            reads: reads().next().map(label),
            val: reads().find(|stage| option(stage, "parser", "val")).map(label),
            same_domain: same_domain.map(label),
            writers: writers.map(label).collect(),
            ranked_by,
            ranked_low,
            asked_for: AskedFor::of(pipeline),
            fan_out: pipeline.stages.iter().find(|stage| matches!(stage, Stage::FanOut(_))).map(label),
            classes: ClassStages::find(pipeline, &plugins, None),
            models: models(pipeline),
            bound: bound(&pipeline.stages),
            simulated: pipeline.llm.values().any(|model| plugins.is_simulated(&model.plugin)),
        }
    }

    /// True if the pipeline writes one domain for all tasks of a suite, so that their outcomes depend on each other.
    pub fn one_domain_a_suite(&self) -> bool {
        // Older records have the bound alone.
        self.fan_out.is_some() || self.bound.is_some_and(|bound| !bound.each_task)
    }
}

fn models(pipeline: &Pipeline) -> Vec<String> {
    let named = pipeline.llm.values().filter_map(|table| table.settings.get("model")?.as_str());
    let mut models: Vec<String> = named.map(str::to_owned).collect();
    models.sort();
    models.dedup();
    models
}

/// The verify stages, the last one first.
fn verify(stages: &[Stage]) -> impl Iterator<Item = &Stage> {
    stages.iter().rev().filter(|stage| matches!(stage, Stage::Verify(_)))
}

fn option(stage: &Stage, name: &str, value: &str) -> bool {
    stage.plugin().is_some_and(|(_, options)| options.get(name).and_then(|v| v.as_str()) == Some(value))
}

/// The candidates before the only refine stage, the children of a round, and the number of rounds.
fn bound(stages: &[Stage]) -> Option<Bound> {
    let refines = stages.iter().filter(|stage| matches!(stage, Stage::Refine(_))).count();
    let at = stages.iter().position(|stage| matches!(stage, Stage::Refine(_)))?;
    let Some(Stage::Refine(refine)) = stages.get(at).filter(|_| refines == 1) else { return None };
    Some(Bound {
        problems: width(&stages[..at]),
        domains: width(&refine.round),
        rounds: refine.rounds.into(),
        each_task: !stages[at..].iter().any(|stage| matches!(stage, Stage::FanOut(_))),
    })
}

/// The metrics by which the first select stage compares candidates, and true if the lowest ranks first.
fn ranking(stages: &[Stage]) -> (Vec<String>, bool) {
    let Some(select) = stages.iter().find_map(|stage| match stage {
        Stage::Select(select) => Some(select),
        _ => None,
    }) else {
        return (Vec::new(), false);
    };
    let by = std::iter::once(select.by.clone()).chain(select.otherwise.iter().cloned());
    (by.collect(), !select.order.is_highest())
}

/// The most candidates that one becomes.
fn width(stages: &[Stage]) -> u64 {
    stages.iter().fold(1, |width, stage| match stage {
        Stage::Translate(translate) => width * u64::from(translate.n),
        Stage::Select(select) if select.group_by.is_none() => width.min(select.keep.into()),
        _ => width,
    })
}

/// Properties of a plugin that result tables depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginFacts {
    /// True if it simulates a model.
    pub simulated: bool,
    /// The standard quantities of its assessments.
    pub measures: Vec<Measure>,
    /// True if its option `what` selects the quantity.
    pub selects_by_what: bool,
}

impl PluginFacts {
    /// Reads a plugin's description.
    pub fn of(info: &PluginInfo) -> Self {
        Self {
            simulated: info.capabilities.simulated,
            selects_by_what: info.options_schema.pointer("/properties/what").is_some(),
            ..Self::recorded(&info.id, &info.measures)
        }
    }

    /// Reads the record of a plugin in a run's manifest. Versions without declared measures had four bundled verifiers, known by id.
    pub fn recorded(id: &str, measures: &[Measure]) -> Self {
        let bundled: &[Measure] = match id {
            "verifier-ew" => &[Measure::WalkScore],
            "verifier-val" => &[Measure::PlanValidity],
            "verifier-equivalence" => &[Measure::Equivalence],
            "verifier-classes" => &[Measure::ResultClass],
            _ => &[],
        };
        let selects_by_what = measures.is_empty() && !bundled.is_empty();
        let measures = if measures.is_empty() { bundled } else { measures };
        Self { simulated: false, measures: measures.to_vec(), selects_by_what }
    }
}

/// The facts of all plugins of a pipeline, by id.
pub(super) struct PipelinePlugins(BTreeMap<String, PluginFacts>);

impl PipelinePlugins {
    /// Collects the facts of the plugins that stages and model tables name.
    pub(super) fn new(pipeline: &Pipeline, plugins: impl Fn(&str) -> Option<PluginFacts>) -> Self {
        let stages = pipeline.all_stages().filter_map(|stage| Some(stage.plugin()?.0.to_owned()));
        let models = pipeline.llm.values().map(|model| model.plugin.clone());
        let facts = |id: String| {
            let facts = plugins(&id).unwrap_or_else(|| PluginFacts::recorded(&id, &[]));
            (id, facts)
        };
        Self(stages.chain(models).map(facts).collect())
    }

    /// True if the plugin simulates a model.
    fn is_simulated(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|facts| facts.simulated)
    }

    /// True if the stage's plugin declares the measure.
    pub(super) fn measures(&self, stage: &Stage, measure: Measure) -> bool {
        let facts = stage.plugin().and_then(|(id, _)| self.0.get(id));
        facts.is_some_and(|facts| facts.measures.contains(&measure))
    }

    /// True if the stage judges plans: by its option `what`, or because its plugin judges nothing else.
    fn judges_plans(&self, stage: &Stage) -> bool {
        let Some((id, options)) = stage.plugin() else { return false };
        match options.get("what").and_then(|what| what.as_str()) {
            Some(what) => what == "plan",
            None => {
                let facts = self.0.get(id);
                facts.is_some_and(|f| f.measures.contains(&Measure::PlanValidity) && !f.selects_by_what)
            }
        }
    }
}

/// The stages that declare `result-class`, and the origin of the replies that they judge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassStages {
    /// The stage that Table 1 is made of: the last one outside rounds, else the last one of all.
    pub judge: String,
    /// True if the judge stands inside rounds: then what the last round left is counted.
    pub in_rounds: bool,
    /// True if rounds rewrote the candidates before the judge.
    #[serde(default)]
    pub after_rounds: bool,
    /// All of them, rounds included: the last of them gives a candidate's class after a round.
    pub all: Vec<String>,
    /// The translate stages outside rounds that come before the judge: a sample that broke there is a reply that never came.
    pub writers: Vec<String>,
    /// The refine stage whose rounds are shown: the last one that classifies inside its rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refine: Option<String>,
    /// True if that stage keeps the best of all rounds so far, not the result of the last round.
    #[serde(default)]
    pub keeps_best: bool,
    /// The actions that the writers are restricted to, by name; all of them where it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The detail of the actions' descriptions (`[given] actions`): base, flipped or random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl ClassStages {
    /// Finds the stages, with the judge of this label; absent if there is none. `plugins` describes the plugin with an id.
    pub fn of(
        pipeline: &Pipeline,
        plugins: impl Fn(&str) -> Option<PluginFacts>,
        label: &str,
    ) -> Option<Self> {
        Self::find(pipeline, &PipelinePlugins::new(pipeline, plugins), Some(label))
    }

    /// Finds the stages; absent if no stage classifies actions, or none has the label.
    fn find(pipeline: &Pipeline, plugins: &PipelinePlugins, label: Option<&str>) -> Option<Self> {
        let classifies = |stage: &&Stage| plugins.measures(stage, Measure::ResultClass);
        let all: Vec<&Stage> = pipeline.all_stages().filter(classifies).collect();
        let wanted = |stage: &&&Stage| label.is_none_or(|label| stage.label() == label);
        let outside = pipeline.stages.iter().rev().filter(classifies).find(|stage| wanted(&stage));
        let judge = outside.or_else(|| all.iter().rev().find(wanted).copied())?;
        let top = |label: &str| {
            let here =
                |stage: &Stage| stage.label() == label || stage.inner().any(|inner| inner.label() == label);
            pipeline.stages.iter().position(here).unwrap_or(pipeline.stages.len())
        };
        let before = pipeline.stages.get(..top(judge.label())).unwrap_or_default();
        let writers: Vec<&Stage> =
            before.iter().filter(|stage| matches!(stage, Stage::Translate(_))).collect();
        let rewrites = |stage: &Stage| {
            matches!(stage, Stage::Refine(_)) && stage.inner().any(|s| matches!(s, Stage::Translate(_)))
        };
        let after_rounds = outside.is_none() || before.iter().any(rewrites);
        let refine = pipeline.stages.iter().rev().find_map(|stage| match stage {
            Stage::Refine(refine) if refine.round.iter().any(|inner| classifies(&inner)) => Some(refine),
            _ => None,
        });
        let only = writers.iter().filter_map(|stage| stage.plugin()?.1.get("only")?.as_array());
        let only = only.flatten().filter_map(|name| name.as_str());
        Some(Self {
            judge: judge.label().to_owned(),
            in_rounds: outside.is_none(),
            after_rounds,
            all: all.iter().map(|stage| stage.label().to_owned()).collect(),
            writers: writers.iter().map(|stage| stage.label().to_owned()).collect(),
            refine: refine.map(|refine| refine.label.clone()),
            keeps_best: refine.is_some_and(|refine| refine.keep == KeepRound::Best),
            only: only.map(str::to_owned).collect(),
            description: pipeline.given.actions.map(|class| name(class).to_owned()),
        })
    }
}

/// The word of the pipeline file.
const fn name(class: DescriptionClass) -> &'static str {
    match class {
        DescriptionClass::Base => "base",
        DescriptionClass::Flipped => "flipped",
        DescriptionClass::Random => "random",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn judges(stages: serde_json::Value) -> Judges {
        Judges::of(&serde_json::from_value(json!({"schema": 1, "stage": stages})).unwrap(), |_| None)
    }

    fn verify_plan(label: &str, against: &str) -> serde_json::Value {
        json!({"do": "verify", "label": label, "use": "verifier-val", "options": {"what": "plan", "against": against}})
    }

    #[test]
    fn the_environment_judges_where_it_is_asked() {
        let both =
            judges(json!([verify_plan("environment", "environment"), verify_plan("own", "candidate")]));
        assert_eq!((both.solved_by.as_deref(), both.own_plan.as_deref()), (Some("environment"), Some("own")));
        let own = judges(json!([verify_plan("early", "candidate"), verify_plan("own", "candidate")]));
        assert_eq!((own.solved_by.as_deref(), own.walk, own.bound), (Some("own"), None, None));
        assert_eq!(judges(json!([])), Judges { asked_for: AskedFor::Plan, ..Judges::default() });
    }

    #[test]
    fn stages_about_the_problem_are_found_by_their_plugin() {
        let equal = |label: &str| json!({"do": "verify", "label": label, "use": "verifier-equivalence", "measure": true});
        let pddl =
            json!({"do": "verify", "label": "pddl", "use": "verifier-val", "options": {"what": "pddl"}});
        let refine = json!({"do": "refine", "label": "refine", "rounds": 2, "by": "inner.equivalent", "round": [equal("inner")]});
        let found = judges(json!([pddl, equal("outer"), refine]));
        assert_eq!((found.equivalent.as_deref(), found.valid.as_deref()), (Some("outer"), Some("pddl")));
        assert_eq!(judges(json!([refine])).equivalent.as_deref(), Some("inner"));
        let mut domain = equal("same");
        domain["options"] = json!({"what": "domain"});
        assert_eq!(judges(json!([equal("outer"), domain])).equivalent.as_deref(), Some("outer"));
        let model = |name: &str| json!({"use": "provider-openai", "model": name});
        let pipeline =
            json!({"schema": 1, "stage": [], "llm": {"a": model("x"), "b": model("w"), "c": model("x")}});
        let found = Judges::of(&serde_json::from_value(pipeline).unwrap(), |_| None);
        assert_eq!(found.models, ["w", "x"]);
    }

    #[test]
    fn stages_are_found_by_the_measures_of_their_plugins() {
        let foreign = |id: &str| {
            let measures = match id {
                "my-walks" => vec![Measure::WalkScore],
                "my-plans" => vec![Measure::PlanValidity],
                "my-comparison" => vec![Measure::Equivalence],
                "my-classes" => vec![Measure::ResultClass],
                _ => return None,
            };
            Some(PluginFacts { measures, ..PluginFacts::default() })
        };
        let stage = |label: &str, id: &str| json!({"do": "verify", "label": label, "use": id});
        let stages = json!([
            stage("walk", "my-walks"),
            stage("plan", "my-plans"),
            stage("same", "my-comparison"),
            stage("class", "my-classes"),
            stage("other", "my-opinion"),
        ]);
        let pipeline = serde_json::from_value(json!({"schema": 1, "stage": stages})).unwrap();
        let found = Judges::of(&pipeline, foreign);
        assert_eq!(found.walk.as_deref(), Some("walk"));
        assert_eq!(found.solved_by.as_deref(), Some("plan"));
        assert_eq!(found.equivalent.as_deref(), Some("same"));
        assert_eq!(found.classes.unwrap().judge, "class");
        let undeclared = Judges::of(&pipeline, |_| None);
        assert_eq!((undeclared.walk, undeclared.solved_by, undeclared.classes), (None, None, None));
    }

    #[test]
    fn the_papers_bound_comes_from_the_file() {
        let ew = |label: &str| json!({"do": "verify", "label": label, "use": "verifier-ew"});
        let refine = json!({
            "do": "refine", "label": "refine", "rounds": 4, "by": "ew.rating",
            "round": [{"do": "translate", "label": "edit", "use": "translator-direct", "n": 10}, ew("ew")],
        });
        let problem = json!({"do": "translate", "label": "problem", "use": "translator-direct", "n": 5});
        let fan_out = json!({"do": "fan_out", "label": "others"});
        let inside = judges(json!([problem, refine, fan_out]));
        assert_eq!(inside.walk.as_deref(), Some("ew"));
        assert_eq!(inside.bound, Some(Bound { problems: 5, domains: 10, rounds: 4, each_task: false }));
        assert_eq!(inside.bound.unwrap().replies(10), 210);
        let outside = judges(json!([problem, refine, ew("final")]));
        assert_eq!(outside.walk.as_deref(), Some("final"));
        assert_eq!(outside.bound.unwrap().replies(10), 2010, "without a lead every task is refined");
        assert_eq!(judges(json!([problem, refine, refine])).bound, None);
        let unrefined = judges(json!([problem, fan_out]));
        assert_eq!(unrefined.bound, None);
        let sides = [&inside, &outside, &unrefined];
        assert_eq!(sides.map(Judges::one_domain_a_suite), [true, false, true]);
    }

    fn stages(stages: serde_json::Value, label: Option<&str>) -> Option<ClassStages> {
        let file = json!({"schema": 1, "given": {"actions": "flipped"}, "stage": stages});
        let pipeline = serde_json::from_value(file).unwrap();
        ClassStages::find(&pipeline, &PipelinePlugins::new(&pipeline, |_| None), label)
    }

    fn classes(label: &str) -> serde_json::Value {
        json!({"do": "verify", "label": label, "use": "verifier-classes"})
    }

    #[test]
    fn the_last_stage_outside_rounds_makes_the_table() {
        let writer = json!({"do": "translate", "label": "actions", "use": "translator-actions", "n": 60, "options": {"only": ["pick"]}});
        let again = json!({"do": "translate", "label": "again", "use": "translator-actions"});
        let refine = json!({"do": "refine", "label": "correct", "rounds": 3, "by": "inner.equivalent", "keep": "last", "round": [again, classes("inner")]});
        let found = stages(json!([writer, classes("first"), refine, classes("last")]), None).unwrap();
        let names: Vec<&str> = found.all.iter().map(String::as_str).collect();
        assert_eq!(
            (found.judge.as_str(), found.in_rounds, names),
            ("last", false, vec!["first", "inner", "last"])
        );
        assert_eq!((found.refine.as_deref(), found.keeps_best), (Some("correct"), false));
        assert!(found.after_rounds, "the last stage sees what was written again");
        assert_eq!(found.writers, ["actions"], "what rounds write comes after a first reply");
        assert_eq!(
            (found.only.as_slice(), found.description.as_deref()),
            (["pick".to_owned()].as_slice(), Some("flipped"))
        );
        let by_label =
            stages(json!([writer, classes("first"), refine, classes("last")]), Some("inner")).unwrap();
        assert_eq!((by_label.judge.as_str(), by_label.in_rounds), ("inner", true));
        let early = stages(json!([writer, classes("first"), refine]), None).unwrap();
        assert_eq!((early.judge.as_str(), early.after_rounds), ("first", false));
        assert!(stages(json!([writer, refine]), None).unwrap().in_rounds);
        assert_eq!(stages(json!([writer]), None), None);
        assert_eq!(stages(json!([writer, classes("first")]), Some("other")), None);
    }
}
