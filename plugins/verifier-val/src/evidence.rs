//! The state trace as JSON. Long traces are cut, with a note.

use planforge_planning::{FailedCondition, ValidationReport};
use serde_json::{Value, json};

/// Most atoms of the initial state.
const MOST_ATOMS: usize = 1000;
/// Most steps of a trace.
const MOST_STEPS: usize = 500;

/// The course of a validation: the initial state, the changes of each step, and where and why it stopped.
///
/// `initial` and `trace` are cut at 1000 atoms and 500 steps; `initial_left_out` and `trace_left_out` count
/// the missing entries.
pub(crate) fn of(report: &ValidationReport) -> Value {
    let symbols = &report.symbols;
    let atoms =
        |list: &[planforge_planning::task::Atom]| list.iter().map(|a| symbols.atom(a)).collect::<Vec<_>>();
    let initial = &report.initial[..report.initial.len().min(MOST_ATOMS)];
    let trace: Vec<Value> = report
        .trace
        .iter()
        .take(MOST_STEPS)
        .map(|step| {
            let numbers: Vec<String> = step
                .numbers
                .iter()
                .map(|(term, value)| format!("(= {} {value})", symbols.function_term(term)))
                .collect();
            json!({
                "step": symbols.step(&step.action),
                "added": atoms(&step.added),
                "deleted": atoms(&step.deleted),
                "numbers": numbers,
            })
        })
        .collect();
    json!({
        "initial": atoms(initial),
        "initial_left_out": report.initial.len() - initial.len(),
        "trace_left_out": report.trace.len() - trace.len(),
        "trace": trace,
        "failing_step": report.failing_step.as_ref().map(|f| json!({
            "number": f.index + 1,
            "step": f.text,
            "conditions": f.conditions.iter().map(condition).collect::<Vec<_>>(),
        })),
        "missing_goals": report.missing_goals.iter().map(condition).collect::<Vec<_>>(),
    })
}

fn condition(failed: &FailedCondition) -> Value {
    json!({ "condition": failed.text, "why": failed.why, "needs": failed.remedy })
}
