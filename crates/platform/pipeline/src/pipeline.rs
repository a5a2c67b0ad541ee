//! Pipeline files: a pipeline as plain data, from which the JSON schema that editors use is derived, and the way there from the text of
//! a file: top-level tables, what connects them, and the order of what is reported, every mistake at its place.

mod edits;

pub use edits::Override;

use crate::plugins::{
    Catalogue, find_keys, find_near_errors, hide, option_problems, read_options, read_plugin,
};
use crate::reader::{
    At, Node, SourcePlace, Table, TableReader, Value, error_at, json_object, nearest, parse,
};
use crate::stages::checker::{ModelNeed, read_stages};
use crate::stages::{Stage, all_stages};
use crate::suite::{DescriptionClass, GivenExample, GivenSpec};
use planforge_contract::{JsonObject, PluginInfo, PluginKind, Price, RequestSetting};
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap, Span};
use planforge_llm::{HOST_KEYS, ModelSettings, split_table};
use planforge_obfuscate::{DisguiseOptions, NameGroup, NameStyle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value as Json, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The schema number of pipeline files that this version reads.
pub const PIPELINE_SCHEMA: u32 = 1;

/// A planforge pipeline: stages over a beam of candidates, and the models that they ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Version of this file format.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// One line about the method.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Every random choice of a run derives from this.
    #[serde(default)]
    pub seed: u64,
    /// Declares that feedback to a model may contain results of the environment. Without it such feedback is
    /// withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackSource>,
    /// Parts of the suite's reference that the method is given. All others are withheld.
    #[serde(default)]
    pub given: GivenSpec,
    /// Runs the suites under other names and in another order, so that what a model has read of them does not help it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obfuscate: Option<ObfuscateTable>,
    /// Limits of the run.
    #[serde(default)]
    pub limits: RunLimits,
    /// The language models, by the name that `roles` uses.
    #[serde(default)]
    pub llm: BTreeMap<String, LlmTable>,
    /// The environment that executes actions. The host opens it with the task's reference; this file never
    /// names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<EnvironmentTable>,
    /// The stages, in order.
    #[serde(rename = "stage")]
    #[schemars(length(min = 1))]
    pub stages: Vec<Stage>,
}

/// Sources of feedback beside the verifiers' own reading of the candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FeedbackSource {
    /// The environment, which knows the reference.
    Environment,
}

/// Limits of a run. What is left out is not limited by the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Most plugin calls at a time; the command line can override it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub jobs: Option<u32>,
    /// Seconds after which a plugin call is given up as a failure. Left out: 600 seconds without an answer or progress end a call;
    /// a call that reports progress, or that waits for a model, the environment or a planner, goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 1000000.0))]
    pub call_deadline_s: Option<f64>,
}

/// One language model: the provider, the host's settings, and the provider's own options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LlmTable {
    /// The id of a provider plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// The host's settings (such as `model` and `temperature`) and the provider's options.
    #[serde(flatten)]
    pub settings: JsonObject,
}

impl LlmTable {
    /// The provider's options.
    pub fn provider_options(&self) -> JsonObject {
        planforge_llm::split_table(&self.settings).1
    }

    /// The stated prices.
    pub(crate) fn price(&self) -> Price {
        let price = self.settings.get("price").cloned();
        price.and_then(|price| serde_json::from_value(price).ok()).unwrap_or_default()
    }
}

/// The environment of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EnvironmentTable {
    /// The id of an environment plugin.
    #[serde(rename = "use")]
    pub plugin: String,
    /// Number of reference problems in the environment's model: the task's own first, then others of the
    /// suite in order, at most all of them. Verifiers of domains compare over all of them.
    #[serde(default = "crate::stages::one", skip_serializing_if = "crate::stages::is_one")]
    #[schemars(range(min = 1, max = 100))]
    pub problems: u32,
    /// The plugin's options.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub options: JsonObject,
}

impl Pipeline {
    /// All stages in the order of the file, each refine and budget stage followed by the stages inside of it.
    pub fn all_stages(&self) -> impl Iterator<Item = &Stage> {
        all_stages(&self.stages)
    }
    /// The refine or budget stage that contains the stage with that label.
    pub fn around(&self, label: &str) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.inner().any(|inner| inner.label() == label))
    }
    /// The stage with that label, inside another stage or not.
    pub fn stage(&self, label: &str) -> Option<&Stage> {
        self.all_stages().find(|stage| stage.label() == label)
    }
}

/// The JSON schema of pipeline files, as `planforge check --schema` prints it.
pub fn pipeline_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(Pipeline);
    schema.insert("title".to_owned(), "planforge pipeline".into());
    let mut schema = schema.to_value();
    // A model's table holds the host's keys, which are known here, beside the provider's options, which are not.
    let host = schemars::SchemaGenerator::default()
        .into_root_schema_for::<planforge_llm::ModelSettings>()
        .to_value();
    let table = schema.pointer_mut("/$defs/LlmTable").and_then(serde_json::Value::as_object_mut);
    if let (Some(table), Some(properties), Some(required)) =
        (table, host.get("properties"), host.get("required"))
    {
        table.insert("properties".to_owned(), properties.clone());
        table.insert("required".to_owned(), required.clone());
    }
    let defs = host.get("$defs").and_then(serde_json::Value::as_object);
    if let (Some(defs), Some(all)) =
        (defs, schema.get_mut("$defs").and_then(serde_json::Value::as_object_mut))
    {
        all.extend(defs.clone());
    }
    schema
}

/// The obfuscation of suites before tasks are made of them; results are reported under the original names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObfuscateTable {
    /// The kind of new names.
    pub names: NameStyle,
    /// Kinds of names to exchange; all by default.
    #[serde(default = "all", skip_serializing_if = "is_all")]
    #[schemars(length(min = 1))]
    pub what: Vec<NameGroup>,
    /// Uses the new names in the texts too.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub texts: bool,
    /// Shuffles declarations, facts, conditions and effects.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub reorder: bool,
    /// Names and order derive from this and the suite's name; from the seed of the run where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Pipeline {
    /// The options for obfuscating suites; none without `[obfuscate]`.
    pub fn disguise(&self) -> Option<DisguiseOptions> {
        let table = self.obfuscate.as_ref()?;
        Some(DisguiseOptions {
            names: table.names,
            what: table.what.iter().copied().collect(),
            texts: table.texts,
            reorder: table.reorder,
            seed: table.seed.unwrap_or(self.seed),
        })
    }
}

fn all() -> Vec<NameGroup> {
    NameGroup::ALL.to_vec()
}

fn is_all(what: &[NameGroup]) -> bool {
    NameGroup::ALL.iter().all(|kind| what.contains(kind))
}

const fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_yes(flag: &bool) -> bool {
    *flag
}

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
        applied.extend(edits::apply_override(&mut root, argument, id, &mut found));
    }
    edits::apply_moves(&mut root, &mut found);
    let mut hidden = find_keys(&root, &mut found);
    let broken: Vec<Span> = parsed.errors.iter().filter_map(|e| Some(e.primary()?.span)).collect();
    hidden.extend(find_near_errors(source, &broken));
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
    let mut sources = SourceMap::single(name, hide(source, &of(0)));
    for (index, argument) in overrides.iter().enumerate() {
        let id = u32::try_from(index + 1).unwrap_or(u32::MAX);
        sources.add(format!("--set argument {}", index + 1), hide(argument, &of(id)));
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
        let obfuscate = read_obfuscate(&mut reader, environment.as_ref(), self.catalogue, out);
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
        let read = read_stages(items, &models, self.catalogue, out);
        unused_models(&headers, &read.used_models, out);
        check_prices(&read.need_prices, &llm_tables, out);
        check_logprobs(&read.need_logprobs, &llm_tables, self.catalogue, out);
        check_grammars(&read.need_grammars, &llm_tables, self.catalogue, out);
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
                    let read = read_model(&key.name, table, node, key.place, self.catalogue, out);
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
        let (plugin, info) = read_plugin(&mut inner, PluginKind::Environment, self.catalogue, out);
        let options = read_options(&mut inner, info.as_ref(), self.catalogue, out);
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

fn read_obfuscate(
    reader: &mut TableReader<'_>,
    environment: Option<&EnvironmentTable>,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> Option<ObfuscateTable> {
    let (table, node) = reader.table("obfuscate", out)?;
    let mut inner = TableReader::new(table, node.place, "[obfuscate]");
    let had_names = inner.node("names").is_some();
    let names = inner.word("names", &NameStyle::ALL.map(|names| (names.name(), names)), out);
    if !had_names {
        inner.missing("names", "\"random\", \"misleading\" or \"original\"", out);
    }
    let listed = inner.node("what").is_some();
    let what = inner.words("what", &NameGroup::ALL.map(|kind| (kind.name(), kind)), out);
    let read = ObfuscateTable {
        names: names.unwrap_or(NameStyle::Original),
        what: if listed { what } else { NameGroup::ALL.to_vec() },
        texts: inner.boolean("texts", out).unwrap_or(true),
        reorder: inner.boolean("reorder", out).unwrap_or(true),
        seed: inner.integer("seed", 0..=i64::MAX, out),
    };
    inner.finish("pipeline.unknown-key", out);
    let info = environment.and_then(|environment| catalogue.info(&environment.plugin).ok());
    if let Some(info) = info.filter(|info| !info.capabilities.reference_model) {
        let message = format!("`{}` knows names of its own, which [obfuscate] cannot exchange", info.id);
        out.push(
            error_at("pipeline.obfuscate", message, node.place)
                .help("take [obfuscate] out, or use an environment that simulates the reference, such as environment-pddl"),
        );
    }
    Some(read)
}

const UNSUPPORTED: &str = "pipeline.unsupported-setting";

/// Reads one model's table.
fn read_model(
    name: &str,
    table: &Table,
    node: &Node,
    header: SourcePlace,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> LlmTable {
    let mut reader = TableReader::new(table, header, format!("[llm.{name}]"));
    let (plugin, info) = read_plugin(&mut reader, PluginKind::Provider, catalogue, out);
    if reader.node("model").is_none() {
        reader.missing("model", "\"gpt-4o\"", out);
    }
    let mut settings = json_object(table);
    settings.remove("use");
    if let Some(info) = &info
        && !settings.contains_key("price")
        && let Some(price) = catalogue.price(name, info, &settings)
        && let Ok(price) = serde_json::to_value(price)
    {
        settings.insert("price".to_owned(), price);
    }
    let (host, options) = split_table(&settings);
    host_keys(name, &host, table, out);
    if let Some(info) = info {
        let mut found = Vec::new();
        option_problems(&info, &options, node, catalogue, &mut found);
        out.extend(found.into_iter().map(|d| suggest_host_key(d, table, &info)));
        check_capabilities(name, (&host, table), (&info, &options), out);
    }
    LlmTable { plugin, settings }
}

/// Each of the host's keys is read by itself, so that one wrong value does not hide another.
fn host_keys(name: &str, host: &JsonObject, table: &Table, out: &mut Vec<Diagnostic>) {
    let mut good = json!({"use": "provider", "model": "model"});
    for (key, value) in host {
        let mut alone = json!({"use": "provider", "model": "model"});
        insert(&mut alone, key, value);
        match serde_json::from_value::<ModelSettings>(alone) {
            Ok(_) => insert(&mut good, key, value),
            Err(error) => {
                let message = format!("`{key}` of [llm.{name}]: {error}");
                out.push(error_at("pipeline.type", message, place_of(table, key)));
            }
        }
    }
    let Ok(config) = serde_json::from_value::<ModelSettings>(good) else { return };
    for problem in config.problems() {
        let message = format!("[llm.{name}]: {}", problem.message);
        out.push(error_at("pipeline.range", message, place_of(table, problem.key)));
    }
}

/// Checks the host's keys against what the provider declares of its service.
fn check_capabilities(
    name: &str,
    (host, table): (&JsonObject, &Table),
    (info, options): (&PluginInfo, &JsonObject),
    out: &mut Vec<Diagnostic>,
) {
    let lacks = |setting| info.lacks(setting, options);
    let id = &info.id;
    let has_stop = host.get("stop").and_then(Json::as_array).is_some_and(|stop| !stop.is_empty());
    if has_stop && lacks(RequestSetting::Stop) {
        let message = format!("[llm.{name}]: the service of `{id}` has no `stop`");
        let help = "remove it, or choose another interface or provider";
        out.push(error_at(UNSUPPORTED, message, place_of(table, "stop")).help(help));
    }
    if host.get("logprobs") == Some(&Json::Bool(true)) && lacks(RequestSetting::Logprobs) {
        let message = format!("[llm.{name}]: the service of `{id}` returns no log-probabilities");
        let help = "remove `logprobs`, or choose another provider";
        out.push(error_at(UNSUPPORTED, message, place_of(table, "logprobs")).help(help));
    }
    if host.contains_key("seed") && lacks(RequestSetting::Seed) {
        let message = format!("[llm.{name}]: the service of `{id}` has no seed, so `seed` is not sent");
        let place = place_of(table, "seed");
        let warning = Diagnostic::warning(UNSUPPORTED, message).at(place.source, place.span, "");
        out.push(warning.help("remove it; the replies of a run are repeated with `planforge replay`"));
    }
    let highest = info.capabilities.highest_temperature.as_ref().and_then(Number::as_f64);
    if let Some(highest) = highest
        && let Some(temperature) = host.get("temperature").and_then(Json::as_f64)
        && temperature > highest
    {
        let message =
            format!("[llm.{name}]: the service of `{id}` accepts a temperature of {highest} at most");
        let help = format!("write `temperature = {highest:?}` or less");
        out.push(error_at(UNSUPPORTED, message, place_of(table, "temperature")).help(help));
    }
}

/// The model tables that stages need, each with the need and its provider. Unknown ones have a diagnostic of their own.
fn needed_tables<'a>(
    needs: &'a [ModelNeed],
    llm: &'a BTreeMap<String, LlmTable>,
    catalogue: &'a dyn Catalogue,
) -> impl Iterator<Item = (&'a ModelNeed, &'a str, &'a LlmTable, PluginInfo)> {
    let models = needs.iter().flat_map(|need| need.models.iter().map(move |model| (need, model.as_str())));
    models.filter_map(|(need, model)| {
        let table = llm.get(model)?;
        Some((need, model, table, catalogue.info(&table.plugin).ok()?))
    })
}

/// Checks that the models of stages that request log-probabilities return them.
fn check_logprobs(
    needs: &[ModelNeed],
    llm: &BTreeMap<String, LlmTable>,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) {
    for (ModelNeed { stage, place, .. }, model, table, info) in needed_tables(needs, llm, catalogue) {
        if info.lacks(RequestSetting::Logprobs, &table.provider_options()) {
            let message = format!(
                "{stage} requests log-probabilities, and `{}` of [llm.{model}] returns none",
                table.plugin
            );
            let help = "remove `logprobs` from its options and select by a metric of a verifier, or give the role to a model \
                        whose provider returns log-probabilities, such as `provider-openai` or `provider-gemini`";
            out.push(error_at("pipeline.no-logprobs", message, *place).help(help));
        }
    }
}

/// Checks that the models of stages that require a grammar are of a provider that enforces it.
fn check_grammars(
    needs: &[ModelNeed],
    llm: &BTreeMap<String, LlmTable>,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) {
    for (ModelNeed { stage, place, .. }, model, table, info) in needed_tables(needs, llm, catalogue) {
        if !info.enforces_grammars(&table.provider_options()) {
            let message = format!(
                "{stage} requires a grammar, and `{}` of [llm.{model}] does not enforce one",
                table.plugin
            );
            let help = "state in the model table which server it is, such as `grammar = \"llama-cpp\"` of `provider-openai`, or write \
                        `grammar = \"prefer\"` in the stage's options";
            out.push(error_at("pipeline.no-grammar", message, *place).help(help));
        }
    }
}

fn insert(object: &mut Json, key: &str, value: &Json) {
    if let Json::Object(map) = object {
        map.insert(key.to_owned(), value.clone());
    }
}

fn place_of(table: &Table, key: &str) -> SourcePlace {
    table.get(key).map(|node| node.place).unwrap_or_default()
}

/// A key that the provider does not know may have been meant for the host.
fn suggest_host_key(mut diagnostic: Diagnostic, table: &Table, info: &PluginInfo) -> Diagnostic {
    if diagnostic.code != "pipeline.unknown-option" {
        return diagnostic;
    }
    let at = diagnostic.primary().map(|label| label.span);
    let key = table.entries.iter().map(|(key, _)| key).find(|key| Some(key.place.span) == at);
    let Some(near) = key.and_then(|key| nearest(&key.name, HOST_KEYS.iter().copied())) else {
        return diagnostic;
    };
    let help = format!("did you mean `{near}`, which planforge itself reads for every model?");
    // Names of the provider's own options are no more likely than this one.
    if info.options_schema.pointer(&format!("/properties/{near}")).is_none() {
        diagnostic.help.insert(0, help);
    }
    diagnostic
}

/// Checks that models whose prices are needed state both.
fn check_prices(
    needed: &[(SourcePlace, Vec<String>)],
    llm: &BTreeMap<String, LlmTable>,
    out: &mut Vec<Diagnostic>,
) {
    for (place, models) in needed {
        for model in models {
            let Some(table) = llm.get(model) else { continue };
            let price = table.price();
            if price.prompt.is_none() || price.completion.is_none() {
                let message =
                    format!("the budget is in money, and [llm.{model}] does not state both its prices");
                let help = format!(
                    "add `price = {{ prompt = ..., completion = ... }}` to [llm.{model}], in US dollars for a million tokens, or list \
                     its model in ~/.config/planforge/prices.toml"
                );
                out.push(error_at("pipeline.budget-price", message, *place).help(help));
            }
        }
    }
}
