//! The check of a pipeline's model tables beyond their schema: the provider of each is created, as a run does, and nothing is
//! contacted. Keys need not be set.

use crate::pipelines::consent::shown_variable;
use crate::pipelines::place::PluginPlace;
use crate::pipelines::prepare::Preparation;
use planforge_contract::{CreateRequest, Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_llm::split_table;
use planforge_pipeline::{Pipeline, inline_files};
use planforge_plugin_host::PluginSource;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml::Spanned;

/// Stands for the value of a variable.
const PLACEHOLDER: &str = "placeholder";

/// The headers of a file's model tables.
#[derive(Default, Deserialize)]
struct Headers {
    #[serde(default)]
    llm: BTreeMap<Spanned<String>, toml::Value>,
}

/// Creates the bundled providers of a pipeline. What they refuse is an error; what this machine lacks for a run (a variable, a
/// consent) is advice, because another machine may have it.
pub(crate) fn check_models(pipeline: &Pipeline, with: &Preparation<'_>) -> Vec<Diagnostic> {
    let headers: Headers = toml::from_str(with.text).unwrap_or_default();
    let mut found = Vec::new();
    let mut advised = BTreeSet::new();
    for (name, table) in &pipeline.llm {
        // Creating a provider of a library would run its code, and checking a file does not.
        let is_bundled = matches!(with.registry.source(&table.plugin), Ok(PluginSource::Bundled));
        let (true, Ok(info)) = (is_bundled, with.registry.info(&table.plugin)) else { continue };
        let (_, options) = split_table(&table.settings);
        let mut secrets = BTreeMap::new();
        let mut advice = Vec::new();
        let inlined = inline_files(&info, &options, with.folder, pipeline.disguise().as_ref());
        let table = PluginPlace::Model(name.clone());
        let texts = (&options, inlined.as_ref().ok());
        let refused = with.consent.check_connection(&info, texts, (&table, (with.name, with.text)));
        advice.extend(refused.err().into_iter().flatten());
        for (option, variable) in info.secret_variables(&options) {
            if with.context.variable(&variable).is_none() {
                advice.push(unset(&variable));
            }
            secrets.insert(option, PLACEHOLDER.to_owned());
        }
        let place = headers.llm.keys().find(|header| header.get_ref() == name).map(Spanned::span);
        let diagnostic = |make: fn(&'static str, String) -> Diagnostic, failure: &Failure| {
            // A message about consent names the table already.
            let has_table = failure.message.contains(&format!("{table}: "));
            let start = if has_table { String::new() } else { format!("{table}: ") };
            let mut diagnostic = make("", format!("{start}{}", failure.message));
            diagnostic.code = failure.code.clone().into();
            if let Some(place) = &place {
                let end = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
                diagnostic = diagnostic.at(SourceId(0), Span::new(end(place.start), end(place.end)), "");
            }
            match &failure.help {
                Some(help) => diagnostic.help(help.clone()),
                None => diagnostic,
            }
        };
        match inlined {
            Err(failures) => found.extend(failures.iter().map(|f| diagnostic(Diagnostic::error, f))),
            Ok(options) => {
                let made = with.registry.create(&info.id, CreateRequest { options, secrets });
                found.extend(made.err().iter().map(|f| diagnostic(Diagnostic::error, f)));
            }
        }
        for failure in advice {
            if advised.insert(failure.message.clone()) {
                found.push(diagnostic(Diagnostic::advice, &failure));
            }
        }
    }
    found
}

/// A run would end with the same code.
fn unset(variable: &str) -> Failure {
    let variable = shown_variable(variable);
    let message = format!("the environment variable {variable} is not set; a run needs it");
    Failure::new(FailureClass::System, "cli.missing-secret", message)
        .help(format!("set {variable} before a run; the check itself needs no key"))
}
