//! Calls about PDDL texts, without a model.

use crate::answer::Answer;
use crate::error::Refusal;
use crate::state::{Call, State};
use planforge_app::pddl::Sentences;
use planforge_app::pddl::compare::models::{ModelsRequest, models};
use planforge_app::pddl::diagram::{DiagramSubject, diagram};
use planforge_app::pddl::draw::{GraphRequest, PictureRequest, StatesLimits, graph, standalone, states};
use planforge_app::pddl::format::{FormatRequest, format};
use planforge_app::pddl::steps::{StepsRequest, steps};
use planforge_app::pddl::tell::{TellRequest, TellSubject, tell};
use planforge_app::pddl::validate::{ValidateRequest, validate};
use planforge_app::{Context, RequestLimits, Source};
use serde::Deserialize;
use serde_json::json;

/// Limits of each call: the person waits for its answer.
const LIMITS: RequestLimits = RequestLimits { seconds: Some(20.0), memory_bytes: 1 << 30 };
/// Most states of a graph.
const MAX_STATES: u32 = 60;
/// Most of everything in the pictures of a task.
const PICTURES: StatesLimits =
    StatesLimits { steps: 200, atoms: 20_000, pictures: 200, picture_bytes: 8 << 20 };
/// Most pairs of states of a comparison.
const NODES: u64 = 200_000;

/// The texts of a call. Each call needs some of them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    domain: Option<String>,
    problem: Option<String>,
    plan: Option<String>,
    text: Option<String>,
    other_domain: Option<String>,
    other_problem: Option<String>,
    what: Option<String>,
}

/// A text with its name in findings.
fn source(name: &str, text: Option<String>) -> Option<Source> {
    text.map(|text| Source::text(name, text))
}

fn needed(name: &str, text: Option<String>) -> Result<Source, Refusal> {
    source(name, text).ok_or_else(|| Refusal::request(format!("the request has no `{name}`")))
}

pub(crate) async fn answer(state: &State, name: &str, call: &Call<'_>) -> Result<Answer, Refusal> {
    let texts: Texts = call.request()?;
    match name {
        "check" | "validate" => {
            let request = ValidateRequest {
                domain: needed("domain", texts.domain)?,
                problem: source("problem", texts.problem),
                plan: if name == "check" { None } else { Some(needed("plan", texts.plan)?) },
                in_words: (name == "validate").then_some(Sentences::BesideDomain),
                epsilon: None,
                limits: LIMITS,
            };
            state.work(move |context| Ok(validate(context, &request)?)).await
        }
        "format" => {
            let request = FormatRequest { source: needed("text", texts.text)?, check: true };
            state.work(move |context| Ok(format(context, &request)?)).await
        }
        "compare" => compare(state, texts).await,
        "draw" => draw(state, texts).await,
        "steps" => {
            let request = StepsRequest {
                domain: needed("domain", texts.domain)?,
                problem: needed("problem", texts.problem)?,
                plan: needed("plan", texts.plan)?,
                sentences: Sentences::BesideDomain,
                limits: LIMITS,
            };
            state.work(move |context| Ok(steps(context, &request))).await
        }
        _ => Err(Refusal::missing("there is no such call")),
    }
}

/// Draws what a call names.
async fn draw(state: &State, texts: Texts) -> Result<Answer, Refusal> {
    let domain = needed("domain", texts.domain)?;
    let subject = match texts.what.as_deref() {
        Some("types") => DiagramSubject::Types,
        Some("causal") => DiagramSubject::Causal,
        Some("states") => {
            let request = GraphRequest {
                domain,
                problem: needed("problem", texts.problem)?,
                plan: source("plan", texts.plan),
                distance: None,
                max_states: MAX_STATES,
                out: None,
                limits: LIMITS,
            };
            let states = move |context: &Context| {
                let result = graph(context, &request)?;
                let counts =
                    format!("{} states, {} actions", result.graph.states.len(), result.graph.edges.len());
                Ok(json!({ "svg": result.svg(), "text": counts, "graph": result.graph }))
            };
            return state.work(states).await;
        }
        Some("task") => {
            let request = PictureRequest {
                domain,
                problem: needed("problem", texts.problem)?,
                plan: source("plan", texts.plan),
                template: None,
                out: None,
                step: Some(0),
                limits: PICTURES,
                work: LIMITS,
            };
            let pictures = move |context: &Context| {
                let (states, findings) = states(context, &request);
                let drawn: Vec<_> = states
                    .pictures
                    .iter()
                    .map(|picture| json!({ "after": picture.step, "svg": standalone(&picture.svg) }))
                    .collect();
                let first = drawn.first().map(|picture| picture["svg"].clone());
                Ok(json!({ "svg": first, "pictures": drawn, "diagnostics": findings.reported() }))
            };
            return state.work(pictures).await;
        }
        _ => return Err(Refusal::request("`what` is types, causal, states or task")),
    };
    state.work(move |context| Ok(diagram(context, &domain, subject)?)).await
}

async fn compare(state: &State, texts: Texts) -> Result<Answer, Refusal> {
    let domain = needed("domain", texts.domain)?;
    let other = source("other domain", texts.other_domain);
    let Some(problem) = source("problem", texts.problem) else {
        let other = other.ok_or_else(|| Refusal::request("the request has no `other_domain`"))?;
        let subject = TellSubject::Differences(other);
        let request = TellRequest { domain, subject, sentences: Sentences::BesideDomain, limits: LIMITS };
        return state.work(move |context| Ok(tell(context, &request)?)).await;
    };
    let request = ModelsRequest {
        domain,
        problem,
        candidate_domain: other,
        candidate_problem: source("other problem", texts.other_problem),
        sentences: Sentences::BesideDomain,
        seed: 0,
        nodes: NODES,
        limits: LIMITS,
    };
    state.work(move |context| Ok(models(context, &request)?)).await
}
