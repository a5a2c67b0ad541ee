//! The problem inferred from a representation, compared with the reference.

use super::infer;
use super::tasks::TextTask;
use planforge_diagnostics::SourceId;
use planforge_planning::Unlimited;
use planforge_planning::equivalence::{ProblemDifference, ProblemEquivalence, equivalent_problems};
use std::fmt;
use std::path::Path;

/// Pairs of objects that a comparison may try; the tasks need a few hundred.
const MAX_CHOICES: u64 = 1_000_000;

/// The outcome of a task.
pub(crate) enum Outcome {
    /// The same problem but for names.
    Equivalent {
        /// Objects whose names differ by more than a hyphen: ours, the reference's.
        renamed: Vec<(String, String)>,
    },
    Different(ProblemDifference),
    /// The comparison ended at its limit.
    Undecided,
    /// Sentences that no pattern reads.
    NotConverted(Vec<String>),
    /// Inference or compilation refused.
    Refused(Vec<String>),
}

impl Outcome {
    /// True if the problems are equivalent.
    pub(crate) fn is_equivalent(&self) -> bool {
        matches!(self, Self::Equivalent { .. })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equivalent { renamed } if renamed.is_empty() => write!(f, "equivalent"),
            Self::Equivalent { renamed } => {
                write!(f, "equivalent, {} objects named otherwise", renamed.len())
            }
            Self::Different(difference) => write!(f, "different: {}", describe_difference(difference)),
            Self::Undecided => write!(f, "comparison undecided at its limit"),
            Self::NotConverted(problems) => write!(f, "not converted: {}", problems.join("; ")),
            Self::Refused(messages) => write!(f, "refused: {}", messages.join("; ")),
        }
    }
}

/// A difference in few words: ours is the first problem, the reference the second.
fn describe_difference(difference: &ProblemDifference) -> String {
    difference.summary(["too many objects", "missing objects", "too many facts", "missing facts"])
}

/// Infers, compiles and compares; the problem is kept in the folder, if one is given.
///
/// # Errors
/// A reference that cannot be read, a problem that cannot be kept, a reasoner that broke.
pub(crate) fn of(task: &TextTask, ir: &str, keep: Option<&Path>) -> Result<Outcome, String> {
    let problem = match infer::problem(&task.domain, &task.knowledge, ir)? {
        Ok(problem) => problem,
        Err(messages) => return Ok(Outcome::Refused(messages)),
    };
    if let Some(folder) = keep {
        let path = folder.join(format!("{}.pddl", task.stem));
        std::fs::write(&path, &problem).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(compare(&task.domain, &problem, &task.problem))
}

pub(crate) fn compare(domain: &str, ours: &str, reference: &str) -> Outcome {
    let domain = planforge_pddl::parse_domain(domain, SourceId(0)).value;
    let ours = planforge_pddl::parse_problem(ours, SourceId(1)).value;
    let reference = planforge_pddl::parse_problem(reference, SourceId(2)).value;
    match equivalent_problems(&domain, &ours, &reference, MAX_CHOICES, &mut Unlimited) {
        ProblemEquivalence::Equal { mut renaming } => {
            renaming.retain(|(a, b)| *a != b.replace('-', "_"));
            Outcome::Equivalent { renamed: renaming }
        }
        ProblemEquivalence::Different(difference) => Outcome::Different(difference),
        ProblemEquivalence::Undecided { .. } => Outcome::Undecided,
    }
}

/// True if two representations give the same problem with the same names.
///
/// # Errors
/// The reasoner failed.
pub(crate) fn same_names(task: &TextTask, first: &str, second: &str) -> Result<bool, String> {
    let sorted = |ir: &str| -> Result<Vec<String>, String> {
        let problem = infer::problem(&task.domain, &task.knowledge, ir)?.map_err(|m| m.join("; "))?;
        let mut lines: Vec<String> = problem.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        Ok(lines)
    };
    Ok(sorted(first)? == sorted(second)?)
}
