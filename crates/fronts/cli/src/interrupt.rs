//! Ctrl-C and termination signals.

use crate::exit::Exit;
use crate::output::Output;
use planforge_app::Cancellation;

/// Cancels the use case at the first signal: a run stops, completes its record and prints how to resume. A second signal, or the first one
/// before a use case checks the token, ends the process; an output that owes a JSON object prints it then.
pub(crate) fn cancel_at_interrupt(cancellation: &Cancellation, output: &Output) {
    let (cancellation, output) = (cancellation.clone(), output.clone());
    let handler = move || {
        if cancellation.cancel() || !cancellation.is_watched() {
            output.complete_json(Exit::Interrupted);
            #[allow(clippy::exit, reason = "the journal is complete at any moment")]
            std::process::exit(i32::from(Exit::Interrupted as u8));
        }
    };
    // Fails only if a handler is already set, which then stays in charge.
    drop(ctrlc::set_handler(handler));
}
