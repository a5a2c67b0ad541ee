//! Identity of a request: its canonical form and sample path, and the seeds that derive from the path.

use planforge_contract::CompletionRequest;
use planforge_record::{canonical_json, sha256_hex};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The part of a request that determines its reply: model, messages, sampling, schema, grammar and extra body. Base URL, key, timeouts and
/// tags are not part of it.
pub fn canonical_request(request: &CompletionRequest) -> Value {
    let mut canonical = json!({
        "model": request.model,
        "messages": request.messages,
        "sampling": request.sampling,
        "extra": request.extra,
    });
    // Recordings without a schema have no such field.
    if let Some(schema) = &request.schema {
        canonical["schema"] = json!(schema);
    }
    // One notation stands for all: they are of the same grammar. Recordings without a grammar have no such field.
    if let Some(constraint) = &request.constraint {
        canonical["constraint"] = json!(constraint.gbnf);
    }
    canonical
}

/// SHA-256 of the canonical request, a colon, and the sample path.
pub fn completion_key(canonical: &Value, path: &str) -> String {
    format!("{}:{path}", sha256_hex(canonical_json(canonical).as_bytes()))
}

/// 64 bits derived from the run's seed, the purpose and the sample path.
pub fn derive_u64(run_seed: u64, purpose: &str, path: &str) -> u64 {
    let digest = Sha256::digest(format!("{run_seed}\n{purpose}\n{path}"));
    digest.iter().take(8).fold(0, |acc, byte| acc << 8 | u64::from(*byte))
}

/// The seed of the request at that sample path: 31 bits, because servers read seeds as signed 32-bit numbers.
pub fn derive_seed(run_seed: u64, path: &str) -> u64 {
    derive_u64(run_seed, "seed", path) & 0x7fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_contract::{Constraint, JsonObject, Message, ReplySchema, Tags};

    #[test]
    fn tags_are_outside_the_key_and_everything_else_is_inside() {
        let base = CompletionRequest {
            model: "m".into(),
            messages: vec![Message::user("hello")],
            ..CompletionRequest::default()
        };
        let key = |r: &CompletionRequest| completion_key(&canonical_request(r), "t/s/0/0");
        let mut other = base.clone();
        other.tags = Tags { task: "p01".into(), ..Tags::default() };
        assert_eq!(key(&base), key(&other));
        for change in [
            |r: &mut CompletionRequest| r.model.push('x'),
            |r: &mut CompletionRequest| r.messages.push(Message::user("")),
            |r: &mut CompletionRequest| r.sampling.seed = Some(1),
            |r: &mut CompletionRequest| drop(r.extra.insert("k".into(), 1.into())),
            |r: &mut CompletionRequest| {
                r.schema = Some(ReplySchema { name: "s".into(), schema: JsonObject::new() });
            },
            |r: &mut CompletionRequest| {
                r.constraint = Some(Constraint { gbnf: "root ::= \"a\"".into(), ..Constraint::default() });
            },
        ] {
            let mut other = base.clone();
            change(&mut other);
            assert_ne!(key(&base), key(&other));
        }
        assert!(key(&base).ends_with(":t/s/0/0"));
        assert_eq!(canonical_request(&base).get("schema"), None);
        assert_eq!(canonical_request(&base).get("constraint"), None);
        assert!(!serde_json::to_string(&base).unwrap().contains("constraint"));
    }

    #[test]
    fn seeds_depend_on_run_and_path_and_fit_servers() {
        assert_eq!(derive_seed(1, "a/b"), derive_seed(1, "a/b"));
        assert_ne!(derive_seed(1, "a/b"), derive_seed(2, "a/b"));
        assert_ne!(derive_seed(1, "a/b"), derive_seed(1, "a/c"));
        assert!((0..1000).all(|i| derive_seed(i, "x") <= i32::MAX as u64));
    }
}
