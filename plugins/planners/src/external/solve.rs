//! One call: read the task, run the program, read how it ended, try its plans.

use crate::external::command::{Meaning, OutcomeSignal, Preset, Slots, words};
use crate::external::{ExternalPlannerOptions, codes};
use planforge_child::{CommandSpec, Ending, Environment, Finished, Limits};
use planforge_contract::api::{Host, LogLevel};
use planforge_contract::{
    Failure, FailureClass, LimitKind, PlanDocument, PlanOutcome, PlanRequest, ProgressTimer,
    ReportedDiagnostic, SearchStatistics, StepTimes,
};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::{Number, TaskSources, ast, read_task, requirements_used};
use planforge_planning::{
    MAX_PLAN_STEPS, StopReason, ValidationDecision, ValidationOptions, ValidationReport, Validator,
    normalize, parse_plan,
};
use planforge_plugin_common::judging::Deadline;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Time after which a program that enforces its limits itself is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Reads the task and runs the program.
pub(crate) fn run(
    timer: &ProgressTimer<'_>,
    options: &ExternalPlannerOptions,
    request: &PlanRequest,
) -> Result<PlanOutcome, Failure> {
    let mut sources = SourceMap::default();
    sources.add("domain", request.domain.as_str());
    sources.add("problem", request.problem.as_str());
    let report = |found: &[Diagnostic]| -> Vec<ReportedDiagnostic> {
        found.iter().map(|d| ReportedDiagnostic::of(d, &sources)).collect()
    };
    let (domain, problem) = match read_task(&request.domain, &request.problem) {
        Ok(task) => task,
        Err(errors) => return Ok(PlanOutcome::Unreadable { diagnostics: report(&errors) }),
    };
    let unsupported = unsupported_property(options, request.k, &domain, &problem);
    if !unsupported.is_empty() {
        return Ok(PlanOutcome::Unsupported { diagnostics: report(&unsupported) });
    }
    let folder = tempfile::tempdir().map_err(|e| folder_failure(&e))?;
    let call = PlannerCall { host: timer.host(), options, request, folder: folder.path() };
    let finished = call.start(timer)?;
    let ended = call.interpret_ending(&finished)?;
    if ended.found() {
        let mut plans = call.plans(&finished, &ended)?;
        // Some planners print the places of the steps as times.
        if !normalize(&domain, &problem).is_ok_and(|task| task.extension.has_time()) {
            plans.iter_mut().for_each(|plan| plan.times.clear());
        }
        let plans = call.validated_plans(plans, &domain, &problem)?;
        if let Some(outcome) = call.with_plans(plans, &ended)? {
            return Ok(outcome);
        }
    }
    call.without_plan(ended, &finished)
}

/// The first property of the task or request that the program does not support.
fn unsupported_property(
    options: &ExternalPlannerOptions,
    k: u32,
    domain: &ast::Domain,
    problem: &ast::Problem,
) -> Vec<Diagnostic> {
    let preset = options.preset.map(|p| p.info());
    let mut found = Vec::new();
    if let Some(preset) = preset.filter(|p| k > 1 && !p.several) {
        let message = format!("{k} plans were asked for, and {} finds one", preset.name);
        found.push(Diagnostic::error(codes::UNSUPPORTED, message));
    }
    let supports: Option<Vec<&str>> = match &options.supports {
        Some(own) => Some(own.iter().map(String::as_str).collect()),
        None => preset.map(|p| p.supports.to_vec()),
    };
    let Some(supports) = supports else { return found };
    for used in requirements_used(domain, problem, TaskSources::default()) {
        if !supports.contains(&used.requirement) {
            let message = format!("this planner does not plan with {}", used.requirement);
            let help = "another planner may do; `planforge doctor` says what each supports";
            found.push(
                Diagnostic::error(codes::UNSUPPORTED, message).at(used.source, used.span, "").help(help),
            );
        }
    }
    found
}

/// The outcome of a program run.
enum Ended {
    /// It reports a plan.
    Plan { complete: bool },
    /// It reports a proof that there is no plan.
    Unsolvable(String),
    /// It reports that it found none.
    Exhausted(String),
    /// A limit of the program or of the host.
    Limit(LimitKind, String),
    /// It reports an unsupported task.
    Unsupported(String),
    /// It reports nothing; the plan files decide.
    Silent,
}

impl Ended {
    /// True if there may be plans.
    const fn found(&self) -> bool {
        matches!(self, Self::Plan { .. } | Self::Limit(..) | Self::Silent)
    }
}

struct PlannerCall<'a> {
    host: &'a dyn Host,
    options: &'a ExternalPlannerOptions,
    request: &'a PlanRequest,
    folder: &'a Path,
}

impl PlannerCall<'_> {
    /// The limit of wall time: the lowest of the options, the request and the host's deadline.
    fn wall(&self) -> Duration {
        let own = u64::from(self.options.time_limit_s.max(1)) * 1000;
        let all = [Some(own), self.request.limits.time_ms, self.host.remaining_ms()];
        Duration::from_millis(all.into_iter().flatten().min().unwrap_or(own).max(1))
    }

    fn memory_bytes(&self) -> u64 {
        let own = u64::from(self.options.memory_limit_mb.max(1)) << 20;
        self.request.limits.memory_bytes.map_or(own, |asked| asked.min(own))
    }

    fn start(&self, timer: &ProgressTimer<'_>) -> Result<Finished, Failure> {
        let write = |name: &str, text: &str| -> Result<String, Failure> {
            let path = self.folder.join(name);
            std::fs::write(&path, text).map_err(|e| folder_failure(&e))?;
            Ok(path.display().to_string())
        };
        let wall = self.wall();
        let slots = Slots {
            domain: write("domain.pddl", &self.request.domain)?,
            problem: write("problem.pddl", &self.request.problem)?,
            plan: self.folder.join("sas_plan").display().to_string(),
            k: self.request.k.max(1),
            seed: self.request.seed,
            time_s: wall.as_secs().max(1),
            memory_mb: (self.memory_bytes() >> 20).max(1),
        };
        let mut words = words(self.options, &slots)?.into_iter();
        let mut spec =
            CommandSpec::new(words.next().unwrap_or_default()).arguments(words).folder(self.folder);
        if let Environment::Only { set, .. } = &mut spec.environment {
            set.extend(self.options.env.clone());
        }
        // A program that minds its own limit ends in order and tells which it was.
        let grace = if self.options.preset.is_some() { GRACE } else { Duration::ZERO };
        let limits = Limits {
            wall: Some(wall + grace),
            memory_bytes: Some(self.memory_bytes()),
            output_bytes: self.most(),
            error_bytes: self.most(),
            ..Limits::default()
        };
        self.host.log(LogLevel::Debug, &spec.text());
        Ok(planforge_child::run(&spec, &limits, &|| timer.is_cancelled()))
    }

    fn most(&self) -> u64 {
        u64::from(self.options.output_limit_kb.max(1)) << 10
    }

    /// Interprets exit code and output.
    fn interpret_ending(&self, finished: &Finished) -> Result<Ended, Failure> {
        let account = finished.account();
        let failure = |class, code| Err(Failure::new(class, code, format!("the planner {account}")));
        match &finished.ending {
            Ending::Exited(code) => self.read_exit_code(*code, finished),
            Ending::TimedOut(_) => Ok(Ended::Limit(LimitKind::Time, format!("the planner {account}"))),
            Ending::Memory(_) => Ok(Ended::Limit(LimitKind::Memory, format!("the planner {account}"))),
            Ending::Cancelled => Ok(Ended::Limit(LimitKind::Cancelled, format!("the planner {account}"))),
            Ending::OutputLimit(..) => failure(FailureClass::Plugin, codes::FLOODED),
            Ending::CouldNotStart(_) => {
                let install = self.options.preset.map(|p| p.info().install);
                let failure =
                    Failure::new(FailureClass::System, codes::NOT_STARTED, format!("the planner {account}"));
                Err(match install {
                    Some(install) => failure.help(format!("install it: {install}")),
                    None => failure.help("set `command` to the program's path"),
                })
            }
            Ending::Signal(_) | Ending::ClosedOutput | Ending::Lost(_) => {
                failure(FailureClass::Plugin, codes::BROKE)
            }
        }
    }

    fn read_exit_code(&self, code: i32, finished: &Finished) -> Result<Ended, Failure> {
        let said = |what: &str| format!("the planner ended with exit code {code}: {what}");
        let broke = || {
            let mut account = finished.account();
            if finished.error_tail.trim().is_empty() {
                account = format!("{account}; it printed: {}", tail(&finished.output));
            }
            Failure::new(FailureClass::Plugin, codes::BROKE, format!("the planner {account}"))
        };
        let own = &self.options.exit_codes;
        match self.options.preset.map(|p| p.info().ending) {
            Some(OutcomeSignal::FastDownward) => fast_downward(code).ok_or_else(broke),
            Some(OutcomeSignal::Phrases(phrases)) => {
                if code != 0 {
                    return Err(broke());
                }
                let printed =
                    format!("{}\n{}", String::from_utf8_lossy(&finished.output), finished.error_tail);
                Ok(match phrases.iter().find(|(phrase, _)| printed.contains(phrase)) {
                    Some((phrase, Meaning::NoPlan)) => {
                        Ended::Exhausted(format!("the planner says: {phrase}"))
                    }
                    Some((phrase, Meaning::Time)) => {
                        Ended::Limit(LimitKind::Time, format!("the planner says: {phrase}"))
                    }
                    None => Ended::Silent,
                })
            }
            None if own.plan.contains(&code) => Ok(Ended::Plan { complete: true }),
            None if own.unsolvable.contains(&code) => Ok(Ended::Unsolvable(said("no plan exists"))),
            None if own.exhausted.contains(&code) => Ok(Ended::Exhausted(said("no plan was found"))),
            None if own.time.contains(&code) => Ok(Ended::Limit(LimitKind::Time, said("its time limit"))),
            None if own.memory.contains(&code) => {
                Ok(Ended::Limit(LimitKind::Memory, said("its memory limit")))
            }
            None if own.unsupported.contains(&code) => Ok(Ended::Unsupported(said("not supported"))),
            None => Err(broke()),
        }
    }

    fn plans(&self, finished: &Finished, ended: &Ended) -> Result<Vec<PlanDocument>, Failure> {
        let killed = matches!(ended, Ended::Limit(..));
        let output = String::from_utf8_lossy(&finished.output);
        collect(self.folder, self.options.preset, &output, self.most(), killed)
    }

    /// The plans that are valid on the task, with their costs. A plan that validation cannot execute, or does not
    /// decide within the limits, is kept unchanged.
    fn validated_plans(
        &self,
        plans: Vec<PlanDocument>,
        domain: &ast::Domain,
        problem: &ast::Problem,
    ) -> Result<Vec<PlanDocument>, Failure> {
        if !self.options.validate {
            return Ok(plans);
        }
        let options = ValidationOptions { time: true, ..ValidationOptions::default() };
        let mut believed = Vec::with_capacity(plans.len());
        for mut plan in plans {
            let file = parse_plan(&plan.to_ipc(), PLAN);
            let report = normalize(domain, problem).map(|task| {
                Validator::new(task).validate_with(&file, &options, &mut Deadline::new(self.host))
            });
            match report {
                Ok(report) if report.decision == ValidationDecision::Valid => {
                    plan.cost = report.cost.or(plan.cost);
                    believed.push(plan);
                }
                Ok(report) if report.decision == ValidationDecision::Invalid => {
                    let why = match &report.failing_step {
                        Some(step) => format!("step {} {} cannot be executed", step.index + 1, step.text),
                        None => "the goal does not hold at its end".to_owned(),
                    };
                    let message = format!("the planner announced a plan that does not hold: {why}");
                    return Err(Failure::new(FailureClass::Plugin, codes::WRONG_PLAN, message));
                }
                Ok(ValidationReport {
                    decision: ValidationDecision::LimitReached(StopReason::Cancelled),
                    ..
                }) => {
                    let message = "the run was interrupted";
                    return Err(Failure::new(FailureClass::Cancelled, "host.cancelled", message));
                }
                Ok(ValidationReport { decision: ValidationDecision::LimitReached(reason), .. }) => {
                    let message =
                        format!("{reason} ended the validation of the plan: it is kept without validation");
                    self.host.log(LogLevel::Warn, &message);
                    believed.push(plan);
                }
                _ => {
                    self.host.log(LogLevel::Info, "the plan uses what validation does not execute");
                    believed.push(plan);
                }
            }
        }
        Ok(believed)
    }

    fn with_plans(
        &self,
        mut plans: Vec<PlanDocument>,
        ended: &Ended,
    ) -> Result<Option<PlanOutcome>, Failure> {
        if plans.is_empty() {
            return match ended {
                Ended::Plan { .. } => {
                    let message = "the planner ended as if it had found a plan, and left none";
                    Err(Failure::new(FailureClass::Plugin, codes::NO_PLAN_FILE, message))
                }
                _ => Ok(None),
            };
        }
        plans.truncate(self.request.k.max(1) as usize);
        let complete = matches!(ended, Ended::Plan { complete: true } | Ended::Silent);
        let optimal = complete && self.proves_cheapest();
        Ok(Some(PlanOutcome::Plan { plans, optimal, statistics: self.statistics() }))
    }

    /// True if the configuration proves its plan cheapest: Fast Downward names those `seq-opt-...`.
    fn proves_cheapest(&self) -> bool {
        let alias = self.options.alias.as_deref().is_some_and(|a| a.starts_with("seq-opt-"));
        let preset =
            self.options.preset.is_some_and(|p| p.info().optimal) && self.options.arguments.is_empty();
        self.options.optimal.unwrap_or(alias || preset)
    }

    fn statistics(&self) -> SearchStatistics {
        let name = self.options.preset.map_or_else(
            || self.options.command.first().cloned().unwrap_or_default(),
            |p| p.info().name.to_owned(),
        );
        let how = self.options.search.as_ref().or(self.options.alias.as_ref());
        let search = how.map_or_else(|| name.clone(), |how| format!("{name} {how}"));
        SearchStatistics { search, ..SearchStatistics::default() }
    }

    fn without_plan(&self, ended: Ended, finished: &Finished) -> Result<PlanOutcome, Failure> {
        let statistics = self.statistics();
        Ok(match ended {
            Ended::Unsolvable(why) => PlanOutcome::ProvenUnsolvable { explanation: vec![why], statistics },
            Ended::Exhausted(why) => PlanOutcome::Exhausted { explanation: vec![why], statistics },
            Ended::Limit(limit, message) => {
                PlanOutcome::LimitReached { limit, message, plans: Vec::new(), statistics }
            }
            Ended::Unsupported(why) => PlanOutcome::Unsupported {
                diagnostics: vec![ReportedDiagnostic::of(
                    &Diagnostic::error(codes::UNSUPPORTED, why),
                    &SourceMap::default(),
                )],
            },
            Ended::Plan { .. } | Ended::Silent => {
                let message = format!(
                    "the planner ended with exit code 0, left no plan and said nothing that is known; it printed: {}",
                    tail(&finished.output)
                );
                return Err(Failure::new(FailureClass::Plugin, codes::BROKE, message));
            }
        })
    }
}

/// Fast Downward's exit codes; `None` for its errors and for codes that it does not have.
fn fast_downward(code: i32) -> Option<Ended> {
    let said = |what: &str| format!("Fast Downward ended with exit code {code}: {what}");
    Some(match code {
        0 => Ended::Plan { complete: true },
        1..=3 => Ended::Plan { complete: false },
        10 => Ended::Unsolvable(said("translating the task proved that it has no plan")),
        11 => Ended::Unsolvable(said("the search proved that there is no plan")),
        12 => Ended::Exhausted(said("the search ended without a plan and without a proof")),
        20 | 22 => Ended::Limit(LimitKind::Memory, said("out of memory")),
        21 | 23 => Ended::Limit(LimitKind::Time, said("out of time")),
        24 => Ended::Limit(LimitKind::Time, said("out of memory and time")),
        34 | 37 => Ended::Unsupported(said("a part of the task or of the configuration is not supported")),
        _ => return None,
    })
}

/// The end of what was printed, on one line.
fn tail(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(&output[output.len().saturating_sub(600)..]);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    lines[lines.len().saturating_sub(5)..].join(" | ")
}

fn folder_failure(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(FailureClass::System, codes::FOLDER, format!("the run's folder: {error}"))
}

/// The source of the plan, next to domain and problem.
const PLAN: SourceId = SourceId(2);

/// Reads every plan that the program left, best first: by cost if all have one, else the last written first,
/// because planners write better ones later.
///
/// A program that was killed may have been writing a plan; an unreadable plan is then left out.
///
/// # Errors
/// A file that cannot be read or is not a plan; all files together are larger than `most` bytes.
fn collect(
    folder: &Path,
    preset: Option<Preset>,
    stdout: &str,
    most: u64,
    killed: bool,
) -> Result<Vec<PlanDocument>, Failure> {
    let mut plans = match preset {
        Some(Preset::KStar) => printed_plans(stdout)?,
        _ => files(folder, most, killed)?,
    };
    plans.reverse();
    if plans.iter().all(|p| p.cost.is_some()) {
        plans.sort_by(|a, b| a.cost.unwrap_or(f64::NAN).total_cmp(&b.cost.unwrap_or(f64::NAN)));
    }
    Ok(plans)
}

/// The plan files in the order of their numbers.
fn files(folder: &Path, most: u64, killed: bool) -> Result<Vec<PlanDocument>, Failure> {
    let unreadable = |e: std::io::Error| {
        Failure::new(FailureClass::System, codes::FOLDER, format!("{}: {e}", folder.display()))
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        // Looked at without following links: a program may not point us elsewhere.
        let plain = entry.file_type().map_err(unreadable)?.is_file();
        if let Some(number) = entry.file_name().to_str().and_then(number_of).filter(|_| plain) {
            found.push((number, entry.path()));
        }
    }
    found.sort();
    let mut left = most;
    let mut plans = Vec::with_capacity(found.len());
    for (_, path) in found {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&path).map_err(unreadable)?;
        file.take(left + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| {
            let message = format!("the plan files are larger than {most} bytes together");
            Failure::new(FailureClass::Plugin, codes::FLOODED, message)
        })?;
        match read(&String::from_utf8_lossy(&bytes)) {
            Err(_) if killed => {}
            plan => plans.push(plan?),
        }
    }
    Ok(plans)
}

/// `sas_plan` is 0, `sas_plan.7` is 7.
fn number_of(name: &str) -> Option<u64> {
    match name {
        "sas_plan" | "problem.pddl.soln" => Some(0),
        _ => name.strip_prefix("sas_plan.")?.parse().ok(),
    }
}

/// Reads one plan file. A line that is not a step is an error: without it the plan would be another one.
fn read(text: &str) -> Result<PlanDocument, Failure> {
    let file = parse_plan(text, PLAN);
    // A warning is enough: a parenthesis that is missing means that the file was cut off.
    if let Some(found) = file.diagnostics.first() {
        let message = format!("the program left an unreadable plan file: {}", found.message);
        return Err(Failure::new(FailureClass::Plugin, codes::NO_PLAN_FILE, message));
    }
    if file.omitted > 0 {
        let steps = file.steps.len() + file.omitted;
        let message = format!("the program left a plan of {steps} steps; at most {MAX_PLAN_STEPS} are read");
        return Err(Failure::new(FailureClass::Limit, codes::FLOODED, message));
    }
    if let Some(step) = file.steps.iter().find(|s| s.bare) {
        let message =
            format!("the program left a plan file with a line that is not a step: `{}`", step.name.text);
        return Err(Failure::new(FailureClass::Plugin, codes::NO_PLAN_FILE, message));
    }
    let step = |s: &planforge_planning::FileStep| {
        let words: Vec<&str> = std::iter::once(&s.name).chain(&s.args).map(|w| w.text.as_str()).collect();
        format!("({})", words.join(" "))
    };
    let cost = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("; cost = ")?.split_whitespace().next()?.parse().ok());
    let has_times = file.steps.iter().all(|step| step.time.is_some());
    let times = |s: &planforge_planning::FileStep| StepTimes {
        start: s.time.map_or(0.0, Number::to_f64),
        duration: s.duration.map(Number::to_f64),
    };
    let times = if has_times { file.steps.iter().map(times).collect() } else { Vec::new() };
    let steps = file.steps.iter().map(step).collect();
    Ok(PlanDocument { steps, times, cost, ..PlanDocument::default() })
}

/// K*'s list: `Plan 1, of cost 6`, then `1. (unstack b1 b3)`.
fn printed_plans(stdout: &str) -> Result<Vec<PlanDocument>, Failure> {
    let mut plans: Vec<PlanDocument> = Vec::new();
    for line in stdout.lines().map(str::trim) {
        if let Some((_, cost)) = line.strip_prefix("Plan ").and_then(|rest| rest.split_once(", of cost ")) {
            plans.push(PlanDocument {
                steps: Vec::new(),
                cost: cost.trim().parse().ok(),
                ..PlanDocument::default()
            });
        } else if let (Some((number, step)), Some(plan)) = (line.split_once(". "), plans.last_mut())
            && number.parse::<usize>() == Ok(plan.steps.len() + 1)
        {
            plan.steps.extend(read(step)?.steps);
        }
    }
    Ok(plans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_files_are_read_best_first_and_others_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("sas_plan.1", "(a x)\n(b)\n; cost = 20 (general cost)\n");
        write("sas_plan.10", "(c)\n; cost = 3 (unit cost)\n");
        write("sas_plan.2", "(d)\n; cost = 7 (unit cost)\n");
        write("output.sas", "begin_version");
        let plans = collect(folder.path(), Some(Preset::FastDownward), "", 1000, false).unwrap();
        let costs: Vec<Option<f64>> = plans.iter().map(|p| p.cost).collect();
        assert_eq!(costs, [Some(3.0), Some(7.0), Some(20.0)]);
        assert_eq!(plans[2].steps, ["(a x)", "(b)"]);
        assert_eq!(collect(folder.path(), None, "", 30, false).unwrap_err().code, codes::FLOODED);
        write("sas_plan.3", "(e)\n");
        let plans = collect(folder.path(), None, "", 1000, false).unwrap();
        assert_eq!(plans[0].steps, ["(c)"], "without all costs the last written is the first");
        write("sas_plan.11", "(c)\n(cut");
        assert_eq!(collect(folder.path(), None, "", 1000, true).unwrap(), plans);
        assert_eq!(collect(folder.path(), None, "", 1000, false).unwrap_err().code, codes::NO_PLAN_FILE);
    }

    #[test]
    fn rubbish_is_no_plan() {
        for text in ["(a", "found a plan: (a)", "no plan", "\0\0"] {
            assert_eq!(read(text).unwrap_err().code, codes::NO_PLAN_FILE, "{text:?}");
        }
        assert_eq!(read("; nothing to do\n").unwrap(), PlanDocument::default());
        let long = read(&"(a)\n".repeat(MAX_PLAN_STEPS + 1)).unwrap_err();
        assert_eq!((long.class, long.code.as_str()), (FailureClass::Limit, codes::FLOODED));
        assert!(long.message.contains("500001 steps; at most 500000"), "{long}");
    }

    #[test]
    fn the_printed_list_is_read() {
        let text = "Plan 1, of cost 2\n1. (a x)\n2. (b)\n\nPlan 2, of cost 4\n1. (c)\nnoise\n2. (d)\n3. (c)\n4. (d)\n";
        let plans = collect(Path::new("/nowhere"), Some(Preset::KStar), text, 0, false).unwrap();
        assert_eq!(plans.len(), 2);
        assert_eq!((plans[0].cost, plans[0].steps.len()), (Some(2.0), 2));
        assert_eq!(plans[1].steps, ["(c)", "(d)", "(c)", "(d)"]);
    }
}
