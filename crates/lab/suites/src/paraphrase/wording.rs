//! One wording of a problem: its text, and the facts that the template requested.

use super::facts::{Facts, RequestedFacts};
use super::functions;
use crate::generate::template::{NoRendering, print, tidy_lines};
use minijinja::context;
use planforge_diagnostics::SourceId;
use planforge_pddl::random::Random;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// A rendered wording.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RenderedWording {
    pub(super) text: String,
    pub(super) requested: RequestedFacts,
}

/// Renders a wording of a problem of a domain.
pub(crate) fn render_wording(
    source: &str,
    domain: &str,
    problem: &str,
    random: Random,
) -> Result<RenderedWording, NoRendering> {
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let problem = planforge_pddl::parse_problem(problem, SourceId(0)).value;
    let facts = Arc::new(Facts::of(&domain, &problem).map_err(NoRendering::wrong)?);
    let requested = Arc::new(Mutex::new(RequestedFacts::default()));
    let text = print(source, context! {}, random, |environment| {
        functions::add(environment, &facts, &requested);
    })?;
    let requested = requested.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(RenderedWording { text: tidy_lines(text.lines()), requested })
}
