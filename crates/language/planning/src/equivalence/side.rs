//! The two things that a comparison compares.

/// One of the two compared domains or problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedSide {
    /// The domain or problem given first.
    First,
    /// The domain or problem given second.
    Second,
}

impl ComparedSide {
    /// Returns the opposite side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            ComparedSide::First => ComparedSide::Second,
            ComparedSide::Second => ComparedSide::First,
        }
    }
}
