//! The load gates, in order: file, symbol, epoch, layout, describe. (Options and create follow with an instance.) A library that other users of the
//! machine can change is refused.

use crate::limits::CallLimits;
use crate::threads::Threads;
use nix::unistd::{getegid, geteuid};
use planforge_contract::{CreateRequest, Failure, FailureClass, PluginInfo, decode, encode};
use planforge_plugin_abi::raw::RawPluginBox;
use planforge_plugin_abi::raw::std_types::RResult;
use planforge_plugin_abi::{
    BundledPlugin, EPOCH, FileError, LoadError, Module, PluginFile, id_of_crate, open_bundled, open_library,
    read_file,
};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

fn gate_failure(code: &str, message: String) -> Failure {
    Failure::new(FailureClass::Plugin, code, message)
}

/// Gates `plugin.file` and `plugin.symbol`, by reading alone.
pub(crate) fn read_symbols(path: &Path, bytes: &[u8]) -> Result<PluginFile, Failure> {
    read_file(path, bytes).map_err(|e| match e {
        FileError::Unreadable(text) => gate_failure("plugin.file", text),
        FileError::Symbols(text) => gate_failure("plugin.symbol", format!("{}: {text}", path.display()))
            .help("a plugin library exports itself once, with the SDK's `export_plugin!`"),
    })
}

/// Gate `plugin.epoch`.
pub(crate) fn check_epoch(place: &str, found: u32) -> Result<(), Failure> {
    if found == EPOCH {
        return Ok(());
    }
    let text =
        format!("{place}: the plugin is built for ABI epoch {found}; this planforge loads epoch {EPOCH}");
    Err(gate_failure("plugin.epoch", text).help("rebuild the plugin against the SDK of this planforge"))
}

/// Gate `plugin.layout` of a library; `plugin.file` where the dynamic linker refuses it.
pub(crate) fn open_plugin_library(path: &Path, crate_name: &str) -> Result<Module, Failure> {
    open_library(path, crate_name).map_err(|e| load_failure(&path.display().to_string(), e))
}

/// Gates `plugin.epoch` and `plugin.layout` of a bundled plugin.
pub(crate) fn open_bundled_plugin(plugin: &BundledPlugin) -> Result<Module, Failure> {
    let place = format!("bundled `{}`", plugin.id());
    check_epoch(&place, *plugin.epoch)?;
    open_bundled(plugin).map_err(|e| load_failure(&place, e))
}

fn load_failure(place: &str, error: LoadError) -> Failure {
    match error {
        LoadError::File(text) => {
            gate_failure("plugin.file", format!("{place}: the dynamic linker refused it: {text}"))
        }
        LoadError::Symbol(text) => gate_failure("plugin.symbol", format!("{place}: {text}")),
        LoadError::Layout(text) => {
            gate_failure("plugin.layout", format!("{place}: not the layout that was expected: {text}"))
                .help("rebuild the plugin against this planforge's SDK, with the same abi_stable")
        }
    }
}

/// Gate `plugin.describe`: the plugin's description must be readable and agree with its symbols.
pub(crate) fn describe(
    module: Module,
    crate_name: &str,
    limits: &CallLimits,
    threads: &Arc<Threads>,
) -> Result<PluginInfo, Failure> {
    let id = id_of_crate(crate_name);
    let wrong = |text: String| gate_failure("plugin.describe", format!("`{id}`: {text}"));
    let reply = run_in_time(threads, limits, &id, "describe", move || module.describe()())?;
    let text = match reply {
        RResult::ROk(text) => text,
        RResult::RErr(text) => {
            let why = decode::<Failure>(&text).map_or_else(|e| e.to_string(), |f| f.to_string());
            return Err(wrong(format!("describe() failed: {why}")));
        }
    };
    if text.len() > limits.reply_bytes {
        return Err(wrong(format!(
            "describe() answered {} bytes; the host takes {}",
            text.len(),
            limits.reply_bytes
        )));
    }
    let info: PluginInfo = decode(&text).map_err(|e| wrong(format!("describe() answered {e}")))?;
    if info.id != id {
        return Err(wrong(format!("the plugin calls itself `{}`, its symbol calls it `{id}`", info.id)));
    }
    if info.contract != EPOCH {
        return Err(wrong(format!("the plugin speaks contract {}, this planforge {EPOCH}", info.contract)));
    }
    Ok(info)
}

/// Gate `plugin.describe`: the schema of the options must be one.
#[cfg(feature = "schemas")]
pub(crate) fn schema_failure(id: &str, error: &str) -> Failure {
    gate_failure("plugin.describe", format!("`{id}`: its options schema is not a JSON schema: {error}"))
}

/// Gate `plugin.create`.
pub(crate) fn create(
    module: Module,
    info: &PluginInfo,
    request: &CreateRequest,
    limits: &CallLimits,
    threads: &Arc<Threads>,
) -> Result<RawPluginBox, Failure> {
    let text = encode(request).map_err(|e| gate_failure("plugin.create", e))?;
    let made =
        run_in_time(threads, limits, &info.id, "create", move || module.create()(text.as_str().into()))?;
    match made {
        RResult::ROk(plugin) => Ok(plugin),
        RResult::RErr(text) => Err(match decode::<Failure>(&text) {
            Ok(failure) if failure.code == "plugin.panic" => {
                gate_failure("plugin.create", format!("`{}` could not be made: {failure}", info.id))
            }
            // A refusal of the options keeps the plugin's class and code.
            Ok(mut failure) => {
                failure.message = format!("`{}` could not be made: {}", info.id, failure.message);
                failure
            }
            Err(e) => {
                gate_failure("plugin.create", format!("`{}` failed without a readable failure: {e}", info.id))
            }
        }),
    }
}

/// Runs a plugin's function on a thread that can be given up.
fn run_in_time<T: Send + 'static>(
    threads: &Arc<Threads>,
    limits: &CallLimits,
    id: &str,
    what: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let time = Duration::from_millis(limits.create_ms);
    let (send, receive) = mpsc::channel();
    threads.run(Box::new(move || drop(send.send(f()))), Instant::now().checked_add(time))?;
    receive.recv_timeout(time).map_err(|_| {
        let text = format!("`{id}` did not finish {what}() within {} ms", limits.create_ms);
        Failure::new(FailureClass::Limit, "plugin.deadline", text)
    })
}

/// Returns why users other than this one and root can replace a file or the files of a folder; none if they cannot or if
/// the path cannot be read.
pub(crate) fn writable_by_others(path: &Path) -> Option<String> {
    let file = std::fs::metadata(path).ok()?;
    let (mode, owner, group) = (file.mode(), file.uid(), file.gid());
    let shown = path.display();
    if mode & 0o002 != 0 {
        return Some(format!("{shown} can be written by every user"));
    }
    // Many systems give each user a group of their own, and new files are writable for it.
    if mode & 0o020 != 0 && group != getegid().as_raw() {
        return Some(format!("{shown} can be written by the group {group}"));
    }
    (owner != geteuid().as_raw() && owner != 0).then(|| format!("{shown} belongs to the user {owner}"))
}

#[cfg(test)]
mod tests {
    use super::writable_by_others;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_every_user_can_write_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(writable_by_others(folder.path()), None);
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        let reason = writable_by_others(folder.path()).unwrap();
        assert!(reason.ends_with("can be written by every user"), "{reason}");
        assert_eq!(writable_by_others(&folder.path().join("absent")), None);
    }
}
