//! For authors of plugins: the checks of `planforge plugins test` and the templates of `planforge plugins new`.

pub mod check;
pub mod scaffold;
