//! The test-time-scaling paper's Table 5: plan accuracy by domain, models that plan by themselves above
//! methods that write PDDL; and the classes of failure of models' plans (its section 4.6).

use crate::results::{
    AskedFor, CellResult, CountsAs, Evaluation, OpenReason, PLAN_FAILURES, TaskResult, counts_as_solved,
};
use crate::sums::Artefact;
use crate::table::{Align, Table};
use crate::tables::name_with_model;
use planforge_contract::Failure;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A method on one domain, over all seeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlansCell {
    /// Tasks over all seeds.
    pub tasks: usize,
    /// Tasks whose plan is valid.
    pub solved: usize,
    /// Open tasks, by reason. Those that did not end are in no figure.
    pub open: Vec<(OpenReason, usize)>,
    /// Tasks that ended and whose domain was written from another task of the suite.
    #[serde(skip_serializing_if = "is_zero")]
    pub held_back: usize,
    /// Those of them whose plan is valid.
    #[serde(skip_serializing_if = "is_zero")]
    pub held_back_solved: usize,
    /// The tasks that the domain was written from, if there are held-back ones.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub written_from: BTreeSet<String>,
    /// Tasks for which at least one of the plans that were judged is valid: Pass@k. Absent where the journals were not read.
    pub any: Option<usize>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // The signature that serde calls.
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A method with a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlansRow {
    /// The models of the pipeline.
    pub model: String,
    /// The method's name.
    pub method: String,
    pub pipeline: String,
    /// True if a model is simulated.
    pub simulated: bool,
    /// True if the model plans by itself, so that nobody writes PDDL.
    pub plans_itself: bool,
    /// By domain.
    pub cells: BTreeMap<String, PlansCell>,
    /// Plans that were judged, over all domains and seeds.
    pub plans: u64,
    /// Those of them that are valid.
    pub valid: u64,
    /// Those of each class of failure, by the metric's name. A plan may be of several.
    pub failures: BTreeMap<String, u64>,
}

/// The whole table.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Plans {
    /// Version of this document, 1.
    pub schema: u32,
    pub domains: Vec<String>,
    /// The methods: those that plan by themselves first.
    pub rows: Vec<PlansRow>,
}

impl Plans {
    /// Puts evaluations together. `methods` gives pipelines other names.
    pub fn new(evaluations: &[&Evaluation], methods: &BTreeMap<String, String>) -> Self {
        let mut table = Self { schema: 1, ..Self::default() };
        for evaluation in evaluations {
            for row in &evaluation.rows {
                if !table.domains.contains(&row.suite) {
                    table.domains.push(row.suite.clone());
                }
            }
            for column in &evaluation.columns {
                let own: Vec<&CellResult> =
                    evaluation.cells.iter().filter(|cell| column.holds(&cell.key)).collect();
                let row = PlansRow {
                    model: column.model_name(),
                    method: methods.get(&column.pipeline).unwrap_or(&column.pipeline).clone(),
                    pipeline: column.pipeline.clone(),
                    simulated: column.judges.simulated,
                    plans_itself: column.judges.asked_for == AskedFor::Plan,
                    cells: BTreeMap::new(),
                    plans: 0,
                    valid: 0,
                    failures: BTreeMap::new(),
                };
                // The same pipeline over other suites shares the row.
                let same = |known: &PlansRow| (&known.model, &known.pipeline) == (&row.model, &row.pipeline);
                let at = table.rows.iter().position(same).unwrap_or(table.rows.len());
                if at == table.rows.len() {
                    table.rows.push(row);
                }
                for cell in own {
                    table.rows[at].take(cell);
                }
            }
        }
        // Stable: methods keep their order.
        table.rows.sort_by_key(|row| !row.plans_itself);
        table
    }

    /// The files that hold it.
    ///
    /// # Errors
    /// `study.plot`: the document has no JSON form.
    pub fn artefacts(&self) -> Result<Vec<Artefact>, Failure> {
        Artefact::of_table("plans", [self.csv(), self.markdown(), self.text()], self)
    }

    /// The tables for a terminal.
    pub fn text(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.text()))
    }

    /// The tables as Markdown.
    pub fn markdown(&self) -> String {
        self.render_sections(|title, table| format!("{title}\n\n{}", table.markdown()))
    }

    fn render_sections(&self, one: impl Fn(&str, &Table) -> String) -> String {
        let mut parts = vec![one("Plan accuracy: % of tasks whose plan is valid", &self.table(figure))];
        if self.has_held_back() {
            let title = "Held-back tasks: % of the tasks that the domain was not written from whose plan is valid, of how many";
            parts.push(one(title, &self.table(held_back_figure)));
            parts.push(format!("The domains were written from {}.\n", self.written_from()));
        }
        // With one plan a task Pass@k is the accuracy itself.
        if self.rows.iter().any(|row| row.most_plans() > 1) {
            let title = "Pass@k: % of tasks for which at least one of the k plans that were judged is valid";
            parts.push(one(title, &self.table(pass_figure)));
        }
        if self.rows.iter().any(|row| !row.failures.is_empty()) {
            parts.push(one("How plans fail, over all domains and seeds", &self.failures()));
        }
        let mut out = parts.join("\n");
        if self.rows.iter().flat_map(|row| row.cells.values()).any(|cell| !cell.open.is_empty()) {
            out += "\n`?`: some tasks were not decided or broke; they are in no figure but 100 %. Tasks that did not end are in none.\n";
        }
        out
    }

    /// True if a method judges a domain on tasks that it was not written from.
    fn has_held_back(&self) -> bool {
        self.rows.iter().flat_map(|row| row.cells.values()).any(|cell| cell.held_back > 0)
    }

    /// `blocks p01, parcels p02`.
    fn written_from(&self) -> String {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let named = cells
            .flat_map(|(domain, cell)| cell.written_from.iter().map(move |task| format!("{domain} {task}")));
        let named: BTreeSet<String> = named.collect();
        named.into_iter().collect::<Vec<_>>().join(", ")
    }

    fn table(&self, show: fn(&PlansCell) -> String) -> Table {
        let words = ["method", "setting"].map(|name| (name.to_owned(), Align::Left));
        let domains = self.domains.iter().map(|domain| (domain.clone(), Align::Right));
        let mut table = Table::new(words.into_iter().chain(domains));
        for row in &self.rows {
            let shown = self.domains.iter().map(|domain| row.cells.get(domain).map_or("-".to_owned(), show));
            let setting = if row.plans_itself { "LLM as planner" } else { "PDDL as abstraction" };
            table.row([self.name(row), setting.to_owned()].into_iter().chain(shown));
        }
        table
    }

    fn failures(&self) -> Table {
        let names = PLAN_FAILURES.iter().map(|(_, words)| (format!("{words} %"), Align::Right));
        let first = [
            ("method".to_owned(), Align::Left),
            ("plans".to_owned(), Align::Right),
            ("valid %".to_owned(), Align::Right),
        ];
        let mut table = Table::new(first.into_iter().chain(names));
        for row in self.rows.iter().filter(|row| row.plans > 0) {
            let share = |n: u64| format!("{:.1}", 100.0 * n as f64 / row.plans as f64);
            let failures =
                PLAN_FAILURES.iter().map(|(name, _)| share(row.failures.get(*name).copied().unwrap_or(0)));
            table.row([self.name(row), row.plans.to_string(), share(row.valid)].into_iter().chain(failures));
        }
        table
    }

    fn name(&self, row: &PlansRow) -> String {
        let models = self.rows.iter().map(|row| row.model.as_str());
        name_with_model(models, &row.model, &row.method, row.simulated)
    }

    /// One line a method and domain, with counts of held-back tasks if there are any; the classes of failure are those of the method's plans over all domains.
    pub fn csv(&self) -> String {
        let words =
            ["model", "method", "simulated", "plans_itself", "domain", "tasks", "solved", "open", "any"];
        let failures = PLAN_FAILURES.iter().map(|(name, _)| format!("method_{name}"));
        let totals = ["method_plans", "method_valid"].map(str::to_owned).into_iter().chain(failures);
        let held_back = self.has_held_back();
        let further = ["held_back", "held_back_solved"].map(str::to_owned).into_iter().filter(|_| held_back);
        let header = words.map(str::to_owned).into_iter().chain(totals).chain(further);
        let mut table = Table::new(header.map(|name| (name, Align::Left)));
        for row in &self.rows {
            for (domain, cell) in &row.cells {
                let mut line = vec![row.model.clone(), row.method.clone()];
                line.extend([row.simulated, row.plans_itself].map(|b| b.to_string()));
                line.push(domain.clone());
                let open = cell.open.iter().map(|(_, n)| n).sum::<usize>();
                line.extend([cell.tasks, cell.solved, open].map(|n| n.to_string()));
                line.push(cell.any.map_or(String::new(), |n| n.to_string()));
                line.extend([row.plans, row.valid].map(|n| n.to_string()));
                let count = |name: &str| row.failures.get(name).copied().unwrap_or(0).to_string();
                line.extend(PLAN_FAILURES.iter().map(|(name, _)| count(name)));
                let further = [cell.held_back, cell.held_back_solved].map(|n| n.to_string());
                line.extend(further.into_iter().filter(|_| held_back));
                table.row(line);
            }
        }
        table.csv()
    }
}

impl PlansRow {
    fn take(&mut self, cell: &CellResult) {
        let place = self.cells.entry(cell.key.suite.clone()).or_default();
        if cell.tasks.iter().any(|task| task.held_back) {
            let leads = cell.tasks.iter().filter(|task| !task.held_back);
            place.written_from.extend(leads.map(|task| task.task.clone()));
        }
        for task in &cell.tasks {
            place.take(task);
            let Some(tries) = task.plans.as_ref().filter(|_| !is_unfinished(task)) else { continue };
            self.plans += tries.plans;
            self.valid += tries.valid;
            for (name, n) in &tries.failures {
                *self.failures.entry(name.clone()).or_default() += n;
            }
        }
    }

    /// Plans a task that ended, on average and rounded up.
    fn most_plans(&self) -> u64 {
        let ended: usize = self.cells.values().map(|cell| cell.tasks - cell.not_run()).sum();
        self.plans.div_ceil(ended.max(1) as u64)
    }
}

impl PlansCell {
    fn take(&mut self, task: &TaskResult) {
        self.tasks += 1;
        let counts = counts_as_solved(task);
        if task.held_back && !is_unfinished(task) {
            self.held_back += 1;
            self.held_back_solved += usize::from(matches!(counts, CountsAs::For));
        }
        match counts {
            CountsAs::For => self.solved += 1,
            CountsAs::Against => {}
            CountsAs::Open(why) => match self.open.iter_mut().find(|(known, _)| *known == why) {
                Some((_, n)) => *n += 1,
                None => self.open.push((why, 1)),
            },
        }
        if let Some(tries) = task.plans.as_ref().filter(|_| !is_unfinished(task)) {
            *self.any.get_or_insert(0) += usize::from(tries.valid > 0);
        }
    }

    /// Tasks that did not end.
    fn not_run(&self) -> usize {
        let unfinished = self.open.iter().find(|(why, _)| *why == OpenReason::Unfinished);
        unfinished.map_or(0, |(_, n)| *n)
    }
}

/// True if a task did not end, so that it is in no figure.
fn is_unfinished(task: &TaskResult) -> bool {
    matches!(counts_as_solved(task), CountsAs::Open(OpenReason::Unfinished))
}

fn figure(cell: &PlansCell) -> String {
    percent(cell.solved, cell)
}

fn held_back_figure(cell: &PlansCell) -> String {
    match cell.held_back {
        0 => "-".to_owned(),
        tasks => format!("{:.1} ({tasks})", 100.0 * cell.held_back_solved as f64 / tasks as f64),
    }
}

fn pass_figure(cell: &PlansCell) -> String {
    cell.any.map_or("-".to_owned(), |any| percent(any, cell))
}

/// `50.0`, `50.0?`, or with tasks that did not end `50.0 (2 of 4, 3 not run)`.
fn percent(n: usize, cell: &PlansCell) -> String {
    let not_run = cell.not_run();
    let ended = cell.tasks - not_run;
    if ended == 0 {
        return "not run".to_owned();
    }
    let mark = if cell.open.iter().all(|(why, _)| *why == OpenReason::Unfinished) { "" } else { "?" };
    let share = format!("{:.1}{mark}", 100.0 * n as f64 / ended as f64);
    if not_run == 0 { share } else { format!("{share} ({n} of {ended}, {not_run} not run)") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{Judges, PlanTries, TaskOutcome, bare};

    fn evaluation() -> Evaluation {
        let of = |asked_for| Judges { asked_for, ..Judges::default() };
        let judges = BTreeMap::from([
            ("bon".to_owned(), of(AskedFor::NL2Domain)),
            ("pass-8".to_owned(), of(AskedFor::Plan)),
        ]);
        let mut planner = bare("termes", "pass-8", 1, 4);
        let failures = BTreeMap::from([("rule_violation".to_owned(), 6)]);
        planner.tasks[0].plans = Some(PlanTries { plans: 8, valid: 2, failures });
        planner.tasks[1].plans = Some(PlanTries { plans: 8, valid: 0, failures: BTreeMap::new() });
        planner.tasks[2].outcome = TaskOutcome::Failed;
        let mut bon = bare("termes", "bon", 1, 2);
        bon.tasks[0].outcome = TaskOutcome::Solved;
        Evaluation::new(vec![1], &judges, vec![bon, planner])
    }

    #[test]
    fn tasks_that_the_domain_was_not_written_from_have_their_own_table() {
        let judges = BTreeMap::from([("bon".to_owned(), Judges::default())]);
        let mut cell = bare("termes", "bon", 1, 4);
        cell.tasks[0].outcome = TaskOutcome::Solved;
        for task in &mut cell.tasks[1..] {
            task.held_back = true;
        }
        cell.tasks[2].outcome = TaskOutcome::Solved;
        let table = Plans::new(&[&Evaluation::new(vec![1], &judges, vec![cell])], &BTreeMap::new());
        let text = table.text();
        assert!(text.contains("50.0") && text.contains("33.3 (3)"), "{text}");
        assert!(text.contains("\nThe domains were written from termes p01.\n"), "{text}");
        let csv = table.csv();
        assert!(csv.lines().next().unwrap().ends_with(",held_back,held_back_solved"), "{csv}");
        assert!(csv.lines().nth(1).unwrap().ends_with(",3,1"), "{csv}");
        let without = Plans::new(&[&evaluation()], &BTreeMap::new());
        assert!(!without.text().contains("Held-back") && !without.csv().contains("held_back"));
    }

    #[test]
    fn tasks_that_did_not_end_are_in_no_figure() {
        let judges =
            BTreeMap::from([("bon".to_owned(), Judges::default()), ("none".to_owned(), Judges::default())]);
        let mut part = bare("termes", "bon", 1, 5);
        part.tasks[0].outcome = TaskOutcome::Solved;
        let mut none = bare("termes", "none", 1, 5);
        for task in part.tasks[2..].iter_mut().chain(&mut none.tasks) {
            task.outcome = TaskOutcome::Unfinished;
        }
        // A valid plan, then a stop before the task's end; k is that of the tasks that ended.
        let tries = |valid| Some(PlanTries { plans: 2, valid, failures: BTreeMap::new() });
        part.tasks[0].plans = tries(0);
        part.tasks[1].plans = tries(0);
        part.tasks[2].plans = tries(1);
        let table = Plans::new(&[&Evaluation::new(vec![1], &judges, vec![part, none])], &BTreeMap::new());
        assert_eq!((table.rows[0].plans, table.rows[0].valid), (4, 0));
        assert_eq!(table.rows[0].most_plans(), 2);
        let text = table.text();
        assert!(text.contains("50.0 (1 of 2, 3 not run)") && text.contains("  not run"), "{text}");
        let pass = text.split_once("Pass@k").unwrap().1;
        assert!(pass.contains(" 0.0 (0 of 2, 3 not run)"), "{text}");
        assert!(!text.contains("0.0?"), "{text}");
    }

    #[test]
    fn planners_come_first_and_pass_at_k_counts_any_plan() {
        let names = BTreeMap::from([("pass-8".to_owned(), "Pass@8".to_owned())]);
        let table = Plans::new(&[&evaluation()], &names);
        assert_eq!(table.rows.iter().map(|row| row.method.as_str()).collect::<Vec<_>>(), ["Pass@8", "bon"]);
        let planner = &table.rows[0];
        assert_eq!((planner.plans, planner.valid, planner.cells["termes"].any), (16, 2, Some(1)));
        let text = table.text();
        let lines = |title: &str| {
            let at = text.lines().position(|line| line.starts_with(title)).unwrap();
            text.lines()
                .skip(at + 4)
                .take(2)
                .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            lines("Plan accuracy"),
            ["Pass@8 LLM as planner 0.0?", "bon PDDL as abstraction 50.0"],
            "{text}"
        );
        assert_eq!(lines("Pass@k")[0], "Pass@8 LLM as planner 25.0?");
        assert!(text.contains("37.5"), "6 of 16 plans break a rule: {text}");
        assert_eq!(table.csv().lines().count(), 3);
    }
}
