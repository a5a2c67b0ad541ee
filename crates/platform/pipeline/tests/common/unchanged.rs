//! Checks that the number of jobs, a replay and a crash change nothing.

use super::{Bench, bytes, copy};
use planforge_pipeline::{RunReport, RunTask};
use planforge_record::{Event, Journal, MemoryJournal, comparable_events};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The contents of a journal, without the events that belong to a session.
pub fn story(journal: &MemoryJournal) -> String {
    let session = |e: &Event| matches!(e, Event::SessionStarted { .. } | Event::SessionFinished { .. });
    let events: Vec<Event> = journal.events().into_iter().filter(|e| !session(e)).collect();
    comparable_events(&events)
}

/// Checks that several jobs, and a replay without requests, give the bytes of one job, which are returned.
pub fn jobs_and_replays_change_nothing(
    make: impl Fn() -> Bench,
    tasks: &[RunTask],
    jobs: &[usize],
) -> (RunReport, Arc<MemoryJournal>) {
    let (one, journal) = make().run(tasks, 1);
    for &jobs in jobs {
        let (many, of_many) = make().run(tasks, jobs);
        assert_eq!(bytes(&one), bytes(&many), "{jobs} jobs");
        assert_eq!(story(&journal), story(&of_many), "{jobs} jobs");
        let bench = make();
        assert_eq!(bytes(&one), bytes(&bench.replay(&of_many, tasks).0), "a replay of {jobs} jobs");
        assert_eq!(bench.provider.asked.load(Ordering::SeqCst), 0, "a replay asks nobody");
    }
    (one, journal)
}

/// A run that goes on after a crash behind any event comes to the same, and nothing is paid for twice. Gives the events back.
pub fn crashes_lose_nothing(make: impl Fn() -> Bench, tasks: &[RunTask]) -> Vec<Event> {
    let (whole, journal) = make().run(tasks, 1);
    let events = journal.events();
    let paid = |events: &[Event]| events.iter().filter(|e| matches!(e, Event::Completion { .. })).count();
    assert!(paid(&events) > 0, "the run asks a model");
    for cut in 0..=events.len() {
        let torn = Arc::new(MemoryJournal::default());
        copy(&journal, &events[..cut], &torn);
        let bench = make();
        let resumed = bench.run_on(&torn, tasks, 4);
        assert_eq!(bytes(&whole), bytes(&resumed), "cut after event {cut}");
        assert_eq!(story(&journal), story(&torn), "cut after event {cut}");
        let asked = bench.provider.asked.load(Ordering::SeqCst);
        assert_eq!(asked, paid(&events) - paid(&events[..cut]), "cut after event {cut}");
    }
    events
}
