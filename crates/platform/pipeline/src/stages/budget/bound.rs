//! The most requests of a budget stage.

use super::config::BudgetStage;
use crate::bound::{BeamBound, BoundWalk, QuestionBound};

/// A pull is made where something is left, so the last ones, as many as are made side by side, may go beyond the budget.
pub(super) fn bound(stage: &BudgetStage, walk: &mut BoundWalk<'_>, beam: BeamBound) -> BeamBound {
    let one = BeamBound { width: 1, before: 0 };
    let sample = walk.series(stage.sample.iter().chain(&stage.judge), one);
    let refined = walk.series(stage.round.iter().chain(&stage.judge), one);
    let entered = walk.series(&stage.judge, beam);
    let all = || sample.iter().chain(&refined).chain(&entered);
    let mut models: Vec<String> = all().flat_map(|bound| bound.models.iter().cloned()).collect();
    models.sort();
    models.dedup();
    let width = beam.width.max(u64::from(stage.keep));
    if models.is_empty() {
        return BeamBound { width, before: beam.before + 1 };
    }
    let sum = |found: &[QuestionBound]| {
        found.iter().try_fold(0_u64, |sum, bound| Some(sum.saturating_add(bound.questions?)))
    };
    // A pull is refined once more than the last: at most as many replies stand before a question as there are pulls.
    let largest = all().filter_map(|b| Some(b.replies? / b.questions?.max(1))).max().unwrap_or(1).max(1);
    let pull = Some(sum(&sample)).flatten().zip(sum(&refined)).map(|(a, b)| a.max(b));
    let questions = stage.budget.calls.zip(pull).zip(sum(&entered)).map(|((calls, pull), entered)| {
        let begun = calls.saturating_sub(1).max(entered);
        begun.saturating_add(pull.saturating_mul(u64::from(stage.width)))
    });
    let why = match (questions, pull, stage.budget.calls) {
        (Some(_), ..) => String::new(),
        (None, None, _) => all().find(|b| !b.why.is_empty()).map(|b| b.why.clone()).unwrap_or_default(),
        _ => format!("the budget of stage `{}` does not limit requests", stage.label),
    };
    walk.found.push(QuestionBound {
        stage: stage.label.clone(),
        models,
        questions,
        replies: questions.map(|questions| questions.saturating_mul(largest)),
        // Every pull may refine what the last one made, which carries one reply more.
        before: questions.map(|questions| questions.saturating_mul(beam.before + 1)),
        tokens: stage.budget.tokens,
        usd: stage.budget.money,
        why,
    });
    BeamBound { width, before: beam.before + 1 }
}
