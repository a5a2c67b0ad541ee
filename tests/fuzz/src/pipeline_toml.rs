//! Pipeline files and `--set` arguments, against a few plugins that are plain data.

use super::show;
use planforge_contract::{Capabilities, Declared, JsonObject, PluginInfo, PluginKind};
use planforge_pipeline::{Catalogue, CatalogueError, OptionProblem, OptionProblemKind, check};

/// One plugin of each kind, one that did not pass its gates; every option but `mode` is unknown.
struct Few;

const FEW: [(&str, PluginKind); 5] = [
    ("provider-openai", PluginKind::Provider),
    ("translator-direct", PluginKind::Translator),
    ("verifier-ew", PluginKind::Verifier),
    ("planner-classical", PluginKind::Planner),
    ("environment-pddl", PluginKind::Environment),
];

impl Catalogue for Few {
    fn ids(&self) -> Vec<String> {
        FEW.iter().map(|(id, _)| *id).chain(["verifier-broken"]).map(str::to_owned).collect()
    }
    fn info(&self, id: &str) -> Result<PluginInfo, CatalogueError> {
        if id == "verifier-broken" {
            let message = "built for epoch 9, this is epoch 1".to_owned();
            return Err(CatalogueError::Unavailable { code: "plugin.epoch".to_owned(), message });
        }
        let (id, kind) = FEW.into_iter().find(|(known, _)| *known == id).ok_or(CatalogueError::Unknown)?;
        let declared = |name: &str, of| if kind == of { vec![Declared::new(name, "")] } else { Vec::new() };
        Ok(PluginInfo {
            id: id.to_owned(),
            kind,
            version: "0.1.0".to_owned(),
            contract: 1,
            about: String::new(),
            capabilities: Capabilities::default(),
            roles: declared("writer", PluginKind::Translator),
            metrics: declared("score", PluginKind::Verifier),
            measures: Vec::new(),
            options_schema: serde_json::json!({"type": "object"}),
            secrets: declared("api_key_env", PluginKind::Provider).into_iter().map(|d| d.name).collect(),
            files: declared("template", PluginKind::Translator).into_iter().map(|d| d.name).collect(),
            folders: vec![],
            servers: Vec::new(),
            suites: vec![],
            commands: Vec::new(),
            max_concurrency: 0,
        })
    }
    fn check_options(&self, _: &str, options: &JsonObject) -> Vec<OptionProblem> {
        let problem = |name: &String| OptionProblem {
            pointer: format!("/{}", name.replace('~', "~0").replace('/', "~1")),
            kind: OptionProblemKind::Unknown,
            message: format!("there is no option `{name}`"),
            help: None,
        };
        options.keys().filter(|name| *name != "mode").map(problem).collect()
    }
}

/// Checks a file; its lines that begin with `#--set ` are `--set` arguments too. A pipeline results exactly
/// if there is no error, and it can be recorded.
pub fn pipeline_toml(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let overrides: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("#--set ")).map(str::to_owned).collect();
    let checked = check(text, "fuzz.toml", &Few, &overrides);
    let errors = checked.diagnostics.iter().filter(|d| d.is_error()).count();
    assert_eq!(checked.pipeline.is_some(), errors == 0, "{:?}", checked.diagnostics);
    show(&checked.diagnostics, &checked.sources);
    if let Some(pipeline) = &checked.pipeline {
        let recorded = serde_json::to_value(&pipeline.config).expect("a checked pipeline is JSON");
        assert!(recorded.is_object());
    }
}
