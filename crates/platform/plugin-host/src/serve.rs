//! The main loop of a worker process.

use crate::call::RegistrySettings;
use crate::registry::Registry;
use crate::worker::{DESCRIBE, WorkerSource, read_frame, write_frame};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use planforge_contract::api::NoHost;
use planforge_contract::{CreateRequest, Failure, FailureClass, Outcome, decode, encode};
use planforge_plugin_abi::BundledPlugin;
use std::io::{Read, Write};

/// Most bytes of one input.
const INPUT_BYTES: u32 = 256 << 20;

/// The whole of `planforge worker`: sets the limits of this process, loads one plugin, answers until the input ends.
///
/// # Errors
/// The limits cannot be set, the plugin does not pass its gates, or the streams break. The caller prints it to standard
/// error, from where the host takes it.
pub fn worker_main(
    source: &WorkerSource,
    memory_bytes: u64,
    bundled: &[&'static BundledPlugin],
    mut input: impl Read,
    mut output: impl Write,
) -> Result<(), Failure> {
    let system =
        |e: &dyn std::fmt::Display| Failure::new(FailureClass::System, "host.worker-died", e.to_string());
    // Before anything is read: what comes in may be what breaks the limits.
    // A limit that this process is under already stays where it is lower: raising it is not permitted.
    let (_, inherited) = getrlimit(Resource::RLIMIT_AS).map_err(|e| system(&e))?;
    let memory_bytes = memory_bytes.min(inherited);
    setrlimit(Resource::RLIMIT_AS, memory_bytes, memory_bytes).map_err(|e| system(&e))?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(|e| system(&e))?;
    let loaded = load(source, bundled);
    let Some(first) = read_frame(&mut input, INPUT_BYTES).map_err(|e| system(&e))? else { return Ok(()) };
    let text = String::from_utf8(first).map_err(|e| system(&e))?;
    let mut answer = |answer: Outcome<String>| {
        let body = serde_json::to_vec(&answer).map_err(|e| system(&e))?;
        write_frame(&mut output, &body).map_err(|e| system(&e))
    };
    if text == DESCRIBE {
        let info = loaded.and_then(|(registry, id)| registry.info(&id));
        return answer(info.and_then(|i| encode(i.as_ref()).map_err(|e| system(&e))).into());
    }
    let (registry, id) = loaded?;
    let create: CreateRequest = decode(&text).map_err(|e| system(&e))?;
    let core = registry.create_core(&id, &create)?;
    while let Some(body) = read_frame(&mut input, INPUT_BYTES).map_err(|e| system(&e))? {
        let text: String = serde_json::from_slice(&body).map_err(|e| system(&e))?;
        // A worker has no host services: its input is complete.
        answer(core.call(&NoHost, "work", vec![text], None).into())?;
    }
    Ok(())
}

fn load(source: &WorkerSource, bundled: &[&'static BundledPlugin]) -> Result<(Registry, String), Failure> {
    match source {
        WorkerSource::Bundled(id) => {
            Ok((Registry::new(bundled, &[], RegistrySettings::of_child()), id.clone()))
        }
        WorkerSource::Library(path) => {
            let registry = Registry::new(&[], std::slice::from_ref(path), RegistrySettings::of_child());
            let id = registry.only_id()?;
            Ok((registry, id))
        }
    }
}
