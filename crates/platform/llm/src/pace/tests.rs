//! Simulated servers that admit so many requests a second. No time passes: each event has its time.

use super::*;
use crate::key::derive_u64;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A token bucket, and clients that keep it busy.
struct Server {
    /// Requests admitted a second.
    rate: f64,
    /// Requests admitted at once after a pause.
    burst: f64,
    /// Requests that are sent or wait at a time.
    clients: usize,
    /// Seconds until a reply.
    latency: f64,
    /// Seconds until a refusal.
    refusal_latency: f64,
    /// Seconds that a refused request is told to wait.
    retry_after: Option<f64>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Arrives(u64, u32),
    IsAnswered,
    IsRefused(u64, u32),
    /// A refused request waits for its turn again: the number of its next attempt.
    Returns(u32),
    /// The first waiting request may be sent.
    Turn,
}

#[derive(Debug, Default)]
struct Tally {
    admitted: u64,
    refused: u64,
    /// Requests that used up five attempts.
    failed: u64,
}

const fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl Server {
    fn new(rate: f64) -> Self {
        let clients = 64;
        Self { rate, burst: rate, clients, latency: 0.1, refusal_latency: 0.02, retry_after: None }
    }

    /// Sends requests, and counts those that arrive within so many seconds, from ten seconds after the first refusal.
    fn count(&self, seconds: f64) -> Tally {
        let mut pace = Pace::default();
        let (mut tokens, mut refilled) = (self.burst, 0_u64);
        let mut tickets: Vec<Ticket> = Vec::new();
        let mut waiting: VecDeque<(u64, u32)> = (0..self.clients).map(|_| (0, 1)).collect();
        let mut steps = BinaryHeap::from([Reverse((0_u64, 0_u64, Step::Turn))]);
        let (mut number, mut next_turn) = (0, Some(0));
        let (mut tally, mut counted) = (Tally::default(), u64::MAX..u64::MAX);
        // A part of the latency, at most 30 %, that differs between requests.
        let spread = |seconds: f64, number: u64| {
            nanos(seconds * (1.0 + 0.3 * (derive_u64(number, "spread", "") % 1000) as f64 / 1000.0))
        };
        while let Some(Reverse((now, _, step))) = steps.pop() {
            if now > counted.end {
                break;
            }
            number += 1;
            let is_counted = counted.contains(&now);
            let mut add = |time: u64, step: Step| {
                number += 1;
                steps.push(Reverse((time, number, step)));
            };
            match step {
                Step::Turn => {
                    next_turn = None;
                    if pace.next() <= Duration::from_nanos(now)
                        && let Some((arrived, attempt)) = waiting.pop_front()
                    {
                        let (now, arrived) = (Duration::from_nanos(now), Duration::from_nanos(arrived));
                        tickets.push(pace.send(now, arrived, Duration::ZERO));
                        let request = tickets.len() as u64 - 1;
                        let time = spread(self.refusal_latency / 2.0, request);
                        add(now.as_nanos() as u64 + time, Step::Arrives(request, attempt));
                    }
                }
                Step::Arrives(request, attempt) => {
                    tokens = self.burst.max(1.0).min(tokens + self.rate * (now - refilled) as f64 / 1e9);
                    refilled = now;
                    if tokens >= 1.0 {
                        tokens -= 1.0;
                        tally.admitted += u64::from(is_counted);
                        add(now + spread(self.latency, request), Step::IsAnswered);
                    } else {
                        tally.refused += u64::from(is_counted);
                        if counted.end == u64::MAX {
                            counted = now + nanos(10.0)..now + nanos(10.0 + seconds);
                        }
                        add(now + nanos(self.refusal_latency / 2.0), Step::IsRefused(request, attempt));
                    }
                }
                Step::IsAnswered => waiting.push_back((now, 1)),
                Step::IsRefused(request, attempt) => {
                    let retry_after = self.retry_after.map(Duration::from_secs_f64);
                    pace.refuse(tickets[request as usize], Duration::from_nanos(now), retry_after);
                    tally.failed += u64::from(attempt == 5);
                    let backoff = 2_f64.powi(attempt as i32 - 1);
                    let wait = spread(backoff / 1.3, request).max(nanos(self.retry_after.unwrap_or(0.0)));
                    add(now + wait, Step::Returns(attempt % 5 + 1));
                }
                Step::Returns(attempt) => waiting.push_back((now, attempt)),
            }
            let turn = now.max(pace.next().as_nanos() as u64);
            if !waiting.is_empty() && next_turn.is_none_or(|time| turn < time) {
                next_turn = Some(turn);
                steps.push(Reverse((turn, number, Step::Turn)));
            }
        }
        tally
    }
}

#[test]
fn a_server_s_rate_is_used_and_few_requests_are_refused() {
    let mut wrong = Vec::new();
    for rate in [2.0_f64, 20.0, 200.0] {
        // The bucket of a server with a limit a minute, of one with a limit a second, and a small one.
        for burst in [rate * 60.0, rate, (rate / 4.0).max(1.0)] {
            for (latency, retry_after) in [(0.1, None), (0.1, Some(1.0)), (1.0, None), (5.0, Some(1.0))] {
                let clients = 64.max((2.0 * rate * latency) as usize);
                let server = Server { burst, latency, retry_after, clients, ..Server::new(rate) };
                let seconds = if rate < 10.0 { 190.0 } else { 50.0 };
                let tally = server.count(seconds);
                let served = tally.admitted as f64 / (rate * seconds);
                let refused = tally.refused as f64 / (tally.admitted + tally.refused) as f64;
                // A bucket of one request cannot be kept busy without refusals.
                let least = if burst < 2.0 { 0.85 } else { 0.95 };
                if served < least || refused >= 0.02 || tally.failed > 0 {
                    wrong.push(format!(
                        "rate {rate}, burst {burst}, latency {latency}, Retry-After {retry_after:?}: \
                         {served:.3} served, {refused:.3} refused, {} failed",
                        tally.failed
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// All runs of a rate together: a run of a minute at 2 requests a second has too few refusals to count.
#[test]
fn few_requests_are_refused_in_the_first_minute_at_any_rate() {
    for (rate, seconds) in [(2.0_f64, 60.0), (10.0, 60.0), (50.0, 20.0), (200.0, 20.0)] {
        let (mut all, mut runs) = (Tally::default(), 0);
        for burst in [rate * 60.0, rate] {
            for clients in [8, 32, 64] {
                for (latency, retry_after) in [(0.0, Some(1.0)), (0.1, None), (1.0, None), (5.0, Some(1.0))] {
                    if clients as f64 <= 2.0 * rate * latency {
                        continue;
                    }
                    let server = Server { burst, latency, retry_after, clients, ..Server::new(rate) };
                    let tally = server.count(seconds);
                    runs += 1;
                    all.admitted += tally.admitted;
                    all.refused += tally.refused;
                    all.failed += tally.failed;
                }
            }
        }
        let served = all.admitted as f64 / (rate * seconds * f64::from(runs));
        let refused = all.refused as f64 / (all.admitted + all.refused) as f64;
        println!("{rate} a second, {runs} runs: {served:.3} served, {refused:.4} refused");
        assert!(served >= 0.95 && refused < 0.02 && all.failed == 0, "{rate} a second: {all:?}, {runs} runs");
    }
}

#[test]
fn a_server_without_a_limit_is_not_slowed_down() {
    let mut pace = Pace::default();
    for number in 0..10_000 {
        let now = Duration::from_micros(number);
        pace.send(now, now, Duration::ZERO);
        assert!(pace.next() <= now && pace.rate().is_none());
    }
}

#[test]
fn after_a_single_refusal_the_rate_recovers() {
    let mut pace = Pace::default();
    let ticket = pace.send(Duration::ZERO, Duration::ZERO, Duration::ZERO);
    pace.refuse(ticket, Duration::from_millis(10), None);
    let (mut now, mut sent) = (Duration::ZERO, 0);
    while pace.rate().is_some_and(|rate| rate < 100.0) {
        now = now.max(pace.next());
        pace.send(now, Duration::ZERO, Duration::ZERO);
        sent += 1;
    }
    assert!(now < Duration::from_secs(120) && sent < 200, "{now:?}, {sent} requests");
}

#[test]
fn idle_time_neither_raises_nor_lowers_the_rate() {
    let second = Duration::from_secs(1);
    let mut pace = Pace::default();
    let first: Vec<Ticket> = (0..40).map(|_| pace.send(second, second, Duration::ZERO)).collect();
    pace.refuse(first[39], second, None);
    let rate = pace.rate().unwrap();
    let mut now = second;
    for _ in 0..50 {
        now += 60 * second;
        pace.send(now, now, Duration::ZERO);
    }
    assert_eq!(pace.rate(), Some(rate));
    let ticket = pace.send(pace.next(), now, Duration::ZERO);
    pace.refuse(ticket, now, None);
    assert!(pace.rate().unwrap() > rate / 4.0, "{:?} after {rate}", pace.rate());
}

#[test]
fn a_second_refusal_in_a_row_makes_all_requests_wait_as_asked() {
    let mut pace = Pace::default();
    let wait = Some(Duration::from_secs(30));
    let ticket = pace.send(Duration::ZERO, Duration::ZERO, Duration::ZERO);
    pace.refuse(ticket, Duration::ZERO, wait);
    assert_eq!(pace.next(), Duration::ZERO, "other requests may be admitted");
    let second = Duration::from_secs(1);
    let ticket = pace.send(second, second, Duration::ZERO);
    pace.refuse(ticket, second, wait);
    assert_eq!(pace.next(), Duration::from_secs(31));
}

#[test]
fn stated_quotas_bound_the_rate_once_half_is_used() {
    let quota = |limit, remaining, reset_ms| Some(RateQuota { limit, remaining, reset_ms });
    let rate = |requests, tokens, each| {
        let mut pace = Pace::default();
        pace.observe(&RateLimits { requests, tokens }, each);
        pace.rate()
    };
    assert_eq!(rate(quota(60, 59, 1_000), None, None), None);
    assert_eq!(rate(quota(60, 10, 50_000), None, None), Some(1.0));
    assert_eq!(rate(quota(60, 0, 60_000), quota(10_000, 1_000, 9_000), Some(500.0)), Some(1.0));
    assert_eq!(rate(quota(600, 0, 60_000), quota(10_000, 1_000, 9_000), Some(500.0)), Some(2.0));
    assert_eq!(rate(None, quota(10_000, 0, 9_000), None), None, "the size of a request is not known");
    assert_eq!(rate(quota(60, 0, 0), None, None), None);
}
