//! Replies of any size that repeat one piece.
#![allow(unreachable_pub, reason = "xtask includes this file too")]

use planforge_plugin_sdk::contract::{FinishReason, FixPolicy, Reply};
use planforge_plugin_sdk::reply::{WantedPddl, read_thought_reply};

/// Replies of about `bytes` bytes, each with the piece that it repeats.
pub fn large_replies(bytes: usize) -> Vec<(&'static str, String)> {
    let pieces = [
        "```\n",
        "</think>",
        "<think>",
        "<think></think>",
        "### Thought:\n",
        "### Thought:\n### Domain:\n",
        "### Thought:\n(define (domain d) (:x))\n",
        "```\n(define (domain d) (:x))\n```\n### Thought\n",
        "**",
        "Domain: é\n",
    ];
    pieces.into_iter().map(|piece| (piece, piece.repeat(bytes / piece.len()))).collect()
}

/// Reads a text as a reply with a thought and a domain.
pub fn read_large_reply(text: &str) {
    let reply = Reply::new(text, FinishReason::Stop);
    // Most of them hold no domain; what counts is that reading them ends.
    drop(read_thought_reply(&reply, WantedPddl::Domain, FixPolicy::Safe));
}
