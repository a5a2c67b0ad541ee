//! Messages from the threads of a use case to the calling thread.

use planforge_app::{Cancellation, ConsentRequest, Question, Questions};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// The interval at which the calling thread looks for signals, and a waiting one for a cancellation.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// The status of a use case, and its result as JSON.
pub(crate) type Answer = (u8, String);

/// A message to the calling thread.
pub(crate) enum Message {
    Event(String),
    Consent(ConsentRequest, Sender<bool>),
    Question(Question, Sender<Option<String>>),
    /// A request to the model and its answer, as JSON.
    Request(String, Sender<String>),
    /// The use case has ended.
    Done,
}

/// Sends messages to the calling thread.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) messages: Sender<Message>,
    pub(crate) cancellation: Cancellation,
}

impl Port {
    /// Sends a message that is answered. `None` after a cancellation, or if the caller raised.
    pub(crate) fn ask<T>(&self, message: impl FnOnce(Sender<T>) -> Message) -> Option<T> {
        let (sender, receiver) = mpsc::channel();
        self.messages.send(message(sender)).ok()?;
        self.answer(&receiver)
    }

    /// Waits for an answer. `None` after a cancellation, or if there will be none.
    pub(crate) fn answer<T>(&self, receiver: &Receiver<T>) -> Option<T> {
        loop {
            match receiver.recv_timeout(POLL) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Timeout) if !self.cancellation.is_cancelled() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

impl Questions for Port {
    fn answer(&self, question: &Question) -> Option<String> {
        self.ask(|sender| Message::Question(question.clone(), sender)).flatten()
    }
}
