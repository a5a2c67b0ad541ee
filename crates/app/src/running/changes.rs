//! Changes of a run after its start: `planforge run --resume RUN --set KEY=VALUE`, and `planforge runs limit` while it
//! is in progress.

use crate::calendar::record_now;
use crate::context::Context;
use crate::error::Error;
use planforge_contract::{Failure, FailureClass};
use planforge_llm::{LIMIT_KEYS, Llm, ModelSettings};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::{Event, Journal, RESUMED_WITH, RecordError, RunFolder, read_regular};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// The file in a run folder by which `planforge runs limit` asks the running process for other limits.
const FILE: &str = "limits.json";

/// Begins the line in the journal about limits that were changed, or not.
pub(crate) const CHANGED: &str = "limits changed: ";
pub(crate) const NOT_CHANGED: &str = "limits not changed: ";

/// Interval at which a running process looks for the file.
const POLL: Duration = Duration::from_secs(1);

/// The keys of a model table that can change on resuming, apart from [`LIMIT_KEYS`]: no reply depends on them.
const RESUME_KEYS: &[&str] = &[
    "use",
    "base_url",
    "api_key_env",
    "api_key_header",
    "api_version",
    "headers",
    "headers_env",
    "proxy",
    "ca_file",
    "timeout_s",
    "connect_timeout_s",
    "max_body_mb",
    "max_attempts",
    "backoff_ms",
    "max_backoff_ms",
    "rest_after",
    "rest_s",
    "price",
];

/// Splits `llm.NAME.KEY=VALUE`.
fn table_key(change: &str) -> Option<(&str, &str, &str)> {
    let (path, value) = change.split_once('=')?;
    let mut parts = path.trim().split('.');
    match (parts.next()?, parts.next()?, parts.next()?) {
        ("llm", table, key) => Some((table, key, value.trim())),
        _ => None,
    }
}

fn quoted(keys: &[&str]) -> String {
    keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// Refuses changes on resuming that recorded replies may depend on.
pub(crate) fn check_resume(changes: &[String]) -> Result<(), Error> {
    let is_refused = |change: &&String| {
        !table_key(change).is_some_and(|(_, key, _)| RESUME_KEYS.contains(&key) || LIMIT_KEYS.contains(&key))
    };
    let Some(refused) = changes.iter().find(is_refused) else { return Ok(()) };
    let key = refused.split_once('=').map_or(refused.as_str(), |(key, _)| key);
    let message = format!(
        "--resume cannot change `{key}`: recorded replies belong to its value in the run, so they would not be found and all \
         requests would be sent again"
    );
    let help = format!(
        "start a new run with `--set {refused}`; the keys of a model table that can change on resuming are {}, {}",
        quoted(LIMIT_KEYS),
        quoted(RESUME_KEYS)
    );
    Err(Error::usage(message, Some(&help)))
}

/// Records the changes of a resumption in the manifest, with the time.
pub(crate) fn record_resume(
    context: &Context,
    folder: &mut RunFolder,
    changes: &[String],
) -> Result<(), RecordError> {
    if changes.is_empty() {
        return Ok(());
    }
    let recorded = folder.manifest().settings.get(RESUMED_WITH).and_then(Value::as_array);
    let mut sessions = recorded.cloned().unwrap_or_default();
    sessions.push(json!({ "at": record_now(&*context.machine), "set": changes }));
    folder.record_setting(RESUMED_WITH, Value::Array(sessions))
}

/// Checks changes of limits against the tables of a run. Returns the value of each `llm.NAME.KEY`.
pub(crate) fn parse_limits(
    changes: &[String],
    tables: &BTreeMap<String, String>,
) -> Result<Map<String, Value>, Error> {
    let mut limits = Map::new();
    for change in changes {
        let parsed = table_key(change).filter(|(table, key, _)| {
            let is_whole = change.split('=').next().is_some_and(|path| path.matches('.').count() == 2);
            is_whole && tables.contains_key(*table) && LIMIT_KEYS.contains(key)
        });
        let Some((table, key, value)) = parsed else {
            let message = format!("`{change}` is not a limit of this run");
            let tables: Vec<&str> = tables.keys().map(String::as_str).collect();
            let help = format!(
                "give `llm.NAME.KEY=VALUE` with a NAME of {} and a KEY of {}",
                quoted(&tables),
                quoted(LIMIT_KEYS)
            );
            return Err(Error::usage(message, Some(&help)));
        };
        let number = serde_json::from_str::<Value>(value).ok().filter(Value::is_number);
        let Some(number) = number else {
            return Err(Error::usage(format!("`{change}`: the value is not a number"), None));
        };
        limits.insert(format!("llm.{table}.{key}"), number);
    }
    Ok(limits)
}

/// The path of the file in a run folder.
pub(crate) fn limits_file(run: &Path) -> PathBuf {
    run.join(FILE)
}

/// A thread that applies the limits that `planforge runs limit` asks for. It ends when this is dropped.
pub(crate) struct LimitWatch {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LimitWatch {
    pub(crate) fn new(
        folder: Arc<RunFolder>,
        llm: Arc<Llm>,
        mut tables: BTreeMap<String, ModelSettings>,
    ) -> Self {
        let (stop, stopped) = mpsc::channel();
        let file = limits_file(folder.path());
        // From an earlier session, which ended before it saw the file.
        drop(std::fs::remove_file(&file));
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                let Ok(bytes) = read_regular(&file, MAX_TEXT_BYTES as u64) else { continue };
                let (level, message) = match apply(&bytes, &llm, &mut tables) {
                    Ok(changes) => ("info", format!("{CHANGED}{changes}")),
                    Err(failure) => ("warn", format!("{NOT_CHANGED}{failure}")),
                };
                let (plugin, level) = ("planforge".to_owned(), level.to_owned());
                // A journal that cannot be written ends the run by itself.
                drop(folder.append(&Event::Log { plugin, level, message }));
                drop(std::fs::remove_file(&file));
            }
        });
        Self { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for LimitWatch {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in it was printed.
            drop(thread.join());
        }
    }
}

fn apply(bytes: &[u8], llm: &Llm, tables: &mut BTreeMap<String, ModelSettings>) -> Result<String, Failure> {
    let wrong = |message: String| Failure::new(FailureClass::Request, "llm.config", message);
    let limits: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| wrong(format!("{FILE}: {error}")))?;
    let mut changed = tables.clone();
    for (path, value) in &limits {
        let change = format!("{path}=");
        let known = table_key(&change).filter(|(_, key, _)| LIMIT_KEYS.contains(key));
        let settings = known.and_then(|(table, key, _)| changed.get_mut(table).map(|of| (of, key)));
        let Some((settings, key)) = settings else { return Err(wrong(format!("`{path}` is not a limit"))) };
        let mut all = json!(settings);
        all[key] = value.clone();
        *settings = serde_json::from_value(all).map_err(|error| wrong(format!("`{path}`: {error}")))?;
    }
    for (name, settings) in &changed {
        if tables.get(name) != Some(settings) {
            llm.set_limits(name, settings)?;
            tables.insert(name.clone(), settings.clone());
        }
    }
    let changes = limits.iter().map(|(path, value)| format!("{path}={value}"));
    Ok(changes.collect::<Vec<_>>().join(", "))
}
