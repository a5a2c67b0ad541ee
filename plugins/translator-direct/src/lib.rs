//! planforge-translator-direct
