//! Words: which carry a story, and how their forms belong together: `block` and `blocks`, `hold` and `held`, `stack` and `unstacked` are one
//! word each.
//!
//! Wrong guesses are cheap: the forms of one word in a suite must map to one word, and two words to two. So a form is first looked up
//! among the words of the suite, and only then guessed. Function words stay in every text, and a name that consists of them alone
//! keeps its words.

use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum WordEnding {
    /// `stack`
    None,
    /// `stacks`, `boxes`, `carries`
    S,
    /// `stacked`, `held`, `taken`
    Ed,
    /// `stacking`
    Ing,
}

impl WordEnding {
    /// Letters of the ending for a regular word.
    pub(crate) const fn letters(self) -> &'static str {
        match self {
            Self::None => "",
            Self::S => "s",
            Self::Ed => "ed",
            Self::Ing => "ing",
        }
    }
}

/// A form of a word: the word, whether it has the prefix `un`, and its ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form {
    pub(crate) word: String,
    pub(crate) un: bool,
    pub(crate) ending: WordEnding,
}

impl Form {
    /// The same form of another, regular word.
    pub(crate) fn of(&self, other: &str) -> String {
        format!("{}{other}{}", if self.un { "un" } else { "" }, self.ending.letters())
    }
}

/// Forms that no rule gives.
const IRREGULAR: &[(&str, &str, WordEnding)] = &[
    ("bent", "bend", WordEnding::Ed),
    ("bought", "buy", WordEnding::Ed),
    ("bound", "bind", WordEnding::Ed),
    ("broken", "break", WordEnding::Ed),
    ("brought", "bring", WordEnding::Ed),
    ("built", "build", WordEnding::Ed),
    ("children", "child", WordEnding::S),
    ("driven", "drive", WordEnding::Ed),
    ("drove", "drive", WordEnding::Ed),
    ("drawn", "draw", WordEnding::Ed),
    ("drew", "draw", WordEnding::Ed),
    ("eaten", "eat", WordEnding::Ed),
    ("fed", "feed", WordEnding::Ed),
    ("fell", "fall", WordEnding::Ed),
    ("fallen", "fall", WordEnding::Ed),
    ("feet", "foot", WordEnding::S),
    ("flew", "fly", WordEnding::Ed),
    ("flown", "fly", WordEnding::Ed),
    ("found", "find", WordEnding::Ed),
    ("gave", "give", WordEnding::Ed),
    ("given", "give", WordEnding::Ed),
    ("goes", "go", WordEnding::S),
    ("gone", "go", WordEnding::Ed),
    ("went", "go", WordEnding::Ed),
    ("grown", "grow", WordEnding::Ed),
    ("hidden", "hide", WordEnding::Ed),
    ("held", "hold", WordEnding::Ed),
    ("hung", "hang", WordEnding::Ed),
    ("kept", "keep", WordEnding::Ed),
    ("knives", "knife", WordEnding::S),
    ("laid", "lay", WordEnding::Ed),
    ("led", "lead", WordEnding::Ed),
    ("lent", "lend", WordEnding::Ed),
    ("lain", "lie", WordEnding::Ed),
    ("lying", "lie", WordEnding::Ing),
    ("lit", "light", WordEnding::Ed),
    ("lost", "lose", WordEnding::Ed),
    ("made", "make", WordEnding::Ed),
    ("men", "man", WordEnding::S),
    ("met", "meet", WordEnding::Ed),
    ("mice", "mouse", WordEnding::S),
    ("paid", "pay", WordEnding::Ed),
    ("people", "person", WordEnding::S),
    ("ran", "run", WordEnding::Ed),
    ("risen", "rise", WordEnding::Ed),
    ("seen", "see", WordEnding::Ed),
    ("sent", "send", WordEnding::Ed),
    ("shelves", "shelf", WordEnding::S),
    ("shaken", "shake", WordEnding::Ed),
    ("slid", "slide", WordEnding::Ed),
    ("sold", "sell", WordEnding::Ed),
    ("spun", "spin", WordEnding::Ed),
    ("stood", "stand", WordEnding::Ed),
    ("stuck", "stick", WordEnding::Ed),
    ("swept", "sweep", WordEnding::Ed),
    ("taken", "take", WordEnding::Ed),
    ("took", "take", WordEnding::Ed),
    ("thrown", "throw", WordEnding::Ed),
    ("told", "tell", WordEnding::Ed),
    ("torn", "tear", WordEnding::Ed),
    ("tying", "tie", WordEnding::Ing),
    ("women", "woman", WordEnding::S),
    ("worn", "wear", WordEnding::Ed),
    ("written", "write", WordEnding::Ed),
];

/// The words that a suite has, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Vocabulary {
    /// Words as they occur.
    words: BTreeSet<String>,
    /// Base forms of the words, for unambiguous endings.
    plain: BTreeSet<String>,
}

impl Vocabulary {
    pub(crate) fn new(words: BTreeSet<String>) -> Self {
        let without_s = words.iter().filter_map(|word| singular(word, &words));
        let irregular = IRREGULAR.iter().filter(|(form, ..)| words.contains(*form));
        let plain = without_s.chain(irregular.map(|(_, word, _)| (*word).to_owned())).collect();
        Self { words, plain }
    }

    /// True if the word occurs in this form.
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.words.contains(word)
    }

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
            let inner = self.inflect(rest);
            if self.knows(rest) || self.knows(&inner.word) {
                return Form { un: true, ..inner };
            }
        }
        self.inflect(form)
    }

    fn inflect(&self, form: &str) -> Form {
        let made = |word: &str, ending| Form { word: word.to_owned(), un: false, ending };
        if let Some((_, word, ending)) = IRREGULAR.iter().find(|(irregular, ..)| *irregular == form) {
            return made(word, *ending);
        }
        for (letters, ending) in [("ed", WordEnding::Ed), ("ing", WordEnding::Ing)] {
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
            Some(word) => made(&word, WordEnding::S),
            None => made(form, WordEnding::None),
        }
    }
}

/// True if a text without its ending can be a word.
fn is_stem(stem: &str) -> bool {
    stem.len() >= 3 && stem.contains(|c| "aeiouy".contains(c))
}

/// Candidates for the word of a stem before `ed` or `ing`, likeliest first: `lift`, `stop` for `stopp`,
/// `carry` for `carri`, `place` for `plac`.
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

/// Articles, pronouns, prepositions, conjunctions, auxiliaries, counting words and the vocabulary of planning tasks themselves. Sorted.
const FUNCTION_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "according",
    "across",
    "action",
    "actions",
    "after",
    "afterwards",
    "again",
    "against",
    "all",
    "along",
    "already",
    "also",
    "although",
    "always",
    "am",
    "among",
    "an",
    "and",
    "another",
    "any",
    "anybody",
    "anything",
    "are",
    "around",
    "as",
    "at",
    "away",
    "back",
    "be",
    "because",
    "been",
    "before",
    "beginning",
    "behind",
    "being",
    "below",
    "beside",
    "besides",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "could",
    "currently",
    "define",
    "definition",
    "did",
    "different",
    "do",
    "does",
    "doing",
    "domain",
    "done",
    "down",
    "during",
    "each",
    "effect",
    "effects",
    "eight",
    "either",
    "eleven",
    "else",
    "end",
    "ends",
    "enough",
    "even",
    "every",
    "everything",
    "exactly",
    "except",
    "exists",
    "false",
    "few",
    "fewer",
    "finally",
    "first",
    "five",
    "following",
    "follows",
    "for",
    "forall",
    "four",
    "from",
    "further",
    "goal",
    "goals",
    "had",
    "has",
    "have",
    "having",
    "he",
    "hence",
    "her",
    "here",
    "him",
    "his",
    "how",
    "however",
    "i",
    "if",
    "imply",
    "in",
    "init",
    "initial",
    "initially",
    "inside",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "last",
    "least",
    "less",
    "list",
    "many",
    "may",
    "me",
    "metric",
    "might",
    "more",
    "most",
    "must",
    "my",
    "named",
    "neither",
    "never",
    "next",
    "nine",
    "no",
    "nobody",
    "none",
    "nor",
    "not",
    "nothing",
    "now",
    "number",
    "numbers",
    "object",
    "objects",
    "of",
    "off",
    "often",
    "on",
    "once",
    "one",
    "ones",
    "only",
    "onto",
    "opposite",
    "or",
    "order",
    "other",
    "others",
    "otherwise",
    "our",
    "out",
    "outside",
    "over",
    "own",
    "parameter",
    "parameters",
    "per",
    "plan",
    "plans",
    "precondition",
    "predicate",
    "predicates",
    "problem",
    "problems",
    "same",
    "second",
    "set",
    "seven",
    "several",
    "she",
    "should",
    "since",
    "six",
    "so",
    "some",
    "somebody",
    "something",
    "start",
    "state",
    "still",
    "such",
    "task",
    "tasks",
    "ten",
    "than",
    "that",
    "the",
    "their",
    "them",
    "themselves",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "third",
    "this",
    "those",
    "three",
    "through",
    "thus",
    "till",
    "to",
    "together",
    "too",
    "toward",
    "towards",
    "true",
    "twelve",
    "twice",
    "two",
    "type",
    "types",
    "under",
    "unless",
    "until",
    "up",
    "upon",
    "us",
    "use",
    "used",
    "uses",
    "using",
    "value",
    "values",
    "very",
    "via",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "whether",
    "which",
    "while",
    "who",
    "whole",
    "whom",
    "whose",
    "will",
    "with",
    "within",
    "without",
    "would",
    "yes",
    "yet",
    "you",
    "your",
    "zero",
];

/// True for a function word in lower case.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn analyse_form(words: &str, form: &str) -> (String, bool, WordEnding) {
        let words = words.split(' ').map(str::to_owned).collect();
        let found = Vocabulary::new(words).analyse(form);
        (found.word, found.un, found.ending)
    }

    #[test]
    fn forms_of_one_word_are_found() {
        for (words, form, word, un, ending) in [
            ("block blocks", "blocks", "block", false, WordEnding::S),
            ("box boxes", "boxes", "box", false, WordEnding::S),
            ("places placed", "placed", "place", false, WordEnding::Ed),
            ("places placing", "placing", "place", false, WordEnding::Ing),
            ("stop stopped", "stopped", "stop", false, WordEnding::Ed),
            ("stopped", "stopped", "stop", false, WordEnding::Ed),
            ("carries", "carries", "carry", false, WordEnding::S),
            ("carries carried", "carried", "carry", false, WordEnding::Ed),
            ("held", "held", "hold", false, WordEnding::Ed),
            ("covered uncovered", "uncovered", "cover", true, WordEnding::Ed),
            ("screw unscrew", "unscrew", "screw", true, WordEnding::None),
            ("fastened unfastened", "unfastened", "fasten", true, WordEnding::Ed),
            ("uncovered", "uncovered", "uncover", false, WordEnding::Ed),
            ("unit", "unit", "unit", false, WordEnding::None),
            ("glass", "glass", "glass", false, WordEnding::None),
            ("bus", "bus", "bus", false, WordEnding::None),
            ("string", "string", "string", false, WordEnding::None),
            ("need", "need", "need", false, WordEnding::None),
            ("bed", "bed", "bed", false, WordEnding::None),
            ("fill filled", "filled", "fill", false, WordEnding::Ed),
            ("inflates inflated", "inflated", "inflate", false, WordEnding::Ed),
        ] {
            assert_eq!(analyse_form(words, form), (word.to_owned(), un, ending), "{form}");
        }
    }

    #[test]
    fn other_words_stay_apart() {
        // `plane` is no form of `plan`, and `bare` none of `bar`.
        let words = "plan plane planes bar bare bars";
        assert_eq!(analyse_form(words, "planes").0, "plane");
        assert_eq!(analyse_form(words, "plan").0, "plan");
        assert_eq!(analyse_form(words, "bare").0, "bare");
        assert_eq!(analyse_form(words, "bars").0, "bar");
    }

    #[test]
    fn the_list_is_sorted_and_has_each_word_once() {
        for pair in FUNCTION_WORDS.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
        assert!(is_function_word("on") && is_function_word("goal") && !is_function_word("table"));
    }
}
