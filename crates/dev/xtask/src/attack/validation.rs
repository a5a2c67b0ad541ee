//! Our validator and planner on random tasks, against the independent simulator and against VAL.

use super::simulator::{Departures, Fraction, NoSpace, Simulator, Space, TooLarge};
use super::tasks::{MIXES, Mix, Task};
use super::{Context, Row};
use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use planforge_planning::{
    Algorithm, CountingLimits, PlanOptions, SearchOutcome, TopKEnd, TopKOptions, TopKOutcome, Unlimited,
    ValidationDecision, parse_plan, plan, top_k, validate,
};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Tasks at scale 1.
const TASKS: usize = 10_000;

/// The rows against the simulator and against VAL.
pub(crate) fn run(context: &Context) -> Result<[Row; 2], String> {
    let mut simulated = Row::default();
    let mut judged = match context.val {
        Some(_) => Row::default(),
        None => Row::not_run("VAL is not installed"),
    };
    for number in 0..context.scaled(TASKS) {
        let mix = MIXES[number % MIXES.len()];
        let seed = context.seed.wrapping_mul(1_000_003) + number as u64;
        let task = Task::random(seed, mix);
        let plans = random_plans(&task, seed);
        let case = format!("seed {seed}, {}", mix.name);
        let simulator = Simulator::new(&task.domain, &task.problem);
        let val = Val::new(context, &task)?;
        for plan in &plans {
            let ours = our_verdict(&task, plan);
            let expected = simulated_verdict(&simulator, plan);
            match &expected {
                Ok(expected) => {
                    let valid = expected.is_some();
                    simulated.count(if valid { "valid plans" } else { "invalid plans" });
                    simulated.record(&case, &differences(&ours, *expected, plan));
                }
                Err(TooLarge) => {
                    simulated.explain("a number is beyond the range of the simulator's fractions")
                }
            }
            let Some(val) = &val else { continue };
            let judgement = val.judge(plan)?;
            let ours = ours.map(|(valid, _)| valid);
            if judgement.valid.is_some() && judgement.valid == ours.as_ref().ok().copied() {
                judged.agreed += 1;
            } else if let Some(reason) = known_difference(&task, plan, &judgement)
                && expected.is_ok_and(|expected| ours == Ok(expected.is_some()))
            {
                judged.explain(reason);
            } else {
                context.keep(
                    &format!("val-{seed}"),
                    [&task.domain_text, &task.problem_text, &plan.join("\n")],
                )?;
                judged.record(&case, &[format!("ours {ours:?}, VAL {:?}: {plan:?}", judgement.valid)]);
            }
        }
    }
    Ok([simulated, judged])
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

/// The reason why VAL differs from us and from the simulator, if it is a known one. A departure of VAL is the reason
/// only if the simulator with this departure gives VAL's verdict.
fn known_difference(task: &Task, plan: &[String], judgement: &Judgement) -> Option<&'static str> {
    if judgement.valid.is_none() && judgement.output.contains("Attempt to access undefined") {
        return Some("VAL stops without a verdict at a fluent without a value");
    }
    let tolerance = Fraction::new(1, 10_000).ok().flatten();
    let none = Departures::default();
    let departures = [
        (
            Departures { tolerance, ..none },
            "VAL compares numbers with a tolerance of 0.0001, so that `<` holds for equal numbers",
        ),
        (
            Departures { undefined_is_zero: true, ..none },
            "VAL counts a fluent without a value from 0 where an effect changes it",
        ),
        (
            Departures { zero_divides: true, ..none },
            "VAL divides or scales down by 0, and goes on with an infinite value",
        ),
        (
            Departures { tolerance, undefined_is_zero: true, zero_divides: true },
            "several of VAL's departures with numbers",
        ),
    ];
    departures.into_iter().find_map(|(departures, reason)| {
        let simulator = Simulator::departing(&task.domain, &task.problem, departures);
        let valid = simulated_verdict(&simulator, plan).ok()?.is_some();
        (judgement.valid == Some(valid)).then_some(reason)
    })
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

/// A verdict of VAL on a plan.
pub(crate) struct Judgement {
    /// `None` if VAL gave no verdict.
    pub(crate) valid: Option<bool>,
    /// Everything that VAL printed.
    pub(crate) output: String,
}

/// VAL with the files of one task.
pub(crate) struct Val<'c> {
    validate: &'c Path,
    domain: PathBuf,
    problem: PathBuf,
    plan: PathBuf,
}

impl<'c> Val<'c> {
    /// Writes the files of a task. `None` if VAL is not installed.
    pub(crate) fn new(context: &'c Context, task: &Task) -> Result<Option<Self>, String> {
        let Some(validate) = &context.val else { return Ok(None) };
        let [domain, problem, plan] =
            ["val-domain.pddl", "val-problem.pddl", "val-plan"].map(|name| context.scratch.join(name));
        write(&domain, &task.domain_text)?;
        write(&problem, &task.problem_text)?;
        Ok(Some(Self { validate, domain, problem, plan }))
    }

    pub(crate) fn judge(&self, plan: &[String]) -> Result<Judgement, String> {
        write(&self.plan, &(plan.join("\n") + "\n"))?;
        let output = Command::new(self.validate).args([&self.domain, &self.problem, &self.plan]).output();
        let output = output.map_err(|e| format!("{}: {e}", self.validate.display()))?;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        // A step that does not fit the declared types is an error of type-checking, once the plan is being checked.
        let refused = ["Plan failed", "Plan invalid", "Bad plan", "Bad operator", "Goal not satisfied"];
        let valid = match output.split_once("Checking plan: ") {
            Some((_, section)) if section.contains("Plan valid") => Some(true),
            Some((_, section)) if refused.iter().any(|words| section.contains(words)) => Some(false),
            Some(_) if error.contains("Error in type-checking") => Some(false),
            _ => None,
        };
        Ok(Judgement { valid, output: output + &error })
    }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Tasks at scale 1 for one plan and for several plans.
const PLANNING_TASKS: usize = 3_000;
const TOP_K_TASKS: usize = 400;

/// Larger spaces are not searched.
const MAX_STATES: usize = 600;
/// Most prefixes of plans that an enumeration visits.
const MAX_PREFIXES: usize = 20_000;

/// Far more than any task of these sizes needs.
const LIMITS: CountingLimits = CountingLimits { polls: 50_000_000, bytes: 2 << 30 };

/// A task whose space was searched completely.
fn searched(
    context: &Context,
    wanted: usize,
    stream: u64,
    row: &mut Row,
    mut check: impl FnMut(&mut Row, &str, &Task, &Space<'_>, &Simulator<'_>),
) {
    let mut done = 0;
    for number in 0.. {
        if done == wanted {
            break;
        }
        let mix: Mix = MIXES[number % MIXES.len()];
        let seed = context.seed.wrapping_mul(1_000_003) + stream + number as u64;
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

/// The row of single plans: greedy, A* and breadth-first search.
pub(crate) fn attack_planning(context: &Context) -> Row {
    let mut row = Row::default();
    searched(
        context,
        context.scaled(PLANNING_TASKS),
        1 << 32,
        &mut row,
        |row, case, task, space, simulator| {
            let Ok(efforts) = space.efforts() else { return };
            let best = efforts[0];
            row.count(if best.is_some() { "solvable" } else { "unsolvable" });
            for algorithm in [Algorithm::Greedy, Algorithm::AStar, Algorithm::BreadthFirst] {
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
        },
    );
    row
}

/// The row of several plans.
pub(crate) fn run_top_k(context: &Context) -> Row {
    let mut row = Row::default();
    searched(context, context.scaled(TOP_K_TASKS), 1 << 33, &mut row, |row, case, task, space, simulator| {
        for k in [1, 4, 15] {
            let case = format!("{case}, k {k}");
            let Ok(Some(expected)) = space.plans(k, MAX_PREFIXES) else {
                row.count("enumerations too large");
                continue;
            };
            let mut options = TopKOptions::new(NonZeroUsize::MIN.saturating_add(k - 1));
            options.max_nodes = 10_000_000;
            let result = match top_k(&task.domain, &task.problem, &options, &mut LIMITS.clone()) {
                Ok(result) => result,
                Err(diagnostics) => {
                    row.record(&case, &[format!("refused: {}", diagnostics[0].message)]);
                    continue;
                }
            };
            let (plans, end) = match result.outcome {
                TopKOutcome::Plans { plans, end } => (plans, end),
                TopKOutcome::ProvenUnsolvable(_) => (Vec::new(), TopKEnd::NoMore),
                TopKOutcome::Unsupported(what) => {
                    row.explain(&format!("reported as not supported: {}", what[0].what));
                    continue;
                }
                TopKOutcome::LimitReached(reason) => {
                    row.record(&case, &[format!("{reason} reached")]);
                    continue;
                }
            };
            let mut differences = Vec::new();
            let found: Vec<Vec<String>> = plans.iter().map(|p| p.step_texts()).collect();
            let steps: Vec<Vec<&str>> = expected.iter().map(|(_, steps)| steps.clone()).collect();
            let lower: Vec<Vec<String>> =
                found.iter().map(|p| p.iter().map(|s| s.to_lowercase()).collect()).collect();
            if lower != steps {
                differences
                    .push(format!("plans {lower:?}, enumerated {steps:?}").chars().take(2000).collect());
            }
            if (end == TopKEnd::Enough) != (expected.len() == k) {
                differences.push(format!("{end:?} with {} plans of {k}", expected.len()));
            }
            for (plan, steps) in plans.iter().zip(&found) {
                row.count("plans compared");
                differences.extend(check_plan(task, simulator, steps, plan.cost));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(domain: &str, problem: &str, plan: &str) -> Option<&'static str> {
        let task = Task {
            domain_text: domain.to_owned(),
            problem_text: problem.to_owned(),
            domain: planforge_pddl::parse_domain(domain, SourceId(0)).value,
            problem: planforge_pddl::parse_problem(problem, SourceId(1)).value,
            walk: Vec::new(),
        };
        let plan: Vec<String> = plan.lines().map(str::to_owned).collect();
        known_difference(&task, &plan, &Judgement { valid: Some(true), output: String::new() })
    }

    #[test]
    fn a_plan_that_divides_by_zero_is_valid_for_val_alone() {
        let domain = "(define (domain d) (:requirements :fluents) (:functions (f) (g)) (:predicates (done))
            (:action halve :parameters () :effect (and (scale-down (f) (g)) (done))))";
        let problem = |goal: &str| {
            format!(
                "(define (problem p) (:domain d) (:init (= (f) 4) (= (g) 0)) (:goal (and (done) {goal})))"
            )
        };
        let reason = explained(domain, &problem("(> (f) 1000000)"), "(halve)");
        assert!(reason.is_some_and(|reason| reason.contains("scales down by 0")), "{reason:?}");
        assert_eq!(explained(domain, &problem("(< (f) 0)"), "(halve)"), None);
        let reason = explained(domain, &problem("(> (/ 4 (g)) 1000000)"), "(halve)");
        assert!(reason.is_some_and(|reason| reason.contains("divides or scales down by 0")), "{reason:?}");
    }
}
