//! The ranking of the methods of an evaluation by the tasks that they solve, with tests of the first one's lead; and the test of each pair of methods.

use super::figures::success_test;
use super::pairs::{Clusters, pair};
use super::tables::p_equation;
use super::{Cluster, Observed, Settings};
use crate::results::{Column, CountsAs, Evaluation, TaskOutcome};
use crate::statistics::{holm, wilson};
use planforge_diagnostics::render::escape;
use serde::Serialize;
use std::fmt::Write as _;

/// The methods of an evaluation, by the lower end of the 95 % interval of the share that they solve. Of methods with equally many judged tasks,
/// the one that solves most is first.
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
    /// Its tasks that ended and were judged.
    pub tasks: usize,
    /// Its tasks that did not end. They count neither for nor against it.
    pub unfinished: usize,
    /// Its tasks that ended and that nothing judged.
    pub not_judged: usize,
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
        let low = |method: &RankedMethod| wilson(method.solved as u64, method.tasks as u64, 0.95).low;
        methods.sort_by(|(a, _), (b, _)| low(b).total_cmp(&low(a)));
        let sides: Vec<&Observed> = methods.iter().map(|(_, side)| side).collect();
        let tests = test_pairs(&sides);
        for test in tests.iter().filter(|test| test.a == 0) {
            if let Some((method, _)) = methods.get_mut(test.b) {
                method.p = Some(test.p);
                method.is_worse = test.ahead < 0 && test.is_shown();
                method.is_ahead = test.ahead > 0;
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
        let score =
            |method: &RankedMethod| format!("{} of {}{}", method.solved, method.tasks, not_run(method));
        let list = |methods: &[&RankedMethod]| -> String {
            let one = |method: &&RankedMethod| {
                let p = method.p.map_or_else(|| "not tested".to_owned(), p_equation);
                let ahead = if method.is_ahead { ", ahead on the tasks decided for both" } else { "" };
                format!("{} ({}{ahead}, {p})", escape(&method.name), score(method))
            };
            methods.iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let name = escape(&first.name);
        let solved = format!("{} of {} tasks", first.solved, first.tasks);
        let open = not_run(first).trim_start_matches(", ").to_owned();
        let open = if open.is_empty() { open } else { format!(" ({open})") };
        let mut text = match (worse.is_empty(), level.is_empty()) {
            (_, true) => format!("Best: {name} solves {solved}{open}, more than {}.", list(&worse)),
            (true, _) => format!(
                "No method is shown to be the best: {name} ({solved} solved{}) is not shown to be better than {}.",
                not_run(first),
                list(&level)
            ),
            _ => format!(
                "{name} solves {solved}{open}. It is better than {}, but not shown to be better than {}.",
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

/// `, 46 unfinished`: the tasks that are in no figure of a method.
fn not_run(method: &RankedMethod) -> String {
    let counts = [(method.unfinished, TaskOutcome::Unfinished), (method.not_judged, TaskOutcome::NotJudged)];
    counts.iter().filter(|(n, _)| *n > 0).map(|(n, outcome)| format!(", {n} {}", outcome.name())).collect()
}

fn observed(evaluation: &Evaluation, column: &Column) -> (RankedMethod, Observed) {
    let side = side_of(evaluation, column);
    let outcomes = || side.observations.iter().map(|seen| seen.result.outcome);
    let count = |wanted| outcomes().filter(|outcome| *outcome == wanted).count();
    let (unfinished, not_judged) = (count(TaskOutcome::Unfinished), count(TaskOutcome::NotJudged));
    let method = RankedMethod {
        name: column.name(),
        solved: count(TaskOutcome::Solved),
        tasks: side.observations.len() - unfinished - not_judged,
        unfinished,
        not_judged,
        p: None,
        is_worse: false,
        is_ahead: false,
    };
    (method, side)
}

/// The outcomes of a column, without costs and samples.
pub(crate) fn side_of(evaluation: &Evaluation, column: &Column) -> Observed {
    let mut side = Observed::new(column.name(), column.name(), column.judges.clone());
    for cell in evaluation.cells.iter().filter(|cell| column.holds(&cell.key)) {
        side.add_outcomes(std::slice::from_ref(cell));
    }
    side
}

/// The test of two methods, by their places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairTest {
    pub(crate) a: usize,
    pub(crate) b: usize,
    /// The p-value, corrected for all pairs that were tested.
    pub(crate) p: f64,
    /// How many more tasks the second alone solves than the first alone.
    pub(crate) ahead: i64,
    /// Runs of tasks that are decided for both.
    pub(crate) decided: usize,
    /// The independent trials among them: tasks, or suites where a method writes one domain for all tasks of a suite.
    pub(crate) trials: usize,
    /// The kind of a trial.
    pub(crate) unit: Cluster,
}

impl PairTest {
    /// True if the test shows a difference.
    pub(crate) fn is_shown(&self) -> bool {
        self.p <= SIGNIFICANT
    }
}

/// Tests every pair of methods with Holm's correction over all pairs; without those that have no task that is decided for both.
pub(crate) fn test_pairs(sides: &[&Observed]) -> Vec<PairTest> {
    let places = (0..sides.len()).flat_map(|a| (a + 1..sides.len()).map(move |b| (a, b)));
    let mut tests: Vec<PairTest> =
        places.filter_map(|(a, b)| Some(PairTest { a, b, ..test(sides.get(a)?, sides.get(b)?)? })).collect();
    let adjusted = holm(&tests.iter().map(|test| test.p).collect::<Vec<f64>>());
    tests.iter_mut().zip(adjusted).for_each(|(test, p)| test.p = p);
    tests
}

/// Tests the difference of two methods; `None` if no task is decided for both.
fn test(a: &Observed, b: &Observed) -> Option<PairTest> {
    let by_suite = [a, b].iter().any(|side| side.judges.one_domain_a_suite());
    let cluster = if by_suite { Cluster::Suite } else { Cluster::Task };
    let settings = Settings { cluster, ..Settings::default() };
    let paired = pair(a, b, &settings).ok()?;
    let (p, ahead) = success_test(&paired.pairs, &Clusters::of(&paired.pairs, &settings), &settings)?;
    let is_decided = |result| !matches!(settings.question.answer(result), CountsAs::Open(_));
    let decided: Vec<_> = paired
        .pairs
        .iter()
        .filter(|pair| is_decided(&pair.a.result) && is_decided(&pair.b.result))
        .map(|pair| (pair.key.suite.as_str(), pair.key.task.as_str()))
        .collect();
    let trials = Clusters::by(decided.iter().copied(), cluster).len();
    Some(PairTest { a: 0, b: 0, p, ahead, decided: decided.len(), trials, unit: cluster })
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
    fn tasks_that_did_not_end_or_were_not_judged_are_no_failures() {
        use TaskOutcome::{NotJudged, NotSolved, Solved, Unfinished};
        let methods = [
            ("begun", outcomes((2, Solved), (6, Unfinished))),
            ("ended", outcomes((6, Solved), (2, NotSolved))),
            ("unjudged", outcomes((1, Solved), (7, NotJudged))),
        ];
        let found = ranking_of(&Judges::default(), &methods);
        let figures: Vec<_> =
            found.methods.iter().map(|own| (own.name.as_str(), own.solved, own.tasks)).collect();
        // Two of two show less than six of eight.
        assert_eq!(figures, [("ended", 6, 8), ("begun", 2, 2), ("unjudged", 1, 1)]);
        assert_eq!(
            found.text(),
            "No method is shown to be the best: ended (6 of 8 tasks solved) is not shown to be better than \
             begun (2 of 2, 6 unfinished, p = 1.0000), unjudged (1 of 1, 7 not judged, p = 1.0000). \
             p-values are corrected for 3 pairs of methods."
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
