//! `planforge mcp` as a client sees it: lines of JSON over pipes.

use crate::support::{Run, example, example_text, pipeline, planforge, ran, root, saying};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The client's model: a reply to a question.
pub(crate) type Model = Box<dyn FnMut(&str) -> String>;

/// A server under test, and a client that grants a root and answers questions to its model.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: PathBuf,
    model: Model,
    /// Questions to the client's model.
    asked: Vec<Value>,
    /// Messages of progress.
    progress: usize,
    id: u64,
}

impl Server {
    /// A client whose model always gives the same reply.
    fn start(root: &Path, reply: &str) -> Self {
        let reply = reply.to_owned();
        Self::with_model(root, Box::new(move |_| reply.clone()))
    }

    fn with_model(root: &Path, model: Model) -> Self {
        let mut command = planforge();
        command.arg("mcp");
        Self::of(command, root, model)
    }

    /// The server that this command starts.
    pub(crate) fn of(mut command: Command, root: &Path, model: Model) -> Self {
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let root = root.to_owned();
        let mut server = Self { child, input, output, root, model, asked: Vec::new(), progress: 0, id: 0 };
        let capabilities = json!({ "roots": {}, "sampling": {} });
        let info = json!({ "name": "test", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": info });
        assert_eq!(server.request("initialize", hello)["serverInfo"]["name"], "planforge");
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a request, answers what the server asks meanwhile, and returns the result.
    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            let answer = match message["method"].as_str() {
                None if message["id"] == id => return message["result"].clone(),
                Some("roots/list") => {
                    json!({ "roots": [{ "uri": format!("file://{}", self.root.display()) }] })
                }
                Some("sampling/createMessage") => {
                    self.asked.push(message["params"].clone());
                    let content = json!({ "type": "text", "text": (self.model)(last_turn(&message)) });
                    json!({ "role": "assistant", "model": "scripted", "content": content, "stopReason": "endTurn" })
                }
                Some("notifications/progress") => {
                    self.progress += 1;
                    continue;
                }
                _ => panic!("{message}"),
            };
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let token = json!({ "progressToken": "token" });
        self.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": token }))
    }

    pub(crate) fn answer(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Closes the connection; the server ends by itself.
    pub(crate) fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().unwrap().success());
    }
}

#[test]
fn the_client_s_model_answers_llm_p_and_no_key_is_needed() {
    let problem = example_text("parcels", "p01.pddl");
    let mut server = Server::start(&root(), &format!("```pddl\n{problem}```"));
    let on = json!({ "suite": { "folder": "examples/suites/parcels", "tasks": ["p01"] } });
    let ended = server.answer("run", json!({ "pipeline": { "name": "llm-p" }, "on": on }));
    let task = &ended["tasks"][0];
    assert_eq!((task["verdict"].as_str(), task["requests"].as_u64()), (Some("accepted"), Some(1)), "{ended}");
    assert_eq!(server.asked.len(), 1);
    let question = server.asked[0].to_string();
    assert!(question.contains(example_text("parcels", "p01.nl").lines().next().unwrap()), "{question}");
    assert!(server.progress > 0);
    let report = server.request("resources/read", json!({ "uri": ended["report"] }));
    assert!(report["contents"][0]["text"].as_str().unwrap().contains("\"accepted\""));
    server.end();
}

/// The last turn of a question to the client's model.
fn last_turn(message: &Value) -> &str {
    let turns = message["params"]["messages"].as_array().unwrap();
    turns.last().unwrap()["content"]["text"].as_str().unwrap()
}

/// The domain of the suite `parcels`, in which the van drives without a road.
fn without_roads(domain: &str) -> String {
    domain.replace("(and (van-at ?from) (road ?from ?to))", "(van-at ?from)")
}

#[test]
fn the_client_s_model_writes_problem_and_domain_in_rounds() {
    let tasks = ["p01", "p02"].map(|stem| {
        (example_text("parcels", &format!("{stem}.nl")), example_text("parcels", &format!("{stem}.pddl")))
    });
    let drive = r#"modify_action("drive", ["(van-at ?from)", "(road ?from ?to)"], ["(van-at ?to)", "(not (van-at ?from))"])"#;
    let calls = format!(
        r#"add_or_update_predicates(["(road ?from ?to - town)", "(van-at ?t - town)", "(parcel-at ?p - parcel ?t - town)", "(in-van ?p - parcel)", "(van-empty)"])
{}
modify_action("load", ["(van-at ?t)", "(parcel-at ?p ?t)", "(van-empty)"], ["(in-van ?p)", "(not (parcel-at ?p ?t))", "(not (van-empty))"])
modify_action("unload", ["(van-at ?t)", "(in-van ?p)"], ["(parcel-at ?p ?t)", "(van-empty)", "(not (in-van ?p))"])"#,
        drive.replace(r#", "(road ?from ?to)""#, "")
    );
    let mut rounds = 0;
    let model = move |question: &str| {
        if question.contains("modify_action") {
            rounds += 1;
            return format!("```python\n{}\n```", if rounds == 1 { &calls } else { drive });
        }
        // The question of the second task shows the first one as an example.
        let (_, problem) = tasks.iter().max_by_key(|(text, _)| question.rfind(text.trim())).unwrap();
        format!("```pddl\n{problem}```")
    };
    let mut server = Server::with_model(&root(), Box::new(model));
    let file = json!({ "path": "configs/pipelines/pd-chain.toml" });
    let on = json!({ "suite": { "folder": "examples/suites/parcels", "tasks": ["p01", "p02"] } });
    let ended = server.answer("run", json!({ "pipeline": file, "on": on }));
    let tasks = ended["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 2);
    for task in tasks {
        assert_eq!(task["verdict"], "accepted", "{ended}");
        assert!(task["plan"].as_str().unwrap().contains("(drive "), "{task}");
    }
    // The first task: a problem, a domain, and a correction that its walks asked for. The second one: a problem.
    assert_eq!(server.asked.len(), 4, "{:#?}", server.asked);
    let correction = server.asked[2]["messages"].to_string();
    assert!(correction.contains("drive") && !correction.contains("(road ?from ?to))"), "{correction}");
    server.end();
}

#[test]
fn the_client_s_model_criticises_and_rewrites_a_domain() {
    let right = example_text("parcels", "domain.pddl");
    let wrong = without_roads(&right);
    let finding = "The precondition of drive lacks the road.";
    let model = move |question: &str| {
        let has_roads = question.contains("(and (van-at ?from) (road ?from ?to))");
        if question.contains("\"approves\"") {
            let found = json!({ "finding": finding, "place": "action drive", "severity": "error", "change": "Add it." });
            let findings = if has_roads { json!([]) } else { json!([found]) };
            return json!({ "findings": findings, "approves": has_roads }).to_string();
        }
        let domain = if has_roads || question.contains(finding) { &right } else { &wrong };
        format!("### Thought:\nThe van carries parcels along roads.\n\n### Domain:\n```pddl\n{domain}```")
    };
    let mut server = Server::with_model(&root(), Box::new(model));
    let on = json!({ "suite": { "folder": "examples/suites/parcels", "tasks": ["p01"] } });
    let run = |name: &str| json!({ "pipeline": { "name": name }, "on": on });
    let ended = server.answer("run", run("bon-ivml"));
    let task = &ended["tasks"][0];
    // Eight samples of one request, then a critique and an update in each of five rounds.
    assert_eq!(
        (task["verdict"].as_str(), task["requests"].as_u64()),
        (Some("accepted"), Some(11)),
        "{ended}"
    );
    assert_eq!(server.asked.len(), 18);
    // Without the rounds, the best of the same eight samples drives where there is no road.
    let ended = server.answer("run", run("bon"));
    assert_eq!(ended["tasks"][0]["verdict"], "rejected", "{ended}");
    assert_eq!(server.asked.len(), 26);
    server.end();
}

#[test]
fn a_pipeline_names_no_file_outside_of_the_roots_and_no_program() {
    let mut server = Server::start(&example("parcels", ""), "");
    let own = json!({ "task": { "domain_text": "d", "text": "t", "domain": { "path": "domain.pddl" } } });
    let text = |name: &str| json!({ "text": std::fs::read_to_string(pipeline(name)).unwrap() });
    let refused = server.failure("run", json!({ "pipeline": text("pd-chain.toml"), "on": own }));
    assert!(refused.contains("mcp.file") && refused.contains("blocks"), "{refused}");
    let program = std::fs::read_to_string(pipeline("llm-p.toml")).unwrap().replace(
        "use = \"planner-classical\"\noptions = { search = \"greedy\" }",
        "use = \"planner-external\"\noptions = { command = [\"touch\"], arguments = [\"here\"] }",
    );
    let refused = server.failure("run", json!({ "pipeline": { "text": program }, "on": own }));
    assert!(refused.contains("cli.consent"), "{refused}");
    assert!(server.asked.is_empty());
    let mut wrong = own.clone();
    wrong["task"]["domain"] = json!({ "path": "../blocks/domain.pddl" });
    assert!(
        server.failure("run", json!({ "pipeline": { "name": "llm-p" }, "on": wrong })).contains("mcp.file")
    );
    let broken = json!({ "pipeline": { "text": "schema = 1\n[[stage]]\ndo = \"nothing\"\n" }, "on": own });
    assert!(server.failure("run", broken).contains("pipeline."));
    server.end();
}

#[test]
fn the_tools_use_the_plugins() {
    let mut server = Server::start(&example("blocks", ""), "");
    let task = json!({ "domain": { "path": "domain.pddl" }, "problem": { "path": "p01.pddl" } });
    let mut optimal = task.clone();
    optimal["optimal"] = json!(true);
    let plan = server.answer("plan", optimal);
    assert_eq!((plan["outcome"].as_str(), plan["optimal"].as_bool()), (Some("plan"), Some(true)), "{plan}");
    let compared =
        server.answer("compare", json!({ "reference": task, "candidate": { "domain": task["domain"] } }));
    assert_eq!(compared["walks"]["score"], 1.0, "{compared}");
    assert!(server.answer("explain", json!({ "code": "cli.consent" }))["explanation"].is_string());
    server.end();
}

#[test]
fn a_method_is_recommended_as_by_the_command() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("evaluation").display().to_string();
    let [suite, recording] =
        ["examples/unseen/lab", "examples/recordings/frontier"].map(|path| root().join(path));
    let paths = [("--suite", suite), ("--pipeline", pipeline("llm-p.toml")), ("--replay", recording)];
    let mut words: Vec<String> = vec!["evaluate".into()];
    words.extend(paths.iter().flat_map(|(option, path)| [(*option).to_owned(), path.display().to_string()]));
    let more = ["--model", "batch:frontier", "--seeds", "1", "--tasks", "1", "--out", &out];
    ran(words.into_iter().chain(more.map(str::to_owned))).expect(0);
    let mut server = Server::start(place.path(), "");
    let answer = server.answer("recommend", json!({ "evaluation": "evaluation", "need": 90 }));
    let printed =
        ran(["evaluate", "recommend", &out, "--need", "90%"].map(str::to_owned)).expect(0).stdout.clone();
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(answer["use"], "llm-p@batch-frontier", "{answer}");
    assert_eq!(words(answer["text"].as_str().unwrap()), words(&printed));
    assert!(server.failure("recommend", json!({ "evaluation": ".." })).contains("mcp.file"));
    assert!(
        server.failure("recommend", json!({ "evaluation": "evaluation", "need": 101 })).contains("above 0")
    );
    // What leads out of the root is not read, and a changed result is refused.
    let results = place.path().join("evaluation/evaluation.json");
    let text = std::fs::read_to_string(&results).unwrap();
    std::fs::write(&results, text + " ").unwrap();
    let changed = server.failure("recommend", json!({ "evaluation": "evaluation" }));
    assert!(
        changed.contains("evaluate.changed") && changed.contains("evaluation/evaluation.json"),
        "{changed}"
    );
    // Hashes that cannot be read are not absent.
    let sums = place.path().join("evaluation/SHA256SUMS");
    std::fs::remove_file(&sums).unwrap();
    std::os::unix::fs::symlink("/dev/null", &sums).unwrap();
    assert!(server.failure("recommend", json!({ "evaluation": "evaluation" })).contains("mcp.file"));
    std::fs::remove_file(&sums).unwrap();
    assert_eq!(server.answer("recommend", json!({ "evaluation": "evaluation" }))["use"], answer["use"]);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(&results, elsewhere.path().join("evaluation.json")).unwrap();
    std::os::unix::fs::symlink(elsewhere.path().join("evaluation.json"), &results).unwrap();
    assert!(server.failure("recommend", json!({ "evaluation": "evaluation" })).contains("mcp.file"));
    server.end();
}

#[test]
fn a_pipeline_under_a_root_reads_what_it_names_there() {
    let mut server = Server::start(&root(), "");
    let file = json!({ "path": "configs/pipelines/pd-chain.toml" });
    let on = json!({ "suite": { "folder": "examples/suites/parcels", "tasks": ["p01"] } });
    server.answer("run", json!({ "pipeline": file, "on": on }));
    let blocks = example_text("blocks", "domain.nl");
    let question = server.asked[0].to_string();
    assert!(question.contains(blocks.lines().next().unwrap()), "{question}");
    server.end();

    let place = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(pipeline("pd-chain.toml")).unwrap();
    std::fs::write(place.path().join("chain.toml"), text.replace("../../examples/suites/blocks", "link"))
        .unwrap();
    std::os::unix::fs::symlink(example("blocks", ""), place.path().join("link")).unwrap();
    let mut server = Server::start(place.path(), "");
    let own = json!({ "task": { "domain_text": "A lamp.", "text": "Light the lamp." } });
    let refused = server.failure("run", json!({ "pipeline": { "path": "chain.toml" }, "on": own }));
    let link = place.path().join("link").display().to_string();
    assert!(refused.contains("mcp.file") && refused.contains(&link), "{refused}");
    assert!(server.asked.is_empty());
    server.end();
}

/// Checks that two answers have these fields with the same values; absent on both sides counts.
fn same(answer: &Value, printed: &Value, fields: &[&str]) {
    for field in fields {
        assert_eq!(answer[field], printed[field], "{field} of {answer} and of {printed}");
    }
}

#[test]
fn the_server_and_the_command_line_give_the_same_values_for_the_same_request() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let names = ["domain.pddl", "p01.pddl", "p02.pddl"];
    let [domain, problem, other] = names.map(|name| example_text("parcels", name));
    let lax = without_roads(&domain);
    for (name, text) in names.iter().zip([&domain, &problem, &other]) {
        std::fs::write(path(name), text).unwrap();
    }
    std::fs::write(path("lax.pddl"), &lax).unwrap();
    let printed = |exit: i32, command: &[&str], files: &[&str], more: &[&str]| {
        let files = files.iter().map(|name| path(name).display().to_string());
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        ran(words(command).into_iter().chain(files).chain(words(more)).chain(["--json".to_owned()]))
            .json(exit)
    };
    let mut server = Server::start(place.path(), &format!("```pddl\n{problem}```"));
    let file = |name: &str| json!({ "path": name });
    let task = json!({ "domain": file("domain.pddl"), "problem": file("p01.pddl") });

    let planned = server.answer("plan", task.clone());
    let by_command = printed(0, &["pddl", "plan"], &names[..2], &["--first"]);
    same(&planned, &by_command, &["outcome", "optimal", "statistics", "diagnostics"]);
    let first = &by_command["plans"][0];
    let steps: Vec<&str> = first["steps"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    let plan = planned["plan"].as_str().unwrap();
    assert_eq!(plan.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>(), steps);
    assert_eq!((&planned["cost"], planned["steps"].as_u64()), (&first["cost"], Some(steps.len() as u64)));

    for (name, text, exit) in [("whole.plan", plan, 0), ("short.plan", steps[0], 10)] {
        std::fs::write(path(name), text).unwrap();
        let mut judged = task.clone();
        judged["plan"] = file(name);
        let judged = server.answer("validate", judged);
        let by_command = printed(exit, &["pddl", "validate"], &["domain.pddl", "p01.pddl", name], &[]);
        same(&judged, &by_command, &["valid", "decision", "cost"]);
        let codes = |of: &Value| -> Vec<(Value, Value)> {
            let found = of["diagnostics"].as_array().unwrap().iter();
            found.map(|d| (d["code"].clone(), d["message"].clone())).collect()
        };
        assert_eq!(codes(&judged), codes(&by_command));
    }

    let candidate = json!({ "domain": file("lax.pddl"), "problem": file("p02.pddl") });
    let request = json!({ "reference": task, "candidate": candidate });
    let compared = server.answer("compare", request);
    let by_walks = printed(10, &["pddl", "ew"], &["domain.pddl", "p01.pddl", "lax.pddl", "p02.pddl"], &[]);
    let walks = ["score", "reference_to_candidate", "candidate_to_reference", "mode"];
    same(&compared["walks"], &by_walks, &walks);
    let path_text = |name: &str| path(name).display().to_string();
    let options = ["--problems", &path_text("p01.pddl")];
    let by_behaviour = printed(10, &["pddl", "equivalent", "domain"], &["domain.pddl", "lax.pddl"], &options);
    let request = json!({ "reference": task, "candidate": { "domain": file("lax.pddl") } });
    let behaviour = server.answer("compare", request);
    same(&behaviour["behaviour"], &by_behaviour["problems"][0], &["decision", "difference"]);
    let options = ["--domain", &path_text("domain.pddl")];
    let by_names = printed(10, &["pddl", "equivalent", "problem"], &["p01.pddl", "p02.pddl"], &options);
    same(&compared["problems"], &by_names, &["decision", "renaming", "difference"]);

    let info = server.answer("explain", json!({ "code": "pddl.undefined-predicate" }));
    let text = |field: &str| info[field].as_str().unwrap().to_owned();
    let by_command = ran(["explain", text("code").as_str()]).stdout;
    assert_eq!(by_command.trim(), format!("{}: {}\n\n{}", text("code"), text("title"), text("explanation")));
    server.end();

    let mut server = Server::start(&root(), &format!("```pddl\n{problem}```"));
    let on = json!({ "suite": { "folder": "examples/suites/parcels", "tasks": ["p01"] } });
    let served = server.answer("run", json!({ "pipeline": { "name": "llm-p" }, "on": on }));
    let model = saying(&format!("```pddl\n{problem}```"));
    let report = Run::new("llm-p.toml", &model.base_url()).task("parcels", "p01").arg("--json").go().json(0);
    let task = &report["tasks"][0];
    assert_eq!(served["state"], report["state"]);
    assert_eq!(
        (&served["tasks"][0]["task"], &served["tasks"][0]["verdict"]),
        (&task["task"], &task["verdict"]["verdict"])
    );
    server.end();
}
