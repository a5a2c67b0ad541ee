//! The threads that plugin calls run on: std threads, bounded in number, kept for reuse.
//!
//! A call that outlives its deadline keeps its thread; it counts against the bound until it ends, if ever. A thread without a job for
//! [`IDLE`] ends, also after its registry is gone.

use planforge_contract::{Failure, FailureClass};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// Time without a job after which a thread ends.
const IDLE: Duration = Duration::from_secs(10);

/// Deep trees are read by recursion; the default of 2 MiB is little for a debug build. Only pages touched are taken.
const STACK_BYTES: usize = 16 << 20;

pub(crate) struct Threads {
    most: usize,
    idle_time: Duration,
    state: Mutex<State>,
    /// Wakes an idle thread.
    queued: Condvar,
    /// Wakes a caller that waits for a thread.
    freed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    idle: usize,
    live: usize,
}

impl Threads {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Self::with_idle_time(most, IDLE)
    }

    fn with_idle_time(most: usize, idle_time: Duration) -> Arc<Self> {
        Arc::new(Self {
            most,
            idle_time,
            state: Mutex::default(),
            queued: Condvar::new(),
            freed: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job on a thread of its own as soon as one is free. Jobs must not panic.
    pub(crate) fn run(self: &Arc<Self>, job: Job, deadline: Option<Instant>) -> Result<(), Failure> {
        let mut state = self.state();
        loop {
            if state.idle > state.queue.len() {
                state.queue.push_back(job);
                self.queued.notify_one();
                return Ok(());
            }
            if state.live < self.most {
                let pool = Arc::clone(self);
                std::thread::Builder::new()
                    .name("planforge-plugin".to_owned())
                    .stack_size(STACK_BYTES)
                    .spawn(move || pool.serve(job))
                    .map_err(|e| {
                        Failure::new(
                            FailureClass::System,
                            "plugin.threads",
                            format!("no further thread: {e}"),
                        )
                    })?;
                state.live += 1;
                return Ok(());
            }
            let wait =
                deadline.map_or(Duration::from_secs(1), |d| d.saturating_duration_since(Instant::now()));
            if wait.is_zero() {
                return Err(Failure::new(
                    FailureClass::Limit,
                    "plugin.threads",
                    format!("all {} plugin threads were busy until the call's deadline", self.most),
                ));
            }
            state = self.freed.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn serve(self: Arc<Self>, first: Job) {
        first();
        let mut state = self.state();
        loop {
            state.idle += 1;
            self.freed.notify_one();
            state = self
                .queued
                .wait_timeout_while(state, self.idle_time, |state| state.queue.is_empty())
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.idle -= 1;
            let Some(job) = state.queue.pop_front() else {
                state.live -= 1;
                return;
            };
            drop(state);
            job();
            state = self.state();
        }
    }
}

/// A counter of calls in flight; 0 means no bound.
pub(crate) struct Gate {
    most: usize,
    taken: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, taken: Mutex::new(0), changed: Condvar::new() }
    }

    /// Waits for a place; `None` where the deadline came first.
    pub(crate) fn enter(&self, deadline: Option<Instant>) -> Option<Pass<'_>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while self.most > 0 && *taken >= self.most {
            let wait =
                deadline.map_or(Duration::from_secs(1), |d| d.saturating_duration_since(Instant::now()));
            if wait.is_zero() {
                return None;
            }
            taken = self.changed.wait_timeout(taken, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken += 1;
        Some(Pass(self))
    }
}

pub(crate) struct Pass<'a>(&'a Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn threads_are_reused_and_bounded() {
        let pool = Threads::new(2);
        let (tx, rx) = mpsc::channel();
        for _ in 0..50 {
            let tx = tx.clone();
            pool.run(Box::new(move || tx.send(std::thread::current().id()).unwrap()), None).unwrap();
        }
        let ids: std::collections::HashSet<_> = rx.iter().take(50).collect();
        assert!(ids.len() <= 2);
    }

    #[test]
    fn idle_threads_end_and_later_jobs_get_new_ones() {
        let pool = Threads::with_idle_time(2, Duration::from_millis(1));
        let (tx, rx) = mpsc::channel();
        for _ in 0..3 {
            let tx = tx.clone();
            pool.run(Box::new(move || tx.send(()).unwrap()), None).unwrap();
            rx.recv().unwrap();
            for _ in 0..5_000 {
                if pool.state().live == 0 {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            assert_eq!(pool.state().live, 0);
        }
    }

    #[test]
    fn a_full_pool_is_a_limit_not_a_hang() {
        let pool = Threads::new(1);
        let (release, wait) = mpsc::channel::<()>();
        pool.run(Box::new(move || wait.recv().unwrap_or(())), None).unwrap();
        let soon = Instant::now() + Duration::from_millis(30);
        let failure = pool.run(Box::new(|| ()), Some(soon)).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "plugin.threads"));
        drop(release);
    }
}
