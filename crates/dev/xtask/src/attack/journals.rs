//! Runs whose files were changed: replay, resume and compare give the same verdicts or say what is wrong.

use super::{Context, Ended, Row, output_of_planforge};
use planforge_pddl::random::Random;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Changed runs at scale 1.
const RUNS: usize = 200;

/// Verdict of each task, by name.
type Verdicts = BTreeMap<String, String>;

pub(crate) fn run(context: &Context) -> Result<Row, String> {
    let mut row = Row::default();
    let original = record(context)?;
    let Answer::Verdicts(expected) = answer(context, &["replay", &text(&original), "--json"])? else {
        return Err("the original run cannot be replayed".to_owned());
    };
    for number in 0..context.scaled(RUNS) {
        let seed = context.seed.wrapping_mul(1_000_003) + number as u64;
        let mut random = Random::stream(seed, 0x70_0B);
        let copy = context.scratch.join("tampered");
        let io = |e: std::io::Error| format!("{}: {e}", copy.display());
        copy_folder(&original, &copy).map_err(io)?;
        let what = tamper(&copy, &mut random).map_err(io)?;
        let (unchanged, changed) = (text(&original), text(&copy));
        let calls = [
            vec!["replay", &changed, "--json"],
            vec!["compare", &unchanged, &changed, "--json"],
            // Last, because it writes to the run.
            vec!["run", "--resume", &changed, "--json"],
        ];
        for call in calls {
            let mut differences = Vec::new();
            match answer(context, &call)? {
                Answer::Error => row.count("clear errors"),
                Answer::Bad(what) => differences.push(what),
                Answer::Verdicts(found) => {
                    row.count(if found == expected { "the same verdicts" } else { "failed tasks" });
                    differences.extend(changed_verdicts(&expected, &found));
                }
                Answer::Comparison { changed } => {
                    row.count("comparisons");
                    if changed {
                        differences.push("another result of a task in the comparison".to_owned());
                    }
                }
            }
            row.record(&format!("seed {seed}, {what}, {}", call[0]), &differences);
        }
        fs::remove_dir_all(&copy).map_err(io)?;
    }
    Ok(row)
}

enum Answer {
    Verdicts(Verdicts),
    /// True if a task that is decided on both sides is solved on one side only.
    Comparison {
        changed: bool,
    },
    /// A failure with an exit code of the table and a message.
    Error,
    /// A signal, a hang, a bug, or a failure without a message.
    Bad(String),
}

/// Tasks whose verdict changed without an error. A task that failed says so itself.
fn changed_verdicts(expected: &Verdicts, found: &Verdicts) -> Vec<String> {
    let changed = expected.iter().filter_map(|(task, verdict)| match found.get(task) {
        Some(found) if found == verdict || found == "failed" => None,
        found => Some(format!("{task}: {verdict} became {found:?}")),
    });
    changed.collect()
}

fn answer(context: &Context, args: &[&str]) -> Result<Answer, String> {
    let (ended, stdout) = output_of_planforge(context, args)?;
    let (code, stderr) = match ended {
        Ended::Code(code, stderr) => (code, stderr),
        Ended::Signal => return Ok(Answer::Bad("ended by a signal".to_owned())),
        Ended::TooLate => return Ok(Answer::Bad("did not end".to_owned())),
    };
    let document: Option<Value> = serde_json::from_str(&stdout).ok();
    Ok(match document {
        _ if code == 39 || stderr.contains("panicked") => Answer::Bad(format!("exit code {code}: {stderr}")),
        Some(document) if document.get("tasks").is_some_and(Value::is_array) => {
            Answer::Verdicts(verdicts(&document))
        }
        Some(document) if args[0] == "compare" && (code == 0 || code == 20) => {
            let success = &document["success"];
            Answer::Comparison { changed: ["only_a", "only_b"].iter().any(|side| success[*side] != 0) }
        }
        _ if (30..39).contains(&code) && !stderr.is_empty() => Answer::Error,
        _ => Answer::Bad(format!("exit code {code} and no message: {stderr}")),
    })
}

fn verdicts(document: &Value) -> Verdicts {
    let tasks = document["tasks"].as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    tasks.map(|task| (text(&task["task"]), text(&task["verdict"]["verdict"]))).collect()
}

/// A run of the demo's replies: accepted, rejected and unsolvable tasks.
fn record(context: &Context) -> Result<PathBuf, String> {
    let runs = context.scratch.join("runs");
    let root = context.suites.join("../..");
    let [pipeline, cassette] =
        ["configs/pipelines/llm-p.toml", "examples/demo/llm-p.jsonl"].map(|path| text(&root.join(path)));
    let suites = ["parcels", "garden"].map(|suite| text(&context.suites.join(suite)));
    let runs_text = text(&runs);
    let args = [
        "run",
        &pipeline,
        "--suite",
        &suites[0],
        "--suite",
        &suites[1],
        "--replay",
        &cassette,
        "--runs",
        &runs_text,
        "--json",
        "--set",
        "llm.main.max_attempts=1",
        "--set",
        "llm.main.base_url=http://127.0.0.1:9/v1",
    ];
    let (ended, _) = output_of_planforge(context, &args)?;
    if let Ended::Code(code, stderr) = ended
        && code > 10
    {
        return Err(format!("the original run ends with {code}: {stderr}"));
    }
    let mut entries = fs::read_dir(&runs).map_err(|e| format!("{}: {e}", runs.display()))?;
    let first = entries.find_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir()));
    first.ok_or_else(|| "the original run left no folder".to_owned())
}

/// Changes the journal, or now and then another file of the run, and says how.
fn tamper(run: &Path, random: &mut Random) -> std::io::Result<String> {
    let events: Vec<PathBuf> = files(&run.join("events"))?;
    let others: Vec<PathBuf> =
        [files(&run.join("blobs"))?, vec![run.join("run.json"), run.join("report.json")]].concat();
    let others: Vec<PathBuf> = others.into_iter().filter(|path| path.is_file()).collect();
    let of_journal = random.chance(0.75);
    let Some(file) = random.pick(if of_journal { &events } else { &others }) else {
        return Ok("nothing to change".to_owned());
    };
    let mut bytes = fs::read(file)?;
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
    let at = random.below(bytes.len() as u64) as usize;
    let (line, other) =
        (random.below(lines.len() as u64) as usize, random.below(lines.len() as u64) as usize);
    let what = match random.below(8) {
        0 => {
            bytes.truncate(at);
            "truncated"
        }
        1 => {
            bytes[at] ^= 1 << random.below(8);
            "one bit"
        }
        2 => {
            bytes[at] = b"0123456789abcdef\"{}:,\n"[random.below(22) as usize];
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
    fs::write(file, bytes)?;
    let name = file.strip_prefix(run).unwrap_or(file).display().to_string();
    Ok(format!("{what} of {}", name.chars().take(24).collect::<String>()))
}

fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.is_file());
    paths.sort();
    Ok(paths)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn text(path: &Path) -> String {
    path.display().to_string()
}
