//! An evaluation as tables: the paper's Table 2, what it cost, and every cell.

use crate::results::{
    CellResult, CellState, Column, Evaluation, Row, SuiteStatus, Summary, TaskOutcome, lines_csv,
    lines_jsonl, task_lines, usd,
};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use crate::tables::{marked_name, why_unknown};
use planforge_contract::Failure;
use planforge_pipeline::Cost;
use std::collections::BTreeSet;

impl Evaluation {
    /// The files of an evaluation.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        let lines = task_lines(&self.cells);
        Ok(vec![
            Artefact::new("table.csv", self.table_csv()),
            Artefact::new("cells.csv", self.cells_csv()),
            Artefact::new("tasks.csv", lines_csv(&lines)),
            Artefact::new("tasks.jsonl", lines_jsonl(&lines)?),
            Artefact::new("evaluation.txt", self.text()),
            Artefact::json("evaluation.json", self)?,
        ])
    }

    /// Everything as text.
    pub fn text(&self) -> String {
        let mut out =
            format!("Best@{} (tasks solved / walk score)\n\n{}", self.seeds.len(), self.table().text());
        if self.rows.iter().flat_map(|row| &row.summaries).any(|s| s.open() > 0) {
            out += "\nOver all seeds: u tasks undecided, f failed, o not finished. They are not counted as solved; `?`: were they all \
                    solved, the figure would be another.\n";
        }
        let unusable: usize = self.cells.iter().map(CellResult::unusable).sum();
        if unusable > 0 {
            let tasks =
                if unusable == 1 { "1 task has".to_owned() } else { format!("{unusable} tasks have") };
            out += &format!(
                "\n{tasks} no usable reply (refused, without PDDL, cut off) and count as not solved.\n"
            );
        }
        if self.rows.iter().flat_map(|row| &row.summaries).any(|s| !s.walk_complete) {
            out += "\n*: the walk score speaks for fewer than all tasks, because some have none.\n";
        }
        out = out + "\n" + &self.cost_table().text();
        let unknown: BTreeSet<&str> =
            self.each().filter_map(|(_, column, summary)| cost_of(column, summary).1).collect();
        for why in unknown {
            out += &format!("\nCost unknown, or known in part: {why}.\n");
        }
        if self.columns.iter().any(|column| column.judges.bound.is_some()) {
            out += "\nn_p n_d c_max + N counts one problem a task; for each task that is refined n_p - 1 replies more go to its other \
                    problem candidates.\n";
        }
        out
    }

    /// Table 2: a row a suite, a column a pipeline.
    pub fn table(&self) -> Table {
        let columns = self
            .columns
            .iter()
            .map(|column| (marked_name(&column.name(), column.judges.simulated), Align::Left));
        let mut table = Table::new([("suite".to_owned(), Align::Left)].into_iter().chain(columns));
        for Row { suite, summaries } in &self.rows {
            table.row([suite.clone()].into_iter().chain(summaries.iter().map(cell)));
        }
        let two = |mean: Option<f64>| mean.map_or("-".to_owned(), |mean| format!("{mean:.2}"));
        let averages = self.columns.iter().map(|column| {
            let [solved, open, walk] =
                [column.average_solved, column.average_solved_open, column.average_walk]
                    .map(|m| m.map(|m| m.mean));
            let mark = if solved < open { "?" } else { "" };
            format!("{}{mark} / {}", two(solved), two(walk))
        });
        table.row(["average".to_owned()].into_iter().chain(averages));
        let solved = self.columns.iter().map(|column| {
            let open = if column.suites_open > 0 {
                format!(" ({} open)", column.suites_open)
            } else {
                String::new()
            };
            format!("{} of {}{open}", column.suites_solved, self.rows.len())
        });
        table.row(["suites solved".to_owned()].into_iter().chain(solved));
        table
    }

    /// Seeds solved, calls, replies against the paper's bound, tokens.
    pub fn cost_table(&self) -> Table {
        let words = ["suite", "pipeline"].map(|name| (name, Align::Left));
        let numbers =
            ["seeds solved", "calls", "replies", "n_p n_d c_max + N", "tokens in", "tokens out", "cost"]
                .map(|n| (n, Align::Right));
        let mut table = Table::new(words.into_iter().chain(numbers));
        for (row, column, summary) in self.each() {
            let cost = cost_of(column, summary);
            let column = column.name();
            let open = if summary.seeds_open > 0 {
                format!(" ({} open)", summary.seeds_open)
            } else {
                String::new()
            };
            let usage = &summary.usage;
            // A sum that the server did not count in full is a lower bound.
            let least = if usage.unmetered > 0 { ">= " } else { "" };
            table.row([
                row.to_owned(),
                column,
                format!("{} of {}{open}", summary.seeds_solved, summary.seeds),
                usage.calls.to_string(),
                usage.replies.to_string(),
                summary.reply_bound.map_or("-".to_owned(), |bound| bound.to_string()),
                format!("{least}{}", usage.prompt_tokens),
                format!("{least}{}", usage.completion_tokens),
                cost.0,
            ]);
        }
        table
    }

    fn each(&self) -> impl Iterator<Item = (&str, &Column, &Summary)> {
        self.rows.iter().flat_map(|row| {
            let columns = self.columns.iter().zip(&row.summaries);
            columns.map(|(column, summary)| (row.suite.as_str(), column, summary))
        })
    }

    /// One line a suite and column.
    pub fn table_csv(&self) -> String {
        let words = ["suite", "pipeline", "model", "standing"].map(|name| (name, Align::Left));
        let numbers = [
            "best_solved",
            "best_solved_if_open_solved",
            "best_walk",
            "walk_complete",
            "mean_solved",
            "mean_walk",
            "seeds",
            "seeds_solved",
            "seeds_open",
            "undecided",
            "failed",
            "unfinished",
            "calls",
            "replies",
            "reply_bound",
            "prompt_tokens",
            "completion_tokens",
            "unmetered",
            "cost_usd",
            "cost_known_usd",
        ];
        let mut table = Table::new(words.into_iter().chain(numbers.map(|name| (name, Align::Right))));
        let four = |value: Option<f64>| value.map_or(String::new(), |v| format!("{v:.4}"));
        for (row, column, s) in self.each() {
            let standing = match s.standing {
                SuiteStatus::Solved => "solved",
                SuiteStatus::NotSolved => "not-solved",
                SuiteStatus::Open => "open",
            };
            let mut line =
                vec![row.to_owned(), column.pipeline.clone(), column.model.clone(), standing.to_owned()];
            line.extend([four(Some(s.best_solved)), four(Some(s.best_solved_open)), four(s.best_walk)]);
            line.push(s.walk_complete.to_string());
            line.extend([s.mean_solved, s.mean_walk].map(|m| four(m.map(|m| m.mean))));
            let counts = [s.seeds, s.seeds_solved, s.seeds_open, s.undecided, s.failed, s.unfinished];
            line.extend(counts.map(|n| n.to_string()));
            line.extend([s.usage.calls, s.usage.replies].map(|n| n.to_string()));
            line.push(s.reply_bound.map_or(String::new(), |n| n.to_string()));
            line.extend(
                [s.usage.prompt_tokens, s.usage.completion_tokens, s.usage.unmetered].map(|n| n.to_string()),
            );
            line.extend(cost_columns(s.cost.as_ref()));
            table.row(line);
        }
        table.csv()
    }

    /// One line a cell.
    pub fn cells_csv(&self) -> String {
        let columns = [
            "suite",
            "pipeline",
            "model",
            "seed",
            "state",
            "tasks",
            "solved",
            "not_solved",
            "undecided",
            "failed",
            "unfinished",
            "walk_score",
            "reference_to_candidate",
            "candidate_to_reference",
            "walk_tasks",
            "calls",
            "replies",
            "prompt_tokens",
            "completion_tokens",
            "unmetered",
            "cost_usd",
            "cost_known_usd",
            "unusable",
        ];
        let mut table = Table::new(columns.map(|name| (name, Align::Left)));
        for cell in &self.cells {
            table.row(cell_line(cell));
        }
        table.csv()
    }
}

fn cell_line(cell: &CellResult) -> Vec<String> {
    use TaskOutcome::{Failed, NotJudged, NotSolved, Solved, Undecided, Unfinished};
    let key = &cell.key;
    let mut line = vec![key.suite.clone(), key.pipeline.clone(), key.model.clone(), key.seed.to_string()];
    line.push(match cell.state {
        CellState::Finished => "finished".to_owned(),
        CellState::Unfinished => "unfinished".to_owned(),
    });
    line.push(cell.tasks.len().to_string());
    let undecided = cell.count(Undecided) + cell.count(NotJudged);
    let counts =
        [cell.count(Solved), cell.count(NotSolved), undecided, cell.count(Failed), cell.count(Unfinished)];
    line.extend(counts.map(|count| count.to_string()));
    match &cell.walk {
        Some(walk) => {
            let figures = [walk.score, walk.reference_to_candidate, walk.candidate_to_reference];
            line.extend(figures.map(|v| format!("{v:.4}")));
            line.push(walk.tasks.to_string());
        }
        None => line.extend([""; 4].map(str::to_owned)),
    }
    let usage = &cell.usage;
    let counts = [usage.calls, usage.replies, usage.prompt_tokens, usage.completion_tokens, usage.unmetered];
    line.extend(counts.map(|n| n.to_string()));
    line.extend(cost_columns(cell.cost.as_ref()));
    line.push(cell.unusable().to_string());
    line
}

/// The cost for a table, and the reason if it is not known in full. A simulated model has none, nor has what did not run.
fn cost_of(column: &Column, summary: &Summary) -> (String, Option<&'static str>) {
    let usage = &summary.usage;
    match &summary.cost {
        _ if column.judges.simulated => ("simulated".to_owned(), None),
        _ if usage.requests() == 0 => ("-".to_owned(), None),
        Some(cost) => (cost.text(), (cost.unpriced > 0).then(|| why_unknown(usage, cost))),
        None => ("?".to_owned(), Some("it was not computed")),
    }
}

/// US dollars for all of it, empty where a part is unknown; and for the part that is known, empty where nothing is.
fn cost_columns(cost: Option<&Cost>) -> [String; 2] {
    let known = cost.filter(|cost| cost.unpriced == 0 || cost.priced > 0 || cost.known_usd > 0.0);
    [cost.and_then(Cost::usd), known.map(|cost| cost.known_usd)].map(usd)
}

/// `0.70 / 0.72`, followed by open tasks: `0.70? / 0.72 (2u 1f)`. Without a decision there is no figure.
fn cell(summary: &Summary) -> String {
    let open = summary.open();
    let walk = match summary.best_walk {
        Some(score) => format!("{score:.2}{}", if summary.walk_complete { "" } else { "*" }),
        None => "-".to_owned(),
    };
    if open == summary.tasks {
        let word = match (summary.failed == open, summary.undecided == open, summary.unfinished == open) {
            (true, _, _) => "failed",
            (_, true, _) => "undecided",
            (_, _, true) => "not run",
            _ => "open",
        };
        return format!("{word} / {walk}");
    }
    let mark = if summary.best_solved_open > summary.best_solved { "?" } else { "" };
    let counts: Vec<String> = [(summary.undecided, "u"), (summary.failed, "f"), (summary.unfinished, "o")]
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, letter)| format!("{n}{letter}"))
        .collect();
    let counts = if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(" ")) };
    format!("{:.2}{mark} / {walk}{counts}", summary.best_solved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Bound, CellKey, Judges, PluginFacts, WalkFigures, bare};
    use planforge_contract::{Assessment, Candidate, Decision, Measure};
    use planforge_pipeline::{RunReport, RunState, TaskReport, TaskUsage};
    use planforge_record::TaskVerdict;
    use serde_json::json;
    use std::collections::BTreeMap;

    /// A cell of ten tasks; each letter is a task: s, n, u, f, o.
    fn made(suite: &str, pipeline: &str, seed: u64, tasks: &str, walk: Option<f64>) -> CellResult {
        let mut cell = bare(suite, pipeline, seed, tasks.len());
        for (task, letter) in cell.tasks.iter_mut().zip(tasks.chars()) {
            task.outcome = match letter {
                's' => TaskOutcome::Solved,
                'n' => TaskOutcome::NotSolved,
                'u' => TaskOutcome::Undecided,
                'f' => TaskOutcome::Failed,
                _ => TaskOutcome::Unfinished,
            };
            (task.reference_to_candidate, task.candidate_to_reference) = (walk, walk);
        }
        cell.walk = walk.map(|score| WalkFigures {
            score,
            reference_to_candidate: score,
            candidate_to_reference: score,
            tasks: tasks.len(),
        });
        cell.usage = TaskUsage {
            calls: 5,
            replies: 20,
            prompt_tokens: 100,
            completion_tokens: 50,
            ..TaskUsage::default()
        };
        cell.cost = Some(Cost { known_usd: 0.5, priced: 5, unpriced: u64::from(pipeline == "tree") });
        cell
    }

    fn evaluation() -> Evaluation {
        let cells = vec![
            made("garden", "intrinsic", 42, "ssssnnnnnn", None),
            made("garden", "intrinsic", 43, "nnnnnnnnnn", None),
            made("garden", "pd-tree", 42, "sssssssnnn", Some(0.5)),
            made("garden", "pd-tree", 43, "ssssssssss", Some(0.9)),
            made("parcels", "intrinsic", 42, "ffffffffff", None),
            made("parcels", "intrinsic", 43, "ffffffffff", None),
            made("parcels", "pd-tree", 42, "ssssnuunnf", Some(1.0)),
            made("parcels", "pd-tree", 43, "nnnnnnnnnn", Some(0.2)),
        ];
        let tree = Judges {
            bound: Some(Bound { problems: 5, domains: 10, rounds: 4, each_task: false }),
            ..Judges::default()
        };
        Evaluation::new(vec![42, 43], &BTreeMap::from([("pd-tree".to_owned(), tree)]), cells)
    }

    #[test]
    fn the_table_has_the_papers_layout_and_shows_open_tasks() {
        let text = evaluation().table().text();
        let expected = "\
suite          intrinsic    pd-tree
-------------  -----------  ---------------------
garden         0.40 / -     1.00 / 0.90
parcels        failed / -   0.40? / 1.00 (2u 1f)
average        0.20? / -     0.70? / 0.95
suites solved  0 of 2 (1 open)  1 of 2 (1 open)
";
        let squeeze = |t: &str| {
            t.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
        };
        let (found, wanted) = (squeeze(&text), squeeze(expected));
        assert_eq!(found[2..], wanted[2..], "{text}");
    }

    #[test]
    fn the_table_lists_seeds_and_costs() {
        let evaluation = evaluation();
        let tree = &evaluation.rows[0].summaries[1];
        assert_eq!((tree.seeds_solved, tree.seeds_open, tree.standing), (2, 0, SuiteStatus::Solved));
        // 5 * 10 * 4 + 10, for two seeds.
        assert_eq!((tree.usage.replies, tree.reply_bound), (40, Some(420)));
        let open = &evaluation.rows[1].summaries[1];
        assert_eq!((open.seeds_solved, open.seeds_open, open.standing), (0, 1, SuiteStatus::Open));
        let text = evaluation.text();
        assert!(text.starts_with("Best@2") && text.contains("u tasks undecided"), "{text}");
        assert!(text.contains("420"), "{text}");
    }

    #[test]
    fn the_files_hold_every_cell() {
        let evaluation = evaluation();
        let files = evaluation.artefacts().unwrap();
        let lines = |name: &str| files.iter().find(|f| f.name == name).unwrap().contents.lines().count();
        assert_eq!((lines("table.csv"), lines("cells.csv"), lines("tasks.csv")), (5, 9, 81));
        let json = &files.iter().find(|f| f.name == "evaluation.json").unwrap().contents;
        assert_eq!(serde_json::from_str::<Evaluation>(json).unwrap(), evaluation);
    }

    #[test]
    fn a_verifier_from_outside_fills_the_columns_of_its_measures() {
        let pipeline = serde_json::from_value(json!({"schema": 1, "stage": [
            {"do": "verify", "label": "walk", "use": "my-walks"},
            {"do": "verify", "label": "valid", "use": "my-plans"},
        ]}))
        .unwrap();
        let judges = Judges::of(&pipeline, |id| {
            let measure = if id == "my-walks" { Measure::WalkScore } else { Measure::PlanValidity };
            Some(PluginFacts { measures: vec![measure], ..PluginFacts::default() })
        });
        let mut walk = Assessment::new(Decision::Rejected, "");
        walk.metrics.insert("reference_to_candidate".to_owned(), 0.5);
        walk.metrics.insert("candidate_to_reference".to_owned(), 1.0);
        let valid = Assessment::new(Decision::Accepted, "");
        let assessments = BTreeMap::from([("walk".to_owned(), walk), ("valid".to_owned(), valid)]);
        let task = TaskReport {
            task: "garden.p01".to_owned(),
            suite: "garden".to_owned(),
            stem: "p01".to_owned(),
            verdict: Some(TaskVerdict::Rejected { stage: "walk".to_owned(), message: "below 1".to_owned() }),
            candidate: Some(Candidate { assessments, ..Candidate::default() }),
            ..TaskReport::default()
        };
        let state = RunState::Finished;
        let report = RunReport { schema: 1, state, tasks: vec![task], prices: BTreeMap::new() };
        let key =
            CellKey { suite: "garden".to_owned(), pipeline: "p".to_owned(), model: String::new(), seed: 1 };
        let cell = CellResult::of(key, &report, &judges);
        let evaluation = Evaluation::new(vec![1], &BTreeMap::from([("p".to_owned(), judges)]), vec![cell]);
        assert!(evaluation.table().text().contains("1.00 / 0.67"), "{}", evaluation.table().text());
    }
}
