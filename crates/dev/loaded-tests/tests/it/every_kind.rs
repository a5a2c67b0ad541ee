//! A panic in any method of any kind is a failure with message and place, then the instance is not used again.

use planforge_contract::api::{Environment, Host, Planner, Provider, Translator, Verifier};
use planforge_contract::*;
use planforge_plugin_host::{BundledPlugin, Instance, Registry, RegistrySettings};
use planforge_plugin_sdk::testing::TestHost;
use planforge_plugin_sdk::{__private, About, Crate, EPOCH, Plugin, Secrets, kinds, schemars, serde};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
struct Options {}

struct Panics;

impl Plugin for Panics {
    type Options = Options;
    fn about() -> About {
        About::new("Panics in every method")
    }
    fn create(_: Options, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}

impl Provider for Panics {
    fn complete(&self, _: &dyn Host, _: &CompletionRequest) -> Result<CompletionResult, Failure> {
        panic!("in complete")
    }
}
impl Translator for Panics {
    fn translate(&self, _: &dyn Host, _: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        panic!("in translate")
    }
}
impl Verifier for Panics {
    fn verify(&self, _: &dyn Host, _: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        panic!("in verify")
    }
}
impl Planner for Panics {
    fn plan(&self, _: &dyn Host, _: &PlanRequest) -> Result<PlanOutcome, Failure> {
        panic!("in plan")
    }
}
impl Environment for Panics {
    fn describe(&self, _: &dyn Host, _: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        panic!("in describe")
    }
    fn walks(&self, _: &dyn Host, _: &EnvironmentOpen, _: &WalkSpec) -> Result<Walks, Failure> {
        panic!("in walks")
    }
    fn execute(&self, _: &dyn Host, _: &EnvironmentOpen, _: &Sequences) -> Result<ExecutionReport, Failure> {
        panic!("in execute")
    }
    fn validate(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        panic!("in validate")
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        panic!("in describe_state")
    }
}

/// Panics before anything is known of it.
struct Speechless;
impl Plugin for Speechless {
    type Options = Options;
    fn about() -> About {
        panic!("in about")
    }
    fn create(_: Options, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}
impl Verifier for Speechless {
    fn verify(&self, _: &dyn Host, _: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        Ok(VerifyResponse { results: vec![] })
    }
}

/// Takes its time, one call at a time, and counts how many it serves at once.
struct Slow;
static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
impl Plugin for Slow {
    type Options = Options;
    fn about() -> About {
        About::new("Slow").max_concurrency(1)
    }
    fn create(_: Options, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self)
    }
}
impl Verifier for Slow {
    fn verify(&self, _: &dyn Host, _: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(100));
        NOW.fetch_sub(1, Ordering::SeqCst);
        Ok(VerifyResponse { results: vec![] })
    }
}

macro_rules! bundle {
    ($module:ident, $kind:ident, $plugin:ident) => {
        mod $module {
            use super::*;
            pub(super) struct Names;
            impl Crate for Names {
                const NAME: &'static str = stringify!($module);
                const VERSION: &'static str = "1.0.0";
            }
            static HEADER: __private::Header = __private::header::<Names, kinds::$kind, $plugin>();
            pub(super) static PLUGIN: BundledPlugin =
                BundledPlugin { crate_name: stringify!($module), header: &HEADER, epoch: &EPOCH };
        }
    };
}
bundle!(a_provider, Provider, Panics);
bundle!(a_translator, Translator, Panics);
bundle!(a_verifier, Verifier, Panics);
bundle!(a_planner, Planner, Panics);
bundle!(an_environment, Environment, Panics);
bundle!(speechless, Verifier, Speechless);
bundle!(slow, Verifier, Slow);

const ALL: &[&BundledPlugin] = &[
    &a_provider::PLUGIN,
    &a_translator::PLUGIN,
    &a_verifier::PLUGIN,
    &a_planner::PLUGIN,
    &an_environment::PLUGIN,
    &speechless::PLUGIN,
    &slow::PLUGIN,
];

type Call = fn(&Instance, &dyn Host) -> Option<Failure>;

/// Every method of every kind: whose, its name, and how to call it.
const METHODS: &[(&str, &str, Call)] = &[
    ("a-provider", "complete", |i, h| match i {
        Instance::Provider(p) => p.complete(h, &CompletionRequest::default()).err(),
        _ => None,
    }),
    ("a-translator", "translate", |i, h| match i {
        Instance::Translator(t) => t.translate(h, &TranslateRequest::default()).err(),
        _ => None,
    }),
    ("a-verifier", "verify", |i, h| match i {
        Instance::Verifier(v) => v.verify(h, &VerifyRequest::default()).err(),
        _ => None,
    }),
    ("a-planner", "plan", |i, h| match i {
        Instance::Planner(p) => p.plan(h, &PlanRequest::default()).err(),
        _ => None,
    }),
    ("an-environment", "describe", |i, h| match i {
        Instance::Environment(e) => e.describe(h, &EnvironmentOpen::default()).err(),
        _ => None,
    }),
    ("an-environment", "walks", |i, h| match i {
        Instance::Environment(e) => e.walks(h, &EnvironmentOpen::default(), &WalkSpec::default()).err(),
        _ => None,
    }),
    ("an-environment", "execute", |i, h| match i {
        Instance::Environment(e) => e.execute(h, &EnvironmentOpen::default(), &Sequences::default()).err(),
        _ => None,
    }),
    ("an-environment", "validate", |i, h| match i {
        Instance::Environment(e) => {
            e.validate(h, &EnvironmentOpen::default(), &EnvironmentPlan::default()).err()
        }
        _ => None,
    }),
    ("an-environment", "describe_state", |i, h| match i {
        Instance::Environment(e) => {
            e.describe_state(h, &EnvironmentOpen::default(), &StateQuery::default()).err()
        }
        _ => None,
    }),
];

#[test]
fn every_method_of_every_kind_may_panic() {
    let registry = Registry::new(ALL, &[], RegistrySettings::default());
    let host = TestHost::new().remaining_ms(60_000);
    for (id, method, call) in METHODS {
        let instance = registry.create(id, CreateRequest::default()).unwrap();
        let failure = call(&instance, &host).unwrap_or_else(|| panic!("{id} did not fail in {method}"));
        assert_eq!(
            (failure.class, failure.code.as_str()),
            (FailureClass::Plugin, "plugin.panic"),
            "{failure}"
        );
        assert!(failure.message.ends_with(&format!("in {method}")), "{failure}");
        assert!(failure.place.as_deref().unwrap().contains("every_kind.rs:"), "{failure}");
        assert_eq!(call(&instance, &host).unwrap().code, "plugin.poisoned");
    }
}

#[test]
fn a_panic_while_describing_is_the_gate_s_failure() {
    let failure = Registry::new(ALL, &[], RegistrySettings::default()).info("speechless").unwrap_err();
    assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Plugin, "plugin.describe"));
    assert!(failure.message.contains("in about"), "{failure}");
}

#[test]
fn a_plugin_of_another_kind_is_refused_by_name() {
    let registry = Registry::new(ALL, &[], RegistrySettings::default());
    let info = registry.info("a-planner").unwrap();
    let instance = registry.create("a-planner", CreateRequest::default()).unwrap();
    let failure = instance.verifier(&info).err().unwrap();
    assert_eq!(failure.code, "plugin.kind");
    assert_eq!(failure.message, "`a-planner` is a planner, where a verifier is needed");
}

#[test]
fn no_more_calls_are_made_at_once_than_a_plugin_takes() {
    let registry = Registry::new(ALL, &[], RegistrySettings::default());
    let Instance::Verifier(slow) = registry.create("slow", CreateRequest::default()).unwrap() else {
        panic!("a verifier");
    };
    let ask = |ms: u64| slow.verify(&TestHost::new().remaining_ms(ms), &VerifyRequest::default());
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(60_000))).collect();
        for call in calls {
            assert!(call.join().unwrap().is_ok());
        }
        assert_eq!(MOST.load(Ordering::SeqCst), 1);
        let long = scope.spawn(|| ask(60_000));
        while NOW.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        let failure = ask(10).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Limit, "plugin.busy"));
        assert!(long.join().unwrap().is_ok());
    });
}
