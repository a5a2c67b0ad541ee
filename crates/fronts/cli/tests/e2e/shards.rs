//! One evaluation in several processes: shards into one folder, `planforge evaluate merge`, and the scripts for Slurm and HyperQueue.

use super::matrix::Place;
use super::support::{Ran, planforge, ran, root};
use planforge_testkit::survival::results;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The files with tables, without seconds, which differ between executions.
fn tables(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = results(out).unwrap();
    files.retain(|name, _| !name.contains('/'));
    files
}

fn merged(out: &Path, args: &[&str]) -> Ran {
    let out = out.display().to_string();
    ran(["evaluate", "merge", &out].iter().chain(args))
}

/// The same matrix in one process. The folder has the same place in the tree, so that paths are the same.
fn in_one_go(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let sharded = place.path("sharded");
    fs::rename(place.path("out"), &sharded).unwrap();
    place.evaluate(&["--matrix", &place.matrix()]).expect(0);
    let found = tables(&place.path("out"));
    fs::remove_dir_all(place.path("out")).unwrap();
    fs::rename(sharded, place.path("out")).unwrap();
    found
}

#[test]
fn parallel_shards_give_the_tables_of_one_evaluation() {
    let place = Place::with_tasks(1);
    let out = place.path("out");
    let start = |part: u32| {
        let mut command = planforge();
        command.arg("evaluate").arg("--matrix").arg(place.matrix()).arg("--out").arg(&out);
        command.args(["--shard", &format!("{part}/3")]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    // All of them in a folder that is not there yet.
    let children: Vec<_> = (1..=3).map(start).collect();
    for child in children {
        Ran::wait(child).expect(0).says(&["`planforge evaluate merge"]);
    }
    assert!(
        !out.join("evaluation.json").exists() && !out.join("tasks.jsonl").exists(),
        "shards write no table"
    );
    merged(&out, &[]).expect(0);
    assert_eq!(tables(&out), in_one_go(&place));
}

#[test]
fn missing_cells_are_listed_and_another_matrix_is_refused() {
    let place = Place::with_tasks(2);
    let out = place.path("out");
    place.evaluate(&["--matrix", &place.matrix(), "--shard", "1/2"]).expect(0);
    // Matrix order is suite, pipeline, model, seed: the first shard has seed 7 of every column.
    assert!(out.join("cells/garden/one@right/7/report.json").exists());
    assert!(!out.join("cells/garden/one@right/8").exists());
    place
        .evaluate(&["--matrix", &place.matrix(), "--shard", "1/2"])
        .expect(30)
        .says(&["already exists", "--resume --shard 1/2"]);
    let part = merged(&out, &[]);
    part.expect(29).says(&["4 of 8 cells are missing or unfinished", "garden one@right 8"]);
    assert!(part.stdout.contains("1.00? / - (2o)") || part.stdout.contains("(2o)"), "{}", part.stdout);

    let text = fs::read_to_string(place.path("matrix.toml")).unwrap();
    fs::write(place.path("other.toml"), text.replace("\"7-8\"", "\"7-9\"")).unwrap();
    let other = place.path("other.toml").display().to_string();
    place
        .evaluate(&["--matrix", &other, "--shard", "2/2"])
        .expect(30)
        .says(&["evaluate.other", "is another matrix: the seeds differ"]);
    // Without a matrix a shard takes the one that is there.
    place.evaluate(&["--shard", "2/2"]).expect(0);
    merged(&out, &[]).expect(0);
    // Verdicts count here as they do in `evaluate`: the model that is wrong solves nothing.
    merged(&out, &["--fail-on", "negative"]).expect(10);
}

#[test]
fn parts_in_several_folders_are_merged() {
    let place = Place::with_tasks(1);
    let part = |number: u32, name: &str| {
        let out = place.path(name).display().to_string();
        ran(["evaluate", "--out", &out, "--matrix", &place.matrix(), "--shard", &format!("{number}/2")])
            .expect(0);
        out
    };
    let (a, b) = (part(1, "a"), part(2, "b"));
    let into = place.path("out").display().to_string();
    ran(["evaluate", "merge", &a, &b]).expect(30).says(&["--into"]);
    ran(["evaluate", "merge", &a, &b, "--into", &into]).expect(0);
    // Once more changes nothing.
    ran(["evaluate", "merge", &a, &b, "--into", &into]).expect(0);
    assert_eq!(tables(&place.path("out")), in_one_go(&place));
    // The same cell with another result is refused, whether the journal has the hash of its report or is older.
    let cell = place.path("a").join("cells/garden/one@right/7");
    let text = fs::read_to_string(cell.join("report.json")).unwrap();
    fs::write(cell.join("report.json"), text.replace("accepted", "rejected")).unwrap();
    ran(["evaluate", "merge", &a, &b, "--into", &into]).expect(31).says(&["record.report-changed"]);
    for file in fs::read_dir(cell.join("events")).unwrap() {
        let path = file.unwrap().path();
        let events = fs::read_to_string(&path).unwrap();
        let older: String =
            events.split_inclusive('\n').filter(|line| !line.contains("report-saved")).collect();
        fs::write(path, older).unwrap();
    }
    ran(["evaluate", "merge", &a, &b, "--into", &into])
        .expect(30)
        .says(&["evaluate.twice", "different results"]);
}

fn slurm_script() -> PathBuf {
    root().join("examples/slurm/evaluate.sbatch")
}

#[test]
fn the_slurm_array_script_runs_every_part_and_can_run_twice() {
    let place = Place::with_tasks(1);
    let run = |task: u32| {
        let status = Command::new("bash")
            .arg(slurm_script())
            .arg(place.matrix())
            .arg(place.path("out"))
            .args(["--cells", "2"])
            .env("PLANFORGE", env!("CARGO_BIN_EXE_planforge"))
            .env("SLURM_ARRAY_TASK_ID", task.to_string())
            .env("SLURM_ARRAY_TASK_COUNT", "3")
            .env("SLURM_ARRAY_TASK_MIN", "0")
            .env("SLURM_ARRAY_TASK_MAX", "2")
            .output()
            .unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    };
    for task in [2, 0, 0, 1, 2] {
        run(task);
    }
    merged(&place.path("out"), &[]).expect(0);
    assert_eq!(tables(&place.path("out")), in_one_go(&place));
    // Outside an array it says what is missing.
    let alone = Command::new("bash")
        .arg(slurm_script())
        .arg(place.matrix())
        .arg(place.path("out"))
        .env_remove("SLURM_ARRAY_TASK_ID")
        .output()
        .unwrap();
    assert!(!alone.status.success());
    assert!(String::from_utf8_lossy(&alone.stderr).contains("--array"), "{alone:?}");
}

/// A stand-in for HyperQueue: its `submit` runs the tasks of the array one after the other. The first time, task 2 finds its cell locked, as
/// after a lost worker whose task is still ending.
const FAKE_HQ: &str = r#"#!/usr/bin/env bash
while [ "$1" != -- ]; do
    case $1 in
        --array) tasks=${2//,/ } ;;
        --stderr) log=$2 ;;
    esac
    shift
done
shift
for task in $tasks; do
    echo "$task" >>"$0.tasks"
    own=${log//%\{TASK_ID\}/$task}
    if [ "$task" = 2 ] && [ ! -e "$own" ]; then
        echo "error[record.locked]" >"$own"
        failed=1
        continue
    fi
    HQ_TASK_ID=$task "$@" 2>"$own" || failed=1
done
exit ${failed:-0}
"#;

#[test]
fn the_hyperqueue_script_runs_every_shard_repeats_locked_ones_and_merges() {
    let place = Place::with_tasks(1);
    let hq = place.path("fake-hq");
    fs::write(&hq, FAKE_HQ).unwrap();
    fs::set_permissions(&hq, PermissionsExt::from_mode(0o755)).unwrap();
    let script = |shards: &str| {
        Command::new("python3")
            .arg(root().join("examples/hyperqueue/evaluate.py"))
            .arg(place.matrix())
            .arg(place.path("out"))
            .args(["--shards", shards, "--cells", "2"])
            .env("HQ", &hq)
            .env("PLANFORGE", env!("CARGO_BIN_EXE_planforge"))
            .output()
            .unwrap()
    };
    let done = script("3");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read_to_string(place.path("fake-hq.tasks")).unwrap(), "1\n2\n3\n2\n");
    assert_eq!(tables(&place.path("out")), in_one_go(&place));
    // A task that fails shows in the exit code, and where its message is.
    fs::write(place.path("out/matrix.json"), "{").unwrap();
    let failed = script("1");
    assert!(!failed.status.success());
    assert!(String::from_utf8_lossy(&failed.stderr).contains("out/shards"), "{failed:?}");
}
