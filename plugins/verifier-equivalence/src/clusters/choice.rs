//! The votes for each cluster, and the questions that change them.

use crate::clusters::cluster::{Cluster, ClusterKind, Clusters};
use crate::clusters::codes;
use crate::clusters::options::ClusterOptions;
use crate::clusters::question::{Critic, Question};
use planforge_contract::api::Host;
use planforge_contract::{Assessment, Candidate, Decision, Failure, FailureClass, TaskView, UndecidedReason};
use serde_json::{Value, json};

/// A question with its answer.
struct Answered {
    question: Question,
    /// `None` if the reply does not say.
    answer: Option<bool>,
    /// Each cluster's own answer.
    own: Vec<Option<bool>>,
}

/// The clusters of one call.
pub(crate) struct Choice<'a> {
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
    pub(crate) fn ask(&mut self, host: &dyn Host, critic: &Critic, task: &TaskView) -> Result<(), Failure> {
        let most = u64::from(self.options.questions).saturating_mul(self.candidates.len() as u64);
        while (self.answered.len() as u64) < most {
            let Some(question) = self.next_question() else { break };
            if host.cancelled() {
                return Err(cancelled_failure());
            }
            let answer = critic.ask(host, self.options, task, &question)?;
            let own = |cluster: &Cluster| cluster.model().and_then(|model| question.answer_of(model));
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
    pub(crate) fn assessments(&self) -> Vec<Assessment> {
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

pub(crate) fn cancelled_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted")
}
