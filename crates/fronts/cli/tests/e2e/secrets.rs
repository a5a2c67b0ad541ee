//! A key reaches the server and nothing else: no file of the run, no output, no error, however the server echoes it.

use super::support::{Ran, Run, files, pipeline, planforge, right_reply};
use planforge_testkit::{Scripted, ScriptedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const VARIABLE: &str = "PLANFORGE_TEST_KEY";
/// The second one has another form inside JSON texts.
const KEYS: [&str; 2] = ["sk-scripted-0123456789-abcdefgh", "sk-\"scripted\\9876543210/xyz"];

fn with_key(server: &ScriptedServer, key: &str) -> Run {
    let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    run.set("llm.main.api_key_env", VARIABLE).env(VARIABLE, key)
}

fn nowhere(key: &str, run: &Run, ran: &Ran) {
    let escaped = serde_json::to_string(key).unwrap();
    let forms = [key, escaped.trim_matches('"')];
    let clean = |what: &str, text: &str| {
        for form in forms {
            assert!(!text.contains(form), "the key is in {what}:\n{text}");
        }
    };
    clean("standard output", &ran.stdout);
    clean("standard error", &ran.stderr);
    let files = files(run.runs.path());
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        clean(&file.display().to_string(), &String::from_utf8_lossy(&fs::read(&file).unwrap()));
    }
}

fn authorization(request: &ScriptedRequest) -> String {
    request.header("authorization").unwrap_or("none").to_owned()
}

#[test]
fn the_key_is_sent_and_never_written() {
    for key in KEYS {
        let server = ScriptedServer::matching(right_reply).unwrap();
        let mut run = with_key(&server, key);
        let ran = run.go();
        nowhere(key, &run, ran.expect(0));
        assert_eq!(authorization(&server.requests()[0]), format!("Bearer {key}"));
    }
}

#[test]
fn a_server_that_echoes_the_key_in_an_error_does_not_spread_it() {
    for key in KEYS {
        let server = ScriptedServer::matching(|request| {
            let message = format!("scripted: wrong key: {}", authorization(request));
            Scripted::error(401, "invalid_key", &message).header("x-echo", &authorization(request))
        })
        .unwrap();
        let mut run = with_key(&server, key);
        let ran = run.go();
        nowhere(key, &run, ran.expect(34));
        assert!(ran.stdout.contains("wrong key"), "{}", ran.stdout);
        let mut run = with_key(&server, key).arg("--json");
        let ran = run.go();
        nowhere(key, &run, ran.expect(34));
    }
}

#[test]
fn a_model_that_writes_the_key_does_not_spread_it() {
    for key in KEYS {
        let server = ScriptedServer::matching(|request| {
            let problem = super::support::example_text("parcels", "p01.pddl");
            let reply = format!("; {}\n{}", authorization(request), super::support::fenced(&problem));
            Scripted::replies(&[&reply])
        })
        .unwrap();
        let cassettes = tempfile::tempdir().unwrap();
        let mut run =
            with_key(&server, key).arg("--json").arg("--record").arg(cassettes.path().join("c.jsonl"));
        let ran = run.go();
        nowhere(key, &run, ran.expect(0));
        let cassette = fs::read_to_string(cassettes.path().join("c.jsonl")).unwrap();
        let escaped = serde_json::to_string(key).unwrap();
        assert!(!cassette.contains(escaped.trim_matches('"')), "{cassette}");
        // What was redacted on the way in is the same on the way out.
        let replayed = Ran::wait(planforge().arg("replay").arg(run.folder()).arg("--json").spawn().unwrap());
        assert_eq!(replayed.expect(0).stdout, ran.stdout);
    }
}

#[test]
fn a_missing_key_is_reported_before_any_request() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    for value in [None, Some("")] {
        let run = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
        let mut run = run.set("llm.main.api_key_env", VARIABLE);
        if let Some(value) = value {
            run = run.env(VARIABLE, value);
        }
        let ran = run.go();
        ran.expect(36).says(&["cli.missing-secret", VARIABLE, "is not set", "help: "]);
        assert_eq!((ran.stdout.as_str(), run.folders().len()), ("", 0));
    }
    assert_eq!(server.count(), 0);
}

/// The option takes the name of a variable. A key given instead must not appear in a log.
#[test]
fn a_key_instead_of_its_variable_is_refused_and_not_printed() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let start = || Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    for option in ["api_key_env", "api_key"] {
        let mut run = start().set(&format!("llm.main.{option}"), KEYS[0]);
        let ran = run.go();
        ran.expect(32).says(&["pipeline.literal-secret", option, "environment variable"]);
        assert!(!ran.stderr.contains(KEYS[0]) && ran.stdout.is_empty(), "{}", ran.stderr);
        assert_eq!(run.folders().len(), 0);
    }
    assert_eq!(server.count(), 0);
}

#[test]
fn a_header_that_may_carry_a_key_is_refused_in_clear_and_taken_from_the_environment() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let start = || Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01");
    for header in ["X-Goog-Api-Key", "Ocp-Apim-Subscription-Key", "x-functions-key", "X-Session-Token"] {
        let mut run = start().set(&format!("llm.main.headers.{header}"), "plainvalue");
        let ran = run.go();
        ran.expect(32).says(&["pipeline.literal-secret", header, "llm.main.headers_env"]);
        assert!(!ran.stderr.contains("plainvalue") && ran.stdout.is_empty(), "{}", ran.stderr);
        assert_eq!(run.folders().len(), 0);
    }
    assert_eq!(server.count(), 0);
    let mut run = start().set("llm.main.headers_env.X-Goog-Api-Key", VARIABLE).env(VARIABLE, KEYS[0]);
    let ran = run.go();
    nowhere(KEYS[0], &run, ran.expect(0));
    assert_eq!(server.requests()[0].header("x-goog-api-key"), Some(KEYS[0]));
}

#[test]
fn a_key_goes_to_no_server_that_the_user_has_not_allowed() {
    let config = tempfile::tempdir().unwrap();
    let start = |server: &str| {
        let run = Run::new("llm-p.toml", server).task("parcels", "p01").set("llm.main.api_key_env", VARIABLE);
        run.env("XDG_CONFIG_HOME", config.path().to_str().unwrap())
    };
    let stranger = "https://stranger.invalid/v1";
    let mut refused = start(stranger).env(VARIABLE, KEYS[0]);
    let ran = refused.go();
    ran.expect(30).says(&["cli.consent", VARIABLE, "--allow-host https://stranger.invalid", "allow.toml"]);
    assert_eq!((ran.stdout.as_str(), refused.folders().len()), ("", 0));
    // A proxy sees what is sent to it.
    let mut proxied = start("http://127.0.0.1:9/v1").set("llm.main.proxy", "http://stranger.invalid:80");
    proxied.go().expect(30).says(&["cli.consent", "--allow-host http://stranger.invalid"]);
    // What is allowed gets as far as the missing value.
    start(stranger).arg("--allow-host").arg("stranger.invalid").go().expect(36).says(&["cli.missing-secret"]);
    fs::create_dir(config.path().join("planforge")).unwrap();
    let allowed = format!("[keys]\n{VARIABLE} = [\"stranger.invalid\"]\n");
    fs::write(config.path().join("planforge/allow.toml"), allowed).unwrap();
    start(stranger).go().expect(36).says(&["cli.missing-secret"]);
}

/// A pipeline of somebody else in a folder: its `[llm.main]` has these lines.
fn stranger_s_file(folder: &Path, model: &str) -> PathBuf {
    let table = "use = \"provider-openai\"\nbase_url = \"http://127.0.0.1:8081/v1\"\n";
    let text = fs::read_to_string(pipeline("llm-p.toml")).unwrap();
    assert!(text.contains(table));
    let path = folder.join("theirs.toml");
    fs::write(&path, text.replace(table, &format!("use = \"provider-openai\"\nmax_attempts = 1\n{model}\n")))
        .unwrap();
    path
}

fn run_of(file: &Path, config: &Path, more: &[&str]) -> Run {
    let runs = tempfile::tempdir().unwrap();
    let mut command = planforge();
    command.arg("run").arg(file).arg("--runs").arg(runs.path().join("runs")).args(more);
    command.env("XDG_CONFIG_HOME", config).env(VARIABLE, KEYS[0]).env("OPENAI_API_KEY", KEYS[0]);
    Run::of(command, runs).task("parcels", "p01")
}

#[test]
fn no_request_arrives_before_the_user_consented_to_what_the_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let origin = server.base_url().trim_end_matches("/v1").to_owned();
    let base_url = format!("base_url = {:?}", server.base_url());
    let keyed = format!("{base_url}\napi_key_env = \"{VARIABLE}\"");
    fs::write(folder.path().join("their.pem"), "their certificate").unwrap();
    // Nothing answers there; plain http would ask no authority.
    let trusting = "base_url = \"https://127.0.0.1:9/v1\"\nca_file = \"their.pem\"".to_owned();
    for (model, says) in [
        (keyed.clone(), ["`base_url`", VARIABLE, "--allow-host http://127.0.0.1"]),
        (
            format!("api_key_env = \"OPENAI_API_KEY\"\nca_file = \"their.pem\"\nproxy = {origin:?}"),
            ["`proxy`", "through `http://127.0.0.1", "--allow-ca "],
        ),
        (
            format!("{base_url}\nproxy = {origin:?}"),
            ["`proxy`", "without a key", "--allow-host http://127.0.0.1"],
        ),
        (trusting.clone(), ["`ca_file`", "their.pem", "--allow-ca "]),
    ] {
        let file = stranger_s_file(folder.path(), &model);
        let mut run = run_of(&file, folder.path(), &[]);
        run.go().expect(30).says(&["cli.consent", "theirs.toml:", "[llm.main]"]).says(&says);
        assert_eq!((server.count(), run.folders().len()), (0, 0), "{model}");
    }
    // The consent covers what was shown, until that changes.
    let file = stranger_s_file(folder.path(), &keyed);
    run_of(&file, folder.path(), &["--allow-host", &origin]).go().expect(0);
    assert_eq!(authorization(&server.requests()[0]), format!("Bearer {}", KEYS[0]));
    let file = stranger_s_file(folder.path(), &keyed.replace(&origin, "http://127.0.0.1:9"));
    run_of(&file, folder.path(), &["--allow-host", &origin]).go().expect(30).says(&["cli.consent"]);
    let file = stranger_s_file(folder.path(), &trusting);
    let refused = run_of(&file, folder.path(), &[]).go();
    let hash = refused.stderr.split("--allow-ca ").nth(1).unwrap()[..64].to_owned();
    let is_refused = |more: &[&str]| run_of(&file, folder.path(), more).go().stderr.contains("cli.consent");
    assert!(!is_refused(&["--allow-ca", &hash]));
    fs::create_dir(folder.path().join("planforge")).unwrap();
    let allowed = format!("[authorities]\n{hash} = \"their.pem\"\n");
    fs::write(folder.path().join("planforge/allow.toml"), allowed).unwrap();
    assert!(!is_refused(&[]));
    fs::write(folder.path().join("their.pem"), "another certificate").unwrap();
    for more in [&[][..], &["--allow-ca", &hash]] {
        run_of(&file, folder.path(), more).go().expect(30).says(&["cli.consent", "`ca_file`"]);
    }
    // A model on this machine that needs no key needs no consent.
    let requests = server.count();
    run_of(&stranger_s_file(folder.path(), &base_url), folder.path(), &[]).go().expect(0);
    assert!(server.count() > requests);
}

#[test]
fn a_broken_list_of_allowed_servers_fails_only_what_needs_it() {
    let config = tempfile::tempdir().unwrap();
    fs::create_dir(config.path().join("planforge")).unwrap();
    fs::write(config.path().join("planforge/allow.toml"), "[kyes]\n").unwrap();
    let config = config.path().to_str().unwrap();
    let server = ScriptedServer::matching(right_reply).unwrap();
    let mut run = with_key(&server, KEYS[0]).env("XDG_CONFIG_HOME", config);
    run.go().expect(0);
    let replay = planforge().env("XDG_CONFIG_HOME", config).arg("replay").arg(run.folder()).spawn().unwrap();
    Ran::wait(replay).expect(0);
    let mut stranger = Run::new("llm-p.toml", "https://stranger.invalid/v1").task("parcels", "p01");
    stranger = stranger.set("llm.main.api_key_env", VARIABLE).env(VARIABLE, KEYS[0]);
    stranger.env("XDG_CONFIG_HOME", config).go().expect(30).says(&["cli.consent", "allow.toml", "kyes"]);
}

/// An interface of a provider.
struct Interface {
    name: &'static str,
    set: &'static [&'static str],
    /// Header that carries the key, and the text before it.
    header: (&'static str, &'static str),
    /// A response whose reply has these parts, and reasoning.
    response: fn(&[&str], &str) -> Value,
}

const INTERFACES: [Interface; 4] = [
    Interface {
        name: "chat completions",
        set: &[],
        header: ("authorization", "Bearer "),
        response: |parts, thought| {
            let parts: Vec<Value> = parts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            let message = json!({"role": "assistant", "content": parts, "reasoning_content": thought});
            let choice = json!({"index": 0, "finish_reason": "stop", "message": message});
            json!({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
        },
    },
    Interface {
        name: "Responses",
        set: &["llm.main.interface=responses"],
        header: ("authorization", "Bearer "),
        response: |parts, thought| {
            let parts: Vec<Value> = parts
                .iter()
                .map(|text| json!({"type": "output_text", "text": text, "annotations": []}))
                .collect();
            let reasoning = json!({"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": thought}]});
            let message = json!({"type": "message", "id": "i", "role": "assistant", "status": "completed", "content": parts});
            json!({"id": "x", "object": "response", "model": "m", "status": "completed", "output": [reasoning, message],
                   "usage": {"input_tokens": 1, "output_tokens": 1}})
        },
    },
    Interface {
        name: "Messages",
        set: &["llm.main.use=provider-anthropic"],
        header: ("x-api-key", ""),
        response: |parts, thought| {
            let mut blocks = vec![json!({"type": "thinking", "thinking": thought, "signature": "s"})];
            blocks.extend(parts.iter().map(|text| json!({"type": "text", "text": text})));
            json!({"id": "x", "type": "message", "role": "assistant", "model": "m", "content": blocks,
                   "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}})
        },
    },
    Interface {
        name: "generateContent",
        set: &["llm.main.use=provider-gemini"],
        header: ("x-goog-api-key", ""),
        response: |parts, thought| {
            let mut all = vec![json!({"text": thought, "thought": true})];
            all.extend(parts.iter().map(|text| json!({"text": text})));
            json!({"candidates": [{"content": {"parts": all}, "finishReason": "STOP"}], "modelVersion": "m",
                   "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1}})
        },
    },
];

/// Every letter as `\\uXXXX`.
fn escaped_letters(text: &str) -> String {
    text.chars().map(|c| format!("\\u{:04x}", c as u32)).collect()
}

/// Ways in which a server returns the key, each with the response.
fn echoes(interface: &Interface, key: &str, problem: &str) -> Vec<(&'static str, Scripted)> {
    let response = |parts: &[&str], thought: &str| (interface.response)(parts, thought).to_string();
    let good = |body: String| Scripted::raw(200, body);
    let (first, second) = key.split_at(key.len() / 2);
    let (first, second) = (format!("; {first}"), format!("{second}\n{problem}"));
    let whole = format!("; {key}\n{problem}");
    let in_json = serde_json::to_string(key).unwrap();
    let letters = response(&[&whole], "").replace(in_json.trim_matches('"'), &escaped_letters(key));
    let error =
        json!({"error": {"message": format!("scripted: wrong key: {key}"), "type": "scripted", "code": 401}});
    let split_error = json!({"error": {"message": "scripted: refused", "details": [{"a": key}, {"b": format!("x{key}y")}]}});
    vec![
        ("plain", good(response(&[&whole], ""))),
        ("in two parts", good(response(&[&first, &second], ""))),
        ("letter by letter", good(letters)),
        ("in the reasoning", good(response(&[problem], &format!("the key is {key}")))),
        ("in a header", good(response(&[problem], "")).header("x-echo", &key.replace('"', ""))),
        ("in an error", Scripted::raw(401, error.to_string())),
        ("in the parts of an error", Scripted::raw(400, split_error.to_string())),
        ("in a page", Scripted::raw(502, format!("<html>{key}</html>"))),
    ]
}

#[test]
fn no_provider_leaves_a_key_in_any_file_or_output() {
    let problem = super::support::fenced(&super::support::example_text("parcels", "p01.pddl"));
    std::thread::scope(|scope| {
        for interface in &INTERFACES {
            let problem = &problem;
            scope.spawn(move || {
                for (what, answer) in echoes(interface, KEYS[0], problem) {
                    let place = format!("{}, {what}", interface.name);
                    no_trace(interface, KEYS[0], &place, answer);
                }
            });
        }
    });
}

fn no_trace(interface: &Interface, key: &str, place: &str, answer: Scripted) {
    let server = ScriptedServer::matching(move |_| answer.clone()).unwrap();
    let mut run = with_key(&server, key);
    for set in interface.set {
        run = run.arg("--set").arg(set);
    }
    let ran = run.go();
    assert!([0, 34].contains(&ran.exit), "{place}: {}{}", ran.stdout, ran.stderr);
    let (header, before) = interface.header;
    assert_eq!(server.requests()[0].header(header), Some(format!("{before}{key}").as_str()), "{place}");
    let folder = run.folder();
    let page = run.runs.path().join("page.html");
    let report = Ran::wait(planforge().arg("report").arg(&folder).arg("--out").arg(&page).spawn().unwrap());
    let replay = Ran::wait(planforge().arg("replay").arg(&folder).arg("--json").spawn().unwrap());
    assert_eq!((report.exit, replay.exit), (0, ran.exit), "{place}: {}{}", report.stderr, replay.stderr);
    assert!(page.is_file());
    for ran in [&ran, &report, &replay] {
        nowhere(key, &run, ran);
    }
    if place.ends_with("in two parts") {
        let (first, second) = key.split_at(key.len() / 2);
        for file in files(run.runs.path()) {
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(
                !text.contains(first) && !text.contains(second),
                "{place}: half of it in {}",
                file.display()
            );
        }
    }
}
