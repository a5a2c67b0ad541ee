//! No withheld part of the reference reaches a prompt: every shipped pipeline is run with plugins that send
//! the model everything they can see, on a suite whose withheld parts contain unique names.

use crate::common::*;
use planforge_contract::api::{EnvironmentAnswer, EnvironmentCall, Host, Planner, Translator, Verifier};
use planforge_contract::*;
use planforge_pipeline::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MARKERS: [&str; 3] = ["zqobject", "zqpredicate", "zqaction"];

/// A suite whose domain and problem hold the markers wherever this pipeline is not given them.
fn suite_with_markers(given: &GivenSpec, folder: &Path) -> Suite {
    // Which names are known. Actions in words have their names, and come with the predicates unless the file says otherwise; then what is
    // withheld stands in the bodies alone.
    let predicates = given.domain || (given.actions.is_some() && given.predicates);
    let actions = given.domain || given.interface || given.actions.is_some();
    let bodies = predicates && !given.domain;
    let (predicate, condition) = match (bodies, predicates) {
        (true, _) => (
            "",
            " (exists (?zqpredicate) (and (at ?zqpredicate) (not (exists (?zqaction) (and (at ?zqaction) (not (at ?zqaction)))))))",
        ),
        (_, true) => ("", ""),
        _ => (" (zqpredicate ?x)", " (zqpredicate ?x)"),
    };
    let effect = if bodies { "" } else { condition };
    let action = if actions {
        String::new()
    } else {
        "(:action zqaction :parameters (?x) :precondition (at ?x) :effect (done ?x))".to_owned()
    };
    let requirements = if bodies { ":adl" } else { ":strips" };
    let domain = format!(
        "(define (domain toys) (:requirements {requirements}) (:predicates (at ?x) (done ?x){predicate})\n\
         (:action move :parameters (?x) :precondition (and (at ?x){condition}) :effect (and (done ?x){effect})){action})"
    );
    let object = if given.problem || given.objects { "" } else { " zqobject" };
    let fact = if given.problem || bodies { String::new() } else { "(zqpredicate a)".to_owned() };
    let problem = format!(
        "(define (problem p01) (:domain toys) (:objects a{object}) (:init (at a){fact}) (:goal (done a)))"
    );
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    write("domain.nl", "Toys can be moved.");
    write("domain.pddl", &domain);
    // The second task is what a fan-out goes on with.
    for stem in ["p01", "p02"] {
        write(&format!("{stem}.nl"), "Move the toy a.");
        write(&format!("{stem}.pddl"), &problem.replace("p01", stem));
        let objects = format!("(define (problem {stem}) (:domain toys) (:objects a{object}))");
        write(&format!("{stem}_template.pddl"), &objects);
    }
    write("p_example.nl", "Move the toy b.");
    // The example is solved in the same domain, so its problem shows the predicates and its plan the actions.
    write(
        "p_example.pddl",
        &format!(
            "(define (problem e) (:domain toys) (:objects b) (:init (at b){}) (:goal (done b)))",
            if predicates { "" } else { "(zqpredicate b)" }
        ),
    );
    write("p_example.sol", "(move b)\n");
    // What is known beside the domain is written with its predicates.
    let known = if predicates { "at" } else { "zqpredicate" };
    write("knowledge.lp", &format!("init({known}(X)) :- object(X, toy).\n"));
    write("p_example.lp", &format!("init({known}(b)).\n"));
    let sentence =
        format!("[predicates]\n{known} = {{ yes = \"{{1}} {known}.\", no = \"Not {{1}} {known}.\" }}\n");
    // Actions in words have the words for types.
    let word = if given.actions.is_some() { "toy" } else { known };
    write("sentences.toml", &format!("{sentence}[types]\nobject = \"a {word}\"\n"));
    write("domain_template.pddl", &format!("(define (domain toys) (:action move :parameters (?x)){action})"));
    let loaded = load_suite(folder);
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    loaded.suite.unwrap()
}

fn tell(host: &dyn Host, role: &str, everything: &impl serde::Serialize) -> Result<Replies, Failure> {
    let messages = vec![Message::user(serde_json::to_string(everything).unwrap())];
    host.complete(role, CompletionRequest { messages, ..CompletionRequest::default() })
}

/// Tells the model the whole request, with or without the feedback.
fn telling_translator(what: &'static str, feedback: bool) -> Arc<dyn Translator> {
    Arc::new(Translate(move |host: &dyn Host, request: &TranslateRequest| {
        let mut told = request.clone();
        if !feedback {
            told.feedback.clear();
            told.candidate.assessments.values_mut().for_each(|assessment| assessment.feedback.clear());
        }
        tell(host, "writer", &told)?;
        let mut patch = CandidatePatch { messages: vec![Message::user("?")], ..CandidatePatch::default() };
        match what {
            "domain" => patch.domain = Some("(domain)".into()),
            _ => patch.problem = Some("(problem)".into()),
        }
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

/// Asks the environment if there is one and repeats all of its answer, in summary, feedback and evidence.
fn talkative_verifier(accepts: bool) -> Arc<dyn Verifier> {
    Arc::new(Verify(move |host: &dyn Host, _: &Candidate, _: &VerifyRequest| {
        let answer = host.environment(EnvironmentCall::Validate(EnvironmentPlan::default()))?;
        let EnvironmentAnswer::Validate(verdict) = answer else { panic!("{answer:?}") };
        let decision = if accepts { Decision::Accepted } else { Decision::Rejected };
        let mut assessment = Assessment::new(decision, verdict.reasons.join("\n"));
        let source = "reply".to_owned();
        assessment.diagnostics = vec![ReportedDiagnostic {
            code: "test.said".into(),
            severity: ReportedSeverity::Error,
            message: verdict.reasons.join(" "),
            file: source,
            line: 0,
            column: 0,
            start: 0,
            end: 0,
            help: vec![],
        }];
        assessment.metrics.extend(["score", "rating"].map(|name| (name.to_owned(), 0.5)));
        assessment.feedback.clone_from(&verdict.reasons);
        assessment.evidence = serde_json::json!(verdict.reasons);
        Ok(assessment)
    }))
}

/// A critic that sends the model the whole request, with or without the feedback, and returns the reply as
/// its own feedback.
fn telling_verifier(accepts: bool, feedback: bool) -> Arc<dyn Verifier> {
    Arc::new(Verify(move |host: &dyn Host, candidate: &Candidate, request: &VerifyRequest| {
        let mut told = VerifyRequest { candidates: vec![candidate.clone()], ..request.clone() };
        if !feedback {
            told.feedback.clear();
            let assessments = told.candidates.iter_mut().flat_map(|c| c.assessments.values_mut());
            assessments.for_each(|assessment| assessment.feedback.clear());
        }
        let replies = tell(host, "critic", &told)?;
        let decision = if accepts { Decision::Accepted } else { Decision::Rejected };
        let mut assessment = Assessment::new(decision, "criticised");
        assessment.feedback = replies.replies.iter().map(|reply| reply.content.clone()).collect();
        Ok(assessment)
    }))
}

/// The plugins that a pipeline is run with.
#[derive(Clone, Copy)]
struct How {
    /// The translators repeat the feedback.
    feedback: bool,
    /// The verifiers accept; else a refine stage makes all its rounds.
    accepts: bool,
}

const ALL: How = How { feedback: true, accepts: true };

fn bench(text: &str, how: How) -> Bench {
    let mut bench = Bench::new(text);
    let stages: Vec<(String, StageKind, &'static str)> = bench
        .pipeline
        .config
        .all_stages()
        .map(|stage| {
            let mode = stage.plugin().and_then(|(_, options)| options.get("mode")?.as_str());
            let artefact = stage.plugin().and_then(|(_, options)| options.get("artefact")?.as_str());
            let what = match (mode, artefact) {
                _ if stage.plugin().is_some_and(|(name, _)| name == "translator-actions") => "domain",
                (Some("domain" | "edit"), _) | (Some("update"), None | Some("domain")) => "domain",
                _ => "problem",
            };
            (stage.label().to_owned(), stage.kind(), what)
        })
        .collect();
    for (label, kind, what) in stages {
        let llm = bench.instances.stages.get(&label).is_some_and(|(info, _)| !info.roles.is_empty());
        let instance = match kind {
            StageKind::Translate => StageInstance::Translator(telling_translator(what, how.feedback)),
            StageKind::Verify if llm => StageInstance::Verifier(telling_verifier(how.accepts, how.feedback)),
            StageKind::Verify => StageInstance::Verifier(talkative_verifier(how.accepts)),
            StageKind::Plan if llm => StageInstance::Planner(telling_planner()),
            _ => continue,
        };
        bench = bench.stage(&label, instance);
    }
    bench
}

/// Runs a pipeline on a planted suite and returns the markers found in prompts, and how many prompts there were.
fn leaked_markers(
    text: &str,
    how: How,
    change: impl Fn(Bench, &Suite) -> Bench,
) -> (Vec<&'static str>, usize) {
    let folder = tempfile::tempdir().unwrap();
    let given = good(text).config.given;
    let suite = suite_with_markers(&given, folder.path());
    let bench = change(bench(text, how), &suite);
    let tasks = run_tasks(&bench.pipeline.config, std::slice::from_ref(&suite), &pipelines()).unwrap();
    let (report, _) = bench.run(&tasks, 2);
    assert!(report.tasks.iter().all(|task| task.verdict.is_some()));
    let prompts = bench.provider.prompts.lock().unwrap();
    let found = |marker: &&&'static str| prompts.iter().any(|p| p.contains(**marker));
    (MARKERS.iter().filter(found).copied().collect(), prompts.len())
}

fn pipelines() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../configs/pipelines")
}

fn shipped_pipelines() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(pipelines()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
}

#[test]
fn no_shipped_pipeline_shows_a_model_what_it_is_not_given() {
    let files = shipped_pipelines();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let told = good(&text).config.feedback == Some(FeedbackSource::Environment);
        for accepts in [true, false] {
            // Where the environment's words may be told they are in the feedback, and nowhere else.
            let how = How { feedback: !told, accepts };
            let (found, prompts) = leaked_markers(&text, how, |bench, _| bench);
            assert_eq!(found, Vec::<&str>::new(), "{}", file.display());
            assert!(prompts > 0, "{} asked no model", file.display());
        }
        if told {
            let (found, _) = leaked_markers(&text, How { feedback: true, accepts: false }, |bench, _| bench);
            assert!(!found.is_empty(), "{} tells nothing of the environment", file.display());
        }
    }
}

/// Names of predicates that a method must invent are in none of the materials, whatever the class of
/// descriptions.
#[test]
fn predicates_that_are_withheld_are_in_no_material() {
    for class in ["base", "flipped", "random"] {
        let given = |rest: &str| {
            CHAIN.replace("schema = 1", &format!("schema = 1\n[given]\nactions = \"{class}\"\n{rest}"))
        };
        assert_eq!(
            leaked_markers(&given("predicates = false"), ALL, |bench, _| bench).0,
            Vec::<&str>::new(),
            "{class}"
        );
        // Without that line they are told, so the test above can fail.
        let folder = tempfile::tempdir().unwrap();
        let suite = suite_with_markers(&good(&given("predicates = false")).config.given, folder.path());
        let bench = bench(&given(""), ALL);
        let tasks = run_tasks(&bench.pipeline.config, std::slice::from_ref(&suite), &pipelines()).unwrap();
        let _ = bench.run(&tasks, 2);
        let prompts = bench.provider.prompts.lock().unwrap();
        assert!(prompts.iter().all(|p| p.contains("zqpredicate")), "{class}");
    }
}

const CHAIN: &str = concat!(
    toml!(schema = 1),
    model!(main "m"),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" }),
    stage!(verify "environment" use = "verifier-val"),
    stage!(translate "again" use = "translator-direct" roles = { writer = "main" } feedback = ["environment"]),
    stage!(plan "plan" use = "planner-llm" roles = { planner = "main" }),
);

#[test]
fn nothing_is_given_unless_the_file_says_so() {
    assert_eq!(leaked_markers(CHAIN, ALL, |bench, _| bench), (vec![], 6));
    for part in ["interface = true", "objects = true", "example = true", "domain = true", "problem = true"] {
        let text = CHAIN.replace("schema = 1", &format!("schema = 1\n[given]\n{part}"));
        assert_eq!(leaked_markers(&text, ALL, |bench, _| bench).0, Vec::<&str>::new(), "{part}");
    }
}

#[test]
fn what_the_environment_says_is_told_only_where_the_file_declares_it() {
    let declared = CHAIN.replace("schema = 1", "schema = 1\nfeedback = \"environment\"");
    assert_eq!(leaked_markers(&declared, ALL, |bench, _| bench).0, MARKERS);
}

#[test]
fn a_translator_that_got_hold_of_the_reference_is_caught() {
    let (found, _) = leaked_markers(CHAIN, ALL, |bench, suite| {
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
    assert_eq!(leaked_markers(CHAIN, ALL, carry), (vec![], 6));
    let declared = CHAIN.replace("schema = 1", "schema = 1\nfeedback = \"environment\"");
    assert_eq!(leaked_markers(&declared, ALL, carry).0, MARKERS);
}

const CRITIC: &str = concat!(
    toml!(schema = 1),
    model!(main "m"),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" }),
    stage!(verify "environment" use = "verifier-val"),
    stage!(verify "critique" use = "verifier-critique" roles = { critic = "main" } feedback = ["environment"]),
    stage!(plan "plan" use = "planner-llm" roles = { planner = "main" } feedback = ["environment", "critique"] plan_rejected = true),
);

/// A critic that tells the model all of its request.
fn telling_critic(bench: Bench) -> Bench {
    let critic = Verify(|host: &dyn Host, _: &Candidate, request: &VerifyRequest| {
        tell(host, "critic", request)?;
        Ok(Assessment::new(Decision::Accepted, "told"))
    });
    bench.stage("critique", StageInstance::Verifier(Arc::new(critic)))
}

#[test]
fn critics_and_planners_are_told_what_rests_on_the_environment_only_where_the_file_declares_it() {
    assert_eq!(leaked_markers(CRITIC, ALL, |bench, _| telling_critic(bench)), (vec![], 6));
    let declared = CRITIC.replace("schema = 1", "schema = 1\nfeedback = \"environment\"");
    assert_eq!(leaked_markers(&declared, ALL, |bench, _| telling_critic(bench)).0, MARKERS);
    // A critic alone, without the planner that could be told as well.
    let (alone, _) = declared.split_once("[[stage]]\ndo = \"plan\"").unwrap();
    assert_eq!(leaked_markers(alone, ALL, |bench, _| telling_critic(bench)).0, MARKERS);
}

const ROUNDS: &str = concat!(
    toml!(schema = 1),
    model!(main "m"),
    table!("environment" use = "environment-pddl"),
    stage!(translate "problem" use = "translator-direct" roles = { writer = "main" }),
    stage!(refine "ivml" rounds = 3 keep = "last"),
    round!(verify "critique" use = "verifier-critique" roles = { critic = "main" }),
    round!(translate "update" use = "translator-direct" roles = { writer = "main" }),
);

/// A critic's conversation about the environment would reach its model in the next round.
#[test]
fn a_critic_s_own_conversation_does_not_carry_the_environment_s_words() {
    let remembering = |bench: Bench, _: &Suite| {
        let critic = Verify(|host: &dyn Host, _: &Candidate, request: &VerifyRequest| {
            tell(host, "critic", request)?;
            let answer = host.environment(EnvironmentCall::Validate(EnvironmentPlan::default()))?;
            let EnvironmentAnswer::Validate(verdict) = answer else { panic!("{answer:?}") };
            let mut assessment = Assessment::new(Decision::Rejected, "no");
            assessment.messages = verdict.reasons.iter().map(Message::user).collect();
            Ok(assessment)
        });
        bench.stage("critique", StageInstance::Verifier(Arc::new(critic)))
    };
    assert_eq!(leaked_markers(ROUNDS, ALL, remembering).0, Vec::<&str>::new());
    let declared = ROUNDS.replace("schema = 1", "schema = 1\nfeedback = \"environment\"");
    assert_eq!(leaked_markers(&declared, ALL, remembering).0, MARKERS);
}

/// Texts are withheld like anything else that a file does not give.
#[test]
fn without_texts_no_text_reaches_a_model() {
    let text =
        CRITIC.replace("schema = 1", "schema = 1\n[given]\ntext = false\nproblem = true\nexample = true");
    let folder = tempfile::tempdir().unwrap();
    let suite = suite_with_markers(&good(&text).config.given, folder.path());
    let bench = telling_critic(bench(&text, ALL));
    let tasks = run_tasks(&bench.pipeline.config, std::slice::from_ref(&suite), &pipelines()).unwrap();
    let _ = bench.run(&tasks, 2);
    let prompts = bench.provider.prompts.lock().unwrap();
    assert!(prompts.len() == 6 && prompts.iter().all(|p| p.contains("(done a)")));
    assert!(prompts.iter().all(|p| !p.contains("Toys can") && !p.contains("Move the toy")), "{prompts:#?}");
}
