//! `do = "select"`: keeps the best candidates by a metric.

use super::bound::{BeamBound, BoundWalk};
use super::checker::{StageChecker, StageTable, kinds_where, small};
use super::interface::{KindFacts, StageContext, StageDefinition, StageResult};
use super::rounds::{ORDERS, Order};
use crate::beam::{Entry, candidate_path};
use crate::calls::RunContext;
use crate::reader::{At, TableReader, error_at};
use planforge_contract::{Failure, LineageStep};
use planforge_diagnostics::Diagnostic;
use planforge_record::{Event, SelectedGroup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `do = "select"`: keeps candidates that the method's own verifiers accept first, then the best by a metric. Stages that measure do not
/// count, and what the environment says counts only with `feedback = "environment"`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectStage {
    /// The stage's name, unique in the file; `select-POSITION` where none is given.
    #[serde(default)]
    #[schemars(regex(pattern = "^[a-z][a-z0-9_-]{0,63}$"))]
    pub label: String,
    /// The metric, as `LABEL.NAME` of an earlier verify stage, `LABEL.cost` or `LABEL.steps` of an earlier plan stage,
    /// `candidate.log_likelihood` (the sum over the tokens, test-time-scaling paper, Eq. 1) or `candidate.mean_log_likelihood` (the
    /// sum divided by the number of tokens). Candidates without a value come last; ties go to `ties`, then to the order of the sample
    /// paths.
    pub by: String,
    /// A second metric, for candidates with the same value of the first, in the same `order`. Candidates without a value come last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties: Option<String>,
    /// Metrics for groups in which a member has no value of `by`, for example because a server returns no
    /// probabilities: the first of them that every member has a value of, else the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_several")]
    #[schemars(with = "OneOrSeveral")]
    pub otherwise: Vec<String>,
    /// Number of candidates to keep in each group.
    #[serde(default = "crate::stages::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub keep: u32,
    /// The label of an earlier translate stage: candidates that share its sample are one group. Left out, the task is
    /// the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<String>,
    /// The better end of the metric.
    #[serde(default)]
    pub order: Order,
}

/// The forms of `otherwise`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum OneOrSeveral {
    /// One metric.
    One(String),
    /// Metrics, the first choice first.
    Several(Vec<String>),
}

fn one_or_several<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrSeveral::deserialize(deserializer)? {
        OneOrSeveral::One(metric) => vec![metric],
        OneOrSeveral::Several(metrics) => metrics,
    })
}

impl StageDefinition for SelectStage {
    fn facts() -> KindFacts {
        KindFacts { needs_label: false, ..KindFacts::PLAIN }
    }

    fn parse(
        checker: &mut StageChecker<'_>,
        table: &mut StageTable<'_, '_>,
        out: &mut Vec<Diagnostic>,
    ) -> (Self, Vec<String>) {
        let StageTable { reader, label, .. } = table;
        let had = reader.node("by").is_some();
        let by = reader.string("by", out);
        match &by {
            Some(by) => checker.check_metric(by, out),
            None if !had => reader.missing("by", "\"LABEL.METRIC\"", out),
            None => {}
        }
        let otherwise = otherwise(checker, reader, by.as_ref(), out);
        let ties = reader.string("ties", out);
        if let Some(ties) = &ties {
            checker.check_metric(ties, out);
        }
        let group_by = reader.string("group_by", out);
        if let Some(group) = &group_by {
            let kinds = kinds_where(|kind| kind.facts().groups);
            checker.check_earlier(group, &kinds, "pipeline.group-by", out);
        }
        let stage = SelectStage {
            label: label.value.clone(),
            by: by.map(|b| b.value).unwrap_or_default(),
            ties: ties.map(|ties| ties.value),
            otherwise,
            keep: small(reader.integer("keep", 1..=1_000_000, out), 1),
            group_by: group_by.map(|g| g.value),
            order: reader.word("order", &ORDERS, out).unwrap_or_default(),
        };
        (stage, Vec::new())
    }

    fn misplaced_before_writer(&self) -> Option<&'static str> {
        Some("there is nothing to select before the stage that writes")
    }

    fn bound(&self, walk: &mut BoundWalk<'_>, beam: BeamBound, _times: u64) -> BeamBound {
        let made = |label| walk.made.get(label).copied().unwrap_or(beam.width);
        let groups = self.group_by.as_ref().map_or(1, made);
        let kept = groups.saturating_mul(u64::from(self.keep));
        BeamBound { width: beam.width.min(kept), ..beam }
    }

    fn run(
        &self,
        context: &StageContext<'_>,
        _round: Option<u32>,
        beam: Vec<Entry>,
    ) -> Result<StageResult, Failure> {
        let name = context.name();
        let paths: Vec<String> = beam.iter().map(|e| candidate_path(name, &e.candidate.lineage)).collect();
        let accepted = |entry: &Entry| context.is_accepted_by_method(entry);
        let Selection { beam, kept, groups } = select(self, beam, accepted);
        let mut step = StageResult { beam, ..StageResult::default() };
        step.outcomes.insert("kept".to_owned(), kept.len());
        for group in &groups {
            *step.compared.entry(group.by.clone()).or_insert(0) += 1;
        }
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let group = |group: ComparedGroup| SelectedGroup {
            group: candidate_path(name, &group.ancestor),
            by: group.by,
            members: count(group.members),
            without_value: count(group.without_value),
        };
        context.run.recorder.event(Event::Selected {
            task: name.to_owned(),
            stage: self.label.clone(),
            kept: kept.iter().filter_map(|index| paths.get(*index).cloned()).collect(),
            groups: groups.into_iter().map(group).collect(),
        })?;
        Ok(step)
    }

    fn needs_whole_beam(&self, _run: &RunContext<'_>) -> bool {
        true
    }
}

/// Reads the metrics for groups in which a member has no value of `by`. Each is another metric.
fn otherwise(
    checker: &StageChecker<'_>,
    reader: &mut TableReader<'_>,
    by: Option<&At<String>>,
    out: &mut Vec<Diagnostic>,
) -> Vec<String> {
    let metrics = reader.string_or_strings("otherwise", out);
    let mut before: Vec<&At<String>> = by.into_iter().collect();
    for metric in &metrics {
        if let Some(first) = before.iter().find(|one| one.value == metric.value) {
            let message = format!("`{}` was to be compared by before", metric.value);
            out.push(
                error_at("pipeline.otherwise", message, metric.place)
                    .also(first.place.source, first.place.span, "it is here")
                    .help("name another metric, one that every candidate has a value of"),
            );
        } else {
            checker.check_metric(metric, out);
        }
        before.push(metric);
    }
    metrics.iter().map(|metric| metric.value.clone()).collect()
}

/// By what a group was compared.
struct ComparedGroup {
    /// The lineage of its members' ancestor.
    ancestor: Vec<LineageStep>,
    by: String,
    members: usize,
    without_value: usize,
}

/// The result of a selection.
struct Selection {
    /// The candidates kept, in sample-path order.
    beam: Vec<Entry>,
    /// Their indices in the beam that came in, best first within each group.
    kept: Vec<usize>,
    groups: Vec<ComparedGroup>,
}

/// The best of each group: accepted candidates first, then by the metric, then by the metric for ties.
fn select(stage: &SelectStage, beam: Vec<Entry>, accepted: impl Fn(&Entry) -> bool) -> Selection {
    let mut members: BTreeMap<Vec<u32>, Vec<(usize, &Entry)>> = BTreeMap::new();
    for (index, entry) in beam.iter().enumerate() {
        let ancestor = entry.ancestor(stage.group_by.as_deref()).iter().map(|step| step.sample).collect();
        members.entry(ancestor).or_default().push((index, entry));
    }
    let (mut kept, mut groups, mut places) = (Vec::new(), Vec::new(), BTreeMap::new());
    for members in members.into_values() {
        let by = comparable(stage, &members);
        let tie = |entry: &Entry| stage.ties.as_ref().and_then(|ties| entry.metric(ties));
        let mut values: Vec<(usize, bool, Option<f64>, Option<f64>)> = members
            .iter()
            .map(|(index, entry)| (*index, accepted(entry), entry.metric(by), tie(entry)))
            .collect();
        let ancestor = members.first().map(|(_, first)| first.ancestor(stage.group_by.as_deref()).to_vec());
        groups.push(ComparedGroup {
            ancestor: ancestor.unwrap_or_default(),
            by: by.to_owned(),
            members: values.len(),
            without_value: values.iter().filter(|(_, _, value, _)| value.is_none()).count(),
        });
        // The sort is stable and the beam is in sample-path order, so ties stay in that order.
        values.sort_by(|a, b| {
            let by = b.1.cmp(&a.1).then_with(|| stage.order.compare(a.2, b.2));
            by.then_with(|| stage.order.compare(a.3, b.3))
        });
        for (place, (index, ..)) in values.into_iter().take(stage.keep as usize).enumerate() {
            places.insert(index, place);
            kept.push(index);
        }
    }
    let beam = beam.into_iter().enumerate().filter_map(|(index, entry)| {
        let place = *places.get(&index)?;
        Some(Entry { place, ..entry })
    });
    let beam = beam.collect();
    Selection { beam, kept, groups }
}

/// The first metric of the stage that all members have a value of, else its last.
fn comparable<'s>(stage: &'s SelectStage, members: &[(usize, &Entry)]) -> &'s str {
    let all = |by: &&String| members.iter().all(|(_, entry)| entry.metric(by).is_some());
    let mut metrics = std::iter::once(&stage.by).chain(&stage.otherwise);
    let last = stage.otherwise.last().unwrap_or(&stage.by);
    metrics.find(all).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{Assessment, Candidate, Decision};

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
        assert_eq!(select(&stage(2, None, Order::Highest), beam(), |_| false).kept, [1, 2]);
        assert_eq!(select(&stage(2, None, Order::Lowest), beam(), |_| false).kept, [5, 0]);
        assert_eq!(select(&stage(1, Some("problem"), Order::Highest), beam(), |_| false).kept, [1, 5]);
        assert_eq!(select(&stage(2, Some("problem"), Order::Highest), beam(), |_| false).kept, [1, 2, 5, 3]);
        assert_eq!(select(&stage(1, Some("domain"), Order::Highest), beam(), |_| false).kept.len(), 6);
        // What is kept stays in sample-path order, whatever its rank.
        let Selection { beam: left, kept, .. } = select(&stage(2, None, Order::Lowest), beam(), |_| false);
        assert_eq!(kept, [5, 0]);
        assert_eq!(
            left[0].candidate.lineage,
            entry(&[("problem", 0), ("domain", 0)], None).candidate.lineage
        );
    }

    #[test]
    fn equal_values_are_compared_by_the_metric_for_ties() {
        let with = |sample: u32, score: f64, likelihood: Option<f64>| {
            let mut entry = entry(&[("domain", sample)], Some(score));
            entry.candidate.log_likelihood = likelihood;
            entry
        };
        let beam = || {
            vec![
                with(0, 3.0, None),
                with(1, 3.0, Some(-9.0)),
                with(2, 3.0, Some(-5.0)),
                with(3, 1.0, Some(-1.0)),
            ]
        };
        let by = |ties: Option<&str>, order| SelectStage {
            ties: ties.map(str::to_owned),
            ..stage(4, None, order)
        };
        let likelihood = Some("candidate.log_likelihood");
        assert_eq!(select(&by(None, Order::Highest), beam(), |_| false).kept, [0, 1, 2, 3]);
        assert_eq!(select(&by(likelihood, Order::Highest), beam(), |_| false).kept, [2, 1, 0, 3]);
        assert_eq!(select(&by(likelihood, Order::Lowest), beam(), |_| false).kept, [3, 1, 2, 0]);
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
            let said =
                |g: &ComparedGroup| format!("{} of {} by {}", g.members - g.without_value, g.members, g.by);
            selection.groups.iter().map(said).collect()
        };
        // The sum favours short answers, the mean does not.
        let sum = select(&by("candidate.log_likelihood", &[], Some("problem")), beam(), |_| false);
        assert_eq!(sum.kept, [1, 2]);
        assert_eq!(said(&sum), ["2 of 2 by candidate.log_likelihood", "1 of 2 by candidate.log_likelihood"]);
        let mean =
            select(&by("candidate.mean_log_likelihood", &["ew.score"], Some("problem")), beam(), |_| false);
        assert_eq!(mean.kept, [0, 3]);
        assert_eq!(said(&mean), ["2 of 2 by candidate.mean_log_likelihood", "2 of 2 by ew.score"]);
        // One group: a member without a value is enough. Of metrics that all lack some value the last is taken.
        let all =
            select(&by("candidate.log_likelihood", &["ew.rating", "ew.score"], None), beam(), |_| false);
        assert_eq!((all.kept.as_slice(), said(&all)), (&[3][..], vec!["4 of 4 by ew.score".to_owned()]));
        let none = select(&by("ew.rating", &["candidate.log_likelihood"], None), beam(), |_| false);
        assert_eq!(
            (none.kept.as_slice(), said(&none)),
            (&[2][..], vec!["3 of 4 by candidate.log_likelihood".to_owned()])
        );
    }
}
