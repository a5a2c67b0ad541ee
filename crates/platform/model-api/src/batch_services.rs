//! Batch services: sends request files to OpenAI's Batch API or Anthropic's Message Batches, and downloads the answers.
//!
//! The shapes are those of the services' Python SDKs, read on 2026-11-23: openai-python e43b4224 (`types/batch.py`,
//! `types/file_object.py`) and anthropic-sdk-python 009b0353 (`types/messages/message_batch.py`). Not tried against the live
//! services.
//!
//! `submitted.json` in the batch folder says what was sent where. It is written before each request that creates a batch and
//! after it, so that a crash submits nothing twice.

mod anthropic;
mod calls;
mod client;
mod codes;
mod connection;
mod download;
mod openai;
mod service_batch;
mod submitted;

pub use client::{BatchClient, BatchLine};
pub use codes::CODES;
pub use connection::{ConnectionSettings, Service, ServiceConnection};
pub use download::FetchedResults;
pub use service_batch::BatchProgress;
pub use submitted::{STATE_FILE, SubmittedFile};
