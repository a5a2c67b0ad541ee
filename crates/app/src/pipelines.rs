//! Pipeline files: checked, priced, allowed, and made into plugin instances and tasks.

pub(crate) mod check_models;
pub(crate) mod consent;
pub(crate) mod loaded;
pub(crate) mod model_choice;
pub(crate) mod option_effects;
pub(crate) mod place;
pub(crate) mod prepare;
pub(crate) mod prices;
pub(crate) mod programs;
pub(crate) mod shipped;
pub(crate) mod tasks;
