//! Options against a plugin's schema: every problem at once, each with its place and the nearest valid name.

use crate::limits::nearest;
use jsonschema::error::ValidationErrorKind;
use planforge_contract::JsonObject;
use serde_json::Value;

/// One thing wrong with an options table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionProblem {
    /// JSON pointer (RFC 6901) to the option; to the table itself for a missing option.
    pub pointer: String,
    /// `options.unknown`, `options.missing`, `options.type` or `options.value`.
    pub code: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// The nearest valid name or value, where one is near.
    pub suggestion: Option<String>,
}

/// Checks options against a JSON schema.
///
/// # Errors
/// The schema itself is wrong; a plugin with such a schema does not pass its gate `plugin.describe`.
pub fn check_against_schema(schema: &Value, options: &JsonObject) -> Result<Vec<OptionProblem>, String> {
    OptionsSchema::compile(schema).map(|schema| schema.check(options))
}

/// A compiled JSON schema of options.
pub(crate) struct OptionsSchema {
    schema: Value,
    validator: jsonschema::Validator,
}

impl OptionsSchema {
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let validator = jsonschema::validator_for(schema).map_err(|e| e.to_string())?;
        Ok(Self { schema: schema.clone(), validator })
    }

    /// Everything that is wrong with the options.
    pub(crate) fn check(&self, options: &JsonObject) -> Vec<OptionProblem> {
        if self.has_no_options() {
            // The validator says of each only that nothing is allowed.
            return options.keys().map(|name| unknown("", name, &[])).collect();
        }
        let instance = Value::Object(options.clone());
        let mut problems = Vec::new();
        for error in self.validator.iter_errors(&instance) {
            let pointer = error.instance_path().as_str().to_owned();
            match error.kind() {
                ValidationErrorKind::AdditionalProperties { unexpected }
                | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                    let known = names_at(&self.schema, &pointer);
                    problems.extend(unexpected.iter().map(|name| unknown(&pointer, name, &known)));
                }
                kind => problems.push(OptionProblem {
                    code: match kind {
                        ValidationErrorKind::Required { .. } => "options.missing",
                        ValidationErrorKind::Type { .. } => "options.type",
                        _ => "options.value",
                    },
                    message: sentence(kind, &error.to_string()),
                    suggestion: suggest_value(kind, instance.pointer(&pointer)),
                    pointer,
                }),
            }
        }
        problems.sort_by(|a, b| (&a.pointer, a.code).cmp(&(&b.pointer, b.code)));
        problems
    }

    /// True if the schema allows no option at all.
    fn has_no_options(&self) -> bool {
        let others = ["properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf"];
        self.schema.get("additionalProperties") == Some(&Value::Bool(false))
            && others.iter().all(|key| self.schema.get(key).is_none())
    }
}

fn unknown(parent: &str, name: &str, known: &[String]) -> OptionProblem {
    let message = if known.is_empty() {
        format!("unknown option `{name}`; there are no options here")
    } else {
        format!("unknown option `{name}`; known are {}", known.join(", "))
    };
    OptionProblem {
        pointer: format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1")),
        code: "options.unknown",
        message,
        suggestion: nearest(name, known.iter().map(String::as_str)),
    }
}

fn sentence(kind: &ValidationErrorKind, text: &str) -> String {
    match kind {
        ValidationErrorKind::Required { property } => {
            format!("the option `{}` is missing", property.as_str().unwrap_or_default())
        }
        _ => {
            let mut values = Vec::new();
            collect_values(kind, &mut values);
            if values.is_empty() {
                text.to_owned()
            } else {
                format!("the value must be one of {}", values.join(", "))
            }
        }
    }
}

fn suggest_value(kind: &ValidationErrorKind, found: Option<&Value>) -> Option<String> {
    let found = found?.as_str()?;
    let mut texts = Vec::new();
    collect_values(kind, &mut texts);
    nearest(found, texts.iter().map(String::as_str))
}

/// The texts that an enumeration allows; schemars writes documented variants as `oneOf` of constants.
fn collect_values(kind: &ValidationErrorKind, into: &mut Vec<String>) {
    match kind {
        ValidationErrorKind::Enum { options } => {
            into.extend(
                options.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
            );
        }
        ValidationErrorKind::Constant { expected_value } => {
            into.extend(expected_value.as_str().map(str::to_owned))
        }
        ValidationErrorKind::OneOfNotValid { context } | ValidationErrorKind::AnyOf { context } => {
            context.iter().flatten().for_each(|e| collect_values(e.kind(), into));
        }
        _ => {}
    }
}

/// The property names of the object that the pointer leads to, as far as the schema says without combinators.
fn names_at(schema: &Value, pointer: &str) -> Vec<String> {
    let mut here = resolve(schema, schema);
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let next = here.get("properties").and_then(|p| p.get(&step)).or_else(|| here.get("items"));
        let Some(next) = next.or_else(|| here.get("additionalProperties")) else { return Vec::new() };
        here = resolve(schema, next);
    }
    here.get("properties").and_then(Value::as_object).map(|p| p.keys().cloned().collect()).unwrap_or_default()
}

/// Follows `$ref` into the same schema, and the one alternative of an optional field that is an object.
fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    // A schema may refer in a circle; no real one nests this deep.
    for _ in 0..32 {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
            let Some(found) = root.pointer(target) else { return schema };
            schema = found;
        } else if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
            let object = any.iter().find(|s| s.get("type").and_then(Value::as_str) != Some("null"));
            let Some(found) = object else { return schema };
            schema = found;
        } else {
            return schema;
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["mode"],
            "properties": {
                "mode": {"oneOf": [{"const": "fast"}, {"const": "exact"}]},
                "steps": {"type": "integer", "minimum": 0},
                "inner": {"anyOf": [{"$ref": "#/$defs/Inner"}, {"type": "null"}]}
            },
            "$defs": {"Inner": {
                "type": "object", "additionalProperties": false, "properties": {"colour": {"type": "string"}}
            }}
        })
    }

    #[test]
    fn a_plugin_without_options_names_each_unknown_one() {
        let schema = json!({"type": "object", "additionalProperties": false});
        let problems =
            check_against_schema(&schema, json!({"a": 1, "b": null}).as_object().unwrap()).unwrap();
        let messages: Vec<&str> = problems.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "unknown option `a`; there are no options here",
                "unknown option `b`; there are no options here"
            ]
        );
        assert!(check_against_schema(&schema, &JsonObject::new()).unwrap().is_empty());
    }

    fn check(options: Value) -> Vec<(String, &'static str, Option<String>)> {
        let problems = check_against_schema(&schema(), options.as_object().unwrap()).unwrap();
        problems.into_iter().map(|p| (p.pointer, p.code, p.suggestion)).collect()
    }

    #[test]
    fn good_options_have_no_problem() {
        assert_eq!(check(json!({"mode": "fast", "steps": 3, "inner": {"colour": "red"}})), []);
    }

    #[test]
    fn all_problems_come_at_once_with_pointer_and_near_name() {
        assert_eq!(
            check(json!({"mode": "fats", "stepps": 1, "steps": "many"})),
            [
                ("/mode".to_owned(), "options.value", Some("fast".to_owned())),
                ("/stepps".to_owned(), "options.unknown", Some("steps".to_owned())),
                ("/steps".to_owned(), "options.type", None),
            ]
        );
        assert_eq!(check(json!({})), [(String::new(), "options.missing", None)]);
    }

    #[test]
    fn a_wrong_schema_is_an_error() {
        assert!(check_against_schema(&json!({"type": "strnig"}), &JsonObject::new()).is_err());
    }
}
