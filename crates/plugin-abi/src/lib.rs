//! planforge-plugin-abi
