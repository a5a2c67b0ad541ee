//! A small task for tests of translators: lamps that are switched on.

use planforge_contract::{
    ActionInterface, ActionSignature, CandidatePatch, Failure, Given, Message, Outcome, TaskView,
    TranslateRequest, TranslateResponse, TypedName,
};

/// The domain of the task.
pub const LAMPS_DOMAIN: &str = "(define (domain lamps)
  (:requirements :strips)
  (:predicates (on ?l) (wired ?l) (ready))
  (:action switch
    :parameters (?l)
    :precondition (and (wired ?l) (ready))
    :effect (on ?l)))";

/// The problem of the task.
pub const LAMPS_PROBLEM: &str = "(define (problem l1)
  (:domain lamps)
  (:objects red blue)
  (:init (wired red) (wired blue) (ready))
  (:goal (and (on red) (on blue))))";

/// An action interface with one action more than the domain.
pub fn lamps_interface() -> ActionInterface {
    let typed = |name: &str, ty: &str| TypedName { name: name.into(), type_name: ty.into() };
    let lamp = |name: &str| typed(name, "lamp");
    ActionInterface {
        types: Vec::new(),
        actions: vec![
            ActionSignature { name: "switch".into(), parameters: vec![lamp("l")] },
            ActionSignature {
                name: "swap".into(),
                parameters: vec![lamp("a"), lamp("b"), typed("where", "object")],
            },
        ],
        objects: vec![lamp("red"), lamp("blue"), typed("hall", "object")],
    }
}

/// A request for `n` samples. `given_domain` gives the domain in PDDL.
pub fn lamps_request(given_domain: bool, n: u32) -> TranslateRequest {
    TranslateRequest {
        task: TaskView {
            suite: "lamps".into(),
            task: "l1".into(),
            domain_text: "A wired lamp can be switched on when the house is ready.\n".into(),
            task_text: "The lamps red and blue are wired, {{ and }} the house is ready. Both should be on.\n"
                .into(),
            given: Given { domain: given_domain.then(|| LAMPS_DOMAIN.to_owned()), problem: None },
            ..TaskView::default()
        },
        n,
        ..TranslateRequest::default()
    }
}

/// A conversation for snapshots.
pub fn transcript(messages: &[Message]) -> String {
    messages.iter().map(|m| format!("=== {:?}\n{}\n", m.role, m.content)).collect()
}

/// The samples of a response as results.
pub fn sample_results(response: TranslateResponse) -> Vec<Result<CandidatePatch, Failure>> {
    response.samples.into_iter().map(Outcome::into_result).collect()
}
