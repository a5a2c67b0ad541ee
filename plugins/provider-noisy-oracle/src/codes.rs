//! The codes of this crate.

use planforge_diagnostics::CodeInfo;

/// Options that make no sense.
pub(crate) const OPTIONS: &str = "oracle.options";
/// A reference that cannot be used.
pub(crate) const SUITE: &str = "oracle.suite";

/// Every code that this crate gives.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: OPTIONS,
        title: "an option of the simulated model is invalid",
        explanation: "A probability outside 0 to 1, a negative weight, or no suite at all. All of them are listed at once.\n\n    \
                      [llm.main]\n    use = \"provider-noisy-oracle\"\n    suites = [\"../examples/suites/parcels\"]\n    errors = 3\n    \
                      repair_named = 0.5",
    },
    CodeInfo {
        code: SUITE,
        title: "the simulated model cannot use a suite's reference",
        explanation: "It writes a suite's reference with mistakes in it, so it needs a domain and problems that can be read \
                      without an error, and suites of different names. `planforge suite check FOLDER` lists the \
                      mistakes of one. A path in the options means that the host did not read the suite.",
    },
];
