//! Texts of tasks, templates for pictures and sentences, from the folders of their suites if these still exist.

use planforge_pipeline::load_leniently;
use planforge_plugin_sdk::wording::Wording;
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
    showing: Showing,
}

/// Picture and wording of the plans of a suite.
#[derive(Clone, Default)]
pub(crate) struct Showing {
    /// The template that draws states (picture.toml).
    pub(crate) picture: Option<String>,
    /// The wording of facts (sentences.toml).
    pub(crate) wording: Wording,
}

impl SuiteTexts {
    /// Picture and wording of its plans; names alone if the folder is gone.
    pub(crate) fn showing(&mut self, suite: &Path) -> Showing {
        self.read(suite).as_ref().map(|read| read.showing.clone()).unwrap_or_default()
    }

    fn read(&mut self, suite: &Path) -> &Option<Read> {
        self.known.entry(suite.to_owned()).or_insert_with(|| {
            let suite = load_leniently(suite).suite?;
            let tasks = suite.tasks.iter().map(|task| (task.stem.clone(), task.text.clone())).collect();
            let showing = Showing { picture: suite.picture, wording: Wording::new(&suite.sentences) };
            Some(Read { domain: suite.domain_text, tasks, showing })
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
