//! The abilities of a model that a trial looks for, one small request or a few each.

use super::trial::{Connection, Refused, Trial};
use planforge_contract::{ProviderFailureClass, Replies, Reply, ReplySchema};
use serde::Serialize;
use serde_json::{Value, json};

/// The result for an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    Yes,
    No,
    /// The requests do not decide it.
    Unknown,
}

impl Answer {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// An ability, and what the trial found.
#[derive(Debug, Serialize)]
pub(super) struct Ability {
    pub(super) name: &'static str,
    pub(super) result: Answer,
    pub(super) detail: String,
}

type Finding = (Answer, String);

/// Tries every ability. `first` is the model's first reply.
pub(super) fn find_abilities(
    trial: &mut Trial<'_>,
    connection: &Connection,
    first: &Replies,
) -> Vec<Ability> {
    let mut found = Vec::new();
    let mut add = |name, (result, detail): Finding| found.push(Ability { name, result, detail });
    add("n", several_replies(trial, connection));
    add("logprobs", logprobs(trial, connection));
    add("seed", seed(trial, connection));
    add("schema", schema(trial, connection));
    add("cache", cache(trial));
    add("grammar", grammar(trial, connection));
    add("reasoning", reasoning(first));
    found
}

/// A refusal decides an ability, an overload or a lost connection does not.
fn of_refusal(refused: Refused) -> Finding {
    use ProviderFailureClass as C;
    match refused {
        Refused::Provider(failure) => (Answer::No, failure.message),
        Refused::Server(failure) => match failure.class {
            C::BadRequest | C::NotFound => {
                (Answer::No, format!("the server refuses it: {}", failure.message))
            }
            _ => (Answer::Unknown, format!("the request failed: {}", failure.message)),
        },
    }
}

fn several_replies(trial: &mut Trial<'_>, connection: &Connection) -> Finding {
    let repeated = "planforge repeats the request instead";
    if trial.info().is_none_or(|info| !info.capabilities.several_replies) {
        return (Answer::No, format!("the interface gives one reply a request; {repeated}"));
    }
    let mut request = connection.request("Name a colour.");
    request.sampling.n = Some(2);
    match trial.send(connection, request) {
        Ok(replies) if replies.replies.len() > 1 => (Answer::Yes, "2 replies to 1 request".to_owned()),
        Ok(_) => (Answer::No, format!("1 reply to a request for 2; {repeated}")),
        Err(refused) => of_refusal(refused),
    }
}

fn logprobs(trial: &mut Trial<'_>, connection: &Connection) -> Finding {
    let mut request = connection.request("Name a colour.");
    request.sampling.logprobs = Some(true);
    match trial.send(connection, request) {
        Ok(replies) => match replies.replies.first().and_then(Reply::tokens) {
            Some(tokens) => (Answer::Yes, format!("{tokens} tokens with log-probabilities")),
            None => (Answer::No, "the reply came without log-probabilities".to_owned()),
        },
        Err(refused) => of_refusal(refused),
    }
}

fn seed(trial: &mut Trial<'_>, connection: &Connection) -> Finding {
    let mut reply = |seed| {
        let mut request = connection.request("Write 20 random digits and nothing else.");
        request.sampling.seed = Some(seed);
        request.sampling.temperature = Some(1.0);
        let replies = trial.send(connection, request)?;
        Ok(replies.replies.into_iter().next().map(|reply| reply.content))
    };
    let all: Result<Vec<Option<String>>, Refused> = [1, 1, 2].into_iter().map(&mut reply).collect();
    match all.as_deref() {
        Ok([first, second, _]) if first != second => {
            (Answer::No, "the same seed gave two different replies".to_owned())
        }
        Ok([first, _, third]) if first == third => {
            (Answer::Unknown, "two seeds gave the same reply, so nothing can be told".to_owned())
        }
        Ok(_) => {
            let detail = "the same seed gave the same reply twice, another seed another one; this is evidence, not a guarantee";
            (Answer::Yes, detail.to_owned())
        }
        Err(_) => all.map_or_else(of_refusal, |_| (Answer::Unknown, String::new())),
    }
}

fn schema(trial: &mut Trial<'_>, connection: &Connection) -> Finding {
    let mut request = connection.request("Which city is the capital of France? Write a sentence.");
    let schema = json!({
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": false
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    request.schema = Some(ReplySchema { name: "capital".to_owned(), schema });
    match trial.send(connection, request) {
        Ok(replies) => {
            let text = replies.replies.into_iter().next().map(|reply| reply.content).unwrap_or_default();
            let object = serde_json::from_str::<Value>(text.trim()).ok();
            let fits = object.is_some_and(|object| {
                object
                    .as_object()
                    .is_some_and(|all| all.len() == 1 && all.get("city").is_some_and(Value::is_string))
            });
            match fits {
                true => (Answer::Yes, "the reply follows a JSON schema".to_owned()),
                false => (Answer::No, "the reply does not follow the JSON schema of the request".to_owned()),
            }
        }
        Err(refused) => of_refusal(refused),
    }
}

/// Sends a long prompt twice. Providers with a key `cache` mark the prompt.
fn cache(trial: &mut Trial<'_>) -> Finding {
    let was = trial.table.clone();
    let has_key =
        |info: &planforge_contract::PluginInfo| info.options_schema.pointer("/properties/cache").is_some();
    if trial.info().is_some_and(|info| has_key(&info)) {
        trial.table.settings.insert("cache".to_owned(), Value::Bool(true));
    }
    let found = match trial.connect() {
        Ok(connection) => cached_tokens(trial, &connection),
        Err(_) => (Answer::Unknown, "the provider refuses `cache`".to_owned()),
    };
    if found.0 != Answer::Yes {
        trial.table = was;
    }
    found
}

fn cached_tokens(trial: &mut Trial<'_>, connection: &Connection) -> Finding {
    let lines: String = (1..=150).map(|n| format!("Parcel {n} waits in depot {}.\n", n * 7 % 40)).collect();
    let question = format!("{lines}\nIn which depot does parcel 3 wait? Answer with one number.");
    let mut usage = Default::default();
    for _ in 0..2 {
        match trial.send(connection, connection.request(&question)) {
            Ok(replies) => usage = replies.usage,
            Err(refused) => return of_refusal(refused),
        }
    }
    match (usage.cached_tokens, usage.prompt_tokens) {
        (Some(0), tokens) => {
            let tokens =
                tokens.map_or_else(|| "a prompt".to_owned(), |tokens| format!("a prompt of {tokens} tokens"));
            (
                Answer::No,
                format!("{tokens} was read anew the second time; some models cache longer ones only"),
            )
        }
        (Some(cached), _) => {
            (Answer::Yes, format!("{cached} tokens of the prompt came from the cache the second time"))
        }
        (None, _) => (Answer::Unknown, "the server counts no cached tokens".to_owned()),
    }
}

/// llama.cpp's field `grammar`.
fn grammar(trial: &mut Trial<'_>, connection: &Connection) -> Finding {
    if trial.table.plugin != "provider-openai" {
        return (Answer::No, "the interface has no grammars".to_owned());
    }
    let mut request = connection.request("Name a colour.");
    request.extra.insert("grammar".to_owned(), json!(r#"root ::= "heavy" | "light""#));
    match trial.send(connection, request) {
        Ok(replies) => {
            let text = replies.replies.into_iter().next().map(|reply| reply.content).unwrap_or_default();
            match ["heavy", "light"].contains(&text.trim()) {
                true => (Answer::Yes, "the reply follows `grammar` of `extra_body`".to_owned()),
                false => (Answer::No, "the server ignores `grammar` of `extra_body`".to_owned()),
            }
        }
        Err(refused) => of_refusal(refused),
    }
}

fn reasoning(first: &Replies) -> Finding {
    let tokens = first.usage.reasoning_tokens.filter(|tokens| *tokens > 0);
    let thought = first.replies.iter().any(|reply| reply.thought.is_some());
    match (tokens, thought) {
        (Some(tokens), _) => (Answer::Yes, format!("{tokens} tokens of reasoning in the first reply")),
        (None, true) => (Answer::Yes, "the first reply has reasoning".to_owned()),
        (None, false) => (
            Answer::Unknown,
            "none in the first reply; the key `reasoning` turns it on where a model has it".to_owned(),
        ),
    }
}
