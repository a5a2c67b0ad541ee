//! The prices of a model from the pipeline file of the run.

use planforge_contract::{Price, Usage};
use planforge_record::RunManifest;
use std::collections::BTreeMap;

/// Prices by `[llm.NAME]` table.
#[derive(Default)]
pub(crate) struct Prices(BTreeMap<String, Price>);

/// A price that is known.
#[derive(Clone, Copy)]
pub(crate) struct KnownPrices<'a>(&'a Price);

impl Prices {
    /// Reads the prices of a run: those of its file, and for other tables those from a list, which its manifest records.
    pub(crate) fn of_run(manifest: &RunManifest) -> Self {
        let Self(mut prices) = Self::of_file(&manifest.config.text, &manifest.all_overrides());
        let listed = manifest.settings.get(crate::PRICES).and_then(|listed| listed.as_object());
        for (name, entry) in listed.into_iter().flatten() {
            if let Some(price) =
                entry.get("price").and_then(|price| serde_json::from_value(price.clone()).ok())
            {
                prices.entry(name.clone()).or_insert(price);
            }
        }
        Self(prices)
    }

    /// Reads the `price` of each `[llm.NAME]` table of a pipeline file; overrides (`llm.NAME.price...=value`) win. What cannot be read is
    /// unknown: the run has accepted its file already.
    pub(crate) fn of_file(text: &str, overrides: &[String]) -> Self {
        let file = file_with(text, overrides);
        let Some(tables) = file.get("llm").and_then(toml::Value::as_table) else { return Self::default() };
        let price = |table: &toml::Value| table.get("price")?.clone().try_into::<Price>().ok();
        Self(tables.iter().filter_map(|(name, table)| Some((name.clone(), price(table)?))).collect())
    }

    /// The price of a table; in records that do not name it, of the only table there is.
    pub(crate) fn of(&self, llm: &str, role: &str) -> Option<KnownPrices<'_>> {
        let named = self.0.get(llm).or_else(|| self.0.get(role).filter(|_| llm.is_empty()));
        named.map(KnownPrices)
    }
}

/// The provider plugin of each `[llm.NAME]` table of a pipeline file with its overrides.
pub(crate) fn providers_of_file(text: &str, overrides: &[String]) -> BTreeMap<String, String> {
    let file = file_with(text, overrides);
    let tables = file.get("llm").and_then(toml::Value::as_table).into_iter().flatten();
    tables.filter_map(|(name, table)| Some((name.clone(), table.get("use")?.as_str()?.to_owned()))).collect()
}

/// A pipeline file with the overrides of its `[llm.NAME]` tables.
fn file_with(text: &str, overrides: &[String]) -> toml::Table {
    let mut file: toml::Table = text.parse().unwrap_or_default();
    for line in overrides {
        let Some((key, value)) = line.split_once('=') else { continue };
        let mut keys = key.trim().split('.');
        if keys.next() != Some("llm") {
            continue;
        }
        let value = format!("value = {value}").parse::<toml::Table>().ok();
        let value = value.and_then(|mut table| table.remove("value"));
        let value = value.or_else(|| Some(toml::Value::from(line.split_once('=')?.1)));
        if let Some(value) = value {
            let path: Vec<&str> = keys.collect();
            set(&mut file, &path, value);
        }
    }
    file
}

fn set(file: &mut toml::Table, path: &[&str], value: toml::Value) {
    let Some((last, tables)) = path.split_last() else { return };
    let mut table = file;
    for name in ["llm"].iter().chain(tables) {
        let next = table.entry(*name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        let Some(next) = next.as_table_mut() else { return };
        table = next;
    }
    table.insert((*last).to_owned(), value);
}

impl KnownPrices<'_> {
    /// US dollars for one question; unknown where the server did not count, nothing where it was not answered and nothing was counted.
    pub(crate) fn cost(self, usage: &Usage, answered: bool) -> Option<f64> {
        match (usage.prompt_tokens, usage.completion_tokens) {
            (None, None) if !answered => Some(0.0),
            _ => self.0.cost(usage).filter(|_| usage.is_metered()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_price_of_the_manifest_is_used_where_the_file_states_none() {
        let text = "[llm.main]\nmodel = \"m\"\n[llm.own]\nprice = { prompt = 1.0, completion = 4.0 }\n";
        let listed = serde_json::json!({"price": {"prompt": 2.0, "completion": 2.0}, "date": "2026-11-23"});
        let manifest = RunManifest {
            config: planforge_record::ConfigText::new("p.toml", text),
            settings: BTreeMap::from([(
                crate::PRICES.to_owned(),
                serde_json::json!({"main": listed, "own": listed}),
            )]),
            ..RunManifest::default()
        };
        let prices = Prices::of_run(&manifest);
        let usage = Usage { prompt_tokens: Some(1_000_000), completion_tokens: Some(0), ..Usage::default() };
        let cost = |llm: &str| prices.of(llm, "").and_then(|price| price.cost(&usage, true));
        assert_eq!((cost("main"), cost("own")), (Some(2.0), Some(1.0)));
    }

    #[test]
    fn a_price_that_is_not_stated_is_unknown_and_overrides_win() {
        let text = "[llm.main]\nprice = { prompt = 1.0, completion = 4.0 }\n[llm.free]\nmodel = \"m\"\n";
        let usage =
            Usage { prompt_tokens: Some(1_000_000), completion_tokens: Some(500_000), ..Usage::default() };
        let cost = |prices: &Prices, llm: &str| prices.of(llm, "writer").and_then(|p| p.cost(&usage, true));
        let prices = Prices::of_file(text, &[]);
        assert_eq!((cost(&prices, "main"), cost(&prices, "free")), (Some(3.0), None));
        let prices = Prices::of_file(text, &["llm.free.price.prompt=2".into(), "seed=1".into()]);
        assert_eq!(cost(&prices, "free"), None, "half a price is none");
        let prices = Prices::of_file(text, &["llm.main.price={ prompt = 2.0, completion = 0.0 }".into()]);
        assert_eq!(cost(&prices, "main"), Some(2.0));
        let uncounted = Usage::default();
        assert_eq!(prices.of("main", "").unwrap().cost(&uncounted, true), None);
    }
}
