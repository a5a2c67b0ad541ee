//! Applying fixes.
/// x
pub struct FixError; /// x
pub fn apply_fixes() {}
