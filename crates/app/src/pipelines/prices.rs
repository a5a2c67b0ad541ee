//! Prices of model tables that state none: from `configs/prices.toml`, from the user's `prices.toml`, or as a run recorded them.

use crate::calendar::today;
use crate::context::Context;
use crate::error::Error;
use planforge_contract::{Failure, FailureClass, JsonObject, PluginInfo, Price};
use planforge_pddl::MAX_TEXT_BYTES;
use planforge_record::{RunManifest, read_regular_text};
use planforge_report::PRICES;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The list that comes with planforge.
const SHIPPED: &str = include_str!("../../../../configs/prices.toml");

/// Fields of a request that choose another tariff than the listed one.
const TARIFFS: [&str; 3] = ["service_tier", "speed", "inference_geo"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    #[serde(default)]
    price: Vec<ListedPrice>,
}

/// One entry of a list of prices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListedPrice {
    /// Id of the provider plugin.
    provider: String,
    /// Names of models; `*` at the end stands for any ending.
    models: Vec<String>,
    /// Address of the server; absent for the provider's own service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    price: Price,
    /// Day of the source, `2026-11-23`.
    date: String,
    /// Last day of the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    /// Page that states the price.
    source: String,
}

/// Source of the prices of model tables that state none.
pub(crate) struct Prices {
    origin: Origin,
    used: Mutex<BTreeMap<String, ListedPrice>>,
}

#[derive(Clone)]
enum Origin {
    /// The lists as they are today, for a new run.
    Lists { entries: Arc<[ListedPrice]>, today: String },
    /// The prices that a run recorded, by model table.
    Record(BTreeMap<String, ListedPrice>),
}

impl Prices {
    /// The lists, the user's first.
    pub(crate) fn listed(context: &Context) -> Result<Self, Error> {
        let user = context.user_file("prices.toml");
        let entries = read_lists(user.as_deref())?;
        Ok(Self::from(Origin::Lists { entries: entries.into(), today: today(&*context.machine) }))
    }

    /// The same prices, none of them used.
    pub(crate) fn unused(&self) -> Self {
        Self::from(self.origin.clone())
    }

    /// The prices of a recorded run, so that its costs never change.
    pub(crate) fn recorded(manifest: &RunManifest) -> Self {
        let stored = manifest.settings.get(PRICES).cloned().unwrap_or_default();
        Self::from(Origin::Record(serde_json::from_value(stored).unwrap_or_default()))
    }

    /// The price of a table without one, and its entry is noted as used.
    pub(crate) fn find(&self, name: &str, info: &PluginInfo, settings: &JsonObject) -> Option<Price> {
        let entry = match &self.origin {
            // A table whose model or address was changed since then has another price. The day is that of the run.
            Origin::Record(prices) => prices.get(name).filter(|entry| entry.is_for(info, settings, ""))?,
            Origin::Lists { entries, today } => {
                entries.iter().find(|entry| entry.is_for(info, settings, today))?
            }
        };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.insert(name.to_owned(), entry.clone());
        Some(entry.price)
    }

    /// The entries that were used, by model table.
    pub(crate) fn into_used(self) -> BTreeMap<String, ListedPrice> {
        self.used.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<Origin> for Prices {
    fn from(origin: Origin) -> Self {
        Self { origin, used: Mutex::default() }
    }
}

impl ListedPrice {
    /// The entry in one line.
    pub(crate) fn line(&self) -> String {
        let named = [
            ("prompt", self.price.prompt),
            ("cached", self.price.cached),
            ("cache write", self.price.cache_write),
            ("completion", self.price.completion),
            ("reasoning", self.price.reasoning),
        ];
        let prices = named.into_iter().filter_map(|(name, price)| Some(format!("{name} ${}", price?)));
        let prices = prices.collect::<Vec<_>>().join(", ");
        format!("{prices} for a million tokens, as of {} ({})", self.date, self.source)
    }

    fn is_for(&self, info: &PluginInfo, settings: &JsonObject, today: &str) -> bool {
        let text = |key: &str| settings.get(key).and_then(|value| value.as_str()).unwrap_or_default();
        let names = |pattern: &String| match pattern.strip_suffix('*') {
            Some(beginning) => text("model").starts_with(beginning),
            None => text("model") == pattern,
        };
        let address = |options: &JsonObject| {
            let url = info.option_value(options, "base_url");
            url.and_then(|url| Some(url.as_str()?.trim_end_matches('/').to_owned()))
        };
        let wanted = match &self.base_url {
            Some(url) => Some(url.trim_end_matches('/').to_owned()),
            None => address(&JsonObject::new()),
        };
        let extra = settings.get("extra_body").and_then(|extra| extra.as_object());
        self.provider == info.id
            && self.models.iter().any(names)
            && address(settings) == wanted
            && !extra.is_some_and(|extra| TARIFFS.iter().any(|field| extra.contains_key(*field)))
            && self.until.as_deref().is_none_or(|last| today <= last)
    }
}

/// The user's list, if there is one, and the shipped one.
fn read_lists(user: Option<&Path>) -> Result<Vec<ListedPrice>, Failure> {
    let mut entries = Vec::new();
    if let Some(path) = user {
        let shown = path.display().to_string();
        match read_regular_text(path, MAX_TEXT_BYTES as u64) {
            Ok(text) => entries.extend(read_list(&text, &shown)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(wrong(&shown, &error.to_string())),
        }
    }
    entries.extend(read_list(SHIPPED, "configs/prices.toml")?);
    Ok(entries)
}

fn read_list(text: &str, name: &str) -> Result<Vec<ListedPrice>, Failure> {
    let file: PriceFile = toml::from_str(text).map_err(|error| wrong(name, &error.to_string()))?;
    for entry in &file.price {
        let model = entry.models.first().map(String::as_str).unwrap_or_default();
        if !entry.price.is_valid() {
            return Err(wrong(name, &format!("the price of `{model}` is not a number from 0 up")));
        }
        let is_day = |day: &str| day.parse::<jiff::civil::Date>().is_ok() && day.len() == 10;
        if let Some(day) =
            [Some(&entry.date), entry.until.as_ref()].into_iter().flatten().find(|d| !is_day(d))
        {
            return Err(wrong(
                name,
                &format!("`{day}` is not a day such as 2026-11-23 (price of `{model}`)"),
            ));
        }
    }
    Ok(file.price)
}

fn wrong(name: &str, message: &str) -> Failure {
    Failure::new(FailureClass::Request, "cli.prices", format!("{name}: {}", message.trim_end()))
        .help("`planforge explain cli.prices` shows the form of a list of prices")
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_plugin_host::{Registry, RegistrySettings};
    use serde_json::json;

    fn info(id: &str) -> PluginInfo {
        let registry = Registry::new(crate::bundled::BUNDLED, &[], RegistrySettings::default());
        PluginInfo::clone(&registry.info(id).unwrap())
    }

    fn settings(value: serde_json::Value) -> JsonObject {
        value.as_object().unwrap().clone()
    }

    fn lists(text: &str, today: &str) -> Prices {
        let entries = read_list(text, "test").unwrap().into();
        Prices::from(Origin::Lists { entries, today: today.to_owned() })
    }

    #[test]
    fn every_shipped_price_has_a_day_and_a_page_and_its_provider_exists() {
        let entries = read_lists(None).unwrap();
        assert!(entries.len() > 10);
        for entry in entries {
            assert!(entry.source.starts_with("https://"), "{entry:?}");
            assert_eq!(info(&entry.provider).id, entry.provider);
            assert!(entry.price.prompt.is_some() && entry.price.completion.is_some(), "{entry:?}");
            assert!(!entry.models.is_empty());
        }
    }

    const LIST: &str = r#"
        [[price]]
        provider = "provider-openai"
        models = ["big", "big-20*"]
        price = { prompt = 1.0, completion = 2.0 }
        date = "2026-01-01"
        until = "2026-12-31"
        source = "https://example.org"

        [[price]]
        provider = "provider-openai"
        models = ["*"]
        base_url = "https://gateway.example.org/v1/"
        price = { prompt = 3.0, completion = 4.0 }
        date = "2026-01-01"
        source = "our contract"
    "#;

    #[test]
    fn a_listed_price_is_for_the_service_itself_its_models_and_its_days() {
        let openai = info("provider-openai");
        let price = |table: serde_json::Value, today: &str| {
            lists(LIST, today).find("main", &openai, &settings(table)).and_then(|price| price.prompt)
        };
        let day = "2026-11-23";
        assert_eq!(price(json!({"model": "big"}), day), Some(1.0));
        assert_eq!(price(json!({"model": "big-2026-01-01"}), day), Some(1.0));
        assert_eq!(price(json!({"model": "big-pro"}), day), None);
        assert_eq!(price(json!({"model": "big", "base_url": "https://api.openai.com/v1/"}), day), Some(1.0));
        assert_eq!(price(json!({"model": "big", "base_url": "http://127.0.0.1:8081/v1"}), day), None);
        assert_eq!(
            price(json!({"model": "x", "base_url": "https://gateway.example.org/v1"}), day),
            Some(3.0)
        );
        assert_eq!(price(json!({"model": "big", "extra_body": {"service_tier": "priority"}}), day), None);
        assert_eq!(price(json!({"model": "big"}), "2026-12-31"), Some(1.0));
        assert_eq!(price(json!({"model": "big"}), "2027-01-01"), None, "a price that has ended is unknown");
        assert_eq!(
            lists(LIST, day).find("main", &info("provider-batch"), &settings(json!({"model": "big"}))),
            None
        );
    }

    #[test]
    fn a_recorded_run_keeps_the_price_that_it_was_made_with() {
        let openai = info("provider-openai");
        let table = settings(json!({"model": "big"}));
        let new = lists(LIST, "2026-11-23");
        new.find("main", &openai, &table).unwrap();
        let mut manifest = RunManifest::default();
        assert_eq!(
            Prices::recorded(&manifest).find("main", &openai, &table),
            None,
            "a run of before has none"
        );
        manifest.settings.insert(PRICES.to_owned(), json!(new.into_used()));
        let again = Prices::recorded(&manifest);
        assert_eq!(again.find("main", &openai, &table).unwrap().completion, Some(2.0));
        assert_eq!(again.find("critic", &openai, &table), None);
        assert_eq!(again.find("main", &openai, &settings(json!({"model": "other"}))), None);
    }

    #[test]
    fn a_wrong_list_names_its_file_and_the_mistake() {
        for (text, named) in [
            ("[[price]]\nprovider = \"p\"\n", "missing field"),
            (&LIST.replace("1.0", "-1.0"), "price of `big`"),
            (&LIST.replace("2026-12-31", "soon"), "`soon` is not a day"),
            (&LIST.replace("source", "url"), "unknown field"),
        ] {
            let failure = read_list(text, "mine.toml").unwrap_err();
            assert_eq!(failure.code, "cli.prices");
            assert!(failure.message.contains("mine.toml") && failure.message.contains(named), "{failure:?}");
        }
    }
}
