//! The properties of arguments.

use planforge_pddl::ast::TypedName;

/// The properties of an application's arguments: the parameters without question marks, numbered where two would be equal.
pub(super) fn argument_keys(parameters: &[TypedName]) -> Vec<String> {
    let mut keys: Vec<String> = Vec::new();
    for (n, parameter) in parameters.iter().enumerate() {
        let key = parameter.name.as_str().trim_start_matches('?').to_owned();
        let is_taken = keys.contains(&key) || RESERVED.contains(&key.as_str());
        keys.push(if is_taken { format!("{key}-{}", n + 1) } else { key });
    }
    keys
}

/// Properties that say what an object is.
const RESERVED: [&str; 5] = ["predicate", "function", "action", "value", "change"];
