//! Validates a plan: `validate DOMAIN PROBLEM PLAN [REPEAT]`. For measuring; the `planforge` binary is the tool.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

use planforge_diagnostics::SourceId;
use planforge_planning::{Unlimited, Validator, normalize, parse_plan};
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let read = |i: usize| args.get(i).and_then(|p| std::fs::read_to_string(p).ok());
    let (Some(domain), Some(problem), Some(plan)) = (read(1), read(2), read(3)) else {
        eprintln!("usage: validate DOMAIN PROBLEM PLAN [REPEAT]");
        std::process::exit(2);
    };
    let repeat: u32 = args.get(4).and_then(|r| r.parse().ok()).unwrap_or(1);
    let start = Instant::now();
    let mut valid = false;
    for round in 0..repeat {
        let domain = planforge_pddl::parse_domain(&domain, SourceId(0));
        let problem = planforge_pddl::parse_problem(&problem, SourceId(1));
        let plan = parse_plan(&plan, SourceId(2));
        match normalize(&domain.value, &problem.value) {
            Err(diagnostics) => diagnostics.iter().for_each(|d| println!("{}: {}", d.code, d.message)),
            Ok(task) => {
                let report = Validator::new(task).validate(&plan, &mut Unlimited);
                valid = report.is_valid();
                if round + 1 == repeat {
                    println!("{:?} cost {:?} steps {}", report.decision, report.cost, report.steps);
                    report
                        .diagnostics
                        .iter()
                        .for_each(|d| println!("{}: {} {:?}", d.code, d.message, d.help));
                }
            }
        }
    }
    println!("{:.6} s each, text to report", start.elapsed().as_secs_f64() / f64::from(repeat));
    if !valid {
        std::process::exit(10);
    }
}
