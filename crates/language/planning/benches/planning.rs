//! Grounding and greedy search, LM-cut and validation on tasks made here.

use divan::Bencher;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::{
    Algorithm, GroundLimits, PlanOptions, SearchOutcome, Unlimited, Validator, ground, normalize, parse_plan,
    plan,
};

fn main() {
    divan::main();
}

const DOMAIN: &str = "(define (domain depots-of-ours) (:requirements :typing)
 (:types place locatable - object cart box - locatable)
 (:predicates (road ?a ?b - place) (at ?l - locatable ?p - place) (on ?b - box ?c - cart) (room ?c - cart))
 (:action drive :parameters (?c - cart ?from ?to - place)
  :precondition (and (at ?c ?from) (road ?from ?to)) :effect (and (not (at ?c ?from)) (at ?c ?to)))
 (:action load :parameters (?b - box ?c - cart ?p - place)
  :precondition (and (at ?c ?p) (at ?b ?p) (room ?c)) :effect (and (not (at ?b ?p)) (not (room ?c)) (on ?b ?c)))
 (:action unload :parameters (?b - box ?c - cart ?p - place)
  :precondition (and (at ?c ?p) (on ?b ?c)) :effect (and (at ?b ?p) (room ?c) (not (on ?b ?c)))))";

/// A ring of places with two carts and some boxes to take to the far side.
fn task(places: usize, boxes: usize) -> (Domain, Problem) {
    let mut init = String::from("(at c0 p0) (at c1 p1) (room c0) (room c1)");
    let (mut objects, mut goal) = (String::from("c0 c1 - cart"), String::new());
    for i in 0..places {
        let next = (i + 1) % places;
        objects.push_str(&format!(" p{i} - place"));
        init.push_str(&format!("(road p{i} p{next}) (road p{next} p{i})"));
    }
    for b in 0..boxes {
        objects.push_str(&format!(" b{b} - box"));
        init.push_str(&format!("(at b{b} p{})", b % places));
        goal.push_str(&format!("(at b{b} p{})", (b + places / 2) % places));
    }
    let problem = format!(
        "(define (problem ring) (:domain depots-of-ours) (:objects {objects}) (:init {init}) (:goal (and {goal})))"
    );
    (
        planforge_pddl::parse_domain(DOMAIN, SourceId(0)).value,
        planforge_pddl::parse_problem(&problem, SourceId(1)).value,
    )
}

#[divan::bench(args = [10, 40])]
fn grounding(bencher: Bencher<'_, '_>, places: usize) {
    let (domain, problem) = task(places, places);
    bencher.bench(|| {
        normalize(&domain, &problem)
            .map(|lifted| ground(&lifted, GroundLimits::default(), &mut Unlimited).is_ok())
    });
}

#[divan::bench(args = [4, 8, 16])]
fn greedy(bencher: Bencher<'_, '_>, boxes: usize) {
    let (domain, problem) = task(8, boxes);
    bencher.bench(|| plan(&domain, &problem, &PlanOptions::default(), &mut Unlimited).is_ok());
}

#[divan::bench(args = [2, 3])]
fn lmcut(bencher: Bencher<'_, '_>, boxes: usize) {
    let (domain, problem) = task(6, boxes);
    let options = PlanOptions { algorithm: Algorithm::AStar, ..PlanOptions::default() };
    bencher.bench(|| plan(&domain, &problem, &options, &mut Unlimited).is_ok());
}

#[divan::bench(args = [4, 16])]
fn validation(bencher: Bencher<'_, '_>, boxes: usize) {
    let (domain, problem) = task(8, boxes);
    let Ok(result) = plan(&domain, &problem, &PlanOptions::default(), &mut Unlimited) else { return };
    let SearchOutcome::Plan(found) = result.outcome else { return };
    let text = found.to_string();
    bencher.bench(|| {
        let file = parse_plan(&text, SourceId(2));
        normalize(&domain, &problem)
            .map(|lifted| Validator::new(lifted).validate(&file, &mut Unlimited).is_valid())
    });
}
