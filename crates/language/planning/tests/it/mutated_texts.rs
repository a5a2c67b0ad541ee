//! Mutated texts: no panic, and every call ends within its limits.

use crate::differential::tasks::{MIXES, Task};
use crate::differential::{Row, first_seed};
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
    fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// An input that takes longer hangs: its limits are reached within a second.
const PATIENCE: Duration = Duration::from_secs(120);

#[test]
fn mutated_texts_cause_no_panic_and_no_call_ignores_its_limits() {
    check_mutated_texts(300);
}

#[test]
#[ignore = "study of half a minute: cargo xtask long-tests"]
fn forty_thousand_mutated_texts_cause_no_panic() {
    check_mutated_texts(40_000);
}

fn check_mutated_texts(inputs: u64) {
    let mut row = Row::default();
    let examples = example_tasks();
    // Panics are findings here, so that thread prints nothing.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some(THREAD) {
            hook(info);
        }
    }));
    let (send, receive) = mpsc::channel();
    let worker = std::thread::Builder::new().name(THREAD.to_owned()).spawn(move || {
        for seed in first_seed()..first_seed() + inputs {
            if send.send(check_seed(seed, &examples)).is_err() {
                break;
            }
        }
    });
    worker.unwrap();
    for seed in first_seed()..first_seed() + inputs {
        let Ok((input, differences, counts)) = receive.recv_timeout(PATIENCE) else {
            row.unexplained.push(format!("seed {seed}: did not return"));
            break;
        };
        for (what, n) in counts {
            *row.counts.entry(what).or_default() += n;
        }
        let case = if differences.is_empty() { String::new() } else { format!("seed {seed}, {input:?}") };
        row.record(&case, &differences);
    }
    row.check("mutated texts", inputs as usize);
    for what in ["tasks read without an error", "calls cut by a limit"] {
        assert!(row.counts[what] > 0, "{what}: {:?}", row.counts);
    }
}

const THREAD: &str = "mutated texts";

/// Domain, problem and plan as text.
type Input = [String; 3];

/// The input of a seed, what is wrong, and counts.
fn check_seed(seed: u64, examples: &[Input]) -> (Input, Vec<String>, Counts) {
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
    within("validate", &mut |limits| drop(validator.validate(&parse_plan(plan_text, SourceId(2)), limits)));
    ignored
}

/// The first task of each example suite: domain, problem and no plan.
fn example_tasks() -> Vec<Input> {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites");
    let mut folders: Vec<_> =
        std::fs::read_dir(suites).unwrap().filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.sort();
    let mut tasks = Vec::new();
    for folder in folders {
        let text = |file: &str| std::fs::read_to_string(folder.join(file));
        if let (Ok(domain), Ok(problem)) = (text("domain.pddl"), text("p01.pddl")) {
            tasks.push([domain, problem, String::new()]);
        }
    }
    assert!(!tasks.is_empty());
    tasks
}

/// Tokens that mutations insert.
const TOKENS: [&str; 34] = [
    "(",
    ")",
    "and",
    "or",
    "not",
    "imply",
    "when",
    "forall",
    "exists",
    "=",
    "-",
    "+",
    "/",
    "*",
    ">=",
    "increase",
    "assign",
    "scale-down",
    "either",
    "object",
    "?x",
    ":goal",
    ":init",
    ":action",
    ":derived",
    ":metric",
    ":durative-action",
    "at start",
    "preference",
    "total-cost",
    "1e308",
    "0.0000000000001",
    "99999999999999999999999999999999999999999",
    "é",
];

/// A text with one to four mutations. Bytes that are not UTF-8 are replaced, as readers of files do.
fn mutate(text: &str, random: &mut Random) -> String {
    let mut text = text.to_owned();
    for _ in 0..=random.below(4) {
        text = if random.chance(0.4) { mutate_bytes(&text, random) } else { mutate_tokens(&text, random) };
    }
    text
}

fn mutate_bytes(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let at = random.below(bytes.len() as u64) as usize;
    let end = (at + random.below(40) as usize).min(bytes.len());
    match random.below(5) {
        _ if bytes.is_empty() => bytes.push(b'('),
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = random.below(256) as u8,
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        _ => {
            let range = bytes[at..end].to_vec();
            let to = random.below(bytes.len() as u64) as usize;
            bytes.splice(to..to, range);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn mutate_tokens(text: &str, random: &mut Random) -> String {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> = spaced.split_whitespace().collect();
    if tokens.is_empty() {
        return "(".to_owned();
    }
    let position = |random: &mut Random, tokens: &[&str]| random.below(tokens.len() as u64) as usize;
    let (at, other) = (position(random, &tokens), position(random, &tokens));
    let foreign = random.pick(&TOKENS).copied().unwrap_or("(");
    match random.below(7) {
        0 => tokens.swap(at, other),
        1 => drop(tokens.remove(at)),
        2 => tokens[at] = foreign,
        3 => tokens[at] = tokens[other],
        4 => tokens.insert(at, foreign),
        // A whole expression is repeated elsewhere, or dropped.
        5 => {
            let range: Vec<&str> = tokens[expression(&tokens, at)].to_vec();
            tokens.splice(other..other, range);
        }
        _ => drop(tokens.drain(expression(&tokens, at))),
    }
    tokens.join(" ")
}

/// The range of the first expression at or after a token, to its closing parenthesis.
fn expression(tokens: &[&str], at: usize) -> std::ops::Range<usize> {
    let Some(start) = (at..tokens.len()).find(|&i| tokens[i] == "(") else { return at..at + 1 };
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(start) {
        match *token {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return start..i + 1;
        }
    }
    start..tokens.len()
}
