//! planforge-plugin-host
