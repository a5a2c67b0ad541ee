//! The interface Responses, after OpenAI's reference as its Python client of 2026-08-21 has it (openai-python, commit e43b422).

mod request;
mod response;

pub(crate) use request::body;
pub(crate) use response::read;
