//! What is withheld of the reference reaches no prompt: every shipped pipeline is run with plugins that tell the model
//! everything they can see, on a suite whose withheld parts hold names that stand nowhere else.

// Helpers outside of #[test] are no production code either.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::*;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host, Planner, Translator, Verifier};
use planforge_contract::*;
use planforge_pipeline::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MARKERS: [&str; 3] = ["zqobject", "zqpredicate", "zqaction"];

/// A suite whose domain and problem hold the markers wherever this pipeline is not given them.
fn planted(given: &GivenSpec, folder: &Path) -> Suite {
    let (predicate, condition) =
        if given.domain { ("", "") } else { (" (zqpredicate ?x)", " (zqpredicate ?x)") };
    let action = if given.domain || given.interface {
        String::new()
    } else {
        "(:action zqaction :parameters (?x) :precondition (at ?x) :effect (done ?x))".to_owned()
    };
    let domain = format!(
        "(define (domain toys) (:requirements :strips) (:predicates (at ?x) (done ?x){predicate})\n\
         (:action move :parameters (?x) :precondition (and (at ?x){condition}) :effect (and (done ?x){condition})){action})"
    );
    let object = if given.problem || given.objects { "" } else { " zqobject" };
    let fact = if given.problem { String::new() } else { "(zqpredicate a)".to_owned() };
    let problem = format!(
        "(define (problem p01) (:domain toys) (:objects a{object}) (:init (at a){fact}) (:goal (done a)))"
    );
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("domain.nl", "Toys can be moved.");
    write("domain.pddl", &domain);
    write("p01.nl", "Move the toy a.");
    write("p01.pddl", &problem);
    write("p_example.nl", "Move the toy b.");
    // The example is solved in the same domain, so its problem shows the predicates and its plan the actions.
    write(
        "p_example.pddl",
        &format!(
            "(define (problem e) (:domain toys) (:objects b) (:init (at b){}) (:goal (done b)))",
            if given.domain { "" } else { "(zqpredicate b)" }
        ),
    );
    write("p_example.sol", "(move b)\n");
    write("p01_template.pddl", &format!("(define (problem p01) (:domain toys) (:objects a{object}))"));
    write("domain_template.pddl", &format!("(define (domain toys) (:action move :parameters (?x)){action})"));
    let loaded = load_suite(folder);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    loaded.suite.unwrap()
}

fn tell(host: &dyn Host, role: &str, everything: &impl serde::Serialize) -> Result<Replies, Failure> {
    let messages = vec![Message::user(serde_json::to_string(everything).unwrap())];
    host.complete(role, CompletionRequest { messages, ..CompletionRequest::default() })
}

/// Tells the model the whole request.
fn telling_translator() -> Arc<dyn Translator> {
    Arc::new(Translate(|host: &dyn Host, request: &TranslateRequest| {
        tell(host, "writer", request)?;
        let patch = CandidatePatch { problem: Some("(problem)".into()), ..CandidatePatch::default() };
        Ok(TranslateResponse { samples: (0..request.n).map(|_| Outcome::Ok(patch.clone())).collect() })
    }))
}

/// Tells the model the whole request.
fn telling_planner() -> Arc<dyn Planner> {
    Arc::new(Plan(|host: &dyn Host, request: &PlanRequest| {
        tell(host, "planner", request)?;
        Ok(one_plan(vec!["(move a)".into()]))
    }))
}

/// Asks the environment where there is one and repeats all that it says, in summary, feedback and evidence.
fn talkative_verifier() -> Arc<dyn Verifier> {
    Arc::new(Verify(|host: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        let answer = host.environment(EnvironmentCall::Validate(EnvironmentPlan::default()))?;
        let EnvironmentAnswer::Validate(verdict) = answer else { panic!("{answer:?}") };
        let mut assessment = Assessment::new(Decision::Accepted, verdict.reasons.join("\n"));
        assessment.feedback.clone_from(&verdict.reasons);
        assessment.evidence = serde_json::json!(verdict.reasons);
        Ok(assessment)
    }))
}

fn bench(text: &str) -> Bench {
    let mut bench = Bench::new(text);
    let stages: Vec<(String, StageKind)> =
        bench.pipeline.config.all_stages().map(|s| (s.label().to_owned(), s.kind())).collect();
    for (label, kind) in stages {
        let llm = bench.instances.stages.get(&label).is_some_and(|(info, _)| !info.roles.is_empty());
        let instance = match kind {
            StageKind::Translate => StageInstance::Translator(telling_translator()),
            StageKind::Verify => StageInstance::Verifier(talkative_verifier()),
            StageKind::Plan if llm => StageInstance::Planner(telling_planner()),
            _ => continue,
        };
        bench = bench.stage(&label, instance);
    }
    bench
}

/// Runs a pipeline on a planted suite and returns the markers found in prompts, and how many prompts there were.
fn leaked(text: &str, change: impl Fn(Bench, &Suite) -> Bench) -> (Vec<&'static str>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let given = good(text).config.given;
    let suite = planted(&given, folder.path());
    let bench = change(bench(text), &suite);
    let tasks = run_tasks(&bench.pipeline.config, std::slice::from_ref(&suite), Path::new("")).unwrap();
    let (report, _) = bench.run(&tasks, 2);
    assert!(report.tasks[0].verdict.is_some());
    let prompts = bench.provider.prompts.lock().unwrap();
    let found = |marker: &&&'static str| prompts.iter().any(|p| p.contains(**marker));
    (MARKERS.iter().filter(found).copied().collect(), prompts.len())
}

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/pipelines");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

#[test]
fn no_shipped_pipeline_shows_a_model_what_it_is_not_given() {
    let files = shipped();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let (found, prompts) = leaked(&text, |bench, _| bench);
        assert_eq!(found, Vec::<&str>::new(), "{}", file.display());
        assert!(prompts > 0, "{} asked no model", file.display());
    }
}

const CHAIN: &str = r#"
schema = 1
[llm.main]
use = "provider-openai"
model = "m"
[environment]
use = "environment-pddl"
[[stage]]
do = "translate"
label = "problem"
use = "translator-direct"
roles = { writer = "main" }
[[stage]]
do = "verify"
label = "environment"
use = "verifier-val"
[[stage]]
do = "translate"
label = "again"
use = "translator-direct"
roles = { writer = "main" }
feedback = ["environment"]
[[stage]]
do = "plan"
label = "plan"
use = "planner-llm"
roles = { planner = "main" }
"#;

#[test]
fn nothing_is_given_unless_the_file_says_so() {
    assert_eq!(leaked(CHAIN, |bench, _| bench), (vec![], 3));
    for part in ["interface = true", "objects = true", "example = true", "domain = true", "problem = true"] {
        let text = CHAIN.replace("schema = 1", &format!("schema = 1\n[given]\n{part}"));
        assert_eq!(leaked(&text, |bench, _| bench).0, Vec::<&str>::new(), "{part}");
    }
}

#[test]
fn what_the_environment_says_is_told_only_where_the_file_declares_it() {
    let declared = CHAIN.replace("schema = 1", "schema = 1\nfeedback = \"environment\"");
    assert_eq!(leaked(&declared, |bench, _| bench).0, MARKERS);
}

#[test]
fn a_translator_that_got_hold_of_the_reference_is_caught() {
    let (found, _) = leaked(CHAIN, |bench, suite| {
        let stolen = suite.reference_domain.clone().unwrap();
        let translator = Translate(move |host: &dyn Host, request: &TranslateRequest| {
            let messages = vec![Message::user(format!("{} {stolen}", request.task.task_text))];
            host.complete("writer", CompletionRequest { messages, ..CompletionRequest::default() })?;
            let patch = CandidatePatch { problem: Some("(problem)".into()), ..CandidatePatch::default() };
            Ok(TranslateResponse { samples: vec![Outcome::Ok(patch)] })
        });
        bench.stage("problem", StageInstance::Translator(Arc::new(translator)))
    });
    assert_eq!(found, ["zqpredicate", "zqaction"]);
}

#[test]
fn a_verifier_cannot_carry_the_environment_s_words_to_a_model() {
    // The scripted verifiers have no role, so this one borrows the translator's entry in the catalogue.
    let carry = |bench: Bench, _: &Suite| {
        let verifier = Verify(|host: &dyn Host, _: &Candidate, _: &VerifyRequest| {
            let answer = host.environment(EnvironmentCall::Validate(EnvironmentPlan::default()))?;
            tell(host, "writer", &answer)?;
            Ok(Assessment::new(Decision::Accepted, "told"))
        });
        let mut bench = bench.stage("environment", StageInstance::Verifier(Arc::new(verifier)));
        let Some(Stage::Verify(stage)) = bench.pipeline.config.stages.get_mut(1) else { panic!() };
        stage.roles.insert("writer".into(), "main".into());
        bench
    };
    assert_eq!(leaked(CHAIN, carry), (vec![], 3));
    let declared = CHAIN.replace("schema = 1", "schema = 1\nfeedback = \"environment\"");
    assert_eq!(leaked(&declared, carry).0, MARKERS);
}
