//! planforge-verifier-val
