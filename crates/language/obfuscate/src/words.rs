//! Words: which carry a story, how their forms belong together, and new ones in their place.

pub(crate) mod form;
pub(crate) mod function;
pub(crate) mod invent;
pub(crate) mod themes;
