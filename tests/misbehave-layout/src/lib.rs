//! planforge-misbehave-layout
