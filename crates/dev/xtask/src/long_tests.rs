//! Checks that take too long for `cargo test`: time of reading against length, and the ignored tests of planning and of the language
//! server, which has 10,000 random edits.

#[path = "../../../language/pddl/tests/it/large_texts.rs"]
mod large_texts;

#[path = "../../../platform/plugin-sdk/tests/support/large_replies.rs"]
mod large_replies;

use large_replies::{large_replies, read_large_reply};
use large_texts::{large_texts, read_all_ways};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct LongTestsArgs {}

/// Bytes of the longer texts; the shorter have a quarter.
const BYTES: usize = 1 << 20;

/// Time of the longer text over that of the shorter. Linear time gives 4, quadratic time 16.
const MOST_GROWTH: f64 = 9.0;

/// Times below this are too short to compare.
const SHORTEST: Duration = Duration::from_millis(500);

/// Prints the time of each text. Fails if one grows faster than its length, or if an ignored test fails.
pub(crate) fn run(_: &LongTestsArgs) -> Result<(), String> {
    let mut too_slow = superlinear(large_texts, read_all_ways);
    too_slow.extend(superlinear(large_replies, read_large_reply));
    if !too_slow.is_empty() {
        return Err(format!("reading takes more than linear time: {too_slow:?}"));
    }
    for package in ["planforge-planning", "planforge-lsp"] {
        let arguments = ["test", "-p", package, "--", "--ignored", "--nocapture"];
        let status = Command::new("cargo").args(arguments).status().map_err(|e| format!("`cargo`: {e}"))?;
        if !status.success() {
            return Err(format!("an ignored test of {package} failed"));
        }
    }
    Ok(())
}

/// Texts of a given size, each with its name.
type SizedTexts = fn(usize) -> Vec<(&'static str, String)>;

/// Prints the time that reading each text takes, and returns the names of those that take more than linear time.
fn superlinear(texts: SizedTexts, read: fn(&str)) -> Vec<&'static str> {
    let mut too_slow = Vec::new();
    for ((name, short), (_, long)) in texts(BYTES / 4).into_iter().zip(texts(BYTES)) {
        let [short, long] = [short, long].map(|text| {
            let start = Instant::now();
            read(&text);
            start.elapsed()
        });
        let growth = long.as_secs_f64() / short.as_secs_f64().max(1e-9);
        println!("{name:?}: {short:.1?}, four times the length {long:.1?}");
        if long > SHORTEST && growth > MOST_GROWTH {
            too_slow.push(name);
        }
    }
    too_slow
}
