//! The child process that serves a library to the host: the other side of [`crate::program`].

use crate::call::{Core, RegistrySettings};
use crate::program::wire;
use crate::registry::Registry;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host, LogLevel};
use planforge_contract::{
    CompletionRequest, CompletionResult, CreateRequest, Document, Failure, FailureClass, PlanOutcome,
    PlanRequest, RateLimits, Replies, decode, encode,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The whole of `planforge worker --isolated PATH`: loads one library and answers the host's requests on the standard streams
/// until the input ends. What the library prints goes to standard error.
///
/// # Errors
/// The file is no plugin, or the streams break.
pub fn isolated_main(library: &Path) -> Result<(), Failure> {
    let output = std::io::stdout().as_fd().try_clone_to_owned().map_err(|e| system(&e))?;
    nix::unistd::dup2_stdout(std::io::stderr()).map_err(|e| system(&e))?;
    let registry = Registry::new(&[], &[library.to_owned()], RegistrySettings::of_child());
    let id = registry.only_id()?;
    let server = Arc::new(Server {
        registry,
        id,
        instances: Mutex::default(),
        calls: Mutex::default(),
        questions: Mutex::default(),
        next: AtomicU64::new(0),
        output: Mutex::new(File::from(output)),
    });
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| system(&e))?;
        let message: Value = serde_json::from_str(&line).map_err(|e| system(&e))?;
        server.receive(message)?;
    }
    Ok(())
}

fn system(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureClass::System, "host.worker-died", error.to_string())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Server {
    registry: Registry,
    id: String,
    instances: Mutex<BTreeMap<u64, Arc<Core>>>,
    /// The calls in progress, with the sign that they are cancelled.
    calls: Mutex<BTreeMap<u64, Arc<AtomicBool>>>,
    /// The questions to the host that are not answered yet.
    questions: Mutex<BTreeMap<u64, Sender<Result<Value, Failure>>>>,
    next: AtomicU64,
    output: Mutex<File>,
}

impl Server {
    fn receive(self: &Arc<Self>, mut message: Value) -> Result<(), Failure> {
        let id = message.get("id").and_then(Value::as_u64).unwrap_or_default();
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        let number = |name: &str| params.get(name).and_then(Value::as_u64).unwrap_or_default();
        match wire::text_field(&message, "method") {
            "" => {
                let result = match message.get("error") {
                    Some(error) => Err(wire::read_failure(error)),
                    None => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
                };
                if let Some(waiting) = locked(&self.questions).remove(&id) {
                    drop(waiting.send(result));
                }
            }
            wire::CANCEL => {
                if let Some(cancelled) = locked(&self.calls).get(&number("call")) {
                    cancelled.store(true, Ordering::Relaxed);
                }
            }
            wire::DESCRIBE => {
                let info = self.registry.info(&self.id);
                self.answer(id, info.and_then(|info| json_text(info.as_ref())))?;
            }
            wire::CREATE => {
                let made = serde_json::from_value::<CreateRequest>(params.clone())
                    .map_err(|e| system(&e))
                    .and_then(|request| self.registry.create_core(&self.id, &request));
                let made =
                    made.map(|core| locked(&self.instances).insert(number("instance"), Arc::new(core)));
                self.answer(id, made.map(|_| "null".to_owned()))?;
            }
            wire::CLOSE => {
                let instance = locked(&self.instances).remove(&number("instance"));
                drop(instance);
                self.answer(id, Ok("null".to_owned()))?;
            }
            method => {
                let instance = locked(&self.instances).get(&number("instance")).cloned();
                let (server, method) = (Arc::clone(self), method.to_owned());
                let cancelled = Arc::new(AtomicBool::new(false));
                locked(&self.calls).insert(id, Arc::clone(&cancelled));
                let remaining = params.get("remaining_ms").and_then(Value::as_u64);
                let until = remaining.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
                let host = Remote { server: Arc::clone(self), call: id, cancelled, until };
                let work = move || {
                    let result = server.call(instance, &method, &params, &host);
                    locked(&server.calls).remove(&id);
                    // If the host reads no more, the input ends too.
                    drop(server.answer(id, result));
                };
                let thread =
                    std::thread::Builder::new().name("planforge-isolated-call".to_owned()).spawn(work);
                thread.map(drop).map_err(|e| system(&e))?;
            }
        }
        Ok(())
    }

    fn call(
        &self,
        instance: Option<Arc<Core>>,
        method: &str,
        params: &Value,
        host: &Remote,
    ) -> Result<String, Failure> {
        let instance = instance.ok_or_else(|| system(&"there is no such instance"))?;
        let inputs = wire::input_names(method).iter().map(|name| {
            let input = params.get(*name).unwrap_or(&Value::Null);
            wire::input_document(method, name, input)
                .ok_or_else(|| Failure::new(FailureClass::Plugin, "plugin.method", format!("`{method}`")))
        });
        let text = instance.call(host, method, inputs.collect::<Result<_, _>>()?, None)?;
        // The host sees only the body, so name and schema number are checked here.
        let frame = wire::result_document(instance.info.kind, method, &Value::Null).unwrap_or_default();
        match frame.strip_suffix("null}").is_some_and(|head| text.starts_with(head)) {
            true => Ok(wire::body(&text).to_owned()),
            false => Err(instance.plugin_failure(
                "plugin.document",
                format!("answered `{method}` with another document or schema number"),
            )),
        }
    }

    fn answer(&self, id: u64, result: Result<String, Failure>) -> Result<(), Failure> {
        self.send(wire::answer(&id.into(), &result))
    }

    fn send(&self, mut line: String) -> Result<(), Failure> {
        line.push('\n');
        let mut output = locked(&self.output);
        output.write_all(line.as_bytes()).and_then(|()| output.flush()).map_err(|e| system(&e))
    }
}

fn json_text<T: Document>(document: &T) -> Result<String, Failure> {
    encode(document).map(|text| wire::body(&text).to_owned()).map_err(|e| system(&e))
}

/// The host of a call, in another process.
struct Remote {
    server: Arc<Server>,
    call: u64,
    cancelled: Arc<AtomicBool>,
    until: Option<Instant>,
}

impl Remote {
    fn ask(&self, method: &str, mut params: Value) -> Result<Value, Failure> {
        let id = self.server.next.fetch_add(1, Ordering::Relaxed);
        let (send, receive) = mpsc::channel();
        locked(&self.server.questions).insert(id, send);
        params["call"] = self.call.into();
        self.server
            .send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string())?;
        receive.recv().map_err(|_| system(&"the host is gone"))?
    }

    fn document<T: Document>(&self, method: &str, params: Value) -> Result<T, Failure> {
        let answer = self.ask(method, params)?;
        decode(&wire::enclose::<T>(&answer)).map_err(|e| system(&e))
    }

    fn notify(&self, method: &str, mut params: Value) {
        params["call"] = self.call.into();
        // If the host reads no more, the input ends too.
        drop(self.server.send(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()));
    }
}

impl Host for Remote {
    fn complete(&self, role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        match self.document("host/complete", json!({"role": role, "request": request}))? {
            CompletionResult::Replies(replies) => Ok(replies),
            other => Err(system(&format!("the host answered a completion with {other:?}"))),
        }
    }
    fn environment(&self, call: EnvironmentCall) -> Result<EnvironmentAnswer, Failure> {
        self.document("host/environment", json!({"request": call}))
    }
    fn plan(&self, label: &str, request: PlanRequest) -> Result<PlanOutcome, Failure> {
        self.document("host/plan", json!({"label": label, "request": request}))
    }
    fn worker_through(
        &self,
        input: &str,
        _: &dyn Fn() -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        match self.ask("host/worker", json!({"input": input}))? {
            Value::String(text) => Ok(text),
            other => Err(system(&format!("the host answered for a worker with {other}"))),
        }
    }
    fn rate_limits(&self, limits: &RateLimits) {
        // A host that does not know the question has no use for the answer.
        drop(self.ask("host/rate-limits", json!({"request": limits})));
    }
    fn log(&self, level: LogLevel, message: &str) {
        let level = match level {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Warn => "warn",
        };
        self.notify("host/log", json!({"level": level, "message": message}));
    }
    fn progress(&self, done: u64, total: u64, what: &str) {
        self.notify("host/progress", json!({"done": done, "total": total, "what": what}));
    }
    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()).as_millis() as u64)
    }
}
