//! Runs the calls of all tasks on a bounded number of threads and gives results back in the order of the work.

use super::sync::lock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// The right to make plugin calls, shared by all tasks of a run.
pub(crate) struct Pool {
    jobs: usize,
    free: Mutex<usize>,
    freed: Condvar,
}

impl Pool {
    pub(crate) fn new(jobs: usize) -> Self {
        let jobs = jobs.max(1);
        Self { jobs, free: Mutex::new(jobs), freed: Condvar::new() }
    }

    /// Returns results in the order of `items`, whatever order they were computed in. Work of several tasks
    /// shares the limit. A thread is started only once it may call, so that few threads wait.
    pub(crate) fn map<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let results: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
        let work_from = |mut index: usize, _permit: Permit<'_>| {
            while let Some(item) = items.get(index) {
                let result = work(item);
                lock(&results).push((index, result));
                index = next.fetch_add(1, Ordering::Relaxed);
            }
        };
        let work_from = &work_from;
        std::thread::scope(|scope| {
            while next.load(Ordering::Relaxed) < items.len() {
                let permit = self.acquire();
                let index = next.fetch_add(1, Ordering::Relaxed);
                if self.jobs == 1 || index + 1 >= items.len() {
                    work_from(index, permit);
                } else {
                    scope.spawn(move || work_from(index, permit));
                }
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// As [`Pool::map`], for work that makes its calls through `map` itself and so must not hold a right to call.
    pub(crate) fn drive<T: Sync, R: Send>(&self, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
        Self::new(self.jobs).map(items, work)
    }

    fn acquire(&self) -> Permit<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }
}

struct Permit<'a>(&'a Pool);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn order_is_that_of_the_work_and_the_limit_holds() {
        let pool = Pool::new(3);
        let running = AtomicUsize::new(0);
        let most = AtomicUsize::new(0);
        let outer: Vec<usize> = (0..4).collect();
        let results = pool.drive(&outer, |task| {
            let inner: Vec<usize> = (0..8).collect();
            pool.map(&inner, |item| {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                // The first waits for a second.
                while most.load(Ordering::SeqCst) < 2 {
                    std::thread::yield_now();
                }
                std::thread::sleep(Duration::from_millis((8 - *item) as u64));
                running.fetch_sub(1, Ordering::SeqCst);
                task * 100 + item
            })
        });
        let wanted: Vec<Vec<usize>> = (0..4).map(|t| (0..8).map(|i| t * 100 + i).collect()).collect();
        assert_eq!(results, wanted);
        assert!((2..=3).contains(&most.load(Ordering::SeqCst)));
    }
}
