//! A program run to its end.

use crate::ending::{Ending, Finished, Stream};
use crate::process::{Pipes, Process, spawn};
use crate::spec::{CommandSpec, Limits};
use std::io::{Read, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The longest time between two checks of the deadline and of `cancelled`.
const TICK: Duration = Duration::from_millis(20);
/// Time to wait for the rest of an ended program's output.
const REST: Duration = Duration::from_secs(2);

enum Event {
    /// All of standard output, which is closed.
    Output(Vec<u8>),
    /// The stream exceeded its limit.
    Overflow(Stream),
}

/// Runs a program until it ends or reaches a limit. Calls `cancelled` every few milliseconds.
///
/// Returns the standard output so far even if the program was killed, such as a planner's best plan.
pub fn run(spec: &CommandSpec, limits: &Limits, cancelled: &dyn Fn() -> bool) -> Finished {
    let (events, happened) = mpsc::channel();
    let overflow = events.clone();
    let started = Process::start(spec, limits, move |stream| drop(overflow.send(Event::Overflow(stream))));
    let (mut process, pipes) = match started {
        Ok(started) => started,
        Err(finished) => return finished,
    };
    if let Err(finished) = attend(pipes, spec.input.clone(), limits.output_bytes, events) {
        return finished;
    }
    let deadline = limits.wall.map(|wall| (wall, Instant::now() + wall));
    let mut output = None;
    let mut tick = Duration::from_millis(1);
    let because = loop {
        match happened.recv_timeout(tick) {
            Ok(Event::Output(all)) => output = Some(all),
            Ok(Event::Overflow(stream)) => break Some(too_much(stream, limits)),
            Err(RecvTimeoutError::Timeout) => tick = TICK.min(tick * 2),
            // Both pipes are closed; the program may live on until its time is over.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(tick),
        }
        if process.has_ended() {
            break None;
        }
        if let Some((wall, at)) = deadline
            && Instant::now() >= at
        {
            break Some(Ending::TimedOut(wall));
        }
        if cancelled() {
            break Some(Ending::Cancelled);
        }
    };
    let mut finished = match because {
        Some(because @ Ending::OutputLimit(..)) => process.stop_for(because),
        Some(because) => process.stop(because),
        None => process.death(),
    };
    // The pipes close with the tree, so that what is left of them comes at once.
    let until = Instant::now() + REST;
    while output.is_none() {
        match happened.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Event::Output(all)) => output = Some(all),
            // An earlier ending stands, except that of a program that got away with writing too much.
            Ok(Event::Overflow(stream)) if matches!(finished.ending, Ending::Exited(_)) => {
                finished.ending = too_much(stream, limits);
            }
            Ok(Event::Overflow(_)) => {}
            Err(_) => break,
        }
    }
    finished.output = output.unwrap_or_default();
    finished
}

fn too_much(stream: Stream, limits: &Limits) -> Ending {
    let most = match stream {
        Stream::Output => limits.output_bytes,
        Stream::Error => limits.error_bytes,
    };
    Ending::OutputLimit(stream, most)
}

/// Feeds and drains the pipes.
fn attend(pipes: Pipes, text: Vec<u8>, most: u64, events: mpsc::Sender<Event>) -> Result<(), Finished> {
    let Pipes { mut input, output } = pipes;
    // A program that does not read all of its input is free not to.
    spawn("input", move || drop(input.write_all(&text)))?;
    spawn("output", move || {
        let mut all = Vec::new();
        let read = output.take(most.saturating_add(1)).read_to_end(&mut all);
        let over = read.is_ok() && all.len() as u64 > most;
        if over {
            all.truncate(usize::try_from(most).unwrap_or(usize::MAX));
            let _ = events.send(Event::Overflow(Stream::Output));
        }
        let _ = events.send(Event::Output(all));
    })
}
