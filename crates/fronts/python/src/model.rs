//! A Python object as the model of a call.

use crate::port::{Message, POLL, Port};
use planforge_app::contract::api::{Host, Provider};
use planforge_app::contract::{CompletionRequest, CompletionResult, Failure, FailureClass, Replies};
use pyo3::prelude::*;
use serde::Deserialize;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The model that the caller passed.
pub(crate) struct PythonModel {
    port: Port,
    /// For several requests at a time; without it, requests wait for the calling thread.
    threads: Option<Arc<Threads>>,
}

/// Calls of the model on threads of their own.
struct Threads {
    function: Py<PyAny>,
    free: Mutex<usize>,
    freed: Condvar,
}

/// The answer of `planforge._models`, which calls the object and checks what it returns.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Completed {
    Replies(Replies),
    Failure(Failure),
}

impl PythonModel {
    /// A model that gets at most `parallel` requests at a time.
    pub(crate) fn new(port: Port, function: Py<PyAny>, parallel: usize) -> Self {
        let threads = || Threads { function, free: Mutex::new(parallel), freed: Condvar::new() };
        Self { port, threads: (parallel > 1).then(|| Arc::new(threads())) }
    }

    /// The answer to a request; `None` after a cancellation.
    fn ask(&self, request: String) -> Option<String> {
        let Some(threads) = &self.threads else {
            return self.port.ask(|sender| Message::Request(request, sender));
        };
        threads.take(&self.port)?;
        let (sender, receiver) = mpsc::channel();
        let threads = Arc::clone(threads);
        // After a cancellation the thread of a model that does not return is left alone.
        std::thread::spawn(move || threads.call(&request, &sender));
        self.port.answer(&receiver)
    }
}

impl Threads {
    /// Waits until the model may get a further request; `None` after a cancellation.
    fn take(&self, port: &Port) -> Option<()> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            if port.cancellation.is_cancelled() {
                return None;
            }
            free = self.freed.wait_timeout(free, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(())
    }

    fn call(&self, request: &str, answer: &Sender<String>) {
        // `planforge._models` catches the exceptions of the model. Without an answer, the sender is dropped.
        if let Ok(completed) = Python::attach(|py| self.function.call1(py, (request,))?.extract(py)) {
            answer.send(completed).ok();
        }
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.freed.notify_one();
    }
}

impl Provider for PythonModel {
    fn complete(&self, _: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let broken = |message: String| Failure::new(FailureClass::System, "python.model", message);
        let request = serde_json::to_string(request).map_err(|error| broken(error.to_string()))?;
        let Some(completed) = self.ask(request) else {
            // The calling thread does not answer if it was interrupted.
            return Err(match self.threads.is_none() || self.port.cancellation.is_cancelled() {
                true => Failure::new(FailureClass::Cancelled, "python.cancelled", "the call was cancelled"),
                false => broken("the thread of the model ended without an answer".to_owned()),
            });
        };
        match serde_json::from_str(&completed).map_err(|error| broken(error.to_string()))? {
            Completed::Replies(replies) => Ok(CompletionResult::Replies(replies)),
            Completed::Failure(failure) => Err(failure),
        }
    }
}
