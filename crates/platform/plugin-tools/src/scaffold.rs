//! `planforge plugins new KIND NAME`: a crate of two files and a test that builds, loads and passes as it is, or a folder with a
//! plugin in Python.

mod python;
mod sdk;

pub use python::scaffold_python;

use planforge_contract::{Failure, FailureClass, PluginKind};
use std::path::{Component, Path, PathBuf};

const MANIFEST: &str = include_str!("../templates/Cargo.toml.txt");
const TEST: &str = include_str!("../templates/test.rs");

/// The library and the kind's own part of the test.
const fn sources(kind: PluginKind) -> (&'static str, &'static str) {
    macro_rules! of {
        ($kind:literal) => {
            (
                include_str!(concat!("../templates/", $kind, "/lib.rs")),
                include_str!(concat!("../templates/", $kind, "/test.rs")),
            )
        };
    }
    match kind {
        PluginKind::Provider => of!("provider"),
        PluginKind::Translator => of!("translator"),
        PluginKind::Verifier => of!("verifier"),
        PluginKind::Planner => of!("planner"),
        PluginKind::Environment => of!("environment"),
    }
}

/// The features of the SDK that the kind's library uses.
const fn features(kind: PluginKind) -> &'static str {
    match kind {
        PluginKind::Translator | PluginKind::Environment => "\"pddl\"",
        PluginKind::Provider | PluginKind::Verifier | PluginKind::Planner => "",
    }
}

/// The end of the manifest of a crate that is a workspace of its own. Debug information of dependencies takes most of the
/// time and space of a build.
const OWN_WORKSPACE: &str = "
[workspace]
exclude = [\"sdk\"]

[profile.dev]
debug = \"line-tables-only\"

[profile.dev.package.\"*\"]
debug = false
";

/// The line about the sources of the SDK in a manifest.
const PACKED_NOTE: &str = "
# `{{PATH}}` has the sources of version {{VERSION}}. Once the crates are published: `version = \"{{VERSION}}\"` for each `path`.";

/// Writes a new plugin crate into `dir/name` and returns its files.
///
/// `kind` is a word of [`PluginKind`]; `name` is the crate's name in lower-case words joined by dashes. `checkout` is a
/// planforge source tree, from which the new crate takes the SDK; without one the sources of the SDK are written into a folder `sdk`. In the
/// `plugins` folder of a workspace the crate becomes a member of it, and all members share one `sdk`; anywhere else it is a workspace of its own.
///
/// # Errors
/// `new.kind`, `new.name`, `new.exists`, `new.sdk`, or `new.file` where a file cannot be written. Nothing is overwritten.
pub fn scaffold(
    kind: &str,
    name: &str,
    dir: &Path,
    checkout: Option<&Path>,
) -> Result<Vec<PathBuf>, Failure> {
    let (kind, target) = new_folder(kind, name, dir)?;
    let workspace = target.parent().filter(|dir| joins_workspace(dir)).and_then(Path::parent);
    let (sdk, path, note) = match checkout.map(crates_of).transpose()? {
        Some(crates) => (None, format!("{}/platform", relative(&target, &crates)), String::new()),
        None => {
            let path = if workspace.is_some() { "../../sdk" } else { "sdk" };
            let note =
                PACKED_NOTE.replace("{{PATH}}", path).replace("{{VERSION}}", env!("CARGO_PKG_VERSION"));
            (Some(workspace.unwrap_or(&target).join("sdk")), path.to_owned(), note)
        }
    };
    let (library, kind_test) = sources(kind);
    let values = [
        ("{{NAME}}", name.to_owned()),
        ("{{CRATE}}", name.replace('-', "_")),
        ("NewPlugin", type_name(name)),
        ("{{NOTE}}", note),
        ("{{SDK}}", format!("path = \"{path}/plugin-sdk\"")),
        ("{{HOST}}", format!("path = \"{path}/plugin-host\"")),
        ("{{FEATURES}}", features(kind).to_owned()),
        ("{{WORKSPACE}}", workspace.map_or(OWN_WORKSPACE, |_| "").to_owned()),
    ];
    let fill =
        |text: &str| values.iter().fold(text.to_owned(), |text, (key, value)| text.replace(key, value));
    let files = [
        ("Cargo.toml", format!("{}\n", fill(MANIFEST).trim_end())),
        ("src/lib.rs", fill(library)),
        ("tests/plugin.rs", fill(TEST) + &fill(kind_test)),
    ];
    if let Some(sdk) = &sdk {
        sdk::write_sdk(sdk)?;
    }
    let files = write_all(&target, files.map(|(path, text)| (path.to_owned(), text)))?;
    Ok(files.into_iter().chain(sdk).collect())
}

/// The folder `crates` of a source tree.
fn crates_of(checkout: &Path) -> Result<PathBuf, Failure> {
    let crates = checkout.join("crates");
    if !crates.join("platform/plugin-sdk/Cargo.toml").is_file() {
        let text = format!("{} has no crates/platform/plugin-sdk", checkout.display());
        return Err(wrong("new.sdk", text).help("name the folder of a planforge source tree"));
    }
    crates.canonicalize().map_err(|e| unwritable(checkout, &e))
}

/// The kind, and the folder of a plugin that does not exist yet. Makes the folder around it.
fn new_folder(kind: &str, name: &str, dir: &Path) -> Result<(PluginKind, PathBuf), Failure> {
    let kind = PluginKind::ALL.into_iter().find(|k| k.name() == kind).ok_or_else(|| {
        let kinds = PluginKind::ALL.map(PluginKind::name);
        let near = planforge_plugin_host::nearest(kind, kinds.into_iter());
        let help = near
            .map_or_else(|| format!("kinds are {}", kinds.join(", ")), |k| format!("did you mean `{k}`?"));
        wrong("new.kind", format!("unknown kind of plugin: `{kind}`")).help(help)
    })?;
    check_name(name)?;
    std::fs::create_dir_all(dir).map_err(|e| unwritable(dir, &e))?;
    let target = dir.canonicalize().map_err(|e| unwritable(dir, &e))?.join(name);
    if target.exists() {
        return Err(
            wrong("new.exists", format!("{} exists already", target.display())).help("take another name")
        );
    }
    Ok((kind, target))
}

/// Writes files into a new folder and returns their paths.
fn write_all(
    target: &Path,
    files: impl IntoIterator<Item = (String, String)>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut written = Vec::new();
    for (path, text) in files {
        let path = target.join(path);
        let folder = path.parent().unwrap_or(target);
        std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
        std::fs::write(&path, text).map_err(|e| unwritable(&path, &e))?;
        written.push(path);
    }
    Ok(written)
}

fn wrong(code: &str, message: String) -> Failure {
    Failure::new(FailureClass::Request, code, message)
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::System, "new.file", format!("{}: {error}", path.display()))
}

fn check_name(name: &str) -> Result<(), Failure> {
    let word = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('-').all(word) && name != "test" {
        return Ok(());
    }
    let text = format!("`{name}` is not a valid name for a plugin");
    Err(wrong("new.name", text).help("use lower-case words joined by dashes, such as `verifier-short-plans`"))
}

/// `verifier-short-plans` becomes `VerifierShortPlans`; a name that the prelude has gets a suffix.
fn type_name(name: &str) -> String {
    let capital = |w: &str| w[..1].to_uppercase() + &w[1..];
    format!("{}Plugin", name.split('-').map(capital).collect::<String>())
}

/// True if a crate in this folder is a member of the workspace around it: `plugins/*` is, by the workspace's
/// manifest.
fn joins_workspace(dir: &Path) -> bool {
    let manifest = dir.parent().map(|root| root.join("Cargo.toml"));
    let text = manifest.and_then(|m| std::fs::read_to_string(m).ok()).unwrap_or_default();
    dir.file_name().is_some_and(|n| n == "plugins") && text.contains("\"plugins/*\"")
}

/// A path to `to` for a manifest in `from`: relative inside one source tree, so that the tree can be moved, else absolute.
fn relative(from: &Path, to: &Path) -> String {
    let root = to.parent().unwrap_or(to);
    let path = match from.strip_prefix(root) {
        Ok(inside) => {
            let up = inside.components().filter(|c| matches!(c, Component::Normal(_))).map(|_| "..");
            up.collect::<PathBuf>().join("crates")
        }
        Err(_) => to.to_owned(),
    };
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_wishes_are_refused_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        let code =
            |kind: &str, name: &str| scaffold(kind, name, folder.path(), Some(&checkout)).unwrap_err().code;
        assert_eq!(code("verifer", "a"), "new.kind");
        for name in ["", "-a", "a-", "a--b", "Upper", "1st", "a_b", "../a", "test"] {
            assert_eq!(code("verifier", name), "new.name", "{name}");
        }
        assert_eq!(scaffold("planner", "a", folder.path(), Some(folder.path())).unwrap_err().code, "new.sdk");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(scaffold("planner", "a", folder.path(), Some(&checkout)).unwrap().len(), 3);
        assert_eq!(code("planner", "a"), "new.exists");
    }

    #[test]
    fn without_a_checkout_the_sources_of_the_sdk_are_in_the_folder_that_the_manifest_names() {
        let folder = tempfile::tempdir().unwrap();
        let has_sdk = |files: &[PathBuf]| {
            let manifest: toml::Table = toml::from_str(&std::fs::read_to_string(&files[0]).unwrap()).unwrap();
            for (table, name) in
                [("dependencies", "planforge-plugin-sdk"), ("dev-dependencies", "planforge-plugin-host")]
            {
                let path = files[0].parent().unwrap().join(manifest[table][name]["path"].as_str().unwrap());
                assert!(path.join("Cargo.toml").is_file(), "{}", path.display());
            }
            assert!(files[3].join("SHA256SUMS").is_file());
        };
        has_sdk(&scaffold("planner", "alone", folder.path(), None).unwrap());
        let members = "[workspace]\nmembers = [\"plugins/*\"]\n";
        std::fs::write(folder.path().join("Cargo.toml"), members).unwrap();
        let plugins = folder.path().join("plugins");
        for name in ["first", "second"] {
            let files = scaffold("planner", name, &plugins, None).unwrap();
            has_sdk(&files);
            assert_eq!(files[3], folder.path().canonicalize().unwrap().join("sdk"));
        }
    }

    #[test]
    fn paths_inside_the_tree_are_relative() {
        assert_eq!(relative(Path::new("/x/plugins/a"), Path::new("/x/crates")), "../../crates");
        assert_eq!(relative(Path::new("/y/a"), Path::new("/x/crates")), "/x/crates");
        assert_eq!(type_name("verifier-short"), "VerifierShortPlugin");
    }
}
