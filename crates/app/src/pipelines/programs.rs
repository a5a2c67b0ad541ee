//! The programs and libraries that a pipeline starts, with the hashes of their files.

use crate::pipelines::option_effects::may_reach_program;
use crate::pipelines::place::PluginPlace;
use planforge_child::{CommandSpec, Environment};
use planforge_contract::{JsonObject, PluginInfo, StartedCommand};
use planforge_diagnostics::render::escape;
use planforge_pipeline::Pipeline;
use planforge_plugin_host::{PluginSource, Registry};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A program or library that a pipeline starts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct StartedProgram {
    kind: StartKind,
    /// The plugin's id.
    plugin: String,
    place: PluginPlace,
    /// The command as a person would write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Further options that the pipeline gives and that may reach the program; none if the pipeline does not name the command.
    #[serde(skip_serializing_if = "JsonObject::is_empty")]
    settings: JsonObject,
    /// The program's file and the files among its arguments; the file or folder of a plugin.
    files: Vec<HashedFile>,
    /// The hash that an entry of the user's list of commands has; absent if the pipeline does not name the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) consent: Option<String>,
    /// The option by which the pipeline names the command, and its value; absent if it does not.
    #[serde(skip)]
    named_by: Option<(String, Value)>,
    /// True if a replay takes the program's answers from the record.
    #[serde(skip)]
    pub(crate) is_recorded: bool,
}

/// The way in which code gets into a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum StartKind {
    /// A plugin's library from the plugin path.
    Library,
    /// A plugin's program from the plugin path.
    Program,
    /// A program that a bundled or loaded plugin starts.
    Command,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct HashedFile {
    path: PathBuf,
    /// SHA-256, lower-case hexadecimal.
    sha256: String,
}

impl StartedProgram {
    /// The command in a message: escaped, with the settings that the pipeline gives.
    pub(crate) fn command_text(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!("; {name} = {value}"));
        escape(&format!("{}{}", self.command.as_deref().unwrap_or_default(), settings.collect::<String>()))
    }

    /// The place and the plugin in a message.
    pub(crate) fn place_text(&self) -> String {
        format!("{} ({})", self.place, escape(&self.plugin))
    }

    /// File, line and table that name the program, and the plugin, for the pipeline in the file of that name and text.
    pub(crate) fn full_place(&self, file: (&str, &str)) -> String {
        let (option, value) = self.named_by.as_ref().map(|(option, value)| (option.as_str(), value)).unzip();
        let place = self.place.of_option(file, option.unwrap_or_default(), value);
        format!("{place} ({})", escape(&self.plugin))
    }

    /// One line for the person.
    pub(crate) fn line(&self) -> String {
        let what = match self.kind {
            StartKind::Library => "loads the library ".to_owned(),
            StartKind::Program => "starts the plugin in ".to_owned(),
            StartKind::Command => format!("starts `{}`: ", self.command_text()),
        };
        let files = self
            .files
            .iter()
            .map(|file| format!("{} (sha256 {})", escape(&file.path.display().to_string()), file.sha256));
        let files = files.collect::<Vec<_>>().join(", ");
        let files = if files.is_empty() { "its program is not on this machine".to_owned() } else { files };
        format!("{} {what}{files}", self.place_text())
    }
}

/// The programs and libraries that a pipeline starts, each once, in the order of the file. Plugins whose description cannot be
/// read start nothing. `folder` is that of the pipeline file.
pub(crate) fn started_programs(
    pipeline: &Pipeline,
    registry: &Registry,
    folder: &Path,
) -> Vec<StartedProgram> {
    let models = pipeline.llm.iter();
    let models = models.map(|(name, table)| {
        (PluginPlace::Model(name.clone()), table.plugin.as_str(), table.provider_options())
    });
    let environment = pipeline.environment.iter();
    let environment = environment.map(|t| (PluginPlace::Environment, t.plugin.as_str(), t.options.clone()));
    let stages = pipeline.all_stages().filter_map(|stage| {
        let (id, options) = stage.plugin()?;
        Some((PluginPlace::Stage(stage.label().to_owned()), id, options.clone()))
    });
    let mut found: Vec<StartedProgram> = Vec::new();
    for (place, id, options) in models.chain(environment).chain(stages) {
        let (Ok(info), Ok(source)) = (registry.info_apart(id), registry.source(id)) else { continue };
        let is_lent = matches!(source, PluginSource::Lent { .. });
        let plugin = source.file().filter(|_| !is_lent).map(|file| plugin_code(&place, id, source, file));
        let commands = info.started_commands(&options);
        let commands = commands.iter().map(|command| of_command(&place, &info, &options, command, folder));
        for program in plugin.into_iter().chain(commands) {
            let is_same =
                |known: &StartedProgram| StartedProgram { place: place.clone(), ..known.clone() } == program;
            if !found.iter().any(is_same) {
                found.push(program);
            }
        }
    }
    found
}

fn plugin_code(
    place: &PluginPlace,
    id: &str,
    source: &PluginSource,
    (path, sha256): (&Path, &str),
) -> StartedProgram {
    let kind = match source {
        PluginSource::Program { .. } => StartKind::Program,
        PluginSource::Library { .. } | PluginSource::Bundled | PluginSource::Lent { .. } => {
            StartKind::Library
        }
    };
    StartedProgram {
        kind,
        plugin: id.to_owned(),
        place: place.clone(),
        command: None,
        settings: JsonObject::new(),
        files: vec![HashedFile { path: path.to_owned(), sha256: sha256.to_owned() }],
        consent: None,
        named_by: None,
        is_recorded: false,
    }
}

fn of_command(
    place: &PluginPlace,
    info: &PluginInfo,
    options: &JsonObject,
    command: &StartedCommand<'_>,
    folder: &Path,
) -> StartedProgram {
    let declared = command.declared;
    let mut words = command.words.iter();
    let mut spec = CommandSpec::new(words.next().cloned().unwrap_or_default()).arguments(words);
    // A folder counts from the pipeline file, as for the plugin itself.
    if let Some(option) = &declared.folder {
        let below = options.get(option).and_then(Value::as_str).unwrap_or_default();
        let path = folder.join(below);
        let path = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
        spec = spec.folder(std::path::absolute(&path).unwrap_or(path));
    }
    let variables = declared.variables.as_ref().and_then(|option| options.get(option)?.as_object());
    if let (Environment::Only { set, .. }, Some(variables)) = (&mut spec.environment, variables) {
        let texts =
            variables.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
        set.extend(texts);
    }
    // The words of a command that the pipeline names may have the value of another option in them.
    let mut settings = command.named.clone();
    if !command.named.is_empty() {
        let reaching = options.iter().filter(|(name, _)| may_reach_program(info, name));
        settings.extend(reaching.map(|(name, value)| (name.clone(), value.clone())));
    }
    settings.remove(&declared.option);
    let further = settings.values().flat_map(|value| match value {
        Value::Array(words) => words.as_slice(),
        value => std::slice::from_ref(value),
    });
    let arguments = command.words.iter().skip(1).map(String::as_str).chain(further.filter_map(Value::as_str));
    let program = spec.file().ok();
    let named_files = arguments.filter_map(|word| {
        let path = Path::new(word);
        let path = match &spec.folder {
            Some(folder) => folder.join(path),
            None => Some(path).filter(|path| path.is_absolute())?.to_owned(),
        };
        path.is_file().then_some(path)
    });
    let files: Vec<HashedFile> = program.into_iter().chain(named_files).map(hashed).collect();
    let mut named = command.named.iter();
    let named_by = named.find(|(name, _)| **name == declared.option).or_else(|| command.named.iter().next());
    let named_by = named_by.map(|(name, value)| (name.clone(), value.clone()));
    let consent = (!command.named.is_empty()).then(|| {
        let identity = json!({
            "plugin": info.id,
            "option": declared.option,
            "words": command.words,
            "settings": settings,
            "folder": spec.folder,
            "files": files,
        });
        hex(&Sha256::digest(identity.to_string().as_bytes()))
    });
    StartedProgram {
        kind: StartKind::Command,
        plugin: info.id.clone(),
        place: place.clone(),
        command: Some(spec.text()),
        settings,
        files,
        consent,
        named_by,
        is_recorded: info.is_external(options),
    }
}

fn hashed(path: PathBuf) -> HashedFile {
    let sha256 = hash_of(&path).unwrap_or_else(|error| format!("unreadable: {error}"));
    HashedFile { path, sha256 }
}

fn hash_of(path: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(path)?;
    let (mut hash, mut block) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(&hash.finalize())),
            n => hash.update(&block[..n]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_plugin_host::RegistrySettings;

    /// The programs of a pipeline with that environment, whose file is in the folder.
    fn programs(folder: &Path, options: Value) -> Vec<StartedProgram> {
        let registry = Registry::new(crate::bundled::BUNDLED, &[], RegistrySettings::default());
        let stage = json!({"do": "plan", "label": "plan", "use": "planner-classical"});
        let environment = json!({"use": "environment-process", "options": options});
        let text = json!({"schema": 1, "environment": environment, "stage": [stage]});
        started_programs(&serde_json::from_value(text).unwrap(), &registry, folder)
    }

    #[test]
    fn the_consent_holds_for_the_words_the_files_and_the_settings() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("light.sh");
        let hash = |options: Value| programs(folder.path(), options)[0].consent.clone().unwrap();
        std::fs::write(&script, "echo 1").unwrap();
        let options = json!({"command": ["/bin/sh", "light.sh"]});
        let first = programs(folder.path(), options.clone()).remove(0);
        assert_eq!(first.command_text(), "/bin/sh light.sh");
        assert_eq!(first.place_text(), "[environment] (environment-process)");
        assert_eq!(
            first.files.iter().map(|f| f.path.as_path()).collect::<Vec<_>>(),
            [Path::new("/bin/sh"), &script]
        );
        assert!(first.files.iter().all(|file| file.sha256.len() == 64) && first.is_recorded);
        let allowed = first.consent.unwrap();
        assert_eq!(hash(options.clone()), allowed);
        let other_words = hash(json!({"command": ["/bin/sh", "light.sh", "x"]}));
        let variables = hash(json!({"command": ["/bin/sh", "light.sh"], "set": {"LD_PRELOAD": "./x.so"}}));
        let inherited = hash(json!({"command": ["/bin/sh", "light.sh"], "inherit": ["KEY"]}));
        std::fs::write(&script, "echo 2").unwrap();
        let other_file = hash(options.clone());
        let elsewhere = tempfile::tempdir().unwrap();
        std::fs::write(elsewhere.path().join("light.sh"), "echo 1").unwrap();
        let other_folder = programs(elsewhere.path(), options.clone())[0].consent.clone().unwrap();
        for other in [other_words, variables, inherited, other_file, other_folder] {
            assert_ne!(other, allowed);
        }
        std::fs::write(&script, "echo 1").unwrap();
        assert_eq!(hash(options), allowed);
    }

    #[test]
    fn a_program_that_is_not_there_is_listed_and_control_characters_are_escaped() {
        let program = programs(Path::new(""), json!({"command": ["/nowhere/x", "a\u{1b}[2Jb"]})).remove(0);
        assert!(program.line().ends_with("its program is not on this machine"), "{}", program.line());
        assert!(!program.line().contains('\u{1b}'), "{}", program.line());
        let named = PluginPlace::Model("x]\n\u{1b}[2J".to_owned());
        let line = StartedProgram { place: named, ..program }.line();
        assert!(!line.contains(['\n', '\u{1b}']), "{line}");
    }
}
