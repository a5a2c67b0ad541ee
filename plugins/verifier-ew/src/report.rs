//! The comparison in words and as JSON: for the evidence of an assessment and for `planforge pddl ew`.

use crate::goals::GoalsMeasured;
use crate::measure::{Action, DIRECTIONS, DirectionMeasure, Measured};
use crate::options::Settings;
use crate::race::RaceStatus;
use planforge_planning::walk::{Counterexample, NamedStep, ScoreInterval, WalkDirection};
use planforge_plugin_common::judging::reports::{EwInterval, EwReport};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The JSON name of a direction.
pub const fn direction_name(direction: WalkDirection) -> &'static str {
    match direction {
        WalkDirection::ReferenceToCandidate => "reference_to_candidate",
        WalkDirection::CandidateToReference => "candidate_to_reference",
    }
}

/// The full result as JSON: the settings, each direction with its problems, lengths and actions, and the
/// shortest failing walk.
///
/// `{form, semantics, dead_ends, policy, t_max, walks_per_length, seed, reference_to_candidate,
/// candidate_to_reference, failing_walk?}`; a direction is `{score, low, high, walks, problems: [{score,
/// lengths, left_out}], actions: [{action, tried, refused}]}`, a length `{length, walks, executable,
/// rejected, given_up}` or, computed, `{length, probability}`. In a computed direction `tried` is the
/// expected number of steps on a walk of the longest length, and `refused` the probability that it fails at
/// the action.
pub fn details(
    measured: &Measured,
    settings: &Settings,
    seed: u64,
    failing: Option<&Counterexample>,
) -> Value {
    let mut value = json!({
        "form": settings.form,
        "semantics": settings.semantics,
        "dead_ends": settings.dead_ends,
        "policy": settings.policy,
        "t_max": settings.t_max,
    });
    if !measured.exact {
        value["walks_per_length"] = settings.walks.into();
        value["seed"] = seed.into();
    }
    for (number, direction) in DIRECTIONS.into_iter().enumerate() {
        value[direction_name(direction)] = one_direction(measured, number);
    }
    if let Some(found) = failing {
        value["failing_walk"] = failing_walk(found);
    }
    value
}

fn one_direction(measured: &Measured, number: usize) -> Value {
    let score = [measured.score.reference_to_candidate, measured.score.candidate_to_reference][number];
    let problems: Vec<Value> = measured
        .problems
        .iter()
        .map(|problem| match &problem[number] {
            DirectionMeasure::Undefined => {
                json!({ "undefined": "no action can be executed in the initial state" })
            }
            measure @ DirectionMeasure::Exact(exact) => json!({
                "score": measure.score(),
                "lengths": exact.lengths.iter().map(|l| json!({
                    "length": l.length, "probability": l.probability,
                })).collect::<Vec<_>>(),
                "left_out": measure.left_out(),
                "pairs": exact.pairs,
            }),
            measure @ DirectionMeasure::Sampled(sample) => json!({
                "score": measure.score(),
                "lengths": sample.lengths.iter().map(|l| json!({
                    "length": l.length, "walks": l.walks, "executable": l.executable,
                    "rejected": l.rejected, "given_up": l.given_up,
                })).collect::<Vec<_>>(),
                "left_out": measure.left_out(),
                "steps": sample.steps,
            }),
        })
        .collect();
    let actions: Vec<Value> = measured
        .actions(number)
        .iter()
        .map(|a| json!({ "action": a.name, "tried": a.tried, "refused": a.refused }))
        .collect();
    let interval = measured.directions[number];
    json!({
        "score": score,
        "low": interval.map(|i| i.low),
        "high": interval.map(|i| i.high),
        "walks": measured.problems.iter().map(|p| p[number].walks()).sum::<u64>(),
        "problems": problems,
        "actions": actions,
    })
}

pub(crate) fn failing_walk(found: &Counterexample) -> Value {
    let steps: Vec<String> =
        found.walk.prefix.iter().chain([&found.walk.action]).map(NamedStep::to_string).collect();
    json!({
        "direction": direction_name(found.direction),
        "steps": steps,
        "refused_by": match found.direction {
            WalkDirection::ReferenceToCandidate => "candidate",
            WalkDirection::CandidateToReference => "environment",
        },
        "refusal": found.walk.refusal.to_string(),
        "shortest": found.shortest,
    })
}

/// Adds the certainty of the score to the details, as `certainty`: `exact`, `proven` (a search found no
/// failing walk), `refuted` (every sampled walk was executed, and a search found a failing one), `all-walks`
/// or `interval`.
pub fn certainty(details: &mut Value, measured: &Measured, failing: bool, proven: bool) {
    details["certainty"] = sureness(measured, failing, proven).into();
}

fn sureness(measured: &Measured, failing: bool, proven: bool) -> &'static str {
    match (measured.score.score, measured.exact) {
        (Some(1.0), _) if failing => "refuted",
        (_, true) => "exact",
        (Some(1.0), false) if proven => "proven",
        (Some(1.0), false) => "all-walks",
        _ => "interval",
    }
}

/// The comparison of the goals as JSON: `{agreement, low, high, reference_to_candidate, candidate_to_reference, missing?}`; a direction is
/// `{agreement, walks?, both?, difference?}`, where `walks` are those drawn that end in at least one goal, `both` those that end in
/// both, and a difference `{steps, goal_of, executed}`.
pub fn goals(goals: &GoalsMeasured) -> Value {
    let mut value = json!({
        "agreement": goals.agreement,
        "low": goals.interval.map(|i| i.low),
        "high": goals.interval.map(|i| i.high),
    });
    for (direction, found) in DIRECTIONS.into_iter().zip(&goals.directions) {
        let Some(found) = found else { continue };
        let mut one = json!({ "agreement": found.agreement });
        if let (Some(walks), Some(both)) = (found.counted, found.both) {
            one["walks"] = walks.into();
            one["both"] = both.into();
        }
        if let Some(difference) = &found.difference {
            one["difference"] = json!({
                "steps": difference.steps.iter().map(NamedStep::to_string).collect::<Vec<_>>(),
                "goal_of": goal_side(direction, difference.source_holds),
                "executed": difference.executed,
            });
        }
        value[direction_name(direction)] = one;
    }
    if let Some(why) = &goals.missing {
        value["missing"] = why.to_string().into();
    }
    value
}

/// The side whose goal holds where the goals differ.
fn goal_side(direction: WalkDirection, source_holds: bool) -> &'static str {
    match (direction, source_holds) {
        (WalkDirection::ReferenceToCandidate, true) | (WalkDirection::CandidateToReference, false) => {
            "environment"
        }
        _ => "candidate",
    }
}

/// The comparison of the goals in one line.
pub(crate) fn goals_line(goals: &GoalsMeasured, settings: &Settings) -> String {
    let why = goals.missing.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
    let Some(agreement) = goals.agreement else { return format!("The goals were not compared{why}.") };
    let drawn: u64 = goals.directions.iter().flatten().filter_map(|d| d.counted).sum();
    match goals.interval {
        Some(i) if drawn > 0 => format!(
            "Goal agreement {agreement:.3}{why} ({:.3} to {:.3} at {} % confidence, {drawn} walks that end in a goal).",
            i.low,
            i.high,
            settings.confidence * 100.0
        ),
        _ => format!("Goal agreement {agreement:.3}{why} (computed exactly)."),
    }
}

pub(crate) fn race(note: RaceStatus) -> Value {
    json!({
        "blocks": note.blocks,
        "eliminated": note.eliminated,
        "leader": note.leader,
        "decided": note.decided,
    })
}

/// The comparison for a person, a line for the score and one for each direction's refusals.
pub fn summary(measured: &Measured, settings: &Settings, failing: bool, proven: bool) -> String {
    let mut out = headline(measured, settings, failing, proven);
    let scores = [measured.score.reference_to_candidate, measured.score.candidate_to_reference];
    let _ = write!(
        out,
        "\nThe candidate executes {} of the reference's walks, the reference {} of the candidate's.",
        share(scores[0]),
        share(scores[1])
    );
    let refusers = ["The candidate refuses", "The reference refuses"];
    for (number, refuser) in refusers.into_iter().enumerate() {
        let refused: Vec<Action> = measured.actions(number).into_iter().filter(|a| a.refused > 0.0).collect();
        if refused.is_empty() {
            continue;
        }
        let list: Vec<String> = refused.iter().map(|a| refusals(a, measured.exact)).collect();
        let _ = write!(out, "\n{refuser} {}.", list.join(", "));
    }
    for (number, direction) in DIRECTIONS.into_iter().enumerate() {
        let mut left_out: Vec<u32> = measured.problems.iter().flat_map(|p| p[number].left_out()).collect();
        left_out.sort_unstable();
        left_out.dedup();
        if !left_out.is_empty() {
            let list: Vec<String> = left_out.iter().map(u32::to_string).collect();
            let whose = match direction {
                WalkDirection::ReferenceToCandidate => "the reference",
                WalkDirection::CandidateToReference => "the candidate",
            };
            let _ = write!(out, "\nWithout any walk of {whose}, and left out: length {}.", list.join(", "));
        }
    }
    out
}

fn headline(measured: &Measured, settings: &Settings, failing: bool, proven: bool) -> String {
    let Some(score) = measured.score.score else {
        let who = match (measured.score.reference_undefined > 0, measured.score.candidate_undefined > 0) {
            (true, true) => "neither side has an action that can be executed in the initial state",
            (true, false) => "the reference has no action that can be executed in the initial state",
            _ => "the candidate has no action that can be executed in the initial state",
        };
        return format!("The exploration walk score is not defined: {who}.");
    };
    let walks = measured.walks();
    let how = match sureness(measured, failing, proven) {
        "exact" => "computed exactly".to_owned(),
        "proven" => format!("no walk of up to {} steps fails on the other side", settings.t_max),
        "refuted" => {
            format!("all {walks} sampled walks are executed by the other side, but one was found that is not")
        }
        "all-walks" => format!("all {walks} sampled walks are executed by the other side"),
        _ => match measured.interval {
            Some(ScoreInterval { low, high }) => format!(
                "{low:.3} to {high:.3} at {} % confidence, {walks} walks",
                settings.confidence * 100.0
            ),
            None => format!("{walks} walks that depend on each other, so there is no interval"),
        },
    };
    format!("Exploration walk score {score:.3} ({how}).")
}

fn share(score: Option<f64>) -> String {
    score.map_or_else(|| "an undefined share".to_owned(), |s| format!("{:.1} %", s * 100.0))
}

fn refusals(action: &Action, exact: bool) -> String {
    if exact {
        format!("{} (ends {:.1} % of the longest walks)", action.name, action.refused * 100.0)
    } else {
        format!("{} ({} of {} tries)", action.name, action.refused, action.tried)
    }
}

/// The document that `planforge pddl ew --json` prints.
pub fn document(
    measured: &Measured,
    settings: &Settings,
    seed: u64,
    failing: Option<&Counterexample>,
    proven: bool,
) -> EwReport {
    let mut details = details(measured, settings, seed, failing);
    certainty(&mut details, measured, failing.is_some(), proven);
    EwReport {
        score: measured.score.score,
        reference_to_candidate: measured.score.reference_to_candidate,
        candidate_to_reference: measured.score.candidate_to_reference,
        interval: measured.interval.map(|i| EwInterval {
            low: i.low,
            high: i.high,
            confidence: if measured.exact { 1.0 } else { settings.confidence },
        }),
        mode: if measured.exact { "exact" } else { "sampled" }.to_owned(),
        details,
    }
}
