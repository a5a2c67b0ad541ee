//! The translator with a scripted host: questions, replies, and grown predicates.

mod given;
mod grown;

use super::prompt::Prompts;
use super::*;
use planforge_contract::{ActionDescription, ActionExample, PredicateDescription};
use planforge_plugin_sdk::testing::TestHost;

const HEADER: &str = "(define (domain lamps) (:requirements :strips :typing) (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (here ?r - room) (lit ?l - lamp)))";

const GO: &str =
    "(:action go :parameters (?a ?b - room) :precondition (here ?a) :effect (and (here ?b) (not (here ?a))))";
const LIGHT: &str = "(:action light :parameters (?l - lamp ?r - room) :precondition (and (here ?r) (in ?l ?r)) :effect (lit ?l))";

fn action(name: &str, text: &str) -> ActionDescription {
    ActionDescription { name: name.into(), text: text.into() }
}

fn predicate(declaration: &str, text: &str) -> PredicateDescription {
    PredicateDescription { declaration: declaration.into(), text: text.into() }
}

fn request(n: u32) -> TranslateRequest {
    let examples: Vec<ActionExample> = (0..6)
        .map(|i| ActionExample {
            suite: "doors".into(),
            action: action(&format!("push{i}"), &format!("Door number {i} {{{{ is }}}} pushed.")),
            predicates: vec![predicate("(open ?d - door)", "door d is open")],
            pddl: format!("(:action push{i} :parameters (?d - door) :effect (open ?d))"),
        })
        .collect();
    let json = |value: serde_json::Value| value.to_string();
    let materials = [
        ("domain.header", HEADER.to_owned()),
        (
            "actions",
            json(serde_json::json!([
                action("go", "One goes from room a to room b."),
                action("Light", "Lamp l in room r is lit.")
            ])),
        ),
        (
            "predicates.declared",
            json(serde_json::json!([
                predicate("(in ?l - lamp ?r - room)", "lamp l is in room r"),
                predicate("(here ?r - room)", "one is in room r"),
                predicate("(lit ?l - lamp)", "lamp l gives light"),
            ])),
        ),
        ("example.actions", json(serde_json::json!(examples))),
    ];
    let materials = materials.into_iter().collect();
    TranslateRequest {
        task: TaskView { suite: "lamps".into(), task: "p01".into(), materials, ..TaskView::default() },
        n,
        seed: 11,
        ..TranslateRequest::default()
    }
}

fn asked(
    options: ActionTranslatorOptions,
    request: &TranslateRequest,
    replies: &[&str],
) -> (Vec<CandidatePatch>, Vec<String>) {
    let host = replies.iter().fold(TestHost::new(), |host, reply| host.reply("writer", reply));
    let patches = translated(options, request, &host);
    assert_eq!(host.left_over(), 0, "every reply was asked for");
    (patches, questions(&host))
}

fn translated(
    options: ActionTranslatorOptions,
    request: &TranslateRequest,
    host: &TestHost,
) -> Vec<CandidatePatch> {
    let plugin = ActionTranslator::create(options, &Secrets::default()).unwrap();
    let response = plugin.translate(host, request).unwrap();
    response.samples.into_iter().map(|s| s.into_result().unwrap()).collect()
}

fn questions(host: &TestHost) -> Vec<String> {
    let last = |request: CompletionRequest| request.messages.last().unwrap().content.clone();
    host.requests().into_iter().map(|(_, request)| last(request)).collect()
}

fn codes(patch: &CandidatePatch) -> Vec<&str> {
    patch.diagnostics.iter().map(|d| d.code.as_str()).collect()
}

fn read(domain: &str) -> planforge_pddl::ast::Domain {
    let parsed = planforge_pddl::parse_domain(domain, planforge_diagnostics::SourceId(0));
    assert!(parsed.diagnostics.iter().all(|d| !d.is_error()), "{domain}\n{:?}", parsed.diagnostics);
    let found = planforge_pddl::check_domain(&parsed.value, planforge_diagnostics::SourceId(0));
    assert!(found.iter().all(|d| !d.is_error()), "{domain}\n{found:?}");
    parsed.value
}

fn in_header(header: &str, request: &mut TranslateRequest) {
    request.task.materials.insert("domain.header", header.into());
}

#[test]
fn one_question_an_action_and_a_domain_of_all() {
    let (patches, questions) =
        asked(ActionTranslatorOptions::default(), &request(2), &[GO, LIGHT, GO, LIGHT]);
    assert_eq!(questions.len(), 4);
    insta::assert_snapshot!("question", questions[1]);
    let domain = patches[0].domain.as_deref().unwrap();
    let read = planforge_pddl::parse_domain(domain, planforge_diagnostics::SourceId(0));
    assert!(read.diagnostics.iter().all(|d| !d.is_error()), "{domain}\n{:?}", read.diagnostics);
    let system = "You write actions of planning domains in PDDL. You answer with the action that is asked for, in a code block that begins with (:action, and with nothing else.";
    assert_eq!(Prompts::new().unwrap().system(&ActionTranslatorOptions::default()).unwrap(), system);
    let names: Vec<&str> = read.value.actions.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["go", "light"]);
    assert_eq!(patches[0].texts.actions["go"], GO);
    assert_eq!(patches[0].texts.actions["light"], LIGHT);
}

#[test]
fn examples_are_drawn_for_each_question_from_the_seed() {
    let (_, first) = asked(ActionTranslatorOptions::default(), &request(2), &[GO, LIGHT, GO, LIGHT]);
    let (_, again) = asked(ActionTranslatorOptions::default(), &request(2), &[GO, LIGHT, GO, LIGHT]);
    assert_eq!(first, again);
    assert_ne!(first[0], first[2], "each sample draws its own");
    let other = TranslateRequest { seed: 12, ..request(2) };
    assert_ne!(asked(ActionTranslatorOptions::default(), &other, &[GO, LIGHT, GO, LIGHT]).1, first);
    for question in &first {
        assert_eq!(question.matches("Door number").count(), 3);
        assert!(question.contains("{{ is }}"), "what is inserted is no template");
    }
    let none = ActionTranslatorOptions { examples: 0, ..Default::default() };
    assert!(!asked(none, &request(1), &[GO, LIGHT]).1[0].contains("Door"));
}

#[test]
fn earlier_actions_are_shown_only_with_the_option() {
    let shown = ActionTranslatorOptions { earlier: true, ..Default::default() };
    let (_, questions) = asked(shown, &request(1), &[GO, LIGHT]);
    assert!(!questions[0].contains(GO) && questions[1].contains(GO));
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request(1), &[GO, LIGHT]);
    assert!(!questions[1].contains(GO));
}

#[test]
fn a_reply_without_an_action_leaves_it_out_and_is_kept() {
    let (patches, _) = asked(ActionTranslatorOptions::default(), &request(1), &["I cannot do that.", LIGHT]);
    assert_eq!(patches[0].texts.actions["go"], "I cannot do that.");
    assert_eq!(patches[0].diagnostics[0].code, "actions.no-action");
    assert!(!patches[0].domain.as_deref().unwrap().contains("cannot"));
}

#[test]
fn missing_texts_are_reported_before_any_request() {
    let failure = |options: ActionTranslatorOptions, request: &TranslateRequest| {
        let host = TestHost::new();
        let plugin = ActionTranslator::create(options, &Secrets::default()).unwrap();
        let failure = plugin.translate(&host, request).unwrap_err();
        assert!(host.requests().is_empty());
        failure.code
    };
    assert_eq!(
        failure(ActionTranslatorOptions::default(), &TranslateRequest::default()),
        "actions.not-given"
    );
    assert_eq!(
        failure(ActionTranslatorOptions { examples: 7, ..Default::default() }, &request(1)),
        "actions.few-examples"
    );
    let only = ActionTranslatorOptions { only: Some(vec!["fly".into()]), ..Default::default() };
    assert_eq!(failure(only, &request(1)), "actions.unknown-action");
}

fn complained(feedback: &[&str]) -> TranslateRequest {
    let mut request = request(1);
    request.candidate.texts =
        [("action.go", GO), ("action.light", "(:action light :effect (lit ?l))")].into_iter().collect();
    request.feedback = feedback.iter().map(|entry| (*entry).to_owned()).collect();
    request
}

#[test]
fn an_action_is_asked_for_again_where_the_feedback_names_it() {
    let request = complained(&[" action `LIGHT`: the variable ?l is not a parameter.\nlook"]);
    let (patches, questions) = asked(ActionTranslatorOptions::default(), &request, &[LIGHT]);
    assert!(questions[0].contains("not a parameter.\nlook\n"));
    assert!(questions[0].contains("```pddl\n(:action light :effect (lit ?l))\n```\nIt was found wrong:"));
    let domain = patches[0].domain.as_deref().unwrap();
    assert!(domain.contains(GO) && domain.contains(LIGHT));
    assert!(!patches[0].rewrite, "what stays has its likelihood in the candidate");
}

#[test]
fn feedback_about_others_leaves_an_action_alone() {
    let request = complained(&["Action `light`: wrong.", "The plan failed.", "Action `lighten`: what?"]);
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request, &[LIGHT]);
    assert!(!questions[0].contains("The plan failed") && !questions[0].contains("lighten"));
    let earlier = ActionTranslatorOptions { earlier: true, ..Default::default() };
    assert!(asked(earlier, &request, &[LIGHT]).1[0].contains(GO), "those that stay are shown");
}

#[test]
fn feedback_that_names_no_action_is_about_all_of_them() {
    let (patches, questions) =
        asked(ActionTranslatorOptions::default(), &complained(&["The plan failed."]), &[GO, LIGHT]);
    assert!(questions.iter().all(|q| q.contains("It was found wrong:\nThe plan failed.\n")));
    assert!(patches[0].rewrite);
}

#[test]
fn what_is_missing_is_asked_for_whatever_the_feedback_is_about() {
    let mut request = complained(&["Action `light`: wrong."]);
    request.candidate.texts.actions.remove("go");
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request, &[GO, LIGHT]);
    assert!(!questions[0].contains("It was found wrong"));
}

#[test]
fn a_reply_without_an_action_is_shown_and_never_put_into_the_domain() {
    let mut request = complained(&["Action `go`: the reply holds no action."]);
    let reply = "Sorry:\n```\nno\n```";
    request.candidate.texts.actions.insert("go".into(), reply.into());
    let (_, questions) = asked(ActionTranslatorOptions::default(), &request, &[GO]);
    assert!(questions[0].contains(&format!("````pddl\n{reply}\n````\n")), "{}", questions[0]);
    // It is asked for again without feedback too, because it is not an action.
    request.feedback = vec!["Action `light`: wrong.".into()];
    let (patches, questions) = asked(ActionTranslatorOptions::default(), &request, &["still not", LIGHT]);
    assert_eq!(questions.len(), 2);
    assert!(!patches[0].domain.as_deref().unwrap().contains("Sorry"));
    request.candidate.texts.actions.insert("go".into(), " ".into());
    request.feedback = vec!["Action `go`: nothing.".into()];
    assert!(
        asked(ActionTranslatorOptions::default(), &request, &[GO]).1[0].contains("Nothing could be read")
    );
}

#[test]
fn without_feedback_what_is_written_stays_and_nothing_is_asked() {
    let (patches, questions) = asked(ActionTranslatorOptions::default(), &complained(&[]), &[]);
    assert!(questions.is_empty());
    let patch = &patches[0];
    assert!(patch.domain.as_deref().unwrap().contains(GO) && patch.raw_reply.is_empty());
    assert_eq!((patch.rewrite, patch.log_likelihood), (false, None), "the likelihood is the candidate's");
    assert!(asked(ActionTranslatorOptions::default(), &complained(&[" "]), &[]).1.is_empty());
}
