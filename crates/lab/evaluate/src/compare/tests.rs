use super::*;
use crate::history::tests::JournalBuilder;
use crate::results::{CellKey, CellResult, Judges, OpenReason, ProblemOutcome, TaskOutcome, TaskResult};
use planforge_contract::{
    Assessment, Decision, FailureClass, PlanOutcome, ProviderFailure, UndecidedReason, Usage,
};
use planforge_record::{CompletionEvent, Event, Journal, RunManifest, TaskUse};
use proptest::prelude::*;

fn task(stem: &str, outcome: TaskOutcome) -> TaskResult {
    let key = CellKey { suite: "s".to_owned(), pipeline: "p".to_owned(), model: String::new(), seed: 0 };
    let mut blank = CellResult::unfinished(key, &[stem.to_owned()], &Judges::default()).tasks.remove(0);
    blank.outcome = outcome;
    blank.why =
        if outcome == TaskOutcome::Solved { String::new() } else { format!("{} at `x`", outcome.name()) };
    blank
}

fn seen(suite: &str, stem: &str, seed: u64, outcome: TaskOutcome) -> Observation {
    Observation {
        key: TaskKey { suite: suite.to_owned(), task: stem.to_owned(), seed },
        result: task(stem, outcome),
        sha256: None,
        plan: None,
        cost: None,
        samples: Vec::new(),
    }
}

fn side(name: &str, observations: Vec<Observation>) -> Observed {
    Observed { observations, runs: 1, ..Observed::new(name, "p", Judges::default()) }
}

use TaskOutcome::{Failed, NotSolved, Solved, Undecided, Unfinished};

/// One seed, tasks p0, p1, ...
fn outcomes(name: &str, all: &[TaskOutcome]) -> Observed {
    side(name, all.iter().enumerate().map(|(i, o)| seen("s", &format!("p{i}"), 1, *o)).collect())
}

fn near(found: Option<f64>, right: f64) -> bool {
    found.is_some_and(|f| (f - right).abs() < 1e-12)
}

#[test]
fn open_pairs_are_in_no_test_and_bound_the_result() {
    let a = outcomes("a", &[Solved, Solved, NotSolved, NotSolved, Undecided, Solved, Failed]);
    let b = outcomes("b", &[Solved, NotSolved, Solved, Solved, Solved, Unfinished, Failed]);
    let found = compare(&a, &b, &Settings::default()).unwrap();
    let success = &found.success;
    assert_eq!(
        (success.both, success.only_a, success.only_b, success.neither, success.open),
        (1, 1, 2, 0, 3)
    );
    assert_eq!(success.open_a, [(OpenReason::Undecided, 1), (OpenReason::Failed, 1)]);
    assert_eq!(success.open_b, [(OpenReason::Failed, 1), (OpenReason::Unfinished, 1)]);
    assert!(near(success.rate_a, 0.5) && near(success.rate_b, 0.75), "shares of the four decided pairs");
    assert!(near(success.difference.map(|d| d.value), 0.25));
    assert_eq!((success.p, success.odds_ratio), (Some(1.0), Some(2.0)));
    assert!(near(success.cohens_g, 1.0 / 6.0) && success.independent && success.newcombe.is_some());
    let bounds = success.bounds.unwrap();
    // For A: p4 is solved on both sides, p5 by A alone, p6 by A alone. For B: p4 and p6 by B alone, p5 on both sides.
    assert!(near(Some(bounds.for_a.difference), (2.0 - 3.0) / 7.0));
    assert!(near(Some(bounds.for_b.difference), (4.0 - 1.0) / 7.0));
    assert!(near(Some(bounds.for_b.p), 0.375), "4 against 1: 2 (1 + 5) / 32");
    let open: Vec<(&str, &str, &str)> =
        success.open_pairs.iter().map(|one| (one.key.task.as_str(), one.a, one.b)).collect();
    assert_eq!(open, [("p4", "undecided", "yes"), ("p5", "yes", "not run"), ("p6", "failed", "failed")]);
    assert_eq!(success.open_pairs[2].why, "A: failed at `x`; B: failed at `x`");
    let discordant: Vec<(&str, &str)> =
        success.discordant.iter().map(|one| (one.key.task.as_str(), one.only)).collect();
    assert_eq!(discordant, [("p1", "a"), ("p2", "b"), ("p3", "b")]);
}

#[test]
fn the_first_line_says_who_succeeds_more_often() {
    let first = |a: &[TaskOutcome], b: &[TaskOutcome]| {
        let found = compare(&outcomes("a", a), &outcomes("b", b), &Settings::default()).unwrap();
        found.text().lines().next().unwrap().to_owned()
    };
    assert_eq!(
        first(&[Solved, NotSolved, Undecided], &[NotSolved, NotSolved, Solved]),
        "No difference is shown: A succeeds in 1 of 2 pairs, B in 0 (p = 1.0000; 1 open)."
    );
    assert_eq!(
        first(&[NotSolved; 8], &[Solved; 8]),
        "B succeeds more often: in 8 of 8 pairs, A in 0 (p = 0.0078)."
    );
    assert_eq!(
        first(&[Solved; 8], &[NotSolved; 8]),
        "A succeeds more often: in 8 of 8 pairs, B in 0 (p = 0.0078)."
    );
    assert_eq!(
        first(&[Failed], &[Solved]),
        "Nothing can be compared: no pair of 1 is decided on both sides."
    );
}

#[test]
fn runs_of_one_side_alone_are_listed() {
    let a = side(
        "a",
        vec![seen("s", "p1", 1, Solved), seen("s", "p10", 1, NotSolved), seen("s", "p2", 1, Undecided)],
    );
    let b =
        side("b", vec![seen("s", "p1", 1, Solved), seen("t", "p1", 1, Solved), seen("s", "p1", 2, Failed)]);
    let found = compare(&a, &b, &Settings::default()).unwrap();
    assert_eq!((found.pairs, found.clusters), (1, 1));
    let alone = |all: &[UnpairedRun]| all.iter().map(|one| (one.key.label(), one.answer)).collect::<Vec<_>>();
    // Numbers in names are compared as numbers.
    assert_eq!(
        alone(&found.only_a),
        [("s.p2, seed 1".to_owned(), "undecided"), ("s.p10, seed 1".to_owned(), "no")]
    );
    assert_eq!(
        alone(&found.only_b),
        [("s.p1, seed 2".to_owned(), "failed"), ("t.p1, seed 1".to_owned(), "yes")]
    );
    for told in [found.text(), found.markdown(), found.csv()] {
        assert!(told.contains("s.p10, seed 1") && told.contains("t.p1, seed 1"), "{told}");
    }
    assert_eq!(found.success.difference.unwrap().interval, None, "one task is no sample");
}

#[test]
fn seeds_without_a_partner_can_be_paired_in_their_order() {
    let a = side("a", vec![seen("s", "p1", 1, Solved), seen("s", "p1", 2, NotSolved)]);
    let b =
        side("b", vec![seen("s", "p1", 8, Solved), seen("s", "p1", 9, Solved), seen("s", "p1", 10, Solved)]);
    let Err(NoComparison::NothingPaired { a: alone, b: others, by_task }) =
        compare(&a, &b, &Settings::default())
    else {
        panic!("no seed is on both sides");
    };
    assert_eq!((alone.len(), others.len(), by_task), (2, 3, true));
    let settings = Settings { pair_by: PairBy::Task, ..Settings::default() };
    let found = compare(&a, &b, &settings).unwrap();
    assert_eq!((found.pairs, found.only_b.len(), found.success.only_b), (2, 1, 1));
    assert_eq!(found.success.discordant[0].key.label(), "s.p1, seeds 2 and 9");
    let other = side("b", vec![seen("t", "p1", 1, Solved)]);
    let why = compare(&a, &other, &settings).unwrap_err();
    assert!(matches!(why, NoComparison::NothingPaired { by_task: false, .. }));
    let twice = side("b", vec![seen("s", "p1", 1, Solved), seen("s", "p1", 1, Solved)]);
    assert!(matches!(compare(&a, &twice, &settings), Err(NoComparison::Twice(_))));
}

#[test]
fn runs_of_one_task_are_not_independent_trials() {
    // B alone solves all five runs of one task: as five trials that is p = 1/16, as one task it is nothing.
    let runs = |outcome| (1..=5).map(|seed| seen("s", "p1", seed, outcome)).collect::<Vec<_>>();
    let (mut a, mut b) = (runs(NotSolved), runs(Solved));
    a.push(seen("s", "p2", 1, Solved));
    b.push(seen("s", "p2", 1, Solved));
    let found = compare(&side("a", a.clone()), &side("b", b.clone()), &Settings::default()).unwrap();
    let success = &found.success;
    assert_eq!((success.p, success.independent, success.newcombe), (Some(1.0), false, None));
    assert!(near(Some(success.mcnemar.exact), 0.0625));
    assert!(found.text().contains("p is too small"), "{}", found.text());
    // Both tasks of the suite as one cluster.
    let settings = Settings { cluster: Cluster::Suite, ..Settings::default() };
    let found = compare(&side("a", a), &side("b", b), &settings).unwrap();
    assert_eq!((found.clusters, found.success.difference.unwrap().interval), (1, None));
}

#[test]
fn other_questions_can_be_compared_and_a_side_may_lack_answers() {
    let with = |outcome: Option<ProblemOutcome>| {
        let mut one = seen("s", "p1", 1, Solved);
        one.result.problem = outcome;
        side("x", vec![one])
    };
    let settings = Settings { question: Question::Problem, ..Settings::default() };
    let (yes, strange) = (with(Some(ProblemOutcome::Equivalent)), with(Some(ProblemOutcome::NotComparable)));
    let found = compare(&yes, &strange, &settings).unwrap();
    assert_eq!(
        (found.success.open, found.success.open_b.as_slice()),
        (1, [(OpenReason::NotComparable, 1)].as_slice())
    );
    assert!(found.success.p.is_none() && found.text().starts_with("Nothing can be compared"));
    let missing = compare(&yes, &with(Some(ProblemOutcome::Missing)), &settings).unwrap();
    assert_eq!(missing.success.only_a, 1, "a reply without a problem is an answer");
    assert_eq!(compare(&yes, &with(None), &settings), Err(NoComparison::NotAsked("x".to_owned())));
}

fn costing(calls: u64, tokens: u64, unmetered: u64, waiting_s: f64) -> Option<TaskCost> {
    let unpriced = calls;
    Some(TaskCost { calls, prompt_tokens: tokens, unmetered, waiting_s, unpriced, ..TaskCost::default() })
}

#[test]
fn metrics_and_rates_rest_on_pairs_that_have_them_on_both_sides() {
    let mut a = outcomes("a", &[Solved, NotSolved, Undecided]);
    let mut b = outcomes("b", &[Solved, Solved, Solved]);
    for (at, cost) in
        [costing(2, 1000, 0, 1.0), costing(2, 3000, 0, 2.0), costing(4, 500, 1, 1.0)].into_iter().enumerate()
    {
        a.observations[at].cost = cost;
    }
    for (at, cost) in
        [costing(1, 1000, 0, 4.0), costing(1, 1000, 0, 4.0), costing(1, 9000, 0, 0.0)].into_iter().enumerate()
    {
        b.observations[at].cost = cost;
    }
    a.observations[0].result.reference_to_candidate = Some(0.5);
    a.observations[0].result.candidate_to_reference = Some(1.0);
    b.observations[0].result.reference_to_candidate = Some(1.0);
    b.observations[0].result.candidate_to_reference = Some(1.0);
    // Plans count where both sides solve the task, and their cost where it is not the number of steps.
    (a.observations[0].plan, a.observations[1].plan) = (Some((4, Some(8.0))), Some((2, Some(2.0))));
    (b.observations[0].plan, b.observations[1].plan) = (Some((5, Some(5.0))), Some((7, Some(7.0))));
    let found = compare(&a, &b, &Settings::default()).unwrap();
    let metric = |name: &str| found.metrics.iter().find(|metric| metric.name == name);
    let walk = metric("walk score").unwrap();
    assert!(near(walk.mean_a, 2.0 / 3.0) && near(walk.difference.map(|d| d.value), 1.0 / 3.0));
    assert_eq!((walk.pairs, walk.missing_both, walk.b_better), (1, 2, Some(1.0)));
    let (steps, cost) = (metric("plan steps").unwrap(), metric("plan cost").unwrap());
    assert_eq!((steps.pairs, steps.missing_a, steps.missing_both, cost.mean_a), (1, 1, 1, Some(8.0)));
    let tokens = metric("tokens").unwrap();
    assert_eq!(
        (tokens.pairs, tokens.missing_a, tokens.missing_b),
        (2, 1, 0),
        "what a server did not count is unknown"
    );
    assert!(near(tokens.ratio.map(|r| r.value), 0.5) && near(tokens.mean_a, 2000.0));
    assert_eq!((tokens.b_higher, tokens.a_higher, tokens.ties, tokens.b_better), (0, 1, 1, Some(0.75)));
    let calls = metric("calls").unwrap();
    assert!(near(calls.p, 0.25) && calls.b_better == Some(1.0), "three of three: 2 / 8");
    assert_eq!(
        found.correction.family,
        ["success", "walk score", "plan steps", "plan cost", "calls", "tokens", "seconds waiting for models"]
    );
    let written = metric("tokens written").unwrap();
    assert_eq!((written.p, written.ties), (None, 2), "where nothing differs there is nothing to test");
    assert!(calls.p_adjusted.unwrap() >= calls.p.unwrap());
    let per = |name: &str| found.efficiency.iter().find(|one| one.per == name).unwrap();
    let call = per("call");
    assert!(near(call.a.rate.map(|r| r.value), 1.0 / 8.0) && near(call.a.rate_if_open, 2.0 / 8.0));
    assert!(near(call.b.rate.map(|r| r.value), 1.0) && near(call.ratio.map(|r| r.value), 8.0));
    let thousand = per("1000 tokens");
    assert_eq!((thousand.pairs, thousand.missing), (2, 1));
    assert!(near(thousand.a.rate.map(|r| r.value), 0.25) && near(thousand.b.rate.map(|r| r.value), 1.0));
}

fn values() -> impl Strategy<Value = Vec<(u8, u8, u8, u8)>> {
    // Task, answer of A, answer of B, cost.
    prop::collection::vec((0_u8..5, 0_u8..3, 0_u8..3, 1_u8..9), 1..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn exchanging_a_and_b_changes_signs_alone(all in values()) {
        let outcome = |n: u8| [Solved, NotSolved, Undecided][usize::from(n)];
        let mut sides = [Vec::new(), Vec::new()];
        for (seed, (task, a, b, cost)) in all.iter().enumerate() {
            for (side, (answer, cost)) in sides.iter_mut().zip([(a, *cost), (b, 9 - *cost)]) {
                let mut one = seen("s", &format!("p{task}"), seed as u64, outcome(*answer));
                one.cost = costing(u64::from(cost), 100 * u64::from(cost), 0, f64::from(cost));
                side.push(one);
            }
        }
        let [a, b] = sides.map(|all| side("x", all));
        let settings = Settings { resamples: 100, ..Settings::default() };
        let (one, other) = (compare(&a, &b, &settings).unwrap(), compare(&b, &a, &settings).unwrap());
        prop_assert_eq!((one.success.only_a, one.success.only_b), (other.success.only_b, other.success.only_a));
        prop_assert_eq!((one.success.p, one.success.p_adjusted), (other.success.p, other.success.p_adjusted));
        prop_assert_eq!(one.success.mcnemar.mid_p, other.success.mcnemar.mid_p);
        let mirrored = |x: Option<Estimate>, y: Option<Estimate>| match (x, y) {
            (Some(x), Some(y)) => {
                let ends = x.interval.zip(y.interval);
                (x.value + y.value).abs() < 1e-9
                    && x.interval.is_some() == y.interval.is_some()
                    && ends.is_none_or(|(x, y)| (x.low + y.high).abs() < 1e-9 && (x.high + y.low).abs() < 1e-9)
            }
            (x, y) => x.is_none() && y.is_none(),
        };
        prop_assert!(mirrored(one.success.difference, other.success.difference));
        for (x, y) in one.metrics.iter().zip(&other.metrics) {
            prop_assert_eq!((x.p, x.p_adjusted, x.a_higher), (y.p, y.p_adjusted, y.b_higher));
            prop_assert!(mirrored(x.difference, y.difference), "{:?} {:?}", x, y);
        }
        if let (Some(x), Some(y)) = (one.success.bounds, other.success.bounds) {
            prop_assert_eq!((x.for_a.p, x.for_b.p), (y.for_b.p, y.for_a.p));
            prop_assert!((x.for_a.difference + y.for_b.difference).abs() < 1e-12);
        }
    }
}

/// A run of one task that is written by hand, with one side made of it.
struct Recorded {
    journal: JournalBuilder,
    judges: Judges,
}

const PIPELINE: &str = "schema = 1
[[stage]]
do = \"verify\"
label = \"pddl\"
use = \"verifier-val\"
[[stage]]
do = \"verify\"
label = \"ew\"
use = \"verifier-ew\"
measure = true
";

impl Recorded {
    fn new() -> Self {
        let judges = Judges {
            solved_by: Some("valid".to_owned()),
            walk: Some("ew".to_owned()),
            writers: vec!["problem".to_owned(), "domain".to_owned()],
            ..Judges::default()
        };
        Self { journal: JournalBuilder::new(), judges }
    }

    fn sample(&self, descent: &str, reply: &str, said: &[(&str, Decision, Option<f64>)]) -> String {
        let path = self.journal.made("s.p1", descent, reply, None);
        for (stage, decision, score) in said {
            let mut assessment = Assessment::new(decision.clone(), "");
            assessment.metrics.extend(score.map(|score| ("score".to_owned(), score)));
            self.journal.assessed("s.p1", stage, &path, &assessment);
        }
        path
    }

    fn side(&self) -> Observed {
        let key = CellKey { suite: "s".to_owned(), pipeline: "p".to_owned(), model: String::new(), seed: 1 };
        let cell =
            CellResult { tasks: vec![task("p1", Solved)], ..CellResult::unfinished(key, &[], &self.judges) };
        let used = TaskUse {
            name: "s.p1".to_owned(),
            suite: "/suites/s".to_owned(),
            task: "p1".to_owned(),
            sha256: "ab".to_owned(),
            add_on: None,
        };
        let manifest = RunManifest {
            tasks: vec![used],
            config: planforge_record::ConfigText::new("p.toml", PIPELINE),
            ..RunManifest::default()
        };
        let mut side = Observed::new("x", "p", self.judges.clone());
        let parts = RunParts { manifest: &manifest, journal: &self.journal.0, report: None };
        side.add(&[cell], Some(parts)).unwrap();
        assert!(side.notes.is_empty(), "{:?}", side.notes);
        side
    }

    fn compared(&self, settings: &Settings) -> Comparison {
        let side = self.side();
        compare(&side, &side, settings).unwrap()
    }
}

fn undecided() -> Decision {
    Decision::Undecided { reason: UndecidedReason::MissingInput, message: String::new() }
}

fn of(found: &Comparison, estimator: Estimator) -> &SampleComparison {
    found.samples.iter().find(|one| one.estimator == estimator).unwrap()
}

#[test]
fn pass_at_k_counts_what_the_judge_and_the_record_say_of_each_sample() {
    let run = Recorded::new();
    run.sample("problem/0", "a", &[("valid", Decision::Accepted, None)]);
    run.sample("problem/1", "b", &[("valid", Decision::Rejected, None)]);
    // Rejected before a plan could be judged; a measurement that rejects is no such thing.
    run.sample("problem/2", "c", &[("pddl", Decision::Rejected, None), ("valid", undecided(), None)]);
    run.sample("problem/3", "c", &[("ew", Decision::Rejected, Some(0.5)), ("valid", undecided(), None)]);
    // Proven to have no plan.
    let path = run.sample("problem/4", "d", &[("valid", undecided(), None)]);
    let outcome = PlanOutcome::ProvenUnsolvable { explanation: Vec::new(), statistics: Default::default() };
    let blob = run.journal.0.put_json(&serde_json::to_value(&outcome).unwrap()).unwrap();
    run.journal
        .0
        .append(&Event::Planned {
            task: "s.p1".to_owned(),
            stage: "plan".to_owned(),
            path,
            outcome: blob,
            name: "x".to_owned(),
        })
        .unwrap();
    // No problem in the reply is wrong, a server that failed says nothing.
    run.journal.failed("s.p1", "s.p1/problem/5", FailureClass::Reply);
    run.journal.failed("s.p1", "s.p1/problem/6", FailureClass::Provider);
    let found = run.compared(&Settings { k: vec![1, 2, 9], ..Settings::default() });
    let pass = of(&found, Estimator::Pass);
    assert_eq!((pass.over_a.as_str(), pass.judged_by_a.as_str()), ("samples of `problem`", "valid"));
    assert_eq!(pass.absent_a, None);
    // Seven samples, one right, two open.
    let first = pass.at[0].a.unwrap();
    assert!(near(Some(first.value), 1.0 / 7.0) && near(Some(first.if_open), 3.0 / 7.0), "{first:?}");
    assert!(near(pass.at[1].a.map(|a| a.value), 2.0 / 7.0));
    assert_eq!((pass.at.len(), pass.copies_a), (2, 1), "nobody has nine samples; two replies are the same");
    assert!(near(pass.at[1].difference.map(|d| d.value), 0.0));
    // The walk score is known of one sample alone.
    let best = of(&found, Estimator::Best);
    assert!(best.at.is_empty());
    assert_eq!(best.absent_a.as_deref(), Some("2 of 7 samples of `problem` have a value of `ew.score`"));
}

#[test]
fn unjudged_samples_have_no_pass_at_k_but_a_reason() {
    let run = Recorded::new();
    run.sample("problem/0", "a", &[("pddl", Decision::Accepted, None), ("valid", Decision::Accepted, None)]);
    run.sample("problem/1", "b", &[("pddl", Decision::Accepted, None)]);
    let found = run.compared(&Settings::default());
    let pass = of(&found, Estimator::Pass);
    assert!(pass.at.is_empty());
    assert_eq!(pass.absent_a.as_deref(), Some("`valid` judged 1 of 2 samples of `problem`"));
    let text = found.text();
    assert!(text.contains("A has none: `valid` judged 1 of 2 samples of `problem`."), "{text}");
    // Another stage judged them all.
    let found = run.compared(&Settings { judge: Some("pddl".to_owned()), ..Settings::default() });
    assert_eq!(of(&found, Estimator::Pass).at.len(), 2);
    let found = run.compared(&Settings { samples_of: Some("domain".to_owned()), ..Settings::default() });
    assert_eq!(
        of(&found, Estimator::Pass).absent_a.as_deref(),
        Some("the record has no samples of `domain`")
    );
}

#[test]
fn chains_of_single_children_are_samples_of_what_branched() {
    let run = Recorded::new();
    for (chain, accepted) in [(0, true), (1, false), (2, true)] {
        let decision = if accepted { Decision::Accepted } else { Decision::Rejected };
        run.sample(&format!("problem/{chain}"), &format!("p{chain}"), &[]);
        run.sample(
            &format!("problem/{chain} domain/0"),
            &format!("d{chain}"),
            &[("ew", Decision::Accepted, Some(f64::from(chain))), ("valid", decision, None)],
        );
    }
    // A chain that ended before there was a domain.
    run.journal.failed("s.p1", "s.p1/problem/3", FailureClass::Reply);
    let found = run.compared(&Settings::default());
    let pass = of(&found, Estimator::Pass);
    assert_eq!(pass.over_a, "samples of `domain`");
    assert!(near(pass.at[0].a.map(|a| a.value), 0.5), "{pass:?}");
    let best = of(&found, Estimator::Best);
    // 0 for the reply without anything; of pairs of 0, 0, 1, 2 the best are 0, 1, 2, 1, 2, 2.
    assert!(near(best.at[1].a.map(|a| a.value), 8.0 / 6.0), "{best:?}");
    // With two children each, samples are the children of one parent.
    for chain in 0..3 {
        let said = [("valid", Decision::Rejected, None)];
        run.sample(&format!("problem/{chain} domain/1"), "x", &said);
    }
    let found = run.compared(&Settings::default());
    let pass = of(&found, Estimator::Pass);
    assert_eq!(pass.at.iter().map(|at| at.k).collect::<Vec<_>>(), [1, 2]);
    assert!(near(pass.at[0].a.map(|a| a.value), 1.0 / 3.0) && near(pass.at[1].a.map(|a| a.value), 2.0 / 3.0));
}

#[test]
fn runs_under_several_seeds_are_samples_too() {
    let with = |seed, outcome, walk: f64| {
        let mut one = seen("s", "p1", seed, outcome);
        one.result.reference_to_candidate = Some(walk);
        one.result.candidate_to_reference = Some(walk);
        one
    };
    let a = side("a", vec![with(1, Solved, 1.0), with(2, NotSolved, 0.5), with(3, Undecided, 0.0)]);
    let b = side("b", vec![with(1, Solved, 1.0), with(2, Solved, 1.0), with(3, Solved, 1.0)]);
    let found = compare(&a, &b, &Settings { k: vec![2], ..Settings::default() }).unwrap();
    let runs: Vec<&SampleComparison> = found.samples.iter().filter(|one| one.over_a == "runs").collect();
    let pass = runs[0].at[0].a.unwrap();
    assert!(near(Some(pass.value), 2.0 / 3.0) && near(Some(pass.if_open), 1.0), "{pass:?}");
    // Pairs of 0, 1/2, 1: 1/2, 1, 1.
    assert!(near(runs[1].at[0].a.map(|a| a.value), 2.5 / 3.0));
    assert!(near(runs[1].at[0].difference.map(|d| d.value), 0.5 / 3.0));
}

#[test]
fn costs_are_those_of_the_record() {
    let run = Recorded::new();
    run.sample("problem/0", "a", &[]);
    let asked = |path: &str, result: bool, usage: Usage, elapsed_ms| {
        Event::Completion(CompletionEvent {
            key: format!("k:{path}"),
            path: path.to_owned(),
            role: "writer".to_owned(),
            llm: "main".to_owned(),
            request: String::new(),
            result: result.then(String::new),
            failure: (!result).then(|| ProviderFailure {
                class: planforge_contract::ProviderFailureClass::Timeout,
                message: String::new(),
                status: None,
                retry_after_ms: None,
                usage: None,
            }),
            usage,
            attempts: 1,
            elapsed_ms,
        })
    };
    let counted = Usage { prompt_tokens: Some(100), completion_tokens: Some(20), ..Usage::default() };
    let events = [
        Event::SessionStarted { at: "2026-11-21T10:00:00Z".to_owned(), mode: "live".to_owned() },
        // Asked again after an interruption: the last counts.
        asked("s.p1/problem/0/0", false, Usage::default(), 5000),
        Event::SessionStarted { at: "2026-11-21T11:00:00Z".to_owned(), mode: "replay".to_owned() },
        asked("s.p1/problem/0/0", true, counted, 1500),
        asked("s.p1/problem/1/0", false, Usage::default(), 500),
        asked("s.p10/problem/0/0", true, counted, 9000),
        Event::SessionFinished { at: "2026-11-21T11:00:08Z".to_owned(), state: "finished".to_owned() },
    ];
    for event in &events {
        run.journal.0.append(event).unwrap();
    }
    let side = run.side();
    let cost = side.observations[0].cost.unwrap();
    assert_eq!((cost.calls, cost.unanswered, cost.tokens(), cost.waiting_s), (1, 1, Some(120), 2.0));
    assert_eq!(side.observations[0].sha256.as_deref(), Some("ab"));
    let sessions = side.sessions;
    assert_eq!((sessions.sessions, sessions.replayed, sessions.without_end, sessions.wall_s), (2, 1, 1, 8.0));
    let found = compare(&side, &side, &Settings::default()).unwrap();
    assert_eq!(found.a.wall.solved_per_second, None, "the time of the session that was killed is unknown");
    let text = found.text();
    assert!(
        text.contains("1 of 2 sessions replayed a record")
            && text.contains("1 session without a recorded end"),
        "{text}"
    );
    // A server that does not count.
    run.journal.0.append(&asked("s.p1/problem/2/0", true, Usage::default(), 0)).unwrap();
    let side = run.side();
    assert_eq!(side.observations[0].cost.unwrap().tokens(), None);
    assert!(
        compare(&side, &side, &Settings::default())
            .unwrap()
            .metrics
            .iter()
            .all(|metric| metric.name != "tokens")
    );
}

#[test]
fn a_task_without_a_recorded_end_is_unfinished() {
    let run = Recorded::new();
    let key = CellKey { suite: "s".to_owned(), pipeline: "p".to_owned(), model: String::new(), seed: 1 };
    let cell = || CellResult {
        tasks: vec![task("p1", Failed), task("p2", Solved)],
        ..CellResult::unfinished(key.clone(), &[], &run.judges)
    };
    let verdict = planforge_record::TaskVerdict::Accepted;
    run.journal.0.append(&Event::TaskFinished { task: "s.p2".to_owned(), verdict }).unwrap();
    let cell = unfinished_where_not_ended(cell(), &run.journal.0);
    assert_eq!([cell.tasks[0].outcome, cell.tasks[1].outcome], [Unfinished, Solved]);
}

#[test]
fn texts_of_models_are_escaped_in_terminals_and_pages() {
    let mut a = outcomes("a", &[NotSolved, Undecided]);
    let b = outcomes("b", &[Solved, Solved]);
    for one in &mut a.observations {
        one.result.why = "red \u{1b}[31m <script>alert(1)</script>\n | end".to_owned();
    }
    let found = compare(&a, &b, &Settings::default()).unwrap();
    for told in [found.text(), found.markdown(), found.csv()] {
        assert!(!told.contains('\u{1b}') && told.contains("alert(1)"), "{told}");
    }
    assert!(!found.markdown().contains("<script>"));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["success"]["discordant"][0]["task"], "p0");
}

#[test]
fn a_small_p_value_is_escaped_once_in_markdown() {
    let (mut a, mut b) = (outcomes("a", &[NotSolved; 20]), outcomes("b", &[Solved; 20]));
    for (side, calls) in [(&mut a, 2), (&mut b, 1)] {
        side.observations.iter_mut().for_each(|one| one.cost = costing(calls, 10, 0, 1.0));
    }
    let page = compare(&a, &b, &Settings::default()).unwrap().markdown();
    let calls = page.lines().rfind(|line| line.starts_with("| calls ")).unwrap();
    assert!(calls.contains(" \\<0.0001 ") && !calls.contains('&'), "{calls}");
    assert!(page.contains("p &lt; 0.0001"), "{page}");
}

#[test]
fn costs_are_compared_only_if_completely_known() {
    let mut a = outcomes("a", &[Solved, NotSolved, Solved]);
    let mut b = outcomes("b", &[Solved, Solved, Solved]);
    let cost = |known_usd, unpriced| Some(TaskCost { calls: 1, known_usd, unpriced, ..TaskCost::default() });
    for (at, (of_a, of_b)) in
        [((0.5, 0), (1.0, 0)), ((0.5, 0), (3.0, 0)), ((0.1, 1), (9.0, 0))].into_iter().enumerate()
    {
        (a.observations[at].cost, b.observations[at].cost) = (cost(of_a.0, of_a.1), cost(of_b.0, of_b.1));
    }
    let found = compare(&a, &b, &Settings::default()).unwrap();
    let rate = found.efficiency.iter().find(|rate| rate.per == "US dollar").unwrap();
    // The third pair is left out: of A only a part is known.
    assert_eq!((rate.pairs, rate.missing), (2, 1));
    assert_eq!((rate.a.spent, rate.a.successes, rate.b.spent, rate.b.successes), (1.0, 1, 4.0, 2));
    let money = found.metrics.iter().find(|metric| metric.name == "US dollars").unwrap();
    assert_eq!((money.mean_a, money.mean_b, money.missing_a), (Some(0.5), Some(2.0), 1));
    assert!(found.text().contains("US dollar"), "{}", found.text());
}

#[test]
fn replies_are_paired_by_action_and_an_action_is_one_trial() {
    use crate::results::{CellClasses, CellKey, CellResult, Group, ReplyClass, Tally};
    let tally = |action: &str, counts: &[(ReplyClass, u64)]| Tally {
        action: action.to_owned(),
        counts: counts.iter().copied().collect(),
        ..Tally::default()
    };
    let side = |name: &str, actions: Vec<Tally>| {
        let key = CellKey { suite: "s".to_owned(), pipeline: "p".to_owned(), model: String::new(), seed: 1 };
        let mut cell = CellResult::unfinished(key, &[], &Judges::default());
        cell.classes = Some(CellClasses { actions, ..CellClasses::default() });
        Observed::new(name, "p", Judges::default()).by_action(&[cell]).unwrap()
    };
    let first = |group| ReplyClass::members(group).next().unwrap();
    let (same, other, failed) = (first(Group::Equivalent), first(Group::Different), ReplyClass::Failed);
    let a = side("a", vec![tally("Go", &[(same, 1), (other, 3)]), tally("load", &[(same, 4)])]);
    let b = side("b", vec![tally("go", &[(same, 4)]), tally("load", &[(same, 3), (failed, 1)])]);
    let settings = Settings { question: Question::Classes, ..Settings::default() };
    let found = compare(&a, &b, &settings).unwrap();
    assert_eq!((found.pairs, found.clusters), (8, 2), "names of actions are without case");
    // B is better in three replies for one action, which is one trial; a reply that broke is in no test.
    assert_eq!((found.success.only_b, found.success.only_a, found.success.open), (3, 0, 1));
    assert_eq!(found.success.p, Some(1.0));
    assert!(found.metrics.is_empty() && found.efficiency.is_empty());
    let text = found.text();
    assert!(text.contains("2 actions") && text.contains("action is equivalent"), "{text}");
    assert_eq!(
        a,
        side("a", vec![tally("Go", &[(same, 1), (other, 3)]), tally("load", &[(same, 4)])]),
        "always the same order"
    );
    let without = Observed::new("c", "p", Judges::default()).by_action(&[]);
    assert_eq!(without.unwrap_err().code, "compare.not-asked");
}
