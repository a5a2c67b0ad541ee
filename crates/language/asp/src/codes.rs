//! The diagnostic codes of this crate, each with an example that triggers it and a remedy.

#[cfg(test)]
mod tests;

use planforge_diagnostics::CodeInfo;

/// A code's name in the source, and its entry in [`CODES`]:
/// `NAME "code" "title" means "..." example "..." so "...";`
macro_rules! codes {
    ($($name:ident $code:literal $title:literal means $means:literal example $example:literal so $so:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*
        /// Every diagnostic code of this crate.
        pub const CODES: &[CodeInfo] = &[$(CodeInfo {
            code: $code,
            title: $title,
            explanation: concat!($means, "\n\nExample:\n\n    ", $example, "\n\n", $so, "\n"),
        }),*];
        /// The examples by code, for the test that reads each of them.
        #[cfg(test)]
        pub(crate) const EXAMPLES: &[(&str, &str)] = &[$(($code, $example)),*];
    };
}

codes! {
TOO_LARGE "asp.too-large" "the program is larger than what is read"
    means "A program is read up to a limit, which the message tells. A larger one is refused before anything is read."
    example "a reply of 10 MB"
    so "Check where the text comes from; rules say in one line what thousands of facts say.";
TOO_MANY_FINDINGS "asp.too-many-findings" "there is more to say than is shown"
    means "One program gets at most 200 diagnostics; the rest is counted."
    example "300 statements of an unknown predicate"
    so "Repair the first ones and read again: most of the others follow from them.";
TOO_DEEP "asp.too-deep" "terms are nested too deep"
    means "Terms are read up to 100 levels deep, counting chains of operators."
    example "p(((((((( and so on, a thousand times"
    so "Look for parentheses that are never closed.";
UNEXPECTED "asp.unexpected" "something else is expected at this place"
    means "The text does not follow the grammar of answer set programs. The message tells what may stand there and what was found."
    example "p(a,,b)."
    so "Compare the statement with the form `head :- body.`; what was found is marked.";
MISSING_DOT "asp.missing-dot" "a statement has no dot at its end"
    means "Every statement ends with a dot; the text ended first."
    example "p(a). p(b)"
    so "Add the dot.";
UNCLOSED "asp.unclosed" "a text or comment is never closed"
    means "A text in quotes ends on its line, and a comment that begins with `%*` ends with `*%`."
    example "p(\"a)."
    so "Close it.";
NUMBER "asp.number" "a number is too large"
    means "The reasoner holds numbers up to 2147483647."
    example "cost(9999999999)."
    so "Use a smaller unit.";
CHARACTER "asp.character" "a character means nothing in this language"
    means "The character is no part of a name, a number, a text or a sign of rules."
    example "p(a) & q(b)."
    so "Remove it. Literals of a body are separated by commas.";
FOREIGN_NAME "asp.foreign-name" "a name has letters outside a-z, A-Z, 0-9 and `_`"
    means "Names are written in ASCII, as in PDDL. A name is not rewritten, since two different ones could become the same."
    example "on(caf\u{e9}, table)."
    so "Spell the name with plain letters.";
TYPOGRAPHY "asp.typography" "a typographic character was read as the plain one"
    means "Typographic quotes, dashes and spaces in a model's text are read as `\"`, `-` and space."
    example "on(\u{201c}b1\u{201d}, b2)."
    so "Nothing, or write plain ASCII.";
CLASSICAL_NEGATION "asp.classical-negation" "a sign for classical negation stands before an atom"
    means "`-p` is a second predicate in answer set programs, which no task needs, so it is not read."
    example "-clear(b1)."
    so "Leave out what does not hold in the initial state; write `goal(not clear(b1)).` in the goal.";
UNSUPPORTED "asp.unsupported" "a construct that is not read"
    means "The language of clingo has more than is read here: disjunctions, pools, sets in bodies, double negation."
    example "p(a;b)."
    so "The help beside the message tells how to write the same without it.";
}
