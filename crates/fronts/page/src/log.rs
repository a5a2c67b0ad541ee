//! Events that are numbered and kept, so that a browser that lost its connection gets the later ones; and their streams.

use crate::answer::{Answer, with_body};
use crate::error::Refusal;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Frame};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::watch;

/// Most events of a log. Older ones are dropped.
const MOST_EVENTS: usize = 20_000;
/// Most bytes of a log.
const MOST_BYTES: usize = 16 << 20;
/// Most bytes of one piece of a stream.
const PIECE: usize = 256 << 10;
/// Events of so long a time go in one piece: a run may record hundreds in a second, for each of a hundred tabs.
const GATHER: Duration = Duration::from_millis(40);
/// Time between signs of life.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The keys of a recorded event that a browser gets. Its documents are in the report's chunks.
const RECORD_KEYS: [&str; 10] =
    ["event", "task", "stage", "path", "verdict", "decision", "role", "llm", "usage", "state"];

/// A `recorded` event without its documents, which each of a hundred tabs would get; any other event as it is.
pub(crate) fn short(mut event: Value) -> Value {
    if let Some(record) = event.get_mut("record").and_then(Value::as_object_mut) {
        record.retain(|key, _| RECORD_KEYS.contains(&key.as_str()));
    }
    event
}

/// Numbered events, from 1.
pub(crate) struct EventLog {
    kept: Mutex<Kept>,
    changed: watch::Sender<()>,
    began: Instant,
}

#[derive(Default)]
struct Kept {
    /// The text of each event in a stream.
    frames: VecDeque<String>,
    bytes: usize,
    /// The number of events that were dropped.
    dropped: u64,
    is_closed: bool,
}

/// The events after a number.
struct Batch {
    text: String,
    next: u64,
    /// True if there are more.
    is_more: bool,
    is_end: bool,
}

impl EventLog {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { kept: Mutex::default(), changed: watch::Sender::new(()), began: Instant::now() })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event, an object with the key `kind`.
    pub(crate) fn push(&self, event: &Value) {
        let mut kept = self.kept();
        if kept.is_closed {
            return;
        }
        let number = kept.dropped + kept.frames.len() as u64 + 1;
        // JSON has no line ends outside of its texts, and escapes those in them.
        let frame = format!("id: {number}\ndata: {event}\n\n");
        kept.bytes += frame.len();
        kept.frames.push_back(frame);
        while kept.frames.len() > MOST_EVENTS || kept.bytes > MOST_BYTES && kept.frames.len() > 1 {
            let oldest = kept.frames.pop_front().unwrap_or_default();
            kept.bytes -= oldest.len();
            kept.dropped += 1;
        }
        drop(kept);
        self.changed.send_replace(());
    }

    /// Adds an event with the milliseconds since the log began: a page that reads it later estimates the time that is left from them.
    pub(crate) fn push_timed(&self, mut event: Value) {
        event["ms"] = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX).into();
        self.push(&event);
    }

    /// Ends the streams once they have sent everything.
    pub(crate) fn close(&self) {
        self.kept().is_closed = true;
        self.changed.send_replace(());
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.kept().is_closed
    }

    fn after(&self, number: u64) -> Batch {
        let kept = self.kept();
        let mut text = String::new();
        let mut next = number;
        if number < kept.dropped {
            next = kept.dropped;
            // A number that a browser asks for again would lose the same events again.
            text = format!("id: {next}\ndata: {}\n\n", json!({ "kind": "lost", "events": next - number }));
        }
        for frame in kept.frames.iter().skip(usize::try_from(next - kept.dropped).unwrap_or(usize::MAX)) {
            if text.len() > PIECE {
                break;
            }
            text.push_str(frame);
            next += 1;
        }
        let is_more = next < kept.dropped + kept.frames.len() as u64;
        Batch { text, next, is_more, is_end: kept.is_closed && !is_more }
    }

    /// The events after those that the browser has, as a stream. The guard is dropped at its end.
    pub(crate) fn stream(
        self: Arc<Self>,
        headers: &HeaderMap,
        after: Option<String>,
        guard: impl Send + 'static,
    ) -> Result<Answer, Refusal> {
        let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
        let number = match (last, after) {
            (Some(last), _) => last,
            (None, Some(after)) => after.parse().map_err(|_| Refusal::request("`after` is not a number"))?,
            (None, None) => 0,
        };
        let first = self.after(number);
        if first.is_end && first.text.is_empty() {
            // A browser asks again after the end of a stream, and not after this status.
            return Ok(with_body(StatusCode::NO_CONTENT, EVENTS, http_body_util::Empty::new().boxed()));
        }
        let (sender, answer) = open_stream();
        tokio::spawn(async move {
            let _guard = guard;
            let mut changed = self.changed.subscribe();
            let mut next = number;
            loop {
                let batch = self.after(next);
                next = batch.next;
                if !batch.text.is_empty() && sender.send(batch.text.into()).await.is_err() || batch.is_end {
                    return;
                }
                if !batch.is_more && !wait(&sender, &mut changed).await {
                    return;
                }
            }
        });
        Ok(answer)
    }
}

/// Waits for a change, with signs of life. False if the browser has closed the stream.
async fn wait(sender: &Sender<Bytes>, changed: &mut watch::Receiver<()>) -> bool {
    loop {
        tokio::select! {
            () = sender.closed() => return false,
            result = changed.changed() => {
                tokio::time::sleep(GATHER).await;
                return result.is_ok();
            }
            () = tokio::time::sleep(KEEP_ALIVE) => {
                if sender.send(Bytes::from_static(b": \n\n")).await.is_err() {
                    return false;
                }
            }
        }
    }
}

/// The kind of a stream's answer.
const EVENTS: &str = "text/event-stream";

/// A stream of events and its sender. The browser reads its first bytes at once, so that it knows that the stream is open.
pub(crate) fn open_stream() -> (Sender<Bytes>, Answer) {
    let (sender, pieces) = mpsc::channel(4);
    // The channel is new and has room.
    let _ = sender.try_send(Bytes::from_static(b": \n\n"));
    (sender, with_body(StatusCode::OK, EVENTS, Feed(pieces).boxed()))
}

/// A body that is sent piece by piece.
struct Feed(Receiver<Bytes>);

impl Body for Feed {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_events_are_dropped_and_a_reader_is_told_of_it() {
        let log = EventLog::new();
        for number in 0..MOST_EVENTS + 5 {
            log.push(&json!({ "kind": "notice", "text": format!("{number}\n") }));
        }
        let lost = log.after(2);
        assert!(
            lost.text.starts_with("id: 5\ndata: {\"events\":3,\"kind\":\"lost\"}\n\nid: 6\n"),
            "{}",
            &lost.text[..80]
        );
        let last = log.after(MOST_EVENTS as u64 + 4);
        assert_eq!(
            (last.text.matches("data:").count(), last.next, last.is_end),
            (1, MOST_EVENTS as u64 + 5, false)
        );
        log.close();
        assert!(log.after(last.next).is_end && log.after(u64::MAX).text.is_empty());
    }
}
