//! Random edits over the files of all suites, with requests in between: the server goes on, and knows the text that the client has.

use crate::client::{Client, replace, suite};
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

/// Edits in one session.
const SESSION: usize = 100;

fn edit_at_random(edits: usize, seed: u64) {
    let mut random = Random::new(seed);
    let mut suites: Vec<String> = std::fs::read_dir(suite(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| suite(name).join("domain.pddl").exists())
        .collect();
    suites.sort();
    for _ in 0..edits.div_ceil(SESSION) {
        edit_suite(&suites[random.below(suites.len() as u64) as usize], &mut random);
    }
}

/// A session with a request after each edit. Its last diagnostics are those of a fresh server on the same texts.
fn edit_suite(name: &str, random: &mut Random) {
    let mut client = Client::with_suite(name);
    let mut texts: Vec<(&str, String)> =
        ["domain.pddl", "p01.pddl", "p02.pddl", "knowledge.lp", "sentences.toml"]
            .into_iter()
            .filter(|file| suite(name).join(file).exists())
            .map(|file| (file, client.read(file)))
            .collect();
    texts.iter().for_each(|(file, _)| drop(client.open(file)));
    for _ in 0..SESSION {
        let chosen = random.below(texts.len() as u64) as usize;
        let (file, text) = &mut texts[chosen];
        let mut place = || json!({ "line": random.below(40), "character": random.below(60) });
        let (start, end) = (place(), place());
        let piece = PIECES[random.below(PIECES.len() as u64) as usize];
        // Mostly insertions and short replacements; some delete lines.
        let end = if random.below(4) == 0 { end } else { start.clone() };
        let range = json!({ "start": start, "end": end });
        replace(text, &range, piece);
        client.change(file, json!([{ "range": range, "text": piece }]));
        let method = REQUESTS[random.below(REQUESTS.len() as u64) as usize];
        let params = json!({
            "textDocument": { "uri": client.uri(file) }, "position": start, "range": { "start": start, "end": start },
            "newName": piece, "context": { "includeDeclaration": true, "diagnostics": [] }, "options": {},
        });
        if let Err((code, message)) = client.request(method, params) {
            assert_eq!(code, -32803, "{method}: {message}");
        }
        client.notified.clear();
    }
    let mut fresh = Client::with_suite(name);
    texts.iter().for_each(|(file, text)| drop(fresh.open_text(file, text)));
    assert_eq!(client.newest_diagnostics(), fresh.newest_diagnostics(), "{name}: {texts:#?}");
}

#[test]
fn two_hundred_random_edits_never_end_the_server() {
    edit_at_random(200, 21);
}

/// `cargo xtask long-tests` runs it.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_random_edits_never_end_the_server() {
    edit_at_random(10_000, 2026);
}
