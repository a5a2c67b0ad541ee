//! `--dry-run`: the requests that a run would send, without sending any and without writing anything.
//!
//! The pipeline is executed over a journal in memory, with the record of the run and its cassettes as
//! sources. So everything paid for is found, and every request that is possible now is built and parked. No
//! provider is created, so no key is needed. Planners and external programs whose outcomes are not in a
//! record are not started; what depends on them is parked.

use crate::context::Context;
use crate::error::Error;
use crate::pipelines::loaded::{LoadedPipeline, instantiate};
use crate::pipelines::prepare::Prepared;
use crate::running::execution::{ExecutionSettings, ReplySources, services};
use crate::running::recorded::open_cassettes;
use planforge_contract::api::{Environment, Host, Planner, Verifier};
use planforge_contract::{
    EnvironmentInfo, EnvironmentOpen, EnvironmentPlan, EnvironmentVerdict, ExecutionReport, Failure, Message,
    PlanOutcome, PlanRequest, PluginInfo, RequestSetting, Sequences, StateDescription, StateQuery,
    VerifyRequest, VerifyResponse, WalkSpec, Walks,
};
use planforge_diagnostics::SourceId;
use planforge_evaluate::estimate::{CellFacts, ModelFacts, Progress, ReadyRequest};
use planforge_evaluate::results::CellKey;
use planforge_llm::{Mode, ModelSettings, PendingRequest, estimated_tokens};
use planforge_pipeline::{
    LlmTable, QuestionBound, RunReport, RunTask, Stage, StageInstance, TaskUsage, question_bounds,
};
use planforge_record::{Lookup, MemoryJournal, RunFolder};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The input of a dry run.
pub(crate) struct DryRun<'a> {
    pub(crate) context: &'a Context,
    pub(crate) checked: &'a LoadedPipeline,
    pub(crate) tasks: &'a [RunTask],
    /// The model that explains plans in plain language.
    pub(crate) explainer: Option<&'a str>,
    pub(crate) jobs: u32,
    /// The title of its progress.
    pub(crate) title: String,
}

impl DryRun<'_> {
    /// Collects the facts of each suite. `key` has everything but the suite; `run` is the folder of a run
    /// that has started.
    pub(crate) fn facts(
        &self,
        key: &CellKey,
        run: Option<&Path>,
        cassettes: &[PathBuf],
    ) -> Result<Vec<CellFacts>, Error> {
        let context = self.context;
        let (mut prepared, redactor) = instantiate(context, self.checked, Mode::Replay)?;
        let models = self.models(&prepared);
        self.without_programs(&mut prepared);
        for table in prepared.model_tables.values_mut() {
            remove_limits(&mut table.settings);
        }
        let mut lookups: Vec<Arc<dyn Lookup>> = Vec::new();
        if let Some(folder) = run {
            let opened = RunFolder::open(folder, Arc::clone(&redactor));
            lookups.push(Arc::new(opened?));
        }
        lookups.extend(open_cassettes(context, cassettes, &redactor)?);
        let journal = Arc::new(MemoryJournal::new(Arc::clone(&redactor)));
        let progress = context.start_run(&self.title, self.tasks.len(), None, std::iter::empty());
        let execution = ExecutionSettings {
            jobs: self.jobs,
            observer: Some(progress.observer()),
            watch: Some(progress.watch()),
        };
        let sources = ReplySources { mode: Mode::Batch, lookups, answers: None, failures_are_final: false };
        let seed = self.checked.pipeline.config.seed;
        let ended =
            services(context, prepared, redactor, sources, journal, seed, execution).and_then(|services| {
                let report = planforge_pipeline::run(&self.checked.pipeline, self.tasks, &services)?;
                Ok((report, services.llm.pending()))
            });
        drop(progress);
        let (report, pending) = ended?;
        let suites: BTreeSet<&String> = self.tasks.iter().map(|task| &task.view.suite).collect();
        Ok(suites.into_iter().map(|suite| self.of_suite(key, suite, &report, &pending, &models)).collect())
    }

    /// The facts of a finished cell, which sends no more requests.
    pub(crate) fn finished_facts(&self, key: CellKey, report: &RunReport) -> CellFacts {
        let models = report
            .prices
            .iter()
            .map(|(name, price)| (name.clone(), ModelFacts { price: *price, ..ModelFacts::default() }));
        CellFacts {
            key,
            tasks: report.tasks.len(),
            progress: Progress::Finished,
            paid: paid(report, |_| true),
            ready: Vec::new(),
            bounds: Vec::new(),
            models: models.collect(),
        }
    }

    fn of_suite(
        &self,
        key: &CellKey,
        suite: &str,
        report: &RunReport,
        pending: &[PendingRequest],
        models: &BTreeMap<String, ModelFacts>,
    ) -> CellFacts {
        let own: Vec<&RunTask> = self.tasks.iter().filter(|task| task.view.suite == suite).collect();
        let names: BTreeSet<&str> = own.iter().map(|task| task.name.as_str()).collect();
        let of_task = |path: &str| names.contains(path.split('/').next().unwrap_or_default());
        let paid = paid(report, |task| names.contains(task));
        CellFacts {
            key: CellKey { suite: suite.to_owned(), ..key.clone() },
            tasks: own.len(),
            progress: if paid.is_empty() { Progress::New } else { Progress::Begun },
            paid,
            ready: ready(pending.iter().filter(|question| of_task(&question.path))),
            bounds: self.bounds(&own),
            models: models.clone(),
        }
    }

    /// The bounds of all tasks of a suite. Each has as many actions as the task that has most.
    fn bounds(&self, tasks: &[&RunTask]) -> Vec<QuestionBound> {
        let info = |id: &str| self.checked.registry.info(id).ok().map(|info| PluginInfo::clone(&info));
        let actions = tasks.iter().map(|task| actions(task)).max().unwrap_or(0);
        let count = tasks.len() as u64;
        let stages = &self.checked.pipeline.config.stages;
        let bounds = question_bounds(stages, &info, actions);
        let mut all = bounds.lead;
        all.extend(bounds.each.iter().map(|bound| bound.times(count)));
        all.extend(self.explainer.map(|model| QuestionBound {
            stage: "explain-plan".to_owned(),
            models: vec![model.to_owned()],
            questions: Some(count),
            replies: Some(count),
            before: Some(0),
            ..QuestionBound::default()
        }));
        all
    }

    fn models(&self, prepared: &Prepared) -> BTreeMap<String, ModelFacts> {
        let facts = |(name, table): (&String, &planforge_llm::ModelTable)| {
            let settings = &table.settings;
            let info = self.checked.registry.info(&settings.provider);
            let options = self.checked.pipeline.config.llm.get(name).map(LlmTable::provider_options);
            let several = info.is_ok_and(|info| {
                info.capabilities.several_replies
                    && !info.lacks(RequestSetting::Replies, &options.unwrap_or_default())
            });
            let facts = ModelFacts {
                price: settings.price,
                max_tokens: settings.max_tokens.map(u64::from),
                replies_a_request: settings.n_per_request.map(u64::from).or((!several).then_some(1)),
                max_calls: settings.max_calls,
                max_total_tokens: settings.max_total_tokens,
                max_cost_usd: settings.max_cost_usd,
            };
            (name.clone(), facts)
        };
        prepared.model_tables.iter().map(facts).collect()
    }

    /// Defers planners that use no model and everything that starts an external program. Outcomes in the
    /// record are found before they would be called.
    fn without_programs(&self, prepared: &mut Prepared) {
        let pipeline = &self.checked.pipeline.config;
        for (label, (info, instance)) in &mut prepared.instances.stages {
            let options = pipeline.stage(label).and_then(Stage::plugin).map(|(_, options)| options);
            let external = options.is_some_and(|options| info.is_external(options));
            match instance {
                StageInstance::Planner(planner) if external || info.roles.is_empty() => {
                    *planner = Arc::new(DeferredPlugin);
                }
                StageInstance::Verifier(verifier) if external => *verifier = Arc::new(DeferredPlugin),
                _ => {}
            }
        }
        let options = pipeline.environment.as_ref().map(|table| &table.options);
        if let Some((info, environment)) = &mut prepared.instances.environment
            && options.is_some_and(|options| info.is_external(options))
        {
            *environment = Arc::new(DeferredPlugin);
        }
    }
}

/// Removes limits that would end or delay the collection of requests. The estimate applies them itself.
fn remove_limits(settings: &mut ModelSettings) {
    (settings.requests_per_minute, settings.max_calls) = (None, None);
    (settings.max_total_tokens, settings.max_cost_usd) = (None, None);
}

fn paid(report: &RunReport, of: impl Fn(&str) -> bool) -> BTreeMap<String, TaskUsage> {
    let mut paid: BTreeMap<String, TaskUsage> = BTreeMap::new();
    for (model, usage) in report.tasks.iter().filter(|task| of(&task.task)).flat_map(|task| &task.usage) {
        paid.entry(model.clone()).or_default().add(usage);
    }
    paid
}

/// The messages and sampling of a canonical request.
#[derive(Deserialize)]
struct Canonical {
    messages: Vec<Message>,
    sampling: Value,
}

/// Groups the requests of one question. The path of a request is that of its question and its first sample.
fn ready<'q>(pending: impl Iterator<Item = &'q PendingRequest>) -> Vec<ReadyRequest> {
    let mut questions: BTreeMap<(&str, &str), ReadyRequest> = BTreeMap::new();
    for request in pending {
        let question = request.path.rsplit_once('/').map_or(request.path.as_str(), |(question, _)| question);
        // What is parked is the canonical request, which always reads back.
        let Ok(canonical) = serde_json::from_value::<Canonical>(request.body.clone()) else { continue };
        let texts = canonical.messages.iter().map(|message| message.content.as_str());
        let ready = questions.entry((&request.llm, question)).or_insert_with(|| ReadyRequest {
            llm: request.llm.clone(),
            replies: 0,
            requests: 0,
            prompt_tokens: 0,
        });
        ready.replies += canonical.sampling.get("n").and_then(Value::as_u64).unwrap_or(1);
        ready.requests += 1;
        ready.prompt_tokens += estimated_tokens(texts, canonical.messages.len());
    }
    questions.into_values().collect()
}

/// The number of actions of a task.
fn actions(task: &RunTask) -> u64 {
    let described = task.view.materials.actions.described.as_ref();
    let interface = task.view.action_interface.as_ref().map(|interface| interface.actions.len());
    let domain = || {
        let domain = planforge_pddl::parse_domain(task.reference.domain.as_deref()?, SourceId(0)).value;
        Some(domain.actions.len())
    };
    described.map(|list| list.len()).or(interface).or_else(domain).unwrap_or(0) as u64
}

/// A plugin that a dry run does not call.
struct DeferredPlugin;

impl DeferredPlugin {
    fn deferred<T>() -> Result<T, Failure> {
        Err(Failure::deferred("a dry run does not call this plugin"))
    }
}

impl Planner for DeferredPlugin {
    fn plan(&self, _: &dyn Host, _: &PlanRequest) -> Result<PlanOutcome, Failure> {
        Self::deferred()
    }
}

impl Verifier for DeferredPlugin {
    fn verify(&self, _: &dyn Host, _: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        Self::deferred()
    }
}

impl Environment for DeferredPlugin {
    fn describe(&self, _: &dyn Host, _: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        Self::deferred()
    }
    fn walks(&self, _: &dyn Host, _: &EnvironmentOpen, _: &WalkSpec) -> Result<Walks, Failure> {
        Self::deferred()
    }
    fn execute(&self, _: &dyn Host, _: &EnvironmentOpen, _: &Sequences) -> Result<ExecutionReport, Failure> {
        Self::deferred()
    }
    fn validate(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        Self::deferred()
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        Self::deferred()
    }
}
