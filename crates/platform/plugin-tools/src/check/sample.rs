//! The task of the checks, its requests by kind, and the hostile inputs.

use crate::check::call::Call;
use planforge_contract::{
    ActionDescription, ActionExample, ActionInterface, ActionSignature, Candidate, CompletionRequest,
    EnvironmentOpen, EnvironmentPlan, Message, PlanDocument, PlanOutcome, PlanRequest, PluginKind,
    PredicateDescription, Sampling, SearchStatistics, Sequences, StateQuery, Tags, TaskView,
    TranslateRequest, TypedName, VerifyRequest, WalkSpec, api::EnvironmentCall,
};

pub(crate) const DOMAIN: &str = "(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (off ?l - lamp) (on ?l - lamp))
  (:action switch-on
    :parameters (?l - lamp)
    :precondition (off ?l)
    :effect (and (on ?l) (not (off ?l)))))
";

const DOMAIN_TEXT: &str = "There are lamps. A lamp that is off can be switched on.";
const LAMPS: [&str; 4] = ["hall", "attic", "cellar", "porch"];

/// The problem with the first lamps in its goal.
pub(crate) fn problem(lamps: usize) -> String {
    let facts = |predicate: &str, count: usize| {
        LAMPS.iter().take(count).map(|lamp| format!("({predicate} {lamp})")).collect::<Vec<_>>().join(" ")
    };
    let (objects, init) = (LAMPS.join(" "), facts("off", LAMPS.len()));
    let goal = facts("on", lamps);
    format!(
        "(define (problem lamps-{lamps})\n  (:domain lamps)\n  (:objects {objects} - lamp)\n  (:init {init})\n  (:goal (and {goal})))\n"
    )
}

/// The steps that switch on the first lamps.
pub(crate) fn steps(lamps: usize) -> Vec<String> {
    LAMPS.iter().take(lamps).map(|lamp| format!("(switch-on {lamp})")).collect()
}

pub(crate) fn environment_open() -> EnvironmentOpen {
    EnvironmentOpen {
        suite: "plugin-check".to_owned(),
        task: "p01".to_owned(),
        domain: Some(DOMAIN.to_owned()),
        problem: Some(problem(LAMPS.len())),
        ..EnvironmentOpen::default()
    }
}

fn task(number: usize) -> TaskView {
    let names = LAMPS.join(", ");
    let typed = |name: &str| TypedName { name: name.to_owned(), type_name: "lamp".to_owned() };
    let mut task = TaskView {
        suite: "plugin-check".to_owned(),
        task: format!("p{number:02}"),
        domain_text: DOMAIN_TEXT.to_owned(),
        task_text: format!("Request {number}. The lamps {names} are off. In the end all should be on."),
        action_interface: Some(ActionInterface {
            actions: vec![ActionSignature { name: "switch-on".to_owned(), parameters: vec![typed("l")] }],
            objects: LAMPS.map(typed).to_vec(),
            types: Vec::new(),
        }),
        ..TaskView::default()
    };
    task.given.domain = Some(DOMAIN.to_owned());
    task.given.problem = Some(problem(LAMPS.len()));
    let described = ActionDescription { name: "switch-on".to_owned(), text: DOMAIN_TEXT.to_owned() };
    let predicates = ["off", "on"].map(|name| PredicateDescription {
        declaration: format!("({name} ?l - lamp)"),
        text: format!("The lamp is {name}."),
    });
    let materials = &mut task.materials;
    materials.example.text = Some(DOMAIN_TEXT.to_owned());
    materials.example.problem = Some(problem(1));
    materials.example.plan = Some(steps(1).join("\n"));
    materials.example.ir = Some("off(hall).".to_owned());
    materials.example.domain_text = Some(DOMAIN_TEXT.to_owned());
    materials.example.domain = Some(DOMAIN.to_owned());
    materials.actions.header = DOMAIN.split("  (:action").next().map(|header| format!("{header})"));
    materials.actions.described = Some(vec![described.clone()]);
    let example = ActionExample {
        suite: "lamps".to_owned(),
        action: described,
        predicates: predicates.to_vec(),
        pddl: "(:action switch-on :parameters (?l - lamp) :precondition (off ?l) :effect (on ?l))".to_owned(),
    };
    materials.actions.examples = Some(vec![example; 3]);
    task
}

fn plan_of(steps: Vec<String>) -> PlanOutcome {
    let plan = PlanDocument { steps, ..PlanDocument::default() };
    PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics: SearchStatistics::default() }
}

fn candidate(domain: &str, problem: String, steps: Option<Vec<String>>) -> Candidate {
    Candidate {
        domain: Some(domain.to_owned()),
        problem: Some(problem),
        plan: steps.map(plan_of),
        ..Candidate::default()
    }
}

fn environment(open: EnvironmentOpen, steps: Vec<String>, seed: u64) -> Call {
    let calls = vec![
        EnvironmentCall::Describe,
        EnvironmentCall::Walks(WalkSpec { lengths: vec![2, 3], seed, ..WalkSpec::default() }),
        EnvironmentCall::Execute(Sequences { sequences: vec![steps.clone(), Vec::new()] }),
        EnvironmentCall::Validate(EnvironmentPlan { steps: steps.clone() }),
        EnvironmentCall::DescribeState(StateQuery { actions: steps, focus: None }),
    ];
    Call::Environment(Box::new(open), calls)
}

fn completion(content: String) -> Call {
    let tags = Tags::of(&task(0), "problem");
    let messages = vec![Message::user(content)];
    let model = "scripted".to_owned();
    let sampling = Sampling { max_tokens: Some(1000), ..Sampling::default() };
    let request = CompletionRequest { model, messages, sampling, tags, ..CompletionRequest::default() };
    Call::Complete(Box::new(request))
}

/// A valid request; other numbers give other requests.
pub(crate) fn request(kind: PluginKind, number: usize) -> Call {
    let seed = number as u64;
    let some = number % (LAMPS.len() + 1);
    match kind {
        PluginKind::Provider => completion(format!("Request {number}: which lamps are on?")),
        PluginKind::Translator => {
            let candidate = candidate(DOMAIN, problem(LAMPS.len()), None);
            let request =
                TranslateRequest { task: task(number), candidate, n: 1, seed, ..Default::default() };
            Call::Translate(Box::new(request))
        }
        PluginKind::Verifier => {
            let whole = problem(LAMPS.len());
            let candidates = vec![
                candidate(DOMAIN, whole.clone(), Some(steps(some))),
                candidate(DOMAIN, whole.clone(), Some(steps(LAMPS.len()))),
                candidate(DOMAIN, whole, None),
            ];
            verify(candidates, number)
        }
        PluginKind::Planner => plan(DOMAIN, problem(some.max(1)), number),
        PluginKind::Environment => environment(environment_open(), steps(some), seed),
    }
}

fn verify(candidates: Vec<Candidate>, number: usize) -> Call {
    let request = VerifyRequest { task: task(number), candidates, seed: number as u64, ..Default::default() };
    Call::Verify(Box::new(request))
}

fn plan(domain: &str, problem: String, number: usize) -> Call {
    let (domain, seed) = (domain.to_owned(), number as u64);
    let request = PlanRequest { domain, problem, k: 1, seed, task: task(number), ..Default::default() };
    Call::Plan(Box::new(request))
}

/// Requests in which one text after the other is hostile.
pub(crate) fn hostile_requests(kind: PluginKind, text: &str) -> Vec<Call> {
    let whole = || problem(LAMPS.len());
    match kind {
        PluginKind::Provider => vec![completion(text.to_owned())],
        PluginKind::Translator => {
            let mut request = TranslateRequest { task: task(0), n: 1, ..Default::default() };
            request.candidate = candidate(text, text.to_owned(), None);
            request.task.task_text = text.to_owned();
            vec![Call::Translate(Box::new(request))]
        }
        PluginKind::Verifier => {
            let candidates = vec![
                candidate(text, whole(), Some(steps(LAMPS.len()))),
                candidate(DOMAIN, text.to_owned(), Some(steps(LAMPS.len()))),
                candidate(DOMAIN, whole(), Some(vec![text.to_owned()])),
            ];
            vec![verify(candidates, 0)]
        }
        PluginKind::Planner => vec![plan(text, whole(), 0), plan(DOMAIN, text.to_owned(), 0)],
        PluginKind::Environment => {
            let with_domain = EnvironmentOpen { domain: Some(text.to_owned()), ..environment_open() };
            let with_problem = EnvironmentOpen { problem: Some(text.to_owned()), ..environment_open() };
            let describe = |open| Call::Environment(Box::new(open), vec![EnvironmentCall::Describe]);
            let with_steps = environment(environment_open(), vec![text.to_owned()], 0);
            vec![describe(with_domain), describe(with_problem), with_steps]
        }
    }
}

/// A reply that holds what a request of that artefact asks for. Other notes give other replies.
pub(crate) fn reply(artefact: &str, note: &str) -> String {
    let (domain, whole) = (DOMAIN, problem(LAMPS.len()));
    match artefact {
        "domain" => format!("{note}\n\n```pddl\n{domain}```\n"),
        "problem" => format!("{note}\n\n```pddl\n{whole}```\n"),
        "plan" => format!("{note}\n\n{}\n", steps(LAMPS.len()).join("\n")),
        _ => format!("{note}\n\n```pddl\n{domain}```\n\n```pddl\n{whole}```\n"),
    }
}

/// Parentheses of the deep hostile text.
const DEPTH: usize = 100_000;

/// A domain of at least so many bytes.
pub(crate) fn large_text(bytes: usize) -> String {
    let mut text = DOMAIN.to_owned();
    while text.len() < bytes {
        text.push_str(
            "  (:action switch-on :parameters (?l - lamp) :precondition (off ?l) :effect (on ?l))\n",
        );
    }
    text
}

pub(crate) fn invalid_text() -> String {
    format!("{}(:action ?? :parameters (switch-on :effect", DOMAIN.replace("(off ?l - lamp)", "(off ?l - "))
}

pub(crate) fn deep_text() -> String {
    let (open, close) = ("(and ".repeat(DEPTH), ")".repeat(DEPTH));
    DOMAIN.replace(":precondition (off ?l)", &format!(":precondition {open}(off ?l){close}"))
}

pub(crate) fn control_text() -> String {
    DOMAIN.replace("lamp", "la\u{0}\u{1}\u{7}\u{1b}[31m\u{202e}\u{2028}\u{feff}\u{10ffff}\r\nmp")
}
