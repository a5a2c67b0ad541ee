//! Two models compared: domains by their behaviour, problems up to the names of their objects, both by exploration walks.

pub mod domains;
pub mod models;
pub mod problems;
pub mod walks;

use crate::inputs::{Findings, Inputs};
use planforge_contract::ReportedDiagnostic;

/// The findings of several inputs, those of a domain that they share once.
fn findings_once<'i>(
    inputs: impl IntoIterator<Item = &'i Inputs>,
) -> (Vec<ReportedDiagnostic>, Vec<Findings>) {
    let mut reported: Vec<ReportedDiagnostic> = Vec::new();
    let mut findings = Vec::new();
    for inputs in inputs {
        let mut fresh = Vec::new();
        for diagnostic in &inputs.texts.diagnostics {
            let found = ReportedDiagnostic::of(diagnostic, &inputs.texts.sources);
            if !reported.contains(&found) {
                reported.push(found);
                fresh.push(diagnostic.clone());
            }
        }
        findings.push(Findings { diagnostics: fresh, sources: inputs.texts.sources.clone() });
    }
    (reported, findings)
}
