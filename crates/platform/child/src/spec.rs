//! Commands and their limits.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Variables that programs commonly need to find their parts and to write text, and that hold no secrets.
pub const USUAL_VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// The environment variables of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Environment {
    Only {
        /// Names of variables that are handed on where the caller has them.
        handed_on: Vec<String>,
        /// Variables with their values; they win over those handed on.
        set: BTreeMap<String, String>,
    },
    /// Everything that the caller has, for programs that are the caller's own.
    Whole {
        /// Variables with their values; they win over the caller's.
        set: BTreeMap<String, String>,
    },
}

impl Environment {
    /// The variables in [`USUAL_VARIABLES`].
    pub fn usual() -> Self {
        let handed_on = USUAL_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
        Self::Only { handed_on, set: BTreeMap::new() }
    }
}

/// A program and how it is called. No word of it is read by a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// A path, or a name to find in the program's own `PATH`.
    pub program: OsString,
    pub arguments: Vec<OsString>,
    /// The folder it starts in, from which a relative program path counts too; by default the caller's.
    pub folder: Option<PathBuf>,
    pub environment: Environment,
    /// Standard input for [`crate::run`]; a session sends lines instead.
    pub input: Vec<u8>,
}

impl CommandSpec {
    /// A command without arguments that sees [`USUAL_VARIABLES`].
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: None,
            environment: Environment::usual(),
            input: Vec::new(),
        }
    }

    #[must_use]
    pub fn arguments<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Started in this folder.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// As a person would write it, for messages.
    pub fn text(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.arguments);
        let quoted = words.map(|word| {
            let word = word.to_string_lossy();
            let plain =
                !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '\'' || c == '"');
            if plain { word.into_owned() } else { format!("{word:?}") }
        });
        quoted.collect::<Vec<_>>().join(" ")
    }

    /// True if the program inherits all variables of the caller, and the variables to set.
    pub(crate) fn variables(&self) -> (bool, BTreeMap<OsString, OsString>) {
        let own = |set: &BTreeMap<String, String>| -> BTreeMap<OsString, OsString> {
            set.iter().map(|(name, value)| (name.into(), value.into())).collect()
        };
        match &self.environment {
            Environment::Whole { set } => (true, own(set)),
            Environment::Only { handed_on, set } => {
                let mut all: BTreeMap<OsString, OsString> = handed_on
                    .iter()
                    .filter_map(|name| Some((OsString::from(name), variable(name)?)))
                    .collect();
                all.extend(own(set));
                (false, all)
            }
        }
    }

    /// The file that a start would run.
    ///
    /// # Errors
    /// Reason why there is none, as the rest of a sentence.
    pub fn file(&self) -> Result<PathBuf, String> {
        self.resolve(&self.variables().1)
    }

    /// As [`CommandSpec::file`], with the program's variables.
    pub(crate) fn resolve(&self, variables: &BTreeMap<OsString, OsString>) -> Result<PathBuf, String> {
        let name = Path::new(&self.program);
        if self.program.is_empty() {
            return Err("the command is empty".to_owned());
        }
        if let Some(folder) = self.folder.as_ref().filter(|f| !f.is_dir()) {
            return Err(format!("the working directory `{}` does not exist", folder.display()));
        }
        if name.components().count() > 1 || name.is_absolute() {
            let here = self.folder.as_deref().unwrap_or(Path::new("."));
            let path = std::path::absolute(here.join(name)).map_err(|e| e.to_string())?;
            return match runnable(&path) {
                Ok(()) => Ok(path),
                Err(why) => Err(format!("{} {why}", path.display())),
            };
        }
        let whole = matches!(self.environment, Environment::Whole { .. });
        let path = variables.get(OsStr::new("PATH")).cloned().or_else(|| variable("PATH").filter(|_| whole));
        let path = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        std::env::split_paths(&path)
            .map(|folder| folder.join(name))
            .find(|file| runnable(file).is_ok())
            .and_then(|file| std::path::absolute(file).ok())
            .ok_or_else(|| format!("the program `{}` was not found on the search path", name.display()))
    }
}

/// A variable of the caller that a program may see. Its value has no effect here, except that `PATH` finds
/// the program.
#[allow(clippy::disallowed_methods, reason = "the variable is handed on to the program, by name")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

fn runnable(path: &Path) -> Result<(), &'static str> {
    match std::fs::metadata(path) {
        Err(_) => Err("does not exist"),
        Ok(about) if !about.is_file() => Err("is not a file"),
        Ok(about) if about.permissions().mode() & 0o111 == 0 => Err("is not executable"),
        Ok(_) => Ok(()),
    }
}

/// Limits of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall time of [`crate::run`]; a conversation has a deadline for each answer instead.
    pub wall: Option<Duration>,
    /// Address space of each of its processes, in bytes.
    pub memory_bytes: Option<u64>,
    /// Most bytes on its standard output: of all of it for [`crate::run`], of one line for a conversation.
    pub output_bytes: u64,
    /// Most bytes on its standard error: of all of it for [`crate::run`], between two messages for a conversation.
    pub error_bytes: u64,
    /// Number of last bytes of standard error to keep for messages.
    pub error_tail_bytes: usize,
}

impl Default for Limits {
    /// No limit of time or memory, 64 MiB of output, 16 MiB of errors of which the last 2 KiB are kept.
    fn default() -> Self {
        Self {
            wall: None,
            memory_bytes: None,
            output_bytes: 64 << 20,
            error_bytes: 16 << 20,
            error_tail_bytes: 2048,
        }
    }
}
