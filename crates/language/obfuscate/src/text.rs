//! Texts in plain language, word by word: capitals, articles and everything between the words stay right.

/// A piece of a text.
pub(crate) enum TextPiece<'a> {
    /// Letters, digits, hyphens and underscores without a blank, in lower case: `block1`, `pick-up`.
    Run(&'a str),
    /// The letters of one word in such a run, in lower case.
    Word(&'a str),
}

/// The text with each run replaced that `new` has something for, else each of its words. What replaces it is capital where the old was, and
/// an article before it is the one that it takes.
pub(crate) fn rewritten(text: &str, mut new: impl FnMut(TextPiece<'_>) -> Option<String>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_exchanged_and_all_else_stays() {
        let text = "A block is on an\nold Table; BLOCK-1's arm (block_1) isn't tables. Block12-";
        let new = rewritten(text, |piece| match piece {
            TextPiece::Run("block12") => Some("onion".to_owned()),
            TextPiece::Word("block") => Some("egg".to_owned()),
            TextPiece::Word("old") => Some("new".to_owned()),
            TextPiece::Word("table" | "s" | "t") => Some("door".to_owned()),
            _ => None,
        });
        assert_eq!(new, "An egg is on a\nnew Door; EGG-1's arm (egg_1) isn't tables. Onion-");
    }
}
