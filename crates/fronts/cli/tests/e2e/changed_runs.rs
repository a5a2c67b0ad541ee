//! Runs whose files were changed: replay, compare and resume give the same verdicts or end with an error.

use super::support::{Ran, example, files, pipeline, planforge, ran, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Verdict of each task, by name.
type Verdicts = BTreeMap<String, String>;

fn verdicts(document: &Value) -> Verdicts {
    let tasks = document["tasks"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    tasks.iter().map(|task| (text(&task["task"]), text(&task["verdict"]["verdict"]))).collect()
}

/// A run of the demo's replies: accepted, rejected and unsolvable tasks.
fn record(folder: &Path) -> PathBuf {
    let mut command = planforge();
    command.arg("run").arg(pipeline("llm-p.toml")).arg("--runs").arg(folder);
    for suite in ["parcels", "garden"] {
        command.arg("--suite").arg(example(suite, ""));
    }
    command.arg("--replay").arg(root().join("examples/demo/llm-p.jsonl"));
    command.args(["--set", "llm.main.max_attempts=1", "--set", "llm.main.base_url=http://127.0.0.1:9/v1"]);
    Ran::wait(command.spawn().unwrap()).expect(0);
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.find(|path| path.join("run.json").is_file()).unwrap()
}

/// Numbers that depend on a seed alone (SplitMix64).
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % n as u64) as usize
    }
}

/// Changes the journal, or every fourth time another file of the run, and returns what was changed.
fn change(run: &Path, draws: &mut Draws) -> String {
    let mut candidates = match draws.below(4) {
        0 => [files(&run.join("blobs")), vec![run.join("run.json"), run.join("report.json")]].concat(),
        _ => files(&run.join("events")),
    };
    // Folders list their files in any order.
    candidates.sort();
    let file = &candidates[draws.below(candidates.len())];
    let mut bytes = fs::read(file).unwrap();
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let at = draws.below(bytes.len());
    let (line, other) = (draws.below(lines.len()), draws.below(lines.len()));
    let what = match draws.below(8) {
        0 => {
            bytes.truncate(at);
            "truncated"
        }
        1 => {
            bytes[at] ^= 1 << draws.below(8);
            "one bit"
        }
        2 => {
            bytes[at] = b"0123456789abcdef\"{}:,\n"[draws.below(22)];
            "one byte"
        }
        3 => {
            lines.swap(line, other);
            bytes = lines.concat();
            "two lines swapped"
        }
        4 => {
            lines.remove(line);
            bytes = lines.concat();
            "a line removed"
        }
        5 => {
            let repeated = lines[line].clone();
            lines.insert(other, repeated);
            bytes = lines.concat();
            "a line repeated"
        }
        6 => {
            bytes.drain(at..(at + 50).min(bytes.len()));
            "bytes removed"
        }
        _ => {
            let edited = String::from_utf8_lossy(&bytes).replace("rejected", "accepted");
            bytes = edited.replace("unsolvable", "accepted").into_bytes();
            "verdicts edited"
        }
    };
    fs::write(file, bytes).unwrap();
    format!("{what} of {}", file.strip_prefix(run).unwrap().display())
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn a_changed_run_gives_the_same_verdicts_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let original = record(&folder.path().join("runs"));
    let [unchanged, copy] =
        [&original, &folder.path().join("changed")].map(|path| path.display().to_string());
    let replayed = ran(["replay", &unchanged, "--json"]);
    let expected = verdicts(&serde_json::from_str(&replayed.stdout).unwrap());
    let mut draws = Draws(42);
    let (mut same, mut errors) = (0, 0);
    for _ in 0..40 {
        copy_folder(&original, Path::new(&copy));
        let what = change(Path::new(&copy), &mut draws);
        // Resume comes last, because it writes to the run.
        let calls =
            [vec!["replay", &copy], vec!["compare", &unchanged, &copy], vec!["run", "--resume", &copy]];
        for call in calls {
            let ended = ran(call.iter().chain(&["--json"]));
            assert!(ended.exit != 39 && !ended.stderr.contains("panicked"), "{what}: {ended:?}");
            let document: Option<Value> = serde_json::from_str(&ended.stdout).ok();
            match document {
                Some(document) if document["tasks"].is_array() => {
                    // A task that failed says so itself.
                    let found = verdicts(&document);
                    let agrees = |task: &String| {
                        found.get(task).is_some_and(|found| *found == expected[task] || found == "failed")
                    };
                    assert!(expected.keys().all(agrees), "{what}, {}: {found:?}", call[0]);
                    same += usize::from(found == expected);
                }
                Some(document) if call[0] == "compare" && (ended.exit == 0 || ended.exit == 20) => {
                    for side in ["only_a", "only_b"] {
                        assert_eq!(document["success"][side], 0, "{what}");
                    }
                }
                _ => {
                    assert!((30..39).contains(&ended.exit) && !ended.stderr.is_empty(), "{what}: {ended:?}");
                    errors += 1;
                }
            }
        }
        fs::remove_dir_all(&copy).unwrap();
    }
    assert!(same > 20 && errors > 5, "{same} with the same verdicts, {errors} errors");
}
