//! planforge-misbehave-epoch
