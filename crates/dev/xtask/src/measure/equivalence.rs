//! Times of the equivalence of problems, for positive and negative answers: on random renamings and
//! single-fact mutants of every suite's problems, and on symmetric worst cases, with the number of renamings
//! that enumeration would try.
//!
//! With `--domains`: every single mistake in a suite's domain, judged exactly or (`--heuristic`) by the cheapest plans. With `--goals`: goals
//! in other words, with a conjunct left out, which makes a difference unless the others imply it, or with a fact added that is known to
//! follow, which makes none.

use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::ast::{Condition, Domain, InitElement, Problem, Term};
use planforge_pddl::mutate::{MutationKind, all_mutations, apply_mutations_to_problem};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, parse_domain, parse_problem, rename_objects};
use planforge_planning::equivalence::domains::{
    Behaviour, ComparisonVerdict, DomainComparison, EquivalenceLimits, compare_domains, overall_verdict,
};
use planforge_planning::equivalence::goals::{GoalLimits, GoalOutcome, equivalent_goals};
use planforge_planning::equivalence::hde::{HdeClass, HdeOptions, HdeOutcome, HdeReference};
use planforge_planning::equivalence::{are_equivalent, equivalent_problems, fixed_names};
use planforge_planning::{Poll, ResourceLimits, StopReason, Unlimited};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
    fn release(&mut self, _bytes: u64) {}
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
        print_goals(&found, variants, args.seed);
        return Ok(());
    }
    if let Some(problems) = args.domains {
        match args.heuristic {
            true => print_heuristic(&found, problems, args.seconds),
            false => print_domains(&found, problems, args.seconds),
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
                let other = with_random_names(domain, problem, &mut random);
                let mutant = mutant(&other, &mut random);
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
    print_symmetric(args.seed);
    Ok(())
}

/// Totals of one suite's mutants.
#[derive(Default)]
struct DomainAnswers {
    equal: usize,
    different: usize,
    open: usize,
    failed: usize,
    /// Steps of the longest shortest difference.
    steps: usize,
    /// The most pairs of states seen on one problem.
    pairs: u64,
    /// Fewest steps up to which an open one is equal.
    least: Option<u32>,
    seconds: Vec<f64>,
}

impl DomainAnswers {
    fn add(&mut self, found: &[DomainComparison], seconds: f64) {
        self.seconds.push(seconds);
        self.pairs = self.pairs.max(found.iter().map(|c| c.pairs).max().unwrap_or_default());
        let shortest = found.iter().filter_map(DomainComparison::shown_after).min();
        self.steps = self.steps.max(shortest.unwrap_or_default());
        match overall_verdict(found) {
            ComparisonVerdict::Equal => self.equal += 1,
            ComparisonVerdict::Different => self.different += 1,
            ComparisonVerdict::Open => {
                self.open += 1;
                let steps = found.iter().filter_map(|c| match c.behaviour {
                    Behaviour::EqualUpTo { steps, .. } => Some(steps),
                    _ => None,
                });
                self.least = steps.chain(self.least).min();
            }
        }
    }

    fn row(&mut self, name: &str) {
        self.seconds.sort_by(f64::total_cmp);
        let at = |i: usize| self.seconds.get(i).copied().unwrap_or_default() * 1e3;
        let least = self.least.map_or_else(|| "-".to_owned(), |steps| steps.to_string());
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {:.1} | {:.0} |",
            self.equal + self.different + self.open + self.failed,
            self.equal,
            self.different,
            self.open,
            least,
            self.steps,
            self.pairs,
            at(self.seconds.len() / 2),
            at(self.seconds.len().saturating_sub(1))
        );
    }
}

/// Kinds that the table leaves out: there are too many additions, and the others concern no literal.
const LEFT_OUT: [MutationKind; 3] =
    [MutationKind::Addition, MutationKind::SwappedParameters, MutationKind::WidenedType];

/// Compares on each problem, at most `seconds` each; what cannot be compared is left out.
fn compare_all(
    domains: [&Domain; 2],
    own: &[&Problem],
    theirs: &[Problem],
    seconds: f64,
) -> Vec<DomainComparison> {
    let pairs = own.iter().zip(theirs);
    let one = |(&first, second): (&&Problem, &Problem)| {
        let mut budget = Deadline(Instant::now() + Duration::from_secs_f64(seconds));
        compare_domains(domains, [first, second], &EquivalenceLimits::default(), &mut budget).ok()
    };
    pairs.filter_map(one).collect()
}

/// Prints the table: all single mutants of each domain in its literals but additions, on its first `problems` problems, at most `seconds` each.
fn print_domains(suites: &[Suite], problems: usize, seconds: f64) {
    println!(
        "| suite | mutants | equal | different | open | open: equal up to | longest difference | most pairs | median ms | max ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, domain, all) in suites {
        let mut answers = DomainAnswers::default();
        let kinds = MutationKind::CLASSICAL.into_iter().filter(|kind| !LEFT_OUT.contains(kind));
        for mutation in kinds.flat_map(|kind| all_mutations(domain, kind)) {
            let mutant = mutation.apply(domain);
            let start = Instant::now();
            let own: Vec<&Problem> = all.iter().take(problems).collect();
            let theirs: Vec<Problem> =
                own.iter().map(|p| apply_mutations_to_problem(p, std::slice::from_ref(&mutation))).collect();
            let found = compare_all([domain, &mutant], &own, &theirs, seconds);
            match found.is_empty() {
                true => answers.failed += 1,
                false => answers.add(&found, start.elapsed().as_secs_f64()),
            }
        }
        if answers.failed > 0 {
            println!("{name}: {} mutants could not be compared on any problem", answers.failed);
        }
        answers.row(name);
    }
}

/// Totals of one suite's mutants.
#[derive(Default)]
struct HeuristicAnswers {
    mutants: usize,
    equivalent: usize,
    classes: [usize; 3],
    open: usize,
    failed: usize,
    /// Equivalent here and different by the exact comparison.
    missed: usize,
    /// Different here and equal by the exact comparison: there must be none.
    wrong: usize,
    /// Cost of each mutant.
    took: Vec<Took>,
}

/// One comparison by plans, and the exact one of the same mutant.
struct Took {
    seconds: [f64; 2],
    /// Plans found for the mutant.
    plans: usize,
    /// States expanded in the search for them.
    expanded: u64,
    /// Pairs of states of the exact comparison, on all problems.
    pairs: u64,
}

/// Prints two tables: what was found and what it took. The same mutants as in the table of exact comparisons, on the first `problems` problems,
/// 100 plans of each.
fn print_heuristic(suites: &[Suite], problems: usize, seconds: f64) {
    println!(
        "| suite | mutants | equivalent | no plan | new plan fails | old plan fails | open | equivalent, exactly different | different, exactly equal |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let options = HdeOptions::default();
    let mut costs = Vec::new();
    for (name, domain, all) in suites {
        let own: Vec<&Problem> = all.iter().take(problems).collect();
        let until = || Deadline(Instant::now() + Duration::from_secs_f64(seconds));
        let start = Instant::now();
        let reference = match HdeReference::new(domain, &own, &options, &mut until()) {
            Ok(reference) => reference,
            Err(not) => {
                println!("{name}: {not}");
                continue;
            }
        };
        let prepared = start.elapsed().as_secs_f64();
        let mut answers = HeuristicAnswers::default();
        let kinds = MutationKind::CLASSICAL.into_iter().filter(|kind| !LEFT_OUT.contains(kind));
        for mutation in kinds.flat_map(|kind| all_mutations(domain, kind)) {
            let mutant = mutation.apply(domain);
            let theirs: Vec<Problem> =
                own.iter().map(|p| apply_mutations_to_problem(p, std::slice::from_ref(&mutation))).collect();
            let start = Instant::now();
            let found = reference.compare_on(&mutant, &theirs.iter().collect::<Vec<_>>(), &mut until());
            let by_plans = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let exactly = compare_all([domain, &mutant], &own, &theirs, seconds);
            answers.mutants += 1;
            if let Ok(hde) = &found {
                answers.took.push(Took {
                    seconds: [by_plans, start.elapsed().as_secs_f64()],
                    plans: hde.plans.iter().map(|[_, new]| new).sum(),
                    expanded: hde.statistics.expanded,
                    pairs: exactly.iter().map(|comparison| comparison.pairs).sum(),
                });
            }
            let exact = overall_verdict(&exactly);
            match found.map(|hde| hde.outcome) {
                Err(_) => answers.failed += 1,
                Ok(HdeOutcome::Undecided { .. }) => answers.open += 1,
                Ok(HdeOutcome::Equivalent) => {
                    answers.equivalent += 1;
                    answers.missed += usize::from(exact == ComparisonVerdict::Different);
                }
                Ok(HdeOutcome::Different { difference, .. }) => {
                    answers.wrong += usize::from(exact == ComparisonVerdict::Equal);
                    answers.classes[match difference.class() {
                        HdeClass::NoPlan => 0,
                        HdeClass::NPApp => 1,
                        HdeClass::OPApp => 2,
                    }] += 1;
                }
            }
        }
        answers.row(name);
        costs.push(answers.costs(name, prepared, &reference, own.len()));
    }
    println!(
        "\nEach as median/max of one mutant, all problems together:\n\n| suite | reference ms | its plans | its states | HDE ms | plans | states | exact ms | pairs of states |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    costs.iter().for_each(|row| println!("{row}"));
}

impl HeuristicAnswers {
    fn row(&self, name: &str) {
        let [no_plan, new, old] = self.classes;
        println!(
            "| {name} | {} | {} | {no_plan} | {new} | {old} | {} | {} | {} |",
            self.mutants, self.equivalent, self.open, self.missed, self.wrong,
        );
        if self.failed > 0 {
            println!("{name}: {} mutants are no model", self.failed);
        }
    }

    /// The row of the second table.
    fn costs(&self, name: &str, prepared: f64, reference: &HdeReference, problems: usize) -> String {
        let spread = |value: &dyn Fn(&Took) -> f64, digits: usize| {
            let mut all: Vec<f64> = self.took.iter().map(value).collect();
            all.sort_by(f64::total_cmp);
            let at = |i: usize| all.get(i).copied().unwrap_or_default();
            format!("{:.digits$}/{:.digits$}", at(all.len() / 2), at(all.len().saturating_sub(1)))
        };
        format!(
            "| {name} | {:.1} | {} | {} | {} | {} | {} | {} | {} |",
            prepared * 1e3,
            (0..problems).map(|p| reference.plans(p).len()).sum::<usize>(),
            reference.statistics().expanded,
            spread(&|t| t.seconds[0] * 1e3, 1),
            spread(&|t| t.plans as f64, 0),
            spread(&|t| t.expanded as f64, 0),
            spread(&|t| t.seconds[1] * 1e3, 1),
            spread(&|t| t.pairs as f64, 0),
        )
    }
}

/// Most time of one comparison.
const TIME: Duration = Duration::from_secs(10);

#[derive(Default)]
struct GoalAnswers {
    equal: usize,
    different: usize,
    undecided: usize,
    seconds: Vec<f64>,
}

impl GoalAnswers {
    /// Compares, and gives back what follows from the first goal.
    fn compare(&mut self, domain: &Domain, a: &Problem, b: &Problem) -> Vec<String> {
        let start = Instant::now();
        let found = equivalent_goals(domain, a, b, &GoalLimits::default(), &mut Deadline(start + TIME));
        self.seconds.push(start.elapsed().as_secs_f64());
        match found.outcome {
            GoalOutcome::Equal { .. } => self.equal += 1,
            GoalOutcome::Different { .. } => self.different += 1,
            GoalOutcome::Undecided { .. } => self.undecided += 1,
        }
        let [first, _] = found.added;
        first
    }

    fn cells(&self) -> String {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or_default();
        format!(
            "{:>4}/{}/{} | {:6.2} {:6.2}",
            self.equal,
            self.different,
            self.undecided,
            at(sorted.len() / 2),
            at(sorted.len().saturating_sub(1))
        )
    }
}

fn conjuncts(problem: &Problem) -> Vec<Condition> {
    match &problem.goal {
        Some(Condition::And(parts, _)) => parts.clone(),
        Some(other) => vec![other.clone()],
        None => Vec::new(),
    }
}

fn with_goal(problem: &Problem, parts: Vec<Condition>) -> Problem {
    Problem { goal: Some(Condition::And(parts, Span::default())), ..problem.clone() }
}

/// The fact as a condition.
fn condition(text: &str) -> Option<Condition> {
    parse_problem(&format!("(define (problem p) (:domain d) (:goal {text}))"), SourceId(1)).value.goal
}

/// Goals in other words.
fn print_goals(suites: &[Suite], variants: usize, seed: u64) {
    println!(
        "Goals in other words, renamed as well; answers equal/different/undecided; seconds: median, max;"
    );
    println!("most positive facts that follow from one goal");
    println!("{:38} | a conjunct left out | seconds | what follows added | seconds | follow", "suite");
    for (name, domain, problems) in suites {
        let (mut left_out, mut added, mut most) = (GoalAnswers::default(), GoalAnswers::default(), 0);
        for (p, problem) in problems.iter().enumerate() {
            let parts = conjuncts(problem);
            let mut follows: Vec<String> = Vec::new();
            for i in 0..variants.min(parts.len()) {
                let mut random = Random::stream(seed, (p as u64) << 32 | i as u64);
                let mut fewer = parts.clone();
                fewer.remove(random.below(parts.len() as u64) as usize);
                let other = with_random_names(domain, &with_goal(problem, fewer), &mut random);
                let found = left_out.compare(domain, problem, &other);
                if !found.is_empty() {
                    follows = found;
                }
            }
            follows.sort_by_key(|fact| fact.starts_with("(not "));
            most = most.max(follows.iter().filter(|f| !f.starts_with("(not ")).count());
            for (i, fact) in follows.iter().take(variants).enumerate() {
                let mut random = Random::stream(seed, (p as u64) << 32 | 1 << 16 | i as u64);
                let mut more = parts.clone();
                more.extend(condition(fact));
                let other = with_random_names(domain, &with_goal(problem, more), &mut random);
                added.compare(domain, problem, &other);
            }
        }
        println!("{name:38} | {} | {} | {most}", left_out.cells(), added.cells());
    }
}

const DOMAIN: &str =
    "(define (domain graph) (:types node - object) (:predicates (edge ?a ?b - node) (marked ?n - node)))";

type Edges = Vec<(usize, usize)>;

fn problem(nodes: usize, edges: &[(usize, usize)]) -> Problem {
    let objects: String = (0..nodes).map(|i| format!("n{i} ")).collect();
    let init: String = edges.iter().map(|(a, b)| format!("(edge n{a} n{b}) (edge n{b} n{a}) ")).collect();
    let text = format!(
        "(define (problem p) (:domain graph) (:objects {objects} - node) (:init {init}) (:goal (and)))"
    );
    parse_problem(&text, SourceId(1)).value
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |a| (a + 1..n).map(move |b| (a, b)))
}

fn grid(side: usize) -> Edges {
    pairs(side * side)
        .filter(|&(a, b)| (a / side).abs_diff(b / side) + (a % side).abs_diff(b % side) == 1)
        .collect()
}

fn paley(q: usize) -> Edges {
    let square = |d: usize| (1..q).any(|x| x * x % q == d % q);
    pairs(q).filter(|&(a, b)| square(b - a)).collect()
}

fn rook(side: usize) -> Edges {
    pairs(side * side).filter(|&(a, b)| a / side == b / side || a % side == b % side).collect()
}

fn shrikhande() -> Edges {
    let steps = [(0, 1), (0, 3), (1, 0), (3, 0), (1, 1), (3, 3)];
    pairs(16).filter(|&(a, b)| steps.contains(&((b / 4 + 4 - a / 4) % 4, (b % 4 + 4 - a % 4) % 4))).collect()
}

/// The Latin square graph of a group table: cells, joined where row, column or entry agree.
fn latin(side: usize, entry: impl Fn(usize, usize) -> usize) -> Edges {
    let of = |cell: usize| (cell / side, cell % side, entry(cell / side, cell % side));
    let joined = |&(a, b): &(usize, usize)| {
        let (a, b) = (of(a), of(b));
        a.0 == b.0 || a.1 == b.1 || a.2 == b.2
    };
    pairs(side * side).filter(joined).collect()
}

/// Swaps the ends of two edges, which keeps all degrees.
fn swap_edge_ends(edges: &[(usize, usize)]) -> Edges {
    let mut edges = edges.to_vec();
    let has = |a: usize, b: usize| a == b || edges.contains(&(a, b)) || edges.contains(&(b, a));
    let found =
        pairs(edges.len()).find(|&(i, j)| !has(edges[i].0, edges[j].1) && !has(edges[j].0, edges[i].1));
    if let Some((i, j)) = found {
        let (a, b) = (edges[i], edges[j]);
        edges[i] = (a.0, b.1);
        edges[j] = (b.0, a.1);
    }
    edges
}

fn copies(n: usize, nodes: usize, graph: &[(usize, usize)]) -> Edges {
    (0..n).flat_map(|i| graph.iter().map(move |&(a, b)| (a + i * nodes, b + i * nodes))).collect()
}

/// Worst cases: many interchangeable objects, and graphs in which all nodes look the same.
fn print_symmetric(seed: u64) {
    let domain = parse_domain(DOMAIN, SourceId(0)).value;
    let eight = copies(8, 16, &rook(4));
    let mut seven = copies(7, 16, &rook(4));
    seven.extend(shrikhande().iter().map(|&(a, b)| (a + 112, b + 112)));
    let klein = latin(8, |a, b| a ^ b);
    let cyclic = latin(8, |a, b| (a + b) % 8);
    let cases: Vec<(&str, usize, Edges, Option<Edges>)> = vec![
        ("200 objects, one edge", 200, vec![(0, 1)], None),
        ("200 objects in pairs", 200, (0..100).map(|i| (2 * i, 2 * i + 1)).collect(), None),
        ("200 objects in a ring", 200, (0..200).map(|i| (i, (i + 1) % 200)).collect(), None),
        ("60 objects, all joined", 60, pairs(60).collect(), None),
        ("grid 20x20", 400, grid(20), None),
        ("rook 4x4, Shrikhande", 16, rook(4), Some(shrikhande())),
        ("8 rooks, 7 and Shrikhande", 128, eight, Some(seven)),
        ("rook 8x8", 64, rook(8), None),
        ("Paley 29", 29, paley(29), None),
        ("Paley 101", 101, paley(101), None),
        ("Latin squares of order 8", 64, klein, Some(cyclic)),
    ];
    println!("\nSymmetric cases; single-fact mutants; two edges exchanged, or against the graph named");
    println!(
        "{:27} | renamings | renamed: median max explained | answers | mutants: median max explained | answers | other: median max explained | answers",
        "case"
    );
    for (name, nodes, edges, other) in cases {
        println!("{}", row(&domain, seed, name, nodes, &edges, other.as_deref()));
    }
}

fn row(
    domain: &Domain,
    seed: u64,
    name: &str,
    nodes: usize,
    edges: &[(usize, usize)],
    other: Option<&[(usize, usize)]>,
) -> String {
    let first = problem(nodes, edges);
    let other = problem(nodes, &other.map_or_else(|| swap_edge_ends(edges), <[_]>::to_vec));
    let [mut renamed, mut mutants, mut others] = [Times::default(), Times::default(), Times::default()];
    for i in 0..5 {
        let mut random = Random::stream(seed, i);
        let same = with_random_names(domain, &first, &mut random);
        renamed.compare(domain, &first, &same);
        mutants.compare(domain, &first, &mutant(&same, &mut random));
        others.compare(domain, &first, &with_random_names(domain, &other, &mut random));
    }
    let power = format!("1e{:.0}", renamings(domain, &first));
    format!("{name:27} | {power:>9} | {} | {} | {}", renamed.cells(), mutants.cells(), others.cells())
}

/// The problem with its objects exchanged at random within their types, and everything in another order.
fn with_random_names(domain: &Domain, problem: &Problem, random: &mut Random) -> Problem {
    let fixed = fixed_names(domain);
    let free: Vec<&Name> =
        problem.objects.iter().map(|o| &o.name).filter(|n| !fixed.contains(n.key())).collect();
    let mut numbers: Vec<usize> = (0..free.len()).collect();
    random.shuffle(&mut numbers);
    let names: Vec<(Name, Name)> = free
        .into_iter()
        .zip(numbers)
        .map(|(name, number)| (name.clone(), Name::synthetic(&format!("renamed-{number}"))))
        .collect();
    let mut other = rename_objects(problem, &names);
    random.shuffle(&mut other.objects);
    random.shuffle(&mut other.init);
    if let Some(Condition::And(parts, _)) = &mut other.goal {
        random.shuffle(parts);
    }
    other
}

/// The problem with one fact or conjunct left out, or one argument of one replaced by another object of that type.
fn mutant(problem: &Problem, random: &mut Random) -> Problem {
    let mut other = problem.clone();
    let conjuncts = match &other.goal {
        Some(Condition::And(parts, _)) => parts.len(),
        _ => 0,
    };
    let at = random.below((other.init.len() + conjuncts).max(1) as u64) as usize;
    let leave_out = random.chance(0.5);
    if let Some(element) = other.init.get_mut(at) {
        let replaced = match element {
            InitElement::Atom(atom) if !leave_out => replace(problem, &mut atom.args, random),
            _ => false,
        };
        if !replaced {
            other.init.remove(at);
        }
    } else if let Some(Condition::And(parts, _)) = &mut other.goal {
        let at = at - problem.init.len();
        let replaced = match parts.get_mut(at) {
            Some(Condition::Atom(atom)) if !leave_out => replace(problem, &mut atom.args, random),
            _ => false,
        };
        if !replaced && at < parts.len() {
            parts.remove(at);
        }
    }
    other
}

/// Another object of the same type in a random place; whether there is one.
fn replace(problem: &Problem, args: &mut [Term], random: &mut Random) -> bool {
    let key = |t: &planforge_pddl::ast::TypedName| -> Vec<String> {
        t.ty.iter().flat_map(|t| &t.alternatives).map(|n| n.key().to_owned()).collect()
    };
    if args.is_empty() {
        return false;
    }
    let place = random.below(args.len() as u64) as usize;
    let Some(own) = problem.objects.iter().find(|o| o.name == *args[place].name()) else { return false };
    let others: Vec<&Name> = problem
        .objects
        .iter()
        .filter(|o| o.name != own.name && key(o) == key(own))
        .map(|o| &o.name)
        .collect();
    match random.pick(&others) {
        Some(name) => {
            args[place] = Term::Constant((*name).clone());
            true
        }
        None => false,
    }
}
