//! Cost of a plugin call: `cargo bench -p planforge-plugin-host`.
//!
//! `direct` calls the plugin's Rust method; `call` goes through the host: two documents written and read, the
//! boundary crossed, a thread of the pool with its deadline; `question` adds one question to the host on the
//! way.

use planforge_contract::*;
use planforge_plugin_host::{BundledPlugin, Instance, Registry, RegistrySettings};
use planforge_plugin_sdk::testing::TestHost;
use planforge_plugin_sdk::{
    __private, About, Crate, EPOCH, Environment, EnvironmentCall, Host, Plugin, Secrets, Verifier, kinds,
    schemars, serde,
};
use std::sync::Arc;

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "planforge_plugin_sdk::serde", deny_unknown_fields, default)]
#[schemars(crate = "planforge_plugin_sdk::schemars")]
#[derive(Default)]
struct Options {
    ask: bool,
}

struct Accepts(bool);

impl Plugin for Accepts {
    type Options = Options;
    fn about() -> About {
        About::new("Accepts everything")
    }
    fn create(options: Options, _: &Secrets) -> Result<Self, Failure> {
        Ok(Self(options.ask))
    }
}

impl Verifier for Accepts {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        if self.0 {
            host.environment(EnvironmentCall::Describe)?;
        }
        let accept = |_| Outcome::Ok(Assessment::new(Decision::Accepted, ""));
        Ok(VerifyResponse { results: request.candidates.iter().map(accept).collect() })
    }
}

struct Nowhere;
impl Environment for Nowhere {
    fn describe(&self, _: &dyn Host, _: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        Ok(EnvironmentInfo::default())
    }
    fn walks(&self, _: &dyn Host, _: &EnvironmentOpen, _: &WalkSpec) -> Result<Walks, Failure> {
        Ok(Walks::default())
    }
    fn execute(&self, _: &dyn Host, _: &EnvironmentOpen, _: &Sequences) -> Result<ExecutionReport, Failure> {
        Ok(ExecutionReport::default())
    }
    fn validate(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        Ok(EnvironmentVerdict::default())
    }
    fn describe_state(
        &self,
        _: &dyn Host,
        _: &EnvironmentOpen,
        _: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        Ok(StateDescription::default())
    }
}

struct Names;
impl Crate for Names {
    const NAME: &'static str = "accepts";
    const VERSION: &'static str = "1.0.0";
}
static HEADER: __private::Header = __private::header::<Names, kinds::Verifier, Accepts>();
static PLUGIN: BundledPlugin = BundledPlugin { crate_name: "accepts", header: &HEADER, epoch: &EPOCH };

fn main() {
    divan::main();
}

fn verifier(ask: bool) -> Arc<dyn Verifier> {
    let mut request = CreateRequest::default();
    request.options.insert("ask".into(), ask.into());
    let registry = Registry::new(&[&PLUGIN], &[], RegistrySettings::default());
    match registry.create("accepts", request) {
        Ok(Instance::Verifier(verifier)) => verifier,
        other => unreachable!("{other:?}"),
    }
}

/// A candidate of that many bytes.
fn request(bytes: usize) -> VerifyRequest {
    let candidate = Candidate { domain: Some("x".repeat(bytes)), ..Candidate::default() };
    VerifyRequest { candidates: vec![candidate], ..VerifyRequest::default() }
}

fn host() -> TestHost {
    TestHost::new().remaining_ms(600_000).environment(Arc::new(Nowhere), EnvironmentOpen::default())
}

const BYTES: [usize; 3] = [0, 2_000, 200_000];

#[divan::bench(args = BYTES)]
fn direct(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let (host, request) = (host(), request(bytes));
    bencher.bench(|| Accepts(false).verify(&host, &request));
}

#[divan::bench(args = BYTES)]
fn call(bencher: divan::Bencher<'_, '_>, bytes: usize) {
    let (verifier, host, request) = (verifier(false), host(), request(bytes));
    bencher.bench(|| verifier.verify(&host, &request));
}

#[divan::bench]
fn question(bencher: divan::Bencher<'_, '_>) {
    let (verifier, host, request) = (verifier(true), host(), request(2_000));
    bencher.bench(|| verifier.verify(&host, &request));
}
