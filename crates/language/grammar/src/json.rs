//! JSON schemas for services that enforce no other grammar, and the way back from such JSON to PDDL.
//!
//! Every property is required and no further one is allowed, as the strict schemas of model services ask. An atom is
//! `{"predicate": NAME, ...}` with a property for each parameter, named like it. In edits, which may declare predicates, it is
//! `{"predicate": NAME, "arguments": [...]}`. A representation is a list of statements, each a text that follows a regular expression.

mod keys;
mod read;
mod schema;

pub use read::{
    action_from_json, asp_from_json, edits_from_json, objects_from_json, parameters_from_json,
    plan_from_json, problem_from_json,
};
pub use schema::{
    action_schema, asp_schema, edit_schema, objects_schema, parameters_schema, plan_schema, problem_schema,
};
