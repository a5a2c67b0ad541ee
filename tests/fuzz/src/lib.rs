//! Bodies of the fuzz targets. They must not panic, whatever the bytes, and assert the invariants that the
//! crates promise for every text.
//!
//! The targets in `fuzz_targets/` call these under cargo-fuzz; `crates/dev/testkit/tests/fuzz_corpus.rs`
//! compiles this file too and replays the corpus with them.

mod asp_reader;
mod contract_json;
mod pipeline_toml;
mod plan_file;
mod read_pddl;

pub use asp_reader::asp_reader;
pub use contract_json::contract_json;
pub use pipeline_toml::pipeline_toml;
pub use plan_file::plan_file;
pub use read_pddl::read_pddl;

use planforge_contract::ReportedDiagnostic;
use planforge_diagnostics::{Diagnostic, SourceMap, json, render};

/// Every diagnostic points into its source, at whole characters, and can be shown in each form.
fn show(diagnostics: &[Diagnostic], sources: &SourceMap) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty(), "{} says nothing", diagnostic.code);
        for label in &diagnostic.labels {
            let file = sources.get(label.source).expect("a label's source is known");
            let range = label.span.range();
            assert!(file.text.get(range.clone()).is_some(), "{}: {range:?} is no slice", diagnostic.code);
        }
        let _ = ReportedDiagnostic::of(diagnostic, sources);
        let _ = json::locate(diagnostic, sources);
    }
    let _ = render::all(diagnostics, sources, true);
}
