//! The JSON schema of every document, for `planforge schema` and for plugin authors in other languages.

use serde_json::{Value, json};

/// One object: document name -> `{schema, json_schema}`.
pub fn documents() -> Value {
    let entries = crate::envelope::all()
        .into_iter()
        .map(|(name, number, schema)| (name.to_owned(), json!({"schema": number, "json_schema": schema})))
        .collect();
    Value::Object(entries)
}
