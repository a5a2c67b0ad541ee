//! `verifier-clusters`: compares the candidates of a task with each other, for a choice among samples that does
//! not depend on the reference.
//!
//! Candidates that behave the same on their problem are one cluster: every sequence of ground actions is
//! executed by both or refused by both, and leads to the goal in both or in neither. Samples that are right
//! agree, and wrong ones mostly differ from each other, so the largest cluster is a better guess than the most
//! likely sample (test-time-scaling paper, Eq. 1).
//!
//! | the candidate | verdict | `votes` |
//! |---|---|---|
//! | is in the cluster with the most votes | accepted | members of the cluster |
//! | is in another one | rejected | members of the cluster |
//! | is trivial: unreadable, without effects, or its problem has no plan | rejected | absent |
//! | has a comparison that a limit cut | undecided | 1 |
//!
//! `select` keeps a candidate with the most `votes`; `ties = "candidate.log_likelihood"` decides between
//! clusters with equal votes and between the members of one.
//!
//! # Questions
//!
//! With `questions` above 0, the role `critic` decides between clusters that are nearly equal. The shortest
//! sequence of actions on which two clusters differ becomes a question: can this action be done after these, or
//! is the goal then reached? The critic answers from the given texts. Each answer is one more vote for the
//! clusters that agree with it and one less for those that do not; a cluster that refuses the actions before has
//! no answer. A question is asked only if its answer can change the first cluster: it is about that cluster and
//! another with at most one vote less. A reply that does not say changes nothing.
//!
//! The environment is not asked, and questions contain nothing of the reference. Evidence: `clusters` (sample
//! numbers), `cluster` (the candidate's), and `questions` with the critic's answer and that of each cluster.

mod cluster;

pub use codes::CODES;

use cluster::{Cluster, ClusterKind, Clusters, Critic, Question};
use planforge_planning::equivalence::domains::EquivalenceLimits;
use planforge_planning::{Algorithm, PlanOptions, StopReason};
use planforge_plugin_common::judging::JudgingLimits;
use planforge_plugin_sdk::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The role that answers questions.
const ROLE: &str = "critic";

#[derive(Debug)]
pub struct ClusterVerifier {
    options: ClusterOptions,
    critic: Critic,
}

impl Plugin for ClusterVerifier {
    type Options = ClusterOptions;

    fn about() -> About {
        About::new("Clusters the candidates of a task by equal behaviour; a language model may decide between clusters")
            .together()
            .role(ROLE, "answers what can be done, where `questions` is above 0")
            .requests(RequestCount::option("questions"))
            .metric("size", "candidates that behave like this one, itself included")
            .metric("votes", "the same, with one more for each answer of the critic that agrees and one less for each that does not; absent if the candidate is trivial")
            .metric("clusters", "clusters of the candidates that were compared")
            .metric("questions", "questions that the critic was asked")
    }

    fn create(options: ClusterOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        Ok(Self { options, critic: Critic::new()? })
    }
}

impl Verifier for ClusterVerifier {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let candidates = &request.candidates;
        let mut deadline = self.options.limits.deadline(host, candidates.len());
        let clusters = cluster::clusters(candidates, &request.task.given, &self.options, &mut deadline);
        if deadline.stop_reason() == Some(StopReason::Cancelled) {
            return Err(cancelled_failure());
        }
        let mut choice = Choice::new(&self.options, candidates, clusters);
        choice.ask(host, &self.critic, &request.task)?;
        Ok(VerifyResponse { results: choice.assessments().into_iter().map(Outcome::Ok).collect() })
    }
}

planforge_plugin_sdk::bundle_plugin!("planforge_verifier_clusters", Verifier, ClusterVerifier);

/// Options of `verifier-clusters`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterOptions {
    /// Most questions to the role `critic`, for each candidate that is compared. 0, the default, asks none, and the stage then needs no
    /// `roles`.
    pub questions: u32,
    /// Most pairs of states in one comparison of two candidates. Candidates whose comparison is cut are in clusters of their own.
    pub max_states: u64,
    /// Most search nodes for a plan. A candidate that is not shown to be unsolvable within them counts as solvable.
    pub max_nodes: u64,
    /// Replaces the system text. An empty text omits the system turn.
    pub system: Option<String>,
    /// Limits on the comparisons. Candidates that share a call share the sum.
    pub limits: JudgingLimits,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            questions: 0,
            max_states: 100_000,
            max_nodes: 100_000,
            system: None,
            limits: JudgingLimits::default(),
        }
    }
}

impl ClusterOptions {
    pub(crate) fn comparison(&self) -> EquivalenceLimits {
        EquivalenceLimits { max_pairs: self.max_states, ..EquivalenceLimits::default() }
    }

    pub(crate) fn search(&self) -> PlanOptions {
        PlanOptions { algorithm: Algorithm::Greedy, max_nodes: self.max_nodes, ..PlanOptions::default() }
    }
}

/// A question with its answer.
struct Answered {
    question: Question,
    /// `None` if the reply does not say.
    answer: Option<bool>,
    /// Each cluster's own answer.
    own: Vec<Option<bool>>,
}

/// The clusters of one call.
struct Choice<'a> {
    options: &'a ClusterOptions,
    candidates: &'a [Candidate],
    clusters: Clusters,
    answered: Vec<Answered>,
}

impl<'a> Choice<'a> {
    pub(crate) fn new(options: &'a ClusterOptions, candidates: &'a [Candidate], clusters: Clusters) -> Self {
        Self { options, candidates, clusters, answered: Vec::new() }
    }

    /// Asks the critic about the first cluster and its challengers, in their order.
    ///
    /// # Errors
    /// A reply is deferred or missing, or the run was interrupted.
    fn ask(&mut self, host: &dyn Host, critic: &Critic, task: &TaskView) -> Result<(), Failure> {
        let most = u64::from(self.options.questions).saturating_mul(self.candidates.len() as u64);
        while (self.answered.len() as u64) < most {
            let Some(question) = self.next_question() else { break };
            if host.cancelled() {
                return Err(cancelled_failure());
            }
            let answer = critic.ask(host, self.options, task, &question)?;
            let mut budget = self.options.limits.deadline(host, 1);
            let own =
                |cluster: &Cluster| cluster.model().and_then(|model| question.answer_of(model, &mut budget));
            let own = self.clusters.all.iter().map(own).collect();
            self.answered.push(Answered { question, answer, own });
        }
        Ok(())
    }

    /// The next question: about the first cluster and the first other one that the answer could put before it.
    fn next_question(&self) -> Option<Question> {
        let ranked = self.ranked();
        let (first, others) = ranked.split_first()?;
        let lead = self.votes(*first)?;
        let between = |other: &usize| self.clusters.questions.get(&(*first.min(other), *first.max(other)));
        let is_new = |question: &&Question| !self.answered.iter().any(|old| old.question == **question);
        let in_reach = |other: &&usize| self.votes(**other).is_some_and(|votes| lead - votes <= 1);
        others.iter().filter(in_reach).filter_map(between).find(is_new).cloned()
    }

    /// Clusters that are not trivial, those with the most votes first. Ties go to the highest log-likelihood of a member, then to the
    /// first cluster.
    fn ranked(&self) -> Vec<usize> {
        let mut ranked: Vec<(i64, usize)> =
            (0..self.clusters.all.len()).filter_map(|index| Some((self.votes(index)?, index))).collect();
        ranked.sort_by(|(a, first), (b, second)| {
            b.cmp(a).then_with(|| self.likelihood(*second).total_cmp(&self.likelihood(*first)))
        });
        ranked.into_iter().map(|(_, index)| index).collect()
    }

    /// The highest log-likelihood of a member.
    fn likelihood(&self, cluster: usize) -> f64 {
        let members = self.clusters.all.get(cluster).map(|c| c.members.as_slice()).unwrap_or_default();
        let of = |index: &usize| self.candidates.get(*index)?.log_likelihood;
        members.iter().filter_map(of).fold(f64::NEG_INFINITY, f64::max)
    }

    /// One for each member and each of the critic's answers that the cluster agrees with, less one for each that it contradicts. `None` if
    /// the cluster is trivial.
    fn votes(&self, cluster: usize) -> Option<i64> {
        let own = self.clusters.all.get(cluster)?;
        if matches!(own.kind, ClusterKind::Trivial(_)) {
            return None;
        }
        let vote = |answered: &Answered| match (answered.answer, answered.own.get(cluster).copied().flatten())
        {
            (Some(answer), Some(own)) if answer == own => 1,
            (Some(_), Some(_)) => -1,
            // No answer, or the cluster refuses the actions that come first.
            _ => 0,
        };
        let members = i64::try_from(own.members.len()).unwrap_or(i64::MAX);
        Some(members + self.answered.iter().map(vote).sum::<i64>())
    }

    /// One assessment for each candidate.
    fn assessments(&self) -> Vec<Assessment> {
        let ranked = self.ranked();
        let evidence = self.evidence();
        let mut places: Vec<usize> = vec![0; self.candidates.len()];
        for (cluster, of) in self.clusters.all.iter().enumerate() {
            for member in &of.members {
                if let Some(place) = places.get_mut(*member) {
                    *place = cluster;
                }
            }
        }
        let of = |cluster: &usize| self.assessment(*cluster, &ranked, &evidence);
        places.iter().map(of).collect()
    }

    fn assessment(&self, cluster: usize, ranked: &[usize], evidence: &Value) -> Assessment {
        let size = self.clusters.all.get(cluster).map_or(0, |own| own.members.len());
        let told = format!("{size} of {} candidates behave like this one", self.candidates.len());
        let kind = self.clusters.all.get(cluster).map(|own| &own.kind);
        let mut assessment = match kind {
            Some(ClusterKind::Trivial(reason)) => {
                Assessment::new(Decision::Rejected, format!("The candidate is trivial: {reason}."))
            }
            Some(ClusterKind::Cut { reason, .. }) => {
                let message = format!("the candidate is in a cluster of its own: {reason}");
                let decision =
                    Decision::Undecided { reason: UndecidedReason::Limit, message: message.clone() };
                Assessment::new(decision, message)
            }
            _ if ranked.first() == Some(&cluster) => {
                Assessment::new(Decision::Accepted, format!("{told}, and no cluster comes before it."))
            }
            _ => Assessment::new(Decision::Rejected, format!("{told}, and another cluster comes first.")),
        };
        assessment.metrics.insert("size".into(), size as f64);
        if let Some(votes) = self.votes(cluster) {
            assessment.metrics.insert("votes".into(), votes as f64);
        }
        assessment.metrics.insert("clusters".into(), self.clusters.all.len() as f64);
        assessment.metrics.insert("questions".into(), self.answered.len() as f64);
        assessment.evidence = evidence.clone();
        assessment.evidence["cluster"] = json!(cluster);
        assessment
    }

    /// The members of each cluster by their sample numbers, and the questions with all answers.
    fn evidence(&self) -> Value {
        let sample = |index: &usize| {
            let candidate = self.candidates.get(*index);
            candidate.and_then(|c| c.lineage.last()).map(|step| step.sample)
        };
        let members =
            |cluster: &Cluster| -> Vec<Option<u32>> { cluster.members.iter().map(sample).collect() };
        let answered = |answered: &Answered| {
            json!({
                "steps": answered.question.before.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "action": answered.question.action.as_ref().map(ToString::to_string),
                "answer": answered.answer,
                "clusters": answered.own,
            })
        };
        json!({
            "clusters": self.clusters.all.iter().map(members).collect::<Vec<_>>(),
            "questions": self.answered.iter().map(answered).collect::<Vec<_>>(),
        })
    }
}

fn cancelled_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted")
}

/// The codes of this plugin's failures.
mod codes {
    use planforge_diagnostics::{CodeInfo, code_table};

    pub(crate) const CANCELLED: &str = "clusters.cancelled";
    pub(crate) const TEMPLATE: &str = "clusters.prompt-template";
    pub(crate) const NO_REPLY: &str = "clusters.no-reply";
    pub(crate) const NO_TEXT: &str = "clusters.no-text";

    /// Explanations of the codes.
    pub static CODES: &[CodeInfo] = code_table!("clusters/codes.md");
}

#[cfg(test)]
mod tests;
