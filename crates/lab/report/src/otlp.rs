//! A run as OpenTelemetry spans, in the JSON encoding of OTLP: run, tasks, stages, and requests to models.
//!
//! Requests follow the semantic conventions for generative AI of version 1.41.0, the last one of the common repository
//! (its page on spans of generative AI, read on 2026-11-23); attributes of planforge begin with `planforge.`.
//!
//! The journal has the time of a session to the second and the duration of each request, but not its start. So a task begins when
//! its run does, and its requests follow one another within their stage. Durations are measured; starts and overlaps are not.

use crate::chunks::document;
use crate::outline::stage_label;
use planforge_contract::{CompletionRequest, CompletionResult, Failure, FailureClass};
use planforge_record::{CompletionEvent, Event, RunFolder, RunManifest, TaskVerdict, sha256_hex};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The schema that the attributes follow.
pub const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

/// Kinds and status codes of OTLP.
const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const STATUS_ERROR: u8 = 2;

/// Nanoseconds since 1970.
type Nanos = u64;

/// Counts of a written trace.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WrittenTrace {
    pub trace_id: String,
    pub spans: usize,
    /// Requests to models.
    pub requests: usize,
}

/// Writes the spans of a run as one `ExportTraceServiceRequest`. The same folder gives the same bytes. `content` adds prompts and
/// replies.
///
/// # Errors
/// `report.io`, `record.corrupt`.
pub fn write_otlp(run: &RunFolder, content: bool, out: &mut dyn Write) -> Result<WrittenTrace, Failure> {
    let manifest = run.manifest();
    let outline = RunSpans::of(run);
    let trace_id = hex(&manifest.id, "trace", 32);
    let mut spans = SpanWriter { out, run_id: &manifest.id, trace_id: &trace_id, written: 0 };
    let failed = |e: io::Error| {
        Failure::new(FailureClass::System, "report.io", format!("the trace cannot be written: {e}"))
    };
    spans.begin(manifest).map_err(failed)?;
    let root = spans.id("run", "");
    spans.write(&outline.span(manifest, &root)).map_err(failed)?;
    let mut requests = 0;
    for (name, task) in &outline.tasks {
        let task_id = spans.id("task", name);
        spans.write(&task.span(name, outline.start, (&task_id, &root))).map_err(failed)?;
        let mut start = outline.start;
        for (label, stage) in &task.stages {
            let stage_id = spans.id("stage", &format!("{name}/{label}"));
            spans.write(&stage.span(label, start, (&stage_id, &task_id))).map_err(failed)?;
            for request in &stage.requests {
                requests += 1;
                let id = spans.id("request", &format!("{} {}", request.number, request.record.path));
                let details = RequestDetails::read(run, request)?;
                let span = request.span(&details, start, (&id, &stage_id), (&outline.providers, content));
                spans.write(&span).map_err(failed)?;
                start += request.nanos;
            }
        }
    }
    spans.end().map_err(failed)?;
    let count = spans.written;
    Ok(WrittenTrace { trace_id, spans: count, requests })
}

/// A run's events, arranged as spans.
struct RunSpans {
    start: Nanos,
    end: Nanos,
    /// The state in which the last session ended.
    state: Option<String>,
    tasks: Vec<(String, TaskSpans)>,
    /// The providers of the model tables.
    providers: BTreeMap<String, String>,
}

#[derive(Default)]
struct TaskSpans {
    verdict: Option<TaskVerdict>,
    stages: Vec<(String, StageSpans)>,
}

#[derive(Default)]
struct StageSpans {
    requests: Vec<RequestSpan>,
}

/// A recorded request.
struct RequestSpan {
    /// Its place among the requests of the journal.
    number: usize,
    record: CompletionEvent,
    nanos: Nanos,
}

/// The request and the result of a span.
struct RequestDetails {
    request: CompletionRequest,
    result: Option<CompletionResult>,
}

impl RequestDetails {
    fn read(run: &RunFolder, span: &RequestSpan) -> Result<Self, Failure> {
        let corrupt = |message: String| Failure::new(FailureClass::System, "record.corrupt", message);
        let request = document(run, &span.record.request).map_err(corrupt)?;
        let result =
            span.record.result.as_deref().map(|blob| document(run, blob)).transpose().map_err(corrupt)?;
        Ok(Self { request, result })
    }
}

/// The entry of a name in a list that keeps the order in which names came.
fn entry<'a, T: Default>(list: &'a mut Vec<(String, T)>, name: &str) -> Option<&'a mut T> {
    let at = match list.iter().position(|(known, _)| known == name) {
        Some(at) => at,
        None => {
            list.push((name.to_owned(), T::default()));
            list.len() - 1
        }
    };
    list.get_mut(at).map(|(_, value)| value)
}

fn nanos_of(time: &str) -> Option<Nanos> {
    let time: jiff::Timestamp = time.parse().ok()?;
    u64::try_from(time.as_nanosecond()).ok()
}

impl RunSpans {
    fn of(run: &RunFolder) -> Self {
        let manifest = run.manifest();
        let mut spans = Self {
            start: nanos_of(&manifest.created_at).unwrap_or(0),
            end: 0,
            state: None,
            tasks: Vec::new(),
            providers: crate::prices::providers_of_file(&manifest.config.text, &manifest.all_overrides()),
        };
        let (mut requests, mut has_session) = (0, false);
        run.each_event(|event| match event {
            Event::SessionStarted { at, .. } if !has_session => {
                has_session = true;
                spans.start = nanos_of(at).unwrap_or(spans.start);
            }
            Event::SessionFinished { at, state } => {
                spans.end = nanos_of(at).unwrap_or(0).max(spans.end);
                spans.state = Some(state.clone());
            }
            Event::TaskStarted { task } => {
                entry(&mut spans.tasks, task);
            }
            Event::StageStarted { task, stage, .. } => {
                if let Some(task) = entry(&mut spans.tasks, task) {
                    entry(&mut task.stages, stage);
                }
            }
            Event::TaskFinished { task, verdict } => {
                if let Some(task) = entry(&mut spans.tasks, task) {
                    task.verdict = Some(verdict.clone());
                }
            }
            Event::Completion(record) => {
                requests += 1;
                let mut parts = record.path.split('/');
                let task = parts.next().unwrap_or_default();
                let stage = stage_label(parts.next().unwrap_or_default());
                let nanos = record.elapsed_ms.saturating_mul(1_000_000);
                let span = RequestSpan { number: requests, record: record.clone(), nanos };
                if let Some(stage) =
                    entry(&mut spans.tasks, task).and_then(|task| entry(&mut task.stages, stage))
                {
                    stage.requests.push(span);
                }
            }
            _ => {}
        });
        let longest = spans.tasks.iter().map(|(_, task)| task.nanos()).max().unwrap_or(0);
        spans.end = spans.end.max(spans.start.saturating_add(longest));
        spans
    }

    fn span(&self, manifest: &RunManifest, id: &str) -> Span {
        let mut attributes = Attributes::default();
        attributes.text("planforge.run.id", &manifest.id);
        attributes.text("planforge.pipeline", &manifest.config.path);
        attributes.int("planforge.seed", Some(manifest.seed));
        attributes.text("planforge.state", self.state.as_deref().unwrap_or("unfinished"));
        let name = "planforge run".to_owned();
        Span { end: self.end, ..Span::internal(id, None, name, (self.start, 0), attributes) }
    }
}

impl TaskSpans {
    fn nanos(&self) -> Nanos {
        self.stages.iter().fold(0, |sum: Nanos, (_, stage)| sum.saturating_add(stage.nanos()))
    }

    fn span(&self, name: &str, start: Nanos, (id, parent): (&str, &str)) -> Span {
        let mut attributes = Attributes::default();
        attributes.text("planforge.task", name);
        attributes.text("planforge.verdict", self.verdict.as_ref().map_or("none", TaskVerdict::name));
        let error = match &self.verdict {
            Some(TaskVerdict::Failed { failure, .. }) => {
                attributes.text("error.type", &failure.code);
                Some(failure.message.clone())
            }
            _ => None,
        };
        let time = (start, self.nanos());
        Span { error, ..Span::internal(id, Some(parent), format!("task {name}"), time, attributes) }
    }
}

impl StageSpans {
    fn nanos(&self) -> Nanos {
        self.requests.iter().fold(0, |sum: Nanos, request| sum.saturating_add(request.nanos))
    }

    fn span(&self, label: &str, start: Nanos, (id, parent): (&str, &str)) -> Span {
        let mut attributes = Attributes::default();
        attributes.text("planforge.stage", label);
        Span::internal(id, Some(parent), format!("stage {label}"), (start, self.nanos()), attributes)
    }
}

impl RequestSpan {
    fn span(
        &self,
        details: &RequestDetails,
        start: Nanos,
        (id, parent): (&str, &str),
        (providers, content): (&BTreeMap<String, String>, bool),
    ) -> Span {
        let request = &details.request;
        let sampling = &request.sampling;
        let mut attributes = Attributes::default();
        attributes.text("gen_ai.operation.name", "chat");
        attributes.text("gen_ai.provider.name", provider_name(providers.get(&self.record.llm)));
        attributes.text("gen_ai.request.model", &request.model);
        attributes.double("gen_ai.request.temperature", sampling.temperature);
        attributes.double("gen_ai.request.top_p", sampling.top_p);
        attributes.int("gen_ai.request.max_tokens", sampling.max_tokens.map(u64::from));
        attributes.int("gen_ai.request.seed", sampling.seed);
        attributes.int("gen_ai.request.choice.count", sampling.n.map(u64::from));
        attributes.texts("gen_ai.request.stop_sequences", &sampling.stop);
        if let Some(CompletionResult::Replies(replies)) = &details.result {
            let reasons: Vec<String> =
                replies.replies.iter().map(|reply| snake_case(&reply.finish)).collect();
            attributes.texts("gen_ai.response.finish_reasons", &reasons);
            if !replies.model.is_empty() {
                attributes.text("gen_ai.response.model", &replies.model);
            }
        }
        let usage = &self.record.usage;
        attributes.int("gen_ai.usage.input_tokens", usage.prompt_tokens);
        attributes.int("gen_ai.usage.output_tokens", usage.completion_tokens);
        attributes.int("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens);
        attributes.int("gen_ai.usage.cache_creation.input_tokens", usage.cache_write_tokens);
        attributes.int("gen_ai.usage.reasoning.output_tokens", usage.reasoning_tokens);
        if let Some(failure) = &self.record.failure {
            let class = serde_json::to_value(failure.class).ok();
            attributes.text("error.type", class.as_ref().and_then(Value::as_str).unwrap_or("failure"));
        }
        attributes.text("planforge.role", &self.record.role);
        attributes.text("planforge.model_table", &self.record.llm);
        attributes.text("planforge.path", &self.record.path);
        attributes.int("planforge.attempts", Some(u64::from(self.record.attempts)));
        if content {
            attributes.text("gen_ai.input.messages", &input_messages(request));
            attributes.text("gen_ai.output.messages", &output_messages(details.result.as_ref()));
        }
        let name = format!("chat {}", request.model);
        Span {
            kind: CLIENT,
            error: self.record.failure.as_ref().map(|failure| failure.message.clone()),
            ..Span::internal(id, Some(parent), name, (start, self.nanos), attributes)
        }
    }
}

/// The conventions' name of a provider plugin; the plugin's own where they have none.
fn provider_name(plugin: Option<&String>) -> &str {
    match plugin.map(String::as_str) {
        Some("provider-openai") => "openai",
        Some("provider-anthropic") => "anthropic",
        Some("provider-gemini") => "gcp.gemini",
        Some(other) => other,
        None => "unknown",
    }
}

fn snake_case(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().replace('-', "_")
}

fn part(text: &str) -> Value {
    json!([{"type": "text", "content": text}])
}

fn input_messages(request: &CompletionRequest) -> String {
    let message = |message: &planforge_contract::Message| json!({"role": snake_case(&message.role), "parts": part(&message.content)});
    Value::from(request.messages.iter().map(message).collect::<Vec<_>>()).to_string()
}

fn output_messages(result: Option<&CompletionResult>) -> String {
    let Some(CompletionResult::Replies(replies)) = result else { return "[]".to_owned() };
    let message = |reply: &planforge_contract::Reply| json!({"role": "assistant", "parts": part(&reply.content), "finish_reason": snake_case(&reply.finish)});
    Value::from(replies.replies.iter().map(message).collect::<Vec<_>>()).to_string()
}

/// Attributes in the form of OTLP.
#[derive(Default)]
struct Attributes(Vec<Value>);

impl Attributes {
    fn push(&mut self, key: &str, value: Value) {
        self.0.push(json!({"key": key, "value": value}));
    }

    fn text(&mut self, key: &str, value: &str) {
        self.push(key, json!({"stringValue": value}));
    }

    /// A 64-bit integer is a string in the JSON encoding.
    fn int(&mut self, key: &str, value: Option<u64>) {
        if let Some(value) = value {
            let value = i64::try_from(value).unwrap_or(i64::MAX);
            self.push(key, json!({"intValue": value.to_string()}));
        }
    }

    fn double(&mut self, key: &str, value: Option<f64>) {
        if let Some(value) = value {
            self.push(key, json!({"doubleValue": value}));
        }
    }

    fn texts(&mut self, key: &str, values: &[String]) {
        if !values.is_empty() {
            let values: Vec<Value> = values.iter().map(|value| json!({"stringValue": value})).collect();
            self.push(key, json!({"arrayValue": {"values": values}}));
        }
    }
}

struct Span {
    id: String,
    parent: Option<String>,
    name: String,
    kind: u8,
    start: Nanos,
    end: Nanos,
    attributes: Attributes,
    /// Message of the failure that ended it.
    error: Option<String>,
}

impl Span {
    /// A span of planforge's own work, with its start and duration.
    fn internal(
        id: &str,
        parent: Option<&str>,
        name: String,
        (start, nanos): (Nanos, Nanos),
        attributes: Attributes,
    ) -> Self {
        Self {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            name,
            kind: INTERNAL,
            start,
            end: start.saturating_add(nanos),
            attributes,
            error: None,
        }
    }
}

/// The first digits of a SHA-256 over the run and the place of a span.
fn hex(run: &str, place: &str, digits: usize) -> String {
    let digest = sha256_hex(format!("planforge\n{run}\n{place}").as_bytes());
    digest.get(..digits).unwrap_or_default().to_owned()
}

/// Writes spans one after the other, so that a long run is never in memory.
struct SpanWriter<'a> {
    out: &'a mut dyn Write,
    run_id: &'a str,
    trace_id: &'a str,
    written: usize,
}

impl SpanWriter<'_> {
    fn id(&self, kind: &str, place: &str) -> String {
        hex(self.run_id, &format!("{kind}\n{place}"), 16)
    }

    fn begin(&mut self, manifest: &RunManifest) -> io::Result<()> {
        let mut resource = Attributes::default();
        resource.text("service.name", "planforge");
        resource.text("service.version", &manifest.planforge);
        let scope = json!({"name": "planforge", "version": manifest.planforge});
        write!(
            self.out,
            "{{\"resourceSpans\":[{{\"resource\":{{\"attributes\":{}}},\"scopeSpans\":[{{\"scope\":{scope},\"spans\":[",
            Value::from(resource.0)
        )
    }

    fn write(&mut self, span: &Span) -> io::Result<()> {
        let mut value = json!({
            "traceId": self.trace_id,
            "spanId": span.id,
            "name": span.name,
            "kind": span.kind,
            "startTimeUnixNano": span.start.to_string(),
            "endTimeUnixNano": span.end.to_string(),
            "attributes": span.attributes.0,
        });
        if let Some(parent) = &span.parent {
            value["parentSpanId"] = parent.as_str().into();
        }
        if let Some(message) = &span.error {
            value["status"] = json!({"code": STATUS_ERROR, "message": message});
        }
        let separator = if self.written == 0 { "\n" } else { ",\n" };
        self.written += 1;
        write!(self.out, "{separator}{value}")
    }

    fn end(&mut self) -> io::Result<()> {
        writeln!(self.out, "\n],\"schemaUrl\":\"{SCHEMA_URL}\"}}],\"schemaUrl\":\"{SCHEMA_URL}\"}}]}}")?;
        self.out.flush()
    }
}
