//! Suites: a domain and its tasks, as texts in plain language and as the reference PDDL that methods do not
//! see.
//!
//! A suite is a folder with `domain.nl` and `NAME.nl` for each task. It may also have `domain.pddl`,
//! `NAME.pddl` (reference), `p_example.*` (in-context example), `*_template.pddl`, `sentences.toml`,
//! `actions.toml`, `picture.toml`, `knowledge.lp`, `generator.jinja`, `wordings.jinja` and `suite.toml`.

mod actions;
mod add_on;
mod codes;
mod data;
mod described;
mod disguise;
mod files;
mod further;
mod load;
mod manifest;
mod picture;
mod sentences;
mod view;

pub(crate) use actions::examples as action_examples;
pub use actions::{ActionTexts, PredicateText, read_declaration, same_parameters};
pub use add_on::{ADD_ON_FILES, apply_add_ons};
pub use codes::CODES as SUITE_CODES;
pub use data::{Example, Suite, SuiteDisguise, SuiteTask};
pub use described::{describe_tasks, needs_description};
pub use disguise::disguise_suite;
pub(crate) use files::suites_below;
pub use files::{Folder as SuiteFolder, MAX_SUITE_FILE_BYTES};
pub(crate) use further::further_problems;
pub use load::{
    LoadedSuite, load_leniently, load_suite, load_suite_with, load_task, load_task_with, load_without_tasks,
};
pub use manifest::{GenerateSpec, SUITE_SCHEMA};
pub use picture::{
    Colour, Coordinates, Direction, GridSpec, GroupSpec, Height, LookSpec, MarkSpec, NamePart, NamePattern,
    PICTURE_SCHEMA, Pattern, PictureTemplate, Slot, StackSpec, TypeName, read_picture,
};
pub use sentences::{SentenceFile, read_sentences};
pub use view::task_view;
