//! The folder of a task: a suite whose tasks are the versions of the text, with runs, points, answers and the plan beside them.
//!
//! | file | content |
//! |---|---|
//! | `task.nl`, `task-2.nl` ... | the versions of the text, a suite's tasks |
//! | `domain.nl`, `domain.pddl` | rules in words and a domain, where they were given |
//! | `runs` | run folders: every request and reply |
//! | `models.json` | the models that read each version |
//! | `suite.toml` | the name of the recorded task, if the replies are taken from a cassette |
//! | `readings/1` ... | the PDDL of each reading |
//! | `questions.toml` | the points that the text leaves open, with their answers |
//! | `answer` | the PDDL that the plan is for, the plan, and the plan in words; `answer-1` is that of the first version |
//! | `trust.json` | what the answer rests on |

use super::questions::OpenPoint;
use super::{Answers, SolveRequest};
use crate::context::Context;
use crate::error::Error;
use crate::files::{parse_json, read_named_text, read_text, unreadable, unwritable, write};
use crate::inputs::Source;
use crate::run::ModelChoice;
use crate::status::Status;
use planforge_diagnostics::{Diagnostic, SourceId, SourceMap};
use planforge_record::{Cassette, Lookup, sha256_hex};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The name of the first version of the task.
const TASK: &str = "task";

/// The folder of the runs.
const RUNS: &str = "runs";

/// The line before further statements. It is no sentence of the text.
pub(super) const HEADING: &str = "Further statements of the author:";

/// The file of the points.
const QUESTIONS: &str = "questions.toml";

/// The folder of the answer to the newest version.
pub(super) const ANSWER: &str = "answer";

/// The file of the models.
const MODELS: &str = "models.json";

/// A model that reads a version of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reader {
    /// The version's task.
    pub(super) task: String,
    pub(super) model: ModelChoice,
    /// The name of the front's own model; empty for any other model.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) client: String,
    /// Changes of the pipeline.
    pub(super) set: Vec<String>,
    /// Number of its readings.
    pub(super) readings: u32,
    /// True if another model was named in its place before it answered.
    #[serde(default)]
    pub(super) is_replaced: bool,
}

/// The folder of a task.
#[derive(Debug)]
pub(super) struct Folder {
    /// The folder as messages name it.
    pub(super) shown: PathBuf,
    pub(super) path: PathBuf,
    /// The newest version, from 1.
    pub(super) version: usize,
    /// The text of that version.
    pub(super) text: String,
    /// The rules in words, if they are a text of their own.
    pub(super) rules: Option<String>,
    pub(super) domain: Option<String>,
    /// True if nothing is written: a person looks at the folder.
    pub(super) is_read_only: bool,
    /// True if this use of it made the folder.
    is_new: bool,
    /// True if this use of it added the newest version.
    is_new_version: bool,
}

/// `questions.toml`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Sheet {
    /// SHA-256 of the text that the points are about.
    text: String,
    #[serde(default, rename = "point")]
    points: Vec<OpenPoint>,
}

impl Folder {
    /// Opens the folder of an earlier use, or makes the one of a new text.
    ///
    /// # Errors
    /// A text that is missing, empty, or PDDL; a folder that exists; files that cannot be read or written.
    pub(super) fn of(context: &Context, request: &SolveRequest) -> Result<Self, Error> {
        match &request.continued {
            Some(folder) => Self::open(context, folder),
            None => Self::make(context, request),
        }
    }

    fn open(context: &Context, shown: &Path) -> Result<Self, Error> {
        let path = context.path(shown);
        let file = |name: &str| -> Result<Option<String>, Error> {
            let path = path.join(name);
            path.exists().then(|| read_text(&path)).transpose()
        };
        let Some(first) = file("task.nl")? else {
            let message = format!("{} is not the folder of a task: it has no task.nl", shown.display());
            return Err(Error::usage(message, Some("name the folder that `planforge solve` made")));
        };
        let mut folder = Self {
            shown: shown.to_owned(),
            version: 1,
            text: first,
            rules: file("domain.nl")?,
            domain: file("domain.pddl")?,
            is_read_only: false,
            is_new: false,
            is_new_version: false,
            path: path.clone(),
        };
        while let Some(text) = file(&format!("{}.nl", stem(folder.version + 1)))? {
            folder.version += 1;
            folder.text = text;
        }
        Ok(folder)
    }

    fn make(context: &Context, request: &SolveRequest) -> Result<Self, Error> {
        let help = "name the text, or the folder of a task with --continue";
        let source = request.text.as_ref().ok_or_else(|| Error::usage("there is no text", Some(help)))?;
        let (text, name) = (task_text(context, source)?, folder_name(source));
        let read =
            |source: &Option<Source>| source.as_ref().map(|source| read_source(context, source)).transpose();
        let (rules, domain) = (read(&request.rules)?, read(&request.domain)?);
        let shown = request.folder.clone().unwrap_or_else(|| PathBuf::from(&name));
        let path = context.path(&shown);
        let folder = Self {
            is_read_only: false,
            is_new: !path.exists(),
            is_new_version: false,
            shown,
            path,
            version: 1,
            text,
            rules,
            domain,
        };
        let texts = [
            ("task.nl", Some(folder.text.as_str())),
            ("domain.nl", folder.rules.as_deref()),
            ("domain.pddl", folder.domain.as_deref()),
        ];
        let is_same = |(file, text): &(&str, Option<&str>)| {
            let path = folder.path.join(file);
            match text {
                Some(text) => read_named_text(&path).is_ok_and(|existing| existing == *text),
                None => !path.exists(),
            }
        };
        let is_unanswered = !folder.path.join(ANSWER).exists() && !folder.path.join("task-2.nl").exists();
        let is_same_attempt = texts.iter().all(is_same) && is_unanswered;
        if !folder.is_new && !is_same_attempt {
            let shown = folder.shown.display();
            let message = format!("{shown} exists already");
            let help = format!(
                "go on there with `planforge solve --continue {shown}`, or name another folder with --out"
            );
            return Err(Error::usage(message, Some(&help)));
        }
        let recorded = request.replay.as_ref().map(|cassette| recorded_suite(&context.path(cassette)));
        let recorded = recorded.transpose()?.flatten();
        for (file, text) in texts {
            if let Some(text) = text {
                write(&folder.path.join(file), text.as_bytes())?;
            }
        }
        // Replies are found by the names of suite and task.
        if let Some(name) = recorded.filter(|name| !folder.path.ends_with(name)) {
            folder.write("suite.toml", &format!("schema = 1\nname = {}\n", toml::Value::from(name)))?;
        }
        Ok(folder)
    }

    /// Removes what a refused request has left: a new folder, or a version that no run has read.
    pub(super) fn remove_unread(&self) -> Result<(), Error> {
        if self.is_new && !self.path.join(RUNS).exists() {
            return std::fs::remove_dir_all(&self.path).map_err(|e| unwritable(&self.path, &e));
        }
        if self.is_new_version && self.version > 1 {
            let text = self.task().with_extension("nl");
            std::fs::remove_file(&text).map_err(|e| unwritable(&text, &e))?;
            let (kept, answer) =
                (self.path.join(format!("answer-{}", self.version - 1)), self.path.join(ANSWER));
            if kept.exists() && !answer.exists() {
                std::fs::rename(&kept, &answer).map_err(|e| unwritable(&answer, &e))?;
            }
        }
        Ok(())
    }

    /// The stem of the newest version's task.
    pub(super) fn task(&self) -> PathBuf {
        self.path.join(stem(self.version))
    }

    /// The name of the newest version's task.
    pub(super) fn task_name(&self) -> String {
        stem(self.version)
    }

    pub(super) fn runs(&self) -> PathBuf {
        self.path.join(RUNS)
    }

    /// The models that read the versions, in the order of their runs.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn readers(&self) -> Result<Vec<Reader>, Error> {
        let path = self.path.join(MODELS);
        if !path.exists() {
            return Ok(Vec::new());
        }
        parse_json(&path, &read_named_text(&path)?)
    }

    pub(super) fn write_readers(&self, readers: &[Reader]) -> Result<(), Error> {
        self.write(MODELS, &serde_json::to_string_pretty(readers).unwrap_or_default())
    }

    /// Adds a version: the text with further statements of its author. The answer so far is kept beside the new one.
    pub(super) fn add_version(&mut self, statements: &[String]) -> Result<(), Error> {
        let answer = self.path.join(ANSWER);
        if answer.exists() {
            let kept = self.path.join(format!("answer-{}", self.version));
            std::fs::rename(&answer, &kept).map_err(|e| unwritable(&kept, &e))?;
        }
        let mut text = self.text.trim_end().to_owned();
        if !text.contains(HEADING) {
            text.push_str("\n\n");
            text.push_str(HEADING);
        }
        for statement in statements {
            text.push_str("\n- ");
            text.push_str(statement.trim());
        }
        text.push('\n');
        self.version += 1;
        self.is_new_version = true;
        self.text = text;
        write(&self.task().with_extension("nl"), self.text.as_bytes())
    }

    /// The points with the answers that were given.
    ///
    /// # Errors
    /// The file cannot be read, belongs to another text, or has a point without two choices; an answer to no point.
    pub(super) fn answers(
        &self,
        context: &Context,
        given: Option<&Answers>,
    ) -> Result<Vec<OpenPoint>, Error> {
        match given {
            None => self.sheet(None),
            Some(Answers::File(file)) => self.sheet(Some(&context.path(file))),
            Some(Answers::ById(answers)) => {
                let mut points = self.sheet(None)?;
                for (id, answer) in answers {
                    let ids: Vec<&str> = points.iter().map(|point| point.id.as_str()).collect();
                    let Some(at) = ids.iter().position(|known| known == id) else {
                        let message = format!("the text has no open point `{id}`");
                        let help = match ids.as_slice() {
                            [] => "no point of it is known: solve it without answers first".to_owned(),
                            ids => format!("its points are {}", ids.join(", ")),
                        };
                        return Err(Error::usage(message, Some(&help)));
                    };
                    points[at].answer.clone_from(answer);
                }
                Ok(points)
            }
        }
    }

    /// The points of `questions.toml`. `file` replaces the folder's own.
    fn sheet(&self, file: Option<&Path>) -> Result<Vec<OpenPoint>, Error> {
        let own = self.path.join(QUESTIONS);
        let path = match file {
            Some(file) => file,
            None if own.exists() => &own,
            None => return Ok(Vec::new()),
        };
        let text = read_named_text(path)?;
        let sheet: Sheet = toml::from_str(&text).map_err(|found| {
            let diagnostic = Diagnostic::error(
                "solve.answers",
                format!("this is not a file of answers: {}", found.message()),
            );
            let help =
                "take the file questions.toml of the task's folder, and write the answers behind `answer =`";
            unreadable(path, diagnostic.help(help))
        })?;
        if file.is_some() && sheet.text != self.text_hash() {
            let diagnostic = Diagnostic::error("solve.other-text", "these answers belong to another text");
            let help = "answer the questions.toml in the folder of this text";
            return Err(unreadable(path, diagnostic.help(help)));
        }
        if sheet.text != self.text_hash() {
            return Ok(Vec::new());
        }
        if let Some(point) = sheet.points.iter().find(|point| point.choices.len() != 2) {
            let message = format!("the point `{}` has {} choices, not two", point.id, point.choices.len());
            let help = "leave the choices unchanged: other words than theirs are an answer, too";
            return Err(unreadable(path, Diagnostic::error("solve.answers", message).help(help)));
        }
        Ok(sheet.points)
    }

    fn text_hash(&self) -> String {
        sha256_hex(self.text.as_bytes())
    }

    /// Writes the points with their answers.
    pub(super) fn write_points(&self, points: &[OpenPoint]) -> Result<(), Error> {
        if self.is_read_only {
            return Ok(());
        }
        let path = self.path.join(QUESTIONS);
        let sheet = Sheet { text: self.text_hash(), points: points.to_vec() };
        let text = toml::to_string(&sheet).map_err(|e| unwritable(&path, &e))?;
        let shown = self.shown.display();
        let heading = format!(
            "# The points that the text leaves open. Behind `answer =` write the number of a choice, yes or no, the beginning of one choice, \"either\",\n\
             # \"unknown\" or your own words, also where something was assumed. Then: planforge solve --continue {shown}\n"
        );
        write(&path, format!("{heading}{text}").as_bytes())
    }

    /// True if the newest version has an answer.
    pub(super) fn has_answer(&self) -> bool {
        self.path.join(ANSWER).is_dir()
    }

    /// Removes the answer or the readings of before: they may not fit what is known now.
    pub(super) fn remove(&self, name: &str) -> Result<(), Error> {
        let folder = self.path.join(name);
        match folder.is_dir() && !folder.is_symlink() && !self.is_read_only {
            true => std::fs::remove_dir_all(&folder).map_err(|e| unwritable(&folder, &e)),
            false => Ok(()),
        }
    }

    /// Writes a file below the folder. A link in the place of one of its folders is not followed.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        if self.is_read_only {
            return Ok(());
        }
        let first = Path::new(name).components().next().map(|first| self.path.join(first));
        if let Some(link) = first.filter(|first| first.is_symlink()) {
            return Err(unwritable(&link, &"it is a link; remove it"));
        }
        write(&self.path.join(name), text.as_bytes())
    }

    /// The texts of all versions, the oldest first.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |version| read_named_text(&self.path.join(stem(version)).with_extension("nl")).ok();
        (1..=self.version).filter_map(text).collect()
    }

    /// Domain and problem of each reading of the newest version.
    pub(super) fn readings(&self) -> Vec<[String; 2]> {
        let file = |number: usize, name: &str| {
            read_named_text(&self.path.join(format!("readings/{number}/{name}"))).ok()
        };
        let reading = |number| Some([file(number, "domain.pddl")?, file(number, "problem.pddl")?]);
        (1..).map_while(reading).collect()
    }

    /// A file of the answer to the version before this one.
    pub(super) fn earlier_answer(&self, name: &str) -> Option<String> {
        let kept = self.path.join(format!("answer-{}", self.version.checked_sub(1)?)).join(name);
        read_named_text(&kept).ok()
    }
}

/// The name of the suite whose task a cassette or run folder records; `None` if it records no text.
fn recorded_suite(cassette: &Path) -> Result<Option<String>, Error> {
    let keys = Cassette::open(cassette, Arc::default())?.completion_keys();
    // A key ends in the sample path: `bakery.task/reading/0/0/0`.
    let suite = |key: &String| {
        let path = key.split_once(':').map_or(key.as_str(), |(_, path)| path);
        path.split('/').next()?.strip_suffix(&format!(".{TASK}")).map(str::to_owned)
    };
    Ok(keys.iter().find_map(suite))
}

/// The stem of a version's task.
fn stem(version: usize) -> String {
    match version {
        1 => TASK.to_owned(),
        version => format!("{TASK}-{version}"),
    }
}

/// The text that an argument of a command names: a file, or the words themselves.
///
/// # Errors
/// The argument is neither a file nor several words.
pub fn file_or_words(context: &Context, argument: &str) -> Result<Source, Error> {
    let path = Path::new(argument);
    if context.path(path).is_file() {
        return Ok(Source::File(path.to_owned()));
    }
    if argument.split_whitespace().nth(1).is_some() {
        return Ok(Source::text(TASK, argument));
    }
    Err(no_text(argument))
}

fn no_text(argument: &str) -> Error {
    let message = format!("`{argument}` is neither a file nor a text of several words");
    let help =
        "check the path, or write the task itself in quotes: planforge solve \"There are three rooms ...\"";
    unreadable(Path::new(argument), Diagnostic::error("solve.no-text", message).help(help))
}

fn read_source(context: &Context, source: &Source) -> Result<String, Error> {
    source.read_text(context).map_err(|found| unreadable(Path::new(&*source.name()), *found))
}

/// The name of the folder of a text.
fn folder_name(source: &Source) -> String {
    let Source::File(path) = source else { return TASK.to_owned() };
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or(TASK);
    // A file without an ending has the path of its folder.
    if path.extension().is_some() { stem.to_owned() } else { format!("{stem}-task") }
}

/// The text of a task in words.
fn task_text(context: &Context, source: &Source) -> Result<String, Error> {
    let text = read_source(context, source)?;
    let path = PathBuf::from(&*source.name());
    if text.trim().is_empty() {
        let help = "write what there is, what can be done, and what is wanted";
        return Err(unreadable(&path, Diagnostic::error("solve.no-text", "the text is empty").help(help)));
    }
    if !matches!(source, Source::File(_)) && text.split_whitespace().nth(1).is_none() {
        return Err(no_text(text.trim()));
    }
    let refuse =
        |diagnostic: Diagnostic| Err(Error::findings(Status::Input, vec![diagnostic], SourceMap::default()));
    let found = planforge_pddl::find_pddl(&text, SourceId(0));
    if found.domains.iter().chain(&found.problems).any(|block| block.has_sections) {
        let diagnostic = Diagnostic::error("solve.pddl", "the text holds PDDL, not a task in words");
        let help =
            "plan with `planforge pddl plan DOMAIN PROBLEM`; a domain for a task in words goes to --domain";
        return Err(unreadable(&path, diagnostic.help(help)));
    }
    if text.len() > MOST_BYTES {
        let message = format!("the text has {} bytes, and at most {MOST_BYTES} are read", text.len());
        let help = "leave out what is not about the task, or solve it in parts";
        return refuse(Diagnostic::error("solve.long-text", message).help(help));
    }
    Ok(text)
}

/// Most bytes of a text: about fifty pages.
const MOST_BYTES: usize = 200_000;
