//! Exit codes: the status of a use case as the process ends with it.

use planforge_app::STATUSES;
pub(crate) use planforge_app::Status as Exit;

/// The end of `planforge --help`.
pub(crate) fn help() -> String {
    let codes: String =
        STATUSES.iter().map(|(exit, about)| format!("  {:>2}  {about}\n", *exit as u8)).collect();
    format!("Start with `planforge demo`: it needs no key and no network.\n\nExit codes:\n{codes}")
}
