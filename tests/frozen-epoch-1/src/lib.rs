//! planforge-frozen-epoch-1
