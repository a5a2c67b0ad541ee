//! Replies that repeat one piece are read. `cargo xtask long-tests` measures that time grows with their length.

#[path = "support/large_replies.rs"]
mod large_replies;

use large_replies::{large_replies, read_large_reply};

#[test]
fn replies_of_half_a_megabyte_that_repeat_one_piece_are_read() {
    for (_, text) in large_replies(512_000) {
        read_large_reply(&text);
    }
}
