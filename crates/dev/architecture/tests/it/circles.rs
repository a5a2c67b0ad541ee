//! Neither the files nor the modules of a crate import each other in circles, directly or through others.

// Helpers outside of #[test] are no production code either.
use crate::imports::{ModuleCircle, circles, module_circles};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Circles of modules that are left: the crate, the module around them, their names, and the reason.
const LEFT: &[(&str, &str, &str, &str)] = &[(
    "suites",
    "crate",
    "generate, paraphrase, rendering",
    "the renderer fills the templates of both, which call it",
)];

/// The names and source folders of all crates.
fn crates() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut folders = vec![root.join("plugins"), root.join("crates")];
    folders.extend(std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()));
    let mut crates = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir() && !folder.join("src").is_dir()) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let folder = entry.unwrap().path();
            if folder.join("src").is_dir() {
                let name = folder.file_name().unwrap().to_string_lossy().into_owned();
                crates.push((name, folder.join("src")));
            }
        }
    }
    assert!(crates.len() > 30, "only {} crates were read", crates.len());
    crates.sort();
    crates
}

#[test]
fn files_of_a_crate_do_not_import_each_other_in_circles() {
    let mut found = Vec::new();
    for (name, src) in crates() {
        for circle in circles(&src).unwrap() {
            let names: Vec<String> =
                circle.iter().map(|f| f.strip_prefix(&src).unwrap().display().to_string()).collect();
            found.push(format!("{name}: {}", names.join(", ")));
        }
    }
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}

#[test]
fn modules_of_a_crate_do_not_import_each_other_in_circles() {
    let mut found = BTreeSet::new();
    for (name, src) in crates() {
        for ModuleCircle { parent, modules } in module_circles(&src).unwrap() {
            found.insert(format!("{name}: {parent}: {}", modules.join(", ")));
        }
    }
    let line = |(name, parent, modules, _): &(&str, &str, &str, &str)| format!("{name}: {parent}: {modules}");
    let left: BTreeSet<String> = LEFT.iter().map(line).collect();
    let new: Vec<&String> = found.difference(&left).collect();
    assert!(new.is_empty(), "{} circles of modules:\n{new:#?}", new.len());
    let gone: Vec<&String> = left.difference(&found).collect();
    assert!(gone.is_empty(), "these circles are untied, so take their lines out of the list:\n{gone:#?}");
}

/// A crate with these files, by path and text.
fn crate_of(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let src = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&src);
    for (path, text) in files {
        let file = src.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    src
}

fn found(name: &str, files: &[(&str, &str)]) -> Vec<String> {
    let circles = module_circles(&crate_of(name, files)).unwrap();
    circles.into_iter().map(|circle| format!("{}: {}", circle.parent, circle.modules.join(", "))).collect()
}

#[test]
fn a_folder_counts_with_its_file() {
    // No file imports one that imports it.
    let files = [
        ("lib.rs", "mod run; mod stages;"),
        ("run.rs", "mod task; use crate::stages::Stage;"),
        ("run/task.rs", "pub struct Task;"),
        ("stages.rs", "mod plan; pub struct Stage;"),
        ("stages/plan.rs", "fn run(task: &crate::run::task::Task) {}"),
    ];
    assert_eq!(found("folder", &files), ["crate: run, stages"]);
    assert_eq!(circles(&crate_of("folder", &files)).unwrap(), Vec::<Vec<PathBuf>>::new());
}

#[test]
fn exports_of_parents_lead_to_the_module_beside_the_file() {
    let through = |import: &str| {
        let plan = format!("{import} pub struct Plan; fn f(_: Order) {{}}");
        let files = [
            ("lib.rs", "mod stages; pub use stages::Plan;"),
            ("stages.rs", "mod order; mod plan; pub use order::Order; pub use plan::Plan;"),
            ("stages/order.rs", "pub struct Order; fn f(_: crate::Plan) {}"),
            ("stages/plan.rs", plan.as_str()),
        ];
        found("exports", &files)
    };
    for import in
        ["use super::Order;", "use crate::stages::Order;", "use super::order::Order;", "use super::*;"]
    {
        assert_eq!(through(import), ["crate::stages: order, plan"], "{import}");
    }
    assert_eq!(through("struct Order;"), Vec::<String>::new());
}

#[test]
fn a_module_that_is_named_counts_even_where_it_exports_another() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c;"),
        ("a.rs", "pub use crate::b::Thing; pub struct Other;"),
        ("b.rs", "pub struct Thing; use crate::c::Third;"),
        ("c.rs", "pub struct Third; use crate::a::Thing;"),
    ];
    assert_eq!(found("named", &files), ["crate: a, b, c"]);
}

#[test]
fn what_parents_define_and_what_tests_import_are_no_circles() {
    let files = [
        ("lib.rs", "mod a; mod b; pub struct Root;"),
        ("a.rs", "mod inner; pub struct A; fn f(_: inner::Inner) {}"),
        ("a/inner.rs", "pub struct Inner; use super::A; use crate::Root; use crate::b::B;"),
        ("b.rs", "pub struct B; #[cfg(test)] mod tests { use crate::a::A; }"),
    ];
    assert_eq!(found("parents", &files), Vec::<String>::new());
}
