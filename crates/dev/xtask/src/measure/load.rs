//! Many tasks and samples against a server that answers at once: calls per second, processor time per call,
//! peak memory; and their growth with tasks, samples and jobs.
//!
//! The server is another process (`cargo xtask load-server`), so its work does not count. It answers each request with a problem of the suite
//! `lights`, with as little work as possible, in the interface that the request's path names. Each run is a separate process.

use crate::programs::{Cost, absolute, run_measured};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    #[arg(long, default_value = "target/debug/planforge")]
    planforge: PathBuf,
    /// Numbers of tasks.
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    tasks: Vec<usize>,
    /// Numbers of samples per task, one request each.
    #[arg(long, value_delimiter = ',', default_value = "8")]
    samples: Vec<u32>,
    /// Numbers of concurrent requests and plugin calls.
    #[arg(long, value_delimiter = ',', default_value = "8,32,128")]
    jobs: Vec<u32>,
    /// Interfaces of the model, one after the other.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "chat")]
    interface: Vec<Interface>,
    /// Milliseconds until the server answers.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Requests a second that the server admits; it answers others with status 429. Prints the part of them that is
    /// served and the part of requests that is refused, with the first number of jobs and the first interface.
    #[arg(long, value_delimiter = ',')]
    admit: Vec<f64>,
    /// Seconds that are counted for `--admit`, from ten seconds after the first request.
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
    /// Processing of each reply.
    #[arg(long, value_enum, default_value_t = ReplyProcessing::Whole)]
    work: ReplyProcessing,
    /// Also read each finished run again: a resume that finds everything there, and a replay.
    #[arg(long)]
    again: bool,
    /// A Python environment with `inspect-ai` and `openai`, to send the same number of requests through
    /// inspect_ai.
    #[arg(long)]
    inspect: Option<PathBuf>,
    /// A folder with `promptfoo` in its node_modules, to send the same number of requests through it.
    #[arg(long)]
    promptfoo: Option<PathBuf>,
    /// Folder for suites and runs; by default a temporary folder.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Interface {
    /// The name in options.
    fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The lines of a model table that name provider and address.
    fn table(self, address: &str) -> String {
        let (plugin, path, more) = match self {
            Self::Chat => ("provider-openai", "/v1", "interface = \"chat\"\n"),
            Self::Responses => ("provider-openai", "/v1", "interface = \"responses\"\n"),
            Self::Anthropic => ("provider-anthropic", "/v1", "max_tokens = 1024\n"),
            Self::Gemini => ("provider-gemini", "/v1beta", ""),
        };
        format!("use = \"{plugin}\"\nbase_url = \"http://{address}{path}\"\n{more}")
    }
}

/// Processing of a reply.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReplyProcessing {
    /// Extract the PDDL and record it.
    Ask,
    /// It is also read and checked, planned for, and its plan is held against the environment.
    Whole,
}

pub(crate) fn measure_load(args: &LoadArgs) -> Result<(), String> {
    let planforge = absolute(&args.planforge)?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let folder = args.folder.clone().unwrap_or_else(|| scratch.path().to_owned());
    if !args.admit.is_empty() {
        return admit(args, &planforge, &folder);
    }
    println!(
        "| interface | tasks | samples | jobs | what | s | calls a second | processor ms a call | peak MB | run folder MB |"
    );
    println!("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|");
    for &tasks in &args.tasks {
        let suite = folder.join(format!("lights-{tasks}"));
        write_suite(&suite, tasks).map_err(|e| format!("{}: {e}", suite.display()))?;
        for &samples in &args.samples {
            for &jobs in &args.jobs {
                for &interface in &args.interface {
                    let (planforge, folder, suite) = (planforge.as_path(), folder.as_path(), suite.as_path());
                    Case { planforge, folder, suite, tasks, samples, jobs, interface, args }.run()?;
                }
            }
        }
    }
    Ok(())
}

/// Runs against servers that admit so many requests a second.
fn admit(args: &LoadArgs, planforge: &Path, folder: &Path) -> Result<(), String> {
    println!("| admitted a second (R) | jobs | s counted | served, part of R | answered 429 |");
    println!("|---:|---:|---:|---:|---:|");
    let jobs = args.jobs.first().copied().unwrap_or(32);
    let interface = args.interface.first().copied().unwrap_or(Interface::Chat);
    for &rate in &args.admit {
        let tasks = (rate * (START + args.seconds + 3.0)).ceil() as usize;
        let suite = folder.join(format!("lights-{tasks}"));
        write_suite(&suite, tasks).map_err(|e| format!("{}: {e}", suite.display()))?;
        let server = Server::start(args.delay_ms, Some((rate, args.seconds)))?;
        let case = Case { planforge, folder, suite: &suite, tasks, samples: 1, jobs, interface, args };
        let runs = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?.keep();
        let pipeline = runs.join("load.toml");
        let text = case.pipeline_text(&server.address);
        fs::write(&pipeline, text).map_err(|e| e.to_string())?;
        let mut command = Command::new(planforge);
        command.arg("run").arg(&pipeline).arg("--suite").arg(&suite).arg("--runs").arg(runs.join("runs"));
        case.run_planforge(command, &server.address)?;
        let (_, counted) = server.stop()?;
        let numbers: Vec<f64> = counted.split(' ').filter_map(|number| number.parse().ok()).collect();
        let [admitted, refused] = numbers[..] else { return Err(format!("the server's counts: {counted}")) };
        println!(
            "| {rate} | {jobs} | {} | {:.1} % | {:.1} % |",
            args.seconds,
            100.0 * admitted / (rate * args.seconds),
            100.0 * refused / (admitted + refused)
        );
    }
    Ok(())
}

struct Case<'a> {
    planforge: &'a Path,
    folder: &'a Path,
    suite: &'a Path,
    tasks: usize,
    samples: u32,
    jobs: u32,
    interface: Interface,
    args: &'a LoadArgs,
}

impl Case<'_> {
    fn run(&self) -> Result<(), String> {
        let server = Server::start(self.args.delay_ms, None)?;
        // Kept until the end: where many files were just deleted, making new ones is slow.
        let runs = tempfile::tempdir_in(self.folder).map_err(|e| e.to_string())?.keep();
        let pipeline = runs.join("load.toml");
        let address = server.address.clone();
        fs::write(&pipeline, self.pipeline_text(&address)).map_err(|e| e.to_string())?;
        let out = runs.join("runs");
        let mut command = Command::new(self.planforge);
        command.arg("run").arg(&pipeline).arg("--suite").arg(self.suite).arg("--runs").arg(&out);
        let cost = self.run_planforge(command, &address)?;
        let calls = self.tasks as u64 * u64::from(self.samples);
        let (answered, _) = server.stop()?;
        if answered != calls {
            return Err(format!("{answered} requests, and {calls} questions"));
        }
        let mut made = fs::read_dir(&out).map_err(|e| e.to_string())?;
        let run = made.next().ok_or("there is no run folder")?.map_err(|e| e.to_string())?.path();
        self.row("run", cost, &run)?;
        self.peers(&runs)?;
        if self.args.again {
            for (name, word) in [("resume", "--resume"), ("replay", "")] {
                let mut command = Command::new(self.planforge);
                match word {
                    "" => command.arg("replay").arg(&run),
                    word => command.arg("run").arg(word).arg(&run),
                };
                let cost = self.run_planforge(command, &address)?;
                self.row(name, cost, &run)?;
            }
        }
        Ok(())
    }

    fn peers(&self, folder: &Path) -> Result<(), String> {
        let Self { interface, tasks, samples, jobs, .. } = *self;
        let peers = [("inspect_ai", &self.args.inspect), ("promptfoo", &self.args.promptfoo)];
        for (name, place) in peers {
            let Some(place) = place else { continue };
            let place = absolute(place)?;
            let server = Server::start(self.args.delay_ms, None)?;
            let load = PeerLoad { folder, address: &server.address, interface, tasks, samples, jobs };
            let command = match name {
                "inspect_ai" => inspect(&place, load),
                _ => promptfoo(&place, load),
            };
            let (cost, status) =
                run_measured(&mut command.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
            let (calls, _) = server.stop()?;
            if !status.success() || calls != tasks as u64 * u64::from(samples) {
                return Err(format!("{name} ended with {status} after {calls} requests"));
            }
            let left = folder.join(if name == "inspect_ai" { "inspect-logs" } else { "promptfoo-state" });
            self.row(name, cost, &left)?;
        }
        Ok(())
    }

    fn run_planforge(&self, mut command: Command, address: &str) -> Result<Cost, String> {
        command
            .args(["--allow-host", &format!("http://{address}"), "--json", "--jobs", &self.jobs.to_string()])
            .env("LOAD_TEST_KEY", "sk-load-0123456789");
        let (cost, status) = run_measured(&mut command).map_err(|e| e.to_string())?;
        if status.success() { Ok(cost) } else { Err(format!("planforge ended with {status}")) }
    }

    fn pipeline_text(&self, address: &str) -> String {
        let Self { samples, jobs, interface, .. } = *self;
        let ask = format!(
            "schema = 1\n[given]\ndomain = true\n[llm.main]\n{}model = \"load\"\napi_key_env = \"LOAD_TEST_KEY\"\nn_per_request = 1\n\
             max_concurrency = {jobs}\n[environment]\nuse = \"environment-pddl\"\n[[stage]]\ndo = \"translate\"\nlabel = \"problem\"\n\
             use = \"translator-direct\"\nn = {samples}\nroles = {{ writer = \"main\" }}\noptions = {{ mode = \"problem\" }}\n",
            interface.table(address)
        );
        let judge = "[[stage]]\ndo = \"verify\"\nlabel = \"pddl\"\nuse = \"verifier-val\"\noptions = { what = \"pddl\" }\n\
            [[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\n\
            [[stage]]\ndo = \"verify\"\nlabel = \"environment\"\nuse = \"verifier-val\"\noptions = { what = \"plan\", against = \"environment\" }\n";
        match self.args.work {
            ReplyProcessing::Ask => ask,
            ReplyProcessing::Whole => ask + judge,
        }
    }

    fn row(&self, what: &str, cost: Cost, run: &Path) -> Result<(), String> {
        let calls = self.tasks as f64 * f64::from(self.samples);
        let Self { tasks, samples, jobs, .. } = self;
        println!(
            "| {} | {tasks} | {samples} | {jobs} | {what} | {:.1} | {:.0} | {:.2} | {:.0} | {:.0} |",
            self.interface.name(),
            cost.wall_ms / 1000.0,
            calls / cost.wall_ms * 1000.0,
            cost.cpu_ms / calls,
            cost.peak_kb / 1024.0,
            bytes(run).map_err(|e| e.to_string())? as f64 / 1e6
        );
        Ok(())
    }
}

fn bytes(path: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let file = entry.metadata()?;
        sum += if file.is_dir() { bytes(&entry.path())? } else { file.len() };
    }
    Ok(sum)
}

/// The server as another process.
pub(crate) struct Server {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    /// `127.0.0.1:PORT`.
    address: String,
}

impl Server {
    /// Starts it. `admit`: requests admitted a second, and the seconds in which they are counted.
    pub(crate) fn start(delay_ms: u64, admit: Option<(f64, f64)>) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut command = Command::new(own);
        command.args(["load-server", "--delay-ms", &delay_ms.to_string()]);
        if let Some((rate, seconds)) = admit {
            command.args(["--admit", &rate.to_string(), "--seconds", &seconds.to_string()]);
        }
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        let output = process.stdout.take().ok_or("the server has no output")?;
        let mut server = Self { process, output: BufReader::new(output), address: String::new() };
        server.address = server.line()?;
        Ok(server)
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|e| e.to_string())?;
        Ok(line.trim().to_owned())
    }

    /// Ends it. Returns the number of requests that it answered, and its line of counts with `--admit`.
    pub(crate) fn stop(mut self) -> Result<(u64, String), String> {
        drop(self.process.stdin.take());
        let count = self.line()?.parse().map_err(|e| format!("the server's count: {e}"))?;
        let counted = self.line()?;
        self.process.wait().map_err(|e| e.to_string())?;
        Ok((count, counted))
    }
}

const DOMAIN: &str = "(define (domain lights)
  (:requirements :strips :typing)
  (:types room)
  (:predicates (lit ?r - room) (dark ?r - room))
  (:action switch
    :parameters (?r - room)
    :precondition (dark ?r)
    :effect (and (lit ?r) (not (dark ?r)))))
";

/// Small tasks, no two the same.
fn write_suite(folder: &Path, tasks: usize) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("domain.pddl"), DOMAIN)?;
    fs::write(folder.join("domain.nl"), "A light in a dark room can be switched on.\n")?;
    for number in 1..=tasks {
        let rooms = ["hall", "kitchen", "attic"];
        let text = format!(
            "House number {number} has a hall, a kitchen and an attic. All are dark. Switch on every light.\n"
        );
        let facts: Vec<String> = rooms.iter().map(|room| format!("(dark {room})")).collect();
        let goals: Vec<String> = rooms.iter().map(|room| format!("(lit {room})")).collect();
        let problem = format!(
            "(define (problem lights-{number})\n  (:domain lights)\n  (:objects {} - room)\n  (:init {})\n  (:goal (and {})))\n",
            rooms.join(" "),
            facts.join(" "),
            goals.join(" ")
        );
        fs::write(folder.join(format!("p{number:05}.nl")), text)?;
        fs::write(folder.join(format!("p{number:05}.pddl")), problem)?;
    }
    Ok(())
}

#[derive(clap::Args)]
pub(crate) struct LoadServerArgs {
    /// Milliseconds until an answer.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// Requests admitted a second, and at once after a pause; others are answered 429.
    #[arg(long)]
    admit: Option<f64>,
    /// Seconds in which admitted and refused requests are counted, from ten seconds after the first request.
    #[arg(long, default_value_t = 30.0)]
    seconds: f64,
}

/// Seconds after the first request that are not counted.
const START: f64 = 10.0;

/// A token bucket, and counts of the requests that it admitted and refused.
struct Bucket {
    rate: f64,
    seconds: f64,
    tokens: f64,
    first: Option<Instant>,
    last: Instant,
    admitted: u64,
    refused: u64,
}

impl Bucket {
    fn new(rate: f64, seconds: f64) -> Self {
        Self {
            rate,
            seconds,
            tokens: rate.max(1.0),
            first: None,
            last: Instant::now(),
            admitted: 0,
            refused: 0,
        }
    }

    fn admit(&mut self) -> bool {
        let now = Instant::now();
        let since = now.duration_since(*self.first.get_or_insert(now)).as_secs_f64();
        let refilled = self.rate * now.duration_since(self.last).as_secs_f64();
        self.tokens = self.rate.max(1.0).min(self.tokens + refilled);
        self.last = now;
        let is_admitted = self.tokens >= 1.0;
        if is_admitted {
            self.tokens -= 1.0;
        }
        if (START..START + self.seconds).contains(&since) {
            *(if is_admitted { &mut self.admitted } else { &mut self.refused }) += 1;
        }
        is_admitted
    }
}

/// Prints its address on standard output, then answers until standard input is closed.
pub(crate) fn run_load_server(args: &LoadServerArgs) -> Result<(), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    println!("{address}");
    let (count, delay) = (Arc::new(AtomicU64::new(0)), Duration::from_millis(args.delay_ms));
    let bucket = args.admit.map(|rate| Arc::new(Mutex::new(Bucket::new(rate, args.seconds))));
    let (answered, shared) = (Arc::clone(&count), bucket.clone());
    thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let (count, bucket) = (Arc::clone(&answered), shared.clone());
            // A connection that fails is the client's to notice.
            drop(
                thread::Builder::new()
                    .stack_size(128 << 10)
                    .spawn(move || serve(stream, &count, bucket.as_deref(), delay)),
            );
        }
    });
    let mut nothing = Vec::new();
    std::io::stdin().read_to_end(&mut nothing).map_err(|e| e.to_string())?;
    println!("{}", count.load(Ordering::SeqCst));
    if let Some(bucket) = bucket {
        let bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        println!("{} {}", bucket.admitted, bucket.refused);
    }
    Ok(())
}

/// Serves one connection until the client closes it.
fn serve(
    mut stream: TcpStream,
    count: &AtomicU64,
    bucket: Option<&Mutex<Bucket>>,
    delay: Duration,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut body) = (String::new(), Vec::new());
    loop {
        let mut length = 0;
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let interface = Interface::of_request_line(&line);
        loop {
            line.clear();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if line.trim_end().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        body.resize(length, 0);
        reader.read_exact(&mut body)?;
        let is_refused = bucket.is_some_and(|it| !it.lock().unwrap_or_else(PoisonError::into_inner).admit());
        if is_refused {
            stream.write_all(REFUSAL.as_bytes())?;
            continue;
        }
        let number = count.fetch_add(1, Ordering::SeqCst);
        thread::sleep(delay);
        let body = match interface {
            Interface::Chat => completion(number, requested_replies(&body)),
            other => one_reply(other, number),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes())?;
    }
}

const REFUSAL: &str = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: application/json\r\nretry-after: 1\r\ncontent-length: 41\r\n\r\n\
     {\"error\":{\"message\":\"too many requests\"}}";

/// Number of replies that a request asks for.
fn requested_replies(body: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(body);
    let n = text.rsplit_once("\"n\":").map(|(_, rest)| rest.trim_start());
    let digits = n.map(|n| n.chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(1)
}

/// Interfaces of models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Interface {
    /// OpenAI-compatible chat completions.
    Chat,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's generateContent.
    Gemini,
}

impl Interface {
    /// The interface of a request with this first line.
    fn of_request_line(line: &str) -> Self {
        let path = line.split(' ').nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        match path {
            _ if path.ends_with("/responses") => Self::Responses,
            _ if path.ends_with("/messages") => Self::Anthropic,
            _ if path.ends_with(":generateContent") => Self::Gemini,
            _ => Self::Chat,
        }
    }
}

/// The JSON text of a reply; no two are the same, as with a model.
fn reply_text(number: u64, index: u64) -> String {
    format!(
        "\"The problem:\\n\\n```pddl\\n(define (problem lights-{number}-{index}) (:domain lights)\\n  (:objects hall kitchen attic - room)\\n  \
         (:init (dark hall) (dark kitchen) (dark attic))\\n  (:goal (and (lit hall) (lit kitchen) (lit attic))))\\n```\\n\""
    )
}

/// A chat completion with so many replies.
fn completion(number: u64, n: u64) -> String {
    let choice = |index: u64| {
        let text = reply_text(number, index);
        format!(
            "{{\"index\":{index},\"finish_reason\":\"stop\",\"message\":{{\"role\":\"assistant\",\"content\":{text}}}}}"
        )
    };
    let choices: Vec<String> = (0..n).map(choice).collect();
    format!(
        "{{\"id\":\"load-{number}\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"load\",\"choices\":[{}],\"usage\":\
         {{\"prompt_tokens\":200,\"completion_tokens\":{},\"total_tokens\":{}}}}}",
        choices.join(","),
        80 * n,
        200 + 80 * n
    )
}

/// The reply of an interface that gives one a request.
fn one_reply(interface: Interface, number: u64) -> String {
    let text = reply_text(number, 0);
    match interface {
        Interface::Chat => completion(number, 1),
        Interface::Responses => format!(
            "{{\"id\":\"resp_{number}\",\"object\":\"response\",\"created_at\":1,\"status\":\"completed\",\"model\":\"load\",\"error\":null,\
             \"incomplete_details\":null,\"instructions\":null,\"metadata\":{{}},\"parallel_tool_calls\":true,\"tool_choice\":\"auto\",\"tools\":[],\
             \"output\":[{{\"type\":\"message\",\"id\":\"msg_{number}\",\"status\":\"completed\",\"role\":\"assistant\",\"content\":[{{\"type\":\"output_text\",\
             \"annotations\":[],\"text\":{text}}}]}}],\"usage\":{{\"input_tokens\":200,\"input_tokens_details\":{{\"cached_tokens\":0}},\"output_tokens\":80,\
             \"output_tokens_details\":{{\"reasoning_tokens\":0}},\"total_tokens\":280}}}}"
        ),
        Interface::Anthropic => format!(
            "{{\"id\":\"msg_{number}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-load\",\"stop_reason\":\"end_turn\",\
             \"stop_sequence\":null,\"content\":[{{\"type\":\"text\",\"text\":{text}}}],\"usage\":{{\"input_tokens\":200,\"output_tokens\":80}}}}"
        ),
        Interface::Gemini => format!(
            "{{\"responseId\":\"r{number}\",\"modelVersion\":\"gemini-load\",\"candidates\":[{{\"index\":0,\"finishReason\":\"STOP\",\"content\":\
             {{\"role\":\"model\",\"parts\":[{{\"text\":{text}}}]}}}}],\"usageMetadata\":{{\"promptTokenCount\":200,\"candidatesTokenCount\":80,\
             \"totalTokenCount\":280}}}}"
        ),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn each_interface_has_its_path_and_replies_of_valid_json_that_differ() {
        let lines = [
            "POST /v1/chat/completions HTTP/1.1",
            "POST /v1/responses HTTP/1.1",
            "POST /v1/messages HTTP/1.1",
            "POST /v1beta/models/gemini-load:generateContent?key=k HTTP/1.1",
        ];
        for (line, interface) in lines.into_iter().zip(Interface::value_variants()) {
            assert_eq!(Interface::of_request_line(line), *interface);
            let texts = [1, 2].map(|number| one_reply(*interface, number));
            assert_ne!(texts[0], texts[1]);
            let reply: serde_json::Value = serde_json::from_str(&texts[0]).unwrap();
            assert!(reply.to_string().contains("(define (problem lights-1-0)"), "{reply}");
        }
    }
}

/// Sends each request once per sample, and checks that the reply contains PDDL.
const INSPECT: &str = r#"
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.scorer import includes

tasks, samples, jobs, server, logs, interface = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5], sys.argv[6]
question = "House number {} has a hall, a kitchen and an attic. All are dark. Switch on every light."
# Without its setting, Responses begins with a request that tries reasoning, and Anthropic asks for more tokens than it takes without streaming.
name, path, options, settings = {
    "chat": ("openai-api/loopback/load", "/v1", {}, {}),
    "responses": ("openai/load", "/v1", {"responses_api": True}, {"reasoning_summary": "none"}),
    "anthropic": ("anthropic/claude-load", "", {"streaming": False}, {"max_tokens": 1024}),
    "gemini": ("google/gemini-load", "", {"streaming": False}, {}),
}[interface]
model = get_model(name, base_url=server + path, api_key="sk-load", config=GenerateConfig(max_connections=jobs, **settings), **options)
task = Task(dataset=[Sample(input=question.format(n), target="(define") for n in range(tasks)], epochs=samples, scorer=includes())
log = eval(task, model=model, display="none", log_dir=logs, max_samples=jobs * 2, max_connections=jobs)[0]
sys.exit(0 if log.status == "success" else 1)
"#;

/// The number of questions to send, and where.
#[derive(Clone, Copy)]
pub(crate) struct PeerLoad<'a> {
    /// Folder for what the peer writes.
    pub(crate) folder: &'a Path,
    /// `127.0.0.1:PORT`.
    address: &'a str,
    pub(crate) interface: Interface,
    pub(crate) tasks: usize,
    pub(crate) samples: u32,
    pub(crate) jobs: u32,
}

/// inspect_ai of a Python environment.
fn inspect(venv: &Path, load: PeerLoad<'_>) -> io::Result<Command> {
    let PeerLoad { folder, address, interface, tasks, samples, jobs } = load;
    let script = folder.join("inspect_load.py");
    fs::write(&script, INSPECT)?;
    let mut command = Command::new(venv.join("bin/python"));
    command.arg(script).args([tasks.to_string(), samples.to_string(), jobs.to_string()]);
    command.arg(format!("http://{address}")).arg(folder.join("inspect-logs")).arg(interface.name());
    command.current_dir(folder);
    Ok(command)
}

/// promptfoo of a folder with `node_modules`.
fn promptfoo(modules: &Path, load: PeerLoad<'_>) -> io::Result<Command> {
    let PeerLoad { folder, address, interface, tasks, samples, jobs } = load;
    let (id, path) = match interface {
        Interface::Chat => ("openai:chat:load", "/v1"),
        Interface::Responses => ("openai:responses:load", "/v1"),
        Interface::Anthropic => ("anthropic:messages:claude-load", ""),
        Interface::Gemini => ("google:gemini-load", ""),
    };
    let tests: String = (0..tasks).map(|n| format!("  - vars: {{ house: {n} }}\n")).collect();
    let config = format!(
        "prompts:\n  - 'House number {{{{house}}}} has a hall, a kitchen and an attic. All are dark. Switch on every light.'\n\
         providers:\n  - id: {id}\n    config: {{ apiBaseUrl: 'http://{address}{path}', apiKey: sk-load }}\n\
         defaultTest:\n  assert:\n    - type: contains\n      value: '(define'\ntests:\n{tests}"
    );
    let file = folder.join("promptfooconfig.yaml");
    fs::write(&file, config)?;
    let mut command = Command::new("node");
    command
        .arg(modules.join("node_modules/promptfoo/dist/src/entrypoint.js"))
        .arg("eval")
        .arg("-c")
        .arg(file);
    command.args(["--repeat", &samples.to_string(), "-j", &jobs.to_string()]);
    command.args(["--no-cache", "--no-table", "--no-progress-bar", "--no-share"]);
    command.arg("-o").arg(folder.join("promptfoo.json")).current_dir(folder);
    command.env("PROMPTFOO_DISABLE_TELEMETRY", "1").env("PROMPTFOO_DISABLE_UPDATE", "1");
    command.env("PROMPTFOO_CONFIG_DIR", folder.join("promptfoo-state"));
    Ok(command)
}
