//! Shared parts of plugins that judge, plan or simulate: the host's limits as limits of
//! [planning](planforge_planning), the reference that an environment shows, comparison results as documents
//! of the contract, and common options.
//!
//! The SDK does not depend on planning, and planning does not depend on hosts. Plugins that need both share
//! this module with the command line.

pub mod blame;
pub mod domains;
pub mod joint;
pub mod problems;
pub mod reference;
pub mod reports;

pub use reference::{NotShown, Reference};

use planforge_contract::api::Host;
use planforge_contract::{Failure, FailureClass, LimitKind, PlanOutcome, ProgressTimer};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_pddl::TaskSources;
use planforge_pddl::ast::{Domain, Problem};
use planforge_planning::equivalence::hde;
use planforge_planning::{
    Poll, ResourceLimits, StopReason, ValidationOptions, ValidationReport, Validator, normalize, parse_plan,
    walk,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Limits on judging. What they cut is undecided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgingLimits {
    /// Most seconds of wall time for each candidate of a verifier, or each call of an environment. Candidates
    /// that are measured together share the sum.
    pub time_s: u32,
    /// Most megabytes of states, facts and ground actions, counted as they are made, for each candidate or call in the same way.
    pub memory_mb: u32,
}

impl Default for JudgingLimits {
    fn default() -> Self {
        Self { time_s: 300, memory_mb: 2048 }
    }
}

impl JudgingLimits {
    /// The deadline of one call: these limits for so many candidates, or the host's deadline if it is earlier.
    pub fn deadline<'h>(&self, host: &'h dyn Host, candidates: usize) -> Deadline<'h> {
        let candidates = u64::try_from(candidates).unwrap_or(u64::MAX).max(1);
        let seconds = u64::from(self.time_s).saturating_mul(candidates);
        let bytes_left = (u64::from(self.memory_mb) << 20).saturating_mul(candidates);
        Deadline { bytes_left, ..Deadline::within(host, Some(Duration::from_secs(seconds))) }
    }

    /// The deadline of work for one candidate that takes no longer than `most`.
    pub fn deadline_within<'h>(&self, host: &'h dyn Host, most: Duration) -> Deadline<'h> {
        let own = Duration::from_secs(self.time_s.into());
        let bytes_left = u64::from(self.memory_mb) << 20;
        Deadline { bytes_left, ..Deadline::within(host, Some(most.min(own))) }
    }
}

/// Turns a planner's call that the host ended into a limit. It happens if the planner had no time to read the clock itself.
///
/// # Errors
/// Every other failure.
pub fn limit_outcome(failure: Failure) -> Result<PlanOutcome, Failure> {
    let limit = match failure.class {
        FailureClass::Limit => LimitKind::Time,
        FailureClass::Cancelled => LimitKind::Cancelled,
        _ => return Err(failure),
    };
    let (plans, statistics) = (Vec::new(), Default::default());
    Ok(PlanOutcome::LimitReached { limit, message: failure.to_string(), plans, statistics })
}

/// A text with the name that diagnostics give it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamedText {
    /// Path of the file, or the text's role: `domain`, `problem`, `plan`.
    pub name: String,
    /// `None` if it could not be read.
    pub text: Option<String>,
    /// Finding of reading the file, if any.
    pub finding: Option<Diagnostic>,
}

impl NamedText {
    /// A text that was read.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: Some(text.into()), finding: None }
    }
}

/// The readable parts of a domain and a problem, and all diagnostics.
#[derive(Debug, Clone, Default)]
pub struct TaskTexts {
    /// The texts: the domain is source 0, the problem source 1.
    pub sources: SourceMap,
    /// Findings, in the order of the texts.
    pub diagnostics: Vec<Diagnostic>,
    /// `None` if nothing of it could be read.
    pub domain: Option<Domain>,
    /// `None` if there is none, or nothing of it could be read.
    pub problem: Option<Problem>,
}

impl TaskTexts {
    /// Reads a domain and, where given, a problem; checks each and both together.
    pub fn read(domain: NamedText, problem: Option<NamedText>) -> Self {
        let mut texts = Self::default();
        let (domain_source, text) = texts.add(domain);
        if let Some(text) = text {
            let parsed = planforge_pddl::parse_domain(&text, domain_source);
            texts.diagnostics.extend(parsed.diagnostics);
            texts.domain = read_anything(parsed.value);
        }
        let problem_source = problem.map(|problem| {
            let (source, text) = texts.add(problem);
            if let Some(text) = text {
                let parsed = planforge_pddl::parse_problem(&text, source);
                texts.diagnostics.extend(parsed.diagnostics);
                texts.problem = read_anything(parsed.value);
            }
            source
        });
        if let Some(domain) = &texts.domain {
            texts.diagnostics.extend(planforge_pddl::check_domain(domain, domain_source));
            if let (Some(problem), Some(problem_source)) = (&texts.problem, problem_source) {
                let sources = TaskSources { domain: domain_source, problem: problem_source };
                texts.diagnostics.extend(planforge_pddl::check_problem(domain, problem, sources));
            }
        }
        texts
    }

    /// Adds a text to the sources, with the finding of reading it.
    pub fn add(&mut self, named: NamedText) -> (SourceId, Option<String>) {
        let NamedText { name, text, finding } = named;
        let source = self.sources.add(name, text.clone().unwrap_or_default());
        self.diagnostics.extend(finding.map(|mut finding| {
            finding.labels.iter_mut().for_each(|label| label.source = source);
            finding
        }));
        (source, text)
    }

    /// True if a diagnostic makes the texts unusable.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Checks that planning and plan validation accept domain and problem; adds what is wrong.
    pub fn check_task(&mut self) {
        if let (Some(domain), Some(problem), false) = (&self.domain, &self.problem, self.has_errors())
            && let Err(diagnostics) = normalize(domain, problem)
        {
            self.diagnostics.extend(diagnostics);
        }
    }

    /// Validates a plan and adds its diagnostics. `None` if task or plan cannot be used.
    pub fn validate_plan(
        &mut self,
        source: SourceId,
        plan: &str,
        options: &ValidationOptions,
        limits: &mut dyn ResourceLimits,
    ) -> Option<ValidationReport> {
        // A plan cannot be right for a task that cannot be used.
        let (Some(domain), Some(problem), false) = (&self.domain, &self.problem, self.has_errors()) else {
            return None;
        };
        let plan = parse_plan(plan, source);
        if plan.diagnostics.iter().any(Diagnostic::is_error) {
            // What else is wrong with a plan of which a part could not be read says nothing about the plan that was meant.
            self.diagnostics.extend(plan.diagnostics);
            return None;
        }
        match normalize(domain, problem) {
            Err(diagnostics) => {
                self.diagnostics.extend(diagnostics);
                None
            }
            Ok(task) => {
                let report = Validator::new(task).validate_with(&plan, options, limits);
                self.diagnostics.extend(report.diagnostics.iter().cloned());
                Some(report)
            }
        }
    }
}

/// `None` if nothing could be read: the reason is already reported, and an empty value would give follow-up
/// errors.
fn read_anything<T: Default + PartialEq>(value: T) -> Option<T> {
    (value != T::default()).then_some(value)
}

/// The rule for legal ground actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Semantics {
    /// Every ground action whose precondition holds.
    #[default]
    Strips,
    /// As `strips`, without ground actions that cannot change any state, which planners on the Fast Downward translator drop.
    GroundNoOpsDropped,
}

impl Semantics {
    /// The value in options.
    pub const fn name(self) -> &'static str {
        match self {
            Semantics::Strips => "strips",
            Semantics::GroundNoOpsDropped => "ground-no-ops-dropped",
        }
    }
}

impl From<Semantics> for walk::Semantics {
    fn from(word: Semantics) -> Self {
        match word {
            Semantics::Strips => walk::Semantics::Strips,
            Semantics::GroundNoOpsDropped => walk::Semantics::GroundNoOpsDropped,
        }
    }
}

impl From<walk::Semantics> for Semantics {
    fn from(semantics: walk::Semantics) -> Self {
        match semantics {
            walk::Semantics::Strips => Semantics::Strips,
            walk::Semantics::GroundNoOpsDropped => Semantics::GroundNoOpsDropped,
        }
    }
}

/// The rule for plans in heuristic domain equivalence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Every plan of either list must be a plan of the other domain.
    #[default]
    Definition,
    /// As in the paper's code: different numbers of plans are a difference, and the lists are compared in pairs.
    ReferenceCode,
}

impl Rule {
    /// The value in options.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Definition => "definition",
            Rule::ReferenceCode => "reference-code",
        }
    }
}

impl From<Rule> for hde::HdeRule {
    fn from(word: Rule) -> Self {
        match word {
            Rule::Definition => hde::HdeRule::Definition,
            Rule::ReferenceCode => hde::HdeRule::ReferenceCode,
        }
    }
}

impl From<hde::HdeRule> for Rule {
    fn from(rule: hde::HdeRule) -> Self {
        match rule {
            hde::HdeRule::Definition => Rule::Definition,
            hde::HdeRule::ReferenceCode => Rule::ReferenceCode,
        }
    }
}

/// Time between two questions to the host, which may be on the other side of a library boundary.
const INTERVAL: Duration = Duration::from_millis(5);
/// Kept back from the host's deadline, to write the answer before the host gives the call up.
const MARGIN: Duration = Duration::from_millis(50);

/// Bytes that a call may count without limits of its own.
const CALL_BYTES: u64 = 4 << 30;

/// Stops when the host's time or the memory is used up or the run is interrupted, and stays stopped. Reports progress meanwhile, so
/// the work must have a limit.
pub struct Deadline<'a> {
    timer: ProgressTimer<'a>,
    until: Option<Instant>,
    /// `None` before the first question.
    asked: Option<Instant>,
    bytes_left: u64,
    stopped: Option<StopReason>,
}

impl<'a> Deadline<'a> {
    /// From now on until the host gives the call up.
    pub fn new(host: &'a dyn Host) -> Self {
        Self::within(host, None)
    }

    /// From now on until the host gives the call up, and for no longer than `most`.
    pub fn within(host: &'a dyn Host, most: Option<Duration>) -> Self {
        let hosts = host.remaining_ms().map(|ms| Duration::from_millis(ms).saturating_sub(MARGIN));
        let left = hosts.into_iter().chain(most).min();
        let until = left.and_then(|left| Instant::now().checked_add(left));
        let timer = ProgressTimer::new(host, "seconds of work");
        Self { timer, until, asked: None, bytes_left: CALL_BYTES, stopped: None }
    }

    /// The reason for the stop; absent while it continues.
    pub const fn stop_reason(&self) -> Option<StopReason> {
        self.stopped
    }

    /// Limits for a part of the work on another thread: the same end, which is looked at there too, or an earlier one.
    pub fn for_thread(&self, until: Option<Instant>) -> Deadline<'a> {
        let until = self.until.into_iter().chain(until).min();
        Deadline { timer: self.timer.clone(), until, ..*self }
    }

    fn look(&mut self) -> Option<StopReason> {
        let now = Instant::now();
        if self.until.is_some_and(|until| now >= until) {
            return Some(StopReason::Time);
        }
        if self.asked.is_none_or(|asked| now.duration_since(asked) >= INTERVAL) {
            self.asked = Some(now);
            return self.timer.is_cancelled().then_some(StopReason::Cancelled);
        }
        None
    }
}

impl ResourceLimits for Deadline<'_> {
    fn poll(&mut self) -> Poll {
        if self.stopped.is_none() {
            self.stopped = self.look();
        }
        self.stopped.map_or(Poll::Continue, Poll::Stop)
    }

    fn charge(&mut self, bytes: u64) -> Poll {
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => self.bytes_left = left,
            None => self.stopped = self.stopped.or(Some(StopReason::Memory)),
        }
        self.poll()
    }
    fn release(&mut self, bytes: u64) {
        self.bytes_left = self.bytes_left.saturating_add(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.bytes_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::api::LogLevel;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Default)]
    struct Reported(AtomicU64);

    impl Host for Reported {
        fn log(&self, _level: LogLevel, _message: &str) {}
        fn progress(&self, done: u64, _total: u64, _what: &str) {
            self.0.store(done, Ordering::SeqCst);
        }
        fn cancelled(&self) -> bool {
            false
        }
        fn remaining_ms(&self) -> Option<u64> {
            None
        }
    }

    #[test]
    fn counted_bytes_end_the_work_for_good() {
        let host = Reported::default();
        let limits = JudgingLimits { memory_mb: 1, ..JudgingLimits::default() };
        let mut deadline = limits.deadline(&host, 2);
        assert_eq!(deadline.charge(2 << 20), Poll::Continue);
        assert_eq!(deadline.charge(1), Poll::Stop(StopReason::Memory));
        assert_eq!(deadline.poll(), Poll::Stop(StopReason::Memory));
        let mut one = limits.deadline_within(&host, Duration::MAX);
        assert_eq!(one.charge(1 << 20), Poll::Continue);
        assert_eq!(one.charge(1), Poll::Stop(StopReason::Memory));
        assert_eq!(limits.deadline_within(&host, Duration::ZERO).poll(), Poll::Stop(StopReason::Time));
    }

    #[test]
    fn a_long_search_reports_progress() {
        let host = Reported::default();
        let minute = Instant::now().checked_sub(Duration::from_secs(60)).unwrap();
        let timer = ProgressTimer::since(&host, "seconds of work", minute);
        let mut deadline = Deadline { timer, ..Deadline::new(&host) };
        assert_eq!(deadline.poll(), Poll::Continue);
        assert!(host.0.load(Ordering::SeqCst) >= 60);
    }
}
