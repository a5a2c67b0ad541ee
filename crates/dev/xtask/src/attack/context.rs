//! Settings that all attacks share.

use std::path::PathBuf;

pub(crate) struct Context {
    /// Factor of all default counts.
    pub(crate) scale: f64,
    pub(crate) seed: u64,
    /// VAL's `Validate`, if it is installed.
    pub(crate) val: Option<PathBuf>,
    /// The `planforge` binary.
    pub(crate) planforge: PathBuf,
    /// The folder with the example suites.
    pub(crate) suites: PathBuf,
    /// Folder for files; it is kept if a case is unexplained.
    pub(crate) scratch: PathBuf,
}

impl Context {
    /// A default count at this scale; at least 1.
    pub(crate) fn scaled(&self, default: usize) -> usize {
        ((default as f64 * self.scale).round() as usize).max(1)
    }

    /// Writes a domain, a problem and a plan that are to be looked at.
    pub(crate) fn keep(&self, name: &str, texts: [&str; 3]) -> Result<(), String> {
        for (text, kind) in texts.iter().zip(["domain.pddl", "problem.pddl", "plan"]) {
            let file = self.scratch.join(format!("{name}-{kind}"));
            std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        Ok(())
    }
}
