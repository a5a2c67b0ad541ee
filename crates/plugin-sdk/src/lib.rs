//! planforge-plugin-sdk
