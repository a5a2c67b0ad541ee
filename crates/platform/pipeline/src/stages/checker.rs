//! `[[stage]]`: reads stages in the order of the file and checks their references to each other: labels, metrics, feedback, and the
//! models that take the roles of plugins. Each kind checks its own keys.

use super::bound::makes_no_request;
use super::{Stage, StageKind};
use crate::beam::{CANDIDATE, MEAN_LOG_LIKELIHOOD};
use crate::plugins::Catalogue;
use crate::reader::{At, Key, Node, SourcePlace, Table, TableReader, Value, error_at, help_for, with_help};
use planforge_contract::{JsonObject, PluginInfo};
use planforge_diagnostics::Diagnostic;
use planforge_llm::RoleModels;
use std::collections::{BTreeMap, BTreeSet};

/// A stage that later stages may refer to.
pub(crate) struct KnownStage {
    pub(crate) label: String,
    place: SourcePlace,
    pub(crate) kind: StageKind,
    metrics: Vec<String>,
    /// True if its plugin could not be looked up, which was reported with it.
    unknown_plugin: bool,
}

/// The stages of a file, and what they require of the rest of the file.
#[derive(Default)]
pub(crate) struct StageFindings {
    pub(crate) stages: Vec<Stage>,
    /// Models named in roles.
    pub(crate) used_models: Vec<String>,
    /// Plugins that ask the environment, and the place of their stage.
    pub(crate) need_environment: Vec<(String, SourcePlace)>,
    /// Places that need the prices of these models.
    pub(crate) need_prices: Vec<(SourcePlace, Vec<String>)>,
    /// Stages whose models must return log-probabilities.
    pub(crate) need_logprobs: Vec<ModelNeed>,
    pub(crate) need_grammars: Vec<ModelNeed>,
}

/// A stage that needs a capability of its models: log-probabilities, or that grammars are enforced.
pub(crate) struct ModelNeed {
    /// The stage's name in messages.
    pub(crate) stage: String,
    pub(crate) place: SourcePlace,
    pub(crate) models: Vec<String>,
}

pub(crate) fn read_stages(
    items: &[Node],
    models: &[String],
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> StageFindings {
    let mut checker = StageChecker {
        models,
        catalogue,
        later: all_labels(items),
        known: Vec::new(),
        round: None,
        mixed: Vec::new(),
        findings: StageFindings::default(),
    };
    for (index, item) in items.iter().enumerate() {
        let stage = checker.read_item(&(index + 1).to_string(), item, out);
        checker.findings.stages.extend(stage);
    }
    for kind in StageKind::ALL {
        kind.check_file(&checker.findings.stages, items, out);
    }
    checker.findings
}

fn stage_name(position: &str, item: &Node) -> String {
    match item.as_table().and_then(|t| t.get("label")).map(|n| &n.value) {
        Some(Value::String(label)) if !label.is_empty() => format!("stage `{label}`"),
        _ => format!("stage {position}"),
    }
}

/// Every label in the file, to tell "comes later" from "does not exist".
fn all_labels(items: &[Node]) -> Vec<(String, SourcePlace)> {
    let mut labels = Vec::new();
    for table in items.iter().filter_map(Node::as_table) {
        if let Some(Node { value: Value::String(label), place }) = table.get("label") {
            labels.push((label.clone(), *place));
        }
        for key in lists_of(table) {
            if let Some(Node { value: Value::Array(items), .. }) = table.get(key) {
                labels.extend(all_labels(items));
            }
        }
    }
    labels
}

/// Keys of the lists of stages inside a stage's table.
fn lists_of(table: &Table) -> &'static [&'static str] {
    let Some(Node { value: Value::String(word), .. }) = table.get("do") else { return &[] };
    let kind = StageKind::ALL.iter().find(|kind| kind.name() == word);
    kind.map_or(&[], |kind| kind.facts().lists)
}

/// Data collected while the stages of a round are read.
#[derive(Default)]
pub(crate) struct Round {
    /// Labels in `feedback`, with the position of their stage in the round. They may name later stages of the round, which are those of
    /// the round before.
    pub(crate) feedback: Vec<(usize, At<String>)>,
    /// The position of the stage that is being read.
    index: usize,
}

/// A list of stages inside another stage.
pub(crate) struct InnerList<'a> {
    pub(crate) stages: Vec<Stage>,
    /// Their tables.
    pub(crate) items: &'a [Node],
    /// The first table, or the stage around where there is none.
    pub(crate) place: SourcePlace,
    /// True if every table could be read.
    pub(crate) is_complete: bool,
}

/// The table of a stage being read.
pub(crate) struct StageTable<'r, 'a> {
    pub(crate) reader: &'r mut TableReader<'a>,
    pub(crate) label: &'r At<String>,
    /// The position in the file, from 1: `2`, or `2-1` inside another stage.
    pub(crate) position: &'r str,
}

/// Reads the stages of a file.
pub(crate) struct StageChecker<'a> {
    models: &'a [String],
    pub(crate) catalogue: &'a dyn Catalogue,
    later: Vec<(String, SourcePlace)>,
    /// The stages so far.
    pub(crate) known: Vec<KnownStage>,
    /// Set while the stages of a round are read.
    round: Option<Round>,
    /// Stages so far whose samples several models may give, and these models.
    mixed: Vec<(String, RoleModels)>,
    pub(crate) findings: StageFindings,
}

impl StageChecker<'_> {
    /// Reads one entry of `[[stage]]` or of a list inside a stage. `position` counts from 1.
    fn read_item(&mut self, position: &str, item: &Node, out: &mut Vec<Diagnostic>) -> Option<Stage> {
        match &item.value {
            Value::Table(table) => {
                let mut reader = TableReader::new(table, item.place, stage_name(position, item));
                let stage = self.read_stage(position, &mut reader, out)?;
                reader.finish("pipeline.unknown-stage-key", out);
                Some(stage)
            }
            _ => {
                let message = format!("a stage must be a table, not {}", item.kind());
                out.push(error_at("pipeline.type", message, item.place));
                None
            }
        }
    }

    fn read_stage(
        &mut self,
        position: &str,
        reader: &mut TableReader<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> Option<Stage> {
        let (place, kind) = read_kind(reader, out)?;
        if let Some(help) = kind.facts().outside_rounds.filter(|_| self.round.is_some()) {
            let message = format!("a {} stage cannot stand in a round", kind.name());
            out.push(error_at("pipeline.nested-round", message, place).help(help));
            return None;
        }
        let label = self.read_label(reader, kind, position, out);
        if !kind.facts().lists.is_empty() {
            // A stage inside must not have the same label.
            self.remember(&label, kind, Vec::new(), false);
        }
        let mut table = StageTable { reader, label: &label, position };
        let (stage, metrics) = kind.parse(self, &mut table, out);
        let unknown_plugin = stage.plugin().is_some_and(|(id, _)| self.catalogue.info(id).is_err());
        self.remember(&label, kind, metrics, unknown_plugin);
        Some(stage)
    }

    /// Makes a stage known to later ones. A stage with stages inside is remembered before these.
    fn remember(&mut self, label: &At<String>, kind: StageKind, metrics: Vec<String>, unknown_plugin: bool) {
        let At { value: label, place } = label.clone();
        if !self.known.iter().any(|known| known.label == label && known.place == place) {
            self.known.push(KnownStage { label, place, kind, metrics, unknown_plugin });
        }
    }

    fn read_label(
        &self,
        reader: &mut TableReader<'_>,
        kind: StageKind,
        position: &str,
        out: &mut Vec<Diagnostic>,
    ) -> At<String> {
        let had = reader.node("label").is_some();
        let Some(label) = reader.string("label", out) else {
            if !had && kind.facts().needs_label {
                reader.missing("label", &format!("\"{}\"", kind.name()), out);
            }
            let word = kind.name().replace('_', "-");
            return At { value: format!("{word}-{position}"), place: reader.place };
        };
        if let Some(why) = bad_label(&label.value) {
            out.push(
                error_at("pipeline.label", why, label.place)
                    .help("a label is a lower-case letter, then letters, digits, `_` or `-`, 64 at most"),
            );
        } else if let Some(first) = self.known.iter().find(|k| k.label == label.value) {
            let message = format!("the label `{}` is taken", label.value);
            out.push(error_at("pipeline.duplicate-label", message, label.place).also(
                first.place.source,
                first.place.span,
                "first used here",
            ));
        }
        label
    }

    /// Reads a list of stages inside a stage. The positions of its stages begin with `position`. The round lasts until
    /// [`Self::end_round`].
    pub(crate) fn read_list<'r>(
        &mut self,
        key: &'static str,
        position: &str,
        reader: &mut TableReader<'r>,
        out: &mut Vec<Diagnostic>,
    ) -> InnerList<'r> {
        let items = match reader.node(key) {
            Some(Node { value: Value::Array(items), .. }) => items.as_slice(),
            Some(other) => {
                let message = format!("`{key}` of {} must be an array of tables", reader.what);
                let help = format!("write [[stage.{key}]] before each of its stages");
                out.push(error_at("pipeline.type", message, other.place).help(help));
                return InnerList { stages: Vec::new(), items: &[], place: other.place, is_complete: false };
            }
            None => &[],
        };
        self.round.get_or_insert_with(Round::default);
        let mut stages = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if let Some(round) = &mut self.round {
                round.index = index;
            }
            stages.extend(self.read_item(&format!("{position}-{}", index + 1), item, out));
        }
        let place = items.first().map_or(reader.place, |item| item.place);
        InnerList { is_complete: stages.len() == items.len(), stages, items, place }
    }

    /// Ends a round: the references of its stages to each other can be checked now.
    pub(crate) fn end_round(&mut self, out: &mut Vec<Diagnostic>) -> Round {
        let round = self.round.take().unwrap_or_default();
        self.check_feedback(round.feedback.iter().map(|(_, label)| label), out);
        round
    }

    /// Reads `roles` of a plugin with these options.
    pub(crate) fn read_roles(
        &mut self,
        reader: &mut TableReader<'_>,
        plugin: (Option<&PluginInfo>, &JsonObject),
        out: &mut Vec<Diagnostic>,
    ) -> BTreeMap<String, RoleModels> {
        let roles = read_roles(reader, plugin, self.models, &mut self.findings.used_models, out);
        if let (Some(info), options) = plugin {
            let mut need = || {
                let place = reader.node("options").map_or(reader.place, |node| node.place);
                let names: BTreeSet<&str> = roles.values().flat_map(RoleModels::names).collect();
                let models = names.into_iter().map(str::to_owned).collect();
                ModelNeed { stage: reader.what.clone(), place, models }
            };
            if info.needs_logprobs(options) {
                self.findings.need_logprobs.push(need());
            }
            if info.requires_grammar(options) {
                self.findings.need_grammars.push(need());
            }
        }
        roles
    }

    /// Notes that a stage writes candidates with these models.
    pub(crate) fn note_writer(&mut self, label: &str, roles: &BTreeMap<String, RoleModels>) {
        let several = roles.values().filter(|models| models.has_several()).take(1);
        self.mixed.extend(several.map(|models| (label.to_owned(), models.clone())));
    }

    /// Reads `feedback`.
    pub(crate) fn read_feedback(
        &mut self,
        reader: &mut TableReader<'_>,
        out: &mut Vec<Diagnostic>,
    ) -> Vec<String> {
        let labels = reader.strings("feedback", out);
        match &mut self.round {
            Some(round) => {
                let index = round.index;
                round.feedback.extend(labels.iter().cloned().map(|label| (index, label)));
            }
            None => self.check_feedback(&labels, out),
        }
        labels.into_iter().map(|l| l.value).collect()
    }

    fn check_feedback<'l>(
        &self,
        labels: impl IntoIterator<Item = &'l At<String>>,
        out: &mut Vec<Diagnostic>,
    ) {
        let kinds = kinds_where(|kind| kind.facts().gives_feedback);
        for label in labels {
            self.check_earlier(label, &kinds, "pipeline.unknown-label", out);
        }
    }

    /// Checks that a label is that of an earlier stage of one of those kinds.
    pub(crate) fn check_earlier(
        &self,
        label: &At<String>,
        kinds: &[StageKind],
        code: &'static str,
        out: &mut Vec<Diagnostic>,
    ) {
        match self.known.iter().find(|k| k.label == label.value) {
            Some(known) if kinds.contains(&known.kind) => {}
            Some(known) => {
                let wanted: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
                let message = format!(
                    "`{}` is a {} stage; a {} stage is needed here",
                    label.value,
                    known.kind.name(),
                    wanted.join(" or ")
                );
                out.push(error_at(code, message, label.place).also(
                    known.place.source,
                    known.place.span,
                    "it is here",
                ));
            }
            None => self.report_unknown(label, kinds, &[], code, out),
        }
    }

    /// Reports a label that no earlier stage has. `others` are further names that could have been meant.
    fn report_unknown(
        &self,
        label: &At<String>,
        kinds: &[StageKind],
        others: &[&str],
        code: &'static str,
        out: &mut Vec<Diagnostic>,
    ) {
        if let Some((_, place)) = self.later.iter().find(|(name, _)| *name == label.value) {
            let message = format!("the stage `{}` comes later", label.value);
            out.push(
                error_at("pipeline.label-order", message, label.place)
                    .also(place.source, place.span, "it is here")
                    .help("only stages before this one can be named"),
            );
            return;
        }
        let mut names: Vec<&str> =
            self.known.iter().filter(|k| kinds.contains(&k.kind)).map(|k| k.label.as_str()).collect();
        names.extend(others);
        let kinds: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
        let message = format!("there is no stage with the label `{}`", label.value);
        let what = format!("earlier {} stages", kinds.join(" and "));
        out.push(with_help(error_at(code, message, label.place), help_for(&label.value, &names, &what)));
    }
}

/// The kinds for which something holds.
pub(crate) fn kinds_where(holds: impl Fn(StageKind) -> bool) -> Vec<StageKind> {
    StageKind::ALL.iter().copied().filter(|kind| holds(*kind)).collect()
}

/// Reads `do`, with its place.
fn read_kind(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> Option<(SourcePlace, StageKind)> {
    let had = reader.node("do").is_some();
    let Some(word) = reader.string("do", out) else {
        if !had {
            reader.missing("do", "\"translate\"", out);
        }
        return None;
    };
    if let Some(kind) = StageKind::ALL.iter().find(|kind| kind.name() == word.value) {
        return Some((word.place, *kind));
    }
    let names: Vec<&str> = StageKind::ALL.iter().map(|kind| kind.name()).collect();
    let message = format!("there is no stage kind `{}`", word.value);
    let near = help_for(&word.value, &names, "stage kinds");
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let list = format!("stage kinds are {}", quoted.join(", "));
    let diagnostic = with_help(error_at("pipeline.unknown-stage", message, word.place), near.clone());
    let is_listed = near.is_some_and(|near| near.starts_with("stage kinds"));
    out.push(if is_listed { diagnostic } else { diagnostic.help(list) });
    None
}

/// A count that the reader has checked, or its default.
pub(crate) fn small(value: Option<u64>, default: u32) -> u32 {
    value.and_then(|v| u32::try_from(v).ok()).unwrap_or(default)
}

fn bad_label(label: &str) -> Option<String> {
    if label.is_empty() {
        return Some("the label is empty".to_owned());
    }
    if label == CANDIDATE {
        return Some(format!("`{label}` is not a label: metrics of the candidate itself begin with it"));
    }
    let good = label.len() <= 64
        && label.starts_with(|c: char| c.is_ascii_lowercase())
        && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
    (!good).then(|| format!("`{label}` is not a label"))
}

/// The candidate's own metrics.
const CANDIDATE_METRICS: [&str; 2] = ["log_likelihood", MEAN_LOG_LIKELIHOOD];

impl StageChecker<'_> {
    /// Checks that a metric is one of an earlier stage, or one of the candidate.
    pub(crate) fn check_metric(&self, by: &At<String>, out: &mut Vec<Diagnostic>) {
        let Some((label, name)) = by.value.split_once('.') else {
            let message = format!("`{}` does not name a metric", by.value);
            out.push(
                error_at("pipeline.metric-form", message, by.place)
                    .help("write LABEL.NAME: the label of an earlier stage, a dot, and one of its metrics"),
            );
            return;
        };
        if label == CANDIDATE {
            self.check_likelihoods(by, out);
            return check_name(label, name, &CANDIDATE_METRICS, by.place, out);
        }
        let Some(stage) = self.known.iter().find(|k| k.label == label) else {
            let wanted = At { value: label.to_owned(), place: by.place };
            let kinds = kinds_where(|kind| kind.facts().judges);
            return self.report_unknown(&wanted, &kinds, &[CANDIDATE], "pipeline.unknown-label", out);
        };
        let metrics: Vec<&str> = stage.metrics.iter().map(String::as_str).collect();
        // An unknown plugin was reported where it is named.
        if !(metrics.is_empty() && stage.unknown_plugin) {
            check_name(label, name, &metrics, by.place, out);
        }
    }

    /// Likelihoods of different models are on different scales.
    fn check_likelihoods(&self, by: &At<String>, out: &mut Vec<Diagnostic>) {
        let Some((label, models)) = self.mixed.first() else { return };
        let when = if models.is_mixed() { "are" } else { "may be, where one fails," };
        let message = format!(
            "samples of `{label}` {when} those of several models ({models}), whose likelihoods are not comparable"
        );
        let warning = Diagnostic::warning("pipeline.mixed-likelihood", message);
        let help = "give the role to one model, or compare by a metric of a verifier";
        out.push(warning.at(by.place.source, by.place.span, "").help(help));
    }
}

fn check_name(label: &str, name: &str, metrics: &[&str], place: SourcePlace, out: &mut Vec<Diagnostic>) {
    if !metrics.contains(&name) {
        let message = format!("`{label}` has no metric `{name}`");
        let help = help_for(name, metrics, &format!("metrics of `{label}`"));
        out.push(with_help(error_at("pipeline.unknown-metric", message, place), help));
    }
}

const CODE: &str = "pipeline.role-models";

/// Each role declared by the plugin, each given to models of the file. None may be left out, unless the plugin makes no request with its
/// options. Names that are used go into `used`.
fn read_roles(
    reader: &mut TableReader<'_>,
    (info, options): (Option<&PluginInfo>, &JsonObject),
    models: &[String],
    used: &mut Vec<String>,
    out: &mut Vec<Diagnostic>,
) -> BTreeMap<String, RoleModels> {
    let models: Vec<&str> = models.iter().map(String::as_str).collect();
    let mut roles = BTreeMap::new();
    let mut place = reader.place;
    let mut keys: Vec<&Key> = Vec::new();
    if let Some((table, node)) = reader.table("roles", out) {
        place = node.place;
        for (key, node) in &table.entries {
            keys.push(key);
            let mut role = RoleReader { name: &key.name, models: &models, used, out };
            if let Some(read) = role.read(node) {
                roles.insert(key.name.clone(), read);
            }
        }
    }
    if let Some(info) = info {
        let needed = !makes_no_request(info, options);
        check_declared_roles(
            reader,
            (info, needed),
            &keys,
            models.first().copied().unwrap_or("main"),
            place,
            out,
        );
    }
    roles
}

/// Compares the file's roles with those that the plugin declares.
fn check_declared_roles(
    reader: &TableReader<'_>,
    (info, needed): (&PluginInfo, bool),
    keys: &[&Key],
    model: &str,
    place: SourcePlace,
    out: &mut Vec<Diagnostic>,
) {
    let declared: Vec<&str> = info.roles.iter().map(|r| r.name.as_str()).collect();
    for role in keys.iter().filter(|role| !declared.contains(&role.name.as_str())) {
        let text = format!("`{}` has no role `{}`", info.id, role.name);
        let help = help_for(&role.name, &declared, "roles it asks for");
        out.push(with_help(error_at("pipeline.unknown-role", text, role.place), help));
    }
    for role in declared.iter().filter(|role| needed && !keys.iter().any(|key| key.name == **role)) {
        let text =
            format!("{} does not say which model takes the role `{role}` of `{}`", reader.what, info.id);
        let help = format!("add `{role} = \"{model}\"` to its `roles`");
        out.push(error_at("pipeline.missing-role", text, place).help(help));
    }
}

/// One role being read.
struct RoleReader<'a> {
    name: &'a str,
    models: &'a [&'a str],
    used: &'a mut Vec<String>,
    out: &'a mut Vec<Diagnostic>,
}

impl RoleReader<'_> {
    fn read(&mut self, node: &Node) -> Option<RoleModels> {
        match &node.value {
            Value::String(name) => {
                self.model(name, node.place);
                Some(RoleModels::One(name.clone()))
            }
            Value::Array(items) => self.order(items, node.place),
            Value::Table(table) => self.weights(table, node.place),
            _ => {
                let wanted = "the name of a model, several names, or names with weights";
                self.wrong_type("", node, wanted);
                None
            }
        }
    }

    fn order(&mut self, items: &[Node], place: SourcePlace) -> Option<RoleModels> {
        let mut names: Vec<At<String>> = Vec::new();
        for item in items {
            let Value::String(name) = &item.value else {
                self.wrong_type(" in the list", item, "the name of a model");
                continue;
            };
            self.model(name, item.place);
            if let Some(first) = names.iter().find(|first| first.value == *name) {
                let message = format!("`{name}` is listed twice for role `{}`", self.name);
                let twice = error_at(CODE, message, item.place)
                    .also(first.place.source, first.place.span, "it is here")
                    .help("remove one: a model that failed is not sent the same request again");
                self.out.push(twice);
                continue;
            }
            names.push(At { value: name.clone(), place: item.place });
        }
        match &names[..] {
            [] => {
                self.no_model(items.is_empty(), place);
                None
            }
            [only] => {
                self.lone(&only.value, items.len(), place);
                Some(RoleModels::One(only.value.clone()))
            }
            _ => Some(RoleModels::Order(names.into_iter().map(|name| name.value).collect())),
        }
    }

    fn weights(&mut self, table: &Table, place: SourcePlace) -> Option<RoleModels> {
        let mut weights = BTreeMap::new();
        for (key, node) in &table.entries {
            self.model(&key.name, key.place);
            let weight = match node.value {
                Value::Float(weight) => weight,
                Value::Integer(weight) => weight as f64,
                _ => {
                    self.wrong_type(&format!(": the weight of `{}`", key.name), node, "a number");
                    continue;
                }
            };
            if !(weight.is_finite() && weight > 0.0) {
                let message = format!(
                    "role `{}`: the weight of `{}` is {weight}; a weight is above 0",
                    self.name, key.name
                );
                let help = "omit a model that must never be drawn; for a model that is asked only after another fails, write a list";
                self.out.push(error_at("pipeline.range", message, node.place).help(help));
                continue;
            }
            weights.insert(key.name.clone(), weight);
        }
        if table.entries.is_empty() {
            self.no_model(true, place);
        }
        let mut names = weights.keys();
        match (names.next(), names.next()) {
            (None, _) => None,
            (Some(only), None) => {
                self.lone(only, table.entries.len(), place);
                Some(RoleModels::One(only.clone()))
            }
            _ => Some(RoleModels::Weights(weights)),
        }
    }

    /// A name that a table of the file should have.
    fn model(&mut self, name: &str, place: SourcePlace) {
        self.used.push(name.to_owned());
        if !self.models.contains(&name) {
            let text = format!("there is no table `[llm.{name}]`");
            let help = help_for(name, self.models, "models in this file");
            self.out.push(with_help(error_at("pipeline.unknown-llm", text, place), help));
        }
    }

    fn wrong_type(&mut self, part: &str, node: &Node, wanted: &str) {
        let message = format!("role `{}`{part} must be {wanted}, not {}", self.name, node.kind());
        let help = format!(
            "write `{0} = \"main\"`, `{0} = [\"main\", \"backup\"]` or `{0} = {{ main = 3, other = 1 }}`",
            self.name
        );
        self.out.push(error_at("pipeline.type", message, node.place).help(help));
    }

    fn no_model(&mut self, is_empty: bool, place: SourcePlace) {
        if is_empty {
            let message = format!("role `{}` has no model", self.name);
            self.out.push(error_at(CODE, message, place).help("name at least one [llm.NAME] table"));
        }
    }

    /// Warns about a list or table with a single name. With several names, other messages report it.
    fn lone(&mut self, name: &str, written: usize, place: SourcePlace) {
        if written == 1 {
            let message = format!("role `{}` has one model in a list, so there is no fallback", self.name);
            let warning = Diagnostic::warning(CODE, message).at(place.source, place.span, "");
            self.out.push(warning.help(format!("write `{} = \"{name}\"`, or add a second model", self.name)));
        }
    }
}
