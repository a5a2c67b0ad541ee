//! The ranking of the methods of an evaluation by the tasks that they solve, with tests of the first one's lead.

use super::figures::success_test;
use super::pairs::{Clusters, pair};
use super::tables::p_equation;
use super::{Cluster, Observed, Settings};
use crate::results::{Column, Evaluation, TaskOutcome};
use crate::statistics::holm;
use planforge_diagnostics::render::escape;
use serde::Serialize;
use std::fmt::Write as _;

/// The methods of an evaluation, the one that solves most tasks first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The methods.
    pub methods: Vec<RankedMethod>,
    /// Number of pairs of methods that were tested.
    pub tests: usize,
}

/// A method of a [`Ranking`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedMethod {
    /// The name of its column.
    pub name: String,
    /// Tasks that it solves.
    pub solved: usize,
    /// All its tasks.
    pub tasks: usize,
    /// The p-value of the difference from the first method, corrected for all pairs of methods; absent for the first, and where no task is
    /// decided for both.
    pub p: Option<f64>,
    /// True if the first method is shown to be better than this one.
    pub is_worse: bool,
    /// True if this method, not the first, solves more of the tasks that are decided for both.
    pub is_ahead: bool,
}

/// p-values up to this one show a difference.
const SIGNIFICANT: f64 = 0.05;

impl Ranking {
    /// Ranks the methods. `None` for fewer than two.
    ///
    /// Each pair of methods has the exact test of [`super::compare`]; Holm's correction is over all pairs, because the first method is chosen
    /// by the same results. Suites are the trials of two methods if one of them writes one domain for all tasks of a suite.
    pub fn new(evaluation: &Evaluation) -> Option<Self> {
        let mut methods: Vec<(RankedMethod, Observed)> =
            evaluation.columns.iter().map(|column| observed(evaluation, column)).collect();
        if methods.len() < 2 {
            return None;
        }
        methods.sort_by_key(|(method, _)| std::cmp::Reverse(method.solved));
        let pairs = (0..methods.len()).flat_map(|a| (a + 1..methods.len()).map(move |b| (a, b)));
        let tests: Vec<(usize, usize, Lead)> =
            pairs.filter_map(|(a, b)| Some((a, b, test(&methods.get(a)?.1, &methods.get(b)?.1)?))).collect();
        let adjusted = holm(&tests.iter().map(|(.., lead)| lead.p).collect::<Vec<f64>>());
        for ((_, b, lead), p) in tests.iter().zip(adjusted).filter(|((a, ..), _)| *a == 0) {
            if let Some((method, _)) = methods.get_mut(*b) {
                method.p = Some(p);
                method.is_worse = lead.ahead < 0 && p <= SIGNIFICANT;
                method.is_ahead = lead.ahead > 0;
            }
        }
        let methods = methods.into_iter().map(|(method, _)| method).collect();
        Some(Self { methods, tests: tests.len() })
    }

    /// The result in at most three sentences: the best method, and the p-value of its lead.
    pub fn text(&self) -> String {
        let [first, others @ ..] = self.methods.as_slice() else { return String::new() };
        if self.tests == 0 {
            return "No method can be compared with another: no task is decided for two of them.".to_owned();
        }
        let (worse, level): (Vec<&RankedMethod>, Vec<&RankedMethod>) =
            others.iter().partition(|other| other.is_worse);
        let score = |method: &RankedMethod| format!("{} of {}", method.solved, method.tasks);
        let list = |methods: &[&RankedMethod]| -> String {
            let one = |method: &&RankedMethod| {
                let p = method.p.map_or_else(|| "not tested".to_owned(), p_equation);
                let ahead = if method.is_ahead { ", ahead on the tasks decided for both" } else { "" };
                format!("{} ({}{ahead}, {p})", escape(&method.name), score(method))
            };
            methods.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let (name, solved) = (escape(&first.name), score(first));
        let mut text = match (worse.is_empty(), level.is_empty()) {
            (_, true) => format!("Best: {name} solves {solved} tasks, more than {}.", list(&worse)),
            (true, _) => format!(
                "No method is shown to be the best: {name} ({solved} tasks solved) is not shown to be better than {}.",
                list(&level)
            ),
            _ => format!(
                "{name} solves {solved} tasks. It is better than {}, but not shown to be better than {}.",
                list(&worse),
                list(&level)
            ),
        };
        if self.tests > 1 {
            let _ = write!(text, " p-values are corrected for {} pairs of methods.", self.tests);
        }
        text
    }
}

fn observed(evaluation: &Evaluation, column: &Column) -> (RankedMethod, Observed) {
    let mut side = Observed::new(column.name(), column.name(), column.judges.clone());
    let cells = evaluation.cells.iter().filter(|cell| column.holds(&cell.key));
    let (mut solved, mut tasks) = (0, 0);
    for cell in cells {
        solved += cell.count(TaskOutcome::Solved);
        tasks += cell.tasks.len();
        side.add_outcomes(std::slice::from_ref(cell));
    }
    (RankedMethod { name: column.name(), solved, tasks, p: None, is_worse: false, is_ahead: false }, side)
}

/// The lead of one of two methods.
struct Lead {
    p: f64,
    /// How many more tasks the second alone solves than the first alone.
    ahead: i64,
}

/// Tests the difference of two methods; `None` if no task is decided for both.
fn test(a: &Observed, b: &Observed) -> Option<Lead> {
    let by_suite = [a, b].iter().any(|side| side.judges.one_domain_a_suite());
    let cluster = if by_suite { Cluster::Suite } else { Cluster::Task };
    let settings = Settings { cluster, ..Settings::default() };
    let paired = pair(a, b, &settings).ok()?;
    let (p, ahead) = success_test(&paired.pairs, &Clusters::of(&paired.pairs, &settings), &settings)?;
    Some(Lead { p, ahead })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{CellKey, CellResult, Judges};
    use std::collections::BTreeMap;

    /// Methods with the outcomes of the same tasks.
    fn ranking_of(judges: &Judges, methods: &[(&str, Vec<TaskOutcome>)]) -> Ranking {
        let cell = |(name, outcomes): &(&str, Vec<TaskOutcome>)| {
            let key = CellKey {
                suite: "s".to_owned(),
                pipeline: (*name).to_owned(),
                model: String::new(),
                seed: 1,
            };
            let stems: Vec<String> = (0..outcomes.len()).map(|n| format!("p{n:02}")).collect();
            let mut cell = CellResult::unfinished(key, &stems, judges);
            for (task, outcome) in cell.tasks.iter_mut().zip(outcomes) {
                task.outcome = *outcome;
            }
            cell
        };
        let of_each = methods.iter().map(|(name, _)| ((*name).to_owned(), judges.clone()));
        let cells = methods.iter().map(cell).collect();
        Ranking::new(&Evaluation::new(vec![1], &BTreeMap::from_iter(of_each), cells)).unwrap()
    }

    /// So many tasks with the first outcome, then so many with the second.
    fn outcomes(first: (usize, TaskOutcome), second: (usize, TaskOutcome)) -> Vec<TaskOutcome> {
        [vec![first.1; first.0], vec![second.1; second.0]].concat()
    }

    /// Methods with the number of tasks that each solves, of so many; the first tasks by name.
    fn ranking(tasks: usize, solved: &[(&str, usize)]) -> Ranking {
        let all = |n: usize| outcomes((n, TaskOutcome::Solved), (tasks - n, TaskOutcome::NotSolved));
        let methods: Vec<_> = solved.iter().map(|(name, n)| (*name, all(*n))).collect();
        ranking_of(&Judges::default(), &methods)
    }

    #[test]
    fn a_lead_that_chance_does_not_explain_is_the_best() {
        let found = ranking(20, &[("weak", 2), ("good", 18)]);
        // 16 discordant tasks, all for one side: 2 / 2^16.
        assert_eq!(found.methods[1].p, Some(2.0 / 65_536.0));
        assert_eq!(found.text(), "Best: good solves 18 of 20 tasks, more than weak (2 of 20, p < 0.0001).");
    }

    #[test]
    fn a_lead_that_chance_explains_is_not_the_best() {
        assert_eq!(
            ranking(20, &[("a", 12), ("b", 10)]).text(),
            "No method is shown to be the best: a (12 of 20 tasks solved) is not shown to be better than b (10 of 20, p = 0.5000)."
        );
        assert_eq!(
            ranking(20, &[("a", 17), ("b", 18), ("c", 2)]).text(),
            "b solves 18 of 20 tasks. It is better than c (2 of 20, p < 0.0001), but not shown to be better than a (17 of 20, p = 1.0000). \
             p-values are corrected for 3 pairs of methods."
        );
    }

    #[test]
    fn a_method_that_is_ahead_of_the_first_where_both_are_decided_is_named() {
        use TaskOutcome::{Failed, NotSolved, Solved};
        let methods = [
            ("a", outcomes((12, Solved), (8, NotSolved))),
            // Eight discordant tasks, all for `b`: 2 / 2^8.
            ("b", outcomes((12, Failed), (8, Solved))),
        ];
        assert_eq!(
            ranking_of(&Judges::default(), &methods).text(),
            "No method is shown to be the best: a (12 of 20 tasks solved) is not shown to be better than \
             b (8 of 20, ahead on the tasks decided for both, p = 0.0078)."
        );
    }

    #[test]
    fn tasks_that_share_a_domain_are_one_trial() {
        use TaskOutcome::{NotSolved, Solved};
        let fan_out = Judges { fan_out: Some("others".to_owned()), ..Judges::default() };
        let methods = [("a", vec![Solved; 20]), ("b", vec![NotSolved; 20])];
        assert_eq!(ranking_of(&fan_out, &methods).methods[1].p, Some(1.0), "one suite");
        assert!(ranking_of(&Judges::default(), &methods).methods[1].is_worse);
    }

    #[test]
    fn methods_without_a_common_decided_task_are_not_tested() {
        let key = |name: &str| CellKey {
            suite: "s".to_owned(),
            pipeline: name.to_owned(),
            model: String::new(),
            seed: 1,
        };
        let cells =
            ["a", "b"].map(|name| CellResult::unfinished(key(name), &["p".to_owned()], &Judges::default()));
        let judges = ["a", "b"].map(|name| (name.to_owned(), Judges::default()));
        let evaluation = Evaluation::new(vec![1], &BTreeMap::from(judges), cells.to_vec());
        let found = Ranking::new(&evaluation).unwrap();
        assert_eq!((found.tests, found.methods[1].p), (0, None));
        assert!(found.text().starts_with("No method can be compared"), "{}", found.text());
        let alone = Evaluation::new(vec![1], &BTreeMap::new(), cells[..1].to_vec());
        assert_eq!(Ranking::new(&alone), None);
    }
}
