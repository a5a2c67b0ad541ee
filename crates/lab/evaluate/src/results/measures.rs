//! The quantities that the stages of a pipeline measure, as their plugins declare them.

use planforge_contract::{Measure, PluginInfo};
use planforge_pipeline::{Pipeline, Stage};
use std::collections::BTreeMap;

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
    pub(super) fn is_simulated(&self, id: &str) -> bool {
        self.0.get(id).is_some_and(|facts| facts.simulated)
    }

    /// True if the stage's plugin declares the measure.
    pub(super) fn measures(&self, stage: &Stage, measure: Measure) -> bool {
        let facts = stage.plugin().and_then(|(id, _)| self.0.get(id));
        facts.is_some_and(|facts| facts.measures.contains(&measure))
    }

    /// True if the stage judges plans: by its option `what`, or because its plugin judges nothing else.
    pub(super) fn judges_plans(&self, stage: &Stage) -> bool {
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
