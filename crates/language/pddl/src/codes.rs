//! Meaning of every diagnostic code of this crate, with an example that triggers it and a remedy.

mod form;
mod meaning;
#[cfg(test)]
mod tests;

use planforge_diagnostics::CodeInfo;

/// Kind of text that an example is.
#[cfg(test)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExampleOf {
    /// A domain definition.
    Domain,
    /// A problem for the domain of [`PROBLEM_DOMAIN`].
    Problem,
    /// A model's reply.
    Reply,
    /// Described only: it is too long or not a text.
    Described,
}

/// The example of one code.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
struct Example {
    code: &'static str,
    of: ExampleOf,
    text: &'static str,
}

/// The domain that the examples of problems are for.
#[cfg(test)]
const PROBLEM_DOMAIN: &str = "(define (domain blocks)
  (:requirements :strips :typing :derived-predicates)
  (:types block)
  (:predicates (on ?x ?y - block) (clear ?x - block) (movable ?x - block) (above ?x ?y - block))
  (:functions (weight ?x - block))
  (:derived (above ?x ?y - block) (on ?x ?y))
  (:action move
    :parameters (?x ?y ?z - block)
    :precondition (and (movable ?x) (on ?x ?y) (clear ?x) (clear ?z))
    :effect (and (on ?x ?z) (clear ?y) (not (on ?x ?y)) (not (clear ?z)))))";

/// Defines a table of codes and the table of its examples, which the tests run: `"code" "title" means "..."
/// example Kind "..." so "...";`
macro_rules! codes {
    ($codes:ident, $examples:ident, $($code:literal $title:literal means $means:literal
        example $of:ident $example:literal so $so:literal;)*) => {
        pub(super) const $codes: [CodeInfo; [$($code),*].len()] = [$(CodeInfo {
            code: $code,
            title: $title,
            explanation: concat!($means, "\n\nExample:\n\n", $example, "\n\n", $so, "\n"),
        }),*];
        #[cfg(test)]
        pub(super) const $examples: [super::Example; $codes.len()] =
            [$(super::Example { code: $code, of: super::ExampleOf::$of, text: $example }),*];
    };
}
use codes;

const COUNT: usize = form::CODES.len() + meaning::CODES.len();

const fn join_tables() -> [CodeInfo; COUNT] {
    let mut all = [form::CODES[0]; COUNT];
    let mut index = 0;
    while index < COUNT {
        all[index] = if index < form::CODES.len() {
            form::CODES[index]
        } else {
            meaning::CODES[index - form::CODES.len()]
        };
        index += 1;
    }
    all
}

static ALL: [CodeInfo; COUNT] = join_tables();

/// Every code this crate emits, for `planforge explain`.
pub static CODES: &[CodeInfo] = &ALL;
