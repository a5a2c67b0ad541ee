//! Texts that repeat one construct are read without a panic. `cargo xtask long-tests` measures that time grows with their length.

#[path = "support/large_texts.rs"]
mod large_texts;

use large_texts::{large_texts, read_all_ways};

#[test]
fn repeated_constructs_of_every_kind_are_read_in_every_way() {
    for (_, text) in large_texts(1 << 16) {
        read_all_ways(&text);
    }
}
