use crate::{Document, DocumentVisitor, JsonObject};
use schemars::{JsonSchema, schema_for};
use serde_json::json;
use std::fmt::Debug;

/// The JSON schemas of documents, for authors of plugins in other languages: name -> `{schema, json_schema}`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentSchemas(pub JsonObject);

impl DocumentVisitor for DocumentSchemas {
    fn visit<T: Document + JsonSchema + PartialEq + Debug>(&mut self) {
        let entry = json!({"schema": T::SCHEMA, "json_schema": schema_for!(T)});
        self.0.insert(T::NAME.to_owned(), entry);
    }
}
