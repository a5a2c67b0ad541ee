//! The template files of a suite (exploration-walk paper, Listings 4 and 6): what `[given] interface` and `objects` show.

use planforge_diagnostics::SourceId;
use planforge_pddl::{domain_template, parse_domain, parse_problem, problem_template};
use planforge_pipeline::Suite;

/// File names and texts of the templates of a suite: `domain_template.pddl`, and `STEM_template.pddl` for each task and the
/// in-context example that have a reference.
pub fn templates(suite: &Suite) -> Vec<(String, String)> {
    let domain =
        suite.reference_domain.as_deref().map(|text| ("domain_template.pddl".to_owned(), of_domain(text)));
    let example = suite.example.as_ref().and_then(|e| e.problem.as_deref()).map(|text| ("p_example", text));
    let tasks = suite.tasks.iter().filter_map(|t| Some((t.stem.as_str(), t.reference_problem.as_deref()?)));
    let problems = tasks.chain(example).map(|(stem, text)| (problem_file(stem), of_problem(text)));
    domain.into_iter().chain(problems).collect()
}

/// The name of a task's template file.
pub fn problem_file(stem: &str) -> String {
    format!("{stem}_template.pddl")
}

/// The template of a domain text, as a file.
pub fn of_domain(domain: &str) -> String {
    domain_template(&parse_domain(domain, SourceId(0)).value) + "\n"
}

/// The template of a problem text, as a file.
pub fn of_problem(problem: &str) -> String {
    problem_template(&parse_problem(problem, SourceId(0)).value) + "\n"
}
