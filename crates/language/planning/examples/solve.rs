//! Plans one task: `solve DOMAIN PROBLEM [greedy|astar|bfs|anytime] [SECONDS] [THREADS]`. For measuring; the `planforge` binary is the tool.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

use planforge_diagnostics::SourceId;
use planforge_planning::{
    Algorithm, Plan, PlanOptions, Poll, ResourceLimits, SearchOutcome, SearchPart, StopReason,
    plan_with_progress,
};
use std::time::Instant;

/// Limits in seconds of processor time of the first thread, which other work on the machine does not change.
struct Clock {
    start: Instant,
    end: f64,
    polls: u64,
    bytes: u64,
    threads: u64,
}

/// Bytes that all tables may take.
const MOST_BYTES: u64 = 8 << 30;

impl ResourceLimits for Clock {
    fn poll(&mut self) -> Poll {
        self.polls += 1;
        // Reading the time takes longer than a poll should.
        if !self.polls.is_multiple_of(64) {
            return Poll::Continue;
        }
        if processor_seconds(self.start) > self.end { Poll::Stop(StopReason::Time) } else { Poll::Continue }
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.bytes += bytes;
        if self.bytes > MOST_BYTES { Poll::Stop(StopReason::Memory) } else { Poll::Continue }
    }
    fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
    fn bytes_left(&self) -> u64 {
        MOST_BYTES.saturating_sub(self.bytes)
    }
    fn run_side_by_side(&mut self, first: SearchPart<'_>, second: SearchPart<'_>) -> bool {
        if self.threads < 2 {
            return false;
        }
        let mut other = Clock { ..*self };
        std::thread::scope(|scope| {
            scope.spawn(|| second(&mut other));
            first(self);
        });
        true
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let read = |i: usize| args.get(i).and_then(|p| std::fs::read_to_string(p).ok());
    let (Some(domain), Some(problem)) = (read(1), read(2)) else {
        eprintln!("usage: solve DOMAIN PROBLEM [greedy|astar|bfs|anytime] [SECONDS] [THREADS]");
        std::process::exit(2);
    };
    let algorithm = match args.get(3).map(String::as_str) {
        Some("astar") => Algorithm::AStar,
        Some("anytime") => Algorithm::Anytime,
        Some("bfs") => Algorithm::BreadthFirst,
        _ => Algorithm::Greedy,
    };
    let seconds = args.get(4).and_then(|s| s.parse().ok()).unwrap_or(60.0);
    let threads = args.get(5).and_then(|s| s.parse().ok()).unwrap_or(1);
    let start = Instant::now();
    let domain = planforge_pddl::parse_domain(&domain, SourceId(0));
    let problem = planforge_pddl::parse_problem(&problem, SourceId(1));
    let parsed = start.elapsed();
    let options = PlanOptions { algorithm, ..PlanOptions::default() };
    let mut clock = Clock { start, end: seconds, polls: 0, bytes: 0, threads };
    let mut on_plan = |plan: &Plan, method: &'static str| {
        let seconds = processor_seconds(start);
        println!(
            "; {seconds:.2} s: {:?} in {} steps, bound {:?}, by {method}",
            plan.cost,
            plan.steps.len(),
            plan.bound
        );
    };
    match plan_with_progress(&domain.value, &problem.value, &options, &mut clock, &mut on_plan) {
        Err(diagnostics) => diagnostics.iter().for_each(|d| eprintln!("{}: {}", d.code, d.message)),
        Ok(result) => {
            match &result.outcome {
                SearchOutcome::Plan(plan) => println!(
                    "{plan}; bound {:?} optimal {} stopped {:?}",
                    plan.bound, plan.optimal, result.stopped
                ),
                other => println!("; {other:?}"),
            }
            println!(
                "; {} ({}) actions {} facts {} expanded {} evaluated {} generated {} parse {:.4} total {:.4}",
                result.method,
                result.note.unwrap_or_default(),
                result.ground_size.0,
                result.ground_size.1,
                result.statistics.expanded,
                result.statistics.evaluated,
                result.statistics.generated,
                parsed.as_secs_f64(),
                start.elapsed().as_secs_f64()
            );
        }
    }
}

/// Processor time of this process, or the time since the start where the system does not tell.
fn processor_seconds(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = text.split(' ').next().and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}
