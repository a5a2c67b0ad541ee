//! Finds the (domain, problem) pairs under a folder of suites, by collection (the first two folder names).

use std::fs;
use std::path::{Path, PathBuf};

/// One domain file with one problem file.
pub(crate) struct Pair {
    /// The first two folder names below the suites folder.
    pub(crate) collection: String,
    pub(crate) domain: PathBuf,
    pub(crate) problem: PathBuf,
}

/// Every pair, sorted by path. A folder's `domain.pddl` belongs to the other `.pddl` files in the folder;
/// `NAME.pddl` next to a folder `NAME` belongs to the files in it. Templates are left out.
pub(crate) fn find(suites: &Path) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    visit(suites, suites, &mut pairs)?;
    pairs.sort_by(|a, b| a.problem.cmp(&b.problem));
    if pairs.is_empty() {
        return Err(format!("no domain with a problem under {}", suites.display()));
    }
    Ok(pairs)
}

fn visit(suites: &Path, folder: &Path, pairs: &mut Vec<Pair>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in &paths {
        if !path.is_dir() {
            continue;
        }
        visit(suites, path, pairs)?;
        let beside = path.with_extension("pddl");
        let own = path.join("domain.pddl");
        let domain = if own.is_file() { own } else { beside };
        if domain.is_file() {
            add(suites, path, &domain, pairs)?;
        }
    }
    Ok(())
}

fn add(suites: &Path, folder: &Path, domain: &Path, pairs: &mut Vec<Pair>) -> Result<(), String> {
    let relative = folder.strip_prefix(suites).map_err(|e| e.to_string())?;
    let collection: Vec<_> = relative.components().take(2).map(|c| c.as_os_str().to_string_lossy()).collect();
    for entry in fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let problem = entry.map_err(|e| e.to_string())?.path();
        let name = problem.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.ends_with(".pddl") && !name.starts_with("domain") && !name.ends_with("_template.pddl") {
            pairs.push(Pair { collection: collection.join("/"), domain: domain.to_owned(), problem });
        }
    }
    Ok(())
}
