//! A pipeline that needs what the service of its provider lacks is refused before anything is sent.

use crate::common::info;
use planforge_contract::{Applies, JsonObject, OptionCondition, PluginInfo, PluginKind, RequestSetting};
use planforge_diagnostics::{Diagnostic, Severity};
use planforge_pipeline::{Catalogue, CatalogueError, OptionProblem, check};
use serde_json::json;

/// Two providers, of which `poor` lacks everything and `rich` lacks log-probabilities and `stop` where its option `old` is true.
struct Plugins;

fn plugins() -> Vec<PluginInfo> {
    let mut poor = info("provider-poor", PluginKind::Provider, &[], &[]);
    for setting in [RequestSetting::Logprobs, RequestSetting::Seed, RequestSetting::Stop] {
        poor.capabilities.lacks.insert(setting, Applies::Always);
    }
    poor.capabilities.highest_temperature = serde_json::Number::from_f64(1.0);
    let mut rich = info("provider-rich", PluginKind::Provider, &[], &[]);
    rich.options_schema = json!({"properties": {"old": {"default": false}, "base_url": {"default": "x"}}});
    let at_x = OptionCondition::new("base_url", &["x"]);
    let old = OptionCondition::new("old", &["true"]).and(at_x);
    for setting in [RequestSetting::Logprobs, RequestSetting::Stop] {
        rich.capabilities.lacks.insert(setting, Applies::Where(vec![old.clone()]));
    }
    let mut translator = info("translator-direct", PluginKind::Translator, &["writer"], &[]);
    rich.capabilities.enforces_grammars = Applies::Where(vec![OptionCondition::new("old", &["false"])]);
    let required = OptionCondition::new("grammar", &["require"]);
    translator.capabilities.requires_grammar = Applies::Where(vec![required]);
    translator.capabilities.logprobs = Applies::Where(vec![OptionCondition::new("logprobs", &["true"])]);
    vec![poor, rich, translator]
}

impl Catalogue for Plugins {
    fn ids(&self) -> Vec<String> {
        plugins().into_iter().map(|plugin| plugin.id).collect()
    }
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        plugins().into_iter().find(|plugin| plugin.id == id).ok_or(CatalogueError::Unknown)
    }
    fn check_options(&self, _: &str, _: &JsonObject) -> Vec<OptionProblem> {
        Vec::new()
    }
}

fn found(main: &str, stage: &str) -> Vec<Diagnostic> {
    let text = format!(
        "schema = 1\n[llm.main]\nmodel = \"m\"\n{main}\n[llm.backup]\nuse = \"provider-rich\"\nmodel = \"b\"\n\
         [[stage]]\ndo = \"translate\"\nlabel = \"write\"\nuse = \"translator-direct\"\n\
         roles = {{ writer = [\"backup\", \"main\"] }}\n{stage}\n"
    );
    check(&text, "test.toml", &Plugins, &[]).diagnostics
}

const POOR: &str = "use = \"provider-poor\"";

#[test]
fn a_stage_that_requests_log_probabilities_from_a_model_without_them_is_refused() {
    let [diagnostic] = &found(POOR, "options = { logprobs = true }")[..] else { panic!("one finding") };
    assert_eq!((&*diagnostic.code, diagnostic.severity), ("pipeline.no-logprobs", Severity::Error));
    for part in ["stage `write`", "[llm.main]", "`provider-poor`"] {
        assert!(diagnostic.message.contains(part), "{}", diagnostic.message);
    }
    assert!(diagnostic.help[0].contains("metric of a verifier"), "{:?}", diagnostic.help);
    for stage in ["", "options = { logprobs = false }"] {
        assert!(found(POOR, stage).is_empty(), "{stage}");
    }
    assert!(found("use = \"provider-rich\"", "options = { logprobs = true }").is_empty());
}

#[test]
fn a_stage_that_requires_a_grammar_of_a_model_that_enforces_none_is_refused() {
    let require = "options = { grammar = \"require\" }";
    let [diagnostic] = &found(POOR, require)[..] else { panic!("one finding") };
    assert_eq!((&*diagnostic.code, diagnostic.severity), ("pipeline.no-grammar", Severity::Error));
    for part in ["stage `write`", "[llm.main]", "`provider-poor`"] {
        assert!(diagnostic.message.contains(part), "{}", diagnostic.message);
    }
    assert!(diagnostic.help[0].contains("llama-cpp"), "{:?}", diagnostic.help);
    assert!(found(POOR, "options = { grammar = \"prefer\" }").is_empty());
    assert!(found("use = \"provider-rich\"", require).is_empty());
    assert_eq!(found("use = \"provider-rich\"\nold = true", require).len(), 1);
}

#[test]
fn settings_that_the_service_lacks_are_named_with_their_table() {
    let codes = |settings: &str| -> Vec<(Severity, String)> {
        let findings = found(settings, "");
        assert!(findings.iter().all(|d| d.code == "pipeline.unsupported-setting" && !d.help.is_empty()));
        findings.into_iter().map(|d| (d.severity, d.message)).collect()
    };
    for (settings, severity, word) in [
        ("stop = [\"END\"]", Severity::Error, "`stop`"),
        ("logprobs = true", Severity::Error, "log-probabilities"),
        ("seed = 7", Severity::Warning, "`seed`"),
        ("temperature = 1.5", Severity::Error, "1 at most"),
    ] {
        let [(found, message)] = &codes(&format!("{POOR}\n{settings}"))[..] else { panic!("{settings}") };
        assert_eq!(*found, severity, "{message}");
        assert!(message.contains("[llm.main]") && message.contains(word), "{message}");
    }
    assert!(codes(&format!("{POOR}\nstop = []\nlogprobs = false\ntemperature = 1")).is_empty());
}

#[test]
fn what_a_service_lacks_may_depend_on_several_options() {
    let count =
        |options: &str| found(&format!("use = \"provider-rich\"\nstop = [\"END\"]\n{options}"), "").len();
    assert_eq!(count(""), 0);
    assert_eq!(count("old = true"), 1);
    assert_eq!(count("old = true\nbase_url = \"y\""), 0);
}
