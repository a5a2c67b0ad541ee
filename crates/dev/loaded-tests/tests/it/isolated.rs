//! Libraries that run in a child process: what they break is a failure with its code, and the next call works.

use planforge_contract::api::Verifier;
use planforge_contract::{
    Assessment, Candidate, CreateRequest, Decision, Failure, FailureClass, Outcome, VerifyRequest,
    VerifyResponse,
};
use planforge_plugin_host::{CallLimits, Instance, RegistrySettings, WorkerSettings};
use planforge_plugin_sdk::testing::TestHost;
use planforge_testkit::plugins::loaded;
use serde_json::json;
use std::sync::Arc;

fn verifier(fault: &str) -> Arc<dyn Verifier> {
    let settings = RegistrySettings {
        limits: CallLimits { deadline_grace_ms: 0, ..CallLimits::default() },
        worker: Some(WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into())),
        isolate_libraries: true,
        ..RegistrySettings::default()
    };
    let registry = loaded("planforge_misbehave_methods", settings).unwrap();
    let options = json!({"fault": fault}).as_object().cloned().unwrap();
    let request = CreateRequest { options, ..CreateRequest::default() };
    match registry.create("misbehave-methods", request).unwrap() {
        Instance::Verifier(verifier) => verifier,
        other => panic!("{other:?}"),
    }
}

fn verify_within(verifier: &dyn Verifier, problem: &str, ms: u64) -> Result<VerifyResponse, Failure> {
    let candidate = Candidate { problem: Some(problem.to_owned()), ..Candidate::default() };
    let request = VerifyRequest { candidates: vec![candidate], ..VerifyRequest::default() };
    verifier.verify(&TestHost::new().remaining_ms(ms).reply("critic", "yes"), &request)
}

fn verify(verifier: &dyn Verifier, problem: &str) -> Result<VerifyResponse, Failure> {
    verify_within(verifier, problem, 60_000)
}

fn is_accepted(response: &VerifyResponse) -> bool {
    matches!(&response.results[..], [Outcome::Ok(Assessment { decision: Decision::Accepted, .. })])
}

#[test]
fn a_library_in_good_order_gives_the_same_answers() {
    for fault in ["none", "print", "complete"] {
        assert!(is_accepted(&verify(verifier(fault).as_ref(), "good").unwrap()), "{fault}");
    }
}

#[test]
fn an_end_of_the_process_is_a_failure_of_that_call_alone() {
    for (fault, says) in [
        ("abort", "SIGABRT"),
        ("segfault", "SIGSEGV"),
        ("stack-overflow", "has overflowed its stack"),
        ("exit", "exit code 3"),
        ("leave-child", "exit code 3"),
    ] {
        let verifier = verifier(fault);
        std::thread::scope(|scope| {
            let calls: Vec<_> = ["good", "bad", "good"]
                .map(|problem| (problem, scope.spawn(|| verify(verifier.as_ref(), problem))))
                .into();
            for (problem, call) in calls {
                match call.join().unwrap() {
                    Ok(response) => assert!(problem == "good" && is_accepted(&response), "{fault}"),
                    Err(failure) => {
                        assert_eq!((problem, failure.code.as_str()), ("bad", "plugin.program"), "{failure}");
                        assert!(failure.message.contains(says), "{failure}");
                    }
                }
            }
        });
        assert!(is_accepted(&verify(verifier.as_ref(), "good").unwrap()), "{fault}");
    }
    assert_eq!(running("sleep 3597"), 0, "a program that the library started goes on");
}

/// Number of processes with that command line.
fn running(command: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").trim() == command).count()
}

#[test]
fn panics_hangs_and_wrong_replies_keep_their_codes() {
    for (fault, class, code) in [
        ("panic-verify", FailureClass::Plugin, "plugin.panic"),
        ("bad-json", FailureClass::Plugin, "plugin.document"),
        ("other-schema", FailureClass::Plugin, "plugin.document"),
        ("few-results", FailureClass::Plugin, "plugin.reply-count"),
        ("huge", FailureClass::Plugin, "plugin.reply-size"),
        ("forbidden", FailureClass::Request, "host.forbidden"),
    ] {
        let verifier = verifier(fault);
        for _ in 0..2 {
            let failure = verify(verifier.as_ref(), "good").unwrap_err();
            assert_eq!((failure.class, failure.code.as_str()), (class, code), "{fault}: {failure}");
        }
    }
    for fault in ["hang", "hang-asking"] {
        let verifier = verifier(fault);
        for _ in 0..2 {
            let failure = verify_within(verifier.as_ref(), "good", 300).unwrap_err();
            assert_eq!(
                (failure.class, failure.code.as_str()),
                (FailureClass::Limit, "plugin.deadline"),
                "{failure}"
            );
        }
    }
}
