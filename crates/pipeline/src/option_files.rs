//! Options that name a file: the host reads it and gives the plugin its text, for plugins open no files.

use planforge_contract::{Failure, FailureClass, JsonObject, PluginInfo};
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Largest file that an option may name, in bytes.
pub const MAX_OPTION_FILE_BYTES: u64 = 4 << 20;

/// The options with the text of every file in the place of its path. Paths are relative to `folder`, the pipeline file's own.
///
/// # Errors
/// `pipeline.file`, one for each file that is not there, too large, or not UTF-8.
pub fn inline_files(
    info: &PluginInfo,
    options: &JsonObject,
    folder: &Path,
) -> Result<JsonObject, Vec<Failure>> {
    let mut options = options.clone();
    let mut failures = Vec::new();
    for name in &info.files {
        let Some(Value::String(path)) = options.get(name) else { continue };
        match text(&folder.join(path)) {
            Ok(text) => drop(options.insert(name.clone(), Value::String(text))),
            Err(why) => {
                let message = format!("`{name}` of `{}`: {} {why}", info.id, folder.join(path).display());
                failures.push(Failure::new(FailureClass::System, "pipeline.file", message));
            }
        }
    }
    if failures.is_empty() { Ok(options) } else { Err(failures) }
}

fn text(path: &Path) -> Result<String, String> {
    let unreadable = |e: std::io::Error| format!("cannot be read: {e}");
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_OPTION_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_OPTION_FILE_BYTES {
        return Err(format!("is larger than {MAX_OPTION_FILE_BYTES} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::PluginKind;
    use serde_json::json;

    #[test]
    fn files_are_read_beside_the_pipeline_and_their_faults_are_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("good.pem"), "text").unwrap();
        std::fs::write(folder.path().join("binary"), [0xff, 0xfe]).unwrap();
        let info = PluginInfo {
            id: "x".into(),
            kind: PluginKind::Provider,
            version: String::new(),
            contract: 1,
            about: String::new(),
            capabilities: vec![],
            roles: vec![],
            metrics: vec![],
            options_schema: json!({}),
            secrets: vec![],
            files: vec!["a".into(), "b".into()],
            suites: vec![],
            max_concurrency: 0,
        };
        let inline = |options: Value| inline_files(&info, options.as_object().unwrap(), folder.path());
        let done = inline(json!({"a": "good.pem", "c": "good.pem"})).unwrap();
        assert_eq!(Value::from(done), json!({"a": "text", "c": "good.pem"}));
        let wrong = inline(json!({"a": "gone", "b": "binary"})).unwrap_err();
        assert_eq!(wrong.len(), 2);
        assert!(wrong.iter().all(|f| f.code == "pipeline.file"));
        assert!(wrong[0].message.contains("gone") && wrong[1].message.contains("UTF-8"));
    }
}
