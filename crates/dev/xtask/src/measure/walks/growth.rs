//! Growth of the score's time and of the walking rate with the number of objects, on a domain written for
//! this.

use super::peer::Peer;
use super::{Texts, reference_code_score};
use planforge_planning::walk::{GroundingMethod, Semantics};
use std::path::Path;
use std::time::Instant;

/// Vans on a ring of towns with a road across, parcels in them.
const DOMAIN: &str = "(define (domain vans) (:requirements :strips :typing)
 (:types town van parcel)
 (:predicates (road ?a ?b - town) (van-at ?v - van ?t - town) (parcel-at ?p - parcel ?t - town) (in ?p - parcel ?v - van)
  (room ?v - van))
 (:action drive :parameters (?v - van ?a ?b - town) :precondition (and (van-at ?v ?a) (road ?a ?b))
  :effect (and (van-at ?v ?b) (not (van-at ?v ?a))))
 (:action load :parameters (?p - parcel ?v - van ?t - town)
  :precondition (and (van-at ?v ?t) (parcel-at ?p ?t) (room ?v))
  :effect (and (in ?p ?v) (not (parcel-at ?p ?t)) (not (room ?v))))
 (:action unload :parameters (?p - parcel ?v - van ?t - town) :precondition (and (van-at ?v ?t) (in ?p ?v))
  :effect (and (parcel-at ?p ?t) (room ?v) (not (in ?p ?v)))))";

/// A task with so many objects: one in ten a van, half of them towns, the rest parcels.
fn task(objects: usize) -> Texts {
    let (vans, towns) = ((objects / 10).max(1), objects / 2);
    let parcels = objects - vans - towns;
    let mut names = String::new();
    let mut init = String::new();
    for t in 0..towns {
        names.push_str(&format!("t{t} "));
        for other in [(t + 1) % towns, (t + towns - 1) % towns, (t + towns / 2) % towns] {
            init.push_str(&format!("(road t{t} t{other})\n"));
        }
    }
    names.push_str("- town ");
    for v in 0..vans {
        names.push_str(&format!("v{v} "));
        init.push_str(&format!("(van-at v{v} t{}) (room v{v})\n", 7 * v % towns));
    }
    names.push_str("- van ");
    for p in 0..parcels {
        names.push_str(&format!("p{p} "));
        init.push_str(&format!("(parcel-at p{p} t{})\n", 3 * p % towns));
    }
    names.push_str("- parcel");
    let problem = format!(
        "(define (problem vans-{objects}) (:domain vans) (:objects {names})\n(:init {init})\n(:goal (parcel-at p0 t1)))"
    );
    Texts { domain: DOMAIN.to_owned(), problem }
}

/// Prints the times of one score, of reading and preparing both models, and of walking alone.
pub(super) fn run(venv: Option<&Path>, repeats: usize) -> Result<(), String> {
    let mut peer = venv.map(Peer::start).transpose()?;
    println!(
        "One walk score as above on vans, by objects; least of {repeats}. Walking alone: steps a second, executed on both sides."
    );
    println!("objects | method | ground actions | ms | steps a second, walking alone");
    for objects in [10, 30, 100, 300, 1000] {
        let texts = task(objects);
        for method in [GroundingMethod::Auto, GroundingMethod::Ground, GroundingMethod::Lifted] {
            match one(&texts, method, repeats) {
                Ok(row) => println!("{objects} | {method:?} | {row}"),
                Err(why) => println!("{objects} | {method:?} | {why}"),
            }
        }
        let Some(peer) = &mut peer else { continue };
        for mode in ["lifted", "grounded"] {
            // Grounding takes it minutes and gigabytes beyond.
            if mode == "grounded" && objects > 100 {
                continue;
            }
            let answer = peer.ask(&texts, mode, 0)?;
            let ms = |key: &str| {
                answer[key].as_f64().map_or_else(|| "-".to_owned(), |s| format!("{:.2}", 1e3 * s))
            };
            println!("{objects} | pymimir {mode} | - | {} (CPU {}) | -", ms("wall"), ms("cpu"));
        }
    }
    Ok(())
}

fn one(texts: &Texts, method: GroundingMethod, repeats: usize) -> Result<String, String> {
    let make = || texts.model_by(Semantics::GroundNoOpsDropped, method);
    let mut least = f64::INFINITY;
    for seed in 0..repeats.max(1) as u64 {
        let start = Instant::now();
        let (one, two) = (make()?, make()?);
        reference_code_score(&one, &two, seed)?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    let model = make()?;
    let count = model.action_count().map_or_else(|| "not listed".to_owned(), |n| n.to_string());
    let start = Instant::now();
    let (_, steps) = reference_code_score(&model, &model, 0)?;
    let rate = steps as f64 / start.elapsed().as_secs_f64();
    Ok(format!("{count} | {:.2} | {rate:.0}", 1e3 * least))
}
