//! The ladder: tasks of a chosen size whose texts are hard to read in a chosen way. The problem is the generator's; its text is written
//! from the problem's facts with the sentences of the suite's `ladder.toml`, and is read back before it is used.
//!
//! ```toml
//! [types.town]                  # kind: place, thing or person; measure (optional): weight, width or extent
//! kind = "place"
//! measure = "extent"
//! en = "town/towns"             # singular/plural; German and Spanish with the article of the singular
//! de = "die Stadt/Städte"
//! es = "la ciudad/ciudades"
//! zh = "城镇"
//!
//! [init.road]                   # or [goal.NAME]
//! symmetric = true              # one sentence for both directions
//! [init.road.en]
//! say = ["A road [joins|connects] {0} [and|with] {1}."]
//! no = ["No road [joins|connects] {0} with {1}."]
//! table = "which towns are joined by a road"
//!
//! [[rule]]                      # a sentence for all facts of one form; `goal = true` for the goal
//! holds = "uncovered ?b"
//! unless = "stands-on ?x ?b"
//! en = "A block is uncovered if no block stands on it."
//! ```
//!
//! The first sentence of a fact has to fit a list of objects, too. `[a|b]` is a choice. `{1:d}` is the object in the dative and `{1:a}` in the accusative, for German. `chain = true` says that the facts
//! are all pairs of a sequence; only neighbours are stated, and a rule has to say what follows from them.

mod language;
mod numbers;
mod read;
mod task;
mod write;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub(crate) use numbers::number_of_words;
pub use read::{Finding, read_text};
pub use task::{Fact, Part, Task};
pub use write::{Text, write_text};

/// Longest text of a task, in characters.
pub const MAX_CHARS: usize = 60_000;

/// A property of a text that makes it hard to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Axis {
    /// Sentences in random order.
    Order,
    /// Sentences that do not matter.
    Irrelevant,
    /// "this town" and "it" in the place of names.
    References,
    /// Counts, and numbers of names, in words.
    Quantities,
    /// Objects named by a measure that is given elsewhere in another unit.
    Units,
    /// Lists with exceptions, and sentences about what is not so.
    Negations,
    /// Facts that depend on a condition, which another sentence decides.
    Conditions,
    /// Facts that a later sentence corrects.
    Corrections,
    /// A second name for an object.
    Synonyms,
    /// Tables and lists.
    Tables,
    /// The text is in German.
    German,
    /// The text is in Chinese.
    Chinese,
    /// The text is in Spanish.
    Spanish,
    /// One fact that the plan depends on is left out.
    Gap,
}

impl Axis {
    /// All axes.
    pub const ALL: [Self; 14] = [
        Self::Order,
        Self::Irrelevant,
        Self::References,
        Self::Quantities,
        Self::Units,
        Self::Negations,
        Self::Conditions,
        Self::Corrections,
        Self::Synonyms,
        Self::Tables,
        Self::German,
        Self::Chinese,
        Self::Spanish,
        Self::Gap,
    ];

    /// True for the axes that `all` stands for: all but the languages and the gap.
    pub fn is_of_english(self) -> bool {
        self != Self::Gap && self.language().is_none()
    }

    /// The language of the text, where the axis is one.
    fn language(self) -> Option<Language> {
        match self {
            Self::German => Some(Language::German),
            Self::Chinese => Some(Language::Chinese),
            Self::Spanish => Some(Language::Spanish),
            _ => None,
        }
    }

    /// Its name in commands and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Irrelevant => "irrelevant",
            Self::References => "references",
            Self::Quantities => "quantities",
            Self::Units => "units",
            Self::Negations => "negations",
            Self::Conditions => "conditions",
            Self::Corrections => "corrections",
            Self::Synonyms => "synonyms",
            Self::Tables => "tables",
            Self::German => "german",
            Self::Chinese => "chinese",
            Self::Spanish => "spanish",
            Self::Gap => "gap",
        }
    }
}

/// Axes of one text. No axis is the plain text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Axes(Vec<Axis>);

impl Axes {
    /// True if the text has the axis.
    pub fn has(&self, axis: Axis) -> bool {
        self.0.contains(&axis)
    }

    pub(crate) fn language(&self) -> Language {
        self.0.iter().find_map(|axis| axis.language()).unwrap_or(Language::English)
    }
}

impl fmt::Display for Axes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Axis::ALL.into_iter().filter(|axis| axis.is_of_english()).all(|axis| self.has(axis));
        let single = self.0.iter().filter(|axis| !all || !axis.is_of_english());
        let names: Vec<&str> =
            all.then_some("all").into_iter().chain(single.map(|axis| axis.name())).collect();
        match names.as_slice() {
            [] => f.write_str("plain"),
            names => f.write_str(&names.join("+")),
        }
    }
}

impl FromStr for Axes {
    type Err = String;

    /// `plain`, or names of axes joined by `+`, of which `all` stands for ten; at most one language.
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "plain" {
            return Ok(Self::default());
        }
        let mut axes = Vec::new();
        for name in text.split('+') {
            if name == "all" {
                axes.extend(Axis::ALL.into_iter().filter(|axis| axis.is_of_english()));
                continue;
            }
            let axis = Axis::ALL.into_iter().find(|axis| axis.name() == name).ok_or_else(|| {
                let known: Vec<&str> = Axis::ALL.iter().map(|axis| axis.name()).collect();
                format!("`{name}` is not an axis; the axes are plain, all, {}", known.join(", "))
            })?;
            axes.push(axis);
        }
        axes.sort_unstable();
        axes.dedup();
        match axes.iter().filter(|axis| axis.language().is_some()).count() {
            0 | 1 => Ok(Self(axes)),
            _ => Err(format!("`{text}` has more than one language")),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    Chinese,
    Spanish,
}

/// A value for each language.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct InLanguages<T> {
    en: T,
    de: T,
    es: T,
    zh: T,
}

impl<T> InLanguages<T> {
    pub(crate) const fn get(&self, language: Language) -> &T {
        match language {
            Language::English => &self.en,
            Language::German => &self.de,
            Language::Spanish => &self.es,
            Language::Chinese => &self.zh,
        }
    }
}

/// The sentences of a suite, `ladder.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lexicon {
    types: BTreeMap<String, TypeWords>,
    init: BTreeMap<String, FactWords>,
    #[serde(default)]
    goal: BTreeMap<String, FactWords>,
    #[serde(default)]
    rule: Vec<Rule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Place,
    Thing,
    Person,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Measure {
    /// In g and kg.
    Weight,
    /// In cm and m.
    Width,
    /// In m and km.
    Extent,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TypeWords {
    kind: Kind,
    measure: Option<Measure>,
    #[serde(flatten)]
    words: InLanguages<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FactWords {
    #[serde(default)]
    symmetric: bool,
    #[serde(default)]
    chain: bool,
    #[serde(flatten)]
    sentences: InLanguages<Sentences>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sentences {
    say: Vec<String>,
    #[serde(default)]
    no: Vec<String>,
    table: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Rule {
    #[serde(default)]
    goal: bool,
    /// Predicate and arguments; `?x` is any object.
    holds: Option<String>,
    unless: Option<String>,
    #[serde(flatten)]
    words: InLanguages<String>,
}

impl Lexicon {
    /// Reads a `ladder.toml`.
    ///
    /// # Errors
    /// The mistake and its place.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|e| e.to_string().trim().to_owned())
    }

    fn facts(&self, part: Part) -> &BTreeMap<String, FactWords> {
        match part {
            Part::Init => &self.init,
            Part::Goal => &self.goal,
        }
    }
}
