//! Earliest times of events: a simple temporal network that grows by one event at a time.
//!
//! Events that interfere keep the order in which they were added and are an epsilon apart. What an action needs between its ends may be made
//! true at the time of its start and false at the time of its end. All others may happen in any order. The
//! constraints are those of the partial order of POPF (Coles et al., 2010): each event follows the last event that writes what it reads
//! or writes, and the events that read what it writes. Times are longest paths; a time that would have to be later than its latest one, or a
//! cycle of positive length, makes the order impossible.

use super::model::{Event, EventKind, LAST, Model, Ticks};
use crate::search::NONE;

/// Time between events that interfere: what a plan file with three digits can show.
pub(super) const EPSILON: Ticks = 1000;

/// The order of the events cannot be scheduled.
#[derive(Debug)]
pub(super) struct Impossible;

/// A scheduled event.
#[derive(Debug, Clone)]
pub(super) struct Scheduled {
    /// Index of the event.
    pub(super) event: u32,
    /// Earliest time.
    pub(super) time: Ticks,
    latest: Ticks,
    /// For an end: its start, and the longest time between them.
    pub(super) start: u32,
    longest: Ticks,
    /// Later events with the least time between.
    followers: Vec<(u32, Ticks)>,
}

/// The bounds of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least: Ticks,
    pub(super) most: Ticks,
}

/// A durative action that has started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    pub(super) instance: u32,
    /// Index of its start in the timeline.
    pub(super) start: u32,
    pub(super) bounds: Bounds,
}

/// Events in the order of the search, with their times.
pub(super) struct Timeline<'m> {
    model: &'m Model,
    pub(super) steps: Vec<Scheduled>,
    /// Index of the last event that writes a resource, else [`NONE`].
    writer: Vec<u32>,
    /// Events that read a resource after it was written last, and the least time to the next one that writes it.
    readers: Vec<Vec<(u32, Ticks)>>,
    touched: Vec<u32>,
    /// True if all events keep their order.
    is_total: bool,
    queue: Vec<u32>,
}

impl<'m> Timeline<'m> {
    pub(super) fn new(model: &'m Model, is_total: bool) -> Self {
        Timeline {
            model,
            steps: Vec::new(),
            writer: vec![NONE; model.resources],
            readers: vec![Vec::new(); model.resources],
            touched: Vec::new(),
            is_total,
            queue: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        for &resource in &self.touched {
            self.writer[resource as usize] = NONE;
            self.readers[resource as usize].clear();
        }
        self.touched.clear();
    }

    /// The latest of the earliest times.
    pub(super) fn makespan(&self) -> Ticks {
        let own = self
            .steps
            .iter()
            .filter(|s| !matches!(self.model.events[s.event as usize].kind, EventKind::Timed(_)));
        own.map(|step| step.time).max().unwrap_or(0)
    }

    /// Adds an event after those that it interferes with. `running` is the action of an end; `next_timed` the index of the first timed
    /// literals that have not happened.
    pub(super) fn push(
        &mut self,
        number: u32,
        running: Option<Running>,
        next_timed: usize,
    ) -> Result<u32, Impossible> {
        let model = self.model;
        let event = &model.events[number as usize];
        let new = self.steps.len() as u32;
        let mut before: Vec<(u32, Ticks)> = Vec::new();
        for &resource in &event.reads {
            before.push((self.writer[resource as usize], EPSILON));
        }
        for &resource in &event.lasting {
            before.push((self.writer[resource as usize], 0));
        }
        for &resource in &event.writes {
            // The start of the same action is before its end in any case.
            let is_running = model.running.get(resource as usize).is_some_and(|&instance| instance != NONE);
            if is_running && event.kind == EventKind::End {
                continue;
            }
            before.push((self.writer[resource as usize], EPSILON));
            before.extend(&self.readers[resource as usize]);
        }
        if self.is_total {
            before.extend(new.checked_sub(1).map(|last| (last, EPSILON)));
        }
        let is_timed = |event: &Event| matches!(event.kind, EventKind::Timed(_));
        let of = |step: u32| &model.events[self.steps[step as usize].event as usize];
        before.retain(|&(step, _)| step != NONE && !(is_timed(event) && is_timed(of(step))));
        before.sort_unstable_by(|a, b| b.cmp(a));
        before.dedup_by_key(|(step, _)| *step);
        let (mut time, mut latest) = (0, LAST);
        for &(step, least) in &before {
            time = time.max(self.steps[step as usize].time + least);
            self.steps[step as usize].followers.push((new, least));
        }
        match event.kind {
            EventKind::Timed(index) => {
                latest = model.times[index];
                if time > latest {
                    return Err(Impossible);
                }
                time = latest;
            }
            _ => latest = latest.min(self.latest(event, next_timed)),
        }
        let (mut start, mut longest) = (NONE, LAST);
        if let Some(running) = running {
            (start, longest) = (running.start, running.bounds.most);
            let from = &mut self.steps[start as usize];
            time = time.max(from.time + running.bounds.least);
            from.followers.push((new, running.bounds.least));
        }
        if time > latest {
            return Err(Impossible);
        }
        self.steps.push(Scheduled { event: number, time, latest, start, longest, followers: Vec::new() });
        self.record(event, new);
        if start != NONE && time - longest > self.steps[start as usize].time {
            self.raise(start, time - longest, new)?;
            while let Some(step) = self.queue.pop() {
                let (time, count) = {
                    let step = &self.steps[step as usize];
                    (step.time, step.followers.len())
                };
                for follower in 0..count {
                    let (next, least) = self.steps[step as usize].followers[follower];
                    self.raise(next, time + least, new)?;
                }
                let Scheduled { start, longest, .. } = self.steps[step as usize];
                if start != NONE {
                    self.raise(start, time - longest, new)?;
                }
            }
        }
        Ok(new)
    }

    /// The latest time of an event before the next timed literals that interfere with it.
    fn latest(&self, event: &Event, next_timed: usize) -> Ticks {
        if self.model.times.len() <= next_timed {
            return LAST;
        }
        let mut latest = LAST;
        let model = self.model;
        let own = event.reads.iter().chain(&event.writes).map(|&resource| (resource, EPSILON));
        let own = own.chain(event.lasting.iter().map(|&resource| (resource, 0)));
        let written = own.map(|(resource, least)| (&model.timed_writers[resource as usize], least));
        let read = event.writes.iter().map(|&resource| (&model.timed_readers[resource as usize], EPSILON));
        for (list, least) in written.chain(read) {
            let next = list.partition_point(|&index| (index as usize) < next_timed);
            if let Some(&index) = list.get(next) {
                latest = latest.min(model.times[index as usize] - least);
            }
        }
        latest
    }

    fn record(&mut self, event: &Event, new: u32) {
        for &resource in &event.writes {
            self.touched.push(resource);
            self.writer[resource as usize] = new;
            self.readers[resource as usize].clear();
        }
        for &resource in &event.reads {
            self.touched.push(resource);
            self.readers[resource as usize].push((new, EPSILON));
        }
        for &resource in &event.lasting {
            self.touched.push(resource);
            self.readers[resource as usize].push((new, 0));
        }
    }

    /// Moves an event to a later time. All new cycles contain the newest event: it cannot move.
    fn raise(&mut self, step: u32, time: Ticks, newest: u32) -> Result<(), Impossible> {
        let moved = &mut self.steps[step as usize];
        if time <= moved.time {
            return Ok(());
        }
        if step == newest || time > moved.latest {
            self.queue.clear();
            return Err(Impossible);
        }
        moved.time = time;
        self.queue.push(step);
        Ok(())
    }
}
