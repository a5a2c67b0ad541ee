//! Replies to the same request in several records, or several times in one.

use crate::index::split_key;
use crate::{CompletionRecord, Lookup, RecordError, SamplePath, canonical_json, sha256_hex};
use planforge_contract::CompletionResult;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// Replies to the same request, in records that are added one after the other.
#[derive(Debug, Clone, Default)]
pub struct RepeatedRequests {
    /// What is recorded and key -> the first replies.
    by_key: HashMap<(String, String), FirstReplies>,
    /// Hash of a request that should have one answer -> the first replies to it.
    by_request: HashMap<String, FirstReplies>,
    /// Requests that two records of the same runs answer differently. The replies of the first record are used.
    pub conflicts: Vec<OtherReplies>,
    /// Model -> repetitions of requests that should have one answer: those at temperature 0, and those with the same seed.
    pub models: BTreeMap<String, ModelRepeats>,
}

/// The repeated requests of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelRepeats {
    /// Number of repetitions.
    pub repeated: usize,
    /// Those with other replies than the first.
    pub other: Vec<OtherReplies>,
}

/// Two records with different replies to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherReplies {
    /// The place of the repetition in its run.
    pub path: SamplePath,
    /// Name of the record with the first replies.
    pub first: String,
    /// Name of the record with other ones.
    pub other: String,
}

#[derive(Debug, Clone)]
struct FirstReplies {
    record: String,
    replies: Vec<String>,
}

impl RepeatedRequests {
    /// Adds the completions of a record. `of` names what is recorded: two records of the same runs have one name there. Requests that failed are
    /// left out.
    ///
    /// # Errors
    /// A completion cannot be read.
    pub fn add(&mut self, name: &str, of: &str, record: &dyn Lookup) -> Result<(), RecordError> {
        for key in record.completion_keys() {
            if let Some(completion) = record.completion(&key)? {
                self.add_completion(name, of, &completion);
            }
        }
        Ok(())
    }

    fn add_completion(&mut self, name: &str, of: &str, completion: &CompletionRecord) {
        let Some(CompletionResult::Replies(replies)) = &completion.result else { return };
        let replies: Vec<String> = replies.replies.iter().map(|reply| reply.content.clone()).collect();
        let compare = |first: &FirstReplies| {
            (first.replies != replies).then(|| OtherReplies {
                path: completion.path.clone(),
                first: first.record.clone(),
                other: name.to_owned(),
            })
        };
        let own = || FirstReplies { record: name.to_owned(), replies: replies.clone() };
        let key = (of.to_owned(), completion.key.clone());
        match self.by_key.get(&key) {
            Some(first) => self.conflicts.extend(compare(first)),
            None => drop(self.by_key.insert(key, own())),
        }
        let Some(request) = request_with_one_answer(&completion.key, &completion.request) else { return };
        match self.by_request.get(&request) {
            Some(first) => {
                let model = completion.request["model"].as_str().unwrap_or_default().to_owned();
                let repeats = self.models.entry(model).or_default();
                repeats.repeated += 1;
                repeats.other.extend(compare(first));
            }
            None => drop(self.by_request.insert(request, own())),
        }
    }
}

/// The hash of a request at temperature 0, whose seed does not matter, or with a seed. `None` for one whose replies are drawn anew each time.
fn request_with_one_answer(key: &str, request: &Value) -> Option<String> {
    let sampling = request.get("sampling")?;
    if sampling.get("temperature").and_then(Value::as_f64) == Some(0.0) {
        let mut greedy = request.clone();
        greedy.get_mut("sampling")?.as_object_mut()?.remove("seed");
        return Some(sha256_hex(canonical_json(&greedy).as_bytes()));
    }
    sampling.get("seed").filter(|seed| !seed.is_null()).map(|_| split_key(key).0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cassette, CassetteHeader, Redactor};
    use serde_json::json;
    use std::sync::Arc;

    /// A record with replies to requests: path, sampling, reply.
    fn record(completions: &[(&str, Value, &str)]) -> Cassette {
        let header = CassetteHeader { planforge_cassette: 1, ..CassetteHeader::default() };
        let mut text = serde_json::to_string(&header).unwrap();
        for (path, sampling, reply) in completions {
            let request = json!({ "model": "m", "messages": [], "sampling": sampling, "extra": {} });
            let replies = json!([{ "content": reply, "finish": "stop" }]);
            let result = json!({ "result": "replies", "replies": replies });
            let line = json!({ "record": "completion", "path": path, "role": "r", "request": request, "result": result, "attempts": 1, "elapsed_ms": 1 });
            text += &format!("\n{line}");
        }
        Cassette::parse(&text, Arc::new(Redactor::default())).unwrap()
    }

    fn repeats(records: &[Cassette]) -> RepeatedRequests {
        let mut found = RepeatedRequests::default();
        for (record, name) in records.iter().zip(["a", "b"]) {
            found.add(name, "cell", record).unwrap();
        }
        found
    }

    #[test]
    fn other_replies_at_temperature_0_are_named_with_their_records() {
        let greedy = |seed: u64| json!({ "temperature": 0.0, "seed": seed });
        let first = record(&[("p01/plan", greedy(1), "up"), ("p02/plan", greedy(2), "up")]);
        let second = record(&[("p01/plan", greedy(1), "down"), ("p02/plan", greedy(2), "up")]);
        let found = repeats(&[first, second]);
        let other = |path: &str| OtherReplies { path: path.into(), first: "a".into(), other: "b".into() };
        assert_eq!(found.conflicts, [other("p01/plan")]);
        // The seed does not matter at temperature 0: all four are one request.
        assert_eq!(found.models["m"], ModelRepeats { repeated: 3, other: vec![other("p01/plan")] });
    }

    #[test]
    fn drawn_replies_may_differ_unless_they_have_one_seed() {
        let drawn = |seed: Option<u64>| json!({ "temperature": 0.7, "seed": seed });
        let seeds = record(&[("p/0", drawn(Some(1)), "up"), ("p/1", drawn(Some(2)), "down")]);
        let none = record(&[("q/0", drawn(None), "up"), ("q/1", drawn(None), "down")]);
        let found = repeats(&[seeds, none]);
        assert!(found.conflicts.is_empty() && found.models.is_empty(), "{found:?}");
        let same = record(&[("p/0", drawn(Some(1)), "up"), ("p/1", drawn(Some(1)), "down")]);
        assert_eq!(repeats(&[same]).models["m"].other.len(), 1);
        // Without a seed the first of two recordings is used, and the model may have drawn both.
        let again = || record(&[("q/0", drawn(None), "left")]);
        let first = || record(&[("q/0", drawn(None), "up")]);
        let found = repeats(&[first(), again()]);
        assert_eq!((found.conflicts.len(), found.models.len()), (1, 0));
        // Another pipeline drew its own reply.
        let mut found = RepeatedRequests::default();
        found.add("a", "one", &first()).unwrap();
        found.add("b", "other", &again()).unwrap();
        assert!(found.conflicts.is_empty());
    }
}
