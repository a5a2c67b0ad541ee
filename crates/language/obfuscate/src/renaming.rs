//! The exchanged names as a table, and the way back.

use crate::options::NameStyle;
use crate::text;
use crate::text::TextPiece;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The names and words of a suite with their replacements. Replacements are unique, and none is a name or
/// word of the suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renaming {
    /// The kind of the new names.
    pub style: NameStyle,
    /// The seed that they derive from.
    pub seed: u64,
    /// Name -> new name, both in lower case and variables without their question mark.
    pub names: BTreeMap<String, String>,
    /// Word of the texts -> word in its place, in lower case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub words: BTreeMap<String, String>,
    /// Names that stay in texts, where they are function words. In PDDL they have new names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<String>,
    /// Names that stay everywhere: parameters and objects that consist of function words and numbers alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

impl Renaming {
    /// The new name of a name: itself where it has none.
    pub fn name<'a>(&'a self, name: &'a str) -> &'a str {
        self.names.get(name.to_lowercase().trim_start_matches('?')).map_or(name, String::as_str)
    }

    /// Renames PDDL, plans or single actions: replaces whole symbols, in any case. Comments stay.
    pub fn apply(&self, pddl: &str) -> String {
        replace_symbols(pddl, |symbol, _| self.names.get(symbol).cloned())
    }

    /// The way back for documents that belong together.
    ///
    /// A name that the renaming lacks was invented by the author of the documents, and stays. So does an
    /// original name, which the author did not get, unless the documents also use its replacement: then the
    /// original name gets the suffix `-of-its-own`, since it means something else.
    pub fn back<'a>(&self, documents: impl IntoIterator<Item = &'a str>) -> Back {
        let mut names: BTreeMap<String, String> =
            self.names.iter().map(|(name, new)| (new.clone(), name.clone())).collect();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut recalled: BTreeSet<String> = BTreeSet::new();
        for document in documents {
            replace_symbols(document, |symbol, variable| {
                seen.insert(symbol.to_owned());
                if !variable
                    && self.names.contains_key(symbol)
                    && !self.left.iter().any(|left| left == symbol)
                {
                    recalled.insert(symbol.to_owned());
                }
                None
            });
        }
        let both = self.names.iter().filter(|(name, new)| seen.contains(*name) && seen.contains(*new));
        for (name, _) in both {
            let mut own = format!("{name}-of-its-own");
            while seen.contains(&own) || self.names.contains_key(&own) {
                own.push_str("-again");
            }
            names.insert(name.clone(), own);
        }
        let recalled = recalled.into_iter().collect();
        let words = self.words.iter().map(|(word, new)| (new.clone(), word.clone())).collect();
        Back { names, words, recalled }
    }
}

/// From the new names back to the original ones.
#[derive(Debug, Clone, Default)]
pub struct Back {
    names: BTreeMap<String, String>,
    words: BTreeMap<String, String>,
    /// Original names in the documents, in order; their author did not get them.
    pub recalled: Vec<String>,
}

impl Back {
    /// Restores the names in PDDL, plans or single actions: replaces whole symbols, in any case. Comments
    /// stay.
    pub fn pddl(&self, text: &str) -> String {
        replace_symbols(text, |symbol, _| self.names.get(symbol).cloned())
    }

    /// Plain language in the original names and words.
    pub fn text(&self, text: &str) -> String {
        text::rewrite_text(text, |piece| match piece {
            // A name of several documents' own is told as it is written.
            TextPiece::Run(run) => {
                self.names.get(run).filter(|name| !name.starts_with(&format!("{run}-of-its-own"))).cloned()
            }
            TextPiece::Word(word) => self.words.get(word).cloned(),
        })
    }
}

/// Replaces the whole symbols of a text: the runs between blanks, parentheses and quotes, outside comments.
/// The question mark of a variable stays. `new` gets the symbol in lower case, and true for a variable.
fn replace_symbols(text: &str, mut new: impl FnMut(&str, bool) -> Option<String>) -> String {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            ';' => rest.find('\n').unwrap_or(rest.len()),
            c if part(c) => rest.find(|c| !part(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        let variable = out.ends_with('?');
        match part(c).then(|| new(&piece.to_lowercase(), variable)).flatten() {
            Some(new) => out.push_str(&new),
            None => out.push_str(piece),
        }
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renaming() -> Renaming {
        let table =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Renaming {
            style: NameStyle::Random,
            seed: 1,
            names: table(&[("block", "zorv"), ("block1", "zorv1"), ("on", "brel-on"), ("b", "kub")]),
            words: table(&[("block", "zorv"), ("blocks", "zorvs"), ("stands", "plims")]),
            left: vec!["on".to_owned()],
            kept: vec![],
        }
    }

    #[test]
    fn whole_symbols_are_exchanged_in_any_case_and_comments_are_not() {
        let text = "(:action A :parameters (?b - Block) :precondition (On ?b block1)) ; on block\n(blocks on-block1 ?block12 b)";
        let new = renaming().apply(text);
        assert_eq!(
            new,
            "(:action A :parameters (?kub - zorv) :precondition (brel-on ?kub zorv1)) ; on block\n(blocks on-block1 ?block12 kub)"
        );
        let back = renaming().back([new.as_str()]);
        assert_eq!(back.pddl(&new), text.replace("Block)", "block)").replace("(On", "(on"));
        assert!(back.recalled.is_empty());
    }

    #[test]
    fn what_a_model_invents_stays_and_what_it_recalls_is_kept_apart() {
        let renaming = renaming();
        let domain = "(p ?b - zorv) (on ?b) (brel-on ?b) (on-of-its-own) (block ?b)";
        let back = renaming.back([domain, "(block1)"]);
        // `on` is in the texts, and `?b` is what everybody calls a variable.
        assert_eq!(back.recalled, ["block", "block1"]);
        let own = back.pddl(domain);
        let wanted = "(p ?b - block) (on-of-its-own-again ?b) (on ?b) (on-of-its-own) (block-of-its-own ?b)";
        assert_eq!(own, wanted);
        assert_eq!(back.pddl("(block1)"), "(block1)");
    }

    #[test]
    fn texts_come_back_word_by_word() {
        let back = renaming().back([]);
        assert_eq!(back.text("Zorv1 plims on a zorv; \"brel-on\"."), "Block1 stands on a block; \"on\".");
    }
}
