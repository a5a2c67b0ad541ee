//! Scripted plugins that live in the test: they implement the contract's traits, nothing is loaded.

pub(crate) use planforge_testkit::{judge, model, round, sample, stage, table, toml};

use planforge_contract::api::{Environment, Host, Planner, Provider, Translator, Verifier};
use planforge_contract::*;
use planforge_llm::{Llm, LlmOptions, Mode, ModelSettings, ModelTable};
use planforge_pipeline::*;
use planforge_record::{Event, Journal, Lookup, MemoryJournal, comparable_events};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A plugin known to the checker.
pub(crate) fn info(id: &str, kind: PluginKind, roles: &[&str], metrics: &[&str]) -> PluginInfo {
    PluginInfo {
        id: id.to_owned(),
        kind,
        version: "0.1.0".to_owned(),
        contract: 1,
        about: String::new(),
        capabilities: Capabilities::default(),
        roles: roles.iter().map(|r| Declared::new(r, "")).collect(),
        metrics: metrics.iter().map(|m| Declared::new(m, "")).collect(),
        measures: Vec::new(),
        options_schema: serde_json::json!({"type": "object"}),
        secrets: Vec::new(),
        files: Vec::new(),
        folders: Vec::new(),
        suites: vec![],
        servers: vec![],
        commands: Vec::new(),
        max_concurrency: 0,
    }
}

/// Knows the scripted plugins; takes any options.
pub(crate) struct Scripted;

impl Scripted {
    fn all() -> Vec<PluginInfo> {
        use PluginKind::*;
        vec![
            info("provider-openai", Provider, &[], &[]),
            PluginInfo {
                capabilities: Capabilities { worker: true, ..Capabilities::default() },
                ..info("translator-asp", Translator, &["writer"], &[])
            },
            info("translator-actions", Translator, &["writer"], &[]),
            info("translator-describe", Translator, &["writer"], &[]),
            info("translator-direct", Translator, &["writer"], &[]),
            info("translator-edit", Translator, &["writer"], &[]),
            info("translator-thought", Translator, &["writer"], &[]),
            info("translator-reading", Translator, &["writer"], &[]),
            info("verifier-classes", Verifier, &[], &["equivalent", "rating", "fits"]),
            info("verifier-clusters", Verifier, &["critic"], &["size", "votes", "clusters", "questions"]),
            info("verifier-critique", Verifier, &["critic"], &["findings", "errors", "approves", "repeated"]),
            info("verifier-points", Verifier, &["critic"], &["points", "decided"]),
            info("verifier-equivalence", Verifier, &[], &["equivalent"]),
            info("verifier-val", Verifier, &[], &["score", "errors", "clean"]),
            info("verifier-ew", Verifier, &[], &["score", "rating"]),
            info("planner-classical", Planner, &[], &[]),
            info("planner-llm", Planner, &["planner"], &[]),
            PluginInfo {
                capabilities: Capabilities { reference_model: true, ..Capabilities::default() },
                ..info("environment-pddl", Environment, &[], &[])
            },
            info("environment-process", Environment, &[], &[]),
        ]
    }
}

impl Catalogue for Scripted {
    fn ids(&self) -> Vec<String> {
        Self::all().into_iter().map(|i| i.id).collect()
    }
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        Self::all().into_iter().find(|i| i.id == id).ok_or(CatalogueError::Unknown)
    }
    fn check_options(&self, _: &str, _: &JsonObject) -> Vec<OptionProblem> {
        Vec::new()
    }
}

/// Checks a pipeline that must be good.
pub(crate) fn good(text: &str) -> CheckedPipeline {
    let checked = check(text, "test.toml", &Scripted, &[]);
    checked.pipeline.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}

/// Answers at once or later, by what it is asked; never twice in the same order.
#[derive(Default)]
pub(crate) struct ScriptedProvider {
    pub(crate) prompts: Mutex<Vec<String>>,
    pub(crate) asked: AtomicUsize,
    /// Refuses so many of a hundred requests to that model, by what they ask.
    pub(crate) refuses: Option<(&'static str, u64)>,
    /// Interrupts the run when it has been asked that often.
    pub(crate) cancel_at: Option<(usize, Arc<AtomicBool>)>,
}

/// A number that depends on a text.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

impl Provider for ScriptedProvider {
    fn complete(&self, _: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let number = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let question = serde_json::to_string(&request.messages).unwrap();
        self.prompts.lock().unwrap().push(question.clone());
        let seed = request.sampling.seed.unwrap_or_default();
        std::thread::sleep(Duration::from_millis(hash(&format!("{seed}{number}")) % 4));
        if let Some((at, flag)) = &self.cancel_at
            && number >= *at
        {
            flag.store(true, Ordering::SeqCst);
        }
        if self.refuses.is_some_and(|(model, share)| {
            request.model == model && (hash(&format!("{seed} {question}")) >> 24) % 100 < share
        }) {
            return Ok(CompletionResult::ProviderFailure(ProviderFailure {
                class: ProviderFailureClass::BadRequest,
                status: Some(400),
                retry_after_ms: None,
                usage: None,
                message: "scripted refusal".into(),
            }));
        }
        let n = request.sampling.n.unwrap_or(1);
        let replies = (0..n)
            .map(|i| format!("(reply {})", hash(&format!("{question}{seed}{i}")) % 1000))
            .map(|content| Reply::new(content, FinishReason::Stop))
            .collect();
        let usage = Usage {
            prompt_tokens: Some(question.len() as u64),
            completion_tokens: Some(u64::from(n) * 3),
            ..Usage::default()
        };
        Ok(CompletionResult::Replies(Replies {
            replies,
            usage,
            model: "scripted".into(),
            raw: String::new(),
        }))
    }
}

/// A closure as a translator.
pub(crate) struct Translate<F>(pub(crate) F);
impl<F> Translator for Translate<F>
where
    F: Fn(&dyn Host, &TranslateRequest) -> Result<TranslateResponse, Failure> + Send + Sync,
{
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        (self.0)(host, request)
    }
}

/// A closure as a verifier of one candidate.
pub(crate) struct Verify<F>(pub(crate) F);
impl<F> Verifier for Verify<F>
where
    F: Fn(&dyn Host, &Candidate, &VerifyRequest) -> Result<Assessment, Failure> + Send + Sync,
{
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let one = |candidate| (self.0)(host, candidate, request).into();
        Ok(VerifyResponse { results: request.candidates.iter().map(one).collect() })
    }
}

/// A closure as a planner.
pub(crate) struct Plan<F>(pub(crate) F);
impl<F> Planner for Plan<F>
where
    F: Fn(&dyn Host, &PlanRequest) -> Result<PlanOutcome, Failure> + Send + Sync,
{
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        (self.0)(host, request)
    }
}

/// An environment that rejects every plan, with the whole reference in its answer.
pub(crate) struct Talkative;
impl Environment for Talkative {
    fn describe(&self, _: &dyn Host, _: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        Ok(EnvironmentInfo::default())
    }
    fn walks(&self, _: &dyn Host, _: &EnvironmentOpen, _: &WalkSpec) -> Result<Walks, Failure> {
        Ok(Walks::default())
    }
    fn execute(&self, _: &dyn Host, _: &EnvironmentOpen, _: &Sequences) -> Result<ExecutionReport, Failure> {
        Ok(ExecutionReport::default())
    }
    fn validate(
        &self,
        _: &dyn Host,
        task: &EnvironmentOpen,
        _: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        let reasons = vec![task.domain.clone().unwrap_or_default(), task.problem.clone().unwrap_or_default()];
        Ok(EnvironmentVerdict { valid: false, reasons, ..EnvironmentVerdict::default() })
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        Ok(StateDescription::default())
    }
}

/// Asks for `n` replies in the candidate's conversation and takes each as a problem.
pub(crate) fn writer() -> Arc<dyn Translator> {
    Arc::new(Translate(|host: &dyn Host, request: &TranslateRequest| {
        let question = Message::user(format!("{} {:?}", request.task.task_text, request.feedback));
        let mut messages = request.candidate.conversation.clone();
        messages.push(question.clone());
        let sampling = Sampling { n: Some(request.n), ..Sampling::default() };
        let replies = host
            .complete("writer", CompletionRequest { messages, sampling, ..CompletionRequest::default() })?;
        let samples = replies.replies.into_iter().map(|reply| {
            let number: u64 =
                reply.content.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap();
            if number.is_multiple_of(7) {
                return Outcome::Failure(Failure::new(
                    FailureClass::Reply,
                    "test.nothing",
                    "no PDDL in the reply",
                ));
            }
            Outcome::Ok(CandidatePatch {
                problem: Some(reply.content.clone()),
                messages: vec![question.clone(), Message::assistant(reply.content.clone())],
                log_likelihood: Some(-(number as f64)),
                raw_reply: reply.content,
                ..CandidatePatch::default()
            })
        });
        Ok(TranslateResponse { samples: samples.collect() })
    }))
}

/// The number in a scripted problem.
pub(crate) fn number(problem: &str) -> u64 {
    problem.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

/// Scores a candidate by its number modulo 5, and decides by its number modulo 4.
pub(crate) fn judge() -> Arc<dyn Verifier> {
    Arc::new(Verify(|_: &dyn Host, candidate: &Candidate, request: &VerifyRequest| {
        let number = number(candidate.problem.as_deref().unwrap_or_default());
        std::thread::sleep(Duration::from_millis(request.seed % 3));
        let decision = match number % 4 {
            0 => Decision::Rejected,
            1 => Decision::Undecided { reason: UndecidedReason::Limit, message: "out of time".into() },
            _ => Decision::Accepted,
        };
        let mut assessment = Assessment::new(decision, format!("number {number}"));
        assessment.metrics.insert("score".into(), (number % 5) as f64);
        assessment.feedback.push(format!("{number} is not enough"));
        Ok(assessment)
    }))
}

/// A plan of as many steps as the number says, or a limit.
pub(crate) fn planner() -> Arc<dyn Planner> {
    Arc::new(Plan(|_: &dyn Host, request: &PlanRequest| {
        let number = number(&request.problem);
        std::thread::sleep(Duration::from_millis(number % 3));
        if number.is_multiple_of(3) {
            return Ok(PlanOutcome::LimitReached {
                limit: LimitKind::Time,
                message: "out of time".into(),
                plans: Vec::new(),
                statistics: SearchStatistics::default(),
            });
        }
        Ok(one_plan((0..number % 6).map(|i| format!("(step{i} a)")).collect()))
    }))
}

/// A plan with those steps.
pub(crate) fn one_plan(steps: Vec<String>) -> PlanOutcome {
    let cost = Some(steps.len() as f64);
    PlanOutcome::Plan {
        plans: vec![PlanDocument { steps, cost, ..PlanDocument::default() }],
        optimal: false,
        statistics: SearchStatistics::default(),
    }
}

/// A run being put together.
pub(crate) struct Bench {
    pub(crate) pipeline: CheckedPipeline,
    pub(crate) provider: Arc<ScriptedProvider>,
    pub(crate) instances: Instances,
    pub(crate) cancelled: Arc<AtomicBool>,
}

impl Bench {
    /// The usual scripted plugin for every stage.
    pub(crate) fn new(text: &str) -> Self {
        let pipeline = good(text);
        let mut instances = Instances::default();
        for stage in pipeline.config.all_stages() {
            let Some((id, _)) = stage.plugin() else { continue };
            let instance = match stage.kind() {
                StageKind::Translate => StageInstance::Translator(writer()),
                StageKind::Verify => StageInstance::Verifier(judge()),
                _ => StageInstance::Planner(planner()),
            };
            instances.stages.insert(stage.label().to_owned(), (Scripted.info(id).unwrap(), instance));
        }
        if let Some(table) = &pipeline.config.environment {
            instances.environment = Some((Scripted.info(&table.plugin).unwrap(), Arc::new(Talkative)));
        }
        let provider = Arc::new(ScriptedProvider::default());
        Self { pipeline, provider, instances, cancelled: Arc::new(AtomicBool::new(false)) }
    }

    /// Replaces the plugin of one stage.
    pub(crate) fn stage(mut self, label: &str, instance: StageInstance) -> Self {
        self.instances.stages.get_mut(label).expect("a label of the pipeline").1 = instance;
        self
    }

    pub(crate) fn services(
        &self,
        journal: Arc<dyn Journal>,
        sources: Vec<Arc<dyn Lookup>>,
        mode: Mode,
        jobs: usize,
    ) -> Services {
        let mut options = LlmOptions::new(Arc::clone(&journal));
        options.run_seed = self.pipeline.config.seed;
        options.mode = mode;
        options.cassettes = sources.clone();
        let flag = Arc::clone(&self.cancelled);
        options.cancelled = Arc::new(move || flag.load(Ordering::SeqCst));
        let provider: Option<Arc<dyn Provider>> = match mode {
            Mode::Live | Mode::Record => Some(Arc::clone(&self.provider) as _),
            _ => None,
        };
        for (name, table) in &self.pipeline.config.llm {
            let model = table.settings.get("model").and_then(|model| model.as_str()).unwrap_or("scripted");
            let mut config = ModelSettings::new("provider-openai", model);
            config.max_concurrency = 16;
            config.max_calls = table.settings.get("max_calls").and_then(serde_json::Value::as_u64);
            options.tables.insert(name.clone(), ModelTable::new(config, provider.clone()));
        }
        let flag = Arc::clone(&self.cancelled);
        Services {
            instances: self.instances.clone(),
            llm: Arc::new(Llm::new(options).unwrap()),
            journal,
            sources,
            mode,
            jobs,
            cancelled: Arc::new(move || flag.load(Ordering::SeqCst)),
            observer: None,
            now: Arc::new(|| "2026-01-01T00:00:00Z".to_owned()),
        }
    }

    /// Runs live over a journal.
    pub(crate) fn run_on(&self, journal: &Arc<MemoryJournal>, tasks: &[RunTask], jobs: usize) -> RunReport {
        let services = self.services(Arc::clone(journal) as _, Vec::new(), Mode::Live, jobs);
        run(&self.pipeline, tasks, &services).unwrap()
    }

    /// Runs live over a fresh journal.
    pub(crate) fn run(&self, tasks: &[RunTask], jobs: usize) -> (RunReport, Arc<MemoryJournal>) {
        let journal = Arc::new(MemoryJournal::default());
        (self.run_on(&journal, tasks, jobs), journal)
    }

    /// Replays a journal: no provider, no network.
    pub(crate) fn replay(
        &self,
        recorded: &Arc<MemoryJournal>,
        tasks: &[RunTask],
    ) -> (RunReport, Arc<MemoryJournal>) {
        let journal = Arc::new(MemoryJournal::default());
        let sources: Vec<Arc<dyn Lookup>> = vec![Arc::clone(recorded) as _];
        let services = self.services(Arc::clone(&journal) as _, sources, Mode::Replay, 4);
        (run(&self.pipeline, tasks, &services).unwrap(), journal)
    }
}

/// Tasks whose reference is a few words.
pub(crate) fn tasks(n: usize) -> Vec<RunTask> {
    let task = |i: usize| RunTask {
        name: format!("toys.p{i:02}"),
        view: TaskView {
            suite: "toys".into(),
            task: format!("p{i:02}"),
            domain_text: "toys".into(),
            task_text: format!("task {i}"),
            given: Given { domain: Some("(domain)".into()), problem: None },
            action_interface: None,
            materials: Materials::default(),
        },
        reference: EnvironmentOpen {
            suite: "toys".into(),
            task: format!("p{i:02}"),
            domain: Some("(domain)".into()),
            problem: Some("(problem)".into()),
            ..EnvironmentOpen::default()
        },
        picture: None,
        renaming: None,
        not_given: Vec::new(),
    };
    (1..=n).map(task).collect()
}

/// A report as bytes.
pub(crate) fn bytes(report: &RunReport) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

/// Copies events with the blobs that they name.
pub(crate) fn copy(from: &MemoryJournal, events: &[Event], to: &MemoryJournal) {
    for event in events {
        let text = serde_json::to_value(event).unwrap();
        let names = text.as_object().unwrap().values().filter_map(|v| v.as_str());
        for name in names.filter(|n| n.len() == 64) {
            if let Ok(blob) = from.get(name) {
                to.put(&blob).unwrap();
            }
        }
        to.append(event).unwrap();
    }
}

/// The contents of a journal, without the events that belong to a session.
pub(crate) fn story(journal: &MemoryJournal) -> String {
    let session = |e: &Event| matches!(e, Event::SessionStarted { .. } | Event::SessionFinished { .. });
    let events: Vec<Event> = journal.events().into_iter().filter(|e| !session(e)).collect();
    comparable_events(&events)
}

/// Checks that several jobs, and a replay without requests, give the bytes of one job, which are returned.
pub(crate) fn jobs_and_replays_change_nothing(
    make: impl Fn() -> Bench,
    tasks: &[RunTask],
    jobs: &[usize],
) -> (RunReport, Arc<MemoryJournal>) {
    let (one, journal) = make().run(tasks, 1);
    for &jobs in jobs {
        let (many, of_many) = make().run(tasks, jobs);
        assert_eq!(bytes(&one), bytes(&many), "{jobs} jobs");
        assert_eq!(story(&journal), story(&of_many), "{jobs} jobs");
        let bench = make();
        assert_eq!(bytes(&one), bytes(&bench.replay(&of_many, tasks).0), "a replay of {jobs} jobs");
        assert_eq!(bench.provider.asked.load(Ordering::SeqCst), 0, "a replay asks nobody");
    }
    (one, journal)
}

/// A run that goes on after a crash behind any event comes to the same, and nothing is paid for twice. Gives the events back.
pub(crate) fn crashes_lose_nothing(make: impl Fn() -> Bench, tasks: &[RunTask]) -> Vec<Event> {
    let (whole, journal) = make().run(tasks, 1);
    let events = journal.events();
    let paid = |events: &[Event]| events.iter().filter(|e| matches!(e, Event::Completion(_))).count();
    assert!(paid(&events) > 0, "the run asks a model");
    for cut in 0..=events.len() {
        let torn = Arc::new(MemoryJournal::default());
        copy(&journal, &events[..cut], &torn);
        let bench = make();
        let resumed = bench.run_on(&torn, tasks, 4);
        assert_eq!(bytes(&whole), bytes(&resumed), "cut after event {cut}");
        assert_eq!(story(&journal), story(&torn), "cut after event {cut}");
        let asked = bench.provider.asked.load(Ordering::SeqCst);
        assert_eq!(asked, paid(&events) - paid(&events[..cut]), "cut after event {cut}");
    }
    events
}
