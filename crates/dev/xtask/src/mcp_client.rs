//! The official Python SDK against `planforge mcp`: every tool, a repair, hostile calls, 1,000 calls, and times; those of `planforge lsp` too.

use crate::paths::{absolute, path_text};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The SDK's package. A newer version may speak a newer protocol, so it is pinned.
const SDK: &str = "mcp==2.3.0";
/// Two other PDDL servers: a package of PyPI, which pins its own SDK, and a program of crates.io.
const PEER: &str = "pddlpy[mcp]==1.2.2";
const RUST_PEER: &str = "ferroplan-mcp@0.30.0";

const SCRIPT: &str = include_str!("mcp_client/client.py");

#[derive(Args)]
pub(crate) struct McpClientArgs {
    /// The `planforge` binary.
    #[arg(long)]
    planforge: PathBuf,
    /// Folder for the virtual environments, outside of the repository.
    #[arg(long, value_name = "DIR")]
    venvs: Option<PathBuf>,
    /// Also print the times of each tool and of each request of an editor, on the domains and problems of `--small` and `--large`; of an
    /// editor on 50,000 lines too.
    #[arg(long)]
    measure: bool,
    /// A folder with a small domain.pddl, p01.pddl and picture.toml.
    #[arg(long, value_name = "DIR", default_value = "examples/suites/blocks")]
    small: PathBuf,
    /// A large domain and problem.
    #[arg(long, num_args = 2, value_names = ["DOMAIN", "PROBLEM"])]
    large: Vec<PathBuf>,
    /// Measure the servers of `pddlpy` and `ferroplan` beside ours on the same files.
    #[arg(long, requires = "measure")]
    peer: bool,
}

pub(crate) fn run(args: &McpClientArgs) -> Result<(), String> {
    let venvs = args.venvs.clone().unwrap_or_else(|| std::env::temp_dir().join("planforge-mcp-client"));
    let python = environment(&venvs.join("sdk"), SDK)?;
    let mut command = Command::new(&python);
    command.args(["-c", SCRIPT, "--planforge", &path_text(absolute(&args.planforge)?)]);
    command.args(["--small", &path_text(absolute(&args.small)?)]);
    if args.measure {
        command.arg("--measure");
    }
    if let [domain, problem] = args.large.as_slice() {
        command.args(["--large", &path_text(absolute(domain)?), &path_text(absolute(problem)?)]);
    }
    if args.peer {
        environment(&venvs.join("peer"), PEER)?;
        let ferroplan = venvs.join("ferroplan");
        run_quietly(Command::new("cargo").args(["install", "--quiet", RUST_PEER, "--root"]).arg(&ferroplan))?;
        command.arg("--peer").arg(venvs.join("peer/bin/pddlpy-mcp")).arg(ferroplan.join("bin/ferroplan-mcp"));
    }
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the client ended with {status}")),
        Err(error) => Err(format!("{}: {error}", python.display())),
    }
}

/// Makes a virtual environment with a package, unless it is there, and returns its interpreter.
fn environment(folder: &Path, package: &str) -> Result<PathBuf, String> {
    let python = folder.join("bin/python");
    let done = folder.join(".installed");
    if std::fs::read_to_string(&done).is_ok_and(|installed| installed == package) {
        return Ok(python);
    }
    run_quietly(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    run_quietly(Command::new(&python).args(["-m", "pip", "install", "--quiet", package]))?;
    std::fs::write(&done, package).map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(python)
}

/// Runs a command that prints nothing unless it fails.
fn run_quietly(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?}: {error}")),
    }
}
