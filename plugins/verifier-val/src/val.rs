//! The plan validator VAL (Howey, Long and Fox 2004) as a program, run on the candidate's files.
//!
//! Its exit code alone is not enough: it is 255 both for a damaged file and for an unknown action, and it
//! crashes on some inputs. A verdict counts only if exit code and text agree; everything else is undecided.

use crate::codes;
use crate::options::PlanVerifierOptions;
use planforge_child::{CommandSpec, Ending, Finished, Limits};
use planforge_contract::api::Host;
use planforge_contract::{Assessment, Decision, Failure, FailureClass, ProgressTimer, UndecidedReason};
use std::time::Duration;

/// Most that is read of what VAL prints.
const OUTPUT_BYTES: u64 = 8 << 20;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValAnswer {
    /// The plan is valid, with the value of the metric if VAL printed it.
    Valid(Option<f64>),
    /// The plan is invalid: why, in VAL's words.
    Invalid(String),
    /// Neither; the text explains why.
    Undecided(String),
}

/// Runs VAL on a plan. Of a task or plan with times, steps that interfere may be a thousandth apart, as for our own validator.
///
/// # Errors
/// VAL is not installed, the folder for its files cannot be used, or the run was interrupted.
pub(crate) fn ask(
    host: &dyn Host,
    options: &PlanVerifierOptions,
    domain: &str,
    problem: &str,
    plan: &str,
    has_times: bool,
) -> Result<ValAnswer, Failure> {
    let files = [("domain.pddl", domain), ("problem.pddl", problem), ("plan", plan)];
    let mut command = options.val_command.clone();
    if has_times {
        command.extend(["-t", "0.001"].map(str::to_owned));
    }
    Ok(read(&run(&timer(host), &command, "val_command", options.val_time_limit_s, &files)?))
}

/// The timer of a run of VAL.
pub(crate) fn timer(host: &dyn Host) -> ProgressTimer<'_> {
    ProgressTimer::new(host, "seconds of VAL")
}

/// Runs a program of VAL on files in a temporary folder. `option` names the option with its command.
///
/// # Errors
/// VAL is not installed, the folder for its files cannot be used, or the run was interrupted.
pub(crate) fn run(
    timer: &ProgressTimer<'_>,
    command: &[String],
    option: &str,
    limit_s: u32,
    files: &[(&str, &str)],
) -> Result<Finished, Failure> {
    let system = |e: std::io::Error| {
        Failure::new(FailureClass::System, codes::VAL, format!("the folder for VAL: {e}"))
    };
    let folder = tempfile::tempdir().map_err(system)?;
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).map_err(system)?;
    }
    let mut words = command.iter();
    let program = words.next().map_or("", String::as_str);
    let spec = CommandSpec::new(program)
        .arguments(words)
        .arguments(files.iter().map(|(name, _)| *name))
        .folder(folder.path());
    let wall = Duration::from_secs(u64::from(limit_s.max(1)));
    let wall = timer.host().remaining_ms().map_or(wall, |left| wall.min(Duration::from_millis(left)));
    let limits = Limits { wall: Some(wall), output_bytes: OUTPUT_BYTES, ..Limits::default() };
    let finished = planforge_child::run(&spec, &limits, &|| timer.is_cancelled());
    match &finished.ending {
        Ending::Cancelled => {
            Err(Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted"))
        }
        Ending::CouldNotStart(_) => {
            let message = format!("VAL {}", finished.ending);
            Err(Failure::new(FailureClass::System, codes::VAL, message).help(format!(
                "install VAL and set `{option} = [\"PATH/PROGRAM\"]`; `planforge doctor` says what is there"
            )))
        }
        _ => Ok(finished),
    }
}

/// The assessment with VAL's decision in place of the own one.
pub(crate) fn decide(own: Assessment, answer: ValAnswer) -> Assessment {
    let (decision, said) = match answer {
        ValAnswer::Valid(_) => (Decision::Accepted, "VAL accepts the plan".to_owned()),
        ValAnswer::Invalid(why) => (Decision::Rejected, why),
        ValAnswer::Undecided(why) => (
            Decision::Undecided { reason: UndecidedReason::Unsupported, message: why.clone() },
            format!("VAL could not decide: {why}"),
        ),
    };
    let differs = match &decision {
        Decision::Undecided { .. } => "",
        _ if decision == own.decision => "",
        _ => " (the own validator disagrees)",
    };
    let summary = format!("{said}{differs}. {}", own.summary);
    // Findings of planforge's validator are not feedback on a plan that VAL accepts.
    let feedback = if decision == Decision::Accepted { Vec::new() } else { own.feedback };
    Assessment { decision, summary, feedback, ..own }
}

/// The verdict, where exit code and text agree on one.
fn read(finished: &Finished) -> ValAnswer {
    let text = String::from_utf8_lossy(&finished.output);
    let line = |what: &str| text.lines().any(|l| l.trim() == what);
    let valid = line("Plan valid") && text.contains("Successful plans:") && !text.contains("Failed plans:");
    let invalid = text.contains("Failed plans:") && !text.contains("Successful plans:");
    match &finished.ending {
        Ending::Exited(0) if valid => ValAnswer::Valid(value(&text)),
        Ending::Exited(1) if invalid => ValAnswer::Invalid(reason(&text)),
        _ => {
            let said: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            let said = match said.get(said.len().saturating_sub(3)..) {
                Some(lines) if !lines.is_empty() => format!("; it printed: {}", lines.join(" | ")),
                _ => String::new(),
            };
            ValAnswer::Undecided(format!("VAL {}{said}", finished.account()))
        }
    }
}

fn value(text: &str) -> Option<f64> {
    text.lines().find_map(|l| l.trim().strip_prefix("Final value:")?.trim().parse().ok())
}

fn reason(text: &str) -> String {
    let known = ["Goal not satisfied", "Plan failed to execute"];
    let found = known.into_iter().find(|phrase| text.contains(phrase));
    found.map_or_else(|| "VAL says that the plan failed".to_owned(), |phrase| format!("VAL says: {phrase}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planforge_plugin_sdk::testing::TestHost;
    use std::time::Instant;

    fn finished(ending: Ending, output: &str) -> Finished {
        Finished { ending, output: output.into(), error_tail: String::new(), wall: Duration::ZERO }
    }

    const GOOD: &str = "Checking plan: plan\nPlan executed successfully - checking goal\nPlan valid\nFinal value: 6 \n\n\
Successful plans:\nValue: 6\n plan 6 \n\n";
    const BAD: &str = "Checking plan: plan\nGoal not satisfied\nPlan invalid\n\nFailed plans:\n plan \n";

    #[test]
    fn a_verdict_needs_code_and_text() {
        assert_eq!(read(&finished(Ending::Exited(0), GOOD)), ValAnswer::Valid(Some(6.0)));
        assert_eq!(
            read(&finished(Ending::Exited(1), BAD)),
            ValAnswer::Invalid("VAL says: Goal not satisfied".into())
        );
        let undecided = |ending, output: &str| match read(&finished(ending, output)) {
            ValAnswer::Undecided(why) => why,
            other => panic!("{other:?}"),
        };
        undecided(Ending::Exited(0), BAD);
        undecided(Ending::Exited(1), GOOD);
        undecided(Ending::Exited(0), &format!("{GOOD}{BAD}"));
        assert!(undecided(Ending::Signal(11), "").contains("signal 11"));
        assert!(undecided(Ending::Exited(255), "Error: Bad operator in plan!\n").contains("Bad operator"));
        undecided(Ending::TimedOut(Duration::from_secs(1)), GOOD);
    }

    #[test]
    fn a_running_program_is_progress() {
        let host = TestHost::new().cancel_at_progress();
        let hour_ago = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        let timer = ProgressTimer::since(&host, "seconds of VAL", hour_ago);
        // The program does not end by itself: the report interrupts it.
        let command = ["sh", "-c", "exec sleep 3600"].map(str::to_owned);
        let failure = run(&timer, &command, "val_command", 3600, &[]).unwrap_err();
        assert_eq!(failure.code, codes::CANCELLED);
        assert!(host.progress_reports()[0].0 >= 3600);
    }
}
