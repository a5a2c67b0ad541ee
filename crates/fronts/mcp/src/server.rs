//! The server: tools over a connection.

use crate::call::Call;
use crate::client::{ClientPort, FromCall};
use crate::roots::Roots;
use crate::session::Session;
use crate::tools::{TOOLS, ToolResult};
use crate::{prompts, resources};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use futures_util::stream::{FuturesUnordered, StreamExt};
use planforge_app::contract::{Failure, FailureClass};
use planforge_app::{Cancellation, Context};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, Implementation, InputRequest, ListPromptsResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig,
    ServerRequest, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::{JoinError, JoinHandle};

/// Text for the client's model about the server as a whole.
const INSTRUCTIONS: &str = "Plans that say what they rest on. For a task in words call `solve`: it makes a plan from the text alone and asks the user \
what the text leaves open; if `end` is `needs-answers`, show the open points and call it again with `folder` and `answers`. Further tools are for PDDL. To write or repair a domain: call `read` until `usable` is true, then `plan`, then `validate`; \
with a reference, `compare` returns the shortest sequence of actions that tells the two apart. Texts are given as {\"text\": ...}, or as {\"path\": ...} \
under a root that the client grants. A negative verdict is an answer; an error means that nothing was judged.";

/// The newest protocol in which a server can ask its client for roots and completions during a call.
const NEWEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// The server of one connection.
#[derive(Clone)]
pub struct McpServer {
    context: Context,
    session: Arc<Session>,
    /// Calls that are active at the same time; others wait.
    slots: Arc<Semaphore>,
}

impl McpServer {
    /// A server of the use cases in a context, with so many active calls at the same time. Each call has its own events and cancellation.
    pub fn new(context: Context, calls: usize) -> Self {
        Self { context, session: Arc::default(), slots: Arc::new(Semaphore::new(calls.max(1))) }
    }

    /// The same server for another client: reports and folders stay with the client that made them.
    pub(crate) fn for_session(&self) -> Self {
        Self { session: Arc::default(), ..self.clone() }
    }

    /// The descriptions of all tools.
    pub fn tools() -> Vec<Tool> {
        TOOLS.iter().map(|tool| (tool.describe)()).collect()
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(capabilities)
            .with_protocol_version(NEWEST)
            .with_server_info(Implementation::new("planforge", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&NEWEST))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Self::tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).map(|tool| (tool.describe)())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let server = self.clone();
        let listed = with_client(&context, move |client| {
            // A client without roots has resources all the same.
            let roots = roots_of(client).unwrap_or_default();
            Ok(resources::list(&server.session.reports, &roots))
        });
        listed.await.map(ListResourcesResult::with_all_items).map_err(resource_error)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let server = self.clone();
        let read = with_client(&context, move |client| {
            resources::read(&server.context, &server.session.reports, || roots_of(client), &request.uri)
        });
        let contents = read.await.map_err(resource_error)?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
        };
        let permit = tokio::select! {
            permit = Arc::clone(&self.slots).acquire_owned() => permit,
            () = context.ct.cancelled() => return Ok(failed(&crate::answers::cancelled()).into()),
        };
        let (to_connection, from_call) = mpsc::unbounded_channel();
        let client = ClientPort::new(context.client_capabilities().unwrap_or_default(), to_connection);
        let call = Call::new(&self.context, client, Arc::clone(&self.session));
        let cancellation = call.context.cancellation.clone();
        let arguments = request.arguments.unwrap_or_default();
        let run = tool.call;
        let work = tokio::task::spawn_blocking(move || {
            let answer = run(&call, arguments);
            drop((call, permit));
            answer
        });
        let answer = serve_call(&context, cancellation, from_call, work).await;
        Ok(match answer {
            Ok(ToolResult { answer, images }) => {
                let mut result = CallToolResult::structured(answer);
                result.content.extend(
                    images.iter().map(|png| ContentBlock::image(BASE64_STANDARD.encode(png), "image/png")),
                );
                result
            }
            Err(failure) => failed(&failure),
        }
        .into())
    }
}

/// Does work that may ask the client, on a thread that may wait.
async fn with_client<T: Send + 'static>(
    context: &RequestContext<RoleServer>,
    work: impl FnOnce(&ClientPort) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let (to_connection, from_call) = mpsc::unbounded_channel();
    let client = ClientPort::new(context.client_capabilities().unwrap_or_default(), to_connection);
    let cancellation = client.cancellation.clone();
    let work = tokio::task::spawn_blocking(move || {
        let done = work(&client);
        drop(client);
        done
    });
    serve_call(context, cancellation, from_call, work).await
}

fn roots_of(client: &ClientPort) -> Result<Roots, Failure> {
    let uris = client.root_uris()?;
    Ok(Roots::of_uris(uris.iter().map(String::as_str)))
}

fn resource_error(failure: Failure) -> ErrorData {
    ErrorData::resource_not_found(failure.to_string(), None)
}

/// Cancels a call that its connection has abandoned.
struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Sends a call's requests and progress to the client until its thread ends, and returns the result.
async fn serve_call<T>(
    context: &RequestContext<RoleServer>,
    cancellation: Cancellation,
    mut from_call: mpsc::UnboundedReceiver<FromCall>,
    mut work: JoinHandle<Result<T, Failure>>,
) -> Result<T, Failure> {
    let call = CancelOnDrop(cancellation);
    let mut requests = FuturesUnordered::new();
    loop {
        let message = tokio::select! {
            () = context.ct.cancelled(), if !call.0.is_cancelled() => {
                call.0.cancel();
                continue;
            }
            message = from_call.recv() => message,
            Some(()) = requests.next() => continue,
            // A thread that a run has abandoned may still hold its end of the channel.
            done = &mut work => return joined(done),
        };
        match message {
            None => return joined(work.await),
            Some(FromCall::Request(request, answer)) => requests.push(ask(context, *request, answer)),
            Some(FromCall::Progress { done, total, message }) => {
                if let Some(token) = context.meta.get_progress_token() {
                    let mut progress = ProgressNotificationParam::new(token, done).with_message(message);
                    progress.total = total;
                    // A client that is gone needs no progress.
                    drop(context.peer.notify_progress(progress).await);
                }
            }
        }
    }
}

/// The result of a thread. A panic is a bug in a tool; the server goes on.
fn joined<T>(result: Result<Result<T, Failure>, JoinError>) -> Result<T, Failure> {
    result.unwrap_or_else(|error| {
        Err(Failure::new(FailureClass::Plugin, "plugin.panic", format!("the tool broke: {error}")))
    })
}

/// Sends a request to the client and hands its answer to the call. A cancelled call gets none.
async fn ask(
    context: &RequestContext<RoleServer>,
    request: InputRequest,
    answer: std::sync::mpsc::Sender<Result<Value, String>>,
) {
    let request = match request {
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        _ => return,
    };
    let result = tokio::select! {
        result = context.peer.send_request(request) => result,
        () = context.ct.cancelled() => return,
    };
    let result = match result {
        Ok(ClientResult::ListRootsResult(roots)) => serde_json::to_value(roots).map_err(|e| e.to_string()),
        Ok(ClientResult::CreateMessageResult(message)) => {
            serde_json::to_value(*message).map_err(|e| e.to_string())
        }
        Ok(ClientResult::ElicitResult(answer)) => serde_json::to_value(answer).map_err(|e| e.to_string()),
        Ok(_) => Err("it answered something else".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    // The call may have ended.
    drop(answer.send(result));
}

/// A failed call: the client's model reads the message and the help.
fn failed(failure: &Failure) -> CallToolResult {
    let mut text = failure.to_string();
    if let Some(help) = &failure.help {
        text += &format!("\nhelp: {help}");
    }
    CallToolResult::error(vec![ContentBlock::text(text)])
}
