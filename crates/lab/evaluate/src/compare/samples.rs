//! The samples of a run: replies to the same request, with their assessments.

use crate::history::{MadeCandidate, TaskHistory};
use crate::results::Judges;
use planforge_contract::{Decision, FailureClass, PlanOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// The answer of one stage for one sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleAnswer {
    /// It is right.
    Yes,
    /// It is wrong.
    No,
    /// The stage judged the sample without a decision.
    Open,
}

/// One sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sample {
    /// Answers of stages, by label.
    pub answers: BTreeMap<String, SampleAnswer>,
    /// Its metrics as `LABEL.NAME`.
    pub values: BTreeMap<String, f64>,
    /// Wrong where the judge itself has no word on it: another stage rejected it, its task was proven to have no plan or could not be read, or
    /// the reply held nothing usable. The last is an answer, not a breakage: the same reply would come again.
    pub wrong: bool,
    /// The reply held nothing usable.
    pub unusable: bool,
    /// Something broke in making it.
    pub broke: bool,
    /// It is word for word another sample of the group, as a server that ignores seeds gives them.
    pub copy: bool,
}

impl Sample {
    /// The answer of a judge; absent if the judge never saw the sample and nothing else settles it.
    pub fn answer(&self, judge: &str) -> Option<SampleAnswer> {
        match self.answers.get(judge) {
            Some(SampleAnswer::Yes) => Some(SampleAnswer::Yes),
            Some(SampleAnswer::No) => Some(SampleAnswer::No),
            _ if self.wrong => Some(SampleAnswer::No),
            _ if self.broke => Some(SampleAnswer::Open),
            said => said.copied(),
        }
    }
}

/// Samples of one question: the children that one stage made of one candidate. Where each candidate has one child, those of the nearest
/// ancestor that has several.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleGroup {
    /// The label of the stage.
    pub stage: String,
    pub samples: Vec<Sample>,
}

/// The groups of every stage outside refinement, in the order in which the stages came.
pub(super) fn groups(task: &TaskHistory, judges: &Judges, rejecting: &[String]) -> Vec<SampleGroup> {
    let mut stages: Vec<&str> = Vec::new();
    for made in task.candidates.iter().filter(|made| outside_rounds(made)) {
        if !stages.contains(&made.stage.as_str()) {
            stages.push(&made.stage);
        }
    }
    let mut writers: BTreeSet<&str> = stages.iter().copied().collect();
    writers.extend(judges.writers.iter().map(String::as_str));
    let of = |stage: &&str| of_stage(task, stage, &writers, rejecting);
    stages.iter().flat_map(of).collect()
}

fn outside_rounds(made: &MadeCandidate) -> bool {
    !made.candidate.lineage.is_empty() && made.candidate.lineage.iter().all(|step| !step.stage.contains('#'))
}

fn numbers(made: &MadeCandidate) -> Vec<u32> {
    made.candidate.lineage.iter().map(|step| step.sample).collect()
}

fn of_stage(
    task: &TaskHistory,
    stage: &str,
    writers: &BTreeSet<&str>,
    rejecting: &[String],
) -> Vec<SampleGroup> {
    let own: Vec<(Vec<u32>, &MadeCandidate)> = task
        .candidates
        .iter()
        .filter(|made| made.stage == stage && outside_rounds(made))
        .map(|made| (numbers(made), made))
        .collect();
    let Some(depth) = own.iter().map(|(numbers, _)| numbers.len()).max() else { return Vec::new() };
    // Unusable samples, of this stage and of those before it.
    let lost: Vec<(Vec<u32>, bool)> = task
        .failed
        .iter()
        .filter_map(|(path, failure)| {
            let (label, place) = path.strip_prefix(&task.task)?.strip_prefix('/')?.split_once('/')?;
            let known = task.candidates.iter().any(|made| made.path == *path);
            let place: Option<Vec<u32>> = place.split('.').map(|number| number.parse().ok()).collect();
            let place = place.filter(|place| !known && writers.contains(label) && place.len() <= depth)?;
            Some((place, failure.class == FailureClass::Reply))
        })
        .collect();
    let shared = branching(depth, &own, &lost);
    let mut groups: BTreeMap<&[u32], SampleGroup> = BTreeMap::new();
    let mut replies: BTreeSet<(&[u32], &str)> = BTreeSet::new();
    for (numbers, made) in &own {
        let key = numbers.get(..shared).unwrap_or_default();
        let mut sample = sample(task, numbers, made, rejecting);
        let reply = made.patch.raw_reply.as_str();
        sample.copy = !reply.is_empty() && !replies.insert((key, reply));
        groups.entry(key).or_default().samples.push(sample);
    }
    for (place, unusable) in lost.iter().filter(|(place, _)| place.len() > shared) {
        let sample = Sample { wrong: *unusable, unusable: *unusable, broke: !unusable, ..Sample::default() };
        groups.entry(place.get(..shared).unwrap_or_default()).or_default().samples.push(sample);
    }
    groups.into_values().map(|group| SampleGroup { stage: stage.to_owned(), ..group }).collect()
}

/// Number of steps of descent the samples of one group share: as many as leave some group with more than one
/// sample.
fn branching(depth: usize, own: &[(Vec<u32>, &MadeCandidate)], lost: &[(Vec<u32>, bool)]) -> usize {
    let several = |shared: usize| {
        let mut seen: BTreeSet<&[u32]> = BTreeSet::new();
        let places = own.iter().map(|(numbers, _)| numbers).chain(lost.iter().map(|(place, _)| place));
        let mut places = places.filter(|place| place.len() > shared);
        places.any(|place| !seen.insert(place.get(..shared).unwrap_or_default()))
    };
    (0..depth).rev().find(|shared| several(*shared)).unwrap_or(depth.saturating_sub(1))
}

fn sample(task: &TaskHistory, numbers: &[u32], made: &MadeCandidate, rejecting: &[String]) -> Sample {
    let mut sample = Sample::default();
    for (label, assessment) in &made.assessments {
        let answer = match assessment.decision {
            Decision::Accepted => SampleAnswer::Yes,
            Decision::Rejected => SampleAnswer::No,
            Decision::Undecided { .. } | Decision::NotComparable { .. } => SampleAnswer::Open,
        };
        sample.wrong |= answer == SampleAnswer::No && rejecting.contains(label);
        sample.answers.insert(label.clone(), answer);
        let values = assessment.metrics.iter().map(|(name, value)| (format!("{label}.{name}"), *value));
        sample.values.extend(values);
    }
    let hopeless = |plan: &PlanOutcome| {
        matches!(plan, PlanOutcome::ProvenUnsolvable { .. } | PlanOutcome::Unreadable { .. })
    };
    sample.wrong |= made.plans.values().any(hopeless);
    // A call on the candidate that broke has the candidate's place behind the stage's label.
    let place: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let place = place.join(".");
    for (path, _) in &task.failed {
        let of_task = path.strip_prefix(&task.task).and_then(|rest| rest.strip_prefix('/'));
        if let Some((label, _)) = of_task.and_then(|rest| rest.split_once('/')).filter(|(_, at)| *at == place)
            && label != made.stage
        {
            sample.answers.entry(label.to_owned()).or_insert(SampleAnswer::Open);
        }
    }
    sample
}
