//! Options for an instance: the given ones, completed from the schema.

use planforge_contract::JsonObject;
use serde_json::Value;

/// The given options, with a value for each required one that has no default and a clear choice: a default, an example, a constant or
/// the first word of an enumeration.
pub(crate) fn complete_options(schema: &Value, given: &JsonObject) -> JsonObject {
    let mut options = given.clone();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let property = schema.get("properties").and_then(|all| all.get(name));
        if let Some(value) = property.and_then(|one| suggested_value(schema, one))
            && !options.contains_key(name)
        {
            options.insert(name.to_owned(), value);
        }
    }
    options
}

/// The defaults that a schema states for its options.
pub(crate) fn stated_defaults(schema: &Value) -> JsonObject {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let defaults = properties.filter_map(|(name, one)| Some((name.clone(), one.get("default")?.clone())));
    defaults.collect()
}

fn suggested_value(schema: &Value, property: &Value) -> Option<Value> {
    let first = |list: &str| property.get(list)?.as_array()?.first().cloned();
    let target = || {
        let pointer = property.get("$ref")?.as_str()?.strip_prefix('#')?;
        // One step only: a schema may refer in a circle.
        let target = schema.pointer(pointer).filter(|target| target.get("$ref").is_none())?;
        suggested_value(schema, target)
    };
    let constant = || property.get("oneOf")?.as_array()?.first()?.get("const").cloned();
    let own = ["default", "const"].iter().find_map(|key| property.get(key).cloned());
    own.or_else(|| first("examples")).or_else(|| first("enum")).or_else(constant).or_else(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn required_options_take_the_value_that_the_schema_suggests() {
        let schema = json!({
            "required": ["mode", "form", "way", "command"],
            "properties": {
                "mode": {"enum": ["fast", "exact"]},
                "form": {"oneOf": [{"const": "short"}, {"const": "long"}]},
                "way": {"$ref": "#/$defs/Way"},
                "command": {"type": "array"},
                "steps": {"type": "integer", "default": 3}
            },
            "$defs": {"Way": {"examples": ["north"]}}
        });
        let given = json!({"mode": "exact"});
        assert_eq!(
            Value::Object(complete_options(&schema, given.as_object().unwrap())),
            json!({"mode": "exact", "form": "short", "way": "north"})
        );
        assert_eq!(Value::Object(stated_defaults(&schema)), json!({"steps": 3}));
    }
}
