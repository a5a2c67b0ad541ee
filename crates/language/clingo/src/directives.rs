//! Refuses the directives by which a program reaches outside itself, before clingo reads it. clingo has no switch for this, and its
//! parser opens an included file as soon as it meets the directive.
//!
//! The scan splits text into strings, comments and the rest as clingo's lexer does (libgringo/src/input/nongroundlexer.xch), so
//! that nothing can hide a directive from it, and the word in a comment or a string does not count.

use crate::{Error, MessagePlace};

/// `#theory` is refused because quoted strings have another syntax inside theory definitions, where the scan
/// would lose track.
const REFUSED: [&str; 3] = ["#include", "#script", "#theory"];

/// # Errors
/// `Error::Refused` for the first directive that reaches outside, and for text in the solvers' numeric format.
pub(crate) fn check(program: &str) -> Result<(), Error> {
    let refused = |what: &str, offset| {
        Err(Error::Refused { what: what.to_owned(), place: MessagePlace::of(program, offset) })
    };
    if program.starts_with("asp ") {
        return refused("text in aspif format", 0);
    }
    if !REFUSED.iter().any(|word| program.contains(word)) {
        return Ok(());
    }
    let bytes = program.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at = match bytes[at] {
            b'"' => after_string(bytes, at),
            b'%' if bytes.get(at + 1) == Some(&b'*') => after_block_comment(bytes, at),
            b'%' => after_line(bytes, at),
            b'#' if bytes.get(at + 1) == Some(&b'!') => after_line(bytes, at),
            b'#' => {
                let end = bytes[at + 1..]
                    .iter()
                    .position(|b| !b.is_ascii_alphanumeric() && *b != b'_')
                    .map_or(bytes.len(), |n| at + 1 + n);
                if REFUSED.contains(&&program[at..end]) {
                    return refused(&program[at..end], at);
                }
                end
            }
            _ => at + 1,
        };
    }
    Ok(())
}

/// Index after the string that begins here. After an unclosed string or an unknown escape, the index after
/// the quote: clingo reports that quote and reads on behind it.
fn after_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at += match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'"'), _) => return at + 1,
            (Some(b'\\'), Some(b'"' | b'\\' | b'n')) => 2,
            (None | Some(b'\\' | b'\n'), _) => return start + 1,
            _ => 1,
        };
    }
}

fn after_line(bytes: &[u8], start: usize) -> usize {
    bytes[start..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| start + n + 1)
}

/// Block comments nest, and a line comment inside one hides its end.
fn after_block_comment(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start + 2, 1_u32);
    while depth > 0 && at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'*', Some(b'%')) => (at, depth) = (at + 2, depth - 1),
            (b'%', Some(b'*')) => (at, depth) = (at + 2, depth + 1),
            (b'%', _) => at = after_line(bytes, at),
            _ => at += 1,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found_wherever_clingo_would_read_one() {
        for program in [
            "#include \"/etc/hostname\".",
            "a.#include<incmode>.",
            "#script (lua) #end.",
            "p(\"text\\\\\"). #include \"x\".",
            "% comment\n#include \"x\".",
            "%* comment *% #include \"x\".",
            "%* a %* nested *% *%#include \"x\".",
            "%* a % hidden *%\n *%#include \"x\".",
            "p(\"broken\n). #include \"x\".",
            "p(\"bad \\q). #include \"x\".",
            "#theory t { \" }. p(\"). #include \"x\".",
            "#! comment\n#script (lua) #end.",
            "#true#include \"x\".",
            "é. #include \"x\".",
        ] {
            assert!(matches!(check(program), Err(Error::Refused { .. })), "{program}");
        }
    }

    #[test]
    fn the_words_alone_are_harmless() {
        for program in [
            "p(\"#include\").",
            "% #include \"x\".",
            "%* #include %* #script *% #include *% p.",
            "#included.",
            "p(\"a \\\" #include \\\\\\\" \\n\").",
            "#! #script\n",
            "%* never closed #include",
            "%",
            "#",
            "\"",
        ] {
            assert_eq!(check(program), Ok(()), "{program}");
        }
        assert!(check("asp 1 0 0\n0\n").is_err());
    }

    #[test]
    fn the_place_is_that_of_the_directive() {
        let Err(Error::Refused { what, place }) = check("a.\nb. #include \"x\".") else {
            panic!("not refused")
        };
        assert_eq!((what.as_str(), place.line, place.column), ("#include", 2, 4));
    }
}
