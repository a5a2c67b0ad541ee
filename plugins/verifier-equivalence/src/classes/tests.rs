//! A reply of every class, its feedback, and the parts of the reference that feedback must not reveal.

use super::*;
use planforge_environment_pddl::PddlEnvironment;
use planforge_plugin_sdk::testing::TestHost;
use std::sync::Arc;

const DOMAIN: &str = "(define (domain lamps) (:requirements :strips :typing)
  (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (here ?r - room) (lit ?l - lamp) (dark ?l - lamp) (door ?a ?b - room) (oiled ?r - room))
  (:action go :parameters (?a ?b - room)
    :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))
  (:action light :parameters (?l - lamp ?r - room)
    :precondition (and (here ?r) (in ?l ?r) (dark ?l)) :effect (and (lit ?l) (not (dark ?l)))))";

const PROBLEM: &str = "(define (problem two) (:domain lamps) (:objects a b - lamp hall attic - room)
  (:init (here hall) (door hall attic) (door attic hall) (in a hall) (in b attic) (dark a) (dark b))
  (:goal (and (lit a) (lit b))))";

/// Only here lamps are lit that were never dark.
const FURTHER: &str = "(define (problem odd) (:domain lamps) (:objects a c - lamp hall attic - room)
  (:init (here hall) (door hall attic) (door attic hall) (in a attic) (in c hall) (dark a))
  (:goal (lit a)))";

const GO: &str = "(:action go :parameters (?a ?b - room)
  :precondition (and (here ?a) (door ?a ?b)) :effect (and (here ?b) (not (here ?a))))";

fn host_with(problem: &str, further: &[&str]) -> TestHost {
    let environment = PddlEnvironment::create(
        planforge_environment_pddl::PddlEnvironmentOptions::default(),
        &Secrets::default(),
    )
    .unwrap();
    let open = EnvironmentOpen {
        suite: "lamps".into(),
        task: "p01".into(),
        domain: Some(DOMAIN.into()),
        problem: Some(problem.into()),
        problems: further.iter().map(|text| (*text).to_owned()).collect(),
        ..EnvironmentOpen::default()
    };
    TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open)
}

fn candidate(texts: &[(&str, &str)]) -> Candidate {
    let texts = texts.iter().map(|(name, text)| (format!("action.{name}"), *text)).collect();
    Candidate { texts, ..Candidate::default() }
}

fn judge(
    host: &TestHost,
    options: ClassVerifierOptions,
    task: TaskView,
    candidate: Candidate,
) -> Result<Assessment, Failure> {
    let verifier = ClassVerifier::create(options, &Secrets::default())?;
    let request = VerifyRequest { task, candidates: vec![candidate], ..VerifyRequest::default() };
    verifier.verify(host, &request)?.results.remove(0).into_result()
}

fn judged(texts: &[(&str, &str)]) -> (Assessment, ResultClasses) {
    let options = ClassVerifierOptions { exact: true, ..Default::default() };
    let got = judge(&host_with(PROBLEM, &[]), options, TaskView::default(), candidate(texts)).unwrap();
    let classes = serde_json::from_value(got.evidence.clone()).unwrap();
    (got, classes)
}

fn light(precondition: &str, effect: &str) -> String {
    format!(
        "(:action light :parameters (?l - lamp ?r - room)\n  :precondition {precondition}\n  :effect {effect})"
    )
}

const PRE: &str = "(and (here ?r) (in ?l ?r) (dark ?l))";
const EFF: &str = "(and (lit ?l) (not (dark ?l)))";

#[test]
fn feedback_on_every_class_has_its_needs() {
    let replies = [
        ("NoPDDL", "It is lit where it was dark.".to_owned()),
        ("PError", light("(and (here ?r) (in ?l ?r)", EFF)),
        ("UToken", light("(here ?r)\n  :precondition (dark ?l)", EFF)),
        ("TError", light(PRE, EFF).replace("?r - room", "?r - place")),
        ("PAError", light("(and (here ?r) (in ?l) (shining ?l))", EFF)),
        ("NError", light(PRE, EFF).replace("light", "kindle")),
        ("BPError", light("(and (here ?r) (in ?l ?r) (not (lit ?l)))", EFF)),
        ("NoPlan", light("(and (here ?r) (in ?l ?r) (lit ?l))", EFF)),
        ("NPApp", light("(and (here ?r) (dark ?l))", EFF)),
        ("OPApp", light(PRE, "(and (lit ?l) (not (dark ?l)) (not (here ?r)) (oiled ?r))")),
    ];
    let mut told = String::new();
    for (class, text) in &replies {
        let (got, classes) = judged(&[("light", text)]);
        let [action] = classes.actions.as_slice() else { panic!("{classes:?}") };
        // Without a way back from a room the second lamp stays dark, so that action takes the class before.
        let wanted = if *class == "OPApp" { "NoPlan" } else { class };
        assert_eq!(action.class, wanted, "{text}\n{:?}", action.diagnostics);
        assert_eq!(got.decision, Decision::Rejected);
        let [entry] = got.feedback.as_slice() else { panic!("{:?}", got.feedback) };
        assert!(entry.starts_with("Action `light`: "), "{entry}");
        assert!(!entry.contains("(door"), "the reference's conditions are not told: {entry}");
        told += &format!("{text}\n-> {entry}\n\n");
        // One written action among true ones: the whole is that action's domain.
        assert_eq!(classes.domain.unwrap().class, wanted);
        assert_eq!(got.metrics["whole"], 0.0);
    }
    insta::assert_snapshot!("told", told);
}

#[test]
fn feedback_on_a_lost_plan_quotes_the_written_action_s_condition() {
    // The short way stays; plans that light the first lamp after a walk are lost.
    let strict = "(:action go :parameters (?a ?b - room)
      :precondition (and (here ?a) (door ?a ?b) (oiled ?b)) :effect (and (here ?b) (not (here ?a))))";
    let oiled = PROBLEM.replace("(here hall)", "(here hall) (oiled attic)");
    let options = ClassVerifierOptions { exact: true, ..Default::default() };
    let got =
        judge(&host_with(&oiled, &[]), options, TaskView::default(), candidate(&[("go", strict)])).unwrap();
    let classes: ResultClasses = serde_json::from_value(got.evidence.clone()).unwrap();
    assert_eq!(classes.actions[0].class, "OPApp");
    insta::assert_snapshot!("lost", got.feedback[0]);
    let exact = classes.actions[0].exact.as_ref().unwrap();
    assert_eq!((exact.decision.as_str(), exact.problem), ("different", Some(0)));
    let error = classes.actions[0].reconstruction_error.as_ref().unwrap();
    assert_eq!((error.by_name, error.by_position, error.least), (Some(1), Some(1), Some(1)));
}

#[test]
fn a_candidate_with_equivalent_actions_is_accepted_without_feedback() {
    let renamed = light(PRE, EFF).replace("?l", "?x");
    let (got, classes) = judged(&[("go", GO), ("light", &renamed)]);
    assert_eq!(got.decision, Decision::Accepted, "{:?}", got.summary);
    assert!(got.feedback.is_empty() && got.diagnostics.is_empty());
    assert_eq!((got.metrics["equivalent"], got.metrics["actions"], got.metrics["whole"]), (2.0, 2.0, 1.0));
    assert_eq!((got.metrics["are"], got.metrics["are_by_position"], got.metrics["rating"]), (8.0, 0.0, 1.0));
    assert_eq!(classes.problems, 1);
    assert_eq!(classes.actions[1].exact.as_ref().unwrap().decision, "equal");
    assert_eq!(got.summary, "2 of 2 actions are equivalent.");
}

#[test]
fn an_action_in_the_order_of_its_text_is_accepted_with_the_positional_class_beside_it() {
    let swapped = |text: String| text.replace("?l - lamp ?r - room", "?r - room ?l - lamp");
    let (got, classes) = judged(&[("go", GO), ("light", &swapped(light(PRE, EFF)))]);
    assert_eq!((&got.decision, got.feedback.len()), (&Decision::Accepted, 0), "{:?}", got.feedback);
    let action = &classes.actions[1];
    assert_eq!((action.class.as_str(), action.positional.as_deref()), ("Equivalent", Some("NPApp")));
    assert_eq!(action.parameters.as_deref(), Some([1, 0].as_slice()));
    assert_eq!(action.exact.as_ref().unwrap().decision, "equal");
    let whole = classes.domain.unwrap();
    assert_eq!((whole.class.as_str(), whole.positional.as_deref()), ("Equivalent", Some("NPApp")));
    // Feedback on a wrong one has its steps in the order of the text.
    let (got, _) = judged(&[("light", &swapped(light("(and (here ?r) (dark ?l))", EFF)))]);
    let [entry] = got.feedback.as_slice() else { panic!("{:?}", got.feedback) };
    assert!(entry.contains("2. (light hall b)    <- cannot be executed"), "{entry}");
}

#[test]
fn only_requested_actions_are_classified_with_places_in_their_own_text() {
    let (got, classes) = judged(&[(
        "light",
        "\n\n(:action light :parameters (?l - lamp)\n :precondition (bright ?l)\n :effect (lit ?l))",
    )]);
    assert_eq!(classes.actions.len(), 1);
    let finding = &got.diagnostics[0];
    assert_eq!((finding.file.as_str(), finding.line), ("action light", 4));
    let (got, classes) = judged(&[("light", &light(PRE, EFF)), ("fly", GO)]);
    assert_eq!((classes.actions.len(), got.diagnostics[0].code.as_str()), (1, "classes.unknown-action"));
}

#[test]
fn a_whole_domain_from_elsewhere_is_taken_apart_by_name() {
    let options = ClassVerifierOptions::default;
    let host = host_with(PROBLEM, &[]);
    let whole = |domain: String| {
        let candidate = Candidate { domain: Some(domain), ..Candidate::default() };
        let got = judge(&host, options(), TaskView::default(), candidate).unwrap();
        let classes: ResultClasses = serde_json::from_value(got.evidence.clone()).unwrap_or_default();
        let names: Vec<String> = classes.actions.iter().map(|a| a.class.clone()).collect();
        (got, names, classes.domain.map(|d| d.class))
    };
    let (got, classes, all) = whole(DOMAIN.replace("?l", "?x"));
    assert_eq!(
        (got.decision, classes.join(" "), all.unwrap()),
        (Decision::Accepted, "Equivalent Equivalent".into(), "Equivalent".into())
    );
    let (_, classes, all) = whole(DOMAIN.replace(":action go", ":action walk"));
    assert_eq!((classes.join(" "), all.unwrap()), ("NoPDDL Equivalent".into(), "NoPDDL".into()));
    let (_, classes, all) = whole(DOMAIN.replace("(dark ?l)) :effect", "(dark ?l) (lamp ?l)) :effect"));
    assert_eq!((classes.join(" "), all.unwrap()), ("Equivalent PAError".into(), "PAError".into()));
    let (got, _, _) = whole(DOMAIN.replace("(oiled ?r - room)", "(greased ?r - room)"));
    let Decision::NotComparable { message } = &got.decision else { panic!("{got:?}") };
    assert!(message.ends_with("with greased/1 and without oiled/1"), "{message}");
    assert!(got.feedback.is_empty() && got.metrics.is_empty());
}

#[test]
fn every_wrong_action_has_its_entry_and_the_whole_its_own_class() {
    let go = GO.replace("(here ?a) (door", "(here ?a) (oiled ?b) (door");
    let got = judged(&[("go", &go), ("light", &light("(lit ?l)", EFF))]);
    assert_eq!(got.0.decision, Decision::Rejected);
    assert_eq!(got.1.domain.unwrap().class, "NoPlan");
    assert_eq!(got.0.feedback.len(), 2);
}

#[test]
fn further_problems_reveal_differences() {
    let text = light("(and (here ?r) (in ?l ?r))", EFF);
    let class = |further: &[&str], k| {
        let options = ClassVerifierOptions { k, ..Default::default() };
        let got =
            judge(&host_with(PROBLEM, further), options, TaskView::default(), candidate(&[("light", &text)]))
                .unwrap();
        let classes: ResultClasses = serde_json::from_value(got.evidence).unwrap();
        (classes.problems, classes.actions[0].class.clone())
    };
    assert_eq!(class(&[], 1), (1, "Equivalent".into()));
    assert_eq!(class(&[FURTHER], 4), (2, "NPApp".into()));
}

#[test]
fn a_limit_leaves_an_action_undecided_and_is_reported() {
    let text = light("(and (here ?r) (in ?l ?r) (lit ?l))", EFF);
    let options = ClassVerifierOptions { max_nodes: 1, ..Default::default() };
    let syntax = "(:action go :parameters";
    let got =
        judge(&host_with(PROBLEM, &[]), options.clone(), TaskView::default(), candidate(&[("light", &text)]))
            .unwrap();
    assert!(
        matches!(&got.decision, Decision::Undecided { reason: UndecidedReason::Limit, message } if message.contains("limit on search nodes")),
        "{:?}",
        got.decision
    );
    assert!(!got.metrics.contains_key("whole"));
    assert_eq!(
        got.feedback,
        ["Action `light`: undecided: it could not be told, within limits, whether it does what it should.\n\
             If it is right, write it again as it is."]
    );
    assert_eq!((got.metrics["undecided"], got.diagnostics[0].code.as_str()), (1.0, "classes.undecided"));
    // Classes that need no plans are still reported.
    let got = judge(
        &host_with(PROBLEM, &[]),
        options,
        TaskView::default(),
        candidate(&[("go", syntax), ("light", &text)]),
    )
    .unwrap();
    assert_eq!((got.decision, got.metrics["syntax"]), (Decision::Rejected, 1.0));
    let host = host_with(PROBLEM, &[]).remaining_ms(0);
    let late =
        judge(&host, ClassVerifierOptions::default(), TaskView::default(), candidate(&[("go", GO)])).unwrap();
    assert!(matches!(late.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{late:?}");
    let host = host_with(PROBLEM, &[]);
    let options = ClassVerifierOptions {
        limits: planforge_plugin_common::judging::JudgingLimits { time_s: 0, ..Default::default() },
        ..Default::default()
    };
    let late = judge(&host, options, TaskView::default(), candidate(&[("go", GO)])).unwrap();
    assert!(matches!(late.decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }), "{late:?}");
    host.cancel();
    let failure =
        judge(&host, ClassVerifierOptions::default(), TaskView::default(), candidate(&[("go", GO)]))
            .unwrap_err();
    assert_eq!(failure.class, FailureClass::Cancelled);
}

#[test]
fn without_behaviour_the_given_declarations_are_enough() {
    let header = DOMAIN.split("(:action go").next().unwrap().to_owned() + ")";
    let described = serde_json::json!([
        ActionDescription { name: "go".into(), text: "One goes.".into() },
        ActionDescription { name: "light".into(), text: "A lamp is lit.".into() },
    ]);
    let materials = [("domain.header", header), ("actions", described.to_string())].into_iter().collect();
    let task = TaskView { suite: "lamps".into(), materials, ..TaskView::default() };
    let options = ClassVerifierOptions { behaviour: false, ..Default::default() };
    // No environment is open, so asking it would be a failure.
    let host = TestHost::for_kind(PluginKind::Verifier);
    let wrong = light("(lit ?l)", "(dark ?l)");
    let texts = [("go", GO), ("light", wrong.as_str())];
    let got = judge(&host, options.clone(), task.clone(), candidate(&texts)).unwrap();
    assert_eq!((&got.decision, got.metrics["fits"]), (&Decision::Accepted, 2.0));
    assert!(!got.metrics.contains_key("equivalent") && !got.metrics.contains_key("are"));
    assert!(!got.metrics.contains_key("whole"), "that it fits says nothing of equivalence");
    let classes: ResultClasses = serde_json::from_value(got.evidence).unwrap();
    assert_eq!((classes.problems, classes.domain.unwrap().class), (0, "Fits".to_owned()));
    let texts = [("go", "(:action go :parameters (?a) :effect (here))"), ("light", wrong.as_str())];
    let got = judge(&host, options.clone(), task.clone(), candidate(&texts)).unwrap();
    assert_eq!((&got.decision, got.metrics["semantic"], got.feedback.len()), (&Decision::Rejected, 1.0, 1));
    // Where no action fits, it is still not behaviour that was looked at.
    let none = judge(&host, options.clone(), task.clone(), candidate(&[("go", "Sorry.")])).unwrap();
    assert_eq!(none.summary, "0 of 1 actions fit the domain, 1 syntax error.");
    assert_eq!((none.metrics["fits"], none.metrics.get("equivalent")), (0.0, None));
    // Without the material the declarations come from the environment.
    let got =
        judge(&host_with(PROBLEM, &[]), options.clone(), TaskView::default(), candidate(&texts)).unwrap();
    assert_eq!(got.metrics["semantic"], 1.0);
    let failure = judge(&host, options, TaskView::default(), candidate(&texts)).unwrap_err();
    assert_eq!(failure.code, "host.no-environment");
}

#[test]
fn a_reference_that_is_none_is_a_failure_and_a_missing_candidate_undecided() {
    let nothing = judge(
        &host_with(PROBLEM, &[]),
        ClassVerifierOptions::default(),
        TaskView::default(),
        Candidate::default(),
    );
    assert!(matches!(
        nothing.unwrap().decision,
        Decision::Undecided { reason: UndecidedReason::MissingInput, .. }
    ));
    let broken = host_with("(define (problem two", &[]);
    let failure =
        judge(&broken, ClassVerifierOptions::default(), TaskView::default(), candidate(&[("go", GO)]))
            .unwrap_err();
    assert_eq!(failure.code, "environment.unreadable");
    let unsolvable = PROBLEM.replace("(in b attic) ", "");
    let got = judge(
        &host_with(&unsolvable, &[]),
        ClassVerifierOptions::default(),
        TaskView::default(),
        candidate(&[("go", GO)]),
    )
    .unwrap();
    let Decision::Undecided { reason: UndecidedReason::Unsupported, message } = &got.decision else {
        panic!("{got:?}")
    };
    assert!(message.contains("reference problem 1 has no plan"), "{message}");
    for options in [
        ClassVerifierOptions { k: 0, ..Default::default() },
        ClassVerifierOptions { max_nodes: 0, ..Default::default() },
        ClassVerifierOptions { exact: true, behaviour: false, ..Default::default() },
    ] {
        assert_eq!(ClassVerifier::create(options, &Secrets::default()).unwrap_err().code, "classes.options");
    }
}

#[test]
fn the_reference_is_made_ready_once_and_a_call_without_time_leaves_nothing_behind() {
    let verifier = ClassVerifier::create(ClassVerifierOptions::default(), &Secrets::default()).unwrap();
    let judge = |host: &TestHost| {
        let request =
            VerifyRequest { candidates: vec![candidate(&[("go", GO)])], ..VerifyRequest::default() };
        verifier.verify(host, &request).unwrap().results.remove(0).into_result().unwrap().decision
    };
    let late = host_with(PROBLEM, &[]).remaining_ms(0);
    assert!(matches!(judge(&late), Decision::Undecided { .. }));
    assert_eq!(judge(&host_with(PROBLEM, &[])), Decision::Accepted);
    assert_eq!(judge(&host_with(PROBLEM, &[])), Decision::Accepted);
    // Another reference is another one, under the same names.
    assert_eq!(judge(&host_with(&PROBLEM.replace("(in b attic) ", ""), &[])).name(), "undecided");
    assert_eq!(judge(&host_with(PROBLEM, &[FURTHER])), Decision::Accepted);
}
