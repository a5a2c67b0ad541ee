//! New words: made up from syllables, or borrowed from another setting. The words of other domains, for misleading names, all have regular
//! forms with `s`, `ed` and `ing`.

use crate::words::is_function_word;
use planforge_pddl::random::Random;
use std::collections::BTreeSet;

/// Part of speech of a new word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Noun,
    Verb,
    Adjective,
    Letter,
}

/// Hands out words, each once.
pub(crate) struct Inventor {
    seed: u64,
    /// Words of the suite and words handed out: none of them is handed out again, nor a form of one.
    taken: BTreeSet<String>,
    /// The themes in the order in which they lend words; none where words are made up.
    themes: Vec<&'static Theme>,
}

/// A number that belongs to a text: FNV-1a, the same on every machine.
pub(crate) fn digest(seed: u64, text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325 ^ seed;
    for byte in text.bytes() {
        hash ^= u64::from(byte);
        hash = hash.wrapping_mul(0x0000_0100_0000_01b3);
    }
    // One step of the generator spreads what differs in few letters.
    Random::new(hash).next_u64()
}

const ONSETS: [&str; 24] = [
    "b", "br", "d", "dr", "f", "fl", "g", "gl", "gr", "k", "kl", "kr", "m", "n", "p", "pl", "r", "t", "tr",
    "v", "vl", "z", "zl", "zr",
];
const VOWELS: [&str; 5] = ["a", "e", "i", "o", "u"];
/// No ending that an inflected word may have: neither `s` nor `ed` nor `ing`.
const CODAS: [&str; 13] = ["b", "f", "g", "k", "l", "lk", "m", "mp", "n", "p", "rk", "rt", "x"];

impl Inventor {
    /// Words of the suite are never handed out. With `borrow` words come from another setting, which the seed chooses.
    pub(crate) fn new(seed: u64, taken: BTreeSet<String>, borrow: bool) -> Self {
        let mut themes: Vec<&Theme> = THEMES.iter().collect();
        let all = themes.len();
        Random::new(seed).shuffle_front(&mut themes, all);
        Self { seed, taken, themes: if borrow { themes } else { Vec::new() } }
    }

    /// A new word that replaces `instead_of`.
    pub(crate) fn word(&mut self, instead_of: &str, part: Part) -> String {
        let mut random = Random::new(digest(self.seed, instead_of));
        let borrowed = self.borrow_word(part, &mut random);
        let word = borrowed.unwrap_or_else(|| self.made_up(part, &mut random));
        self.taken.insert(word.clone());
        word
    }

    fn borrow_word(&self, part: Part, random: &mut Random) -> Option<String> {
        if part == Part::Letter {
            let letters: Vec<String> = ('b'..='z').filter(|c| *c != 'i').map(String::from).collect();
            let free: Vec<String> = letters.into_iter().filter(|letter| self.is_free(letter)).collect();
            return random.pick(&free).filter(|_| !self.themes.is_empty()).cloned();
        }
        self.themes.iter().find_map(|theme| {
            let words = match part {
                Part::Noun | Part::Letter => theme.nouns,
                Part::Verb => theme.verbs,
                Part::Adjective => theme.adjectives,
            };
            let free: Vec<&str> = words.iter().copied().filter(|word| self.is_free(word)).collect();
            random.pick(&free).map(|word| (*word).to_owned())
        })
    }

    fn made_up(&self, part: Part, random: &mut Random) -> String {
        let mut syllables = if part == Part::Letter { 1 } else { 2 };
        for attempt in 1.. {
            let mut word = String::new();
            for number in 0..syllables {
                let coda = number + 1 == syllables || random.chance(0.4);
                let mut add =
                    |pieces: &[&str]| word.push_str(random.pick(pieces).copied().unwrap_or_default());
                add(&ONSETS);
                add(&VOWELS);
                if coda {
                    add(&CODAS);
                }
            }
            if self.is_free(&word) {
                return word;
            }
            // There are words enough of any length; longer ones end a streak of bad luck.
            if attempt % 50 == 0 {
                syllables += 1;
            }
        }
        String::new()
    }

    /// True if the word and its forms are unused.
    fn is_free(&self, word: &str) -> bool {
        let inflected =
            ["", "s", "ed", "ing"].iter().any(|ending| self.taken.contains(&format!("{word}{ending}")));
        let form = ["s", "ed", "ing"]
            .iter()
            .any(|e| word.strip_suffix(e).is_some_and(|stem| self.taken.contains(stem)));
        !inflected && !form && !is_function_word(word)
    }
}

/// The words of one invented setting, by part of speech.
struct Theme {
    /// For types, objects and other things.
    nouns: &'static [&'static str],
    /// For actions and for what is done.
    verbs: &'static [&'static str],
    /// For how things are.
    adjectives: &'static [&'static str],
}

/// The settings. Which one a suite gets is drawn; where it has not enough words the others lend theirs.
const THEMES: [Theme; 5] = [
    // A theatre.
    Theme {
        nouns: &[
            "actor",
            "curtain",
            "trumpet",
            "jester",
            "lantern",
            "drum",
            "poem",
            "soloist",
            "violin",
            "mirror",
            "ribbon",
            "tenor",
            "ticket",
            "mask",
            "acrobat",
            "dancer",
            "pianist",
            "stair",
            "orchestra",
            "banner",
            "villain",
            "fiddler",
        ],
        verbs: &[
            "applaud", "whisper", "charm", "paint", "bow", "prompt", "shout", "enchant", "perform", "powder",
            "unmask", "tailor", "light", "mourn", "pardon", "threaten", "haunt", "dream",
        ],
        adjectives: &[
            "tragic", "comic", "royal", "hoarse", "golden", "jealous", "famous", "silent", "proud", "velvet",
            "solemn", "vain",
        ],
    },
    // A kitchen.
    Theme {
        nouns: &[
            "onion", "kettle", "lemon", "cook", "spoon", "oven", "pepper", "carrot", "butter", "melon",
            "walnut", "cellar", "turnip", "biscuit", "apron", "mustard", "basin", "chicken", "pudding",
            "skillet", "mushroom", "herring",
        ],
        verbs: &[
            "boil", "roast", "season", "peel", "toast", "simmer", "salt", "sweeten", "pour", "blend",
            "thicken", "coat", "melt", "whisk", "knead", "sharpen", "drain", "chill",
        ],
        adjectives: &[
            "sour", "crisp", "ripe", "tender", "salty", "raw", "stale", "bitter", "spicy", "mild", "juicy",
            "burnt",
        ],
    },
    // A garden.
    Theme {
        nouns: &[
            "willow", "tulip", "toad", "gardener", "fountain", "lantana", "orchid", "acorn", "spider",
            "meadow", "pebble", "lizard", "blossom", "sparrow", "rabbit", "cricket", "fern", "poplar",
            "pond", "snail", "clover", "badger",
        ],
        verbs: &[
            "water", "plant", "weed", "groan", "harvest", "sprout", "ripen", "seed", "shelter", "wilt",
            "flower", "mow", "groom", "nest", "flutter", "crawl", "bloom", "chirp",
        ],
        adjectives: &[
            "muddy", "fragrant", "leafy", "mossy", "shady", "withered", "sunny", "thorny", "damp", "lush",
            "frosty", "hardy",
        ],
    },
    // A court of law.
    Theme {
        nouns: &[
            "lawyer",
            "verdict",
            "juror",
            "parchment",
            "sheriff",
            "usher",
            "pencil",
            "ledger",
            "courtroom",
            "bishop",
            "bailiff",
            "contract",
            "rumour",
            "magnet",
            "senator",
            "warden",
            "scandal",
            "tavern",
            "notebook",
            "client",
            "clerk",
            "mayor",
        ],
        verbs: &[
            "hint",
            "reward",
            "question",
            "scold",
            "appeal",
            "suspect",
            "warrant",
            "defend",
            "convict",
            "summon",
            "offend",
            "plead",
            "murmur",
            "consult",
            "reject",
            "pretend",
            "surrender",
            "insult",
        ],
        adjectives: &[
            "guilty", "honest", "lawful", "corrupt", "bold", "wealthy", "humble", "clever", "formal",
            "greedy", "noble", "stubborn",
        ],
    },
    // The sea.
    Theme {
        nouns: &[
            "sailor", "anchor", "tugboat", "dolphin", "harbour", "island", "smuggler", "oyster", "lobster",
            "captain", "beacon", "seagull", "coral", "squid", "parrot", "cannon", "otter", "reef", "lagoon",
            "pelican", "rudder", "trawler",
        ],
        verbs: &[
            "sail", "row", "moor", "plunder", "drown", "steer", "scout", "harpoon", "wander", "float",
            "swoon", "hail", "swirl", "drift", "spear", "thunder", "beckon", "roam",
        ],
        adjectives: &[
            "stormy", "tidal", "salted", "calm", "foggy", "distant", "sandy", "rugged", "coastal", "briny",
            "windy", "azure",
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::is_function_word;
    use std::collections::BTreeSet;

    #[test]
    fn every_word_is_new_and_belongs_to_seed_and_word() {
        let taken: BTreeSet<String> = ["onion", "kettles"].map(str::to_owned).into();
        for borrow in [true, false] {
            let mut seen = BTreeSet::new();
            let mut inventor = Inventor::new(7, taken.clone(), borrow);
            for number in 0..400 {
                let part = [Part::Noun, Part::Verb, Part::Adjective, Part::Letter][number % 4];
                let word = inventor.word(&format!("w{number}"), part);
                assert!(word != "onion" && word != "kettle" && seen.insert(word.clone()), "{word}");
                assert!(word.bytes().all(|b| b.is_ascii_lowercase()) && !word.is_empty());
            }
            let first = |seed| Inventor::new(seed, taken.clone(), borrow).word("block", Part::Noun);
            assert_eq!(first(7), first(7));
            assert!((1..9).any(|seed| first(seed) != first(0)));
        }
    }

    #[test]
    fn words_are_plain_and_no_function_words() {
        let mut all = BTreeSet::new();
        for word in THEMES.iter().flat_map(|t| t.nouns.iter().chain(t.verbs).chain(t.adjectives)) {
            assert!(word.bytes().all(|b| b.is_ascii_lowercase()), "{word}");
            assert!(!is_function_word(word), "{word}");
            all.insert(*word);
        }
        assert!(all.len() >= 240, "{}", all.len());
    }
}
