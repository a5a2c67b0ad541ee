//! What a use case sends while it works.

use planforge_contract::{PlanDocument, ReportedDiagnostic};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_llm::{CallPhase, CallStep, ModelSettings};
use planforge_pipeline::Progress;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// Receives the events of use cases, on any thread.
pub trait Events: Send + Sync {
    /// Receives an event. Must return soon: the sender waits.
    fn receive(&self, event: &Event<'_>);
}

impl<F: Fn(&Event<'_>) + Send + Sync> Events for F {
    fn receive(&self, event: &Event<'_>) {
        self(event);
    }
}

/// Something that happened.
#[derive(Debug)]
pub enum Event<'e> {
    /// Findings about what was read that do not end the use case.
    Findings {
        /// The findings, at least one.
        diagnostics: &'e [Diagnostic],
        /// The texts.
        sources: &'e SourceMap,
    },
    /// Something worth knowing.
    Notice(&'e Notice),
    /// A plan was found that is better than the ones before. Only for a request that reports plans.
    Plan(&'e PlanDocument),
    /// A run of a pipeline started.
    RunStarted {
        /// Number of the run, unique in the process.
        run: u64,
        /// Name of the run among others; empty for a single one.
        title: &'e str,
        /// Number of tasks.
        tasks: usize,
        /// The run folder; absent for a run without a record on disk.
        folder: Option<&'e Path>,
        /// The caps on its use of models.
        caps: UseCaps,
    },
    /// The runner got on: a stage started, a task finished, a plugin was called.
    Run {
        /// Number of the run.
        run: u64,
        /// The step.
        progress: &'e Progress<'e>,
    },
    /// A run used its models.
    Used {
        /// Number of the run.
        run: u64,
        /// What it has used so far.
        used: ModelUse,
    },
    /// A request to a model got on.
    Request {
        /// Number of the run.
        run: u64,
        /// The step.
        step: &'e CallStep<'e>,
    },
    /// A run ended.
    RunEnded {
        /// Number of the run.
        run: u64,
    },
    /// Work that is counted got on, started or ended.
    Work(&'e Work),
}

impl Event<'_> {
    /// The event as an object with the key `kind`, for fronts whose receiver is another program.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Findings { diagnostics, sources } => {
                let found: Vec<_> = diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)).collect();
                json!({"kind": "findings", "diagnostics": found})
            }
            Self::Notice(notice) => json!({"kind": "notice", "text": notice.to_string()}),
            Self::Plan(plan) => json!({"kind": "plan", "plan": plan}),
            Self::RunStarted { run, title, tasks, folder, caps } => {
                json!({"kind": "run-started", "run": run, "title": title, "tasks": tasks, "folder": folder, "caps": caps})
            }
            Self::Run { run, progress } => match progress {
                Progress::Event(recorded) => json!({"kind": "recorded", "run": run, "record": recorded}),
                Progress::Call { path, done, total, what } => {
                    json!({"kind": "plugin", "run": run, "path": path, "done": done, "total": total, "what": what})
                }
                Progress::Work { path, plugin, begins, .. } => {
                    json!({"kind": "call", "run": run, "path": path, "plugin": plugin, "begins": begins})
                }
            },
            Self::Used { run, used } => json!({"kind": "used", "run": run, "used": used}),
            Self::Request { run, step } => {
                let phase = match step.phase {
                    CallPhase::Queued => "queued",
                    CallPhase::Held(_) => "held",
                    CallPhase::Sent(_) => "sent",
                    CallPhase::BackingOff(..) => "backing-off",
                    CallPhase::Ended => "ended",
                };
                json!({"kind": "request", "run": run, "llm": step.llm, "path": step.path, "phase": phase})
            }
            Self::RunEnded { run } => json!({"kind": "run-ended", "run": run}),
            Self::Work(work) => json!({
                "kind": "work",
                "work": work.id,
                "unit": work.unit,
                "done": work.done,
                "total": work.total,
                "what": work.message,
                "ended": work.is_ended,
            }),
        }
    }
}

/// The most that the models of a run may be used together. A number is absent if one of its model tables has no such cap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct UseCaps {
    /// Requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Tokens of prompts and replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
}

impl UseCaps {
    /// The caps of these tables together; none without a table.
    pub(crate) fn of<'t>(tables: impl Iterator<Item = &'t ModelSettings> + Clone) -> Self {
        if tables.clone().next().is_none() {
            return Self::default();
        }
        let sum = |cap: fn(&ModelSettings) -> Option<u64>| {
            tables.clone().try_fold(0_u64, |sum, table| Some(sum.saturating_add(cap(table)?)))
        };
        Self {
            calls: sum(|table| table.max_calls),
            tokens: sum(|table| table.max_total_tokens),
            money: tables.clone().map(|table| table.max_cost_usd).sum(),
        }
    }
}

/// The use of models by a run, recorded replies included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ModelUse {
    /// Requests that ended.
    pub requests: u64,
    /// Tokens of prompts and replies, as far as the servers counted them.
    pub tokens: u64,
    /// US dollars; absent if a price or a count is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
}

impl Default for ModelUse {
    /// Nothing is used.
    fn default() -> Self {
        Self { requests: 0, tokens: 0, money: Some(0.0) }
    }
}

impl std::ops::AddAssign for ModelUse {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.money = self.money.zip(other.money).map(|(own, more)| own + more);
    }
}

/// The state of work that is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Number of the work, unique in the process.
    pub id: u64,
    /// Name of the unit, plural: `tasks`.
    pub unit: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all; `None` if unknown.
    pub total: Option<u64>,
    /// The current unit, or an empty text.
    pub message: String,
    /// True after the last unit.
    pub is_ended: bool,
}

/// Something worth knowing that is not a finding in a text. Its display is one line.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A warning.
    Warning(String),
    /// The price of a model table comes from a list.
    PriceListed {
        /// Name of the table.
        table: String,
        /// The entry in one line.
        entry: String,
    },
    /// The run starts a program or loads a library: its place, command and files in one line.
    ProgramStarted(String),
    /// A replayed run takes its replies from this cassette and sends no request.
    RepliesFrom(PathBuf),
    /// A run's report differed from the recorded one and was replaced.
    ReportRestored(PathBuf),
    /// A file of tables, figures or curves was left out, or was written with a remark.
    Remark(String),
    /// A message of a batch service's client.
    BatchService(String),
    /// A better plan, or something else that the planner reports: one line.
    Planner(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warning(text) => write!(f, "warning: {text}"),
            Self::PriceListed { table, entry } => write!(f, "[llm.{table}]: {entry}"),
            Self::RepliesFrom(cassette) => {
                write!(f, "the run takes its replies from {} and sends no request", cassette.display())
            }
            Self::ReportRestored(path) => write!(f, "{} was written anew from the journal", path.display()),
            Self::ProgramStarted(text) | Self::Remark(text) => f.write_str(text),
            Self::BatchService(text) | Self::Planner(text) => {
                f.write_str(&planforge_diagnostics::render::escape(text))
            }
        }
    }
}
