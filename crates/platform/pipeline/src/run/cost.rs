//! Cost of the use of models, as far as prices and counts are known. Unknown costs are counted and are never
//! 0.

use super::report::TaskUsage;
use planforge_contract::{Price, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// US dollars for some use of models.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// US dollars for all that is known: tokens that servers counted, of models whose prices are stated.
    pub known_usd: f64,
    /// Questions whose whole cost is in `known_usd`.
    pub priced: u64,
    /// Questions whose cost is not in it, or only in part: the model has no stated price, the server did not count all tokens, or
    /// the question ended without an answer, for which a server may charge or not.
    pub unpriced: u64,
}

impl Cost {
    /// The cost of one model's use. It is known in part if only the price of tokens of a cache is missing.
    pub fn of_model(usage: &TaskUsage, price: Option<&Price>) -> Self {
        let counted = Usage {
            prompt_tokens: Some(usage.prompt_tokens),
            completion_tokens: Some(usage.completion_tokens),
            ..usage.priced_tokens()
        };
        let known = |cost: Option<f64>| cost.filter(|cost| cost.is_finite());
        match known(price.and_then(|price| price.cost(&counted))) {
            Some(known_usd) => Self {
                known_usd,
                priced: usage.calls.saturating_sub(usage.unmetered),
                unpriced: usage.unmetered + usage.failed,
            },
            None => Self {
                known_usd: known(price.and_then(|price| price.known_cost(&counted))).unwrap_or(0.0),
                priced: 0,
                unpriced: usage.calls + usage.failed,
            },
        }
    }

    /// The cost of a task's use of all models. `prices` by `[llm.NAME]` table, as [`super::RunReport::prices`] has them.
    pub fn of(usage: &BTreeMap<String, TaskUsage>, prices: &BTreeMap<String, Price>) -> Self {
        let mut sum = Self::default();
        for (name, usage) in usage {
            sum.add(&Self::of_model(usage, prices.get(name)));
        }
        sum
    }

    /// Adds another.
    pub fn add(&mut self, other: &Self) {
        self.known_usd += other.known_usd;
        self.priced += other.priced;
        self.unpriced += other.unpriced;
    }

    /// US dollars for all of it; absent if a part is unknown. Without requests it is 0.
    pub fn usd(&self) -> Option<f64> {
        (self.unpriced == 0).then_some(self.known_usd)
    }

    /// For a table: `$0.012` where all of it is known, `>= $0.012` where a part is, `?` where nothing is.
    pub fn text(&self) -> String {
        match (self.unpriced, self.priced) {
            (0, _) => dollars(self.known_usd),
            (_, 0) if self.known_usd <= 0.0 => "?".to_owned(),
            _ => format!(">= {}", dollars(self.known_usd)),
        }
    }
}

/// US dollars for a person: whole cents from one dollar on, two significant digits below, so that a small cost does not read as none.
pub fn dollars(usd: f64) -> String {
    match usd {
        0.0 => "$0".to_owned(),
        usd if usd >= 0.995 => format!("${usd:.2}"),
        usd => {
            let digits = (1.0 - usd.log10().floor()).clamp(2.0, 20.0) as usize;
            format!("${usd:.digits$}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(calls: u64, unmetered: u64, failed: u64) -> TaskUsage {
        TaskUsage {
            calls,
            unmetered,
            failed,
            prompt_tokens: 1_000_000,
            completion_tokens: 500_000,
            ..TaskUsage::default()
        }
    }

    #[test]
    fn an_unknown_cost_is_counted_and_never_free() {
        let price = Price { prompt: Some(2.0), completion: Some(8.0), ..Price::default() };
        let prices = BTreeMap::from([("main".to_owned(), price)]);
        let of = |entries: &[(&str, TaskUsage)]| {
            let usage = entries.iter().map(|(name, usage)| ((*name).to_owned(), *usage)).collect();
            Cost::of(&usage, &prices)
        };
        let known = of(&[("main", usage(3, 0, 0))]);
        assert_eq!((known.usd(), known.text().as_str()), (Some(6.0), "$6.00"));
        // A second model without a price, a count that is missing, and a question that ended without an answer.
        let mixed = of(&[("main", usage(3, 0, 0)), ("critic", usage(2, 0, 0))]);
        assert_eq!((mixed.usd(), mixed.priced, mixed.unpriced), (None, 3, 2));
        assert_eq!(mixed.text(), ">= $6.00");
        assert_eq!(of(&[("main", usage(3, 1, 1))]).unpriced, 2);
        assert_eq!(of(&[("critic", usage(2, 0, 1))]).text(), "?");
        // A stated price of nothing is free, half a price is none, and nothing asked costs nothing.
        let free = Price { prompt: Some(0.0), completion: Some(0.0), ..Price::default() };
        assert_eq!(Cost::of_model(&usage(1, 0, 0), Some(&free)).text(), "$0");
        let cached = TaskUsage { cached_tokens: 500_000, ..usage(1, 0, 0) };
        assert_eq!(Cost::of_model(&cached, Some(&price)).text(), ">= $5.00");
        assert_eq!(Cost::of_model(&cached, Some(&Price { cached: Some(0.5), ..price })).usd(), Some(5.25));
        let half = Price { prompt: Some(2.0), completion: None, ..Price::default() };
        assert_eq!(Cost::of_model(&usage(1, 0, 0), Some(&half)).usd(), None);
        assert_eq!(of(&[]).usd(), Some(0.0));
    }

    #[test]
    fn a_small_cost_does_not_read_as_none() {
        let shown = [0.0, 0.000_012, 0.003, 0.0123, 0.5, 0.999, 3.5, 120.0].map(dollars);
        assert_eq!(shown, ["$0", "$0.000012", "$0.0030", "$0.012", "$0.50", "$1.00", "$3.50", "$120.00"]);
    }
}
