//! `--model`, the user's own model tables, `models check`, `check` of model tables, and the help of a server's error.

use super::support::{Ran, Run, example, pipeline, planforge, ran, right_reply, verdict};
use planforge_testkit::{Choice, Scripted, ScriptedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::path::Path;

const KEY: &str = "sk-scripted-0123456789-choice";

/// A configuration folder with this `planforge/config.toml`.
fn config(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("planforge")).unwrap();
    std::fs::write(folder.path().join("planforge/config.toml"), text).unwrap();
    folder
}

fn own_table(base_url: &str) -> String {
    format!(
        "[models.own]\nuse = \"provider-openai\"\nmodel = \"own-model\"\nbase_url = \"{base_url}\"\napi_key_env = \"OWN_KEY\"\n\
         temperature = 0.5\nheaders = {{ User-Agent = \"mine\" }}\n"
    )
}

/// `planforge COMMAND ...` with a configuration folder.
fn command(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = planforge();
    command.env("XDG_CONFIG_HOME", folder).env("OWN_KEY", KEY).args(arguments);
    Ran::wait(command.spawn().unwrap())
}

#[test]
fn a_table_of_the_user_replaces_the_model_of_run_check_and_evaluate() {
    let server = ScriptedServer::matching(right_reply).unwrap();
    let folder = config(&own_table(&server.base_url()));
    let mut run = Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01");
    run = run.arg("--model").arg("own").arg("--json").env("OWN_KEY", KEY);
    // `--set` wins over the table, wherever it stands.
    run = run.set("llm.main.base_url", &server.base_url());
    let mut run = run.env("XDG_CONFIG_HOME", folder.path().to_str().unwrap());
    assert_eq!(verdict(&run.go().json(0), 0), "accepted");
    let [request] = &server.requests()[..] else { panic!() };
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(request.header("user-agent"), Some("mine"));
    assert_eq!(
        (&request.json()["model"], &request.json()["temperature"]),
        (&json!("own-model"), &json!(0.5))
    );

    let file = pipeline("llm-p.toml");
    command(folder.path(), &["check", file.to_str().unwrap(), "--model", "own"]).expect(0);

    let out = tempfile::tempdir().unwrap();
    let suite = example("parcels", "");
    let arguments = [
        "evaluate",
        "--suite",
        suite.to_str().unwrap(),
        "--pipeline",
        file.to_str().unwrap(),
        "--model",
        "own",
        "--model",
        "local:other",
        "--tasks",
        "1",
        "--seeds",
        "1",
        "--only",
        "model=own",
        "--out",
        out.path().to_str().unwrap(),
    ];
    command(folder.path(), &arguments).expect(0);
    assert!(out.path().join("cells/parcels/llm-p@own/1/report.json").is_file());
    let matrix = std::fs::read_to_string(out.path().join("matrix.json")).unwrap();
    assert!(matrix.contains("local-other") && !matrix.contains(KEY), "{matrix}");
}

#[test]
fn an_unknown_model_lists_the_known_ones() {
    let folder = config(&own_table("https://own.example.org/v1"));
    let file = pipeline("llm-p.toml");
    let with = |name: &str| command(folder.path(), &["check", file.to_str().unwrap(), "--model", name]);
    for name in ["mine", "mistral:large", "own:x"] {
        let known = ["`openai:NAME`", "`local:NAME`", "`own`", "config.toml", "[models."];
        with(name).expect(30).says(&[&format!("there is no model `{name}`")]).says(&known);
    }
    with("openai:").expect(30).says(&["the name of the model is missing after `openai:`"]);
    let no_plugin = config("[models.bare]\nmodel = \"m\"\n");
    command(no_plugin.path(), &["check", file.to_str().unwrap(), "--model", "bare"])
        .expect(30)
        .says(&["`[models.bare]`", "has no `use`"]);
    let broken = config("[modles]\n");
    let broken = |name| command(broken.path(), &["check", file.to_str().unwrap(), "--model", name]);
    broken("own").expect(30).says(&["cli.config", "modles"]);
    broken("local:m").expect(0);
}

#[test]
fn a_model_file_without_its_plugin_says_how_to_get_it() {
    let file = pipeline("llm-p.toml");
    let without = ran(["check", file.to_str().unwrap(), "--model", "local:weights/m.gguf"]);
    let steps =
        ["there is no plugin `provider-local`", "cargo build --release", "--plugin-dir", "local-model.md"];
    without.expect(10).says(&steps);
}

#[test]
fn the_demo_asks_the_model_that_is_named() {
    let server = ScriptedServer::matching(|_| Scripted::replies(&["NO TASK: no cake is left"])).unwrap();
    let folder = config(&own_table(&server.base_url()));
    command(folder.path(), &["demo", "--model", "own"]).expect(12);
    let models: Vec<Value> =
        server.requests().iter().map(|request| request.json()["model"].clone()).collect();
    assert_eq!(models, vec![json!("own-model"); 3]);
}

#[test]
fn a_table_of_the_user_is_the_consent_to_send_its_key_to_its_server() {
    let folder = config(&own_table("https://own.example.org/v1").replace("own-model", "m"));
    let file = pipeline("llm-p.toml");
    let task = example("parcels", "p01");
    let run = |more: &[&str]| {
        let mut all =
            vec!["run", file.to_str().unwrap(), "--task", task.to_str().unwrap(), "--model", "own", "--runs"];
        let runs = folder.path().join("runs");
        all.push(runs.to_str().unwrap());
        all.extend(more);
        let mut command = planforge();
        command.env("XDG_CONFIG_HOME", folder.path()).args(all);
        Ran::wait(command.spawn().unwrap())
    };
    // Without the value of the variable a run that may send it ends at that.
    run(&[]).expect(36).says(&["cli.missing-secret", "OWN_KEY"]);
    run(&["--set", "llm.main.base_url=https://other.example.org/v1"]).expect(30).says(&["cli.consent"]);
}

#[test]
fn check_refuses_the_addresses_and_headers_that_a_run_refuses_and_needs_no_key() {
    let file = pipeline("llm-p.toml");
    let check = |set: &[&str]| {
        let sets = set.iter().flat_map(|set| ["--set", set]);
        ran(["check", file.to_str().unwrap()].into_iter().chain(sets))
    };
    for (set, says) in [
        ("llm.main.base_url=ftp://127.0.0.1/v1", "begins with http:// or https://"),
        ("llm.main.base_url=no-address", "`base_url` is not a URL"),
        ("llm.main.base_url=https://me:pw@127.0.0.1/v1", "user name or password"),
        ("llm.main.proxy=socks5://127.0.0.1:1", "`proxy` begins with"),
        ("llm.main.timeout_s=0", "`timeout_s` is above 0"),
        ("llm.main.ca_file=no-such.pem", "no-such.pem"),
    ] {
        let checked = check(&[set]);
        checked.expect(10).says(&["[llm.main]", says]);
        assert_eq!(checked.stdout, "", "{set}");
        let run =
            Run::new("llm-p.toml", "http://127.0.0.1:9/v1").task("parcels", "p01").arg("--set").arg(set).go();
        assert!(run.exit >= 30, "a run refuses it too: {set}");
    }
    // The name of a file that cannot be read is not the text of its certificates.
    let unread = check(&["llm.main.base_url=https://127.0.0.1:9/v1", "llm.main.ca_file=no-such.pem"]);
    assert!(!unread.expect(10).stderr.contains("--allow-ca"), "{}", unread.stderr);
    let unset = check(&["llm.main.use=provider-anthropic", "llm.main.api_key_env=ANTHROPIC_API_KEY"]);
    unset.expect(0).says(&["cli.missing-secret", "ANTHROPIC_API_KEY is not set", "1 remark"]);
    assert!(unset.stdout.ends_with("llm-p.toml: good\n"), "{}", unset.stdout);
    let stranger = ["llm.main.base_url=https://stranger.invalid/v1", "llm.main.api_key_env=OPENAI_API_KEY"];
    check(&stranger).expect(0).says(&["cli.consent", "--allow-host https://stranger.invalid", "2 remarks"]);
}

#[test]
fn the_error_of_a_server_names_our_key() {
    let text = "Unrecognized request argument supplied: seed";
    let server = ScriptedServer::matching(move |_| Scripted::error(400, "unknown", text)).unwrap();
    let ended = Run::new("llm-p.toml", &server.base_url()).task("parcels", "p01").go();
    let help = "help: add \"seed\" to `omit` in `[llm.main]`";
    assert!(ended.expect(34).stdout.contains(help), "{}", ended.stdout);
}

/// A server of chat completions that refuses `max_tokens`, gives one reply a request, honours seeds and schemas, and caches.
fn able_server() -> ScriptedServer {
    ScriptedServer::matching(|request: &ScriptedRequest| {
        let body = request.json();
        if body.get("max_tokens").is_some() {
            let text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
            return Scripted::error(400, "unsupported_parameter", text);
        }
        let question = request.question();
        let cached = if question.contains("Parcel 150") && request.number > 8 { 1024 } else { 0 };
        let text = match &body["seed"] {
            Value::Number(seed) => format!("{seed}{seed}"),
            _ if body.get("response_format").is_some() => r#"{"city": "Paris"}"#.to_owned(),
            _ => "ready".to_owned(),
        };
        let usage = json!({"prompt_tokens": 2000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": cached}});
        let choice = json!({"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}});
        Scripted::raw(200, json!({"model": "m", "choices": [choice], "usage": usage}).to_string())
    })
    .unwrap()
}

#[test]
fn a_model_is_tried_and_the_report_says_what_it_cannot_do_and_what_to_set() {
    let server = able_server();
    let price = "price = { prompt = 1.0, completion = 2.0, cached = 0.5 }\n";
    let folder = config(&(own_table(&server.base_url()) + price));
    let report = command(folder.path(), &["models", "check", "own", "--json"]).json(0);
    let result = |name: &str| {
        let all = report["abilities"].as_array().unwrap();
        all.iter().find(|ability| ability["name"] == name).unwrap()["result"].as_str().unwrap().to_owned()
    };
    for (name, expected) in [
        ("n", "no"),
        ("logprobs", "no"),
        ("seed", "yes"),
        ("schema", "yes"),
        ("grammar", "no"),
        ("reasoning", "unknown"),
    ] {
        assert_eq!(result(name), expected, "{name}: {report}");
    }
    assert_ne!(result("cache"), "no", "{report}");
    assert_eq!(report["requests"], server.count());
    assert!(server.count() <= 16, "{}", server.count());
    assert_eq!(report["table"]["max_tokens_field"], "max_completion_tokens");
    assert_eq!(report["table"]["n_per_request"], 1);
    assert!(report["cost_usd"].as_f64().unwrap() > 0.0, "{report}");

    let text = command(folder.path(), &["models", "check", "own"]);
    let first = text.expect(0).stdout.lines().next().unwrap();
    assert_eq!(first, "yes, `own-model` answers; it cannot: n, logprobs, grammar");
    assert!(text.stdout.contains("max_tokens_field = \"max_completion_tokens\""), "{}", text.stdout);
    assert!(!text.stdout.contains(KEY) && !text.stderr.contains(KEY));
    // The block is a table of a configuration file.
    let (_, block) = text.stdout.split_once("[models.own]").unwrap();
    let again = config(&format!("[models.own]{block}"));
    let file = pipeline("llm-p.toml");
    command(again.path(), &["check", file.to_str().unwrap(), "--model", "own"]).expect(0);
}

#[test]
fn abilities_that_a_server_has_are_seen() {
    let server = ScriptedServer::matching(|request| {
        let body = request.json();
        let count = body["n"].as_u64().unwrap_or(1) as usize;
        let content = first_word(&body["grammar"]).unwrap_or("blue");
        let choice = Choice::new(content).logprobs(&[-0.1, -0.2]);
        Scripted::choices(&vec![choice; count])
    })
    .unwrap();
    let folder = config(&own_table(&server.base_url()));
    let report = command(folder.path(), &["models", "check", "own", "--json"]).json(0);
    let results: Vec<String> = report["abilities"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| format!("{} {}", a["name"], a["result"]))
        .collect();
    for expected in [
        "\"n\" \"yes\"",
        "\"logprobs\" \"yes\"",
        "\"seed\" \"unknown\"",
        "\"schema\" \"no\"",
        "\"grammar\" \"yes\"",
    ] {
        assert!(results.iter().any(|found| found == expected), "{expected}: {results:?}");
    }
    assert!(report["cost_usd"].is_null());
}

/// The first reply that a grammar in GBNF allows.
fn first_word(grammar: &Value) -> Option<&str> {
    grammar.as_str()?.split('"').nth(1)
}

/// The entry of grammars in the report on a server that treats requests with a field as `reply` says and answers `blue` else, with the advice and
/// the table's key.
fn grammar_check(key: &str, reply: fn(&Value) -> Option<Scripted>) -> (Value, Value, Value) {
    let server = ScriptedServer::matching(move |request| {
        reply(&request.json()).unwrap_or_else(|| Scripted::replies(&["blue"]))
    })
    .unwrap();
    let folder = config(&format!("{}grammar = \"{key}\"\n", own_table(&server.base_url())));
    let report = command(folder.path(), &["models", "check", "own", "--json"]).json(0);
    assert!(server.count() <= 16, "{}", server.count());
    let text = command(folder.path(), &["models", "check", "own"]);
    if let Some(advice) = report["advice"].as_str() {
        assert!(text.expect(0).stdout.contains(&format!("help: {advice}")), "{}", text.stdout);
    }
    let all = report["abilities"].as_array().unwrap();
    let found = all.iter().find(|ability| ability["name"] == "grammar").unwrap().clone();
    (found, report["advice"].clone(), report["table"]["grammar"].clone())
}

#[test]
fn a_grammar_is_enforced_ignored_or_refused_and_the_advice_names_the_key() {
    let enforces =
        |body: &Value| Some(Scripted::replies(&[first_word(&body["structured_outputs"]["grammar"])?]));
    let (found, advice, key) = grammar_check("vllm", enforces);
    assert_eq!(
        (&found["result"], &found["tried"][0]["effect"]),
        (&json!("yes"), &json!("enforced")),
        "{found}"
    );
    assert!(found["detail"].as_str().unwrap().starts_with("enforced as `vllm`: the reply is `"), "{found}");
    assert_eq!((advice, key), (Value::Null, json!("vllm")));
    let (found, advice, key) = grammar_check("llama-cpp", enforces);
    let effects: Vec<String> =
        found["tried"].as_array().unwrap().iter().map(|t| format!("{} {}", t["key"], t["effect"])).collect();
    assert_eq!(effects, [r#""llama-cpp" "ignored""#, r#""vllm" "enforced""#]);
    assert_eq!(advice, "set `grammar = \"vllm\"`: the server enforces grammars that are sent so");
    assert_eq!(key, "vllm");

    let (found, advice, key) = grammar_check("sglang", |_| None);
    assert_eq!(found["result"], "no");
    assert_eq!(
        (&found["tried"][0]["key"], &found["tried"][0]["evidence"]),
        (&json!("sglang"), &json!("the reply is `blue`"))
    );
    assert!(advice.as_str().unwrap().starts_with("remove `grammar`"), "{advice}");
    assert_eq!(key, Value::Null);

    let refuses = |body: &Value| {
        let fields = ["grammar", "structured_outputs", "ebnf", "response_format"];
        let refused = fields.iter().find(|field| body.get(**field).is_some())?;
        Some(Scripted::error(400, "unknown", &format!("unknown field {refused}")))
    };
    let (found, _, key) = grammar_check("json-schema", refuses);
    let effects: Vec<&Value> = found["tried"].as_array().unwrap().iter().map(|t| &t["effect"]).collect();
    assert_eq!(effects, ["refused"; 4]);
    assert!(
        found["tried"][0]["evidence"].as_str().unwrap().contains("unknown field response_format"),
        "{found}"
    );
    assert_eq!((&found["result"], key), (&json!("no"), Value::Null));

    let by_schema = |body: &Value| {
        let words = &body["response_format"]["json_schema"]["schema"]["properties"]["word"]["enum"];
        Some(Scripted::replies(&[&json!({"word": words.get(1)?}).to_string()]))
    };
    let (found, _, key) = grammar_check("none", by_schema);
    assert_eq!((&found["result"], key), (&json!("yes"), json!("json-schema")), "{found}");

    let overloaded = |body: &Value| body.get("grammar").map(|_| Scripted::error(503, "busy", "try later"));
    let (found, advice, key) = grammar_check("llama-cpp", overloaded);
    assert_eq!((&found["result"], advice, key), (&json!("unknown"), Value::Null, json!("llama-cpp")));
}

#[test]
fn a_model_that_does_not_answer_is_told_from_one_that_does() {
    let server = ScriptedServer::matching(|request| {
        Scripted::error(401, "invalid_key", request.header("authorization").unwrap_or("none"))
    })
    .unwrap();
    let folder = config(&own_table(&server.base_url()));
    let refused = command(folder.path(), &["models", "check", "own"]);
    assert!(refused.expect(34).stdout.starts_with("no, `own-model` does not answer"), "{}", refused.stdout);
    assert!(refused.stdout.contains("help: ") && !refused.stdout.contains(KEY), "{}", refused.stdout);
    assert_eq!(server.count(), 1);
    let file = pipeline("llm-p.toml");
    let of_file =
        |name: &str| command(folder.path(), &["models", "check", name, "--pipeline", file.to_str().unwrap()]);
    of_file("other").expect(30).says(&["no table `[llm.other]`", "`main`"]);
    // No server has a key that was not allowed.
    let stranger = config(&own_table("https://own.example.org/v1").replace("OWN_KEY", "UNSET_KEY"));
    command(stranger.path(), &["models", "check", "own"]).expect(36).says(&["cli.missing-secret"]);
}
