//! VAL's program `Parser` (Howey, Long and Fox 2004): the test-time-scaling paper's criterion of success.
//!
//! Its exit code is always 0. It prints the counts of errors and warnings on a line, and the parsed tree
//! before that line. A file with neither a domain nor a problem has no errors, so the tree is checked too.
//! Undeclared predicates and variables are warnings only: it accepts domains that no planner could use.

use crate::options::PlanVerifierOptions;
use crate::unplanned::count;
use crate::{codes, val};
use planforge_child::{Ending, Finished};
use planforge_contract::api::Host;
use planforge_contract::{Assessment, Decision, Failure, FailureClass, UndecidedReason};
use planforge_plugin_sdk::checked::Texts;
use serde_json::json;

/// Most of VAL's findings that are kept.
const MOST_FINDINGS: usize = 50;

/// The answer of VAL's Parser.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ParserAnswer {
    /// It read its files to the end.
    Read {
        /// Errors that it counted.
        errors: u32,
        /// Warnings that it counted.
        warnings: u32,
        /// True if it read a domain (and a problem, if one was given).
        whole: bool,
        /// Its findings, a line each, without the name of the folder.
        findings: Vec<String>,
    },
    /// A limit ended it.
    Limit(String),
}

/// Runs VAL's Parser on the candidate's texts.
///
/// # Errors
/// `verify.val`: VAL cannot be started; `verify.val-broke`: it ended without an answer; the run was
/// interrupted.
pub(crate) fn ask(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    texts: Texts<'_>,
) -> Result<ParserAnswer, Failure> {
    let there = [("domain.pddl", texts.domain), ("problem.pddl", texts.problem)];
    let files: Vec<(&str, &str)> = there.into_iter().filter_map(|(name, text)| Some((name, text?))).collect();
    let finished = val::run(
        &val::timer(host),
        &options.parser_command,
        "parser_command",
        options.val_time_limit_s,
        &files,
    )?;
    read(&finished, &files)
}

/// The assessment with VAL's decision in place of the own one, and both as metrics.
pub(crate) fn decide(own: Assessment, answer: ParserAnswer) -> Assessment {
    let figure = |yes: bool| if yes { 1.0 } else { 0.0 };
    let accepted = own.decision == Decision::Accepted;
    let mut assessment = own;
    assessment.metrics.insert("front_end_accepts".into(), figure(accepted));
    let (errors, warnings, whole, findings) = match answer {
        ParserAnswer::Limit(message) => {
            assessment.summary = format!("VAL could not decide: {message}. {}", assessment.summary);
            assessment.decision = Decision::Undecided { reason: UndecidedReason::Limit, message };
            return assessment;
        }
        ParserAnswer::Read { errors, warnings, whole, findings } => (errors, warnings, whole, findings),
    };
    let accepts = errors == 0 && whole;
    let said = match (accepts, whole) {
        (true, _) => "VAL's Parser accepts the PDDL".to_owned(),
        (false, true) => format!("VAL's Parser counts {}", count(errors as usize, "error")),
        (false, false) if errors == 0 => "VAL's Parser found no PDDL in a text".to_owned(),
        (false, false) => format!("VAL's Parser cannot read a text ({errors} errors)"),
    };
    let differs = if accepts == accepted { "" } else { " (planforge's own reader disagrees)" };
    assessment.summary = format!("{said}{differs}. {}", assessment.summary);
    assessment.decision = if accepts { Decision::Accepted } else { Decision::Rejected };
    if accepts {
        // Findings of planforge's reader are not feedback if VAL decides.
        assessment.feedback = Vec::new();
    } else if assessment.feedback.is_empty() && !findings.is_empty() {
        assessment.feedback = vec![format!("The PDDL was not accepted:\n{}", findings.join("\n"))];
    }
    assessment.metrics.insert("val_accepts".into(), figure(accepts));
    assessment.metrics.insert("val_errors".into(), f64::from(errors));
    assessment.metrics.insert("val_warnings".into(), f64::from(warnings));
    assessment.evidence =
        json!({ "val": { "errors": errors, "warnings": warnings, "findings": findings, "whole": whole } });
    assessment
}

fn read(finished: &Finished, files: &[(&str, &str)]) -> Result<ParserAnswer, Failure> {
    if let Ending::TimedOut(_) = &finished.ending {
        return Ok(ParserAnswer::Limit(finished.account()));
    }
    let text = String::from_utf8_lossy(&finished.output);
    let counts: Vec<(u32, u32)> = text.lines().filter_map(counts).collect();
    let ending = &finished.ending;
    let (true, false) = (*ending == Ending::Exited(0), counts.is_empty()) else {
        let said = if *ending == Ending::Exited(0) { "printed no count of errors" } else { "broke" };
        let message = format!("VAL's Parser {said}: it {}", finished.account());
        return Err(Failure::new(FailureClass::System, codes::VAL_BROKE, message));
    };
    let line = |what: &str| text.lines().any(|l| l.trim() == what);
    let tree = |(name, _): &(&str, &str)| line(if *name == "domain.pddl" { "(domain)" } else { "(problem)" });
    let findings = text.lines().map(str::trim).filter(|l| files.iter().any(|(name, _)| finding(l, name)));
    // The counts grow from file to file.
    let (errors, warnings) = counts.iter().fold((0, 0), |(e, w), c| (e.max(c.0), w.max(c.1)));
    Ok(ParserAnswer::Read {
        errors,
        warnings,
        whole: files.iter().all(tree),
        findings: findings.take(MOST_FINDINGS).map(str::to_owned).collect(),
    })
}

/// `Errors: 3, warnings: 1`.
fn counts(line: &str) -> Option<(u32, u32)> {
    let (errors, warnings) = line.trim().strip_prefix("Errors: ")?.split_once(", warnings: ")?;
    Some((errors.parse().ok()?, warnings.parse().ok()?))
}

/// `domain.pddl: line: 27: Error: Unreadable structure`.
fn finding(line: &str, file: &str) -> bool {
    let rest = line.strip_prefix(file).and_then(|rest| rest.strip_prefix(": line: "));
    rest.is_some_and(|rest| rest.contains(": Error:") || rest.contains(": Warning:"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const FILE: [(&str, &str); 1] = [("domain.pddl", "")];

    fn finished(ending: Ending, output: &str) -> Finished {
        Finished { ending, output: output.into(), error_tail: String::new(), wall: Duration::ZERO }
    }

    fn said(output: &str, files: &[(&str, &str)]) -> ParserAnswer {
        read(&finished(Ending::Exited(0), output), files).unwrap()
    }

    fn decided(answer: ParserAnswer) -> (Decision, f64, f64) {
        let decided = decide(Assessment::new(Decision::Rejected, "The PDDL has 1 error."), answer);
        let metric = |name: &str| decided.metrics.get(name).copied().unwrap_or(f64::NAN);
        (decided.decision.clone(), metric("val_accepts"), metric("front_end_accepts"))
    }

    #[test]
    fn a_domain_without_errors_is_accepted_and_warnings_are_counted() {
        let answer = said(
            "File: domain.pddl\n(domain)\nname: x\nErrors: 0, warnings: 1\ndomain.pddl: line: 1: Warning: Undeclared symbol: q\n",
            &FILE,
        );
        let findings = vec!["domain.pddl: line: 1: Warning: Undeclared symbol: q".to_owned()];
        assert_eq!(answer, ParserAnswer::Read { errors: 0, warnings: 1, whole: true, findings });
        assert_eq!(decided(answer), (Decision::Accepted, 1.0, 0.0));
    }

    #[test]
    fn no_errors_in_a_text_that_is_no_domain_accept_nothing() {
        for output in ["File: domain.pddl\n\nErrors: 0, warnings: 0\n", "(problem)\nErrors: 0, warnings: 3\n"]
        {
            assert_eq!(decided(said(output, &FILE)), (Decision::Rejected, 0.0, 0.0), "{output}");
        }
        let both = [("domain.pddl", ""), ("problem.pddl", "")];
        let halves = "(domain)\nErrors: 0, warnings: 0\nproblem.pddl: line: 2: Error: Syntax error\nErrors: 1, warnings: 0\n";
        assert_eq!(decided(said(halves, &both)).0, Decision::Rejected);
        assert_eq!(decided(said("(domain)\nErrors: 2, warnings: 0\n", &FILE)).0, Decision::Rejected);
    }

    #[test]
    fn a_crash_is_a_failure_and_a_limit_is_undecided() {
        for (ending, output) in [
            (Ending::Signal(11), "(domain)\nErrors: 0, warnings: 0\n"),
            (Ending::Exited(1), "(domain)\nErrors: 0, warnings: 0\n"),
            (Ending::Exited(0), "(domain)\n"),
        ] {
            assert_eq!(read(&finished(ending, output), &FILE).unwrap_err().code, "verify.val-broke");
        }
        let slow = read(&finished(Ending::TimedOut(Duration::from_secs(1)), ""), &FILE).unwrap();
        let (decision, val, own) = decided(slow);
        assert!(matches!(decision, Decision::Undecided { reason: UndecidedReason::Limit, .. }));
        assert!(val.is_nan() && own == 0.0);
    }
}
