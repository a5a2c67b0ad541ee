//! Checks of `do = "translate"`.

use super::config::{Artefact, TranslateStage};
use crate::front::plugins;
use crate::front::stage_checker::{StageChecker, StageTable, small};
use planforge_contract::{FixPolicy, PluginKind};
use planforge_diagnostics::Diagnostic;

/// Reads and checks a translate stage.
pub(super) fn parse(
    checker: &mut StageChecker<'_>,
    table: &mut StageTable<'_, '_>,
    out: &mut Vec<Diagnostic>,
) -> TranslateStage {
    let StageTable { reader, label, .. } = table;
    let (plugin, info) = plugins::plugin(reader, PluginKind::Translator, checker.catalogue, out);
    let options = plugins::options(reader, info.as_ref(), checker.catalogue, out);
    let roles = checker.read_roles(reader, (info.as_ref(), &options), out);
    let stage = TranslateStage {
        label: label.value.clone(),
        plugin,
        n: small(reader.integer("n", 1..=1000, out), 1),
        roles,
        options,
        fixes: reader
            .word("fixes", &[("none", FixPolicy::None), ("safe", FixPolicy::Safe)], out)
            .unwrap_or_default(),
        feedback: checker.read_feedback(reader, out),
        resample: small(reader.integer("resample", 0..=10, out), 0),
        only_without: reader.word(
            "only_without",
            &[("domain", Artefact::Domain), ("problem", Artefact::Problem)],
            out,
        ),
    };
    checker.note_writer(&label.value, &stage.roles);
    stage
}
