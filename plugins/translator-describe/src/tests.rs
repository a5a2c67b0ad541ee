//! The translator with a scripted host: prompts as snapshots, usable and unusable replies.

use super::*;
use planforge_plugin_sdk::testing::TestHost;
use std::collections::BTreeMap;

const DOMAIN: &str = "(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp room)
  (:predicates (on ?l - lamp) (wired ?l - lamp ?r - room) (ready))
  (:action switch
    :parameters (?l - lamp ?r - room)
    :precondition (and (wired ?l ?r) (ready))
    :effect (on ?l)))";

const PROBLEM: &str = "(define (problem l1)
  (:domain lamps)
  (:objects red blue - lamp hall - room)
  (:init (wired red hall) (ready))
  (:goal (on red)))";

const SENTENCES: &str = r#"{"on": {"yes": "{1} is on.", "no": "{1} is off."},
  "wired": {"yes": "{1} is wired in {2}.", "no": "{1} is not wired in {2}."},
  "READY": {"yes": "All is \"ready\".", "no": "It is not ready."}}"#;

fn request(n: u32) -> TranslateRequest {
    let materials = [
        (
            "example.1.domain",
            "(define (domain doors) (:predicates (open ?d) (locked)) (:action push :parameters (?d) :effect (open ?d)))",
        ),
        ("example.1.domain-text", "Doors can be pushed open {{ always }}."),
        (
            "example.1.problem",
            "(define (problem d) (:domain doors) (:objects gate) (:init) (:goal (open gate)))",
        ),
        ("example.1.text", "The gate should be open."),
        ("example.1.sentences", "{\"open\": {\"yes\": \"{1} is open.\", \"no\": \"{1} is shut.\"}}"),
    ];
    TranslateRequest {
        task: TaskView {
            suite: "lamps".into(),
            task: "l1".into(),
            given: Given { domain: Some(DOMAIN.into()), problem: Some(PROBLEM.into()) },
            materials: materials.iter().copied().collect(),
            ..TaskView::default()
        },
        n,
        ..TranslateRequest::default()
    }
}

fn plugin(mode: Mode) -> Describer {
    Describer::create(DescribeOptions { mode, ..Default::default() }, &Secrets::default()).unwrap()
}

fn asked(
    mode: Mode,
    request: &TranslateRequest,
    reply: &str,
) -> (Vec<Result<CandidatePatch, Failure>>, String) {
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", reply);
    let response = plugin(mode).translate(&host, request).unwrap();
    let requests = host.requests();
    let shown = requests
        .first()
        .map(|(_, r)| r.messages.iter().map(|m| format!("=== {:?}\n{}\n", m.role, m.content)).collect());
    (response.samples.into_iter().map(Outcome::into_result).collect(), shown.unwrap_or_default())
}

fn one(mode: Mode, request: &TranslateRequest, reply: &str) -> Result<CandidatePatch, Failure> {
    asked(mode, request, reply).0.remove(0)
}

#[test]
fn the_question_about_a_domain() {
    let (samples, shown) =
        asked(Mode::DomainText, &request(1), "```text\nswitch turns a lamp on.  \n\nDone.\n```\nBye.");
    insta::assert_snapshot!(shown);
    let patch = samples[0].as_ref().unwrap();
    assert_eq!(patch.texts.named["domain-text"], "switch turns a lamp on.\n\nDone.\n");
    assert!(patch.diagnostics.is_empty() && patch.domain.is_none() && patch.problem.is_none());
}

#[test]
fn the_question_about_a_task_after_an_earlier_stage() {
    let mut request = request(1);
    request.candidate.texts.named.insert("domain-text".into(), "Lamps in rooms.\n".into());
    let (samples, shown) =
        asked(Mode::TaskText, &request, "The lamp red is wired in the hall. It should be on.");
    insta::assert_snapshot!(shown);
    let patch = samples[0].as_ref().unwrap();
    assert_eq!(patch.texts.named["task-text"], "The lamp red is wired in the hall. It should be on.\n");
    assert_eq!(patch.diagnostics[0].code, "describe.unnamed");
    assert!(patch.diagnostics[0].message.ends_with("object blue"), "{:?}", patch.diagnostics);
}

#[test]
fn tasks_of_one_suite_are_described_alike() {
    let mut request = request(1);
    request.task.materials.insert("lead.problem", "(define (problem lead))".into());
    request.task.materials.insert("lead.text", "The lead.".into());
    let shown = asked(Mode::TaskText, &request, "x").1;
    assert!(shown.contains("The lead.") && !shown.contains("The gate"), "{shown}");
}

#[test]
fn the_question_about_sentences() {
    let reply = format!("Here they are:\n```json\n{SENTENCES}\n```\n");
    let (samples, shown) = asked(Mode::Sentences, &request(1), &reply);
    insta::assert_snapshot!(shown);
    assert_eq!(
        samples[0].as_ref().unwrap().texts.named["sentences"],
        "[predicates]\non = { yes = \"{1} is on.\", no = \"{1} is off.\" }\nready = { yes = \"All is \\\"ready\\\".\", no = \"It is \
         not ready.\" }\nwired = { yes = \"{1} is wired in {2}.\", no = \"{1} is not wired in {2}.\" }\n"
    );
    assert!(one(Mode::Sentences, &request(1), SENTENCES).is_ok());
}

/// The diagnostic of the only reply if it is unusable: the candidate goes on without the text.
#[test]
fn the_question_about_types() {
    let mut request = request(1);
    request
        .task
        .materials
        .insert("example.1.domain", "(define (domain doors) (:types gate - door door))".into());
    request.task.materials.insert("example.1.types", "{\"door\": \"a door\", \"gate\": \"a gate\"}".into());
    let reply = "```json\n{\"Lamp\": \"a lamp\\n in a room.\", \"room\": \"a \\\"room\\\"\"}\n```";
    let (samples, shown) = asked(Mode::Types, &request, reply);
    insta::assert_snapshot!(shown);
    let told = &samples[0].as_ref().unwrap().texts.named["types"];
    assert_eq!(told, "[types]\nlamp = \"a lamp in a room\"\nroom = \"a \\\"room\\\"\"\n");
    for (reply, word) in [
        ("{\"lamp\": \"a lamp\"}", "`room` has no entry"),
        ("{\"lamp\": \"a lamp\", \"room\": \"\"}", "empty"),
        ("{\"lamp\": \"a lamp\", \"room\": \"r\", \"door\": \"d\"}", "no type `door`"),
        ("lamp: a lamp", "no JSON object"),
    ] {
        let found = refused(Mode::Types, reply);
        assert!(found.code == "describe.types" && found.message.contains(word), "{found:?}");
    }
    request.task.given.domain = Some("(define (domain plain) (:predicates (p)))".into());
    let (samples, shown) = asked(Mode::Types, &request, "?");
    assert!(shown.is_empty() && samples[0].as_ref().unwrap().texts.is_empty(), "no types, no question");
}

fn refused(mode: Mode, reply: &str) -> ReportedDiagnostic {
    let patch = one(mode, &request(1), reply).unwrap();
    assert!(patch.texts.is_empty(), "{:?}", patch.texts);
    assert_eq!(patch.raw_reply, reply);
    patch.diagnostics[0].clone()
}

#[test]
fn beside_a_good_reply_a_bad_one_is_a_failure() {
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", "{}").reply("writer", SENTENCES);
    let response = plugin(Mode::Sentences).translate(&host, &request(2)).unwrap();
    let results: Vec<_> = response.samples.into_iter().map(Outcome::into_result).collect();
    assert_eq!(results[0].as_ref().unwrap_err().code, "describe.sentences");
    assert!(results[1].as_ref().unwrap().texts.named.contains_key("sentences"));
}

#[test]
fn sentences_are_read_strictly() {
    let reply = r#"{"on": {"yes": "{1} is on.", "no": "{2} is off."}, "wired": {"yes": "{1} is wired.", "no": ""},
        "dark": {"yes": "x", "no": "y"}}"#;
    let failure = refused(Mode::Sentences, reply);
    assert_eq!(failure.code, "describe.sentences");
    for part in [
        "`no` of `on` has slot {2}",
        "`yes` of `wired` lacks {2}",
        "`wired` has no sentence `no`",
        "`ready` has no entry",
        "no predicate `dark`",
    ] {
        assert!(failure.message.contains(part), "{part} is missing in {}", failure.message);
    }
    for reply in ["on: {1} is on", "{\"on\": \"{1} is on\"}", "{ broken", "", "```json\n[]\n```"] {
        assert_eq!(refused(Mode::Sentences, reply).code, "describe.sentences", "{reply}");
    }
}

#[test]
fn replies_without_a_text_are_failures() {
    for reply in ["", "```text\n\n```", "```pddl\n(define (domain lamps))\n```"] {
        assert_eq!(refused(Mode::DomainText, reply).code, "describe.no-text", "{reply}");
    }
    let cut = Reply::new("The lamp", FinishReason::Length);
    let host = TestHost::for_kind(PluginKind::Translator).answer("writer", Ok(cut));
    let response = plugin(Mode::TaskText).translate(&host, &request(1)).unwrap();
    let patch = response.samples.into_iter().next().unwrap().into_result().unwrap();
    assert_eq!(patch.diagnostics[0].code, "describe.cut-off");
}

#[test]
fn existing_texts_are_not_asked_for() {
    let mut request = request(2);
    request.task.domain_text = "Lamps.".into();
    request.task.task_text = "Switch red on.".into();
    request.task.materials.insert("sentences", SENTENCES.into());
    for mode in [Mode::DomainText, Mode::TaskText, Mode::Sentences] {
        let (samples, shown) = asked(mode, &request, "never asked");
        assert_eq!((samples.len(), shown.as_str()), (2, ""));
        assert!(samples.iter().all(|s| s.as_ref().unwrap().texts.is_empty()));
    }
    request.n = 1;
    request.feedback = vec!["The lamp blue is missing.".into()];
    let shown = asked(Mode::TaskText, &request, "x").1;
    assert!(shown.contains("The lamp blue is missing."), "{shown}");
}

#[test]
fn without_pddl_there_is_nothing_to_describe() {
    let mut bare = request(1);
    bare.task.given = Given { domain: Some(DOMAIN.into()), problem: None };
    let host = TestHost::for_kind(PluginKind::Translator);
    assert_eq!(plugin(Mode::TaskText).translate(&host, &bare).unwrap_err().code, "describe.not-given");
    bare.task.given = Given::default();
    assert_eq!(plugin(Mode::DomainText).translate(&host, &bare).unwrap_err().code, "describe.not-given");
    let bad: BTreeMap<String, String> = BTreeMap::from([("mode".into(), "poem".into())]);
    assert!(serde_json::from_value::<DescribeOptions>(serde_json::json!(bad)).is_err());
}
