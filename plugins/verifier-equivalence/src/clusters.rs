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

mod choice;
mod cluster;
mod codes;
mod options;
mod question;

pub use codes::CODES;
pub use options::ClusterOptions;

use choice::{Choice, cancelled_failure};
use planforge_planning::StopReason;
use planforge_plugin_sdk::prelude::*;

/// The role that answers questions.
pub(crate) const ROLE: &str = "critic";

#[derive(Debug)]
pub struct ClusterVerifier {
    options: ClusterOptions,
    critic: question::Critic,
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
        Ok(Self { options, critic: question::Critic::new()? })
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

#[cfg(test)]
mod tests;
