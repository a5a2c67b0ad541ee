//! Grammars that rule out ill-formed PDDL: what a model may write about one domain, as GBNF, in Lark's notation or as JSON schema.
//!
//! A grammar is made from a parsed domain, and from the objects of a task where they are known. docs/reference/grammars.md states what each
//! grammar guarantees.

#![warn(missing_docs)]

mod accept;
mod action;
mod asp;
mod derive;
mod domain;
mod edit;
mod gbnf;
pub mod json;
mod lark;
mod notation;
mod pddl;
mod plan;
mod problem;
mod scope;
mod tree;

pub use action::{ActionHead, action_grammar, parameters_grammar};
pub use asp::{AspVocabulary, asp_grammar};
pub use domain::domain_grammar;
pub use edit::{EditFunctions, edit_grammar};
pub use plan::plan_grammar;
pub use problem::{objects_grammar, problem_grammar};
pub use tree::{Expr, Grammar, Rule, RuleId};
