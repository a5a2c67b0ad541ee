//! A suite in memory.

use super::actions::{ActionTexts, PredicateText};
use super::manifest::GenerateSpec;
use planforge_contract::{ActionInterface, Sentences};
use planforge_obfuscate::Disguise;
use planforge_record::{AddOnUse, sha256_hex};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The in-context example of a suite: a solved task of the same domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Example {
    /// The task in plain language.
    pub text: String,
    /// Its problem, as PDDL.
    pub problem: Option<String>,
    /// A plan for it, as a plan file.
    pub plan: Option<String>,
    /// Its intermediate representation, as an answer set program (translate-infer-compile paper, section 3.2).
    pub ir: Option<String>,
}

/// One task of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteTask {
    /// The stem of its files, for example `p03`.
    pub stem: String,
    /// One line about it, from the manifest; may be empty.
    pub title: String,
    /// The task in plain language.
    pub text: String,
    /// The reference problem. Only environments and evaluation see it, unless it is given.
    pub reference_problem: Option<String>,
    /// The task's own reference domain (`domain-STEM.pddl`), where the suite has one for each task, as some IPC domains do.
    pub reference_domain: Option<String>,
    /// The suite's own beginning of the problem: objects, and neither initial state nor goal.
    pub objects_template: Option<String>,
    /// The environment's description of actions and objects, for a suite without PDDL.
    pub described: Option<ActionInterface>,
}

/// A domain and tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suite {
    /// The manifest's name, else the folder's. Letters, digits, `_` and `-`.
    pub name: String,
    /// One line about it; may be empty.
    pub title: String,
    /// The licence of its texts; may be empty.
    pub licence: String,
    pub folder: PathBuf,
    /// The domain in plain language.
    pub domain_text: String,
    /// The reference domain. Only environments and evaluation see it, unless it is given.
    pub reference_domain: Option<String>,
    /// A domain for plan validation alone (`domain_validation.pddl`).
    pub validation_domain: Option<String>,
    /// The suite's own beginning of the domain: actions without conditions and effects.
    pub domain_template: Option<String>,
    pub example: Option<Example>,
    /// Further texts for translators, by name.
    pub materials: BTreeMap<String, String>,
    /// Wording of facts and numbers, by predicate or function in lower case (`sentences.toml`).
    pub sentences: BTreeMap<String, Sentences>,
    /// Descriptions of types, by type in lower case (`[types]` of `sentences.toml`).
    pub types: BTreeMap<String, String>,
    /// Descriptions of actions, by action in lower case (`actions.toml`).
    pub action_texts: BTreeMap<String, ActionTexts>,
    /// Descriptions of predicates, verbatim, by predicate in lower case (`[predicates]` of `actions.toml`).
    pub predicate_texts: BTreeMap<String, PredicateText>,
    /// Facts and rules of every task that texts leave out, as an answer set program (`knowledge.lp`).
    pub knowledge: Option<String>,
    /// The add-on whose files replace the suite's own.
    pub add_on: Option<AddOnUse>,
    /// The template that makes its tasks (`generator.jinja`).
    pub generator: Option<String>,
    /// The template for paraphrases of its tasks (`wordings.jinja`).
    pub wordings: Option<String>,
    /// The drawing of states (`picture.toml`), verbatim: no pipeline sees it, and it is not part of the
    /// digest.
    pub picture: Option<String>,
    /// The generation of its generated tasks.
    pub generate: Option<GenerateSpec>,
    /// Level of its texts: 1 if they state the facts, 2 to 4 if they imply them (`level` of the manifest).
    pub level: u8,
    /// Parts of the reference that no pipeline may be given.
    pub withheld: Vec<&'static str>,
    /// The other names of an obfuscated suite.
    pub disguise: Option<Arc<SuiteDisguise>>,
    /// The tasks, by stem.
    pub tasks: Vec<SuiteTask>,
}

impl Suite {
    /// The suite under its own names.
    pub fn original(&self) -> &Self {
        self.disguise.as_ref().map_or(self, |disguise| &disguise.original)
    }

    /// The suite as the task sees it: with the task's own reference domain, where it has one.
    pub fn of_task(&self, task: &SuiteTask) -> Cow<'_, Self> {
        match &task.reference_domain {
            None => Cow::Borrowed(self),
            Some(own) => Cow::Owned(Self { reference_domain: Some(own.clone()), ..self.clone() }),
        }
    }

    /// SHA-256 over everything that was read of one task and its domain, except `actions.toml`: no pipeline
    /// sees that unless it is given actions in words, and then its materials contain it.
    pub fn digest(&self, task: &SuiteTask) -> String {
        let example = self.example.as_ref().map(|e| (&e.text, &e.problem, &e.plan));
        let parts = (
            (&self.domain_text, &self.reference_domain, &self.validation_domain, &self.domain_template),
            (example, &self.materials, &self.sentences),
            (&task.text, &task.reference_problem, &task.objects_template),
        );
        // Tuples of texts always have a JSON form.
        let mut text = serde_json::to_string(&parts).unwrap_or_default();
        if let Some(own) = &task.reference_domain {
            text += own;
        }
        if let Some(described) = &task.described {
            text += &serde_json::to_string(described).unwrap_or_default();
        }
        let ir = self.example.as_ref().and_then(|e| e.ir.as_ref());
        if !self.types.is_empty() || self.knowledge.is_some() || ir.is_some() {
            text += &serde_json::to_string(&(&self.types, &self.knowledge, ir)).unwrap_or_default();
        }
        sha256_hex(text.as_bytes())
    }
}

/// The original of an obfuscated suite.
#[derive(Debug, PartialEq, Eq)]
pub struct SuiteDisguise {
    /// The other names.
    pub names: Disguise,
    /// The suite under its own names.
    pub original: Suite,
}
