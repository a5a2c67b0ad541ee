//! The papers' tables and figures as layouts of an [`Evaluation`](crate::results::Evaluation).

mod domain_generators;
mod exploration_walks;
mod ladder;
mod methods;
mod test_time_scaling;
mod translate_infer_compile;

pub use domain_generators::{
    ClassColumn, ClassFigures, ClassRow, ClassSettings, Classes, ListedSuspect, Sizes, SuiteClasses,
    class_figures, size_of,
};
pub use ladder::{LadderPoint, ladder, ladder_files};
pub use methods::{Group, MethodResult, Methods, OPEN, Success};
pub use test_time_scaling::{
    Criterion, Curve, CurvePoint, Delta, Plans, PlansCell, PlansRow, Rate, Scaling, ScalingCell, ScalingRow,
    curve_files, curves,
};
pub use translate_infer_compile::{Accuracy, AccuracyCell, AccuracyColumn, Share};

use crate::results::{CellResult, TaskOutcome, TaskResult};
use planforge_pipeline::{Cost, TaskUsage};
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
pub(crate) fn why_unknown(usage: &TaskUsage, cost: &Cost) -> &'static str {
    match (usage.unmetered > 0, cost.priced > 0 || cost.known_usd > 0.0) {
        (_, false) if usage.unmetered < usage.calls => "the model has no stated price",
        (true, _) => "the server did not count all tokens",
        (false, _) => "some calls ended without an answer, or have no stated price",
    }
}

/// The report of these cells as JUnit XML, in their order. A solved task is a success, an unsolved one a failure, a failed
/// one an error; undecided and unfinished tasks are skipped, with the reason.
pub fn junit(cells: &[CellResult]) -> String {
    let all = || cells.iter().flat_map(|cell| &cell.tasks);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"planforge evaluate\" tests=\"{}\" skipped=\"{}\" \
         failures=\"{}\" errors=\"{}\">\n",
        all().count(),
        count_elements(all(), "skipped"),
        count_elements(all(), "failure"),
        count_elements(all(), "error"),
    );
    for cell in cells {
        add_suite(&mut xml, cell);
    }
    xml + "</testsuites>\n"
}

/// The element that a task's outcome becomes; a success has none.
fn element(outcome: TaskOutcome) -> Option<&'static str> {
    match outcome {
        TaskOutcome::Solved => None,
        TaskOutcome::NotSolved => Some("failure"),
        TaskOutcome::Failed => Some("error"),
        TaskOutcome::Undecided | TaskOutcome::NotJudged | TaskOutcome::Unfinished => Some("skipped"),
    }
}

fn count_elements<'t>(tasks: impl Iterator<Item = &'t TaskResult>, name: &str) -> usize {
    tasks.filter(|task| element(task.outcome) == Some(name)).count()
}

fn add_suite(xml: &mut String, cell: &CellResult) {
    let name = escape(&format!("{}.{}.{}", cell.key.suite, cell.key.column(), cell.key.seed));
    let folder = escape(&cell.key.folder().display().to_string());
    // A String takes every write.
    let _ = writeln!(
        xml,
        "    <testsuite name=\"{name}\" tests=\"{}\" skipped=\"{}\" errors=\"{}\" failures=\"{}\">\n        <properties>\n            \
         <property name=\"run\" value=\"{folder}\"/>\n        </properties>",
        cell.tasks.len(),
        count_elements(cell.tasks.iter(), "skipped"),
        count_elements(cell.tasks.iter(), "error"),
        count_elements(cell.tasks.iter(), "failure"),
    );
    for task in &cell.tasks {
        add_case(xml, &name, task);
    }
    xml.push_str("    </testsuite>\n");
}

fn add_case(xml: &mut String, suite: &str, task: &TaskResult) {
    let _ = write!(xml, "        <testcase name=\"{}\" classname=\"{suite}\"", escape(&task.task));
    if let Some(seconds) = task.seconds.filter(|s| s.is_finite() && *s >= 0.0) {
        let _ = write!(xml, " time=\"{:.3}\"", seconds.min(1e9));
    }
    let Some(element) = element(task.outcome) else {
        xml.push_str("/>\n");
        return;
    };
    let why = match (task.outcome, task.why.is_empty()) {
        (outcome, true) => outcome.name().to_owned(),
        (TaskOutcome::Undecided, false) => format!("undecided: {}", task.why),
        (_, false) => task.why.clone(),
    };
    let _ = writeln!(
        xml,
        ">\n            <{element} message=\"{}\" type=\"{}\">{}</{element}>\n        </testcase>",
        escape(why.lines().next().unwrap_or_default()),
        escape(task.outcome.name()),
        escape(&why)
    );
}

/// Text for XML 1.0: what it forbids, also as a reference, is written as `\u{1b}`; tabs and carriage returns are left out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&apos;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\r' => {}
            '\n' | ' '..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
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
        let text = junit(&[cell]);
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
        // What was written reads back, and is what others write.
        let report = quick_junit::Report::deserialize_from_str(&text).unwrap();
        assert_eq!(report.test_suites[0].test_cases.len(), 5);
        assert_eq!(report.to_string().unwrap(), text);
    }
}
