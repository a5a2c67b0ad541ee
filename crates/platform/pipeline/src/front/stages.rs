//! `[[stage]]`: one reader for each kind, and the checks between stages.

use super::catalogue::Catalogue;
use super::plugins;
use super::reader::{At, Reader, error_at, with_help};
use super::tree::{Node, Place, Value};
use crate::config::RoleModels;
use crate::config::{
    Artefact, Order, PlanStage, PlanStageLimits, SelectStage, Stage, StageKind, TranslateStage, VerifyStage,
};
use crate::suggest::help_for;
use planforge_contract::{FixPolicy, PluginInfo, PluginKind};
use planforge_diagnostics::Diagnostic;
use std::collections::BTreeMap;

/// The label under which a candidate's own numbers are selected by; no stage may have it.
pub(crate) const CANDIDATE: &str = "candidate";
/// The candidate's own numbers.
const CANDIDATE_METRICS: [&str; 2] = ["log_likelihood", MEAN_LOG_LIKELIHOOD];
/// The log-likelihood divided by the number of tokens.
pub(crate) const MEAN_LOG_LIKELIHOOD: &str = "mean_log_likelihood";
/// The numbers of a plan stage.
const PLAN_METRICS: [&str; 2] = ["cost", "steps"];
/// The kinds of stages that have metrics.
const METRIC_KINDS: [StageKind; 2] = [StageKind::Verify, StageKind::Plan];

/// What later stages may refer to.
pub(super) struct Known {
    pub(super) label: String,
    place: Place,
    pub(super) kind: StageKind,
    metrics: Vec<String>,
    /// Its plugin could not be looked up, which was reported with it.
    unknown: bool,
}

/// What reading the stages found out beside the stages.
#[derive(Default)]
pub(super) struct StagesRead {
    pub(super) stages: Vec<Stage>,
    /// Models named in roles.
    pub(super) models_used: Vec<String>,
    /// Plugins that ask the environment, and the place of their stage.
    pub(super) need_environment: Vec<(String, Place)>,
    /// Budgets in money, and the models that are paid from each.
    pub(super) paid: Vec<(Place, Vec<String>)>,
}

/// Reads all stages.
pub(super) fn stages(
    items: &[Node],
    models: &[String],
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> StagesRead {
    let mut checker = Stages {
        models,
        catalogue,
        later: all_labels(items),
        known: Vec::new(),
        round: None,
        mixed: Vec::new(),
        read: StagesRead::default(),
    };
    for (index, item) in items.iter().enumerate() {
        let read = checker.item(&(index + 1).to_string(), item, out);
        checker.read.stages.extend(read);
    }
    super::rounds::fan_out_once(&checker.read.stages, items, out);
    checker.read
}

fn stage_name(position: &str, item: &Node) -> String {
    match item.as_table().and_then(|t| t.get("label")).map(|n| &n.value) {
        Some(Value::String(label)) if !label.is_empty() => format!("stage `{label}`"),
        _ => format!("stage {position}"),
    }
}

/// Every label in the file, to tell "comes later" from "does not exist".
fn all_labels(items: &[Node]) -> Vec<(String, Place)> {
    let mut labels = Vec::new();
    for table in items.iter().filter_map(Node::as_table) {
        if let Some(Node { value: Value::String(label), place }) = table.get("label") {
            labels.push((label.clone(), *place));
        }
        for inner in ["sample", "round", "judge"] {
            if let Some(Node { value: Value::Array(items), .. }) = table.get(inner) {
                labels.extend(all_labels(items));
            }
        }
    }
    labels
}

/// What is collected while the stages of a round are read.
#[derive(Default)]
pub(super) struct Round {
    /// Labels in `feedback`, with the position of their stage in the round: they may name later stages of the round, which are those
    /// of the round before.
    pub(super) feedback: Vec<(usize, At<String>)>,
    /// The position of the stage that is being read.
    pub(super) index: usize,
}

pub(super) struct Stages<'a> {
    models: &'a [String],
    catalogue: &'a dyn Catalogue,
    later: Vec<(String, Place)>,
    pub(super) known: Vec<Known>,
    /// Set while a round's stages are read.
    pub(super) round: Option<Round>,
    /// Stages so far whose samples may be those of several models, and these.
    mixed: Vec<(String, RoleModels)>,
    pub(super) read: StagesRead,
}

impl Stages<'_> {
    /// One entry of `[[stage]]` or `[[stage.round]]`. `position` counts from 1.
    pub(super) fn item(&mut self, position: &str, item: &Node, out: &mut Vec<Diagnostic>) -> Option<Stage> {
        match &item.value {
            Value::Table(table) => {
                self.stage(position, Reader::new(table, item.place, stage_name(position, item)), out)
            }
            _ => {
                let message = format!("a stage must be a table, not {}", item.kind());
                out.push(error_at("pipeline.type", message, item.place));
                None
            }
        }
    }

    fn stage(&mut self, position: &str, mut reader: Reader<'_>, out: &mut Vec<Diagnostic>) -> Option<Stage> {
        let had = reader.node("do").is_some();
        let Some(word) = reader.string("do", out) else {
            if !had {
                reader.missing("do", "\"translate\"", out);
            }
            return None;
        };
        let Some(kind) = StageKind::ALL.into_iter().find(|k| k.name() == word.value) else {
            let names = StageKind::ALL.map(StageKind::name);
            let message = format!("there is no stage kind `{}`", word.value);
            let near = help_for(&word.value, &names, "stage kinds");
            let list = format!("stage kinds are {}", names.map(|n| format!("`{n}`")).join(", "));
            let diagnostic = with_help(error_at("pipeline.unknown-stage", message, word.place), near.clone());
            let listed = near.is_some_and(|n| n.starts_with("stage kinds"));
            out.push(if listed { diagnostic } else { diagnostic.help(list) });
            return None;
        };
        if self.round.is_some() && matches!(kind, StageKind::Refine | StageKind::Budget | StageKind::FanOut) {
            out.push(super::rounds::not_in_a_round(kind, word.place));
            return None;
        }
        let label = self.label(&mut reader, kind, position, out);
        let (stage, metrics) = match kind {
            StageKind::Translate => self.translate(&mut reader, &label.value, out),
            StageKind::Verify => self.verify(&mut reader, &label.value, out),
            StageKind::Select => (self.select(&mut reader, &label.value, out), Vec::new()),
            StageKind::Plan => self.plan(&mut reader, &label.value, out),
            StageKind::Refine => (self.refine(position, &mut reader, &label, out), Vec::new()),
            StageKind::Budget => (self.budget(position, &mut reader, &label, out), Vec::new()),
            StageKind::FanOut => (super::rounds::fan_out(&mut reader, &label.value, out), Vec::new()),
        };
        reader.finish("pipeline.unknown-stage-key", out);
        let unknown = stage.plugin().is_some_and(|(id, _)| self.catalogue.info(id).is_err());
        self.know(Known { label: label.value, place: label.place, kind, metrics, unknown });
        Some(stage)
    }

    /// A refine or budget stage is known before the stages inside of it, which stand behind its label in the file.
    fn know(&mut self, known: Known) {
        if !self.known.iter().any(|k| k.label == known.label && k.place == known.place) {
            self.known.push(known);
        }
    }

    /// Makes the label of a refine or budget stage known, so that a stage inside of it cannot have it as well.
    pub(super) fn know_refine(&mut self, label: &At<String>, kind: StageKind) {
        let metrics = Vec::new();
        self.know(Known { label: label.value.clone(), place: label.place, kind, metrics, unknown: false });
    }

    fn label(
        &self,
        reader: &mut Reader<'_>,
        kind: StageKind,
        position: &str,
        out: &mut Vec<Diagnostic>,
    ) -> At<String> {
        let had = reader.node("label").is_some();
        let Some(label) = reader.string("label", out) else {
            if !had && kind != StageKind::Select {
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

    fn translate(
        &mut self,
        reader: &mut Reader<'_>,
        label: &str,
        out: &mut Vec<Diagnostic>,
    ) -> (Stage, Vec<String>) {
        let (plugin, info) = plugins::plugin(reader, PluginKind::Translator, self.catalogue, out);
        let stage = TranslateStage {
            label: label.to_owned(),
            plugin,
            n: small(reader.integer("n", 1..=1000, out), 1),
            roles: self.roles(reader, info.as_ref(), out),
            options: plugins::options(reader, info.as_ref(), self.catalogue, out),
            fixes: reader
                .word("fixes", &[("none", FixPolicy::None), ("safe", FixPolicy::Safe)], out)
                .unwrap_or_default(),
            feedback: self.feedback(reader, out),
            only_without: reader.word(
                "only_without",
                &[("domain", Artefact::Domain), ("problem", Artefact::Problem)],
                out,
            ),
        };
        self.writes(label, &stage.roles);
        (Stage::Translate(stage), Vec::new())
    }

    fn verify(
        &mut self,
        reader: &mut Reader<'_>,
        label: &str,
        out: &mut Vec<Diagnostic>,
    ) -> (Stage, Vec<String>) {
        let (plugin, info) = plugins::plugin(reader, PluginKind::Verifier, self.catalogue, out);
        let place = reader.node("use").map_or(reader.place, |node| node.place);
        let stage = VerifyStage {
            label: label.to_owned(),
            plugin,
            roles: self.roles(reader, info.as_ref(), out),
            options: plugins::options(reader, info.as_ref(), self.catalogue, out),
            feedback: self.feedback(reader, out),
            measure: reader.boolean("measure", out).unwrap_or(false),
        };
        if let Some(info) = &info
            && info.needs_environment(&stage.options)
        {
            self.read.need_environment.push((info.id.clone(), place));
        }
        unheard(reader, info.as_ref(), &stage.feedback, out);
        let metrics = info.map(|info| info.metrics.into_iter().map(|m| m.name).collect()).unwrap_or_default();
        (Stage::Verify(stage), metrics)
    }

    fn plan(
        &mut self,
        reader: &mut Reader<'_>,
        label: &str,
        out: &mut Vec<Diagnostic>,
    ) -> (Stage, Vec<String>) {
        let (plugin, info) = plugins::plugin(reader, PluginKind::Planner, self.catalogue, out);
        let stage = PlanStage {
            label: label.to_owned(),
            plugin,
            roles: self.roles(reader, info.as_ref(), out),
            options: plugins::options(reader, info.as_ref(), self.catalogue, out),
            limits: plan_limits(reader, out),
            plan_rejected: reader.boolean("plan_rejected", out).unwrap_or(false),
            n: small(reader.integer("n", 1..=1000, out), 1),
            feedback: self.feedback(reader, out),
        };
        unheard(reader, info.as_ref(), &stage.feedback, out);
        self.writes(label, &stage.roles);
        (Stage::Plan(stage), PLAN_METRICS.map(str::to_owned).to_vec())
    }

    fn roles(
        &mut self,
        reader: &mut Reader<'_>,
        info: Option<&PluginInfo>,
        out: &mut Vec<Diagnostic>,
    ) -> BTreeMap<String, RoleModels> {
        super::roles::roles(reader, info, self.models, &mut self.read.models_used, out)
    }

    fn writes(&mut self, label: &str, roles: &BTreeMap<String, RoleModels>) {
        let several = roles.values().find(|models| models.has_several());
        self.mixed.extend(several.map(|models| (label.to_owned(), models.clone())));
    }

    /// Likelihoods that different models give are on different scales.
    fn likelihoods(&self, by: &At<String>, out: &mut Vec<Diagnostic>) {
        let Some((label, models)) = self.mixed.first() else { return };
        let when = if models.is_mixed() { "are" } else { "may be, where one fails," };
        let message = format!(
            "samples of `{label}` {when} those of several models ({models}), whose likelihoods are not comparable"
        );
        let warning = Diagnostic::warning("pipeline.mixed-likelihood", message);
        let help = "give the role to one model, or compare by a metric of a verifier";
        out.push(warning.at(by.place.source, by.place.span, "").help(help));
    }

    fn select(&mut self, reader: &mut Reader<'_>, label: &str, out: &mut Vec<Diagnostic>) -> Stage {
        let had = reader.node("by").is_some();
        let by = reader.string("by", out);
        match &by {
            Some(by) => self.metric(by, out),
            None if !had => reader.missing("by", "\"LABEL.METRIC\"", out),
            None => {}
        }
        let otherwise = self.otherwise(reader, by.as_ref(), out);
        let group_by = reader.string("group_by", out);
        if let Some(group) = &group_by {
            self.earlier(group, &[StageKind::Translate], "pipeline.group-by", out);
        }
        Stage::Select(SelectStage {
            label: label.to_owned(),
            by: by.map(|b| b.value).unwrap_or_default(),
            otherwise,
            keep: small(reader.integer("keep", 1..=1_000_000, out), 1),
            group_by: group_by.map(|g| g.value),
            order: reader
                .word("order", &[("highest", Order::Highest), ("lowest", Order::Lowest)], out)
                .unwrap_or_default(),
        })
    }

    /// Metrics for groups in which `by` has not every member's value; each is another one.
    fn otherwise(
        &self,
        reader: &mut Reader<'_>,
        by: Option<&At<String>>,
        out: &mut Vec<Diagnostic>,
    ) -> Vec<String> {
        let metrics = reader.string_or_strings("otherwise", out);
        let mut before: Vec<&At<String>> = by.into_iter().collect();
        for metric in &metrics {
            if let Some(first) = before.iter().find(|one| one.value == metric.value) {
                let message = format!("`{}` was to be compared by before", metric.value);
                out.push(
                    error_at("pipeline.otherwise", message, metric.place)
                        .also(first.place.source, first.place.span, "it is here")
                        .help("name another metric, one that every candidate has a value of"),
                );
            } else {
                self.metric(metric, out);
            }
            before.push(metric);
        }
        metrics.iter().map(|metric| metric.value.clone()).collect()
    }

    /// `LABEL.NAME` of an earlier stage that has such a metric.
    pub(super) fn metric(&self, by: &At<String>, out: &mut Vec<Diagnostic>) {
        let Some((label, name)) = by.value.split_once('.') else {
            let message = format!("`{}` does not name a metric", by.value);
            out.push(
                error_at("pipeline.metric-form", message, by.place)
                    .help("write LABEL.NAME: the label of an earlier stage, a dot, and one of its metrics"),
            );
            return;
        };
        if label == CANDIDATE {
            self.likelihoods(by, out);
            return unknown_metric(label, name, &CANDIDATE_METRICS, by.place, out);
        }
        let Some(stage) = self.known.iter().find(|k| k.label == label) else {
            let wanted = At { value: label.to_owned(), place: by.place };
            return self.not_earlier(&wanted, &METRIC_KINDS, "pipeline.unknown-label", out);
        };
        let metrics: Vec<&str> = stage.metrics.iter().map(String::as_str).collect();
        // The metrics of a plugin that is not known itself were already reported with it.
        if !(metrics.is_empty() && stage.kind == StageKind::Verify && stage.unknown) {
            unknown_metric(label, name, &metrics, by.place, out);
        }
    }

    fn feedback(&mut self, reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) -> Vec<String> {
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
        for label in labels {
            let kinds = [StageKind::Verify, StageKind::Plan, StageKind::Translate];
            self.earlier(label, &kinds, "pipeline.unknown-label", out);
        }
    }

    /// Ends a round: what its stages say about one another can be checked now.
    pub(super) fn end_round(&mut self, out: &mut Vec<Diagnostic>) -> Round {
        let round = self.round.take().unwrap_or_default();
        self.check_feedback(round.feedback.iter().map(|(_, label)| label), out);
        round
    }

    /// The label of an earlier stage of one of those kinds.
    fn earlier(
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
            None => self.not_earlier(label, kinds, code, out),
        }
    }

    fn not_earlier(
        &self,
        label: &At<String>,
        kinds: &[StageKind],
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
        if kinds == METRIC_KINDS {
            names.push(CANDIDATE);
        }
        let kinds: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
        let message = format!("there is no stage with the label `{}`", label.value);
        let what = format!("earlier {} stages", kinds.join(" and "));
        out.push(with_help(error_at(code, message, label.place), help_for(&label.value, &names, &what)));
    }
}

/// A plugin without a role asks no model, and the official ones then have no use for words.
fn unheard(
    reader: &mut Reader<'_>,
    info: Option<&PluginInfo>,
    feedback: &[String],
    out: &mut Vec<Diagnostic>,
) {
    let Some(info) = info.filter(|info| info.roles.is_empty() && !feedback.is_empty()) else { return };
    let place = reader.node("feedback").map_or(reader.place, |node| node.place);
    let message = format!("`{}` asks no model, which could heed the feedback", info.id);
    let warning = Diagnostic::warning("pipeline.unheard", message).at(place.source, place.span, "");
    out.push(warning.help("name the feedback in a stage whose plugin asks a model, or take it out"));
}

fn unknown_metric(label: &str, name: &str, metrics: &[&str], place: Place, out: &mut Vec<Diagnostic>) {
    if !metrics.contains(&name) {
        let message = format!("`{label}` has no metric `{name}`");
        let help = help_for(name, metrics, &format!("metrics of `{label}`"));
        out.push(with_help(error_at("pipeline.unknown-metric", message, place), help));
    }
}

pub(super) fn small(value: Option<u64>, default: u32) -> u32 {
    value.and_then(|v| u32::try_from(v).ok()).unwrap_or(default)
}

fn bad_label(label: &str) -> Option<String> {
    if label.is_empty() {
        return Some("the label is empty".to_owned());
    }
    if label == CANDIDATE {
        return Some(format!("`{CANDIDATE}` is not a label: select stages call the candidate itself so"));
    }
    let good = label.len() <= 64
        && label.starts_with(|c: char| c.is_ascii_lowercase())
        && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-');
    (!good).then(|| format!("`{label}` is not a label"))
}

fn plan_limits(reader: &mut Reader<'_>, out: &mut Vec<Diagnostic>) -> PlanStageLimits {
    let Some((table, node)) = reader.table("limits", out) else { return PlanStageLimits::default() };
    let mut inner = Reader::new(table, node.place, format!("`limits` of {}", reader.what));
    let limits = PlanStageLimits {
        time_s: inner.number("time_s", 0.001..=1e6, out),
        memory_mb: inner.integer("memory_mb", 1..=16_777_216, out),
        nodes: inner.integer("nodes", 1..=i64::MAX, out),
    };
    inner.finish("pipeline.unknown-stage-key", out);
    limits
}
