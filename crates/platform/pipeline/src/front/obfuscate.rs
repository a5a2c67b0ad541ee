//! Reads `[obfuscate]`.

use super::catalogue::Catalogue;
use super::reader::{TableReader, error_at};
use crate::config::{EnvironmentTable, ObfuscateTable};
use planforge_diagnostics::Diagnostic;
use planforge_obfuscate::{NameGroup, NameStyle};

pub(super) fn table(
    reader: &mut TableReader<'_>,
    environment: Option<&EnvironmentTable>,
    catalogue: &dyn Catalogue,
    out: &mut Vec<Diagnostic>,
) -> Option<ObfuscateTable> {
    let (table, node) = reader.table("obfuscate", out)?;
    let mut inner = TableReader::new(table, node.place, "[obfuscate]");
    let had_names = inner.node("names").is_some();
    let names = inner.word("names", &NameStyle::ALL.map(|names| (names.name(), names)), out);
    if !had_names {
        inner.missing("names", "\"random\", \"misleading\" or \"original\"", out);
    }
    let listed = inner.node("what").is_some();
    let what = inner.words("what", &NameGroup::ALL.map(|kind| (kind.name(), kind)), out);
    let read = ObfuscateTable {
        names: names.unwrap_or(NameStyle::Original),
        what: if listed { what } else { NameGroup::ALL.to_vec() },
        texts: inner.boolean("texts", out).unwrap_or(true),
        reorder: inner.boolean("reorder", out).unwrap_or(true),
        seed: inner.integer("seed", 0..=i64::MAX, out),
    };
    inner.finish("pipeline.unknown-key", out);
    let info = environment.and_then(|environment| catalogue.info(&environment.plugin).ok());
    if let Some(info) = info.filter(|info| !info.capabilities.reference_model) {
        let message = format!("`{}` knows names of its own, which [obfuscate] cannot exchange", info.id);
        out.push(
            error_at("pipeline.obfuscate", message, node.place)
                .help("take [obfuscate] out, or use an environment that simulates the reference, such as environment-pddl"),
        );
    }
    Some(read)
}
