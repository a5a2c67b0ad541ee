//! Scores held against other ways to get them: the paper's own code, and exact mode against sampled walks.

use super::{Texts, one_task_each, reference_code_score};
use planforge_pddl::mutate::Mutation;
use planforge_planning::walk::{
    DeadEnds, ExactError, Model, SampleSpec, Semantics, WalkPolicy, exact_direction, harmonic_mean, interval,
    sample_direction,
};
use planforge_planning::{CountingLimits, Unlimited};
use std::path::Path;

/// Folder, problem, action, the removed precondition, and the lowest and highest score observed with the
/// paper's own code.
const SEEN: [(&str, &str, &str, &str, f64, f64); 4] = [
    ("llm-p/grippers", "p01", "pick", "(free ?r ?g)", 0.31, 0.44),
    ("llm-p/termes", "p01", "move", "(height ?to ?h)", 0.92, 0.96),
    ("llm-p/floortile", "p01", "left", "(clear ?y)", 0.89, 0.91),
    ("llm-p/barman", "p01", "grasp", "(handempty ?h)", 0.36, 0.46),
];
/// Number of scores to draw for the range of a score of 100 walks.
const DRAWN: usize = 4000;

/// Prints, for each task of `SEEN`, the expected score and the range of 99 of 100 scores of 100 walks.
pub(super) fn scores(suites: &Path) -> Result<(), String> {
    println!(
        "Walk scores with one precondition removed; ground no-ops dropped, dead ends truncate, lengths 1 to 10."
    );
    println!("task | exact | 99 % of scores of 100 walks | seen with the paper's code | inside");
    for (folder, problem, action, precondition, low, high) in SEEN {
        let texts = Texts::read(&suites.join(folder), problem)?;
        let omissions = texts.omissions();
        let removed = omissions
            .iter()
            .find(|m| {
                m.action.as_ref().is_some_and(|a| a.key() == action)
                    && m.before.as_deref().is_some_and(|b| b.eq_ignore_ascii_case(precondition))
            })
            .ok_or_else(|| format!("{folder}: {action} has no precondition {precondition}"))?;
        let reference = texts.model(Semantics::GroundNoOpsDropped)?;
        let candidate = texts.with(removed).model(Semantics::GroundNoOpsDropped)?;
        let exact = |source, target| {
            let mut budget = CountingLimits { polls: u64::MAX, bytes: 2 << 30 };
            exact_direction(source, target, 10, DeadEnds::Truncate, 5_000_000, &mut budget)
        };
        let exact = match (exact(&reference, &candidate), exact(&candidate, &reference)) {
            (Ok(Some(a)), Ok(Some(b))) => {
                let (a, b) = (a.score().unwrap_or(0.0), b.score().unwrap_or(0.0));
                format!("{:.4}", harmonic_mean(a, b))
            }
            _ => "does not fit".to_owned(),
        };
        let mut drawn = Vec::with_capacity(DRAWN);
        for seed in 0..DRAWN as u64 {
            let (score, _) = reference_code_score(&reference, &candidate, seed)?;
            drawn.push(score.score.ok_or("a direction is not defined")?);
        }
        drawn.sort_by(f64::total_cmp);
        let range = (drawn[DRAWN / 200], drawn[DRAWN - 1 - DRAWN / 200]);
        println!(
            "{folder} {problem} {action} without {precondition} | {exact} | {:.3} to {:.3} | {low} to {high} | {}",
            range.0,
            range.1,
            if range.0 <= low && high <= range.1 { "yes" } else { "no" }
        );
    }
    Ok(())
}

/// One comparison of exact mode with sampled walks.
struct Comparison {
    name: String,
    exact: f64,
    strata: Vec<interval::Stratum>,
}

/// Prints exact and sampled scores of one task of every domain, of two copies that lack one precondition each, not the same, and
/// whether the exact score is within the sampled one's interval at 99.99 %, corrected for the number of comparisons (Bonferroni).
pub(super) fn exact_against_sampled(suites: &Path, walks: u32) -> Result<(), String> {
    let own = Path::new("examples/suites");
    let mut tasks = one_task_each(suites)?;
    if own.is_dir() {
        tasks.extend(one_task_each(own)?);
    }
    let (mut comparisons, mut passed_over) = (Vec::new(), Vec::new());
    for (number, (name, texts)) in tasks.iter().enumerate() {
        let omissions = texts.omissions();
        let at = |shift: usize| omissions.get((number * 7 + shift) % omissions.len().max(1));
        let (Some(one), Some(two)) = (at(0), at(omissions.len() / 2)) else {
            passed_over.push(format!("{name}: no precondition to remove"));
            continue;
        };
        let found = compare(name, texts, [one, two], walks);
        match found {
            Ok(found) => comparisons.extend(found),
            Err(why) => passed_over.push(format!("{name}: {why}")),
        }
    }
    let alpha = 1e-4 / comparisons.len().max(1) as f64;
    println!("domain, direction, dead ends, longest walk | exact | interval of {walks} walks | inside");
    let mut inside = 0;
    for comparison in &comparisons {
        let interval = interval::direction_interval(&comparison.strata, alpha);
        let holds = interval.contains(comparison.exact);
        inside += usize::from(holds);
        println!(
            "{} | {:.6} | {:.6} to {:.6} | {}",
            comparison.name,
            comparison.exact,
            interval.low,
            interval.high,
            if holds { "yes" } else { "no" }
        );
    }
    println!("{inside} of {} comparisons inside; passed over: {}", comparisons.len(), passed_over.len());
    passed_over.iter().for_each(|why| println!("  {why}"));
    Ok(())
}

fn compare(
    name: &str,
    texts: &Texts,
    [one, two]: [&Mutation; 2],
    walks: u32,
) -> Result<Vec<Comparison>, String> {
    let make = |omission| texts.with(omission).model(Semantics::Strips);
    let (reference, candidate) = (make(one)?, make(two)?);
    let t_max = fitting(&reference, &candidate)?;
    let mut out = Vec::new();
    for (direction, source, target) in [
        ("reference to candidate", &reference, &candidate),
        ("candidate to reference", &candidate, &reference),
    ] {
        for (form, dead_ends) in [("condition", DeadEnds::CONDITION), ("truncate", DeadEnds::Truncate)] {
            let exact = exact(source, target, t_max, dead_ends).map_err(|e| e.to_string())?;
            let spec = SampleSpec {
                t_max,
                walks_per_length: walks / t_max,
                seed: 2024,
                dead_ends,
                policy: WalkPolicy::Uniform,
            };
            let sampled =
                sample_direction(source, target, &spec, &mut Unlimited).map_err(|e| e.to_string())?;
            let (Some(exact), Some(sampled)) = (exact, sampled) else { break };
            let dead_end_met = sampled.lengths.iter().any(|l| l.rejected > 0);
            out.push(Comparison {
                name: format!("{name} ({one} / {two}), {direction}, {form}, {t_max}"),
                exact,
                strata: interval::strata([&sampled]),
            });
            // Without dead ends both forms are one distribution.
            if !dead_end_met {
                break;
            }
        }
    }
    Ok(out)
}

fn exact(source: &Model, target: &Model, t_max: u32, dead_ends: DeadEnds) -> Result<Option<f64>, ExactError> {
    let mut budget = CountingLimits { polls: u64::MAX, bytes: 1 << 30 };
    let exact = exact_direction(source, target, t_max, dead_ends, 400_000, &mut budget)?;
    Ok(exact.and_then(|e| e.score()))
}

/// The longest walk length among a few at which exact mode fits in both directions.
fn fitting(reference: &Model, candidate: &Model) -> Result<u32, String> {
    let mut last = String::new();
    for t_max in [10, 6, 4, 3] {
        let fits = |source, target| exact(source, target, t_max, DeadEnds::CONDITION);
        match fits(reference, candidate).and_then(|_| fits(candidate, reference)) {
            Ok(_) => return Ok(t_max),
            Err(error) => last = error.to_string(),
        }
    }
    Err(last)
}
