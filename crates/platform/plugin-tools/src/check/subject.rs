//! The plugin under check: its options, the server of a provider, how it is created and called.

use crate::check::call::{Answer, Call, CheckHost, Interruption};
use planforge_contract::api::{Environment, Planner};
use planforge_contract::{CreateRequest, Failure, FailureClass, JsonObject, PluginInfo, PluginKind};
use planforge_plugin_host::{Instance, RawInstance, Registry};
use planforge_plugin_sdk::testing::ServiceInterface;
use planforge_plugin_sdk::testing::scripted::{Scripted, ScriptedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Stands for every key.
const KEY: &str = "plugin-check-key";

pub(crate) struct Subject<'r> {
    registry: &'r Registry,
    pub(crate) info: Arc<PluginInfo>,
    create: CreateRequest,
    environment: Option<Arc<dyn Environment>>,
    planner: Option<Arc<dyn Planner>>,
    /// The server that a provider with a server option talks to.
    service: Option<Service>,
    timeout_ms: u64,
}

impl<'r> Subject<'r> {
    /// Points server options at a scripted server and gives made-up keys.
    ///
    /// # Errors
    /// The server does not start.
    pub(crate) fn new(
        registry: &'r Registry,
        info: Arc<PluginInfo>,
        mut options: JsonObject,
        timeout_ms: u64,
    ) -> Result<Self, Failure> {
        let mut service = None;
        if info.kind == PluginKind::Provider && !info.servers.is_empty() {
            let started = Service::start().map_err(|e| {
                let text = format!("the scripted server does not start: {e}");
                Failure::new(FailureClass::System, "cli.file", text)
            })?;
            for name in &info.servers {
                options.insert(name.clone(), json!(started.base_url()));
            }
            service = Some(started);
        }
        let with_defaults: JsonObject = info
            .secrets
            .iter()
            .filter_map(|name| Some((name.clone(), info.option_value(&options, name)?)))
            .collect();
        let secrets = info.secret_variables(&with_defaults).into_keys().map(|name| (name, KEY.to_owned()));
        let create = CreateRequest { secrets: secrets.collect(), options };
        let environment = match registry.create("environment-pddl", CreateRequest::default()) {
            Ok(Instance::Environment(environment)) => Some(environment),
            _ => None,
        };
        let cheapest = JsonObject::from_iter([("search".to_owned(), json!("astar"))]);
        let request = CreateRequest { options: cheapest, ..CreateRequest::default() };
        let planner = match registry.create("planner-classical", request) {
            Ok(Instance::Planner(planner)) => Some(planner),
            _ => None,
        };
        Ok(Self { registry, info, create, environment, planner, service, timeout_ms })
    }

    /// A new instance.
    pub(crate) fn instance(&self) -> Result<Instance, Failure> {
        self.registry.create(&self.info.id, self.create.clone())
    }

    /// A new instance that takes documents as text.
    pub(crate) fn raw_instance(&self) -> Result<RawInstance, Failure> {
        self.registry.create_raw(&self.info.id, self.create.clone())
    }

    pub(crate) fn host(&self) -> CheckHost {
        CheckHost {
            environment: self.environment.clone(),
            planner: self.planner.clone(),
            reply: None,
            interruption: Interruption::Never,
            timeout_ms: self.timeout_ms,
            interrupted: AtomicBool::new(false),
        }
    }

    /// The answer of a new instance.
    pub(crate) fn ask_new(&self, call: &Call, host: &CheckHost) -> Answer {
        match self.instance() {
            Ok(instance) => call.ask(&instance, host),
            Err(failure) => vec![Err(failure)],
        }
    }

    /// The answers to a call in which what models say is hostile too: one answer per place where it stands.
    pub(crate) fn ask_with_hostile_replies(&self, call: &Call, text: &str) -> Answer {
        let Some(service) = &self.service else {
            return self.ask_new(call, &CheckHost { reply: Some(text.to_owned()), ..self.host() });
        };
        let mut answer = Vec::new();
        for hostile in [ServiceAnswer::Text(text.to_owned()), ServiceAnswer::Body(text.to_owned())] {
            service.set_answer(hostile);
            answer.extend(self.ask_new(call, &self.host()));
        }
        service.set_answer(ServiceAnswer::Echo);
        answer
    }
}

/// True for a failure that shows a fault of the plugin: it crashed, hung, did not catch an exception, or broke the protocol. The host gives
/// these codes; a failure with a code of the plugin's own is an answer.
pub(crate) fn is_fault(failure: &Failure) -> bool {
    const HOST_CODES: [&str; 3] = ["host.forbidden", "host.worker-panic", "host.worker-died"];
    let is_refusal = failure.class == FailureClass::Request;
    HOST_CODES.contains(&failure.code.as_str()) || (failure.code.starts_with("plugin.") && !is_refusal)
}

/// The first part of an answer that shows a fault of the plugin.
pub(crate) fn first_fault(answer: &Answer) -> Option<&Failure> {
    answer.iter().filter_map(|part| part.as_ref().err()).find(|failure| is_fault(failure))
}

/// The parts of an answer in words.
pub(crate) fn summary(answer: &Answer) -> String {
    let mut words: Vec<String> = Vec::new();
    for part in answer {
        let word = match part {
            Ok(value) => ["decision", "outcome", "method", "result"]
                .iter()
                .find_map(|key| value.get(*key).and_then(Value::as_str))
                .unwrap_or("a sample")
                .to_owned(),
            Err(failure) => format!("failure {}", failure.code),
        };
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(", ")
}

/// The given options, with a value for each required one that has no default and a clear choice: a default, an example, a constant or
/// the first word of an enumeration.
pub(crate) fn complete_options(schema: &Value, given: &JsonObject) -> JsonObject {
    let mut options = given.clone();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let property = schema.get("properties").and_then(|all| all.get(name));
        if let Some(value) = property.and_then(|one| suggested_value(schema, one))
            && !options.contains_key(name)
        {
            options.insert(name.to_owned(), value);
        }
    }
    options
}

/// The defaults that a schema states for its options.
pub(crate) fn stated_defaults(schema: &Value) -> JsonObject {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let defaults = properties.filter_map(|(name, one)| Some((name.clone(), one.get("default")?.clone())));
    defaults.collect()
}

fn suggested_value(schema: &Value, property: &Value) -> Option<Value> {
    let first = |list: &str| property.get(list)?.as_array()?.first().cloned();
    let target = || {
        let pointer = property.get("$ref")?.as_str()?.strip_prefix('#')?;
        // One step only: a schema may refer in a circle.
        let target = schema.pointer(pointer).filter(|target| target.get("$ref").is_none())?;
        suggested_value(schema, target)
    };
    let constant = || property.get("oneOf")?.as_array()?.first()?.get("const").cloned();
    let own = ["default", "const"].iter().find_map(|key| property.get(key).cloned());
    own.or_else(|| first("examples")).or_else(|| first("enum")).or_else(constant).or_else(target)
}

/// The answer of the server.
#[derive(Debug, Clone)]
pub(crate) enum ServiceAnswer {
    /// The text of the question.
    Echo,
    /// This text, in a valid answer.
    Text(String),
    /// These bytes in place of an answer.
    Body(String),
}

/// A server on this machine. Its answer can be changed between calls.
pub(crate) struct Service {
    server: ScriptedServer,
    answer: Arc<Mutex<ServiceAnswer>>,
}

fn locked(answer: &Mutex<ServiceAnswer>) -> MutexGuard<'_, ServiceAnswer> {
    answer.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    pub(crate) fn start() -> io::Result<Self> {
        let answer = Arc::new(Mutex::new(ServiceAnswer::Echo));
        let shared = Arc::clone(&answer);
        let server = ScriptedServer::matching(move |request| {
            let answer = locked(&shared).clone();
            respond(request, answer)
        })?;
        Ok(Self { server, answer })
    }

    pub(crate) fn base_url(&self) -> String {
        self.server.base_url()
    }

    pub(crate) fn set_answer(&self, answer: ServiceAnswer) {
        *locked(&self.answer) = answer;
    }
}

fn respond(request: &ScriptedRequest, answer: ServiceAnswer) -> Scripted {
    let interface = [
        ("/messages", ServiceInterface::Messages),
        ("/responses", ServiceInterface::Responses),
        ("generateContent", ServiceInterface::GenerateContent),
    ]
    .into_iter()
    .find_map(|(part, interface)| request.path.contains(part).then_some(interface))
    .unwrap_or(ServiceInterface::ChatCompletions);
    match answer {
        ServiceAnswer::Echo => interface.text(&interface.question(request)),
        ServiceAnswer::Text(text) => interface.text(&text),
        ServiceAnswer::Body(body) => Scripted::raw(200, body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn required_options_take_the_value_that_the_schema_suggests() {
        let schema = json!({
            "required": ["mode", "form", "way", "command"],
            "properties": {
                "mode": {"enum": ["fast", "exact"]},
                "form": {"oneOf": [{"const": "short"}, {"const": "long"}]},
                "way": {"$ref": "#/$defs/Way"},
                "command": {"type": "array"},
                "steps": {"type": "integer", "default": 3}
            },
            "$defs": {"Way": {"examples": ["north"]}}
        });
        let given = json!({"mode": "exact"});
        assert_eq!(
            Value::Object(complete_options(&schema, given.as_object().unwrap())),
            json!({"mode": "exact", "form": "short", "way": "north"})
        );
        assert_eq!(Value::Object(stated_defaults(&schema)), json!({"steps": 3}));
    }
}
