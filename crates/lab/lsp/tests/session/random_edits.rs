//! Random edits over the files of all suites, with requests in between, never end the server.

use crate::client::{Client, suite};
use planforge_pddl::random::Random;
use serde_json::json;

const PIECES: &[&str] = &[
    "(",
    ")",
    "))",
    " ",
    "\n",
    "\r\n",
    "?",
    "?x",
    " - ",
    ":",
    ":action",
    "(:effect ",
    ";",
    "and",
    "(and (",
    "ü",
    "🚚",
    "\u{feff}",
    "\0",
    "(define (problem p) (:domain ",
    "object",
    "(either a b)",
    "1e9",
    "-",
    "(not ",
    "(forall (?y - ",
    "\t",
    "\"",
    "\\",
    "(= (f) 1)",
];

const REQUESTS: &[&str] = &[
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/documentSymbol",
    "textDocument/formatting",
    "textDocument/codeAction",
    "textDocument/codeLens",
];

fn edit_at_random(edits: usize, seed: u64) {
    let mut random = Random::new(seed);
    let suites = ["blocks", "parcels", "jugs", "termes"];
    let mut done = 0;
    while done < edits {
        let name = suites[random.below(suites.len() as u64) as usize];
        let mut client = Client::with_suite(name);
        let files: Vec<&str> = ["domain.pddl", "p01.pddl", "p02.pddl", "knowledge.lp", "sentences.toml"]
            .into_iter()
            .filter(|file| suite(name).join(file).exists())
            .collect();
        files.iter().for_each(|file| drop(client.open(file)));
        for _ in 0..edits.min(100) {
            let file = files[random.below(files.len() as u64) as usize];
            let mut place = || json!({ "line": random.below(40), "character": random.below(60) });
            let (start, end) = (place(), place());
            let piece = PIECES[random.below(PIECES.len() as u64) as usize];
            // Mostly insertions and short replacements; some delete lines.
            let end = if random.below(4) == 0 { end } else { start.clone() };
            client.change(file, json!([{ "range": { "start": start, "end": end }, "text": piece }]));
            let method = REQUESTS[random.below(REQUESTS.len() as u64) as usize];
            let params = json!({
                "textDocument": { "uri": client.uri(file) }, "position": start, "range": { "start": start, "end": end },
                "newName": piece, "context": { "includeDeclaration": true, "diagnostics": [] }, "options": {},
            });
            if let Err((code, message)) = client.request(method, params) {
                assert_eq!(code, -32803, "{method}: {message}");
            }
            client.notified.clear();
            done += 1;
        }
    }
}

#[test]
fn two_hundred_random_edits_never_end_the_server() {
    edit_at_random(200, 21);
}

/// `cargo test -p planforge-lsp --test session -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_edits_never_end_the_server() {
    edit_at_random(10_000, 2026);
}
