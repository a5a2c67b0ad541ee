//! The translator against a scripted host: prompts as snapshots, flow as assertions.

use super::*;
use planforge_plugin_common::translating::GrammarUse;
use planforge_plugin_common::translating::testing::{
    LAMPS_DOMAIN as DOMAIN, LAMPS_PROBLEM as PROBLEM, lamps_interface, lamps_request, sample_results,
    transcript,
};
use planforge_plugin_sdk::testing::TestHost;

fn plugin(options: DirectOptions) -> DirectTranslator {
    DirectTranslator::create(options, &Secrets::default()).unwrap()
}

fn with_example(mut request: TranslateRequest) -> TranslateRequest {
    let materials = [
        ("example.text", "The lamp green is wired. It should be on."),
        (
            "example.problem",
            "(define (problem l0) (:domain lamps) (:objects green) (:init (wired green)) (:goal (on green)))",
        ),
    ];
    request.task.materials = materials.iter().copied().collect();
    request
}

fn question(options: DirectOptions, request: &TranslateRequest) -> String {
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", DOMAIN).reply("writer", PROBLEM);
    let _ = plugin(options).translate(&host, request).unwrap();
    transcript(&host.requests()[0].1.messages)
}

#[test]
fn problem_question_with_domain_and_example() {
    insta::assert_snapshot!(question(DirectOptions::default(), &with_example(lamps_request(true, 1))));
}

#[test]
fn problem_question_with_the_object_template() {
    let mut request = lamps_request(true, 1);
    request.task.action_interface = Some(lamps_interface());
    insta::assert_snapshot!(question(DirectOptions { template: true, ..Default::default() }, &request));
}

#[test]
fn without_names_of_objects_the_question_has_no_template() {
    let request = lamps_request(true, 1);
    let with = question(DirectOptions { template: true, ..Default::default() }, &request);
    assert_eq!(with, question(DirectOptions::default(), &request));
}

#[test]
fn problem_question_without_a_domain() {
    let mut request = lamps_request(false, 1);
    request.task.action_interface = Some(lamps_interface());
    insta::assert_snapshot!(question(DirectOptions { template: true, ..Default::default() }, &request));
}

#[test]
fn domain_question_without_template() {
    insta::assert_snapshot!(question(
        DirectOptions { mode: Mode::Domain, ..Default::default() },
        &lamps_request(false, 1)
    ));
}

#[test]
fn domain_question_with_template_problem_and_example() {
    let mut request = lamps_request(false, 1);
    request.task.action_interface = Some(lamps_interface());
    request.candidate.problem = Some(PROBLEM.to_owned());
    request.task.materials = Materials::from_iter([
        ("example.domain-text", "A door can be opened.".to_owned()),
        (
            "example.domain",
            "(define (domain doors) (:predicates (open)) (:action open-it :parameters () :effect (open)))"
                .to_owned(),
        ),
    ]);
    let options = DirectOptions {
        mode: Mode::Domain,
        template: true,
        example: Some(Example::Shown(true)),
        ..Default::default()
    };
    insta::assert_snapshot!(question(options, &request));
}

#[test]
fn a_domain_from_a_problem_alone_has_a_note() {
    let mut request = lamps_request(false, 1);
    request.task.domain_text.clear();
    request.task.task_text.clear();
    request.task.given.problem = Some(PROBLEM.into());
    let options = DirectOptions { mode: Mode::Domain, ..Default::default() };
    let asked = question(options.clone(), &request);
    assert!(asked.contains("the planning domain that a problem belongs to"), "{asked}");
    let host = TestHost::new().reply("writer", DOMAIN);
    let patch = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert_eq!(patch.diagnostics.last().unwrap().code, "translate.from-problem");
}

#[test]
fn texts_of_the_suite_replace_the_generated_templates() {
    let mut request = lamps_request(true, 1);
    request.task.materials.insert("objects.template", "(define (problem mine) {{ domain }}".into());
    let asked = question(DirectOptions { template: true, ..Default::default() }, &request);
    assert!(asked.contains("```pddl\n(define (problem mine) {{ domain }}\n```"), "{asked}");
    assert!(asked.contains("{{ and }}"), "inserted texts are data: {asked}");
}

#[test]
fn a_problem_has_the_name_of_the_domain_that_its_question_shows() {
    let mut request = lamps_request(false, 1);
    request.task.materials.insert("domain.template", "(define (domain street-lamps))".into());
    request.task.materials.insert("objects.template", "(define (problem p) (:domain street-lamps))".into());
    let asked = question(DirectOptions { template: true, ..Default::default() }, &request);
    assert!(asked.contains("- (:domain street-lamps) is the name of the domain."), "{asked}");
}

/// The constraint of the first request.
fn constraint(options: DirectOptions, request: &TranslateRequest) -> Option<planforge_contract::Constraint> {
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", PROBLEM).reply("writer", PROBLEM);
    let _ = plugin(options).translate(&host, request).unwrap();
    host.requests()[0].1.constraint.clone()
}

#[test]
fn a_grammar_is_of_the_domain_and_of_the_objects_that_are_given() {
    let options = |grammar| DirectOptions { grammar, ..Default::default() };
    let mut request = lamps_request(true, 1);
    assert_eq!(constraint(options(GrammarUse::Off), &request), None);
    let open = constraint(options(GrammarUse::Prefer), &request).unwrap();
    assert!(!open.required && open.gbnf.contains("```pddl") && !open.gbnf.contains(":init"), "{}", open.gbnf);
    assert!(open.schema.unwrap()["properties"].get("objects").is_some());
    request.task.action_interface = Some(lamps_interface());
    let closed = constraint(options(GrammarUse::Require), &request).unwrap();
    assert!(closed.required && closed.schema.unwrap()["properties"].get("objects").is_none());
    let object = &lamps_interface().objects[0].name;
    assert!(closed.gbnf.contains(&format!("\"{object}\"")), "{}", closed.gbnf);
    let thought = DirectOptions { reason: true, ..options(GrammarUse::Require) };
    assert!(constraint(thought, &request).unwrap().gbnf.contains("thought ::= ([^`] | "));
}

#[test]
fn objects_that_are_not_given_are_named_in_a_request_before_the_problem() {
    let host = TestHost::for_kind(PluginKind::Translator)
        .reply("writer", "```pddl\n(:objects red blue blue)\n```")
        .reply("writer", "There are two lamps.")
        .reply("writer", PROBLEM);
    let options = DirectOptions { grammar: GrammarUse::Require, ..Default::default() };
    let got = sample_results(plugin(options.clone()).translate(&host, &lamps_request(true, 2)).unwrap());
    let asked = host.requests();
    assert_eq!(
        asked.iter().map(|(_, r)| (r.tags.artefact.as_str(), r.sampling.n)).collect::<Vec<_>>(),
        [("problem", Some(2)), ("problem", Some(1))]
    );
    let closed = &asked[1].1.constraint.as_ref().unwrap().gbnf;
    assert!(closed.contains("\"red\"") && !closed.contains("name ::="), "{closed}");
    let first = got[0].as_ref().unwrap();
    assert_eq!(first.problem.as_deref(), Some(PROBLEM));
    assert_eq!(
        first.messages[..2],
        asked[1].1.messages,
        "the first question is not part of the conversation"
    );
    assert_eq!(got[1].as_ref().unwrap_err().code, "reply.no-pddl");
    insta::assert_snapshot!(asked.iter().map(|(_, r)| transcript(&r.messages)).collect::<String>());

    let mut revised = lamps_request(true, 1);
    revised.candidate.problem = Some(PROBLEM.to_owned());
    revised.feedback = vec!["There is no lamp `green`.".into()];
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", PROBLEM);
    let _ = plugin(options).translate(&host, &revised).unwrap();
    let open = host.requests()[0].1.constraint.clone().unwrap();
    assert!(open.gbnf.contains("name ::=") && open.gbnf.contains(":init"), "a correction may change objects");
}

#[test]
fn objects_of_a_domain_that_was_just_written_are_named_in_the_same_conversation() {
    let token = TokenLogprob { token: "t".into(), logprob: -1.0 };
    let scored = |content: &str| {
        Ok(Reply { logprobs: Some(vec![token.clone(); 4]), ..Reply::new(content, FinishReason::Stop) })
    };
    let host = TestHost::for_kind(PluginKind::Translator)
        .answer("writer", scored(DOMAIN))
        .answer("writer", scored(r#"{"objects": [{"name": "red", "type": "object"}]}"#))
        .answer("writer", scored(PROBLEM));
    let options = DirectOptions {
        mode: Mode::Both,
        grammar: GrammarUse::Prefer,
        logprobs: true,
        reason: true,
        ..Default::default()
    };
    let patch = sample_results(plugin(options).translate(&host, &lamps_request(false, 1)).unwrap())
        .remove(0)
        .unwrap();
    assert_eq!((patch.domain.as_deref(), patch.problem.as_deref()), (Some(DOMAIN), Some(PROBLEM)));
    assert_eq!(patch.tokens, Some(12));
    let asked: Vec<_> = host.requests().into_iter().map(|(_, request)| request.messages).collect();
    assert_eq!(asked.iter().map(Vec::len).collect::<Vec<_>>(), [2, 4, 4]);
    assert!(asked[1][3].content.contains("which objects does the task speak of?"), "{}", asked[1][3].content);
    assert!(asked[2][3].content.contains("(:objects\n    red)"), "{}", asked[2][3].content);
    assert_eq!(patch.messages[..4], asked[2]);
}

#[test]
fn a_required_grammar_of_a_problem_without_a_domain_is_refused_before_a_request() {
    let host = TestHost::for_kind(PluginKind::Translator);
    let options = DirectOptions { grammar: GrammarUse::Require, ..Default::default() };
    let failure = plugin(options).translate(&host, &lamps_request(false, 1)).unwrap_err();
    assert_eq!(failure.code, "translate.no-grammar");
    assert!(host.requests().is_empty());
    let options = DirectOptions { grammar: GrammarUse::Prefer, ..Default::default() };
    assert_eq!(constraint(options, &lamps_request(false, 1)), None);
}

#[test]
fn a_reply_in_json_becomes_a_problem() {
    let mut request = lamps_request(true, 1);
    request.task.action_interface = Some(lamps_interface());
    let json = r#"{"init": [], "goal": {"and": []}}"#;
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", json);
    let options = DirectOptions { grammar: GrammarUse::Prefer, ..Default::default() };
    let patch =
        sample_results(plugin(options.clone()).translate(&host, &request).unwrap()).remove(0).unwrap();
    let problem = patch.problem.unwrap();
    assert!(
        problem.contains("(:domain") && problem.contains(&lamps_interface().objects[0].name),
        "{problem}"
    );
    assert_eq!(patch.raw_reply, json);
    let host = TestHost::for_kind(PluginKind::Translator).reply("writer", "{}");
    let failure = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap_err();
    assert_eq!(failure.code, "translate.json-reply");
}

#[test]
fn one_request_asks_for_all_samples_and_each_reply_is_a_patch() {
    let cut = Reply::new(PROBLEM, FinishReason::Length);
    let token = |p: f64| TokenLogprob { token: "x".into(), logprob: p };
    let likely = Reply {
        logprobs: Some(vec![token(-0.5), token(-0.25)]),
        ..Reply::new(format!("Here it is:\n```pddl\n{PROBLEM}\n```\nDone."), FinishReason::Stop)
    };
    let host = TestHost::for_kind(PluginKind::Translator)
        .answer("writer", Ok(likely.clone()))
        .reply("writer", "I cannot do that.")
        .answer("writer", Ok(cut))
        .reply("writer", DOMAIN);
    let options = DirectOptions { logprobs: true, ..Default::default() };
    let got = sample_results(plugin(options).translate(&host, &lamps_request(true, 4)).unwrap());

    let asked = host.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        (asked[0].0.as_str(), asked[0].1.sampling.n, asked[0].1.sampling.logprobs),
        ("writer", Some(4), Some(true))
    );
    assert_eq!(asked[0].1.tags.artefact, "problem");

    let first = got[0].as_ref().unwrap();
    assert_eq!(first.problem.as_deref(), Some(PROBLEM));
    assert_eq!(first.domain, None);
    assert_eq!(first.raw_reply, likely.content);
    assert_eq!(first.log_likelihood, Some(-0.75));
    assert_eq!(
        first.messages.iter().map(|m| m.role).collect::<Vec<_>>(),
        [Speaker::System, Speaker::User, Speaker::Assistant]
    );
    assert_eq!(first.messages[2].content, likely.content);
    let code = |i: usize| got[i].as_ref().unwrap_err().code.clone();
    assert_eq!([code(1), code(2), code(3)], ["reply.no-pddl", "reply.cut-off", "reply.no-pddl"]);
    assert!(got[3].as_ref().unwrap_err().message.contains("holds a domain, and no PDDL problem"));
    assert!(got.iter().skip(1).all(|g| g.as_ref().unwrap_err().class == FailureClass::Reply));
}

#[test]
fn fixes_are_applied_and_named_only_where_the_stage_asks() {
    let broken = PROBLEM.strip_suffix("))))").unwrap();
    let mut request = lamps_request(true, 1);
    let run = |request: &TranslateRequest| {
        let host = TestHost::new().reply("writer", broken);
        sample_results(plugin(DirectOptions::default()).translate(&host, request).unwrap()).remove(0).unwrap()
    };
    let raw = run(&request);
    assert_eq!(raw.problem.as_deref(), Some(broken));
    assert!(raw.fixes.is_empty());
    assert!(raw.diagnostics.iter().any(|d| d.file == "problem" && d.severity == ReportedSeverity::Error));

    request.fixes = FixPolicy::Safe;
    let fixed = run(&request);
    assert_eq!(fixed.raw_reply, broken);
    let parsed =
        planforge_pddl::parse_problem(fixed.problem.as_deref().unwrap(), planforge_diagnostics::SourceId(0));
    assert!(!parsed.has_errors(), "{:?}", parsed.diagnostics);
    assert_eq!(fixed.fixes.len(), 1, "{:?}", fixed.fixes);
    assert!(fixed.fixes[0].code.starts_with("pddl.") && !fixed.fixes[0].title.is_empty());
    assert_eq!(fixed.fixes[0].line, 5);
}

#[test]
fn both_writes_each_problem_for_its_own_domain_in_one_conversation() {
    let other = DOMAIN.replace("lamps", "lights");
    let host = TestHost::for_kind(PluginKind::Translator)
        .reply("writer", DOMAIN)
        .reply("writer", "no domain here")
        .reply("writer", &other)
        .reply("writer", PROBLEM)
        .reply("writer", &PROBLEM.replace("lamps", "lights"));
    let options = DirectOptions { mode: Mode::Both, ..Default::default() };
    let got = sample_results(plugin(options).translate(&host, &lamps_request(false, 3)).unwrap());
    let asked = host.requests();
    assert_eq!(
        asked.iter().map(|(_, r)| (r.tags.artefact.as_str(), r.sampling.n)).collect::<Vec<_>>(),
        [("domain", Some(3)), ("problem", Some(1)), ("problem", Some(1))]
    );
    assert_eq!(got[1].as_ref().unwrap_err().code, "reply.no-pddl");
    let last = got[2].as_ref().unwrap();
    assert_eq!(last.domain.as_deref(), Some(other.as_str()));
    assert!(last.problem.as_deref().unwrap().contains("(:domain lights)"));
    assert_eq!(last.messages.len(), 5);
    assert_eq!(asked[2].1.messages[..], last.messages[..4]);
    insta::assert_snapshot!(transcript(&asked[2].1.messages));
}

#[test]
fn feedback_is_the_next_turn_of_the_conversation() {
    let mut request = lamps_request(true, 1);
    request.candidate.problem = Some(PROBLEM.to_owned());
    request.candidate.conversation =
        vec![Message::system("s"), Message::user("q"), Message::assistant(PROBLEM)];
    request.feedback =
        vec!["Line 4: the predicate `ready` takes no arguments.".into(), "Line 5: nothing.".into()];
    let host = TestHost::new().reply("writer", PROBLEM);
    let got = sample_results(plugin(DirectOptions::default()).translate(&host, &request).unwrap())
        .remove(0)
        .unwrap();
    let asked = host.requests()[0].1.messages.clone();
    assert_eq!(asked[..3], request.candidate.conversation[..]);
    assert_eq!(got.messages.len(), 2, "only the new turns are returned");
    insta::assert_snapshot!(asked[3].content);
}

#[test]
fn feedback_without_a_conversation_tells_the_task_first() {
    let mut request = lamps_request(true, 1);
    request.candidate.domain = Some(DOMAIN.to_owned());
    request.candidate.problem = Some(PROBLEM.to_owned());
    request.feedback = vec!["The plan does not reach the goal.".into()];
    let asked = question(DirectOptions { mode: Mode::Both, ..Default::default() }, &request);
    assert!(
        asked.contains("A wired lamp can be switched on") && asked.contains("the domain first"),
        "{asked}"
    );
    let host = TestHost::new().reply("writer", &format!("```\n{DOMAIN}\n```\n```\n{PROBLEM}\n```"));
    let options = DirectOptions { mode: Mode::Both, ..Default::default() };
    let got = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
    assert!(got.domain.is_some() && got.problem.is_some());
    assert_eq!(host.requests().len(), 1, "a revision of both is one question");
}

#[test]
fn a_missing_text_is_a_failure_of_the_request_with_help() {
    let fail = |options: DirectOptions, request: &TranslateRequest| {
        let host = TestHost::new();
        let failure = plugin(options).translate(&host, request).unwrap_err();
        assert!(host.requests().is_empty(), "nothing is asked");
        assert_eq!(failure.class, FailureClass::Request);
        assert!(failure.help.is_some());
        failure.code
    };
    let mut no_text = lamps_request(true, 1);
    no_text.task.task_text = " \n".into();
    assert_eq!(fail(DirectOptions::default(), &no_text), "translate.no-text");
    let mut no_domain = lamps_request(false, 1);
    no_domain.task.domain_text.clear();
    assert_eq!(fail(DirectOptions::default(), &no_domain), "translate.no-text");
    assert_eq!(
        fail(
            DirectOptions { example: Some(Example::Shown(true)), ..Default::default() },
            &lamps_request(true, 1)
        ),
        "translate.no-example"
    );
    let mut half = with_example(lamps_request(true, 1));
    half.task.materials.example.text = None;
    assert_eq!(fail(DirectOptions::default(), &half), "translate.no-example");
}

#[test]
fn the_system_text_can_be_replaced_or_left_out() {
    let first = |system: &str| {
        let host = TestHost::new().reply("writer", PROBLEM);
        let options = DirectOptions { system: Some(system.into()), ..Default::default() };
        let _ = plugin(options).translate(&host, &lamps_request(true, 1)).unwrap();
        host.requests()[0].1.messages[0].clone()
    };
    assert_eq!(first("Be brief."), Message::system("Be brief."));
    assert_eq!(first("").role, Speaker::User);
}

#[test]
fn tokens_are_counted_in_every_mode() {
    let token = TokenLogprob { token: "t".into(), logprob: -1.0 };
    let scored = |content: &str| {
        Ok(Reply { logprobs: Some(vec![token.clone(); 4]), ..Reply::new(content, FinishReason::Stop) })
    };
    for (mode, replies, tokens) in [
        (Mode::Problem, vec![PROBLEM], 4),
        (Mode::Domain, vec![DOMAIN], 4),
        (Mode::Both, vec![DOMAIN, PROBLEM], 8),
    ] {
        let host = replies.iter().fold(TestHost::new(), |host, reply| host.answer("writer", scored(reply)));
        let options = DirectOptions { mode, logprobs: true, ..Default::default() };
        let request = lamps_request(mode == Mode::Problem, 1);
        let patch = sample_results(plugin(options).translate(&host, &request).unwrap()).remove(0).unwrap();
        assert_eq!((patch.log_likelihood, patch.tokens), (Some(-(tokens as f64)), Some(tokens)), "{mode:?}");
    }
}

#[test]
fn a_failed_request_fails_the_call() {
    let refused = Failure::new(FailureClass::Budget, "llm.budget", "no more");
    let host = TestHost::new().answer("writer", Err(refused.clone()));
    assert_eq!(
        plugin(DirectOptions::default()).translate(&host, &lamps_request(true, 1)).unwrap_err(),
        refused
    );
}

#[test]
fn unknown_options_are_errors() {
    let read = serde_json::from_str::<DirectOptions>(r#"{"mode": "problem", "temperatur": 1}"#);
    assert!(read.unwrap_err().to_string().contains("temperatur"));
}

const DOORS: &str =
    "(define (domain doors) (:predicates (open ?d)) (:action push :parameters (?d) :effect (open ?d)))";
const DOOR_PROBLEM: &str = "(define (problem d1) (:domain doors) (:objects a) (:init) (:goal (open a)))";

fn with(mut request: TranslateRequest, materials: &[(&str, &str)]) -> TranslateRequest {
    request.task.materials = materials.iter().copied().collect();
    request
}

fn other_suite(request: TranslateRequest) -> TranslateRequest {
    with(
        request,
        &[
            ("example.domain-text", "Doors can be pushed open."),
            ("example.domain", DOORS),
            ("example.text", "The door a is shut. Open it."),
            ("example.problem", DOOR_PROBLEM),
        ],
    )
}

#[test]
fn an_example_of_another_domain_tells_its_domain_too() {
    let mut without = lamps_request(false, 1);
    without.task.action_interface = Some(lamps_interface());
    let options = DirectOptions { template: true, ..Default::default() };
    insta::assert_snapshot!(question(options, &other_suite(without)));
    let asked = question(DirectOptions::default(), &other_suite(lamps_request(true, 1)));
    assert!(asked.contains(&format!("The domain of that task:\n\n```pddl\n{DOORS}\n```")), "{asked}");
    assert!(!asked.contains("Doors can be pushed open."), "the PDDL says it: {asked}");
}

/// LLM+P without its example is another method.
#[test]
fn a_question_without_an_example_is_noted_in_the_patch() {
    let host = || TestHost::for_kind(PluginKind::Translator).reply("writer", PROBLEM);
    let noted = |options: DirectOptions, request: &TranslateRequest| {
        let patch =
            plugin(options).translate(&host(), request).unwrap().samples.remove(0).into_result().unwrap();
        patch.diagnostics.iter().any(|d| d.code == "translate.zero-shot")
    };
    assert!(noted(DirectOptions::default(), &lamps_request(true, 1)));
    assert!(!noted(DirectOptions::default(), &with_example(lamps_request(true, 1))));
    let without = DirectOptions { example: Some(Example::Shown(false)), ..Default::default() };
    assert!(!noted(without, &lamps_request(true, 1)), "it was asked for");
}

#[test]
fn an_example_that_does_not_belong_to_the_domain_stands_alone() {
    let mut request = other_suite(lamps_request(true, 1));
    request.task.materials.insert("example.problem", PROBLEM.into());
    let asked = question(DirectOptions::default(), &request);
    assert!(
        !asked.contains("(domain doors)")
            && asked.contains("a task that has been translated")
            && !asked.contains("not those of the example"),
        "{asked}"
    );
}

#[test]
fn the_lead_is_the_example_of_the_other_tasks() {
    let lead = [("lead.text", "Lamp one is wired."), ("lead.problem", PROBLEM), ("example.text", "not this")];
    let options = || DirectOptions { example: Some(Example::LEAD), ..Default::default() };
    let asked = question(options(), &with(lamps_request(true, 1), &lead));
    assert!(asked.contains("Task:\nLamp one is wired.") && asked.contains(PROBLEM), "{asked}");
    assert!(!asked.contains("not this"), "{asked}");

    let fail = |options: DirectOptions, request: &TranslateRequest| {
        plugin(options).translate(&TestHost::new(), request).unwrap_err()
    };
    let missing = fail(options(), &lamps_request(true, 1));
    assert_eq!(missing.code, "translate.no-example");
    assert!(missing.help.unwrap().contains("fan_out"));
    for mode in [Mode::Domain, Mode::Both] {
        let mut request = with(lamps_request(false, 1), &lead);
        request.task.action_interface = Some(lamps_interface());
        let refused = fail(DirectOptions { mode, ..options() }, &request);
        assert!(refused.code == "translate.no-example" && refused.message.contains("of nothing else"));
    }
}

#[test]
fn reasoning_is_asked_for_where_the_option_says() {
    let options = |mode| DirectOptions { mode, reason: true, ..Default::default() };
    insta::assert_snapshot!(question(options(Mode::Problem), &lamps_request(true, 1)));
    assert!(
        question(options(Mode::Domain), &lamps_request(false, 1)).contains("Reason first: which predicates")
    );
    let mut again = lamps_request(true, 1);
    again.candidate.conversation = vec![Message::user("q"), Message::assistant(PROBLEM)];
    again.feedback = vec!["no plan".into()];
    assert!(question(options(Mode::Problem), &again).contains("Reason first about what is wrong."));
}

#[test]
fn the_option_is_a_truth_value_or_a_word() {
    let read = |text: &str| serde_json::from_str::<DirectOptions>(text).map(|o| o.example);
    assert_eq!(read(r#"{"example": true}"#).unwrap(), Some(Example::Shown(true)));
    assert_eq!(read(r#"{"example": "lead"}"#).unwrap(), Some(Example::LEAD));
    assert!(read(r#"{"example": "leed"}"#).is_err());
    let schema = serde_json::to_value(schemars::schema_for!(DirectOptions)).unwrap();
    let text = schema.to_string();
    assert!(text.contains("\"lead\"") && text.contains("\"boolean\""), "{text}");
}

/// The first task of a suite, with or without its domain.
fn suite_request(folder: &std::path::Path, domain: bool) -> Option<TranslateRequest> {
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let mut request = lamps_request(domain, 1);
    request.task.domain_text = read("domain.nl")?;
    request.task.task_text = read("p01.nl")?;
    request.task.given.domain = read("domain.pddl").filter(|_| domain);
    Some(request)
}

fn folders(root: &str) -> Vec<std::path::PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(root);
    std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// Recorded prompts stay as they are.
#[test]
fn prompts_of_classical_tasks_say_nothing_about_numbers_time_and_wishes() {
    use crate::prompt::features_of;
    use planforge_plugin_common::translating::TaskFeatures;
    let mut seen = 0;
    for folder in folders("suites") {
        for domain in [true, false] {
            let Some(request) = suite_request(&folder, domain) else { continue };
            let interface = std::fs::read_to_string(folder.join("domain_template.pddl")).ok();
            let pddl = request.task.given.domain.as_deref();
            let features = features_of(pddl, interface.as_deref(), &request.task);
            assert_eq!(features, TaskFeatures::default(), "{}", folder.display());
            seen += 1;
        }
    }
    for file in folders("texts").iter().filter(|file| file.extension().is_some_and(|e| e == "toml")) {
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(TaskFeatures::of_text(&text), TaskFeatures::default(), "{}", file.display());
        seen += 1;
    }
    assert!(seen >= 40, "{seen}");
}

#[test]
fn prompts_ask_for_the_numbers_times_and_wishes_of_a_task() {
    let asks = |suite: &str, domain: bool, mode: Mode| {
        let folder = folders("extended").into_iter().find(|folder| folder.ends_with(suite)).unwrap();
        question(DirectOptions { mode, ..Default::default() }, &suite_request(&folder, domain).unwrap())
    };
    let problem = |suite: &str| asks(suite, true, Mode::Problem);
    assert!(problem("market").contains("A bound on a number in :goal"));
    assert!(!problem("market").contains("(at TIME (FACT))"));
    assert!(problem("bakery").contains("(total-time) is the time that all takes"));
    assert!(problem("post").contains("- What becomes true or false by itself at a time is in :init"));
    let wishes = problem("outing");
    assert!(wishes.contains("(is-violated NAME)") && !wishes.contains("(= (FUNCTION"), "{wishes}");
    assert!(asks("market", false, Mode::Domain).contains("(increase (FUNCTION) NUMBER)"));
    assert!(asks("bakery", false, Mode::Domain).contains(":duration (= ?duration NUMBER)"));
    assert!(!asks("outing", false, Mode::Domain).contains(":durative-action"));
}
