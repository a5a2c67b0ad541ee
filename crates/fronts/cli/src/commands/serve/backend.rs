//! Plugins and tables for the tools of `planforge serve mcp`.

use crate::catalogue::registry;
use crate::context::Context;
use crate::shipped_pipelines::SHIPPED_PIPELINES;
use crate::walk_comparison::{NoComparison, compare_walks};
use planforge_contract::api::Host;
use planforge_contract::{CreateRequest, Failure, FailureClass, JsonObject, PlanOutcome, PlanRequest};
use planforge_diagnostics::CodeInfo;
use planforge_mcp::{Backend, RunRequest, RunWatch, ShippedPipeline, TaskModel};
use planforge_pipeline::RunReport;
use planforge_planning::ResourceLimits;
use planforge_planning::walk::Model;
use planforge_plugin_common::judging::reports::EwReport;
use planforge_plugin_host::{Instance, Registry};
use planforge_verifier_ew::WalkVerifierOptions;
use std::sync::Arc;

/// The planner of the tool `plan`.
const PLANNER: &str = "planner-classical";

pub(super) struct CommandLineBackend {
    context: Context,
    registry: Registry,
}

impl CommandLineBackend {
    pub(super) fn new(context: &Context) -> Self {
        Self { registry: registry(context), context: context.clone() }
    }
}

impl Backend for CommandLineBackend {
    fn codes(&self) -> Vec<&'static [CodeInfo]> {
        crate::codes::tables()
    }

    fn plan(
        &self,
        options: JsonObject,
        host: &dyn Host,
        request: &PlanRequest,
    ) -> Result<PlanOutcome, Failure> {
        match self.registry.create(PLANNER, CreateRequest { options, ..CreateRequest::default() })? {
            Instance::Planner(planner) => planner.plan(host, request),
            _ => {
                let message = format!("`{PLANNER}` on the search path is not a planner");
                Err(Failure::new(FailureClass::Plugin, "plugin.kind", message))
            }
        }
    }

    fn compare_walks(
        &self,
        reference: TaskModel<'_>,
        candidate: TaskModel<'_>,
        seed: u64,
        limits: &mut dyn ResourceLimits,
    ) -> Result<EwReport, Failure> {
        let settings = WalkVerifierOptions::default().settings()?;
        let failed = |what: &str, why: String| {
            Failure::new(FailureClass::Limit, "mcp.arguments", format!("{what}: {why}"))
        };
        let mut model = |side: &str, (domain, problem): TaskModel<'_>| {
            Model::new(domain, problem, &settings.model_options(), limits)
                .map_err(|error| failed(side, error.to_string()))
        };
        let (reference, candidate) = (model("the reference", reference)?, model("the candidate", candidate)?);
        let compared = compare_walks(&[(&reference, &candidate)], &settings, seed, limits);
        let compared = compared.map_err(|error| match error {
            NoComparison::Score(error) => failed("the walks", error.to_string()),
            NoComparison::Search(reason) => failed("the search for a failing walk", reason.to_string()),
        })?;
        Ok(compared.report(&settings, seed))
    }

    fn pipelines(&self) -> &'static [ShippedPipeline] {
        SHIPPED_PIPELINES
    }

    fn run(&self, request: &RunRequest<'_>, watch: Arc<dyn RunWatch>) -> Result<RunReport, Failure> {
        super::run::run(&self.context, request, watch)
    }
}
