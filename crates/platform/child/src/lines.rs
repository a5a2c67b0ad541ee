//! Lines of a program's output, with a limit.

use std::io::{BufRead, Read};

/// A line of output, or what there is instead.
#[derive(Debug)]
pub enum Line {
    /// Without its line break.
    Whole(Vec<u8>),
    /// The output ended in the middle of it.
    Unfinished(Vec<u8>),
    /// It is longer than the limit; the rest was not read.
    TooLong,
    /// The output is closed.
    Closed,
}

/// Reads the next line of at most `most` bytes.
pub fn read_line(output: &mut impl BufRead, most: u64) -> Line {
    let mut line = Vec::new();
    let read = output.by_ref().take(most.saturating_add(1)).read_until(b'\n', &mut line);
    match (read, line.last()) {
        (Err(_) | Ok(0), _) => Line::Closed,
        (Ok(_), Some(b'\n')) => {
            line.pop();
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            Line::Whole(line)
        }
        (Ok(count), _) if count as u64 > most => Line::TooLong,
        (Ok(_), _) => Line::Unfinished(line),
    }
}
