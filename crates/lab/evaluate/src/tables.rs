//! The papers' tables and figures as layouts of an [`Evaluation`](crate::results::Evaluation).

mod domain_generators;
mod exploration_walks;
mod methods;
mod test_time_scaling;
mod translate_infer_compile;

pub use domain_generators::{
    ClassColumn, ClassFigures, ClassRow, ClassSettings, Classes, ListedSuspect, Sizes, SuiteClasses,
    class_figures, size_of,
};
pub use methods::{Group, MethodResult, Methods, OPEN, Success};
pub use test_time_scaling::{
    Criterion, Curve, CurvePoint, Delta, Plans, PlansCell, PlansRow, Rate, Scaling, ScalingCell, ScalingRow,
    curve_files, curves,
};
pub use translate_infer_compile::{Accuracy, AccuracyCell, AccuracyColumn, Share};

use crate::results::{CellResult, TaskOutcome, TaskResult};
use planforge_contract::{Failure, FailureClass};
use planforge_pipeline::{Cost, TaskUsage};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::fmt::Write as _;

/// A method's name in a table, with a mark if a model is simulated.
fn marked_name(name: &str, simulated: bool) -> String {
    format!("{name}{}", if simulated { " (simulated)" } else { "" })
}

/// A method's name in a table: behind its model if the `models` of the table differ.
fn name_with_model<'m>(
    models: impl IntoIterator<Item = &'m str>,
    model: &str,
    method: &str,
    simulated: bool,
) -> String {
    let several = models.into_iter().any(|other| other != model);
    let model = if several { format!("{model}: ") } else { String::new() };
    marked_name(&format!("{model}{method}"), simulated)
}

/// The reason why a cost is not known.
fn why_unknown(usage: &TaskUsage, cost: &Cost) -> &'static str {
    match (usage.unmetered > 0, cost.priced > 0 || cost.known_usd > 0.0) {
        (_, false) if usage.unmetered < usage.calls => "the model has no stated price",
        (true, _) => "the server did not count all tokens",
        (false, _) => "some calls ended without an answer, or have no stated price",
    }
}

/// The report of these cells, in their order. A solved task is a success, an unsolved one a failure, a failed
/// one an error; undecided and unfinished tasks are skipped, with the reason.
///
/// # Errors
/// `evaluate.junit`: the document cannot be written.
pub fn junit(cells: &[CellResult]) -> Result<String, Failure> {
    let mut report = Report::new("planforge evaluate");
    report.add_test_suites(cells.iter().map(suite));
    report.to_string().map_err(|e| {
        Failure::new(
            FailureClass::System,
            "evaluate.junit",
            format!("the JUnit document cannot be written: {e}"),
        )
    })
}

fn suite(cell: &CellResult) -> TestSuite {
    let name = format!("{}.{}.{}", cell.key.suite, cell.key.column(), cell.key.seed);
    let mut suite = TestSuite::new(plain(&name));
    suite.add_property(("run".to_owned(), plain(&cell.key.folder().display().to_string())));
    suite.add_test_cases(cell.tasks.iter().map(|task| case(&name, task)));
    suite
}

fn case(suite: &str, task: &TaskResult) -> TestCase {
    let mut status = match task.outcome {
        TaskOutcome::Solved => TestCaseStatus::success(),
        TaskOutcome::NotSolved => TestCaseStatus::non_success(NonSuccessKind::Failure),
        TaskOutcome::Failed => TestCaseStatus::non_success(NonSuccessKind::Error),
        TaskOutcome::Undecided | TaskOutcome::NotJudged | TaskOutcome::Unfinished => {
            TestCaseStatus::skipped()
        }
    };
    if task.outcome != TaskOutcome::Solved {
        let why = match (task.outcome, task.why.is_empty()) {
            (outcome, true) => outcome.name().to_owned(),
            (TaskOutcome::Undecided, false) => format!("undecided: {}", task.why),
            (_, false) => task.why.clone(),
        };
        status.set_type(task.outcome.name());
        status.set_message(plain(why.lines().next().unwrap_or_default()));
        status.set_description(plain(&why));
    }
    let mut case = TestCase::new(plain(&task.task), status);
    case.set_classname(plain(suite));
    if let Some(seconds) = task.seconds.filter(|s| s.is_finite() && *s >= 0.0) {
        case.set_time(std::time::Duration::from_secs_f64(seconds.min(1e9)));
    }
    case
}

/// Text that XML 1.0 can hold: what it forbids, also as a reference, is written as `\u{1b}`.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let allowed =
            matches!(c, '\t' | '\n' | '\r' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
        if allowed {
            out.push(c);
        } else {
            // A String takes every write.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::bare;

    #[test]
    fn each_outcome_has_its_word_and_what_xml_forbids_is_escaped() {
        use TaskOutcome::{Failed, NotSolved, Solved, Undecided, Unfinished};
        let mut cell = bare("garden", "llm-p", 7, 5);
        for (task, outcome) in cell.tasks.iter_mut().zip([Solved, NotSolved, Failed, Undecided, Unfinished]) {
            task.outcome = outcome;
        }
        cell.tasks[1].why = "a\u{1b}[31mred\u{0} <script>]]>&\u{ffff}\u{feff}\nsecond line".to_owned();
        cell.tasks[2].why = "provider.http: 500".to_owned();
        cell.tasks[3].why = "undecided at `plan`: time".to_owned();
        let text = junit(&[cell]).unwrap();
        assert!(
            text.contains("tests=\"5\"") && text.contains("failures=\"1\"") && text.contains("errors=\"1\""),
            "{text}"
        );
        assert_eq!(text.matches("<skipped").count(), 2, "{text}");
        assert!(
            text.contains("name=\"garden.llm-p.7\"") && text.contains("value=\"cells/garden/llm-p/7\""),
            "{text}"
        );
        assert!(text.contains("a\\u{1b}[31mred\\u{0}") && text.contains("\\u{ffff}"), "{text}");
        assert!(!text.contains("<script>") && !text.contains('\u{1b}') && !text.contains('\u{0}'), "{text}");
        // What was written is XML that reads back.
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!(report.test_suites[0].test_cases.len(), 5);
    }
}
