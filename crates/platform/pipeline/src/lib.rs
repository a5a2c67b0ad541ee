//! Pipelines: [`check()`] checks a TOML file and reports every mistake at its place, [`load_suite`] reads
//! tasks from suite folders, and [`run()`] runs the stages over a beam of candidates for each task.
//!
//! The runner is a deterministic re-execution over a journal: every outcome that cost something or depended
//! on time is looked up by its sample path before it is computed. So live runs, resume and replay are one
//! mechanism, and the number of jobs changes only the time.
//!
//! Each module depends only on those before it: `codes`, `reader` (TOML with places), `suite`, `plugins` (facts about plugins), `report`,
//! `beam` (candidates), `services`, `calls` (of plugins), `stages`, `pipeline` (files), `run`. A stage sees the runner as
//! `stages::interface::StageContext`, and everything sees a stage as `stages::interface::StageDefinition`.

mod beam;
mod calls;
mod codes;
mod pipeline;
mod plugins;
mod reader;
mod report;
mod run;
mod services;
mod stages;
mod suite;

pub use codes::CODES;
pub use pipeline::{
    Checked, CheckedPipeline, EnvironmentTable, FeedbackSource, LlmTable, MAX_PIPELINE_BYTES, ObfuscateTable,
    Override, PIPELINE_SCHEMA, Pipeline, RunLimits, check, pipeline_schema,
};
pub use planforge_llm::RoleModels;
pub use plugins::{
    Catalogue, CatalogueError, MAX_OPTION_FILE_BYTES, OptionProblem, OptionProblemKind,
    hide_keys_near_errors, inline_files,
};
pub use report::{
    BudgetLimits, BudgetReport, Cost, FailedSample, ModelFallback, RunReport, RunState, StageReport,
    TaskReport, TaskUsage, Translation, dollars,
};
pub use run::{disguise_suites, named_back, run, run_tasks};
pub use services::{Instances, Progress, RunObserver, RunTask, Services, StageInstance};
pub use stages::bound::{QuestionBound, TaskBounds, question_bounds};
pub use stages::budget::{BudgetArms, BudgetPolicy, BudgetStage};
pub use stages::fan_out::FanOutStage;
pub use stages::plan::{PlanStage, PlanStageLimits};
pub use stages::refine::{ContinueFrom, KeepRound, RefineStage, StopRounds};
pub use stages::rounds::{Forget, Order};
pub use stages::select::SelectStage;
pub use stages::translate::{Artefact, TranslateStage};
pub use stages::verify::VerifyStage;
pub use stages::{Stage, StageKind};
pub use suite::Folder as SuiteFolder;
pub use suite::{
    ADD_ON_FILES, ActionTexts, DescriptionClass, Example, GenerateSpec, GivenExample, GivenSpec, LoadedSuite,
    MAX_SUITE_FILE_BYTES, PredicateText, SUITE_SCHEMA, SentenceFile, Suite, SuiteDisguise, SuiteTask, Texts,
    apply_add_ons, describe_tasks, disguise_suite, load_leniently, load_suite, load_suite_with, load_task,
    load_task_with, load_without_tasks, needs_description, read_declaration, read_sentences, same_parameters,
    task_view,
};
pub use suite::{
    Colour, Coordinates, Direction, GridSpec, GroupSpec, Height, LookSpec, MarkSpec, NamePart, NamePattern,
    PICTURE_SCHEMA, Pattern, PictureTemplate, Slot, StackSpec, TypeName, read_picture,
};
