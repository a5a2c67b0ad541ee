//! Threads, cancellation, progress and failures of studies.

use super::watch::Watch;
use planforge_contract::{Failure, FailureClass};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use rayon::prelude::*;

/// Computes each item on `threads` threads, in any order, and gives the results in the items' order.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn run_all<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    watch: &Watch,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.max(1)).build().map_err(|e| {
        Failure::new(FailureClass::System, "study.threads", format!("no threads to work with: {e}"))
    })?;
    watch.expect(items.len() as u64);
    let done = pool.install(|| {
        // One item at a time: some take a thousand times as long as others.
        items.par_iter().with_max_len(1).map(|item| one(item, watch, &work)).collect::<Option<Vec<R>>>()
    });
    done.ok_or_else(|| Failure::new(FailureClass::Cancelled, "study.cancelled", "the study was interrupted"))
}

fn one<T, R>(item: &T, watch: &Watch, work: &impl Fn(&T) -> R) -> Option<R> {
    if watch.cancelled() {
        return None;
    }
    let result = work(item);
    watch.advance(1);
    // Cancelled work has no result.
    (!watch.cancelled()).then_some(result)
}

/// A budget of bytes that also ends when the study does. No clock: the same limits give the same outcome on every machine.
#[derive(Debug)]
pub struct StudyBudget<'a> {
    watch: &'a Watch,
    bytes: u64,
}

impl<'a> StudyBudget<'a> {
    /// At most so many bytes for the tables of one task.
    pub fn new(watch: &'a Watch, bytes: u64) -> Self {
        Self { watch, bytes }
    }
}

impl ResourceLimits for StudyBudget<'_> {
    fn poll(&mut self) -> Poll {
        if self.watch.cancelled() { Poll::Stop(StopReason::Cancelled) } else { Poll::Continue }
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        match self.bytes.checked_sub(bytes) {
            Some(rest) => {
                self.bytes = rest;
                self.poll()
            }
            None => Poll::Stop(StopReason::Memory),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        let items: Vec<u64> = (0..500).collect();
        let watch = Watch::default();
        let one = run_all(&items, 1, &watch, |i| i * i).unwrap();
        assert_eq!(run_all(&items, 4, &watch, |i| i * i).unwrap(), one);
        assert_eq!(watch.progress(), (1000, 1000));
    }

    #[test]
    fn a_cancelled_study_has_no_result() {
        let watch = Watch::default();
        let failure = run_all(&[1, 2, 3], 2, &watch, |_| watch.cancel()).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Cancelled, "study.cancelled"));
        assert_eq!(StudyBudget::new(&watch, 10).poll(), Poll::Stop(StopReason::Cancelled));
        assert_eq!(StudyBudget::new(&watch, 10).charge(11), Poll::Stop(StopReason::Memory));
    }
}
