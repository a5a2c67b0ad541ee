//! Events as JSON.

use planforge_app::contract::ReportedDiagnostic;
use planforge_app::{CallPhase, Event, Progress};
use serde_json::{Value, json};

/// An event as an object with the key `kind`.
pub(crate) fn to_json(event: &Event<'_>) -> Value {
    match event {
        Event::Findings { diagnostics, sources } => {
            let found: Vec<_> = diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)).collect();
            json!({"kind": "findings", "diagnostics": found})
        }
        Event::Notice(notice) => json!({"kind": "notice", "text": notice.to_string()}),
        Event::RunStarted { run, title, tasks } => {
            json!({"kind": "run-started", "run": run, "title": title, "tasks": tasks})
        }
        Event::Run { run, progress } => match progress {
            Progress::Event(recorded) => json!({"kind": "recorded", "run": run, "record": recorded}),
            Progress::Call { path, done, total, what } => {
                json!({"kind": "plugin", "run": run, "path": path, "done": done, "total": total, "what": what})
            }
            Progress::Work { path, plugin, begins, .. } => {
                json!({"kind": "call", "run": run, "path": path, "plugin": plugin, "begins": begins})
            }
        },
        Event::Request { run, step } => {
            let phase = match step.phase {
                CallPhase::Queued => "queued",
                CallPhase::Held(_) => "held",
                CallPhase::Sent(_) => "sent",
                CallPhase::BackingOff(..) => "backing-off",
                CallPhase::Ended => "ended",
            };
            json!({"kind": "request", "run": run, "llm": step.llm, "path": step.path, "phase": phase})
        }
        Event::RunEnded { run } => json!({"kind": "run-ended", "run": run}),
        Event::Work(work) => json!({
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
