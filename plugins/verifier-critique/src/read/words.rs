//! The words by which critics approve and object, in English.

use crate::codes;
use planforge_contract::{CritiqueFinding, Failure, FailureClass, FindingSeverity};
use regex::{Regex, RegexBuilder};

/// The tone of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// It approves of something.
    Approves,
    /// It objects to something or asks for a change.
    Objects,
    /// Neither.
    Neutral,
    /// Without content: `none`, `n/a`, blanks.
    Nothing,
}

/// "No errors" in all its forms; as a whole it approves.
const CLEAR: &str = r"\b(?:no|without(?:\s+any)?|not\s+any|zero|free\s+of|nor\s+any)\s+(?:[\w-]+\s+){0,4}?(?:errors?|mistakes?|issues?|problems?|flaws?|faults?|inconsistenc(?:y|ies)|contradictions?|corrections?|changes?|modifications?|findings?|objections?)\b(?:\s+(?:is|are|were)?\s*(?:found|detected|needed|necessary|required|present))?|\b(?:(?:do|does|did|could|can)(?:\s+not|n['\u{2019}]t)|cannot)\s+(?:see|find|contain|have|detect|identify|spot|need)\s+(?:any\s+)?(?:[\w-]+\s+){0,2}?(?:errors?|mistakes?|issues?|problems?|flaws?|changes?|corrections?)\b|\bnothing\s+(?:\w+\s+)?(?:is\s+)?(?:wrong|missing|amiss|to\s+(?:change|correct|fix|add|criticise|criticize|object))\b|\bneeds?\s+no\s+(?:changes?|corrections?)\b";

const OBJECTS: &str = r"\b(?:missing|miss(?:es)?|lack(?:s|ing)?|omit(?:s|ted)?|should(?:n['\u{2019}]t)?|needs?\s+to|ought|incorrect(?:ly)?|wrong(?:ly)?|errors?|erroneous(?:ly)?|mistakes?|mistaken(?:ly)?|issues?|problematic|flaw(?:s|ed)?|undeclared|undefined|unbalanced|mismatch(?:es|ed)?|inconsisten(?:t|cy|cies|tly)|invalid|unclosed|unmatched|unused|redundant|unnecessary|superfluous|contradict(?:s|ion|ory)?|ambiguous|vague|unclear|typos?|misspel\w+|violat(?:es?|ed|ion|ing)|fails?|failed|impossible|instead\s+of|rather\s+than|too\s+(?:few|many|much|weak|strong|general|strict)|extra|forg[eo]t(?:s|ten)?|incomplete|does(?:\s+not|n['\u{2019}]t)|do(?:\s+not|n['\u{2019}]t)\s+(?:match|exist|declare|define|require|check|update|include|say|add|delete|remove)|(?:is|are|was|were)(?:\s+not|n['\u{2019}]t)\s+(?:\w+\s+)?(?:declared|defined|used|needed|necessary|required|specified|included|listed|handled|updated|removed|deleted|added|checked|considered|mentioned|closed|correct|valid|right|accurate|consistent|complete|optimal|applicable|allowed|satisfied|met|reached|true|possible|appropriate)|not\s+(?:\w+\s+)?(?:correct|valid|right|accurate|consistent|complete|optimal|approved?|accepted?|acceptable)|(?:no|never)\s+(?:precondition|effect|parameter|predicate|action|condition|type)s?\b|must\s+(?:also\s+)?be\s+(?:added|removed|declared|defined|changed|replaced|included|deleted|renamed))\b|^\W*(?:add|remove|replace|rename|change|use|delete|declare|define|correct|fix|insert|move|swap|consider|avoid|ensure|make\s+sure)\b";

const APPROVES: &str = r"\b(?:correct(?:ly)?|valid|accurate(?:ly)?|well[\s-](?:formed|structured|defined|written)|looks?\s+(?:good|fine|right|ok|okay)|(?:is|are|all)\s+(?:fine|good|right|ok|okay|balanced|sound)|approve[sd]?|accept(?:s|ed|able)?|consistent(?:ly)?|matche?s?|complete|as\s+expected|lgtm|optimal)\b";

/// Subjects of a verdict on the whole.
const OVERALL: &str = r"\b(?:domain|problem|plan|pddl|code|solution|it|this|everything|all|overall|whole|approve[sd]?|accept(?:s|ed)?|lgtm|looks)\b";

/// Words that make a finding a warning, and words that make it an error nevertheless.
const LIGHT: &str = r"\b(?:might|could|may|consider|optional(?:ly)?|style|stylistic|readab\w+|recommend(?:ed)?|prefer(?:ably|red)?|unnecessary|redundant|unused|superfluous|clarity|naming|minor|nice\s+to|suboptimal|not\s+optimal|better)\b";
const HEAVY: &str = r"\b(?:missing|incorrect(?:ly)?|wrong(?:ly)?|errors?|undeclared|undefined|invalid|lack(?:s|ing)?|unbalanced|fails?|violat\w+|contradict\w*|mismatch\w*|inconsistent)\b";

const SEVERITY_LIGHT: &str = r"warn|minor|low|info|note|style|suggest|trivial|cosmetic|optional|nit";
const NOTHING: &str = r"^\W*(?:none|nothing|n\W?a|null|nil|not applicable|empty|no change|no changes|no change needed|no changes needed|-+)?\W*$";
const YES: &str =
    r"^\W*(?:yes|true|approve[sd]?|accept(?:s|ed)?|correct|valid|right|ok|okay|pass(?:es|ed)?|good)\W*$";
const NO: &str = r"^\W*(?:no|false|reject(?:s|ed)?|disapprove[sd]?|incorrect|invalid|wrong|fail(?:s|ed)?|bad|needs?\s+(?:work|changes|revision)|revise)\W*$";
/// `action move`, `the move action`, `(:action move`: the name in quotes, or alone if a place is named.
const QUOTED_ACTION: &str = r#"(?::action\s+|\bactions?\s*:?\s*[`'"*\u{201c}]+)([A-Za-z][\w-]*)|[`'"*\u{201c}]+([A-Za-z][\w-]*)[`'"*\u{201d}]+\s+action\b"#;
const PLACED_ACTION: &str =
    r#"^\W*action\s*:?\s*[`'"*(]*([A-Za-z][\w-]*)|^\W*([A-Za-z][\w-]*)[`'"*]*\s+action\W*$"#;

/// The compiled expressions. All of them take time proportional to the text.
#[derive(Debug)]
pub(super) struct ReviewLexicon {
    clear: Regex,
    objects: Regex,
    approves: Regex,
    overall: Regex,
    light: Regex,
    heavy: Regex,
    severity_light: Regex,
    nothing: Regex,
    yes: Regex,
    no: Regex,
    quoted_action: Regex,
    placed_action: Regex,
}

fn compile(expression: &str) -> Result<Regex, Failure> {
    RegexBuilder::new(expression).case_insensitive(true).build().map_err(|e| {
        Failure::new(FailureClass::Plugin, codes::LEXICON, format!("an expression does not compile: {e}"))
    })
}

impl ReviewLexicon {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            clear: compile(CLEAR)?,
            objects: compile(OBJECTS)?,
            approves: compile(APPROVES)?,
            overall: compile(OVERALL)?,
            light: compile(LIGHT)?,
            heavy: compile(HEAVY)?,
            severity_light: compile(SEVERITY_LIGHT)?,
            nothing: compile(NOTHING)?,
            yes: compile(YES)?,
            no: compile(NO)?,
            quoted_action: compile(QUOTED_ACTION)?,
            placed_action: compile(PLACED_ACTION)?,
        })
    }

    pub(super) fn tone(&self, sentence: &str) -> Tone {
        if self.is_nothing(sentence) {
            return Tone::Nothing;
        }
        let clear = self.clear.is_match(sentence);
        let rest = self.clear.replace_all(sentence, " ");
        if self.objects.is_match(&rest) {
            return Tone::Objects;
        }
        if clear || self.approves.is_match(&rest) { Tone::Approves } else { Tone::Neutral }
    }

    /// True if an approving sentence is about the whole and not about a part.
    pub(super) fn is_overall(&self, sentence: &str) -> bool {
        self.clear.is_match(sentence) || self.overall.is_match(sentence)
    }

    /// `none`, `n/a`, blanks.
    pub(super) fn is_nothing(&self, text: &str) -> bool {
        self.nothing.is_match(text)
    }

    /// A verdict in a word or two, or in a sentence.
    pub(super) fn verdict(&self, text: &str) -> Option<bool> {
        if self.yes.is_match(text) {
            return Some(true);
        }
        if self.no.is_match(text) {
            return Some(false);
        }
        match self.tone(text) {
            Tone::Approves => Some(true),
            Tone::Objects => Some(false),
            Tone::Neutral | Tone::Nothing => None,
        }
    }

    /// A severity that is stated.
    pub(super) fn severity(&self, text: &str) -> FindingSeverity {
        let error = text.to_lowercase().contains("error");
        if !error && self.severity_light.is_match(text) {
            FindingSeverity::Warning
        } else {
            FindingSeverity::Error
        }
    }

    /// A severity by the words of the finding.
    pub(super) fn weight(&self, finding: &str) -> FindingSeverity {
        let light = self.light.is_match(finding) && !self.heavy.is_match(finding);
        if light { FindingSeverity::Warning } else { FindingSeverity::Error }
    }

    /// True for the form in the question, copied as an answer.
    pub(super) fn is_echo(&self, finding: &CritiqueFinding) -> bool {
        super::normal(&finding.finding) == "what is wrong"
    }

    /// The action that a finding is about: the place's, else the one that is named in a way that cannot mean anything else, else the only
    /// one that it names.
    pub(super) fn action(&self, finding: &CritiqueFinding, actions: &[String]) -> Option<String> {
        let named = self.named_actions(finding);
        if let Some(name) = named.iter().find(|n| actions.contains(n)) {
            return Some(name.clone());
        }
        for text in [&finding.place, &finding.finding] {
            let lower = text.to_lowercase();
            let mut words: Vec<&str> = lower
                .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
                .map(|w| w.trim_matches('-'))
                .collect();
            words.sort_unstable();
            words.dedup();
            let mut found = actions.iter().filter(|a| words.binary_search(&a.as_str()).is_ok());
            if let (Some(one), None) = (found.next(), found.next()) {
                return Some(one.clone());
            }
        }
        None
    }

    /// The names that a finding uses as those of actions, in lower case.
    pub(super) fn named_actions(&self, finding: &CritiqueFinding) -> Vec<String> {
        let placed = self.placed_action.captures_iter(&finding.place);
        let quoted =
            [&finding.place, &finding.finding].into_iter().flat_map(|t| self.quoted_action.captures_iter(t));
        let name = |c: regex::Captures<'_>| Some(c.get(1).or(c.get(2))?.as_str().to_lowercase());
        placed.chain(quoted).filter_map(name).filter(|n| !FILLERS.contains(&n.as_str())).collect()
    }
}

/// Words after "action" that are not names.
const FILLERS: [&str; 12] = [
    "or",
    "and",
    "definition",
    "definitions",
    "name",
    "names",
    "the",
    "is",
    "has",
    "precondition",
    "effect",
    "parameters",
];
