//! A server in a folder of its own, and a client that sends exactly what a test says.

use planforge_app::Context;
use planforge_page::{PageServer, Place, Settings};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct TestServer {
    pub(crate) folder: TempDir,
    pub(crate) server: PageServer,
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl TestServer {
    pub(crate) fn start() -> Self {
        Self::start_with(Context::default(), Place::Loopback)
    }

    pub(crate) fn start_with(context: Context, place: Place) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = PageServer::start(context, settings(folder.path(), place)).unwrap();
        Self { folder, server }
    }

    pub(crate) fn host(&self) -> String {
        self.server.address().to_string()
    }

    pub(crate) fn token(&self) -> String {
        self.server.url().split_once("token=").unwrap().1.to_owned()
    }

    /// The headers of the page's own requests.
    pub(crate) fn own_headers(&self) -> Vec<(String, String)> {
        let cookie = format!("planforge-{}={}", self.server.address().port(), self.token());
        let origin = format!("http://{}", self.host());
        [
            ("Host", self.host()),
            ("Cookie", cookie),
            ("Origin", origin),
            ("Content-Type", "application/json".into()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &self.own_headers(), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &self.own_headers(), &body.to_string())
    }

    /// A request with these headers alone.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(String, String)], body: &str) -> Reply {
        let mut reader = self.open(method, path, headers, body);
        let (status, headers) = head(&mut reader);
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        Reply { status, headers, body: String::from_utf8_lossy(&bytes).into_owned() }
    }

    /// Sends a request and returns its connection.
    pub(crate) fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &str,
    ) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.server.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        // HTTP/1.0 has no chunks, and the end of the connection is the end of the body.
        let head = format!("{method} {path} HTTP/1.0\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        // A refused body is not read to its end.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        BufReader::new(stream)
    }
}

/// A stream of events.
pub(crate) struct EventStream(BufReader<TcpStream>);

impl EventStream {
    /// The next event with its number; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<(u64, Value)> {
        let mut id = 0;
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(number) = line.strip_prefix("id: ") {
                id = number.trim().parse().unwrap();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                return Some((id, serde_json::from_str(data).unwrap()));
            }
        }
    }

    /// The next event of a kind.
    pub(crate) fn next_of(&mut self, kind: &str) -> Value {
        let mut others = Vec::new();
        loop {
            match self.next() {
                Some((_, event)) if event["kind"] == kind => return event,
                Some((_, event)) => others.push(event),
                None => panic!("no `{kind}` among {others:#?}"),
            }
        }
    }
}

impl TestServer {
    /// The events after a number.
    pub(crate) fn events(&self, path: &str, after: u64) -> EventStream {
        let mut headers = self.own_headers();
        headers.push(("Last-Event-ID".to_owned(), after.to_string()));
        let mut reader = self.open("GET", path, &headers, "");
        let (status, _) = head(&mut reader);
        assert_eq!(status, 200);
        EventStream(reader)
    }

    /// Starts a job and returns its name.
    pub(crate) fn job(&self, what: &str, request: &Value) -> String {
        let reply = self.post("/api/jobs", &serde_json::json!({ "use": what, "request": request }));
        assert_eq!(reply.status, 200, "{}", reply.body);
        reply.json()["job"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn settings(folder: &Path, place: Place) -> Settings {
    Settings { folder: folder.to_owned(), port: 0, place, replay: None, language_server: None }
}

/// Reads the status line and the headers.
pub(crate) fn head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let status = line().split(' ').nth(1).unwrap().parse().unwrap();
    let mut headers = Vec::new();
    loop {
        let line = line();
        let Some((name, value)) = line.split_once(": ") else { return (status, headers) };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
}
