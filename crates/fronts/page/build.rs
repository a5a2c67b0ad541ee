//! Packs the built files of the page into the crate, each compressed. `tools/page` builds them; without them the crate has no page.
#![allow(clippy::print_stdout)] // The interface between a build script and cargo.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

#[allow(clippy::disallowed_methods, reason = "cargo passes folders to a build script in the environment")]
fn main() -> Result<()> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).ok_or(std::io::ErrorKind::NotFound);
    let (web, out) = (folder("CARGO_MANIFEST_DIR")?.join("web"), folder("OUT_DIR")?);
    let dist = web.join("dist");
    // Cargo runs the script at every build if a watched path is missing, so `tools/page` touches this file.
    println!("cargo:rerun-if-changed={}", web.join(".gitignore").display());
    let mut files = Vec::new();
    if dist.is_dir() {
        println!("cargo:rerun-if-changed={}", dist.display());
        collect(&dist, "", &mut files)?;
    }
    files.sort();
    let mut list = String::from("pub(crate) static FILES: &[(&str, &[u8])] = &[");
    for (number, name) in files.iter().enumerate() {
        let packed = out.join(format!("{number}.gz"));
        let mut gzip = GzEncoder::new(std::fs::File::create(&packed)?, Compression::best());
        gzip.write_all(&std::fs::read(dist.join(name))?)?;
        gzip.finish()?;
        // Writing to a text cannot fail.
        let _ = write!(list, "({name:?}, include_bytes!({packed:?})),");
    }
    std::fs::write(out.join("files.rs"), list + "];\n")
}

fn collect(folder: &Path, path: &str, files: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{path}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files)?,
            false => files.push(name),
        }
    }
    Ok(())
}
