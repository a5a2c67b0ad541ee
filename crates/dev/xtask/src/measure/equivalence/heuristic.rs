//! Heuristic domain equivalence of one action pair: every single mistake in a suite's domain, judged by the
//! cheapest plans, compared with the exact result.

use super::domains::{LEFT_OUT, compare_all};
use super::{Deadline, Suite};
use planforge_pddl::ast::Problem;
use planforge_pddl::mutate::{MutationKind, all_mutations, apply_mutations_to_problem};
use planforge_planning::equivalence::domains::{ComparisonVerdict, overall_verdict};
use planforge_planning::equivalence::hde::{HdeClass, HdeOptions, HdeOutcome, HdeReference};
use std::time::{Duration, Instant};

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
pub(super) fn print(suites: &[Suite], problems: usize, seconds: f64) {
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
        let kinds = MutationKind::ALL.into_iter().filter(|kind| !LEFT_OUT.contains(kind));
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
