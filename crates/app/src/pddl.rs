//! Work on PDDL texts without a language model: one module each.

pub mod compare;
pub mod derivation;
pub mod draw;
pub mod format;
pub mod grammar;
pub mod infer;
pub mod plan;
pub mod tell;
pub mod validate;

use crate::context::Context;
use crate::inputs::{Inputs, Source};
use planforge_pipeline::read_sentences;
use planforge_plugin_sdk::wording::Wording;

/// The sentences in which facts of a domain are told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Sentences {
    /// Those of the file `sentences.toml` beside the domain's file; names if there is none.
    #[default]
    BesideDomain,
    /// Those of this text, in the form of `sentences.toml`.
    Given(Source),
}

impl Sentences {
    /// Reads the sentences. Mistakes in them are added to the inputs' findings.
    fn read(&self, context: &Context, domain: &Source, inputs: &mut Inputs) -> Wording {
        let beside = || domain.beside(context, "sentences.toml");
        let given = match self {
            Self::BesideDomain => beside(),
            Self::Given(source) => Some(source.clone()),
        };
        let Some(given) = given else { return Wording::default() };
        let (source, text) = inputs.load_text(context, &given);
        let domain = inputs.text(0).to_owned();
        let Some(text) = text else { return Wording::default() };
        Wording::new(&read_sentences(&text, source, &domain, &mut inputs.texts.diagnostics).facts)
    }
}
