//! planforge-contract
