//! The checks, in order, and their results.

use crate::check::call;
use crate::check::call::{Answer, CheckHost, Interruption};
use crate::check::subject::{Subject, complete_options, first_fault, stated_defaults, summary};
use planforge_contract::{Failure, FailureClass, JsonObject, Measure, PluginInfo, PluginKind, ResultClasses};
use planforge_plugin_host::{OptionProblem, Registry, check_against_schema, declaration_violations};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A hostile input: its name, and the function that makes its text, given the size of the large one.
type HostileInput = (&'static str, fn(usize) -> String);

/// The hostile texts. Each stands in the place of a domain, a problem, a plan, a question, and a model's reply.
const HOSTILE_INPUTS: &[HostileInput] = &[
    ("empty", |_| String::new()),
    ("10 MB", call::large_text),
    ("invalid PDDL", |_| call::invalid_text()),
    ("deep nesting", |_| call::deep_text()),
    ("control characters", |_| call::control_text()),
];

/// Limits and sizes of a check.
#[derive(Debug, Clone, Copy)]
pub struct CheckSettings {
    /// Milliseconds after which a call has failed.
    pub timeout_ms: u64,
    /// Bytes of the large hostile text.
    pub large_bytes: usize,
}

impl CheckSettings {
    /// Settings with the large text of 10 MB that the name of its check states.
    pub fn new(timeout_ms: u64) -> Self {
        Self { timeout_ms, large_bytes: 10 << 20 }
    }
}

/// The checks of an instance that come before those of hostile inputs.
const BEHAVIOUR: [&str; 4] = ["metrics", "determinism", "concurrency", "cancellation"];
/// The hostile input that is no text.
const UNKNOWN_FIELDS: &str = "unknown fields";
/// Calls at a time.
const CONCURRENT: usize = 8;

fn hostile_name(input: &str) -> String {
    format!("hostile: {input}")
}

/// Checks a plugin of the registry. `options` are those of a stage; missing ones are completed from the options schema.
///
/// The registry's `environment-pddl` and `planner-classical` answer the questions of verifiers, if they are there.
pub fn check_plugin(
    registry: &Registry,
    id: &str,
    options: &JsonObject,
    settings: CheckSettings,
) -> PluginReport {
    let mut report = PluginReport { plugin: id.to_owned(), kind: None, checks: Vec::new() };
    let info = match registry.info(id) {
        Ok(info) => info,
        Err(failure) => {
            report.checks.push(Check::broke("description", &failure));
            skip_from(&mut report, "options", "the plugin cannot be loaded");
            return report;
        }
    };
    report.kind = Some(info.kind);
    report.checks.push(check_description(&info));
    let options = complete_options(&info.options_schema, options);
    let check = check_options(registry, &info, &options);
    let are_accepted = check.failure.is_none();
    report.checks.push(check);
    if !are_accepted {
        skip_from(&mut report, "create", "the options are not accepted");
        return report;
    }
    let made = Subject::new(registry, info, options, settings.timeout_ms).and_then(|subject| {
        let instance = subject.instance()?;
        Ok((subject, instance))
    });
    let (subject, instance) = match made {
        Ok(made) => made,
        Err(failure) => {
            report.checks.push(Check::broke("create", &failure));
            skip_from(&mut report, "request", "no instance could be created");
            return report;
        }
    };
    report.checks.push(Check::passed("create", "an instance is created"));
    let call = call::request(subject.info.kind, 0);
    let answer = call.ask(&instance, &subject.host());
    let check = check_request(&answer);
    let ended = check.failure.is_none();
    report.checks.push(check);
    if !ended {
        skip_from(&mut report, "metrics", "a valid request fails");
        return report;
    }
    report.checks.push(check_metrics(&subject.info, &answer));
    let check = check_determinism(&subject, &answer, &call.ask(&instance, &subject.host()));
    let is_deterministic = check.status == CheckStatus::Passed;
    report.checks.push(check);
    const RANDOM: &str = "its answers are not deterministic";
    report.checks.push(match is_deterministic {
        true => check_concurrency(&subject),
        false => Check::not_applicable("concurrency", RANDOM),
    });
    report.checks.push(check_cancellation(&subject));
    for (name, make) in HOSTILE_INPUTS {
        report.checks.push(check_hostile(&subject, &hostile_name(name), &make(settings.large_bytes)));
    }
    report.checks.push(match is_deterministic {
        true => check_unknown_fields(&subject, &answer),
        false => Check::not_applicable(&hostile_name(UNKNOWN_FIELDS), RANDOM),
    });
    report
}

/// Enters this check and all later ones as not applicable.
fn skip_from(report: &mut PluginReport, first: &str, reason: &str) {
    let names = ["options", "create", "request"].into_iter().chain(BEHAVIOUR).map(str::to_owned);
    let hostile = HOSTILE_INPUTS.iter().map(|(name, _)| *name).chain([UNKNOWN_FIELDS]).map(hostile_name);
    let skipped = names.chain(hostile).skip_while(|name| name != first);
    report.checks.extend(skipped.map(|name| Check::not_applicable(&name, reason)));
}

fn check_description(info: &PluginInfo) -> Check {
    let violations = declaration_violations(info);
    if violations.is_empty() {
        Check::passed("description", format!("{} {}: {}", info.kind, info.version, info.about))
    } else {
        Check::wrong("description", violations.join("; "))
    }
}

fn listed(problems: &[OptionProblem]) -> String {
    let lines = problems.iter().map(|one| format!("{} {}", one.pointer, one.message).trim().to_owned());
    lines.collect::<Vec<_>>().join("; ")
}

/// The schema is valid, its defaults satisfy it, the options satisfy it, and a misspelt option is an error.
fn check_options(registry: &Registry, info: &PluginInfo, options: &JsonObject) -> Check {
    const NAME: &str = "options";
    let defaults = stated_defaults(&info.options_schema);
    let wrong_defaults = match check_against_schema(&info.options_schema, &defaults) {
        Ok(problems) => problems.into_iter().filter(|one| one.code != "options.missing").collect::<Vec<_>>(),
        Err(error) => return Check::wrong(NAME, format!("the options schema is not a JSON schema: {error}")),
    };
    if !wrong_defaults.is_empty() {
        return Check::wrong(
            NAME,
            format!("defaults do not satisfy the schema: {}", listed(&wrong_defaults)),
        );
    }
    let mut misspelt = options.clone();
    misspelt.insert("no-such-option".to_owned(), Value::Null);
    let problems = match registry.check_options(&info.id, &misspelt) {
        Ok(problems) => problems,
        Err(failure) => return Check::broke(NAME, &failure),
    };
    let (unknown, others): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|one| one.pointer == "/no-such-option");
    if !others.is_empty() {
        let failure = Failure::new(FailureClass::Request, "plugin.options", listed(&others))
            .help("give options with --set KEY=VALUE or --pipeline FILE");
        return Check::broke(NAME, &failure);
    }
    if unknown.is_empty() {
        let text = "an unknown option is accepted, so a misspelt one has no effect; set `additionalProperties` to false";
        return Check::wrong(NAME, text);
    }
    let count = info.options_schema.get("properties").and_then(Value::as_object).map_or(0, |all| all.len());
    let detail = format!("options: {count}; defaults that satisfy the schema: {}", defaults.len());
    Check::passed(NAME, detail)
}

/// A failure that is not a fault of the plugin is allowed: the sample task may lack what the plugin needs.
fn check_request(answer: &Answer) -> Check {
    const NAME: &str = "request";
    if let Some(failure) = first_fault(answer) {
        return Check::broke(NAME, failure);
    }
    match answer.iter().find_map(|part| part.as_ref().err()) {
        Some(failure) if answer.iter().all(Result::is_err) => Check::not_applicable(
            NAME,
            format!("the sample task lacks something; give options that fit it: {failure}"),
        ),
        _ => Check::passed(NAME, summary(answer)),
    }
}

fn check_metrics(info: &PluginInfo, answer: &Answer) -> Check {
    const NAME: &str = "metrics";
    if info.kind != PluginKind::Verifier {
        return Check::not_applicable(NAME, "only verifiers have metrics");
    }
    let declared: BTreeSet<&str> = info.metrics.iter().map(|metric| metric.name.as_str()).collect();
    let mut found = BTreeSet::new();
    for value in answer.iter().filter_map(|part| part.as_ref().ok()) {
        let metrics = value.get("metrics").and_then(Value::as_object);
        for (name, number) in metrics.into_iter().flatten() {
            if !declared.contains(name.as_str()) {
                return Check::wrong(NAME, format!("the metric `{name}` is not declared"));
            }
            let in_range = number.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number));
            let is_score = ["reference_to_candidate", "candidate_to_reference"].contains(&name.as_str());
            if is_score && info.measures.contains(&Measure::WalkScore) && !in_range {
                return Check::wrong(
                    NAME,
                    format!("`{name}` of a walk score is {number}, not between 0 and 1"),
                );
            }
            found.insert(name.clone());
        }
        let is_decided = value
            .get("decision")
            .and_then(Value::as_str)
            .is_some_and(|d| ["accepted", "rejected"].contains(&d));
        let evidence = value.get("evidence").cloned().unwrap_or_default();
        if is_decided
            && info.measures.contains(&Measure::ResultClass)
            && let Err(e) = serde_json::from_value::<ResultClasses>(evidence)
        {
            return Check::wrong(NAME, format!("the evidence of a result class cannot be read: {e}"));
        }
    }
    if declared.is_empty() {
        return Check::not_applicable(NAME, "no metric is declared");
    }
    if found.is_empty() {
        return Check::not_applicable(NAME, "the sample task has no metric");
    }
    let found: Vec<String> = found.into_iter().collect();
    Check::passed(NAME, format!("declared: {}; in the sample: {}", declared.len(), found.join(", ")))
}

fn check_determinism(subject: &Subject<'_>, first: &Answer, second: &Answer) -> Check {
    const NAME: &str = "determinism";
    let call = call::request(subject.info.kind, 0);
    let other = subject.ask_new(&call, &subject.host());
    for (answer, place) in [(second, "the same instance"), (&other, "a new instance")] {
        if let Some(failure) = first_fault(answer) {
            return Check::broke(NAME, failure);
        }
        if answer != first {
            let text = format!(
                "the same request and seed give another answer from {place}: {}",
                difference(first, answer)
            );
            return Check::wrong(NAME, text);
        }
    }
    Check::passed(NAME, "the same request and seed give the same answer three times")
}

/// The place where two answers differ, shortly.
fn difference(first: &Answer, second: &Answer) -> String {
    let text = |part: &Result<Value, Failure>| match part {
        Ok(value) => value.to_string(),
        Err(failure) => failure.to_string(),
    };
    let pair = first.iter().zip(second).find(|(a, b)| a != b);
    let Some((a, b)) = pair.map(|(a, b)| (text(a), text(b))) else {
        return "another number of parts".to_owned();
    };
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(20)).take(60).collect::<String>();
    format!("`{}` and `{}`", around(&a), around(&b))
}

fn check_concurrency(subject: &Subject<'_>) -> Check {
    const NAME: &str = "concurrency";
    let calls: Vec<_> = (0..CONCURRENT).map(|number| call::request(subject.info.kind, number)).collect();
    let instance = match subject.instance() {
        Ok(instance) => instance,
        Err(failure) => return Check::broke(NAME, &failure),
    };
    let single: Vec<Answer> = calls.iter().map(|call| call.ask(&instance, &subject.host())).collect();
    let host = subject.host();
    let together: Vec<Option<Answer>> = std::thread::scope(|scope| {
        let threads: Vec<_> = calls.iter().map(|call| scope.spawn(|| call.ask(&instance, &host))).collect();
        threads.into_iter().map(|thread| thread.join().ok()).collect()
    });
    for (number, (single, together)) in single.iter().zip(&together).enumerate() {
        let Some(together) = together else {
            return Check::wrong(NAME, format!("call {number} of {CONCURRENT} ended without an answer"));
        };
        if let Some(failure) = first_fault(single).or_else(|| first_fault(together)) {
            return Check::broke(NAME, failure);
        }
        if single != together {
            let text = format!(
                "call {number} of {CONCURRENT} at once gives another answer than alone: {}",
                difference(single, together)
            );
            return Check::wrong(NAME, text);
        }
    }
    let detail = format!("{CONCURRENT} calls at once give the answers of single calls");
    let most = subject.info.max_concurrency;
    Check::passed(NAME, if most == 0 { detail } else { format!("{detail}; it takes {most} at a time") })
}

fn check_cancellation(subject: &Subject<'_>) -> Check {
    const NAME: &str = "cancellation";
    let call = call::request(subject.info.kind, 0);
    let mut answers = Vec::new();
    for interruption in [Interruption::BeforeTheCall, Interruption::AtTheFirstQuestion] {
        let answer = subject.ask_new(&call, &CheckHost { interruption, ..subject.host() });
        if let Some(failure) = first_fault(&answer) {
            return Check::broke(NAME, failure);
        }
        answers.push(summary(&answer));
    }
    answers.dedup();
    Check::passed(NAME, format!("interrupted calls end: {}", answers.join("; ")))
}

/// The text in the request alone, and then with the same text in the replies of models.
fn check_hostile(subject: &Subject<'_>, name: &str, text: &str) -> Check {
    let mut all = Vec::new();
    for call in call::hostile_requests(subject.info.kind, text) {
        all.extend(subject.ask_new(&call, &subject.host()));
    }
    let call = call::request(subject.info.kind, 0);
    all.extend(subject.ask_with_hostile_replies(&call, text));
    match first_fault(&all) {
        Some(failure) => Check::broke(name, failure),
        None => Check::passed(name, summary(&all)),
    }
}

fn check_unknown_fields(subject: &Subject<'_>, expected: &Answer) -> Check {
    let name = hostile_name(UNKNOWN_FIELDS);
    let call = call::request(subject.info.kind, 0);
    let answer = match subject.raw_instance() {
        Ok(instance) => call.ask_with_unknown_fields(&instance, &subject.host()),
        Err(failure) => vec![Err(failure)],
    };
    if let Some(failure) = first_fault(&answer) {
        return Check::broke(&name, failure);
    }
    if &answer != expected {
        return Check::wrong(&name, format!("they change the answer: {}", difference(expected, &answer)));
    }
    Check::passed(&name, "they change nothing")
}

/// The checks of one plugin, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginReport {
    /// The plugin's id.
    pub plugin: String,
    /// Its kind, if it could be described.
    pub kind: Option<PluginKind>,
    /// One entry per check.
    pub checks: Vec<Check>,
}

impl PluginReport {
    /// True if no check failed.
    pub fn is_passed(&self) -> bool {
        self.first_failed().is_none()
    }

    /// The first check that failed.
    pub fn first_failed(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.status == CheckStatus::Failed)
    }

    /// The check of that name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// Stable name, such as `determinism`.
    #[serde(rename = "check")]
    pub name: String,
    /// Passed, failed or not applicable.
    pub status: CheckStatus,
    /// The observation, or the reason of the status, on one line.
    pub detail: String,
    /// The failure of the plugin that failed the check; none if an answer was wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// Status of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// The plugin meets the requirement.
    Passed,
    /// The plugin does not meet it.
    Failed,
    /// The requirement does not concern this plugin, or an earlier failure prevents the check.
    NotApplicable,
}

impl CheckStatus {
    /// The word for tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "FAILED",
            Self::NotApplicable => "not applicable",
        }
    }
}

impl Check {
    pub(crate) fn passed(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), status: CheckStatus::Passed, detail: detail.into(), failure: None }
    }

    pub(crate) fn wrong(name: &str, detail: impl Into<String>) -> Self {
        Self { status: CheckStatus::Failed, ..Self::passed(name, detail) }
    }

    pub(crate) fn broke(name: &str, failure: &Failure) -> Self {
        let help = failure.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        Self { failure: Some(failure.clone()), ..Self::wrong(name, format!("{failure}{help}")) }
    }

    pub(crate) fn not_applicable(name: &str, detail: impl Into<String>) -> Self {
        Self { status: CheckStatus::NotApplicable, ..Self::passed(name, detail) }
    }
}
