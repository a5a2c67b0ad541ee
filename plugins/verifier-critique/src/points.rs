//! `verifier-points`: a language model (role `critic`) names the points that the task's text leaves open, as questions to its author, each
//! with the change that makes the candidate the PDDL of another reader. It also names where the PDDL contradicts the text.
//!
//! A reply is read point by point, so an unusable one does not lose the others. A quote that the text does not have is dropped. A point
//! whose change cannot be made is a remark. The candidate is accepted if the reply names no point, else undecided: a stage with this
//! plugin is a measurement (`measure = true`). The evidence is a [`Points`] document; metrics are `points` and `decided` (points where a
//! quote contradicts the PDDL).

mod reply;

use planforge_contract::FinishReason;
use planforge_diagnostics::{CodeInfo, code_table};
use planforge_plugin_common::reading::{Points, join_texts, numbered, quotation_mark};
use planforge_plugin_sdk::checked::Texts;
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::prompt::Templates;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Explanations of the codes.
pub static CODES: &[CodeInfo] = code_table!("points/codes.md");

const CANCELLED: &str = "points.cancelled";
const NO_TEXT: &str = "points.no-text";
const NO_REPLY: &str = "points.no-reply";
const TEMPLATE: &str = "points.template";
const UNREADABLE: &str = "points.unreadable";

/// Most points that the question asks for.
const MOST: usize = 6;

#[derive(Debug)]
pub struct PointsVerifier {
    options: PointsOptions,
    templates: Templates,
}

impl Plugin for PointsVerifier {
    type Options = PointsOptions;

    fn about() -> About {
        About::new(
            "A language model names the points that a text leaves open, with the PDDL of another reader",
        )
        .role(crate::ROLE, "names open points")
        .requests(1)
        .metric("points", "points that the text leaves open or the PDDL contradicts")
        .metric("decided", "points of them where a quote of the text contradicts the PDDL")
    }

    fn create(options: PointsOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, templates: Templates::new(TEMPLATE, &TEMPLATES)? })
    }
}

impl Verifier for PointsVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let total = request.candidates.len() as u64;
        let mut results = Vec::with_capacity(request.candidates.len());
        for candidate in &request.candidates {
            results.push(self.assess(host, &request.task, candidate).into());
            host.progress(results.len() as u64, total, "candidates");
        }
        Ok(VerifyResponse { results })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_verifier_points", Verifier, PointsVerifier);

/// Options of `verifier-points`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PointsOptions {
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
}

const TEMPLATES: [(&str, &str); 2] = [
    ("system", include_str!("../templates/points/system.txt")),
    ("points", include_str!("../templates/points/points.txt")),
];

#[derive(Serialize)]
struct PointsContext<'a> {
    text: &'a str,
    mark: &'a str,
    domain: &'a str,
    problem: &'a str,
    /// True if the pipeline gives the domain.
    fixed: bool,
    most: usize,
}

impl PointsVerifier {
    fn assess(&self, host: &dyn Host, task: &TaskView, candidate: &Candidate) -> Result<Assessment, Failure> {
        if host.cancelled() {
            return Err(Failure::new(FailureClass::Cancelled, CANCELLED, "the run was interrupted"));
        }
        let text = join_texts(&task.task_text, &task.domain_text);
        if text.trim().is_empty() {
            let failure = Failure::new(FailureClass::Request, NO_TEXT, "the task has no text");
            return Err(failure.help("add the task's text to the suite"));
        }
        let texts = Texts::of(candidate, &task.given);
        let (Some(domain), Some(problem)) = (texts.domain, texts.problem) else {
            return Ok(undecided(
                UndecidedReason::MissingInput,
                "there is no domain with a problem".to_owned(),
            ));
        };
        if planforge_pddl::read_task(domain, problem).is_err() {
            let message = "the PDDL has errors, so no other reading can be made of it".to_owned();
            return Ok(undecided(UndecidedReason::MissingInput, message));
        }
        let fixed = task.given.domain.as_deref().is_some_and(|given| !given.trim().is_empty());
        let context = PointsContext {
            text: &numbered(&text),
            mark: &quotation_mark(&text),
            domain: domain.trim(),
            problem: problem.trim(),
            fixed,
            most: MOST,
        };
        let reply = self.ask(host, task, &context)?;
        let read = reply::PointReader { text: &text, domain, problem, fixed };
        Ok(match read.read(&reply) {
            Some(points) => assessment(&reply, points)?,
            None => unreadable(&reply),
        })
    }

    fn ask(&self, host: &dyn Host, task: &TaskView, context: &PointsContext<'_>) -> Result<Reply, Failure> {
        let system = self.templates.system(self.options.system.as_deref(), &())?;
        let system = (!system.is_empty()).then(|| Message::system(system));
        let question = Message::user(self.templates.render("points", context)?);
        let completion = CompletionRequest {
            messages: system.into_iter().chain([question]).collect(),
            sampling: Sampling { n: Some(1), ..Sampling::default() },
            tags: Tags::of(task, "points"),
            ..CompletionRequest::default()
        };
        let replies = host.complete(crate::ROLE, completion)?.replies;
        let missing = || Failure::new(FailureClass::Provider, NO_REPLY, "the host answered without a reply");
        replies.into_iter().next().ok_or_else(missing)
    }
}

/// The assessment of the points of a reply.
fn assessment(reply: &Reply, mut points: Points) -> Result<Assessment, Failure> {
    if reply.finish == FinishReason::Length {
        points.remarks.push("the reply was cut off at its token limit".to_owned());
    }
    let decided: Vec<String> = points
        .points
        .iter()
        .filter_map(|point| {
            Some(format!(
                "The text says \"{}\". {} ({})",
                point.decided_by.as_ref()?,
                point.question,
                point.otherwise
            ))
        })
        .collect();
    let (all, of_them) = (points.points.len(), decided.len());
    let mut assessment = match all {
        0 if reply.finish == FinishReason::Length => {
            undecided(UndecidedReason::Limit, "the reply was cut off before its first point".to_owned())
        }
        0 if !points.remarks.is_empty() => {
            undecided(UndecidedReason::MissingInput, "no point of the reply can be used".to_owned())
        }
        0 => Assessment::new(Decision::Accepted, "The text leaves no point open."),
        _ => {
            let noun = if all == 1 { "point" } else { "points" };
            undecided(
                UndecidedReason::MissingInput,
                format!("{all} {noun}, {of_them} of them decided by a quote of the text"),
            )
        }
    };
    assessment.feedback = decided;
    assessment.metrics.insert("points".into(), all as f64);
    assessment.metrics.insert("decided".into(), of_them as f64);
    assessment.evidence = serde_json::to_value(&points).map_err(|e| {
        Failure::new(FailureClass::Plugin, TEMPLATE, format!("the points cannot be written: {e}"))
    })?;
    Ok(assessment)
}

/// The assessment of a reply without a list of points.
fn unreadable(reply: &Reply) -> Assessment {
    let (reason, message) = match reply.finish {
        FinishReason::Length => (UndecidedReason::Limit, "the reply was cut off at its token limit"),
        _ => (UndecidedReason::MissingInput, "the reply has no list of points"),
    };
    let note = planforge_diagnostics::Diagnostic::warning(UNREADABLE, message);
    let mut assessment = undecided(reason, message.to_owned());
    assessment.diagnostics.push(ReportedDiagnostic::of(&note, &planforge_diagnostics::SourceMap::default()));
    assessment
}

fn undecided(reason: UndecidedReason, message: String) -> Assessment {
    Assessment::new(Decision::Undecided { reason, message: message.clone() }, message)
}

#[cfg(test)]
mod tests;
