//! The example of the generic questions is correct: its answer means what its text says.

use super::*;

const NURSERY: &str = "(define (domain nursery)
  (:requirements :strips :typing :negative-preconditions)
  (:types shelf pot plant gardener watering-can house patch)
  (:predicates
    (grows-in ?a - plant ?b - pot)
    (on-upper ?a - pot ?b - shelf)
    (on-lower ?a - pot ?b - shelf)
    (dry ?a - pot)
    (inside ?a - gardener ?b - house)
    (meant-for ?a - watering-can ?b - gardener)
    (beside ?a - gardener ?b - watering-can)
    (holds ?a - gardener ?b - watering-can)
    (watered ?a - plant)
    (planted-on ?a - plant ?b - patch)
    (gate-locked))
  (:action open :parameters () :precondition (gate-locked) :effect (not (gate-locked)))
  (:action work
    :parameters (?g - gardener ?c - watering-can ?p - plant ?where - patch)
    :precondition (meant-for ?c ?g)
    :effect (and (holds ?g ?c) (watered ?p) (planted-on ?p ?where))))";

const KNOWLEDGE: &str = "ir_predicate(patch_grid(row, column, patch), \"patch C is in row A and column B\").
object(X, patch) :- init(patch_grid(_, _, X)).\n";

fn nursery() -> TranslateRequest {
    let mut request = grippers(1);
    request.task.given.domain = Some(NURSERY.into());
    request.task.materials = Materials { knowledge: Some(KNOWLEDGE.into()), ..Materials::default() };
    request
}

#[test]
fn the_sample_answers_of_three_questions_make_the_problem_of_the_sample_text() {
    let counts = r#"{"shelf": 2, "pot": 4, "plant": 3, "gardener": 2, "watering_can": 2, "patch": {"width": 3, "height": 2}}"#;
    assert!(include_str!("../../templates/cardinalities.txt").contains(counts));
    let names = include_str!("../../templates/sample-objects.txt");
    let rules = include_str!("../../templates/sample-rules.txt");
    let host = host(&[counts, names, rules]);
    let patch = sample(of_mode(Mode::G3), &host, &nursery()).unwrap();
    let problem = patch.problem.unwrap();
    let worse: Vec<_> = patch.diagnostics.iter().filter(|d| d.severity != ReportedSeverity::Advice).collect();
    assert!(worse.is_empty() && patch.fixes.is_empty(), "{worse:?} {:?}", patch.fixes);
    insta::assert_snapshot!(problem);
}

#[test]
fn the_sample_answer_of_one_question_is_what_three_answers_make() {
    let g1 = include_str!("../../templates/g1.txt");
    let head: String = g1
        .lines()
        .filter(|l| l.starts_with("cardinality(") || l.starts_with("object("))
        .map(|l| format!("{l}\n"))
        .collect();
    let whole = format!("{head}{}", include_str!("../../templates/sample-rules.txt"));
    let counts = r#"{"shelf": 2, "pot": 4, "plant": 3, "gardener": 2, "watering_can": 2, "patch": {"width": 3, "height": 2}}"#;
    let names = include_str!("../../templates/sample-objects.txt");
    let one = sample(of_mode(Mode::G1), &host(&[&whole]), &nursery()).unwrap();
    let three = host(&[counts, names, include_str!("../../templates/sample-rules.txt")]);
    let three = sample(of_mode(Mode::G3), &three, &nursery()).unwrap();
    assert_eq!(one.problem, three.problem);
}
