//! Records the demo's cassette from a live model, or sends the same requests to the same model again and
//! compares.

use clap::Args;
use planforge_contract::CompletionResult;
use planforge_record::{Cassette, Lookup};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Every task of the example suites is included, and every reply is kept.
const SUITES: &[&str] = &["examples/suites/parcels", "examples/suites/garden"];
const CASSETTE: &str = "examples/demo/llm-p.jsonl";
const PIPELINE: &str = "configs/pipelines/llm-p.toml";

#[derive(Args)]
pub(crate) struct RecordDemoArgs {
    #[arg(long, default_value = "http://127.0.0.1:8081/v1")]
    base_url: String,
    /// The model, as the endpoint names it; the pipeline file's own where absent.
    #[arg(long)]
    model: Option<String>,
    /// Description of the endpoint for the cassette's header.
    #[arg(
        long,
        default_value = "llama-cpp-python 0.3.36 server on this machine, Qwen2.5-Coder-1.5B-Instruct Q4_K_M"
    )]
    endpoint: String,
    /// The `planforge` binary; built first where absent.
    #[arg(long)]
    planforge: Option<PathBuf>,
    /// Send the requests again and compare instead of recording.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &RecordDemoArgs) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let fresh = folder.path().join("fresh.jsonl");
    ask(args, folder.path(), &fresh)?;
    if args.check {
        return compare(Path::new(CASSETTE), &fresh);
    }
    let text = std::fs::read_to_string(&fresh).map_err(|e| e.to_string())?;
    let (header, records) = text.split_once('\n').ok_or("the recording has no header")?;
    let mut header: serde_json::Value = serde_json::from_str(header).map_err(|e| e.to_string())?;
    header["endpoint"] = args.endpoint.clone().into();
    header["note"] =
        "every task of the two example suites was asked about once; no reply was picked or left out".into();
    std::fs::write(CASSETTE, format!("{header}\n{records}")).map_err(|e| format!("{CASSETTE}: {e}"))?;
    println!("{} replies recorded in {CASSETTE}", records.lines().count());
    Ok(())
}

/// One live run over all tasks, recorded into `cassette`.
fn ask(args: &RecordDemoArgs, folder: &Path, cassette: &Path) -> Result<(), String> {
    let mut command = match &args.planforge {
        Some(binary) => Command::new(binary),
        None => {
            let mut cargo = Command::new("cargo");
            cargo.args(["run", "--quiet", "--package", "planforge-cli", "--bin", "planforge", "--"]);
            cargo
        }
    };
    command.args(["run", PIPELINE, "--jobs", "1", "--runs"]).arg(folder.join("runs"));
    command.arg("--record").arg(cassette);
    command.args(["--set", &format!("llm.main.base_url={}", args.base_url)]);
    if let Some(model) = &args.model {
        command.args(["--set", &format!("llm.main.model={model}")]);
    }
    for suite in SUITES {
        command.args(["--suite", suite]);
    }
    let status = command.status().map_err(|e| format!("planforge cannot be started: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("the run ended with {status}")) }
}

/// Prints for each recorded question whether the model gave the same reply again.
fn compare(recorded: &Path, fresh: &Path) -> Result<(), String> {
    let open = |path: &Path| Cassette::open(path, Arc::default()).map_err(|e| e.to_string());
    let (recorded, fresh) = (open(recorded)?, open(fresh)?);
    let mut same = 0;
    let keys = recorded.completion_keys();
    for key in &keys {
        let (before, now) = (contents(&recorded, key)?, contents(&fresh, key)?);
        let word = match (&before, &now) {
            (_, None) => "not asked: the question is another one now",
            (before, now) if before == now => "same",
            _ => "differs",
        };
        same += usize::from(word == "same");
        let path = key.split_once(':').map_or(key.as_str(), |(_, path)| path);
        println!("{path}: {word}");
    }
    println!("{same} of {} replies are the same", keys.len());
    Ok(())
}

/// The texts of the replies to one request; `None` if it was not sent.
fn contents(cassette: &Cassette, key: &str) -> Result<Option<Vec<String>>, String> {
    let record = cassette.completion(key).map_err(|e| e.to_string())?;
    Ok(record.map(|r| match r.result {
        Some(CompletionResult::Replies(replies)) => replies.replies.into_iter().map(|r| r.content).collect(),
        _ => Vec::new(),
    }))
}
