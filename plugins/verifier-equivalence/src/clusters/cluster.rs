//! Clusters of candidates that behave the same on their problem.

use crate::clusters::{ClusterOptions, ROLE, codes};
use planforge_contract::api::Host;
use planforge_contract::{
    Candidate, CompletionRequest, Failure, FailureClass, FinishReason, Given, Message, Reply,
    ReportedSeverity, Sampling, Tags, TaskView,
};
use planforge_planning::equivalence::ComparedSide;
use planforge_planning::equivalence::domains::{
    Behaviour, ComparableModel, ComparisonVerdict, DifferenceKind, DomainComparison, comparable,
    compare_models,
};
use planforge_planning::walk::{ModelError, NamedStep, execute_steps};
use planforge_planning::{ResourceLimits, SearchOutcome, plan_model};
use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::checked::{Texts, check};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;
use std::collections::BTreeMap;

/// Candidates that behave the same. All are represented by the model of the first.
pub(crate) struct Cluster {
    /// Indices of the candidates, ascending.
    pub(crate) members: Vec<usize>,
    pub(crate) kind: ClusterKind,
}

pub(crate) enum ClusterKind {
    /// Members were compared with every other cluster.
    Compared(ComparableModel),
    /// A limit ended a comparison with another cluster, so that there may be more members.
    Cut {
        /// The model, unless the limit ended its grounding.
        model: Option<ComparableModel>,
        reason: String,
    },
    /// The single member is unreadable, has no effects or cannot be solved.
    Trivial(String),
}

impl Cluster {
    pub(crate) fn model(&self) -> Option<&ComparableModel> {
        match &self.kind {
            ClusterKind::Compared(model) => Some(model),
            ClusterKind::Cut { model, .. } => model.as_ref(),
            ClusterKind::Trivial(_) => None,
        }
    }
}

/// Clusters in the order of their first members, and the shortest differences between them.
#[derive(Default)]
pub(crate) struct Clusters {
    pub(crate) all: Vec<Cluster>,
    /// Questions that two clusters answer differently, by their indices, the lower one first.
    pub(crate) questions: BTreeMap<(usize, usize), Question>,
}

/// Groups the candidates, in their order.
pub(crate) fn clusters(
    candidates: &[Candidate],
    given: &Given,
    options: &ClusterOptions,
    deadline: &mut Deadline<'_>,
) -> Clusters {
    let mut clusters = Clusters::default();
    for (index, candidate) in candidates.iter().enumerate() {
        let kind = read(Texts::of(candidate, given), options, deadline);
        let kind = match kind {
            ClusterKind::Compared(model) => match clusters.place(&model, options, deadline) {
                Place::In(cluster) => {
                    if let Some(cluster) = clusters.all.get_mut(cluster) {
                        cluster.members.push(index);
                    }
                    continue;
                }
                Place::New => ClusterKind::Compared(model),
                Place::Cut(reason) => ClusterKind::Cut { model: Some(model), reason },
            },
            kind => kind,
        };
        clusters.all.push(Cluster { members: vec![index], kind });
    }
    clusters
}

/// A candidate on its own: a model, unless it is trivial or cut.
fn read(texts: Texts<'_>, options: &ClusterOptions, deadline: &mut Deadline<'_>) -> ClusterKind {
    let trivial = |reason: &str| ClusterKind::Trivial(reason.to_owned());
    let checked = check(texts, "");
    let (Some(domain), Some(problem)) = (&checked.domain, &checked.problem) else {
        return trivial("it has no domain or no problem");
    };
    if checked.count(ReportedSeverity::Error) > 0 {
        return trivial("it has errors");
    }
    if domain.is_without_effects() {
        return trivial("no action has an effect");
    }
    let model = match comparable(ComparedSide::First, domain, problem, &options.comparison(), deadline) {
        Ok(model) => model,
        Err(not) => {
            return match not.error {
                ModelError::Invalid(_) => ClusterKind::Trivial(not.error.to_string()),
                // The candidate may be right, and nothing is known about it.
                ModelError::Unsupported(_) | ModelError::Limit(_) => {
                    ClusterKind::Cut { model: None, reason: not.error.to_string() }
                }
            };
        }
    };
    match plan_model(model.model(), &options.search(), deadline).map(|result| result.outcome) {
        Some(SearchOutcome::ProvenUnsolvable(_)) => trivial("its problem has no plan"),
        _ => ClusterKind::Compared(model),
    }
}

/// The place of a candidate among the clusters so far.
enum Place {
    In(usize),
    New,
    Cut(String),
}

impl Clusters {
    /// Compares a model with every cluster, up to the one that it belongs to. Notes the differences as those of a new cluster.
    fn place(
        &mut self,
        model: &ComparableModel,
        options: &ClusterOptions,
        deadline: &mut Deadline<'_>,
    ) -> Place {
        let new = self.all.len();
        let (mut cut, mut questions) = (None, Vec::new());
        for (index, cluster) in self.all.iter().enumerate() {
            let Some(first) = cluster.model() else { continue };
            match compare_models([first, model], &options.comparison(), deadline) {
                Ok(found) => match found.verdict() {
                    ComparisonVerdict::Equal => return Place::In(index),
                    ComparisonVerdict::Different => {
                        questions.extend(Question::about(&found).map(|question| ((index, new), question)));
                    }
                    ComparisonVerdict::Open => cut = Some("a limit cut a comparison".to_owned()),
                },
                Err(not) => cut = Some(not.error.to_string()),
            }
        }
        self.questions.extend(questions);
        cut.map_or(Place::New, Place::Cut)
    }
}

const TEMPLATES: [(&str, &str); 2] = [
    ("system", include_str!("../../templates/clusters/system.txt")),
    ("question", include_str!("../../templates/clusters/question.txt")),
];

/// A question that two models answer differently.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The actions that are done first.
    pub(crate) before: Vec<NamedStep>,
    /// The action that may be possible after them; `None` asks if the goal is reached.
    pub(crate) action: Option<NamedStep>,
}

impl Question {
    /// The question about the difference that was found; `None` if only costs differ, or nothing.
    pub(crate) fn about(found: &DomainComparison) -> Option<Self> {
        let Behaviour::Different(difference) = &found.behaviour else { return None };
        let mut before = difference.steps.clone();
        let action = match difference.kind {
            DifferenceKind::Refused { .. } => Some(before.pop()?),
            DifferenceKind::Goal { .. } => None,
        };
        Some(Self { before, action })
    }

    /// The model's own answer; `None` if it does not execute the actions that come first, or a limit was reached.
    pub(crate) fn answer_of(&self, model: &ComparableModel, budget: &mut dyn ResourceLimits) -> Option<bool> {
        let model = model.model();
        let executed = execute_steps(model, &self.before, budget).ok()?;
        if executed.refusal.is_some() {
            return None;
        }
        match &self.action {
            Some(action) => {
                let steps = [&self.before[..], std::slice::from_ref(action)].concat();
                Some(execute_steps(model, &steps, budget).ok()?.refusal.is_none())
            }
            None => model.is_goal(&executed.state, budget).ok(),
        }
    }
}

#[derive(Serialize)]
struct Context<'a> {
    domain_text: &'a str,
    task_text: &'a str,
    problem: Option<&'a str>,
    signatures: Vec<String>,
    steps: Vec<String>,
    action: Option<String>,
}

/// The role `critic`.
#[derive(Debug)]
pub(crate) struct Critic {
    templates: Templates,
}

impl Critic {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::new(codes::TEMPLATE, &TEMPLATES)? })
    }

    /// Asks one question. `None` if the reply does not say.
    pub(crate) fn ask(
        &self,
        host: &dyn Host,
        options: &ClusterOptions,
        task: &TaskView,
        question: &Question,
    ) -> Result<Option<bool>, Failure> {
        let system = self.templates.system(options.system.as_deref(), &())?;
        let mut messages: Vec<Message> =
            Some(system).filter(|text| !text.is_empty()).map(Message::system).into_iter().collect();
        messages.push(Message::user(self.text(task, question)?));
        let completion = CompletionRequest {
            messages,
            sampling: Sampling { n: Some(1), ..Sampling::default() },
            tags: Tags::of(task, "answer"),
            ..CompletionRequest::default()
        };
        let replies = host.complete(ROLE, completion)?.replies;
        let reply = replies.into_iter().next().ok_or_else(|| {
            Failure::new(FailureClass::Provider, codes::NO_REPLY, "the host answered without a reply")
        })?;
        Ok(read_answer(&reply))
    }

    /// The text of a question. It holds what the pipeline gives, and actions that candidates execute.
    pub(crate) fn text(&self, task: &TaskView, question: &Question) -> Result<String, Failure> {
        let problem = task.given.problem.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let (domain_text, task_text) = (task.domain_text.trim(), task.task_text.trim());
        if domain_text.is_empty() && task_text.is_empty() && problem.is_none() {
            let message = "no text and no problem is given that a question could be answered from";
            return Err(Failure::new(FailureClass::Request, codes::NO_TEXT, message)
                .help("give texts or the problem, or leave `questions` out"));
        }
        let interface = task.action_interface.iter().flat_map(|interface| &interface.actions);
        let context = Context {
            domain_text,
            task_text,
            problem,
            signatures: interface.map(ToString::to_string).collect(),
            steps: question.before.iter().map(ToString::to_string).collect(),
            action: question.action.as_ref().map(ToString::to_string),
        };
        self.templates.render("question", &context)
    }
}

/// The answer in a reply: that of the last line that has `answer` in it, else that of the first or last line of a whole reply.
pub(crate) fn read_answer(reply: &Reply) -> Option<bool> {
    let text = reply.content.to_lowercase();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    // A line that repeats the form of the answer has both words.
    let answer = |line: &&str| Some(after_answer(line)?).filter(|_| !has_both(line));
    let stated = lines.iter().rev().find_map(answer);
    if stated.is_some() || reply.finish != FinishReason::Stop {
        return stated;
    }
    let ends = [lines.last(), lines.first()];
    ends.into_iter().flatten().filter(|line| !has_both(line)).find_map(|line| yes_or_no(line))
}

/// `answer: **yes**`, `the answer is no`.
fn after_answer(line: &str) -> Option<bool> {
    let (_, rest) = line.rsplit_once("answer")?;
    let rest = rest.trim_start().strip_prefix("is ").unwrap_or(rest);
    yes_or_no(rest)
}

/// The first word, if it is yes or no.
fn yes_or_no(text: &str) -> Option<bool> {
    match words(text).next()? {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn has_both(line: &str) -> bool {
    ["yes", "no"].iter().all(|wanted| words(line).any(|word| word == *wanted))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
