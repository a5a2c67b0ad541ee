//! planforge-planner-classical
