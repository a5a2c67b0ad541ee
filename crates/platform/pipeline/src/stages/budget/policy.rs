//! Chooses the arm that a budget stage pulls next, and accounts for what is spent. An arm is "a new sample" or a candidate that can be
//! refined; each candidate that a pull brings is an arm of its own, so the number of arms grows. docs/reference/budget.md has the formulae
//! and where they come from.
//!
//! Pure: a choice depends on recorded results and on the random numbers handed in.
//!
//! A pull is started if, for everything that is limited, the spending so far and the cost of the dearest pull
//! of its kind fit into the budget. A kind that was never pulled is assumed to cost as much as the other; the
//! very first pull is started if the budget is not spent. So at most one pull (for each concurrent one) ends
//! beyond the budget, and only if it was dearer than expected.

use super::BudgetPolicy;
use crate::report::{BudgetLimits, TaskUsage};
use planforge_contract::Price;
use planforge_pddl::random::Random;
use planforge_record::BudgetCost;
use std::collections::{BTreeMap, VecDeque};

/// Weight of a candidate's value in Thompson sampling, as a number of observations, before its first pull.
const PRIOR_WEIGHT: f64 = 10.0;
/// Assumed value of a new sample before there was one, and of a branch before anything in it has a value.
pub(super) const UNKNOWN_VALUE: f64 = 0.5;

/// An arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arm {
    /// A new candidate is sampled.
    New,
    /// The arm with that number, in the order in which they came, is refined once: a candidate or a branch.
    Candidate(usize),
}

/// The two kinds of pulls, which cost differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sample,
    Refine,
}

impl Arm {
    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::New => Kind::Sample,
            Self::Candidate(_) => Kind::Refine,
        }
    }
}

/// Allowed kinds of pulls and their costs at the time of a choice.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offer {
    /// True if the budget pays for a pull of the kind.
    pub(super) sample: bool,
    pub(super) refine: bool,
    /// Mean cost of the kind's pulls so far, as a share of the budget; absent where there was none.
    pub(super) sample_cost: Option<f64>,
    pub(super) refine_cost: Option<f64>,
}

/// State of one arm.
#[derive(Debug, Clone, Copy)]
struct State {
    /// The candidate's value, 0 to 1.
    value: f64,
    pulls: u32,
    rewards: f64,
    open: bool,
}

impl State {
    const fn new(value: f64, open: bool) -> Self {
        Self { value, pulls: 0, rewards: 0.0, open }
    }
}

/// The arms and the rewards of their pulls.
#[derive(Debug)]
pub(super) struct Bandit {
    policy: BudgetPolicy,
    new: State,
    /// Values of new candidates so far.
    sampled: Vec<f64>,
    candidates: Vec<State>,
    /// The order of turns, for the uniform policy.
    turns: VecDeque<Arm>,
    pulls: u32,
}

impl Bandit {
    /// `samples`: whether new candidates can be sampled at all.
    pub(super) fn new(policy: BudgetPolicy, samples: bool) -> Self {
        let turns = samples.then_some(Arm::New).into_iter().collect();
        let new = State::new(UNKNOWN_VALUE, samples);
        Self { policy, new, sampled: Vec::new(), candidates: Vec::new(), turns, pulls: 0 }
    }

    /// A further candidate, of value 0 to 1. `open`: whether it can be refined.
    pub(super) fn add(&mut self, value: f64, open: bool) {
        if open {
            self.turns.push_back(Arm::Candidate(self.candidates.len()));
        }
        self.candidates.push(State::new(value, open));
    }

    /// Changes the value of a candidate's arm.
    pub(super) fn revalue(&mut self, arm: usize, value: f64) {
        if let Some(state) = self.candidates.get_mut(arm) {
            state.value = value;
        }
    }

    /// Records the reward of a finished pull. For a new sample, `value` is that of the candidate.
    pub(super) fn learn(&mut self, arm: Arm, reward: f64, value: Option<f64>) {
        if arm == Arm::New {
            // A sample that came to nothing is worth nothing.
            self.sampled.push(value.unwrap_or(0.0));
            self.new.value = self.sampled.iter().sum::<f64>() / self.sampled.len() as f64;
        }
        if let Some(state) = self.state_mut(arm) {
            state.rewards += reward;
        }
    }

    /// The arm is not pulled again.
    pub(super) fn close(&mut self, arm: Arm) {
        if let Some(state) = self.state_mut(arm) {
            state.open = false;
        }
        self.turns.retain(|turn| *turn != arm);
    }

    /// True if something could be pulled with enough budget.
    pub(super) fn has_open_arm(&self) -> bool {
        self.new.open || self.candidates.iter().any(|state| state.open)
    }

    /// The next arm; it counts as pulled from now on, without a reward until [`Bandit::learn`] brings one, so that pulls made side
    /// by side spread.
    pub(super) fn choose(&mut self, offer: &Offer, random: &mut Random) -> Option<Arm> {
        let arms: Vec<Arm> = self.arms(offer);
        let arm = match self.policy {
            BudgetPolicy::Thompson => self.thompson(&arms, offer, random),
            BudgetPolicy::Ucb => self.ucb(&arms),
            BudgetPolicy::Uniform => self.turns.iter().copied().find(|arm| arms.contains(arm)),
        }?;
        self.pulls += 1;
        if let Some(state) = self.state_mut(arm) {
            state.pulls += 1;
        }
        if let Some(turn) = self.turns.iter().position(|turn| *turn == arm) {
            self.turns.remove(turn);
            self.turns.push_back(arm);
        }
        Some(arm)
    }

    fn arms(&self, offer: &Offer) -> Vec<Arm> {
        let new = (offer.sample && self.new.open).then_some(Arm::New);
        let open = self.candidates.iter().enumerate().filter(|(_, state)| offer.refine && state.open);
        new.into_iter().chain(open.map(|(index, _)| Arm::Candidate(index))).collect()
    }

    fn state(&self, arm: Arm) -> Option<&State> {
        match arm {
            Arm::New => Some(&self.new),
            Arm::Candidate(index) => self.candidates.get(index),
        }
    }

    fn state_mut(&mut self, arm: Arm) -> Option<&mut State> {
        match arm {
            Arm::New => Some(&mut self.new),
            Arm::Candidate(index) => self.candidates.get_mut(index),
        }
    }

    /// The highest draw per cost. A draw is from Beta(1 + w v + s, 1 + w (1 - v) + n - s): v the value, n the pulls, s their
    /// rewards, w the weight of the value.
    fn thompson(&self, arms: &[Arm], offer: &Offer, random: &mut Random) -> Option<Arm> {
        let (sample_cost, refine_cost) = costs(offer);
        let mut best: Option<(f64, Arm)> = None;
        for arm in arms {
            let Some(state) = self.state(*arm) else { continue };
            let won = state.rewards.min(f64::from(state.pulls));
            let lost = f64::from(state.pulls) - won;
            let chance = beta(
                1.0 + PRIOR_WEIGHT * state.value + won,
                1.0 + PRIOR_WEIGHT * (1.0 - state.value) + lost,
                random,
            );
            let index = chance / if arm.kind() == Kind::Sample { sample_cost } else { refine_cost };
            if best.is_none_or(|(highest, _)| index > highest) {
                best = Some((index, *arm));
            }
        }
        best.map(|(_, arm)| arm)
    }

    /// A new sample where fewer than the square root of the number of pulls were drawn; else the highest upper confidence bound,
    /// where a candidate's value counts as one observation.
    fn ucb(&self, arms: &[Arm]) -> Option<Arm> {
        let time = f64::from(self.pulls) + 1.0;
        let drawn = f64::from(self.new.pulls);
        let candidates = || arms.iter().filter(|arm| arm.kind() == Kind::Refine);
        if arms.contains(&Arm::New) && (drawn < time.sqrt() || candidates().next().is_none()) {
            return Some(Arm::New);
        }
        let mut best: Option<(f64, Arm)> = None;
        for arm in candidates() {
            let Some(state) = self.state(*arm) else { continue };
            let seen = 1.0 + f64::from(state.pulls);
            let bound = (state.value + state.rewards) / seen + (2.0 * time.ln() / seen).sqrt();
            if best.is_none_or(|(highest, _)| bound > highest) {
                best = Some((bound, *arm));
            }
        }
        best.map(|(_, arm)| arm)
    }
}

/// Relative costs of the kinds of pulls. A kind that was never pulled is assumed to cost as much as the
/// other; without any known cost both cost the same.
fn costs(offer: &Offer) -> (f64, f64) {
    let known = |cost: Option<f64>| cost.filter(|cost| *cost > 0.0);
    match (known(offer.sample_cost), known(offer.refine_cost)) {
        (Some(sample), Some(refine)) => (sample, refine),
        _ => (1.0, 1.0),
    }
}

/// A draw from a Beta distribution; both parameters are at least 1.
fn beta(a: f64, b: f64, random: &mut Random) -> f64 {
    let (x, y) = (gamma(a, random), gamma(b, random));
    if x + y > 0.0 { x / (x + y) } else { 0.5 }
}

/// A draw from a Gamma distribution with a shape of at least 1 (Marsaglia and Tsang 2000).
fn gamma(shape: f64, random: &mut Random) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(random);
        let v = (1.0 + c * x).powi(3);
        if v <= 0.0 {
            continue;
        }
        let u = 1.0 - random.unit();
        if u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return d * v;
        }
    }
}

/// A draw from the standard normal distribution (Box and Muller 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

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
mod bandit_tests {
    use super::*;

    const FREE: Offer = Offer { sample: true, refine: true, sample_cost: None, refine_cost: None };

    /// Pulls until a candidate is worth 1: a new one is worth `fresh` at most, and refining adds `step` with a chance.
    fn play(policy: BudgetPolicy, seed: u64, fresh: f64, step: f64) -> usize {
        let mut world = Random::new(seed ^ 0xABCD);
        let mut bandit = Bandit::new(policy, true);
        let mut values: Vec<f64> = Vec::new();
        for pull in 1..=400 {
            let arm = bandit.choose(&FREE, &mut Random::stream(seed, pull as u64)).unwrap();
            let value = match arm {
                Arm::New => world.unit() * fresh,
                Arm::Candidate(index) => {
                    (values[index] + if world.chance(0.5) { step } else { -step }).clamp(0.0, 1.0)
                }
            };
            let best = values.iter().copied().fold(0.0, f64::max);
            bandit.learn(arm, ((value - best) / (1.0 - best)).max(0.0), Some(value));
            if value >= 1.0 {
                return pull;
            }
            bandit.add(value, true);
            values.push(value);
        }
        400
    }

    fn mean(policy: BudgetPolicy, fresh: f64, step: f64) -> f64 {
        (0..60).map(|seed| play(policy, seed, fresh, step) as f64).sum::<f64>() / 60.0
    }

    /// If samples never reach the goal and refining climbs, a policy that uses values needs far fewer pulls.
    #[test]
    fn what_climbs_is_refined() {
        let uniform = mean(BudgetPolicy::Uniform, 0.5, 0.1);
        for policy in [BudgetPolicy::Thompson, BudgetPolicy::Ucb] {
            let pulls = mean(policy, 0.5, 0.1);
            assert!(pulls < 0.5 * uniform, "{}: {pulls} against {uniform}", policy.name());
        }
    }

    /// If refining never helps, a policy continues to sample: its share of samples does not tend to zero.
    #[test]
    fn where_refining_never_helps_samples_go_on() {
        for policy in [BudgetPolicy::Thompson, BudgetPolicy::Ucb, BudgetPolicy::Uniform] {
            let mut bandit = Bandit::new(policy, true);
            let mut samples = 0;
            for pull in 1..=200u64 {
                let arm = bandit.choose(&FREE, &mut Random::stream(3, pull)).unwrap();
                bandit.learn(arm, 0.0, Some(0.3));
                if arm == Arm::New {
                    samples += 1;
                    bandit.add(0.3, true);
                }
            }
            assert!(samples >= 14, "{}: {samples}", policy.name());
        }
    }

    #[test]
    fn the_uniform_policy_takes_turns_and_newcomers_queue_up() {
        let mut bandit = Bandit::new(BudgetPolicy::Uniform, true);
        let mut seen = Vec::new();
        for _ in 0..7 {
            let arm = bandit.choose(&FREE, &mut Random::new(0)).unwrap();
            seen.push(arm);
            bandit.learn(arm, 0.0, None);
            if arm == Arm::New {
                bandit.add(0.0, true);
            }
        }
        use Arm::{Candidate, New};
        assert_eq!(seen, [New, New, Candidate(0), New, Candidate(1), Candidate(0), New]);
        bandit.close(New);
        bandit.close(Candidate(1));
        let only_refining = Offer { sample: false, ..FREE };
        assert_eq!(bandit.choose(&only_refining, &mut Random::new(0)), Some(Candidate(2)));
        let nothing = Offer { sample: false, refine: false, ..FREE };
        assert_eq!(bandit.choose(&nothing, &mut Random::new(0)), None);
        assert!(bandit.has_open_arm());
    }

    #[test]
    fn ucb_draws_the_k_th_sample_after_the_square_of_k_less_one_pulls() {
        let mut bandit = Bandit::new(BudgetPolicy::Ucb, true);
        let mut drawn = Vec::new();
        for pull in 1..=30 {
            let arm = bandit.choose(&FREE, &mut Random::new(0)).unwrap();
            bandit.learn(arm, 0.0, Some(0.2));
            if arm == Arm::New {
                drawn.push(pull);
                bandit.add(0.2, true);
            }
        }
        assert_eq!(drawn, [1, 2, 5, 10, 17, 26]);
    }

    /// A kind that costs ten times as much is pulled less.
    #[test]
    fn what_is_dear_is_pulled_less() {
        let samples = |refine_cost| {
            let mut bandit = Bandit::new(BudgetPolicy::Thompson, true);
            let offer = Offer { sample_cost: Some(0.01), refine_cost: Some(refine_cost), ..FREE };
            (1..=100u64)
                .filter(|pull| {
                    let arm = bandit.choose(&offer, &mut Random::stream(5, *pull)).unwrap();
                    bandit.learn(arm, 0.0, Some(0.4));
                    if arm == Arm::New {
                        bandit.add(0.4, true);
                    }
                    arm == Arm::New
                })
                .count()
        };
        let (even, dear) = (samples(0.01), samples(0.1));
        assert!(dear > even + 20, "{dear} and {even}");
    }

    #[test]
    fn draws_have_the_mean_and_the_spread_of_their_distribution() {
        let mut random = Random::new(9);
        for (a, b) in [(1.0, 1.0), (3.0, 8.0), (20.0, 2.0)] {
            let draws: Vec<f64> = (0..20_000).map(|_| beta(a, b, &mut random)).collect();
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
            let expected = a / (a + b);
            let spread = a * b / ((a + b).powi(2) * (a + b + 1.0));
            assert!((mean - expected).abs() < 5.0 * (spread / 20_000.0).sqrt(), "Beta({a}, {b}): {mean}");
            assert!((variance / spread - 1.0).abs() < 0.06, "Beta({a}, {b}): {variance}");
            assert!(draws.iter().all(|x| (0.0..=1.0).contains(x)));
        }
    }
}

#[cfg(test)]
mod spending_tests {
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
