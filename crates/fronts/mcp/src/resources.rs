//! Resources: pipelines, reports of runs (kept for the connection), and suites and recorded runs under the client's roots.

use crate::answers::wrong_arguments;
use crate::folders::folders_with;
use crate::roots::{Roots, suite_answer};
use planforge_app::contract::Failure;
use planforge_app::{Context, SHIPPED_PIPELINES};
use rmcp::model::{Resource, ResourceContents};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

const PIPELINES: &str = "planforge://pipelines/";
const SUITES: &str = "planforge://suites";
const RECORDED: &str = "planforge://recorded-runs";

/// Largest report of a recorded run that is read.
const MOST_REPORT_BYTES: u64 = 16 << 20;

/// Lists all resources.
pub(crate) fn list(reports: &Reports, roots: &Roots) -> Vec<Resource> {
    let pipelines = SHIPPED_PIPELINES.iter().map(|pipeline| {
        let about = about(pipeline.text);
        Resource::new(format!("{PIPELINES}{}", pipeline.name), pipeline.name)
            .with_description(about)
            .with_mime_type("application/toml")
    });
    let kept = reports.uris().into_iter().map(|uri| {
        let name = format!("run {}", uri.trim_start_matches(REPORTS));
        Resource::new(uri, name)
            .with_description("Report of a run of this session")
            .with_mime_type("application/json")
    });
    let below = |file: &'static str, base: &'static str, description: &'static str| {
        let found = roots.folders().iter().flat_map(move |root| folders_with(root, file));
        found.map(move |folder| {
            let place = folder.display().to_string();
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            Resource::new(format!("{base}{place}"), name)
                .with_description(description)
                .with_mime_type("application/json")
        })
    };
    let suites = below("domain.nl", SUITES, "A suite: its domain and tasks in plain language");
    let runs = below("report.json", RECORDED, "Report of a recorded run");
    pipelines.chain(kept).chain(suites).chain(runs).collect()
}

/// The one line about a pipeline, from its `about` key.
fn about(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("about = "));
    line.unwrap_or_default().trim().trim_matches('"').to_owned()
}

/// Reads a resource.
///
/// # Errors
/// `mcp.arguments`: there is none of this URI. `mcp.file`: it is not under a root.
pub(crate) fn read(
    context: &Context,
    reports: &Reports,
    roots: impl FnOnce() -> Result<Roots, Failure>,
    uri: &str,
) -> Result<ResourceContents, Failure> {
    let unknown = || wrong_arguments(format!("there is no resource `{uri}`"));
    if let Some(name) = uri.strip_prefix(PIPELINES) {
        let found = SHIPPED_PIPELINES.iter().find(|pipeline| pipeline.name == name).ok_or_else(unknown)?;
        return Ok(ResourceContents::text(found.text, uri).with_mime_type("application/toml"));
    }
    let json = |text: String| ResourceContents::text(text, uri).with_mime_type("application/json");
    if let Some(number) = uri.strip_prefix(REPORTS) {
        return reports.get(number).map(json).ok_or_else(unknown);
    }
    if let Some(folder) = uri.strip_prefix(SUITES) {
        let suite = suite_answer(context, &roots()?, folder)?;
        return serde_json::to_string_pretty(&suite).map(json).map_err(|_| unknown());
    }
    if let Some(folder) = uri.strip_prefix(RECORDED) {
        let bytes = roots()?.read(&format!("{folder}/report.json"), MOST_REPORT_BYTES)?;
        return String::from_utf8(bytes).map(json).map_err(|_| unknown());
    }
    Err(unknown())
}

/// Most reports that are kept.
const MOST_REPORTS: usize = 20;

/// The URI of reports, before their number.
pub(crate) const REPORTS: &str = "planforge://runs/";

/// The newest reports, with their numbers.
#[derive(Debug, Default)]
pub(crate) struct Reports(Mutex<(u64, VecDeque<(u64, String)>)>);

impl Reports {
    /// Keeps a report and returns its URI.
    pub(crate) fn add(&self, text: String) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0 += 1;
        let number = kept.0;
        kept.1.push_back((number, text));
        if kept.1.len() > MOST_REPORTS {
            kept.1.pop_front();
        }
        format!("{REPORTS}{number}")
    }

    /// The URIs of the kept reports, oldest first.
    pub(crate) fn uris(&self) -> Vec<String> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1.iter().map(|(number, _)| format!("{REPORTS}{number}")).collect()
    }

    /// A report by its number in text.
    pub(crate) fn get(&self, number: &str) -> Option<String> {
        let number: u64 = number.parse().ok()?;
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.1.iter().find(|(kept, _)| *kept == number).map(|(_, text)| text.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_reports_are_kept() {
        let reports = Reports::default();
        let uris: Vec<String> = (0..25).map(|n| reports.add(n.to_string())).collect();
        assert_eq!(reports.uris(), uris[5..]);
        assert_eq!(reports.get("25").as_deref(), Some("24"));
        assert_eq!(reports.get("1"), None);
        assert_eq!(reports.get("x"), None);
    }
}
