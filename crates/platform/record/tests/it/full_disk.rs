//! A disk that refuses the n-th operation, for every n: each effect is recorded whole or not at all, and the
//! run can be resumed.

use planforge_contract::{CompletionResult, FinishReason, Replies, Reply, Usage};
use planforge_record::{
    CompletionRecord, Disk, Journal, Lookup, RecordError, RunFolder, RunManifest, canonical_json, sha256_hex,
};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The way in which a disk refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// One operation fails; later ones succeed, as if space was freed.
    Once,
    /// From then on always.
    Full,
    /// From then on always, after half of the bytes, and not even cutting them off succeeds.
    Torn,
}

/// Refuses at one step, counted from 0.
#[derive(Debug)]
struct Failing {
    at: usize,
    fault: Fault,
    steps: AtomicUsize,
}

impl Failing {
    fn new(at: usize, fault: Fault) -> Arc<Self> {
        Arc::new(Self { at, fault, steps: AtomicUsize::new(0) })
    }
    fn step(&self) -> io::Result<()> {
        let step = self.steps.fetch_add(1, Ordering::SeqCst);
        if step == self.at || (self.fault != Fault::Once && step > self.at) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        Ok(())
    }
    fn refused(&self) -> bool {
        self.steps.load(Ordering::SeqCst) > self.at
    }
}

impl Disk for Failing {
    fn open(&self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        self.step()?;
        options.open(path)
    }
    fn write(&self, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        self.step().inspect_err(|_| {
            if self.fault == Fault::Torn {
                file.write_all(&bytes[..bytes.len() / 2]).unwrap();
            }
        })?;
        file.write_all(bytes)
    }
    fn sync(&self, _: &File) -> io::Result<()> {
        // Nothing here outlives the machine, so nobody waits for it.
        self.step()
    }
    fn cut(&self, file: &File, length: u64) -> io::Result<()> {
        if self.fault == Fault::Torn { Err(io::Error::other("refused")) } else { file.set_len(length) }
    }
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        std::fs::create_dir(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        std::fs::rename(from, to)
    }
}

/// A working disk without syncs.
#[derive(Debug)]
struct Working;

impl Disk for Working {
    fn sync(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

fn create(runs: &Path) -> RunFolder {
    RunFolder::create_on(Arc::new(Working), runs, manifest(), Arc::default()).unwrap()
}

fn manifest() -> RunManifest {
    RunManifest { schema: RunManifest::SCHEMA, id: "r".into(), ..RunManifest::default() }
}

fn record(number: usize) -> CompletionRecord {
    let request =
        json!({"model": "m", "messages": [{"role": "user", "content": format!("question {number}")}]});
    let path = format!("t/s/{number}/0/0");
    let reply = Reply::new(format!("reply {number}"), FinishReason::Stop);
    CompletionRecord {
        key: format!("{}:{path}", sha256_hex(canonical_json(&request).as_bytes())),
        path,
        role: "writer".into(),
        llm: "main".into(),
        request,
        result: Some(CompletionResult::Replies(Replies {
            replies: vec![reply],
            usage: Usage::default(),
            model: "m".into(),
            raw: "{}".into(),
        })),
        failure: None,
        usage: Usage::default(),
        attempts: 1,
        elapsed_ms: 1,
    }
}

const RECORDS: usize = 4;

/// Writes records until one fails. Returns the number of written records and the error.
fn write(run: &RunFolder) -> (usize, Option<RecordError>) {
    for number in 0..RECORDS {
        if run.completion(&record(number).key).unwrap().is_none()
            && let Err(error) = run.record_completion(&record(number))
        {
            // Whatever the disk would say now: after a hole nothing more is written.
            assert_eq!(run.record_completion(&record(RECORDS)).unwrap_err(), error);
            assert_eq!(run.put(b"x").unwrap_err(), error);
            assert_eq!(run.is_writable().unwrap_err(), error);
            return (number, Some(error));
        }
    }
    run.is_writable().unwrap();
    (RECORDS, None)
}

/// The entries of the folder of runs.
fn names(runs: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(runs).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Resumes on a working disk: all acknowledged records are there, and the rest can be written.
fn goes_on(root: &Path, acknowledged: usize, place: &str) {
    let run = RunFolder::resume_on(Arc::new(Working), root, Arc::default());
    let run = run.unwrap_or_else(|e| panic!("{place}: {e}"));
    for number in 0..RECORDS {
        let found = run.completion(&record(number).key).unwrap_or_else(|e| panic!("{place}, {number}: {e}"));
        assert!(found.is_some() || number >= acknowledged, "{place}: record {number} is lost");
        assert!(found.is_none_or(|found| found == record(number)), "{place}: record {number} is another one");
    }
    assert_eq!(write(&run), (RECORDS, None), "{place}");
    drop(run);
    let read = RunFolder::open(root, Arc::default()).unwrap();
    assert_eq!(read.completion_keys().len(), RECORDS, "{place}: each once");
    assert_eq!(read.events().len(), RECORDS, "{place}: each once");
    for number in 0..RECORDS {
        assert_eq!(read.completion(&record(number).key).unwrap(), Some(record(number)), "{place}");
    }
}

#[test]
fn a_disk_that_refuses_at_any_step_leaves_each_effect_whole_or_not_at_all() {
    for fault in [Fault::Once, Fault::Full, Fault::Torn] {
        let mut at = 0;
        loop {
            let place = format!("{fault:?} at step {at}");
            let dir = tempfile::tempdir().unwrap();
            let disk = Failing::new(at, fault);
            match RunFolder::create_on(Arc::clone(&disk) as _, dir.path(), manifest(), Arc::default()) {
                Err(error) => {
                    assert_eq!(error.code, "record.io", "{place}");
                    // The folder is there as a whole (only its name may not be on the medium yet) or not at all.
                    if names(dir.path()).is_empty() {
                        create(dir.path());
                    } else {
                        assert_eq!(names(dir.path()), ["r"], "{place}");
                    }
                    goes_on(&dir.path().join("r"), 0, &place);
                }
                Ok(run) => {
                    let (written, error) = write(&run);
                    assert_eq!(error.is_some(), disk.refused(), "{place}: {error:?}");
                    assert!(error.is_none_or(|e| e.code == "record.io" && e.path.is_some()), "{place}");
                    let root = run.path().to_owned();
                    drop(run);
                    goes_on(&root, written, &place);
                    if !disk.refused() {
                        break;
                    }
                }
            }
            at += 1;
        }
        assert!(at > 30, "only {at} steps");
    }
}

#[test]
fn a_disk_that_refuses_while_a_run_goes_on_loses_nothing_either() {
    for fault in [Fault::Once, Fault::Full, Fault::Torn] {
        let mut at = 0;
        loop {
            let place = format!("{fault:?} at step {at}");
            let dir = tempfile::tempdir().unwrap();
            let run = create(dir.path());
            run.record_completion(&record(0)).unwrap();
            run.record_completion(&record(1)).unwrap();
            let root = run.path().to_owned();
            drop(run);
            let disk = Failing::new(at, fault);
            let written = match RunFolder::resume_on(Arc::clone(&disk) as _, &root, Arc::default()) {
                Err(error) => {
                    assert_eq!(error.code, "record.io", "{place}");
                    2
                }
                Ok(run) => write(&run).0,
            };
            goes_on(&root, written, &place);
            if !disk.refused() {
                break;
            }
            at += 1;
        }
        assert!(at > 10, "only {at} steps");
    }
}

/// Like a kill at any moment of creating the folder: leftovers do not disturb later runs.
#[test]
fn a_folder_that_was_never_finished_is_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    let left = dir.path().join(".r.1-0-0.making");
    std::fs::create_dir_all(left.join("events")).unwrap();
    std::fs::write(left.join("events/0001.jsonl"), "").unwrap();
    std::fs::write(left.join(".run.json.1.tmp"), "{").unwrap();
    create(dir.path());
    assert_eq!(names(dir.path()), [".r.1-0-0.making", "r"], "it may be somebody's who is just making it");
    std::fs::remove_dir_all(dir.path().join("r")).unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    File::open(&left).unwrap().set_modified(long_ago).unwrap();
    create(dir.path());
    assert_eq!(names(dir.path()), ["r"]);
}

#[test]
fn who_holds_a_run_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let run = create(dir.path());
    let error = RunFolder::resume(run.path(), Arc::default()).unwrap_err();
    assert_eq!(error.code, "record.locked");
    assert!(error.message.contains(&format!("process {}", std::process::id())), "{error}");
    // What a killed process said of itself is no lock.
    let path = run.path().to_owned();
    drop(run);
    std::fs::write(path.join("events/0001.holder"), "process 1 on elsewhere").unwrap();
    RunFolder::resume(&path, Arc::default()).unwrap();
}
