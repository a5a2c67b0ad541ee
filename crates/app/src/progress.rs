//! Senders of progress: runs of pipelines, and work that is counted.

use crate::context::Context;
use crate::events::{Event, ModelUse, UseCaps, Work};
use planforge_contract::Price;
use planforge_llm::{CallWatch, ModelSettings};
use planforge_pipeline::{Progress, RunObserver};
use planforge_record::{CompletionEvent, Event as Record};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

impl Context {
    /// Starts the progress of a run over so many tasks with these model tables. `title` is empty for a single run, `folder` absent
    /// without a record on disk.
    pub(crate) fn start_run<'t>(
        &self,
        title: &str,
        tasks: usize,
        folder: Option<&Path>,
        models: impl Iterator<Item = (&'t String, &'t ModelSettings)> + Clone,
    ) -> RunProgress {
        let run = next_number();
        let caps = UseCaps::of(models.clone().map(|(_, settings)| settings));
        self.send(&Event::RunStarted { run, title, tasks, folder, caps });
        let prices = models.map(|(name, settings)| (name.clone(), settings.price)).collect();
        RunProgress { context: self.clone(), run, prices: Arc::new(prices), used: Arc::default() }
    }

    /// Starts the progress of work that is counted.
    pub(crate) fn start_work(&self, unit: &'static str, total: Option<u64>) -> WorkProgress {
        WorkProgress::start(self, unit, total)
    }
}

/// Numbers of runs and of counted work.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

fn next_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

/// Sends the progress of a run. Its end is sent when this is dropped.
pub(crate) struct RunProgress {
    context: Context,
    run: u64,
    /// Prices of the model tables.
    prices: Arc<BTreeMap<String, Price>>,
    used: Arc<Mutex<ModelUse>>,
}

impl RunProgress {
    /// Receives events of the runner.
    pub(crate) fn observer(&self) -> RunObserver {
        let (context, run) = (self.context.clone(), self.run);
        let (prices, used) = (Arc::clone(&self.prices), Arc::clone(&self.used));
        Arc::new(move |progress| {
            context.send(&Event::Run { run, progress });
            if let Progress::Event(Record::Completion(completion)) = progress {
                let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
                *used += used_by(completion, &prices);
                context.send(&Event::Used { run, used: *used });
            }
        })
    }

    /// Receives the phases of model calls.
    pub(crate) fn watch(&self) -> CallWatch {
        let (context, run) = (self.context.clone(), self.run);
        Arc::new(move |step| context.send(&Event::Request { run, step }))
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.context.send(&Event::RunEnded { run: self.run });
    }
}

/// A request that failed and of which nothing was counted costs nothing, as in reports.
fn used_by(completion: &CompletionEvent, prices: &BTreeMap<String, Price>) -> ModelUse {
    let usage = &completion.usage;
    let price = prices.get(&completion.llm);
    let is_free =
        completion.failure.is_some() && usage.prompt_tokens.is_none() && usage.completion_tokens.is_none();
    ModelUse {
        requests: 1,
        tokens: usage.prompt_tokens.unwrap_or(0) + usage.completion_tokens.unwrap_or(0),
        money: match is_free {
            true => Some(0.0),
            false => price.and_then(|price| price.cost(usage)).filter(|_| usage.is_metered()),
        },
    }
}

/// Sends the progress of counted work. Its end is sent when this is dropped.
pub(crate) struct WorkProgress {
    context: Context,
    work: Mutex<Work>,
}

impl WorkProgress {
    fn start(context: &Context, unit: &'static str, total: Option<u64>) -> Self {
        let work = Work { id: next_number(), unit, done: 0, total, message: String::new(), is_ended: false };
        context.send(&Event::Work(&work));
        Self { context: context.clone(), work: Mutex::new(work) }
    }

    fn update(&self, change: impl FnOnce(&mut Work)) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut work);
        self.context.send(&Event::Work(&work));
    }

    /// One more unit is done.
    pub(crate) fn advance(&self) {
        self.update(|work| work.done += 1);
    }

    /// So many units of so many are done.
    pub(crate) fn set(&self, done: u64, total: Option<u64>) {
        self.update(|work| (work.done, work.total) = (done, total));
    }

    /// As [`WorkProgress::set`], and the work turns to this unit.
    pub(crate) fn set_with_message(&self, done: u64, total: Option<u64>, message: &str) {
        self.update(|work| (work.done, work.total, work.message) = (done, total, message.to_owned()));
    }

    /// The work turns to this unit.
    pub(crate) fn set_message(&self, message: impl Into<String>) {
        self.update(|work| work.message = message.into());
    }
}

impl Drop for WorkProgress {
    fn drop(&mut self) {
        self.update(|work| work.is_ended = true);
    }
}
