//! `--dry-run`, compared with the requests of the run: shipped pipelines with a simulated model.

use super::support::{Run, events, example, ran, right_reply, simulated};
use planforge_testkit::ScriptedServer;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Pipelines in small sizes; the label of each task's first requests; upper bounds on requests and replies of
/// two tasks.
const PIPELINES: [(&str, &[&str], &str, u64, u64); 7] = [
    ("llm-p", &[], "problem", 2, 2),
    ("llm-p", &["stage.problem.options.grammar=prefer", "stage.problem.n=3"], "problem", 2, 6),
    ("pd-chain", &["stage.refine.rounds=2"], "problem", 1, 1),
    ("bon-ivml", &["stage.domain.n=3", "stage.ivml.rounds=2"], "domain", 2, 6),
    ("actions-corrective", &[], "actions", 8, 8),
    ("tic-g3", &[], "problem", 2, 2),
    ("bon-ivml-budget", &["stage.search.budget.calls=6"], "domain#1", 2, 2),
];

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The questions of a run that were the first of their call, in calls of that stage. All actions of a call are asked for at first.
fn first_wave(run: &Path, stage: &str) -> usize {
    let paths = events(run, "completion").into_iter().map(|e| e["path"].as_str().unwrap().to_owned());
    let questions: BTreeSet<String> = paths.map(|p| p.rsplit_once('/').unwrap().0.to_owned()).collect();
    let is_first = |question: &&String| {
        let parts: Vec<&str> = question.split('/').collect();
        parts[1] == stage && (stage == "actions" || parts.last() == Some(&"0"))
    };
    questions.iter().filter(is_first).count()
}

struct Asked {
    calls: u64,
    replies: u64,
}

fn asked(out: &Path) -> Asked {
    let text = fs::read_to_string(out.join("evaluation.json")).unwrap();
    let evaluation: Value = serde_json::from_str(&text).unwrap();
    let usage = &evaluation["cells"][0]["usage"];
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    Asked { calls: count("calls") + count("failed"), replies: count("replies") }
}

#[test]
fn a_dry_run_predicts_the_requests_of_the_run() {
    for (pipeline, set, stage, calls_now, replies_now) in PIPELINES {
        let place = tempfile::tempdir().unwrap();
        // The example of the last one comes from the other suite.
        let suite_name = if pipeline == "pd-chain" { "garden" } else { "blocks" };
        let suite = example(suite_name, "");
        let file = simulated(place.path(), pipeline, std::slice::from_ref(&suite), "errors = 1");
        let out = place.path().join("out");
        let evaluate = |more: &[&str]| {
            let (suite, file, out) = (name(&suite), name(&file), name(&out));
            let mut args = vec!["evaluate", "--suite", &suite, "--pipeline", &file, "--seeds", "7"];
            args.extend(["--tasks", "2", "--out", &out]);
            args.extend(set.iter().flat_map(|set| ["--set", *set]));
            ran(args.iter().chain(more))
        };
        let before = evaluate(&["--dry-run", "--json"]).json(0);
        assert!(!out.exists(), "{pipeline}: a dry run writes nothing");
        let cell = &before["cells"][0];
        let (now, most) = (&cell["now"], &cell["most"]);
        assert_eq!(cell["paid"]["calls"], 0, "{pipeline}");
        assert_eq!(cell["unpriced"][0], "main");
        assert!(now["estimated_usd"].is_null() && most["estimated_usd"].is_null(), "{pipeline}: never 0");

        let real = evaluate(&[]);
        assert!(real.exit < 30, "{pipeline}: {}", real.stderr);
        let run = out.join("cells").join(suite_name).join(pipeline).join("7");
        let asked = asked(&out);
        assert_eq!((&now["calls"], &now["replies"]), (&calls_now.into(), &replies_now.into()), "{pipeline}");
        assert_eq!(now["calls"], first_wave(&run, stage), "{pipeline}: the first wave is exact");
        assert!(asked.calls >= now["calls"].as_u64().unwrap(), "{pipeline}");
        let (calls, replies) = (most["calls"].as_u64().unwrap(), most["replies"].as_u64().unwrap());
        assert!(asked.calls <= calls, "{pipeline}: {} calls, at most {calls}", asked.calls);
        assert!(asked.replies <= replies, "{pipeline}: {} replies, at most {replies}", asked.replies);
        println!("{pipeline}: {} of {calls} calls, {} of {replies} replies", asked.calls, asked.replies);

        let after = evaluate(&["--resume", "--dry-run", "--json"]).json(0);
        let paid = &after["cells"][0]["paid"];
        assert_eq!(paid["replies"], asked.replies, "{pipeline}: all of it is paid for");
        assert_eq!(after["cells"][0]["now"]["calls"], 0, "{pipeline}: nothing is left");
    }
}

#[test]
fn cassette_replies_count_as_paid_and_a_resumed_run_pays_for_the_rest() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let place = tempfile::tempdir().unwrap();
    let cassette = place.path().join("p01.jsonl");
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run = run.arg("--record").arg(&cassette);
    run.go().expect(0);
    let asked = server.requests().len();

    // Two tasks, of which the cassette has one: nobody is asked, and no run folder appears.
    let dry = |base_url: &str, more: &[&str]| {
        let mut dry = Run::new("llm-p.toml", base_url).task("parcels", "p01").task("parcels", "p02");
        dry = dry.arg("--record").arg(&cassette).arg("--dry-run").set("llm.main.api_key_env", "NO_SUCH_KEY");
        for argument in more {
            dry = dry.arg(argument);
        }
        let ran = dry.go();
        assert!(dry.folders().is_empty());
        ran
    };
    let price = "llm.main.price={ prompt = 2.0, completion = 8.0 }";
    let estimate = dry(&server.base_url(), &["--json", "--set", price]).json(0);
    assert_eq!(server.requests().len(), asked, "nobody was asked");
    let cell = &estimate["cells"][0];
    assert_eq!(
        (&cell["paid"]["calls"], &cell["now"]["calls"], &cell["most"]["calls"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert!(cell["now"]["estimated_usd"].as_f64().unwrap() > 0.0);
    assert!(cell["paid"]["cost"]["known_usd"].as_f64().unwrap() > 0.0);
    let text = dry("http://127.0.0.1:9/v1", &[]);
    text.expect(0);
    for word in ["price unknown: llm.main of llm-p", "paid calls", "calls <=", "begun"] {
        assert!(text.stdout.contains(word), "{word}: {}", text.stdout);
    }
    dry("http://127.0.0.1:9/v1", &["--reply-tokens", "7"]).expect(0);
    let folder: PathBuf = run.folder();
    let resumed = ran(["run", "--resume", &name(&folder), "--dry-run", "--json"]).json(0);
    assert_eq!(resumed["cells"][0]["paid"]["calls"], 1);
    assert_eq!(resumed["cells"][0]["now"]["calls"], 0);
}
