//! The prompts: templates in `templates/`, filled with descriptions and PDDL. What is inserted is data and is never read as a template.

use crate::codes;
use crate::options::Options;
use planforge_contract::{ActionDescription, ActionExample, Failure, PredicateDescription};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 3] = [
    ("system", include_str!("../templates/system.txt")),
    ("action", include_str!("../templates/action.txt")),
    ("unify", include_str!("../templates/unify.txt")),
];

/// The compiled templates.
#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

/// What the question for one action holds.
#[derive(Debug, Serialize)]
pub(crate) struct ActionQuestion<'a> {
    pub(crate) examples: Vec<&'a ActionExample>,
    /// The domain's types, as declared; empty where it has none.
    pub(crate) types: String,
    pub(crate) predicates: &'a [PredicateDescription],
    /// Actions that are written already.
    pub(crate) earlier: Vec<&'a str>,
    pub(crate) action: &'a ActionDescription,
    /// The action as it was written before, where it is asked for again.
    pub(crate) previous: Option<&'a str>,
    /// What was found wrong with it.
    pub(crate) feedback: Vec<&'a str>,
    /// Whether new predicates may be proposed.
    pub(crate) growing: bool,
}

#[derive(Serialize)]
struct UnifyQuestion<'a> {
    predicates: &'a [PredicateDescription],
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::with_trimmed_blocks(codes::TEMPLATE, &TEMPLATES)? })
    }

    pub(crate) fn system(&self, options: &Options) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &())
    }

    pub(crate) fn action(&self, question: &ActionQuestion<'_>) -> Result<String, Failure> {
        self.templates.render("action", question)
    }

    pub(crate) fn unify(&self, predicates: &[PredicateDescription]) -> Result<String, Failure> {
        self.templates.render("unify", &UnifyQuestion { predicates })
    }
}
