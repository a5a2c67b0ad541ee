//! `cargo xtask packaged-sdk`: packs the crates that authors of plugins need, and builds and tests a new verifier against the packages, as a
//! user of the published crates would.

use crate::paths::path_text;
use planforge_plugin_tools::scaffold::scaffold;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Every crate that an author needs, each before those that depend on it.
pub(crate) const CRATES: [&str; 8] = [
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
pub(crate) struct PackagedSdkArgs {
    /// Pack the crates and stop.
    #[arg(long)]
    pack_only: bool,
    /// Keep what an earlier run built.
    #[arg(long)]
    keep: bool,
}

/// Prints the time of each build.
pub(crate) fn run(args: &PackagedSdkArgs) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let root = crate::paths::absolute(&root)?;
    let packed = root.join("target/package");
    pack(&root)?;
    let work = root.join("target/packaged-sdk");
    if work.exists() && !args.keep {
        fs::remove_dir_all(&work).map_err(|e| at(&work, &e))?;
    }
    let crates = unpack(&packed, &work.join("crates"))?;
    println!("packed {} crates: {}", crates.len(), path_text(&packed));
    if args.pack_only {
        return Ok(());
    }
    let verifier = work.join("verifier-packaged");
    if verifier.exists() {
        fs::remove_dir_all(&verifier).map_err(|e| at(&verifier, &e))?;
    }
    scaffold("verifier", "verifier-packaged", &work, None).map_err(|failure| failure.to_string())?;
    let manifest = verifier.join("Cargo.toml");
    let patched =
        format!("{}{}", fs::read_to_string(&manifest).map_err(|e| at(&manifest, &e))?, patch(&crates));
    fs::write(&manifest, patched).map_err(|e| at(&manifest, &e))?;
    let lock = verifier.join("Cargo.lock");
    fs::copy(root.join("Cargo.lock"), &lock).map_err(|e| at(&lock, &e))?;
    for arguments in [&["build", "--timings"][..], &["test", "--timings", "--no-run"], &["test"]] {
        let start = Instant::now();
        cargo(
            Command::new("cargo")
                .args(arguments)
                .current_dir(&verifier)
                .env("CARGO_TARGET_DIR", work.join("target")),
        )?;
        println!("cargo {}: {:.0} s", arguments.join(" "), start.elapsed().as_secs_f64());
    }
    check_sources(&verifier, &work.join("crates"))
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

#[allow(
    clippy::disallowed_methods,
    reason = "cargo gets the variables of this process except those about its package"
)]
fn cargo(command: &mut Command) -> Result<(), String> {
    // Cargo describes the xtask in these.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    let status = command.arg("--offline").status().map_err(|e| format!("`cargo`: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed")) }
}

fn pack(root: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command
        .args(["package", "--no-verify", "--exclude-lockfile", "--allow-dirty", "--quiet"])
        .current_dir(root);
    for name in CRATES {
        command.args(["--package", name]);
    }
    cargo(&mut command)
}

/// Unpacks every package and returns the folders of the crates by name.
fn unpack(packed: &Path, to: &Path) -> Result<Vec<(&'static str, PathBuf)>, String> {
    fs::create_dir_all(to).map_err(|e| at(to, &e))?;
    let mut crates = Vec::new();
    for name in CRATES {
        let version = if name == "planforge-plugin-abi" { "2.0.0" } else { env!("CARGO_PKG_VERSION") };
        let folder = format!("{name}-{version}");
        let file = packed.join(format!("{folder}.crate"));
        let status = Command::new("tar").arg("-xzf").arg(&file).arg("-C").arg(to).status();
        if !status.map_err(|e| format!("`tar`: {e}"))?.success() {
            return Err(format!("{} cannot be unpacked", file.display()));
        }
        crates.push((name, to.join(folder)));
    }
    Ok(crates)
}

/// Puts the unpacked packages in the place of those on crates.io.
fn patch(crates: &[(&str, PathBuf)]) -> String {
    let lines =
        crates.iter().map(|(name, folder)| format!("{name} = {{ path = {:?} }}\n", path_text(folder)));
    format!("\n[patch.crates-io]\n{}", lines.collect::<String>())
}

/// Every planforge crate of the build must come from a package, none from the checkout.
fn check_sources(verifier: &Path, packages: &Path) -> Result<(), String> {
    // Crates that only other platforms need may not be on this machine.
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", "host-tuple"])
        .current_dir(verifier)
        .output()
        .map_err(|e| format!("`cargo`: {e}"))?;
    if !output.status.success() {
        return Err(format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
    let mut found = 0;
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let (name, manifest) = (package["name"].as_str(), package["manifest_path"].as_str());
        if let (Some(name), Some(manifest)) = (name, manifest)
            && name.starts_with("planforge-")
        {
            if !Path::new(manifest).starts_with(packages) {
                return Err(format!("{name} comes from {manifest}, which is no package"));
            }
            found += 1;
        }
    }
    println!("{found} crates of planforge in the build, all from packages");
    if found > 0 { Ok(()) } else { Err("the build has no crate of planforge".to_owned()) }
}
