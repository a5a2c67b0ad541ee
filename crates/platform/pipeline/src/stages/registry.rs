//! Connects the list of kinds with their definitions.

use super::definition::{KindFacts, StageDefinition};
use super::plugin_use::PluginUse;
use super::{RoundStage, Stage, StageKind};
use crate::front::stage_checker::{StageChecker, StageTable};
use crate::front::tree::Node;
use planforge_contract::JsonObject;
use planforge_diagnostics::Diagnostic;
use planforge_llm::RoleModels;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::borrow::Cow;
use std::collections::BTreeMap;

macro_rules! dispatch {
    ($($(#[$doc:meta])* $word:literal $variant:ident($table:path);)*) => {
        impl Stage {
            /// The definition of its kind.
            pub(crate) fn definition(&self) -> &dyn StageDefinition {
                match self {
                    $(Self::$variant(table) => table),*
                }
            }
        }

        impl StageKind {
            /// Facts about the kind.
            pub(crate) fn facts(self) -> KindFacts {
                match self {
                    $(Self::$variant => <$table as StageDefinition>::facts()),*
                }
            }

            /// Reads and checks a table of this kind. Returns the stage and the names of its metrics.
            pub(crate) fn parse(
                self,
                checker: &mut StageChecker<'_>,
                table: &mut StageTable<'_, '_>,
                out: &mut Vec<Diagnostic>,
            ) -> (Stage, Vec<String>) {
                match self {
                    $(Self::$variant => {
                        let (stage, metrics) = <$table as StageDefinition>::parse(checker, table, out);
                        (Stage::$variant(stage), metrics)
                    })*
                }
            }

            /// Checks the stages of a file together.
            pub(crate) fn check_file(self, stages: &[Stage], items: &[Node], out: &mut Vec<Diagnostic>) {
                match self {
                    $(Self::$variant => <$table as StageDefinition>::check_file(stages, items, out)),*
                }
            }
        }
    };
}
stage_kinds!(dispatch);

impl Stage {
    /// The plugin that the stage itself calls, and its options.
    pub fn plugin(&self) -> Option<(&str, &JsonObject)> {
        self.definition().plugin().map(|PluginUse { id, options, .. }| (id, options))
    }

    /// Role -> the model tables that take it.
    pub fn roles(&self) -> Option<&BTreeMap<String, RoleModels>> {
        self.definition().plugin().map(|plugin| plugin.roles)
    }

    /// The model tables that it may ask itself, as often as its roles name them.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.roles().into_iter().flat_map(BTreeMap::values).flat_map(RoleModels::names)
    }

    /// The stages inside that judge: those of a round, or the judges of a budget stage.
    pub fn round(&self) -> &[Self] {
        self.definition().inner_judges()
    }

    /// All stages inside, in the order in which they run. Judges stand behind everything that writes.
    pub fn inner(&self) -> impl Iterator<Item = &Self> {
        self.definition().inner().into_iter()
    }
}

impl JsonSchema for RoundStage {
    fn schema_name() -> Cow<'static, str> {
        "RoundStage".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Stage::json_schema(generator);
        schema.insert("description".to_owned(), "A stage inside another stage, by its kind.".into());
        if let Some(variants) = schema.get_mut("oneOf").and_then(serde_json::Value::as_array_mut) {
            let outside = |word: &str| {
                let kind = StageKind::ALL.iter().find(|kind| kind.name() == word);
                kind.is_some_and(|kind| kind.facts().outside_rounds.is_some())
            };
            variants.retain(|variant| {
                let word = variant.pointer("/properties/do/const").and_then(serde_json::Value::as_str);
                word.is_none_or(|word| !outside(word))
            });
        }
        schema
    }
}
