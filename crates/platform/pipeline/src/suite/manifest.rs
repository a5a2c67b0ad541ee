//! `suite.toml`, the manifest of a suite. Every key but `schema` is optional.

use crate::front::reader::{TableReader, error_at, plain};
use crate::front::tree::{Node, SourcePlace, Value, parse};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use std::collections::BTreeMap;

/// The schema number of suite manifests that this version reads.
pub const SUITE_SCHEMA: u32 = 1;

/// The generation of a suite's tasks: `[generate]` of the manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GenerateSpec {
    /// The seed of all of them.
    pub seed: u64,
    /// The number of the first generated task; those below are written by hand.
    pub first: u32,
    /// Number of generated tasks; 0 if all tasks are written by hand.
    pub tasks: u32,
    /// True if the in-context example is generated too.
    pub example: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) title: String,
    pub(super) licence: String,
    /// Level of the texts.
    pub(super) level: Option<u8>,
    /// Parts of the reference that no pipeline may be given.
    pub(super) withheld: Vec<&'static str>,
    /// Further texts for translators: name -> file in the suite's folder.
    pub(super) materials: BTreeMap<String, String>,
    /// Task stem -> title.
    pub(super) titles: BTreeMap<String, String>,
    /// The generation of its tasks.
    pub(super) generate: Option<GenerateSpec>,
}

/// Names of what `[given]` of a manifest may withhold.
const PARTS: [&str; 6] = ["domain", "problem", "interface", "objects", "example", "actions"];

pub(super) fn read(text: &str, source: SourceId, out: &mut Vec<Diagnostic>) -> Manifest {
    let parsed = parse(text, source);
    let mut found = parsed.errors;
    let place = SourcePlace { source, span: Span::empty(0) };
    let mut reader = TableReader::new(&parsed.root, place, "suite.toml");
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
        level: reader.integer("level", 1..=4, &mut found).and_then(|level| level.try_into().ok()),
        withheld: Vec::new(),
        materials: plain(&reader.string_map("materials", &mut found)),
        titles: plain(&reader.string_map("titles", &mut found)),
        generate: None,
    };
    if let Some((table, node)) = reader.table("given", &mut found) {
        let mut inner = TableReader::new(table, node.place, "[given] of suite.toml");
        manifest.withheld =
            PARTS.into_iter().filter(|part| inner.boolean(part, &mut found) == Some(false)).collect();
        inner.finish("suite.manifest", &mut found);
    }
    if let Some((table, node)) = reader.table("generate", &mut found) {
        let mut inner = TableReader::new(table, node.place, "[generate] of suite.toml");
        manifest.generate = Some(generate(&mut inner, &mut found));
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

/// Most tasks of one suite.
const MAX_TASKS: i64 = 9_999;

fn generate(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> GenerateSpec {
    let count =
        |value: Option<u64>, otherwise: u32| value.and_then(|v| v.try_into().ok()).unwrap_or(otherwise);
    GenerateSpec {
        seed: reader.integer("seed", 0..=i64::MAX, out).unwrap_or(1),
        first: count(reader.integer("first", 1..=MAX_TASKS, out), 1),
        tasks: count(reader.integer("tasks", 0..=MAX_TASKS, out), 5),
        example: reader.boolean("example", out).unwrap_or(true),
    }
}
