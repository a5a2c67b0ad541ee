//! Success of each method over the size and the axis of generated tasks.

use super::methods::{Run, Success};
use crate::chart::{Panel, Series, Style, svg};
use crate::results::{Evaluation, Rung};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use planforge_contract::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Success of one method on the tasks of one axis and size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LadderPoint {
    /// `PIPELINE`, or `PIPELINE@MODEL`.
    pub method: String,
    /// The property that makes the texts hard to read; `plain` for none.
    pub axis: String,
    /// Objects of the problems.
    pub size: usize,
    pub success: Success,
}

/// All methods, axes and sizes, in this order. Tasks that leave out a fact on purpose are not here: a plan alone does not show whether a
/// method found the gap.
pub fn ladder(evaluation: &Evaluation) -> Vec<LadderPoint> {
    let rungs: BTreeMap<(&str, &str), &Rung> = evaluation
        .tasks
        .iter()
        .filter_map(|facts| Some(((facts.suite.as_str(), facts.task.as_str()), facts.rung.as_ref()?)))
        .filter(|(_, rung)| !rung.gap)
        .collect();
    let mut groups: BTreeMap<(String, &str, usize), Vec<Run<'_>>> = BTreeMap::new();
    for cell in &evaluation.cells {
        let suite = cell.key.suite.as_str();
        for result in &cell.tasks {
            if let Some(rung) = rungs.get(&(suite, result.task.as_str())) {
                let run = Run { suite, result, level: None, size: Some(rung.size) };
                groups.entry((cell.key.column(), &rung.axis, rung.size)).or_default().push(run);
            }
        }
    }
    let point = |((method, axis, size), runs): ((String, &str, usize), Vec<Run<'_>>)| {
        Some(LadderPoint { method, axis: axis.to_owned(), size, success: Success::of(&runs)? })
    };
    groups.into_iter().filter_map(point).collect()
}

/// The points as CSV and JSON, and as a figure with one panel for each axis. Empty without points.
///
/// # Errors
/// `study.plot`: the document has no JSON form.
pub fn ladder_files(points: &[LadderPoint]) -> Result<Vec<Artefact>, Failure> {
    if points.is_empty() {
        return Ok(Vec::new());
    }
    let columns = [
        "method",
        "axis",
        "size",
        "solved",
        "tasks",
        "percent",
        "low",
        "high",
        "undecided",
        "failed",
        "unfinished",
    ];
    let mut table = Table::new(columns.map(|name| (name, Align::Left)));
    for LadderPoint { method, axis, size, success } in points {
        let two = |value: f64| format!("{value:.2}");
        table.row([
            method.clone(),
            axis.clone(),
            size.to_string(),
            two(success.solved),
            success.tasks.to_string(),
            two(success.percent),
            two(success.low),
            two(success.high),
            success.undecided.to_string(),
            success.failed.to_string(),
            success.unfinished.to_string(),
        ]);
    }
    let axes: BTreeSet<&str> = points.iter().map(|point| point.axis.as_str()).collect();
    let panels: Vec<Panel> = axes.into_iter().map(|axis| panel(points, axis)).collect();
    Ok(vec![
        Artefact::new("ladder.csv", table.csv()),
        Artefact::json("ladder.json", &points)?,
        Artefact::new("ladder.svg", svg(&panels, 3)),
    ])
}

/// One axis: a line with its 95 % intervals for each method. Points without a judged task are left out.
fn panel(points: &[LadderPoint], axis: &str) -> Panel {
    let methods: BTreeSet<&str> = points.iter().map(|point| point.method.as_str()).collect();
    let series = methods.into_iter().enumerate().map(|(number, method)| {
        let own: Vec<&LadderPoint> = points
            .iter()
            .filter(|point| point.method == method && point.axis == axis && point.success.tasks > 0)
            .collect();
        Series {
            label: Some(method.to_owned()),
            style: Style::Number(number),
            points: own.iter().map(|point| (point.size as f64, point.success.percent)).collect(),
            band: own.iter().map(|p| (p.size as f64, p.success.low, p.success.high)).collect(),
            errors: Vec::new(),
        }
    });
    let largest = points.iter().map(|point| point.size).max().unwrap_or_default();
    Panel {
        title: axis.to_owned(),
        x_label: "objects".to_owned(),
        y_label: "% of tasks solved".to_owned(),
        x: (0.0, largest.max(1) as f64),
        y: (0.0, 100.0),
        series: series.collect(),
        legend_right: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{CellKey, CellResult, CellState, Judges, TaskFacts, TaskOutcome, TaskResult};

    fn evaluation(outcomes: &[(&str, usize, TaskOutcome)]) -> Evaluation {
        let task = |(number, (_, _, outcome)): (usize, &(&str, usize, TaskOutcome))| {
            let mut task = TaskResult::unfinished(&format!("p{number}"), &Judges::default());
            task.outcome = *outcome;
            task
        };
        let key = CellKey { suite: "s".to_owned(), pipeline: "m".to_owned(), model: String::new(), seed: 1 };
        let mut cell = CellResult::unfinished(key, &[], &Judges::default());
        cell.state = CellState::Finished;
        cell.tasks = outcomes.iter().enumerate().map(task).collect();
        let judges = BTreeMap::from([("m".to_owned(), Judges::default())]);
        let mut evaluation = Evaluation::new(vec![1], &judges, vec![cell]);
        evaluation.tasks = outcomes
            .iter()
            .enumerate()
            .map(|(number, (axis, size, _))| TaskFacts {
                suite: "s".to_owned(),
                task: format!("p{number}"),
                level: 1,
                size: Some(*size),
                rung: Some(Rung { axis: (*axis).to_owned(), size: *size, gap: *axis == "gap" }),
            })
            .collect();
        evaluation
    }

    #[test]
    fn success_is_counted_for_each_axis_and_size_without_tasks_that_did_not_run() {
        use TaskOutcome::{NotSolved, Solved, Unfinished};
        let points = ladder(&evaluation(&[
            ("plain", 10, Solved),
            ("plain", 10, NotSolved),
            ("plain", 300, NotSolved),
            ("plain", 300, Unfinished),
            ("units", 10, Solved),
            ("gap", 10, Solved),
        ]));
        let figures: Vec<_> = points
            .iter()
            .map(|p| (p.axis.as_str(), p.size, p.success.solved, p.success.tasks, p.success.unfinished))
            .collect();
        assert_eq!(figures, [("plain", 10, 1.0, 2, 0), ("plain", 300, 0.0, 1, 1), ("units", 10, 1.0, 1, 0)]);
        let files = ladder_files(&points).unwrap();
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["ladder.csv", "ladder.json", "ladder.svg"]);
        assert!(
            files[0].contents.contains("m,plain,300,0.00,1,0.00,0.00,79.35,0,0,1"),
            "{}",
            files[0].contents
        );
        assert!(files[2].contents.contains(">plain<") && files[2].contents.contains(">units<"));
        assert!(ladder_files(&[]).unwrap().is_empty());
    }
}
