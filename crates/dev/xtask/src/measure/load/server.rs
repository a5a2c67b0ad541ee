//! A server that answers each request at once with a problem of the suite `lights`, with as little work as
//! possible. It is a separate process, so its processor time does not count.

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
        stream.write_all(reply_text(number, requested_replies(&body)).as_bytes())?;
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

/// A reply; no two are the same, as with a model.
fn reply_text(number: u64, n: u64) -> String {
    let choice = |index: u64| {
        format!(
            "{{\"index\":{index},\"finish_reason\":\"stop\",\"message\":{{\"role\":\"assistant\",\"content\":\"The problem:\\n\\n\
             ```pddl\\n(define (problem lights-{number}-{index}) (:domain lights)\\n  (:objects hall kitchen attic - room)\\n  (:init (dark hall) \
             (dark kitchen) (dark attic))\\n  (:goal (and (lit hall) (lit kitchen) (lit attic))))\\n```\\n\"}}}}"
        )
    };
    let choices: Vec<String> = (0..n).map(choice).collect();
    let body = format!(
        "{{\"id\":\"load-{number}\",\"object\":\"chat.completion\",\"created\":1,\"model\":\"load\",\"choices\":[{}],\"usage\":\
         {{\"prompt_tokens\":200,\"completion_tokens\":{},\"total_tokens\":{}}}}}",
        choices.join(","),
        80 * n,
        200 + 80 * n
    );
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
