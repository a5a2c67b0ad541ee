//! Overrides of the matrix's models that do not fit pipelines, collected so that one mistake is reported
//! once.

use planforge_diagnostics::Diagnostic;
use planforge_evaluate::matrix::{Matrix, MatrixModel};
use std::collections::{BTreeMap, BTreeSet};

/// The models and pipelines of one wrong override.
#[derive(Debug, Default)]
struct Misfit {
    models: BTreeSet<String>,
    pipelines: BTreeSet<String>,
    /// The existing tables or keys.
    help: BTreeSet<String>,
}

/// By key and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Misfits(BTreeMap<(String, String), Misfit>);

impl Misfits {
    /// Notes an override that a pipeline does not take.
    pub(super) fn add(
        &mut self,
        argument: &str,
        message: &str,
        help: Option<&String>,
        model: &str,
        pipeline: &str,
    ) {
        let key = argument.split_once('=').map_or(argument, |(key, _)| key).trim();
        let misfit = self.0.entry((key.to_owned(), message.to_owned())).or_default();
        misfit.models.insert(format!("`{model}`"));
        misfit.pipelines.insert(format!("`{pipeline}`"));
        misfit.help.extend(help.cloned());
    }

    /// Collects overrides that would create a model table or environment which the pipeline file does not
    /// have, as nothing would use it. Returns the wrong overrides.
    pub(super) fn of_tables(
        &mut self,
        matrix: &Matrix,
        model: &MatrixModel,
        pipeline: &str,
        text: &str,
    ) -> Vec<String> {
        // An unreadable file is reported when it is checked.
        let Ok(file) = toml::from_str::<toml::Table>(text) else { return Vec::new() };
        let set = |path: &[&str]| {
            matrix.set.iter().any(|argument| {
                let key = argument.split_once('=').map_or("", |(key, _)| key);
                path.iter().copied().eq(key.split('.').map(str::trim).take(path.len()))
            })
        };
        let models: BTreeSet<&str> = file
            .get("llm")
            .and_then(toml::Value::as_table)
            .map(|tables| tables.keys().map(String::as_str).collect())
            .unwrap_or_default();
        let mut wrong = Vec::new();
        for argument in &model.set {
            let key = argument.split_once('=').map_or("", |(key, _)| key);
            let path: Vec<&str> = key.split('.').map(str::trim).collect();
            let (message, help) = match path.as_slice() {
                ["llm", name, ..] if !models.contains(name) && !set(&["llm", name]) => {
                    let known: Vec<String> = models.iter().map(|name| format!("[llm.{name}]")).collect();
                    let known = if known.is_empty() { "no model".to_owned() } else { known.join(", ") };
                    (format!("there is no [llm.{name}]"), format!("`{pipeline}` has {known}"))
                }
                ["environment", ..] if !file.contains_key("environment") && !set(&["environment"]) => {
                    ("there is no [environment]".to_owned(), format!("`{pipeline}` has none"))
                }
                _ => continue,
            };
            self.add(argument, &message, Some(&help), &model.name, pipeline);
            wrong.push(argument.clone());
        }
        wrong
    }

    /// One diagnostic for each key and what is wrong with it.
    pub(super) fn diagnostics(self) -> Vec<Diagnostic> {
        let listed = |names: BTreeSet<String>| names.into_iter().collect::<Vec<_>>().join(", ");
        let each = self.0.into_iter().map(|((key, message), misfit)| {
            let models = if misfit.models.len() == 1 { "the model" } else { "the models" };
            let pipelines = if misfit.pipelines.len() == 1 { "the pipeline" } else { "the pipelines" };
            let text = format!(
                "{models} {} of the matrix set `{key}`, and in {pipelines} {} {message}",
                listed(misfit.models),
                listed(misfit.pipelines)
            );
            let help = misfit
                .help
                .into_iter()
                .fold(String::new(), |all, one| if all.is_empty() { one } else { format!("{all}; {one}") });
            let diagnostic = Diagnostic::error("evaluate.model", text);
            if help.is_empty() { diagnostic } else { diagnostic.help(help) }
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str, set: &[&str]) -> MatrixModel {
        MatrixModel { name: name.to_owned(), set: set.iter().map(|s| (*s).to_owned()).collect() }
    }

    #[test]
    fn a_missing_table_is_reported_once_for_all_models_and_pipelines() {
        let matrix = Matrix { set: vec!["llm.given.model=x".to_owned()], ..Matrix::default() };
        let (small, large) = (
            model("small", &["llm.main.model=s"]),
            model("large", &["llm.main.model=l", "llm.given.seed=1"]),
        );
        let text = "schema = 1\n[llm.writer]\nuse = \"provider-openai\"\n";
        let mut misfits = Misfits::default();
        for model in [&small, &large] {
            for pipeline in ["a", "b"] {
                assert_eq!(misfits.of_tables(&matrix, model, pipeline, text).len(), 1);
            }
        }
        assert!(misfits.of_tables(&matrix, &small, "c", "[llm.main]\n").is_empty());
        let found = misfits.diagnostics();
        assert_eq!(found.len(), 1, "{found:?}");
        for word in ["`large`, `small`", "`llm.main.model`", "`a`, `b`", "[llm.main]"] {
            assert!(found[0].message.contains(word), "{word}: {}", found[0].message);
        }
        assert!(found[0].help[0].contains("[llm.writer]"), "{:?}", found[0].help);
    }

    #[test]
    fn an_override_does_not_create_an_environment() {
        let mut misfits = Misfits::default();
        let other = model("m", &["environment.options.x=1"]);
        assert_eq!(misfits.of_tables(&Matrix::default(), &other, "a", "schema = 1\n").len(), 1);
        assert!(
            misfits.of_tables(&Matrix::default(), &other, "a", "[environment]\nuse = \"e\"\n").is_empty()
        );
        assert_eq!(misfits.diagnostics().len(), 1);
    }
}
