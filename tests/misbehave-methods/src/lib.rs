//! planforge-misbehave-methods
