//! planforge-testkit
