//! Options against a plugin's schema: every problem at once, each with its place and the nearest valid name.

use crate::limits::nearest;
use boon::{Compiler, ErrorKind, SchemaIndex, Schemas, SchemeUrlLoader, ValidationError};
use planforge_contract::JsonObject;
use serde_json::Value;

/// Name of the schema within the validator; it is not loaded from a file or server.
const LOCATION: &str = "planforge:options";

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
    compiled: Schemas,
    root: SchemaIndex,
}

impl OptionsSchema {
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let mut compiler = Compiler::new();
        // A loader without schemes: a `$ref` cannot read files.
        compiler.use_loader(Box::new(SchemeUrlLoader::new()));
        let mut compiled = Schemas::new();
        let one_line =
            |e: boon::CompileError| format!("{e:#}").split_whitespace().collect::<Vec<_>>().join(" ");
        compiler.add_resource(LOCATION, schema.clone()).map_err(one_line)?;
        let root = compiler.compile(LOCATION, &mut compiled).map_err(one_line)?;
        Ok(Self { schema: schema.clone(), compiled, root })
    }

    /// Everything that is wrong with the options.
    pub(crate) fn check(&self, options: &JsonObject) -> Vec<OptionProblem> {
        if self.has_no_options() {
            // The validator says of each only that nothing is allowed.
            return options.keys().map(|name| unknown("", name, &[])).collect();
        }
        let instance = Value::Object(options.clone());
        let mut problems = Vec::new();
        if let Err(error) = self.compiled.validate(&instance, self.root) {
            self.collect_problems(&error, &instance, &mut problems);
        }
        problems.sort_by(|a, b| (&a.pointer, a.code).cmp(&(&b.pointer, b.code)));
        problems
    }

    /// The problems of an error and of those it groups.
    fn collect_problems(
        &self,
        error: &ValidationError<'_, '_>,
        options: &Value,
        problems: &mut Vec<OptionProblem>,
    ) {
        let pointer = error.instance_location.to_string();
        let found = options.pointer(&pointer).unwrap_or(options);
        let mut push = |code, message, suggestion| {
            problems.push(OptionProblem { pointer: pointer.clone(), code, message, suggestion });
        };
        match &error.kind {
            ErrorKind::AdditionalProperties { got } => {
                let known = names_at(&self.schema, &pointer);
                problems.extend(got.iter().map(|name| unknown(&pointer, name, &known)));
            }
            ErrorKind::FalseSchema if error.schema_url.ends_with("/unevaluatedProperties") => {
                let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
                let name = name.replace("~1", "/").replace("~0", "~");
                problems.push(unknown(parent, &name, &names_at(&self.schema, parent)));
            }
            ErrorKind::Required { want } => {
                for name in want {
                    push("options.missing", format!("the option `{name}` is missing"), None);
                }
            }
            // Division of binary fractions is not exact: 0.3 is a multiple of 0.1 (not inside `anyOf` or `oneOf`).
            ErrorKind::MultipleOf { got, want } if is_multiple(got.as_f64(), want.as_f64()) => {}
            ErrorKind::DependentRequired { missing, .. } => {
                for name in missing {
                    push("options.missing", format!("the option `{name}` is missing"), None);
                }
            }
            ErrorKind::Type { .. } => {
                let values = self.allowed_values(error);
                let is_const = self.schema_of(error).is_some_and(|schema| schema.get("const").is_some());
                if !is_const || values.is_empty() {
                    push("options.type", self.message(error, found), None);
                }
                if !values.is_empty() {
                    push("options.value", one_of(&values), None);
                }
            }
            kind if is_group(kind) => {
                for cause in &error.causes {
                    self.collect_problems(cause, options, problems);
                }
            }
            _ => {
                let values = self.allowed_values(error);
                let text = if values.is_empty() { self.message(error, found) } else { one_of(&values) };
                let near = found.as_str().and_then(|found| nearest(found, values.iter().map(String::as_str)));
                push("options.value", text, near);
            }
        }
    }

    /// The texts that an enumeration allows; schemars writes documented variants as `oneOf` of constants. Empty if an alternative
    /// allows other values, too.
    fn allowed_values(&self, error: &ValidationError<'_, '_>) -> Vec<String> {
        match &error.kind {
            // From the error: the place of a schema is percent-encoded.
            ErrorKind::Enum { want } => want.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            ErrorKind::Const { want } => want.as_str().map(str::to_owned).into_iter().collect(),
            ErrorKind::Type { .. } => {
                let Some(schema) = self.schema_of(error) else { return Vec::new() };
                let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
                let texts = listed.chain(schema.get("const")).filter_map(Value::as_str);
                texts.map(str::to_owned).collect()
            }
            ErrorKind::OneOf(None) | ErrorKind::AnyOf => {
                let alternatives = error.causes.iter().filter(|cause| !is_null_alternative(cause));
                let values = alternatives.map(|cause| {
                    let values = if is_at(cause, error) { self.allowed_values(cause) } else { Vec::new() };
                    (!values.is_empty()).then_some(values)
                });
                let values: Option<Vec<Vec<String>>> = values.collect();
                values.unwrap_or_default().concat()
            }
            kind if is_group(kind) => {
                let causes = error.causes.iter().filter(|cause| is_at(cause, error));
                causes.flat_map(|cause| self.allowed_values(cause)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The part of the schema that a value breaks.
    fn schema_of(&self, error: &ValidationError<'_, '_>) -> Option<&Value> {
        self.schema.pointer(error.schema_url.split_once('#').map_or("", |(_, place)| place))
    }

    /// What is wrong with the value, as one sentence.
    fn message(&self, error: &ValidationError<'_, '_>, found: &Value) -> String {
        let counted = |n: &usize, one: &str, more: &str| format!("{n} {}", if *n == 1 { one } else { more });
        let rest = match &error.kind {
            ErrorKind::Type { want, .. } => {
                let names: Vec<String> = want.iter().map(|one| format!("\"{one}\"")).collect();
                format!("is not of type{} {}", if names.len() == 1 { "" } else { "s" }, names.join(", "))
            }
            ErrorKind::Const { want } => return format!("{want} was expected"),
            ErrorKind::Enum { want } => {
                let values: Vec<String> = want.iter().map(Value::to_string).collect();
                format!("is not one of {}", values.join(", "))
            }
            ErrorKind::Minimum { want, .. } => format!("is less than the minimum of {want}"),
            ErrorKind::Maximum { want, .. } => format!("is greater than the maximum of {want}"),
            ErrorKind::ExclusiveMinimum { want, .. } => {
                format!("is less than or equal to the minimum of {want}")
            }
            ErrorKind::ExclusiveMaximum { want, .. } => {
                format!("is greater than or equal to the maximum of {want}")
            }
            ErrorKind::MultipleOf { want, .. } => format!("is not a multiple of {want}"),
            ErrorKind::MinLength { want, .. } => {
                format!("is shorter than {}", counted(want, "character", "characters"))
            }
            ErrorKind::MaxLength { want, .. } => {
                format!("is longer than {}", counted(want, "character", "characters"))
            }
            // The validator's own form of the pattern is another one.
            ErrorKind::Pattern { want, .. } => {
                let pattern = self.schema_of(error).and_then(|schema| schema.get("pattern")?.as_str());
                format!("does not match \"{}\"", pattern.unwrap_or(want))
            }
            ErrorKind::Contains => return format!("None of {found} are valid under the given schema"),
            ErrorKind::Not => {
                let Some(schema) = self.schema_of(error).and_then(|schema| schema.get("not")) else {
                    return error.kind.to_string();
                };
                return format!("{schema} is not allowed for {found}");
            }
            ErrorKind::MinItems { want, .. } => format!("has less than {}", counted(want, "item", "items")),
            ErrorKind::MaxItems { want, .. } => format!("has more than {}", counted(want, "item", "items")),
            ErrorKind::UniqueItems { .. } => "has non-unique elements".to_owned(),
            ErrorKind::MinProperties { want, .. } => {
                format!("has less than {}", counted(want, "property", "properties"))
            }
            ErrorKind::MaxProperties { want, .. } => {
                format!("has more than {}", counted(want, "property", "properties"))
            }
            ErrorKind::AnyOf => {
                "is not valid under any of the schemas listed in the 'anyOf' keyword".to_owned()
            }
            ErrorKind::OneOf(None) => {
                "is not valid under any of the schemas listed in the 'oneOf' keyword".to_owned()
            }
            ErrorKind::OneOf(Some(_)) => {
                "is valid under more than one of the schemas listed in the 'oneOf' keyword".to_owned()
            }
            ErrorKind::FalseSchema => return format!("False schema does not allow {found}"),
            kind => return kind.to_string(),
        };
        format!("{found} {rest}")
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

/// True for an error that only holds others.
fn is_group(kind: &ErrorKind<'_, '_>) -> bool {
    matches!(
        kind,
        ErrorKind::Group | ErrorKind::Schema { .. } | ErrorKind::Reference { .. } | ErrorKind::AllOf
    )
}

/// True if both errors are about the same value.
fn is_at(cause: &ValidationError<'_, '_>, error: &ValidationError<'_, '_>) -> bool {
    cause.instance_location.to_string() == error.instance_location.to_string()
}

/// True for an alternative that allows only null, the absence of an optional value.
fn is_null_alternative(cause: &ValidationError<'_, '_>) -> bool {
    match &cause.kind {
        ErrorKind::Type { want, .. } => want.iter().all(|one| one.to_string() == "null"),
        ErrorKind::Const { want } => want.is_null(),
        _ => false,
    }
}

fn is_multiple(value: Option<f64>, of: Option<f64>) -> bool {
    let (Some(value), Some(of)) = (value, of) else { return false };
    let quotient = value / of;
    (quotient - quotient.round()).abs() <= f64::EPSILON * quotient.abs().max(1.0)
}

fn one_of(values: &[String]) -> String {
    format!("the value must be one of {}", values.join(", "))
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
        for schema in [json!({"type": "strnig"}), json!({"$ref": "#/$defs/none"}), json!({"pattern": "("})] {
            assert!(check_against_schema(&schema, &JsonObject::new()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_cannot_read_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("schema.json");
        std::fs::write(&file, "{}").unwrap();
        let schema = json!({"$ref": format!("file://{}", file.display())});
        let error = check_against_schema(&schema, &JsonObject::new()).unwrap_err();
        assert!(error.contains("unsupported scheme"), "{error}");
    }

    #[test]
    fn each_kind_of_mistake_has_a_sentence() {
        let schema = json!({"properties": {
            "tenths": {"multipleOf": 0.1}, "many": {"type": ["string", "null", "integer"]},
            "mode": {"type": "string", "enum": ["a", "b"]}, "size": {"enum": [1, 2]}, "only": {"type": "string", "const": "x"},
            "five": {"type": "integer", "const": 5}, "größe": {"enum": ["klein", "groß"]},
            "effort": {"anyOf": [{"enum": ["low", "high"]}, {"type": "integer"}, {"type": "null"}]},
            "level": {"anyOf": [{"enum": ["low", "high"]}, {"type": "null"}]},
            "nested": {"anyOf": [{"properties": {"mode": {"enum": ["a"]}}}, {"type": "null"}]},
            "name": {"minLength": 2, "pattern": "^\\d+$"}, "list": {"uniqueItems": true, "maxItems": 1},
            "share": {"exclusiveMinimum": 0, "maximum": 1}, "not": {"not": {"type": "string"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "pair": {"dependentRequired": {"x": ["y"]}},
        }, "unevaluatedProperties": false});
        let messages = |options: Value| -> Vec<String> {
            let problems = check_against_schema(&schema, options.as_object().unwrap()).unwrap();
            problems.into_iter().map(|p| format!("{} {}: {}", p.code, p.pointer, p.message)).collect()
        };
        assert_eq!(messages(json!({"tenths": 0.3, "many": null, "share": 1})), Vec::<String>::new());
        assert_eq!(
            messages(
                json!({"tenths": 0.35, "many": 1.5, "mode": 5, "size": 3, "only": 1, "name": "x", "five": "x", "größe": "gros",
                "effort": "lov", "level": "lov", "nested": {"mode": "b"}, "list": [1, 1], "share": 0, "not": "n",
                "either": 1, "pair": {"x": 1}, "tenth": 1})
            ),
            [
                "options.value /effort: \"lov\" is not valid under any of the schemas listed in the 'anyOf' keyword",
                "options.value /either: 1 is not valid under any of the schemas listed in the 'anyOf' keyword",
                "options.type /five: \"x\" is not of type \"integer\"",
                "options.value /größe: the value must be one of klein, groß",
                "options.value /level: the value must be one of low, high",
                "options.value /list: [1,1] has more than 1 item",
                "options.value /list: [1,1] has non-unique elements",
                "options.type /many: 1.5 is not of types \"null\", \"integer\", \"string\"",
                "options.type /mode: 5 is not of type \"string\"",
                "options.value /mode: the value must be one of a, b",
                "options.value /name: \"x\" is shorter than 2 characters",
                "options.value /name: \"x\" does not match \"^\\d+$\"",
                "options.value /nested: {\"mode\":\"b\"} is not valid under any of the schemas listed in the 'anyOf' keyword",
                "options.value /not: {\"type\":\"string\"} is not allowed for \"n\"",
                "options.value /only: the value must be one of x",
                "options.missing /pair: the option `y` is missing",
                "options.value /share: 0 is less than or equal to the minimum of 0",
                "options.value /size: 3 is not one of 1, 2",
                "options.unknown /tenth: unknown option `tenth`; known are effort, either, five, größe, level, list, many, mode, name, nested, not, only, pair, share, size, tenths",
                "options.value /tenths: 0.35 is not a multiple of 0.1",
            ]
        );
    }
}
