//! planforge-record
