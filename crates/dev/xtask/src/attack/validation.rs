//! Verdicts of our validator on random plans, against the independent simulator and against VAL.

use super::context::Context;
use super::fraction::{Fraction, TooLarge};
use super::simulator::{Departures, Simulator};
use super::table::Row;
use super::tasks::{MIXES, Task};
use super::val::{Judgement, Val};
use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use planforge_planning::{ValidationDecision, parse_plan, validate};

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
    let report = validate(&task.domain, &task.problem, &parse_plan(&plan.join("\n"), SourceId(2)))
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
