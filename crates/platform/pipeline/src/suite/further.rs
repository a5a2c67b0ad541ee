//! Further problems of a suite for verifiers that compare domains over several (`problems` of
//! `[environment]`).

use super::data::{Suite, SuiteTask};
use super::files::Folder;
use super::load::is_task;
use planforge_diagnostics::Diagnostic;

/// The first so many reference problems of the suite's folder that are not the task's, in order of their names. Tasks with domains of their
/// own have none: a problem belongs to the domain that it was written for.
///
/// # Errors
/// Files that cannot be read.
pub(crate) fn further_problems(
    suite: &Suite,
    task: &SuiteTask,
    count: usize,
) -> Result<Vec<String>, Box<Diagnostic>> {
    let mut problems = Vec::new();
    if count == 0 || task.reference_domain.is_some() {
        return Ok(problems);
    }
    let folder = Folder::open(&suite.folder)?;
    let names = folder.names()?;
    let others = names.iter().filter_map(|name| Some((name, name.strip_suffix(".pddl")?)));
    for (name, stem) in others.filter(|(_, stem)| is_task(stem) && *stem != task.stem) {
        if problems.len() == count {
            break;
        }
        if !names.contains(&format!("domain-{stem}.pddl")) {
            let Some(text) = folder.text(name)? else { continue };
            problems.push(match &suite.disguise {
                Some(disguise) => disguise.names.problem(&text).map_err(|why| {
                    let message = format!("suite `{}` cannot be renamed: {name}: {why}", suite.name);
                    Box::new(Diagnostic::error("suite.disguise", message))
                })?,
                None => text,
            });
        }
    }
    Ok(problems)
}
