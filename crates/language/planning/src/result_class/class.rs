//! The result classes and their groups.

use crate::equivalence::hde::HdeClass;
use planforge_pddl::mutate::action::Flaw;

/// Table 1's rows, and what the paper has no row for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResultClass {
    /// Syntax: the reply holds no action.
    NoPddl,
    /// Syntax: parentheses do not match.
    PError,
    /// Syntax: a token at a place where it is not allowed.
    UToken,
    /// Meaning: an unknown type, or an argument of a wrong one.
    TError,
    /// Meaning: a predicate has the wrong arguments.
    PAError,
    /// Meaning: the action has another name.
    NError,
    /// Meaning: the precondition or effect needs a requirement that the domain does not declare, such as negation.
    BPError,
    /// Behaviour: a problem has no plan any more.
    NoPlan,
    /// Behaviour: a plan of the new domain is none of the original.
    NPApp,
    /// Behaviour: a plan of the original domain is none of the new.
    OPApp,
    /// No difference was found.
    Equivalent,
    /// A limit was reached, or the domains use what the search does not plan for.
    Undecided,
}

/// The primary classes of Fig. 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResultGroup {
    /// The reply cannot be read.
    Syntax,
    /// It can be read and does not fit the domain.
    Semantic,
    /// It fits and behaves differently.
    Different,
    /// No difference in behaviour was found.
    Equivalent,
    /// A limit left the class open.
    Undecided,
}

impl ResultClass {
    /// All, in the order of precedence.
    pub const ALL: [Self; 12] = [
        Self::NoPddl,
        Self::PError,
        Self::UToken,
        Self::TError,
        Self::PAError,
        Self::NError,
        Self::BPError,
        Self::NoPlan,
        Self::NPApp,
        Self::OPApp,
        Self::Equivalent,
        Self::Undecided,
    ];

    /// Returns the paper's name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoPddl => "NoPDDL",
            Self::PError => "PError",
            Self::UToken => "UToken",
            Self::TError => "TError",
            Self::PAError => "PAError",
            Self::NError => "NError",
            Self::BPError => "BPError",
            Self::NoPlan => "NoPlan",
            Self::NPApp => "NPApp",
            Self::OPApp => "OPApp",
            Self::Equivalent => "Equivalent",
            Self::Undecided => "Undecided",
        }
    }

    /// Returns the primary class.
    pub const fn group(self) -> ResultGroup {
        match self {
            Self::NoPddl | Self::PError | Self::UToken => ResultGroup::Syntax,
            Self::TError | Self::PAError | Self::NError | Self::BPError => ResultGroup::Semantic,
            Self::NoPlan | Self::NPApp | Self::OPApp => ResultGroup::Different,
            Self::Equivalent => ResultGroup::Equivalent,
            Self::Undecided => ResultGroup::Undecided,
        }
    }
}

impl From<Flaw> for ResultClass {
    /// The class of a text that was made with one flaw.
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::NoAction => Self::NoPddl,
            Flaw::Parentheses => Self::PError,
            Flaw::Token => Self::UToken,
            Flaw::Type => Self::TError,
            Flaw::Arguments => Self::PAError,
            Flaw::Name => Self::NError,
            Flaw::Requirement => Self::BPError,
        }
    }
}

impl From<HdeClass> for ResultClass {
    fn from(class: HdeClass) -> Self {
        match class {
            HdeClass::NoPlan => Self::NoPlan,
            HdeClass::NPApp => Self::NPApp,
            HdeClass::OPApp => Self::OPApp,
        }
    }
}

impl ResultGroup {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax error",
            Self::Semantic => "semantic error",
            Self::Different => "different domain",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }
}
