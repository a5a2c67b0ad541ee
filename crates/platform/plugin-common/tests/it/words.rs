//! Words are spelled in documents as in options.

use planforge_plugin_common::judging::{Rule, Semantics};

#[test]
fn words_are_read_as_they_are_written() {
    for word in [Semantics::Strips, Semantics::GroundNoOpsDropped] {
        assert_eq!(serde_json::to_value(word).unwrap(), word.name());
        assert_eq!(Semantics::from(planforge_planning::walk::Semantics::from(word)), word);
    }
    for word in [Rule::Definition, Rule::ReferenceCode] {
        assert_eq!(serde_json::to_value(word).unwrap(), word.name());
        assert_eq!(Rule::from(planforge_planning::equivalence::hde::HdeRule::from(word)), word);
    }
}
