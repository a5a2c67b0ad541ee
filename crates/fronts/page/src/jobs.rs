//! Long work: a few jobs at a time, each with its events, its questions and its end.

use crate::error::{Refusal, bug, error_event};
use crate::log::{EventLog, short};
use crate::threads::spawn;
use http::StatusCode;
use planforge_app::{
    AskedOnce, Cancellation, ConsentRequest, Context, Error, Event, Events, ModelUse, Question, Questions,
    Status,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Most jobs that work at a time. One that waits for a person does not count.
const MAX_WORKING: usize = 4;
/// Most jobs that wait for their turn.
const MAX_QUEUED: usize = 32;
/// Most jobs that have not ended.
const MAX_OPEN: usize = 64;
/// Jobs that have ended and are still shown.
const MAX_ENDED: usize = 50;
/// The interval at which a question looks for the end of its job.
const POLL: Duration = Duration::from_millis(50);

/// Shortest time between two events about the use of models.
const COST_EVERY: Duration = Duration::from_millis(250);

/// The work of a job: its status and its result as a document.
pub(crate) type Work = Box<dyn FnOnce(&Context) -> Result<(Status, Value), Error> + Send>;

/// Work with its context.
type ReadyWork = Box<dyn FnOnce() -> Result<(Status, Value), Error> + Send>;

/// State of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum JobState {
    Queued,
    Working,
    /// It waits for an answer of a person.
    Waiting,
    Ended,
    Stopped,
    Failed,
}

impl JobState {
    /// False once the job has ended, which is for good.
    fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Working | Self::Waiting)
    }
}

/// A job.
pub(crate) struct Job {
    number: u64,
    what: &'static str,
    title: String,
    /// Milliseconds since 1970.
    started_at: u64,
    pub(crate) log: Arc<EventLog>,
    /// The folder of the page, to which shown folders are relative.
    root: PathBuf,
    cancellation: Cancellation,
    now: Mutex<Now>,
}

/// The part of a job that changes.
struct Now {
    state: JobState,
    /// The first line of the result.
    line: Option<String>,
    folder: Option<String>,
    /// Questions that wait, by name, with the receiver of the answer.
    open: BTreeMap<String, Sender<Value>>,
    /// Answers that count, by the name of the question.
    answered: BTreeMap<String, Value>,
    asked: u32,
    /// Questions that wait for a person.
    waits: u32,
    /// Counted in [`Table::working`], whose lock is held where this changes.
    has_place: bool,
    /// The use of models, by run.
    used: BTreeMap<u64, ModelUse>,
    /// The time of the last event about it.
    cost_sent: Option<Instant>,
}

/// A job in a list.
#[derive(Serialize)]
pub(crate) struct ListedJob {
    job: String,
    #[serde(rename = "use")]
    what: &'static str,
    title: String,
    state: JobState,
    started_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
}

impl Job {
    pub(crate) fn id(&self) -> String {
        format!("j{}", self.number)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_folder(&self, folder: &Path) {
        let folder = folder.strip_prefix(&self.root).unwrap_or(folder);
        self.now().folder = Some(folder.display().to_string());
    }

    /// Changes the state. A job that has ended stays so.
    fn set_state(&self, state: JobState) {
        let mut now = self.now();
        if !now.state.is_open() {
            return;
        }
        now.state = state;
        drop(now);
        self.log.push(&json!({ "kind": "state", "state": state }));
    }

    /// Says what was used so far.
    fn push_cost(&self, mut now: MutexGuard<'_, Now>) {
        now.cost_sent = Some(Instant::now());
        let mut sum = ModelUse::default();
        now.used.values().for_each(|used| sum += *used);
        drop(now);
        let mut cost = json!(sum);
        cost["kind"] = "cost".into();
        self.log.push(&cost);
    }

    fn is_open(&self) -> bool {
        self.now().state.is_open()
    }

    fn listed(&self) -> ListedJob {
        let now = self.now();
        ListedJob {
            job: self.id(),
            what: self.what,
            title: self.title.clone(),
            state: now.state,
            started_at: self.started_at,
            line: now.line.clone(),
            folder: now.folder.clone(),
        }
    }

    /// Gives a question its answer.
    ///
    /// # Errors
    /// 409 `page.answered` with the answer that counts; 404 if there is no such question.
    pub(crate) fn answer(&self, key: &str, name: &str, answer: Value) -> Result<(), Refusal> {
        let mut now = self.now();
        if let Some(counts) = now.answered.get(name) {
            let message = "the question is answered already, perhaps in another tab";
            let help = "the answer that counts stands beside this message";
            let refusal = Refusal::new(StatusCode::CONFLICT, "page.answered", message, help);
            return Err(refusal.with("answer", counts.clone()));
        }
        let Some(receiver) = now.open.remove(name) else {
            return Err(Refusal::missing(format!("the job does not ask `{name}`")));
        };
        now.answered.insert(name.to_owned(), answer.clone());
        drop(now);
        let (kind, value) = if key == "consent" { ("consented", "allow") } else { ("answered", "answer") };
        self.log.push(&json!({ "kind": kind, key: name, value: answer.clone() }));
        // The job may have ended meanwhile.
        let _ = receiver.send(answer);
        Ok(())
    }
}

/// All jobs.
pub(crate) struct Jobs {
    table: Mutex<Table>,
    /// A place to work may be free.
    room: Condvar,
}

#[derive(Default)]
struct Table {
    jobs: BTreeMap<u64, Arc<Job>>,
    queue: VecDeque<(Arc<Job>, ReadyWork)>,
    working: usize,
    /// Jobs that have their answer and wait for a place. They come before those of the queue.
    returning: usize,
    last: u64,
}

impl Jobs {
    /// Jobs are numbered from the one after `last`.
    pub(crate) fn new(last: u64) -> Arc<Self> {
        Arc::new(Self { table: Mutex::new(Table { last, ..Table::default() }), room: Condvar::new() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts work, or lets it wait for its turn.
    ///
    /// # Errors
    /// 429 `page.busy`.
    pub(crate) fn start(
        self: &Arc<Self>,
        context: &Context,
        (what, title, folder): (&'static str, String, Option<String>),
        work: Work,
    ) -> Result<Arc<Job>, Refusal> {
        let started_at = context.machine.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let mut table = self.table();
        let open: Vec<&Arc<Job>> = table.jobs.values().filter(|job| job.is_open()).collect();
        if table.queue.len() >= MAX_QUEUED || open.len() >= MAX_OPEN {
            return Err(Refusal::busy(format!("{} jobs work or wait", open.len())));
        }
        if let Some(other) = open.iter().find(|job| folder.is_some() && job.now().folder == folder) {
            let message = format!("the job `{}` works in this folder", other.title);
            let help = "wait for its end, or stop it";
            return Err(Refusal::new(StatusCode::CONFLICT, "page.busy", message, help));
        }
        table.last += 1;
        let job = Arc::new(Job {
            number: table.last,
            what,
            title,
            started_at: u64::try_from(started_at).unwrap_or(u64::MAX),
            log: EventLog::new(),
            root: context.folder.clone(),
            cancellation: Cancellation::default(),
            now: Mutex::new(Now {
                state: JobState::Queued,
                line: None,
                folder,
                open: BTreeMap::new(),
                answered: BTreeMap::new(),
                asked: 0,
                waits: 0,
                has_place: false,
                used: BTreeMap::new(),
                cost_sent: None,
            }),
        });
        job.log.push(&json!({ "kind": "state", "state": JobState::Queued }));
        table.jobs.insert(job.number, Arc::clone(&job));
        let ended: Vec<u64> =
            table.jobs.values().filter(|job| !job.is_open()).map(|job| job.number).collect();
        for number in ended.iter().rev().skip(MAX_ENDED) {
            table.jobs.remove(number);
        }
        let context = job_context(self, context, &job);
        table.queue.push_back((Arc::clone(&job), Box::new(move || work(&context))));
        self.fill(&mut table);
        Ok(job)
    }

    /// Starts waiting jobs while there is room.
    fn fill(self: &Arc<Self>, table: &mut Table) {
        self.room.notify_all();
        while table.working + table.returning < MAX_WORKING {
            let Some((job, work)) = table.queue.pop_front() else { return };
            table.working += 1;
            job.now().has_place = true;
            let (jobs, worker) = (Arc::clone(self), Arc::clone(&job));
            let started = spawn(move || {
                run(&worker, work);
                jobs.leave_place(&worker);
            });
            if let Err(refusal) = started {
                table.working -= 1;
                job.now().has_place = false;
                end(&job, Err(Error::usage(refusal.text(), None)));
            }
        }
    }

    /// Lets another job work: this one has ended, or waits for a person.
    fn leave_place(self: &Arc<Self>, job: &Job) {
        let mut table = self.table();
        if std::mem::take(&mut job.now().has_place) {
            table.working -= 1;
            self.fill(&mut table);
        }
    }

    /// Waits until there is room for a job that has its answer. One that is stopped ends at once, so it needs none.
    fn take_place(&self, job: &Job) {
        let mut table = self.table();
        table.returning += 1;
        while table.working >= MAX_WORKING && !job.cancellation.is_cancelled() && !job.now().has_place {
            let waited = self.room.wait_timeout(table, POLL);
            table = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        table.returning -= 1;
        // Another question of the job may have taken the place meanwhile.
        if !std::mem::replace(&mut job.now().has_place, true) {
            table.working += 1;
        }
    }

    /// All jobs, newest first.
    pub(crate) fn list(&self) -> Vec<ListedJob> {
        self.table().jobs.values().rev().map(|job| job.listed()).collect()
    }

    /// # Errors
    /// 404: there is no such job.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<Job>, Refusal> {
        let number = id.strip_prefix('j').and_then(|digits| digits.parse().ok());
        let job = number.and_then(|number: u64| self.table().jobs.get(&number).cloned());
        job.ok_or_else(|| Refusal::missing(format!("there is no job `{id}`")))
    }

    /// Ends a job: work completes its record, and a job that waits for its turn does not begin.
    pub(crate) fn stop(&self, job: &Arc<Job>) {
        job.cancellation.cancel();
        let mut table = self.table();
        let before = table.queue.len();
        table.queue.retain(|(queued, _)| queued.number != job.number);
        let was_queued = table.queue.len() < before;
        drop(table);
        if was_queued {
            job.set_state(JobState::Stopped);
            job.log.close();
        }
    }
}

fn run(job: &Job, work: ReadyWork) {
    job.set_state(JobState::Working);
    // The panic hook has printed the message and its place.
    let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(bug()));
    end(job, result);
}

fn end(job: &Job, result: Result<(Status, Value), Error>) {
    let now = job.now();
    if now.used.is_empty() {
        drop(now);
    } else {
        job.push_cost(now);
    }
    let state = match (&result, job.cancellation.is_cancelled()) {
        (_, true) => JobState::Stopped,
        (Ok(_), false) => JobState::Ended,
        (Err(_), false) => JobState::Failed,
    };
    match result {
        Ok((status, result)) => {
            job.now().line = result["line"].as_str().map(str::to_owned);
            if let Some(folder) = result["folder"].as_str() {
                job.set_folder(Path::new(folder));
            }
            job.log.push(&json!({ "kind": "result", "status": status as u8, "result": result }));
        }
        Err(error) => {
            let event = error_event(&error);
            job.now().line = event["error"]["message"].as_str().map(str::to_owned);
            job.log.push(&event);
        }
    }
    job.set_state(state);
    job.log.close();
}

/// The context of a job's use case.
fn job_context(jobs: &Arc<Jobs>, context: &Context, job: &Arc<Job>) -> Context {
    let person = Arc::new(Person { jobs: Arc::clone(jobs), job: Arc::clone(job) });
    // The options of the command decide first.
    let (allowed, asked) = (Arc::clone(&context.consent), Arc::clone(&person));
    let consent = AskedOnce::new(
        move |request: &ConsentRequest| allowed.allows(request),
        move |request: &ConsentRequest| asked.decide(request),
    );
    Context {
        cancellation: job.cancellation.clone(),
        consent: Arc::new(consent),
        questions: Some(Arc::clone(&person) as Arc<dyn Questions>),
        events: person,
        receiver: planforge_app::ReceiverState::default(),
        ..context.clone()
    }
}

/// The person at the page, for one job.
struct Person {
    jobs: Arc<Jobs>,
    job: Arc<Job>,
}

impl Person {
    /// Asks at the page. `None` if the job was stopped first.
    fn ask(&self, key: &str, prefix: &str, event: Value) -> Option<Value> {
        let (sender, receiver) = mpsc::channel();
        let name = {
            let mut now = self.job.now();
            now.asked += 1;
            now.waits += 1;
            let name = format!("{prefix}{}", now.asked);
            now.open.insert(name.clone(), sender);
            name
        };
        let mut event = event;
        event["kind"] = key.into();
        event[key] = name.clone().into();
        self.job.log.push(&event);
        self.job.set_state(JobState::Waiting);
        self.jobs.leave_place(&self.job);
        let answer = loop {
            match receiver.recv_timeout(POLL) {
                Ok(answer) => break Some(answer),
                Err(RecvTimeoutError::Timeout) if !self.job.cancellation.is_cancelled() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break None,
            }
        };
        let is_last = {
            let mut now = self.job.now();
            now.open.remove(&name);
            now.waits -= 1;
            now.waits == 0
        };
        if is_last {
            self.jobs.take_place(&self.job);
            if answer.is_some() {
                self.job.set_state(JobState::Working);
            }
        }
        answer
    }

    /// Asks for consent. A job that is stopped first has none.
    fn decide(&self, request: &ConsentRequest) -> bool {
        let what = match request {
            ConsentRequest::Connect { .. } => "connect",
            ConsentRequest::TrustAuthority { .. } => "trust",
            ConsentRequest::StartProgram { .. } => "start",
        };
        let answer = self.ask("consent", "c", json!({ "text": format!("{request}."), "what": what }));
        answer.as_ref().and_then(Value::as_bool).unwrap_or(false)
    }
}

impl Questions for Person {
    fn answer(&self, question: &Question) -> Option<String> {
        let answer = self.ask("question", "q", json!(question))?;
        answer.as_str().map(str::to_owned)
    }
}

impl Events for Person {
    fn receive(&self, event: &Event<'_>) {
        if let Event::Used { run, used } = event {
            let mut now = self.job.now();
            now.used.insert(*run, *used);
            if now.cost_sent.is_none_or(|at| at.elapsed() >= COST_EVERY) {
                self.job.push_cost(now);
            }
            return;
        }
        self.job.log.push_timed(short(event.to_json()));
        if let Event::RunStarted { folder: Some(folder), .. } = event
            && self.job.now().folder.is_none()
        {
            self.job.set_folder(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const GUARD: Duration = Duration::from_secs(120);

    fn ask(context: &Context) -> Option<String> {
        let question = Question { text: "Which?".to_owned(), ..Question::default() };
        context.questions.as_ref()?.answer(&question)
    }

    fn start(jobs: &Arc<Jobs>, work: impl FnOnce(&Context) + Send + 'static) -> Arc<Job> {
        let work: Work = Box::new(move |context| {
            work(context);
            Ok((Status::Good, Value::Null))
        });
        jobs.start(&Context::default(), ("plan", "a plan".to_owned(), None), work).unwrap()
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < GUARD);
            std::thread::yield_now();
        }
    }

    #[test]
    fn jobs_that_have_their_answer_wait_until_fewer_than_four_work() {
        let jobs = Jobs::new(0);
        let (at_work, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let all: Vec<_> = (0..12)
            .map(|_| {
                let (at_work, most) = (Arc::clone(&at_work), Arc::clone(&most));
                start(&jobs, move |context| {
                    ask(context);
                    most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    // Time for the others, if they need none of these places.
                    std::thread::sleep(Duration::from_millis(50));
                    at_work.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        let waits = |job: &Arc<Job>| job.now().state == JobState::Waiting;
        wait_until(|| all.iter().all(waits) && jobs.table().working == 0);
        for job in &all {
            job.answer("question", "q1", json!("this one")).unwrap();
        }
        wait_until(|| jobs.table().working == 0 && all.iter().all(|job| !job.is_open()));
        let most = most.load(Ordering::SeqCst);
        assert!(most <= MAX_WORKING, "{most}");
    }

    #[test]
    fn two_questions_of_a_job_leave_and_take_one_place() {
        let jobs = Jobs::new(0);
        let job = start(&jobs, |context| {
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| ask(context));
                }
            });
        });
        wait_until(|| job.now().open.len() == 2 && jobs.table().working == 0);
        job.answer("question", "q1", json!("one")).unwrap();
        job.answer("question", "q2", json!("two")).unwrap();
        wait_until(|| !job.is_open() && jobs.table().working == 0);
        assert_eq!(job.now().state, JobState::Ended);
    }
}
