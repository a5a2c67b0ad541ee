//! planforge-llm
