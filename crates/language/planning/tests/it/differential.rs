//! The validator and the planners on random tasks, against a simulator that shares nothing with the crate but the parsed tree.

mod simulator;
pub(crate) mod tasks;

use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use planforge_planning::{
    Algorithm, CountingLimits, Plan, PlanOptions, PlanResult, SearchOutcome, Unlimited, ValidationDecision,
    parse_plan, plan, plan_with_progress, validate,
};
use simulator::{Fraction, NoSpace, Simulator, Space, TooLarge};
use std::collections::BTreeMap;
use tasks::{MIXES, Mix, Task};

/// Cases of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Cases that agreed.
    pub(crate) agreed: usize,
    /// Differences with a named reason.
    explained: BTreeMap<String, usize>,
    /// Differences without a reason, each with what is needed to repeat it.
    pub(crate) unexplained: Vec<String>,
    /// Counts that show that the cases are worth comparing.
    pub(crate) counts: BTreeMap<&'static str, usize>,
}

impl Row {
    fn explain(&mut self, reason: &str) {
        *self.explained.entry(reason.to_owned()).or_default() += 1;
    }

    pub(crate) fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Records one case: an empty list of differences is agreement.
    pub(crate) fn record(&mut self, case: &str, differences: &[String]) {
        if differences.is_empty() {
            self.agreed += 1;
        } else {
            self.unexplained.push(format!("{case}: {}", differences.join("; ")));
        }
    }

    /// Fails if a case is unexplained or fewer than `fewest` agree. Prints the figures.
    pub(crate) fn check(&self, name: &str, fewest: usize) {
        println!("{name}: {} agreed, explained {:?}, {:?}", self.agreed, self.explained, self.counts);
        assert_eq!(self.unexplained, Vec::<String>::new(), "{name}");
        assert!(self.agreed >= fewest, "{name}: {self:?}");
    }
}

/// The seeds of the tasks begin here.
pub(crate) fn first_seed() -> u64 {
    20_261_122_u64.wrapping_mul(1_000_003)
}

#[test]
fn the_validator_agrees_with_an_independent_simulator() {
    let row = compare_validators(110);
    row.check("validator", 300);
    assert!(row.counts["valid plans"] > 80 && row.counts["invalid plans"] > 80, "{:?}", row.counts);
}

#[test]
#[ignore = "study of half a minute: cargo xtask long-tests"]
fn the_validator_agrees_with_an_independent_simulator_on_4000_tasks() {
    compare_validators(4000).check("validator", 11_900);
}

#[test]
fn the_planners_agree_with_brute_force() {
    let row = compare_planners(&MIXES, 33);
    row.check("planners", 80);
    assert!(row.counts["solvable"] >= 15 && row.counts["unsolvable"] >= 3, "{:?}", row.counts);
}

#[test]
#[ignore = "study of half a minute: cargo xtask long-tests"]
fn the_planners_agree_with_brute_force_on_1200_tasks() {
    compare_planners(&MIXES, 1200).check("planners", 3300);
}

#[test]
fn the_planners_agree_with_brute_force_on_tasks_with_numbers() {
    let mixes: Vec<Mix> = MIXES.into_iter().filter(Mix::has_numbers).collect();
    let row = compare_planners(&mixes, 60);
    row.check("planners with numbers", 180);
    assert!(row.counts["solvable"] >= 25 && row.counts["unsolvable"] >= 3, "{:?}", row.counts);
}

#[test]
#[ignore = "study of half a minute: cargo xtask long-tests"]
fn the_planners_agree_with_brute_force_on_2000_tasks_with_numbers() {
    let mixes: Vec<Mix> = MIXES.into_iter().filter(Mix::has_numbers).collect();
    compare_planners(&mixes, 2000).check("planners with numbers", 6000);
}

#[test]
fn plans_that_are_cut_are_valid_and_their_bounds_hold() {
    let row = compare_bounds(33);
    row.check("bounds", 300);
    assert!(row.counts["proven"] > 100 && row.counts["cut"] > 5, "{:?}", row.counts);
}

#[test]
#[ignore = "study of half a minute: cargo xtask long-tests"]
fn plans_of_1200_tasks_that_are_cut_are_valid_and_their_bounds_hold() {
    compare_bounds(1200).check("bounds", 10_000);
}

/// Three plans of each task: verdict and cost.
fn compare_validators(tasks: usize) -> Row {
    let mut row = Row::default();
    for number in 0..tasks {
        let mix = MIXES[number % MIXES.len()];
        let seed = first_seed() + number as u64;
        let task = Task::random(seed, mix);
        let case = format!("seed {seed}, {}", mix.name);
        let simulator = Simulator::new(&task.domain, &task.problem);
        for plan in &random_plans(&task, seed) {
            let ours = our_verdict(&task, plan);
            match simulated_verdict(&simulator, plan) {
                Ok(expected) => {
                    row.count(if expected.is_some() { "valid plans" } else { "invalid plans" });
                    row.record(&case, &differences(&ours, expected, plan));
                }
                Err(TooLarge) => row.explain("a number is beyond the range of the simulator's fractions"),
            }
        }
    }
    row
}

/// Verdict of our validator with the plan's cost, or why it gave none.
type OurVerdict = Result<(bool, Option<f64>), String>;

/// The cost of a valid plan (`None` within if it has no value); `None` for invalid plans.
type SimulatedVerdict = Result<Option<Option<Fraction>>, TooLarge>;

fn simulated_verdict(simulator: &Simulator<'_>, plan: &[String]) -> SimulatedVerdict {
    match simulator.execute(plan)? {
        Some(last) if simulator.is_goal(&last)? => simulator.plan_cost(&last, plan.len()).map(Some),
        _ => Ok(None),
    }
}

fn differences(ours: &OurVerdict, expected: Option<Option<Fraction>>, plan: &[String]) -> Vec<String> {
    match (ours, expected) {
        (Err(message), _) => vec![format!("{message}: {plan:?}")],
        (Ok((valid, _)), _) if *valid != expected.is_some() => {
            vec![format!("ours {valid}, simulator {}: {plan:?}", expected.is_some())]
        }
        (Ok((_, cost)), Some(expected)) if *cost != expected.map(Fraction::to_f64) => {
            vec![format!("cost {cost:?}, simulator {expected:?}: {plan:?}")]
        }
        _ => Vec::new(),
    }
}

fn our_verdict(task: &Task, plan: &[String]) -> OurVerdict {
    let report =
        validate(&task.domain, &task.problem, &parse_plan(&plan.join("\n"), SourceId(2)), &mut Unlimited)
            .map_err(|diagnostics| format!("our validator refuses the task: {}", diagnostics[0].message))?;
    match report.decision {
        ValidationDecision::Valid => Ok((true, report.cost)),
        ValidationDecision::Invalid => Ok((false, report.cost)),
        other => Err(format!("our validator does not decide: {other:?}")),
    }
}

/// The task's walk, a mutation of it, and random steps.
fn random_plans(task: &Task, seed: u64) -> Vec<Vec<String>> {
    let mut random = Random::stream(seed, 0x9_1A4);
    let mut objects: Vec<String> =
        task.domain.constants.iter().chain(&task.problem.objects).map(|o| o.name.to_string()).collect();
    let mut step = |random: &mut Random| {
        let index = random.below(task.domain.actions.len() as u64) as usize;
        let action = &task.domain.actions[index];
        let mut text = format!("({}", action.name);
        for _ in &action.parameters {
            random.shuffle_front(&mut objects, 1);
            text.push(' ');
            text.push_str(&objects[0]);
        }
        text + ")"
    };
    let mut mutated = task.walk.clone();
    let at = random.below(mutated.len() as u64 + 1) as usize;
    match random.below(4) {
        0 if at < mutated.len() => {
            mutated.remove(at);
        }
        1 if at + 1 < mutated.len() => mutated.swap(at, at + 1),
        2 if at < mutated.len() => mutated.insert(at, mutated[at].clone()),
        _ => mutated.insert(at, step(&mut random)),
    }
    let steps = (0..random.below(3) + 1).map(|_| step(&mut random)).collect();
    vec![task.walk.clone(), mutated, steps]
}

/// Larger spaces are not searched.
const MAX_STATES: usize = 600;

/// Far more than any task of these sizes needs.
const LIMITS: CountingLimits = CountingLimits { polls: 50_000_000, bytes: 2 << 30 };

/// A task whose space was searched completely.
fn searched(
    mixes: &[Mix],
    wanted: usize,
    row: &mut Row,
    mut check: impl FnMut(&mut Row, &str, &Task, &Space<'_>, &Simulator<'_>),
) {
    let mut done = 0;
    for number in 0.. {
        if done == wanted {
            break;
        }
        let mix = mixes[number % mixes.len()];
        let seed = first_seed() + (1 << 32) + number as u64;
        let task = Task::random(seed, mix);
        let simulator = Simulator::new(&task.domain, &task.problem);
        match Space::build(&simulator, task.problem.metric.is_some(), MAX_STATES) {
            Ok(space) => {
                done += 1;
                if space.states() > 10 {
                    row.count("spaces of more than 10 states");
                }
                check(row, &format!("seed {seed}, {}", mix.name), &task, &space, &simulator);
            }
            Err(NoSpace::TooManyStates) => row.count("spaces too large to search, replaced"),
            Err(NoSpace::Uncomparable) => row.count("numbers too large for fractions, replaced"),
        }
    }
}

/// Greedy, A*, breadth-first and anytime search against a complete search of each space.
fn compare_planners(mixes: &[Mix], tasks: usize) -> Row {
    let mut row = Row::default();
    searched(mixes, tasks, &mut row, |row, case, task, space, simulator| {
        let Ok(efforts) = space.efforts() else { return };
        let best = efforts[0];
        row.count(if best.is_some() { "solvable" } else { "unsolvable" });
        for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst, Algorithm::Anytime] {
            let options = PlanOptions { algorithm, ..PlanOptions::default() };
            let case = format!("{case}, {algorithm:?}");
            let result = match plan(&task.domain, &task.problem, &options, &mut LIMITS.clone()) {
                Ok(result) => result,
                Err(diagnostics) => {
                    row.record(&case, &[format!("refused: {}", diagnostics[0].message)]);
                    continue;
                }
            };
            match (result.outcome, best) {
                (SearchOutcome::Plan(found), _) => {
                    let steps = found.step_texts();
                    let mut differences = check_plan(task, simulator, &steps, found.cost);
                    match (algorithm, best) {
                        (_, None) => differences.push("brute force finds no plan".to_owned()),
                        (Algorithm::AStar, Some((cost, _))) if found.cost != Some(cost.to_f64()) => {
                            differences.push(format!("cost {:?}, cheapest is {cost}", found.cost));
                        }
                        (Algorithm::Anytime, Some((cost, _)))
                            if result.note.is_none()
                                && (found.cost != Some(cost.to_f64()) || !found.optimal) =>
                        {
                            differences.push(format!("{:?}, cheapest is {cost}, not proven", found.cost));
                        }
                        (Algorithm::BreadthFirst, _) if space.fewest_steps() != Some(steps.len()) => {
                            differences.push(format!("{} steps, not the fewest", steps.len()));
                        }
                        _ => {}
                    }
                    if algorithm == Algorithm::AStar
                        && let Some((cost, _)) = best
                        && exact_cost(simulator, &steps) != Some(cost)
                    {
                        differences.push(format!("the steps do not cost {cost}"));
                    }
                    row.record(&case, &differences);
                }
                (SearchOutcome::ProvenUnsolvable(_), None) => row.record(&case, &[]),
                (SearchOutcome::Unsupported(what), _) => {
                    row.explain(&format!("reported as not supported: {}", what[0].what));
                }
                (outcome, best) => {
                    row.record(
                        &case,
                        &[format!("{outcome:?}, brute force {best:?}").chars().take(300).collect()],
                    );
                }
            }
        }
    });
    row
}

/// Anytime search that ends at early polls, against a complete search of each space.
fn compare_bounds(tasks: usize) -> Row {
    let mut row = Row::default();
    searched(&MIXES, tasks, &mut row, |row, case, task, space, simulator| {
        let Ok(efforts) = space.efforts() else { return };
        let Some((best, _)) = efforts[0] else { return };
        let best = best.to_f64();
        for polls in 0..40 {
            let options = PlanOptions { algorithm: Algorithm::Anytime, ..PlanOptions::default() };
            let case = format!("{case}, {polls} polls");
            let mut differences = Vec::new();
            let mut costs = Vec::new();
            let mut on_plan = |found: &Plan, _: &'static str| {
                costs.push((found.cost, found.steps.len()));
                differences.extend(check_plan(task, simulator, &found.step_texts(), found.cost));
            };
            let mut limits = CountingLimits { polls, ..LIMITS };
            let result = plan_with_progress(&task.domain, &task.problem, &options, &mut limits, &mut on_plan);
            let Ok(PlanResult { outcome: SearchOutcome::Plan(found), note: None, stopped, .. }) = result
            else {
                continue;
            };
            let Some(cost) = found.cost else { continue };
            row.count(if found.optimal { "proven" } else { "cut" });
            differences.extend(check_plan(task, simulator, &found.step_texts(), found.cost));
            if costs.last() != Some(&(found.cost, found.steps.len())) {
                differences.push("the last plan that was reported is not the result".to_owned());
            }
            // Costs may have to be high or low: the optimum is never beyond the bound, nor worse than the plan.
            if let Some(bound) = found.bound
                && ((best - bound) * (cost - bound) < 0.0 || (best - bound).abs() > (cost - bound).abs())
            {
                differences.push(format!("cost {cost}, bound {bound}, cheapest {best}"));
            }
            if found.optimal != stopped.is_none() || found.optimal && cost != best {
                differences.push(format!("cost {cost}, {stopped:?}, cheapest {best}"));
            }
            row.record(&case, &differences);
        }
    });
    row
}

fn exact_cost(simulator: &Simulator<'_>, steps: &[String]) -> Option<Fraction> {
    let last = simulator.execute(steps).ok()??;
    simulator.plan_cost(&last, steps.len()).ok()?
}

/// Differences between a found plan, the simulator and our validator.
fn check_plan(task: &Task, simulator: &Simulator<'_>, steps: &[String], cost: Option<f64>) -> Vec<String> {
    let mut differences = Vec::new();
    match simulator.execute(steps) {
        Ok(Some(last)) if simulator.is_goal(&last) == Ok(true) => {
            if let Ok(exact) = simulator.plan_cost(&last, steps.len())
                && exact.map(Fraction::to_f64) != cost
            {
                differences.push(format!("cost {cost:?}, simulator {exact:?}: {steps:?}"));
            }
        }
        Err(_) => {}
        _ => differences.push(format!("the simulator refuses the plan {steps:?}")),
    }
    match validate(&task.domain, &task.problem, &parse_plan(&steps.join("\n"), SourceId(2)), &mut Unlimited) {
        Ok(report) if report.is_valid() && report.cost == cost => {}
        Ok(report) => differences.push(format!(
            "our validator: {:?}, cost {:?}, the planner's is {cost:?}: {steps:?}",
            report.decision, report.cost
        )),
        Err(_) => differences.push("our validator refuses the task".to_owned()),
    }
    differences
}
