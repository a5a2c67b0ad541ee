//! Heuristic domain equivalence of one action pair: every single mistake in a suite's domain, judged by the cheapest plans, beside the
//! exact comparison.

use super::domains::{LEFT_OUT, compare_all};
use super::{Suite, Until};
use planforge_pddl::ast::Problem;
use planforge_pddl::mutate::{MutationKind, all_mutations, apply_mutations_to_problem};
use planforge_planning::equivalence::domains::{Verdict, overall};
use planforge_planning::equivalence::hde::{HdeClass, HdeOptions, HdeOutcome, Reference};
use std::time::{Duration, Instant};

/// What came of one suite's mutants.
#[derive(Default)]
struct Answers {
    mutants: usize,
    equivalent: usize,
    classes: [usize; 3],
    open: usize,
    failed: usize,
    /// Equivalent here and different by the exact comparison.
    missed: usize,
    /// Different here and equal by the exact comparison: there must be none.
    wrong: usize,
    seconds: Vec<f64>,
}

/// Prints the table: the same mutants as the table of exact comparisons, on the first `problems` problems, 100 plans of each.
pub(super) fn print(suites: &[Suite], problems: usize, seconds: f64) {
    println!(
        "| suite | reference ms | mutants | equivalent | no plan | new plan fails | old plan fails | open | equivalent, exactly different | different, exactly equal | median ms | max ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let options = HdeOptions::default();
    for (name, domain, all) in suites {
        let own: Vec<&Problem> = all.iter().take(problems).collect();
        let until = || Until(Instant::now() + Duration::from_secs_f64(seconds));
        let start = Instant::now();
        let reference = match Reference::new(domain, &own, &options, &mut until()) {
            Ok(reference) => reference,
            Err(not) => {
                println!("{name}: {not}");
                continue;
            }
        };
        let prepared = start.elapsed().as_secs_f64() * 1e3;
        let mut answers = Answers::default();
        let kinds = MutationKind::ALL.into_iter().filter(|kind| !LEFT_OUT.contains(kind));
        for mutation in kinds.flat_map(|kind| all_mutations(domain, kind)) {
            let mutant = mutation.apply(domain);
            let theirs: Vec<Problem> =
                own.iter().map(|p| apply_mutations_to_problem(p, std::slice::from_ref(&mutation))).collect();
            let start = Instant::now();
            let found = reference.compare_on(&mutant, &theirs.iter().collect::<Vec<_>>(), &mut until());
            answers.mutants += 1;
            answers.seconds.push(start.elapsed().as_secs_f64());
            let exact = overall(&compare_all([domain, &mutant], &own, &theirs, seconds));
            match found.map(|hde| hde.outcome) {
                Err(_) => answers.failed += 1,
                Ok(HdeOutcome::Undecided { .. }) => answers.open += 1,
                Ok(HdeOutcome::Equivalent) => {
                    answers.equivalent += 1;
                    answers.missed += usize::from(exact == Verdict::Different);
                }
                Ok(HdeOutcome::Different { difference, .. }) => {
                    answers.wrong += usize::from(exact == Verdict::Equal);
                    answers.classes[match difference.class() {
                        HdeClass::NoPlan => 0,
                        HdeClass::NPApp => 1,
                        HdeClass::OPApp => 2,
                    }] += 1;
                }
            }
        }
        answers.row(name, prepared);
    }
}

impl Answers {
    fn row(&mut self, name: &str, prepared: f64) {
        self.seconds.sort_by(f64::total_cmp);
        let at = |i: usize| self.seconds.get(i).copied().unwrap_or_default() * 1e3;
        let [no_plan, new, old] = self.classes;
        println!(
            "| {name} | {prepared:.1} | {} | {} | {no_plan} | {new} | {old} | {} | {} | {} | {:.1} | {:.0} |",
            self.mutants,
            self.equivalent,
            self.open,
            self.missed,
            self.wrong,
            at(self.seconds.len() / 2),
            at(self.seconds.len().saturating_sub(1))
        );
        if self.failed > 0 {
            println!("{name}: {} mutants are no model", self.failed);
        }
    }
}
