//! The Python package: its own tests, its types, new plugins and the examples that use it.
#![allow(clippy::unwrap_used, clippy::panic)] // A test may break where it stands; helpers of tests too.

use planforge_contract::api::Verifier;
use planforge_contract::{
    Candidate, CompletionRequest, CompletionResult, CreateRequest, Decision, DocumentSchemas,
    EnvironmentOpen, Failure, Message, Outcome, PlanDocument, PlanOutcome, PlanRequest, PluginKind,
    TranslateRequest, VerifyRequest, WalkSpec, visit_documents,
};
use planforge_plugin_host::{Instance, Registry, RegistrySettings};
use planforge_plugin_sdk::testing::TestHost;
use planforge_plugin_tools::scaffold::scaffold_python;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap()
}

fn python(folder: &Path) -> Command {
    let mut command = Command::new("python3");
    command.current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Runs the unit tests of a folder and returns their number. All must pass.
fn passed_tests(folder: &Path, arguments: &[&str]) -> usize {
    let ran = python(folder).args(["-m", "unittest"]).args(arguments).output().unwrap();
    let text = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "{text}");
    let count = text.lines().find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse().ok());
    count.unwrap_or_else(|| panic!("no number of tests:\n{text}"))
}

/// An instance with these options of a plugin in a folder.
fn create(folder: &Path, id: &str, options: serde_json::Value) -> Result<Instance, Failure> {
    let registry = Registry::new(&[], &[folder.to_owned()], RegistrySettings::default());
    let options = options.as_object().cloned().unwrap();
    registry.create(id, CreateRequest { options, ..CreateRequest::default() })
}

fn verifier(folder: &Path, id: &str, options: serde_json::Value) -> Arc<dyn Verifier> {
    match create(folder, id, options).unwrap() {
        Instance::Verifier(verifier) => verifier,
        other => panic!("{other:?}"),
    }
}

fn host() -> TestHost {
    TestHost::new().remaining_ms(60_000)
}

fn with_plan(steps: &[&str]) -> Candidate {
    let steps = steps.iter().map(|step| (*step).to_owned()).collect();
    let plans = vec![PlanDocument { steps, ..PlanDocument::default() }];
    let plan = PlanOutcome::Plan { plans, optimal: false, statistics: Default::default() };
    Candidate { plan: Some(plan), ..Candidate::default() }
}

fn decisions(verifier: &dyn Verifier, candidates: &[Candidate]) -> Vec<Result<Decision, Failure>> {
    let request = VerifyRequest { candidates: candidates.to_vec(), ..VerifyRequest::default() };
    let results = verifier.verify(&host(), &request).unwrap().results;
    results.into_iter().map(|outcome| outcome.into_result().map(|one| one.decision)).collect()
}

fn names(decisions: &[Result<Decision, Failure>]) -> Vec<String> {
    let name = |one: &Result<Decision, Failure>| match one {
        Ok(decision) => decision.name().to_owned(),
        Err(failure) => failure.code.clone(),
    };
    decisions.iter().map(name).collect()
}

#[test]
fn the_package_passes_its_own_tests() {
    assert!(passed_tests(&root().join("python"), &["discover", "-s", "tests"]) > 20);
}

#[test]
fn the_types_of_the_package_agree_with_the_schemas() {
    let mut schemas = DocumentSchemas::default();
    visit_documents(&mut schemas);
    let folder = root().join("python");
    let mut child = python(&folder)
        .arg("generate_types.py")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(serde_json::to_string(&schemas.0).unwrap().as_bytes()).unwrap();
    drop(input);
    let generated = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let path = folder.join("planforge_plugin/types.py");
    #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == generated,
        "python/planforge_plugin/types.py is stale: set UPDATE_PAGES=1 and run this test"
    );
}

/// Makes a plugin of the kind in a new folder, runs its tests, and loads it.
fn scaffolded(kind: PluginKind, options: serde_json::Value) -> (tempfile::TempDir, Instance) {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("my-{kind}");
    scaffold_python(kind.name(), &name, folder.path()).unwrap();
    assert_eq!(passed_tests(&folder.path().join(&name), &[]), 1);
    let instance = create(folder.path(), &name, options).unwrap();
    (folder, instance)
}

#[test]
fn a_new_verifier_judges_candidates() {
    let (_folder, instance) = scaffolded(PluginKind::Verifier, json!({"most_steps": 1}));
    let Instance::Verifier(verifier) = instance else { panic!() };
    let candidates = [with_plan(&["(a)"]), with_plan(&["(a)", "(b)"]), Candidate::default()];
    let found = decisions(verifier.as_ref(), &candidates);
    assert_eq!(names(&found), ["accepted", "rejected", "undecided"]);
}

#[test]
fn a_new_translator_asks_a_model() {
    let (_folder, instance) = scaffolded(PluginKind::Translator, json!({}));
    let Instance::Translator(translator) = instance else { panic!() };
    let host = host().reply("writer", "```\n(define (problem p))\n```").reply("writer", "no");
    let request = TranslateRequest { n: 2, ..TranslateRequest::default() };
    let samples = translator.translate(&host, &request).unwrap().samples;
    let [Outcome::Ok(patch), Outcome::Failure(failure)] = &samples[..] else { panic!("{samples:?}") };
    assert_eq!(patch.problem.as_deref(), Some("(define (problem p))"));
    assert_eq!(failure.code, "reply.no-pddl");
    assert_eq!(host.requests()[0].1.tags.artefact, "problem");
}

#[test]
fn a_new_planner_asks_a_model() {
    let (_folder, instance) = scaffolded(PluginKind::Planner, json!({}));
    let Instance::Planner(planner) = instance else { panic!() };
    let host = host().reply("planner", "First:\n(go a b)");
    let outcome = planner.plan(&host, &PlanRequest { k: 1, ..PlanRequest::default() }).unwrap();
    assert_eq!(outcome.best().unwrap().steps, ["(go a b)"]);
}

#[test]
fn a_new_environment_walks() {
    let (_folder, instance) = scaffolded(PluginKind::Environment, json!({"lit": true}));
    let Instance::Environment(lamp) = instance else { panic!() };
    let spec = WalkSpec { lengths: vec![2], ..WalkSpec::default() };
    let walks = lamp.walks(&host(), &EnvironmentOpen::default(), &spec).unwrap();
    assert_eq!(walks.walks, [["(switch-off)", "(switch-on)"]]);
    assert_eq!(lamp.describe(&host(), &EnvironmentOpen::default()).unwrap().interface.actions.len(), 2);
}

#[test]
fn a_new_provider_replies() {
    let (_folder, instance) = scaffolded(PluginKind::Provider, json!({"reply": "yes"}));
    let Instance::Provider(provider) = instance else { panic!() };
    let request = CompletionRequest { messages: vec![Message::user("?")], ..CompletionRequest::default() };
    let result = provider.complete(&host(), &request).unwrap();
    let CompletionResult::Replies(replies) = result else { panic!("{result:?}") };
    assert_eq!(replies.replies[0].content, "yes");
}

fn example(name: &str) -> PathBuf {
    root().join("examples/plugins").join(name)
}

#[test]
fn the_example_translator_asks_again() {
    assert_eq!(passed_tests(&example("ask-again"), &[]), 1);
    let Instance::Translator(translator) =
        create(&example("ask-again"), "ask-again", json!({"what": "domain"})).unwrap()
    else {
        panic!()
    };
    let host = host().reply("writer", "What?").reply("writer", "(define (domain d))");
    let request = TranslateRequest { n: 1, ..TranslateRequest::default() };
    let samples = translator.translate(&host, &request).unwrap().samples;
    let [Outcome::Ok(patch)] = &samples[..] else { panic!("{samples:?}") };
    assert_eq!(patch.domain.as_deref(), Some("(define (domain d))"));
    assert_eq!((host.requests().len(), host.progress_reports()), (2, vec![(1, 1, "samples".to_owned())]));
}

#[test]
fn the_example_that_asks_a_planner_passes_its_tests() {
    assert_eq!(passed_tests(&example("near-cheapest"), &[]), 2);
}

#[test]
fn the_example_around_pyperplan_judges_or_names_the_missing_package() {
    let folder = example("solved-by-pyperplan");
    passed_tests(&folder, &[]);
    let has_pyperplan = python(&folder).args(["-c", "import pyperplan"]).output().unwrap().status.success();
    let created = create(&folder, "solved-by-pyperplan", json!({}));
    if !has_pyperplan {
        println!("not run: the verdicts of pyperplan (the package is not installed)");
        let failure = created.map(drop).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), failure.help.as_deref()),
            ("pyperplan.missing", Some("pip install pyperplan"))
        );
        return;
    }
    let domain = "(define (domain lamp) (:predicates (lit) (dark))
        (:action switch-on :parameters () :precondition (dark) :effect (lit)))";
    let candidate = |init: &str| Candidate {
        domain: Some(domain.to_owned()),
        problem: Some(format!("(define (problem p) (:domain lamp) (:init ({init})) (:goal (and (lit))))")),
        ..Candidate::default()
    };
    let verifier = verifier(&folder, "solved-by-pyperplan", json!({}));
    let found = decisions(verifier.as_ref(), &[candidate("dark"), candidate("dim"), Candidate::default()]);
    assert_eq!(names(&found), ["accepted", "rejected", "undecided"]);
}

#[test]
fn the_example_in_javascript_judges_plans() {
    if Command::new("node").arg("--version").output().is_err() {
        println!("not run: the example in JavaScript (there is no node)");
        return;
    }
    let verifier = verifier(&example("no-repeats"), "no-repeats", json!({"most": 2}));
    let plans = [with_plan(&["(a)", "(b)", "(a)"]), with_plan(&["(a)", "(a)", "(a)"]), Candidate::default()];
    assert_eq!(names(&decisions(verifier.as_ref(), &plans)), ["accepted", "rejected", "undecided"]);
}
