//! planforge-pddl
