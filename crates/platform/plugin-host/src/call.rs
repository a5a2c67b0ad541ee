//! One call: over the boundary on a thread of the pool, with a deadline, and with the host's answers on the way; and the settings of a registry.

use crate::limits::{CallLimits, Clock, IdleTime, TICK};
use crate::program::{CallHost, LentPlugin, ProgramInstance};
use crate::threads::{Gate, Threads};
use crate::worker::{Worker, WorkerSettings, WorkerSource};
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host, LogLevel};
use planforge_contract::{
    CompletionRequest, CompletionResult, CreateRequest, Document, Failure, FailureClass, PlanOutcome,
    PlanRequest, PluginInfo, RateLimits, decode, encode,
};
use planforge_plugin_abi::raw::std_types::{RArc, RResult, RSlice, RStr};
use planforge_plugin_abi::raw::{
    RawHost, RawHost_TO, RawHostBox, RawPlugin_TO, RawPluginBox, RawReply, TD_Opaque,
};
use planforge_plugin_sdk::guard::catch_panic;
use planforge_plugin_sdk::rights::{self, Question};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Milliseconds that a call may take beyond the time that its request grants, to write its answer.
const GRANT_MARGIN_MS: u64 = 60_000;

/// The code behind an instance.
pub(crate) enum Code {
    /// In this process, through the binary interface.
    Linked(RawPluginBox),
    /// In a process of its own, which can be ended and started again.
    Program(ProgramInstance),
}

impl Code {
    fn call(&self, method: &str, inputs: &[String], bridge: Bridge) -> Result<String, String> {
        match self {
            Self::Linked(raw) => {
                let bridge: RawHostBox = RawHost_TO::from_ptr(RArc::new(bridge), TD_Opaque);
                let texts: Vec<RStr<'_>> = inputs.iter().map(|s| s.as_str().into()).collect();
                match RawPlugin_TO::call(raw, method.into(), texts.as_slice().into(), bridge) {
                    RResult::ROk(text) => Ok(text.into_string()),
                    RResult::RErr(text) => Err(text.into_string()),
                }
            }
            Self::Program(program) => {
                program.call(method, inputs, &bridge).map_err(|failure| encode(&failure).unwrap_or_default())
            }
        }
    }

    /// Ends the instance. Returns the failure of its destructor.
    fn close(self) -> Result<(), String> {
        match self {
            Self::Linked(raw) => RawPlugin_TO::close(raw).into_result().map_err(|text| text.into_string()),
            Self::Program(program) => {
                drop(program);
                Ok(())
            }
        }
    }
}

/// An instance of a plugin and everything needed to call it.
pub(crate) struct Core {
    pub(crate) info: Arc<PluginInfo>,
    code: Option<Arc<Code>>,
    poison: OnceLock<Failure>,
    gate: Gate,
    limits: CallLimits,
    clock: Clock,
    threads: Arc<Threads>,
    worker: Option<Worker>,
}

impl Core {
    pub(crate) fn new(
        info: Arc<PluginInfo>,
        code: Code,
        settings: &RegistrySettings,
        threads: Arc<Threads>,
        worker: Option<(WorkerSettings, WorkerSource, CreateRequest)>,
    ) -> Self {
        Self {
            gate: Gate::new(info.max_concurrency as usize),
            info,
            code: Some(Arc::new(code)),
            poison: OnceLock::new(),
            limits: settings.limits.clone(),
            clock: settings.clock.clone(),
            threads,
            worker: worker.map(|(settings, source, create)| Worker::new(settings, source, create)),
        }
    }

    /// Calls a method with its documents and reads the document it answers with.
    pub(crate) fn ask<T: Document>(
        &self,
        host: &dyn Host,
        method: &str,
        inputs: Vec<String>,
    ) -> Result<T, Failure> {
        self.ask_within(host, method, inputs, None)
    }

    /// As [`Core::ask`], for a call to which the request itself grants so many milliseconds.
    pub(crate) fn ask_within<T: Document>(
        &self,
        host: &dyn Host,
        method: &str,
        inputs: Vec<String>,
        granted_ms: Option<u64>,
    ) -> Result<T, Failure> {
        let text = self.call(host, method, inputs, granted_ms)?;
        decode(&text)
            .map_err(|e| self.plugin_failure("plugin.document", format!("answered `{method}` with {e}")))
    }

    /// A failure that is the plugin's fault.
    pub(crate) fn plugin_failure(&self, code: &str, what: String) -> Failure {
        Failure::new(FailureClass::Plugin, code, format!("the plugin `{}` {what}", self.info.id))
    }

    pub(crate) fn call(
        &self,
        host: &dyn Host,
        method: &str,
        inputs: Vec<String>,
        granted_ms: Option<u64>,
    ) -> Result<String, Failure> {
        let Some(code) = self.code.clone() else {
            return Err(self.plugin_failure("plugin.poisoned", "was closed".to_owned()));
        };
        let given = host.remaining_ms();
        let deadline = given.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        let Some(_pass) = self.gate.enter(deadline) else {
            let most = self.info.max_concurrency;
            let text = format!(
                "`{}` takes {most} calls at a time, and none ended before the deadline",
                self.info.id
            );
            return Err(Failure::new(FailureClass::Limit, "plugin.busy", text));
        };
        if let Some(first) = self.poison.get() {
            return Err(self.plugin_failure("plugin.poisoned", format!("is not called again after: {first}")));
        }
        let (send, receive) = mpsc::channel();
        let state = Arc::new(CallState::default());
        state.is_cancelled.store(host.cancelled(), Ordering::Relaxed);
        let bridge = Bridge { send: send.clone(), state: Arc::clone(&state), deadline };
        let name = method.to_owned();
        let job = move || {
            let reply = code.call(&name, &inputs, bridge);
            drop(code);
            // Sending fails if the host has given up the call.
            drop(send.send(FromPlugin::Done(reply)));
        };
        self.threads.run(Box::new(job), deadline)?;
        // A plugin that reads the clock ends at the deadline that it was told, also on a busy machine.
        let grace = Duration::from_millis(self.limits.deadline_grace_ms);
        let give_up = deadline.and_then(|deadline| deadline.checked_add(grace));
        let idle_ms = self.limits.idle_ms.max(granted_ms.map_or(0, |ms| ms.saturating_add(GRANT_MARGIN_MS)));
        let idle_ms = if deadline.is_some() { u64::MAX } else { idle_ms };
        let mut idle = IdleTime::new(Duration::from_millis(idle_ms), &self.clock);
        let answered = AtomicU64::new(0);
        let reply = std::thread::scope(|scope| {
            let mut interrupted: Option<Instant> = None;
            let (mut asked, mut seen_answers) = (0, 0);
            loop {
                let mut made_progress = false;
                match receive.recv_timeout(TICK) {
                    Ok(FromPlugin::Done(reply)) => return Ok(reply),
                    Ok(FromPlugin::Log(level, text)) => host.log(level, clip(&text, self.limits.log_bytes)),
                    Ok(FromPlugin::Progress(done, total, what)) => {
                        host.progress(done, total, clip(&what, self.limits.log_bytes));
                        made_progress = true;
                    }
                    Ok(FromPlugin::Ask(question, texts, answer)) => {
                        asked += 1;
                        let answered = &answered;
                        scope.spawn(move || {
                            let given = catch_panic(|| self.serve(host, &question, &texts)).and_then(|r| r);
                            answered.fetch_add(1, Ordering::SeqCst);
                            drop(answer.send(given));
                        });
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        return Err(self.poison_with(
                            self.plugin_failure("plugin.panic", format!("ended `{method}` without a reply")),
                        ));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let answers = answered.load(Ordering::SeqCst);
                made_progress |= answers > seen_answers;
                seen_answers = answers;
                let is_waiting = asked > answers || state.is_queued.load(Ordering::SeqCst);
                let failure = if idle.is_over(made_progress, is_waiting, &self.clock) {
                    Some(self.idle_failure(method, idle_ms))
                } else if give_up.is_some_and(|at| Instant::now() >= at) {
                    Some(self.deadline_failure(method, given.unwrap_or_default()))
                } else {
                    None
                };
                if let Some(failure) = failure {
                    // A reply that arrived in the meantime still counts.
                    if let Some(reply) = receive.try_iter().find_map(FromPlugin::into_reply) {
                        return Ok(reply);
                    }
                    state.is_given_up.store(true, Ordering::Relaxed);
                    return Err(self.poison_with(failure));
                }
                if host.cancelled() {
                    state.is_cancelled.store(true, Ordering::Relaxed);
                    let since = *interrupted.get_or_insert_with(Instant::now);
                    if since.elapsed() >= Duration::from_millis(self.limits.cancel_grace_ms) {
                        state.is_given_up.store(true, Ordering::Relaxed);
                        return Err(self.poison_with(self.cancel_failure(method)));
                    }
                }
            }
        })?;
        self.judge(method, reply)
    }

    fn judge(&self, method: &str, reply: Result<String, String>) -> Result<String, Failure> {
        let (Ok(text) | Err(text)) = &reply;
        if text.len() > self.limits.reply_bytes {
            let message = format!(
                "the plugin `{}` answered `{method}` with {} bytes; the host takes {}",
                self.info.id,
                text.len(),
                self.limits.reply_bytes
            );
            return Err(Failure::new(FailureClass::Plugin, "plugin.reply-size", message));
        }
        match reply {
            Ok(text) => Ok(text),
            Err(text) => {
                let failure = decode::<Failure>(&text).unwrap_or_else(|e| {
                    self.plugin_failure(
                        "plugin.document",
                        format!("failed in `{method}` without a readable failure: {e}"),
                    )
                });
                Err(if failure.code == "plugin.panic" {
                    self.poison_with(self.with_plugin_id(failure))
                } else {
                    failure
                })
            }
        }
    }

    fn with_plugin_id(&self, mut failure: Failure) -> Failure {
        failure.message =
            failure.message.replacen("the plugin", &format!("the plugin `{}`", self.info.id), 1);
        failure
    }

    /// Keeps an instance in this process from being used again: its state is unknown. A program is started anew instead.
    fn poison_with(&self, failure: Failure) -> Failure {
        if matches!(self.code.as_deref(), Some(Code::Program(_))) {
            return failure;
        }
        tracing::warn!(plugin = %self.info.id, %failure, "the instance is not used again");
        drop(self.poison.set(failure.clone()));
        failure
    }

    fn deadline_failure(&self, method: &str, ms: u64) -> Failure {
        let text =
            format!("`{}` did not answer `{method}` within {ms} ms; the call was given up", self.info.id);
        Failure::new(FailureClass::Limit, "plugin.deadline", text)
            .help("raise `limits.call_deadline_s` of the pipeline if the call needs more time")
    }

    fn idle_failure(&self, method: &str, ms: u64) -> Failure {
        let text = format!(
            "`{}` neither answered `{method}` nor reported progress for {} s; the call was given up",
            self.info.id,
            ms as f64 / 1000.0
        );
        Failure::new(FailureClass::Limit, "plugin.deadline", text).help(
            "set `limits.call_deadline_s` of the pipeline to the seconds that the call needs, or let the plugin report progress",
        )
    }

    fn cancel_failure(&self, method: &str) -> Failure {
        let text = format!(
            "`{}` went on with `{method}` for {} ms after the run was interrupted; the call was given up",
            self.info.id, self.limits.cancel_grace_ms
        );
        Failure::new(FailureClass::Cancelled, "plugin.deadline", text)
    }

    /// Answers a plugin's call of a host service, if its kind may call it.
    fn serve(&self, host: &dyn Host, question: &str, texts: &[String]) -> Result<String, Failure> {
        let Some(question) = Question::ALL.into_iter().find(|q| q.name() == question) else {
            return Err(Failure::forbidden(question));
        };
        rights::check(&self.info, question)?;
        if let Some(long) = texts.iter().find(|t| t.len() > self.limits.reply_bytes) {
            let text =
                format!("a request of {} bytes; the host takes {}", long.len(), self.limits.reply_bytes);
            return Err(Failure::new(FailureClass::Plugin, "plugin.reply-size", text));
        }
        match (question, texts) {
            (Question::Complete, [role, request]) => {
                let request: CompletionRequest = self.read(request)?;
                write(&CompletionResult::Replies(host.complete(role, request)?))
            }
            (Question::Environment, [call]) => {
                let answer: EnvironmentAnswer = host.environment(self.read::<EnvironmentCall>(call)?)?;
                write(&answer)
            }
            (Question::Plan, [label, request]) => {
                let outcome: PlanOutcome = host.plan(label, self.read::<PlanRequest>(request)?)?;
                write(&outcome)
            }
            (Question::RateLimits, [limits]) => {
                host.rate_limits(&self.read::<RateLimits>(limits)?);
                Ok(String::new())
            }
            (Question::Worker, [input]) => host.worker_through(input, &|| match &self.worker {
                Some(worker) => worker.ask(host, input),
                None => Err(no_worker()),
            }),
            _ => Err(self.plugin_failure(
                "plugin.method",
                format!("asked `{}` with {} inputs", question.name(), texts.len()),
            )),
        }
    }

    fn read<T: Document>(&self, text: &str) -> Result<T, Failure> {
        decode(text).map_err(|e| self.plugin_failure("plugin.document", format!("asked with {e}")))
    }
}

pub(crate) fn no_worker() -> Failure {
    let text = "this host has no executable to start for child processes";
    Failure::new(FailureClass::System, "host.no-worker", text)
}

fn write<T: Document>(body: &T) -> Result<String, Failure> {
    encode(body).map_err(|e| Failure::new(FailureClass::System, "plugin.document", e))
}

/// The longest prefix of whole characters within the limit.
fn clip(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Drop for Core {
    fn drop(&mut self) {
        let Some(code) = self.code.take() else { return };
        // The state of a poisoned instance is unknown, so its destructor is not run.
        if self.poison.get().is_some() {
            std::mem::forget(code);
            return;
        }
        let (send, receive) = mpsc::channel();
        let deadline = Instant::now().checked_add(Duration::from_millis(self.limits.create_ms));
        let job = move || {
            let result = Arc::try_unwrap(code).map(Code::close);
            drop(send.send(result.unwrap_or(Ok(()))));
        };
        if self.threads.run(Box::new(job), deadline).is_err() {
            return;
        }
        match receive.recv_timeout(Duration::from_millis(self.limits.create_ms)) {
            Ok(Ok(())) => {}
            Ok(Err(text)) => {
                let why = decode::<Failure>(&text).map_or_else(|e| e.to_string(), |f| f.to_string());
                tracing::warn!(plugin = %self.info.id, "the instance's destructor broke: {why}");
            }
            Err(_) => tracing::warn!(plugin = %self.info.id, "the instance's destructor did not end in time"),
        }
    }
}

enum FromPlugin {
    Done(Result<String, String>),
    Log(LogLevel, String),
    Progress(u64, u64, String),
    Ask(String, Vec<String>, Sender<Result<String, Failure>>),
}

impl FromPlugin {
    fn into_reply(self) -> Option<Result<String, String>> {
        match self {
            Self::Done(reply) => Some(reply),
            _ => None,
        }
    }
}

/// The host as it crosses the boundary: it lives as long as the plugin's thread, and passes everything on to the call
/// that made it as long as that waits.
struct Bridge {
    send: Sender<FromPlugin>,
    state: Arc<CallState>,
    deadline: Option<Instant>,
}

#[derive(Default)]
struct CallState {
    /// True once the run is being interrupted.
    is_cancelled: AtomicBool,
    /// True once the host does not wait for the call any more.
    is_given_up: AtomicBool,
    /// True while the call waits for other calls of its program.
    is_queued: AtomicBool,
}

impl Bridge {
    fn ask_host(&self, method: &str, texts: Vec<String>) -> Result<String, Failure> {
        let gone = || Failure::new(FailureClass::Cancelled, "host.gone", "the host has given this call up");
        let (send, receive) = mpsc::channel();
        self.send.send(FromPlugin::Ask(method.to_owned(), texts, send)).map_err(|_| gone())?;
        receive.recv().map_err(|_| gone())?
    }
}

// A panic here would cross the boundary and abort, so every method is guarded.
impl RawHost for Bridge {
    fn ask(&self, method: RStr<'_>, inputs: RSlice<'_, RStr<'_>>) -> RawReply {
        let texts = inputs.iter().map(|s| s.as_str().to_owned()).collect();
        match catch_panic(|| self.ask_host(method.as_str(), texts)).and_then(|r| r) {
            Ok(text) => RResult::ROk(text.into()),
            Err(failure) => RResult::RErr(encode(&failure).unwrap_or_default().into()),
        }
    }
    fn log(&self, level: u32, message: RStr<'_>) {
        let level = match level {
            0 => LogLevel::Debug,
            1 => LogLevel::Info,
            _ => LogLevel::Warn,
        };
        drop(catch_panic(|| CallHost::log(self, level, message.as_str())));
    }
    fn progress(&self, done: u64, total: u64, what: RStr<'_>) {
        drop(catch_panic(|| CallHost::progress(self, done, total, what.as_str())));
    }
    fn cancelled(&self) -> u32 {
        u32::from(CallHost::is_cancelled(self))
    }
    fn remaining_ms(&self) -> u64 {
        CallHost::remaining_ms(self).unwrap_or(u64::MAX)
    }
}

impl CallHost for Bridge {
    fn ask(&self, question: &str, inputs: &[String]) -> Result<String, Failure> {
        self.ask_host(question, inputs.to_vec())
    }
    fn log(&self, level: LogLevel, message: &str) {
        drop(self.send.send(FromPlugin::Log(level, message.to_owned())));
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        drop(self.send.send(FromPlugin::Progress(done, total, what.to_owned())));
    }
    fn is_cancelled(&self) -> bool {
        self.state.is_cancelled.load(Ordering::Relaxed)
    }
    fn is_given_up(&self) -> bool {
        self.state.is_given_up.load(Ordering::Relaxed)
    }
    fn set_queued(&self, is_queued: bool) {
        self.state.is_queued.store(is_queued, Ordering::SeqCst);
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.deadline.map(|d| {
            u64::try_from(d.saturating_duration_since(Instant::now()).as_millis()).unwrap_or(u64::MAX - 1)
        })
    }
}

/// Settings of a registry.
#[derive(Debug, Clone, Default)]
pub struct RegistrySettings {
    /// Plugins in this process, in the place of those of their ids.
    pub lent: Vec<LentPlugin>,
    /// Limits of calls.
    pub limits: CallLimits,
    /// The clock of [`CallLimits::idle_ms`].
    pub clock: Clock,
    /// Settings of child processes; without them [`planforge_contract::api::Host::worker`] fails with
    /// `host.no-worker`.
    pub worker: Option<WorkerSettings>,
    /// Folder in which [`Registry::info_apart`](crate::Registry::info_apart) keeps descriptions of libraries, by SHA-256 of the file;
    /// without it nothing is kept.
    pub describe_cache: Option<PathBuf>,
    /// True if libraries run in a child process each, which needs [`RegistrySettings::worker`]. Otherwise they run in this
    /// process.
    pub isolate_libraries: bool,
}

impl RegistrySettings {
    /// Settings of a process that serves a plugin to the host. The host's side measures the time without progress.
    pub(crate) fn of_child() -> Self {
        let limits = CallLimits { idle_ms: u64::MAX, ..CallLimits::default() };
        Self { limits, ..Self::default() }
    }
}
