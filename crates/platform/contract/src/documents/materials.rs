//! The parts of a task that a method may see: what is given, texts and other parts of the suite, sentences for facts and numbers.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parts of a suite, beside its texts, that a pipeline gives to a method. Parts that are not given are absent or empty.
///
/// The JSON form is one object of texts, as run folders record it: each field's comment names its key, and fields that are not texts
/// are JSON inside their text. `[materials]` of `suite.toml` uses the same keys; keys without a field here are in
/// [`other`](Self::other).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Materials {
    /// The in-context example: a solved task of this domain or of another suite's.
    pub example: ExampleMaterials,
    /// Incomplete PDDL that the method completes.
    pub templates: TemplateMaterials,
    /// The lead task of the suite, behind a fan-out stage.
    pub lead: LeadMaterials,
    /// Actions in words, where the pipeline gives them.
    pub actions: ActionMaterials,
    /// An answer set program of rules that hold in every task of the domain (`asp.knowledge`); given with the domain.
    pub knowledge: Option<String>,
    /// Type -> description of its objects (`types`); given with the domain.
    pub types: BTreeMap<String, String>,
    /// Predicate in lower case -> its sentences (`predicates`); given with the domain.
    pub sentences: BTreeMap<String, Sentences>,
    /// Other suites with their texts, at most [`Materials::MAX_SUITES`] (`example.1.domain` to `example.9.types`): the examples of
    /// `planforge suite describe`.
    pub suites: Vec<SuiteMaterials>,
    /// Texts that the suite's manifest adds under other keys, and texts under a key above that cannot be read.
    pub other: BTreeMap<String, String>,
}

/// A solved task: an in-context example.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExampleMaterials {
    /// The task in plain language (`example.text`).
    pub text: Option<String>,
    /// The problem, as PDDL (`example.problem`).
    pub problem: Option<String>,
    /// A plan, one step a line (`example.plan`).
    pub plan: Option<String>,
    /// The intermediate representation of the problem, as an answer set program (`example.ir`; translate-infer-compile paper,
    /// section 3.2).
    pub ir: Option<String>,
    /// The domain in plain language, if it is another suite's (`example.domain-text`).
    pub domain_text: Option<String>,
    /// The domain, as PDDL, if it is another suite's (`example.domain`).
    pub domain: Option<String>,
    /// The domain without conditions and effects of its actions, if it is another suite's (`example.domain-template`).
    pub domain_template: Option<String>,
}

/// Incomplete PDDL that the method completes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateMaterials {
    /// The domain without conditions and effects of its actions (`domain.template`).
    pub domain: Option<String>,
    /// The problem without initial state and goal (`objects.template`).
    pub objects: Option<String>,
}

/// The lead task of a suite, which runs before the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeadMaterials {
    /// The task in plain language (`lead.text`).
    pub text: Option<String>,
    /// The problem of the surviving candidate, as PDDL (`lead.problem`).
    pub problem: Option<String>,
}

/// Actions in words (domain-generators paper, section 3). Each part is `None` if the pipeline does not give it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionMaterials {
    /// The domain without its actions, as PDDL (`domain.header`); without predicates if they are not given.
    pub header: Option<String>,
    /// The actions to write, in the order of the domain (`actions`).
    pub described: Option<Vec<ActionDescription>>,
    /// The predicates to use (`predicates.declared`).
    pub predicates: Option<Vec<PredicateDescription>>,
    /// Solved actions of other suites (`example.actions`).
    pub examples: Option<Vec<ActionExample>>,
}

/// A suite's domain and one of its tasks, in PDDL and in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuiteMaterials {
    /// The domain, as PDDL.
    pub domain: Option<String>,
    /// The domain in plain language.
    pub domain_text: Option<String>,
    /// A problem, as PDDL.
    pub problem: Option<String>,
    /// The problem's task in plain language.
    pub text: Option<String>,
    /// Predicate -> sentences, as JSON in the layout that a model is asked for.
    pub sentences: Option<String>,
    /// Type -> description, as JSON in the layout that a model is asked for.
    pub types: Option<String>,
}

/// A predicate of a domain, as it is declared and in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PredicateDescription {
    /// For example `(at ?b - ball ?r - room)`.
    pub declaration: String,
    /// A clause about its parameters, for example `ball b is in room r`.
    pub text: String,
}

/// An action in words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionDescription {
    /// The action's name.
    pub name: String,
    /// Its description, in the description class that the pipeline gives (base, flipped or random).
    pub text: String,
}

/// An action of another domain with its PDDL: an in-context example.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionExample {
    /// The name of its suite.
    pub suite: String,
    /// The action in words.
    pub action: ActionDescription,
    /// The predicates that it may use.
    pub predicates: Vec<PredicateDescription>,
    /// The action, as PDDL.
    pub pddl: String,
}

type TextField<T> = (&'static str, fn(&mut T) -> &mut Option<String>);

const TEXTS: [TextField<Materials>; 13] = [
    ("example.text", |m| &mut m.example.text),
    ("example.problem", |m| &mut m.example.problem),
    ("example.plan", |m| &mut m.example.plan),
    ("example.ir", |m| &mut m.example.ir),
    ("example.domain-text", |m| &mut m.example.domain_text),
    ("example.domain", |m| &mut m.example.domain),
    ("example.domain-template", |m| &mut m.example.domain_template),
    ("domain.template", |m| &mut m.templates.domain),
    ("objects.template", |m| &mut m.templates.objects),
    ("lead.text", |m| &mut m.lead.text),
    ("lead.problem", |m| &mut m.lead.problem),
    ("domain.header", |m| &mut m.actions.header),
    ("asp.knowledge", |m| &mut m.knowledge),
];

const SUITE_TEXTS: [TextField<SuiteMaterials>; 6] = [
    ("domain", |s| &mut s.domain),
    ("domain-text", |s| &mut s.domain_text),
    ("problem", |s| &mut s.problem),
    ("text", |s| &mut s.text),
    ("sentences", |s| &mut s.sentences),
    ("types", |s| &mut s.types),
];

impl Materials {
    /// The most entries of [`Materials::suites`].
    pub const MAX_SUITES: usize = 9;

    /// Sets the field of a key of the JSON form. A text that cannot be read as that field goes to [`Materials::other`].
    pub fn insert(&mut self, key: &str, text: String) {
        if let Err((text, _)) = self.set(key, text) {
            self.other.insert(key.to_owned(), text);
        }
    }

    /// The JSON form: key -> text.
    pub fn to_texts(&self) -> BTreeMap<String, String> {
        self.clone().into()
    }

    /// The reason why the text under a key of the JSON form cannot be read; `None` if it can be, or is absent.
    pub fn read_error(&self, key: &str) -> Option<String> {
        let text = self.other.get(key)?;
        Self::default().set(key, text.clone()).err()?.1
    }

    /// Gives the text back if it is not set, with the reason if the key has a field.
    fn set(&mut self, key: &str, text: String) -> Result<(), (String, Option<String>)> {
        fn json<T: DeserializeOwned>(field: &mut T, text: String) -> Result<(), (String, Option<String>)> {
            match serde_json::from_str(&text) {
                Ok(value) => *field = value,
                Err(error) => return Err((text, Some(error.to_string()))),
            }
            Ok(())
        }
        if let Some((_, field)) = TEXTS.iter().find(|(known, _)| *known == key) {
            *field(self) = Some(text);
            return Ok(());
        }
        match key {
            "types" => json(&mut self.types, text),
            "predicates" => json(&mut self.sentences, text),
            "actions" => json(&mut self.actions.described, text),
            "predicates.declared" => json(&mut self.actions.predicates, text),
            "example.actions" => json(&mut self.actions.examples, text),
            _ => match self.suite_text(key) {
                Some(field) => {
                    *field = Some(text);
                    Ok(())
                }
                None => Err((text, None)),
            },
        }
    }

    /// The field of a key such as `example.2.domain`.
    fn suite_text(&mut self, key: &str) -> Option<&mut Option<String>> {
        let (number, part) = key.strip_prefix("example.")?.split_once('.')?;
        let index = number.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < Self::MAX_SUITES)?;
        let (_, field) = SUITE_TEXTS.iter().find(|(known, _)| *known == part)?;
        if self.suites.len() <= index {
            self.suites.resize_with(index + 1, SuiteMaterials::default);
        }
        self.suites.get_mut(index).map(field)
    }
}

impl<K: AsRef<str>, V: Into<String>> FromIterator<(K, V)> for Materials {
    /// Reads the JSON form.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(texts: I) -> Self {
        let mut materials = Self::default();
        for (key, text) in texts {
            materials.insert(key.as_ref(), text.into());
        }
        materials
    }
}

impl From<BTreeMap<String, String>> for Materials {
    fn from(texts: BTreeMap<String, String>) -> Self {
        texts.into_iter().collect()
    }
}

impl From<Materials> for BTreeMap<String, String> {
    fn from(mut materials: Materials) -> Self {
        /// Texts, lists and maps of texts always have a JSON form.
        fn json<T: Serialize>(value: &T) -> String {
            serde_json::to_string(value).unwrap_or_default()
        }
        let mut texts = std::mem::take(&mut materials.other);
        let mut put = |key: &str, text: Option<String>| {
            if let Some(text) = text {
                texts.insert(key.to_owned(), text);
            }
        };
        for (key, field) in TEXTS {
            put(key, field(&mut materials).take());
        }
        for (number, suite) in (1..).zip(&mut materials.suites) {
            for (part, field) in SUITE_TEXTS {
                put(&format!("example.{number}.{part}"), field(suite).take());
            }
        }
        let Materials { types, sentences, actions, .. } = materials;
        put("types", (!types.is_empty()).then(|| json(&types)));
        put("predicates", (!sentences.is_empty()).then(|| json(&sentences)));
        put("actions", actions.described.as_ref().map(json));
        put("predicates.declared", actions.predicates.as_ref().map(json));
        put("example.actions", actions.examples.as_ref().map(json));
        texts
    }
}

/// Sentences for the atoms of a predicate (paper, Appendix C). `{1}`, `{2}`, ... stand for its arguments, `{value}` for a function's value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sentences {
    /// Sentence for an atom that holds, for example `{1} is at {2}.`
    pub yes: String,
    /// Sentence for an atom that does not hold; empty if the suite leaves such atoms out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub no: String,
}

/// Slots of one sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentenceSlots {
    /// The highest `{N}`; 0 where there is none.
    pub highest: usize,
    /// True if `{value}` occurs.
    pub value: bool,
}

/// Reads the slots of a sentence.
///
/// # Errors
/// A placeholder that is neither a number from 1 nor `value`, or a brace without its partner.
pub fn sentence_slots(sentence: &str) -> Result<SentenceSlots, String> {
    let mut found = SentenceSlots::default();
    let mut rest = sentence;
    while let Some(at) = rest.find(['{', '}']) {
        let (_, from) = rest.split_at(at);
        let Some(inner) = from.strip_prefix('{').and_then(|r| r.split_once('}')) else {
            return Err("a brace has no partner".to_owned());
        };
        let (slot, after) = inner;
        match slot.parse::<usize>() {
            Ok(number) if number > 0 && !slot.starts_with('+') => found.highest = found.highest.max(number),
            _ if slot == "value" => found.value = true,
            _ => return Err(format!("`{{{slot}}}` is no slot")),
        }
        rest = after;
    }
    Ok(found)
}

/// PDDL that is given to the method. Everything else of the reference is withheld.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Given {
    /// The whole domain, as PDDL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The whole problem, as PDDL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// One parameter of an action, or one object, with its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TypedName {
    /// The name; parameters have no leading `?`.
    pub name: String,
    /// Its type; `object` where none was written.
    #[serde(rename = "type")]
    pub type_name: String,
}

/// The name and parameters of an action, without its conditions and effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionSignature {
    /// The action's name.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<TypedName>,
}

impl std::fmt::Display for ActionSignature {
    /// `(drive ?from - town ?to - town)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}", self.name)?;
        for parameter in &self.parameters {
            write!(f, " ?{} - {}", parameter.name, parameter.type_name)?;
        }
        f.write_str(")")
    }
}

/// The action interface of the paper's Assumption 1: actions with their parameters, and objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActionInterface {
    /// The actions and their parameters.
    pub actions: Vec<ActionSignature>,
    /// The objects of this task.
    #[serde(default)]
    pub objects: Vec<TypedName>,
    /// The declared types, each with its parent as its type. Present only where the suite has no template of the
    /// domain, which would show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<TypedName>,
}

/// A translator's view of a task. It has no field for anything that the pipeline does not declare as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    /// The suite's name.
    pub suite: String,
    /// The task's stem, for example `p03`.
    pub task: String,
    /// The domain in plain language.
    pub domain_text: String,
    /// The task in plain language.
    pub task_text: String,
    /// The PDDL that is given.
    #[serde(default)]
    pub given: Given,
    /// The action interface, where the pipeline gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_interface: Option<ActionInterface>,
    /// Parts of the suite beside its texts.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, String>")]
    pub materials: Materials,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_form_is_read_and_written_back_the_same() {
        let mut texts: BTreeMap<String, String> =
            TEXTS.iter().map(|(key, _)| ((*key).to_owned(), format!("text of {key}"))).collect();
        for (key, text) in [
            ("types", r#"{"ball":"a ball"}"#),
            (
                "predicates",
                r#"{"at":{"yes":"{1} is at {2}.","no":"{1} is not at {2}."},"free":{"yes":"{1} is free."}}"#,
            ),
            ("actions", r#"[{"name":"pick","text":"Picks."}]"#),
            ("predicates.declared", r#"[{"declaration":"(at ?b)","text":"b is here"}]"#),
            ("example.actions", "[]"),
            ("example.2.domain", "(define (domain doors))"),
            ("hint", "from the manifest"),
            ("example.10.domain", "more suites than there may be"),
        ] {
            texts.insert(key.to_owned(), text.to_owned());
        }
        let materials = Materials::from(texts.clone());
        assert_eq!(materials.sentences["free"].yes, "{1} is free.");
        assert_eq!(materials.suites.len(), 2);
        assert_eq!(materials.other.keys().collect::<Vec<_>>(), ["example.10.domain", "hint"]);
        assert_eq!(BTreeMap::from(materials), texts);
    }

    #[test]
    fn a_text_that_cannot_be_read_stays_and_has_a_reason() {
        let texts = BTreeMap::from([("types".to_owned(), "{".to_owned())]);
        let materials = Materials::from(texts.clone());
        assert!(materials.types.is_empty());
        assert!(materials.read_error("types").is_some_and(|reason| reason.contains("EOF")));
        assert_eq!((materials.read_error("hint"), materials.read_error("predicates")), (None, None));
        assert_eq!(BTreeMap::from(materials), texts);
    }
}
