//! A verifier that misbehaves in the way its options name. Nothing it does may take the host down or be read as a verdict.
use planforge_plugin_sdk::kinds::{self, Kind};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::serde_json;
use std::process::Command;

/// Which fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// None: accepts every candidate.
    None,
    /// Refuses its options.
    RefuseCreate,
    /// Panics in create.
    PanicCreate,
    /// Panics in verify.
    PanicVerify,
    /// Panics in verify with something that is no text.
    PanicPayload,
    /// Panics in the destructor.
    PanicDrop,
    /// Never ends the destructor.
    HangDrop,
    /// Answers with something that is no JSON.
    BadJson,
    /// Answers with another document.
    OtherDocument,
    /// Answers with another schema number.
    OtherSchema,
    /// Answers for one candidate too few.
    FewResults,
    /// Never answers.
    Hang,
    /// Never answers, and goes on asking and logging.
    HangAsking,
    /// Reports progress ten times, then accepts.
    Progress,
    /// Answers with 200 MB.
    Huge,
    /// Logs a line of 100 MB, then accepts.
    HugeLog,
    /// Asks the host for what a verifier may not have.
    Forbidden,
    /// Asks the host to complete, and passes on what it says.
    Complete,
    /// Ends the process.
    Abort,
    /// Recurses without end.
    StackOverflow,
    /// Sends itself the signal of a segmentation fault.
    Segfault,
    /// Leaves the process with an exit code.
    Exit,
    /// Starts a program that goes on, then leaves the process.
    LeaveChild,
    /// Prints to standard output, then accepts.
    Print,
}

/// What to do wrong.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The fault.
    pub fault: Fault,
}

/// The verifier.
#[derive(Debug)]
pub struct Misbehave(Fault);

const MEGABYTES_100: usize = 100_000_000;
const MEGABYTES_200: usize = 200_000_000;

fn forever(host: Option<&dyn Host>) -> ! {
    loop {
        std::thread::sleep(std::time::Duration::from_millis(5));
        if let Some(host) = host {
            host.log(LogLevel::Warn, "still here");
            // Whatever the host says to it, it goes on.
            let _ = host.complete("critic", CompletionRequest::default());
        }
    }
}

/// Recurses until the stack is full.
#[allow(unconditional_recursion, clippy::unconditional_recursion)]
fn deeper(depth: u64) -> u64 {
    let block = std::hint::black_box([depth; 1024]);
    deeper(depth + 1) + block[0]
}

/// The signal's handler of the standard library lets the first one pass.
fn segfault() -> ! {
    loop {
        drop(Command::new("sh").args(["-c", "kill -SEGV $PPID"]).status());
    }
}

#[allow(clippy::exit)]
fn exit() -> ! {
    std::process::exit(3)
}

#[allow(clippy::print_stdout)]
fn print() {
    println!("printed by the library");
}

impl Plugin for Misbehave {
    type Options = Options;
    fn about() -> About {
        About::new("Misbehaves on purpose").role("critic", "asked where the fault says so")
    }
    #[allow(clippy::panic)]
    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
        match options.fault {
            Fault::PanicCreate => panic!("panic in create"),
            Fault::RefuseCreate => Err(Failure::new(FailureClass::Request, "misbehave.refused", "not today")),
            fault => Ok(Self(fault)),
        }
    }
}

impl Verifier for Misbehave {
    #[allow(clippy::panic)]
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let accept = || Outcome::Ok(Assessment::new(Decision::Accepted, "fine"));
        let mut results: Vec<_> = request.candidates.iter().map(|_| accept()).collect();
        let is_bad = request
            .candidates
            .iter()
            .any(|candidate| matches!(candidate.problem.as_deref(), Some("bad" | "")));
        match self.0 {
            Fault::Abort if is_bad => std::process::abort(),
            Fault::Segfault if is_bad => segfault(),
            Fault::Exit if is_bad => exit(),
            Fault::LeaveChild if is_bad => {
                drop(Command::new("sleep").arg("3597").spawn());
                exit();
            }
            Fault::StackOverflow if is_bad => results.truncate(deeper(1) as usize),
            Fault::Print => print(),
            Fault::PanicVerify => panic!("panic in verify"),
            Fault::PanicPayload => std::panic::panic_any(42_u8),
            Fault::Hang => forever(None),
            Fault::HangAsking => forever(Some(host)),
            Fault::Progress => (1..=10).for_each(|done| host.progress(done, 10, "steps")),
            Fault::FewResults => drop(results.pop()),
            Fault::HugeLog => host.log(LogLevel::Info, &"x".repeat(MEGABYTES_100)),
            Fault::Forbidden => drop(host.worker("input")?),
            Fault::Complete => drop(host.complete("critic", CompletionRequest::default())?),
            _ => {}
        }
        Ok(VerifyResponse { results })
    }
}

impl Drop for Misbehave {
    #[allow(clippy::panic)]
    fn drop(&mut self) {
        match self.0 {
            Fault::PanicDrop => panic!("panic in drop"),
            Fault::HangDrop => forever(None),
            _ => {}
        }
    }
}

/// A verifier whose replies are written by hand where the fault says so.
#[derive(Debug)]
pub struct ByHand;

impl Kind<Misbehave> for ByHand {
    const KIND: PluginKind = PluginKind::Verifier;
    fn call(plugin: &Misbehave, method: &str, inputs: &[&str], host: &dyn Host) -> Result<String, Failure> {
        let envelope = |document: &str, schema: u32| {
            serde_json::json!({"document": document, "schema": schema, "body": {"results": []}}).to_string()
        };
        match plugin.0 {
            Fault::BadJson => Ok("{\"document\": \"verify-response\", oops".to_owned()),
            Fault::OtherDocument => Ok(envelope("plan-outcome", 1)),
            Fault::OtherSchema => Ok(envelope("verify-response", 99)),
            Fault::Huge => Ok("x".repeat(MEGABYTES_200)),
            _ => <kinds::Verifier as Kind<Misbehave>>::call(plugin, method, inputs, host),
        }
    }
}

planforge_plugin_sdk::bundle_plugin!(
    @raw "planforge_misbehave_methods", planforge_plugin_sdk::EPOCH, ByHand, Misbehave
);
