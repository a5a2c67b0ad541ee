//! Every single mistake in a suite's domain, compared with the original domain on the suite's first problems.

use super::{Deadline, Suite};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::{MutationKind, all_mutations, apply_mutations_to_problem};
use planforge_planning::equivalence::domains::{
    Behaviour, ComparisonVerdict, DomainComparison, EquivalenceLimits, compare_domains, overall_verdict,
};
use std::time::{Duration, Instant};

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
pub(super) const LEFT_OUT: [MutationKind; 3] =
    [MutationKind::Addition, MutationKind::SwappedParameters, MutationKind::WidenedType];

/// Compares on each problem, at most `seconds` each; what cannot be compared is left out.
pub(super) fn compare_all(
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
pub(super) fn print(suites: &[Suite], problems: usize, seconds: f64) {
    println!(
        "| suite | mutants | equal | different | open | open: equal up to | longest difference | most pairs | median ms | max ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, domain, all) in suites {
        let mut answers = DomainAnswers::default();
        let kinds = MutationKind::ALL.into_iter().filter(|kind| !LEFT_OUT.contains(kind));
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
