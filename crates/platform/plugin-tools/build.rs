//! Packs the sources of the crates that a plugin in Rust needs, so that `planforge plugins new` can write them beside the plugin.
//!
//! The pack is compressed text: path, NUL, contents, NUL, for each file in the order of the paths. Only Rust files and the tables of
//! codes are packed, without tests.
#![allow(clippy::print_stdout)] // The interface between a build script and cargo.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

/// The folders of the crates below `crates`.
const CRATES: [&str; 7] = [
    "language/diagnostics",
    "language/pddl",
    "platform/child",
    "platform/contract",
    "platform/plugin-abi",
    "platform/plugin-host",
    "platform/plugin-sdk",
];

#[allow(clippy::disallowed_methods, reason = "cargo passes folders to a build script in the environment")]
fn main() -> Result<()> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).ok_or(std::io::ErrorKind::NotFound);
    let root = folder("CARGO_MANIFEST_DIR")?.join("../../..");
    let mut pack =
        ZlibEncoder::new(std::fs::File::create(folder("OUT_DIR")?.join("sdk.pack"))?, Compression::best());
    for name in ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT"] {
        add(&mut pack, &root.join(name), name)?;
    }
    for path in CRATES {
        let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
        let crate_folder = root.join("crates").join(path);
        add(&mut pack, &crate_folder.join("Cargo.toml"), &format!("{name}/Cargo.toml"))?;
        println!("cargo:rerun-if-changed={}", crate_folder.join("src").display());
        add_folder(&mut pack, &crate_folder.join("src"), &format!("{name}/src"))?;
    }
    pack.finish()?.flush()
}

fn add_folder(pack: &mut impl Write, folder: &Path, path: &str) -> Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let inner = format!("{path}/{name}");
        match entry.file_type()?.is_dir() {
            true if name != "snapshots" => add_folder(pack, &entry.path(), &inner)?,
            false if name != "tests.rs" && (name.ends_with(".rs") || name.ends_with(".md")) => {
                add(pack, &entry.path(), &inner)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn add(pack: &mut impl Write, file: &Path, path: &str) -> Result<()> {
    println!("cargo:rerun-if-changed={}", file.display());
    let text = std::fs::read_to_string(file)?;
    // A test module is the last item of its file, which clippy checks.
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
    // One in a file of its own is left out with that file.
    let code = code.replace("\n#[cfg(test)]\nmod tests;\n", "");
    write!(pack, "{path}\0{code}\0")
}
