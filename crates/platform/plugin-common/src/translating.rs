//! Shared parts of the translators that write PDDL: requests to the writer model, the texts a task must have, in-context examples,
//! templates to complete, and the question that asks for a correction.

mod codes;
mod constraint;
mod example;
mod revision;
mod template;
pub mod testing;
mod texts;
mod writer;

pub use codes::{CODES, NO_EXAMPLE, PROMPT_TEMPLATE};
pub use constraint::{GrammarUse, reply_as_pddl};
pub use example::{NamedMaterial, example_pair, material, missing_example};
pub use revision::{REVISE_TEMPLATE, Revision, SYSTEM_TEMPLATE};
pub use template::{
    domain_name, domain_of_problem, domain_template, problem_template, problem_with_objects, suite_name,
    with_holes,
};
pub use texts::{
    need_domain_source, need_domain_text, need_problem_text, note_without_example, note_without_text,
};
pub use writer::{ROLE, Writer, answered_turns, new_turns, response, too_few_replies};
