//! Rewrites texts in plain language and answer set programs word by word.
//!
//! In plain language, capitals, articles and everything between the words stay right. Programs are knowledge files and intermediate
//! representations. Inside parentheses they have the domain's predicates, types and objects, written with `_` for `-`. Outside are
//! the predicates of the representation and of its library (`init`, `object`, `next_row`), which stay, and those that the file
//! defines.

/// A piece of a text.
pub(crate) enum TextPiece<'a> {
    /// Letters, digits, hyphens and underscores without a blank, in lower case: `block1`, `pick-up`.
    Run(&'a str),
    /// The letters of one word in such a run, in lower case.
    Word(&'a str),
}

/// The text with each run replaced that `new` has something for, else each of its words. What replaces it is capital where the old was, and
/// an article before it is the one that it takes.
pub(crate) fn rewrite_text(text: &str, mut new: impl FnMut(TextPiece<'_>) -> Option<String>) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !c.is_alphanumeric() {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let run = &rest[..rest.find(|c| !part(c)).unwrap_or(rest.len())];
        let run = run.trim_end_matches(['-', '_']);
        rest = &rest[run.len()..];
        // The `s` of `block's` and the `t` of `don't` are no words.
        let behind_apostrophe = {
            let mut before = out.chars().rev();
            matches!(before.next(), Some('\'' | '\u{2019}'))
                && before.next().is_some_and(char::is_alphanumeric)
        };
        if behind_apostrophe {
            out.push_str(run);
            continue;
        }
        let replaced = new(TextPiece::Run(&run.to_lowercase()))
            .map(|whole| like(run, &whole))
            .or_else(|| words(run, &mut new));
        match replaced {
            Some(replaced) => {
                article(&mut out, &replaced);
                out.push_str(&replaced);
            }
            None => out.push_str(run),
        }
    }
    out
}

/// The run with its words replaced; none where no word is.
fn words(run: &str, new: &mut impl FnMut(TextPiece<'_>) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut any = false;
    for piece in pieces(run) {
        let letters = piece.starts_with(char::is_alphabetic);
        match letters.then(|| new(TextPiece::Word(&piece.to_lowercase()))).flatten() {
            Some(word) => {
                any = true;
                out.push_str(&like(piece, &word));
            }
            None => out.push_str(piece),
        }
    }
    any.then_some(out)
}

/// Splits a name into runs of letters and runs of other characters.
pub(crate) fn pieces(name: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        let letters = c.is_alphabetic();
        let end = rest.find(|c: char| c.is_alphabetic() != letters).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A word in the capitals of another.
fn like(old: &str, new: &str) -> String {
    let mut letters = old.chars().filter(|c| c.is_alphabetic());
    let first = letters.next().is_some_and(char::is_uppercase);
    let others: Vec<char> = letters.collect();
    if first && !others.is_empty() && others.iter().all(|c| c.is_uppercase()) {
        return new.to_uppercase();
    }
    let mut chars = new.chars();
    match chars.next() {
        Some(c) if first => c.to_uppercase().chain(chars).collect(),
        _ => new.to_owned(),
    }
}

/// Makes an article at the end of the text fit the word that follows it.
fn article(text: &mut String, word: &str) {
    let blank = text.trim_end_matches(|c: char| c.is_whitespace() || c == '"' || c == '`');
    let gap = text.len() - blank.len();
    let Some(start) = ["a", "an", "A", "An"].iter().find_map(|article| {
        let start = blank.len().checked_sub(article.len())?;
        let ends = blank.ends_with(article);
        let whole = !blank.get(..start)?.ends_with(|c: char| c.is_alphanumeric() || "'-_".contains(c));
        (ends && whole && gap > 0).then_some(start)
    }) else {
        return;
    };
    let capital = text[start..].starts_with('A');
    let tail = text[text.len() - gap..].to_owned();
    let vowel = word.starts_with(|c: char| "aeiouAEIOU".contains(c));
    text.truncate(start);
    text.push_str(match (capital, vowel) {
        (true, true) => "An",
        (true, false) => "A",
        (false, true) => "an",
        (false, false) => "a",
    });
    text.push_str(&tail);
}

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
pub(crate) fn rewrite_program(program: &str, told: &impl ProgramNames) -> String {
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

    #[test]
    fn words_are_exchanged_and_all_else_stays() {
        let text = "A block is on an\nold Table; BLOCK-1's arm (block_1) isn't tables. Block12-";
        let new = rewrite_text(text, |piece| match piece {
            TextPiece::Run("block12") => Some("onion".to_owned()),
            TextPiece::Word("block") => Some("egg".to_owned()),
            TextPiece::Word("old") => Some("new".to_owned()),
            TextPiece::Word("table" | "s" | "t") => Some("door".to_owned()),
            _ => None,
        });
        assert_eq!(new, "An egg is on a\nnew Door; EGG-1's arm (egg_1) isn't tables. Onion-");
    }

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
            rewrite_program(program, &Upper),
            "% ON CELLS\nir_predicate(zorv_grid(row, column, new_cell), \"T ON\\\" IT\").\n\
            init(new_adjacent(A, Zorv)) :- adjacent(new_cell, A, Zorv), not init(new_on(A, _)), #count { X : object(X, new_cell), on(X) } > 2.\n\
            goal(not new_stands_on(a, @make_on(1))). covers_zorv(X) :- grid(new_cell, X)."
        );
    }
}
