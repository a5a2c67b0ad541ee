//! The sources of the SDK beside a new plugin, for as long as its crates are not in a registry.

use crate::scaffold::{unwritable, wrong};
use flate2::read::ZlibDecoder;
use planforge_contract::{Failure, FailureClass};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use toml::{Table, Value};

/// Packed by the build script.
const PACK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sdk.pack"));
const README: &str = include_str!("../../templates/sdk.md");
/// The file with the checksums of all others.
const CHECKSUMS: &str = "SHA256SUMS";

/// Writes the sources into `folder`, one folder a crate. A folder that has them already stays as it is.
///
/// # Errors
/// `new.exists` if the folder has something else, `new.file` if a file cannot be written.
pub(super) fn write_sdk(folder: &Path) -> Result<(), Failure> {
    let files = sdk_files().map_err(|reason| {
        let text = format!("the sources of the SDK in this program cannot be used: {reason}");
        Failure::new(FailureClass::System, "new.sdk", text)
    })?;
    if folder.exists() {
        let checksums = std::fs::read_to_string(folder.join(CHECKSUMS)).unwrap_or_default();
        if checksums == files[CHECKSUMS] {
            return Ok(());
        }
        let text = format!("{} exists already and is not the SDK of this version", folder.display());
        return Err(wrong("new.exists", text).help("remove the folder, then its plugins use the new version"));
    }
    write_files(folder, files)
}

/// Writes the checksums last, because a folder that has them is taken as complete.
fn write_files(folder: &Path, mut files: BTreeMap<String, String>) -> Result<(), Failure> {
    let checksums = files.remove_entry(CHECKSUMS);
    for (path, text) in files.into_iter().chain(checksums) {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|e| unwritable(parent, &e))?;
        std::fs::write(&path, text).map_err(|e| unwritable(&path, &e))?;
    }
    Ok(())
}

/// The files by path, with manifests that stand alone and with checksums.
fn sdk_files() -> Result<BTreeMap<String, String>, String> {
    let mut text = String::new();
    ZlibDecoder::new(PACK).read_to_string(&mut text).map_err(|e| e.to_string())?;
    let mut parts = text.split_terminator('\0');
    let mut files = BTreeMap::new();
    while let (Some(path), Some(text)) = (parts.next(), parts.next()) {
        files.insert(path.to_owned(), text.to_owned());
    }
    let workspace = files.remove("Cargo.toml").ok_or("no workspace manifest")?;
    let workspace: Table = toml::from_str(&workspace).map_err(|e| e.to_string())?;
    for (path, text) in files.iter_mut().filter(|(path, _)| path.ends_with("/Cargo.toml")) {
        *text = stand_alone(text, &workspace["workspace"]).map_err(|e| format!("{path}: {e}"))?;
    }
    files.insert("README.md".to_owned(), README.replace("{{VERSION}}", env!("CARGO_PKG_VERSION")));
    let checksums = files.iter().map(|(path, text)| format!("{}  {path}\n", sha256(text))).collect();
    files.insert(CHECKSUMS.to_owned(), checksums);
    Ok(files)
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The manifest of a crate without its workspace: inherited values are filled in, the crates of the SDK are next to each other, and tests
/// are removed.
fn stand_alone(manifest: &str, workspace: &Value) -> Result<String, String> {
    let mut manifest: Table = toml::from_str(manifest).map_err(|e| e.to_string())?;
    for name in ["lints", "dev-dependencies", "bench"] {
        manifest.remove(name);
    }
    let package = manifest.get_mut("package").and_then(Value::as_table_mut).ok_or("no package")?;
    for (key, value) in package.iter_mut().filter(|(_, value)| is_inherited(value)) {
        *value = inherited(workspace, "package", key)?;
    }
    let dependencies = manifest.get_mut("dependencies").and_then(Value::as_table_mut);
    for (name, value) in dependencies.into_iter().flatten() {
        if is_inherited(value) {
            let mut full = match inherited(workspace, "dependencies", name)? {
                Value::Table(table) => table,
                version => Table::from_iter([("version".to_owned(), version)]),
            };
            for (key, value) in value.as_table().into_iter().flatten().filter(|(key, _)| *key != "workspace")
            {
                match (full.get_mut(key), value) {
                    (Some(Value::Array(all)), Value::Array(more)) => all.extend(more.iter().cloned()),
                    _ => drop(full.insert(key.clone(), value.clone())),
                }
            }
            *value = Value::Table(full);
        }
        if let (Some(table), Some(folder)) = (value.as_table_mut(), name.strip_prefix("planforge-")) {
            table.insert("path".to_owned(), format!("../{folder}").into());
        }
    }
    let library = manifest.entry("lib").or_insert_with(|| Table::new().into());
    let library = library.as_table_mut().ok_or("`lib` is not a table")?;
    library.insert("test".to_owned(), false.into());
    library.insert("doctest".to_owned(), false.into());
    toml::to_string(&manifest).map_err(|e| e.to_string())
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

fn inherited(workspace: &Value, table: &str, key: &str) -> Result<Value, String> {
    let value = workspace.get(table).and_then(|table| table.get(key));
    value.cloned().ok_or_else(|| format!("the workspace has no {table}.{key}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_depend_on_nothing_but_registries_and_each_other() {
        let files = sdk_files().unwrap();
        let manifests: BTreeMap<_, _> = files
            .iter()
            .filter_map(|(path, text)| Some((path.strip_suffix("/Cargo.toml")?, text)))
            .map(|(name, text)| (name, toml::from_str::<Table>(text).unwrap()))
            .collect();
        assert_eq!(manifests.len(), 7);
        for (name, manifest) in &manifests {
            assert!(!files[&format!("{name}/Cargo.toml")].contains("workspace"), "{name}");
            for (dependency, value) in manifest["dependencies"].as_table().unwrap() {
                match dependency.strip_prefix("planforge-") {
                    Some(folder) => assert!(manifests.contains_key(folder), "{name}: {dependency}"),
                    None => assert!(value.get("path").is_none(), "{name}: {dependency}"),
                }
            }
        }
        assert!(!files.values().any(|text| text.contains("\nmod tests")));
        assert!(PACK.len() < 300_000, "the program grows by {} bytes", PACK.len());
    }

    #[test]
    fn features_of_the_workspace_and_of_the_crate_are_added() {
        let workspace: Table = toml::from_str(
            "[package]\nversion = '1.2.3'\n[dependencies]\na = { version = '1', features = ['x'] }\nb = '2'\nplanforge-c = { path = 'crates/c' }",
        )
        .unwrap();
        let manifest = "[package]\nname = 'n'\nversion.workspace = true\n[lints]\nworkspace = true\n[dependencies]\na = { workspace = true, features = ['y'], optional = true }\nb.workspace = true\nplanforge-c.workspace = true\n[dev-dependencies]\nd = '1'";
        let expected = "[package]\nname = 'n'\nversion = '1.2.3'\n[dependencies]\na = { version = '1', features = ['x', 'y'], optional = true }\nb = { version = '2' }\nplanforge-c = { path = '../c' }\n[lib]\ntest = false\ndoctest = false";
        let written: Table = toml::from_str(&stand_alone(manifest, &workspace.into()).unwrap()).unwrap();
        assert_eq!(written, toml::from_str::<Table>(expected).unwrap());
    }

    #[test]
    fn the_folder_is_shared_by_plugins_of_one_version_and_nothing_else_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let sdk = folder.path().join("sdk");
        write_sdk(&sdk).unwrap();
        std::fs::remove_file(sdk.join("README.md")).unwrap();
        write_sdk(&sdk).unwrap();
        assert!(!sdk.join("README.md").exists());
        std::fs::write(sdk.join(CHECKSUMS), "0  README.md\n").unwrap();
        assert_eq!(write_sdk(&sdk).unwrap_err().code, "new.exists");
    }

    #[test]
    fn a_folder_that_was_not_written_to_its_end_has_no_checksums() {
        let folder = tempfile::tempdir().unwrap();
        // A file is in the way of a folder.
        let files = ["a", "a/b", CHECKSUMS].map(|path| (path.to_owned(), String::new()));
        assert_eq!(write_files(folder.path(), BTreeMap::from(files)).unwrap_err().code, "new.file");
        assert!(folder.path().join("a").exists());
        assert!(!folder.path().join(CHECKSUMS).exists());
    }
}
