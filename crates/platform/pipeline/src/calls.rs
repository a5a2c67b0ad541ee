//! Calls of plugins: the state that all calls of a run and of a task share, and the host object of one call.

use crate::beam::Entry;
use crate::report::TaskUsage;
use crate::services::{
    Copies, CopyKey, Keep, Pool, Progress, Recorder, RunTask, Services, StageInstance, lock,
};
use planforge_contract::api::{Environment, EnvironmentAnswer, EnvironmentCall, Host, LogLevel, Planner};
use planforge_contract::{
    Candidate, CompletionRequest, Failure, FailureClass, JsonObject, LeadMaterials, LimitKind, Outcome,
    PlanOutcome, PlanRequest, PluginInfo, Price, Replies, Tags, TaskView,
};
use planforge_llm::{CallSite, Mode, RoleAnswer, RoleModels, Unanswered, estimated_tokens};
use planforge_plugin_sdk::rights::{Question, check};
use planforge_record::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A run: built once from the pipeline and the services, and read by every call.
pub(crate) struct RunContext<'a> {
    pub(crate) services: &'a Services,
    pub(crate) recorder: Recorder,
    pub(crate) pool: Pool,
    /// Every random choice of the run derives from this.
    pub(crate) seed: u64,
    /// True if feedback to a model may contain results of the environment.
    pub(crate) environment_feedback: bool,
    /// The options of the environment, where the pipeline has one.
    pub(crate) environment_options: Option<&'a JsonObject>,
    /// The plugins of the stages, by label.
    pub(crate) plugins: BTreeMap<&'a str, PluginUse<'a>>,
    /// The stated prices, by `[llm.NAME]` table.
    pub(crate) prices: BTreeMap<String, Price>,
    /// Time limit of a plugin call.
    pub(crate) deadline: Option<Duration>,
    /// The first failure of the record itself: without a record the run cannot go on.
    pub(crate) broken: Mutex<Option<Failure>>,
}

impl RunContext<'_> {
    /// True if no further call may be made.
    pub(crate) fn stopping(&self) -> bool {
        (self.services.cancelled)() || lock(&self.broken).is_some()
    }

    /// Remembers that the record failed.
    pub(crate) fn note(&self, result: Result<(), Failure>) {
        if let Err(failure) = result {
            lock(&self.broken).get_or_insert(failure);
        }
    }

    /// The candidate as plugins that may ask a model see it. Results of the environment are left out, unless the
    /// pipeline declares such feedback; then only the feedback made for models stays.
    pub(crate) fn visible_candidate(&self, entry: &Entry) -> Candidate {
        match self.environment_feedback {
            true => entry.with_feedback_alone(),
            false => entry.without_environment(),
        }
    }
}

/// One task of a run.
pub(crate) struct TaskRun<'a> {
    pub(crate) task: &'a RunTask,
    pub(crate) usage: Mutex<BTreeMap<String, TaskUsage>>,
    pub(crate) copies: Arc<Copies>,
    pub(crate) moves: Arc<Mutex<Moves>>,
}

/// Number of requests that went from one table to another: by table, the other, and the code of the failure.
pub(crate) type Moves = BTreeMap<(String, String, String), u64>;

impl<'a> TaskRun<'a> {
    pub(crate) fn new(task: &'a RunTask) -> Self {
        Self { task, usage: Mutex::default(), copies: Arc::default(), moves: Arc::default() }
    }

    /// The same task with its own usage. Both share the replies and the moves between tables.
    pub(crate) fn with_own_usage(&self) -> Self {
        let (copies, moves) = (Arc::clone(&self.copies), Arc::clone(&self.moves));
        Self { task: self.task, usage: Mutex::default(), copies, moves }
    }

    /// The task as plugins may see it in a call about this candidate.
    pub(crate) fn view(&self, entry: &Entry) -> TaskView {
        let mut view = self.task.view.clone();
        let LeadMaterials { text, problem } = entry.lead.clone();
        let lead = &mut view.materials.lead;
        *lead = LeadMaterials { text: text.or(lead.text.take()), problem: problem.or(lead.problem.take()) };
        view
    }
}

/// The plugin of a stage.
pub(crate) struct PluginUse<'a> {
    /// The stage's label.
    pub(crate) stage: &'a str,
    pub(crate) id: &'a str,
    pub(crate) options: &'a JsonObject,
    /// Role -> the model tables that take it.
    pub(crate) roles: &'a BTreeMap<String, RoleModels>,
}

/// One call of one plugin.
pub(crate) struct PluginCall<'a> {
    pub(crate) run: &'a RunContext<'a>,
    pub(crate) task: &'a TaskRun<'a>,
    pub(crate) info: &'a PluginInfo,
    /// The stage's label.
    pub(crate) stage: &'a str,
    /// Prefix of the sample paths of all requests of the call.
    pub(crate) path: String,
    /// Labels of the plan stages that called this one, outermost first.
    pub(crate) asked: Vec<String>,
    questions: AtomicU32,
    plans: AtomicU32,
    works: AtomicU32,
    environment: AtomicBool,
    /// The first deferral that the plugin received.
    deferral: Mutex<Option<Failure>>,
    deadline: Option<Instant>,
}

impl<'a> PluginCall<'a> {
    pub(crate) fn new(
        run: &'a RunContext<'a>,
        task: &'a TaskRun<'a>,
        info: &'a PluginInfo,
        stage: &'a str,
        path: String,
    ) -> Self {
        let call = Self {
            run,
            task,
            info,
            stage,
            path,
            asked: Vec::new(),
            questions: AtomicU32::new(0),
            plans: AtomicU32::new(0),
            works: AtomicU32::new(0),
            environment: AtomicBool::new(false),
            deferral: Mutex::default(),
            deadline: run.deadline.and_then(|limit| Instant::now().checked_add(limit)),
        };
        call.tell(true);
        call
    }

    fn tell(&self, begins: bool) {
        let (path, plugin, kind) = (&self.path, &self.info.id, self.info.kind);
        self.run.recorder.progress(&Progress::Work { path, plugin, kind, begins });
    }

    /// Notes that the plugin receives a deferral.
    fn note_deferral(&self, deferral: Failure) -> Failure {
        lock(&self.deferral).get_or_insert_with(|| deferral.clone());
        deferral
    }

    /// Returns the plugin's result, or the deferral if a reply is deferred: the plugin may have treated the
    /// deferral as a failure and continued, or failed because of it. `contains_deferral` returns true if the
    /// result itself contains the deferral.
    pub(crate) fn unless_deferred<T>(
        &self,
        result: Result<T, Failure>,
        contains_deferral: impl FnOnce(&T) -> bool,
    ) -> Result<T, Failure> {
        let Some(deferral) = lock(&self.deferral).clone() else { return result };
        match result {
            Ok(value) if contains_deferral(&value) => Ok(value),
            Err(failure) if failure.class == FailureClass::Cancelled => Err(failure),
            _ => Err(deferral),
        }
    }

    /// True if the plugin received a result of the environment, which has the reference.
    pub(crate) fn asked_environment(&self) -> bool {
        self.environment.load(Ordering::SeqCst)
    }

    /// Checks that no result of the environment reaches a model, unless the pipeline declares it.
    fn may_tell_a_model(&self) -> Result<(), Failure> {
        if !self.asked_environment() || self.run.environment_feedback {
            return Ok(());
        }
        Err(Failure::new(
            FailureClass::Request,
            "pipeline.environment-leak",
            format!("`{}` asked the environment and then a model in one call", self.info.id),
        )
        .help(
            "declare `feedback = \"environment\"` in the pipeline if models may receive results of the environment",
        ))
    }

    fn ask(
        &self,
        info: &PluginInfo,
        environment: &dyn Environment,
        call: &EnvironmentCall,
    ) -> Result<EnvironmentAnswer, Failure> {
        let host = PluginCall::new(self.run, self.task, info, self.stage, self.path.clone());
        let open = &self.task.task.reference;
        Ok(match call {
            EnvironmentCall::Describe => EnvironmentAnswer::Describe(environment.describe(&host, open)?),
            EnvironmentCall::Walks(spec) => EnvironmentAnswer::Walks(environment.walks(&host, open, spec)?),
            EnvironmentCall::Execute(sequences) => {
                EnvironmentAnswer::Execute(environment.execute(&host, open, sequences)?)
            }
            EnvironmentCall::Validate(plan) => {
                EnvironmentAnswer::Validate(environment.validate(&host, open, plan)?)
            }
            EnvironmentCall::DescribeState(query) => {
                EnvironmentAnswer::DescribeState(environment.describe_state(&host, open, query)?)
            }
        })
    }

    /// True if the plugin asks an external program with the options of its stage.
    pub(crate) fn is_outside(&self) -> bool {
        let plugin = self.run.plugins.get(self.stage);
        plugin.is_some_and(|plugin| self.info.is_external(plugin.options))
    }

    /// The answer of an external program. It may differ the next time, or break, so both are effects like a
    /// model's reply: a resumed run and a replay take them from the record, and a replay without them is an
    /// error.
    pub(crate) fn outside<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        request: &impl Serialize,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let recorder = &self.run.recorder;
        let answer = recorder.effect(
            name,
            &self.path,
            request,
            |_: &Outcome<T>| Keep::Timed,
            || {
                if self.run.services.mode == Mode::Replay {
                    let message = format!("the record does not hold the answer of `{name}` at {}", self.path);
                    return Err(Failure::new(FailureClass::ReplayMiss, "pipeline.replay-miss", message)
                        .help("replay a run that was made with this pipeline and these tasks"));
                }
                match make() {
                    // Not final: a failure during an interruption may be caused by it, and a deferred reply arrives later.
                    Err(failure)
                        if matches!(failure.class, FailureClass::Cancelled | FailureClass::Deferred)
                            || self.run.stopping() =>
                    {
                        Err(failure)
                    }
                    answer => Ok(answer.into()),
                }
            },
        )?;
        answer.into_result()
    }

    /// Counts the tables that answered a request and those that failed. `question` is its estimated number of tokens.
    fn count(&self, question: u64, answer: &RoleAnswer) {
        let mut usage = lock(&self.task.usage);
        for table in &answer.answered {
            let counted = usage.entry(table.llm.clone()).or_default();
            counted.count(&table.usage, table.samples.len());
            counted.estimate(&table.usage, question, table.estimated_tokens);
        }
        // Tables that were not asked, because of a cap or a pause, used nothing.
        let asked: BTreeSet<&str> = answer
            .failed
            .iter()
            .filter(|failed| failed.was_asked)
            .map(|failed| failed.llm.as_str())
            .collect();
        for name in asked {
            let requests = answer.failed_requests.get(name).copied().unwrap_or(1);
            usage.entry(name.to_owned()).or_default().count_failed(question, requests);
        }
        drop(usage);
        let mut moves = lock(&self.task.moves);
        for failed in &answer.failed {
            if let Some(next) = &failed.next {
                *moves.entry((failed.llm.clone(), next.clone(), failed.code.clone())).or_default() += 1;
            }
        }
    }
}

impl Drop for PluginCall<'_> {
    fn drop(&mut self) {
        self.tell(false);
    }
}

impl Host for PluginCall<'_> {
    fn complete(&self, role: &str, mut request: CompletionRequest) -> Result<Replies, Failure> {
        check(self.info, Question::Complete)?;
        self.may_tell_a_model()?;
        let plugin = self.run.plugins.get(self.stage);
        let Some(models) = plugin.and_then(|plugin| plugin.roles.get(role)) else {
            return Err(Failure::new(
                FailureClass::Request,
                "host.unknown-role",
                format!("stage `{}` gives no model to the role `{role}`", self.stage),
            )
            .help(format!("add `{role}` to the stage's `roles`")));
        };
        request.tags = Tags {
            suite: self.task.task.reference.suite.clone(),
            task: self.task.task.view.task.clone(),
            stage: self.stage.to_owned(),
            artefact: request.tags.artefact,
        };
        let call = self.questions.fetch_add(1, Ordering::SeqCst);
        let site = CallSite { path: self.path.clone(), call, role: role.to_owned() };
        let texts = request.messages.iter().map(|message| message.content.as_str());
        let question = estimated_tokens(texts, request.messages.len());
        let asked = CopyKey::new(&request.messages);
        let answer = self.run.services.llm.ask(models, request, &site, self);
        self.count(question, &answer);
        if let Ok(replies) = &answer.replies {
            for table in &answer.answered {
                let of_table =
                    table.samples.iter().filter_map(|sample| replies.replies.get(*sample as usize));
                self.task.copies.note(&table.llm, &asked, of_table);
            }
        }
        answer.replies.map_err(|unanswered| match unanswered {
            deferred @ Unanswered::Deferred(_) => self.note_deferral(deferred.into()),
            Unanswered::Failed(failure) => failure,
        })
    }

    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        check(self.info, Question::Environment)?;
        let Some((info, environment)) = &self.run.services.instances.environment else {
            return Err(Failure::new(
                FailureClass::Request,
                "host.no-environment",
                "the pipeline has no environment",
            )
            .help("add a table [environment] to the pipeline file"));
        };
        self.environment.store(true, Ordering::SeqCst);
        let ask = || self.ask(info, environment.as_ref(), &call);
        if self.run.environment_options.is_some_and(|options| info.is_external(options)) {
            self.outside(&format!("{}.environment", info.id), &call, ask)
        } else {
            ask()
        }
    }

    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        if self.asked.iter().any(|asked| asked == label) {
            let way = format!("{} -> {label}", self.asked.join(" -> "));
            return Err(Failure::new(
                FailureClass::Request,
                "host.call-cycle",
                format!("plan stage `{label}` asks for itself: {way}"),
            ));
        }
        check(self.info, Question::Plan)?;
        let Some((info, StageInstance::Planner(planner))) = self.run.services.instances.stages.get(label)
        else {
            return Err(Failure::new(
                FailureClass::Request,
                "host.unknown-label",
                format!("there is no plan stage `{label}`"),
            ));
        };
        let number = self.plans.fetch_add(1, Ordering::SeqCst);
        let path = format!("{}/{label}.{number}", self.path);
        let mut call = PluginCall::new(self.run, self.task, info, label, path);
        call.asked.clone_from(&self.asked);
        call.asked.push(label.to_owned());
        call.ask_planner(planner.as_ref(), &request).map_err(|failure| match failure.is_deferred() {
            true => self.note_deferral(failure),
            false => failure,
        })
    }

    fn worker(&self, _input: &str) -> Result<String, Failure> {
        check(self.info, Question::Worker)?;
        // The adapter of a real plugin knows which library to start in a child process, and answers this question itself.
        Err(Failure::new(
            FailureClass::Request,
            "host.no-worker",
            format!("`{}` has no worker", self.info.id),
        ))
    }

    /// The child's answer is deterministic, so a replay asks again. A limit that it met is not, and comes
    /// from the record.
    fn worker_through(
        &self,
        input: &str,
        ask: &dyn Fn() -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        check(self.info, Question::Worker)?;
        let number = self.works.fetch_add(1, Ordering::SeqCst);
        let path = format!("{}/worker.{number}", self.path);
        let keep = |answer: &Outcome<String>| match answer {
            Outcome::Ok(_) => Keep::Yes,
            Outcome::Failure(_) => Keep::Timed,
        };
        let make = || match ask() {
            // A limit that was reached once the run is being interrupted may be the interruption's doing.
            Err(failure) if failure.class == FailureClass::Limit && self.run.stopping() => {
                Err(cancelled_failure())
            }
            Err(failure) if failure.class == FailureClass::Limit => Ok(Outcome::Failure(failure)),
            answer => answer.map(Outcome::Ok),
        };
        let name = format!("{}.worker", self.info.id);
        let answer = self.run.recorder.effect(&name, &path, &input, keep, make)?;
        answer.into_result()
    }

    fn log(&self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
        };
        let event =
            Event::Log { plugin: self.info.id.clone(), level: level.to_owned(), message: message.to_owned() };
        self.run.note(self.run.recorder.event(event));
    }

    fn progress(&self, done: u64, total: u64, what: &str) {
        self.run.recorder.progress(&Progress::Call { path: &self.path, done, total, what });
    }

    fn cancelled(&self) -> bool {
        self.run.stopping()
    }

    fn remaining_ms(&self) -> Option<u64> {
        self.deadline.map(|deadline| {
            let left = deadline.saturating_duration_since(Instant::now());
            u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
        })
    }
}

impl PluginCall<'_> {
    /// Asks a planner, or takes its answer from the record.
    pub(crate) fn ask_planner(
        &self,
        planner: &dyn Planner,
        request: &PlanRequest,
    ) -> Result<PlanOutcome, Failure> {
        let name = format!("{}.plan", self.info.id);
        let ask = || match self.unless_deferred(planner.plan(self, request), |_| false)? {
            PlanOutcome::LimitReached { limit: LimitKind::Cancelled, message, .. } => {
                Err(Failure::new(FailureClass::Cancelled, "pipeline.cancelled", message))
            }
            // A limit that was reached once the run is being interrupted may be the interruption's doing.
            outcome if keep_outcome(&outcome) == Keep::Timed && self.run.stopping() => {
                Err(cancelled_failure())
            }
            outcome => Ok(outcome),
        };
        if self.is_outside() {
            return self.outside(&name, request, ask);
        }
        // Replies of models are recorded themselves, and counted whenever they are looked up, so the planner repeats its result.
        let asks_a_model = !self.info.roles.is_empty();
        let keep = |outcome: &PlanOutcome| match keep_outcome(outcome) {
            Keep::Yes if asks_a_model => Keep::No,
            kept => kept,
        };
        self.run.recorder.effect(&name, &self.path, request, keep, ask)
    }
}

fn keep_outcome(outcome: &PlanOutcome) -> Keep {
    match outcome {
        PlanOutcome::LimitReached { limit: LimitKind::Time | LimitKind::Memory, .. } => Keep::Timed,
        _ => Keep::Yes,
    }
}

/// The failure of a call that is not made because the run is interrupted.
pub(crate) fn cancelled_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, "pipeline.cancelled", "the run was interrupted")
}
