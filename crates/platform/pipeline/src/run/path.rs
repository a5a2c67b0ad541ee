//! Sample paths: where in a run something happens, fixed before it is dispatched.

use planforge_contract::LineageStep;
use planforge_record::SamplePath;

/// `task/stage/lineage`: the beginning of the paths of everything that one call does. The lineage is the sample indices of
/// the candidate's descent, joined by dots; `-` for the candidate that a task begins with.
pub(crate) fn call_path(task: &str, stage: &str, lineage: &[LineageStep]) -> SamplePath {
    format!("{task}/{stage}/{}", indices(lineage))
}

/// The path of a candidate: that of the sample which made it.
pub(crate) fn candidate_path(task: &str, lineage: &[LineageStep]) -> SamplePath {
    let stage = lineage.last().map_or("start", |step| step.stage.as_str());
    call_path(task, stage, lineage)
}

/// A stage's label in paths and lineages: inside a refine or budget stage it is followed by the round.
pub(crate) fn label_in_round(label: &str, round: Option<u32>) -> String {
    round.map_or_else(|| label.to_owned(), |round| format!("{label}#{round}"))
}

/// The label of a stage without the round.
pub(crate) fn label_without_round(label: &str) -> &str {
    label.split_once('#').map_or(label, |(label, _)| label)
}

fn indices(lineage: &[LineageStep]) -> String {
    if lineage.is_empty() {
        return "-".to_owned();
    }
    lineage.iter().map(|step| step.sample.to_string()).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_task_stage_and_descent() {
        let step = |stage: &str, sample| LineageStep { stage: stage.to_owned(), sample };
        assert_eq!(call_path("s.p01", "problem", &[]), "s.p01/problem/-");
        let lineage = [step("problem", 3), step("domain", 0)];
        assert_eq!(call_path("s.p01", "ew", &lineage), "s.p01/ew/3.0");
        assert_eq!(candidate_path("s.p01", &lineage), "s.p01/domain/3.0");
        assert_eq!(candidate_path("s.p01", &[]), "s.p01/start/-");
        assert_eq!(
            (label_in_round("edit", Some(2)).as_str(), label_in_round("edit", None).as_str()),
            ("edit#2", "edit")
        );
        assert_eq!((label_without_round("edit#2"), label_without_round("edit")), ("edit", "edit"));
    }
}
