//! The questions, as snapshots.

use super::*;

#[test]
fn the_question_with_an_in_context_example() {
    let host = host(&[GRIPPERS_IR]);
    sample(of_mode(Mode::Ic), &host, &grippers(1)).unwrap();
    insta::assert_snapshot!(question(&host, 0));
}

#[test]
fn the_three_generic_questions() {
    let names = "{'room': ['room1', 'room2', 'room3'], 'robot': ['robot1'], 'gripper': ['left1', 'right1'], 'ball': ['ball1', 'ball2']}";
    let host = host(&["{'room': 3}", names, GRIPPERS_IR]);
    sample(of_mode(Mode::G3), &host, &grippers(1)).unwrap();
    assert_eq!(host.left_over(), 0);
    insta::assert_snapshot!("generic_cardinalities", question(&host, 0));
    insta::assert_snapshot!("generic_objects", question(&host, 1));
    insta::assert_snapshot!("generic_rules", question(&host, 2));
}

#[test]
fn the_generic_question_in_one() {
    let host = host(&[GRIPPERS_IR]);
    sample(of_mode(Mode::G1), &host, &grippers(1)).unwrap();
    insta::assert_snapshot!(question(&host, 0));
}

#[test]
fn a_question_states_how_numbered_objects_are_called() {
    let mut request = grippers(1);
    let knowledge = request.task.materials.knowledge.get_or_insert_default();
    knowledge.push_str("\nir_prefix(room, r). ir_first_index(room, 0).\n");
    let names =
        "{'room': [], 'robot': ['robot1'], 'gripper': ['left1', 'right1'], 'ball': ['ball1', 'ball2']}";
    let host = host(&["{'room': 3}", names, GRIPPERS_IR]);
    let _ = sample(of_mode(Mode::G3), &host, &request);
    let asked = question(&host, 2);
    assert!(asked.contains("Objects of type room are called r0, r1 and so on."), "{asked}");
    assert!(!asked.contains("Objects of type ball are called"), "{asked}");
}

#[test]
fn what_is_missing_for_a_question_is_a_failure_of_the_call() {
    let broken = |mode: Mode, change: &dyn Fn(&mut TaskView)| {
        let mut request = grippers(1);
        change(&mut request.task);
        let failure = plugin(of_mode(mode)).translate(&host(&[]), &request).unwrap_err();
        assert_eq!(failure.class, FailureClass::Request, "{failure}");
        failure.code
    };
    assert_eq!(broken(Mode::Ic, &|t| t.materials.example.ir = None), "translate-asp.no-example");
    assert_eq!(broken(Mode::Ic, &|t| t.task_text.clear()), "translate-asp.no-text");
    assert_eq!(broken(Mode::G3, &|t| t.task_text.clear()), "translate-asp.no-text");
    assert_eq!(broken(Mode::G1, &|t| t.given.domain = None), "translate-asp.no-domain");
    assert_eq!(broken(Mode::Infer, &|_| ()), "translate-asp.no-ir");
}

#[test]
fn a_domain_without_descriptions_is_asked_by_names_and_types_and_that_is_told() {
    let mut request = grippers(1);
    request.task.materials.types.clear();
    request.task.materials.sentences.clear();
    request.task.materials.insert("predicates", "{".into());
    let host = host(&[GRIPPERS_IR]);
    let patch = sample(of_mode(Mode::G1), &host, &request).unwrap();
    let asked = question(&host, 0);
    let robot_in = r#"{"predicate": "robot_in", "arity": 2, "argument types": ["robot", "room"]}"#;
    assert!(asked.contains("\n{\"type\": \"room\"}\n") && asked.contains(robot_in), "{asked}");
    let told: Vec<&str> = patch.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert!(told[0].contains("the material `predicates` cannot be read"), "{told:?}");
    assert!(told[1].contains("no description of room, robot, gripper, ball, robot_in"), "{told:?}");
}

#[test]
fn numeric_functions_are_named_and_the_cost_of_plans_is_not() {
    let mut request = grippers(1);
    let functions = "(:functions (total-cost) (fuel ?r - robot)) (:action go";
    request.task.given.domain =
        Some(GRIPPERS.replacen("(:action go", functions, 1).replace(":typing", ":typing :fluents"));
    let host = host(&[GRIPPERS_IR]);
    drop(sample(of_mode(Mode::G1), &host, &request));
    let asked = question(&host, 0);
    assert!(asked.contains("The functions:\n\nfuel(robot)\n"), "{asked}");
    assert!(!asked.contains("total"), "{asked}");
}
