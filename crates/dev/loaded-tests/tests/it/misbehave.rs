//! Libraries that misbehave: each fault is one clear failure with its code, never a verdict, and the host lives on.

use planforge_contract::api::{LogLevel, Verifier};
use planforge_contract::{
    Candidate, CompletionRequest, CreateRequest, Decision, Failure, FailureClass, JsonObject, Measure,
    Outcome, PluginKind, Replies, VerifyRequest, VerifyResponse,
};
use planforge_plugin_host::{CallLimits, Instance, PluginSource, Registry, RegistrySettings, WorkerSettings};
use planforge_plugin_sdk::contract::api::Host;
use planforge_plugin_sdk::testing::TestHost;
use planforge_testkit::plugins::{library, loaded};
use serde_json::json;
use std::sync::Arc;

fn options(fault: &str) -> CreateRequest {
    let options = json!({"fault": fault}).as_object().cloned().unwrap_or_default();
    CreateRequest { options, ..CreateRequest::default() }
}

fn registry() -> Registry {
    loaded("planforge_misbehave_methods", RegistrySettings::default()).unwrap()
}

fn verifier(fault: &str) -> Arc<dyn Verifier> {
    match registry().create("misbehave-methods", options(fault)).unwrap() {
        Instance::Verifier(verifier) => verifier,
        other => panic!("{other:?}"),
    }
}

fn request() -> VerifyRequest {
    VerifyRequest { candidates: vec![Candidate::default(); 2], ..VerifyRequest::default() }
}

fn verify(verifier: &dyn Verifier) -> Result<VerifyResponse, Failure> {
    verifier.verify(&TestHost::new().remaining_ms(60_000), &request())
}

fn fails_with(fault: &str, class: FailureClass, code: &str) -> Failure {
    let verifier = verifier(fault);
    let failure = verify(verifier.as_ref()).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (class, code), "{failure}");
    failure
}

#[test]
fn a_library_in_good_order_is_called_from_many_threads_at_once() {
    let verifier = verifier("none");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let results = verify(verifier.as_ref()).unwrap().results;
                    let accepted = |o: &Outcome<_>| {
                        matches!(
                            o,
                            Outcome::Ok(planforge_contract::Assessment { decision: Decision::Accepted, .. })
                        )
                    };
                    assert!(results.len() == 2 && results.iter().all(accepted));
                }
            });
        }
    });
}

#[test]
fn wrong_replies_are_failures_and_leave_the_instance_usable() {
    for (fault, code, says) in [
        ("bad-json", "plugin.document", "not a readable document"),
        ("other-document", "plugin.document", "expected document `verify-response`, found `plan-outcome`"),
        ("other-schema", "plugin.document", "schema 99, this side reads schema 1"),
        ("few-results", "plugin.reply-count", "1 results for 2"),
    ] {
        let verifier = verifier(fault);
        for _ in 0..2 {
            let failure = verify(verifier.as_ref()).unwrap_err();
            assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, code), "{fault}");
            assert!(
                failure.message.contains(says) && failure.message.contains("misbehave-methods"),
                "{failure}"
            );
        }
    }
}

#[test]
fn a_panic_has_message_and_place_and_poisons_the_instance_alone() {
    let verifier = verifier("panic-verify");
    let failure = verify(verifier.as_ref()).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, "plugin.panic"));
    assert!(failure.message.contains("panic in verify"), "{failure}");
    assert!(
        failure.place.as_deref().unwrap().contains("loaded-tests/src/misbehave_methods.rs:"),
        "{failure}"
    );
    let again = verify(verifier.as_ref()).unwrap_err();
    assert_eq!(again.code, "plugin.poisoned");
    assert!(again.message.contains("panic in verify"), "{again}");
    assert!(fails_with("panic-payload", FailureClass::Plugin, "plugin.panic").message.contains("no text"));
    assert!(verify(self::verifier("none").as_ref()).is_ok());
}

#[test]
fn creating_may_panic_or_refuse() {
    let failure = registry().create("misbehave-methods", options("panic-create")).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, "plugin.create"));
    assert!(failure.message.contains("panic in create"), "{failure}");
    let failure = registry().create("misbehave-methods", options("refuse-create")).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, "misbehave.refused"));
}

#[test]
fn a_panic_in_the_destructor_is_contained() {
    let verifier = verifier("panic-drop");
    assert!(verify(verifier.as_ref()).is_ok());
    drop(verifier);
}

#[test]
fn a_destructor_that_hangs_is_given_up() {
    let limits = CallLimits { create_ms: 200, ..CallLimits::default() };
    let registry =
        loaded("planforge_misbehave_methods", RegistrySettings { limits, ..RegistrySettings::default() })
            .unwrap();
    let instance = registry.create("misbehave-methods", options("hang-drop")).unwrap();
    // The destructor never returns, so the end of this test shows that the host gave it up.
    drop(instance);
}

#[test]
fn a_hang_ends_at_the_deadline_and_poisons() {
    for fault in ["hang", "hang-asking"] {
        let verifier = verifier(fault);
        let host = TestHost::new().remaining_ms(150);
        // The fault never returns, so the end of this call shows that the host gave it up.
        let failure = verifier.verify(&host, &request()).unwrap_err();
        assert_eq!(
            (failure.class, failure.code.as_str()),
            (FailureClass::Limit, "plugin.deadline"),
            "{failure}"
        );
        assert!(failure.message.contains("150 ms"), "{failure}");
        assert_eq!(verifier.verify(&host, &request()).unwrap_err().code, "plugin.poisoned");
    }
}

#[test]
fn a_call_that_ignores_the_interruption_is_given_up_without_any_deadline() {
    let limits = CallLimits { cancel_grace_ms: 100, ..CallLimits::default() };
    let registry =
        loaded("planforge_misbehave_methods", RegistrySettings { limits, ..RegistrySettings::default() })
            .unwrap();
    let Instance::Verifier(verifier) = registry.create("misbehave-methods", options("hang")).unwrap() else {
        panic!("a verifier");
    };
    let host = TestHost::new();
    host.cancel();
    let failure = verifier.verify(&host, &request()).unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Cancelled, "plugin.deadline"));
}

#[test]
fn a_reply_of_200_mb_is_refused_with_both_sizes_and_is_not_a_limit_of_time() {
    let failure = fails_with("huge", FailureClass::Plugin, "plugin.reply-size");
    assert!(failure.message.contains("200000000 bytes") && failure.message.contains("67108864"), "{failure}");
}

#[test]
fn a_log_line_of_100_mb_is_cut_off() {
    let host = TestHost::new();
    assert!(verifier("huge-log").verify(&host, &request()).is_ok());
    assert_eq!(
        host.logs().iter().map(|(_, line)| line.len()).collect::<Vec<_>>(),
        [CallLimits::default().log_bytes]
    );
}

#[test]
fn the_host_refuses_what_the_kind_may_not_ask() {
    let failure = fails_with("forbidden", FailureClass::Request, "host.forbidden");
    assert!(
        failure.message.contains("`misbehave-methods` is a verifier and may not call `worker`"),
        "{failure}"
    );
}

/// A host whose own code panics while it serves a plugin.
struct PanickingHost;
impl Host for PanickingHost {
    fn complete(&self, _role: &str, _request: CompletionRequest) -> Result<Replies, Failure> {
        panic!("the host's own fault")
    }
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        false
    }
    fn remaining_ms(&self) -> Option<u64> {
        Some(60_000)
    }
}

#[test]
fn a_panic_on_the_host_s_side_does_not_cross_either() {
    let failure = verifier("complete").verify(&PanickingHost, &request()).unwrap_err();
    assert!(failure.message.contains("the host's own fault"), "{failure}");
}

#[test]
fn questions_reach_the_host_and_its_answers_come_back() {
    let host = TestHost::new().remaining_ms(60_000).reply("critic", "fine");
    assert!(verifier("complete").verify(&host, &request()).is_ok());
    assert_eq!(host.requests().len(), 1);
    assert_eq!(verifier("complete").verify(&host, &request()).unwrap_err().code, "testing.no-reply");
}

#[test]
fn options_are_checked_before_anything_is_made() {
    let mut wrong = JsonObject::new();
    wrong.insert("falt".into(), json!("none"));
    wrong.insert("fault".into(), json!("bad-jsn"));
    let problems = registry().check_options("misbehave-methods", &wrong).unwrap();
    let seen: Vec<_> =
        problems.iter().map(|p| (p.pointer.as_str(), p.code, p.suggestion.as_deref())).collect();
    assert_eq!(
        seen,
        [("/falt", "options.unknown", Some("fault")), ("/fault", "options.value", Some("bad-json"))]
    );
    let failure = registry()
        .create("misbehave-methods", CreateRequest { options: wrong, ..Default::default() })
        .unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Request, "plugin.options"));
    assert!(failure.message.contains("/falt") && failure.message.contains("/fault"), "{failure}");
}

#[test]
fn gates_name_both_values() {
    let epoch = loaded("planforge_misbehave_epoch", RegistrySettings::default()).unwrap();
    let failure = epoch.info("misbehave-epoch").unwrap_err();
    assert_eq!(failure.code, "plugin.epoch");
    assert!(failure.message.contains("epoch 43") && failure.message.contains("epoch 2"), "{failure}");

    let layout = loaded("planforge_misbehave_layout", RegistrySettings::default()).unwrap();
    let failure = layout.info("misbehave-layout").unwrap_err();
    assert_eq!(failure.code, "plugin.layout");
    assert!(failure.message.contains("misbehave") && failure.message.contains("u64"), "{failure}");

    let failure = registry().info("misbehave-method").unwrap_err();
    assert_eq!(failure.code, "plugin.unknown");
    assert!(failure.help.unwrap().contains("`misbehave-methods`"));
}

#[test]
fn files_that_are_no_plugins_are_named_and_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join(format!("text.{}", std::env::consts::DLL_EXTENSION));
    std::fs::write(&text, "hello").unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not looked at").unwrap();
    let missing = folder.path().join("missing");
    let methods = library("planforge_misbehave_methods").unwrap();
    let registry = Registry::new(&[], &[folder.path().into(), missing, methods], RegistrySettings::default());
    let codes: Vec<_> =
        registry.strays().iter().map(|e| e.info.as_ref().unwrap_err().code.as_str()).collect();
    assert_eq!(codes, ["plugin.file", "plugin.file"]);
    assert_eq!(registry.ids(), ["misbehave-methods"]);
    assert_eq!(registry.list().len(), 3);
    assert_eq!(registry.list()[0].info.as_ref().unwrap_err().code, "host.no-worker");
}

#[test]
fn a_library_shadows_the_bundled_plugin_and_two_libraries_are_an_error() {
    let bundled = &planforge_loaded_tests::misbehave_methods::PLANFORGE_PLUGIN;
    let path = library("planforge_misbehave_methods").unwrap();
    let settings = RegistrySettings {
        worker: Some(WorkerSettings::new(env!("CARGO_BIN_EXE_planforge-test-worker").into())),
        ..RegistrySettings::default()
    };
    let registry = Registry::new(&[bundled], std::slice::from_ref(&path), settings);
    let list = registry.list();
    assert_eq!(list.len(), 2);
    assert!(
        matches!(&list[0].source, PluginSource::Library { path: p, sha256 } if *p == path && sha256.len() == 64)
    );
    assert!(!list[0].shadowed && list[1].shadowed && list[1].source == PluginSource::Bundled);
    assert!(list.iter().all(|e| e.kind() == Some(PluginKind::Verifier)));

    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join(path.file_name().unwrap());
    std::fs::copy(&path, &copy).unwrap();
    let registry =
        Registry::new(&[bundled], &[path.clone(), folder.path().into()], RegistrySettings::default());
    let failure = registry.create("misbehave-methods", options("none")).unwrap_err();
    assert_eq!(failure.code, "plugin.duplicate");
    for path in [&path, &copy] {
        assert!(failure.message.contains(&path.display().to_string()), "{failure}");
    }
}

#[test]
fn a_plugin_of_epoch_1_is_refused_with_the_way_out() {
    let failure =
        loaded("planforge_frozen_epoch_1", RegistrySettings::default()).unwrap().info("frozen-epoch-1");
    let failure = failure.unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, "plugin.epoch"));
    assert!(failure.message.ends_with("the plugin is built for ABI epoch 1; this planforge loads epoch 2"));
    assert_eq!(failure.help.as_deref(), Some("rebuild the plugin against the SDK of this planforge"));
}

#[test]
fn a_plugin_of_epoch_2_still_loads_and_judges() {
    let registry = loaded("planforge_frozen_epoch_2", RegistrySettings::default()).unwrap();
    let info = registry.info("frozen-epoch-2").unwrap();
    assert_eq!(info.measures, [Measure::Equivalence]);
    let outside = json!({"word": "outside"}).as_object().cloned().unwrap_or_default();
    assert!(info.is_external(&outside) && !info.is_external(&JsonObject::new()));
    let request = CreateRequest {
        options: json!({"word": "define"}).as_object().cloned().unwrap_or_default(),
        ..CreateRequest::default()
    };
    let Instance::Verifier(verifier) = registry.create("frozen-epoch-2", request).unwrap() else {
        panic!("a verifier");
    };
    let candidate =
        |domain: Option<&str>| Candidate { domain: domain.map(str::to_owned), ..Candidate::default() };
    let host = TestHost::new();
    let request = VerifyRequest {
        candidates: vec![candidate(Some("(define")), candidate(Some("nothing")), candidate(None)],
        ..VerifyRequest::default()
    };
    let results = verifier.verify(&host, &request).unwrap().results;
    let names: Vec<_> = results.into_iter().map(|o| o.into_result().unwrap().decision.name()).collect();
    assert_eq!(names, ["accepted", "rejected", "undecided"]);
    assert_eq!(host.logs(), [(LogLevel::Info, "frozen at epoch 2".to_owned())]);
}
