//! The server of a provider in a check: it speaks every published interface of a model service.

use planforge_plugin_sdk::testing::ServiceInterface;
use planforge_plugin_sdk::testing::scripted::{Scripted, ScriptedRequest, ScriptedServer};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The answer of the server.
#[derive(Debug, Clone)]
pub(crate) enum ServiceAnswer {
    /// The text of the question.
    Echo,
    /// This text, in a valid answer.
    Text(String),
    /// These bytes in place of an answer.
    Body(String),
}

/// A server on this machine. Its answer can be changed between calls.
pub(crate) struct Service {
    server: ScriptedServer,
    answer: Arc<Mutex<ServiceAnswer>>,
}

fn locked(answer: &Mutex<ServiceAnswer>) -> MutexGuard<'_, ServiceAnswer> {
    answer.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    pub(crate) fn start() -> io::Result<Self> {
        let answer = Arc::new(Mutex::new(ServiceAnswer::Echo));
        let shared = Arc::clone(&answer);
        let server = ScriptedServer::matching(move |request| {
            let answer = locked(&shared).clone();
            respond(request, answer)
        })?;
        Ok(Self { server, answer })
    }

    pub(crate) fn base_url(&self) -> String {
        self.server.base_url()
    }

    pub(crate) fn set_answer(&self, answer: ServiceAnswer) {
        *locked(&self.answer) = answer;
    }
}

fn respond(request: &ScriptedRequest, answer: ServiceAnswer) -> Scripted {
    let interface = [
        ("/messages", ServiceInterface::Messages),
        ("/responses", ServiceInterface::Responses),
        ("generateContent", ServiceInterface::GenerateContent),
    ]
    .into_iter()
    .find_map(|(part, interface)| request.path.contains(part).then_some(interface))
    .unwrap_or(ServiceInterface::ChatCompletions);
    match answer {
        ServiceAnswer::Echo => interface.text(&interface.question(request)),
        ServiceAnswer::Text(text) => interface.text(&text),
        ServiceAnswer::Body(body) => Scripted::raw(200, body),
    }
}
