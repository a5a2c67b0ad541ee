//! No two files of a crate import each other, directly or through others.

use planforge_architecture::circles;
use std::path::Path;

#[test]
fn files_of_a_crate_do_not_import_each_other_in_circles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut found = Vec::new();
    let mut crates = 0;
    for layer in ["crates", "crates/language", "crates/platform", "crates/lab", "crates/dev", "plugins"] {
        for entry in std::fs::read_dir(root.join(layer)).unwrap() {
            let src = entry.unwrap().path().join("src");
            if src.is_dir() {
                crates += 1;
                for circle in circles(&src).unwrap() {
                    let names: Vec<String> =
                        circle.iter().map(|f| f.strip_prefix(&src).unwrap().display().to_string()).collect();
                    let of = src.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
                    found.push(format!("{of}: {}", names.join(", ")));
                }
            }
        }
    }
    assert!(crates > 30, "only {crates} crates were read");
    assert!(found.is_empty(), "{} circles:\n{}", found.len(), found.join("\n"));
}
