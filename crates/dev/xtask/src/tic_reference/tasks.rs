//! The tasks that are converted: texts with their references.

use super::llm_p;
use super::own;
use super::patterns::Pattern;
use planforge_pipeline::Suite;
use planforge_planning::Unlimited;
use planforge_suites::TemplateRenderer;
use planforge_suites::generate::{Generator, Limits};
use std::path::{Path, PathBuf};

pub(crate) struct TextTask {
    /// `llm-p` or `own`: whose texts these are.
    pub(crate) texts: &'static str,
    /// The name of the patterns, which is the suite's.
    pub(crate) suite: String,
    /// File name without its extension, such as `p03`.
    pub(crate) stem: String,
    pub(crate) text: String,
    pub(crate) domain: String,
    pub(crate) knowledge: String,
    pub(crate) problem: String,
}

impl TextTask {
    /// Its folder below `out`, made afresh.
    pub(crate) fn folder(&self, out: &Path) -> Result<PathBuf, String> {
        let folder = out.join(self.texts).join(&self.suite).join(&self.stem);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    }
}

/// The patterns of a suite's texts.
pub(crate) fn patterns(texts: &str, suite: &str) -> Result<&'static [Pattern], String> {
    let all = if texts == "llm-p" { llm_p::DOMAINS } else { own::SUITES };
    let found = all.iter().find(|(name, _)| *name == suite);
    found.map(|(_, p)| *p).ok_or_else(|| format!("no patterns for {texts} {suite}"))
}

/// The LLM+P suites' tasks, with the knowledge files of our add-ons.
pub(crate) fn llm_p(folder: &Path, examples: &Path) -> Result<Vec<TextTask>, String> {
    let mut tasks = Vec::new();
    for (suite, _) in llm_p::DOMAINS {
        let loaded = load(&folder.join(suite))?;
        let knowledge = read(&examples.join("add-ons/llm-p").join(suite).join("knowledge.lp"))?;
        let domain = loaded.reference_domain.clone().ok_or_else(|| format!("{suite} has no domain.pddl"))?;
        for task in &loaded.tasks {
            let problem = task.reference_problem.clone();
            tasks.push(TextTask {
                texts: "llm-p",
                suite: suite.to_owned(),
                stem: task.stem.clone(),
                text: task.text.clone(),
                domain: domain.clone(),
                knowledge: knowledge.clone(),
                problem: problem.ok_or_else(|| format!("{suite}/{} has no problem", task.stem))?,
            });
        }
    }
    Ok(tasks)
}

/// New tasks of our own suites, as many a suite.
pub(crate) fn own(examples: &Path, seed: u64, count: u32) -> Result<Vec<TextTask>, String> {
    let mut tasks = Vec::new();
    for (suite, _) in own::SUITES {
        let loaded = load(&examples.join("suites").join(suite))?;
        let generator = Generator::new(&loaded, TemplateRenderer::in_this_process())
            .map_err(|e| describe_errors(suite, &e.diagnostics))?;
        for index in 1..=count {
            let made = generator.instance(seed, index, &Limits::default(), &mut Unlimited);
            let made = made.map_err(|e| describe_errors(suite, &e.diagnostics))?;
            tasks.push(TextTask {
                texts: "own",
                suite: suite.to_owned(),
                stem: made.stem,
                text: made.text,
                domain: loaded.reference_domain.clone().unwrap_or_default(),
                knowledge: loaded.knowledge.clone().ok_or_else(|| format!("{suite} has no knowledge.lp"))?,
                problem: made.problem,
            });
        }
    }
    Ok(tasks)
}

/// A suite with all that is in its folder.
pub(crate) fn load(folder: &Path) -> Result<Suite, String> {
    let loaded = planforge_pipeline::load_suite(folder);
    loaded.suite.ok_or_else(|| describe_errors(&folder.display().to_string(), &loaded.diagnostics))
}

fn describe_errors(what: &str, diagnostics: &[planforge_diagnostics::Diagnostic]) -> String {
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    format!("{what}: {}", messages.join("; "))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}
