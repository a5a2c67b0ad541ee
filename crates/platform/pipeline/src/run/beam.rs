//! A candidate on its way through the stages, with what the candidate document does not hold.

use super::path::unmarked;
use super::report::Written;
use crate::config::{Order, Pipeline, PlanStage, SelectStage, Stage};
use crate::front::{CANDIDATE, MEAN_LOG_LIKELIHOOD};
use planforge_contract::{
    Assessment, Candidate, Decision, Failure, LineageStep, Message, PlanOutcome, UndecidedReason,
};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// One member of the beam.
#[derive(Debug, Clone, Default)]
pub(super) struct Entry {
    pub(super) candidate: Candidate,
    /// Outcomes by the label of the plan stage.
    pub(super) plans: BTreeMap<String, PlanOutcome>,
    /// Calls on this candidate that broke, by the stage's label.
    pub(super) failures: BTreeMap<String, Failure>,
    /// Plan stages that could not be asked, and why.
    pub(super) unasked: BTreeMap<String, String>,
    /// Labels of assessments that rest on what the environment said.
    pub(super) from_environment: BTreeSet<String>,
    /// The position among all stages of the one that last wrote a domain or problem; what earlier stages said is about
    /// another text.
    pub(super) since: usize,
    /// How it was written.
    pub(super) written: Vec<Written>,
    /// Texts for translators that came with the candidate: those of the lead task.
    pub(super) materials: BTreeMap<String, String>,
    /// Why no reply to the last round's question could be used.
    pub(super) unusable: Vec<String>,
    /// The verify stages' own conversations about it and its ancestors, by the stage's label.
    pub(super) conversations: BTreeMap<String, Vec<Message>>,
    /// Stages of a round before the writer that have judged it since it was written, though they stand before that.
    pub(super) looked: BTreeSet<String>,
    /// Stages that have nothing to say about it: about a plan that was written anew, or about children that were not made.
    pub(super) exempt: BTreeSet<String>,
    /// The position among all stages from which on stages speak of its plan.
    pub(super) plan_from: Option<usize>,
}

impl Entry {
    /// Appends to a verify stage's own conversation.
    pub(super) fn converse(&mut self, label: &str, messages: Vec<Message>) {
        if !messages.is_empty() {
            self.conversations.entry(label.to_owned()).or_default().extend(messages);
        }
    }

    /// Takes a verify stage's assessment, in place of what the stage said in an earlier round.
    pub(super) fn assess(&mut self, label: &str, assessment: Assessment, from_environment: bool) {
        self.hear(label);
        if from_environment {
            self.from_environment.insert(label.to_owned());
        }
        self.candidate.assessments.insert(label.to_owned(), assessment);
    }

    /// Whether a stage has said something, or said why it says nothing.
    pub(super) fn has_word_of(&self, label: &str) -> bool {
        self.candidate.assessments.contains_key(label)
            || self.plans.contains_key(label)
            || self.failures.contains_key(label)
            || self.unasked.contains_key(label)
    }

    /// A stage has something to say about what it is now; what it said before is void.
    pub(super) fn hear(&mut self, label: &str) {
        let looked = self.looked.contains(label);
        self.forget_word_of(label);
        self.exempt.remove(label);
        if looked {
            self.looked.insert(label.to_owned());
        }
    }

    /// Takes off what a stage has said.
    pub(super) fn forget_word_of(&mut self, label: &str) {
        self.candidate.assessments.remove(label);
        self.from_environment.remove(label);
        self.plans.remove(label);
        self.failures.remove(label);
        self.unasked.remove(label);
        self.looked.remove(label);
    }

    /// Whether what a stage said, or did not say, counts for what it is now.
    fn counts(&self, position: usize, label: &str) -> bool {
        (position >= self.since || self.looked.contains(label)) && !self.exempt.contains(label)
    }

    /// The candidate as plugins may see it that ask a model: without assessments that rest on the environment.
    pub(super) fn without_environment(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        candidate.assessments.retain(|label, _| !self.from_environment.contains(label));
        candidate
    }

    /// The candidate as those plugins may see it where the pipeline tells models what the environment says: of assessments that
    /// rest on it, the decision, the metrics and the feedback. The rest is for the record, and may hold the reference.
    pub(super) fn with_feedback_alone(&self) -> Candidate {
        let mut candidate = self.candidate.clone();
        for (label, assessment) in &mut candidate.assessments {
            if self.from_environment.contains(label) {
                let (metrics, feedback) =
                    (std::mem::take(&mut assessment.metrics), std::mem::take(&mut assessment.feedback));
                let decision = without_message(&assessment.decision);
                *assessment = Assessment { metrics, feedback, ..Assessment::new(decision, "") };
            }
        }
        candidate
    }

    /// Whether a verify stage outside of these positions rejected what it is now. Measurements reject nobody.
    fn is_rejected(&self, pipeline: &Pipeline, but: &Range<usize>) -> bool {
        let rejects = |(position, stage): (usize, &Stage)| match stage {
            Stage::Verify(stage)
                if self.counts(position, &stage.label) && !but.contains(&position) && !stage.measure =>
            {
                let assessment = self.candidate.assessments.get(&stage.label);
                assessment.is_some_and(|a| a.decision == Decision::Rejected)
            }
            _ => false,
        };
        pipeline.all_stages().enumerate().any(rejects)
    }

    /// Whether a plan stage passes it over, having been rejected before. `of_plan` are the positions of stages that speak of a plan
    /// which the stage writes anew: their rejection is what it is asked for.
    pub(super) fn is_skipped_by(
        &self,
        stage: &PlanStage,
        pipeline: &Pipeline,
        of_plan: &Range<usize>,
    ) -> bool {
        !stage.plan_rejected && self.is_rejected(pipeline, of_plan)
    }

    /// The value that a select or refine stage compares.
    pub(super) fn metric(&self, by: &str) -> Option<f64> {
        let (label, name) = by.split_once('.')?;
        let value = if label == CANDIDATE {
            match name {
                MEAN_LOG_LIKELIHOOD => {
                    let tokens = self.candidate.tokens.filter(|tokens| *tokens > 0);
                    self.candidate.log_likelihood.zip(tokens).map(|(sum, tokens)| sum / tokens as f64)
                }
                _ => self.candidate.log_likelihood,
            }
        } else if let Some(outcome) = self.plans.get(label) {
            let plan = outcome.best()?;
            match name {
                "steps" => Some(plan.steps.len() as f64),
                _ => plan.cost,
            }
        } else {
            self.candidate.assessments.get(label)?.metrics.get(name).copied()
        };
        value.filter(|v| !v.is_nan())
    }

    /// The lineage of the ancestor made by that stage; that of the task itself where no stage is named.
    fn ancestor(&self, stage: Option<&str>) -> &[LineageStep] {
        let lineage = &self.candidate.lineage;
        // A stage of a round has made several ancestors; the last is the one that stands now.
        let made = |step: &LineageStep| stage.is_some_and(|stage| unmarked(&step.stage) == stage);
        let end = lineage.iter().rposition(made).map_or(0, |at| at + 1);
        lineage.get(..end).unwrap_or_default()
    }
}

/// By what a group was compared.
pub(super) struct Compared {
    /// The lineage of its members' ancestor.
    pub(super) ancestor: Vec<LineageStep>,
    pub(super) by: String,
    pub(super) members: usize,
    pub(super) without_value: usize,
}

/// What a select stage leaves.
pub(super) struct Selection {
    /// The candidates kept, in sample-path order.
    pub(super) beam: Vec<Entry>,
    /// Their indices in the beam that came in, best first within each group.
    pub(super) kept: Vec<usize>,
    pub(super) groups: Vec<Compared>,
}

/// The best of each group.
pub(super) fn select(stage: &SelectStage, beam: Vec<Entry>) -> Selection {
    let mut members: BTreeMap<Vec<u32>, Vec<(usize, &Entry)>> = BTreeMap::new();
    for (index, entry) in beam.iter().enumerate() {
        let ancestor = entry.ancestor(stage.group_by.as_deref()).iter().map(|step| step.sample).collect();
        members.entry(ancestor).or_default().push((index, entry));
    }
    let (mut kept, mut groups) = (Vec::new(), Vec::new());
    for members in members.into_values() {
        let by = comparable(stage, &members);
        let mut values: Vec<(usize, Option<f64>)> =
            members.iter().map(|(index, entry)| (*index, entry.metric(by))).collect();
        let ancestor = members.first().map(|(_, first)| first.ancestor(stage.group_by.as_deref()).to_vec());
        groups.push(Compared {
            ancestor: ancestor.unwrap_or_default(),
            by: by.to_owned(),
            members: values.len(),
            without_value: values.iter().filter(|(_, value)| value.is_none()).count(),
        });
        // The sort is stable and the beam is in sample-path order, so ties stay in that order.
        values.sort_by(|a, b| better(a.1, b.1, stage.order));
        kept.extend(values.into_iter().take(stage.keep as usize).map(|(index, _)| index));
    }
    let wanted: BTreeSet<usize> = kept.iter().copied().collect();
    let beam = beam.into_iter().enumerate().filter(|(i, _)| wanted.contains(i)).map(|(_, e)| e).collect();
    Selection { beam, kept, groups }
}

/// The first metric of the stage that all members have a value of, else its last.
fn comparable<'s>(stage: &'s SelectStage, members: &[(usize, &Entry)]) -> &'s str {
    let all = |by: &&String| members.iter().all(|(_, entry)| entry.metric(by).is_some());
    let mut metrics = std::iter::once(&stage.by).chain(&stage.otherwise);
    let last = stage.otherwise.last().unwrap_or(&stage.by);
    metrics.find(all).unwrap_or(last)
}

/// A decision without the words that a verifier has for a person.
fn without_message(decision: &Decision) -> Decision {
    match decision {
        Decision::Undecided { reason, .. } => Decision::Undecided { reason: *reason, message: String::new() },
        Decision::NotComparable { .. } => Decision::NotComparable { message: String::new() },
        Decision::Accepted => Decision::Accepted,
        Decision::Rejected => Decision::Rejected,
    }
}

/// Better comes first; what has no value comes last.
pub(super) fn better(a: Option<f64>, b: Option<f64>, order: Order) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => match order {
            Order::Highest => b.total_cmp(&a),
            Order::Lowest => a.total_cmp(&b),
        },
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}

/// What is to be said about one candidate after all stages.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Standing {
    Accepted,
    Rejected(String, String),
    Unsolvable(String, String),
    Undecided(String, String),
    Failed(String, Failure),
}

impl Standing {
    /// The order in which the beam's best is chosen.
    pub(super) const fn rank(&self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Rejected(..) => 1,
            Self::Unsolvable(..) => 2,
            Self::Undecided(..) => 3,
            Self::Failed(..) => 4,
        }
    }
}

/// Where a candidate stands after these stages, each with its position among all: a rejection by any stage counts first,
/// then a proof that there is no plan, then the first stage that did not say yes.
pub(super) fn standing<'a>(stages: impl Iterator<Item = (usize, &'a Stage)>, entry: &Entry) -> Standing {
    let since = stages.filter(|(position, stage)| entry.counts(*position, stage.label()));
    let found: Vec<Standing> = since.filter_map(|(_, stage)| at_stage(stage, entry)).collect();
    let first = |rank: u8| found.iter().find(|s| s.rank() == rank);
    first(1).or_else(|| first(2)).or_else(|| found.first()).cloned().unwrap_or(Standing::Accepted)
}

/// What one stage holds against a candidate.
pub(super) fn at_stage(stage: &Stage, entry: &Entry) -> Option<Standing> {
    let label = stage.label().to_owned();
    if matches!(stage, Stage::Verify(stage) if stage.measure) {
        return None;
    }
    if let Some(failure) = entry.failures.get(&label) {
        return Some(Standing::Failed(label, failure.clone()));
    }
    match stage {
        Stage::Verify(_) => {
            let Some(assessment) = entry.candidate.assessments.get(&label) else {
                return Some(Standing::Undecided(label, "it was not judged".to_owned()));
            };
            match &assessment.decision {
                Decision::Accepted => None,
                Decision::Rejected => Some(Standing::Rejected(label, assessment.summary.clone())),
                Decision::Undecided { reason, message } => {
                    Some(Standing::Undecided(label, format!("{}: {message}", reason_word(*reason))))
                }
                Decision::NotComparable { message } => {
                    Some(Standing::Undecided(label, format!("not comparable: {message}")))
                }
            }
        }
        Stage::Plan(_) => match entry.plans.get(&label) {
            Some(outcome) => of_outcome(label, outcome),
            None => {
                let why = entry.unasked.get(&label).cloned();
                Some(Standing::Undecided(label, why.unwrap_or_else(|| "it was not planned for".to_owned())))
            }
        },
        Stage::Translate(_) | Stage::Select(_) | Stage::Refine(_) | Stage::Budget(_) | Stage::FanOut(_) => {
            None
        }
    }
}

const fn reason_word(reason: UndecidedReason) -> &'static str {
    match reason {
        UndecidedReason::Limit => "a limit was reached",
        UndecidedReason::Unsupported => "unsupported",
        UndecidedReason::MissingInput => "nothing to judge",
    }
}

fn of_outcome(label: String, outcome: &PlanOutcome) -> Option<Standing> {
    let first = |diagnostics: &[planforge_contract::ReportedDiagnostic], other: &str| {
        diagnostics.first().map_or_else(|| other.to_owned(), |d| d.message.clone())
    };
    Some(match outcome {
        PlanOutcome::Plan { .. } => return None,
        PlanOutcome::ProvenUnsolvable { explanation, .. } => {
            Standing::Unsolvable(label, explanation.join("; "))
        }
        PlanOutcome::Exhausted { explanation, .. } => {
            let why =
                if explanation.is_empty() { "no plan was found".to_owned() } else { explanation.join("; ") };
            Standing::Undecided(label, why)
        }
        PlanOutcome::LimitReached { message, .. } => Standing::Undecided(label, message.clone()),
        PlanOutcome::Unsupported { diagnostics } => {
            Standing::Undecided(label, first(diagnostics, "the planner does not support this task"))
        }
        // The planner shows where the candidate's text is wrong: that is a judgement about the candidate.
        PlanOutcome::Unreadable { diagnostics } => {
            Standing::Rejected(label, first(diagnostics, "the planner cannot read this task"))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &[(&str, u32)], score: Option<f64>) -> Entry {
        let lineage = path.iter().map(|(s, i)| LineageStep { stage: (*s).to_owned(), sample: *i }).collect();
        let mut entry =
            Entry { candidate: Candidate { lineage, ..Candidate::default() }, ..Entry::default() };
        let mut assessment = Assessment::new(Decision::Accepted, "");
        assessment.metrics.extend(score.map(|s| ("score".to_owned(), s)));
        entry.candidate.assessments.insert("ew".to_owned(), assessment);
        entry
    }

    fn stage(keep: u32, group_by: Option<&str>, order: Order) -> SelectStage {
        SelectStage {
            label: "best".into(),
            by: "ew.score".into(),
            keep,
            group_by: group_by.map(str::to_owned),
            order,
            ..SelectStage::default()
        }
    }

    #[test]
    fn best_of_each_group_ties_by_path_missing_and_nan_last() {
        let beam = || {
            vec![
                entry(&[("problem", 0), ("domain", 0)], Some(0.5)),
                entry(&[("problem", 0), ("domain", 1)], Some(0.9)),
                entry(&[("problem", 0), ("domain", 2)], Some(0.9)),
                entry(&[("problem", 1), ("domain", 0)], None),
                entry(&[("problem", 1), ("domain", 1)], Some(f64::NAN)),
                entry(&[("problem", 1), ("domain", 2)], Some(-1.0)),
            ]
        };
        assert_eq!(select(&stage(2, None, Order::Highest), beam()).kept, [1, 2]);
        assert_eq!(select(&stage(2, None, Order::Lowest), beam()).kept, [5, 0]);
        assert_eq!(select(&stage(1, Some("problem"), Order::Highest), beam()).kept, [1, 5]);
        assert_eq!(select(&stage(2, Some("problem"), Order::Highest), beam()).kept, [1, 2, 5, 3]);
        assert_eq!(select(&stage(1, Some("domain"), Order::Highest), beam()).kept.len(), 6);
        // What is kept stays in sample-path order, whatever its rank.
        let Selection { beam: left, kept, .. } = select(&stage(2, None, Order::Lowest), beam());
        assert_eq!(kept, [5, 0]);
        assert_eq!(
            left[0].candidate.lineage,
            entry(&[("problem", 0), ("domain", 0)], None).candidate.lineage
        );
    }

    #[test]
    fn a_group_in_which_some_value_is_missing_is_compared_by_another_metric() {
        let with = |sample: u32, likelihood: Option<(f64, u64)>, score: Option<f64>| {
            let mut entry = entry(&[("problem", sample / 2), ("domain", sample)], score);
            entry.candidate.log_likelihood = likelihood.map(|(sum, _)| sum);
            entry.candidate.tokens = likelihood.map(|(_, tokens)| tokens);
            entry
        };
        let beam = || {
            vec![
                with(0, Some((-8.0, 8)), Some(0.1)),
                with(1, Some((-6.0, 2)), Some(0.2)),
                with(2, Some((-1.0, 4)), Some(0.3)),
                with(3, None, Some(0.9)),
            ]
        };
        let by = |by: &str, otherwise: &[&str], group_by: Option<&str>| SelectStage {
            by: by.into(),
            otherwise: otherwise.iter().map(|m| (*m).to_owned()).collect(),
            ..stage(1, group_by, Order::Highest)
        };
        let said = |selection: &Selection| -> Vec<String> {
            let said = |g: &Compared| format!("{} of {} by {}", g.members - g.without_value, g.members, g.by);
            selection.groups.iter().map(said).collect()
        };
        // The sum favours short answers, the mean does not.
        let sum = select(&by("candidate.log_likelihood", &[], Some("problem")), beam());
        assert_eq!(sum.kept, [1, 2]);
        assert_eq!(said(&sum), ["2 of 2 by candidate.log_likelihood", "1 of 2 by candidate.log_likelihood"]);
        let mean = select(&by("candidate.mean_log_likelihood", &["ew.score"], Some("problem")), beam());
        assert_eq!(mean.kept, [0, 3]);
        assert_eq!(said(&mean), ["2 of 2 by candidate.mean_log_likelihood", "2 of 2 by ew.score"]);
        // One group: a member without a value is enough. Of metrics that all lack some value the last is taken.
        let all = select(&by("candidate.log_likelihood", &["ew.rating", "ew.score"], None), beam());
        assert_eq!((all.kept.as_slice(), said(&all)), (&[3][..], vec!["4 of 4 by ew.score".to_owned()]));
        let none = select(&by("ew.rating", &["candidate.log_likelihood"], None), beam());
        assert_eq!(
            (none.kept.as_slice(), said(&none)),
            (&[2][..], vec!["3 of 4 by candidate.log_likelihood".to_owned()])
        );
    }
}
