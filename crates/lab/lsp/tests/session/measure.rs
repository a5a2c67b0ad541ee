//! Times of requests on a suite's file and on one of 50,000 lines: `cargo test --release -p planforge-lsp --test session measure -- --ignored --nocapture`.

use crate::client::Client;
use serde_json::json;
use std::fmt::Write;
use std::time::{Duration, Instant};

const ROUNDS: usize = 40;

/// A problem of the suite `parcels` with that many lines.
fn large_problem(lines: usize) -> String {
    let mut text = "(define (problem large)\n  (:domain parcels)\n  (:objects\n".to_owned();
    (0..1000).for_each(|n| writeln!(text, "    town{n} - town").unwrap());
    text += "    parcel1 - parcel)\n  (:init\n    (van-at town0)\n    (van-empty)\n    (parcel-at parcel1 town7)\n";
    for n in 0..lines.saturating_sub(1011) {
        writeln!(text, "    (road town{} town{})", n % 1000, (n / 1000 + n + 1) % 1000).unwrap();
    }
    text + "    (road town7 town0))\n  (:goal (parcel-at parcel1 town0)))\n"
}

fn percentiles(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1000.0;
    format!("p50 {:8.2} ms  p99 {:8.2} ms", at(50), at(99))
}

#[test]
#[ignore = "prints times"]
#[allow(clippy::print_stdout, reason = "the times are the result")]
fn measure_requests_on_small_and_large_files() {
    let mut client = Client::with_suite("parcels");
    client.write("large.pddl", &large_problem(50_000));
    for file in ["p01.pddl", "large.pddl"] {
        let text = client.read(file);
        println!("{file}: {} lines, {} bytes", text.lines().count(), text.len());
        let started = Instant::now();
        let found = client.open(file);
        println!(
            "  {:32} {:8.2} ms, {} diagnostics",
            "open",
            started.elapsed().as_secs_f64() * 1000.0,
            found.len()
        );
        // One character behind `(van-at`, and back: the name is wrong every other time.
        let place = crate::client::position(&text, "(van-at");
        let mut after = place.clone();
        after["character"] = json!(place["character"].as_u64().unwrap() + 1);
        let times = (0..ROUNDS).map(|round| {
            let started = Instant::now();
            let (end, text) = if round % 2 == 0 { (&place, "x") } else { (&after, "") };
            client.change(file, json!([{ "range": { "start": place, "end": end }, "text": text }]));
            assert_eq!(client.diagnostics(file).is_empty(), round % 2 == 1);
            started.elapsed()
        });
        println!("  {:32} {}", "change to diagnostics", percentiles(times.collect()));
        for method in [
            "definition",
            "references",
            "rename",
            "hover",
            "completion",
            "documentSymbol",
            "formatting",
            "codeLens",
        ] {
            let method = format!("textDocument/{method}");
            let more =
                json!({ "newName": "lorry-at", "context": { "includeDeclaration": true }, "options": {} });
            let times = (0..ROUNDS).map(|_| {
                let started = Instant::now();
                client.ask(&method, file, &text, "(van-at", more.clone()).unwrap();
                started.elapsed()
            });
            println!("  {method:32} {}", percentiles(times.collect()));
        }
    }
}
