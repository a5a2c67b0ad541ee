//! The last bytes of a stream, and how many there were.

use crate::ending::Stream;
use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug, Default)]
struct KeptBytes {
    bytes: VecDeque<u8>,
    /// Number of bytes since the last reset.
    count: u64,
    overflowed: bool,
}

/// The end of a program's standard error, filled by the thread that drains it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<KeptBytes>>);

impl Tail {
    /// Reads to the end, or past the limit: then the stream is dropped, so that the program meets a closed pipe.
    pub(crate) fn drain(&self, mut stream: impl Read, keep: usize, most: u64, overflow: impl Fn(Stream)) {
        let mut buffer = [0; 8192];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.bytes.extend(&buffer[..count]);
            let surplus = kept.bytes.len().saturating_sub(keep);
            kept.bytes.drain(..surplus);
            kept.count = kept.count.saturating_add(count as u64);
            if kept.count > most {
                kept.overflowed = true;
                drop(kept);
                overflow(Stream::Error);
                return;
            }
        }
    }

    /// Counts from nothing again.
    pub(crate) fn recount(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).count = 0;
    }

    pub(crate) fn text(&self) -> String {
        let bytes: Vec<u8> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes.iter().copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn has_overflowed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).overflowed
    }
}
