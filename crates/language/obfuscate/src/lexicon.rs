//! The words that a suite's names are made of, and a new one for each.

use crate::invent::{Inventor, Part, digest};
use crate::options::{DisguiseOptions, NameGroup, NameStyle, Sources};
use crate::text::pieces;
use crate::words::{Form, Vocabulary, WordEnding, is_function_word};
use planforge_diagnostics::SourceId;
use planforge_pddl::{Name, NameKind, VisitNames as _, parse_domain, parse_problem};
use std::collections::{BTreeMap, BTreeSet};

/// Words of PDDL, answer set programs and plugins. No new name is one of them or a function word.
const RESERVED: &[&str] = &[
    "adl",
    "assign",
    "cardinality",
    "column",
    "conflict",
    "constant",
    "constants",
    "constraint",
    "constraints",
    "count",
    "decrease",
    "derived",
    "duration",
    "durative",
    "equality",
    "exists",
    "fluents",
    "function",
    "functions",
    "grid",
    "increase",
    "length",
    "maximize",
    "minimize",
    "never",
    "preference",
    "requirements",
    "row",
    "scale",
    "sequence",
    "sometime",
    "step",
    "strips",
    "sum",
    "time",
    "total",
    "typing",
    "ucpop",
    "undefined",
    "violated",
];

/// A suite's names by what they name: in lower case, variables without their question mark.
#[derive(Debug, Default)]
pub(crate) struct Named {
    kinds: BTreeMap<String, BTreeSet<NameGroup>>,
    /// Names of domains, without names of problems.
    of_domains: BTreeSet<String>,
}

impl Named {
    pub(crate) fn read(sources: &Sources) -> Self {
        let mut named = Self::default();
        for text in &sources.domains {
            let mut parsed = parse_domain(text, SourceId(0));
            parsed.value.visit_names(&mut |symbol, name| {
                // An object in a domain is a constant, declared or not.
                let kind = if symbol == NameKind::Object { NameGroup::Constants } else { kind_of(symbol) };
                named.note(kind, name);
                named.of_domains.insert(bare(name));
            });
        }
        for text in &sources.problems {
            parse_problem(text, SourceId(0))
                .value
                .visit_names(&mut |symbol, name| named.note(kind_of(symbol), name));
        }
        let suite = Name::synthetic(&sources.suite);
        named.note(NameGroup::Domain, &suite);
        named.of_domains.insert(bare(&suite));
        named
    }

    fn note(&mut self, kind: NameGroup, name: &Name) {
        let bare = bare(name);
        // What actions cost has a name that PDDL gives it.
        if !bare.is_empty() && bare != "total-cost" {
            self.kinds.entry(bare).or_default().insert(kind);
        }
    }

    /// The names with their kinds. A constant does not count as an object.
    fn all(&self) -> impl Iterator<Item = (&str, BTreeSet<NameGroup>)> {
        self.kinds.iter().map(|(name, kinds)| {
            let mut kinds = kinds.clone();
            if kinds.contains(&NameGroup::Constants) {
                kinds.remove(&NameGroup::Objects);
            }
            (name.as_str(), kinds)
        })
    }
}

fn bare(name: &Name) -> String {
    name.key().trim_start_matches('?').to_owned()
}

const fn kind_of(symbol: NameKind) -> NameGroup {
    match symbol {
        NameKind::Domain | NameKind::Problem | NameKind::Preference => NameGroup::Domain,
        NameKind::Type => NameGroup::Types,
        NameKind::Predicate => NameGroup::Predicates,
        NameKind::Function => NameGroup::Functions,
        NameKind::Action => NameGroup::Actions,
        NameKind::Constant => NameGroup::Constants,
        NameKind::Object => NameGroup::Objects,
        NameKind::Variable => NameGroup::Parameters,
    }
}

/// The exchanged words and names of one suite.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Lexicon {
    vocabulary: Vocabulary,
    /// Words of texts.
    told: BTreeSet<String>,
    /// Word -> new word.
    words: BTreeMap<String, String>,
    /// Words of parameters only. They are replaced only in texts about parameters, since elsewhere they mean
    /// something else.
    of_parameters: BTreeSet<String>,
    /// Name -> new name.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) left: Vec<String>,
    pub(crate) kept: Vec<String>,
}

impl Lexicon {
    pub(crate) fn new(sources: &Sources, named: &Named, options: &DisguiseOptions) -> Self {
        let told: BTreeSet<String> = sources.texts.iter().flat_map(|text| words_of(text)).collect();
        let of_names = named.kinds.keys().flat_map(|name| words_of(name));
        let vocabulary = Vocabulary::new(told.iter().cloned().chain(of_names).collect());
        let mut lexicon = Self { vocabulary, told, ..Self::default() };
        if options.names == NameStyle::Original {
            return lexicon;
        }
        let (exchanged, staying): (Vec<_>, Vec<_>) =
            named.all().partition(|(_, kinds)| kinds.iter().any(|kind| options.what.contains(kind)));
        let seed = digest(options.seed, &sources.suite);
        let mut inventor =
            Inventor::new(seed, lexicon.reserved_words(), options.names == NameStyle::Misleading);
        lexicon.exchange_words(named, &exchanged, &staying, &mut inventor);
        lexicon.exchange_names(named, &exchanged, &mut inventor);
        lexicon
    }

    /// Words that no new word may equal.
    fn reserved_words(&self) -> BTreeSet<String> {
        let forms = self
            .vocabulary
            .words()
            .filter(|word| !is_function_word(word))
            .map(|word| self.vocabulary.analyse(word).word);
        let words = self.vocabulary.words().map(str::to_owned);
        forms.chain(words).chain(RESERVED.iter().map(|word| (*word).to_owned())).collect()
    }

    /// The words of a run of letters in a name: one, or several written together that texts write apart, as `ontable` is. `None` is a
    /// function word.
    fn parts<'a>(&self, run: &'a str) -> Vec<(&'a str, Option<Form>)> {
        let one = |run: &'a str| (run, (!is_function_word(run)).then(|| self.vocabulary.analyse(run)));
        let known = |word: &str| self.told.contains(word) && word.len() >= 2;
        let form = self.vocabulary.analyse(run);
        if !is_function_word(run) && !self.told.contains(run) && !self.told.contains(&form.word) {
            let cuts = (2..run.len().saturating_sub(1)).filter_map(|at| run.split_at_checked(at));
            let mut fitting = cuts.filter(|(a, b)| {
                (known(a) || is_function_word(a))
                    && (known(b) || is_function_word(b))
                    && !(is_function_word(a) && is_function_word(b))
            });
            if let Some((a, b)) = fitting.next() {
                return vec![one(a), one(b)];
            }
        }
        vec![one(run)]
    }

    /// The words of a run of letters in a name. A letter next to something else (`a1`) is not an article.
    fn parts_of<'a>(&self, run: &'a str, name: &str) -> Vec<(&'a str, Option<Form>)> {
        match run.chars().count() == 1 && run != name {
            true => vec![(run, Some(Form { word: run.to_owned(), un: false, ending: WordEnding::None }))],
            false => self.parts(run),
        }
    }

    /// The words of a name.
    fn forms<'a>(&self, name: &'a str) -> Vec<(&'a str, Option<Form>)> {
        let runs = pieces(name).into_iter().filter(|piece| piece.starts_with(char::is_alphabetic));
        runs.flat_map(|run| self.parts_of(run, name)).collect()
    }

    fn exchange_words(
        &mut self,
        named: &Named,
        exchanged: &[(&str, BTreeSet<NameGroup>)],
        staying: &[(&str, BTreeSet<NameGroup>)],
        inventor: &mut Inventor,
    ) {
        let content = |lexicon: &Self, name: &str| -> Vec<Form> {
            lexicon.forms(name).into_iter().filter_map(|(_, form)| form).collect()
        };
        // A word of a name that stays has to stay: the texts have one word for both.
        let stay: BTreeSet<String> =
            staying.iter().flat_map(|(name, _)| content(self, name)).map(|form| form.word).collect();
        let mut wanted: BTreeMap<String, (bool, Part)> = BTreeMap::new();
        let mut others = BTreeSet::new();
        for (name, kinds) in exchanged {
            let forms = self.forms(name);
            let parameters_alone = kinds.iter().all(|kind| *kind == NameGroup::Parameters);
            for (index, (_, form)) in forms.iter().enumerate() {
                let Some(form) = form.as_ref().filter(|form| !stay.contains(&form.word)) else { continue };
                if !parameters_alone {
                    others.insert(form.word.clone());
                }
                let part = part(kinds, &forms, index, form);
                let late = !named.of_domains.contains(*name);
                let entry = wanted.entry(form.word.clone()).or_insert((late, part));
                // Domains come first, so that no problem decides what their names are; and a thing is a thing wherever it is named.
                entry.0 &= late;
                if part == Part::Noun && entry.1 != Part::Letter {
                    entry.1 = part;
                }
            }
        }
        self.of_parameters = wanted.keys().filter(|word| !others.contains(*word)).cloned().collect();
        let mut order: Vec<(bool, String, Part)> =
            wanted.into_iter().map(|(word, (late, part))| (late, word, part)).collect();
        order.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        for (_, word, part) in order {
            let new = inventor.word(&word, part);
            self.words.insert(word, new);
        }
    }

    fn exchange_names(
        &mut self,
        named: &Named,
        exchanged: &[(&str, BTreeSet<NameGroup>)],
        inventor: &mut Inventor,
    ) {
        let mut order: Vec<&(&str, BTreeSet<NameGroup>)> = exchanged.iter().collect();
        order.sort_by_key(|(name, _)| (!named.of_domains.contains(*name), *name));
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (name, kinds) in order {
            let told_by_function_words = self.forms(name).iter().all(|(_, form)| form.is_none());
            let mild = kinds.iter().all(|kind| {
                matches!(
                    kind,
                    NameGroup::Parameters | NameGroup::Objects | NameGroup::Constants | NameGroup::Domain
                )
            });
            if told_by_function_words && mild {
                self.kept.push((*name).to_owned());
                continue;
            }
            if is_function_word(name) {
                self.left.push((*name).to_owned());
            }
            let mut new = self.compose_name(name);
            // A name of function words alone, or one that would be another's.
            while new == *name || used.contains(&new) || named.kinds.contains_key(&new) {
                new = format!("{}-{new}", inventor.word(&new, Part::Noun));
            }
            used.insert(new.clone());
            self.names.insert((*name).to_owned(), new);
        }
    }

    /// A name with its words exchanged.
    fn compose_name(&self, name: &str) -> String {
        let mut out = String::new();
        for piece in pieces(name) {
            if !piece.starts_with(char::is_alphabetic) {
                out.push_str(piece);
                continue;
            }
            for (part, form) in self.parts_of(piece, name) {
                let new = form.and_then(|form| Some(form.of(self.words.get(&form.word)?)));
                out.push_str(new.as_deref().unwrap_or(part));
            }
        }
        out
    }

    /// True if the suite has the word.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.vocabulary.contains(word)
    }

    /// The replacement of a lower-case word of a text; `None` if it stays. `of_parameters`: the text is about
    /// an action's parameters.
    pub(crate) fn word(&self, word: &str, of_parameters: bool) -> Option<String> {
        if is_function_word(word) {
            return None;
        }
        let mut new = String::new();
        let mut any = false;
        for (part, form) in self.parts(word) {
            let exchanged = form
                .filter(|form| of_parameters || !self.of_parameters.contains(&form.word))
                .and_then(|form| {
                    let new = self.words.get(&form.word)?;
                    Some(form.of(new))
                });
            any |= exchanged.is_some();
            new.push_str(exchanged.as_deref().unwrap_or(part));
        }
        any.then_some(new)
    }

    /// Every word of names and texts that has another in its place.
    pub(crate) fn table(&self) -> BTreeMap<String, String> {
        let mut table: BTreeMap<String, String> = self
            .vocabulary
            .words()
            .filter_map(|word| Some((word.to_owned(), self.word(word, false)?)))
            .collect();
        // A model may write a form that no text has.
        for (word, new) in &self.words {
            let plain = Form { word: word.clone(), un: false, ending: WordEnding::None };
            if !self.of_parameters.contains(word) && !table.values().any(|other| *other == plain.of(new)) {
                table.insert(word.clone(), plain.of(new));
            }
        }
        table
    }
}

/// The part of speech of a word in a name.
fn part(kinds: &BTreeSet<NameGroup>, forms: &[(&str, Option<Form>)], index: usize, form: &Form) -> Part {
    if form.word.len() == 1 {
        return Part::Letter;
    }
    let things = [
        NameGroup::Types,
        NameGroup::Objects,
        NameGroup::Constants,
        NameGroup::Domain,
        NameGroup::Parameters,
    ];
    if kinds.iter().any(|kind| things.contains(kind)) {
        return Part::Noun;
    }
    let first = forms.iter().take(index).all(|(_, form)| form.is_none());
    let behind_function_word =
        index.checked_sub(1).and_then(|before| forms.get(before)).is_some_and(|(_, form)| form.is_none());
    if kinds.contains(&NameGroup::Actions) {
        return if first && !behind_function_word { Part::Verb } else { Part::Noun };
    }
    match form.ending {
        WordEnding::Ed | WordEnding::Ing => Part::Verb,
        // `drives`, `holds`: what is done.
        WordEnding::S if first => Part::Verb,
        _ if behind_function_word || (first && forms.len() > 1) => Part::Noun,
        _ => Part::Adjective,
    }
}

/// The words of a text in lower case.
fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}
