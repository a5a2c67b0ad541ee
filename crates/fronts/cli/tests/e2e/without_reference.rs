//! Tasks without a reference: what each shipped pipeline does with them, in a table of docs/reference. A simulated model
//! answers: the noisy oracle without mistakes, and for plans and descriptions one fixed reply.

use super::support::{example, example_text, pipeline, ran, root, saying};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/reference/tasks-without-reference.md";
const PARTS: [&str; 4] = ["p_example.nl", "p_example.pddl", "p_example.lp", "p_example.sol"];

/// The files of each kind of task, from the suite `parcels`. A text alone says everything.
fn kinds() -> [(&'static str, Vec<&'static str>); 4] {
    let domain = vec!["p01.nl", "domain.nl", "domain.pddl"];
    let example = [domain.as_slice(), &PARTS].concat();
    let reference = [example.as_slice(), &["p01.pddl", "sentences.toml", "actions.toml"]].concat();
    [
        ("text", Vec::new()),
        ("text, domain", domain),
        ("text, domain, example", example),
        ("text, reference", reference),
    ]
}

const PLAN: &str = "(drive elm fir)\n(load parcel1 fir)\n(drive fir elm)\n(unload parcel1 elm)\n(drive elm fir)\n(drive fir oak)\n(load parcel2 oak)\n(drive oak fir)\n(drive fir elm)\n(unload parcel2 elm)";

/// The simulated model that writes the suite `parcels`.
fn oracle() -> String {
    let suite = example("parcels", "").display().to_string();
    format!("use = \"provider-noisy-oracle\"\nmodel = \"noisy-oracle\"\nsuites = [{suite:?}]\nerrors = 0\n")
}

/// The pipeline with a simulated model in the place of its own.
fn simulated(text: &str, server: &str) -> String {
    let (before, rest) = text.split_once("[llm.main]\n").unwrap();
    let (_, after) = rest.split_once("\n[").unwrap();
    let is_fixed = text.contains("planner-llm") || text.contains("translator-describe");
    let model = match is_fixed {
        true => format!("use = \"provider-openai\"\nmodel = \"fixed\"\nbase_url = {server:?}\n"),
        false => oracle(),
    };
    format!("{before}[llm.main]\n{model}\n[{after}")
        .replace("\"../../examples", &format!("\"{}/examples", root().display()))
}

fn whole_text() -> String {
    example_text("parcels", "domain.nl") + "\n" + &example_text("parcels", "p01.nl")
}

fn write_task(folder: &Path, files: &[&str]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("suite.toml"), "schema = 1\nname = \"parcels\"\n").unwrap();
    if files.is_empty() {
        fs::write(folder.join("p01.nl"), whole_text()).unwrap();
    }
    for file in files {
        fs::write(folder.join(file), example_text("parcels", file)).unwrap();
    }
}

/// One cell of the table, from the result of a run or the message of a refusal.
fn cell(stdout: &str) -> String {
    let result: Value = serde_json::from_str(stdout).unwrap();
    let found = result["diagnostics"].as_array().into_iter().flatten();
    if let Some(error) =
        found.filter(|one| one["severity"] == "error").find_map(|one| one["message"].as_str())
    {
        // "the pipeline is given the domain, and suite `parcels` has no domain.pddl"
        let part = error.split_once("is given ").and_then(|(_, rest)| rest.split_once(", and"));
        return part.map_or_else(|| error.to_owned(), |(part, _)| format!("refused: it needs {part}"));
    }
    let task = &result["tasks"][0];
    let mut cell = task["verdict"]["verdict"].as_str().unwrap_or("no verdict").to_owned();
    if cell == "failed" {
        let _ = write!(cell, " at `{}`", task["verdict"]["stage"].as_str().unwrap_or_default());
    }
    let list = |items: Vec<&str>| items.join(", ");
    let not_given: Vec<&str> =
        task["not_given"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let stages = task["stages"].as_array().into_iter().flatten();
    let skipped = stages.filter(|stage| !stage["outcomes"]["not-judged"].is_null());
    let skipped: Vec<&str> = skipped.filter_map(|stage| stage["label"].as_str()).collect();
    if !not_given.is_empty() {
        let _ = write!(cell, "; not given: {}", list(not_given));
    }
    if !skipped.is_empty() {
        let _ = write!(cell, "; skipped: {}", list(skipped));
    }
    cell
}

const HEAD: &str = "# Tasks without a reference

<!-- Generated: `UPDATE_PAGES=1 cargo test -p planforge-cli --test e2e without_reference`. Do not edit. -->

A task may be a text alone. A stage that needs the reference is then skipped, unless it has `required = true`. If no other stage objects, the task ends as
`planned` (its plan is valid in its own domain and problem) or `written` (PDDL without such a plan, or a plan without PDDL), exit code 0. It is `accepted` only by an
environment that needs no reference. The other verdicts are as for every task.

A pipeline does without the interface, the objects and the problem that its [given] names, and without `domain.nl`. It refuses a task without a domain if
the model writes only the problem or single actions of a described domain. Pipelines with `translator-edit` need the names of the actions: with a text alone they fail at that stage.
`accepted` in the last column means that every stage of the pipeline accepted; `solve` has no stage that reads the reference.

The table is about the task p01 of the suite `parcels`. A simulated model without mistakes writes the PDDL; pipelines in which a model plans by itself or describes
PDDL get one fixed plan as every reply.

";

#[test]
fn the_page_says_what_each_pipeline_does() {
    let server = saying(PLAN);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut page = HEAD.to_owned();
    let kinds = kinds();
    let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
    let _ = writeln!(page, "| pipeline | {} |\n|---|{}", names.join(" | "), "---|".repeat(names.len()));
    for (name, files) in &kinds {
        write_task(&path(name), files);
    }
    let mut pipelines: Vec<String> = fs::read_dir(pipeline(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".toml").to_owned())
        .collect();
    pipelines.sort();
    let mut planned_or_written = [0; 4];
    // The cells of a row, and the pipelines that have them.
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for name in &pipelines {
        let text = fs::read_to_string(pipeline(&format!("{name}.toml"))).unwrap();
        fs::write(path("pipeline.toml"), simulated(&text, &server.base_url())).unwrap();
        let mut cells = String::new();
        for ((kind, _), count) in kinds.iter().zip(&mut planned_or_written) {
            let (file, task, runs) = (path("pipeline.toml"), path(kind).join("p01"), path("runs"));
            let [file, task, runs] = [file, task, runs].map(|path| path.display().to_string());
            let ran = ran(["run", &file, "--task", &task, "--runs", &runs, "--json", "--jobs", "2"]);
            let cell = cell(&ran.stdout);
            *count += usize::from(ran.exit == 0);
            let _ = write!(cells, " {cell} |");
        }
        match rows.iter_mut().find(|(row, _)| *row == cells) {
            Some((_, pipelines)) => pipelines.push(format!("`{name}`")),
            None => rows.push((cells, vec![format!("`{name}`")])),
        }
    }
    for (cells, pipelines) in rows {
        let _ = writeln!(page, "| {} |{cells}", pipelines.join(", "));
    }
    let _ = writeln!(
        page,
        "\nExit code 0: {} of {} pipelines with a text alone, {} with text and domain, {} with an example too, {} with the reference.",
        planned_or_written[0],
        pipelines.len(),
        planned_or_written[1],
        planned_or_written[2],
        planned_or_written[3]
    );
    let written = root().join(PAGE);
    #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&written, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&written).unwrap_or_default() == page,
        "{PAGE} is stale: run `UPDATE_PAGES=1 cargo test -p planforge-cli --test e2e without_reference`"
    );
}
