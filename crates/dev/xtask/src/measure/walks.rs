//! Figures for exploration walks: the score of the paper's own code against pymimir, in one run on the same
//! texts; growth with the number of objects, on a domain written for this; exact mode against sampled walks; and scores observed with the
//! paper's code.

use crate::programs::{PythonPeer, find_pairs};
use planforge_pddl::mutate::{Mutation, MutationKind, MutationPlace, TermList, all_mutations};
use planforge_planning::walk::{
    DeadEnds, ExactError, GroundingMethod, Model, ModelOptions, SampleSpec, Semantics, TaskDirections,
    WalkPolicy, WalkScore, exact_direction, harmonic_mean, interval, sample_direction,
};
use planforge_planning::{CountingLimits, Unlimited};
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
    /// Instead: scores with one precondition removed, with those observed with the paper's own code.
    #[arg(long)]
    scores: bool,
    /// Instead: exact mode against sampled walks on every domain where exact mode fits.
    #[arg(long)]
    exact_against_sampled: bool,
    /// Walks a direction for `--exact-against-sampled`.
    #[arg(long, default_value_t = 1_000_000)]
    walks: u32,
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
    if args.scores {
        return scores(&args.suites);
    }
    if args.exact_against_sampled {
        return exact_against_sampled(&args.suites, args.walks);
    }
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

    fn model(&self, semantics: Semantics) -> Result<Model, String> {
        self.model_by(semantics, GroundingMethod::default())
    }

    fn model_by(&self, semantics: Semantics, method: GroundingMethod) -> Result<Model, String> {
        let options = ModelOptions { semantics, method, ..ModelOptions::default() };
        Model::from_texts(&self.domain, &self.problem, &options, &mut Unlimited).map_err(|e| e.to_string())
    }

    /// The same task in a domain with one mistake.
    fn with(&self, mutation: &Mutation) -> Self {
        let domain = mutation.apply(&parse(&self.domain));
        Texts { domain: planforge_pddl::print_domain(&domain), problem: self.problem.clone() }
    }

    /// The domains that lack one precondition.
    fn omissions(&self) -> Vec<Mutation> {
        let mut all = all_mutations(&parse(&self.domain), MutationKind::Omission);
        all.retain(|m| matches!(m.place, MutationPlace::Term { list: TermList::Precondition, .. }));
        all
    }
}

fn parse(domain: &str) -> planforge_pddl::ast::Domain {
    planforge_pddl::parse_domain(domain, planforge_diagnostics::SourceId(0)).value
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

/// One task of every domain folder below a folder of suites.
fn one_task_each(suites: &Path) -> Result<Vec<(String, Texts)>, String> {
    let mut tasks: Vec<(String, Texts)> = Vec::new();
    for pair in find_pairs(suites)? {
        let name = pair.domain.parent().unwrap_or(&pair.domain);
        let name = name.strip_prefix(suites).unwrap_or(name).display().to_string();
        if tasks.last().is_some_and(|(last, _)| *last == name) {
            continue;
        }
        let read = |path: &Path| std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned());
        if let (Ok(domain), Ok(problem)) = (read(&pair.domain), read(&pair.problem)) {
            tasks.push((name, Texts { domain, problem }));
        }
    }
    Ok(tasks)
}

/// Folder, problem, action, the removed precondition, and the lowest and highest score observed with the
/// paper's own code.
const SEEN: [(&str, &str, &str, &str, f64, f64); 4] = [
    ("llm-p/grippers", "p01", "pick", "(free ?r ?g)", 0.31, 0.44),
    ("llm-p/termes", "p01", "move", "(height ?to ?h)", 0.92, 0.96),
    ("llm-p/floortile", "p01", "left", "(clear ?y)", 0.89, 0.91),
    ("llm-p/barman", "p01", "grasp", "(handempty ?h)", 0.36, 0.46),
];
/// Number of scores to draw for the range of a score of 100 walks.
const DRAWN: usize = 4000;

/// Prints, for each task of `SEEN`, the expected score and the range of 99 of 100 scores of 100 walks.
fn scores(suites: &Path) -> Result<(), String> {
    println!(
        "Walk scores with one precondition removed; ground no-ops dropped, dead ends truncate, lengths 1 to 10."
    );
    println!("task | exact | 99 % of scores of 100 walks | seen with the paper's code | inside");
    for (folder, problem, action, precondition, low, high) in SEEN {
        let texts = Texts::read(&suites.join(folder), problem)?;
        let omissions = texts.omissions();
        let removed = omissions
            .iter()
            .find(|m| {
                m.action.as_ref().is_some_and(|a| a.key() == action)
                    && m.before.as_deref().is_some_and(|b| b.eq_ignore_ascii_case(precondition))
            })
            .ok_or_else(|| format!("{folder}: {action} has no precondition {precondition}"))?;
        let reference = texts.model(Semantics::GroundNoOpsDropped)?;
        let candidate = texts.with(removed).model(Semantics::GroundNoOpsDropped)?;
        let exact = |source, target| {
            let mut budget = CountingLimits { polls: u64::MAX, bytes: 2 << 30 };
            exact_direction(source, target, 10, DeadEnds::Truncate, 5_000_000, &mut budget)
        };
        let exact = match (exact(&reference, &candidate), exact(&candidate, &reference)) {
            (Ok(Some(a)), Ok(Some(b))) => {
                let (a, b) = (a.score().unwrap_or(0.0), b.score().unwrap_or(0.0));
                format!("{:.4}", harmonic_mean(a, b))
            }
            _ => "does not fit".to_owned(),
        };
        let mut drawn = Vec::with_capacity(DRAWN);
        for seed in 0..DRAWN as u64 {
            let (score, _) = reference_code_score(&reference, &candidate, seed)?;
            drawn.push(score.score.ok_or("a direction is not defined")?);
        }
        drawn.sort_by(f64::total_cmp);
        let range = (drawn[DRAWN / 200], drawn[DRAWN - 1 - DRAWN / 200]);
        println!(
            "{folder} {problem} {action} without {precondition} | {exact} | {:.3} to {:.3} | {low} to {high} | {}",
            range.0,
            range.1,
            if range.0 <= low && high <= range.1 { "yes" } else { "no" }
        );
    }
    Ok(())
}

/// One comparison of exact mode with sampled walks.
struct Comparison {
    name: String,
    exact: f64,
    strata: Vec<interval::Stratum>,
}

/// Prints exact and sampled scores of one task of every domain, of two copies that lack one precondition each, not the same, and
/// whether the exact score is within the sampled one's interval at 99.99 %, corrected for the number of comparisons (Bonferroni).
fn exact_against_sampled(suites: &Path, walks: u32) -> Result<(), String> {
    let own = Path::new("examples/suites");
    let mut tasks = one_task_each(suites)?;
    if own.is_dir() {
        tasks.extend(one_task_each(own)?);
    }
    let (mut comparisons, mut passed_over) = (Vec::new(), Vec::new());
    for (number, (name, texts)) in tasks.iter().enumerate() {
        let omissions = texts.omissions();
        let at = |shift: usize| omissions.get((number * 7 + shift) % omissions.len().max(1));
        let (Some(one), Some(two)) = (at(0), at(omissions.len() / 2)) else {
            passed_over.push(format!("{name}: no precondition to remove"));
            continue;
        };
        let found = compare(name, texts, [one, two], walks);
        match found {
            Ok(found) => comparisons.extend(found),
            Err(why) => passed_over.push(format!("{name}: {why}")),
        }
    }
    let alpha = 1e-4 / comparisons.len().max(1) as f64;
    println!("domain, direction, dead ends, longest walk | exact | interval of {walks} walks | inside");
    let mut inside = 0;
    for comparison in &comparisons {
        let interval = interval::direction_interval(&comparison.strata, alpha);
        let holds = interval.contains(comparison.exact);
        inside += usize::from(holds);
        println!(
            "{} | {:.6} | {:.6} to {:.6} | {}",
            comparison.name,
            comparison.exact,
            interval.low,
            interval.high,
            if holds { "yes" } else { "no" }
        );
    }
    println!("{inside} of {} comparisons inside; passed over: {}", comparisons.len(), passed_over.len());
    passed_over.iter().for_each(|why| println!("  {why}"));
    Ok(())
}

fn compare(
    name: &str,
    texts: &Texts,
    [one, two]: [&Mutation; 2],
    walks: u32,
) -> Result<Vec<Comparison>, String> {
    let make = |omission| texts.with(omission).model(Semantics::Strips);
    let (reference, candidate) = (make(one)?, make(two)?);
    let t_max = fitting(&reference, &candidate)?;
    let mut out = Vec::new();
    for (direction, source, target) in [
        ("reference to candidate", &reference, &candidate),
        ("candidate to reference", &candidate, &reference),
    ] {
        for (form, dead_ends) in [("condition", DeadEnds::CONDITION), ("truncate", DeadEnds::Truncate)] {
            let exact = exact(source, target, t_max, dead_ends).map_err(|e| e.to_string())?;
            let spec = SampleSpec {
                t_max,
                walks_per_length: walks / t_max,
                seed: 2024,
                dead_ends,
                policy: WalkPolicy::Uniform,
            };
            let sampled =
                sample_direction(source, target, &spec, &mut Unlimited).map_err(|e| e.to_string())?;
            let (Some(exact), Some(sampled)) = (exact, sampled) else { break };
            let dead_end_met = sampled.lengths.iter().any(|l| l.rejected > 0);
            out.push(Comparison {
                name: format!("{name} ({one} / {two}), {direction}, {form}, {t_max}"),
                exact,
                strata: interval::strata([&sampled]),
            });
            // Without dead ends both forms are one distribution.
            if !dead_end_met {
                break;
            }
        }
    }
    Ok(out)
}

fn exact(source: &Model, target: &Model, t_max: u32, dead_ends: DeadEnds) -> Result<Option<f64>, ExactError> {
    let mut budget = CountingLimits { polls: u64::MAX, bytes: 1 << 30 };
    let exact = exact_direction(source, target, t_max, dead_ends, 400_000, &mut budget)?;
    Ok(exact.and_then(|e| e.score()))
}

/// The longest walk length among a few at which exact mode fits in both directions.
fn fitting(reference: &Model, candidate: &Model) -> Result<u32, String> {
    let mut last = String::new();
    for t_max in [10, 6, 4, 3] {
        let fits = |source, target| exact(source, target, t_max, DeadEnds::CONDITION);
        match fits(reference, candidate).and_then(|_| fits(candidate, reference)) {
            Ok(_) => return Ok(t_max),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
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
            let make = || texts.model_by(Semantics::GroundNoOpsDropped, method);
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
    let model = texts.model_by(Semantics::GroundNoOpsDropped, method)?;
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
