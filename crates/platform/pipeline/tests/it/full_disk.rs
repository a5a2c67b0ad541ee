//! A run whose disk is full from some step on stops there with a message, pays for nothing more, and
//! continues when there is room.

use crate::common::*;
use planforge_contract::FailureClass;
use planforge_llm::Mode;
use planforge_pipeline::*;
use planforge_record::{Disk, Event, Journal, RunFolder, RunManifest, comparable_events};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROUNDS: &str = concat!(
    toml!(schema = 1 seed = 7),
    model!(main "scripted"),
    stage!(translate "problem" use = "translator-direct" n = 3 roles = { writer = "main" }),
    stage!(refine "refine" rounds = 2 by = "ew.score"),
    round!(translate "edit" use = "translator-direct" n = 2 roles = { writer = "main" } feedback = ["ew"]),
    round!(verify "ew" use = "verifier-ew"),
    stage!(plan "plan" use = "planner-classical"),
);

/// Has room for so many steps, and for no more until somebody makes it.
#[derive(Debug)]
struct Small {
    room: usize,
    used: AtomicUsize,
}

impl Small {
    fn step(&self) -> io::Result<()> {
        match self.used.fetch_add(1, Ordering::SeqCst) < self.room {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    }
}

impl Disk for Small {
    fn open(&self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        self.step()?;
        options.open(path)
    }
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        // What fits is written, as on a real disk.
        self.step().inspect_err(|_| file.write_all(&bytes[..bytes.len() / 2]).unwrap())?;
        file.write_all(bytes)
    }
    fn sync(&self, _: &File) -> io::Result<()> {
        self.step()
    }
}

fn manifest() -> RunManifest {
    RunManifest { schema: RunManifest::SCHEMA, id: "r".into(), ..RunManifest::default() }
}

/// A run in a folder; how it ended, and how often a model was asked.
fn run_in(folder: &Arc<RunFolder>, jobs: usize) -> (Result<RunReport, planforge_contract::Failure>, usize) {
    let bench = Bench::new(ROUNDS);
    let services = bench.services(Arc::clone(folder) as _, Vec::new(), Mode::Live, jobs);
    let ended = run(&bench.pipeline, &tasks(2), &services);
    (ended, bench.provider.asked.load(Ordering::SeqCst))
}

fn story(run: &RunFolder) -> String {
    let session = |e: &Event| matches!(e, Event::SessionStarted { .. } | Event::SessionFinished { .. });
    let events: Vec<Event> = run.events().into_iter().filter(|e| !session(e)).collect();
    comparable_events(&events)
}

fn paid(run: &RunFolder) -> usize {
    run.events().iter().filter(|e| matches!(e, Event::Completion(_))).count()
}

#[test]
fn a_run_whose_disk_is_full_stops_and_goes_on_without_paying_twice() {
    let roomy = || Arc::new(Small { room: usize::MAX, used: AtomicUsize::new(0) });
    let dir = tempfile::tempdir().unwrap();
    let disk = roomy();
    let whole = RunFolder::create_on(Arc::clone(&disk) as _, dir.path(), manifest(), Arc::default()).unwrap();
    let made = disk.used.load(Ordering::SeqCst);
    let whole = Arc::new(whole);
    let (report, all) = run_in(&whole, 1);
    let report = bytes(&report.unwrap());
    let steps = disk.used.load(Ordering::SeqCst);
    assert!(steps > made + 150, "{steps} steps");
    for (jobs, room) in
        [1, 4].into_iter().flat_map(|jobs| (made..steps - 4).step_by(9).map(move |r| (jobs, r)))
    {
        let place = format!("{jobs} jobs, room for {room} of {steps} steps");
        let dir = tempfile::tempdir().unwrap();
        let disk = Arc::new(Small { room, used: AtomicUsize::new(0) });
        let folder = RunFolder::create_on(disk, dir.path(), manifest(), Arc::default()).unwrap();
        let root = folder.path().to_owned();
        let folder = Arc::new(folder);
        let (ended, asked) = run_in(&folder, jobs);
        let failure = ended.expect_err(&place);
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::System, "record.io"), "{place}");
        assert!(failure.message.contains(&root.display().to_string()), "{place}: {failure}");
        // At most what was in flight is lost.
        let kept = paid(&folder);
        assert!(asked <= kept + jobs, "{place}: {asked} asked, {kept} kept");
        drop(folder);
        let folder = RunFolder::resume_on(roomy(), &root, Arc::default()).unwrap();
        let kept = paid(&folder);
        let folder = Arc::new(folder);
        let (ended, again) = run_in(&folder, jobs);
        assert_eq!(bytes(&ended.unwrap()), report, "{place}");
        assert_eq!(story(&folder), story(&whole), "{place}");
        assert_eq!(again, all - kept, "{place}");
    }
}
