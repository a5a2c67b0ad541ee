//! The planner against a scripted host: prompts as snapshots, outcomes as assertions.

use super::*;
use planforge_plugin_sdk::testing::TestHost;

const DOMAIN: &str = "(define (domain lamps)
  (:predicates (on ?l) (near ?l))
  (:action go :parameters (?from ?to) :precondition (near ?from) :effect (and (near ?to) (not (near ?from))))
  (:action switch :parameters (?l) :precondition (near ?l) :effect (on ?l)))";

const PROBLEM: &str = "(define (problem l1) (:domain lamps) (:objects red blue) (:init (near red)) (:goal (and (on red) (on blue))))";

fn texts() -> PlanRequest {
    PlanRequest {
        k: 1,
        task: TaskView {
            suite: "lamps".into(),
            task: "l1".into(),
            domain_text: "One can go from lamp to lamp, and switch on the lamp that one is near.\n".into(),
            task_text: "We are near red. The lamps red and {{ blue }} should be on.\n".into(),
            ..TaskView::default()
        },
        ..PlanRequest::default()
    }
}

fn with_interface(mut request: PlanRequest) -> PlanRequest {
    let named = |name: &str, ty: &str| TypedName { name: name.into(), type_name: ty.into() };
    let action = |name: &str, parameters: Vec<TypedName>| ActionSignature { name: name.into(), parameters };
    request.task.action_interface = Some(ActionInterface {
        types: Vec::new(),
        actions: vec![
            action("go", vec![named("from", "lamp"), named("to", "lamp")]),
            action("switch", vec![named("l", "lamp")]),
            action("wait", vec![]),
        ],
        objects: vec![named("red", "lamp"), named("blue", "lamp")],
    });
    request
}

fn with_example(mut request: PlanRequest) -> PlanRequest {
    request.task.materials = Materials::from_iter([
        ("example.text", "We are near green. The lamp green should be on.".to_owned()),
        ("example.plan", "(switch green)\n".to_owned()),
    ]);
    request
}

fn ask(
    options: LlmPlannerOptions,
    request: &PlanRequest,
    reply: &str,
) -> (TestHost, Result<PlanOutcome, Failure>) {
    let host = TestHost::for_kind(PluginKind::Planner).reply("planner", reply);
    let outcome = LlmPlanner::create(options, &Secrets::default()).unwrap().plan(&host, request);
    (host, outcome)
}

fn question(options: LlmPlannerOptions, request: &PlanRequest) -> String {
    let (host, outcome) = ask(options, request, "```plan\n(switch red)\n```");
    outcome.unwrap();
    let messages = &host.requests()[0].1.messages;
    messages.iter().map(|m| format!("=== {:?}\n{}\n", m.role, m.content)).collect()
}

#[test]
fn question_from_texts_and_interface() {
    insta::assert_snapshot!(question(LlmPlannerOptions::default(), &with_interface(texts())));
}

#[test]
fn question_with_example_and_chain_of_thought() {
    let options = LlmPlannerOptions { chain_of_thought: true, ..Default::default() };
    insta::assert_snapshot!(question(options, &with_example(texts())));
}

#[test]
fn an_example_of_another_domain_comes_before_this_domain() {
    let mut request = with_example(with_interface(texts()));
    request.task.materials.insert("example.domain-text", "Lamps can be switched.".into());
    let question = question(LlmPlannerOptions::default(), &request);
    let place = |text: &str| question.find(text).unwrap_or_else(|| panic!("{text} in {question}"));
    let parts = [
        "another domain",
        "Lamps can be switched.",
        "(switch green)",
        "with other actions",
        "These are the actions",
        "Now solve",
    ];
    assert!(parts.map(place).is_sorted(), "{question}");
}

#[test]
fn question_with_domain_and_problem() {
    let mut request = with_interface(texts());
    request.domain = DOMAIN.into();
    request.problem = PROBLEM.into();
    insta::assert_snapshot!(question(
        LlmPlannerOptions { example: Some(false), ..Default::default() },
        &request
    ));
}

fn checked() -> LlmPlannerOptions {
    LlmPlannerOptions { rules: true, check_steps: true, ..Default::default() }
}

#[test]
fn question_that_states_the_rules_again_and_asks_to_check_each_step() {
    let mut request = with_interface(texts());
    request.task.domain_text =
        "Lamps stand around.\nOne can do this:\n- go: from lamp to lamp.\n- switch: a lamp that one is near.\nNo lamp goes off.\n"
            .into();
    insta::assert_snapshot!(question(checked(), &request));
}

#[test]
fn question_with_the_rules_of_a_given_domain_in_words() {
    let mut request = texts();
    request.domain = DOMAIN
        .replace("(on ?l) (near ?l))", "(on ?l) (near ?l)) (:action wait :parameters ())")
        .replace(":precondition (near ?l) :effect (on ?l)", ":precondition (and (near ?l) (not (on ?l)) (forall (?m) (or (on ?m) (near ?m)))) :effect (and (on ?l) (when (on ?l) (not (near ?l))))");
    request.problem = PROBLEM.into();
    request.task.materials.insert("predicates", r#"{"near": {"yes": "We are near {1}."}}"#.into());
    insta::assert_snapshot!(question(checked(), &request));
}

#[test]
fn question_for_a_better_plan_shows_the_last_one_and_its_feedback() {
    let mut request = texts();
    request.previous = Some(PlanDocument { steps: vec!["(switch blue)".into()], ..PlanDocument::default() });
    request.feedback =
        vec!["Step 1 is wrong: {{ blue }} is not near.".into(), " ".into(), "Go there first.".into()];
    insta::assert_snapshot!(question(LlmPlannerOptions::default(), &request));
    request.previous = None;
    assert!(
        question(LlmPlannerOptions::default(), &request).contains("This was said about an earlier answer:")
    );
}

#[test]
fn claims_about_a_checked_plan_are_kept_beside_it() {
    let reply = "Step 1: (switch red) - near\nCheck 1: yes\nState after step 1: red is on; (near red)\nGoal reached: no\nCost: 1";
    let (host, outcome) = ask(checked(), &texts(), reply);
    let outcome = outcome.unwrap();
    let plan = outcome.best().unwrap();
    assert_eq!(plan.steps, ["(switch red)"]);
    let claims = plan.claims.clone().unwrap();
    assert_eq!((claims.goal_reached, claims.cost, claims.valid), (Some(false), Some(1.0), None));
    assert_eq!(
        (&claims.states[0].sentences[..], &claims.states[0].literals[..]),
        (&["red is on".to_owned()][..], &["(near red)".to_owned()][..])
    );
    assert!(
        host.logs().iter().any(|(_, line)| line.contains("whether the plan is valid")),
        "{:?}",
        host.logs()
    );
    assert_eq!(plan.cost, None, "a claim is no cost");
    let unchecked =
        ask(LlmPlannerOptions::default(), &texts(), "```plan\n(switch red)\n```\nCost: 1").1.unwrap();
    assert_eq!(unchecked.best().unwrap().claims, None);
}

#[test]
fn steps_of_a_checked_plan_stand_in_several_forms() {
    let steps = |reply: &str| ask(checked(), &texts(), reply).1.map(|o| o.best().unwrap().steps.clone());
    let both = ["(switch red)".to_owned(), "(go red blue)".to_owned()];
    assert_eq!(
        steps("Step 1: (switch red)\n- (on red)\n**Step 2:** (go red blue)\n- (near blue)").unwrap(),
        both
    );
    assert_eq!(
        steps("```json\n{\"plan\": [\"(switch red)\", \"(go red blue)\"], \"valid\": true}\n```").unwrap(),
        both
    );
    assert_eq!(steps("Step 1: (go blue red)\n```plan\n(switch red)\n(go red blue)\n```").unwrap(), both);
    assert_eq!(steps("(switch red)\n(go red blue)\nDone.").unwrap(), both);
    assert_eq!(steps("Step 1: go to the lamp").unwrap_err().code, "planner.unreadable-step");
    assert_eq!(
        steps("Step 2: (switch red)\ntext\nStep 1: (switch red)").unwrap_err().code,
        "planner.scattered-plan"
    );
}

#[test]
fn a_readable_reply_is_a_plan_and_never_an_optimal_one() {
    let reply = "First red, then blue.\n```plan\n1. (switch red)\n2. go red blue\n3. switch(blue)\n```";
    let (host, outcome) = ask(LlmPlannerOptions::default(), &with_interface(texts()), reply);
    let PlanOutcome::Plan { plans, optimal, statistics } = outcome.unwrap() else { panic!("no plan") };
    assert_eq!(
        plans,
        [PlanDocument {
            steps: vec!["(switch red)".into(), "(go red blue)".into(), "(switch blue)".into()],
            ..PlanDocument::default()
        }]
    );
    assert!(!optimal);
    assert_eq!((statistics.expanded, statistics.search.as_str()), (None, "language model"));
    let (role, request) = &host.requests()[0];
    assert_eq!(
        (role.as_str(), request.sampling.n, request.tags.artefact.as_str()),
        ("planner", Some(1), "plan")
    );
}

#[test]
fn steps_without_parentheses_are_read_only_for_known_actions() {
    let reply = "```plan\ngo red blue\n```";
    assert_eq!(
        ask(LlmPlannerOptions::default(), &texts(), reply).1.unwrap_err().code,
        "planner.unreadable-step"
    );
    let mut request = texts();
    request.domain = DOMAIN.into();
    assert_eq!(
        ask(LlmPlannerOptions::default(), &request, reply).1.unwrap().best().unwrap().steps,
        ["(go red blue)"]
    );
}

#[test]
fn a_reply_without_a_plan_is_a_failure_and_no_verdict() {
    let failure = ask(LlmPlannerOptions::default(), &texts(), "There is no plan for this.").1.unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Reply, "planner.no-plan"));
    let nobody = TestHost::new();
    let planner = LlmPlanner::create(LlmPlannerOptions::default(), &Secrets::default()).unwrap();
    assert_eq!(planner.plan(&nobody, &texts()).unwrap_err().code, "testing.no-reply");
}

#[test]
fn a_missing_text_is_a_failure_of_the_request() {
    let code = |options: LlmPlannerOptions, request: &PlanRequest| {
        let (host, outcome) = ask(options, request, "(switch red)");
        assert!(host.requests().is_empty(), "nothing is asked");
        let failure = outcome.unwrap_err();
        assert_eq!(failure.class, FailureClass::Request);
        failure.code
    };
    let mut no_domain = texts();
    no_domain.task.domain_text.clear();
    assert_eq!(code(LlmPlannerOptions::default(), &no_domain), "planner.no-text");
    let mut no_task = texts();
    no_task.task.task_text = "\n".into();
    assert_eq!(code(LlmPlannerOptions::default(), &no_task), "planner.no-text");
    assert_eq!(
        code(LlmPlannerOptions { example: Some(true), ..Default::default() }, &texts()),
        "planner.no-example"
    );
}

#[test]
fn several_plans_are_unsupported() {
    let (host, outcome) = ask(LlmPlannerOptions::default(), &PlanRequest { k: 2, ..texts() }, "(switch red)");
    let PlanOutcome::Unsupported { diagnostics } = outcome.unwrap() else { panic!("asked anyway") };
    assert_eq!(diagnostics[0].code, "planner.llm-several-plans");
    assert!(host.requests().is_empty());
}

#[test]
fn durative_actions_are_unsupported() {
    let domain = "(define (domain d) (:requirements :durative-actions) (:predicates (p))
      (:durative-action a :parameters () :duration (= ?duration 1) :effect (at end (p))))";
    let request = PlanRequest { domain: domain.into(), problem: PROBLEM.into(), ..texts() };
    let (host, outcome) = ask(LlmPlannerOptions::default(), &request, "(a)");
    let PlanOutcome::Unsupported { diagnostics } = outcome.unwrap() else { panic!("asked anyway") };
    assert_eq!(diagnostics[0].code, "planner.llm-durative-actions");
    assert!(host.requests().is_empty());
}

#[test]
fn a_validated_plan_is_explained_in_plain_language() {
    let plan = PlanDocument {
        steps: vec!["(switch red)".into(), "(go red blue)".into()],
        cost: Some(2.0),
        ..PlanDocument::default()
    };
    let request = explain_request(&texts().task, &plan).unwrap();
    let text: String =
        request.messages.iter().map(|m| format!("=== {:?}\n{}\n", m.role, m.content)).collect();
    insta::assert_snapshot!(text);
    assert_eq!(request.tags.artefact, "explanation");
    let bare = explain_request(&TaskView::default(), &plan).unwrap();
    assert!(bare.messages[1].content.starts_with("This plan was checked"), "{}", bare.messages[1].content);
    let empty = explain_request(&texts().task, &PlanDocument::default()).unwrap_err();
    assert_eq!(empty.code, "planner.nothing-to-explain");
}

#[test]
fn an_explanation_is_the_reply_unless_it_was_cut_off() {
    let reply = |content: &str, finish| Reply::new(content, finish);
    assert_eq!(explanation(&reply(" Red goes on. \n", FinishReason::Stop)).unwrap(), "Red goes on.");
    assert_eq!(explanation(&reply("Red", FinishReason::Length)).unwrap_err().code, "planner.cut-off");
    assert_eq!(explanation(&reply(" ", FinishReason::Stop)).unwrap_err().code, "planner.no-explanation");
}

#[test]
fn every_code_is_explained_once() {
    let codes: std::collections::BTreeSet<&str> = CODES.iter().map(|c| c.code).collect();
    assert_eq!(codes.len(), CODES.len());
    assert!(codes.iter().all(|c| c.starts_with("planner.")));
}
