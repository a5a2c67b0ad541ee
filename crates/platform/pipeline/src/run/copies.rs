//! Replies that are word for word another reply to the same question. A server that ignores seeds gives them for samples, and so does any at
//! temperature 0. They stay samples of their own, in the beam and in the record; how many there are is reported.

use super::sync::lock;
use planforge_contract::{Message, Reply, Speaker};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

/// Hashes of one task's requests and replies, 8 bytes each.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    models: Mutex<BTreeMap<String, ReplyCounts>>,
}

#[derive(Debug, Default)]
struct ReplyCounts {
    /// Question and reply together.
    distinct: BTreeSet<u64>,
    copies: u64,
}

/// A question, as its replies are compared by it.
#[derive(Debug)]
pub(crate) struct Question(DefaultHasher);

impl Question {
    pub(crate) fn new(messages: &[Message]) -> Self {
        let mut hasher = DefaultHasher::new();
        for message in messages {
            let speaker = match message.role {
                Speaker::System => 0_u8,
                Speaker::User => 1,
                Speaker::Assistant => 2,
            };
            (speaker, message.content.as_str()).hash(&mut hasher);
        }
        Self(hasher)
    }
}

impl Copies {
    /// Records the replies to a request, which may be repeated. The order of requests does not matter.
    pub(crate) fn note<'r>(
        &self,
        model: &str,
        question: &Question,
        replies: impl IntoIterator<Item = &'r Reply>,
    ) {
        let mut models = lock(&self.models);
        let seen = models.entry(model.to_owned()).or_default();
        for reply in replies {
            let mut both = question.0.clone();
            reply.content.hash(&mut both);
            if !seen.distinct.insert(both.finish()) {
                seen.copies += 1;
            }
        }
    }

    /// Replies that are copies, by `[llm.NAME]` table; only where there are any.
    pub(crate) fn by_model(&self) -> BTreeMap<String, u64> {
        let models = lock(&self.models);
        models.iter().filter(|(_, s)| s.copies > 0).map(|(name, s)| (name.clone(), s.copies)).collect()
    }
}

/// The warning about copies for the run's log.
pub(crate) fn warning(model: &str, copies: u64, replies: u64) -> String {
    let are = if copies == 1 { "is a copy" } else { "are copies" };
    format!(
        "pipeline.copies: {copies} of {replies} replies under [llm.{model}] {are} of another reply to the same question: the server \
ignores `seed`, or the temperature is 0"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::FinishReason;

    #[test]
    fn a_copy_is_the_same_reply_to_the_same_question() {
        let copies = Copies::default();
        let reply = |content: &str| Reply::new(content, FinishReason::Stop);
        let ask = |model: &str, question: &str, replies: &[&str]| {
            let replies: Vec<Reply> = replies.iter().map(|r| reply(r)).collect();
            copies.note(model, &Question::new(&[Message::user(question)]), &replies);
        };
        ask("main", "a", &["x", "y"]);
        ask("main", "b", &["x"]);
        ask("other", "a", &["x"]);
        assert_eq!(copies.by_model(), BTreeMap::new());
        ask("main", "a", &["x", "z", "z"]);
        assert_eq!(copies.by_model(), BTreeMap::from([("main".to_owned(), 2)]));
    }
}
