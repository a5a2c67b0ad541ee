//! Words of other domains, for misleading names. All have regular forms with `s`, `ed` and `ing`.

/// The words of one invented setting, by part of speech.
pub(crate) struct Theme {
    /// For types, objects and other things.
    pub(crate) nouns: &'static [&'static str],
    /// For actions and for what is done.
    pub(crate) verbs: &'static [&'static str],
    /// For how things are.
    pub(crate) adjectives: &'static [&'static str],
}

/// The settings. Which one a suite gets is drawn; where it has not enough words the others lend theirs.
pub(crate) const THEMES: [Theme; 5] = [
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
    use crate::words::function::is_function_word;
    use std::collections::BTreeSet;

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
