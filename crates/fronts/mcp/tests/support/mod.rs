//! A client and a server in one process, joined by a pipe in memory.
#![allow(
    dead_code,
    deprecated,
    reason = "each test file uses a part; clients of today offer roots and sampling"
)]

use planforge_contract::api::{Host, NoHost};
use planforge_contract::{
    CompletionRequest, CompletionResult, Failure, FailureClass, JsonObject, LimitKind, Message, PlanDocument,
    PlanOutcome, PlanRequest, SearchStatistics,
};
use planforge_diagnostics::CodeInfo;
use planforge_mcp::{Backend, McpServer, RunModel, RunRequest, RunWatch, ShippedPipeline, TaskModel};
use planforge_pipeline::{RunReport, RunState, TaskReport};
use planforge_planning::{PlanOptions, Poll, ResourceLimits, SearchOutcome, StopReason};
use planforge_plugin_common::judging::reports::EwReport;
use planforge_record::TaskVerdict;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, Implementation, ListRootsResult, Role, Root, SamplingMessage,
    SamplingMessageContentBlock,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) const DOMAIN: &str = "(define (domain ferry)
  (:requirements :strips :typing)
  (:types port crate)
  (:predicates (at ?c - crate ?p - port) (ferry-at ?p - port) (on-board ?c - crate) (free))
  (:action sail
    :parameters (?from ?to - port)
    :precondition (ferry-at ?from)
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action load
    :parameters (?c - crate ?p - port)
    :precondition (and (at ?c ?p) (ferry-at ?p) (free))
    :effect (and (on-board ?c) (not (at ?c ?p)) (not (free))))
  (:action unload
    :parameters (?c - crate ?p - port)
    :precondition (and (on-board ?c) (ferry-at ?p))
    :effect (and (at ?c ?p) (free) (not (on-board ?c)))))
";

pub(crate) const PROBLEM: &str = "(define (problem two-ports) (:domain ferry)
  (:objects a b - port box - crate)
  (:init (at box a) (ferry-at b) (free))
  (:goal (at box b)))
";

/// The workspace's folder.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap().to_owned()
}

/// A backend over the libraries alone.
#[derive(Default)]
pub(crate) struct Libraries {
    /// Calls of the planner under way.
    pub(crate) planning: AtomicUsize,
}

struct HostLimits<'h>(&'h dyn Host);

impl ResourceLimits for HostLimits<'_> {
    fn poll(&mut self) -> Poll {
        match (self.0.cancelled(), self.0.remaining_ms()) {
            (true, _) => Poll::Stop(StopReason::Cancelled),
            (_, Some(0)) => Poll::Stop(StopReason::Time),
            _ => Poll::Continue,
        }
    }
    fn charge(&mut self, _bytes: u64) -> Poll {
        self.poll()
    }
}

impl Backend for Libraries {
    fn codes(&self) -> Vec<&'static [CodeInfo]> {
        vec![planforge_pddl::CODES, planforge_planning::CODES, planforge_mcp::CODES]
    }

    fn plan(&self, _: JsonObject, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        self.planning.fetch_add(1, Ordering::SeqCst);
        host.progress(0, 0, "search");
        let (domain, problem) = planforge_pddl::read_task(&request.domain, &request.problem).unwrap();
        let options =
            PlanOptions { max_nodes: request.limits.nodes.unwrap_or(u64::MAX), ..PlanOptions::default() };
        let found = planforge_planning::plan(&domain, &problem, &options, &mut HostLimits(host)).unwrap();
        self.planning.fetch_sub(1, Ordering::SeqCst);
        let statistics = SearchStatistics::default();
        Ok(match found.outcome {
            SearchOutcome::Plan(plan) => {
                let plan =
                    PlanDocument { steps: plan.step_texts(), cost: plan.cost, ..PlanDocument::default() };
                PlanOutcome::Plan { plans: vec![plan], optimal: false, statistics }
            }
            SearchOutcome::ProvenUnsolvable(why) => {
                PlanOutcome::ProvenUnsolvable { explanation: vec![why.text()], statistics }
            }
            other => PlanOutcome::LimitReached {
                limit: LimitKind::Nodes,
                message: format!("{other:?}"),
                plans: Vec::new(),
                statistics,
            },
        })
    }

    fn compare_walks(
        &self,
        _: TaskModel<'_>,
        _: TaskModel<'_>,
        _: u64,
        _: &mut dyn ResourceLimits,
    ) -> Result<EwReport, Failure> {
        Err(Failure::new(FailureClass::Request, "mcp.arguments", "walks are a plugin's"))
    }

    fn pipelines(&self) -> &'static [ShippedPipeline] {
        &[ShippedPipeline { name: "one-question", text: "schema = 1\nabout = \"Asks once\"\n" }]
    }

    fn run(&self, request: &RunRequest<'_>, watch: Arc<dyn RunWatch>) -> Result<RunReport, Failure> {
        let RunModel::Client(model) = &request.model else {
            return Err(Failure::new(FailureClass::Request, "mcp.arguments", "only the client's model"));
        };
        let task = std::fs::read_to_string(request.suite.join("task.nl")).unwrap();
        watch.progress(0, 1, "asks");
        let question =
            CompletionRequest { messages: vec![Message::user(task)], ..CompletionRequest::default() };
        let verdict = match model.complete(&NoHost, &question)? {
            CompletionResult::Replies(replies) => TaskVerdict::Rejected {
                stage: "reply".to_owned(),
                message: format!("{} said {}", replies.model, replies.replies[0].content),
            },
            other => panic!("{other:?}"),
        };
        let task = TaskReport { stem: "task".to_owned(), verdict: Some(verdict), ..TaskReport::default() };
        Ok(RunReport { schema: 1, state: RunState::Finished, tasks: vec![task], prices: Default::default() })
    }
}

/// Answers to the server's questions, by the text of the question.
type Replies = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// A client that grants folders and answers completions.
#[derive(Clone, Default)]
pub(crate) struct TestClient {
    pub(crate) roots: Option<Vec<PathBuf>>,
    pub(crate) replies: Option<Replies>,
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.roots.is_some() {
            capabilities.roots = Some(Default::default());
        }
        if self.replies.is_some() {
            capabilities.sampling = Some(Default::default());
        }
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let uri = |path: &PathBuf| Root::new(url::Url::from_directory_path(path).unwrap().to_string());
        Ok(ListRootsResult::new(self.roots.iter().flatten().map(uri).collect()))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let texts: Vec<String> = request
            .messages
            .iter()
            .flat_map(|message| message.content.iter())
            .filter_map(|block| block.as_text().map(|text| text.text.clone()))
            .collect();
        let reply = self.replies.as_ref().map(|reply| reply(&texts.join("\n"))).unwrap_or_default();
        let message = SamplingMessage::new(Role::Assistant, SamplingMessageContentBlock::text(reply));
        Ok(CreateMessageResult::new(message, "test-model".to_owned()))
    }
}

pub(crate) type Client = RunningService<RoleClient, TestClient>;

/// Starts a server over a backend and connects a client.
pub(crate) async fn connect_to(backend: Arc<dyn Backend>, client: TestClient) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(backend, 2);
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
    client.serve(ours).await.unwrap()
}

pub(crate) async fn connect(client: TestClient) -> Client {
    connect_to(Arc::new(Libraries::default()), client).await
}

/// Calls a tool.
pub(crate) async fn call(client: &Client, tool: &'static str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap()
}

/// The structured answer of a tool.
pub(crate) async fn answer(client: &Client, tool: &'static str, arguments: Value) -> Value {
    let result = call(client, tool, arguments).await;
    assert_ne!(result.is_error, Some(true), "{result:?}");
    result.structured_content.unwrap()
}

/// The message of a failed call.
pub(crate) async fn failure(client: &Client, tool: &'static str, arguments: Value) -> String {
    let result = call(client, tool, arguments).await;
    assert_eq!(result.is_error, Some(true), "{result:?}");
    result.content[0].as_text().unwrap().text.clone()
}
