//! Texts of tasks and templates for pictures, from the folders of their suites if these still exist.

use planforge_pipeline::load_leniently;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The texts of suites, each folder read once.
#[derive(Default)]
pub(crate) struct SuiteTexts {
    known: HashMap<PathBuf, Option<Read>>,
}

struct Read {
    domain: String,
    tasks: HashMap<String, String>,
    picture: Option<String>,
}

impl SuiteTexts {
    /// The template that draws the suite's states.
    pub(crate) fn picture(&mut self, suite: &Path) -> Option<String> {
        self.read(suite).as_ref()?.picture.clone()
    }

    fn read(&mut self, suite: &Path) -> &Option<Read> {
        self.known.entry(suite.to_owned()).or_insert_with(|| {
            let suite = load_leniently(suite).suite?;
            let tasks = suite.tasks.iter().map(|task| (task.stem.clone(), task.text.clone())).collect();
            Some(Read { domain: suite.domain_text, tasks, picture: suite.picture })
        })
    }

    /// The description of the domain and of the task.
    pub(crate) fn of(&mut self, suite: &Path, stem: &str) -> Vec<(String, String)> {
        let Some(read) = self.read(suite) else { return Vec::new() };
        let task = read.tasks.get(stem).cloned().unwrap_or_default();
        [("The task", task), ("The domain", read.domain.clone())]
            .into_iter()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(name, text)| (name.to_owned(), text))
            .collect()
    }
}
