//! The kinds of stages.
//!
//! Each kind has a folder here with its table in a pipeline file (`config`), the checks of that table (`check`), the bound on its requests
//! (`bound`) and its run (`run`). The folder's own file implements [`definition::StageDefinition`], through which everything else uses a
//! stage. A new kind is a folder and one entry in the list below.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

pub(crate) mod budget;
pub(crate) mod defect;
pub(crate) mod definition;
pub(crate) mod fan_out;
pub(crate) mod order;
pub(crate) mod plan;
pub(crate) mod plugin_use;
pub(crate) mod rated;
pub(crate) mod refine;
mod registry;
pub(crate) mod round;
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
