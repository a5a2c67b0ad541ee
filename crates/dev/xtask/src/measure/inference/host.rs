//! `translator-asp` loaded as a library, with a child process that is kept from call to call.

use super::InferenceTask;
use planforge_asp::stages::SolveJob;
use planforge_contract::api::{Host, LogLevel, Translator};
use planforge_contract::{
    Candidate, CreateRequest, Failure, Given, Materials, Outcome, TaskView, TranslateRequest,
};
use planforge_plugin_host::{Instance, Registry, RegistrySettings, WorkerSettings};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// One instance of the plugin.
pub(super) struct KeptTranslator {
    translator: Arc<dyn Translator>,
}

/// Time of one call and its requests to the child.
#[derive(Default)]
pub(super) struct Jobs {
    pub(super) total_ms: f64,
    asked: Vec<(String, f64)>,
}

impl Jobs {
    /// Milliseconds until the child had answered, all questions together.
    pub(super) fn worker_ms(&self) -> f64 {
        self.asked.iter().map(|(_, ms)| ms).sum()
    }

    /// The jobs that the child got.
    pub(super) fn jobs(&self) -> Vec<SolveJob> {
        let job = |input: &str| -> Option<SolveJob> {
            let input: serde_json::Value = serde_json::from_str(input).ok()?;
            serde_json::from_value(input.get("job")?.clone()).ok()
        };
        self.asked.iter().filter_map(|(input, _)| job(input)).collect()
    }
}

/// A host that allows only child processes and measures the time of their answers.
#[derive(Default)]
struct Clock {
    asked: Mutex<Vec<(String, f64)>>,
}

impl Host for Clock {
    fn worker_through(
        &self,
        input: &str,
        ask: &dyn Fn() -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let start = Instant::now();
        let answer = ask();
        let ms = start.elapsed().as_secs_f64() * 1e3;
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push((input.to_owned(), ms));
        answer
    }
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        false
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}

impl KeptTranslator {
    pub(super) fn open(library: &Path, planforge: &Path) -> Result<Self, String> {
        let settings = RegistrySettings {
            worker: Some(WorkerSettings::new(planforge.to_owned())),
            ..RegistrySettings::default()
        };
        let library = library.canonicalize().map_err(|e| format!("{}: {e}", library.display()))?;
        let registry = Registry::new(&[], &[library], settings);
        let options = json!({"mode": "infer"}).as_object().cloned().unwrap_or_default();
        let request = CreateRequest { options: options.into_iter().collect(), ..CreateRequest::default() };
        match registry.create("translator-asp", request) {
            Ok(Instance::Translator(translator)) => Ok(KeptTranslator { translator }),
            Ok(other) => Err(format!("translator-asp is not a translator: {other:?}")),
            Err(failure) => Err(failure.to_string()),
        }
    }

    /// One call. The texts are read before the clock starts.
    pub(super) fn infer(&self, task: &InferenceTask) -> Result<Jobs, String> {
        let read =
            |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
        let mut materials = Materials::default();
        if task.knowledge.is_file() {
            materials.knowledge = Some(read(&task.knowledge)?);
        }
        let domain = Some(read(&task.domain)?);
        let given = Given { domain: domain.clone(), ..Given::default() };
        let texts = [("ir", read(&task.ir)?)].into_iter().collect();
        let request = TranslateRequest {
            task: TaskView { given, materials, ..TaskView::default() },
            candidate: Candidate { domain, texts, ..Candidate::default() },
            n: 1,
            ..TranslateRequest::default()
        };
        let host = Clock::default();
        let start = Instant::now();
        let response =
            self.translator.translate(&host, &request).map_err(|f| format!("{}: {f}", task.name))?;
        let total_ms = start.elapsed().as_secs_f64() * 1e3;
        match response.samples.into_iter().next() {
            Some(Outcome::Ok(patch)) if patch.problem.is_some() => {
                let asked = host.asked.into_inner().unwrap_or_else(PoisonError::into_inner);
                Ok(Jobs { total_ms, asked })
            }
            Some(Outcome::Ok(_)) | None => Err(format!("{}: no problem came out", task.name)),
            Some(Outcome::Failure(failure)) => Err(format!("{}: {failure}", task.name)),
        }
    }
}
