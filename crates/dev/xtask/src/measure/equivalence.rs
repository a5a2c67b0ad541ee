//! Times of the equivalence of problems, for positive and negative answers: on random renamings and
//! single-fact mutants of every suite's problems, and on symmetric worst cases, with the number of renamings
//! that enumeration would try.

mod domains;
mod goals;
mod heuristic;
mod symmetric;
mod vary;

use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, parse_problem};
use planforge_planning::equivalence::{are_equivalent, equivalent_problems, fixed_names};
use planforge_planning::{Poll, ResourceLimits, StopReason, Unlimited};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Pairs of objects after which a comparison is given up.
const MAX_CHOICES: u64 = 100_000;

#[derive(clap::Args)]
pub(crate) struct EquivalenceArgs {
    /// Folders of suites, each with a domain.pddl and problems; searched two levels deep.
    #[arg(long, num_args = 1.., default_values = ["../shared/suites/llm-p", "../shared/suites/exploration-walk",
        "../shared/suites/classical", "examples/suites"])]
    suites: Vec<PathBuf>,
    /// Random renamings, and mutants of each, of every problem.
    #[arg(long, default_value_t = 10)]
    repeat: u32,
    /// Goals of each problem with a conjunct left out, and with a fact that follows added, compared by goal states instead of the rest.
    #[arg(long, value_name = "N")]
    goals: Option<usize>,
    /// Domains with one mistake compared on the first N problems of each suite, instead of the rest.
    #[arg(long, value_name = "N", conflicts_with = "goals")]
    domains: Option<usize>,
    /// With `--domains`: most seconds for one mutant on one problem.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    seconds: f64,
    /// With `--domains`: heuristic domain equivalence with 100 plans of each problem, compared with the exact
    /// result.
    #[arg(long, requires = "domains")]
    heuristic: bool,
    /// For the renamings and mutants.
    #[arg(long, default_value_t = 42)]
    seed: u64,
}

/// Each comparison is timed so often, and the shortest time counts: what else the machine does is not of interest.
const TRIES: u32 = 3;

/// A deadline.
struct Deadline(Instant);

impl ResourceLimits for Deadline {
    fn poll(&mut self) -> Poll {
        if Instant::now() >= self.0 { Poll::Stop(StopReason::Time) } else { Poll::Continue }
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        self.poll()
    }
}

/// Times and answers of one kind of comparison.
#[derive(Default)]
struct Times {
    /// Deadline yes or no is known.
    micros: Vec<f64>,
    /// Deadline the renaming or the difference is known too.
    explained: Vec<f64>,
    equal: usize,
    different: usize,
    undecided: usize,
}

impl Times {
    fn compare(&mut self, domain: &Domain, a: &Problem, b: &Problem) {
        let mut budget = Unlimited;
        let (found, micros) = time_comparison(|| are_equivalent(domain, a, b, MAX_CHOICES, &mut budget));
        self.micros.push(micros);
        match found {
            Some(true) => self.equal += 1,
            Some(false) => self.different += 1,
            None => self.undecided += 1,
        }
        if found.is_some() {
            self.explained
                .push(time_comparison(|| equivalent_problems(domain, a, b, MAX_CHOICES, &mut budget)).1);
        }
    }

    /// Median and maximum of the decision and maximum of the whole, in milliseconds, and the answers.
    fn cells(&self) -> String {
        let mut sorted = self.micros.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or_default() / 1e3;
        let explained = self.explained.iter().copied().fold(0.0, f64::max) / 1e3;
        format!(
            "{:7.2} {:7.2} {explained:7.2} | {}/{}/{}",
            at(sorted.len() / 2),
            at(sorted.len().saturating_sub(1)),
            self.equal,
            self.different,
            self.undecided
        )
    }
}

/// The result of a comparison, and its shortest time in microseconds.
fn time_comparison<T>(mut compare: impl FnMut() -> T) -> (T, f64) {
    let mut once = || {
        let start = Instant::now();
        let found = compare();
        (found, start.elapsed().as_secs_f64() * 1e6)
    };
    let (mut found, mut shortest) = once();
    // What takes long is timed once: it is far from what would matter.
    for _ in 1..if shortest < 1e5 { TRIES } else { 1 } {
        let (again, micros) = once();
        (found, shortest) = (again, shortest.min(micros));
    }
    (found, shortest)
}

/// The number of renamings that keep types, as a power of ten.
fn renamings(domain: &Domain, problem: &Problem) -> f64 {
    let fixed = fixed_names(domain);
    let mut of_type: BTreeMap<String, u32> = BTreeMap::new();
    for object in problem.objects.iter().filter(|o| !fixed.contains(o.name.key())) {
        let ty: Vec<&str> = object.ty.iter().flat_map(|t| &t.alternatives).map(|n| n.key()).collect();
        *of_type.entry(ty.join("|")).or_default() += 1;
    }
    of_type.values().map(|&n| (1..=n).map(|i| f64::from(i).log10()).sum::<f64>()).sum()
}

/// A suite's name, its domain and its problems.
type Suite = (String, Domain, Vec<Problem>);

fn suites(folder: &Path, depth: u32, out: &mut Vec<Suite>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    let domain = folder.join("domain.pddl");
    if domain.is_file() {
        let domain = parse_domain(&std::fs::read_to_string(domain)?, SourceId(0)).value;
        let problem = |path: &&PathBuf| {
            let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
            name != "domain.pddl" && name.strip_suffix(".pddl").is_some_and(|stem| !stem.contains('.'))
        };
        let mut problems = Vec::new();
        for path in entries.iter().filter(problem) {
            let problem = parse_problem(&std::fs::read_to_string(path)?, SourceId(1)).value;
            // A template for a writer has no facts.
            problems.extend((!problem.init.is_empty()).then_some(problem));
        }
        let name: Vec<String> =
            folder.components().rev().take(2).map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
        out.push((name.into_iter().rev().collect::<Vec<_>>().join("/"), domain, problems));
    }
    for entry in entries.iter().filter(|e| depth > 0 && e.is_dir()) {
        suites(entry, depth - 1, out)?;
    }
    Ok(())
}

pub(crate) fn run(args: &EquivalenceArgs) -> Result<(), String> {
    let mut found = Vec::new();
    for folder in &args.suites {
        if folder.is_dir() {
            suites(folder, 2, &mut found).map_err(|e| format!("{}: {e}", folder.display()))?;
        } else {
            println!("{} is not there and left out", folder.display());
        }
    }
    if let Some(variants) = args.goals {
        goals::print(&found, variants, args.seed);
        return Ok(());
    }
    if let Some(problems) = args.domains {
        match args.heuristic {
            true => heuristic::print(&found, problems, args.seconds),
            false => domains::print(&found, problems, args.seconds),
        }
        return Ok(());
    }
    println!(
        "Times in ms (explained: renaming or difference included); answers are equal/different/undecided; most objects and renamings of one problem"
    );
    println!(
        "{:38} | problems objects renamings | renamed: median max explained | answers | mutants: median max explained | answers",
        "suite"
    );
    let (mut all_renamed, mut all_mutants) = (Times::default(), Times::default());
    for (name, domain, problems) in &found {
        let (mut renamed, mut mutants) = (Times::default(), Times::default());
        let (mut objects, mut most) = (0, 0.0f64);
        for (p, problem) in problems.iter().enumerate() {
            objects = objects.max(problem.objects.len());
            most = most.max(renamings(domain, problem));
            for i in 0..args.repeat {
                let mut random = Random::stream(args.seed, (p as u64) << 32 | u64::from(i));
                let other = vary::with_random_names(domain, problem, &mut random);
                let mutant = vary::mutant(&other, &mut random);
                for (into, all, other) in
                    [(&mut renamed, &mut all_renamed, &other), (&mut mutants, &mut all_mutants, &mutant)]
                {
                    into.compare(domain, problem, other);
                    all.micros.extend(into.micros.last());
                    all.explained.extend(into.explained.last());
                }
            }
        }
        println!(
            "{name:38} | {:8} {objects:7} {:>9} | {} | {}",
            problems.len(),
            format!("1e{most:.0}"),
            renamed.cells(),
            mutants.cells()
        );
        for (all, part) in [(&mut all_renamed, &renamed), (&mut all_mutants, &mutants)] {
            all.equal += part.equal;
            all.different += part.different;
            all.undecided += part.undecided;
        }
    }
    println!("{:38} | {:26} | {} | {}", "all", "", all_renamed.cells(), all_mutants.cells());
    symmetric::print(args.seed);
    Ok(())
}
