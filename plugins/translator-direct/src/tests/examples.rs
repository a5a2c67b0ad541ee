//! Which in-context example a question shows.

use super::*;

const DOORS: &str =
    "(define (domain doors) (:predicates (open ?d)) (:action push :parameters (?d) :effect (open ?d)))";
const DOOR_PROBLEM: &str = "(define (problem d1) (:domain doors) (:objects a) (:init) (:goal (open a)))";

fn with(mut request: TranslateRequest, materials: &[(&str, &str)]) -> TranslateRequest {
    request.task.materials = materials.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
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
    let mut without = request(false, 1);
    without.task.action_interface = Some(interface());
    let options = Options { template: true, ..Options::default() };
    insta::assert_snapshot!(question(options, &other_suite(without)));
    let asked = question(Options::default(), &other_suite(request(true, 1)));
    assert!(asked.contains(&format!("The domain of that task:\n\n```pddl\n{DOORS}\n```")), "{asked}");
    assert!(!asked.contains("Doors can be pushed open."), "the PDDL says it: {asked}");
}

#[test]
fn an_example_that_does_not_belong_to_the_domain_stands_alone() {
    let mut request = other_suite(request(true, 1));
    request.task.materials.insert("example.problem".into(), PROBLEM.into());
    let asked = question(Options::default(), &request);
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
    let options = || Options { example: Some(Example::LEAD), ..Options::default() };
    let asked = question(options(), &with(request(true, 1), &lead));
    assert!(asked.contains("Task:\nLamp one is wired.") && asked.contains(PROBLEM), "{asked}");
    assert!(!asked.contains("not this"), "{asked}");

    let fail = |options: Options, request: &TranslateRequest| {
        plugin(options).translate(&TestHost::new(), request).unwrap_err()
    };
    let missing = fail(options(), &request(true, 1));
    assert_eq!(missing.code, "translate.no-example");
    assert!(missing.help.unwrap().contains("fan_out"));
    for mode in [Mode::Domain, Mode::Edit] {
        let mut request = with(request(false, 1), &lead);
        request.task.action_interface = Some(interface());
        let refused = fail(Options { mode, ..options() }, &request);
        assert!(refused.code == "translate.no-example" && refused.message.contains("of nothing else"));
    }
}

#[test]
fn an_example_whose_domain_cannot_be_read_is_said() {
    let mut request = other_suite(request(false, 1));
    request.task.action_interface = Some(interface());
    request.task.materials.insert("example.domain".into(), "(define (domain doors) (:action".into());
    let options = Options { mode: Mode::Edit, ..Options::default() };
    let failure = plugin(options).translate(&TestHost::new(), &request).unwrap_err();
    assert_eq!(failure.code, "translate.no-example");
}

#[test]
fn reasoning_is_asked_for_where_the_option_says() {
    let options = |mode| Options { mode, reason: Some(true), ..Options::default() };
    insta::assert_snapshot!(question(options(Mode::Problem), &request(true, 1)));
    assert!(question(options(Mode::Domain), &request(false, 1)).contains("Reason first: which predicates"));
    let mut again = request(true, 1);
    again.candidate.conversation = vec![Message::user("q"), Message::assistant(PROBLEM)];
    again.feedback = vec!["no plan".into()];
    assert!(question(options(Mode::Problem), &again).contains("Reason first about what is wrong."));
}

#[test]
fn the_option_is_a_truth_value_or_a_word() {
    let read = |text: &str| serde_json::from_str::<Options>(text).map(|o| o.example);
    assert_eq!(read(r#"{"example": true}"#).unwrap(), Some(Example::Shown(true)));
    assert_eq!(read(r#"{"example": "lead"}"#).unwrap(), Some(Example::LEAD));
    assert!(read(r#"{"example": "leed"}"#).is_err());
    let schema = serde_json::to_value(schemars::schema_for!(Options)).unwrap();
    let text = schema.to_string();
    assert!(text.contains("\"lead\"") && text.contains("\"boolean\""), "{text}");
}
