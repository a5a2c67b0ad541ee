//! PDDL: text with mistakes in, a typed tree and every diagnostic out.
//!
//! [`parse_domain`] and [`parse_problem`] read one definition each and report what is wrong with its form.

#![warn(missing_docs)]

pub mod ast;
mod bytes;
mod check;
mod codes;
mod diff;
pub mod extract;
mod hierarchy;
pub mod mutate;
mod name;
mod number;
mod print;
pub mod random;
mod read;
mod rename;
mod sexpr;
mod sink;
mod visit;

pub use ast::Parsed;
pub use bytes::{MAX_TEXT_BYTES, PddlText, read_bytes, read_pddl_bytes};
pub use check::{
    TaskSources, UsedRequirement, check_domain, check_problem, read_task, requirements_used,
    undeclared_constants, undeclared_requirements,
};
pub use codes::CODES;
pub use diff::{ChangeKind, DefinitionDifference, diff_domains, diff_problems};
pub use extract::{FixedFinding, FixedText, action_blocks, find_pddl, fix_all};
pub use hierarchy::{TypeFit, TypeHierarchy, TypeId, TypeUnion};
pub use name::{Name, natural};
pub use number::Number;
pub use print::{
    domain_template, print_action, print_atom, print_condition, print_domain, print_effect, print_init,
    print_numeric, print_problem, print_typed_list, problem_template,
};
pub use read::{parse_domain, parse_problem};
pub use rename::{rename_objects, rename_parameters, rename_types};
pub use sexpr::MAX_DEPTH;
pub use sink::{MAX_DIAGNOSTICS, nearest};
pub use visit::{NameKind, StripSpans, VisitNames};
