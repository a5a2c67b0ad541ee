//! planforge-loaded-tests
