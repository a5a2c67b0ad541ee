//! Parts that all assessments share.

use planforge_contract::{Assessment, Decision, ReportedSeverity, UndecidedReason};
use planforge_plugin_sdk::checked::Checked;
use planforge_plugin_sdk::feedback;

/// Undecided because a text or plan is missing.
pub(crate) fn missing(message: impl Into<String>) -> Assessment {
    let message = message.into();
    let decision = Decision::Undecided { reason: UndecidedReason::MissingInput, message: message.clone() };
    Assessment::new(decision, message)
}

pub(crate) fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

pub(crate) fn pddl_feedback(checked: &Checked) -> Vec<String> {
    ["domain", "problem"].into_iter().filter_map(|what| feedback::pddl(checked, what)).collect()
}

/// Adds the diagnostics and the metrics about them.
pub(crate) fn finish(mut assessment: Assessment, checked: &Checked) -> Assessment {
    let errors = checked.count(ReportedSeverity::Error) as f64;
    assessment.metrics.insert("errors".into(), errors);
    assessment.metrics.insert("clean".into(), 1.0 / (1.0 + errors));
    assessment.metrics.insert("warnings".into(), checked.count(ReportedSeverity::Warning) as f64);
    assessment.diagnostics.clone_from(&checked.diagnostics);
    assessment
}
