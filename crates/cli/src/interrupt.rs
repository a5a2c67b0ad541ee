//! Ctrl-C and termination signals.

use crate::exit::Exit;
use crate::output::Output;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Set by the first signal. One flag for the process, so that all runs of an evaluation see it.
static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// True once a command polls the flag; before that, the first signal ends the process.
static POLLED: AtomicBool = AtomicBool::new(false);
/// The output that still owes a JSON object.
static OUTPUT: OnceLock<Output> = OnceLock::new();

/// Returns the flag that Ctrl-C sets: the run stops, completes its record and prints how to resume. A second Ctrl-C ends the process.
pub(crate) fn interrupt_flag() -> Arc<AtomicBool> {
    POLLED.store(true, Ordering::SeqCst);
    install()
}

/// Makes an interrupted process print its JSON object too.
pub(crate) fn print_json_at_interrupt(output: Output) {
    drop(OUTPUT.set(output));
    install();
}

fn install() -> Arc<AtomicBool> {
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        let handler = move || {
            if set.swap(true, Ordering::SeqCst) || !POLLED.load(Ordering::SeqCst) {
                if let Some(output) = OUTPUT.get() {
                    output.complete_json(Exit::Interrupted);
                }
                #[allow(clippy::exit, reason = "the journal is complete at any moment")]
                std::process::exit(i32::from(Exit::Interrupted as u8));
            }
        };
        // Fails only if a handler is already set, which then stays in charge.
        drop(ctrlc::set_handler(handler));
        flag
    });
    Arc::clone(flag)
}
