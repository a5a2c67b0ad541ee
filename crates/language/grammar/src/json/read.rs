//! PDDL from JSON of the schemas.

use super::keys::argument_keys;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Domain, TypedName};
use planforge_pddl::{parse_problem, print_problem};
use serde_json::{Map, Value};

/// Deepest nesting of conditions and effects.
const MAX_DEPTH: u32 = 100;

type Read = Result<String, String>;

/// The problem that JSON of [`problem_schema`](super::problem_schema) describes. `objects` are the known objects that the schema was made with.
///
/// # Errors
/// The first part that is not of the schema, in a sentence.
pub fn problem_from_json(domain: &Domain, objects: Option<&[TypedName]>, text: &str) -> Read {
    let root = parse(text)?;
    let reader = Reader { domain, open_predicates: false };
    let declared = match objects {
        Some(objects) => planforge_pddl::print_typed_list(objects),
        None => reader.typed_list(field(&root, "objects")?)?,
    };
    let init = list(field(&root, "init")?)?.iter().map(|entry| match entry.get("function") {
        None => reader.atom(entry, 0),
        Some(_) => Ok(format!("(= {} {})", reader.fluent(entry)?, number(field(entry, "value")?)?)),
    });
    let init: Result<Vec<String>, String> = init.collect();
    let goal = reader.condition(field(&root, "goal")?, 0)?;
    let metric = match root.get("metric").filter(|metric| !metric.is_null()) {
        None => String::new(),
        Some(metric) => {
            let direction = word(field(metric, "direction")?)?;
            format!("(:metric {direction} {})", reader.numeric(field(metric, "quantity")?, 0)?)
        }
    };
    let name = domain.name.as_ref().map_or("domain", |name| name.as_str());
    let text = format!(
        "(define (problem {name}-problem) (:domain {name}) (:objects {declared}) (:init {}) (:goal {goal}) {metric})",
        init?.join(" ")
    );
    Ok(print_problem(&parse_problem(&text, SourceId(0)).value))
}

/// The section `(:objects ...)` that JSON of [`objects_schema`](super::objects_schema) describes.
///
/// # Errors
/// As [`problem_from_json`].
pub fn objects_from_json(domain: &Domain, text: &str) -> Read {
    let root = parse(text)?;
    Ok(format!(
        "(:objects {})",
        Reader { domain, open_predicates: false }.typed_list(field(&root, "objects")?)?
    ))
}

/// The action that JSON of [`action_schema`](super::action_schema) describes, on four lines.
///
/// # Errors
/// As [`problem_from_json`].
pub fn action_from_json(domain: &Domain, interface: Option<&Action>, text: &str) -> Read {
    let root = parse(text)?;
    let reader = Reader { domain, open_predicates: false };
    let head = match interface {
        Some(action) => {
            beginning(action.name.as_str(), &planforge_pddl::print_typed_list(&action.parameters))
        }
        None => reader.head(&root)?,
    };
    let vars = match interface {
        Some(action) if !action.vars.is_empty() => {
            format!("\n  :vars ({})", planforge_pddl::print_typed_list(&action.vars))
        }
        _ => String::new(),
    };
    let condition = reader.condition(field(&root, "precondition")?, 0)?;
    let effect = reader.effect(field(&root, "effect")?, 0)?;
    Ok(format!("{head}{vars}\n  :precondition {condition}\n  :effect {effect})"))
}

/// The beginning `(:action NAME :parameters (...))` that JSON of [`parameters_schema`](super::parameters_schema) describes.
///
/// # Errors
/// As [`problem_from_json`].
pub fn parameters_from_json(domain: &Domain, text: &str) -> Read {
    let reader = Reader { domain, open_predicates: false };
    Ok(format!("{})", reader.head(&parse(text)?)?))
}

/// The plan that JSON of [`plan_schema`](super::plan_schema) describes, one action a line.
///
/// # Errors
/// As [`problem_from_json`].
pub fn plan_from_json(domain: &Domain, text: &str) -> Read {
    let root = parse(text)?;
    let steps = list(field(&root, "plan")?)?.iter().map(|step| {
        let name = word(field(step, "action")?)?;
        let action = domain.actions.iter().find(|a| a.name.is(&name.to_lowercase()));
        let action = action.ok_or_else(|| format!("there is no action `{name}`"))?;
        application(step, &name, &action.parameters)
    });
    let steps: Result<Vec<String>, String> = steps.collect();
    Ok(steps?.iter().map(|step| format!("{step}\n")).collect())
}

/// The calls that JSON of [`edit_schema`](super::edit_schema) describes, one a line, as Python.
///
/// # Errors
/// As [`problem_from_json`].
pub fn edits_from_json(domain: &Domain, text: &str) -> Read {
    let root = parse(text)?;
    let reader = Reader { domain, open_predicates: true };
    let calls: Result<Vec<String>, String> =
        list(field(&root, "calls")?)?.iter().map(|call| reader.call(call)).collect();
    Ok(calls?.join("\n"))
}

/// The representation that JSON of [`asp_schema`](super::asp_schema) describes, one statement a line.
///
/// # Errors
/// As [`problem_from_json`].
pub fn asp_from_json(text: &str) -> Read {
    let root = parse(text)?;
    let statement = |value: &Value| match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("`{}` is not a text", excerpt(value))),
    };
    let statements: Result<Vec<String>, String> =
        list(field(&root, "statements")?)?.iter().map(statement).collect();
    Ok(statements?.join("\n"))
}

struct Reader<'a> {
    domain: &'a Domain,
    /// True if every name is a predicate, with any arguments.
    open_predicates: bool,
}

impl Reader<'_> {
    fn head(&self, root: &Value) -> Read {
        Ok(beginning(&word(field(root, "name")?)?, &self.typed_list(field(root, "parameters")?)?))
    }

    /// `function([...], ...)`.
    fn call(&self, call: &Value) -> Read {
        let strings = |key: &str, read: &dyn Fn(&Value) -> Read| -> Read {
            let items: Result<Vec<String>, String> = list(field(call, key)?)?.iter().map(read).collect();
            // No item has a quote, so this is a list of Python.
            Ok(format!("{:?}", items?))
        };
        let declaration = |item: &Value| -> Read {
            let (name, parameters) = (word(field(item, "name")?)?, field(item, "parameters")?);
            Ok(format!("({})", format!("{name} {}", self.typed_list(parameters)?).trim_end()))
        };
        let condition = |item: &Value| self.condition(item, 0);
        let entry = |item: &Value| match (item.get("type"), item.get("function")) {
            (Some(_), _) => self.typed_list(&Value::Array(vec![item.clone()])),
            (None, Some(_)) => Ok(format!("(= {} {})", self.fluent(item)?, number(field(item, "value")?)?)),
            (None, None) => condition(item),
        };
        let arguments = if call.get("predicates").is_some() {
            vec![strings("predicates", &declaration)?]
        } else if let Some(action) = call.get("action") {
            let name = format!("\"{}\"", word(action)?);
            let effects = strings("effects", &|item| self.effect(item, 0))?;
            vec![name, strings("preconditions", &condition)?, effects]
        } else {
            vec![strings("add", &entry)?, strings("remove", &entry)?]
        };
        Ok(format!("{}({})", word(field(call, "function")?)?, arguments.join(", ")))
    }

    fn atom(&self, value: &Value, depth: u32) -> Read {
        if depth > MAX_DEPTH {
            return Err(format!("conditions are nested more than {MAX_DEPTH} deep"));
        }
        let name = word(field(value, "predicate")?)?;
        if self.open_predicates {
            let arguments = value.get("arguments").map_or(Ok(&[][..]), |all| list(all).map(Vec::as_slice))?;
            let arguments: Result<Vec<String>, String> = arguments.iter().map(word).collect();
            return Ok(joined(&name, &arguments?));
        }
        let declared = self.domain.predicates.iter().find(|p| p.name.is(&name.to_lowercase()));
        let declared = declared.ok_or_else(|| format!("no predicate `{name}` is declared"))?;
        application(value, &name, &declared.parameters)
    }

    fn fluent(&self, value: &Value) -> Read {
        let name = word(field(value, "function")?)?;
        let declared = self.domain.functions.iter().find(|f| f.name.is(&name.to_lowercase()));
        let declared = declared.ok_or_else(|| format!("no function `{name}` is declared"))?;
        application(value, &name, &declared.parameters)
    }

    fn numeric(&self, value: &Value, depth: u32) -> Read {
        match value {
            _ if depth > MAX_DEPTH => Err(format!("numbers are nested more than {MAX_DEPTH} deep")),
            Value::Number(_) => number(value),
            _ if value.get("function").is_some() => self.fluent(value),
            _ => {
                let op = word(field(value, "operator")?)?;
                let left = self.numeric(field(value, "left")?, depth + 1)?;
                let right = self.numeric(field(value, "right")?, depth + 1)?;
                Ok(format!("({op} {left} {right})"))
            }
        }
    }

    fn condition(&self, value: &Value, depth: u32) -> Read {
        let inner = |key: &str| {
            if depth > MAX_DEPTH {
                return Err(format!("conditions are nested more than {MAX_DEPTH} deep"));
            }
            self.condition(field(value, key)?, depth + 1)
        };
        let entries = fields(value)?;
        for key in ["and", "or"] {
            if let Some(parts) = entries.get(key) {
                let parts: Result<Vec<String>, String> =
                    list(parts)?.iter().map(|part| self.nested(part, depth)).collect();
                return Ok(joined(key, &parts?));
            }
        }
        for key in ["exists", "forall"] {
            if let Some(bound) = entries.get(key) {
                return Ok(format!("({key} ({}) {})", self.typed_list(bound)?, inner("condition")?));
            }
        }
        if entries.contains_key("not") {
            return Ok(format!("(not {})", inner("not")?));
        }
        if entries.contains_key("if") {
            return Ok(format!("(imply {} {})", inner("if")?, inner("then")?));
        }
        if let Some(left) = entries.get("same") {
            return Ok(format!("(= {} {})", word(left)?, word(field(value, "as")?)?));
        }
        if let Some(op) = entries.get("compare") {
            let left = self.numeric(field(value, "left")?, depth + 1)?;
            let right = self.numeric(field(value, "right")?, depth + 1)?;
            return Ok(format!("({} {left} {right})", word(op)?));
        }
        self.atom(value, depth)
    }

    fn nested(&self, value: &Value, depth: u32) -> Read {
        if depth > MAX_DEPTH {
            return Err(format!("conditions are nested more than {MAX_DEPTH} deep"));
        }
        self.condition(value, depth + 1)
    }

    fn effect(&self, value: &Value, depth: u32) -> Read {
        if depth > MAX_DEPTH {
            return Err(format!("effects are nested more than {MAX_DEPTH} deep"));
        }
        let inner = |key: &str| self.effect(field(value, key)?, depth + 1);
        let entries = fields(value)?;
        if let Some(parts) = entries.get("and") {
            let parts: Result<Vec<String>, String> =
                list(parts)?.iter().map(|part| self.effect(part, depth + 1)).collect();
            return Ok(joined("and", &parts?));
        }
        if let Some(fact) = entries.get("not") {
            return Ok(format!("(not {})", self.atom(fact, depth)?));
        }
        if let Some(bound) = entries.get("forall") {
            return Ok(format!("(forall ({}) {})", self.typed_list(bound)?, inner("effect")?));
        }
        if let Some(condition) = entries.get("when") {
            return Ok(format!("(when {} {})", self.condition(condition, depth + 1)?, inner("effect")?));
        }
        if let Some(change) = entries.get("change") {
            let amount = self.numeric(field(value, "value")?, depth + 1)?;
            return Ok(format!("({} {} {amount})", word(change)?, self.fluent(value)?));
        }
        self.atom(value, depth)
    }

    fn typed_list(&self, value: &Value) -> Read {
        let entries = list(value)?.iter().map(|entry| {
            let (name, ty) = (word(field(entry, "name")?)?, word(field(entry, "type")?)?);
            // A domain without types has no word for them.
            Ok(if self.domain.types.is_empty() { name } else { format!("{name} - {ty}") })
        });
        let entries: Result<Vec<String>, String> = entries.collect();
        Ok(entries?.join(" "))
    }
}

/// `(:action NAME :parameters (PARAMETERS)`, which goes on.
fn beginning(name: &str, parameters: &str) -> String {
    format!("(:action {name}\n  :parameters ({parameters})")
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text.trim()).map_err(|error| format!("the text is not JSON: {error}"))
}

fn fields(value: &Value) -> Result<&Map<String, Value>, String> {
    value.as_object().ok_or_else(|| format!("`{}` is not an object", excerpt(value)))
}

fn field<'v>(value: &'v Value, key: &str) -> Result<&'v Value, String> {
    fields(value)?.get(key).ok_or_else(|| format!("`{}` has no `{key}`", excerpt(value)))
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("`{}` is not a list", excerpt(value)))
}

/// A single word: text from a model becomes PDDL and must not bring brackets, quotes or comments.
fn word(value: &Value) -> Read {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '(' | ')' | ';' | '"' | '\\');
    match value.as_str() {
        Some(text) if !text.is_empty() && text.chars().all(is_plain) => Ok(text.to_owned()),
        _ => Err(format!("`{}` is not a word", excerpt(value))),
    }
}

fn number(value: &Value) -> Read {
    match value {
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("`{}` is not a number", excerpt(value))),
    }
}

fn application(value: &Value, name: &str, parameters: &[TypedName]) -> Read {
    let arguments = argument_keys(parameters);
    let arguments = arguments.iter().map(|key| word(field(value, key)?));
    let arguments: Result<Vec<String>, String> = arguments.collect();
    Ok(joined(name, &arguments?))
}

fn joined(head: &str, parts: &[String]) -> String {
    let parts: String = parts.iter().map(|part| format!(" {part}")).collect();
    format!("({head}{parts})")
}

/// The beginning of a value, for messages.
fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}
