//! Thought and PDDL in one reply, and both written anew from a critique.

use super::*;
use planforge_plugin_common::translating::testing::{
    LAMPS_DOMAIN as DOMAIN, LAMPS_PROBLEM as PROBLEM, lamps_interface, lamps_request, sample_results,
    transcript,
};
use planforge_plugin_sdk::testing::TestHost;

const THOUGHT: &str = "predicate on: the lamp ?l is lit\naction switch: lights a wired lamp";

fn writing(artefact: Artefact) -> ThoughtOptions {
    ThoughtOptions { artefact, template: true, ..Default::default() }
}

fn plugin(options: ThoughtOptions) -> ThoughtTranslator {
    ThoughtTranslator::create(options, &Secrets::default()).unwrap()
}

/// The messages that the plugin sends.
fn question(options: ThoughtOptions, request: &TranslateRequest) -> String {
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", &format!("{DOMAIN}\n{PROBLEM}"));
    let _ = plugin(options).translate(&host, request).unwrap();
    transcript(&host.requests()[0].1.messages)
}

fn answer(what: &str, pddl: &str) -> String {
    format!("### Thought:\n{THOUGHT}\n\n### {what}:\n```pddl\n{pddl}\n```")
}

/// A task with text, interface and problem, as the pipelines for best-of-N give them.
fn task() -> TranslateRequest {
    let mut request = lamps_request(false, 1);
    request.task.action_interface = Some(lamps_interface());
    request.task.given.problem = Some(PROBLEM.into());
    request
}

/// A candidate after a first question and a critique.
fn written() -> TranslateRequest {
    let mut request = task();
    request.candidate.domain = Some(DOMAIN.into());
    request.candidate.problem = Some(PROBLEM.into());
    request.candidate.thought = Some(THOUGHT.into());
    request.candidate.conversation =
        vec![Message::system("Be."), Message::user("Write."), Message::assistant("Done.")];
    request.feedback = vec!["1. action switch: nothing says that the lamp is off before.".into()];
    request
}

fn updating() -> ThoughtOptions {
    ThoughtOptions { mode: Mode::Update, template: true, ..Default::default() }
}

#[test]
fn a_domain_from_a_text_with_interface_and_problem() {
    insta::assert_snapshot!(question(writing(Artefact::Domain), &task()));
}

#[test]
fn a_domain_from_a_text_alone() {
    let options = ThoughtOptions { template: false, ..writing(Artefact::Domain) };
    insta::assert_snapshot!(question(options, &lamps_request(false, 1)));
}

#[test]
fn a_domain_from_a_problem_alone() {
    let mut request = task();
    request.task.domain_text.clear();
    request.task.task_text.clear();
    insta::assert_snapshot!(question(writing(Artefact::Domain), &request));
    let host = TestHost::new().reply("writer", &answer("Domain", DOMAIN));
    let options = writing(Artefact::Domain);
    let patch = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!(patch.diagnostics.last().unwrap().code, "translate.from-problem");
}

#[test]
fn a_problem_with_the_domain_given() {
    let mut request = lamps_request(true, 1);
    request.task.action_interface = Some(lamps_interface());
    let options = writing(Artefact::Problem);
    insta::assert_snapshot!(question(options.clone(), &request));
    let host = TestHost::new().reply("writer", &answer("Problem", PROBLEM));
    let patch = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!((patch.thought.as_deref(), patch.problem.as_deref()), (Some(THOUGHT), Some(PROBLEM)));
    assert!(!patch.rewrite);
}

#[test]
fn no_example_is_shown_with_a_thought() {
    let mut request = lamps_request(true, 1);
    request.task.materials.insert("example.text", "The lamp green is wired.".into());
    request.task.materials.insert("example.problem", "(define (problem green))".into());
    assert!(
        !question(ThoughtOptions { template: false, ..writing(Artefact::Problem) }, &request)
            .contains("green")
    );
    request.feedback = vec!["The lamp red is missing.".into()];
    request.candidate.problem = Some(PROBLEM.into());
    let asked = question(ThoughtOptions { template: false, ..writing(Artefact::Problem) }, &request);
    assert!(
        asked.contains("It was checked") && asked.ends_with("initial state and goal\n)\n```\n"),
        "{asked}"
    );
}

#[test]
fn thought_and_domain_go_with_the_candidate_and_their_likelihood_is_one() {
    let token = |logprob| TokenLogprob { token: "t".into(), logprob };
    let reply = Reply {
        logprobs: Some(vec![token(-1.0), token(-0.5)]),
        ..Reply::new(answer("Domain", DOMAIN), FinishReason::Stop)
    };
    let host = TestHost::new().answer("writer", Ok(reply.clone())).answer("writer", Ok(reply));
    let options = ThoughtOptions { logprobs: true, ..writing(Artefact::Domain) };
    let got = sample_results(plugin(options).translate(&host, &TranslateRequest { n: 2, ..task() }).unwrap());
    let patch = got[1].as_ref().unwrap();
    assert_eq!((patch.thought.as_deref(), patch.domain.as_deref()), (Some(THOUGHT), Some(DOMAIN)));
    assert_eq!((patch.log_likelihood, patch.tokens), (Some(-1.5), Some(2)));
    assert_eq!(patch.messages.len(), 3);
    assert!(patch.diagnostics.is_empty(), "{:?}", patch.diagnostics);
    let (role, request) = &host.requests()[0];
    assert_eq!((role.as_str(), request.tags.artefact.as_str()), ("writer", "domain"));
    assert_eq!((request.sampling.n, request.sampling.logprobs), (Some(2), Some(true)));
}

#[test]
fn an_update_shows_text_thought_domain_and_critique_and_stands_alone() {
    let host =
        TestHost::new().reply("writer", &answer("Domain", &DOMAIN.replace("(ready)", "(not (on ?l))")));
    let got = sample_results(plugin(updating()).translate(&host, &written()).unwrap()).remove(0).unwrap();
    let asked = host.requests().remove(0).1;
    assert_eq!(asked.tags.artefact, "update");
    assert_eq!(asked.messages.len(), 2, "the conversation is not carried");
    insta::assert_snapshot!(transcript(&asked.messages));
    assert!(got.rewrite && got.messages.is_empty());
    assert!(got.domain.unwrap().contains("(not (on ?l))"));
    assert_eq!(got.thought.as_deref(), Some(THOUGHT));
}

#[test]
fn an_update_of_a_problem() {
    let mut request = written();
    request.candidate.thought = None;
    let options = ThoughtOptions { artefact: Artefact::Problem, template: false, ..updating() };
    let host = TestHost::new().reply("writer", &answer("Problem", PROBLEM));
    let got = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!((got.domain, got.problem.as_deref()), (None, Some(PROBLEM)));
    insta::assert_snapshot!(transcript(&host.requests()[0].1.messages));
}

#[test]
fn an_update_without_findings_states_that() {
    let mut request = written();
    request.feedback.clear();
    request.task.domain_text.clear();
    insta::assert_snapshot!(question(updating(), &request));
}

#[test]
fn an_update_without_a_domain_states_that() {
    let mut request = written();
    request.candidate.domain = None;
    let asked = question(updating(), &request);
    assert!(asked.contains("No domain stands yet") && asked.contains("What the review found"), "{asked}");
    request.feedback.clear();
    let asked = question(updating(), &request);
    assert!(asked.contains("No domain stands yet") && !asked.contains("review found"), "{asked}");
    assert!(asked.contains("What a good domain looks like"));
}

#[test]
fn an_update_in_the_plain_form_asks_for_pddl_alone() {
    let options = ThoughtOptions { form: Form::Plain, ..updating() };
    let asked = question(options.clone(), &written());
    assert!(
        asked.ends_with(
            "Answer with the whole domain in PDDL alone, in one code block, without explanations.\n"
        )
    );
    assert!(!asked.contains("###") && asked.contains("Answer with PDDL alone"), "{asked}");
    let host = TestHost::new().reply("writer", DOMAIN);
    let got = sample_results(plugin(options).translate(&host, &written()).unwrap()).remove(0).unwrap();
    assert_eq!((got.thought, got.rewrite, got.diagnostics.len()), (None, true, 0));
}

#[test]
fn samples_that_cannot_be_used_fail_alone() {
    let host =
        TestHost::new().reply("writer", "### Thought:\nno idea").reply("writer", &answer("Domain", DOMAIN));
    let got =
        sample_results(plugin(updating()).translate(&host, &TranslateRequest { n: 2, ..written() }).unwrap());
    assert_eq!(got[0].as_ref().unwrap_err().code, "reply.no-pddl");
    assert!(got[1].is_ok());
}

#[test]
fn the_plain_form_of_a_first_question_asks_for_pddl_alone() {
    let options = ThoughtOptions { form: Form::Plain, ..writing(Artefact::Problem) };
    let mut request = lamps_request(true, 1);
    request.task.action_interface = Some(lamps_interface());
    let asked = question(options, &request);
    assert!(
        !asked.contains("###") && asked.contains("Answer with the whole problem in PDDL alone"),
        "{asked}"
    );
}
