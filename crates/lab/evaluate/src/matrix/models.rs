//! The models of a matrix: what each changes in every pipeline file.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

/// Longest name of a model: it is part of a folder's name.
const LONGEST_NAME: usize = 64;

/// A model that every pipeline is run with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixModel {
    /// Its name in tables and folders: `PIPELINE@NAME`.
    pub name: String,
    /// `key=value` for every pipeline, after those of the matrix, as in `planforge run --set`. Empty for the pipelines' own models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
}

/// `[matrix.models.NAME]` as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    #[serde(default)]
    set: Vec<String>,
}

/// The tables by name, with their places.
pub(super) type Tables = BTreeMap<Spanned<String>, Settings>;

/// The models in the order of the file.
pub(super) fn in_order(tables: Tables) -> Vec<MatrixModel> {
    let mut all: Vec<(usize, MatrixModel)> = tables
        .into_iter()
        .map(|(name, settings)| {
            (name.span().start, MatrixModel { name: name.into_inner(), set: settings.set })
        })
        .collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, model)| model).collect()
}

/// Mistakes in the models. No name has an `@`, so no two columns have the same name.
pub(super) fn mistakes(models: &[MatrixModel]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, MatrixModel { name, set }) in models.iter().enumerate() {
        if !is_safe(name) {
            wrong.push(format!(
                "the model `{name}` must be called by letters, digits, `.`, `_` and `-` alone, not begin with a dot, and have at most \
                 {LONGEST_NAME} characters: it is part of a folder's name"
            ));
        }
        // Some file systems do not tell capitals from small letters.
        if models[..index].iter().any(|known| known.name.eq_ignore_ascii_case(name)) {
            wrong.push(format!("two models are called `{name}`; columns need different names"));
        }
        for argument in set {
            match argument.split_once('=') {
                None => wrong.push(format!("the model `{name}` sets `{argument}`, which has no `=`")),
                Some((key, _)) if key.trim() == "seed" => {
                    wrong.push(format!("the model `{name}` sets the seed; `seeds` of the matrix do that"));
                }
                Some(_) => {}
            }
        }
    }
    wrong
}

fn is_safe(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with('.') && name.chars().all(letter)
}

#[cfg(test)]
mod tests {
    use super::super::Matrix;
    use std::path::Path;

    const FILE: &str = "schema = 1
[matrix]
suites = [\"garden\"]
pipelines = [\"llm-p.toml\", \"bon.toml\"]
seeds = [1]
[matrix.models.small]
set = [\"llm.main.model=s\"]
[matrix.models.\"Large-2.5\"]
set = [\"llm.main.model=l\", \"llm.main.base_url=http://127.0.0.1/v1?a=b\"]
[matrix.models.as_they_are]
";

    fn messages(text: &str) -> Vec<String> {
        let (found, _) = Matrix::parse(text, "matrix.toml", Path::new("")).unwrap_err();
        found.into_iter().map(|d| d.message).collect()
    }

    #[test]
    fn models_come_in_the_order_of_the_file() {
        let matrix = Matrix::parse(FILE, "matrix.toml", Path::new("")).unwrap();
        let names: Vec<&str> = matrix.models.iter().map(|model| model.name.as_str()).collect();
        assert_eq!(names, ["small", "Large-2.5", "as_they_are"]);
        assert_eq!(matrix.models[1].set[1], "llm.main.base_url=http://127.0.0.1/v1?a=b");
        let text = serde_json::to_string(&matrix).unwrap();
        assert_eq!(serde_json::from_str::<Matrix>(&text).unwrap(), matrix);
    }

    #[test]
    fn model_names_are_valid_folder_names_and_all_mistakes_are_reported() {
        let text = FILE
            .replace("models.small", "models.\"../up\"")
            .replace("\"Large-2.5\"", "large")
            .replace("as_they_are", "LARGE")
            .replace("llm.main.model=l", "seed=3")
            .replace("llm.main.model=s", "llm.main.model");
        let found = messages(&text);
        assert_eq!(found.len(), 4, "{found:?}");
        for word in ["`../up` must be called", "two models are called `LARGE`", "sets the seed", "has no `=`"]
        {
            assert!(found.iter().any(|m| m.contains(word)), "{word}: {found:?}");
        }
        assert!(messages(&FILE.replace("models.small", "models.\"a@b\""))[0].contains("`a@b`"));
        assert!(
            messages(&FILE.replace("[matrix.models.small]\nset", "[matrix.models.small]\nsets"))[0]
                .contains("sets")
        );
    }

    #[test]
    fn columns_have_different_names() {
        let text = FILE.replace("bon.toml", "llm-p@x.toml").replace("[matrix.models.as_they_are]\n", "");
        assert!(
            Matrix::parse(&text, "matrix.toml", Path::new("")).is_ok(),
            "llm-p@x@small is nobody else's name"
        );
    }
}
