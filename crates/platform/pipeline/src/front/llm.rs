//! `[llm.NAME]`: the host's keys and the provider's options in one table.

use super::catalogue::Catalogue;
use super::plugins;
use super::reader::{TableReader, error_at, json_object};
use super::stage_checker::ModelNeed;
use super::tree::{Node, SourcePlace, Table};
use crate::config::LlmTable;
use crate::suggest::nearest;
use planforge_contract::{JsonObject, PluginInfo, PluginKind, Price, RequestSetting};
use planforge_diagnostics::Diagnostic;
use planforge_llm::{HOST_KEYS, ModelSettings, split_table};
use serde_json::{Number, Value as Json, json};
use std::collections::BTreeMap;

const UNSUPPORTED: &str = "pipeline.unsupported-setting";

/// Reads one model's table.
pub(super) fn table(
    name: &str,
    table: &Table,
    node: &Node,
    header: SourcePlace,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> LlmTable {
    let mut reader = TableReader::new(table, header, format!("[llm.{name}]"));
    let (plugin, info) = plugins::plugin(&mut reader, PluginKind::Provider, catalogue, out);
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
        plugins::option_problems(&info, &options, node, catalogue, &mut found);
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
pub(super) fn check_logprobs(
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
pub(super) fn check_grammars(
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
pub(super) fn check_prices(
    needed: &[(SourcePlace, Vec<String>)],
    llm: &BTreeMap<String, LlmTable>,
    out: &mut Vec<Diagnostic>,
) {
    for (place, models) in needed {
        for model in models {
            let Some(table) = llm.get(model) else { continue };
            let price = price_of(table);
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

/// The prices in a model table.
pub(crate) fn price_of(table: &LlmTable) -> Price {
    let price = table.settings.get("price").cloned();
    price.and_then(|price| serde_json::from_value(price).ok()).unwrap_or_default()
}
