//! The stages of a pipeline that classify actions, and the stages before them.

use crate::results::measures::{PipelinePlugins, PluginFacts};
use planforge_contract::Measure;
use planforge_pipeline::{DescriptionClass, KeepRound, Pipeline, Stage};
use serde::{Deserialize, Serialize};

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
    pub(in crate::results) fn find(
        pipeline: &Pipeline,
        plugins: &PipelinePlugins,
        label: Option<&str>,
    ) -> Option<Self> {
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
