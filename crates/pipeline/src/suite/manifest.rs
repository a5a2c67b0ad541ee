//! `suite.toml`: what a suite says about itself. Every key but `schema` may be left out.

use crate::front::reader::{Reader, error_at, plain};
use crate::front::tree::{Node, Place, Value, parse};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use std::collections::BTreeMap;

/// The schema number of suite manifests that this version reads.
pub const SUITE_SCHEMA: u32 = 1;

/// A suite's manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) title: String,
    pub(super) licence: String,
    /// Parts of the reference that no pipeline may be given.
    pub(super) withheld: Vec<&'static str>,
    /// Further texts for translators: name -> file in the suite's folder.
    pub(super) materials: BTreeMap<String, String>,
    /// Task stem -> title.
    pub(super) titles: BTreeMap<String, String>,
}

/// Names of what `[given]` of a manifest may withhold.
const PARTS: [&str; 5] = ["domain", "problem", "interface", "objects", "example"];

pub(super) fn read(text: &str, source: SourceId, out: &mut Vec<Diagnostic>) -> Manifest {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let place = Place { source, span: Span::empty(0) };
    let mut reader = Reader::new(&parsed.root, place, "suite.toml");
    match reader.node("schema") {
        Some(Node { value: Value::Integer(n), .. }) if *n == i64::from(SUITE_SCHEMA) => {}
        Some(node) => {
            let message =
                format!("this version reads suites of schema {SUITE_SCHEMA}, not {}", node.to_json());
            found.push(error_at("suite.manifest", message, node.place));
        }
        None => reader.missing("schema", "1", &mut found),
    }
    let mut manifest = Manifest {
        name: reader.string("name", &mut found).map(|a| a.value),
        title: reader.string("title", &mut found).map(|a| a.value).unwrap_or_default(),
        licence: reader.string("licence", &mut found).map(|a| a.value).unwrap_or_default(),
        withheld: Vec::new(),
        materials: plain(&reader.string_map("materials", &mut found)),
        titles: plain(&reader.string_map("titles", &mut found)),
    };
    if let Some((table, node)) = reader.table("given", &mut found) {
        let mut inner = Reader::new(table, node.place, "[given] of suite.toml");
        manifest.withheld =
            PARTS.into_iter().filter(|part| inner.boolean(part, &mut found) == Some(false)).collect();
        inner.finish("suite.manifest", &mut found);
    }
    reader.finish("suite.manifest", &mut found);
    // One code for the whole file: what is wrong is in the message, and there is one way to learn the keys.
    out.extend(found.into_iter().map(|mut d| {
        d.code = "suite.manifest".into();
        d
    }));
    manifest
}
