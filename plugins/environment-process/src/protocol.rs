//! Requests to a program and its answers: one JSON object a line. See PROTOCOL.md.

use planforge_contract::{ActionInterface, ActionSignature, TypedName};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The version of the protocol.
pub(crate) const VERSION: u32 = 1;

/// The methods of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Method {
    Describe,
    Reset,
    Actions,
    Step,
    Execute,
    Validate,
    DescribeState,
}

impl Method {
    /// The word on the line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Describe => "describe",
            Self::Reset => "reset",
            Self::Actions => "actions",
            Self::Step => "step",
            Self::Execute => "execute",
            Self::Validate => "validate",
            Self::DescribeState => "describe_state",
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    pub(crate) method: Method,
    pub(crate) suite: &'a str,
    pub(crate) task: &'a str,
    #[serde(flatten)]
    pub(crate) parameters: Map<String, Value>,
}

/// An object or a parameter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Named {
    name: String,
    #[serde(default = "any_type", rename = "type")]
    type_name: String,
}

fn any_type() -> String {
    "object".to_owned()
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Signature {
    name: String,
    #[serde(default)]
    parameters: Vec<Named>,
}

impl Description {
    /// The actions and objects, in the program's spelling.
    pub(crate) fn interface(&self) -> ActionInterface {
        let typed = |n: &Named| TypedName { name: n.name.clone(), type_name: n.type_name.clone() };
        ActionInterface {
            types: Vec::new(),
            actions: self
                .actions
                .iter()
                .map(|a| ActionSignature {
                    name: a.name.clone(),
                    parameters: a.parameters.iter().map(typed).collect(),
                })
                .collect(),
            objects: self.objects.iter().map(typed).collect(),
        }
    }
}

/// The answer of `describe`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Description {
    pub(crate) protocol: u32,
    pub(crate) actions: Vec<Signature>,
    #[serde(default)]
    pub(crate) objects: Vec<Named>,
    /// Type -> the type above it.
    #[serde(default)]
    pub(crate) types: BTreeMap<String, String>,
    /// Methods beyond `describe`, `reset` and `validate`.
    #[serde(default)]
    pub(crate) methods: Vec<String>,
}

/// The answer of `actions`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Applicable {
    pub(crate) actions: Vec<String>,
}

/// The answer of `step`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Stepped {
    pub(crate) executed: bool,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
}

/// One entry of the answer of `execute`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Executed {
    pub(crate) executed: u32,
    #[serde(default)]
    pub(crate) refusal: Option<String>,
}

/// The answer of `execute`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Executions {
    pub(crate) executions: Vec<Executed>,
}

/// The answer of `validate`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Validated {
    pub(crate) valid: bool,
    pub(crate) executed: u32,
    #[serde(default)]
    pub(crate) reasons: Vec<String>,
}

/// The answer of `describe_state`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct State {
    #[serde(default)]
    pub(crate) sentences: Vec<String>,
    #[serde(default)]
    pub(crate) atoms: Vec<String>,
}

/// The answer of `reset`: any object.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Reset {}

/// A reply that keeps to the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reply<T> {
    Result(T),
    /// The program reports an error.
    Error(String),
}

/// Reads a reply.
///
/// # Errors
/// The mistake, as the rest of a sentence that begins with "the answer".
pub(crate) fn read<T: DeserializeOwned>(line: &str, id: u64) -> Result<Reply<T>, String> {
    let value: Value = serde_json::from_str(line).map_err(|e| format!("is not JSON ({e})"))?;
    let Value::Object(mut object) = value else { return Err("is not a JSON object".to_owned()) };
    match object.get("id") {
        Some(found) if found.as_u64() == Some(id) => {}
        Some(found) => return Err(format!("has the id {found} where {id} was asked")),
        None => return Err(format!("has no `id` (it must be {id})")),
    }
    match (object.remove("result"), object.remove("error")) {
        (Some(_), Some(_)) => Err("has both `result` and `error`".to_owned()),
        (None, None) => Err("has neither `result` nor `error`".to_owned()),
        (None, Some(error)) => {
            let message = error.get("message").unwrap_or(&error);
            Ok(Reply::Error(message.as_str().map_or_else(|| message.to_string(), str::to_owned)))
        }
        (Some(result), None) => serde_json::from_value(result)
            .map(Reply::Result)
            .map_err(|e| format!("has a result of another form than this method's ({e})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_and_what_is_wrong_with_them_is_named() {
        let read = |line: &str| read::<Stepped>(line, 4);
        let good = Stepped { executed: true, refusal: None };
        assert_eq!(
            read(r#"{"id":4,"result":{"executed":true,"extra":1},"more":[]}"#),
            Ok(Reply::Result(good))
        );
        assert_eq!(read(r#"{"id":4,"error":{"message":"no"}}"#), Ok(Reply::Error("no".into())));
        assert_eq!(read(r#"{"id":4,"error":"no"}"#), Ok(Reply::Error("no".into())));
        for (line, part) in [
            ("hello", "is not JSON"),
            ("[4]", "is not a JSON object"),
            (r#"{"result":{}}"#, "has no `id`"),
            (r#"{"id":5,"result":{}}"#, "has the id 5 where 4 was asked"),
            (r#"{"id":"4","result":{}}"#, "has the id \"4\" where 4 was asked"),
            (r#"{"id":4}"#, "neither"),
            (r#"{"id":4,"result":{},"error":{}}"#, "both"),
            (r#"{"id":4,"result":{"executed":"yes"}}"#, "another form"),
            (r#"{"id":4,"result":null}"#, "another form"),
        ] {
            let why = read(line).unwrap_err();
            assert!(why.contains(part), "{line}: {why}");
        }
    }

    #[test]
    fn a_request_is_one_flat_object() {
        let parameters = Map::from_iter([("action".to_owned(), Value::from("(fill big)"))]);
        let request = Request { id: 2, method: Method::DescribeState, suite: "s", task: "p01", parameters };
        assert_eq!(
            serde_json::to_string(&request).unwrap(),
            r#"{"id":2,"method":"describe_state","suite":"s","task":"p01","action":"(fill big)"}"#
        );
    }
}
