//! Checks of `do = "verify"`.

use super::config::VerifyStage;
use crate::front::plugins;
use crate::front::stage_checker::{StageChecker, StageTable};
use planforge_contract::PluginKind;
use planforge_diagnostics::Diagnostic;

/// Reads and checks a verify stage. Its metrics are those of its plugin.
pub(super) fn parse(
    checker: &mut StageChecker<'_>,
    table: &mut StageTable<'_, '_>,
    out: &mut Vec<Diagnostic>,
) -> (VerifyStage, Vec<String>) {
    let StageTable { reader, label, .. } = table;
    let (plugin, info) = plugins::plugin(reader, PluginKind::Verifier, checker.catalogue, out);
    let place = reader.node("use").map_or(reader.place, |node| node.place);
    let options = plugins::options(reader, info.as_ref(), checker.catalogue, out);
    let roles = checker.read_roles(reader, (info.as_ref(), &options), out);
    let stage = VerifyStage {
        label: label.value.clone(),
        plugin,
        roles,
        options,
        feedback: checker.read_feedback(reader, out),
        measure: reader.boolean("measure", out).unwrap_or(false),
    };
    if let Some(info) = &info
        && info.needs_environment(&stage.options)
    {
        checker.findings.need_environment.push((info.id.clone(), place));
    }
    plugins::check_feedback_is_used(reader, info.as_ref(), &stage.feedback, out);
    let metrics = info.map(|info| info.metrics.into_iter().map(|m| m.name).collect()).unwrap_or_default();
    (stage, metrics)
}
