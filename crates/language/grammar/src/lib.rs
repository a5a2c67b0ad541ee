//! Grammars that rule out ill-formed PDDL: what a model may write about one domain, as GBNF, in Lark's notation or as JSON schema.
//!
//! A grammar is made from a parsed domain, and from the objects of a task where they are known. docs/reference/grammars.md states what each
//! grammar guarantees.

#![warn(missing_docs)]

mod definitions;
pub mod json;
mod notation;
mod pddl;
mod tree;

pub use definitions::{
    ActionHead, AspVocabulary, EditFunctions, action_grammar, asp_grammar, domain_grammar, edit_grammar,
    objects_grammar, parameters_grammar, plan_grammar, problem_grammar,
};
pub use pddl::count_listed_names;
pub use tree::{Expr, Grammar, Rule, RuleId};
