//! Counts the steps of reading a text, in tests only: work must grow linearly with the length.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts steps of this thread: characters, tokens or literals looked at.
#[inline]
pub(crate) fn count_steps(steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + steps as u64);
    #[cfg(not(test))]
    let _ = steps;
}

/// The steps that `work` takes.
#[cfg(test)]
pub(crate) fn steps_of(work: impl FnOnce()) -> u64 {
    STEPS.set(0);
    work();
    STEPS.get()
}
