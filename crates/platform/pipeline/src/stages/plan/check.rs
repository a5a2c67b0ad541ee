//! Checks of `do = "plan"`.

use super::config::{PlanStage, PlanStageLimits};
use crate::front::plugins;
use crate::front::reader::TableReader;
use crate::front::stage_checker::{StageChecker, StageTable, small};
use planforge_contract::PluginKind;
use planforge_diagnostics::Diagnostic;

/// Reads and checks a plan stage.
pub(super) fn parse(
    checker: &mut StageChecker<'_>,
    table: &mut StageTable<'_, '_>,
    out: &mut Vec<Diagnostic>,
) -> PlanStage {
    let StageTable { reader, label, .. } = table;
    let (plugin, info) = plugins::plugin(reader, PluginKind::Planner, checker.catalogue, out);
    let options = plugins::options(reader, info.as_ref(), checker.catalogue, out);
    let roles = checker.read_roles(reader, (info.as_ref(), &options), out);
    let stage = PlanStage {
        label: label.value.clone(),
        plugin,
        roles,
        options,
        limits: plan_limits(reader, out),
        plan_rejected: reader.boolean("plan_rejected", out).unwrap_or(false),
        n: small(reader.integer("n", 1..=1000, out), 1),
        feedback: checker.read_feedback(reader, out),
    };
    plugins::check_feedback_is_used(reader, info.as_ref(), &stage.feedback, out);
    checker.note_writer(&label.value, &stage.roles);
    stage
}

fn plan_limits(reader: &mut TableReader<'_>, out: &mut Vec<Diagnostic>) -> PlanStageLimits {
    let Some((table, node)) = reader.table("limits", out) else { return PlanStageLimits::default() };
    let mut inner = TableReader::new(table, node.place, format!("`limits` of {}", reader.what));
    let limits = PlanStageLimits {
        time_s: inner.number("time_s", 0.001..=1e6, out),
        memory_mb: inner.integer("memory_mb", 1..=16_777_216, out),
        nodes: inner.integer("nodes", 1..=i64::MAX, out),
    };
    inner.finish("pipeline.unknown-stage-key", out);
    limits
}
