//! A program with its `plugin.toml`, started when it is first needed and again after it ended.

use super::connection::{Connection, LentStreams};
use super::wire;
use crate::limits::CallLimits;
use crate::worker::WorkerSettings;
use planforge_child::{CommandSpec, Limits};
use planforge_contract::{Failure, FailureClass, PluginInfo, PluginKind};
use planforge_plugin_abi::EPOCH;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// A program and its running process, if there is one.
pub(crate) struct Program {
    /// Id of the plugin that it is.
    pub(super) id: String,
    /// Kind of the plugin, as far as it is known before the program runs.
    kind: Option<PluginKind>,
    launch: Launch,
    memory_bytes: u64,
    limits: CallLimits,
    connection: Mutex<Running>,
    /// Held for reading by every call, and for writing by a call that is repeated alone.
    pub(super) turn: RwLock<()>,
}

/// The way in which a program is started.
enum Launch {
    Command(CommandSpec),
    Lent(StartLent),
}

/// Starts a program in this process.
pub type StartLent = Arc<dyn Fn() -> Result<LentStreams, Failure> + Send + Sync>;

/// A plugin that runs in this process and exchanges the messages of a program, such as a class in an interpreter.
#[derive(Clone)]
pub struct LentPlugin {
    /// The plugin's id.
    pub id: String,
    /// Its kind.
    pub kind: PluginKind,
    /// The file of its code, for records.
    pub origin: PathBuf,
    /// SHA-256 of its code, lower-case hexadecimal.
    pub sha256: String,
    /// Starts it. It ends when its input is closed.
    pub start: StartLent,
}

impl std::fmt::Debug for LentPlugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LentPlugin").field("id", &self.id).finish_non_exhaustive()
    }
}

#[derive(Default)]
pub(super) struct Running {
    pub(super) connection: Option<Arc<Connection>>,
    /// Number of starts.
    pub(super) starts: u64,
    /// Number of instances made.
    instances: u64,
}

impl Program {
    /// The program of a folder with a manifest.
    pub(crate) fn of_folder(folder: &Path, manifest: Manifest, limits: CallLimits) -> Arc<Self> {
        let mut words = manifest.command.into_iter();
        let command = CommandSpec::new(words.next().unwrap_or_default()).arguments(words).folder(folder);
        let memory_bytes = manifest.memory_mb << 20;
        Self::new(manifest.id, Some(manifest.kind), Launch::Command(command), memory_bytes, limits)
    }

    /// The host's own program, serving a library.
    pub(crate) fn of_library(
        id: String,
        library: &Path,
        worker: &WorkerSettings,
        limits: CallLimits,
    ) -> Arc<Self> {
        let mut command = CommandSpec::new(&worker.executable).arguments(&worker.arguments);
        command = command.arguments(["--isolated".as_ref(), library.as_os_str()]);
        Self::new(id, None, Launch::Command(command), worker.memory_bytes, limits)
    }

    /// A program in this process.
    pub(crate) fn lent(id: String, kind: PluginKind, start: StartLent, limits: CallLimits) -> Arc<Self> {
        Self::new(id, Some(kind), Launch::Lent(start), 0, limits)
    }

    fn new(
        id: String,
        kind: Option<PluginKind>,
        launch: Launch,
        memory_bytes: u64,
        limits: CallLimits,
    ) -> Arc<Self> {
        let (connection, turn) = (Mutex::default(), RwLock::default());
        Arc::new(Self { id, kind, launch, memory_bytes, limits, connection, turn })
    }

    pub(super) fn running(&self) -> MutexGuard<'_, Running> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection to the running program and its number; starts the program if it does not run.
    pub(super) fn connect(&self) -> Result<(Arc<Connection>, u64), Failure> {
        let mut running = self.running();
        if let Some(connection) = running.connection.as_ref().filter(|connection| connection.is_open()) {
            return Ok((Arc::clone(connection), running.starts));
        }
        let output_bytes = self.limits.reply_bytes as u64;
        let connection = match &self.launch {
            Launch::Command(command) => {
                let memory_bytes = Some(self.memory_bytes);
                let limits = Limits { memory_bytes, output_bytes, ..Limits::default() };
                Connection::start(&self.id, command, &limits)?
            }
            Launch::Lent(start) => Connection::lent(&self.id, start()?, output_bytes)?,
        };
        running.starts += 1;
        running.connection = Some(Arc::clone(&connection));
        Ok((connection, running.starts))
    }

    pub(super) fn next_instance(&self) -> u64 {
        let mut running = self.running();
        running.instances += 1;
        running.instances
    }

    /// The time until which describing, creating and closing must end.
    pub(super) fn create_deadline(&self) -> Option<Instant> {
        Instant::now().checked_add(Duration::from_millis(self.limits.create_ms))
    }

    /// Gate `plugin.describe`: the program's description, which must agree with what is known of the plugin.
    pub(crate) fn describe(&self) -> Result<PluginInfo, Failure> {
        let (connection, _) = self.connect()?;
        let answer = connection.call(wire::DESCRIBE, "", None, self.create_deadline())?;
        self.complete(answer).map_err(|why| {
            Failure::new(FailureClass::Plugin, "plugin.describe", format!("`{}`: {why}", self.id))
        })
    }

    /// The reason of an error is a sentence.
    fn complete(&self, answer: Value) -> Result<PluginInfo, String> {
        let Value::Object(mut info) = answer else {
            return Err("the description is not a JSON object".to_owned());
        };
        let known = [
            ("id", Some(Value::from(self.id.as_str()))),
            ("kind", self.kind.map(|kind| kind.name().into())),
            ("contract", Some(EPOCH.into())),
        ];
        for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            match info.get(key) {
                Some(said) if *said != value => {
                    return Err(format!("the program says that its {key} is {said}, not {value}"));
                }
                _ => drop(info.insert(key.to_owned(), value)),
            }
        }
        serde_json::from_value(Value::Object(info))
            .map_err(|e| format!("the description is not readable: {e}"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(connection) = self.running().connection.take() {
            connection.close();
        }
    }
}

/// Most files and bytes of a program's folder. A larger one holds an installation, which belongs elsewhere.
const MOST_FILES: usize = 1_000;
const MOST_BYTES: u64 = 64 << 20;

/// The keys of `plugin.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The plugin's id, as pipeline files write it.
    pub(crate) id: String,
    /// Kind of the plugin.
    pub(crate) kind: PluginKind,
    /// The program and its arguments. It is started in the folder of the file.
    pub(crate) command: Vec<String>,
    /// The version of the documents that it speaks.
    pub(crate) contract: u32,
    /// Most megabytes of address space of each of its processes.
    #[serde(default = "default_memory")]
    pub(crate) memory_mb: u64,
}

fn default_memory() -> u64 {
    4096
}

impl Manifest {
    /// Reads and checks a manifest. The reason of an error is the rest of a sentence.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|e| e.to_string().trim().replace('\n', " "))?;
        let mut wrong = Vec::new();
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if manifest.id.is_empty() || !manifest.id.chars().all(allowed) {
            wrong.push(format!("`id` consists of lower-case words joined by dashes, not `{}`", manifest.id));
        }
        if manifest.command.first().is_none_or(String::is_empty) {
            wrong.push("`command` is a list of the program and its arguments".to_owned());
        }
        if manifest.memory_mb == 0 {
            wrong.push("`memory_mb` is at least 1".to_owned());
        }
        if wrong.is_empty() { Ok(manifest) } else { Err(wrong.join("; ")) }
    }
}

/// SHA-256 over the names and contents of the folder's files, lower-case hexadecimal. Hidden files and folders and
/// `__pycache__` do not count. The reason of an error is a sentence.
pub(crate) fn folder_hash(folder: &Path) -> Result<String, String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    for file in &files {
        let text = std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?;
        bytes += text.len() as u64;
        if bytes > MOST_BYTES {
            return Err(too_large(folder));
        }
        let name = file.strip_prefix(folder).unwrap_or(file);
        hash.update(name.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(&text);
    }
    Ok(hash.finalize().iter().map(|b| format!("{b:02x}")).collect())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let entries = std::fs::read_dir(&next).map_err(|e| format!("{}: {e}", next.display()))?;
        for entry in entries {
            let entry = entry.map_err(|e| format!("{}: {e}", next.display()))?;
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") || name == "__pycache__" {
                continue;
            }
            let about = entry.file_type().map_err(|e| format!("{}: {e}", entry.path().display()))?;
            // A link is not followed: it may lead out of the folder, or round in a circle.
            if about.is_dir() {
                folders.push(entry.path());
            } else if about.is_file() {
                files.push(entry.path());
            }
            if files.len() > MOST_FILES {
                return Err(too_large(folder));
            }
        }
    }
    Ok(())
}

fn too_large(folder: &Path) -> String {
    format!(
        "{}: a plugin's folder holds at most {MOST_FILES} files and {} MB, hidden ones aside",
        folder.display(),
        MOST_BYTES >> 20
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_everything_that_is_wrong() {
        let good = Manifest::read("id='a-b'\nkind='verifier'\ncommand=['x']\ncontract=2").unwrap();
        assert_eq!((good.id.as_str(), good.memory_mb), ("a-b", 4096));
        let wrong =
            Manifest::read("id='A b'\nkind='verifier'\ncommand=[]\ncontract=2\nmemory_mb=0").unwrap_err();
        for key in ["`id`", "`command`", "`memory_mb`"] {
            assert!(wrong.contains(key), "{wrong}");
        }
        assert!(Manifest::read("id='a'\nkind='verifier'\ncommand=['x']\ncontract=2\nfoo=1").is_err());
    }

    #[test]
    fn the_hash_covers_names_and_contents_of_visible_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
            folder_hash(folder.path()).unwrap()
        };
        let first = write("plugin.toml", "x");
        let second = write("lib/a.py", "1");
        assert_ne!(first, second);
        assert_eq!(second, write(".venv/bin/python", "2"));
        assert_eq!(second, write("lib/__pycache__/a.pyc", "3"));
        assert_ne!(second, write("lib/a.py", "4"));
    }
}
