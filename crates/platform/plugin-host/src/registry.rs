//! The known plugins, their sources, and the creation of instances.

use crate::adapters::Instance;
use crate::call::Core;
use crate::exposed::writable_by_others;
use crate::gates;
use crate::limits::CallLimits;
#[cfg(feature = "schemas")]
use crate::options::{OptionProblem, OptionsSchema};
use crate::suggestion::nearest;
use crate::threads::Threads;
use crate::worker::{WorkerSettings, WorkerSource, describe_apart};
#[cfg(feature = "schemas")]
use planforge_contract::JsonObject;
use planforge_contract::{CreateRequest, Failure, FailureClass, PluginInfo, PluginKind, decode, encode};
use planforge_plugin_abi::{BundledPlugin, EPOCH, Module, id_of_crate};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

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
}

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

/// Settings of a registry.
#[derive(Debug, Clone, Default)]
pub struct RegistrySettings {
    /// Limits of calls.
    pub limits: CallLimits,
    /// Settings of child processes; without them [`planforge_contract::api::Host::worker`] fails with
    /// `host.no-worker`.
    pub worker: Option<WorkerSettings>,
    /// Folder in which [`Registry::info_apart`] keeps descriptions of libraries, by SHA-256 of the file;
    /// without it nothing is kept.
    pub describe_cache: Option<PathBuf>,
}

struct Loaded {
    module: Module,
    info: Arc<PluginInfo>,
}

struct Slot {
    source: PluginSource,
    crate_name: String,
    /// Result of checks that do not run the plugin: its symbol, its epoch, and that its id is unique.
    found: Result<Option<&'static BundledPlugin>, Failure>,
    loaded: OnceLock<Result<Loaded, Failure>>,
    /// The compiled schema of its options.
    #[cfg(feature = "schemas")]
    schema: OnceLock<Result<OptionsSchema, String>>,
}

impl Slot {
    fn new(
        source: PluginSource,
        crate_name: String,
        found: Result<Option<&'static BundledPlugin>, Failure>,
    ) -> Self {
        Self {
            source,
            crate_name,
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
    /// Finds the plugins linked in and those on the search path: folders (shared libraries directly in them)
    /// or single files. Never fails: [`Registry::list`] and every use of an id report what is wrong with a
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
        for path in search_path {
            registry.search(path);
        }
        for plugin in bundled {
            let slot = Slot::new(PluginSource::Bundled, plugin.crate_name.to_owned(), Ok(Some(plugin)));
            registry.slots.entry(plugin.id()).or_default().push(slot);
        }
        registry
    }

    fn search(&mut self, path: &Path) {
        let files = if path.is_dir() {
            self.exposed.extend(writable_by_others(path));
            libraries(path)
        } else {
            Ok(vec![path.to_owned()])
        };
        match files {
            Ok(files) => files.iter().for_each(|file| self.add_library(file)),
            Err(e) => self.add_stray(path, String::new(), file_failure(path, &e)),
        }
    }

    fn add_stray(&mut self, path: &Path, sha256: String, failure: Failure) {
        let id = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let source = PluginSource::Library { path: path.to_owned(), sha256 };
        self.strays.push(RegistryEntry { id, source, info: Err(failure), shadowed: false });
    }

    fn add_library(&mut self, path: &Path) {
        self.exposed.extend(writable_by_others(path));
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(e) => return self.add_stray(path, String::new(), file_failure(path, &e)),
        };
        let sha256 = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect::<String>();
        let file = match gates::read_symbols(path, &bytes) {
            Ok(file) => file,
            Err(failure) => return self.add_stray(path, sha256, failure),
        };
        let slots = self.slots.entry(id_of_crate(&file.crate_name)).or_default();
        let epoch = gates::check_epoch(&path.display().to_string(), file.epoch);
        let found = match slots.first_mut() {
            Some(Slot { source: PluginSource::Library { path: first, .. }, found: known, .. })
                if first != path =>
            {
                let failure = duplicate_failure(&id_of_crate(&file.crate_name), first, path);
                *known = Err(failure.clone());
                Err(failure)
            }
            // The same file, by two entries of the search path.
            Some(_) => return,
            None => epoch.map(|()| None),
        };
        let source = PluginSource::Library { path: path.to_owned(), sha256 };
        slots.push(Slot::new(source, file.crate_name, found));
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
            let module = match (slot.found.clone()?, &slot.source) {
                (Some(plugin), _) => gates::open_bundled_plugin(plugin)?,
                (None, PluginSource::Library { path, .. }) => {
                    gates::open_plugin_library(path, &slot.crate_name)?
                }
                (None, PluginSource::Bundled) => {
                    return Err(Failure::new(
                        FailureClass::System,
                        "plugin.file",
                        "a bundled plugin without header",
                    ));
                }
            };
            let info = gates::describe(module, &slot.crate_name, &self.settings.limits, &self.threads)?;
            #[cfg(feature = "schemas")]
            slot.schema(&info)?;
            Ok(Loaded { module, info: Arc::new(info) })
        };
        slot.loaded.get_or_init(load).as_ref().map_err(Clone::clone)
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
        let PluginSource::Library { path, sha256 } = &slot.source else {
            return self.load(slot).map(|loaded| Arc::clone(&loaded.info));
        };
        slot.found.clone()?;
        if let Some(Ok(loaded)) = slot.loaded.get() {
            return Ok(Arc::clone(&loaded.info));
        }
        let cache_file =
            self.settings.describe_cache.as_ref().map(|c| c.join(format!("{sha256}-{EPOCH}.json")));
        let read = |file: &PathBuf| decode::<PluginInfo>(&std::fs::read_to_string(file).ok()?).ok();
        if let Some(info) = cache_file.as_ref().and_then(read).filter(|i| i.id == id) {
            return Ok(Arc::new(info));
        }
        let Some(worker) = &self.settings.worker else {
            let text = "this host has no executable to start for child processes";
            return Err(Failure::new(FailureClass::System, "host.no-worker", text));
        };
        let settings = WorkerSettings { time_ms: self.settings.limits.create_ms, ..worker.clone() };
        let info = describe_apart(&settings, path)?;
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
        let slot = self.slot(id)?;
        let loaded = self.load(slot)?;
        #[cfg(feature = "schemas")]
        self.refuse_options(id, &request.options)?;
        let limits = &self.settings.limits;
        let raw = gates::create(loaded.module, &loaded.info, &request, limits, &self.threads)?;
        let source = match &slot.source {
            PluginSource::Bundled => WorkerSource::Bundled(id.to_owned()),
            PluginSource::Library { path, .. } => WorkerSource::Library(path.clone()),
        };
        let worker = self.settings.worker.clone().map(|settings| (settings, source, request));
        let info = Arc::clone(&loaded.info);
        Ok(Instance::over(Core::new(info, raw, limits.clone(), Arc::clone(&self.threads), worker)))
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
        let limits = &self.settings.limits;
        let raw = gates::create(loaded.module, &loaded.info, request, limits, &self.threads)?;
        Ok(Core::new(Arc::clone(&loaded.info), raw, limits.clone(), Arc::clone(&self.threads), None))
    }

    /// Sentences about the folders and libraries of the search path that other users of the machine can change. Whoever can
    /// write there can run code as this user.
    pub fn exposed(&self) -> &[String] {
        &self.exposed
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
    let text = format!("two libraries are the plugin `{id}`: {} and {}", first.display(), second.display());
    Failure::new(FailureClass::Request, "plugin.duplicate", text).help("take one of them off the search path")
}

fn file_failure(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(FailureClass::Plugin, "plugin.file", format!("{}: {error}", path.display()))
}

/// The shared libraries of a folder, by name.
fn libraries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == std::env::consts::DLL_EXTENSION) && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
