//! The kinds of stages.
//!
//! Each kind is a file here, or a folder, with its table in a pipeline file, the checks of that table, the bound on its requests and its
//! run. It implements [`interface::StageDefinition`], through which everything else uses a stage. A new kind is a file and one entry in
//! the list below.

use crate::calls::PluginUse;
use crate::reader::Node;
use crate::stages::checker::{StageChecker, StageTable};
use crate::stages::interface::{KindFacts, StageDefinition};
use planforge_contract::JsonObject;
use planforge_diagnostics::Diagnostic;
use planforge_llm::RoleModels;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The registry: the word in `do`, the name of the variant, and the table of each kind. Calls the macro `$user` with the list.
macro_rules! stage_kinds {
    ($user:ident) => {
        $user! {
            /// Makes `n` children of each candidate by asking a translator.
            "translate" Translate(crate::stages::translate::TranslateStage);
            /// Has a verifier judge each candidate.
            "verify" Verify(crate::stages::verify::VerifyStage);
            /// Keeps the best candidates by a metric.
            "select" Select(crate::stages::select::SelectStage);
            /// Asks a planner for a plan of each candidate.
            "plan" Plan(crate::stages::plan::PlanStage);
            /// Writes each candidate anew in rounds, with the feedback on the best of the last round.
            "refine" Refine(crate::stages::refine::RefineStage);
            /// Samples and refines until a budget is spent.
            "budget" Budget(crate::stages::budget::BudgetStage);
            /// Starts the suite's other tasks from the candidates of the lead task.
            "fan_out" FanOut(crate::stages::fan_out::FanOutStage);
        }
    };
}

pub(crate) mod bound;
pub(crate) mod budget;
pub(crate) mod checker;
pub(crate) mod fan_out;
pub(crate) mod interface;
pub(crate) mod plan;
pub(crate) mod refine;
pub(crate) mod rounds;
pub(crate) mod select;
pub(crate) mod translate;
pub(crate) mod verify;

macro_rules! declare_kinds {
    ($($(#[$doc:meta])* $word:literal $variant:ident($table:path);)*) => {
        /// One stage, by its kind.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "do")]
        pub enum Stage {
            $($(#[$doc])* #[serde(rename = $word)] $variant($table)),*
        }

        /// The kinds of stages.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum StageKind {
            $($(#[$doc])* $variant),*
        }

        impl Stage {
            pub fn label(&self) -> &str {
                match self {
                    $(Self::$variant(table) => &table.label),*
                }
            }

            pub const fn kind(&self) -> StageKind {
                match self {
                    $(Self::$variant(_) => StageKind::$variant),*
                }
            }
        }

        impl StageKind {
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word in `do`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),*
                }
            }
        }
    };
}
stage_kinds!(declare_kinds);

/// Stages in order, each refine and budget stage followed by the stages inside of it.
pub(crate) fn all_stages(stages: &[Stage]) -> impl Iterator<Item = &Stage> {
    stages.iter().flat_map(|stage| std::iter::once(stage).chain(stage.inner()))
}

/// A stage inside another stage, for the schema: [`Stage`] without the kinds that may not stand there.
pub(crate) struct RoundStage;

/// The default of counts.
pub(crate) const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(crate) const fn is_one(count: &u32) -> bool {
    *count == 1
}

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
