//! The known plugins, their sources on the search path, and the creation of instances. Searching runs no code of a plugin.

use crate::adapters::{Instance, RawInstance};
use crate::call::{Code, Core, RegistrySettings, no_worker};
use crate::gates::{self, writable_by_others};
use crate::limits::CallLimits;
use crate::limits::nearest;
use crate::program::{LentPlugin, MANIFEST, Manifest, Program, ProgramInstance, folder_hash};
use crate::threads::Threads;
use crate::worker::{WorkerSettings, WorkerSource, describe_apart};
use planforge_contract::{CreateRequest, Failure, FailureClass, PluginInfo, PluginKind, decode, encode};
use planforge_plugin_abi::{BundledPlugin, EPOCH, Module, id_of_crate};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "schemas")]
use crate::options::{OptionProblem, OptionsSchema};
#[cfg(feature = "schemas")]
use planforge_contract::JsonObject;

/// A line of `planforge plugins list`.
#[derive(Debug, Clone, PartialEq)]
pub struct RegistryEntry {
    /// The plugin's id; the file's name where a file would not even tell its id.
    pub id: String,
    /// Source.
    pub source: PluginSource,
    /// The plugin's description, or the load gate that it did not pass.
    pub info: Result<Arc<PluginInfo>, Failure>,
    /// True if a library of the same id takes its place.
    pub shadowed: bool,
}

impl RegistryEntry {
    /// Its kind, where it passed the gates.
    pub fn kind(&self) -> Option<PluginKind> {
        self.info.as_ref().ok().map(|i| i.kind)
    }
}

struct Loaded {
    maker: Maker,
    info: Arc<PluginInfo>,
}

/// The code that makes instances.
enum Maker {
    Module(Module),
    Program(Arc<Program>),
}

struct Slot {
    source: PluginSource,
    /// Result of checks that do not run the plugin: its symbol or manifest, its epoch, and that its id is unique.
    found: Result<Found, Failure>,
    loaded: OnceLock<Result<Loaded, Failure>>,
    /// The compiled schema of its options.
    #[cfg(feature = "schemas")]
    schema: OnceLock<Result<OptionsSchema, String>>,
}

impl Slot {
    fn new(source: PluginSource, found: Result<Found, Failure>) -> Self {
        Self {
            source,
            found,
            loaded: OnceLock::new(),
            #[cfg(feature = "schemas")]
            schema: OnceLock::new(),
        }
    }

    #[cfg(feature = "schemas")]
    fn schema(&self, info: &PluginInfo) -> Result<&OptionsSchema, Failure> {
        let compiled = self.schema.get_or_init(|| OptionsSchema::compile(&info.options_schema));
        compiled.as_ref().map_err(|error| gates::schema_failure(&info.id, error))
    }

    #[cfg(feature = "schemas")]
    fn check_options(&self, info: &PluginInfo, options: &JsonObject) -> Result<Vec<OptionProblem>, Failure> {
        Ok(self.schema(info)?.check(options))
    }
}

/// All plugins. Libraries are found at once, and opened when they are first asked for; none is ever unloaded.
pub struct Registry {
    /// By id: the one in use, then the bundled one it shadows.
    slots: BTreeMap<String, Vec<Slot>>,
    /// Files on the search path that name no plugin.
    strays: Vec<RegistryEntry>,
    /// Folders and libraries of the search path that other users can change.
    exposed: Vec<String>,
    settings: RegistrySettings,
    threads: Arc<Threads>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").field("ids", &self.ids()).finish_non_exhaustive()
    }
}

impl Registry {
    /// Finds the plugins linked in and those on the search path: folders (with shared libraries, a `plugin.toml`, or
    /// folders with one) or single libraries. Never fails: [`Registry::list`] and every use of an id report what is wrong with a
    /// library.
    pub fn new(
        bundled: &[&'static BundledPlugin],
        search_path: &[PathBuf],
        settings: RegistrySettings,
    ) -> Self {
        let mut registry = Self {
            slots: BTreeMap::new(),
            strays: Vec::new(),
            exposed: Vec::new(),
            threads: Threads::new(settings.limits.threads),
            settings,
        };
        for LentPlugin { id, kind, origin, sha256, start } in registry.settings.lent.clone() {
            let program = Program::lent(id.clone(), kind, start, registry.settings.limits.clone());
            let slot = Slot::new(PluginSource::Lent { origin, sha256 }, Ok(Found::Program(program)));
            registry.slots.insert(id, vec![slot]);
        }
        for path in search_path {
            registry.search(path);
        }
        for plugin in bundled {
            let slot = Slot::new(PluginSource::Bundled, Ok(Found::Bundled(plugin)));
            registry.slots.entry(plugin.id()).or_default().push(slot);
        }
        registry
    }

    fn search(&mut self, path: &Path) {
        let plugins = if path.is_dir() {
            self.exposed.extend(writable_by_others(path));
            plugins_in(path)
        } else {
            Ok(vec![path.to_owned()])
        };
        match plugins {
            Ok(plugins) => plugins.iter().for_each(|plugin| self.add(plugin)),
            Err(e) => self.add_stray(path, String::new(), file_failure(path, &e)),
        }
    }

    fn add_stray(&mut self, path: &Path, sha256: String, failure: Failure) {
        let id = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let source = PluginSource::Library { path: path.to_owned(), sha256 };
        self.strays.push(RegistryEntry { id, source, info: Err(failure), shadowed: false });
    }

    /// Adds the library or program at that path.
    fn add(&mut self, path: &Path) {
        self.exposed.extend(writable_by_others(path));
        let plugin = if path.is_dir() { program(path, &self.settings.limits) } else { library(path) };
        let (id, source, found) = match plugin {
            Ok(plugin) => plugin,
            Err(stray) => return self.add_stray(path, stray.sha256, stray.failure),
        };
        let slots = self.slots.entry(id.clone()).or_default();
        let found = match slots.first_mut() {
            Some(Slot { source: PluginSource::Lent { .. }, .. }) => return,
            Some(Slot { source: known_source, found: known, .. }) => {
                let first = known_source.file().map_or(Path::new(""), |(first, _)| first);
                // The same file, by two entries of the search path.
                if first == path {
                    return;
                }
                let failure = duplicate_failure(&id, first, path);
                *known = Err(failure.clone());
                Err(failure)
            }
            None => found,
        };
        slots.push(Slot::new(source, found));
    }

    /// Every id there is, in order.
    pub fn ids(&self) -> Vec<String> {
        self.slots.keys().cloned().collect()
    }

    /// Everything found, by id; then the files that name no plugin. Libraries are described as by
    /// [`Registry::info_apart`], so that none is loaded into this process.
    pub fn list(&self) -> Vec<RegistryEntry> {
        let entry = |id: &String, index: usize, slot: &Slot| RegistryEntry {
            id: id.clone(),
            source: slot.source.clone(),
            info: self.describe(id, slot),
            shadowed: index > 0 && slot.source == PluginSource::Bundled,
        };
        let slots =
            self.slots.iter().flat_map(|(id, s)| s.iter().enumerate().map(move |(i, s)| entry(id, i, s)));
        slots.chain(self.strays.iter().cloned()).collect()
    }

    fn load<'a>(&self, slot: &'a Slot) -> Result<&'a Loaded, Failure> {
        let load = || {
            let (limits, threads) = (&self.settings.limits, &self.threads);
            let (maker, info) = match slot.found.clone()? {
                Found::Bundled(plugin) => {
                    let module = gates::open_bundled_plugin(plugin)?;
                    (Maker::Module(module), gates::describe(module, plugin.crate_name, limits, threads)?)
                }
                Found::Library(path, crate_name) if self.settings.isolate_libraries => {
                    let worker = self.worker()?;
                    let id = id_of_crate(&crate_name);
                    let program = Program::of_library(id, &path, worker, limits.clone());
                    let info = program.describe()?;
                    (Maker::Program(program), info)
                }
                Found::Library(path, crate_name) => {
                    let module = gates::open_plugin_library(&path, &crate_name)?;
                    (Maker::Module(module), gates::describe(module, &crate_name, limits, threads)?)
                }
                Found::Program(program) => {
                    let info = program.describe()?;
                    (Maker::Program(program), info)
                }
            };
            #[cfg(feature = "schemas")]
            slot.schema(&info)?;
            Ok(Loaded { maker, info: Arc::new(info) })
        };
        slot.loaded.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    fn worker(&self) -> Result<&WorkerSettings, Failure> {
        self.settings.worker.as_ref().ok_or_else(no_worker)
    }

    fn slot(&self, id: &str) -> Result<&Slot, Failure> {
        if let Some(slot) = self.slots.get(id).and_then(|s| s.first()) {
            return Ok(slot);
        }
        let failure =
            Failure::new(FailureClass::Request, "plugin.unknown", format!("there is no plugin `{id}`"));
        Err(failure.help(match nearest(id, self.slots.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", self.ids().join(", ")),
        }))
    }

    /// The source of the plugin with that id.
    ///
    /// # Errors
    /// `plugin.unknown`.
    pub fn source(&self, id: &str) -> Result<&PluginSource, Failure> {
        self.slot(id).map(|s| &s.source)
    }

    /// The plugin's description.
    ///
    /// # Errors
    /// `plugin.unknown`, or the load gate that it did not pass.
    pub fn info(&self, id: &str) -> Result<Arc<PluginInfo>, Failure> {
        self.load(self.slot(id)?).map(|l| Arc::clone(&l.info))
    }

    /// The plugin's description, without running a library's code in this process: a child takes it through
    /// the gates to describe(), and the answer is kept by the file's SHA-256. Bundled plugins are asked
    /// directly.
    ///
    /// # Errors
    /// As [`Registry::info`]; `host.no-worker` if [`RegistrySettings::worker`] is missing; the failure of the child.
    pub fn info_apart(&self, id: &str) -> Result<Arc<PluginInfo>, Failure> {
        self.describe(id, self.slot(id)?)
    }

    fn describe(&self, id: &str, slot: &Slot) -> Result<Arc<PluginInfo>, Failure> {
        let is_lent = matches!(slot.source, PluginSource::Lent { .. });
        let Some((_, sha256)) = slot.source.file().filter(|_| !is_lent) else {
            return self.load(slot).map(|loaded| Arc::clone(&loaded.info));
        };
        let found = slot.found.clone()?;
        if let Some(Ok(loaded)) = slot.loaded.get() {
            return Ok(Arc::clone(&loaded.info));
        }
        let cache_file =
            self.settings.describe_cache.as_ref().map(|c| c.join(format!("{sha256}-{EPOCH}.json")));
        let read = |file: &PathBuf| decode::<PluginInfo>(&std::fs::read_to_string(file).ok()?).ok();
        if let Some(info) = cache_file.as_ref().and_then(read).filter(|i| i.id == id) {
            return Ok(Arc::new(info));
        }
        let info = match found {
            Found::Library(path, _) => {
                let time_ms = self.settings.limits.create_ms;
                let settings = WorkerSettings { time_ms, ..self.worker()?.clone() };
                describe_apart(&settings, &path)?
            }
            // A program is a process of its own.
            Found::Program(program) => program.describe()?,
            Found::Bundled(_) => return self.load(slot).map(|loaded| Arc::clone(&loaded.info)),
        };
        if let Some(file) = cache_file {
            // Without the file the plugin is described again next time, which only costs time.
            if let Err(e) = write_description(&file, &info) {
                tracing::warn!("{}: {e}", file.display());
            }
        }
        Ok(Arc::new(info))
    }

    /// Checks options against a plugin's schema, all problems at once. Makes no instance.
    ///
    /// # Errors
    /// As [`Registry::info`].
    #[cfg(feature = "schemas")]
    pub fn check_options(&self, id: &str, options: &JsonObject) -> Result<Vec<OptionProblem>, Failure> {
        self.slot(id)?.check_options(&*self.info(id)?, options)
    }

    /// As [`Registry::check_options`], without running a library's code in this process.
    ///
    /// # Errors
    /// As [`Registry::info_apart`].
    #[cfg(feature = "schemas")]
    pub fn check_options_apart(&self, id: &str, options: &JsonObject) -> Result<Vec<OptionProblem>, Failure> {
        self.slot(id)?.check_options(&*self.info_apart(id)?, options)
    }

    /// Makes an instance, through the last two gates.
    ///
    /// # Errors
    /// As [`Registry::info`]; `plugin.options` with all problems; `plugin.create` or what the plugin refused with.
    pub fn create(&self, id: &str, request: CreateRequest) -> Result<Instance, Failure> {
        self.checked_core(id, request).map(Instance::over)
    }

    /// As [`Registry::create`], for calls with documents as text.
    ///
    /// # Errors
    /// As [`Registry::create`].
    pub fn create_raw(&self, id: &str, request: CreateRequest) -> Result<RawInstance, Failure> {
        self.checked_core(id, request).map(RawInstance)
    }

    fn checked_core(&self, id: &str, request: CreateRequest) -> Result<Core, Failure> {
        let slot = self.slot(id)?;
        let loaded = self.load(slot)?;
        #[cfg(feature = "schemas")]
        self.refuse_options(id, &request.options)?;
        let code = self.make(loaded, &request)?;
        let source = match &slot.source {
            PluginSource::Bundled => Some(WorkerSource::Bundled(id.to_owned())),
            PluginSource::Library { path, .. } => Some(WorkerSource::Library(path.clone())),
            PluginSource::Program { .. } | PluginSource::Lent { .. } => None,
        };
        let worker = source.zip(self.settings.worker.clone());
        let worker = worker.map(|(source, settings)| (settings, source, request));
        let info = Arc::clone(&loaded.info);
        Ok(Core::new(info, code, &self.settings, Arc::clone(&self.threads), worker))
    }

    /// `plugin.options` with all problems of the options.
    #[cfg(feature = "schemas")]
    fn refuse_options(&self, id: &str, options: &JsonObject) -> Result<(), Failure> {
        let problems = self.check_options(id, options)?;
        if problems.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.pointer, p.message)).collect();
        let text = format!("options of `{id}`: {}", lines.join("; "));
        let failure = Failure::new(FailureClass::Request, "plugin.options", text);
        let near: Vec<_> = problems.iter().filter_map(|p| p.suggestion.as_deref()).collect();
        Err(if near.is_empty() {
            failure
        } else {
            failure.help(format!("did you mean {}?", near.join(", ")))
        })
    }

    /// The raw instance, for the worker, which serves `work` alone.
    pub(crate) fn create_core(&self, id: &str, request: &CreateRequest) -> Result<Core, Failure> {
        let loaded = self.load(self.slot(id)?)?;
        let code = self.make(loaded, request)?;
        Ok(Core::new(Arc::clone(&loaded.info), code, &self.settings, Arc::clone(&self.threads), None))
    }

    /// Gate `plugin.create`.
    fn make(&self, loaded: &Loaded, request: &CreateRequest) -> Result<Code, Failure> {
        match &loaded.maker {
            Maker::Module(module) => {
                gates::create(*module, &loaded.info, request, &self.settings.limits, &self.threads)
                    .map(Code::Linked)
            }
            Maker::Program(program) => {
                ProgramInstance::new(program, loaded.info.kind, request).map(Code::Program)
            }
        }
    }

    /// Sentences about the folders and libraries of the search path that other users of the machine can change. Whoever can
    /// write there can run code as this user.
    pub fn exposed(&self) -> &[String] {
        &self.exposed
    }

    /// The id of the only plugin, for a registry of one file.
    pub(crate) fn only_id(&self) -> Result<String, Failure> {
        match (self.slots.keys().next(), self.strays.first().map(|stray| &stray.info)) {
            (Some(id), _) => Ok(id.clone()),
            (None, Some(Err(failure))) => Err(failure.clone()),
            (None, _) => Err(Failure::new(FailureClass::Plugin, "plugin.file", "there is no library")),
        }
    }

    /// The failures of files that were to hold a plugin and name none.
    pub fn strays(&self) -> &[RegistryEntry] {
        &self.strays
    }
}

/// Writes a temporary file, then renames it, so that readers never see half a file.
fn write_description(file: &Path, info: &PluginInfo) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let half = file.with_extension(std::process::id().to_string());
    std::fs::write(&half, encode(info).map_err(std::io::Error::other)?)?;
    std::fs::rename(&half, file)
}

fn duplicate_failure(id: &str, first: &Path, second: &Path) -> Failure {
    let text = format!("there are two of the plugin `{id}`: {} and {}", first.display(), second.display());
    Failure::new(FailureClass::Request, "plugin.duplicate", text).help("take one of them off the search path")
}

/// Source of a plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// Linked into the binary.
    Bundled,
    /// A library on the search path.
    Library {
        /// The file.
        path: PathBuf,
        /// SHA-256 of the file, lower-case hexadecimal.
        sha256: String,
    },
    /// A folder with a program and its `plugin.toml`.
    Program {
        /// The folder.
        path: PathBuf,
        /// SHA-256 over the folder's files, lower-case hexadecimal.
        sha256: String,
    },
    /// A [`LentPlugin`].
    Lent {
        /// The file of its code.
        origin: PathBuf,
        /// SHA-256 of its code, lower-case hexadecimal.
        sha256: String,
    },
}

impl PluginSource {
    /// The file or folder with its SHA-256; `None` for a bundled plugin.
    pub fn file(&self) -> Option<(&Path, &str)> {
        match self {
            Self::Bundled => None,
            Self::Library { path, sha256 }
            | Self::Program { path, sha256 }
            | Self::Lent { origin: path, sha256 } => Some((path, sha256)),
        }
    }
}

/// The code of a plugin as it was found; none of it has run.
#[derive(Clone)]
pub(crate) enum Found {
    Bundled(&'static BundledPlugin),
    /// With the crate's name.
    Library(PathBuf, String),
    Program(Arc<Program>),
}

/// A plugin that was found: its id, its source, and the result of the checks that do not run it.
pub(crate) type FoundPlugin = (String, PluginSource, Result<Found, Failure>);

/// A file or folder that names no plugin.
pub(crate) struct Stray {
    /// SHA-256 of the file; empty if it could not be read.
    pub(crate) sha256: String,
    pub(crate) failure: Failure,
}

impl Stray {
    fn new(sha256: String, failure: Failure) -> Box<Self> {
        Box::new(Self { sha256, failure })
    }
}

/// The plugin in a library's file.
pub(crate) fn library(path: &Path) -> Result<FoundPlugin, Box<Stray>> {
    let bytes = std::fs::read(path).map_err(|e| Stray::new(String::new(), file_failure(path, &e)))?;
    let sha256 = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
    let file = gates::read_symbols(path, &bytes).map_err(|failure| Stray::new(sha256.clone(), failure))?;
    let epoch = gates::check_epoch(&path.display().to_string(), file.epoch);
    let id = id_of_crate(&file.crate_name);
    let source = PluginSource::Library { path: path.to_owned(), sha256 };
    Ok((id, source, epoch.map(|()| Found::Library(path.to_owned(), file.crate_name))))
}

/// The plugins of a folder, by name: itself if it has a manifest, else its shared libraries and the folders in it
/// that have a manifest.
pub(crate) fn plugins_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if folder.join(MANIFEST).is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let mut plugins = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_library =
            path.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION) && path.is_file();
        if is_library || path.join(MANIFEST).is_file() {
            plugins.push(path);
        }
    }
    plugins.sort();
    Ok(plugins)
}

/// The program in a folder.
pub(crate) fn program(folder: &Path, limits: &CallLimits) -> Result<FoundPlugin, Box<Stray>> {
    let file = folder.join(MANIFEST);
    let wrong =
        |why: String| Stray::new(String::new(), Failure::new(FailureClass::Plugin, "plugin.file", why));
    let text =
        std::fs::read_to_string(&file).map_err(|e| Stray::new(String::new(), file_failure(&file, &e)))?;
    let manifest = Manifest::read(&text).map_err(|why| wrong(format!("{}: {why}", file.display())))?;
    let sha256 = folder_hash(folder).map_err(wrong)?;
    let id = manifest.id.clone();
    let epoch = gates::check_epoch(&file.display().to_string(), manifest.contract);
    let program = Program::of_folder(folder, manifest, limits.clone());
    let source = PluginSource::Program { path: folder.to_owned(), sha256 };
    Ok((id, source, epoch.map(|()| Found::Program(program))))
}

pub(crate) fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::Plugin, "plugin.file", format!("{}: {error}", path.display()))
}
