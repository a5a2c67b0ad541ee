//! Jobs with their events, questions, consent and end.

use crate::client::{TestServer, settings};
use planforge_app::Context;
use planforge_page::{PageServer, Place};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

pub(crate) fn demo_request() -> Value {
    json!({ "text": planforge_app::demo::TEXT, "model": ["demo"] })
}

/// Answers every question of a job that has no answer yet with its first choice, and returns the result.
pub(crate) fn answered(server: &TestServer, job: &str) -> Value {
    let mut events = server.events(&format!("/api/jobs/{job}/events"), 0);
    loop {
        let (_, event) = events.next().expect("a result");
        match event["kind"].as_str().unwrap() {
            "question" => {
                let answer = json!({ "question": event["question"], "answer": "1" });
                let status = server.post(&format!("/api/jobs/{job}/answer"), &answer).status;
                assert!([200, 409].contains(&status), "{status}");
            }
            "error" => panic!("{event:#}"),
            "result" => return event["result"].clone(),
            _ => {}
        }
    }
}

#[test]
fn the_demo_asks_two_tabs_and_the_first_answer_counts() {
    let server = TestServer::start();
    let job = server.job("solve", &demo_request());
    let path = format!("/api/jobs/{job}/events");
    let question = server.events(&path, 0).next_of("question");
    assert!(!question["text"].as_str().unwrap().is_empty());
    let sides = question["sides"].as_array().unwrap();
    assert_eq!(sides.len(), 2);
    for side in sides {
        assert!(!side["steps"].as_array().unwrap().is_empty(), "{side}");
    }
    assert_ne!(sides[0]["holds"], sides[1]["holds"]);
    assert_eq!(server.get("/api/jobs").json()["jobs"][0]["state"], "waiting");
    let answer = |words: &str| {
        server.post(
            &format!("/api/jobs/{job}/answer"),
            &json!({ "question": question["question"], "answer": words }),
        )
    };
    let sentences = server.get("/api/solve/text?path=task").json();
    assert_eq!(sentences["sentences"][0]["number"], 1, "{sentences:#}");
    // To look at the task answers nothing and assumes nothing.
    let waits = server.get("/api/solve?path=task").json();
    assert_eq!(
        (&waits["end"], server.folder.path().join("task/answer").exists()),
        (&json!("needs-answers"), false)
    );
    assert_eq!(answer("1").status, 200);
    let second = answer("2");
    assert_eq!(
        (second.status, second.code().as_str(), &second.json()["answer"]),
        (409, "page.answered", &json!("1"))
    );
    let result = answered(&server, &job);
    assert_eq!(result["end"], "planned", "{result:#}");
    assert!(server.folder.path().join("task/answer/plan").is_file());

    // Another tab, and one that lost its connection, get the same events.
    let mut all = Vec::new();
    let mut events = server.events(&path, 0);
    while let Some(event) = events.next() {
        all.push(event);
    }
    let last = all.last().unwrap();
    assert_eq!((last.0, &last.1["state"]), (all.len() as u64, &json!("ended")));
    let mut rest = Vec::new();
    let mut events = server.events(&path, 3);
    while let Some(event) = events.next() {
        rest.push(event);
    }
    assert_eq!(rest, all[3..]);
    let mut headers = server.own_headers();
    headers.push(("Last-Event-ID".to_owned(), last.0.to_string()));
    assert_eq!(server.send("GET", &path, &headers, "").status, 204);
}

#[test]
fn a_task_s_folder_its_run_and_its_trial_are_read_and_watched() {
    let server = TestServer::start();
    let job = server.job("solve", &demo_request());
    let line = answered(&server, &job)["line"].clone();
    let solved = server.get("/api/solved").json();
    assert_eq!(solved["tasks"][0]["path"], "task");
    let again = server.get("/api/solve?path=task").json();
    assert_eq!(again["line"], line, "{again:#}");
    assert_eq!(again["versions"], json!([planforge_app::demo::TEXT]));
    assert!(!again["readings"].as_array().unwrap().is_empty());
    let runs = server.get("/api/runs?folder=task/runs").json();
    let run = runs["runs"][0]["path"].as_str().unwrap().to_owned();
    let index = server.get(&format!("/api/report/index?path={run}")).json();
    assert_eq!(index["index"]["kind"], "run", "{index:#}");
    let build = &index["build"];
    assert_eq!(server.get(&format!("/api/report/index?path={run}&have={build}")).status, 304);
    let chunk = server.get(&format!("/api/report/chunk?build={build}&name=page-0"));
    assert_eq!((chunk.status, chunk.header("content-encoding")), (200, Some("gzip")));
    let other = server.get(&format!("/api/report/chunk?build={build}&name=page-77"));
    assert_eq!((other.status, other.code().as_str()), (404, "page.missing"));
    assert_eq!(server.get("/api/report/chunk?build=99&name=page-0").code(), "page.build");
    assert_eq!(server.get("/api/report?path=task/runs/none").code(), "page.missing");
    let mut watched = server.events(&format!("/api/watch?path={run}"), 0);
    assert_eq!(watched.next_of("recorded")["record"]["event"], "session-started");
    assert_eq!(watched.next_of("state")["state"], "ended");
    let report = server.get(&format!("/api/report?path={run}"));
    assert!(report.header("content-disposition").unwrap().starts_with("attachment"));
    assert!(report.body.contains("<html"), "{}", &report.body[..200]);
    std::fs::write(server.folder.path().join(&run).join("report.json"), "{}").unwrap();
    assert_ne!(server.get(&format!("/api/report/index?path={run}&have={build}")).status, 304);
    let about = server.get("/api/about").json();
    assert_eq!(about["models"][0]["name"], "demo");
}

/// A point that was assumed without a question is not an open one.
#[test]
fn a_task_that_was_solved_without_questions_is_shown_with_its_plan() {
    let server = TestServer::start();
    let job =
        server.job("solve", &json!({ "text": planforge_app::demo::TEXT, "model": ["demo"], "ask": false }));
    let result = answered(&server, &job);
    assert_eq!(result["end"], "planned", "{result:#}");
    let shown = server.get("/api/solve?path=task").json();
    assert_eq!(
        (&shown["end"], &shown["line"], &shown["plan"]),
        (&result["end"], &result["line"], &result["plan"])
    );
}

#[test]
fn a_plan_is_a_job_and_its_states_are_shown_step_by_step() {
    let server = TestServer::start();
    let domain = "(define (domain d) (:requirements :strips :typing) (:types lamp) (:predicates (on ?l - lamp) (off ?l - lamp))
        (:action press :parameters (?l - lamp) :precondition (off ?l) :effect (and (on ?l) (not (off ?l)))))";
    let problem = "(define (problem p) (:domain d) (:objects a b - lamp) (:init (off a) (off b)) (:goal (and (on a) (on b))))";
    let texts = json!({ "domain": domain, "problem": problem, "optimal": true });
    let job = server.job("plan", &texts);
    let result = server.events(&format!("/api/jobs/{job}/events"), 0).next_of("result");
    assert_eq!(
        (result["status"].clone(), result["result"]["outcome"].clone()),
        (json!(0), json!("plan")),
        "{result:#}"
    );
    let plan: Vec<&str> =
        result["result"]["plans"][0]["steps"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut texts = json!({ "domain": domain, "problem": problem, "plan": plan.join("\n") });
    let steps = server.post("/api/pddl/steps", &texts).json();
    assert_eq!(steps["decision"], "accepted", "{steps:#}");
    assert_eq!(steps["states"].as_array().unwrap().len(), 3);
    assert_eq!(steps["states"][0]["facts"], json!(["(off a)", "(off b)"]));
    assert_eq!(steps["states"][2]["facts"], json!(["(on a)", "(on b)"]));
    assert_eq!(steps["objects"][0], json!({ "name": "a", "type": "lamp" }));
    texts["plan"] = "(press a)\n(press a)".into();
    let steps = server.post("/api/pddl/steps", &texts).json();
    assert_eq!(
        (&steps["decision"], &steps["failing"]["number"]),
        (&json!("rejected"), &json!(2)),
        "{steps:#}"
    );
    assert_eq!(server.post("/api/pddl/validate", &texts).json()["valid"], false);
    let checked = server.post("/api/pddl/check", &json!({ "domain": domain, "problem": problem })).json();
    assert_eq!(checked["valid"], true, "{checked:#}");
    for what in ["types", "causal", "states", "task"] {
        let texts = json!({ "domain": domain, "problem": problem, "what": what });
        let drawn = server.post("/api/pddl/draw", &texts).json();
        assert!(drawn["svg"].as_str().is_some_and(|svg| svg.contains("<svg")), "{what}: {drawn:#}");
    }
    let compared =
        server.post("/api/pddl/compare", &json!({ "domain": domain, "other_domain": domain })).json();
    assert_eq!(compared["differences"], json!([]));
}

/// A server whose model table `slow` names a service that accepts requests and never answers.
fn with_slow_model() -> (TestServer, TcpListener) {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("config/planforge")).unwrap();
    let table = format!(
        "[models.slow]\nuse = \"provider-openai\"\nmodel = \"m\"\nbase_url = \"http://{}/v1\"\n",
        service.local_addr().unwrap()
    );
    std::fs::write(folder.path().join("config/planforge/config.toml"), table).unwrap();
    let config = folder.path().join("config").display().to_string();
    let variables = BTreeMap::from([("XDG_CONFIG_HOME".to_owned(), config)]);
    let context = Context { variables: Arc::new(variables), ..Context::default() };
    let server = PageServer::start(context, settings(folder.path(), Place::Loopback)).unwrap();
    (TestServer { folder, server }, service)
}

#[test]
fn a_model_that_never_answers_is_stopped_and_too_many_jobs_are_refused() {
    let (server, service) = with_slow_model();
    let request = json!({ "text": "A robot carries a box from one room to another one.", "model": "slow", "readings": 1 });
    let job = server.job("solve", &request);
    // The request is sent.
    let (mut stream, _) = service.accept().unwrap();
    assert!(stream.read(&mut [0; 64]).unwrap() > 0);
    let mut others: Vec<String> = Vec::new();
    let busy = loop {
        let reply = server.post("/api/jobs", &json!({ "use": "solve", "request": request }));
        if reply.status != 200 {
            break reply;
        }
        others.push(reply.json()["job"].as_str().unwrap().to_owned());
        assert!(others.len() < 100);
    };
    assert_eq!((busy.status, busy.code().as_str()), (429, "page.busy"));
    assert_eq!(others.len(), 3 + 32);
    for job in others.iter().rev().chain([&job]) {
        assert_eq!(server.post(&format!("/api/jobs/{job}/stop"), &json!({})).status, 200);
    }
    let mut events = server.events(&format!("/api/jobs/{job}/events"), 0);
    while events.next_of("state")["state"] != "stopped" {}
    // The job that waited for its turn has not begun.
    let queued = server.events(&format!("/api/jobs/{}/events", others.last().unwrap()), 1).next_of("state");
    assert_eq!(queued["state"], "stopped");
}

/// A page on recorded replies refuses work whose replies are not recorded.
#[test]
fn a_page_on_recorded_replies_sends_no_request() {
    let (server, service) = with_slow_model();
    let request = json!({ "text": "A robot carries a box from one room to another one.", "model": "slow", "readings": 1 });
    let job = server.job("solve", &request);
    let (mut stream, _) = service.accept().unwrap();
    assert!(stream.read(&mut [0; 64]).unwrap() > 0);
    server.post(&format!("/api/jobs/{job}/stop"), &json!({}));
    let mut events = server.events(&format!("/api/jobs/{job}/events"), 0);
    while events.next_of("state")["state"] != "stopped" {}
    let run = server.get("/api/runs?folder=task/runs").json()["runs"][0]["path"].clone();
    assert!(run.is_string(), "{run}");
    drop((events, stream));

    let TestServer { folder, .. } = server;
    let config = folder.path().join("config").display().to_string();
    let variables = BTreeMap::from([("XDG_CONFIG_HOME".to_owned(), config)]);
    let context = Context { variables: Arc::new(variables), ..Context::default() };
    let mut settings = settings(folder.path(), Place::Loopback);
    settings.replay =
        Some(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/demo/bakery.jsonl").into());
    let server = PageServer::start(context, settings).unwrap();
    let server = TestServer { folder, server };
    service.set_nonblocking(true).unwrap();
    for (kind, request) in [
        ("resume", json!({ "run": run })),
        ("solve", json!({ "continued": "task" })),
        ("solve", json!({ "continued": "task", "say": "The robot has one arm." })),
        ("solve", json!({ "text": "A robot sweeps three rooms.", "model": "slow" })),
    ] {
        let job = server.job(kind, &request);
        let mut events = server.events(&format!("/api/jobs/{job}/events"), 0);
        let mut last = Value::Null;
        while let Some((_, event)) = events.next() {
            last = event;
        }
        assert_ne!(last["state"], "stopped", "{request}");
        let sent = service.accept().map(drop).map_err(|error| error.kind());
        assert_eq!(sent, Err(std::io::ErrorKind::WouldBlock), "{request}");
    }
    let job = server.job("resume", &json!({ "run": run }));
    let error = server.events(&format!("/api/jobs/{job}/events"), 0).next_of("error");
    assert_eq!(error["error"]["code"], "page.replay", "{error:#}");
}

#[test]
fn runs_and_evaluations_are_estimated_and_nothing_is_sent_or_written() {
    let server = TestServer::start();
    let shipped = planforge_app::SHIPPED_PIPELINES.iter().find(|one| one.name == "llm-p").unwrap();
    std::fs::write(server.folder.path().join("own.toml"), shipped.text).unwrap();
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
    copy(suites.as_ref(), &server.folder.path().join("garden"));
    let run = json!({ "pipeline": "own.toml", "task": "garden/p01" });
    let evaluation =
        json!({ "suites": "garden", "pipelines": "own.toml", "seeds": "1-3", "tasks": 2, "out": "all" });
    for (kind, request, calls) in [("run", run, 1), ("evaluate", evaluation, 6)] {
        let reply = server.post("/api/estimate", &json!({ "use": kind, "request": request }));
        let estimate = reply.json();
        assert_eq!(reply.status, 200, "{estimate:#}");
        assert_eq!(estimate["total"]["most"]["calls"], calls, "{estimate:#}");
        assert!(estimate["answer"].as_str().unwrap().starts_with("At most "), "{estimate:#}");
    }
    let solve = server.post("/api/estimate", &json!({ "use": "solve", "request": {} }));
    assert_eq!(solve.status, 400);
    assert!(!server.folder.path().join("runs").exists() && !server.folder.path().join("all").exists());
    assert_eq!(server.get("/api/jobs").json()["jobs"], json!([]));
}

/// A service that gives the same useless answer to every request, of 100 and 20 tokens; and its address.
fn useless_model() -> String {
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = service.local_addr().unwrap();
    let body = json!({
        "choices": [{ "index": 0, "message": { "role": "assistant", "content": "No." }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 },
    })
    .to_string();
    std::thread::spawn(move || {
        for stream in service.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some((_, number)) =
                    line.split_once(": ").filter(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                {
                    length = number.trim().parse().unwrap();
                }
                if line.trim().is_empty() {
                    break;
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            write!(reader.get_mut(), "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        }
    });
    format!("http://{address}/v1")
}

#[test]
fn an_evaluation_of_a_matrix_file_works_to_its_end_and_says_what_it_cost() {
    let server = TestServer::start();
    let place = server.folder.path();
    let shipped = planforge_app::SHIPPED_PIPELINES.iter().find(|one| one.name == "llm-p").unwrap();
    let text = shipped.text.replace("http://127.0.0.1:8081/v1", &useless_model());
    let priced = text.replace("[llm.main]\n", "[llm.main]\nprice = { prompt = 1.0, completion = 2.0 }\n");
    assert_ne!(priced, text);
    std::fs::write(place.join("own.toml"), priced).unwrap();
    let matrix =
        "schema = 1\n[matrix]\nsuites = [\"garden\"]\npipelines = [\"own.toml\"]\nseeds = [1]\ntasks = 2\n";
    std::fs::write(place.join("small.toml"), matrix).unwrap();
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
    copy(suites.as_ref(), &place.join("garden"));
    assert_eq!(server.get("/api/about").json()["matrices"], json!(["small.toml"]));

    let job = server.job("evaluate", &json!({ "matrix": "small.toml", "out": "all" }));
    let mut events = server.events(&format!("/api/jobs/{job}/events"), 0);
    let mut seen: BTreeMap<String, Value> = BTreeMap::new();
    while let Some((_, event)) = events.next() {
        seen.insert(event["kind"].as_str().unwrap().to_owned(), event);
    }
    let result = &seen["result"]["result"];
    assert_eq!((&result["cells"]["all"], &result["cells"]["open"]), (&json!(1), &json!(0)), "{seen:#?}");
    let cost = &seen["cost"];
    assert_eq!((&cost["requests"], &cost["tokens"]), (&json!(2), &json!(240)), "{cost}");
    assert!((cost["money"].as_f64().unwrap() - 0.000_28).abs() < 1e-9, "{cost}");
    assert_eq!(seen["state"]["state"], "ended");
    let index = server.get("/api/report/index?path=all").json();
    assert_eq!(index["index"]["kind"], "evaluation", "{index:#}");
    let listed = server.get("/api/runs").json();
    assert_eq!(
        (&listed["evaluations"][0]["cells"], &listed["evaluations"][0]["finished"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn a_foreign_address_in_a_pipeline_needs_consent_in_the_words_of_the_terminal() {
    let server = TestServer::start();
    let shipped = planforge_app::SHIPPED_PIPELINES.iter().find(|one| one.name == "llm-p").unwrap();
    let text = shipped.text.replace("http://127.0.0.1:8081/v1", "http://models.example.org/v1");
    std::fs::write(server.folder.path().join("theirs.toml"), text).unwrap();
    let suites = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/suites/garden");
    copy(suites.as_ref(), &server.folder.path().join("garden"));
    let request = json!({ "pipeline": "theirs.toml", "task": "garden/p01" });
    let job = server.job("run", &request);
    let mut events = server.events(&format!("/api/jobs/{job}/events"), 0);
    let consent = events.next_of("consent");
    let text = consent["text"].as_str().unwrap();
    assert!(text.contains("theirs.toml") && text.contains("`http://models.example.org`"), "{text}");
    let answer = |allow: bool| {
        server.post(
            &format!("/api/jobs/{job}/consent"),
            &json!({ "consent": consent["consent"], "allow": allow }),
        )
    };
    assert_eq!(answer(false).status, 200);
    assert_eq!(answer(true).json()["answer"], false);
    let error = events.next_of("error");
    assert_eq!(error["error"]["code"], "cli.consent", "{error:#}");
    assert!(!server.folder.path().join("runs").exists());
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn an_editor_s_messages_reach_the_language_server_and_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(folder.path(), Place::Loopback);
    settings.language_server = Some(Arc::new(|messages, own| {
        for message in messages {
            own.send(message).unwrap();
        }
    }));
    let server = PageServer::start(Context::default(), settings).unwrap();
    let server = TestServer { folder, server };
    let session = server.post("/api/lsp/open", &json!({})).json()["session"].as_str().unwrap().to_owned();
    let mut events = server.events(&format!("/api/lsp/{session}/events"), 0);
    for number in 0..5 {
        let message = json!({ "jsonrpc": "2.0", "method": "x", "params": number });
        let sent = server.post(&format!("/api/lsp/{session}"), &json!({ "message": message.to_string() }));
        assert_eq!((sent.status, events.next().unwrap().1), (200, message));
    }
    let file = json!({ "method": "textDocument/didOpen", "params": { "textDocument": { "uri": "file:///etc/passwd" } } });
    let refused = server.post(&format!("/api/lsp/{session}"), &json!({ "message": file.to_string() }));
    assert_eq!((refused.status, refused.code().as_str()), (403, "page.path"));
    let sessions: Vec<u16> = (0..32).map(|_| server.post("/api/lsp/open", &json!({})).status).collect();
    assert_eq!((sessions[30], sessions[31]), (200, 429));
}
