//! `planforge mcp` as a client sees it: lines of JSON over pipes.

use crate::support::{example, example_text, pipeline, planforge, root};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// A server under test, and a client that grants a root and answers questions to its model with one text.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    root: PathBuf,
    reply: String,
    /// Questions to the client's model.
    asked: Vec<Value>,
    /// Messages of progress.
    progress: usize,
    id: u64,
}

impl Server {
    fn start(root: &Path, reply: &str) -> Self {
        let mut child = planforge().arg("mcp").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (root, reply) = (root.to_owned(), reply.to_owned());
        let mut server = Self { child, input, output, root, reply, asked: Vec::new(), progress: 0, id: 0 };
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
                    let content = json!({ "type": "text", "text": self.reply });
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

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let token = json!({ "progressToken": "token" });
        self.request("tools/call", json!({ "name": tool, "arguments": arguments, "_meta": token }))
    }

    fn answer(&mut self, tool: &str, arguments: Value) -> Value {
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
    fn end(mut self) {
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
