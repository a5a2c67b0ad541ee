use super::*;
use crate::study::load_suites;
use planforge_diagnostics::SourceId;
use planforge_pddl::{parse_domain, print_domain};
use planforge_planning::{ValidationDecision, parse_plan, validate};
use std::path::Path;

fn suites(names: &[&str]) -> Vec<StudySuite> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let paths: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
    load_suites(&paths, 1).unwrap()
}

fn spec(mutants: usize) -> ClassesSpec {
    ClassesSpec {
        mutants,
        seed: 5,
        k: [20, 3].map(|k| NonZeroUsize::new(k).unwrap()).to_vec(),
        max_nodes: 100_000,
        max_pairs: 20_000,
        max_bytes: 64 << 20,
    }
}

/// True if a sequence is a plan, by the validator that reports on plans.
fn is_plan(domain: &str, problem: &planforge_pddl::ast::Problem, steps: &[NamedStep]) -> bool {
    let domain = parse_domain(domain, SourceId(0)).value;
    let plan: String = steps.iter().map(|step| format!("{step}\n")).collect();
    validate(&domain, problem, &parse_plan(&plan, SourceId(2))).unwrap().decision == ValidationDecision::Valid
}

#[test]
fn the_witness_of_a_class_is_a_valid_plan() {
    let suites = suites(&["miconic", "movie", "blocks"]);
    let Classes { judged, left_out } = run(&suites, &spec(40), 2, &Watch::default()).unwrap();
    assert!(left_out.is_empty(), "{left_out:?}");
    assert_eq!(misjudged(&suites, &judged), Vec::<String>::new());
    let (mut plans, mut unseen) = (0, 0);
    for j in &judged {
        let Some(behaves) = &j.behaves else { continue };
        let suite = &suites[j.suite];
        let further = behaves.unseen.as_ref().and_then(Unseen::witness);
        for witness in behaves.witness.iter().chain(further) {
            let problem = &suite.tasks[witness.problem].problem;
            let found =
                [&print_domain(&suite.domain), &behaves.domain].map(|d| is_plan(d, problem, &witness.steps));
            assert_eq!(found, witness.valid, "{}: {}", suite.name, j.mutant.change);
            plans += 1;
        }
        unseen += usize::from(behaves.unseen.is_some());
        // More plans never show less.
        let equivalent = |at: usize| behaves.classes[at] == ResultClass::Equivalent;
        assert!(!equivalent(0) || equivalent(1) || behaves.classes[1] == ResultClass::Undecided);
    }
    assert!(plans > 100 && unseen > 0, "{plans} plans, {unseen} differences that plans do not show");
}

#[test]
fn neither_threads_nor_other_suites_change_a_judgement() {
    let [one, two] = [&["movie"][..], &["blocks", "movie"][..]].map(suites);
    let texts = |suites: &[StudySuite], threads| {
        let judged = run(suites, &spec(12), threads, &Watch::default()).unwrap().judged;
        let movie = judged.into_iter().filter(|j| suites[j.suite].name == "movie");
        movie.map(|j| (j.mutant, j.class, j.behaves)).collect::<Vec<_>>()
    };
    let alone = texts(&one, 1);
    assert!(!alone.is_empty());
    assert_eq!(alone, texts(&two, 2));
}

#[test]
fn a_suite_whose_plans_are_beyond_the_limits_is_named() {
    let few = ClassesSpec { max_nodes: 1, ..spec(4) };
    let classes = run(&suites(&["blocks"]), &few, 1, &Watch::default()).unwrap();
    assert!(classes.judged.is_empty());
    assert_eq!(classes.left_out.len(), 1);
    assert!(classes.left_out[0].1.contains("limit"), "{}", classes.left_out[0].1);
}
