//! An instance that a program serves.

use super::connection::{CallHost, Connection, NoResult};
use super::process::Program;
use super::wire;
use planforge_contract::api::LogLevel;
use planforge_contract::{CreateRequest, Failure, FailureClass, PluginKind, encode};
use std::sync::{Arc, LockResult, Mutex, PoisonError};

/// One instance: its options, and the start of the program in which it was last created.
pub(crate) struct ProgramInstance {
    program: Arc<Program>,
    kind: PluginKind,
    number: u64,
    /// The inside of the parameters of `plugin/create`.
    create: String,
    created_in: Mutex<u64>,
}

/// The answers that a call has got from the host. A call that is repeated gets the same ones again, so that a repetition
/// sends no second request to a model.
#[derive(Default)]
struct GivenAnswers(Mutex<Vec<GivenAnswer>>);

struct GivenAnswer {
    question: String,
    inputs: Vec<String>,
    answer: Result<String, Failure>,
    /// True once the present attempt has got it.
    is_used: bool,
}

impl ProgramInstance {
    /// Gate `plugin.create`.
    pub(crate) fn new(
        program: &Arc<Program>,
        kind: PluginKind,
        request: &CreateRequest,
    ) -> Result<Self, Failure> {
        let text = encode(request).map_err(|e| Failure::new(FailureClass::Request, "plugin.create", e))?;
        let number = program.next_instance();
        let body = wire::body(&text);
        let fields = body.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or_default();
        let create = format!(r#""instance":{number},{fields}"#);
        let instance = Self { program: Arc::clone(program), kind, number, create, created_in: Mutex::new(0) };
        instance.beside_others(None, || instance.connect()).map_err(|mut failure| {
            failure.message = format!("`{}` could not be made: {}", instance.program.id, failure.message);
            failure
        })?;
        Ok(instance)
    }

    /// The connection to the program, in which the instance exists.
    fn connect(&self) -> Result<Arc<Connection>, NoResult> {
        let mut created_in = self.created_in.lock().unwrap_or_else(PoisonError::into_inner);
        let (connection, start) = self.program.connect().map_err(NoResult::Failed)?;
        if *created_in != start {
            connection.call(wire::CREATE, &self.create, None, self.program.create_deadline())?;
            *created_in = start;
        }
        Ok(connection)
    }

    /// Calls a method with its documents in their envelopes; the result is a document in its envelope.
    pub(crate) fn call(
        &self,
        method: &str,
        inputs: &[String],
        host: &dyn CallHost,
    ) -> Result<String, Failure> {
        let names = wire::input_names(method);
        let bodies =
            names.iter().zip(inputs).map(|(name, text)| format!(r#","{name}":{}"#, wire::body(text)));
        let remaining = host.remaining_ms().map(|ms| format!(r#","remaining_ms":{ms}"#)).unwrap_or_default();
        let params = format!(r#""instance":{}{remaining}{}"#, self.number, bodies.collect::<String>());
        let given = GivenAnswers::default();
        let recorded = Recorded { host, given: &given };
        let value = self.beside_others(Some(host), || {
            given.restart();
            self.connect()?.call(method, &params, Some(&recorded), None)
        })?;
        wire::result_document(self.kind, method, &value).ok_or_else(|| {
            let text = format!("a {} has no method `{method}`", self.kind);
            Failure::new(FailureClass::Plugin, "plugin.method", text)
        })
    }

    /// Exchanges messages with the program while other calls do. If another one may have ended the program, the exchange is
    /// repeated: alone, to find the one that did.
    fn beside_others<T>(
        &self,
        host: Option<&dyn CallHost>,
        exchange: impl Fn() -> Result<T, NoResult>,
    ) -> Result<T, Failure> {
        let turn = queued(host, || self.program.turn.read());
        let first = exchange();
        drop(turn);
        let is_needed = !host.is_some_and(CallHost::is_given_up);
        let result = match first {
            Err(NoResult::Ended(_) | NoResult::EndedBefore(_)) if is_needed => {
                let _alone = queued(host, || self.program.turn.write());
                exchange()
            }
            result => result,
        };
        result.map_err(Failure::from)
    }
}

/// Waits for a turn; the host, if there is one, knows that the call waits.
fn queued<G>(host: Option<&dyn CallHost>, turn: impl FnOnce() -> LockResult<G>) -> G {
    let set_queued = |is_queued| host.into_iter().for_each(|host| host.set_queued(is_queued));
    set_queued(true);
    let guard = turn().unwrap_or_else(PoisonError::into_inner);
    set_queued(false);
    guard
}

impl Drop for ProgramInstance {
    fn drop(&mut self) {
        let created_in = *self.created_in.lock().unwrap_or_else(PoisonError::into_inner);
        let running = self.program.running();
        if let Some(connection) = running.connection.as_ref().filter(|_| running.starts == created_in) {
            connection.notify_close(self.number);
        }
    }
}

impl GivenAnswers {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<GivenAnswer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Offers all answers again.
    fn restart(&self) {
        self.lock().iter_mut().for_each(|given| given.is_used = false);
    }
}

/// The host of a call, with its answers kept.
struct Recorded<'c> {
    host: &'c dyn CallHost,
    given: &'c GivenAnswers,
}

impl CallHost for Recorded<'_> {
    fn ask(&self, question: &str, inputs: &[String]) -> Result<String, Failure> {
        let is_same =
            |given: &&mut GivenAnswer| !given.is_used && given.question == question && given.inputs == inputs;
        if let Some(given) = self.given.lock().iter_mut().find(is_same) {
            given.is_used = true;
            return given.answer.clone();
        }
        let answer = self.host.ask(question, inputs);
        self.given.lock().push(GivenAnswer {
            question: question.to_owned(),
            inputs: inputs.to_vec(),
            answer: answer.clone(),
            is_used: true,
        });
        answer
    }
    fn log(&self, level: LogLevel, message: &str) {
        self.host.log(level, message);
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.host.progress(done, total, what);
    }
    fn is_cancelled(&self) -> bool {
        self.host.is_cancelled()
    }
    fn is_given_up(&self) -> bool {
        self.host.is_given_up()
    }
    fn set_queued(&self, is_queued: bool) {
        self.host.set_queued(is_queued);
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.host.remaining_ms()
    }
}
