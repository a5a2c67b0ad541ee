//! The tools as a client sees them.

use crate::support::{
    Client, DOMAIN, PROBLEM, TestClient, answer, call, connect, connect_to, failure, workspace,
};
use planforge_app::{Context, Machine, ThisMachine};
use planforge_mcp::McpServer;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ReadResourceRequestParams};
use rmcp::service::{PeerRequestOptions, RequestHandle};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn text(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test]
async fn every_tool_has_a_description_and_schemas_of_both_sides() {
    let client = connect(TestClient::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        ["solve", "read", "plan", "validate", "compare", "states", "tasks", "run", "recommend", "explain"]
    );
    for tool in &tools {
        assert!(tool.description.as_ref().is_some_and(|d| d.len() > 50), "{tool:?}");
        let output = tool.output_schema.as_ref().unwrap();
        for schema in [&tool.input_schema, output] {
            assert_eq!(schema["type"], "object", "{}", tool.name);
            for (name, property) in schema["properties"].as_object().unwrap() {
                let described = property.get("description").is_some() || property.get("$ref").is_some();
                assert!(described, "{} {name}", tool.name);
            }
        }
    }
}

#[tokio::test]
async fn a_broken_domain_is_repaired_through_the_tools_alone() {
    let client = connect(TestClient::default()).await;
    // A parenthesis is missing, and `unload` forgets to free the ferry's deck of its crate's place.
    let broken = DOMAIN
        .replace(
            ":precondition (and (on-board ?c) (ferry-at ?p))",
            ":precondition (and (on-board ?c) (ferry-on ?p))",
        )
        .replace("(at ?c ?p) (free) (not (on-board ?c))", "(free) (not (on-board ?c))");
    let read = answer(&client, "read", json!({ "domain": text(&broken), "problem": text(PROBLEM) })).await;
    assert_eq!(read["usable"], false);
    let finding = &read["diagnostics"][0];
    assert_eq!(finding["code"], "pddl.undefined-predicate", "{read}");
    let help = finding["help"].to_string();
    assert!(help.contains("ferry-at"), "{help}");
    let code = json!({ "code": finding["code"] });
    assert!(answer(&client, "explain", code).await["explanation"].as_str().unwrap().len() > 40);

    let second = broken.replace("ferry-on", "ferry-at");
    let read = answer(&client, "read", json!({ "domain": text(&second), "problem": text(PROBLEM) })).await;
    assert_eq!(read["usable"], true, "{read}");
    let task = json!({ "domain": text(&second), "problem": text(PROBLEM) });
    let plan = answer(&client, "plan", task).await;
    assert_eq!(plan["outcome"], "proven-unsolvable");
    assert!(plan["why_not"].to_string().contains("at box b"), "{plan}");

    let reference = json!({ "domain": text(DOMAIN), "problem": text(PROBLEM) });
    let compared = answer(
        &client,
        "compare",
        json!({ "reference": reference, "candidate": { "domain": text(&second) } }),
    )
    .await;
    assert_eq!(compared["decision"], "different");
    let difference = &compared["behaviour"]["difference"];
    assert!(difference["steps"].to_string().contains("unload"), "{difference}");

    let third =
        second.replace("(and (free) (not (on-board ?c)))", "(and (at ?c ?p) (free) (not (on-board ?c)))");
    let task = json!({ "domain": text(&third), "problem": text(PROBLEM) });
    let plan = answer(&client, "plan", task.clone()).await;
    assert_eq!(plan["outcome"], "plan", "{plan}");
    let mut judged = task;
    judged["plan"] = text(plan["plan"].as_str().unwrap());
    assert_eq!(answer(&client, "validate", judged).await["valid"], true);
    let compared = answer(
        &client,
        "compare",
        json!({ "reference": reference, "candidate": { "domain": text(&third) } }),
    )
    .await;
    assert_eq!(compared["decision"], "equal", "{compared}");
}

#[tokio::test]
async fn safe_fixes_are_returned_when_they_are_asked_for() {
    let client = connect(TestClient::default()).await;
    let open = DOMAIN.trim_end().strip_suffix(')').unwrap();
    let arguments = json!({ "domain": text(open), "fix": true });
    let read = answer(&client, "read", arguments).await;
    let fixed = read["fixed_domain"]["text"].as_str().unwrap();
    assert_eq!(read["fixed_domain"]["fixes"].as_array().unwrap().len(), 1);
    let again = answer(&client, "read", json!({ "domain": text(fixed) })).await;
    assert_eq!(again["usable"], true, "{again}");
    assert!(again.get("fixed_domain").is_none());
}

#[tokio::test]
async fn an_invalid_plan_names_the_step_and_what_would_make_it_executable() {
    let client = connect(TestClient::default()).await;
    let judge = async |plan: &str| {
        let arguments = json!({ "domain": text(DOMAIN), "problem": text(PROBLEM), "plan": text(plan) });
        answer(&client, "validate", arguments).await
    };
    let early = judge("(load box a)").await;
    assert_eq!(
        (early["decision"].as_str(), early["failing_step"]["number"].as_u64()),
        (Some("rejected"), Some(1))
    );
    let condition = &early["failing_step"]["conditions"][0];
    assert_eq!(condition["needs"], "(ferry-at a)");
    assert!(condition["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{condition}");
    let short = judge("").await;
    assert_eq!(short["missing_goals"][0]["needs"], "(at box b)");
    let damaged = judge("(load box").await;
    assert_eq!(damaged["decision"], "rejected");
    assert!(damaged["errors"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn plans_and_differences_are_told_in_the_sentences_beside_the_domain() {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("domain.pddl"), DOMAIN).unwrap();
    let sentences = "ferry-at = { yes = \"The ferry is in {1}.\", no = \"The ferry is not in {1}.\" }";
    std::fs::write(root.path().join("sentences.toml"), format!("[predicates]\n{sentences}\n")).unwrap();
    let client =
        connect(TestClient { roots: Some(vec![root.path().to_owned()]), ..Default::default() }).await;
    let file = json!({ "path": "domain.pddl" });
    let judge = async |domain: &Value, plan: &str| {
        let arguments = json!({ "domain": domain, "problem": text(PROBLEM), "plan": text(plan) });
        answer(&client, "validate", arguments).await["in_words"].clone()
    };
    let refusal = [
        "The plan is not valid: step 2, load box b, cannot be executed.",
        "1. sail b a: The ferry is in a. The ferry is not in b.",
        "Step 2, load box b, needs: at holds for box and b. But: at does not hold for box and b from the start.",
        "Step 2, load box b, needs: The ferry is in b. But: The ferry is not in b since step 1.",
    ];
    assert_eq!(judge(&file, "(sail b a)\n(load box b)").await, json!(refusal));
    let by_names = judge(&text(DOMAIN), "(sail b a)").await;
    assert_eq!(by_names[1], "1. sail b a: ferry at holds for a. ferry at does not hold for b.");
    let plan = answer(&client, "plan", json!({ "domain": file, "problem": text(PROBLEM) })).await;
    assert_eq!(plan["in_words"][0], "The plan is valid: after 4 steps, the goal holds.");
    assert_eq!(plan["in_words"][1], refusal[1]);
    let lax = DOMAIN.replacen("(and (at ?c ?p) (ferry-at ?p) (free))", "(and (at ?c ?p) (free))", 1);
    let models = json!({
        "reference": { "domain": file, "problem": text(PROBLEM) }, "candidate": { "domain": text(&lax) },
    });
    let told = "In the reference, the action load needs that the ferry is in p; not in the candidate.";
    assert_eq!(answer(&client, "compare", models).await["in_words"], json!([told]));
}

#[tokio::test]
async fn problems_are_compared_up_to_the_names_of_objects() {
    let client = connect(TestClient::default()).await;
    let renamed = PROBLEM.replace("box", "parcel");
    let compare = async |problem: &str| {
        let reference = json!({ "domain": text(DOMAIN), "problem": text(PROBLEM) });
        let arguments = json!({ "reference": reference, "candidate": { "problem": text(problem) } });
        answer(&client, "compare", arguments).await
    };
    let same = compare(&renamed).await;
    assert_eq!(
        (same["decision"].as_str(), same["problems"]["decision"].as_str()),
        (Some("equal"), Some("equal"))
    );
    let other = compare(&renamed.replace("(ferry-at b)", "(ferry-at a)")).await;
    assert_eq!(other["decision"], "different");
    assert!(other["problems"]["difference"].to_string().contains("ferry-at"), "{other}");
}

#[tokio::test]
async fn states_have_steps_and_pictures() {
    let suite = workspace().join("examples/suites/blocks");
    let file = |name: &str| text(&std::fs::read_to_string(suite.join(name)).unwrap());
    let client = connect(TestClient::default()).await;
    let task = json!({ "domain": file("domain.pddl"), "problem": file("p01.pddl") });
    let plan = answer(&client, "plan", task.clone()).await;
    let mut arguments = task;
    arguments["plan"] = plan["plan"].clone();
    arguments["plan"] = text(plan["plan"].as_str().unwrap());
    arguments["template"] = file("picture.toml");
    let states = answer(&client, "states", arguments.clone()).await;
    let steps = states["steps"].as_array().unwrap().len();
    assert_eq!(
        (states["verdict"].as_str(), steps),
        (Some("valid"), plan["steps"].as_u64().unwrap() as usize)
    );
    assert!(states["pictures"].as_array().unwrap().len() > 1, "{states}");
    assert!(states["pictures"][0]["svg"].as_str().unwrap().contains("<svg"));
    arguments["step"] = json!(1);
    let one = answer(&client, "states", arguments.clone()).await;
    assert_eq!(
        (one["pictures"].as_array().unwrap().len(), one["pictures"][0]["after"].as_u64()),
        (1, Some(1))
    );
    arguments["format"] = json!("png");
    let png = call(&client, "states", arguments.clone()).await;
    assert_eq!(png.structured_content.unwrap()["pictures"], json!([{ "after": 1 }]));
    let image = png.content[1].as_image().unwrap();
    assert!(image.mime_type == "image/png" && image.data.starts_with("iVBORw0KGgo"), "{image:?}");
    arguments["format"] = json!("svg");
    arguments.as_object_mut().unwrap().remove("template");
    let drawn = answer(&client, "states", arguments.clone()).await;
    assert_eq!(drawn["picture_note"], "there is no picture.toml");
    assert_ne!(drawn["pictures"], one["pictures"]);
    arguments["step"] = json!(steps + 1);
    assert!(failure(&client, "states", arguments).await.contains("step"));
}

/// A domain whose one action changes a fact for every eight of 30 objects.
fn wide_effect() -> (Value, Value) {
    let variables = ["?a", "?b", "?c", "?d", "?e", "?f", "?g", "?h"];
    let condition: String = variables.iter().map(|v| format!("(p {v})")).collect();
    let all = variables.join(" ");
    let domain = format!(
        "(define (domain wide) (:requirements :adl) (:predicates (p ?x) (t {all}))
          (:action go :parameters () :effect (forall ({all}) (when (and {condition}) (t {all})))))"
    );
    let objects: Vec<String> = (0..30).map(|n| format!("o{n}")).collect();
    let init: String = objects.iter().map(|o| format!("(p {o})")).collect();
    let problem = format!(
        "(define (problem one) (:domain wide) (:objects {}) (:init {init}) (:goal (p o3)))",
        objects.join(" ")
    );
    (text(&domain), text(&problem))
}

#[tokio::test]
async fn a_call_at_its_limit_names_the_limit_and_the_server_answers_the_next_call() {
    let client = connect(TestClient::default()).await;
    let (domain, problem) = wide_effect();
    let arguments = json!({ "domain": domain, "problem": problem, "plan": text("(go)") });
    let states = answer(&client, "states", arguments.clone()).await;
    assert_eq!(states["verdict"], "limit-reached", "{states}");
    let stopped = states["stopped"].as_str().unwrap();
    assert!(stopped.starts_with("the memory limit ended the validation in step 1 (go)"), "{stopped}");
    let validated = answer(&client, "validate", arguments).await;
    assert_eq!((&validated["valid"], &validated["decision"]), (&json!(false), &json!("undecided")));
    assert_eq!(validated["diagnostics"][0]["code"], "plan.limit", "{validated}");
    let models = json!({
        "reference": { "domain": domain, "problem": problem },
        "candidate": { "domain": domain, "problem": problem },
        "limits": { "seconds": 2.0, "memory_mb": 64 },
    });
    assert_eq!(answer(&client, "compare", models).await["decision"], "undecided");
    let plan = answer(&client, "plan", json!({ "domain": text(DOMAIN), "problem": text(PROBLEM) })).await;
    assert_eq!(plan["in_words"][0], "The plan is valid: after 4 steps, the goal holds.");
}

#[tokio::test]
async fn the_tasks_of_a_suite_are_listed_without_their_reference() {
    let root = workspace().join("examples/suites");
    let client = connect(TestClient { roots: Some(vec![root]), ..Default::default() }).await;
    let suite = answer(&client, "tasks", json!({ "suite": "parcels" })).await;
    assert_eq!(suite["has_reference_domain"], true);
    let task = &suite["tasks"][0];
    assert!(
        task["text"].as_str().is_some_and(|text| text.len() > 40) && task["has_reference_problem"] == true,
        "{task}"
    );
    assert!(!suite.to_string().contains("(define"));
    for wrong in ["nowhere", "../suites/parcels"] {
        assert!(failure(&client, "tasks", json!({ "suite": wrong })).await.contains("mcp.file"));
    }
}

/// A client whose model always gives this reply.
fn with_model(reply: &str) -> TestClient {
    let reply = reply.to_owned();
    TestClient { replies: Some(Arc::new(move |_| reply.clone())), ..Default::default() }
}

/// The ferry task in plain language, with its domain and its reference.
fn ferry_task() -> Value {
    let task = json!({
        "domain_text": "A ferry.", "text": "Move the box.", "domain": text(DOMAIN), "problem": text(PROBLEM),
    });
    json!({ "task": task })
}

/// A pipeline of one request, whose reply is the problem.
const ONE_REQUEST: &str = r#"
schema = 1
about = "Asks once"

[given]
domain = true

[llm.main]
use = "provider-openai"
base_url = "http://127.0.0.1:9/v1"
model = "none"

[environment]
use = "environment-pddl"

[[stage]]
do = "translate"
label = "problem"
use = "translator-direct"
roles = { writer = "main" }
options = { mode = "problem" }
"#;

#[tokio::test]
async fn the_model_of_the_client_answers_a_run_whose_report_is_a_resource() {
    let scripted = with_model(&format!("```pddl\n{PROBLEM}```"));
    let client = connect(scripted.clone()).await;
    let run = json!({ "pipeline": { "name": "llm-p" }, "on": ferry_task() });
    let ended = answer(&client, "run", run.clone()).await;
    let task = &ended["tasks"][0];
    assert_eq!((task["verdict"].as_str(), task["requests"].as_u64()), (Some("accepted"), Some(1)), "{ended}");
    assert_eq!((ended["state"].as_str(), task["task"].as_str()), (Some("finished"), Some("task")));
    assert!(task["plan"].as_str().unwrap().contains("(sail b a)"), "{task}");
    let uri = ended["report"].as_str().unwrap();
    let report = client.read_resource(ReadResourceRequestParams::new(uri)).await.unwrap();
    assert!(format!("{report:?}").contains("accepted"), "{report:?}");
    let listed = client.list_all_resources().await.unwrap();
    assert!(listed.iter().any(|resource| resource.uri == uri));
    // The first message is sent at once; later ones may be within the interval between messages.
    let progress = scripted.progress.lock().unwrap().first().cloned().unwrap();
    assert_eq!((progress.progress, progress.total), (0.0, Some(1.0)), "{progress:?}");
    assert!(progress.message.as_ref().is_some_and(|message| message.contains("task")), "{progress:?}");

    let silent = connect(TestClient::default()).await;
    let mut with_client = run.clone();
    with_client["model"] = json!("client");
    assert!(failure(&silent, "run", with_client).await.contains("mcp.client"));
    let mut unknown = run;
    unknown["pipeline"] = json!({ "name": "nothing" });
    assert!(failure(&silent, "run", unknown).await.contains("llm-p"));
}

#[tokio::test]
async fn a_pipeline_as_text_runs_and_its_mistakes_are_wrong_arguments() {
    let client = connect(with_model("I do not know.")).await;
    let run = |pipeline: &str| json!({ "pipeline": text(pipeline), "on": ferry_task() });
    let ended = answer(&client, "run", run(ONE_REQUEST)).await;
    let task = &ended["tasks"][0];
    assert_eq!((task["verdict"].as_str(), task["requests"].as_u64()), (Some("unusable"), Some(1)), "{ended}");
    assert!(task["reason"].as_str().unwrap().starts_with("problem: "), "{ended}");
    let broken = failure(&client, "run", run("schema = 1\n[[stage]]\ndo = \"nothing\"\n")).await;
    assert!(broken.contains("pipeline.") && broken.contains("[mcp.arguments]"), "{broken}");
    let mut unknown = run(ONE_REQUEST);
    unknown["model"] = json!("unknown");
    assert!(failure(&client, "run", unknown).await.contains("there is no model `unknown`"));
    let named = format!("{ONE_REQUEST}\n[[stage]]\ndo = \"verify\"\nlabel = \"v\"\nuse = \"verifier-val\"\n");
    let outside = named.replace("domain = true", "domain = true\nexample = \"/etc\"");
    let refused = failure(&client, "run", run(&outside)).await;
    assert!(refused.contains("mcp.file") && refused.contains("/etc"), "{refused}");
}

#[tokio::test]
async fn a_run_on_a_suite_takes_the_named_tasks_and_the_files_of_its_pipeline_under_the_root() {
    let problem = std::fs::read_to_string(workspace().join("examples/suites/parcels/p01.pddl")).unwrap();
    let scripted = with_model(&format!("```pddl\n{problem}```"));
    let client = connect(TestClient { roots: Some(vec![workspace()]), ..scripted }).await;
    let on = json!({ "suite": { "folder": "examples/suites/parcels", "tasks": ["p01"] } });
    let run = json!({ "pipeline": { "path": "configs/pipelines/llm-p.toml" }, "on": on });
    let ended = answer(&client, "run", run.clone()).await;
    let tasks = ended["tasks"].as_array().unwrap();
    assert_eq!(
        (tasks.len(), tasks[0]["task"].as_str(), tasks[0]["verdict"].as_str()),
        (1, Some("parcels.p01"), Some("accepted")),
        "{ended}"
    );
    let mut wrong = run;
    wrong["on"]["suite"]["tasks"] = json!(["../blocks/p01"]);
    assert!(failure(&client, "run", wrong).await.contains("stem"));
}

#[tokio::test]
async fn a_run_ends_with_a_report_at_the_end_of_its_time() {
    let client = connect(TestClient { is_silent: true, ..Default::default() }).await;
    let run = json!({ "pipeline": { "name": "llm-p" }, "on": ferry_task(), "limits": { "seconds": 0.5 } });
    let ended = tokio::time::timeout(Duration::from_secs(60), answer(&client, "run", run)).await.unwrap();
    assert_eq!(ended["state"], "interrupted", "{ended}");
}

#[tokio::test]
async fn pipelines_and_suites_are_resources_and_prompts_take_arguments() {
    let root = workspace().join("examples/suites");
    let client = connect(TestClient { roots: Some(vec![root.clone()]), ..Default::default() }).await;
    let read = async |uri: &str| client.read_resource(ReadResourceRequestParams::new(uri)).await;
    let uris: Vec<String> =
        client.list_all_resources().await.unwrap().into_iter().map(|resource| resource.uri).collect();
    let suite = format!("planforge://suites{}", root.join("parcels").display());
    for uri in ["planforge://pipelines/llm-p", &suite] {
        assert!(uris.iter().any(|listed| listed == uri), "{uris:?}");
        assert!(read(uri).await.is_ok(), "{uri}");
    }
    for uri in [
        "planforge://pipelines/x",
        "planforge://runs/1",
        "planforge://suites/etc",
        "planforge://other",
        "file:///etc/hostname",
    ] {
        assert!(read(uri).await.is_err(), "{uri}");
    }
    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts.len(), 2);
    let arguments = json!({ "description": "A ferry." }).as_object().unwrap().clone();
    let prompt = rmcp::model::GetPromptRequestParams::new("write-domain").with_arguments(arguments);
    assert!(format!("{:?}", client.get_prompt(prompt).await.unwrap()).contains("A ferry."));
}

#[tokio::test]
async fn files_are_read_under_the_roots_of_the_client_alone() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("granted");
    std::fs::create_dir(&root).unwrap();
    std::fs::write(root.join("domain.pddl"), DOMAIN).unwrap();
    std::fs::write(place.path().join("outside.pddl"), DOMAIN).unwrap();
    let client = connect(TestClient { roots: Some(vec![root.clone()]), ..Default::default() }).await;
    let read = answer(&client, "read", json!({ "domain": { "path": "domain.pddl" } })).await;
    assert_eq!(read["usable"], true);
    for path in ["../outside.pddl", "/etc/hostname", "missing.pddl"] {
        let message = failure(&client, "read", json!({ "domain": { "path": path } })).await;
        assert!(message.contains(path) && message.contains("mcp.file"), "{message}");
    }
    let alone = connect(TestClient::default()).await;
    let message = failure(&alone, "read", json!({ "domain": { "path": "domain.pddl" } })).await;
    assert!(message.contains("grants no roots") && message.contains("mcp.client"), "{message}");
}

#[tokio::test]
async fn wrong_arguments_and_limits_above_the_ceiling_are_errors_that_name_them() {
    let client = connect(TestClient::default()).await;
    for (tool, arguments, named) in [
        ("read", json!({}), "domain"),
        ("read", json!({ "domain": text("x"), "colour": 1 }), "colour"),
        ("read", json!({ "domain": { "text": "x", "path": "y" } }), "single key"),
        ("read", json!({ "domain": text(DOMAIN), "limits": { "seconds": 1e9 } }), "seconds"),
        (
            "plan",
            json!({ "domain": text(DOMAIN), "problem": text(PROBLEM), "limits": { "nodes": 0 } }),
            "nodes",
        ),
        ("explain", json!({ "code": "pddl.undefined-predicat" }), "pddl.undefined-predicate"),
        (
            "compare",
            json!({ "reference": { "domain": text(""), "problem": text("") }, "candidate": {} }),
            "neither",
        ),
    ] {
        let message = failure(&client, tool, arguments).await;
        assert!(message.contains(named) && message.contains("mcp.arguments"), "{message}");
    }
}

#[tokio::test]
async fn large_and_deep_texts_end_cleanly() {
    let client = connect(TestClient::default()).await;
    let large = "(".repeat(10 << 20);
    let read = answer(&client, "read", json!({ "domain": text(&large) })).await;
    assert_eq!(read["usable"], false);
    let many = format!("(define (domain d) (:predicates {}))", "(p ?x) ".repeat(1_400_000));
    let read = answer(&client, "read", json!({ "domain": text(&many) })).await;
    assert!(read["errors"].as_u64().unwrap() > 0 && read["diagnostics"].as_array().unwrap().len() <= 100);
    let message =
        failure(&client, "read", json!({ "domain": text(&large), "limits": { "input_mb": 1 } })).await;
    assert!(message.contains("mcp.input-size"), "{message}");
    let deep = format!(
        "(define (problem p) (:domain d) (:goal {}{}))",
        "(not ".repeat(100_000),
        ")".repeat(100_000)
    );
    let read = answer(&client, "read", json!({ "domain": text(DOMAIN), "problem": text(&deep) })).await;
    assert_eq!(read["usable"], false);
}

/// The fifteen puzzle with two tiles swapped: no plan exists, and there are 10^13 states to search.
fn endless() -> (String, String) {
    let domain = "(define (domain tiles) (:predicates (at ?t ?c) (empty ?c) (next ?a ?b))
      (:action slide :parameters (?t ?from ?to)
        :precondition (and (at ?t ?from) (empty ?to) (next ?from ?to))
        :effect (and (at ?t ?to) (empty ?from) (not (at ?t ?from)) (not (empty ?to)))))";
    let cells: Vec<String> = (0..16).map(|n| format!("c{n}")).collect();
    let tiles: Vec<String> = (0..15).map(|n| format!("t{n}")).collect();
    let beside = |a: usize, b: usize| a.abs_diff(b) == 4 || (a.abs_diff(b) == 1 && a / 4 == b / 4);
    let mut init = "(empty c15)".to_owned();
    for (a, b) in (0..16).flat_map(|a| (0..16).map(move |b| (a, b))).filter(|&(a, b)| beside(a, b)) {
        init += &format!(" (next c{a} c{b})");
    }
    let goal: Vec<String> = (0..15).map(|n| format!("(at t{n} c{n})")).collect();
    let place = |n: usize| {
        if n == 0 {
            1
        } else if n == 1 {
            0
        } else {
            n
        }
    };
    init.extend((0..15).map(|n| format!(" (at t{n} c{})", place(n))));
    let problem = format!(
        "(define (problem p) (:domain tiles) (:objects {} {}) (:init {init}) (:goal (and {})))",
        cells.join(" "),
        tiles.join(" "),
        goal.join(" ")
    );
    (domain.to_owned(), problem)
}

/// A context whose clones are counted: the number of owners of its clock.
fn counted_context() -> (Context, Arc<dyn Machine>) {
    let machine: Arc<dyn Machine> = Arc::new(ThisMachine);
    (Context { machine: Arc::clone(&machine), ..Context::default() }, machine)
}

/// Waits until no more than so many contexts are in use.
async fn wait_for_owners(machine: &Arc<dyn Machine>, count: usize) {
    let until = Instant::now() + Duration::from_secs(300);
    while Arc::strong_count(machine) > count {
        if Instant::now() > until {
            panic!("gave up waiting for the end of a call");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Starts a search that ends only if it is cancelled, and returns once the planner works.
async fn start_endless_plan(client: &Client) -> RequestHandle<RoleClient> {
    let (domain, problem) = endless();
    let limits = json!({ "nodes": 100_000_000, "seconds": 600, "memory_mb": 4096 });
    let arguments = json!({ "domain": text(&domain), "problem": text(&problem), "limits": limits });
    let request = CallToolRequestParams::new("plan").with_arguments(arguments.as_object().unwrap().clone());
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(request));
    let handle = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    while client.service().progress.lock().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    handle
}

#[tokio::test]
async fn an_endless_search_ends_at_its_limit() {
    let client = connect(TestClient::default()).await;
    let (domain, problem) = endless();
    let limited = json!({ "domain": text(&domain), "problem": text(&problem), "limits": { "nodes": 5_000 } });
    let ended = answer(&client, "plan", limited).await;
    assert_eq!(ended["outcome"], "limit-reached", "{ended}");
}

#[tokio::test]
async fn a_cancelled_call_ends_and_frees_its_slot() {
    let (context, machine) = counted_context();
    let client = connect_to(McpServer::new(context, 1), TestClient::default()).await;
    let idle = Arc::strong_count(&machine);
    let handle = start_endless_plan(&client).await;
    assert!(Arc::strong_count(&machine) > idle);
    let read = answer(&client, "read", json!({ "domain": text(DOMAIN) }));
    let mut read = std::pin::pin!(read);
    // The only slot is taken: later requests that need no slot are answered first.
    let later_requests = async {
        for _ in 0..20 {
            client.list_all_tools().await.unwrap();
        }
    };
    tokio::select! {
        biased;
        answer = &mut read => panic!("answered without a slot: {answer}"),
        () = later_requests => {}
    }
    handle.cancel(Some("no longer needed".to_owned())).await.unwrap();
    assert_eq!(read.await["usable"], true);
    wait_for_owners(&machine, idle).await;
}

#[tokio::test]
async fn a_call_that_its_client_abandons_ends_and_frees_its_slot() {
    let (context, machine) = counted_context();
    let server = McpServer::new(context, 1);
    let second = connect_to(server.clone(), TestClient::default()).await;
    let client = connect_to(server, TestClient::default()).await;
    start_endless_plan(&client).await;
    client.cancel().await.unwrap();
    assert_eq!(answer(&second, "read", json!({ "domain": text(DOMAIN) })).await["usable"], true);
    // The test's own and that of the second connection.
    wait_for_owners(&machine, 2).await;
}

#[tokio::test]
async fn many_calls_leave_no_active_call() {
    let (context, machine) = counted_context();
    let client = connect_to(McpServer::new(context, 2), TestClient::default()).await;
    let idle = Arc::strong_count(&machine);
    for n in 0..200 {
        let plan = if n % 2 == 0 { "(sail b a)" } else { "(load box b)" };
        let arguments = json!({ "domain": text(DOMAIN), "problem": text(PROBLEM), "plan": text(plan) });
        call(&client, "validate", arguments).await;
        call(&client, "plan", json!({ "domain": text(DOMAIN), "problem": text(PROBLEM) })).await;
    }
    wait_for_owners(&machine, idle).await;
}
