//! The file of a model: its header, and the memory that it needs.

use llama_cpp_2::gguf::GgufContext;
use planforge_plugin_sdk::prelude::*;
use std::path::Path;

/// The numbers of two types in GGUF.
const UINT32: u32 = 4;
const STRING: u32 = 8;

/// The sizes that a file's header states.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Bytes of the file, which are those of the weights.
    pub(crate) weights: u64,
    /// Bytes of one token in the cache, in half precision.
    pub(crate) token: u64,
}

/// `local.model`: the file is missing, broken, or not a model.
pub(crate) fn model_failure(path: &Path, reason: &str) -> Failure {
    let message = format!("cannot load the model `{}`: {reason}", path.display());
    Failure::new(FailureClass::Request, "local.model", message).help(
        "give the path of a whole GGUF file of a chat model as `model`; docs/how-to/local-model.md says where to get one",
    )
}

impl Sizes {
    /// Reads the header.
    ///
    /// # Errors
    /// `local.model`.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let file = std::fs::metadata(path).map_err(|error| model_failure(path, &error.to_string()))?;
        if !file.is_file() {
            return Err(model_failure(path, "it is not a file"));
        }
        let broken = || model_failure(path, "it is not a GGUF file, or the file is cut off");
        let header = GgufContext::from_file(path).ok_or_else(broken)?;
        let find =
            |key: &str, kind| Some(header.find_key(key)).filter(|at| *at >= 0 && header.kv_type(*at) == kind);
        let architecture =
            find("general.architecture", STRING).and_then(|at| header.val_str(at)).ok_or_else(broken)?;
        // A model whose layers differ has lists here; the width of the model is then an upper bound.
        let number = |key: &str| {
            find(&format!("{architecture}.{key}"), UINT32).map(|at| u64::from(header.val_u32(at)))
        };
        let layers = number("block_count").ok_or_else(broken)?;
        let width = number("embedding_length").ok_or_else(broken)?;
        let heads = number("attention.head_count");
        let cached = number("attention.head_count_kv").or(heads);
        let head = heads.filter(|heads| *heads > 0).map(|heads| width / heads);
        let numbers =
            |key: &str| cached.zip(number(key).or(head)).map_or(width, |(heads, length)| heads * length);
        let values = numbers("attention.key_length") + numbers("attention.value_length");
        Ok(Self { weights: file.len(), token: values.saturating_mul(2 * layers) })
    }
}

/// Bytes that programs can still get, where the system tells.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes << 10)
}

/// Says how much memory is needed, and refuses more than there is.
///
/// # Errors
/// `local.memory`.
pub(crate) fn check_memory(
    host: &dyn Host,
    path: &Path,
    (weights, cache, context): (u64, u64, u32),
    limit_mb: Option<u64>,
) -> Result<(), Failure> {
    let mb = |bytes: u64| bytes.div_ceil(1_000_000);
    let needed = mb(weights.saturating_add(cache));
    let of = format!(
        "`{}` needs {needed} MB: {} for weights and {} for a cache of {context} tokens",
        path.display(),
        mb(weights),
        mb(cache)
    );
    host.log(LogLevel::Info, &of);
    let (most, what) = match limit_mb {
        Some(limit) => (limit, "`memory_mb` allows"),
        None => (available().map_or(u64::MAX, mb), "this machine has available"),
    };
    if needed <= most {
        return Ok(());
    }
    Err(Failure::new(FailureClass::System, "local.memory", format!("{of}; {what} {most} MB"))
        .help("lower `context`, take a smaller model, or raise `memory_mb`"))
}
