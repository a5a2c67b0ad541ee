//! Durative actions, and mistakes in numbers, times and weights.

use super::*;
use planforge_pddl::StripSpans;

const KILN: &str = "(define (domain kiln)
  (:requirements :typing :durative-actions :numeric-fluents)
  (:types pot) (:predicates (cold ?p - pot) (fired ?p - pot)) (:functions (wood) (heat ?p - pot))
  (:durative-action fire :parameters (?p - pot) :duration (= ?duration 40)
    :condition (and (at start (cold ?p)) (at start (>= (wood) 2)))
    :effect (and (at start (decrease (wood) 2)) (at start (not (cold ?p))) (at end (fired ?p)))))";

const FIRING: &str = "(define (problem firing) (:domain kiln) (:objects jug bowl - pot)
  (:init (cold jug) (cold bowl) (= (wood) 5) (= (heat jug) 1) (at 9 (= (wood) 7)))
  (:goal (and (fired jug) (preference both (fired bowl))))
  (:metric minimize (+ (total-time) (* 50 (is-violated both)))))";

fn options() -> OracleOptions {
    let problems = BTreeMap::from([("p01".to_owned(), FIRING.to_owned())]);
    let suite = SuiteReference { name: "harbour".into(), domain: KILN.into(), problems };
    OracleOptions { suites: vec![Suite::Reference(suite)], predicate_argument: 0.0, ..Default::default() }
}

fn kinds(number: f64, time: f64, weight: f64) -> Kinds {
    Kinds {
        omission: 0.0,
        addition: 0.0,
        swapped_arguments: 0.0,
        replaced_argument: 0.0,
        number,
        time,
        weight,
        ..Kinds::default()
    }
}

#[test]
fn durative_actions_are_written_with_mistakes_in_numbers_and_times() {
    let reference = parse_domain(KILN, SourceId(0)).value;
    for (own, word) in [(kinds(1.0, 0.0, 0.0), "(number)"), (kinds(0.0, 1.0, 0.0), "(time)")] {
        let noisy = oracle(OracleOptions { kinds: own, errors: 1, ..options() });
        let (texts, notes) = ask(&noisy, &request("domain", "Write it.", 20, 3));
        for (text, note) in texts.iter().zip(&notes) {
            let mistakes = strings(&note["mistakes"]);
            assert!(mistakes.len() == 1 && mistakes[0].ends_with(word), "{mistakes:?}");
            assert!(!domain_of(text).eq_ignoring_spans(&reference), "{text}");
        }
    }
    let omitting = oracle(OracleOptions { errors: 1, ..options() });
    let (_, notes) = ask(&omitting, &request("domain", "Write it.", 1, 3));
    assert!(strings(&notes[0]["mistakes"])[0].ends_with("omitted"), "{notes:?}");
    let exact =
        ask(&oracle(OracleOptions { errors: 0, ..options() }), &request("domain", "Write it.", 1, 3)).0;
    assert!(domain_of(&exact[0]).eq_ignoring_spans(&reference), "{exact:?}");
}

#[test]
fn a_wrong_duration_is_found_by_the_critic_and_repaired_where_it_is_named() {
    let wrong = KILN.replace("?duration 40", "?duration 80");
    let question = format!("The duration of `fire` is wrong.\n\n```pddl\n{wrong}\n```");
    let sure = OracleOptions {
        repair_named: 1.0,
        repair_unnamed: 0.0,
        critic: Critic { finds: 1.0, prose: true, ..Critic::default() },
        ..options()
    };
    let (texts, _) = ask(&oracle(sure.clone()), &request("critique", &question, 1, 3));
    assert!(texts[0].contains("the duration wrongly has (= ?duration 80)"), "{texts:?}");
    let (texts, notes) = ask(&oracle(sure), &request("domain", &question, 1, 3));
    assert_eq!(
        strings(&notes[0]["repaired"]),
        ["action fire: duration (= ?duration 80) became (= ?duration 40)"]
    );
    assert!(domain_of(&texts[0]).eq_ignoring_spans(&parse_domain(KILN, SourceId(0)).value), "{texts:?}");
    let edit = oracle(options()).complete(&TestHost::new(), &request("edit", &question, 1, 3)).unwrap();
    let CompletionResult::ProviderFailure(failure) = edit else { panic!("{edit:?}") };
    assert!(failure.message.contains("durative"), "{}", failure.message);
}

#[test]
fn numbers_times_and_weights_of_problems_are_wrong_as_often_as_the_options_say() {
    let reference = parse_problem(FIRING, SourceId(0)).value;
    let written = |kinds: Kinds| {
        let noisy = oracle(OracleOptions { kinds, errors: 0, problem_errors: 1, ..options() });
        let (texts, notes) = ask(&noisy, &request("problem", "Write it.", 40, 3));
        let mut mistakes = Vec::new();
        for (text, note) in texts.iter().zip(&notes) {
            assert!(!problem_of(text).eq_ignoring_spans(&reference), "{text}");
            mistakes.extend(strings(&note["mistakes"]));
        }
        assert_eq!(mistakes.len(), 40);
        mistakes
    };
    let all_have = |mistakes: &[String], word: &str| mistakes.iter().all(|mistake| mistake.contains(word));
    assert!(all_have(&written(kinds(1.0, 0.0, 0.0)), "(= ("));
    assert!(all_have(&written(kinds(0.0, 1.0, 0.0)), "init: (at 9 "));
    assert!(all_have(&written(kinds(0.0, 0.0, 1.0)), "metric: "));
    // Without them, only facts are wrong, as before.
    assert!(written(Kinds::default()).iter().all(|mistake| mistake.contains("(cold ")));
    let half = written(Kinds { omission: 1.0, ..kinds(0.0, 0.0, 1.0) });
    let weights = half.iter().filter(|mistake| mistake.contains("metric: ")).count();
    assert!((10..30).contains(&weights), "{half:?}");
}

#[test]
fn wrong_weights_of_a_shown_problem_stay_or_are_repaired() {
    let question =
        format!("Correct it.\n\n```pddl\n{}\n```", FIRING.replace("(* 50", "(* 51").replace("5)", "6)"));
    for (repair, left) in [(0.0, 2), (1.0, 0)] {
        let own =
            OracleOptions { kinds: kinds(1.0, 1.0, 1.0), repair_unnamed: repair, damage: 0.0, ..options() };
        let (texts, notes) = ask(&oracle(own), &request("update", &question, 1, 3));
        assert_eq!(notes[0]["mistakes_left"], left, "{notes:?}\n{texts:?}");
        assert_eq!(texts[0].contains("(* 51") && texts[0].contains("(= (wood) 6)"), left == 2, "{texts:?}");
    }
}
