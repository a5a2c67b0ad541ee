//! A server that answers each request at once with a problem of the suite `lights`, with as little work as
//! possible, in the interface that the request's path names. It is a separate process, so its processor time does not count.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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
pub(crate) const START: f64 = 10.0;

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
pub(crate) fn run(args: &LoadServerArgs) -> Result<(), String> {
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
