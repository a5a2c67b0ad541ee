//! Calls about what the folder holds: tasks, runs, evaluations, and the page's first view of it.

use crate::answer::{Answer, bytes, set, with_body};
use crate::error::Refusal;
use crate::paths::ServedFolder;
use crate::state::{Call, State};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY};
use http_body_util::{BodyExt, Empty};
use planforge_app::models::{ModelOffer, offers};
use planforge_app::report::report;
use planforge_app::runs::survey::{Survey, survey};
use planforge_app::solve::{sentences_of, view};
use planforge_app::{Context, Error, SHIPPED_PIPELINES, demo};
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most pages of tasks that one call asks for.
const MAX_TASKS: usize = 100;

/// Contents of the first view of the page.
#[derive(Serialize)]
struct About {
    version: &'static str,
    folder: String,
    /// `loopback` or `network`.
    listen: &'static str,
    models: Vec<Model>,
    /// The reason why the user's own models are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    models_error: Option<String>,
    pipelines: Vec<Pipeline>,
    matrices: Vec<PathBuf>,
    suites: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Model {
    name: String,
    title: &'static str,
    kind: &'static str,
    has_key: bool,
}

#[derive(Serialize)]
struct Pipeline {
    path: String,
    title: String,
}

fn about(context: &Context, folder: &ServedFolder, is_network: bool) -> About {
    let (known, models_error) = match offers(context) {
        Ok(offers) => (offers, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let recorded = Model {
        name: "demo".to_owned(),
        title: "Recorded replies of the demo",
        kind: "recorded",
        has_key: true,
    };
    let offered = known.into_iter().map(|ModelOffer { name, has_key }| {
        let (title, kind) = match name.as_str() {
            "openai:" => ("OpenAI", "provider"),
            "anthropic:" => ("Anthropic", "provider"),
            "gemini:" => ("Google Gemini", "provider"),
            "local:" => ("A server on this machine", "provider"),
            _ => ("Your configuration", "own"),
        };
        Model { name, title, kind, has_key }
    });
    let Survey { pipelines, matrices, suites, .. } = survey(context, Path::new(""));
    let own =
        pipelines.into_iter().map(|one| Pipeline { path: one.path.display().to_string(), title: one.about });
    let shipped = SHIPPED_PIPELINES
        .iter()
        .map(|one| Pipeline { path: format!("shipped:{}", one.name), title: String::new() });
    About {
        version: env!("CARGO_PKG_VERSION"),
        folder: folder.root().display().to_string(),
        listen: if is_network { "network" } else { "loopback" },
        models: std::iter::once(recorded).chain(offered).collect(),
        models_error,
        pipelines: own.chain(shipped).collect(),
        matrices,
        suites,
    }
}

/// Answers a call that reads; `None` if it is another one.
pub(crate) async fn answer(state: &State, name: &[&str], call: &Call<'_>) -> Result<Option<Answer>, Refusal> {
    let answer = match name {
        ["about"] => {
            let (folder, is_network) = (Arc::clone(&state.folder), state.is_network);
            state.work(move |context| Ok(about(context, &folder, is_network))).await
        }
        ["demo-text"] => state.work(|_| Ok(json!({ "text": demo::TEXT }))).await,
        ["runs"] => {
            let folder = state.folder.listed(&call.query("folder").unwrap_or_default())?;
            state.work(move |context| Ok(survey(context, &folder))).await
        }
        ["solved"] => {
            let tasks = |context: &Context| Ok(json!({ "tasks": survey(context, Path::new("")).tasks }));
            state.work(tasks).await
        }
        ["report", "index"] => index(state, call).await,
        ["report", "tasks"] => task_pages(state, call).await,
        ["report", "chunk"] => chunk(state, call).await,
        ["solve"] => {
            let folder = place(state, call).await?;
            state.work(move |context| Ok(view(context, &folder)?)).await
        }
        ["solve", "text"] => {
            let folder = place(state, call).await?;
            state.work(move |context| Ok(json!({ "sentences": sentences_of(context, &folder)? }))).await
        }
        ["report"] => report_file(state, call).await,
        _ => return Ok(None),
    };
    answer.map(Some)
}

/// The folder that a call is about.
pub(crate) async fn place(state: &State, call: &Call<'_>) -> Result<PathBuf, Refusal> {
    let (folder, path) = (Arc::clone(&state.folder), call.required("path")?);
    state.compute(move |_| folder.existing(&path)).await
}

/// The runs and evaluations that a call is about.
async fn places(state: &State, call: &Call<'_>) -> Result<Vec<PathBuf>, Refusal> {
    let (folder, paths) = (Arc::clone(&state.folder), call.all("path"));
    if paths.is_empty() {
        return Err(Refusal::request("the query has no `path`"));
    }
    state.compute(move |_| paths.iter().map(|path| folder.existing(path)).collect()).await
}

/// The index of a report, or 304 if nothing has changed.
async fn index(state: &State, call: &Call<'_>) -> Result<Answer, Refusal> {
    let folders = places(state, call).await?;
    let (builds, looked_up) = (Arc::clone(&state.builds), folders.clone());
    let known = state.compute(move |context| Ok(builds.known(context, &looked_up).0)).await?;
    let build = match known {
        Some(build) => build,
        None => {
            let (builds, turn) = (Arc::clone(&state.builds), state.builds.reader(&folders).await?);
            state.compute(move |context| builds.of(context, folders, &turn)).await?
        }
    };
    if call.query("have").is_some_and(|have| have == build.number.to_string()) {
        return Ok(with_body(StatusCode::NOT_MODIFIED, "application/json", Empty::new().boxed()));
    }
    let document = format!("{{\"build\":{},\"index\":{}}}", build.number, build.contents.index());
    Ok(bytes(StatusCode::OK, "application/json", document))
}

/// The pages of tasks of a report, `from` to `to`, which are written now if they were not before.
async fn task_pages(state: &State, call: &Call<'_>) -> Result<Answer, Refusal> {
    let [number, run, from, to] = ["build", "run", "from", "to"].map(|name| {
        let number = call.required(name)?.parse::<u64>();
        number.map_err(|_| Refusal::request(format!("`{name}` is not a number")))
    });
    let (build, place) =
        (state.builds.get(number?)?, |number: u64| usize::try_from(number).unwrap_or(usize::MAX));
    let (run, from, to) = (place(run?), place(from?), place(to?));
    let tasks = from..to.min(from.saturating_add(MAX_TASKS));
    let written = move |_: &Context| {
        build.contents.task_pages(run, tasks)?.ok_or_else(|| Refusal::missing("the report has no such run"))
    };
    state.work(written).await
}

/// A chunk of a report.
async fn chunk(state: &State, call: &Call<'_>) -> Result<Answer, Refusal> {
    let number = call.required("build")?;
    let number = number.parse().map_err(|_| Refusal::request("`build` is not a number"))?;
    let (build, name) = (state.builds.get(number)?, call.required("name")?);
    let packed = state.compute(move |_| Ok(build.contents.chunk(&name)?)).await?;
    let packed = packed.ok_or_else(|| Refusal::missing("the report has no such chunk"))?;
    let mut answer = bytes(StatusCode::OK, "application/json", packed);
    set(&mut answer, CONTENT_ENCODING, "gzip");
    set(&mut answer, CACHE_CONTROL, "private, max-age=3600, immutable");
    Ok(answer)
}

/// The report of a run or an evaluation as a file.
async fn report_file(state: &State, call: &Call<'_>) -> Result<Answer, Refusal> {
    let paths = places(state, call).await?;
    let name = paths[0].file_name().map_or("report".into(), |name| name.to_string_lossy().into_owned());
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    let turn = state.builds.reader(&paths).await?;
    let written = state.compute(move |context| {
        let _turn = turn;
        let system = |error: std::io::Error| {
            Refusal::from(Error::usage(format!("the report cannot be written: {error}"), None))
        };
        let place = tempfile::tempdir().map_err(system)?;
        let out = place.path().join("report.html");
        report(context, &paths, &out)?;
        std::fs::read(&out).map_err(system)
    });
    let mut answer = bytes(StatusCode::OK, "text/html; charset=utf-8", written.await?);
    set(&mut answer, CONTENT_DISPOSITION, &format!("attachment; filename=\"{name}.html\""));
    // It is a page of its own once it is saved.
    set(&mut answer, CONTENT_SECURITY_POLICY, "sandbox");
    Ok(answer)
}
