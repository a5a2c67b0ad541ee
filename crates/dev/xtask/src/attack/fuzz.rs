//! Mutated texts through read, check, plan, validate, top-k and explain: no panic, and every call ends within its limits.

use super::context::Context;
use super::mutation::mutate;
use super::table::Row;
use super::tasks::{MIXES, Task};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::extract::BlockKind;
use planforge_pddl::random::Random;
use planforge_pddl::{
    TaskSources, check_domain, check_problem, find_pddl, fix_all, parse_domain, parse_problem, print_domain,
    print_problem,
};
use planforge_planning::{
    Algorithm, GroundLimits, PlanOptions, Poll, ResourceLimits, StopReason, TopKOptions, Validator,
    normalize, parse_plan, plan, top_k, why_unsolvable,
};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// Mutated tasks at scale 1.
const INPUTS: usize = 100_000;

/// Limits that count, and that count the calls after they stopped the work.
struct CountedLimits {
    max_polls: u64,
    polls: u64,
    bytes: u64,
    after_stop: u64,
}

/// Most polls: so few that many calls are cut, at different places.
const MAX_POLLS: [u64; 6] = [0, 1, 5, 20, 200, 3_000];
const BYTES: u64 = 64 << 20;

/// Calls that a function may make on its way out.
const MAX_AFTER_STOP: u64 = 100;

impl CountedLimits {
    fn answer(&mut self) -> Poll {
        let reason = if self.polls > self.max_polls {
            StopReason::Time
        } else if self.bytes > BYTES {
            StopReason::Memory
        } else {
            return Poll::Continue;
        };
        self.after_stop += 1;
        Poll::Stop(reason)
    }
}

impl ResourceLimits for CountedLimits {
    fn poll(&mut self) -> Poll {
        self.polls += 1;
        self.answer()
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.bytes = self.bytes.saturating_add(bytes);
        self.answer()
    }
}

/// An input that takes longer hangs: its limits are reached within a second.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn run(context: &Context) -> Result<Row, String> {
    let mut row = Row::default();
    let examples = example_tasks(&context.suites)?;
    let (first, inputs) = (context.seed.wrapping_mul(1_000_003), context.scaled(INPUTS) as u64);
    // Panics are findings here, so that thread prints nothing.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some(THREAD) {
            hook(info);
        }
    }));
    let (send, receive) = mpsc::channel();
    let worker = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
        for seed in first..first + inputs {
            if send.send(attack(seed, &examples)).is_err() {
                break;
            }
        }
    });
    worker.map_err(|e| e.to_string())?;
    for seed in first..first + inputs {
        let Ok((input, differences, counts)) = receive.recv_timeout(PATIENCE) else {
            row.unexplained.push(format!("seed {seed}: did not return"));
            break;
        };
        for (what, n) in counts {
            *row.counts.entry(what).or_default() += n;
        }
        if !differences.is_empty() {
            context.keep(&format!("fuzz-{seed}"), input.each_ref().map(String::as_str))?;
        }
        row.record(&format!("seed {seed}"), &differences);
    }
    Ok(row)
}

const THREAD: &str = "mutated texts";

/// Domain, problem and plan as text.
type Input = [String; 3];

/// The input of a seed, what is wrong, and counts.
fn attack(seed: u64, examples: &[Input]) -> (Input, Vec<String>, Counts) {
    let mut random = Random::stream(seed, 0xF022);
    let mut input = match random.pick(examples) {
        Some(example) if random.chance(0.2) => example.clone(),
        _ => {
            let task = Task::random(seed, MIXES[(seed % MIXES.len() as u64) as usize]);
            [task.domain_text, task.problem_text, task.walk.join("\n")]
        }
    };
    // The plan always; the domain, the problem, both or neither.
    input[2] = mutate(&input[2], &mut random);
    let which = random.below(4);
    for (number, text) in input.iter_mut().take(2).enumerate() {
        if which & (1 << number) != 0 {
            *text = mutate(text, &mut random);
        }
    }
    let max_polls = random.pick(&MAX_POLLS).copied().unwrap_or_default();
    let mut counts = Counts::new();
    let [domain, problem, plan] = &input;
    let differences =
        catch_unwind(AssertUnwindSafe(|| all_calls(domain, problem, plan, max_polls, &mut counts)));
    let differences = differences.unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("without a message");
        vec![format!("panic: {text}")]
    });
    (input, differences, counts)
}

type Counts = std::collections::BTreeMap<&'static str, usize>;

/// Makes every call, and returns the calls that ignored their limits.
fn all_calls(
    domain_text: &str,
    problem_text: &str,
    plan_text: &str,
    max_polls: u64,
    counts: &mut Counts,
) -> Vec<String> {
    let sources = TaskSources { domain: SourceId(0), problem: SourceId(1) };
    let domain = parse_domain(domain_text, sources.domain);
    let problem = parse_problem(problem_text, sources.problem);
    find_pddl(domain_text, sources.domain);
    fix_all(problem_text, BlockKind::Problem);
    print_domain(&domain.value);
    print_problem(&problem.value);
    check_domain(&domain.value, sources.domain);
    check_problem(&domain.value, &problem.value, sources);
    // What the reader put together from a faulty text is planned for, too.
    *counts.entry("tasks read without an error").or_default() +=
        usize::from(!domain.has_errors() && !problem.has_errors());
    calls_with_limits(&domain.value, &problem.value, plan_text, max_polls, counts)
}

fn calls_with_limits(
    domain: &Domain,
    problem: &Problem,
    plan_text: &str,
    max_polls: u64,
    counts: &mut Counts,
) -> Vec<String> {
    let mut ignored = Vec::new();
    let mut within = |name: &str, call: &mut dyn FnMut(&mut CountedLimits)| {
        let mut limits = CountedLimits { max_polls, polls: 0, bytes: 0, after_stop: 0 };
        call(&mut limits);
        if limits.after_stop > 0 {
            *counts.entry("calls cut by a limit").or_default() += 1;
        }
        if limits.after_stop > MAX_AFTER_STOP {
            ignored.push(format!("{name} asked {} times after its limit", limits.after_stop));
        }
    };
    let ground = GroundLimits { instances: 20_000, atoms: 20_000, formula_parts: 200_000 };
    for algorithm in [Algorithm::Greedy, Algorithm::AStar] {
        let options = PlanOptions { algorithm, max_nodes: 2_000, ground };
        within("plan", &mut |limits| drop(plan(domain, problem, &options, limits)));
    }
    let mut options = TopKOptions::new(NonZeroUsize::MIN.saturating_add(2));
    (options.max_nodes, options.ground) = (2_000, ground);
    within("top-k", &mut |limits| drop(top_k(domain, problem, &options, limits)));
    let Ok(lifted) = normalize(domain, problem) else { return ignored };
    within("explain", &mut |limits| drop(why_unsolvable(&lifted, limits)));
    let validator = Validator::new(lifted);
    within("validate", &mut |limits| {
        drop(validator.validate_within(&parse_plan(plan_text, SourceId(2)), limits))
    });
    ignored
}

/// The first task of each example suite: domain, problem and no plan.
fn example_tasks(suites: &Path) -> Result<Vec<Input>, String> {
    let io = |e: std::io::Error| format!("{}: {e}", suites.display());
    let mut folders: Vec<_> =
        std::fs::read_dir(suites).map_err(io)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    let mut tasks = Vec::new();
    for folder in folders {
        let text = |file: &str| std::fs::read_to_string(folder.join(file));
        if let (Ok(domain), Ok(problem)) = (text("domain.pddl"), text("p01.pddl")) {
            tasks.push([domain, problem, String::new()]);
        }
    }
    if tasks.is_empty() { Err(format!("no task under {}", suites.display())) } else { Ok(tasks) }
}
