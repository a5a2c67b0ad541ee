//! Rounds of two searches that work side by side.
//!
//! A round is an amount of counted work for each search. They exchange what they found at its end only, and each has a share of the
//! memory that is free at its start. So what they find is the same on two threads, which the caller's limits start, and on one, where
//! the second search works after the first.

use crate::resources::{Poll, ResourceLimits, StopReason, check_memory};
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory of a search. It is charged to the caller's limits at the end of each round.
#[derive(Debug, Default)]
pub(super) struct Account {
    used: u64,
    /// Part of it that is charged.
    charged: u64,
    /// Bytes up to which the search may go in this round.
    most: u64,
    /// True once the limits refused a charge.
    is_refused: bool,
}

impl Account {
    fn start_round(&mut self, share: u64) {
        self.most = if self.is_refused { 0 } else { self.charged.saturating_add(share) };
    }

    /// Charges what was used in a round. What the limits refuse stays open, and ends the search in the next round.
    fn settle(&mut self, resources: &mut dyn ResourceLimits) {
        if self.used < self.charged {
            resources.release(self.charged - self.used);
        } else if check_memory(resources.charge(self.used - self.charged)).is_err() {
            self.is_refused = true;
            return;
        }
        self.charged = self.used;
    }

    /// Releases the memory of a search that has ended.
    pub(super) fn close(&mut self, resources: &mut dyn ResourceLimits) {
        resources.release(self.charged);
        *self = Account::default();
    }
}

/// Limits of a search in a round.
struct RoundLimits<'r> {
    limits: &'r mut dyn ResourceLimits,
    account: &'r mut Account,
    /// True once the result of this search does not count.
    is_decided: &'r AtomicBool,
}

impl ResourceLimits for RoundLimits<'_> {
    fn poll(&mut self) -> Poll {
        match self.is_decided.load(Ordering::Relaxed) {
            true => Poll::Stop(StopReason::Cancelled),
            false => self.limits.poll(),
        }
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        let used = self.account.used.saturating_add(bytes);
        if used > self.account.most {
            return Poll::Stop(StopReason::Memory);
        }
        self.account.used = used;
        self.poll()
    }
    fn release(&mut self, bytes: u64) {
        self.account.used = self.account.used.saturating_sub(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.account.most.saturating_sub(self.account.used)
    }
}

/// Runs a round of the searches that are not over. The result of the second is `None` if that of the first `decides`.
pub(super) fn run_round<A: Send, B: Send>(
    resources: &mut dyn ResourceLimits,
    accounts: &mut [Account; 2],
    first: Option<impl FnOnce(&mut dyn ResourceLimits) -> A + Send>,
    second: Option<impl FnOnce(&mut dyn ResourceLimits) -> B + Send>,
    decides: impl Fn(&A) -> bool + Sync,
) -> (Option<A>, Option<B>) {
    let both = first.is_some() && second.is_some();
    let share = resources.bytes_left() / if both { 2 } else { 1 };
    accounts.iter_mut().for_each(|account| account.start_round(share));
    let [first_account, second_account] = accounts;
    let (is_decided, never) = (AtomicBool::new(false), AtomicBool::new(false));
    let (mut first, mut second) = (first, second);
    let (mut first_result, mut second_result) = (None, None);
    let mut run_first = |limits: &mut dyn ResourceLimits| {
        let Some(run) = first.take() else { return };
        let result = run(&mut RoundLimits { limits, account: &mut *first_account, is_decided: &never });
        is_decided.store(decides(&result), Ordering::Relaxed);
        first_result = Some(result);
    };
    let mut run_second = |limits: &mut dyn ResourceLimits| {
        let Some(run) = second.take().filter(|_| !is_decided.load(Ordering::Relaxed)) else { return };
        let result = run(&mut RoundLimits { limits, account: &mut *second_account, is_decided: &is_decided });
        second_result = Some(result);
    };
    if !both || !resources.run_side_by_side(&mut run_first, &mut run_second) {
        run_first(resources);
        run_second(resources);
    }
    accounts.iter_mut().for_each(|account| account.settle(resources));
    (first_result, second_result.filter(|_| !is_decided.into_inner()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::*;
    use crate::resources::{CountingLimits, SearchPart};

    /// Limits that run two parts on two threads.
    pub(in crate::search) struct Threads(pub(in crate::search) CountingLimits);

    impl ResourceLimits for Threads {
        fn poll(&mut self) -> Poll {
            self.0.poll()
        }
        fn charge(&mut self, bytes: u64) -> Poll {
            self.0.charge(bytes)
        }
        fn release(&mut self, bytes: u64) {
            self.0.release(bytes);
        }
        fn bytes_left(&self) -> u64 {
            self.0.bytes_left()
        }
        fn run_side_by_side(&mut self, first: SearchPart<'_>, second: SearchPart<'_>) -> bool {
            let mut other = self.0;
            std::thread::scope(|scope| {
                scope.spawn(|| second(&mut other));
                first(self);
            });
            true
        }
    }

    /// Charges so often a byte, up to the limit.
    fn charge(limits: &mut dyn ResourceLimits, bytes: u64) -> Result<u64, u64> {
        (0..bytes)
            .try_for_each(|n| if limits.charge(1) == Poll::Continue { Ok(()) } else { Err(n) })
            .map(|()| bytes)
    }

    #[test]
    fn each_search_has_half_of_the_memory_until_the_other_ends() {
        let counting = CountingLimits { polls: u64::MAX, bytes: 100 };
        for threads in [false, true] {
            let (mut one, mut two) = (counting, Threads(counting));
            let limits: &mut dyn ResourceLimits = if threads { &mut two } else { &mut one };
            let mut accounts = <[Account; 2]>::default();
            let mut round = |limits: &mut dyn ResourceLimits, first: Option<u64>, second: Option<u64>| {
                run_round(
                    limits,
                    &mut accounts,
                    first.map(|bytes| move |limits: &mut dyn ResourceLimits| charge(limits, bytes)),
                    second.map(|bytes| move |limits: &mut dyn ResourceLimits| charge(limits, bytes)),
                    |_| false,
                )
            };
            assert_eq!(round(limits, Some(10), Some(60)), (Some(Ok(10)), Some(Err(50))));
            // 40 bytes are left.
            assert_eq!(limits.bytes_left(), 40);
            assert_eq!(round(limits, Some(21), Some(20)), (Some(Err(20)), Some(Ok(20))));
            accounts[1].close(limits);
            let mut round = |limits: &mut dyn ResourceLimits, first: u64| {
                let none: Option<fn(&mut dyn ResourceLimits)> = None;
                let first = Some(|limits: &mut dyn ResourceLimits| charge(limits, first));
                run_round(limits, &mut accounts, first, none, |_| false).0
            };
            assert_eq!(round(limits, 71), Some(Err(70)));
            accounts[0].close(limits);
            assert_eq!(limits.bytes_left(), 100);
        }
    }

    /// Limits with an unknown number of bytes left.
    struct Unmeasured(CountingLimits);

    impl ResourceLimits for Unmeasured {
        fn poll(&mut self) -> Poll {
            self.0.poll()
        }
        fn charge(&mut self, bytes: u64) -> Poll {
            self.0.charge(bytes)
        }
        fn release(&mut self, bytes: u64) {
            self.0.release(bytes);
        }
    }

    #[test]
    fn a_refused_charge_ends_the_search_in_the_next_round() {
        let mut limits = Unmeasured(CountingLimits { polls: u64::MAX, bytes: 100 });
        let mut accounts = <[Account; 2]>::default();
        let mut round = |bytes: u64| {
            let none: Option<fn(&mut dyn ResourceLimits)> = None;
            let first = Some(|limits: &mut dyn ResourceLimits| charge(limits, bytes));
            run_round(&mut limits, &mut accounts, first, none, |_| false).0
        };
        assert_eq!(round(60), Some(Ok(60)));
        assert_eq!(round(60), Some(Ok(60)));
        assert_eq!(round(60), Some(Err(0)));
    }

    #[test]
    fn the_first_search_decides_over_the_second() {
        let counting = CountingLimits { polls: u64::MAX, bytes: u64::MAX };
        let mut threads = Threads(counting);
        let until_stopped = |limits: &mut dyn ResourceLimits| while limits.poll() == Poll::Continue {};
        let found = run_round(
            &mut threads,
            &mut Default::default(),
            Some(|_: &mut dyn ResourceLimits| true),
            Some(until_stopped),
            |found| *found,
        );
        assert_eq!(found, (Some(true), None));
        let mut one = counting;
        let second = Some(|_: &mut dyn ResourceLimits| ());
        let found = run_round(
            &mut one,
            &mut Default::default(),
            Some(|_: &mut dyn ResourceLimits| false),
            second,
            |found| *found,
        );
        assert_eq!(found, (Some(false), Some(())));
    }
}
