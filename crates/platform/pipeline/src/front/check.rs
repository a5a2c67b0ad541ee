//! The whole file: top-level tables, what connects them, and the order of what is reported.

use super::catalogue::Catalogue;
use super::overrides::{self, Override};
use super::reader::{At, TableReader, error_at};
use super::tree::{Node, SourcePlace, Table, Value, parse};
use super::{llm, moved, obfuscate, plugins, secrets, stage_checker};
use crate::config::{
    DescriptionClass, EnvironmentTable, FeedbackSource, GivenExample, GivenSpec, LlmTable, PIPELINE_SCHEMA,
    Pipeline, RunLimits,
};
use planforge_contract::PluginKind;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use std::collections::BTreeMap;
use std::path::Path;

/// Longest pipeline text, in bytes.
pub const MAX_PIPELINE_BYTES: usize = 1 << 20;

/// A pipeline without errors, and what it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPipeline {
    /// Name of the source, usually a path.
    pub name: String,
    /// The text as it was read.
    pub source: String,
    /// The `--set` arguments, in order.
    pub overrides: Vec<Override>,
    /// The pipeline with the overrides applied.
    pub config: Pipeline,
}

impl CheckedPipeline {
    /// The folder that paths in the file are relative to.
    pub fn folder(&self) -> &Path {
        Path::new(&self.name).parent().unwrap_or(Path::new(""))
    }
}

/// The result of checking a pipeline text.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The pipeline; absent where there is an error among the diagnostics.
    pub pipeline: Option<CheckedPipeline>,
    /// Every mistake and warning, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The file as source 0 and each `--set` argument after it. Values that look like keys are replaced by stars.
    pub sources: SourceMap,
}

/// Checks a pipeline text and `--set` arguments (`KEY=VALUE`). Nothing is contacted and no plugin is made.
pub fn check(source: &str, name: &str, catalogue: &dyn Catalogue, overrides: &[String]) -> Checked {
    if source.len() > MAX_PIPELINE_BYTES {
        let message =
            format!("{name} has {} bytes; a pipeline file has {MAX_PIPELINE_BYTES} at most", source.len());
        let place = SourcePlace { source: SourceId(0), span: Span::empty(0) };
        let diagnostics = vec![error_at("pipeline.too-large", message, place)];
        return Checked { pipeline: None, diagnostics, sources: SourceMap::single(name, "") };
    }
    let parsed = parse(source, SourceId(0));
    let mut root = parsed.root;
    let mut found = Vec::new();
    let mut applied = Vec::new();
    for (index, argument) in overrides.iter().enumerate() {
        let id = SourceId(u32::try_from(index + 1).unwrap_or(u32::MAX));
        applied.extend(overrides::apply(&mut root, argument, id, &mut found));
    }
    moved::apply(&mut root, &mut found);
    let mut hidden = secrets::find(&root, &mut found);
    let broken: Vec<Span> = parsed.errors.iter().filter_map(|e| Some(e.primary()?.span)).collect();
    hidden.extend(secrets::find_near_errors(source, &broken));
    let config = File { catalogue }.pipeline(&root, &mut found);
    let mut diagnostics = parsed.errors;
    drop_followers(&diagnostics, &mut found, source);
    diagnostics.append(&mut found);
    diagnostics.sort_by_key(|d| d.primary().map(|l| (l.source, l.span)));
    let sources = source_map(source, name, overrides, &hidden);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let pipeline = config.filter(|_| !failed).map(|config| CheckedPipeline {
        name: name.to_owned(),
        source: source.to_owned(),
        overrides: applied,
        config,
    });
    Checked { pipeline, diagnostics, sources }
}

/// Removes findings that follow from a syntax error: the tree lacks the part that could not be read, so
/// missing keys and mistakes on the same line may not be mistakes of the file.
fn drop_followers(syntax: &[Diagnostic], found: &mut Vec<Diagnostic>, source: &str) {
    if syntax.is_empty() {
        return;
    }
    let line = |at: u32| source.bytes().take(at as usize).filter(|b| *b == b'\n').count();
    let broken: Vec<usize> = syntax.iter().filter_map(|d| Some(line(d.primary()?.span.start))).collect();
    found.retain(|d| {
        let missing = matches!(
            &*d.code,
            "pipeline.missing-field"
                | "pipeline.missing-role"
                | "pipeline.missing-option"
                | "pipeline.no-stages"
        );
        let here =
            d.primary().is_some_and(|l| l.source == SourceId(0) && broken.contains(&line(l.span.start)));
        !missing && !here
    });
}

fn source_map(source: &str, name: &str, overrides: &[String], hidden: &[SourcePlace]) -> SourceMap {
    let of = |id: u32| -> Vec<SourcePlace> {
        hidden.iter().filter(|p| p.source == SourceId(id)).copied().collect()
    };
    let mut sources = SourceMap::single(name, secrets::hide(source, &of(0)));
    for (index, argument) in overrides.iter().enumerate() {
        let id = u32::try_from(index + 1).unwrap_or(u32::MAX);
        sources.add(format!("--set argument {}", index + 1), secrets::hide(argument, &of(id)));
    }
    sources
}

struct File<'a> {
    catalogue: &'a dyn Catalogue,
}

impl File<'_> {
    fn pipeline(&self, root: &Table, out: &mut Vec<Diagnostic>) -> Option<Pipeline> {
        let start = SourcePlace { source: SourceId(0), span: Span::empty(0) };
        let mut reader = TableReader::new(root, start, "the pipeline file");
        schema(&mut reader, out);
        let about = reader.string("about", out).map(|a| a.value).unwrap_or_default();
        let seed = reader.integer("seed", 0..=i64::MAX, out).unwrap_or(0);
        let feedback = reader.word("feedback", &[("environment", FeedbackSource::Environment)], out);
        let given = read_given(&mut reader, out);
        let limits = limits(&mut reader, out);
        let (llm_tables, headers) = self.llm(&mut reader, out);
        let environment = self.environment(&mut reader, out);
        let obfuscate = obfuscate::table(&mut reader, environment.as_ref(), self.catalogue, out);
        let models: Vec<String> = headers.iter().map(|h| h.value.clone()).collect();
        let items = match reader.node("stage") {
            Some(Node { value: Value::Array(items), .. }) => Some(items),
            Some(other) => {
                let message = "`stage` must be an array of tables".to_owned();
                out.push(
                    error_at("pipeline.type", message, other.place).help("write [[stage]] before each stage"),
                );
                None
            }
            None => Some(const { &Vec::new() }),
        };
        reader.finish("pipeline.unknown-key", out);
        let items = items?;
        if items.is_empty() {
            let diagnostic = error_at("pipeline.no-stages", "the pipeline has no stages", start);
            out.push(diagnostic.help("add at least one [[stage]], for example with do = \"translate\""));
        }
        let read = stage_checker::read_stages(items, &models, self.catalogue, out);
        unused_models(&headers, &read.used_models, out);
        llm::check_prices(&read.need_prices, &llm_tables, out);
        llm::check_logprobs(&read.need_logprobs, &llm_tables, self.catalogue, out);
        llm::check_grammars(&read.need_grammars, &llm_tables, self.catalogue, out);
        if environment.is_none() {
            for (id, place) in &read.need_environment {
                let message = format!("`{id}` asks an environment, and the pipeline has none");
                out.push(
                    error_at("pipeline.no-environment", message, *place)
                        .help("add a table [environment] with use = \"environment-pddl\""),
                );
            }
        }
        Some(Pipeline {
            schema: PIPELINE_SCHEMA,
            about,
            seed,
            feedback,
            given,
            obfuscate,
            limits,
            llm: llm_tables,
            environment,
            stages: read.stages,
        })
    }

    fn llm(
        &self,
        reader: &mut TableReader<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> (BTreeMap<String, LlmTable>, Vec<At<String>>) {
        let mut tables = BTreeMap::new();
        let mut headers = Vec::new();
        let Some((models, _)) = reader.table("llm", out) else { return (tables, headers) };
        for (key, node) in &models.entries {
            headers.push(At { value: key.name.clone(), place: key.place });
            match &node.value {
                Value::Table(table) => {
                    let read = llm::table(&key.name, table, node, key.place, self.catalogue, out);
                    tables.insert(key.name.clone(), read);
                }
                _ => {
                    let message = format!("`llm.{}` must be a table, not {}", key.name, node.kind());
                    let help = format!("write [llm.{}] and the settings below it", key.name);
                    out.push(error_at("pipeline.type", message, node.place).help(help));
                }
            }
        }
        (tables, headers)
    }

    fn environment(
        &self,
        reader: &mut TableReader<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> Option<EnvironmentTable> {
        let (table, node) = reader.table("environment", out)?;
        let mut inner = TableReader::new(table, node.place, "[environment]");
        let (plugin, info) = plugins::plugin(&mut inner, PluginKind::Environment, self.catalogue, out);
        let options = plugins::options(&mut inner, info.as_ref(), self.catalogue, out);
        let problems = inner.integer("problems", 1..=MAX_PROBLEMS, out);
        let problems = problems.and_then(|n| n.try_into().ok()).unwrap_or(1);
        inner.finish("pipeline.unknown-key", out);
        Some(EnvironmentTable { plugin, problems, options })
    }
}

fn schema(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) {
    match reader.node("schema") {
        None => reader.missing("schema", &PIPELINE_SCHEMA.to_string(), out),
        Some(Node { value: Value::Integer(number), .. }) if *number == i64::from(PIPELINE_SCHEMA) => {}
        Some(node) => {
            let found = node.to_json();
            let message =
                format!("this version reads pipeline files of schema {PIPELINE_SCHEMA}, not {found}");
            out.push(
                error_at("pipeline.schema", message, node.place)
                    .help(format!("write schema = {PIPELINE_SCHEMA}")),
            );
        }
    }
}

/// Most problems that an environment's model shows.
const MAX_PROBLEMS: i64 = 100;

const DESCRIPTION_CLASSES: [(&str, DescriptionClass); 3] = [
    ("base", DescriptionClass::Base),
    ("flipped", DescriptionClass::Flipped),
    ("random", DescriptionClass::Random),
];

fn read_given(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> GivenSpec {
    let Some((table, node)) = reader.table("given", out) else { return GivenSpec::default() };
    let mut inner = TableReader::new(table, node.place, "[given]");
    let had_text = inner.node("text").map(|node| node.place);
    let had_predicates = inner.node("predicates").map(|node| node.place);
    let given = GivenSpec {
        text: inner.boolean("text", out).unwrap_or(true),
        domain: inner.boolean("domain", out).unwrap_or(false),
        problem: inner.boolean("problem", out).unwrap_or(false),
        interface: inner.boolean("interface", out).unwrap_or(false),
        objects: inner.boolean("objects", out).unwrap_or(false),
        example: example(&mut inner, out),
        actions: inner.word("actions", &DESCRIPTION_CLASSES, out),
        predicates: inner.boolean("predicates", out).unwrap_or(true),
        action_examples: inner.strings("action_examples", out).into_iter().map(|at| at.value).collect(),
    };
    let nothing = GivenSpec {
        text: false,
        predicates: given.predicates,
        example: given.example.clone(),
        action_examples: given.action_examples.clone(),
        ..GivenSpec::default()
    };
    if let Some(place) = had_text.filter(|_| given == nothing) {
        let message = "without the texts the method is given nothing of the task";
        out.push(
            error_at("pipeline.nothing-given", message, place)
                .help("add `problem = true` below [given], or another part of the reference"),
        );
    }
    if let Some(place) = had_predicates.filter(|_| given.actions.is_none() || given.domain) {
        let message = match given.domain {
            true => "`predicates` has no meaning where the whole domain is given",
            false => "`predicates` has no meaning without `actions`, which the predicates are given with",
        };
        out.push(
            error_at("pipeline.predicates", message, place)
                .help("take `predicates` out, or give `actions = \"base\"` and not the domain"),
        );
    }
    inner.finish("pipeline.unknown-key", out);
    given
}

/// `example = true`, `false`, or the folder of a suite, which is read when its tasks are.
fn example(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> Option<GivenExample> {
    let node = reader.node("example")?;
    match &node.value {
        Value::Boolean(given) => Some(GivenExample::Own(*given)),
        Value::String(path) if !path.is_empty() => Some(GivenExample::Suite(path.clone())),
        _ => {
            let message = "`example` of [given] must be true, false or the folder of a suite".to_owned();
            out.push(error_at("pipeline.type", message, node.place));
            None
        }
    }
}

fn limits(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> RunLimits {
    let Some((table, node)) = reader.table("limits", out) else { return RunLimits::default() };
    let mut inner = TableReader::new(table, node.place, "[limits]");
    let limits = RunLimits {
        jobs: inner.integer("jobs", 1..=1024, out).and_then(|j| u32::try_from(j).ok()),
        call_deadline_s: inner.number("call_deadline_s", 0.001..=1e6, out),
    };
    inner.finish("pipeline.unknown-key", out);
    limits
}

/// A model that no role names is probably a mistake in a role, or left over.
fn unused_models(headers: &[At<String>], used: &[String], out: &mut Vec<Diagnostic>) {
    for header in headers.iter().filter(|h| !used.contains(&h.value)) {
        let message = format!("no stage gives a role to [llm.{}]", header.value);
        let warning = Diagnostic::warning("pipeline.unused-llm", message);
        let warning = warning.at(header.place.source, header.place.span, "");
        out.push(warning.help("name it in the `roles` of a stage, or take the table out"));
    }
}
