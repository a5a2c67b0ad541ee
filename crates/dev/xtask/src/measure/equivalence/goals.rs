//! Goals in other words: a conjunct left out, which makes a difference unless the others imply it, and a fact added that is known
//! to follow, which makes none.

use super::{Deadline, Suite, vary};
use planforge_diagnostics::{SourceId, Span};
use planforge_pddl::ast::{Condition, Domain, Problem};
use planforge_pddl::parse_problem;
use planforge_pddl::random::Random;
use planforge_planning::equivalence::goals::{GoalLimits, GoalOutcome, equivalent_goals};
use std::time::{Duration, Instant};

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

pub(super) fn print(suites: &[Suite], variants: usize, seed: u64) {
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
                let other = vary::with_random_names(domain, &with_goal(problem, fewer), &mut random);
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
                let other = vary::with_random_names(domain, &with_goal(problem, more), &mut random);
                added.compare(domain, problem, &other);
            }
        }
        println!("{name:38} | {} | {} | {most}", left_out.cells(), added.cells());
    }
}
