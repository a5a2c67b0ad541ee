//! A client and a server in one process, joined by a pipe in memory.
#![allow(deprecated, reason = "clients of today offer roots and sampling")]

use planforge_app::Context;
use planforge_mcp::McpServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, CreateMessageRequestParams,
    CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    ListRootsResult, ProgressNotificationParam, Role, Root, SamplingMessage, SamplingMessageContentBlock,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceExt};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

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

/// Answers to the server's questions, by the text of the question.
type Replies = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// Answers of the user to a question, as the form's content; `None` declines, and null never ends.
pub(crate) type UserAnswers = Arc<dyn Fn(&Value) -> Option<Value> + Send + Sync>;

/// A client that grants folders, answers completions and collects progress.
#[derive(Clone, Default)]
pub(crate) struct TestClient {
    pub(crate) roots: Option<Vec<PathBuf>>,
    pub(crate) replies: Option<Replies>,
    pub(crate) user: Option<UserAnswers>,
    /// True if requests to the model get no answer.
    pub(crate) is_silent: bool,
    pub(crate) progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.roots.is_some() {
            capabilities.roots = Some(Default::default());
        }
        if self.replies.is_some() || self.is_silent {
            capabilities.sampling = Some(Default::default());
        }
        if self.user.is_some() {
            capabilities.elicitation = Some(Default::default());
        }
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let uri = |path: &PathBuf| Root::new(url::Url::from_directory_path(path).unwrap().to_string());
        Ok(ListRootsResult::new(self.roots.iter().flatten().map(uri).collect()))
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(progress);
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let question = serde_json::to_value(request).unwrap();
        let answer = self.user.as_ref().and_then(|user| user(&question));
        if answer == Some(Value::Null) {
            std::future::pending::<()>().await;
        }
        Ok(match answer {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        if self.is_silent {
            std::future::pending::<()>().await;
        }
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

/// Connects a client to a server.
pub(crate) async fn connect_to(server: McpServer, client: TestClient) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
    client.serve(ours).await.unwrap()
}

pub(crate) async fn connect(client: TestClient) -> Client {
    connect_to(McpServer::new(Context::default(), 2), client).await
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
