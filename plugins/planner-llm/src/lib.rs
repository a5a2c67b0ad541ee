//! planforge-planner-llm
