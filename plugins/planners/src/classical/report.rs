//! Reasons, limits and diagnostics of a search as documents of the contract.

use crate::classical::codes;
use planforge_contract::{LimitKind, ReportedDiagnostic};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_planning::{Explanation, ReasonKind, StopReason, task::Unsupported};

/// One sentence a reason, each with its place; where delete relaxation shows nothing, that the whole space was searched.
pub(crate) fn explain(why: &Explanation, sources: &SourceMap) -> Vec<String> {
    if !why.reasons.iter().any(|r| r.kind == ReasonKind::UnreachableGoal) {
        return vec![why.text()];
    }
    let place = |reason: &planforge_planning::Reason| {
        let file = sources.get(reason.place.text.source())?;
        let at = file.line_column(reason.place.span.start);
        Some(format!(" ({}:{}:{})", file.name, at.line, at.column))
    };
    why.reasons.iter().map(|r| format!("{}{}.", r.message, place(r).unwrap_or_default())).collect()
}

pub(crate) const fn limit_kind(reason: StopReason) -> LimitKind {
    match reason {
        StopReason::Time => LimitKind::Time,
        StopReason::Memory => LimitKind::Memory,
        StopReason::Nodes => LimitKind::Nodes,
        StopReason::Grounding => LimitKind::Grounding,
        StopReason::Cancelled => LimitKind::Cancelled,
    }
}

pub(crate) fn unsupported_diagnostic(construct: &Unsupported) -> Diagnostic {
    Diagnostic::error(codes::UNSUPPORTED, format!("this planner does not plan with {}", construct.what))
        .at(construct.place.text.source(), construct.place.span, "")
        .help("validation may still work on a plan found by another planner")
}

pub(crate) fn report(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<ReportedDiagnostic> {
    diagnostics.iter().map(|d| ReportedDiagnostic::of(d, sources)).collect()
}
