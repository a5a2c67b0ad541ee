//! The spending of a budget stage, and the check that it can pay for another pull.
//!
//! A pull is started if, for everything that is limited, the spending so far and the cost of the dearest pull
//! of its kind fit into the budget. A kind that was never pulled is assumed to cost as much as the other; the
//! very first pull is started if the budget is not spent. So at most one pull (for each concurrent one) ends
//! beyond the budget, and only if it was dearer than expected.

use super::bandit::{Kind, Offer};
use super::config::BudgetLimits;
use crate::run::report::TaskUsage;
use planforge_contract::Price;
use planforge_record::BudgetCost;
use std::collections::BTreeMap;

/// The account of one budget stage and task.
#[derive(Debug)]
pub(super) struct Account {
    limits: BudgetLimits,
    prices: BTreeMap<String, Price>,
    pub(super) spent: BudgetCost,
    sample: PullCosts,
    refine: PullCosts,
}

/// Costs of the pulls of one kind.
#[derive(Debug, Default)]
struct PullCosts {
    pulls: u32,
    /// The most of each, over all pulls.
    dearest: BudgetCost,
    /// Sum over pulls of the share of the budget.
    shares: f64,
}

impl Account {
    /// An account without spending. `prices` has every model that may be asked, by model table.
    pub(super) fn new(limits: BudgetLimits, prices: BTreeMap<String, Price>) -> Self {
        let mut account = Self {
            limits,
            prices,
            spent: BudgetCost::default(),
            sample: PullCosts::default(),
            refine: PullCosts::default(),
        };
        account.spent = account.cost(&BTreeMap::new(), 0.0);
        account
    }

    /// True if time is limited, and so measured.
    pub(super) const fn is_timed(&self) -> bool {
        self.limits.seconds.is_some()
    }

    /// Cost of a use of models and time.
    pub(super) fn cost(&self, usage: &BTreeMap<String, TaskUsage>, seconds: f64) -> BudgetCost {
        let priced = |(name, price): (&String, &Price)| {
            let used = usage.get(name).copied().unwrap_or_default();
            price.for_caps().cost(&used.priced_tokens())
        };
        let sum = |of: fn(&TaskUsage) -> u64| usage.values().map(of).sum::<u64>();
        BudgetCost {
            calls: sum(|u| u.calls + u.failed),
            tokens: sum(|u| u.tokens().0 + u.tokens().1),
            estimated_tokens: sum(|u| u.estimated_prompt_tokens + u.estimated_completion_tokens),
            money: self.prices.iter().map(priced).sum::<Option<f64>>(),
            seconds: self.is_timed().then_some(seconds),
        }
    }

    /// Charges a cost. `kind` is that of the pull; judging the entered candidates has none.
    pub(super) fn charge(&mut self, kind: Option<Kind>, cost: &BudgetCost) {
        self.spent = plus(&self.spent, cost);
        let share = self.shares(cost).fold(0.0, f64::max);
        let Some(seen) = kind.map(|kind| self.seen_mut(kind)) else { return };
        seen.pulls += 1;
        seen.shares += share;
        seen.dearest = dearest(&seen.dearest, cost);
    }

    /// True if a pull used nothing that is limited.
    pub(super) fn is_free(&self, cost: &BudgetCost) -> bool {
        self.shares(cost).all(|share| share <= 0.0)
    }

    /// The pulls that a policy may choose while those of `begun` are running.
    pub(super) fn offer(&self, begun: &[Kind]) -> Offer {
        let reserved =
            begun.iter().fold(BudgetCost::default(), |sum, kind| plus(&sum, self.expected_cost(*kind)));
        let mean = |seen: &PullCosts| (seen.pulls > 0).then(|| seen.shares / f64::from(seen.pulls));
        Offer {
            sample: self.pays(Kind::Sample, &reserved),
            refine: self.pays(Kind::Refine, &reserved),
            sample_cost: mean(&self.sample),
            refine_cost: mean(&self.refine),
        }
    }

    /// The most that a pull of the kind is expected to cost: nothing is known before the first.
    const fn expected_cost(&self, kind: Kind) -> &BudgetCost {
        let (own, other) = match kind {
            Kind::Sample => (&self.sample, &self.refine),
            Kind::Refine => (&self.refine, &self.sample),
        };
        if own.pulls > 0 { &own.dearest } else { &other.dearest }
    }

    fn pays(&self, kind: Kind, reserved: &BudgetCost) -> bool {
        let before = plus(&self.spent, reserved);
        // A hair of tolerance: sums of prices are not exact.
        let fits = |share: f64| share <= 1.0 + 1e-9;
        self.shares(&before).all(|share| share < 1.0)
            && self.shares(&plus(&before, self.expected_cost(kind))).all(fits)
    }

    /// A cost as shares of what is limited.
    fn shares(&self, cost: &BudgetCost) -> impl Iterator<Item = f64> {
        let limits = &self.limits;
        let share = |used: f64, limit: Option<f64>| limit.map(|limit| used / limit);
        [
            share(cost.calls as f64, limits.calls.map(|most| most as f64)),
            share(cost.tokens as f64, limits.tokens.map(|most| most as f64)),
            share(cost.seconds.unwrap_or(0.0), limits.seconds),
            // The checker asks for the price of every model where money is limited.
            share(cost.money.unwrap_or(0.0), limits.money),
        ]
        .into_iter()
        .flatten()
    }

    const fn seen_mut(&mut self, kind: Kind) -> &mut PullCosts {
        match kind {
            Kind::Sample => &mut self.sample,
            Kind::Refine => &mut self.refine,
        }
    }
}

/// Joins two values; a missing one was not counted.
fn both(a: Option<f64>, b: Option<f64>, join: fn(f64, f64) -> f64) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(join(a, b)),
        (a, b) => a.or(b),
    }
}

fn plus(a: &BudgetCost, b: &BudgetCost) -> BudgetCost {
    BudgetCost {
        calls: a.calls + b.calls,
        tokens: a.tokens + b.tokens,
        estimated_tokens: a.estimated_tokens + b.estimated_tokens,
        money: both(a.money, b.money, |a, b| a + b),
        seconds: both(a.seconds, b.seconds, |a, b| a + b),
    }
}

fn dearest(a: &BudgetCost, b: &BudgetCost) -> BudgetCost {
    BudgetCost {
        calls: a.calls.max(b.calls),
        tokens: a.tokens.max(b.tokens),
        estimated_tokens: a.estimated_tokens.max(b.estimated_tokens),
        money: both(a.money, b.money, f64::max),
        seconds: both(a.seconds, b.seconds, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(calls: u64, tokens: u64) -> BTreeMap<String, TaskUsage> {
        let usage = TaskUsage { calls, prompt_tokens: tokens, ..TaskUsage::default() };
        BTreeMap::from([("main".to_owned(), usage)])
    }

    fn account(limits: BudgetLimits) -> Account {
        let price = Price { prompt: Some(1.0), completion: Some(2.0), ..Price::default() };
        Account::new(limits, BTreeMap::from([("main".to_owned(), price)]))
    }

    #[test]
    fn a_pull_is_started_where_the_dearest_of_its_kind_fits() {
        let mut account = account(BudgetLimits { tokens: Some(1000), ..BudgetLimits::default() });
        let offer = |account: &Account, begun: &[Kind]| {
            let offer = account.offer(begun);
            (offer.sample, offer.refine)
        };
        assert_eq!(offer(&account, &[]), (true, true));
        let mut spend = |kind, tokens| {
            let cost = account.cost(&usage(1, tokens), 0.0);
            account.charge(Some(kind), &cost);
            offer(&account, &[])
        };
        assert_eq!(spend(Kind::Sample, 300), (true, true));
        assert_eq!(spend(Kind::Sample, 100), (true, true));
        // 300 are spent of the remaining 600 if the next costs as much as the dearest.
        assert_eq!(spend(Kind::Refine, 350), (false, false));
        assert_eq!(account.spent.tokens, 750);
        let offered = account.offer(&[]);
        assert_eq!((offered.sample_cost, offered.refine_cost), (Some(0.2), Some(0.35)));
    }

    #[test]
    fn pulls_side_by_side_are_paid_for_together() {
        let mut account = account(BudgetLimits { calls: Some(5), ..BudgetLimits::default() });
        let cost = account.cost(&usage(2, 10), 0.0);
        account.charge(Some(Kind::Sample), &cost);
        assert!(account.offer(&[]).sample);
        assert!(!account.offer(&[Kind::Sample]).sample);
        // A kind that was never pulled is taken to cost what the other does.
        assert!(account.offer(&[]).refine && !account.offer(&[Kind::Sample]).refine);
    }

    #[test]
    fn money_is_unknown_where_a_price_is() {
        let limits = BudgetLimits { calls: Some(5), ..BudgetLimits::default() };
        let priced = account(limits).cost(&usage(1, 500_000), 2.0);
        assert_eq!((priced.money, priced.seconds), (Some(0.5), None));
        let prices = BTreeMap::from([("main".to_owned(), Price::default())]);
        let account = Account::new(limits, prices);
        assert_eq!(account.cost(&usage(1, 500_000), 0.0).money, None);
        assert_eq!(account.spent.money, None);
    }

    #[test]
    fn time_and_what_is_free() {
        let limits = BudgetLimits { seconds: Some(10.0), ..BudgetLimits::default() };
        let mut account = account(limits);
        let cost = account.cost(&usage(3, 500), 6.0);
        account.charge(Some(Kind::Sample), &cost);
        assert!(!account.is_free(&cost) && !account.offer(&[]).sample);
        let free = account.cost(&usage(1, 5), 0.0);
        assert!(account.is_free(&free), "questions are not limited");
    }
}
