//! Renames answer set programs: knowledge files and intermediate representations.
//!
//! Inside parentheses are the domain's predicates, types and objects, written with `_` for `-`. Outside are
//! the predicates of the representation and of its library (`init`, `object`, `next_row`), which stay, and
//! those that the file defines.

/// Predicates of the representation and its library, and what the language has words for.
const KEPT: &[&str] = &[
    "adjacent",
    "bijection",
    "cardinality",
    "column",
    "conflict",
    "count",
    "first",
    "follows",
    "goal",
    "grid",
    "init",
    "ir_predicate",
    "ir_type",
    "last",
    "mapped",
    "max",
    "min",
    "missing",
    "next_column",
    "next_row",
    "not",
    "object",
    "pair",
    "row",
    "sequence",
    "show",
    "sum",
];

/// The replacements in a program.
pub(crate) trait ProgramNames {
    /// Replacement of a name of the domain or a problem, as programs write it; `None` for other names.
    fn name(&self, mangled: &str) -> Option<String>;
    /// An identifier word by word.
    fn words(&self, identifier: &str) -> String;
    /// A comment or a string.
    fn text(&self, text: &str) -> String;
}

/// The program in the new names.
pub(crate) fn rewritten(program: &str, told: &impl ProgramNames) -> String {
    let mut out = String::with_capacity(program.len());
    let mut rest = program;
    let mut depth = 0_usize;
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '%' if rest.starts_with("%*") => rest.find("*%").map_or(rest.len(), |end| end + 2),
            '%' => rest.find('\n').unwrap_or(rest.len()),
            '"' => string_end(rest),
            // A number keeps its letters, an external function its name.
            '@' | '#' => 1 + rest[1..].find(|c| !part(c)).unwrap_or(rest.len() - 1),
            c if part(c) => rest.find(|c| !part(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        match c {
            '%' | '"' => out.push_str(&told.text(piece)),
            c if c.is_ascii_alphabetic() || c == '_' => {
                out.push_str(&identifier(piece, depth, after.starts_with('('), told));
            }
            _ => {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                out.push_str(piece);
            }
        }
        rest = after;
    }
    out
}

fn identifier(written: &str, depth: usize, applied: bool, told: &impl ProgramNames) -> String {
    let kept = KEPT.contains(&written);
    if depth == 0 && kept {
        return written.to_owned();
    }
    // Outside of parentheses a predicate of the file may have a name of the domain, and means something else.
    match told.name(written).filter(|_| depth > 0) {
        Some(name) => name,
        None if kept && applied => written.to_owned(),
        None => told.words(written),
    }
}

/// Length of a string literal, with its quotes.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Upper;
    impl ProgramNames for Upper {
        fn name(&self, mangled: &str) -> Option<String> {
            ["stands_on", "on", "adjacent", "grid", "cell"]
                .contains(&mangled)
                .then(|| format!("new_{mangled}"))
        }
        fn words(&self, identifier: &str) -> String {
            identifier.replace("cell", "zorv").replace("Cell", "Zorv")
        }
        fn text(&self, text: &str) -> String {
            text.to_uppercase()
        }
    }

    #[test]
    fn the_domain_s_names_are_exchanged_and_the_library_s_are_not() {
        let program = "% on cells\nir_predicate(cell_grid(row, column, cell), \"T on\\\" it\").\n\
            init(adjacent(A, Cell)) :- adjacent(cell, A, Cell), not init(on(A, _)), #count { X : object(X, cell), on(X) } > 2.\n\
            goal(not stands_on(a, @make_on(1))). covers_cell(X) :- grid(cell, X).";
        assert_eq!(
            rewritten(program, &Upper),
            "% ON CELLS\nir_predicate(zorv_grid(row, column, new_cell), \"T ON\\\" IT\").\n\
            init(new_adjacent(A, Zorv)) :- adjacent(new_cell, A, Zorv), not init(new_on(A, _)), #count { X : object(X, new_cell), on(X) } > 2.\n\
            goal(not new_stands_on(a, @make_on(1))). covers_zorv(X) :- grid(new_cell, X)."
        );
    }
}
