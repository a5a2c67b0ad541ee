//! A task that is read once: the verdicts of reading it each time, and states that can be reached.

use planforge_app::pddl::task::{SampleRequest, Task};
use planforge_app::pddl::validate::{ValidateRequest, validate};
use planforge_app::{Context, RequestLimits, Source, Status};
use std::num::NonZeroU32;

const DOMAIN: &str = "(define (domain lamps) (:requirements :strips :typing)
    (:types lamp) (:predicates (on ?l - lamp) (off ?l - lamp))
    (:action press :parameters (?l - lamp) :precondition (off ?l) :effect (and (on ?l) (not (off ?l)))))";
const PROBLEM: &str = "(define (problem p) (:domain lamps) (:objects a b c - lamp)
    (:init (off a) (off b) (off c)) (:goal (and (on a) (on b))))";

fn sources() -> [Source; 2] {
    [Source::text("domain", DOMAIN), Source::text("problem", PROBLEM)]
}

fn task() -> Task {
    let [domain, problem] = sources();
    Task::read(&Context::default(), &domain, &problem).unwrap()
}

#[test]
fn plans_of_a_task_that_is_read_once_have_the_verdicts_of_reading_it_each_time() {
    let (task, context, limits) = (task(), Context::default(), RequestLimits::default());
    for (plan, status) in [
        ("(press a)\n(press b)\n", Status::Good),
        ("(press a)\n(press a)\n", Status::Negative),
        ("(press a)", Status::Negative),
        ("", Status::Negative),
        ("(press", Status::Negative),
        ("(pull a)", Status::Negative),
    ] {
        let plan = Source::text("plan", plan);
        let [domain, problem] = sources();
        let request = ValidateRequest {
            domain,
            problem: Some(problem),
            plan: Some(plan.clone()),
            in_words: None,
            epsilon: None,
            limits,
        };
        let each_time = validate(&context, &request).unwrap();
        let once = task.validate(&context, &plan, &limits);
        assert_eq!(once.status, status, "{plan:?}");
        assert_eq!(once.report(), each_time.report(), "{plan:?}");
    }
}

#[test]
fn a_text_with_mistakes_is_no_task() {
    let [domain, _] = sources();
    let wrong = Source::text("problem", PROBLEM.replace("(off c)", "(of c)"));
    let error = Task::read(&Context::default(), &domain, &wrong).err().unwrap();
    let found = error.diagnostics();
    assert_eq!((error.status, error.code()), (Status::Negative, "pddl.undefined-predicate"), "{found:?}");
    assert!(found.iter().any(|found| found.code == error.code() && found.file == "problem"), "{found:?}");
}

#[test]
fn sampled_states_are_those_that_their_steps_lead_to() {
    let (task, context, limits) = (task(), Context::default(), RequestLimits::default());
    let request = SampleRequest { states: 40, longest: NonZeroU32::new(4).unwrap(), seed: 3 };
    let states = task.sample_states(&context, &request, &limits).unwrap();
    assert_eq!(states.goals.len(), 40);
    assert_eq!(states, task.sample_states(&context, &request, &limits).unwrap());
    assert_ne!(states, task.sample_states(&context, &SampleRequest { seed: 4, ..request }, &limits).unwrap());
    assert_eq!(states.facts, ["(off a)", "(off b)", "(off c)", "(on a)", "(on b)", "(on c)"]);
    // A dead end after three steps ends a walk of four.
    assert_eq!((states.values.len(), states.walks.len()), (40 * 6, 40 * 3));
    for (row, walk) in states.walks.chunks(3).enumerate() {
        let steps = walk.iter().take_while(|&&step| step >= 0);
        let pressed: Vec<&str> = steps.map(|&step| &states.actions[step as usize][7..8]).collect();
        assert!(!pressed.is_empty() && walk[pressed.len()..].iter().all(|&step| step == -1), "{walk:?}");
        let values = &states.values[row * 6..][..6];
        for (column, lamp) in ["a", "b", "c"].into_iter().enumerate() {
            let on = u8::from(pressed.contains(&lamp));
            assert_eq!([values[column], values[column + 3]], [1 - on, on], "{values:?} after {pressed:?}");
        }
        assert_eq!(states.goals[row] == 1, pressed.contains(&"a") && pressed.contains(&"b"), "{pressed:?}");
    }
}
