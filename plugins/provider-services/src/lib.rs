//! Providers of models that a service offers over HTTP, and of requests that a batch service answers later.

pub mod anthropic;
pub mod batch;
pub mod gemini;
pub mod openai;
