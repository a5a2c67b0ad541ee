use super::*;
use crate::study::{StudySuite, StudyTask, Watch, load_suites};
use planforge_diagnostics::SourceId;
use planforge_pddl::mutate::{MutationKind, ProblemPart, RewriteKind};
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::Unlimited;
use planforge_planning::equivalence::hde;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

fn own(names: &[&str]) -> Vec<StudySuite> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    load_suites(&names.iter().map(|name| root.join(name)).collect::<Vec<_>>(), 2).unwrap()
}

fn spec(mutants: usize) -> CalibrationSpec {
    CalibrationSpec {
        mutants,
        walks: vec![10, 100],
        hde_plans: 3,
        max_nodes: 20_000,
        ..CalibrationSpec::default()
    }
}

fn still() -> Duration {
    Duration::ZERO
}

fn judge(
    suites: &[StudySuite],
    made: &[Mutant],
    spec: &CalibrationSpec,
    threads: usize,
) -> Vec<JudgedMutant> {
    let watch = Watch::default();
    let references = references(suites, spec, threads, &watch).unwrap();
    judge_all(&references, made, spec, threads, &watch, &still).unwrap()
}

fn calibrated(suites: &[StudySuite], spec: &CalibrationSpec, threads: usize) -> Calibration {
    let made = mutants(suites, spec);
    Calibration::new(suites, &made, &judge(suites, &made, spec, threads), &[], spec)
}

#[test]
fn mutants_are_distributed_evenly_without_duplicates() {
    let suites = own(&["blocks", "garden", "parcels"]);
    let made = mutants(&suites, &spec(100));
    let of = |suite: usize| made.iter().filter(|m| m.suite == suite).count();
    assert_eq!([of(0), of(1), of(2)], [34, 33, 33]);
    let texts: HashSet<&str> = made.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(texts.len(), 100);
    // As many mistakes as rewrites, and of either every kind.
    let mut kinds: BTreeMap<MutantKind, usize> = BTreeMap::new();
    made.iter().for_each(|m| *kinds.entry(m.kind).or_default() += 1);
    let rewrites: usize = kinds.iter().filter(|(k, _)| k.is_rewrite()).map(|(_, n)| n).sum();
    assert!((48..=52).contains(&rewrites) && kinds.len() == MutantKind::defaults().len(), "{kinds:?}");
    // A suite's part depends on nothing but its share.
    let alone = mutants(&suites[1..2], &spec(33));
    assert!(made.iter().filter(|m| m.suite == 1).map(|m| &m.text).eq(alone.iter().map(|m| &m.text)));
    let other = CalibrationSpec { seed: 1, ..spec(100) };
    assert_ne!(mutants(&suites, &other), made);
    // What there is no more of is not made up.
    let only = vec![MutantKind::Rewrite(RewriteKind::ReflexiveEquality)];
    let few = mutants(&suites[..1], &CalibrationSpec { kinds: only, ..spec(100) });
    assert!(!few.is_empty() && few.len() < 10, "{}", few.len());
}

#[test]
fn names_of_mutant_kinds_parse_back() {
    for kind in MutantKind::all() {
        assert_eq!(kind.as_str().parse(), Ok(kind));
    }
    assert!("predicate-argument".parse::<MutantKind>().unwrap_err().contains("omission, addition"));
}

#[test]
fn the_number_of_threads_changes_no_judgement() {
    let suites = own(&["blocks", "garden", "parcels"]);
    let one = calibrated(&suites, &spec(60), 1);
    let four = calibrated(&suites, &spec(60), 4);
    assert_eq!(one, four);
    assert_eq!(one.artefacts().unwrap(), four.artefacts().unwrap());
}

#[test]
fn verifiers_keep_what_their_kinds_promise() {
    let suites = own(&["blocks", "garden", "hiking", "movie"]);
    let spec = spec(160);
    let calibration = calibrated(&suites, &spec, 2);
    let [equal, different, undecided] = calibration.labels;
    assert!(equal > 40 && different > 30 && equal + different + undecided == 160, "{:?}", calibration.labels);
    assert!(calibration.broken_rewrites().is_empty());
    let (mut missed, mut goals) = (0, 0);
    let rejects = |m: &report::MutantRow, name: &str| m.judgements[name] == Judgement::Rejects;
    for mutant in &calibration.mutants {
        // Each looks at no more than the exact comparison does, so none rejects what that finds equal.
        if mutant.label == Label::Equal {
            let rejected: Vec<_> =
                mutant.judgements.iter().filter(|(_, j)| **j == Judgement::Rejects).collect();
            assert!(rejected.is_empty(), "{mutant:?}");
        }
        // A larger budget of walks begins with the smaller.
        assert!(!rejects(mutant, "walks-10") || rejects(mutant, "walks-100"), "{mutant:?}");
        assert!(
            !rejects(mutant, "walks-100") || mutant.judgements["walks-exact"] != Judgement::Accepts,
            "{mutant:?}"
        );
        assert_eq!(
            rejects(mutant, "plans-both-ways"),
            rejects(mutant, "plan") || rejects(mutant, "reference-plan")
        );
        assert!(!rejects(mutant, "solvable") || rejects(mutant, "plan"));
        // The bounded comparison sees the differences that show within its bound.
        if let Label::Different { steps, by } = mutant.label {
            assert!(steps > 5 || rejects(mutant, "exact-depth-5"), "{mutant:?}");
            // Walks never look at a goal.
            goals +=
                usize::from(by == ShownBy::Goal && mutant.judgements["walks-exact"] == Judgement::Accepts);
            missed += usize::from(mutant.judgements["exact-depth-5"] == Judgement::Accepts);
        }
    }
    assert!(missed > 0 && goals > 0, "{missed} {goals}");
    let differences: u64 = calibration.differences.iter().map(|row| row.mutants).sum();
    assert_eq!(differences, different);
    let figures = |name: &str| calibration.verifiers.iter().find(|v| v.verifier == name).unwrap();
    assert_eq!(figures("pddl").kappa, Some(0.0), "one who accepts everything knows nothing");
    assert!(figures("walks-100").kappa > figures("walks-10").kappa);
    assert!(figures("plan").tally.false_accepts().0 < figures("solvable").tally.false_accepts().0);
}

#[test]
fn goal_agreement_rejects_wrong_problems_that_the_walk_score_accepts() {
    let suites = own(&["blocks", "floortile", "grippers", "hiking", "miconic", "movie", "parcels", "termes"]);
    let kinds = [ProblemPart::Goal, ProblemPart::Init].map(MutantKind::Problem).to_vec();
    let spec = CalibrationSpec { kinds, walks: vec![10], hde_plans: 1, ..spec(160) };
    let calibration = calibrated(&suites, &spec, 2);
    let (mut walks_miss, mut goals_miss, mut goals_alone) = (0, 0, 0);
    for mutant in &calibration.mutants {
        let goals = &mutant.judgements["walks-goals"];
        match mutant.label {
            Label::Equal => assert_ne!(*goals, Judgement::Rejects, "{mutant:?}"),
            Label::Different { by, .. } if mutant.judgements["walks-exact"] == Judgement::Accepts => {
                walks_miss += 1;
                goals_miss += usize::from(*goals != Judgement::Rejects);
                goals_alone += usize::from(by == ShownBy::Goal);
            }
            _ => {}
        }
    }
    assert!(walks_miss > 60 && goals_alone > 60, "{walks_miss} {goals_alone}");
    assert!(goals_miss * 20 < walks_miss, "{goals_miss} of {walks_miss}");
}

#[test]
fn heuristic_equivalence_on_ready_models_is_that_on_texts() {
    let suites = own(&["garden"]);
    let spec = spec(40);
    let made = mutants(&suites, &spec);
    let judged = judge(&suites, &made, &spec, 2);
    let at = spec.verifiers().iter().position(|v| *v == Verifier::Hde(3)).unwrap();
    let options =
        hde::HdeOptions { k: 3.try_into().unwrap(), max_nodes: spec.max_nodes, ..Default::default() };
    let problems: Vec<_> = suites[0].tasks.iter().map(|t| &t.problem).collect();
    let reference = hde::HdeReference::new(&suites[0].domain, &problems, &options, &mut Unlimited).unwrap();
    let mut different = 0;
    for (mutant, judged) in made.iter().zip(&judged) {
        let domain = parse_domain(&mutant.text, SourceId(0)).value;
        let found = reference.compare(&domain, &mut Unlimited).unwrap().outcome;
        let said = match found {
            hde::HdeOutcome::Equivalent => Judgement::Accepts,
            hde::HdeOutcome::Different { .. } => Judgement::Rejects,
            hde::HdeOutcome::Undecided { .. } => continue,
        };
        different += usize::from(said == Judgement::Rejects);
        assert_eq!(judged.judgements[at].0, said, "{mutant:?}");
    }
    assert!(different > 5);
}

fn refused(steps: usize) -> Label {
    Label::Different { by: ShownBy::Refusal, steps }
}

/// A lamp whose switch is where the lamp is: either precondition of `press` follows from the other.
fn lamp() -> StudySuite {
    let domain =
        "(define (domain lamp) (:requirements :strips) (:predicates (at ?p) (near ?p) (way ?p ?q) (lit ?p))
      (:action go :parameters (?p ?q) :precondition (and (at ?p) (way ?p ?q))
        :effect (and (at ?q) (near ?q) (not (at ?p)) (not (near ?p))))
      (:action press :parameters (?p) :precondition (and (at ?p) (near ?p)) :effect (lit ?p)))";
    let problem = "(define (problem one) (:domain lamp) (:objects a b)
      (:init (at a) (near a) (way a b) (way b a)) (:goal (lit b)))";
    let task = StudyTask { stem: "one".to_owned(), problem: parse_problem(problem, SourceId(1)).value };
    StudySuite { name: "lamp".to_owned(), domain: parse_domain(domain, SourceId(0)).value, tasks: vec![task] }
}

#[test]
fn labels_come_from_the_comparison_and_not_from_the_mutation() {
    let suites = [lamp()];
    let kinds = vec![MutantKind::Mistake(MutationKind::Omission)];
    let calibration = calibrated(&suites, &CalibrationSpec { kinds, ..spec(20) }, 1);
    let label = |change: &str| {
        let found = calibration.mutants.iter().find(|m| m.change.contains(change));
        found.unwrap_or_else(|| panic!("{change}")).label.clone()
    };
    // Dropped, and implied by what is left: it has to be accepted.
    assert_eq!(label("press: precondition (near ?p)"), Label::Equal);
    assert_eq!(label("press: precondition (at ?p)"), Label::Equal);
    // One step from b to a is allowed at once.
    assert_eq!(label("go: precondition (at ?p)"), refused(1));
    let row = &calibration.kinds[0];
    let walks = calibration.verifiers.iter().position(|v| v.verifier == "walks-100").unwrap();
    assert_eq!(row.tallies[walks].verdicts.good_accepted, row.equal);
    assert!(row.equal >= 2 && row.different >= 3, "{row:?}");
}

#[test]
fn mutants_left_open_by_limits_are_in_no_figure() {
    let suites = own(&["blocks"]);
    let tight = CalibrationSpec { max_pairs: 1, max_nodes: 1, walk_pairs: 1, ..spec(40) };
    let calibration = calibrated(&suites, &tight, 1);
    let [equal, different, undecided] = calibration.labels;
    assert!(undecided > 5 && equal + different + undecided == 40, "{:?}", calibration.labels);
    for v in &calibration.verifiers {
        let t = &v.tally;
        assert_eq!(t.verdicts.total() + t.undecided + t.failed, equal + different, "{}", v.verifier);
    }
    let figures = |name: &str| calibration.verifiers.iter().find(|v| v.verifier == name).unwrap();
    for name in ["solvable", "hde-3", "walks-exact"] {
        assert!(figures(name).tally.undecided > 0, "{name}");
    }
    assert!(calibration.text().contains("Left open because:\n* the limit on pairs of states was reached: "));
}

#[test]
fn a_labelled_sample_is_as_balanced_as_possible() {
    let judged = |label: &Label| JudgedMutant {
        label: label.clone(),
        label_time: Duration::ZERO,
        judgements: Vec::new(),
    };
    let open = Label::Undecided(String::new());
    let labels: Vec<Label> = (0..50)
        .map(|i| [Label::Equal, refused(1), Label::Equal, open.clone(), Label::Equal][i % 5].clone())
        .collect();
    let all: Vec<JudgedMutant> = labels.iter().map(judged).collect();
    let counts = |count: usize| {
        let chosen = labelled_sample(&all, count, 7);
        assert!(chosen.is_sorted() && chosen.iter().collect::<HashSet<_>>().len() == chosen.len());
        ["equal", "different", "undecided"]
            .map(|word| chosen.iter().filter(|&&i| labels[i].word() == word).count())
    };
    assert_eq!((counts(10), counts(7), counts(0)), ([5, 5, 0], [4, 3, 0], [0, 0, 0]));
    // There are 30 equal and 10 different ones.
    assert_eq!((counts(30), counts(40), counts(100)), ([20, 10, 0], [30, 10, 0], [30, 10, 0]));
    assert_ne!(labelled_sample(&all, 10, 7), labelled_sample(&all, 10, 8));
}

#[test]
fn a_reference_that_is_too_large_is_named() {
    let suites = own(&["barman"]);
    let small = CalibrationSpec { max_instances: 3, ..spec(4) };
    let failure = references(&suites, &small, 1, &Watch::default()).unwrap_err();
    assert_eq!(failure.code, "calibrate.reference");
    assert!(failure.message.starts_with("barman with p01 cannot be compared"), "{failure}");
}

#[test]
fn costs_include_work_on_the_mutant_once_for_each_verifier() {
    let suites = own(&["garden"]);
    let spec = spec(4);
    let made = mutants(&suites, &spec);
    let watch = Watch::default();
    let references = references(&suites, &spec, 1, &watch).unwrap();
    // Every look at this clock is a millisecond later than the last.
    let ticks = AtomicU64::new(0);
    let clock = move || Duration::from_millis(ticks.fetch_add(1, Ordering::SeqCst));
    let judged = judge_all(&references, &made, &spec, 1, &watch, &clock).unwrap();
    let ms: Vec<u128> = judged[0].judgements.iter().map(|(_, time)| time.as_millis()).collect();
    // Reading and checking; reading and grounding, then planning, validating one way, the other way, both; plans of both; walks
    // that are made ready and drawn, 10 and 90 more; and one piece of work for the rest, after which goals are a second one.
    assert_eq!(ms, [2, 3, 4, 3, 5, 3, 4, 5, 3, 4, 3]);
    assert_eq!(judged[0].label_time.as_millis(), 3);
}

#[test]
fn counts_agree_with_figures_worked_by_hand() {
    let suites = [lamp()];
    let kinds = vec![MutantKind::Mistake(MutationKind::Omission), MutantKind::Rewrite(RewriteKind::Capitals)];
    let spec = CalibrationSpec { kinds: kinds.clone(), walks: vec![], ..spec(6) };
    let mutant = |number: usize| Mutant {
        suite: 0,
        number,
        kind: kinds[number % 2],
        change: format!("change, {number}"),
        text: String::new(),
        problem: None,
    };
    let made: Vec<Mutant> = (0..6).map(mutant).collect();
    let labels = [
        refused(2),
        Label::Equal,
        refused(3),
        Label::Equal,
        Label::Undecided("a limit; far".to_owned()),
        refused(0),
    ];
    let said = [
        Judgement::Rejects,
        Judgement::Accepts,
        Judgement::Accepts,
        Judgement::Rejects,
        Judgement::Rejects,
        Judgement::Undecided("why".to_owned()),
    ];
    let judged: Vec<JudgedMutant> = labels
        .iter()
        .zip(&said)
        .enumerate()
        .map(|(i, (label, judgement))| JudgedMutant {
            label: label.clone(),
            label_time: Duration::from_millis(i as u64),
            judgements: vec![
                (judgement.clone(), Duration::from_millis(10 * (1 + i as u64)));
                spec.verifiers().len()
            ],
        })
        .collect();
    let critic = OtherJudgements {
        name: "critic".to_owned(),
        elsewhere: "verifier-critique".to_owned(),
        judgements: vec![
            (0, Judgement::Accepts, Duration::from_millis(7)),
            (1, Judgement::Failed("no reply".to_owned()), Duration::ZERO),
        ],
    };
    let calibration = Calibration::new(&suites, &made, &judged, &[critic], &spec);
    assert_eq!(calibration.labels, [2, 3, 1]);
    let first = &calibration.verifiers[0];
    assert_eq!((first.tally.false_accepts(), first.tally.false_rejects()), ((1, 2), (1, 2)));
    assert_eq!((first.tally.undecided, first.tally.failed, first.kappa), (1, 0, Some(0.0)));
    let cost = [first.cost.median_ms, first.cost.mean_ms, first.cost.total_s * 1000.0];
    assert_eq!(cost.map(|ms| (ms * 1e6).round() / 1e6), [35.0, 35.0, 210.0]);
    let last = calibration.verifiers.last().unwrap();
    assert_eq!((last.tally.false_accepts(), last.tally.failed, last.cost.judgements), ((1, 1), 1, 2));
    // The last mutant stands for a fault of ours: a rewrite that is different.
    assert_eq!(calibration.broken_rewrites()[0].number, 5);
    assert_eq!((calibration.kinds[0].different, calibration.kinds[0].undecided), (2, 1));
    assert_eq!(calibration.kinds[1].tallies[0].false_rejects(), (1, 2));
    let files = calibration.artefacts().unwrap();
    let file = |name: &str| &files.iter().find(|f| f.name == name).unwrap().contents;
    let line = file("calibration.csv").lines().nth(1).unwrap();
    assert!(line.starts_with("pddl,\"verifier-val, what = \"\"pddl\"\"\",1,1,1,1,1,0,0.500000,"), "{line}");
    let kinds = file("calibration-kinds.csv");
    assert!(kinds.contains("\nomission,critic,0,2,1,0,0,1,0,0,0\n"), "{kinds}");
    let mutants = file("calibration-mutants.csv");
    assert!(
        mutants.contains("\nlamp,4,omission,\"change, 4\",undecided,,,a limit; far,rejects,"),
        "{mutants}"
    );
    assert!(mutants.lines().nth(2).unwrap().ends_with(",failed: no reply"), "{mutants}");
    let read: Calibration = serde_json::from_str(file("calibration.json")).unwrap();
    assert_eq!((read.labels, read.mutants.len(), read.spec), (calibration.labels, 6, spec));
    assert!(file("calibration.svg").contains("accepts a different domain"));
    assert!(calibration.text().contains("False rejects by kind, where there are any"));
    assert!(
        calibration.text().contains("a step refused, within 10 steps  mutants: 3; "),
        "{}",
        calibration.text()
    );
    assert!(file("calibration.md").contains("| critic"));
}
