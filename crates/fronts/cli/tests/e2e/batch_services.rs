//! `planforge batch` against scripted services: from a parked run to the verdicts of a direct run.

use super::batch::with_model;
use super::support::{Ran, example, example_text, fenced, files, planforge, right_reply, verdict};
use planforge_testkit::{BatchOutcome, BatchServer, Scripted, ScriptedServer};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const KEY: &str = "sk-scripted-0123456789";
const STEMS: [&str; 3] = ["p01", "p02", "p03"];

/// The reply to a question about a parcels task: right for p01 and p03.
fn outcome(body: &Value) -> BatchOutcome {
    let question = body.get("input").unwrap_or(&body["messages"]).to_string();
    let is_about = |stem: &&str| {
        let text = Value::from(example_text("parcels", &format!("{stem}.nl")).trim()).to_string();
        question.contains(text.trim_matches('"'))
    };
    match STEMS.into_iter().find(is_about) {
        Some("p02") => BatchOutcome::Reply("I cannot say.".to_owned()),
        Some(stem) => BatchOutcome::Reply(fenced(&example_text("parcels", &format!("{stem}.pddl")))),
        None => BatchOutcome::Error(400, "invalid_request_error".into(), "unknown task".into()),
    }
}

struct Place {
    folder: tempfile::TempDir,
    server: BatchServer,
}

impl Place {
    fn new() -> Self {
        let server = BatchServer::new(outcome).unwrap();
        server.require_key(KEY);
        Self { folder: tempfile::tempdir().unwrap(), server }
    }

    fn planforge(&self, args: &[&str]) -> Ran {
        let mut command = planforge();
        command.args(["--allow-host", &self.server.base_url()]);
        command.args(args).env("SCRIPTED_KEY", KEY).current_dir(self.folder.path());
        Ran::wait(command.spawn().unwrap())
    }

    /// Starts `llm-p` with this model table; returns its exit code.
    fn start(&self, table: &str, runs: &str) -> Ran {
        let file = with_model(self.folder.path(), "llm-p", &format!("{runs}.toml"), table);
        let tasks: Vec<String> =
            STEMS.iter().map(|stem| example("parcels", stem).display().to_string()).collect();
        let file = file.display().to_string();
        let mut args = vec!["run", &file, "--runs", runs, "--json"];
        tasks.iter().for_each(|task| args.extend(["--task", task]));
        self.planforge(&args)
    }

    fn run(&self, runs: &str) -> PathBuf {
        let entries = fs::read_dir(self.folder.path().join(runs)).unwrap();
        let folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders[0].clone()
    }

    fn batch(&self, command: &str, run: &Path, more: &[&str]) -> Ran {
        let mut args = vec!["batch", command, run.to_str().unwrap()];
        args.extend(more);
        self.planforge(&args)
    }

    fn table(&self, service: &str) -> String {
        format!(
            "use = \"provider-batch\"\nservice = \"{service}\"\nmodel = \"m\"\nmax_tokens = 2048\nbase_url = {:?}\napi_key_env = \"SCRIPTED_KEY\"\n",
            self.server.base_url()
        )
    }
}

fn verdicts(report: &Value) -> Vec<String> {
    (0..STEMS.len()).map(|task| verdict(report, task).to_owned()).collect()
}

#[test]
fn a_run_over_a_batch_service_has_the_verdicts_of_a_direct_run() {
    for (service, interface) in [("openai", "chat"), ("openai", "responses"), ("anthropic", "chat")] {
        let place = Place::new();
        place.server.end_after(2);
        let table = format!("{}interface = \"{interface}\"\n", place.table(service));
        place.start(&table, "runs").expect(26).says(&["planforge batch submit"]);
        let run = place.run("runs");
        place.batch("status", &run, &[]).expect(26).says(&["next: `planforge batch submit"]);
        let submitted = place.batch("submit", &run, &[]);
        submitted.expect(0).says(&["sending 3 requests", "planforge batch fetch"]);
        place.batch("submit", &run, &[]).expect(0);
        assert_eq!(place.server.batches(), 1, "a file is submitted once");
        let status = place.batch("status", &run, &["--json"]).json(26);
        let line = &status["batches"][0];
        assert_eq!((&line["service"], &line["batch"]), (&service.into(), &"batch_1".into()));
        assert_eq!(line["progress"]["status"], "in_progress");
        // Nothing has come yet: the run waits as before.
        place.batch("fetch", &run, &[]).expect(26);
        let fetched = place.batch("fetch", &run, &[]);
        fetched.expect(0).says(&["planforge run --resume"]);
        assert!(fetched.stdout.contains("3 replies"), "{}", fetched.stdout);
        let resumed = place.planforge(&["run", "--resume", run.to_str().unwrap(), "--json"]);

        let reply = |request: &planforge_testkit::ScriptedRequest| match outcome(&request.json()) {
            BatchOutcome::Reply(text) => Scripted::replies(&[&text]),
            _ => right_reply(request),
        };
        let direct = ScriptedServer::matching(reply).unwrap();
        let table = format!(
            "use = \"provider-openai\"\nmodel = \"m\"\nmax_tokens = 2048\nbase_url = {:?}\n",
            direct.base_url()
        );
        let direct = place.start(&table, "direct");
        assert_eq!(verdicts(&resumed.json(direct.exit)), verdicts(&direct.json(direct.exit)), "{service}");
        assert_eq!(verdicts(&direct.json(direct.exit))[0], "accepted");

        for file in files(&run) {
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(!text.contains("0123456789"), "{}", file.display());
        }
    }
}

#[test]
fn mistakes_are_named_before_anything_is_sent() {
    let place = Place::new();
    place.start(&place.table("openai"), "runs").expect(26);
    let run = place.run("runs");
    let allow = ["--allow-host", &place.server.base_url()];
    let mut command = planforge();
    command.args(allow).args(["batch", "submit"]).arg(&run);
    let ran = Ran::wait(command.spawn().unwrap());
    ran.expect(36).says(&["SCRIPTED_KEY is not set"]);
    command = planforge();
    command.args(allow).args(["batch", "submit"]).arg(&run).env("SCRIPTED_KEY", "sk-wrong-987654321");
    let ran = Ran::wait(command.spawn().unwrap());
    ran.expect(34).says(&["401", "check the key in SCRIPTED_KEY"]);
    assert!(!ran.stderr.contains("987654321"), "{}", ran.stderr);
    assert_eq!((place.server.batches(), place.server.requests().len()), (0, 1));

    let direct = ScriptedServer::matching(right_reply).unwrap();
    let table = format!("use = \"provider-openai\"\nmodel = \"m\"\nbase_url = {:?}\n", direct.base_url());
    place.start(&table, "direct");
    place.batch("status", &place.run("direct"), &[]).expect(31).says(&["no request waits", "provider-batch"]);
    place.batch("submit", place.folder.path(), &[]).expect(31).says(&["neither a run folder"]);
    // The key goes to no server that the user has not allowed.
    let elsewhere = place.table("openai").replace(&place.server.base_url(), "https://batch.example.org/v1");
    place.start(&elsewhere, "elsewhere").expect(30).says(&["--allow-host"]);
}

#[test]
fn an_evaluation_sends_the_files_of_all_its_cells() {
    let place = Place::new();
    let file = with_model(place.folder.path(), "llm-p", "batch.toml", &place.table("anthropic"));
    let suite = example("parcels", "").display().to_string();
    let evaluate = [
        "evaluate",
        "--suite",
        &suite,
        "--pipeline",
        file.to_str().unwrap(),
        "--seeds",
        "1-2",
        "--tasks",
        "2",
    ];
    place.planforge(&[&evaluate[..], &["--out", "out"]].concat()).expect(26);
    let out = place.folder.path().join("out");
    place.batch("submit", &out, &[]).expect(0);
    let fetched = place.batch("fetch", &out, &["--wait", "--json"]).json(0);
    assert_eq!(fetched["batches"][0]["results"]["replies"], 4);
    assert!(fetched["next"].as_str().unwrap().starts_with("planforge evaluate --resume --out"));
    let resumed = place.planforge(&["evaluate", "--resume", "--out", "out"]);
    assert_ne!(resumed.exit, 26, "{}", resumed.stderr);
}
