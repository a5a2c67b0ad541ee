//! Checks of names of metrics: `LABEL.NAME` of an earlier stage, or `candidate.NAME`.

use super::reader::{At, error_at, with_help};
pub(crate) use super::stage_checker::CANDIDATE;
use super::stage_checker::{StageChecker, kinds_where};
use super::tree::SourcePlace;
use crate::suggest::help_for;
use planforge_diagnostics::Diagnostic;

/// The log-likelihood divided by the number of tokens.
pub(crate) const MEAN_LOG_LIKELIHOOD: &str = "mean_log_likelihood";
/// The candidate's own metrics.
const CANDIDATE_METRICS: [&str; 2] = ["log_likelihood", MEAN_LOG_LIKELIHOOD];

impl StageChecker<'_> {
    /// Checks that a metric is one of an earlier stage, or one of the candidate.
    pub(crate) fn check_metric(&self, by: &At<String>, out: &mut Vec<Diagnostic>) {
        let Some((label, name)) = by.value.split_once('.') else {
            let message = format!("`{}` does not name a metric", by.value);
            out.push(
                error_at("pipeline.metric-form", message, by.place)
                    .help("write LABEL.NAME: the label of an earlier stage, a dot, and one of its metrics"),
            );
            return;
        };
        if label == CANDIDATE {
            self.check_likelihoods(by, out);
            return check_name(label, name, &CANDIDATE_METRICS, by.place, out);
        }
        let Some(stage) = self.known.iter().find(|k| k.label == label) else {
            let wanted = At { value: label.to_owned(), place: by.place };
            let kinds = kinds_where(|kind| kind.facts().judges);
            return self.report_unknown(&wanted, &kinds, &[CANDIDATE], "pipeline.unknown-label", out);
        };
        let metrics: Vec<&str> = stage.metrics.iter().map(String::as_str).collect();
        // An unknown plugin was reported where it is named.
        if !(metrics.is_empty() && stage.unknown_plugin) {
            check_name(label, name, &metrics, by.place, out);
        }
    }

    /// Likelihoods of different models are on different scales.
    fn check_likelihoods(&self, by: &At<String>, out: &mut Vec<Diagnostic>) {
        let Some((label, models)) = self.mixed.first() else { return };
        let when = if models.is_mixed() { "are" } else { "may be, where one fails," };
        let message = format!(
            "samples of `{label}` {when} those of several models ({models}), whose likelihoods are not comparable"
        );
        let warning = Diagnostic::warning("pipeline.mixed-likelihood", message);
        let help = "give the role to one model, or compare by a metric of a verifier";
        out.push(warning.at(by.place.source, by.place.span, "").help(help));
    }
}

fn check_name(label: &str, name: &str, metrics: &[&str], place: SourcePlace, out: &mut Vec<Diagnostic>) {
    if !metrics.contains(&name) {
        let message = format!("`{label}` has no metric `{name}`");
        let help = help_for(name, metrics, &format!("metrics of `{label}`"));
        out.push(with_help(error_at("pipeline.unknown-metric", message, place), help));
    }
}
