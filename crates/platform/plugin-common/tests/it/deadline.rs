//! The host's limits as a budget.

use planforge_contract::api::{Host, LogLevel};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use planforge_plugin_common::judging::Deadline;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Leaves a call so much time, and may be interrupted.
struct Leaves(Option<u64>, AtomicBool);

impl Host for Leaves {
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        self.1.load(Ordering::SeqCst)
    }
    fn remaining_ms(&self) -> Option<u64> {
        self.0
    }
}

fn leaves(ms: Option<u64>) -> Leaves {
    Leaves(ms, AtomicBool::new(false))
}

#[test]
fn the_earlier_of_both_times_counts_and_some_is_kept_back() {
    let hour = Some(Duration::from_secs(3600));
    let first = |host: &Leaves, most| Deadline::within(host, most).poll();
    assert_eq!(first(&leaves(None), None), Poll::Continue);
    assert_eq!(first(&leaves(None), hour), Poll::Continue);
    assert_eq!(first(&leaves(Some(3_600_000)), hour), Poll::Continue);
    // What is left would not do to write an answer.
    assert_eq!(first(&leaves(Some(40)), hour), Poll::Stop(StopReason::Time));
    assert_eq!(first(&leaves(Some(3_600_000)), Some(Duration::ZERO)), Poll::Stop(StopReason::Time));
}

#[test]
fn an_interruption_is_seen_at_once_and_stays() {
    let host = leaves(None);
    host.1.store(true, Ordering::SeqCst);
    let mut deadline = Deadline::new(&host);
    assert_eq!(deadline.stop_reason(), None);
    assert_eq!(deadline.charge(1), Poll::Stop(StopReason::Cancelled));
    host.1.store(false, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(10));
    assert_eq!(deadline.poll(), Poll::Stop(StopReason::Cancelled));
    assert_eq!(deadline.stop_reason(), Some(StopReason::Cancelled));
}
