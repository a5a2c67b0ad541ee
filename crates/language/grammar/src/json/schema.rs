//! The schemas.

use super::keys::argument_keys;
use crate::action::ActionHead;
use crate::asp::{AspVocabulary, asp_grammar};
use crate::edit::{EditFunctions, action_scopes, known_objects};
use crate::scope::{Objects, Scope, Variables};
use planforge_pddl::TypeHierarchy;
use planforge_pddl::ast::{Domain, TypeRef, TypedName};
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
