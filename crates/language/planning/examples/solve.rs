//! Plans one task: `solve DOMAIN PROBLEM [greedy|astar|bfs|anytime] [SECONDS]`. For measuring; the `planforge` binary is the tool.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

use planforge_diagnostics::SourceId;
use planforge_planning::{
    Algorithm, Plan, PlanOptions, Poll, ResourceLimits, SearchOutcome, StopReason, plan_with_progress,
};
use std::time::Instant;

struct Clock {
    end: f64,
    polls: u64,
    bytes: u64,
}

impl ResourceLimits for Clock {
    fn poll(&mut self) -> Poll {
        self.polls += 1;
        if self.polls % 64 != 0 {
            return Poll::Continue;
        }
        if cpu() > self.end { Poll::Stop(StopReason::Time) } else { Poll::Continue }
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        self.bytes += bytes;
        if self.bytes > 8 << 30 { Poll::Stop(StopReason::Memory) } else { Poll::Continue }
    }
    fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let read = |i: usize| args.get(i).and_then(|p| std::fs::read_to_string(p).ok());
    let (Some(domain), Some(problem)) = (read(1), read(2)) else {
        eprintln!("usage: solve DOMAIN PROBLEM [greedy|astar|bfs|anytime] [SECONDS]");
        std::process::exit(2);
    };
    let algorithm = match args.get(3).map(String::as_str) {
        Some("astar") => Algorithm::AStar,
        Some("anytime") => Algorithm::Anytime,
        Some("bfs") => Algorithm::BreadthFirst,
        _ => Algorithm::Greedy,
    };
    let seconds = args.get(4).and_then(|s| s.parse().ok()).unwrap_or(60.0);
    let start = Instant::now();
    let domain = planforge_pddl::parse_domain(&domain, SourceId(0));
    let problem = planforge_pddl::parse_problem(&problem, SourceId(1));
    let parsed = start.elapsed();
    let options = PlanOptions { algorithm, ..PlanOptions::default() };
    let mut clock = Clock { end: seconds, polls: 0, bytes: 0 };
    let mut on_plan = |plan: &Plan, method: &'static str| {
        let seconds = cpu();
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
                SearchOutcome::Plan(plan) => print!(
                    "{plan}; bound {:?} optimal {} stopped {:?}\n",
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

fn cpu() -> f64 {
    std::fs::read_to_string("/proc/self/schedstat")
        .ok()
        .and_then(|s| s.split(' ').next().and_then(|n| n.parse::<f64>().ok()))
        .unwrap_or(0.0)
        / 1e9
}
