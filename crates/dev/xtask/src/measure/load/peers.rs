//! The same number of questions through other programs that evaluate language models: inspect_ai and promptfoo.

use super::server::Interface;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

/// Sends each request once per sample, and checks that the reply contains PDDL.
const INSPECT: &str = r#"
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes

tasks, samples, jobs, server, logs, interface = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5], sys.argv[6]
question = "House number {} has a hall, a kitchen and an attic. All are dark. Switch on every light."
# Without its setting, Responses begins with a request that tries reasoning, and Anthropic asks for more tokens than it takes without streaming.
name, path, options, settings = {
    "chat": ("openai-api/loopback/load", "/v1", {}, {}),
    "responses": ("openai/load", "/v1", {"responses_api": True}, {"reasoning_summary": "none"}),
    "anthropic": ("anthropic/claude-load", "", {"streaming": False}, {"max_tokens": 1024}),
    "gemini": ("google/gemini-load", "", {"streaming": False}, {}),
}[interface]
model = get_model(name, base_url=server + path, api_key="sk-load", config=GenerateConfig(max_connections=jobs, **settings), **options)
task = Task(dataset=[Sample(input=question.format(n), target="(define") for n in range(tasks)], epochs=samples, scorer=includes())
log = eval(task, model=model, display="none", log_dir=logs, max_samples=jobs * 2, max_connections=jobs)[0]
sys.exit(0 if log.status == "success" else 1)
"#;

/// The number of questions to send, and where.
#[derive(Clone, Copy)]
pub(crate) struct PeerLoad<'a> {
    /// Folder for what the peer writes.
    pub(crate) folder: &'a Path,
    /// `127.0.0.1:PORT`.
    pub(crate) address: &'a str,
    pub(crate) interface: Interface,
    pub(crate) tasks: usize,
    pub(crate) samples: u32,
    pub(crate) jobs: u32,
}

/// inspect_ai of a Python environment.
pub(crate) fn inspect(venv: &Path, load: PeerLoad<'_>) -> io::Result<Command> {
    let PeerLoad { folder, address, interface, tasks, samples, jobs } = load;
    let script = folder.join("inspect_load.py");
    fs::write(&script, INSPECT)?;
    let mut command = Command::new(venv.join("bin/python"));
    command.arg(script).args([tasks.to_string(), samples.to_string(), jobs.to_string()]);
    command.arg(format!("http://{address}")).arg(folder.join("inspect-logs")).arg(interface.name());
    command.current_dir(folder);
    Ok(command)
}

/// promptfoo of a folder with `node_modules`.
pub(crate) fn promptfoo(modules: &Path, load: PeerLoad<'_>) -> io::Result<Command> {
    let PeerLoad { folder, address, interface, tasks, samples, jobs } = load;
    let (id, path) = match interface {
        Interface::Chat => ("openai:chat:load", "/v1"),
        Interface::Responses => ("openai:responses:load", "/v1"),
        Interface::Anthropic => ("anthropic:messages:claude-load", ""),
        Interface::Gemini => ("google:gemini-load", ""),
    };
    let tests: String = (0..tasks).map(|n| format!("  - vars: {{ house: {n} }}\n")).collect();
    let config = format!(
        "prompts:\n  - 'House number {{{{house}}}} has a hall, a kitchen and an attic. All are dark. Switch on every light.'\n\
         providers:\n  - id: {id}\n    config: {{ apiBaseUrl: 'http://{address}{path}', apiKey: sk-load }}\n\
         defaultTest:\n  assert:\n    - type: contains\n      value: '(define'\ntests:\n{tests}"
    );
    let file = folder.join("promptfooconfig.yaml");
    fs::write(&file, config)?;
    let mut command = Command::new("node");
    command
        .arg(modules.join("node_modules/promptfoo/dist/src/entrypoint.js"))
        .arg("eval")
        .arg("-c")
        .arg(file);
    command.args(["--repeat", &samples.to_string(), "-j", &jobs.to_string()]);
    command.args(["--no-cache", "--no-table", "--no-progress-bar", "--no-share"]);
    command.arg("-o").arg(folder.join("promptfoo.json")).current_dir(folder);
    command.env("PROMPTFOO_DISABLE_TELEMETRY", "1").env("PROMPTFOO_DISABLE_UPDATE", "1");
    command.env("PROMPTFOO_CONFIG_DIR", folder.join("promptfoo-state"));
    Ok(command)
}
