//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, ignoring poisoning: the data is consistent at every moment, so a panic elsewhere does not spoil it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
