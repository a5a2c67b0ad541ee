//! planforge-planning
