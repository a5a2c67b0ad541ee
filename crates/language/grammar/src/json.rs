//! JSON schemas for services that enforce no other grammar, and the way back from such JSON to PDDL.
//!
//! Every property is required and no further one is allowed, as the strict schemas of model services ask. An atom is
//! `{"predicate": NAME, ...}` with a property for each parameter, named like it.

mod keys;
mod read;
mod schema;

pub use read::{action_from_json, objects_from_json, plan_from_json, problem_from_json};
pub use schema::{action_schema, objects_schema, plan_schema, problem_schema};
