//! Forms of words: `block` and `blocks`, `hold` and `held`, `stack` and `unstacked` are one word each.
//!
//! A wrong guess costs little: all that is asked is that the forms of one word in one suite come out as one word, and two words never do.
//! So what a form belongs to is looked up among the words that the suite has, and only then guessed.

use super::function::is_function_word;
use std::collections::BTreeSet;

/// An ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Ending {
    /// `stack`
    None,
    /// `stacks`, `boxes`, `carries`
    S,
    /// `stacked`, `held`, `taken`
    Ed,
    /// `stacking`
    Ing,
}

impl Ending {
    /// What a word that is inflected by adding letters alone gets.
    pub(crate) const fn letters(self) -> &'static str {
        match self {
            Self::None => "",
            Self::S => "s",
            Self::Ed => "ed",
            Self::Ing => "ing",
        }
    }
}

/// A word taken apart: the word itself, whether `un` stands before it, and its ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) word: String,
    pub(crate) un: bool,
    pub(crate) ending: Ending,
}

impl Form {
    /// The same form of another word, which is inflected by adding letters alone.
    pub(crate) fn of(&self, other: &str) -> String {
        format!("{}{other}{}", if self.un { "un" } else { "" }, self.ending.letters())
    }
}

/// Forms that no rule gives.
const IRREGULAR: &[(&str, &str, Ending)] = &[
    ("bent", "bend", Ending::Ed),
    ("bought", "buy", Ending::Ed),
    ("bound", "bind", Ending::Ed),
    ("broken", "break", Ending::Ed),
    ("brought", "bring", Ending::Ed),
    ("built", "build", Ending::Ed),
    ("children", "child", Ending::S),
    ("driven", "drive", Ending::Ed),
    ("drove", "drive", Ending::Ed),
    ("drawn", "draw", Ending::Ed),
    ("drew", "draw", Ending::Ed),
    ("eaten", "eat", Ending::Ed),
    ("fed", "feed", Ending::Ed),
    ("fell", "fall", Ending::Ed),
    ("fallen", "fall", Ending::Ed),
    ("feet", "foot", Ending::S),
    ("flew", "fly", Ending::Ed),
    ("flown", "fly", Ending::Ed),
    ("found", "find", Ending::Ed),
    ("gave", "give", Ending::Ed),
    ("given", "give", Ending::Ed),
    ("goes", "go", Ending::S),
    ("gone", "go", Ending::Ed),
    ("went", "go", Ending::Ed),
    ("grown", "grow", Ending::Ed),
    ("hidden", "hide", Ending::Ed),
    ("held", "hold", Ending::Ed),
    ("hung", "hang", Ending::Ed),
    ("kept", "keep", Ending::Ed),
    ("knives", "knife", Ending::S),
    ("laid", "lay", Ending::Ed),
    ("led", "lead", Ending::Ed),
    ("lent", "lend", Ending::Ed),
    ("lain", "lie", Ending::Ed),
    ("lying", "lie", Ending::Ing),
    ("lit", "light", Ending::Ed),
    ("lost", "lose", Ending::Ed),
    ("made", "make", Ending::Ed),
    ("men", "man", Ending::S),
    ("met", "meet", Ending::Ed),
    ("mice", "mouse", Ending::S),
    ("paid", "pay", Ending::Ed),
    ("people", "person", Ending::S),
    ("ran", "run", Ending::Ed),
    ("risen", "rise", Ending::Ed),
    ("seen", "see", Ending::Ed),
    ("sent", "send", Ending::Ed),
    ("shelves", "shelf", Ending::S),
    ("shaken", "shake", Ending::Ed),
    ("slid", "slide", Ending::Ed),
    ("sold", "sell", Ending::Ed),
    ("spun", "spin", Ending::Ed),
    ("stood", "stand", Ending::Ed),
    ("stuck", "stick", Ending::Ed),
    ("swept", "sweep", Ending::Ed),
    ("taken", "take", Ending::Ed),
    ("took", "take", Ending::Ed),
    ("thrown", "throw", Ending::Ed),
    ("told", "tell", Ending::Ed),
    ("torn", "tear", Ending::Ed),
    ("tying", "tie", Ending::Ing),
    ("women", "woman", Ending::S),
    ("worn", "wear", Ending::Ed),
    ("written", "write", Ending::Ed),
];

/// The words that a suite has, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vocabulary {
    /// As they stand there.
    words: BTreeSet<String>,
    /// What they may be forms of, by endings that leave no doubt.
    plain: BTreeSet<String>,
}

impl Vocabulary {
    pub(crate) fn new(words: BTreeSet<String>) -> Self {
        let without_s = words.iter().filter_map(|word| singular(word, &words));
        let irregular = IRREGULAR.iter().filter(|(form, ..)| words.contains(*form));
        let plain = without_s.chain(irregular.map(|(_, word, _)| (*word).to_owned())).collect();
        Self { words, plain }
    }

    /// Whether it stands somewhere, as it is.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    /// All that stand somewhere.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }

    fn knows(&self, word: &str) -> bool {
        self.words.contains(word) || self.plain.contains(word)
    }

    /// The word that a form belongs to. `form` is in lower case and no function word.
    pub(crate) fn analyse(&self, form: &str) -> Form {
        if let Some(rest) = form.strip_prefix("un").filter(|rest| rest.len() >= 3 && !is_function_word(rest))
        {
            let inner = self.inflected(rest);
            if self.knows(rest) || self.knows(&inner.word) {
                return Form { un: true, ..inner };
            }
        }
        self.inflected(form)
    }

    fn inflected(&self, form: &str) -> Form {
        let made = |word: &str, ending| Form { word: word.to_owned(), un: false, ending };
        if let Some((_, word, ending)) = IRREGULAR.iter().find(|(irregular, ..)| *irregular == form) {
            return made(word, *ending);
        }
        for (letters, ending) in [("ed", Ending::Ed), ("ing", Ending::Ing)] {
            if let Some(stem) = form.strip_suffix(letters)
                && is_stem(stem)
                && !form.ends_with("eed")
            {
                let candidates = stems(stem);
                let known = candidates.iter().find(|word| self.knows(word) && !is_function_word(word));
                return made(known.or(candidates.first()).map_or(stem, String::as_str), ending);
            }
        }
        match singular(form, &self.words) {
            Some(word) => made(&word, Ending::S),
            None => made(form, Ending::None),
        }
    }
}

/// Whether what is left without an ending can be a word.
fn is_stem(stem: &str) -> bool {
    stem.len() >= 3 && stem.contains(|c| "aeiouy".contains(c))
}

/// What a stem before `ed` or `ing` may be of, likeliest first: `lift`, `stop` for `stopp`, `carry` for `carri`, `place` for `plac`.
fn stems(stem: &str) -> Vec<String> {
    let mut candidates = Vec::new();
    let letters: Vec<char> = stem.chars().collect();
    if let [.., a, b] = letters[..]
        && a == b
        && !"lsfz".contains(a)
    {
        candidates.push(letters[..letters.len() - 1].iter().collect());
    }
    candidates.push(stem.to_owned());
    if let Some(rest) = stem.strip_suffix('i') {
        candidates.insert(0, format!("{rest}y"));
    }
    if let [.., a, b] = letters[..]
        && a == b
    {
        candidates.push(letters[..letters.len() - 1].iter().collect());
    }
    candidates.push(format!("{stem}e"));
    candidates
}

/// The word without its `s`; none where the letter belongs to it.
fn singular(form: &str, words: &BTreeSet<String>) -> Option<String> {
    let stem = form.strip_suffix('s').filter(|stem| is_stem(stem) && !is_function_word(form))?;
    if stem.ends_with(['s', 'u', 'i']) {
        return None;
    }
    if let Some(rest) = stem.strip_suffix("ie").filter(|rest| rest.len() >= 2 && !words.contains(stem)) {
        return Some(format!("{rest}y"));
    }
    let hissing = |rest: &&str| ["s", "x", "z", "ch", "sh", "o"].iter().any(|end| rest.ends_with(end));
    if let Some(rest) = stem.strip_suffix('e').filter(hissing).filter(|_| !words.contains(stem)) {
        return Some(rest.to_owned());
    }
    Some(stem.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analysed(words: &str, form: &str) -> (String, bool, Ending) {
        let words = words.split(' ').map(str::to_owned).collect();
        let found = Vocabulary::new(words).analyse(form);
        (found.word, found.un, found.ending)
    }

    #[test]
    fn forms_of_one_word_are_found() {
        for (words, form, word, un, ending) in [
            ("block blocks", "blocks", "block", false, Ending::S),
            ("box boxes", "boxes", "box", false, Ending::S),
            ("places placed", "placed", "place", false, Ending::Ed),
            ("places placing", "placing", "place", false, Ending::Ing),
            ("stop stopped", "stopped", "stop", false, Ending::Ed),
            ("stopped", "stopped", "stop", false, Ending::Ed),
            ("carries", "carries", "carry", false, Ending::S),
            ("carries carried", "carried", "carry", false, Ending::Ed),
            ("held", "held", "hold", false, Ending::Ed),
            ("covered uncovered", "uncovered", "cover", true, Ending::Ed),
            ("screw unscrew", "unscrew", "screw", true, Ending::None),
            ("fastened unfastened", "unfastened", "fasten", true, Ending::Ed),
            ("uncovered", "uncovered", "uncover", false, Ending::Ed),
            ("unit", "unit", "unit", false, Ending::None),
            ("glass", "glass", "glass", false, Ending::None),
            ("bus", "bus", "bus", false, Ending::None),
            ("string", "string", "string", false, Ending::None),
            ("need", "need", "need", false, Ending::None),
            ("bed", "bed", "bed", false, Ending::None),
            ("fill filled", "filled", "fill", false, Ending::Ed),
            ("inflates inflated", "inflated", "inflate", false, Ending::Ed),
        ] {
            assert_eq!(analysed(words, form), (word.to_owned(), un, ending), "{form}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        // `plane` is no form of `plan`, and `bare` none of `bar`.
        let words = "plan plane planes bar bare bars";
        assert_eq!(analysed(words, "planes").0, "plane");
        assert_eq!(analysed(words, "plan").0, "plan");
        assert_eq!(analysed(words, "bare").0, "bare");
        assert_eq!(analysed(words, "bars").0, "bar");
    }
}
