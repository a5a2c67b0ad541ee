//! The rate at which a server admits requests, estimated from its refusals.

use planforge_contract::{RateLimits, RateQuota};
use std::collections::VecDeque;
use std::time::Duration;

/// The slowest rate, in requests a second.
const SLOWEST: f64 = 0.01;
/// Range of the number of requests that an estimate rests on.
const FEWEST: f64 = 4.0;
const MOST: f64 = 100.0;
/// Least number for an estimate that agrees with the one before. With fewer, a server that admits 2 requests a second
/// would refuse one every few seconds for a minute.
const FEWEST_IF_CONFIRMED: f64 = 20.0;
/// Part of an estimate's weight that is kept when it is updated.
const KEPT: f64 = 0.3;
/// Relative error of an estimate from one request; from n requests it is this over n.
const ERROR: f64 = 1.0;
/// Lateness that later requests make up for.
const CATCH_UP: Duration = Duration::from_millis(100);

/// Spaces requests so that a server which refuses requests above a rate refuses few of them.
///
/// There is no limit until the first refusal (status 429). A token bucket is empty at each refusal, so the requests
/// admitted between two refusals, over the time between, are its rate. Each refusal updates the estimate, a mean
/// weighted by the number of requests. An estimate that agrees with the one before counts as precise, one that differs
/// from it starts anew. Requests are then sent somewhat below it (by the estimate's error), and the rate
/// grows with each request, faster the longer no refusal follows, until the next refusal. Of the requests sent before
/// the rate was last lowered, refusals are not counted: they came from the earlier rate. If the first request after
/// that is refused too, all requests wait for the server's Retry-After. Requests that did not wait for their turn do
/// not raise the rate.
///
/// Where a response states a quota that is more than half used, the rate at which the server refills it is an upper
/// bound.
///
/// Cost: constant time and memory for each request, except for the send times of the last second before the first
/// refusal. About 1 in 100 requests to a server at its limit is refused.
#[derive(Debug, Default)]
pub struct Pace {
    /// Number of requests sent.
    sent: u64,
    /// Send times within the last second; unused once there is an estimate.
    recent: VecDeque<Duration>,
    estimate: Option<Estimate>,
    /// Requests a second by the server's own statement.
    stated: Option<f64>,
    /// Earliest time of the next request.
    next: Duration,
}

#[derive(Debug, Clone, Copy)]
struct Estimate {
    /// Requests a second.
    rate: f64,
    /// Number of requests that it rests on.
    weight: f64,
    /// Rate right after the last refusal.
    base: f64,
    /// Relative growth after `scale` requests.
    growth: f64,
    scale: f64,
    /// The last refused request that lowered the rate.
    refused: Ticket,
    /// Number of requests sent when the rate was lowered.
    lowered_at: u64,
    /// Requests since then that waited for their turn.
    paced: u64,
    /// Refusals of requests sent after `refused`.
    later_refusals: u64,
    /// Time since `refused` was sent in which no request was waiting.
    idle: Duration,
}

/// Number and time of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    number: u64,
    at: Duration,
}

impl Estimate {
    fn current(&self) -> f64 {
        let steps = (self.paced as f64 / self.scale).min(40.0);
        self.base * (1.0 + self.growth * (steps.exp2() - 1.0))
    }
}

impl Pace {
    /// Requests a second that are sent now; `None` without a limit.
    pub fn rate(&self) -> Option<f64> {
        let rates = self.estimate.as_ref().map(Estimate::current).into_iter().chain(self.stated);
        rates.reduce(f64::min).map(|rate| rate.max(SLOWEST))
    }

    /// Earliest time of the next request.
    pub const fn next(&self) -> Duration {
        self.next
    }

    /// Delays all requests.
    pub fn hold_until(&mut self, time: Duration) {
        self.next = self.next.max(time);
    }

    /// Lets the next request go earlier by that time.
    pub fn bring_forward(&mut self, time: Duration) {
        self.next = self.next.saturating_sub(time);
    }

    /// Counts a request that is sent now. `arrived` is the time since which it waited, `spacing` the least time to the
    /// next one.
    pub fn send(&mut self, now: Duration, arrived: Duration, spacing: Duration) -> Ticket {
        self.sent += 1;
        let spacing = self.rate().map_or(spacing, |rate| spacing.max(Duration::from_secs_f64(1.0 / rate)));
        let late = now.saturating_sub(CATCH_UP);
        match &mut self.estimate {
            Some(estimate) if late > self.next => estimate.idle += late - self.next,
            Some(estimate) => estimate.paced += 1,
            None => {
                self.recent.push_back(now);
                while self.recent.front().is_some_and(|time| *time + Duration::from_secs(1) < now) {
                    self.recent.pop_front();
                }
            }
        }
        self.next = self.next.max(arrived).max(late) + spacing;
        Ticket { number: self.sent, at: now }
    }

    /// Counts a refusal. `retry_after` is the wait that the server asked for.
    pub fn refuse(&mut self, request: Ticket, now: Duration, retry_after: Option<Duration>) {
        let Some(last) = &mut self.estimate else {
            let rate = (self.recent.len() as f64 / 2.0).max(SLOWEST);
            self.recent = VecDeque::new();
            return self.lower(request, rate, 0.0, FEWEST, 1.0);
        };
        let is_later = request.number > last.refused.number;
        last.later_refusals += u64::from(is_later);
        if request.number <= last.lowered_at {
            return;
        }
        let last = *last;
        let current = last.current();
        let between = request.number - last.refused.number;
        let admitted = between.saturating_sub(last.later_refusals) as f64;
        let time = request.at.saturating_sub(last.refused.at).saturating_sub(last.idle);
        let measured = admitted.max(0.5) / time.as_secs_f64().max(1e-6);
        // A server that saves up no unused requests admits more than was sent.
        let gap = (current / measured).max(1.0);
        let measured = measured * gap.sqrt();
        let weight = last.weight * KEPT;
        let deviation = (measured / last.rate).ln().abs();
        let is_outdated = deviation > 2.0 / admitted.max(1.0).sqrt() && deviation > 3.0 * last.growth;
        let starts_anew = is_outdated || last.weight == 0.0;
        let (rate, weight, fewest) = if starts_anew {
            (measured.clamp(current / 8.0, current), admitted, FEWEST)
        } else {
            let sum = weight + admitted;
            ((weight * last.rate + admitted * measured) / sum, sum, FEWEST_IF_CONFIRMED)
        };
        self.lower(request, rate, weight, weight.clamp(fewest, MOST), gap);
        if let Some(wait) = retry_after.filter(|_| admitted == 0.0) {
            self.hold_until(now + wait);
        }
    }

    fn lower(&mut self, request: Ticket, rate: f64, weight: f64, requests: f64, gap: f64) {
        let error = ERROR / requests;
        self.estimate = Some(Estimate {
            rate,
            weight: weight.min(MOST),
            base: rate * (1.0 - error),
            growth: error.max((gap - 1.0) / 2.0).min(0.5),
            scale: (3.0 * requests).max(2.0 * rate),
            refused: request,
            lowered_at: self.sent,
            paced: 0,
            later_refusals: 0,
            idle: Duration::ZERO,
        });
    }

    /// Takes up the quotas that a response states. `tokens` is the mean number of tokens of a request.
    pub fn observe(&mut self, limits: &RateLimits, tokens: Option<f64>) {
        let requests = limits.requests.as_ref().and_then(refill_rate);
        let tokens = limits.tokens.as_ref().and_then(refill_rate).zip(tokens.filter(|tokens| *tokens > 0.0));
        let tokens = tokens.map(|(rate, each)| rate / each);
        self.stated = requests.into_iter().chain(tokens).reduce(f64::min);
    }
}

/// Units a second at which a quota that is more than half used is refilled. It is full again after `reset_ms`.
fn refill_rate(quota: &RateQuota) -> Option<f64> {
    let used = quota.limit.saturating_sub(quota.remaining);
    (used > quota.remaining && quota.reset_ms > 0).then(|| used as f64 * 1000.0 / quota.reset_ms as f64)
}

#[cfg(test)]
mod tests;
