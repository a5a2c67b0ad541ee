//! The cost of a run, and the report of a finished run.

use super::support::{Ran, Run, example, pipeline, planforge, ran, right_reply};
use planforge_testkit::{Scripted, ScriptedServer};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The shipped pipeline, asking a server at that address, whose model has these further keys.
fn priced(folder: &Path, address: &str, price: &str) -> PathBuf {
    let text = fs::read_to_string(pipeline("llm-p.toml")).unwrap();
    let (before, after) = text.split_once("[llm.main]\n").unwrap();
    let lines = after.lines().filter(|line| !line.starts_with("base_url") && !line.starts_with("api_key"));
    let after: Vec<&str> = lines.collect();
    let file = folder.join("priced.toml");
    let text = format!("{before}[llm.main]\nbase_url = {address:?}\nprice = {price}\n{}\n", after.join("\n"));
    fs::write(&file, text).unwrap();
    file
}

fn only(folder: &Path) -> PathBuf {
    let entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(entries.len(), 1, "{entries:?}");
    entries[0].clone()
}

fn report(run: &Path) -> (Vec<u8>, Value) {
    let bytes = fs::read(run.join("report.json")).unwrap();
    let value = serde_json::from_slice(&bytes).unwrap();
    (bytes, value)
}

#[test]
fn a_finished_run_leaves_its_report_and_resume_replay_and_evaluate_agree() {
    let place = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let file = priced(place.path(), &server.base_url(), "{ prompt = 2.0, completion = 8.0 }");
    let (runs, suite) = (place.path().join("runs"), name(&example("parcels", "")));
    let told = ran(["run", &name(&file), "--suite", &suite, "--seed", "7", "--runs", &name(&runs)]);
    assert!(told.expect(0).stdout.contains("\ncost: $"), "{}", told.stdout);
    let run = only(&runs);
    let (bytes, kept) = report(&run);
    assert_eq!(kept["state"], "finished");
    assert_eq!(kept["prices"]["main"]["completion"], 8.0);
    let replayed = ran(["replay", &name(&run), "--json"]).json(0);
    assert_eq!(replayed["tasks"], kept["tasks"], "a replay comes to the same");
    fs::remove_file(run.join("report.json")).unwrap();
    ran(["run", "--resume", &name(&run)]).expect(0);
    assert_eq!(report(&run).0, bytes, "a run that is resumed leaves the same bytes");
    let out = place.path().join("out");
    let (file, out_name) = (name(&file), name(&out));
    ran(["evaluate", "--suite", &suite, "--pipeline", &file, "--seeds", "7", "--out", &out_name]).expect(0);
    assert_eq!(report(&out.join("cells/parcels/priced/7")).0, bytes, "so does a cell of an evaluation");

    // What it cost stands with every task, and adds up.
    let evaluation: Value = serde_json::from_slice(&fs::read(out.join("evaluation.json")).unwrap()).unwrap();
    let cell = &evaluation["cells"][0];
    let tasks = cell["tasks"].as_array().unwrap();
    let sum: f64 = tasks.iter().map(|task| task["cost"]["known_usd"].as_f64().unwrap()).sum();
    let usage = &cell["usage"];
    let tokens = |key: &str| usage[key].as_f64().unwrap();
    let expected = (2.0 * tokens("prompt_tokens") + 8.0 * tokens("completion_tokens")) / 1e6;
    assert!(expected > 0.0 && (sum - expected).abs() < 1e-12, "{sum} {expected}");
    assert!(tasks.iter().all(|task| task["seconds"].as_f64().unwrap() >= 0.0));
    assert!(fs::read_to_string(out.join("evaluation.txt")).unwrap().contains('$'));

    // A comparison has the prices of either side, of an evaluation and of a run by itself.
    let compared = ran(["compare", &out_name, &name(&run), "--json"]);
    let compared: Value = serde_json::from_str(&compared.stdout).unwrap();
    let rates = compared["efficiency"].as_array().unwrap();
    let dollars = rates.iter().find(|rate| rate["per"] == "US dollar").unwrap();
    assert_eq!(dollars["pairs"], tasks.len());
    assert!((dollars["a"]["spent"].as_f64().unwrap() - expected).abs() < 1e-12, "{dollars}");
    assert_eq!(dollars["a"]["spent"], dollars["b"]["spent"]);
}

#[test]
fn an_unknown_price_is_a_question_mark_and_an_empty_field() {
    let place = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let file = priced(place.path(), &server.base_url(), "{ prompt = 2.0 }");
    let (out, suite) = (place.path().join("out"), name(&example("parcels", "")));
    let file = name(&file);
    let args = ["evaluate", "--suite", &suite, "--pipeline", &file, "--seeds", "7", "--tasks", "1", "--out"];
    ran(args.iter().copied().chain([name(&out).as_str()])).expect(0);
    let text = fs::read_to_string(out.join("evaluation.txt")).unwrap();
    assert!(text.contains('?') && !text.contains('$'), "{text}");
    let csv = fs::read_to_string(out.join("cells.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    let at = lines[0].split(',').position(|column| column == "cost_usd").unwrap();
    assert_eq!(lines[1].split(',').nth(at), Some(""), "{csv}");
}

#[test]
fn the_report_of_a_run_is_current_also_after_a_failure() {
    let up = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&up);
    let server = ScriptedServer::matching(move |request| match is_up.load(Ordering::SeqCst) {
        true => right_reply(request),
        false => Scripted::error(500, "overloaded", "not now"),
    })
    .unwrap();
    let mut run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run.go().expect(34);
    let folder = run.folder();
    assert_eq!(report(&folder).1["tasks"][0]["verdict"]["verdict"], "failed");
    up.store(true, Ordering::SeqCst);
    ran(["run", "--resume", &name(&folder)]).expect(0);
    let (_, mended) = report(&folder);
    assert_eq!(
        (&mended["state"], &mended["tasks"][0]["verdict"]["verdict"]),
        (&"finished".into(), &"accepted".into())
    );
}

/// The shipped pipeline at that address, without a price.
fn unpriced(folder: &Path, address: &str, more: &str) -> PathBuf {
    let file = priced(folder, address, "{}");
    let text = fs::read_to_string(&file).unwrap().replace("price = {}", more);
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn a_question_that_was_retried_shows_its_requests() {
    let failures = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let server = ScriptedServer::matching(move |request| match failures.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Scripted::error(500, "overloaded", "not now"),
        _ => right_reply(request),
    })
    .unwrap();
    let place = tempfile::tempdir().unwrap();
    let file = priced(place.path(), &server.base_url(), "{ prompt = 2.0, completion = 8.0 }\nbackoff_ms = 1");
    let (task, runs) = (name(&example("parcels", "p01")), name(&place.path().join("runs")));
    let told = ran(["run", &name(&file), "--task", &task, "--runs", &runs]);
    assert!(told.expect(0).stdout.contains("1 call, 3 requests"), "{}", told.stdout);
    assert_eq!(server.count(), 3);
}

#[test]
fn a_listed_price_is_used_recorded_and_kept_and_without_one_a_cap_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let file = name(&unpriced(place.path(), &server.base_url(), "max_cost_usd = 5.0"));
    let (task, runs) = (name(&example("parcels", "p01")), place.path().join("runs"));
    let config = place.path().join("config");
    let list = config.join("planforge/prices.toml");
    fs::create_dir_all(list.parent().unwrap()).unwrap();
    let go = |args: &[&str]| {
        let mut command = planforge();
        command.env("XDG_CONFIG_HOME", &config);
        Ran::wait(command.args(args).spawn().unwrap())
    };
    let run = ["run", file.as_str(), "--task", task.as_str(), "--runs", &name(&runs)];
    go(&run).expect(32).says(&["max_cost_usd", "prices.toml"]);
    let entry = |prompt: &str| {
        format!(
            "[[price]]\nprovider = \"provider-openai\"\nmodels = [\"*\"]\nbase_url = {:?}\n\
             price = {{ prompt = {prompt}, completion = 8.0 }}\ndate = \"2026-11-01\"\nsource = \"our contract\"\n",
            server.base_url()
        )
    };
    fs::write(&list, entry("2.0")).unwrap();
    let told = go(&run);
    told.expect(0).says(&["[llm.main]: prompt $2, completion $8", "as of 2026-11-01 (our contract)"]);
    assert!(told.stdout.contains("\ncost: $"), "{}", told.stdout);
    let folder = only(&runs);
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    let used = &manifest["settings"]["prices"]["main"];
    assert_eq!((&used["source"], &used["date"]), (&"our contract".into(), &"2026-11-01".into()));
    assert_eq!(used["price"]["prompt"], 2.0);
    // A list that changes later, or is gone, changes no run that is over.
    let (_, first) = report(&folder);
    fs::write(&list, entry("200.0")).unwrap();
    let replayed = go(&["replay", &name(&folder), "--json"]).json(0);
    assert_eq!(replayed["prices"], first["prices"]);
    fs::remove_file(&list).unwrap();
    fs::remove_file(folder.join("report.json")).unwrap();
    go(&["run", "--resume", &name(&folder)]).expect(0);
    assert_eq!(report(&folder).1["prices"]["main"]["prompt"], 2.0);
    // A list that cannot be read is named.
    fs::write(&list, "price = 1\n").unwrap();
    go(&run).expect(33).says(&["cli.prices", "prices.toml"]);
}

#[test]
fn a_model_without_a_price_is_named() {
    let place = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let file = name(&unpriced(place.path(), &server.base_url(), ""));
    let (task, runs) = (name(&example("parcels", "p01")), name(&place.path().join("runs")));
    let told = ran(["run", &file, "--task", &task, "--runs", &runs]);
    let line = "\ncost: unknown: no price for the model of [llm.main]\n";
    assert!(told.expect(0).stdout.contains(line), "{}", told.stdout);
}
