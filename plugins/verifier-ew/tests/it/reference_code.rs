//! The form `reference-code` compared with scores of the paper's own code, on tasks of the published suites
//! with one precondition removed. The suites are not part of this repository; the test prints a message if
//! they are missing.

use planforge_planning::Unlimited;
use planforge_planning::walk::{Model, WalkScore};
use planforge_verifier_ew::measure::models;
use planforge_verifier_ew::{Form, Settings, WalkVerifierOptions};
use std::fs;
use std::path::Path;

/// Suite, action, removed precondition, and the lowest and highest score over several runs of that code.
const SEEN: [(&str, &str, &str, f64, f64); 4] = [
    ("grippers", "pick", "(free ?r ?g)", 0.31, 0.44),
    ("termes", "move", "(height ?to ?h)", 0.92, 0.96),
    ("floortile", "left", "(clear ?y)", 0.89, 0.91),
    ("barman", "grasp", "(handempty ?h)", 0.36, 0.46),
];

/// Removes the first occurrence of a term after the action's name: preconditions come first.
fn without(domain: &str, action: &str, term: &str) -> String {
    let start =
        domain.find(&format!("(:action {action}\n")).or_else(|| domain.find(&format!("(:action {action} ")));
    let start = start.unwrap();
    let at = start + domain[start..].find(term).unwrap();
    format!("{}{}", &domain[..at], &domain[at + term.len()..])
}

fn settings(form: Form) -> Settings {
    WalkVerifierOptions { form, ..Default::default() }.settings().unwrap()
}

#[test]
fn scores_of_the_papers_code_lie_in_the_interval() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/suites/llm-p");
    if !suites.is_dir() {
        eprintln!("skipped: {} is not there", suites.display());
        return;
    }
    let settings = settings(Form::ReferenceCode);
    for (suite, action, term, least, most) in SEEN {
        let read = |name: &str| fs::read_to_string(suites.join(suite).join(name)).unwrap();
        let (domain, problem) = (read("domain.pddl"), read("p01.pddl"));
        let model = |domain: &str| {
            Model::from_texts(domain, &problem, &settings.model_options(), &mut Unlimited).unwrap()
        };
        let (reference, candidate) = (model(&domain), model(&without(&domain, action, term)));
        for seed in 1..=5 {
            let measured = models(&[(&reference, &candidate)], &settings, seed, &mut Unlimited).unwrap();
            assert_eq!(measured.walks(), 100);
            let interval = measured.interval.unwrap();
            let score = measured.score.score.unwrap();
            // Each figure seen is a sample of as many walks, so both ends have noise; the middle must not.
            let middle = 0.5 * (least + most);
            assert!(
                interval.contains(middle),
                "{suite}, seed {seed}: {middle} is not in {interval:?} around {score}"
            );
        }
    }
}

#[test]
fn both_forms_average_directions_over_problems_before_the_harmonic_mean() {
    let domain = "(define (domain lamp) (:predicates (on) (broken))
      (:action light :parameters () :precondition (and (not (on)) (not (broken))) :effect (on))
      (:action dim :parameters () :precondition (on) :effect (not (on))))";
    let eager = domain.replace(" (not (broken))", "");
    let problem =
        |broken: &str| format!("(define (problem p) (:domain lamp) (:init (on) {broken}) (:goal (on)))");
    for form in [Form::Definition, Form::ReferenceCode] {
        let settings = settings(form);
        let model = |domain: &str, broken: &str| {
            Model::from_texts(domain, &problem(broken), &settings.model_options(), &mut Unlimited).unwrap()
        };
        let whole = (model(domain, ""), model(&eager, ""));
        let broken = (model(domain, "(broken)"), model(&eager, "(broken)"));
        let pairs = [(&whole.0, &whole.1), (&broken.0, &broken.1)];
        let both = models(&pairs, &settings, 3, &mut Unlimited).unwrap();
        let each: Vec<WalkScore> = pairs
            .iter()
            .map(|pair| models(std::slice::from_ref(pair), &settings, 3, &mut Unlimited).unwrap().score)
            .collect();
        let mean = |f: fn(&WalkScore) -> Option<f64>| each.iter().map(|s| f(s).unwrap()).sum::<f64>() / 2.0;
        let (to, from) = (mean(|s| s.reference_to_candidate), mean(|s| s.candidate_to_reference));
        let score = both.score.score.unwrap();
        assert!((score - 2.0 * to * from / (to + from)).abs() < 0.05, "{form:?}: {score}, {to}, {from}");
        let other_order = mean(|s| s.score);
        assert!(
            (score - other_order).abs() > 0.02,
            "the tasks tell the two orders apart: {score}, {other_order}"
        );
    }
}
