//! The abilities of a model that a trial looks for, one small request or a few each.

use super::trial::{Connection, Refused, Trial};
use planforge_contract::{Constraint, ProviderFailureClass, Replies, Reply, ReplySchema};
use serde::Serialize;
use serde_json::{Value, json};

/// The result for an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The model has it.
    Yes,
    /// The model does not have it.
    No,
    /// The requests do not decide it.
    Unknown,
}

impl Answer {
    /// The result in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// An ability, and what the trial found.
#[derive(Debug, Clone, Serialize)]
pub struct Ability {
    /// Name of the ability.
    pub name: &'static str,
    /// The result.
    pub result: Answer,
    /// The evidence.
    pub detail: String,
    /// The tried ways to send a grammar.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<GrammarTrial>,
}

/// A server's use of a grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GrammarEffect {
    /// The reply follows it.
    Enforced,
    /// The reply does not follow it.
    Ignored,
    /// The server refuses the request.
    Refused,
    /// The request failed for another reason.
    Unknown,
}

/// One way to send a grammar, and what the server made of it.
#[derive(Debug, Clone, Serialize)]
pub struct GrammarTrial {
    /// The value of the table's key `grammar`; absent for a provider without that key.
    pub key: Option<&'static str>,
    /// What the server did with it.
    pub effect: GrammarEffect,
    /// The reply, or the server's message.
    evidence: String,
}

type Finding = (Answer, String);

/// Tries every ability. `first` is the model's first reply.
pub(super) fn find_abilities(
    trial: &mut Trial<'_>,
    connection: &Connection,
    first: &Replies,
) -> Vec<Ability> {
    let mut found = Vec::new();
    let mut add = |name, (result, detail): Finding| {
        found.push(Ability { name, result, detail, tried: Vec::new() });
    };
    add("n", several_replies(trial, connection));
    add("logprobs", logprobs(trial, connection));
    add("seed", seed(trial, connection));
    add("schema", schema(trial, connection));
    add("cache", cache(trial));
    add("reasoning", reasoning(first));
    found.push(grammar(trial));
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
    if has_key(trial, "cache") {
        trial.table.settings.insert("cache".to_owned(), Value::Bool(true));
    }
    let found = match trial.try_connect() {
        Ok(connection) => cached_tokens(trial, &connection),
        Err(_) => (Answer::Unknown, "the provider refuses `cache`".to_owned()),
    };
    if found.0 != Answer::Yes {
        trial.table = was;
    }
    found
}

/// True if the provider's options have the key.
fn has_key(trial: &Trial<'_>, key: &str) -> bool {
    let path = format!("/properties/{key}");
    trial.info().is_some_and(|info| info.options_schema.pointer(&path).is_some())
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

/// The ways to send a grammar: values of a table's key `grammar`.
const GRAMMAR_KEYS: [&str; 5] = ["llama-cpp", "vllm", "sglang", "custom-tool", "json-schema"];

/// The replies that the grammar allows. No model answers the question so by itself.
const WORDS: [&str; 2] = ["zimolep", "bravuntik"];

/// Most characters of a reply or message that a finding quotes.
const EVIDENCE_CHARACTERS: usize = 60;

/// Sends a grammar in the table's way, then in the others, until one is enforced. The table then has that way; if all others are known to fail, none.
fn grammar(trial: &mut Trial<'_>) -> Ability {
    let was = trial.table.clone();
    let own = was.settings.get("grammar").and_then(Value::as_str).unwrap_or("none").to_owned();
    let mut keys: Vec<Option<&'static str>> = match has_key(trial, "grammar") {
        true => GRAMMAR_KEYS.map(Some).to_vec(),
        false => vec![None],
    };
    keys.sort_by_key(|key| *key != Some(own.as_str()));
    let mut tried = Vec::new();
    for key in keys {
        if let Some(key) = key {
            trial.table.settings.insert("grammar".to_owned(), key.into());
        }
        // A provider refuses a way that its interface does not have.
        let Ok(connection) = trial.try_connect() else { continue };
        if !trial.enforces_grammars() {
            continue;
        }
        tried.push(send_grammar(trial, &connection, key));
        if tried.last().is_some_and(|last| last.effect == GrammarEffect::Enforced) {
            break;
        }
    }
    let is_enforced = tried.last().is_some_and(|last| last.effect == GrammarEffect::Enforced);
    let is_unknown = tried.iter().any(|tried| tried.effect == GrammarEffect::Unknown);
    if !is_enforced {
        trial.table = was;
        if !is_unknown && own != "none" {
            trial.table.settings.remove("grammar");
        }
    }
    let result = match (is_enforced, is_unknown) {
        (true, _) => Answer::Yes,
        (false, true) => Answer::Unknown,
        (false, false) => Answer::No,
    };
    let mut best_first: Vec<&GrammarTrial> = tried.iter().collect();
    best_first.sort_by_key(|tried| tried.effect != GrammarEffect::Enforced);
    let detail = match best_first.is_empty() {
        true => "the interface has no grammars".to_owned(),
        false => best_first.iter().map(|tried| tried.text()).collect::<Vec<_>>().join("; "),
    };
    Ability { name: "grammar", result, detail, tried }
}

fn send_grammar(trial: &mut Trial<'_>, connection: &Connection, key: Option<&'static str>) -> GrammarTrial {
    use ProviderFailureClass as C;
    let [first, second] = WORDS;
    let schema = json!({
        "type": "object", "properties": {"word": {"type": "string", "enum": WORDS}}, "required": ["word"], "additionalProperties": false
    });
    let mut request = connection.request("Name a colour.");
    request.constraint = Some(Constraint {
        gbnf: format!("root ::= \"{first}\" | \"{second}\"\n"),
        lark: format!("start: \"{first}\" | \"{second}\"\n"),
        schema: schema.as_object().cloned(),
        required: true,
    });
    let (effect, evidence) = match trial.send(connection, request) {
        Ok(replies) => {
            let reply = replies.replies.into_iter().next().map(|reply| reply.content).unwrap_or_default();
            let of_schema = serde_json::from_str::<Value>(&reply).ok();
            let word = of_schema.as_ref().and_then(|object| object["word"].as_str()).unwrap_or(reply.trim());
            let effect = if WORDS.contains(&word) { GrammarEffect::Enforced } else { GrammarEffect::Ignored };
            (effect, format!("the reply is `{}`", reply.trim()))
        }
        Err(Refused::Provider(failure)) => (GrammarEffect::Refused, failure.message),
        Err(Refused::Server(failure)) => {
            let is_refusal = matches!(failure.class, C::BadRequest | C::NotFound);
            let effect = if is_refusal { GrammarEffect::Refused } else { GrammarEffect::Unknown };
            (effect, failure.message)
        }
    };
    let evidence = match evidence.char_indices().nth(EVIDENCE_CHARACTERS) {
        Some((end, _)) => format!("{}...", &evidence[..end]),
        None => evidence,
    };
    GrammarTrial { key, effect, evidence }
}

impl GrammarTrial {
    fn text(&self) -> String {
        let key = self.key.map(|key| format!(" as `{key}`")).unwrap_or_default();
        let effect = match self.effect {
            GrammarEffect::Enforced => "enforced",
            GrammarEffect::Ignored => "ignored",
            GrammarEffect::Refused => "refused",
            GrammarEffect::Unknown => "unknown",
        };
        format!("{effect}{key}: {}", self.evidence)
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
