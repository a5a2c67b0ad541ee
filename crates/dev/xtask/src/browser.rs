//! A browser without a window, by the WebDriver protocol of chromedriver over the loopback device.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The programs of a browser.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BrowserPrograms {
    #[arg(long, default_value = "chromium")]
    chromium: PathBuf,
    /// The driver of the browser.
    #[arg(long, default_value = "chromedriver")]
    chromedriver: PathBuf,
}

/// A session; the browser ends with it.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser with a temporary profile.
    pub(crate) fn start(programs: &BrowserPrograms) -> Result<Self, String> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.map_err(|e| e.to_string())?.port();
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let driver = Command::new(&programs.chromedriver)
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", programs.chromedriver.display()))?;
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let began = Instant::now();
        while browser.request("GET", "/status", None).is_err() {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("chromedriver does not answer".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let binary = which(&programs.chromium);
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            &profile,
        ];
        let options = json!({"binary": binary, "args": arguments});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let made =
            browser.request("POST", "/session", Some(&json!({"capabilities": {"alwaysMatch": wanted}})))?;
        browser.session = made["sessionId"].as_str().unwrap_or_default().to_owned();
        Ok(browser)
    }

    /// Goes to a page and waits until it is loaded.
    pub(crate) fn open(&self, url: &str) -> Result<(), String> {
        self.command("POST", "url", Some(&json!({"url": url}))).map(drop)
    }

    /// Runs a function's body in the page and returns its result. Waits for a promise.
    pub(crate) fn run(&self, body: &str, arguments: &[Value]) -> Result<Value, String> {
        self.command("POST", "execute/sync", Some(&json!({"script": body, "args": arguments})))
    }

    /// A command of the browser's own protocol.
    pub(crate) fn devtools(&self, command: &str, parameters: &Value) -> Result<Value, String> {
        self.command("POST", "goog/cdp/execute", Some(&json!({"cmd": command, "params": parameters})))
    }

    /// Sets the size of the page, and whether the reader likes it dark.
    pub(crate) fn look(&self, width: u32, height: u32, dark: bool) -> Result<(), String> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &size)?;
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &media).map(drop)
    }

    /// Saves the visible page as PNG.
    pub(crate) fn screenshot(&self, file: &Path) -> Result<(), String> {
        let shot = self.devtools("Page.captureScreenshot", &json!({"format": "png"}))?;
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap_or_default()).map_err(|e| e.to_string())?;
        std::fs::write(file, bytes).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// New entries of the browser's log: errors of scripts, and requests that the page's policy blocked.
    pub(crate) fn complaints(&self) -> Result<Vec<String>, String> {
        let log = self.command("POST", "se/log", Some(&json!({"type": "browser"})))?;
        let entries = log.as_array().cloned().unwrap_or_default();
        Ok(entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect())
    }

    fn command(&self, method: &str, what: &str, body: Option<&Value>) -> Result<Value, String> {
        self.request(method, &format!("/session/{}/{what}", self.session), body)
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(300))).map_err(|e| e.to_string())?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .map_err(|e| e.to_string())?;
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).map_err(|e| e.to_string())?;
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(|_| format!("chromedriver answered `{line}`"))?;
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        let mut answer: Value = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
        let value = answer["value"].take();
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(format!("{path}: {error}: {}", value["message"].as_str().unwrap_or_default())),
            None => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with the session; that it may be gone already changes nothing.
        let _ = self.command("DELETE", "", None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Path of the program, since the driver requires a path.
#[expect(clippy::disallowed_methods, reason = "a command looks for programs where the shell does")]
fn which(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| program.to_owned())
}
