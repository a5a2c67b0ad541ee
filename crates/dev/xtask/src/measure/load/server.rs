//! A server that answers each request at once with a problem of the suite `lights`, with as little work as
//! possible. It is a separate process, so its processor time does not count.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

#[derive(clap::Args)]
pub(crate) struct LoadServerArgs {
    /// Milliseconds until an answer.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
}

/// Prints its address on standard output, then answers until standard input is closed.
pub(crate) fn run(args: &LoadServerArgs) -> Result<(), String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    let address = listener.local_addr().map_err(|e| e.to_string())?;
    println!("{address}");
    let (count, delay) = (Arc::new(AtomicU64::new(0)), Duration::from_millis(args.delay_ms));
    let answered = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming().filter_map(Result::ok) {
            let count = Arc::clone(&answered);
            // A connection that fails is the client's to notice.
            drop(thread::Builder::new().stack_size(128 << 10).spawn(move || serve(stream, &count, delay)));
        }
    });
    let mut nothing = Vec::new();
    std::io::stdin().read_to_end(&mut nothing).map_err(|e| e.to_string())?;
    println!("{}", count.load(Ordering::SeqCst));
    Ok(())
}

/// Serves one connection until the client closes it.
fn serve(mut stream: TcpStream, count: &AtomicU64, delay: Duration) -> std::io::Result<()> {
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
        let number = count.fetch_add(1, Ordering::SeqCst);
        thread::sleep(delay);
        stream.write_all(reply_text(number, requested_replies(&body)).as_bytes())?;
    }
}

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
