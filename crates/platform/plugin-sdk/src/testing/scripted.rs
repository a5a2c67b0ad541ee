//! A loopback HTTP server with scripted replies: an OpenAI-compatible endpoint with every fault such servers
//! have.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// One request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptedRequest {
    /// Zero-based index of the request among those of this server.
    pub number: usize,
    /// `POST`, `GET`, ...
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, as text.
    pub body: String,
}

impl ScriptedRequest {
    /// The first header of that (lower-case) name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
    /// The body as JSON; null where it is none.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }
    /// The content of the last message of a chat request.
    pub fn question(&self) -> String {
        let json = self.json();
        let last = json["messages"].as_array().and_then(|m| m.last()).cloned().unwrap_or_default();
        last["content"].as_str().unwrap_or_default().to_owned()
    }
}

/// The way in which a response ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Answer,
    HalfBody,
    Drop,
    Stall,
    Bytes,
    Drip(Duration),
}

/// A scripted response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripted {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    delay: Duration,
    end: End,
}

/// One reply of a chat completion.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    content: String,
    finish: String,
    logprobs: Option<Vec<f64>>,
}

impl Choice {
    /// A reply that the model ended, without probabilities.
    pub fn new(content: &str) -> Self {
        Self { content: content.to_owned(), finish: "stop".to_owned(), logprobs: None }
    }
    /// Ended for that reason: `length`, `content_filter`, ...
    #[must_use]
    pub fn finish(mut self, reason: &str) -> Self {
        self.finish = reason.to_owned();
        self
    }
    /// With natural log-probabilities of as many tokens.
    #[must_use]
    pub fn logprobs(mut self, of_tokens: &[f64]) -> Self {
        self.logprobs = Some(of_tokens.to_vec());
        self
    }

    fn json(&self, index: usize) -> Value {
        let token = |p: &f64| json!({"token": "t", "logprob": p, "bytes": null, "top_logprobs": []});
        let mut choice = json!({
            "index": index,
            "finish_reason": self.finish,
            "message": {"role": "assistant", "content": self.content},
        });
        if let Some(logprobs) = &self.logprobs {
            let content: Vec<Value> = logprobs.iter().map(token).collect();
            choice["logprobs"] = json!({"content": content, "refusal": null});
        }
        choice
    }
}

impl Scripted {
    /// Status 200 and a chat completion with these replies; 10 prompt tokens and 5 tokens a reply.
    pub fn replies(contents: &[&str]) -> Self {
        Self::choices(&contents.iter().map(|content| Choice::new(content)).collect::<Vec<_>>())
    }
    /// Like [`Scripted::replies`], with all optional fields of a reply.
    pub fn choices(choices: &[Choice]) -> Self {
        let completion = 5 * choices.len();
        let choices: Vec<Value> =
            choices.iter().enumerate().map(|(index, choice)| choice.json(index)).collect();
        Self::raw(
            200,
            json!({
                "id": "scripted",
                "object": "chat.completion",
                "model": "scripted-model",
                "choices": choices,
                "usage": {"prompt_tokens": 10, "completion_tokens": completion, "total_tokens": 10 + completion},
            })
            .to_string(),
        )
    }
    /// That status and body.
    pub fn raw(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), delay: Duration::ZERO, end: End::Answer }
    }
    /// That status and an error object as OpenAI writes it.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        Self::raw(
            status,
            json!({"error": {"message": message, "type": "scripted", "code": code}}).to_string(),
        )
    }
    /// With a further header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
    /// Answers after that time.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }
    /// Reads the request and closes the connection without a word.
    pub fn drop_connection() -> Self {
        Self { end: End::Drop, ..Self::raw(200, "") }
    }
    /// States the length of the body, sends half of it, and closes the connection.
    #[must_use]
    pub fn half_body(mut self) -> Self {
        self.end = End::HalfBody;
        self
    }
    /// Sends these bytes unchanged and closes the connection.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { end: End::Bytes, ..Self::raw(200, bytes) }
    }
    /// Sends the body byte by byte with that pause between.
    #[must_use]
    pub fn drip(mut self, pause: Duration) -> Self {
        self.end = End::Drip(pause);
        self
    }
    /// Never answers, and keeps the connection open until the client or the server goes away.
    pub fn stall() -> Self {
        Self { end: End::Stall, ..Self::raw(200, "") }
    }
}

type Script = dyn Fn(&ScriptedRequest) -> Scripted + Send + Sync;

struct Shared {
    script: Box<Script>,
    requests: Mutex<Vec<ScriptedRequest>>,
    in_flight: AtomicUsize,
    stop: AtomicBool,
}

/// A server on a free port of 127.0.0.1. It stops when dropped.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl ScriptedServer {
    /// Replies to each request with the result of `script`.
    ///
    /// # Errors
    /// No port is free.
    pub fn matching(
        script: impl Fn(&ScriptedRequest) -> Scripted + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script: Box::new(script),
            requests: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            stop: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::Builder::new().name("scripted-server".into()).spawn(move || accept(&listener, &accepting))?;
        Ok(Self { address, shared })
    }

    /// Answers the k-th request with the k-th answer. Further requests get status 400, which no client should try again.
    ///
    /// # Errors
    /// No port is free.
    pub fn in_order(answers: Vec<Scripted>) -> io::Result<Self> {
        Self::matching(move |request| {
            answers
                .get(request.number)
                .cloned()
                .unwrap_or_else(|| Scripted::error(400, "scripted", "the script has no further answer"))
        })
    }

    /// As [`ScriptedServer::matching`], with delays that put answers into an order of their own (up to 20 ms each; the same
    /// for the same seed and request number).
    ///
    /// # Errors
    /// No port is free.
    pub fn in_random_order(
        seed: u64,
        script: impl Fn(&ScriptedRequest) -> Scripted + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::matching(move |request| {
            let mut mixed = seed ^ (request.number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            script(request).delay(Duration::from_millis((mixed >> 33) % 20))
        })
    }

    /// The `base_url` for a pipeline file.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }
    /// Every request so far, in the order of arrival.
    pub fn requests(&self) -> Vec<ScriptedRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
    /// Number of requests that arrived.
    pub fn count(&self) -> usize {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
    /// Number of requests that arrived and are not yet answered.
    pub fn in_flight(&self) -> usize {
        self.shared.in_flight.load(Ordering::SeqCst)
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then sees the flag and closes the port.
        drop(TcpStream::connect(self.address));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // The client reports a failed connection.
        drop(thread::Builder::new().name("scripted-connection".into()).spawn(move || serve(stream, &shared)));
    }
}

/// Serves one connection until either side closes it.
fn serve(stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(mut request) = read_request(&mut reader)? {
        {
            let mut requests = shared.requests.lock().unwrap_or_else(PoisonError::into_inner);
            request.number = requests.len();
            requests.push(request.clone());
        }
        shared.in_flight.fetch_add(1, Ordering::SeqCst);
        let answer = (shared.script)(&request);
        thread::sleep(answer.delay);
        shared.in_flight.fetch_sub(1, Ordering::SeqCst);
        match answer.end {
            End::Drop => return stream.shutdown(Shutdown::Both),
            End::Stall => {
                // The client sends nothing more, so this ends with an error when it gives up.
                return reader.read_exact(&mut [0]);
            }
            End::Bytes => {
                (&stream).write_all(&answer.body)?;
                return stream.shutdown(Shutdown::Both);
            }
            End::Answer | End::HalfBody | End::Drip(_) => write_answer(&stream, &answer)?,
        }
        if answer.end == End::HalfBody {
            return stream.shutdown(Shutdown::Both);
        }
    }
    Ok(())
}

fn read_request(reader: &mut BufReader<TcpStream>) -> io::Result<Option<ScriptedRequest>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let (method, path) =
        (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length =
        headers.iter().find(|(n, _)| n == "content-length").and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(ScriptedRequest { number: 0, method, path, headers, body }))
}

fn write_answer(mut stream: &TcpStream, answer: &Scripted) -> io::Result<()> {
    let mut head =
        format!("HTTP/1.1 {} Scripted\r\ncontent-length: {}\r\n", answer.status, answer.body.len());
    if !answer.headers.iter().any(|(n, _)| n.eq_ignore_ascii_case("content-type")) {
        head.push_str("content-type: application/json\r\n");
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let sent = match answer.end {
        End::HalfBody => answer.body.len() / 2,
        End::Drip(_) => 0,
        _ => answer.body.len(),
    };
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&answer.body[..sent]);
    stream.write_all(&bytes)?;
    if let End::Drip(pause) = answer.end {
        for byte in &answer.body {
            thread::sleep(pause);
            stream.write_all(&[*byte])?;
        }
    }
    stream.flush()
}
