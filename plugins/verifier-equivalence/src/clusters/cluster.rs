//! Clusters of candidates that behave the same on their problem.

use crate::clusters::options::ClusterOptions;
use crate::clusters::question::Question;
use planforge_contract::{Candidate, Given, ReportedSeverity};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    ComparableModel, ComparisonVerdict, comparable, compare_models,
};
use planforge_planning::walk::ModelError;
use planforge_planning::{SearchOutcome, plan_model};
use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::checked::{Texts, check};
use std::collections::BTreeMap;

/// Candidates that behave the same. All are represented by the model of the first.
pub(crate) struct Cluster {
    /// Indices of the candidates, ascending.
    pub(crate) members: Vec<usize>,
    pub(crate) kind: ClusterKind,
}

pub(crate) enum ClusterKind {
    /// Members were compared with every other cluster.
    Compared(ComparableModel),
    /// A limit ended a comparison with another cluster, so that there may be more members.
    Cut {
        /// The model, unless the limit ended its grounding.
        model: Option<ComparableModel>,
        reason: String,
    },
    /// The single member is unreadable, has no effects or cannot be solved.
    Trivial(String),
}

impl Cluster {
    pub(crate) fn model(&self) -> Option<&ComparableModel> {
        match &self.kind {
            ClusterKind::Compared(model) => Some(model),
            ClusterKind::Cut { model, .. } => model.as_ref(),
            ClusterKind::Trivial(_) => None,
        }
    }
}

/// Clusters in the order of their first members, and the shortest differences between them.
#[derive(Default)]
pub(crate) struct Clusters {
    pub(crate) all: Vec<Cluster>,
    /// Questions that two clusters answer differently, by their indices, the lower one first.
    pub(crate) questions: BTreeMap<(usize, usize), Question>,
}

/// Groups the candidates, in their order.
pub(crate) fn clusters(
    candidates: &[Candidate],
    given: &Given,
    options: &ClusterOptions,
    deadline: &mut Deadline<'_>,
) -> Clusters {
    let mut clusters = Clusters::default();
    for (index, candidate) in candidates.iter().enumerate() {
        let kind = read(Texts::of(candidate, given), options, deadline);
        let kind = match kind {
            ClusterKind::Compared(model) => match clusters.place(&model, options, deadline) {
                Place::In(cluster) => {
                    if let Some(cluster) = clusters.all.get_mut(cluster) {
                        cluster.members.push(index);
                    }
                    continue;
                }
                Place::New => ClusterKind::Compared(model),
                Place::Cut(reason) => ClusterKind::Cut { model: Some(model), reason },
            },
            kind => kind,
        };
        clusters.all.push(Cluster { members: vec![index], kind });
    }
    clusters
}

/// A candidate on its own: a model, unless it is trivial or cut.
fn read(texts: Texts<'_>, options: &ClusterOptions, deadline: &mut Deadline<'_>) -> ClusterKind {
    let trivial = |reason: &str| ClusterKind::Trivial(reason.to_owned());
    let checked = check(texts, "");
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        return trivial("it has no domain or no problem");
    };
    if checked.count(ReportedSeverity::Error) > 0 {
        return trivial("it has errors");
    }
    if domain.is_without_effects() {
        return trivial("no action has an effect");
    }
    let model = match comparable(ComparedSide::First, domain, problem, &options.comparison(), deadline) {
        Ok(model) => model,
        Err(not) => {
            return match not.error {
                ModelError::Invalid(_) => ClusterKind::Trivial(not.error.to_string()),
                // The candidate may be right, and nothing is known about it.
                ModelError::Unsupported(_) | ModelError::Limit(_) => {
                    ClusterKind::Cut { model: None, reason: not.error.to_string() }
                }
            };
        }
    };
    match plan_model(model.model(), &options.search(), deadline).map(|result| result.outcome) {
        Some(SearchOutcome::ProvenUnsolvable(_)) => trivial("its problem has no plan"),
        _ => ClusterKind::Compared(model),
    }
}

/// The place of a candidate among the clusters so far.
enum Place {
    In(usize),
    New,
    Cut(String),
}

impl Clusters {
    /// Compares a model with every cluster, up to the one that it belongs to. Notes the differences as those of a new cluster.
    fn place(
        &mut self,
        model: &ComparableModel,
        options: &ClusterOptions,
        deadline: &mut Deadline<'_>,
    ) -> Place {
        let new = self.all.len();
        let (mut cut, mut questions) = (None, Vec::new());
        for (index, cluster) in self.all.iter().enumerate() {
            let Some(first) = cluster.model() else { continue };
            match compare_models([first, model], &options.comparison(), deadline) {
                Ok(found) => match found.verdict() {
                    ComparisonVerdict::Equal => return Place::In(index),
                    ComparisonVerdict::Different => {
                        questions.extend(Question::about(&found).map(|question| ((index, new), question)));
                    }
                    ComparisonVerdict::Open => cut = Some("a limit cut a comparison".to_owned()),
                },
                Err(not) => cut = Some(not.error.to_string()),
            }
        }
        self.questions.extend(questions);
        cut.map_or(Place::New, Place::Cut)
    }
}
