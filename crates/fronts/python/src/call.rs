//! One call of a use case: it works on its own thread, and the calling thread serves signals, events, questions and the model.

use crate::model::PythonModel;
use crate::plugin::PluginClass;
use crate::port::{Answer, Message, POLL, Port};
use planforge_app::contract::api::Provider;
use planforge_app::contract::{Failure, FailureClass};
use planforge_app::{
    AllowedByOptions, AskedOnce, Cancellation, ConsentDecision, Context, Error, Event, PluginSettings,
    Question, Status, WorkerCommand,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};

pyo3::create_exception!(
    _native,
    NativeError,
    pyo3::exceptions::PyException,
    "The error of a use case; its argument is JSON."
);

/// Cancels a call from another thread.
#[pyclass(frozen)]
#[derive(Default)]
pub(crate) struct NativeCancellation(Cancellation);

#[pymethods]
impl NativeCancellation {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ends the call, which completes its record.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// True after `cancel`.
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// What Python supplies to a call. Extracted from a dict with these keys.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Surroundings {
    variables: BTreeMap<String, String>,
    plugins: Vec<PathBuf>,
    plugin_classes: Vec<PluginClass>,
    isolate_plugins: bool,
    worker: Option<(PathBuf, Vec<String>)>,
    allow_hosts: Vec<String>,
    allow_commands: bool,
    /// Changes of pipeline files that the caller wrote.
    set: Vec<String>,
    /// `(text: str) -> bool`
    consent: Option<Py<PyAny>>,
    /// `(event: str) -> None`, with the event as JSON.
    on_event: Option<Py<PyAny>>,
    /// `(text: str, choices: list[str]) -> str | None`
    ask: Option<Py<PyAny>>,
    /// `(request: str) -> str`, both JSON.
    model: Option<Py<PyAny>>,
    model_name: String,
    /// Most requests to the model at a time.
    parallel: usize,
    cancellation: Option<Py<NativeCancellation>>,
}

/// The result of a use case as an answer.
///
/// # Errors
/// The result has no JSON form.
pub(crate) fn answer<T: Serialize>(status: Status, result: &T) -> Result<Answer, Error> {
    let json = serde_json::to_string(result)
        .map_err(|error| Failure::new(FailureClass::System, "python.result", error.to_string()))?;
    Ok((status as u8, json))
}

impl Surroundings {
    /// The context of a use case.
    fn context(&self, py: Python<'_>, port: &Port) -> Result<Context, Error> {
        let options = AllowedByOptions::new(&self.allow_hosts, self.allow_commands)?;
        let options = options.allow_typed_addresses(&self.set);
        let consent: Arc<dyn ConsentDecision> = match self.consent {
            Some(_) => {
                let port = port.clone();
                Arc::new(AskedOnce::new(options, move |request| {
                    port.ask(|sender| Message::Consent(request.clone(), sender)).unwrap_or(false)
                }))
            }
            None => Arc::new(options),
        };
        let worker = self.worker.clone();
        let mut context = Context {
            cancellation: port.cancellation.clone(),
            consent,
            variables: Arc::new(self.variables.clone()),
            plugins: PluginSettings {
                search_path: self.plugins.clone(),
                isolate: self.isolate_plugins,
                worker: worker.map(|(executable, arguments)| WorkerCommand { executable, arguments }),
                lent: self.plugin_classes.iter().map(|class| class.lend(py)).collect::<Result<_, _>>()?,
            },
            client_model_name: self.model_name.clone(),
            ..Context::default()
        };
        if self.on_event.is_some() {
            let messages = port.messages.clone();
            context.events = Arc::new(move |event: &Event<'_>| {
                // The receiver is gone after an interrupt.
                drop(messages.send(Message::Event(event.to_json().to_string())));
            });
        }
        if self.ask.is_some() {
            context.questions = Some(Arc::new(port.clone()));
        }
        if let Some(model) = &self.model {
            let model = PythonModel::new(port.clone(), model.clone_ref(py), self.parallel);
            context.client_model = Some(Arc::new(model) as Arc<dyn Provider>);
        }
        Ok(context)
    }

    /// Calls the function of the caller that a message is for, and sends its answer. Its exception ends the call.
    fn serve(&self, py: Python<'_>, message: Message, process: u32) -> PyResult<()> {
        let answered = self.call_function(py, &message);
        if std::process::id() != process {
            // In the child of a fork, the threads that may hold the locks of the channels do not exist.
            std::mem::forget(message);
            return answered.map(drop);
        }
        // An answer that nobody waits for any more is dropped.
        let _ = match (message, answered?) {
            (Message::Consent(_, sender), Answered::Consent(allows)) => sender.send(allows).ok(),
            (Message::Question(_, sender), Answered::Question(answer)) => sender.send(answer).ok(),
            (Message::Request(_, sender), Answered::Request(completed)) => sender.send(completed).ok(),
            _ => None,
        };
        Ok(())
    }

    fn call_function(&self, py: Python<'_>, message: &Message) -> PyResult<Answered> {
        match (message, &self.on_event, &self.consent, &self.ask, &self.model) {
            (Message::Event(event), Some(on_event), ..) => {
                on_event.call1(py, (event,))?;
                Ok(Answered::Nothing)
            }
            (Message::Consent(request, _), _, Some(consent), ..) => {
                let answer = consent.call1(py, (request.to_string(),))?;
                allows(answer.bind(py)).map(Answered::Consent)
            }
            (Message::Question(Question { text, choices, .. }, _), _, _, Some(ask), _) => {
                Ok(Answered::Question(ask.call1(py, (text, choices))?.extract(py)?))
            }
            (Message::Request(request, _), .., Some(model)) => {
                Ok(Answered::Request(model.call1(py, (request,))?.extract(py)?))
            }
            _ => Ok(Answered::Nothing),
        }
    }
}

/// The answer of `consent`. Only `True` is consent: words such as "n", and coroutines, are true in a condition.
fn allows(answer: &Bound<'_, PyAny>) -> PyResult<bool> {
    answer.extract().map_err(|_| match answer.get_type().name() {
        Ok(name) => PyTypeError::new_err(format!(
            "`consent` returned an object of the type {name}: return True or False"
        )),
        Err(error) => error,
    })
}

/// The answer of a function of the caller.
enum Answered {
    Nothing,
    Consent(bool),
    Question(Option<String>),
    Request(String),
}

/// Runs a use case on its own thread and waits for it. The thread that waits is the caller's: it handles signals and calls the caller's functions,
/// one at a time. An exception of one of them, or of a signal handler such as KeyboardInterrupt, cancels the use case, which completes its
/// record, and is then raised. A second one is raised at once; the use case then ends without a caller.
pub(crate) fn call<T: Send + 'static>(
    py: Python<'_>,
    surroundings: Surroundings,
    work: impl FnOnce(&Context) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (messages, inbox) = mpsc::channel();
    let cancellation = surroundings.cancellation.as_ref().map(|given| given.get().0.clone());
    let port = Port { messages, cancellation: cancellation.unwrap_or_default() };
    let context = surroundings.context(py, &port).map_err(|error| native_error(&error))?;
    let cancellation = port.cancellation.clone();
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        // The panic hook has printed the message and its place.
        let result = catch_unwind(AssertUnwindSafe(|| work(&context))).unwrap_or_else(|_| Err(bug()));
        // The receivers are gone after an interrupt.
        drop(sender.send(result));
        drop(port.messages.send(Message::Done));
    });
    wait(py, &surroundings, Mutex::new(inbox), &cancellation)?;
    receiver.recv().unwrap_or_else(|_| Err(bug())).map_err(|error| native_error(&error))
}

fn wait(
    py: Python<'_>,
    surroundings: &Surroundings,
    inbox: Mutex<Receiver<Message>>,
    cancellation: &Cancellation,
) -> PyResult<()> {
    let process = std::process::id();
    let mut raised: Option<PyErr> = None;
    loop {
        let message = py.detach(|| inbox.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL));
        let served = match message {
            Ok(Message::Done) => return raised.map_or(Ok(()), Err),
            // After an exception, the use case only ends.
            Ok(_) if raised.is_some() => Ok(()),
            Ok(message) => surroundings.serve(py, message, process),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return Err(native_error(&bug())),
        };
        let served = served.and_then(|()| py.check_signals());
        if std::process::id() != process {
            std::mem::forget(inbox);
            let message = "the process was forked during the call, and the work goes on in the parent alone";
            return Err(native_error(&failed("python.fork", message, "start processes with `spawn`")));
        }
        if let Err(error) = served {
            if raised.is_some() {
                return Err(error);
            }
            raised = Some(error);
            cancellation.cancel();
        }
    }
}

fn bug() -> Error {
    let message = "a bug in planforge ended the call; standard error has its place";
    failed("python.panic", message, "please report it")
}

fn failed(code: &str, message: &str, help: &str) -> Error {
    Failure::new(FailureClass::System, code, message).help(help).into()
}

/// The error as an exception.
pub(crate) fn native_error(error: &Error) -> PyErr {
    let mut document = json!(error);
    document["code"] = error.code().into();
    document["help"] = error.help().into();
    document["message"] = error.to_string().into();
    document["hints"] = error.hints.clone().into();
    NativeError::new_err(document.to_string())
}
