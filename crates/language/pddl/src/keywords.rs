//! Keywords of PDDL: sections, fields, and heads of lists.

/// Returns true if `words` contains the word, in any case.
pub(crate) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|w| w.eq_ignore_ascii_case(word))
}

/// Keywords that begin a section of a domain or a problem.
const SECTIONS: &[&str] = &[
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":action",
    ":durative-action",
    ":derived",
    ":axiom",
    ":constraints",
    ":domain",
    ":objects",
    ":init",
    ":goal",
    ":metric",
    ":situation",
    ":length",
];

/// Keywords of the fields of an action or axiom.
pub(crate) const FIELDS: &[&str] =
    &[":parameters", ":vars", ":precondition", ":effect", ":duration", ":condition", ":context", ":implies"];

/// Words that head a list of their kind in a condition, an effect or the initial state, and so are not
/// predicates.
pub(crate) const OPERATORS: &[&str] = &[
    "and",
    "or",
    "not",
    "imply",
    "implies",
    "exists",
    "forall",
    "when",
    "oneof",
    "preference",
    "at",
    "over",
    "always",
    "sometime",
    "within",
    "at-most-once",
    "sometime-after",
    "sometime-before",
    "always-within",
    "hold-during",
    "hold-after",
    "increase",
    "decrease",
    "assign",
    "scale-up",
    "scale-down",
];

/// Further words that may head a list which has lists among its arguments.
const OTHER_HEADS: &[&str] = &[
    "=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "either",
    "is-violated",
    "probabilistic",
    "unknown",
    "minimize",
    "maximize",
];

pub(crate) fn heads_lists(word: &str) -> bool {
    is_one_of(word, OPERATORS) || is_one_of(word, OTHER_HEADS)
}

pub(crate) fn is_section_keyword(word: &str) -> bool {
    is_one_of(word, SECTIONS)
}

pub(crate) fn is_field_keyword(word: &str) -> bool {
    is_one_of(word, FIELDS)
}
