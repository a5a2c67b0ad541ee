//! The `planforge` binary from the outside: output, exit codes, files.
//!
//! Cases that need only files are in `tests/e2e/cases` and are read by `cases.rs`. Replies of models are
//! scripted: written by hand for the test, served by a loopback server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // A test may break where it stands; its helpers too.

mod accuracy;
mod actions;
mod actions_simulated;
mod add_on;
mod bad_input;
mod batch;
mod batch_services;
mod benchmark;
mod bon_ivml;
mod budget;
mod cases;
mod changed_runs;
mod compare;
mod costs;
mod doctor;
mod endings;
mod environment;
mod equivalent;
mod estimates;
mod evaluate;
mod explain_fact;
mod explosive;
mod format;
mod graph;
mod hostile;
mod infer;
mod interrupted;
mod killed;
mod language;
mod learn_knowledge;
mod limits;
mod loaded;
mod lsp;
mod matrix;
mod mcp;
mod misbehaving;
mod model_choice;
mod models;
mod obfuscate;
mod outside;
mod picture;
mod planner;
mod progress;
mod provider_pages;
mod python;
mod record;
mod repair;
mod report;
mod run;
mod scaling;
mod secrets;
mod shards;
mod shared_folder;
mod solve;
mod study;
mod suite;
mod support;
mod survival;
mod tell;
mod traces;
mod tutorial;
mod without_reference;
