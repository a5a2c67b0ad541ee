//! The command that goes on after a cap, or after a failure of a model's server.

use planforge_contract::{Failure, FailureClass};
use planforge_pipeline::{Pipeline, RunReport};
use planforge_record::TaskVerdict;

/// The hint at the end of a finished run, if a further session would send requests. `command` resumes the run.
pub(crate) fn ending_hint(report: &RunReport, pipeline: &Pipeline, command: &str) -> Option<String> {
    let stages = report.tasks.iter().flat_map(|task| &task.stages);
    let samples = stages.flat_map(|stage| &stage.failed).map(|failed| &failed.failure);
    let verdicts = report.tasks.iter().filter_map(|task| match &task.verdict {
        Some(TaskVerdict::Failed { failure, .. }) => Some(failure),
        _ => None,
    });
    let failures: Vec<&Failure> = samples.chain(verdicts).collect();
    let mut raised: Vec<String> =
        failures.iter().filter_map(|failure| raised_cap(failure, pipeline)).collect();
    raised.sort();
    raised.dedup();
    if !raised.is_empty() {
        return Some(format!(
            "a cap was reached; go on with twice as much: `{command} --set {}`; nothing is paid for twice",
            raised.join(" --set ")
        ));
    }
    let failed = failures.into_iter().find(|failure| failure.class == FailureClass::Provider)?;
    let what = match failed.code.as_str() {
        "llm.authentication" => "once the key is right",
        "llm.bad-request" | "llm.malformed" => "once the cause is gone",
        _ => "once the server answers",
    };
    Some(format!(
        "requests failed; {what}, `{command}` sends them again (`--set llm.NAME.base_url=...` asks another server)"
    ))
}

/// `llm.NAME.KEY=VALUE` with twice the value of the cap that was reached.
fn raised_cap(failure: &Failure, pipeline: &Pipeline) -> Option<String> {
    if failure.code != "llm.budget" {
        return None;
    }
    // The message is "the cap `KEY` of `NAME` is reached: ...".
    let mut names = failure.message.split('`').skip(1).step_by(2);
    let (key, name) = (names.next()?, names.next()?);
    let value = pipeline.llm.get(name)?.settings.get(key)?;
    let twice = match value.as_u64() {
        Some(value) => value.saturating_mul(2).max(1).to_string(),
        None => (value.as_f64()? * 2.0).to_string(),
    };
    Some(format!("llm.{name}.{key}={twice}"))
}
