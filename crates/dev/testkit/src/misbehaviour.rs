//! A server that misbehaves by script while a run goes on: what is done to one task's question, and what must come of the run.

use crate::scripted::{Choice, Scripted, ScriptedRequest, ScriptedServer};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The key that a run has and nothing that it leaves may hold.
pub const KEY: &str = "sk-loopback/0123456789+abcdef\"ghij";

/// The tasks of a run; the second one's question is the one that is answered badly.
const TASKS: [&str; 3] = ["p01", "p02", "p03"];

/// How the task ends whose question was answered badly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// As if nothing had been; so many requests were tried again for a failure of that class.
    Recovers(u32, &'static str),
    /// It failed with this code; its last failure has that class (empty where a reply came that was no good) after so many requests.
    Fails(&'static str, &'static str, usize),
    /// The answer was good after all.
    Accepted,
}

/// One way to misbehave.
pub struct Misbehaviour {
    /// In words.
    pub name: &'static str,
    /// What must come of it.
    pub expected: Expected,
    /// Further settings of the run, `KEY=VALUE`.
    pub set: &'static [&'static str],
    /// The least time that the run waits before it asks again, in milliseconds.
    pub waits_ms: u64,
    /// How often it is done; the right answer follows.
    times: usize,
    /// The answer holds the key; then the run's page is made and searched too.
    tells_key: bool,
    answer: Box<Answer>,
}

/// What is answered, given the request, the right answer, and the base URL of a server that nobody may ever ask.
type Answer = dyn Fn(&ScriptedRequest, &str, &str) -> Scripted + Send + Sync;

impl std::fmt::Debug for Misbehaviour {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Misbehaviour").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Misbehaviour {
    fn new(
        name: &'static str,
        expected: Expected,
        answer: impl Fn(&ScriptedRequest, &str, &str) -> Scripted + Send + Sync + 'static,
    ) -> Self {
        let times = match expected {
            Expected::Recovers(times, _) => times as usize,
            Expected::Fails(..) | Expected::Accepted => usize::MAX,
        };
        Self { name, expected, set: &[], waits_ms: 0, times, tells_key: false, answer: Box::new(answer) }
    }
    fn set(mut self, set: &'static [&'static str]) -> Self {
        self.set = set;
        self
    }
    fn waits_ms(mut self, ms: u64) -> Self {
        self.waits_ms = ms;
        self
    }
}

/// Everything that servers are known to do, and more.
pub fn all() -> Vec<Misbehaviour> {
    let mut all = failing();
    all.extend(cut_short());
    all.extend(no_completions());
    all.extend(telling_the_key().into_iter().map(|case| Misbehaviour { tells_key: true, ..case }));
    all
}

/// How often a question is asked, at most.
const ATTEMPTS: usize = 3;

/// Statuses that say what is the matter.
fn failing() -> Vec<Misbehaviour> {
    use Expected::{Fails, Recovers};
    let busy = || Scripted::error(429, "rate_limit", "scripted: too many requests");
    vec![
        Misbehaviour::new("429 without Retry-After", Recovers(2, "rate-limited"), move |_, _, _| busy()),
        Misbehaviour::new("429 with Retry-After in seconds", Recovers(1, "rate-limited"), move |_, _, _| {
            busy().header("Retry-After", "1")
        })
        .waits_ms(1000),
        Misbehaviour::new("429 with Retry-After as a date", Recovers(1, "rate-limited"), move |_, _, _| {
            busy().header("Retry-After", &http_date(SystemTime::now() + Duration::from_secs(3)))
        })
        .waits_ms(1000),
        Misbehaviour::new(
            "429 for ever",
            Fails("llm.rate-limited", "rate-limited", ATTEMPTS),
            move |_, _, _| busy(),
        ),
        Misbehaviour::new("500", Recovers(1, "server"), |_, _, _| {
            Scripted::error(500, "oops", "scripted: broken")
        }),
        Misbehaviour::new("500 for ever", Fails("llm.server", "server", ATTEMPTS), |_, _, _| {
            Scripted::raw(500, "oops")
        }),
        Misbehaviour::new("503 with a page of 10 MB", Recovers(1, "server"), |_, _, _| {
            Scripted::raw(503, "<p>busy</p>".repeat(1 << 20))
        }),
        Misbehaviour::new(
            "400, the request is refused",
            Fails("llm.bad-request", "bad-request", 1),
            |_, _, _| Scripted::error(400, "invalid", "scripted: unknown field"),
        ),
        Misbehaviour::new("an error object with status 200", Recovers(1, "server"), |_, _, _| {
            Scripted::raw(200, r#"{"error":{"code":502,"message":"scripted: upstream"}}"#)
        }),
        Misbehaviour::new(
            "a redirect to another host",
            Fails("llm.not-found", "not-found", 1),
            |_, _, elsewhere| {
                Scripted::raw(307, "").header("location", &format!("{elsewhere}/chat/completions"))
            },
        ),
    ]
}

/// Answers that end too early, too late or never.
fn cut_short() -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails, Recovers};
    vec![
        Misbehaviour::new("closed before the headers", Recovers(1, "connection"), |_, _, _| {
            Scripted::drop_connection()
        }),
        Misbehaviour::new("closed in the middle of the headers", Recovers(1, "connection"), |_, _, _| {
            Scripted::bytes("HTTP/1.1 200 OK\r\ncontent-ty")
        }),
        Misbehaviour::new("closed in the middle of the body", Recovers(2, "connection"), |_, right, _| {
            Scripted::replies(&[right]).half_body()
        }),
        Misbehaviour::new("closed for ever", Fails("llm.connection", "connection", ATTEMPTS), |_, _, _| {
            Scripted::drop_connection()
        }),
        Misbehaviour::new("half of the JSON as a whole body", Recovers(1, "connection"), |_, right, _| {
            half_json(right)
        }),
        Misbehaviour::new(
            "half of the JSON for ever",
            Fails("llm.connection", "connection", ATTEMPTS),
            |_, right, _| half_json(right),
        ),
        Misbehaviour::new("no answer", Recovers(1, "timeout"), |_, _, _| Scripted::stall()),
        Misbehaviour::new("no answer for ever", Fails("llm.timeout", "timeout", ATTEMPTS), |_, _, _| {
            Scripted::stall()
        }),
        Misbehaviour::new("a byte now and then", Recovers(1, "timeout"), |_, right, _| {
            Scripted::replies(&[right]).drip(Duration::from_millis(200))
        }),
        Misbehaviour::new("no HTTP at all", Recovers(1, "connection"), |_, _, _| {
            Scripted::bytes("SSH-2.0-scripted\r\n")
        }),
        Misbehaviour::new("headers without end", Recovers(1, "connection"), |_, _, _| {
            Scripted::bytes(format!("HTTP/1.1 200 OK\r\n{}", "x-more: and more\r\n".repeat(200_000)))
        }),
        Misbehaviour::new("a reply of 10 MB", Accepted, |_, right, _| {
            Scripted::replies(&[&format!("{right}\n{}", "and so on, ".repeat(10_000_000 / 11))])
        })
        .set(&["llm.main.timeout_s=60"]),
        Misbehaviour::new(
            "a reply of 10 MB where 2 MB are accepted",
            Fails("llm.malformed", "malformed", 1),
            |_, right, _| {
                Scripted::replies(&[&format!("{right}\n{}", "and so on, ".repeat(10_000_000 / 11))])
            },
        )
        .set(&["llm.main.max_body_mb=2", "llm.main.timeout_s=60"]),
    ]
}

/// Answers that are something else.
fn no_completions() -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails};
    let choices = |choices: Value| Scripted::raw(200, json!({"model": "m", "choices": choices}).to_string());
    vec![
        Misbehaviour::new("a web page with status 200", Fails("llm.malformed", "malformed", 1), |_, _, _| {
            Scripted::raw(200, "<html><body>Please log in</body></html>").header("content-type", "text/html")
        }),
        Misbehaviour::new("the right JSON as text/plain", Accepted, |_, right, _| {
            Scripted::replies(&[right]).header("content-type", "text/plain")
        }),
        Misbehaviour::new(
            "bytes of gzip that nobody asked for",
            Fails("llm.malformed", "malformed", 1),
            |_, _, _| {
                let bytes: Vec<u8> = [0x1f, 0x8b, 8, 0].into_iter().chain([0; 4096]).collect();
                Scripted::raw(200, bytes).header("content-encoding", "gzip")
            },
        ),
        Misbehaviour::new("another JSON document", Fails("llm.malformed", "malformed", 1), |_, _, _| {
            Scripted::raw(200, r#"{"status":"ok"}"#)
        }),
        Misbehaviour::new("empty choices", Fails("llm.malformed", "malformed", 1), move |_, _, _| {
            choices(json!([]))
        }),
        Misbehaviour::new("a choice without content", Fails("reply.no-pddl", "", 1), move |_, _, _| {
            choices(json!([{"index": 0, "finish_reason": "stop", "message": {"content": null}}]))
        }),
        Misbehaviour::new("a refusal", Fails("reply.filtered", "", 1), move |_, _, _| {
            let message = json!({"content": null, "refusal": "I cannot help with parcels."});
            choices(json!([{"index": 0, "finish_reason": "stop", "message": message}]))
        }),
        Misbehaviour::new("a reply cut off by its filter", Fails("reply.filtered", "", 1), |_, _, _| {
            Scripted::choices(&[Choice::new("").finish("content_filter")])
        }),
    ]
}

/// Answers that say the key.
fn telling_the_key() -> Vec<Misbehaviour> {
    use Expected::{Accepted, Fails};
    let refused = |text: &str| Scripted::error(401, "invalid_key", text);
    let authentication = Fails("llm.authentication", "authentication", 1);
    vec![
        Misbehaviour::new("401 with the key in its message", authentication, move |request, _, _| {
            refused(&format!("wrong key: {}", authorization(request)))
        }),
        Misbehaviour::new("401 with the key in a header", authentication, move |request, _, _| {
            refused("wrong key").header("x-echo", &authorization(request))
        }),
        Misbehaviour::new(
            "401 with the key where the message is cut",
            authentication,
            move |request, _, _| {
                let key = authorization(request).replace("Bearer ", "");
                refused(&format!("{}{key}", ".".repeat(600 - KEY.len() / 2)))
            },
        ),
        Misbehaviour::new(
            "401 with a page that has the key in a URL and in base64",
            authentication,
            |request, _, _| {
                let key = authorization(request).replace("Bearer ", "");
                let page =
                    format!("<a href=\"?key={}\">{}</a> {}", url(&key), base64(key.as_bytes()), html(&key));
                Scripted::raw(401, page).header("content-type", "text/html")
            },
        ),
        Misbehaviour::new("the key in a reply", Accepted, |request, right, _| {
            Scripted::replies(&[&format!("; {}\n{right}", authorization(request))])
        }),
        Misbehaviour::new("the key in a reply, escaped letter by letter", Accepted, |request, right, _| {
            let key: String =
                authorization(request).chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
            let content = json!(format!("{right}; KEY")).to_string().replace("KEY", &key);
            let message = format!("{{\"role\":\"assistant\",\"content\":{content}}}");
            Scripted::raw(
                200,
                format!("{{\"choices\":[{{\"finish_reason\":\"stop\",\"message\":{message}}}]}}"),
            )
        }),
        Misbehaviour::new("the key in tokens of a reply", Accepted, |request, right, _| {
            let key = authorization(request).replace("Bearer ", "");
            let tokens: Vec<Value> = key
                .as_bytes()
                .chunks(5)
                .map(|part| json!({"token": String::from_utf8_lossy(part), "logprob": -0.5}))
                .collect();
            let content = format!("{right}\n; {key}");
            let choice = json!({"index": 0, "finish_reason": "stop", "message": {"content": content},
                "logprobs": {"content": tokens}});
            Scripted::raw(200, json!({"model": key, "choices": [choice]}).to_string())
        }),
    ]
}

fn half_json(right: &str) -> Scripted {
    let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": right}}]})
        .to_string();
    Scripted::raw(200, &body.as_bytes()[..body.len() / 2])
}

fn authorization(request: &ScriptedRequest) -> String {
    request.header("authorization").unwrap_or("none").to_owned()
}

/// A date as HTTP writes it (RFC 9110), to the second.
fn http_date(at: SystemTime) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // The civil calendar from a count of days: years begin in March, so that the leap day is the last of its year.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, year) =
        if month < 10 { (month + 2, era * 400 + year) } else { (month - 10, era * 400 + year + 1) };
    format!(
        "{}, {day:02} {} {year} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize],
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

fn url(text: &str) -> String {
    text.bytes()
        .map(|b| {
            if b.is_ascii_alphanumeric() || b == b'-' { (b as char).to_string() } else { format!("%{b:02X}") }
        })
        .collect()
}

fn html(text: &str) -> String {
    text.replace('"', "&quot;")
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sextets = bytes.chunks(3).flat_map(|chunk| {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        (0..=chunk.len()).map(move |at| ALPHABET[(bits >> (18 - 6 * at) & 63) as usize] as char)
    });
    sextets.collect()
}

/// Every form in which the key may have leaked, and its beginning in each of them.
fn forms() -> Vec<String> {
    let escaped = json!(KEY).to_string();
    let whole =
        [KEY.to_owned(), escaped.trim_matches('"').to_owned(), url(KEY), base64(KEY.as_bytes()), html(KEY)];
    let spelled: String = KEY.chars().map(|c| format!("\\u{:04x}", c as u32)).collect();
    // A part of it is a leak too, and it begins the same way in most forms.
    whole.into_iter().chain([spelled]).map(|form| form.chars().take(14).collect()).collect()
}

/// Where the experiment finds what it needs.
#[derive(Debug)]
pub struct Place<'a> {
    /// The `planforge` binary.
    pub planforge: &'a Path,
    /// The pipeline `llm-p.toml`.
    pub pipeline: &'a Path,
    /// The suite `parcels`.
    pub suite: &'a Path,
    /// Seconds until a request counts as unanswered.
    pub timeout_s: f64,
}

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Found {
    /// Exit code.
    pub exit: i32,
    /// The verdicts of the tasks.
    pub verdicts: Vec<String>,
    /// The code of the failure of the task whose question was answered badly; empty where it did not fail.
    pub code: String,
    /// The classes of the failures that were tried again, in order.
    pub retried: Vec<String>,
    /// The class of the failure that ended the question; empty where a reply did.
    pub ended: String,
    /// How often the question was asked.
    pub requests: usize,
    /// How long the run took.
    pub time: Duration,
    /// The most memory that the process ever held, in megabytes.
    pub peak_mb: f64,
    /// What is not as it should be.
    pub violations: Vec<String>,
}

/// Makes a run whose server misbehaves that way.
///
/// # Errors
/// The experiment cannot be made.
pub fn run(place: &Place<'_>, case: Misbehaviour) -> io::Result<Found> {
    let tasks: Vec<(String, String)> = TASKS
        .iter()
        .map(|stem| {
            let text = fs::read_to_string(place.suite.join(format!("{stem}.nl")))?;
            let problem = fs::read_to_string(place.suite.join(format!("{stem}.pddl")))?;
            Ok((text.trim().to_owned(), format!("```pddl\n{problem}\n```\n")))
        })
        .collect::<io::Result<_>>()?;
    let nobody = ScriptedServer::matching(|_| Scripted::error(500, "", "nobody may come here"))?;
    let elsewhere = nobody.base_url();
    let Misbehaviour { expected, waits_ms, set, times, answer, tells_key, .. } = case;
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let server = ScriptedServer::matching(move |request| {
        let question = request.question();
        let task = tasks.iter().position(|(text, _)| question.contains(text.as_str()));
        let Some((task, (_, right))) = task.and_then(|task| Some((task, tasks.get(task)?))) else {
            return Scripted::error(400, "scripted", "the script does not know this task");
        };
        if task == 1 && counter.fetch_add(1, Ordering::SeqCst) < times {
            return answer(request, right, &elsewhere);
        }
        Scripted::replies(&[right])
    })?;
    let scratch = tempfile::tempdir()?;
    let started = Instant::now();
    let ended = planforge(place, &server.base_url(), set, scratch.path())?;
    let time = started.elapsed();
    let mut found = read(&ended, scratch.path())?;
    (found.requests, found.time) = (asked.load(Ordering::SeqCst), time);
    if nobody.count() > 0 {
        found.violations.push("another host was asked".to_owned());
    }
    if time < Duration::from_millis(waits_ms) {
        found.violations.push(format!("it took {time:?}, and had to wait {waits_ms} ms"));
    }
    found.holds_against(expected);
    if tells_key {
        report_page(place, scratch.path())?;
    }
    found.violations.extend(leaks(scratch.path())?);
    Ok(found)
}

/// How the process ended, and the most memory that it held.
struct Ended {
    exit: i32,
    peak_mb: f64,
}

/// Runs it; standard output and error go to files beside the run.
fn planforge(place: &Place<'_>, base_url: &str, set: &[&str], scratch: &Path) -> io::Result<Ended> {
    let mut command = Command::new(place.planforge);
    command
        .arg("run")
        .arg(place.pipeline)
        .arg("--runs")
        .arg(scratch.join("runs"))
        .args(["--json", "--jobs", "1"]);
    for stem in TASKS {
        command.arg("--task").arg(place.suite.join(stem));
    }
    let settings = [
        format!("base_url={base_url}"),
        "api_key_env=LOOPBACK_KEY".to_owned(),
        format!("max_attempts={ATTEMPTS}"),
        "backoff_ms=20".to_owned(),
        "max_backoff_ms=5000".to_owned(),
        format!("timeout_s={}", place.timeout_s),
    ];
    for setting in settings {
        command.arg("--set").arg(format!("llm.main.{setting}"));
    }
    for setting in set {
        command.arg("--set").arg(setting);
    }
    let file = |name: &str| fs::File::create(scratch.join(name));
    command.env("LOOPBACK_KEY", KEY).stdin(Stdio::null()).stdout(file("stdout")?).stderr(file("stderr")?);
    let mut child = command.spawn()?;
    let mut peak_mb = 0.0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kb = peak.and_then(|kb| kb.split_whitespace().next()?.parse::<f64>().ok());
        peak_mb = kb.map_or(peak_mb, |kb| kb / 1024.0);
        if let Some(status) = child.try_wait()? {
            return Ok(Ended { exit: status.code().unwrap_or(-1), peak_mb });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What the run printed and recorded.
fn read(ended: &Ended, scratch: &Path) -> io::Result<Found> {
    let stdout = fs::read_to_string(scratch.join("stdout"))?;
    let report: Value = serde_json::from_str(&stdout).unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tasks = report["tasks"].as_array().cloned().unwrap_or_default();
    let mut found = Found {
        exit: ended.exit,
        verdicts: tasks.iter().map(|task| text(&task["verdict"]["verdict"])).collect(),
        code: text(&report["tasks"][1]["verdict"]["failure"]["code"]),
        retried: Vec::new(),
        ended: String::new(),
        requests: 0,
        time: Duration::ZERO,
        peak_mb: ended.peak_mb,
        violations: Vec::new(),
    };
    for file in files(&scratch.join("runs"))? {
        if file.extension().is_some_and(|e| e == "jsonl") {
            for line in fs::read_to_string(file)?.lines() {
                let event: Value = serde_json::from_str(line).unwrap_or_default();
                if !text(&event["path"]).contains(".p02") {
                    continue;
                }
                match event["event"].as_str() {
                    Some("retry") => found.retried.push(text(&event["failure"]["class"])),
                    Some("completion") => found.ended = text(&event["failure"]["class"]),
                    _ => {}
                }
            }
        }
    }
    Ok(found)
}

impl Found {
    fn holds_against(&mut self, expected: Expected) {
        let others_accepted =
            [0, 2].iter().all(|task| self.verdicts.get(*task).is_some_and(|v| v == "accepted"));
        if !others_accepted {
            self.violations.push(format!("the other tasks were affected: {:?}", self.verdicts));
        }
        let own = self.verdicts.get(1).map_or("", String::as_str);
        let (exit, verdict, code, ended, requests) = match expected {
            Expected::Recovers(times, _) => (0, "accepted", "", "", times as usize + 1),
            Expected::Accepted => (0, "accepted", "", "", 1),
            Expected::Fails(code, class, requests) => (34, "failed", code, class, requests),
        };
        let retried: Vec<&str> = match expected {
            Expected::Recovers(times, class) => vec![class; times as usize],
            Expected::Fails(_, class, requests) => vec![class; requests - 1],
            Expected::Accepted => Vec::new(),
        };
        let wanted = (exit, verdict, code, ended, requests, &retried);
        let retried: Vec<&str> = self.retried.iter().map(String::as_str).collect();
        let is = (self.exit, own, self.code.as_str(), self.ended.as_str(), self.requests, &retried);
        if is != wanted {
            self.violations.push(format!("{is:?}, not {wanted:?}"));
        }
    }
}

/// The run as a page, which must not hold the key either.
fn report_page(place: &Place<'_>, scratch: &Path) -> io::Result<()> {
    for run in fs::read_dir(scratch.join("runs"))? {
        let status = Command::new(place.planforge)
            .arg("report")
            .arg(run?.path())
            .arg("--out")
            .arg(scratch.join("report.html"))
            .stdin(Stdio::null())
            .stdout(fs::File::create(scratch.join("report.stdout"))?)
            .stderr(fs::File::create(scratch.join("report.stderr"))?)
            .status()?;
        if !status.success() {
            return Err(io::Error::other(format!("planforge report: {status}")));
        }
    }
    Ok(())
}

/// Every file in which a form of the key stands.
fn leaks(folder: &Path) -> io::Result<Vec<String>> {
    let forms = forms();
    let mut found = Vec::new();
    let files = files(folder)?;
    if files.len() < 5 {
        found.push(format!("only {} files were searched", files.len()));
    }
    for file in files {
        let bytes = fs::read(&file)?;
        let text = String::from_utf8_lossy(&bytes);
        for form in forms.iter().filter(|form| text.contains(form.as_str())) {
            found.push(format!("{} holds the key: {form}...", file.display()));
        }
    }
    Ok(found)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_base64_are_those_of_their_standards() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(http_date(at(784_111_777)), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(http_date(at(1_709_164_800)), "Thu, 29 Feb 2024 00:00:00 GMT");
        assert_eq!(base64(b"sk-live-0123456789"), "c2stbGl2ZS0wMTIzNDU2Nzg5");
        assert_eq!(base64(b"sk"), "c2s");
    }
}
