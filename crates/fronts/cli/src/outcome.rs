//! The result of a run as text. Everything that a model wrote is escaped.

mod usage;

use crate::cause::{first_of_each, more_line};
use crate::context::Context;
use planforge_app::contract::{
    Assessment, Candidate, Decision, Outcome, PlanOutcome, ReportedDiagnostic, ReportedSeverity,
};
use planforge_app::diagnostics::render::escape;
use planforge_app::diagnostics::{Diagnostic, Severity, SourceMap, Span};
use planforge_app::record::TaskVerdict;
use planforge_app::run::{Estimate, RunReport, RunResult, TaskOutcome, TaskReport, Wave};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use usage::{budget_text, cost_line, usage_text};
pub(crate) use usage::{fallback_line, fallback_lines};

/// Most causes that the first lines name, and most tasks of one cause.
const SHOWN_TASKS: usize = 5;

/// Lines shown of one text.
const SHOWN_LINES: usize = 200;

/// A sentence about the verdicts, and one block a task. With `all`, errors of the same cause are all printed.
pub(crate) fn report_text(
    report: &RunReport,
    task_texts: &[String],
    explained: &BTreeMap<String, Outcome<String>>,
    all: bool,
) -> String {
    let mut out = verdict_sentence(report);
    if let Some(line) = cost_line(report) {
        push_line(&mut out, &line);
    }
    for (task, text) in report.tasks.iter().zip(task_texts) {
        push_line(&mut out, "");
        push_task(&mut out, task, text, all);
        match explained.get(&task.task) {
            Some(Outcome::Ok(words)) => push_section(&mut out, "The plan in words", words),
            Some(Outcome::Failure(failure)) => {
                push_section(&mut out, "The plan was not explained", &failure.to_string())
            }
            None => {}
        }
    }
    out
}

fn outcome_of(task: &TaskReport) -> TaskOutcome {
    TaskOutcome::of(task.verdict.as_ref())
}

/// `6 of 8 tasks solved, 2 not solved.`, then a line for each of the first causes, with its tasks.
pub(crate) fn verdict_sentence(report: &RunReport) -> String {
    let outcomes: Vec<TaskOutcome> = report.tasks.iter().map(outcome_of).collect();
    let noun = if outcomes.len() == 1 { "task" } else { "tasks" };
    let solved = outcomes.iter().filter(|outcome| **outcome == TaskOutcome::Solved).count();
    let others = counts(&outcomes, &[&[TaskOutcome::NotSolved], &WITHOUT_ANSWER[..]].concat());
    let others = others.map_or_else(String::new, |others| format!(", {others}"));
    let count = outcomes.len();
    let mut text = match report.tasks.as_slice() {
        [task @ TaskReport { verdict: Some(TaskVerdict::Planned { .. }), candidate, .. }] => {
            let text =
                match written_pddl(task, candidate.as_ref().unwrap_or(&Candidate::default())).as_slice() {
                    [("Domain", _)] => "domain",
                    [("Problem", _)] => "problem",
                    _ => "PDDL",
                };
            let steps = steps(candidate.as_ref());
            format!(
                "planned: {steps}, valid in the {text} that the model wrote; nothing has judged that {text}.\n"
            )
        }
        [TaskReport { verdict: Some(TaskVerdict::Written { .. }), candidate, .. }] => {
            format!("written: {}; nothing has judged it.\n", artefacts(candidate.as_ref()))
        }
        tasks if solved == 0 && outcomes.contains(&TaskOutcome::NotJudged) => {
            let ended = |name| tasks.iter().filter(|task| verdict_name(task) == Some(name)).count();
            let written = match ended("written") {
                0 => String::new(),
                written => format!(", {written} written"),
            };
            let open: Vec<TaskOutcome> =
                outcomes.iter().copied().filter(|outcome| *outcome != TaskOutcome::NotJudged).collect();
            let open = counts(&open, &[&[TaskOutcome::NotSolved], &WITHOUT_ANSWER[..]].concat());
            let open = open.map_or_else(String::new, |open| format!(", {open}"));
            let planned = ended("planned");
            format!(
                "{planned} of {count} {noun} planned{written}{open}; nothing has judged the PDDL that the model wrote.\n"
            )
        }
        _ => format!("{solved} of {count} {noun} solved{others}.\n"),
    };
    let mut causes: Vec<(TaskOutcome, Option<String>, Vec<&str>)> = Vec::new();
    let is_open = |task: &&TaskReport| {
        let outcome = outcome_of(task);
        outcome != TaskOutcome::Solved && (count > 1 || outcome != TaskOutcome::NotJudged)
    };
    for task in report.tasks.iter().filter(is_open) {
        let (outcome, reason) = (outcome_of(task), short_reason(task));
        match causes.iter_mut().find(|(other, why, _)| *other == outcome && *why == reason) {
            Some((.., tasks)) => tasks.push(&task.task),
            None => causes.push((outcome, reason, vec![&task.task])),
        }
    }
    for (outcome, reason, tasks) in causes.iter().take(SHOWN_TASKS) {
        let more = tasks.len().saturating_sub(SHOWN_TASKS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let names = tasks.iter().take(SHOWN_TASKS).copied().collect::<Vec<_>>().join(", ");
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        push_line(&mut text, &format!("  {}{more} {}{}", escape(&names), outcome.name(), escape(&reason)));
    }
    match causes.iter().skip(SHOWN_TASKS).map(|(.., tasks)| tasks.len()).sum::<usize>() {
        0 => {}
        more => push_line(&mut text, &format!("  and {more} more")),
    }
    text
}

/// Results of tasks that say nothing about what a model wrote.
pub(crate) const WITHOUT_ANSWER: [TaskOutcome; 4] =
    [TaskOutcome::NotJudged, TaskOutcome::Undecided, TaskOutcome::Failed, TaskOutcome::Unfinished];

fn verdict_name(task: &TaskReport) -> Option<&'static str> {
    task.verdict.as_ref().map(TaskVerdict::name)
}

/// The length of the candidate's plan: `6 steps`.
fn steps(candidate: Option<&Candidate>) -> String {
    let plan = candidate.and_then(|candidate| candidate.plan.as_ref()).and_then(PlanOutcome::best);
    match plan.map_or(0, |plan| plan.steps.len()) {
        1 => "1 step".to_owned(),
        count => format!("{count} steps"),
    }
}

/// The parts of a candidate that exist: `a domain and a problem`.
fn artefacts(candidate: Option<&Candidate>) -> String {
    let Some(candidate) = candidate else { return "nothing".to_owned() };
    let has_plan = candidate.plan.as_ref().is_some_and(|plan| plan.best().is_some());
    let parts = [
        ("a domain", candidate.domain.is_some()),
        ("a problem", candidate.problem.is_some()),
        ("a plan", has_plan),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(_, exists)| *exists).map(|(part, _)| *part).collect();
    match parts.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parts => parts.join(""),
    }
}

/// `1 not solved, 2 failed` of these kinds; nothing if there are none.
pub(crate) fn counts(outcomes: &[TaskOutcome], kinds: &[TaskOutcome]) -> Option<String> {
    let count = |kind: &TaskOutcome| outcomes.iter().filter(|outcome| *outcome == kind).count();
    let counts = kinds.iter().map(|kind| (count(kind), kind.name())).filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}

/// The reason for a result in one line: the first error of the stage that decided, else the words of the verdict.
fn short_reason(task: &TaskReport) -> Option<String> {
    // What follows a colon at its end is on the next lines.
    let first_line = |text: &str| text.lines().next().unwrap_or_default().trim_end_matches(':').to_owned();
    match task.verdict.as_ref()? {
        TaskVerdict::Accepted => None,
        TaskVerdict::Planned { .. } => Some(format!("planned, {}", steps(task.candidate.as_ref()))),
        TaskVerdict::Written { .. } => Some(format!("written, {}", artefacts(task.candidate.as_ref()))),
        TaskVerdict::Unsolvable { .. } => Some("the problem as it was written has no plan".to_owned()),
        TaskVerdict::Rejected { stage, message } | TaskVerdict::Undecided { stage, message } => {
            let assessment = task.candidate.as_ref().and_then(|c| c.assessments.get(stage));
            let mut diagnostics = assessment.into_iter().flat_map(|assessment| &assessment.diagnostics);
            let error = diagnostics.find(|d| d.severity == ReportedSeverity::Error);
            Some(first_line(error.map_or(message, |error| &error.message)))
        }
        TaskVerdict::Unusable { failure, .. } | TaskVerdict::Failed { failure, .. } => {
            Some(first_line(&failure.message))
        }
    }
}

/// Prints the result of a run.
pub(crate) fn print_result(context: &Context, result: &RunResult, json: bool) {
    if json {
        context.output.json(result);
        return;
    }
    let RunResult { report, task_texts, explained_plans, .. } = result;
    context.output.result(&report_text(report, task_texts, explained_plans, context.output.all));
}

/// Prints the number of pending requests and the `command` that continues the run or evaluation in `folder`.
pub(crate) fn print_pending(
    context: &Context,
    wave: &Wave,
    (folder, answers): (&Path, &Path),
    command: &str,
) {
    for line in pending_lines(wave) {
        context.output.note(&line);
    }
    context.output.note(&format!(
        "`planforge batch submit {}` sends the files to OpenAI's or Anthropic's batch service",
        folder.display()
    ));
    context.output.note(&format!(
        "when there are replies, continue with `{command} --answers FILE`, or put them into {} and leave `--answers` out",
        answers.display()
    ));
}

fn pending_lines(wave: &Wave) -> Vec<String> {
    let wait = match wave.pending {
        1 => "1 request waits for its reply".to_owned(),
        count => format!("{count} requests wait for replies"),
    };
    let mut lines = vec![format!(
        "pending: {wait}: {} new, {} sent again, {} open from earlier request files",
        wave.new, wave.again, wave.open
    )];
    for (what, count) in &wave.failed {
        lines.push(format!("  {count} had an error instead of a reply: {what}"));
    }
    for file in &wave.files {
        let requests =
            if file.requests == 1 { "1 request".to_owned() } else { format!("{} requests", file.requests) };
        lines.push(format!("  {requests} to {}: {}", file.model, file.path.display()));
    }
    lines
}

/// Prints what a run would send and cost.
pub(crate) fn print_estimate(context: &Context, estimate: &Estimate, json: bool) {
    if json {
        context.output.json(estimate);
        return;
    }
    let calls = |calls: Option<u64>| calls.map_or("an unknown number".to_owned(), |n| n.to_string());
    let total = &estimate.total;
    context.output.result(&format!(
        "{}\n{} can be sent now; {} are paid for.\n\n{}",
        estimate.answer(),
        calls(total.now.calls),
        total.paid.calls,
        estimate.text()
    ));
}

fn push_task(out: &mut String, task: &TaskReport, text: &str, all: bool) {
    let result = match &task.verdict {
        Some(verdict @ (TaskVerdict::Planned { .. } | TaskVerdict::Written { .. })) => verdict.name(),
        verdict => TaskOutcome::of(verdict.as_ref()).name(),
    };
    push_line(out, &format!("=== {}: {result}", escape(&task.task)));
    push_section(out, "Task", text);
    if !task.not_given.is_empty() {
        let parts = task.not_given.join(", ");
        push_section(out, "Not given to the model", &format!("{parts}: the task has no file for it"));
    }
    if let Some(candidate) = &task.candidate {
        push_written_pddl(out, task, candidate);
        let mut findings = FindingPrinter { candidate, all, printed: BTreeSet::new() };
        push_plan(out, &mut findings);
        push_assessments(out, task, &mut findings);
    }
    push_failures(out, task, all);
    for stage in &task.stages {
        if let Some(budget) = &stage.budget {
            push_section(out, &format!("Budget of {}", stage.label), &budget_text(budget));
        }
    }
    if let Some(why) = verdict_reason(task) {
        push_section(out, "Why", &why);
    }
    if !task.candidates.is_empty() {
        let all: usize = task.candidates.values().sum();
        let counts: Vec<String> = task.candidates.iter().map(|(name, n)| format!("{n} {name}")).collect();
        push_section(out, "Candidates", &format!("{all} were left at the end: {}", counts.join(", ")));
    }
    push_section(out, "Tokens", &usage_text(task));
}

/// The PDDL that a model wrote. What was given is not repeated.
fn push_written_pddl(out: &mut String, task: &TaskReport, candidate: &Candidate) {
    for step in &task.written {
        for fix in &step.fixes {
            let what = format!("{} (line {}, {})", fix.title, fix.line, fix.code);
            push_section(out, "Fix applied", &what);
        }
    }
    for (name, pddl) in written_pddl(task, candidate) {
        push_section(out, &format!("{name} written"), pddl);
    }
}

/// The parts of the candidate that the model wrote: `Domain`, `Problem`.
fn written_pddl<'c>(task: &TaskReport, candidate: &'c Candidate) -> Vec<(&'static str, &'c str)> {
    let reply = task.written.iter().map(|w| w.raw_reply.as_str()).collect::<Vec<_>>().concat();
    // A given text was not in any reply; its first line tells them apart after fixes too.
    let is_written = |pddl: &str| {
        pddl.lines().find(|line| !line.trim().is_empty()).is_some_and(|first| reply.contains(first.trim()))
    };
    [("Domain", &candidate.domain), ("Problem", &candidate.problem)]
        .into_iter()
        .filter_map(|(name, pddl)| Some((name, pddl.as_deref().filter(|pddl| is_written(pddl))?)))
        .collect()
}

fn push_plan(out: &mut String, findings: &mut FindingPrinter<'_>) {
    match &findings.candidate.plan {
        None => {}
        Some(PlanOutcome::Plan { plans, optimal, statistics }) => {
            let Some(plan) = plans.first() else { return };
            let cost = plan.cost.map(|c| format!(", cost {c}")).unwrap_or_default();
            let optimal = if *optimal { ", proven cheapest" } else { "" };
            let search = if statistics.search.is_empty() { "" } else { &statistics.search };
            let title = format!("Plan ({} steps{cost}{optimal}; {})", plan.steps.len(), escape(search));
            push_section(out, title.trim_end_matches("; )"), &plan.timed_steps().join("\n"));
        }
        Some(
            PlanOutcome::ProvenUnsolvable { explanation, .. } | PlanOutcome::Exhausted { explanation, .. },
        ) => {
            push_section(out, "No plan", &explanation.join("\n"));
        }
        Some(PlanOutcome::LimitReached { message, .. }) => push_section(out, "No plan", message),
        Some(PlanOutcome::Unsupported { diagnostics } | PlanOutcome::Unreadable { diagnostics }) => {
            push_section(out, "No plan", &findings.render(diagnostics));
        }
    }
}

fn push_assessments(out: &mut String, task: &TaskReport, findings: &mut FindingPrinter<'_>) {
    let mut text = String::new();
    // In the order of the stages, which tells the story better than the alphabet.
    let assessments = &findings.candidate.assessments;
    let judged = task.stages.iter().filter_map(|stage| Some((stage, assessments.get(&stage.label)?)));
    for (stage, assessment) in judged {
        let detail = match &assessment.decision {
            Decision::Undecided { message, .. } | Decision::NotComparable { message } => message,
            Decision::Accepted | Decision::Rejected => &assessment.summary,
        };
        let measured = if stage.measure { " (measured only)" } else { "" };
        let decision = assessment.decision.name();
        push_line(&mut text, &format!("{}{measured}: {decision} - {detail}", stage.label));
        let shown = relevant_findings(assessment);
        if !shown.is_empty() {
            text.push_str(&findings.render(&shown));
        }
    }
    if !text.is_empty() {
        // Snippets in it are escaped one by one, so that their own layout stays.
        push_line(out, "Validation:");
        push_indented(out, &text);
    }
}

/// Errors always; warnings only where the candidate was not accepted, for then they may be the reason.
fn relevant_findings(assessment: &Assessment) -> Vec<ReportedDiagnostic> {
    let accepted = assessment.decision == Decision::Accepted;
    let worth = |d: &&ReportedDiagnostic| d.severity == ReportedSeverity::Error || !accepted;
    assessment.diagnostics.iter().filter(worth).cloned().collect()
}

/// Prints the findings of several stages about a candidate, those of the same cause once.
struct FindingPrinter<'c> {
    candidate: &'c Candidate,
    all: bool,
    /// Codes and messages.
    printed: BTreeSet<(String, String)>,
}

impl FindingPrinter<'_> {
    fn render(&mut self, diagnostics: &[ReportedDiagnostic]) -> String {
        let mut sources = SourceMap::default();
        let candidate = self.candidate;
        let plan = candidate.plan.as_ref().and_then(PlanOutcome::best).map(|p| p.steps.join("\n"));
        let texts =
            [("domain", candidate.domain.clone()), ("problem", candidate.problem.clone()), ("plan", plan)];
        let ids: Vec<_> = texts
            .into_iter()
            .filter_map(|(name, text)| text.map(|text| (name, sources.add(name, text))))
            .collect();
        let mut out = String::new();
        let mut more = 0;
        for reported in diagnostics {
            if !self.printed.insert((reported.code.clone(), reported.message.clone())) && !self.all {
                more += 1;
                continue;
            }
            let severity = match reported.severity {
                ReportedSeverity::Advice => Severity::Advice,
                ReportedSeverity::Warning => Severity::Warning,
                ReportedSeverity::Error => Severity::Error,
            };
            let mut diagnostic = Diagnostic::new(severity, "", reported.message.clone());
            diagnostic.code = reported.code.clone().into();
            diagnostic.help.clone_from(&reported.help);
            if let Some((_, id)) = ids.iter().find(|(name, _)| *name == reported.file)
                && reported.line > 0
            {
                diagnostic = diagnostic.at(*id, Span::new(reported.start, reported.end), "");
            }
            push_line(
                &mut out,
                planforge_app::diagnostics::render::text(&diagnostic, &sources, false).trim_end(),
            );
        }
        if let Some(line) = more_line(more) {
            push_line(&mut out, &line);
        }
        out
    }
}

fn push_failures(out: &mut String, task: &TaskReport, all: bool) {
    let failed = task.stages.iter().flat_map(|stage| stage.failed.iter().map(move |failed| (stage, failed)));
    for ((stage, failed), more) in first_of_each(failed, all, |(_, failed)| failed.failure.to_string()) {
        let help = failed.failure.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let more = more_line(more).map(|line| format!("\n{line}")).unwrap_or_default();
        push_section(
            out,
            &format!("Failed at {}", stage.label),
            &format!("{}: {}{help}{more}", failed.path, failed.failure),
        );
    }
}

fn verdict_reason(task: &TaskReport) -> Option<String> {
    let verdict = task.verdict.as_ref()?;
    match verdict {
        TaskVerdict::Accepted => None,
        TaskVerdict::Planned { .. } | TaskVerdict::Written { .. } => verdict.not_judged_reason(),
        // Why there is no plan stands under "No plan" already.
        TaskVerdict::Unsolvable { stage, .. } => Some(format!(
            "`{stage}` proved that the problem as it was written has no plan; the task itself may well have one"
        )),
        TaskVerdict::Rejected { stage, message } | TaskVerdict::Undecided { stage, message } => {
            Some(format!("{} at `{stage}`: {message}", verdict.name()))
        }
        TaskVerdict::Unusable { stage, failure } => Some(format!("no usable reply at `{stage}`: {failure}")),
        TaskVerdict::Failed { stage, failure } => {
            // It is above under "Failed at" already if a call failed.
            let mut printed = task.stages.iter().flat_map(|stage| &stage.failed);
            let text = match printed.any(|failed| failed.failure == *failure) {
                true => String::new(),
                false => {
                    let help = failure.help.as_ref().map(|help| format!("\nhelp: {help}"));
                    format!(": {failure}{}", help.unwrap_or_default())
                }
            };
            Some(format!("failed at `{stage}`{text}"))
        }
    }
}

fn push_section(out: &mut String, title: &str, text: &str) {
    push_line(out, &format!("{title}:"));
    let lines: Vec<&str> = text.trim_end().lines().collect();
    for shown in lines.iter().take(SHOWN_LINES) {
        push_line(out, format!("  {}", escape(shown)).trim_end());
    }
    if lines.len() > SHOWN_LINES {
        push_line(
            out,
            &format!("  ... {} more lines; the whole text is in the run folder", lines.len() - SHOWN_LINES),
        );
    }
}

fn push_indented(out: &mut String, text: &str) {
    for shown in text.trim_end().lines() {
        push_line(out, format!("  {shown}").trim_end());
    }
}

fn push_line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_app::contract::{Failure, FailureClass, PlanDocument, SearchStatistics};
    use planforge_app::run::RunState;

    #[test]
    fn the_first_line_of_tasks_without_a_reference_says_that_nothing_judged_them() {
        let plan = PlanDocument { steps: vec!["(go)".to_owned()], ..PlanDocument::default() };
        let statistics = SearchStatistics::default();
        let plan = Some(PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics });
        let domain = Some("(define (domain d))".to_owned());
        let task = |name: &str, verdict: TaskVerdict| TaskReport {
            task: name.to_owned(),
            verdict: Some(verdict),
            candidate: Some(Candidate { domain: domain.clone(), plan: plan.clone(), ..Candidate::default() }),
            ..TaskReport::default()
        };
        let planned = || TaskVerdict::Planned { not_judged: vec!["environment".to_owned()] };
        let written = || TaskVerdict::Written { not_judged: Vec::new() };
        let wrong = || TaskVerdict::Rejected { stage: "pddl".to_owned(), message: "two errors".to_owned() };
        let sentence = |tasks: Vec<TaskReport>| {
            let prices = Default::default();
            verdict_sentence(&RunReport { schema: 1, state: RunState::Finished, tasks, prices })
        };
        assert_eq!(
            sentence(vec![task("a", planned())]),
            "planned: 1 step, valid in the PDDL that the model wrote; nothing has judged that PDDL.\n"
        );
        assert_eq!(
            sentence(vec![task("a", written())]),
            "written: a domain and a plan; nothing has judged it.\n"
        );
        let several = vec![task("a", planned()), task("b", written()), task("c", wrong())];
        assert_eq!(
            sentence(several),
            "1 of 3 tasks planned, 1 written, 1 not solved; nothing has judged the PDDL that the model wrote.\n  \
             a not judged: planned, 1 step\n  b not judged: written, a domain and a plan\n  c not solved: two errors\n"
        );
        let mixed = vec![task("a", planned()), task("b", TaskVerdict::Accepted)];
        assert_eq!(sentence(mixed), "1 of 2 tasks solved, 1 not judged.\n  a not judged: planned, 1 step\n");
    }

    #[test]
    fn tasks_of_one_cause_are_named_in_one_line() {
        let down = Failure::new(FailureClass::Provider, "llm.connection", "the server is down; it says:\nno");
        let failed = TaskVerdict::Failed { stage: "problem".to_owned(), failure: down };
        let wrong = TaskVerdict::Rejected { stage: "pddl".to_owned(), message: "two errors".to_owned() };
        let tasks = [("a", &failed), ("b", &wrong), ("c", &failed), ("d", &TaskVerdict::Accepted)].map(
            |(name, verdict)| TaskReport {
                task: name.to_owned(),
                verdict: Some(verdict.clone()),
                ..TaskReport::default()
            },
        );
        let report = RunReport {
            schema: 1,
            state: RunState::Finished,
            tasks: tasks.into(),
            prices: Default::default(),
        };
        assert_eq!(
            verdict_sentence(&report),
            "1 of 4 tasks solved, 1 not solved, 2 failed.\n  a, c failed: the server is down; it says\n  b not solved: two errors\n"
        );
    }
}
