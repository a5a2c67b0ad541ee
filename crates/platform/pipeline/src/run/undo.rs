//! The report of an obfuscated run under the suites' own names.

use super::report::{RunReport, TaskReport};
use super::services::RunTask;
use planforge_contract::Candidate;
use planforge_obfuscate::{Back, Renaming};
use planforge_record::TaskVerdict;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

impl RunReport {
    /// Restores the suites' own names in candidates, assessments and failures. Replies, conversations and
    /// paths are records and stay unchanged, as do tasks that were not obfuscated.
    pub fn undisguise(&mut self, tasks: &[RunTask]) {
        for report in &mut self.tasks {
            // A report that has its renaming is under the original names already.
            let task = tasks.iter().find(|task| task.name == report.task);
            if let Some(renaming) =
                task.and_then(|task| task.renaming.as_ref()).filter(|_| report.renaming.is_none())
            {
                undisguise(report, renaming);
                report.renaming = Some(renaming.clone());
            }
        }
    }
}

fn undisguise(report: &mut TaskReport, renaming: &Renaming) {
    let candidate = report.candidate.as_ref();
    let plans = candidate.and_then(|c| c.plan.as_ref()).and_then(|plan| serde_json::to_string(plan).ok());
    let documents = candidate.iter().flat_map(|c| [c.domain.as_deref(), c.problem.as_deref()]).flatten();
    let back = renaming.back(documents.chain(plans.as_deref()));
    report.recalled.clone_from(&back.recalled);
    if let Some(candidate) = &mut report.candidate {
        undisguise_candidate(candidate, &back);
    }
    for written in &mut report.written {
        for diagnostic in &mut written.diagnostics {
            diagnostic.message = back.pddl(&diagnostic.message);
            diagnostic.help.iter_mut().for_each(|help| *help = back.pddl(help));
        }
    }
    if let Some(verdict) = &mut report.verdict {
        match verdict {
            TaskVerdict::Rejected { message, .. }
            | TaskVerdict::Unsolvable { message, .. }
            | TaskVerdict::Undecided { message, .. } => *message = back.pddl(message),
            TaskVerdict::Failed { failure, .. } | TaskVerdict::Unusable { failure, .. } => {
                failure.message = back.pddl(&failure.message);
            }
            TaskVerdict::Accepted => {}
        }
    }
    for failed in report.stages.iter_mut().flat_map(|stage| &mut stage.failed) {
        failed.failure.message = back.pddl(&failed.failure.message);
    }
}

fn undisguise_candidate(candidate: &mut Candidate, back: &Back) {
    for pddl in [&mut candidate.domain, &mut candidate.problem].into_iter().flatten() {
        *pddl = back.pddl(pddl);
    }
    candidate.texts.values_mut().for_each(|text| *text = back.text(text));
    candidate.thought.iter_mut().for_each(|thought| *thought = back.text(thought));
    in_strings(&mut candidate.plan, back);
    in_strings(&mut candidate.inference, back);
    in_strings(&mut candidate.edits, back);
    for assessment in candidate.assessments.values_mut() {
        // A critic's own conversation is a record too.
        let messages = std::mem::take(&mut assessment.messages);
        in_strings(assessment, back);
        assessment.messages = messages;
    }
}

/// A document with the names in all its strings and keys exchanged.
pub fn named_back<T: Serialize + DeserializeOwned>(mut document: T, back: &Back) -> T {
    in_strings(&mut document, back);
    document
}

fn in_strings<T: Serialize + DeserializeOwned>(document: &mut T, back: &Back) {
    // What has no JSON form has no strings that a report could hold.
    let Ok(mut value) = serde_json::to_value(&*document) else { return };
    exchange(&mut value, back);
    if let Ok(new) = serde_json::from_value(value) {
        *document = new;
    }
}

fn exchange(value: &mut Value, back: &Back) {
    match value {
        Value::String(text) => *text = back.pddl(text),
        Value::Array(items) => items.iter_mut().for_each(|item| exchange(item, back)),
        Value::Object(entries) => {
            let old = std::mem::take(entries);
            for (key, mut item) in old {
                exchange(&mut item, back);
                entries.insert(back.pddl(&key), item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
