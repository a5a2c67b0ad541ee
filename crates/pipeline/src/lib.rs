//! planforge-pipeline
