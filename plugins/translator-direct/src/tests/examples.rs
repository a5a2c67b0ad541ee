//! The in-context example of a question.

use super::*;

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
