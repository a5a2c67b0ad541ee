//! Figures for exploration walks: the score of the paper's own code against pymimir, in one run on the same texts; and growth with the number of
//! objects, on a domain written for this.

use crate::programs::PythonPeer;
use planforge_planning::Unlimited;
use planforge_planning::walk::{
    GroundingMethod, Model, ModelOptions, SampleSpec, Semantics, TaskDirections, WalkScore, sample_direction,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub(crate) struct WalksArgs {
    /// The folder of suites.
    #[arg(long, default_value = "../shared/suites")]
    suites: PathBuf,
    /// A Python environment with `pymimir` installed; without it only our times are printed.
    #[arg(long)]
    venv: Option<PathBuf>,
    /// Method for applicable actions: auto, ground or lifted.
    #[arg(long, default_value = "auto")]
    method: String,
    /// Measurements of each task; the fastest of each side counts.
    #[arg(long, default_value_t = 10)]
    repeats: usize,
    /// Instead: times and walk steps a second with 10, 100 and 1000 objects.
    #[arg(long)]
    growth: bool,
}

impl WalksArgs {
    fn method(&self) -> Result<GroundingMethod, String> {
        match self.method.as_str() {
            "auto" => Ok(GroundingMethod::Auto),
            "ground" => Ok(GroundingMethod::Ground),
            "lifted" => Ok(GroundingMethod::Lifted),
            other => Err(format!("`{other}` is not a method: auto, ground or lifted")),
        }
    }
}

/// Prints the requested tables.
pub(crate) fn run(args: &WalksArgs) -> Result<(), String> {
    if args.growth {
        return measure_growth(args.venv.as_deref(), args.repeats);
    }
    compare_with_peer(&args.suites, args.venv.as_deref(), args.method()?, args.repeats)
}

/// A domain and a problem as texts.
#[derive(Clone)]
struct Texts {
    domain: String,
    problem: String,
}

impl Texts {
    fn read(folder: &Path, problem: &str) -> Result<Self, String> {
        let read = |name: String| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        Ok(Texts { domain: read("domain.pddl".to_owned())?, problem: read(format!("{problem}.pddl"))? })
    }

    fn model(&self, semantics: Semantics, method: GroundingMethod) -> Result<Model, String> {
        let options = ModelOptions { semantics, method, ..ModelOptions::default() };
        Model::from_texts(&self.domain, &self.problem, &options, &mut Unlimited).map_err(|e| e.to_string())
    }
}

/// The score that the paper's own code would give: 100 walks, 50 a direction, lengths cycling 1 to 10; with the steps walked.
fn reference_code_score(reference: &Model, candidate: &Model, seed: u64) -> Result<(WalkScore, u64), String> {
    let sample = |source, target, seed| {
        sample_direction(source, target, &SampleSpec::reference_code(seed), &mut Unlimited)
            .map_err(|e| e.to_string())
    };
    let there = sample(reference, candidate, 2 * seed)?;
    let back = sample(candidate, reference, 2 * seed + 1)?;
    let steps = [&there, &back].into_iter().flatten().map(|d| d.steps).sum();
    let directions = TaskDirections {
        reference_to_candidate: there.and_then(|d| d.score()),
        candidate_to_reference: back.and_then(|d| d.score()),
    };
    Ok((WalkScore::combine(&[directions]), steps))
}

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
fn measure_growth(venv: Option<&Path>, repeats: usize) -> Result<(), String> {
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
    let make = || texts.model(Semantics::GroundNoOpsDropped, method);
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

/// Folder and problem of each task.
const TASKS: [(&str, &str); 7] = [
    ("llm-p/grippers", "p01"),
    ("llm-p/termes", "p01"),
    ("llm-p/floortile", "p01"),
    ("llm-p/barman", "p01"),
    ("exploration-walk/childsnack-opt14-strips", "p01"),
    ("classical/miconic", "s10-0"),
    ("classical/hiking-agl14-strips", "testing-3-4-3"),
];

/// pymimir in a separate process.
struct Peer(PythonPeer);

impl Peer {
    fn start(venv: &Path) -> Result<Self, String> {
        PythonPeer::start(venv, include_str!("walks/peer.py")).map(Self)
    }

    /// One score; `mode` is `grounded` or `lifted`.
    fn ask(&mut self, texts: &Texts, mode: &str, seed: u64) -> Result<Value, String> {
        let pair = json!([texts.domain, texts.problem]);
        let request = json!({ "texts": [pair, pair], "mode": mode, "seed": seed });
        self.0.ask(&request)
    }
}

/// Prints the table. Both sides get the same texts in turns, so that both run under the same load; both
/// models of a pair are read and grounded each time.
fn compare_with_peer(
    suites: &Path,
    venv: Option<&Path>,
    method: GroundingMethod,
    repeats: usize,
) -> Result<(), String> {
    let mut peer = venv.map(Peer::start).transpose()?;
    println!(
        "One walk score: 100 walks, 50 a direction, lengths cycling 1 to 10, both models read and grounded; least of {repeats}."
    );
    println!(
        "task | ours ms | pymimir ms | of these CPU ms | ours / pymimir | steps a second, walking alone"
    );
    for (folder, problem) in TASKS {
        let texts = readable(&Texts::read(&suites.join(folder), problem)?);
        let (mut ours, mut theirs, mut cpu) = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let mut refused = None;
        for seed in 0..repeats.max(1) as u64 {
            let start = Instant::now();
            let make = || texts.model(Semantics::GroundNoOpsDropped, method);
            let (one, two) = (make()?, make()?);
            let (score, _) = reference_code_score(&one, &two, seed)?;
            ours = ours.min(start.elapsed().as_secs_f64());
            if score.score != Some(1.0) {
                return Err(format!("{folder} {problem}: compared with itself it scores {:?}", score.score));
            }
            let Some(peer) = &mut peer else { continue };
            let answer = peer.ask(&texts, "grounded", seed)?;
            refused = answer["error"].as_str().map(str::to_owned);
            theirs = theirs.min(answer["wall"].as_f64().unwrap_or(f64::INFINITY));
            cpu = cpu.min(answer["cpu"].as_f64().unwrap_or(f64::INFINITY));
        }
        let rate = steps_a_second(&texts, method)?;
        let ms = |s: f64| if s.is_finite() { format!("{:.2}", 1e3 * s) } else { "-".to_owned() };
        let against = match (&refused, theirs.min(cpu)) {
            (Some(error), _) => format!("refused: {error}"),
            (None, least) if least.is_finite() => format!("{:.4}", ours / least),
            _ => "-".to_owned(),
        };
        println!("{folder} {problem} | {} | {} | {} | {against} | {rate:.0}", ms(ours), ms(theirs), ms(cpu));
    }
    Ok(())
}

/// Steps walked a second, each executed on both sides, on models that are ready.
fn steps_a_second(texts: &Texts, method: GroundingMethod) -> Result<f64, String> {
    let model = texts.model(Semantics::GroundNoOpsDropped, method)?;
    let (mut steps, start) = (0, Instant::now());
    for seed in 0.. {
        steps += reference_code_score(&model, &model, seed)?.1;
        if start.elapsed().as_secs_f64() > 0.3 {
            break;
        }
    }
    Ok(steps as f64 / start.elapsed().as_secs_f64())
}

/// The texts in a form that pymimir can read, for both sides: without comments, without the built-in type
/// `object` among the declared ones, and with the requirement for `not` in preconditions.
fn readable(texts: &Texts) -> Texts {
    let plain = |text: &str| {
        let lines = text.lines().map(|l| l.split(';').next().unwrap_or_default());
        lines.collect::<Vec<_>>().join("\n").to_lowercase()
    };
    let (mut domain, mut problem) = (plain(&texts.domain), plain(&texts.problem));
    let types = domain.find("(:types").and_then(|at| Some(&domain[at..at + domain[at..].find(')')?]));
    let declared =
        types.is_some_and(|t| t.split_whitespace().any(|word| word == "object") && !t.contains("- object"));
    if declared {
        for text in [&mut domain, &mut problem] {
            *text = text
                .replace(" object ", " item ")
                .replace(" object\n", " item\n")
                .replace(" object)", " item)");
        }
    }
    domain = domain.replacen("(:requirements", "(:requirements :negative-preconditions", 1);
    Texts { domain, problem }
}
