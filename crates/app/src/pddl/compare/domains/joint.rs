//! Domains with problems of their own, under a joint renaming for each pair of problems.

use super::{
    ComparedTexts, DomainComparisonMethod, DomainEquivalentReport, DomainsRequest, DomainsResult, semantics,
};
use crate::context::Context;
use crate::limits::RequestLimits;
use crate::status::{Status, of_stop};
use planforge_diagnostics::Diagnostic;
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::SearchEnd;
use planforge_planning::equivalence::joint::{
    JointLimits, Reading, ReadingComparison, ReadingVerdict, ReadingsError, ReadingsNotCompared,
    compare_readings,
};
use planforge_planning::walk::ModelError;
use planforge_plugin_common::judging::joint::to_compared_problem;
use std::time::Instant;

type Outcome = Result<ReadingComparison, ReadingsNotCompared>;

/// Compares each pair of problems with its domains.
///
/// # Errors
/// The first problem that is not a model with its domain: its index, the side and the diagnostics.
pub(super) fn compare(
    context: &Context,
    request: &DomainsRequest,
    texts: &ComparedTexts<'_>,
) -> Result<DomainsResult, (usize, ComparedSide, Vec<Diagnostic>)> {
    let mut limits =
        JointLimits { semantics: request.semantics.unwrap_or_default().into(), ..JointLimits::default() };
    limits.max_choices = request.max_choices.unwrap_or(limits.max_choices);
    if let DomainComparisonMethod::Exact { max_states, max_depth } = request.method {
        (limits.max_pairs, limits.max_depth) = (max_states, max_depth);
    }
    let progress = context.start_work("problems", Some(texts.problems.len() as u64));
    let started = Instant::now();
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(texts.problems.len());
    for [first, second] in &texts.problems {
        let left = (texts.problems.len() - outcomes.len()) as f64;
        let seconds =
            request.limits.seconds.map(|all| (all - started.elapsed().as_secs_f64()).max(0.0) / left);
        let share = RequestLimits { seconds, ..request.limits };
        let first = Reading { domain: texts.first, problem: first };
        let second = Reading { domain: &texts.second, problem: second };
        outcomes.push(compare_readings(first, second, &limits, &mut share.start(context)));
        progress.advance();
    }
    for (number, outcome) in outcomes.iter().enumerate() {
        let Err(not_compared) = outcome else { continue };
        if let (Some(side), ReadingsError::Model(ModelError::Invalid(found))) =
            (not_compared.side, &not_compared.error)
        {
            return Err((number, side, found.clone()));
        }
    }
    Ok(result(request, &outcomes))
}

fn result(request: &DomainsRequest, outcomes: &[Outcome]) -> DomainsResult {
    let mut status = Status::Good;
    let mut shortest: Option<(usize, usize)> = None;
    let mut equal_up_to = Some(u32::MAX);
    for (number, outcome) in outcomes.iter().enumerate() {
        let own = match outcome {
            Ok(compared) => match &compared.verdict {
                ReadingVerdict::Same => Status::Good,
                ReadingVerdict::SameUpTo { steps, end } => {
                    equal_up_to = equal_up_to.map(|least| least.min(*steps));
                    match end {
                        SearchEnd::Stopped(reason) => of_stop(*reason),
                        SearchEnd::Pairs | SearchEnd::Depth => Status::NodeLimit,
                    }
                }
                ReadingVerdict::Different { .. } => {
                    let length = compared.shortest_difference().unwrap_or(usize::MAX);
                    let own = (length, number);
                    shortest = Some(shortest.map_or(own, |known| known.min(own)));
                    Status::Negative
                }
            },
            Err(ReadingsNotCompared {
                error: ReadingsError::Model(ModelError::Limit(reason)) | ReadingsError::Renaming(reason),
                ..
            }) => {
                equal_up_to = None;
                of_stop(*reason)
            }
            Err(_) => {
                equal_up_to = None;
                Status::Undecided
            }
        };
        if status == Status::Good || own == Status::Negative {
            status = own;
        }
    }
    let decision = match status {
        Status::Good => "equal",
        Status::Negative => "different",
        _ => "undecided",
    };
    let named = request.problems.iter().zip(outcomes);
    let report = DomainEquivalentReport {
        equivalent: status == Status::Good,
        decision: decision.to_owned(),
        semantics: semantics(request).to_owned(),
        equal_up_to: equal_up_to.filter(|&steps| decision == "undecided" && steps < u32::MAX),
        shortest: shortest.map(|(_, number)| number),
        problems: named.map(|(source, outcome)| to_compared_problem(&source.name(), outcome)).collect(),
        ..Default::default()
    };
    DomainsResult { report, unusable: None, status }
}
