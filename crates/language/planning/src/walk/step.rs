//! Actions of walks, by index and by names, and the definition of the legal ones.

use std::fmt;

/// A ground action of one [`Model`](super::Model), by index.
pub type ActionId = u32;

/// Definition of the legal ground actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Semantics {
    /// Every ground action whose precondition holds, as VAL judges plans.
    #[default]
    Strips,
    /// As [`Semantics::Strips`], but a ground action that cannot change any state is never legal, because the Fast Downward
    /// translator, which the paper's own code walks with, drops it: every atom it adds is one of its preconditions (or
    /// never becomes false), every atom it deletes is added again, is a negative precondition or can never hold,
    /// and what its conditional effects do contradicts its precondition. The translator also uses invariants it
    /// finds, so that it may drop a few ground actions more; what it drops of goal-irrelevant actions is not
    /// followed.
    GroundNoOpsDropped,
}

/// A ground action by names, as its model's text writes them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamedStep {
    /// Name of the action schema.
    pub name: String,
    /// Names of the objects.
    pub args: Vec<String>,
}

impl NamedStep {
    /// Reads `(name object ...)`, with or without the parentheses. `None` if there is no name.
    pub fn parse(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
        let mut words = inner.split_whitespace().map(str::to_owned);
        let name = words.next()?;
        Some(NamedStep { name, args: words.collect() })
    }
}

impl fmt::Display for NamedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}", self.name)?;
        self.args.iter().try_for_each(|arg| write!(f, " {arg}"))?;
        f.write_str(")")
    }
}
