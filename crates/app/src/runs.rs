//! Recorded runs in a folder of runs.

use planforge_record::RunManifest;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of runs if no other one is named.
pub const RUNS: &str = "runs";

/// The word for the newest run in [`RUNS`].
const LAST: &str = "last";

/// A run folder, with its manifest.
pub(crate) struct StoredRun {
    pub(crate) folder: PathBuf,
    pub(crate) manifest: RunManifest,
}

/// The folder that a word names: a path, or `last` for the newest run in [`RUNS`].
///
/// # Errors
/// There is no run for `last`.
pub fn run_path(text: OsString) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path != Path::new(LAST) || path.exists() {
        return Ok(path);
    }
    let newest = stored_runs(Path::new(RUNS)).into_iter().next();
    newest.map(|run| run.folder).ok_or_else(|| format!("the folder `{RUNS}` holds no run: name a run folder"))
}

/// The runs in a folder, newest first. Other files and folders are passed over.
pub(crate) fn stored_runs(folder: &Path) -> Vec<StoredRun> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut runs: Vec<StoredRun> = entries
        .filter_map(|entry| {
            let folder = entry.path();
            let manifest = RunManifest::read(&folder.join("run.json")).ok()?;
            Some(StoredRun { folder, manifest })
        })
        .collect();
    // The id begins with the time to the millisecond.
    runs.sort_by(|a, b| {
        (&b.manifest.created_at, &b.manifest.id).cmp(&(&a.manifest.created_at, &a.manifest.id))
    });
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_listed_from_the_newest_and_other_folders_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = |id: &str, created_at: &str| RunManifest {
            schema: 1,
            id: id.to_owned(),
            created_at: created_at.to_owned(),
            ..RunManifest::default()
        };
        let times = ["2026-11-21T10:15:00Z", "2026-11-22T10:15:00Z", "2026-11-22T10:15:00Z"];
        for (name, time) in ["c.001", "a.001", "b.002"].into_iter().zip(times) {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            let text = serde_json::to_string(&manifest(name, time)).unwrap();
            std::fs::write(folder.path().join(name).join("run.json"), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("other")).unwrap();
        let runs = stored_runs(folder.path());
        let ids: Vec<&str> = runs.iter().map(|run| run.manifest.id.as_str()).collect();
        assert_eq!(ids, ["b.002", "a.001", "c.001"]);
        assert!(stored_runs(&folder.path().join("none")).is_empty());
    }

    #[test]
    fn a_path_names_itself() {
        assert_eq!(run_path("runs/one".into()).unwrap(), PathBuf::from("runs/one"));
    }
}
