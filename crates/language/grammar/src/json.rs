//! JSON schemas for services that enforce no other grammar, and the way back from such JSON to PDDL.
//!
//! Every property is required and no further one is allowed, as the strict schemas of model services ask. An atom is
//! `{"predicate": NAME, ...}` with a property for each parameter, named like it. In edits, which may declare predicates, it is
//! `{"predicate": NAME, "arguments": [...]}`. A representation is a list of statements, each a text that follows a regular expression.

use crate::definitions::{
    ActionHead, AspVocabulary, EditFunctions, action_scopes, asp_grammar, known_objects,
};
use crate::pddl::{Objects, Scope, Variables};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Domain, TypeRef, TypedName};
use planforge_pddl::{TypeHierarchy, parse_problem, print_problem};
use serde_json::{Map, Value, json};

/// Names that a model chooses.
const NAME: &str = "^[a-zA-Z][a-zA-Z0-9_-]*$";
/// Variables with their question mark.
const VARIABLE: &str = "^\\?[a-zA-Z][a-zA-Z0-9_-]*$";

/// The schema of problems, as [`crate::problem_grammar`].
pub fn problem_schema(domain: &Domain, objects: Option<&[TypedName]>) -> Value {
    let known = objects.map_or(Objects::Any, |objects| Objects::with_constants(domain, objects));
    let mut schema = Schema::new(domain, known, &[]);
    let condition = schema.condition(Variables::None);
    let mut init = schema.atoms(Variables::None, false);
    init.extend(schema.fluents(Variables::None, &[("value", json!({"type": "number"}))]));
    let mut properties = Map::new();
    if objects.is_none() {
        properties.insert("objects".into(), schema.typed_list(NAME));
    }
    properties.insert("init".into(), array(any_of(init)));
    properties.insert("goal".into(), condition);
    if !domain.functions.is_empty() {
        let direction = json!({"type": "string", "enum": ["minimize", "maximize"]});
        let number = schema.numeric(Variables::None);
        let metric = object([("direction", direction), ("quantity", number)]);
        properties.insert("metric".into(), any_of(vec![json!({"type": "null"}), metric]));
    }
    schema.finish(properties)
}

/// The schema of the objects of a problem.
pub fn objects_schema(domain: &Domain) -> Value {
    let schema = Schema::new(domain, Objects::Any, &[]);
    let properties = Map::from_iter([("objects".to_owned(), schema.typed_list(NAME))]);
    schema.finish(properties)
}

/// The schema of an action, as [`crate::action_grammar`].
pub fn action_schema(domain: &Domain, head: ActionHead<'_>) -> Value {
    let scope = head.scope();
    let interface = head.interface();
    let mut schema = Schema::new(domain, Objects::constants(domain), &scope);
    let variables = if interface.is_some() { Variables::Parameters } else { Variables::Any };
    let mut properties = Map::new();
    if interface.is_none() {
        schema.add_head(&mut properties, head.name());
    }
    properties.insert("precondition".into(), schema.condition(variables));
    properties.insert("effect".into(), schema.effect(variables));
    schema.finish(properties)
}

/// The schema of name and parameters of an action, as [`crate::parameters_grammar`].
pub fn parameters_schema(domain: &Domain, name: Option<&str>) -> Value {
    let schema = Schema::new(domain, Objects::constants(domain), &[]);
    let mut properties = Map::new();
    schema.add_head(&mut properties, name);
    schema.finish(properties)
}

/// The schema of plans, as [`crate::plan_grammar`], of instantaneous actions.
pub fn plan_schema(domain: &Domain, objects: Option<&[TypedName]>) -> Value {
    let known = objects.map_or(Objects::Any, |objects| Objects::with_constants(domain, objects));
    let mut schema = Schema::new(domain, known, &[]);
    let steps = domain.actions.iter();
    let steps = steps
        .filter_map(|a| schema.application("action", a.name.as_str(), &a.parameters, Variables::None, &[]));
    let steps = any_of(steps.collect());
    schema.finish(Map::from_iter([("plan".to_owned(), array(steps))]))
}

/// The schema of edits, as [`crate::edit_grammar`]: an object for each call.
pub fn edit_schema(domain: &Domain, objects: Option<&[TypedName]>, functions: EditFunctions<'_>) -> Value {
    let scopes = action_scopes(domain);
    let known = known_objects(domain, objects, functions);
    let mut schema = Schema { open_predicates: true, ..Schema::new(domain, known, &[]) };
    let name = json!({"type": "string", "pattern": NAME});
    let constant = |name: &str| json!({"type": "string", "enum": [name]});
    let declaration = object([("name", name), ("parameters", schema.typed_list(VARIABLE))]);
    let mut calls =
        vec![object([("function", constant(functions.predicates)), ("predicates", array(declaration))])];
    for (action, scope) in &scopes {
        schema.scope.parameters = scope;
        schema.of = format!("{}-", action.name.key());
        let condition = schema.condition(Variables::Parameters);
        let effect = schema.effect(Variables::Parameters);
        calls.push(object([
            ("function", constant(functions.action)),
            ("action", constant(action.name.as_str())),
            ("preconditions", array(condition)),
            ("effects", array(effect)),
        ]));
    }
    if let Some([of_objects, of_init, of_goal]) = functions.problem {
        schema.of.clear();
        let mut facts = schema.atoms(Variables::None, false);
        facts.extend(schema.fluents(Variables::None, &[("value", json!({"type": "number"}))]));
        let goal = array(schema.condition(Variables::None));
        let parts = [(of_objects, schema.typed_list(NAME)), (of_init, array(any_of(facts))), (of_goal, goal)];
        calls.extend(parts.map(|(function, items)| {
            object([("function", constant(function)), ("add", items.clone()), ("remove", items)])
        }));
    }
    schema.finish(Map::from_iter([("calls".to_owned(), array(any_of(calls)))]))
}

/// The schema of representations, as [`crate::asp_grammar`]: a text for each statement, which nests nothing.
pub fn asp_schema(vocabulary: &AspVocabulary) -> Value {
    let statement = asp_grammar(vocabulary).regex_of("statement").unwrap_or_default();
    // Regular expressions of JSON schemas refuse this escape outside of brackets.
    let pattern = format!("^{}$", statement.replace(":\\-", ":-"));
    object([("statements", array(json!({"type": "string", "pattern": pattern})))])
}

struct Schema<'a> {
    domain: &'a Domain,
    scope: Scope<'a>,
    /// True if every name is a predicate, with any arguments.
    open_predicates: bool,
    /// Prefix of the definitions that depend on the parameters in scope.
    of: String,
    definitions: Map<String, Value>,
}

impl<'a> Schema<'a> {
    fn new(domain: &'a Domain, objects: Objects, parameters: &'a [TypedName]) -> Self {
        let scope = Scope { types: TypeHierarchy::of(domain), objects, parameters };
        Self { domain, scope, open_predicates: false, of: String::new(), definitions: Map::new() }
    }

    /// The name and the parameters of an action.
    fn add_head(&self, properties: &mut Map<String, Value>, name: Option<&str>) {
        let name = match name {
            Some(name) => json!({"type": "string", "enum": [name]}),
            None => json!({"type": "string", "pattern": NAME}),
        };
        properties.insert("name".into(), name);
        properties.insert("parameters".into(), self.typed_list(VARIABLE));
    }

    fn finish(self, properties: Map<String, Value>) -> Value {
        let mut root = object(properties.iter().map(|(key, value)| (key.as_str(), value.clone())));
        if !self.definitions.is_empty() {
            root["$defs"] = Value::Object(self.definitions);
        }
        root
    }

    /// A definition of that name, made once; a definition may refer to itself.
    fn define(&mut self, name: &str, make: impl FnOnce(&mut Self) -> Value) -> Value {
        if !self.definitions.contains_key(name) {
            self.definitions.insert(name.to_owned(), Value::Null);
            let value = make(self);
            self.definitions.insert(name.to_owned(), value);
        }
        json!({"$ref": format!("#/$defs/{name}")})
    }

    /// An argument of a type; nothing if there is none.
    fn term(&mut self, ty: Option<&TypeRef>, variables: Variables) -> Option<Value> {
        let candidates = self.scope.candidates(ty, variables);
        let mut alternatives = Vec::new();
        if candidates.any_name {
            alternatives.push(json!({"type": "string", "pattern": NAME}));
        } else if !candidates.words.is_empty() {
            alternatives.push(json!({"type": "string", "enum": candidates.words}));
        }
        if candidates.any_variable {
            alternatives.push(json!({"type": "string", "pattern": VARIABLE}));
        }
        if alternatives.is_empty() {
            return None;
        }
        let ty = ty.map_or("object".to_owned(), |ty| {
            ty.alternatives.iter().map(|name| name.key()).collect::<Vec<_>>().join("-or-")
        });
        Some(self.define(&format!("{}-{ty}", self.named("term", variables)), |_| any_of(alternatives)))
    }

    /// `{KIND: NAME, ...}` with a property for each argument; nothing if an argument has no value.
    fn application(
        &mut self,
        kind: &str,
        name: &str,
        parameters: &[TypedName],
        variables: Variables,
        more: &[(&str, Value)],
    ) -> Option<Value> {
        let mut properties = vec![(kind.to_owned(), json!({"type": "string", "enum": [name]}))];
        for (key, parameter) in argument_keys(parameters).into_iter().zip(parameters) {
            properties.push((key, self.term(parameter.ty.as_ref(), variables)?));
        }
        properties.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        Some(object(properties.iter().map(|(key, value)| (key.as_str(), value.clone()))))
    }

    /// The atoms, without those of derived predicates if they change something.
    fn atoms(&mut self, variables: Variables, with_derived: bool) -> Vec<Value> {
        if self.open_predicates {
            let mut open = vec![("predicate", json!({"type": "string", "pattern": NAME}))];
            open.extend(self.term(None, variables).map(|term| ("arguments", array(term))));
            return vec![object(open)];
        }
        let domain = self.domain;
        let is_derived = |name| domain.derived.iter().any(|rule| &rule.predicate == name);
        let predicates = domain.predicates.iter().filter(|p| with_derived || !is_derived(&p.name));
        predicates
            .filter_map(|p| self.application("predicate", p.name.as_str(), &p.parameters, variables, &[]))
            .collect()
    }

    fn fluents(&mut self, variables: Variables, more: &[(&str, Value)]) -> Vec<Value> {
        let functions = self.domain.functions.iter();
        functions
            .filter_map(|f| self.application("function", f.name.as_str(), &f.parameters, variables, more))
            .collect()
    }

    fn numeric(&mut self, variables: Variables) -> Value {
        self.define(&self.named("number", variables), |schema| {
            let inner = schema.reference("number", variables);
            let op = json!({"type": "string", "enum": ["+", "-", "*", "/"]});
            let mut alternatives = vec![json!({"type": "number"})];
            alternatives.extend(schema.fluents(variables, &[]));
            alternatives.push(object([("operator", op), ("left", inner.clone()), ("right", inner)]));
            any_of(alternatives)
        })
    }

    fn condition(&mut self, variables: Variables) -> Value {
        let inner = self.reference("condition", variables);
        self.define(&self.named("condition", variables), |schema| {
            let body = schema.condition(Variables::Any);
            let bound = schema.typed_list(VARIABLE);
            let mut alternatives = schema.atoms(variables, true);
            alternatives.extend([
                object([("and", array(inner.clone()))]),
                object([("or", array(inner.clone()))]),
                object([("not", inner.clone())]),
                object([("if", inner.clone()), ("then", inner)]),
                object([("exists", bound.clone()), ("condition", body.clone())]),
                object([("forall", bound), ("condition", body)]),
            ]);
            if let Some(term) = schema.term(None, variables) {
                alternatives.push(object([("same", term.clone()), ("as", term)]));
            }
            if !schema.domain.functions.is_empty() {
                let number = schema.numeric(variables);
                let op = json!({"type": "string", "enum": ["<", "<=", "=", ">=", ">"]});
                alternatives.push(object([("compare", op), ("left", number.clone()), ("right", number)]));
            }
            any_of(alternatives)
        })
    }

    fn effect(&mut self, variables: Variables) -> Value {
        let inner = self.reference("effect", variables);
        self.define(&self.named("effect", variables), |schema| {
            let body = schema.effect(Variables::Any);
            let bound = schema.typed_list(VARIABLE);
            let facts = schema.atoms(variables, false);
            let fact = schema.define(&schema.named("fact", variables), |_| any_of(facts));
            let condition = schema.condition(variables);
            let mut alternatives = vec![
                fact.clone(),
                object([("and", array(inner.clone()))]),
                object([("not", fact)]),
                object([("forall", bound), ("effect", body)]),
                object([("when", condition), ("effect", inner)]),
            ];
            if !schema.domain.functions.is_empty() {
                let ops = ["assign", "increase", "decrease", "scale-up", "scale-down"];
                let change = json!({"type": "string", "enum": ops});
                let value = schema.numeric(variables);
                alternatives.extend(schema.fluents(variables, &[("change", change), ("value", value)]));
            }
            any_of(alternatives)
        })
    }

    /// The name of a definition for these variables.
    fn named(&self, name: &str, variables: Variables) -> String {
        match variables {
            Variables::None | Variables::Parameters => format!("{}{name}", self.of),
            Variables::Any => format!("quantified-{name}"),
        }
    }

    fn reference(&self, name: &str, variables: Variables) -> Value {
        json!({"$ref": format!("#/$defs/{}", self.named(name, variables))})
    }

    /// A list of names with their types.
    fn typed_list(&self, pattern: &str) -> Value {
        let name = json!({"type": "string", "pattern": pattern});
        let ty = json!({"type": "string", "enum": self.scope.type_names()});
        array(object([("name", name), ("type", ty)]))
    }
}

fn array(items: Value) -> Value {
    json!({"type": "array", "items": items})
}

fn any_of(mut alternatives: Vec<Value>) -> Value {
    match alternatives.len() {
        1 => alternatives.remove(0),
        _ => json!({"anyOf": alternatives}),
    }
}

/// An object with exactly these properties.
fn object<'k>(properties: impl IntoIterator<Item = (&'k str, Value)>) -> Value {
    let properties: Vec<(&str, Value)> = properties.into_iter().collect();
    let required: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
    let required = json!(required);
    let properties: Map<String, Value> =
        properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Deepest nesting of conditions and effects.
const MAX_DEPTH: u32 = 100;

type Read = Result<String, String>;

/// The problem that JSON of [`problem_schema`] describes. `objects` are the known objects that the schema was made with.
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

/// The section `(:objects ...)` that JSON of [`objects_schema`] describes.
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

/// The action that JSON of [`action_schema`] describes, on four lines.
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

/// The beginning `(:action NAME :parameters (...))` that JSON of [`parameters_schema`] describes.
///
/// # Errors
/// As [`problem_from_json`].
pub fn parameters_from_json(domain: &Domain, text: &str) -> Read {
    let reader = Reader { domain, open_predicates: false };
    Ok(format!("{})", reader.head(&parse(text)?)?))
}

/// The plan that JSON of [`plan_schema`] describes, one action a line.
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

/// The calls that JSON of [`edit_schema`] describes, one a line, as Python.
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

/// The representation that JSON of [`asp_schema`] describes, one statement a line.
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

/// The properties of an application's arguments: the parameters without question marks, numbered where two would be equal.
fn argument_keys(parameters: &[TypedName]) -> Vec<String> {
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
