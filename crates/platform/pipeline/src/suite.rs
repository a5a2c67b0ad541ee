//! Suites: a domain and its tasks, as texts in plain language and as the reference PDDL that methods do not
//! see.
//!
//! A suite is a folder with `NAME.nl` for each task. It may also have `domain.nl` (what the tasks share), `domain.pddl`,
//! `NAME.pddl` (reference), `p_example.*` (in-context example), `*_template.pddl`, `sentences.toml`,
//! `actions.toml`, `picture.toml`, `knowledge.lp`, `generator.jinja`, `wordings.jinja` and `suite.toml`.

mod load;
mod picture;
mod texts;
mod view;

pub(crate) use load::further_problems;
pub use load::{
    ADD_ON_FILES, LoadedSuite, apply_add_ons, load_leniently, load_suite, load_suite_with, load_task,
    load_task_with, load_without_tasks,
};
pub use picture::{
    Colour, Coordinates, Direction, GridSpec, GroupSpec, Height, LookSpec, MarkSpec, NamePart, NamePattern,
    PICTURE_SCHEMA, Pattern, PictureTemplate, Slot, StackSpec, TypeName, read_picture,
};
pub(crate) use texts::examples as action_examples;
pub use texts::{SentenceFile, read_declaration, read_sentences, same_parameters};
pub(crate) use view::not_given;
pub use view::{describe_tasks, disguise_suite, needs_description, task_view};

use crate::reader::{Node, SourcePlace, TableReader, Value, error_at, parse, plain};
use planforge_contract::{ActionInterface, Sentences};
use planforge_diagnostics::{Diagnostic, SourceId, Span, skip_byte_order_mark};
use planforge_obfuscate::Disguise;
use planforge_pddl::PddlText;
use planforge_record::{AddOnUse, read_regular, sha256_hex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The texts for one action; absent texts are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionTexts {
    /// Its purpose and parameters.
    pub base: Option<String>,
    /// Base with what it needs and makes false.
    pub flipped: Option<String>,
    /// Base with some conditions and effects.
    pub random: Option<String>,
}

impl ActionTexts {
    pub(crate) fn of(&self, class: DescriptionClass) -> Option<&String> {
        match class {
            DescriptionClass::Base => self.base.as_ref(),
            DescriptionClass::Flipped => self.flipped.as_ref(),
            DescriptionClass::Random => self.random.as_ref(),
        }
    }
}

/// The text for one predicate, which stands beside its declaration in a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PredicateText {
    /// The declaration that the text's names come from, such as `(on ?x - block ?y - block)`; the domain's own where it is absent.
    pub declaration: Option<String>,
    /// Its meaning, verbatim.
    pub text: String,
}

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
    /// Its axis, which makes the text hard to read: `plain`, or axes of the ladder joined by `+`. Only generated tasks have it.
    pub axis: Option<String>,
    /// The fact that the text leaves out on purpose, as PDDL.
    pub gap: Option<String>,
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
    /// The sentences of generated texts that are hard to read (`ladder.toml`).
    pub ladder: Option<String>,
    /// The sentences of its texts with the facts that they state (`reading.toml`), for the check of its texts.
    pub reading: Option<String>,
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

/// Parts of the suite that the method is given. Texts are by default; parts of the reference are withheld
/// unless they are set to true.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GivenSpec {
    /// The texts in plain language: of the domain, of the task, and of the in-context example. With `false` none of them is given,
    /// and suites need not have any (Prob2Domain of the test-time-scaling paper, section 4.1).
    #[serde(skip_serializing_if = "is_true")]
    pub text: bool,
    /// The whole domain, as PDDL.
    pub domain: bool,
    /// The whole problem, as PDDL. A domain that is written is then judged and planned with this problem.
    pub problem: bool,
    /// The names and parameters of the actions, and the suite's domain template where it has one.
    pub interface: bool,
    /// The objects of the task, and the suite's object template where it has one.
    pub objects: bool,
    /// The in-context example. Left out, the suite's own is given where the domain is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<GivenExample>,
    /// Each action in words, and the domain without its actions: types, predicates, and their meaning (see
    /// `predicates`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions: Option<DescriptionClass>,
    /// With `actions`: give the predicates and their meaning too. With `false` only the domain's types and
    /// constants are given, and the method invents its predicates.
    #[serde(skip_serializing_if = "is_true")]
    pub predicates: bool,
    /// Folders of suites, or folders that hold suites, relative to the pipeline file, whose actions are in-context examples for
    /// actions. The suite whose tasks are run is left out where it is among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub action_examples: Vec<String>,
}

/// The amount of detail in an action's description (domain-generators paper, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DescriptionClass {
    /// The purpose and the parameters of the action.
    Base,
    /// The same, and what it needs and makes false.
    Flipped,
    /// The same as base, and as many conditions and effects as in flipped, drawn from all of them.
    Random,
}

impl Default for GivenSpec {
    fn default() -> Self {
        Self {
            text: true,
            domain: false,
            problem: false,
            interface: false,
            objects: false,
            example: None,
            actions: None,
            predicates: true,
            action_examples: Vec::new(),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_true(flag: &bool) -> bool {
    *flag
}

/// The in-context example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GivenExample {
    /// `true`: the suite's own, which is its text and plan, and its problem where the domain is given, for a problem shows the
    /// domain's predicates. `false`: none.
    Own(bool),
    /// The folder of another suite, relative to the pipeline file: its domain's text, its domain, and one task of it with
    /// text, problem and plan, whole.
    Suite(String),
}

impl GivenSpec {
    /// True if the suite's own in-context example is given.
    pub fn gives_own_example(&self) -> bool {
        match &self.example {
            None => self.domain,
            Some(GivenExample::Own(given)) => *given,
            Some(GivenExample::Suite(_)) => false,
        }
    }

    /// The need for texts in suites: required, unless none is given.
    pub const fn texts(&self) -> Texts {
        if self.text { Texts::Required } else { Texts::Optional }
    }

    /// The suite whose task is the in-context example, as the file names it.
    pub fn example_suite(&self) -> Option<&str> {
        match &self.example {
            Some(GivenExample::Suite(path)) => Some(path),
            _ => None,
        }
    }
}

/// The need for texts in plain language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// The domain and each task has one; a problem without a text is not a task.
    Required,
    /// Texts are not needed: every problem is a task.
    Optional,
}

/// Largest file of a suite, in bytes.
pub const MAX_SUITE_FILE_BYTES: u64 = 4 << 20;

/// A suite's folder itself; of a folder that is none and holds suites with PDDL, these, in the order of their names.
pub(crate) fn suites_below(path: &Path) -> Vec<PathBuf> {
    let is_suite =
        |path: &Path| ["domain.pddl", "domain.nl", "suite.toml"].iter().any(|file| path.join(file).is_file());
    let inside = || {
        let names = Folder::open(path).and_then(|folder| folder.names()).unwrap_or_default();
        let folders = names.into_iter().map(|name| path.join(name));
        folders.filter(|folder| folder.join("domain.pddl").is_file()).collect::<Vec<_>>()
    };
    match if is_suite(path) { Vec::new() } else { inside() } {
        // Whatever it is, reading it says what is wrong with it.
        none if none.is_empty() => vec![path.to_owned()],
        suites => suites,
    }
}

/// A suite's folder, resolved.
#[derive(Debug)]
pub struct Folder {
    pub(crate) path: PathBuf,
    resolved: PathBuf,
}

impl Folder {
    /// Opens it.
    ///
    /// # Errors
    /// `suite.not-a-folder`.
    pub fn open(path: &Path) -> Result<Self, Box<Diagnostic>> {
        let fail = |why: String| {
            Diagnostic::error("suite.not-a-folder", format!("{}: {why}", path.display()))
                .help("a suite is a folder with domain.nl and a .nl file for each task")
        };
        let resolved = path.canonicalize().map_err(|e| fail(format!("cannot be opened: {e}")))?;
        if !resolved.is_dir() {
            return Err(Box::new(fail("is not a folder".to_owned())));
        }
        Ok(Self { path: path.to_owned(), resolved })
    }

    /// Names of the files in the folder, sorted.
    ///
    /// # Errors
    /// `suite.unreadable`.
    pub fn names(&self) -> Result<Vec<String>, Box<Diagnostic>> {
        let fail = |e: std::io::Error| {
            Diagnostic::error("suite.unreadable", format!("{}: cannot be listed: {e}", self.path.display()))
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.resolved).map_err(fail)? {
            // A name that is not UTF-8 is no name of a suite's file.
            names.extend(entry.map_err(fail)?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file in the folder; `None` where there is none.
    ///
    /// # Errors
    /// As [`Folder::read`].
    pub fn text(&self, name: &str) -> Result<Option<String>, Box<Diagnostic>> {
        Ok(self.read(name)?.map(|file| file.text))
    }

    /// The text of a file in the folder, with a warning if a comment of a PDDL file is not UTF-8; `None` where there is
    /// none.
    ///
    /// # Errors
    /// `suite.unreadable`, `suite.outside`, `suite.too-large` or `suite.encoding`.
    pub fn read(&self, name: &str) -> Result<Option<PddlText>, Box<Diagnostic>> {
        let shown = self.path.join(name).display().to_string();
        let unreadable = |e: std::io::Error| {
            Diagnostic::error("suite.unreadable", format!("{shown}: cannot be read: {e}"))
        };
        let path = match self.resolved.join(name).canonicalize() {
            Ok(path) => path,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(Box::new(unreadable(e))),
        };
        if !path.starts_with(&self.resolved) {
            let outside =
                Diagnostic::error("suite.outside", format!("{shown} lies outside the suite's folder"));
            return Err(Box::new(outside.help("copy the file into the suite's folder")));
        }
        if path.is_dir() {
            let message = format!("{shown} is not a file");
            return Err(Box::new(Diagnostic::error("suite.unreadable", message)));
        }
        let bytes = read_regular(&path, MAX_SUITE_FILE_BYTES).map_err(|error| match error.kind() {
            std::io::ErrorKind::FileTooLarge => {
                Diagnostic::error("suite.too-large", format!("{shown} is too large: {error}"))
                    .help("a text that large fits into no model's context; is it the right file?")
            }
            _ => unreadable(error),
        })?;
        let wrong_byte = |bytes: &[u8], at: usize, what: &str, help: &str| {
            let line = bytes[..at].iter().filter(|b| **b == b'\n').count() + 1;
            Diagnostic::error("suite.encoding", format!("{shown} {what}: byte {at}, in line {line}"))
                .help(help)
        };
        // Zero bytes are UTF-8, and no text that a person wrote for a model has them.
        if let Some(at) = bytes.iter().position(|b| *b == 0) {
            return Err(Box::new(wrong_byte(
                &bytes,
                at,
                "is not a text, it has a zero byte",
                "is this the right file?",
            )));
        }
        let PddlText { text, warning } = match String::from_utf8(bytes) {
            Ok(text) => PddlText { text, warning: None },
            Err(e) if name.ends_with(".pddl") => {
                let mut read = planforge_pddl::read_pddl_bytes(&shown, e.as_bytes()).map_err(|refused| {
                    Diagnostic::error("suite.encoding", refused.message).help("save the file as UTF-8")
                })?;
                // The text is not among the sources of the suite's diagnostics; the message has the place.
                read.warning.iter_mut().for_each(|warning| warning.labels.clear());
                read
            }
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let wrong = wrong_byte(e.as_bytes(), at, "is not UTF-8", "save the file as UTF-8");
                return Err(Box::new(wrong));
            }
        };
        let text = skip_byte_order_mark(&text).to_owned();
        Ok(Some(PddlText { text, warning }))
    }
}

/// The schema number of suite manifests that this version reads.
pub const SUITE_SCHEMA: u32 = 1;

/// The generation of a suite's tasks: `[generate]` of the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenerateSpec {
    /// The seed of all of them.
    pub seed: u64,
    /// The number of the first generated task; those below are written by hand.
    pub first: u32,
    /// Number of generated tasks; 0 if all tasks are written by hand.
    pub tasks: u32,
    /// True if the in-context example is generated too.
    pub example: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) name: Option<String>,
    pub(crate) title: String,
    pub(crate) licence: String,
    /// Level of the texts.
    pub(crate) level: Option<u8>,
    /// Parts of the reference that no pipeline may be given.
    pub(crate) withheld: Vec<&'static str>,
    /// Further texts for translators: name -> file in the suite's folder.
    pub(crate) materials: BTreeMap<String, String>,
    /// Task stem -> title.
    pub(crate) titles: BTreeMap<String, String>,
    /// Task stem -> axis.
    pub(crate) axes: BTreeMap<String, String>,
    /// Task stem -> the fact that its text leaves out.
    pub(crate) gaps: BTreeMap<String, String>,
    /// The generation of its tasks.
    pub(crate) generate: Option<GenerateSpec>,
}

/// Names of what `[given]` of a manifest may withhold.
const PARTS: [&str; 6] = ["domain", "problem", "interface", "objects", "example", "actions"];

pub(crate) fn read_manifest(text: &str, source: SourceId, out: &mut Vec<Diagnostic>) -> Manifest {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let place = SourcePlace { source, span: Span::empty(0) };
    let mut reader = TableReader::new(&parsed.root, place, "suite.toml");
    match reader.node("schema") {
        Some(Node { value: Value::Integer(n), .. }) if *n == i64::from(SUITE_SCHEMA) => {}
        Some(node) => {
            let message =
                format!("this version reads suites of schema {SUITE_SCHEMA}, not {}", node.to_json());
            found.push(error_at("suite.manifest", message, node.place));
        }
        None => reader.missing("schema", "1", &mut found),
    }
    let mut manifest = Manifest {
        name: reader.string("name", &mut found).map(|a| a.value),
        title: reader.string("title", &mut found).map(|a| a.value).unwrap_or_default(),
        licence: reader.string("licence", &mut found).map(|a| a.value).unwrap_or_default(),
        level: reader.integer("level", 1..=4, &mut found).and_then(|level| level.try_into().ok()),
        withheld: Vec::new(),
        materials: plain(&reader.string_map("materials", &mut found)),
        titles: plain(&reader.string_map("titles", &mut found)),
        axes: plain(&reader.string_map("axes", &mut found)),
        gaps: plain(&reader.string_map("gaps", &mut found)),
        generate: None,
    };
    if let Some((table, node)) = reader.table("given", &mut found) {
        let mut inner = TableReader::new(table, node.place, "[given] of suite.toml");
        manifest.withheld =
            PARTS.into_iter().filter(|part| inner.boolean(part, &mut found) == Some(false)).collect();
        inner.finish("suite.manifest", &mut found);
    }
    if let Some((table, node)) = reader.table("generate", &mut found) {
        let mut inner = TableReader::new(table, node.place, "[generate] of suite.toml");
        manifest.generate = Some(generate(&mut inner, &mut found));
        inner.finish("suite.manifest", &mut found);
    }
    reader.finish("suite.manifest", &mut found);
    // One code for the whole file: what is wrong is in the message, and there is one way to learn the keys.
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.manifest".into();
        d
    }));
    manifest
}

/// Most tasks of one suite.
const MAX_TASKS: i64 = 9_999;

fn generate(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> GenerateSpec {
    let count =
        |value: Option<u64>, otherwise: u32| value.and_then(|v| v.try_into().ok()).unwrap_or(otherwise);
    GenerateSpec {
        seed: reader.integer("seed", 0..=i64::MAX, out).unwrap_or(1),
        first: count(reader.integer("first", 1..=MAX_TASKS, out), 1),
        tasks: count(reader.integer("tasks", 0..=MAX_TASKS, out), 5),
        example: reader.boolean("example", out).unwrap_or(true),
    }
}
