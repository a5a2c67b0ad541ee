//! Checks outside of `cargo test`: grammars against llguidance's matcher, tests that take too long, the packages that authors of plugins
//! need, and the official Python SDK against `planforge mcp`.

#[path = "../../../platform/plugin-sdk/tests/support/large_replies.rs"]
mod large_replies;
#[path = "../../../language/pddl/tests/it/large_texts.rs"]
mod large_texts;

use crate::programs::{absolute, path_text};
use clap::Args;
use large_replies::{large_replies, read_large_reply};
use large_texts::{large_texts, read_all_ways};
use planforge_contract::PluginKind;
use planforge_plugin_tools::scaffold::scaffold;
use planforge_testkit::outside::{cargo, remove_package_variables};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The package that counts.
const PACKAGE: &str = "../../../tests/llguidance/Cargo.toml";

/// Folders, and the texts that are taken of them.
#[derive(clap::Args)]
pub(crate) struct GrammarsArgs {
    /// Folders: each folder at or below them that has a domain.pddl counts.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read texts in lower case: a grammar has the case of the domain.
    #[arg(long)]
    lower: bool,
    /// At most this many domains, spread over all.
    #[arg(long, value_name = "N")]
    most: Option<usize>,
    /// Also read this many random problems, and as many random actions, of each domain with planforge's reader.
    #[arg(long, value_name = "N")]
    derivations: Option<usize>,
}

pub(crate) fn count_grammars(args: &GrammarsArgs) -> Result<(), String> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join(PACKAGE);
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--quiet", "--manifest-path"]).arg(package).arg("--");
    command.args(args.lower.then_some("--lower"));
    for (option, count) in [("--most", args.most), ("--derivations", args.derivations)] {
        command.args(count.map(|count| [option.to_owned(), count.to_string()]).into_iter().flatten());
    }
    let status =
        command.args(&args.paths).status().map_err(|error| format!("cannot start cargo: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err("a grammar accepts or rejects what it should not".into()),
    }
}

#[derive(clap::Args)]
pub(crate) struct LongTestsArgs {}

/// Bytes of the longer texts; the shorter have a quarter.
const BYTES: usize = 1 << 20;

/// Time of the longer text over that of the shorter. Linear time gives 4, quadratic time 16.
const MOST_GROWTH: f64 = 9.0;

/// Times below this are too short to compare.
const SHORTEST: Duration = Duration::from_millis(500);

/// Prints the time of each text. Fails if one grows faster than its length, or if an ignored test fails.
pub(crate) fn run_long_tests(_: &LongTestsArgs) -> Result<(), String> {
    let mut too_slow = superlinear(large_texts, read_all_ways);
    too_slow.extend(superlinear(large_replies, read_large_reply));
    if !too_slow.is_empty() {
        return Err(format!("reading takes more than linear time: {too_slow:?}"));
    }
    for package in ["planforge-planning", "planforge-lsp"] {
        let arguments = ["test", "-p", package, "--", "--ignored", "--nocapture"];
        let status = Command::new("cargo").args(arguments).status().map_err(|e| format!("`cargo`: {e}"))?;
        if !status.success() {
            return Err(format!("an ignored test of {package} failed"));
        }
    }
    Ok(())
}

/// Texts of a given size, each with its name.
type SizedTexts = fn(usize) -> Vec<(&'static str, String)>;

/// Prints the time that reading each text takes, and returns the names of those that take more than linear time.
fn superlinear(texts: SizedTexts, read: fn(&str)) -> Vec<&'static str> {
    let mut too_slow = Vec::new();
    for ((name, short), (_, long)) in texts(BYTES / 4).into_iter().zip(texts(BYTES)) {
        let [short, long] = [short, long].map(|text| {
            let start = Instant::now();
            read(&text);
            start.elapsed()
        });
        let growth = long.as_secs_f64() / short.as_secs_f64().max(1e-9);
        println!("{name:?}: {short:.1?}, four times the length {long:.1?}");
        if long > SHORTEST && growth > MOST_GROWTH {
            too_slow.push(name);
        }
    }
    too_slow
}

/// Every crate that is published for authors of plugins.
const PUBLISHED: [&str; 8] = [
    "planforge-diagnostics",
    "planforge-pddl",
    "planforge-planning",
    "planforge-child",
    "planforge-contract",
    "planforge-plugin-abi",
    "planforge-plugin-sdk",
    "planforge-plugin-host",
];

#[derive(clap::Args)]
pub(crate) struct PackagedSdkArgs {}

/// Prints the time of each build. What tests have built is not built again.
pub(crate) fn check_packaged_sdk(_: &PackagedSdkArgs) -> Result<(), String> {
    let root = absolute(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.."))?;
    let mut package = Command::new("cargo");
    package.args(["package", "--no-verify", "--exclude-lockfile", "--allow-dirty", "--quiet"]);
    package.args(PUBLISHED.iter().flat_map(|name| ["--package", name]));
    remove_package_variables(&mut package);
    let status = package.arg("--offline").current_dir(&root).status().map_err(|e| format!("`cargo`: {e}"))?;
    if !status.success() {
        return Err(format!("{package:?} failed"));
    }
    println!("packed {} crates: {}", PUBLISHED.len(), path_text(root.join("target/package")));

    let workspace = root.join("target/packaged-sdk");
    if workspace.exists() {
        fs::remove_dir_all(&workspace).map_err(|e| at(&workspace, &e))?;
    }
    fs::create_dir_all(&workspace).map_err(|e| at(&workspace, &e))?;
    let manifest = workspace.join("Cargo.toml");
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"plugins/*\"]\n";
    fs::write(&manifest, members).map_err(|e| at(&manifest, &e))?;
    let kinds = PluginKind::ALL.map(|kind| (kind, format!("{}-packaged", kind.name())));
    for (kind, name) in &kinds {
        scaffold(kind.name(), name, &workspace.join("plugins"), None)
            .map_err(|failure| failure.to_string())?;
    }
    // One by one, because the features of packages that are built together are added.
    for (_, name) in &kinds {
        let start = Instant::now();
        cargo(&root, &workspace, &["test", "--quiet", "--package", name])?;
        println!("cargo test --package {name}: {:.0} s", start.elapsed().as_secs_f64());
    }
    Ok(())
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

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

/// The official Python SDK against `planforge mcp`: every tool, a repair, hostile calls, 1,000 calls, and times; those of `planforge lsp` too.
pub(crate) fn run_mcp_client(args: &McpClientArgs) -> Result<(), String> {
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
