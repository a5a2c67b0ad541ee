//! planforge-environment-pddl
