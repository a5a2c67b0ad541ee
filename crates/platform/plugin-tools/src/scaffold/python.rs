//! A new plugin in Python: a folder with `plugin.toml`, the plugin, its test, and a copy of the package `planforge_plugin`.

use crate::scaffold::{new_folder, type_name, write_all};
use planforge_contract::{Failure, PluginKind};
use std::path::{Path, PathBuf};

const MANIFEST: &str = include_str!("../../templates/python/plugin.toml");
const README: &str = include_str!("../../templates/python/README.md");

/// The files of the package. They lie in `python/` of the repository.
const PACKAGE: [(&str, &str); 10] = {
    macro_rules! file {
        ($name:literal) => {
            (
                concat!("planforge_plugin/", $name),
                include_str!(concat!("../../templates/planforge_plugin/", $name)),
            )
        };
    }
    [
        file!("__init__.py"),
        file!("documents.py"),
        file!("failure.py"),
        file!("host.py"),
        file!("options.py"),
        file!("plugin.py"),
        file!("program.py"),
        file!("py.typed"),
        file!("testing.py"),
        file!("types.py"),
    ]
};

/// The plugin and its test.
const fn sources(kind: PluginKind) -> (&'static str, &'static str) {
    macro_rules! of {
        ($kind:literal) => {
            (
                include_str!(concat!("../../templates/python/", $kind, "/plugin.py")),
                include_str!(concat!("../../templates/python/", $kind, "/test.py")),
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

/// Writes a new Python plugin into `dir/name` and returns its files. Neither a checkout nor a network is needed.
///
/// # Errors
/// `new.kind`, `new.name`, `new.exists`, or `new.file` if a file cannot be written. Nothing is overwritten.
pub fn scaffold_python(kind: &str, name: &str, dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let (kind, target) = new_folder(kind, name, dir)?;
    let module = module_name(name);
    let values = [
        ("{{NAME}}", name.to_owned()),
        ("{{KIND}}", kind.name().to_owned()),
        ("{{MODULE}}", module.clone()),
        ("{{TYPE}}", type_name(name)),
    ];
    let fill =
        |text: &str| values.iter().fold(text.to_owned(), |text, (key, value)| text.replace(key, value));
    let (plugin, test) = sources(kind);
    let own = [
        ("plugin.toml".to_owned(), fill(MANIFEST)),
        (format!("{module}.py"), fill(plugin)),
        (format!("test_{module}.py"), fill(test)),
        ("README.md".to_owned(), fill(README)),
    ];
    let package = PACKAGE.map(|(path, text)| (path.to_owned(), text.to_owned()));
    write_all(&target, own.into_iter().chain(package))
}

/// The name of the plugin's module. A module of one word could hide one of Python's own, such as `json`.
fn module_name(name: &str) -> String {
    let module = name.replace('-', "_");
    let is_taken = !module.contains('_') || module == "planforge_plugin";
    if is_taken { format!("{module}_main") } else { module }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_the_package_is_complete() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../python/planforge_plugin");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "__pycache__")
            .map(|name| format!("planforge_plugin/{name}"))
            .collect();
        files.sort();
        assert_eq!(files, PACKAGE.map(|(path, _)| path.to_owned()));
    }

    #[test]
    fn a_module_hides_no_module_of_python() {
        assert_eq!(module_name("my-check"), "my_check");
        assert_eq!(module_name("json"), "json_main");
        assert_eq!(module_name("planforge-plugin"), "planforge_plugin_main");
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(scaffold_python("verifier", "a", folder.path()).unwrap().len(), 14);
        assert_eq!(scaffold_python("verifier", "a", folder.path()).unwrap_err().code, "new.exists");
        assert_eq!(scaffold_python("verifer", "b", folder.path()).unwrap_err().code, "new.kind");
    }
}
