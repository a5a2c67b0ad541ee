//! `pddl equivalent domain` on two readings of one text that share no name.

use super::support::{Ran, planforge};
use std::path::Path;

const FILES: [(&str, &str); 5] = [
    (
        "a.pddl",
        "(define (domain carry) (:requirements :strips :typing) (:types robot room box)
           (:predicates (at ?r - robot ?x - room) (in ?b - box ?x - room) (handempty ?r - robot) (has ?r - robot ?b - box))
           (:action move :parameters (?r - robot ?from ?to - room) :precondition (at ?r ?from)
             :effect (and (not (at ?r ?from)) (at ?r ?to)))
           (:action pick :parameters (?r - robot ?b - box ?x - room)
             :precondition (and (at ?r ?x) (in ?b ?x) (handempty ?r))
             :effect (and (has ?r ?b) (not (in ?b ?x)) (not (handempty ?r))))
           (:action drop :parameters (?r - robot ?b - box ?x - room) :precondition (and (at ?r ?x) (has ?r ?b))
             :effect (and (in ?b ?x) (handempty ?r) (not (has ?r ?b)))))",
    ),
    (
        "a1.pddl",
        "(define (problem p) (:domain carry) (:objects robby - robot a b - room b1 b2 - box)
           (:init (at robby a) (in b1 a) (in b2 b) (handempty robby)) (:goal (and (in b1 b) (in b2 a))))",
    ),
    (
        "b.pddl",
        "(define (domain transport) (:requirements :adl) (:types place item)
           (:predicates (robot-in ?p - place) (item-in ?i - item ?p - place) (holding ?i - item))
           (:action pick-up :parameters (?i - item ?p - place)
             :precondition (and (item-in ?i ?p) (robot-in ?p) (forall (?j - item) (not (holding ?j))))
             :effect (and (holding ?i) (not (item-in ?i ?p))))
           (:action put-down :parameters (?p - place ?i - item) :precondition (and (holding ?i) (robot-in ?p))
             :effect (and (not (holding ?i)) (item-in ?i ?p)))
           (:action walk :parameters (?to ?from - place) :precondition (robot-in ?from)
             :effect (and (robot-in ?to) (when (not (= ?to ?from)) (not (robot-in ?from))))))",
    ),
    (
        "b1.pddl",
        "(define (problem p) (:domain transport) (:objects room-b room-a - place box-2 box-1 - item)
           (:init (robot-in room-a) (item-in box-1 room-a) (item-in box-2 room-b))
           (:goal (and (item-in box-1 room-b) (item-in box-2 room-a))))",
    ),
    // The same domain as the first, under the same names, with other objects.
    (
        "a2.pddl",
        "(define (problem p) (:domain carry) (:objects robby - robot a b - room b1 b3 - box)
           (:init (at robby a) (in b1 a) (in b3 b) (handempty robby)) (:goal (and (in b1 b) (in b3 a))))",
    ),
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let two = FILES[2].1.replace("(forall (?j - item) (not (holding ?j)))", "");
    std::fs::write(folder.path().join("two.pddl"), two).unwrap();
    folder
}

fn compare(folder: &Path, words: &str) -> Ran {
    let mut command = planforge();
    command.current_dir(folder).args(["pddl", "equivalent", "domain"]).args(words.split(' '));
    Ran::wait(command.spawn().unwrap())
}

#[test]
fn readings_without_a_common_name_are_compared_under_a_renaming() {
    let folder = folder();
    let same = "a.pddl b.pddl --problems a1.pddl --second-problems b1.pddl --match-interface";
    insta::assert_snapshot!("joint_equal", compare(folder.path(), same).expect(0).stdout);
    let other = "a.pddl two.pddl --problems a1.pddl --second-problems b1.pddl --match-interface";
    insta::assert_snapshot!("joint_different", compare(folder.path(), other).expect(10).stdout);
    let report = compare(folder.path(), &format!("{other} --json")).json(10);
    let joint = &report["problems"][0]["joint"];
    assert_eq!(joint["first_only"]["outcome"], "none", "{report}");
    assert_eq!(joint["second_only"]["steps"].as_array().unwrap().len(), 3, "{report}");
    assert_eq!(joint["differs_under_all"], true, "{report}");
}

#[test]
fn other_names_are_not_a_difference_in_behaviour() {
    let folder = folder();
    let objects = "a.pddl a.pddl --problems a1.pddl --second-problems a2.pddl";
    insta::assert_snapshot!("joint_object_names", compare(folder.path(), objects).expect(20).stdout);
    let actions = "a.pddl b.pddl --problems a1.pddl --second-problems b1.pddl";
    insta::assert_snapshot!("joint_action_names", compare(folder.path(), actions).expect(20).stdout);
    compare(folder.path(), &format!("{objects} --match-interface")).expect(0);
}
