//! PDDL: text with mistakes in, a typed tree and every diagnostic out.
//!
//! [`parse_domain`] and [`parse_problem`] read one definition each.

pub mod ast;
mod name;
mod strip;

pub use ast::Parsed;
pub use name::Name;
pub use strip::StripSpans;
