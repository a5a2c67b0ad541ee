//! The plugin under check: how it is created and called.

use crate::check::call::{Answer, Call};
use crate::check::host::{CheckHost, Interruption};
use crate::check::service::{Service, ServiceAnswer};
use planforge_contract::api::{Environment, Planner};
use planforge_contract::{CreateRequest, Failure, FailureClass, JsonObject, PluginInfo, PluginKind};
use planforge_plugin_host::{Instance, RawInstance, Registry};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
