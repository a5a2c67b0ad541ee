//! Planners: a search in this process, programs outside, and language models.

pub mod classical;
pub mod external;
pub mod llm;
