//! The verifier of the templates of new plugins.

#[rustfmt::skip]
#[path = "../../../platform/plugin-tools/templates/verifier/lib.rs"]
pub mod verifier;
