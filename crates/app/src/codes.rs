//! Diagnostic codes and their explanations.

use crate::error::Error;
use planforge_diagnostics::{CodeInfo, code_table};

/// All codes, by name.
pub fn all() -> Vec<&'static CodeInfo> {
    let mut infos: Vec<_> = tables().into_iter().flatten().collect();
    infos.sort_by_key(|info| info.code);
    infos
}

/// The explanation of a code.
///
/// # Errors
/// `cli.usage`: there is no such code; the help names the nearest.
pub fn explain(code: &str) -> Result<&'static CodeInfo, Error> {
    let tables = tables();
    if let Some(info) = planforge_diagnostics::find_code(&tables, code) {
        return Ok(info);
    }
    let known = tables.iter().flat_map(|t| t.iter()).map(|i| i.code);
    let nearest =
        known.max_by(|a, b| strsim::jaro_winkler(a, code).total_cmp(&strsim::jaro_winkler(b, code)));
    let message = format!("there is no code `{}`", planforge_diagnostics::render::escape(code));
    let help = nearest.map(|nearest| format!("the nearest is `{nearest}`; `planforge explain` lists all"));
    Err(Error::usage(message, help.as_deref()))
}

/// The code whose name differs from a word by a slip, if there is one.
pub fn nearest(word: &str) -> Option<&'static str> {
    planforge_pddl::nearest(word, tables().into_iter().flatten().map(|info| info.code))
}

/// The tables of all crates.
pub(crate) fn tables() -> Vec<&'static [CodeInfo]> {
    vec![
        planforge_pddl::CODES,
        planforge_asp::CODES,
        planforge_planning::CODES,
        planforge_plugin_host::CODES,
        planforge_plugin_tools::CODES,
        planforge_plugin_sdk::reply::CODES,
        planforge_record::CODES,
        planforge_llm::CODES,
        planforge_pipeline::CODES,
        planforge_model_api::batch::CODES,
        planforge_model_api::batch_services::CODES,
        planforge_suites::CODES,
        planforge_evaluate::CODES,
        planforge_report::CODES,
        planforge_provider_noisy_oracle::CODES,
        planforge_model_api::http::CODES,
        planforge_translator_asp::CODES,
        planforge_translator_actions::CODES,
        planforge_translator_describe::CODES,
        planforge_plugin_common::translating::CODES,
        planforge_translator_direct::reading::CODES,
        planforge_translator_edit::CODES,
        planforge_verifier_equivalence::classes::CODES,
        planforge_verifier_equivalence::clusters::CODES,
        planforge_verifier_critique::CODES,
        planforge_verifier_critique::points::CODES,
        planforge_verifier_equivalence::CODES,
        planforge_verifier_ew::CODES,
        planforge_verifier_val::CODES,
        planforge_planners::classical::CODES,
        planforge_planners::external::CODES,
        planforge_planners::llm::CODES,
        planforge_environment_pddl::CODES,
        planforge_environment_process::CODES,
        CODES,
    ]
}

const CODES: &[CodeInfo] = code_table!("codes.md");

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_code_is_explained_once() {
        let mut seen = BTreeSet::new();
        for info in tables().into_iter().flatten() {
            assert!(seen.insert(info.code), "{} has two explanations", info.code);
        }
    }
}
