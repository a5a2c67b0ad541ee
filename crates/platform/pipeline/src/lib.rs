//! Pipelines: [`check()`] checks a TOML file and reports every mistake at its place, [`load_suite`] reads
//! tasks from suite folders, and [`run()`] runs the stages over a beam of candidates for each task.
//!
//! The runner is a deterministic re-execution over a journal: every outcome that cost something or depended
//! on time is looked up by its sample path before it is computed. So live runs, resume and replay are one
//! mechanism, and the number of jobs changes only the time.

mod bound;
mod codes;
mod config;
mod front;
mod option_files;
mod run;
mod stages;
mod suggest;
mod suite;

pub use bound::{QuestionBound, TaskBounds, question_bounds};
pub use codes::CODES;
pub use config::*;
pub use front::{
    Catalogue, CatalogueError, Checked, CheckedPipeline, MAX_PIPELINE_BYTES, OptionProblem,
    OptionProblemKind, Override, check, hide_keys_near_errors,
};
pub use option_files::{MAX_OPTION_FILE_BYTES, inline_files};
pub use run::{
    BudgetReport, Cost, FailedSample, Instances, ModelFallback, Progress, RunObserver, RunReport, RunState,
    RunTask, Services, StageInstance, StageReport, TaskReport, TaskUsage, Translation, disguise_suites,
    dollars, named_back, run, run_tasks,
};
pub use stages::budget::{BudgetArms, BudgetLimits, BudgetPolicy, BudgetStage};
pub use stages::fan_out::FanOutStage;
pub use stages::order::Order;
pub use stages::plan::{PlanStage, PlanStageLimits};
pub use stages::refine::{ContinueFrom, Forget, KeepRound, RefineStage, StopRounds};
pub use stages::select::SelectStage;
pub use stages::translate::{Artefact, TranslateStage};
pub use stages::verify::VerifyStage;
pub use stages::{Stage, StageKind};
pub use suite::{
    ADD_ON_FILES, ActionTexts, Example, GenerateSpec, LoadedSuite, MAX_SUITE_FILE_BYTES, PredicateText,
    SUITE_CODES, SUITE_SCHEMA, SentenceFile, Suite, SuiteDisguise, SuiteFolder, SuiteTask, apply_add_ons,
    describe_tasks, disguise_suite, load_leniently, load_suite, load_suite_with, load_task, load_task_with,
    load_without_tasks, needs_description, read_declaration, read_sentences, same_parameters, task_view,
};
pub use suite::{
    Colour, Coordinates, Direction, GridSpec, GroupSpec, Height, LookSpec, MarkSpec, NamePart, NamePattern,
    PICTURE_SCHEMA, Pattern, PictureTemplate, Slot, StackSpec, TypeName, read_picture,
};
