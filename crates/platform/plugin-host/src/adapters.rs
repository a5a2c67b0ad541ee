//! The contract's traits over the boundary.

use crate::call::Core;
use planforge_contract::api::{Environment, Host, Planner, Provider, Translator, Verifier};
use planforge_contract::{
    CompletionRequest, CompletionResult, Document, EnvironmentInfo, EnvironmentOpen, EnvironmentPlan,
    EnvironmentVerdict, ExecutionReport, Failure, FailureClass, PlanOutcome, PlanRequest, PluginInfo,
    PluginKind, Sequences, StateDescription, StateQuery, TranslateRequest, TranslateResponse, VerifyRequest,
    VerifyResponse, WalkSpec, Walks, encode,
};
use std::sync::Arc;

/// A made plugin, by kind. Clones are the same instance.
#[derive(Clone)]
pub enum Instance {
    /// Sends requests to a language model.
    Provider(Arc<dyn Provider>),
    /// Writes PDDL from text.
    Translator(Arc<dyn Translator>),
    /// Judges candidates.
    Verifier(Arc<dyn Verifier>),
    /// Finds plans.
    Planner(Arc<dyn Planner>),
    /// Executes actions.
    Environment(Arc<dyn Environment>),
}

impl std::fmt::Debug for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Instance").field(&self.kind()).finish()
    }
}

impl Instance {
    /// Its kind.
    pub const fn kind(&self) -> PluginKind {
        match self {
            Self::Provider(_) => PluginKind::Provider,
            Self::Translator(_) => PluginKind::Translator,
            Self::Verifier(_) => PluginKind::Verifier,
            Self::Planner(_) => PluginKind::Planner,
            Self::Environment(_) => PluginKind::Environment,
        }
    }

    pub(crate) fn over(core: Core) -> Self {
        let kind = core.info.kind;
        let adapter = Arc::new(Adapter(core));
        match kind {
            PluginKind::Provider => Self::Provider(adapter),
            PluginKind::Translator => Self::Translator(adapter),
            PluginKind::Verifier => Self::Verifier(adapter),
            PluginKind::Planner => Self::Planner(adapter),
            PluginKind::Environment => Self::Environment(adapter),
        }
    }

    /// The provider.
    ///
    /// # Errors
    /// `plugin.kind`, where it is of another kind; so with the other four.
    pub fn provider(self, info: &PluginInfo) -> Result<Arc<dyn Provider>, Failure> {
        if let Self::Provider(p) = self { Ok(p) } else { Err(wrong_kind(info, PluginKind::Provider)) }
    }
    /// The translator.
    ///
    /// # Errors
    /// `plugin.kind`.
    pub fn translator(self, info: &PluginInfo) -> Result<Arc<dyn Translator>, Failure> {
        if let Self::Translator(p) = self { Ok(p) } else { Err(wrong_kind(info, PluginKind::Translator)) }
    }
    /// The verifier.
    ///
    /// # Errors
    /// `plugin.kind`.
    pub fn verifier(self, info: &PluginInfo) -> Result<Arc<dyn Verifier>, Failure> {
        if let Self::Verifier(p) = self { Ok(p) } else { Err(wrong_kind(info, PluginKind::Verifier)) }
    }
    /// The planner.
    ///
    /// # Errors
    /// `plugin.kind`.
    pub fn planner(self, info: &PluginInfo) -> Result<Arc<dyn Planner>, Failure> {
        if let Self::Planner(p) = self { Ok(p) } else { Err(wrong_kind(info, PluginKind::Planner)) }
    }
    /// The environment.
    ///
    /// # Errors
    /// `plugin.kind`.
    pub fn environment(self, info: &PluginInfo) -> Result<Arc<dyn Environment>, Failure> {
        if let Self::Environment(p) = self { Ok(p) } else { Err(wrong_kind(info, PluginKind::Environment)) }
    }
}

fn wrong_kind(info: &PluginInfo, wanted: PluginKind) -> Failure {
    let text = format!("`{}` is a {}, where a {wanted} is needed", info.id, info.kind);
    Failure::new(FailureClass::Request, "plugin.kind", text)
}

/// A made plugin that takes and gives documents as text in their envelopes.
pub struct RawInstance(pub(crate) Core);

impl RawInstance {
    /// Calls a method of the plugin's kind, such as `verify`.
    ///
    /// # Errors
    /// The plugin's failure, or that of the call.
    pub fn call(&self, host: &dyn Host, method: &str, inputs: Vec<String>) -> Result<String, Failure> {
        self.0.call(host, method, inputs, None)
    }
}

struct Adapter(Core);

fn text<T: Document>(body: &T) -> Result<String, Failure> {
    encode(body).map_err(|e| Failure::new(FailureClass::Request, "plugin.document", e))
}

impl Adapter {
    /// A batch must be answered entry by entry: a shorter list would shift every verdict after the gap.
    fn check_count(&self, method: &str, wanted: usize, got: usize) -> Result<(), Failure> {
        if wanted == got {
            return Ok(());
        }
        Err(self.0.plugin_failure(
            "plugin.reply-count",
            format!("answered `{method}` with {got} results for {wanted}"),
        ))
    }
}

impl Provider for Adapter {
    fn complete(&self, host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        self.0.ask(host, "complete", vec![text(request)?])
    }
}

impl Translator for Adapter {
    fn translate(&self, host: &dyn Host, request: &TranslateRequest) -> Result<TranslateResponse, Failure> {
        let response: TranslateResponse = self.0.ask(host, "translate", vec![text(request)?])?;
        self.check_count("translate", request.n as usize, response.samples.len())?;
        Ok(response)
    }
}

impl Verifier for Adapter {
    fn verify(&self, host: &dyn Host, request: &VerifyRequest) -> Result<VerifyResponse, Failure> {
        let response: VerifyResponse = self.0.ask(host, "verify", vec![text(request)?])?;
        self.check_count("verify", request.candidates.len(), response.results.len())?;
        Ok(response)
    }
}

impl Planner for Adapter {
    fn plan(&self, host: &dyn Host, request: &PlanRequest) -> Result<PlanOutcome, Failure> {
        let granted_ms = request.limits.time_ms;
        let outcome: PlanOutcome = self.0.ask_within(host, "plan", vec![text(request)?], granted_ms)?;
        if matches!(&outcome, PlanOutcome::Plan { plans, .. } if plans.is_empty()) {
            return Err(self.0.plugin_failure(
                "plugin.reply-count",
                "answered that there is a plan, and gave none".into(),
            ));
        }
        Ok(outcome)
    }
}

impl Environment for Adapter {
    fn describe(&self, host: &dyn Host, task: &EnvironmentOpen) -> Result<EnvironmentInfo, Failure> {
        self.0.ask(host, "describe", vec![text(task)?])
    }
    fn walks(&self, host: &dyn Host, task: &EnvironmentOpen, spec: &WalkSpec) -> Result<Walks, Failure> {
        let walks: Walks = self.0.ask(host, "walks", vec![text(task)?, text(spec)?])?;
        self.check_count("walks", spec.lengths.len(), walks.walks.len())?;
        Ok(walks)
    }
    fn execute(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        sequences: &Sequences,
    ) -> Result<ExecutionReport, Failure> {
        let report: ExecutionReport = self.0.ask(host, "execute", vec![text(task)?, text(sequences)?])?;
        self.check_count("execute", sequences.sequences.len(), report.executions.len())?;
        Ok(report)
    }
    fn validate(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        plan: &EnvironmentPlan,
    ) -> Result<EnvironmentVerdict, Failure> {
        self.0.ask(host, "validate", vec![text(task)?, text(plan)?])
    }
    fn describe_state(
        &self,
        host: &dyn Host,
        task: &EnvironmentOpen,
        query: &StateQuery,
    ) -> Result<StateDescription, Failure> {
        self.0.ask(host, "describe-state", vec![text(task)?, text(query)?])
    }
}
