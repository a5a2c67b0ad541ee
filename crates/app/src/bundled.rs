//! The plugins that are linked into the binary: one line each here, one in Cargo.toml. A test compares this table with the
//! folders in plugins/.

use planforge_plugin_host::BundledPlugin;

/// Every bundled plugin.
pub(crate) static BUNDLED: &[&BundledPlugin] = &[
    &planforge_environment_pddl::PLANFORGE_PLUGIN,
    &planforge_environment_process::PLANFORGE_PLUGIN,
    &planforge_planners::classical::PLANFORGE_PLUGIN,
    &planforge_planners::external::PLANFORGE_PLUGIN,
    &planforge_planners::llm::PLANFORGE_PLUGIN,
    &planforge_provider_services::anthropic::PLANFORGE_PLUGIN,
    &planforge_provider_services::batch::PLANFORGE_PLUGIN,
    &planforge_provider_client::PLANFORGE_PLUGIN,
    &planforge_provider_services::gemini::PLANFORGE_PLUGIN,
    &planforge_provider_noisy_oracle::PLANFORGE_PLUGIN,
    &planforge_provider_services::openai::PLANFORGE_PLUGIN,
    &planforge_translator_asp::PLANFORGE_PLUGIN,
    &planforge_translator_actions::PLANFORGE_PLUGIN,
    &planforge_translator_describe::PLANFORGE_PLUGIN,
    &planforge_translator_direct::PLANFORGE_PLUGIN,
    &planforge_translator_edit::PLANFORGE_PLUGIN,
    &planforge_translator_direct::reading::PLANFORGE_PLUGIN,
    &planforge_translator_direct::thought::PLANFORGE_PLUGIN,
    &planforge_verifier_equivalence::classes::PLANFORGE_PLUGIN,
    &planforge_verifier_equivalence::clusters::PLANFORGE_PLUGIN,
    &planforge_verifier_critique::PLANFORGE_PLUGIN,
    &planforge_verifier_equivalence::PLANFORGE_PLUGIN,
    &planforge_verifier_ew::PLANFORGE_PLUGIN,
    &planforge_verifier_critique::points::PLANFORGE_PLUGIN,
    &planforge_verifier_val::PLANFORGE_PLUGIN,
];
