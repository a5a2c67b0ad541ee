//! The artefacts that a request can ask for.

/// The artefact of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Artefact {
    Problem,
    Domain,
    Edit,
    Both,
    /// One action of a domain (domain-generators paper, section 3).
    Action,
    /// Finds predicates with the same meaning.
    Predicates,
    /// Rewrites a domain or problem (test-time-scaling paper, Eq. 4).
    Update,
    /// Criticises a domain or problem (Eq. 3).
    Critique,
    /// Answers a question about what can be done.
    Answer,
    /// A part of the translate-infer-compile paper's intermediate representation.
    Ir(IrPart),
}

/// A part of the intermediate representation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IrPart {
    Program,
    Cardinalities,
    Objects,
    Rules,
}

impl Artefact {
    /// The artefact of a request's tag.
    pub(crate) fn of(tag: &str) -> Option<Self> {
        match tag {
            "problem" => Some(Self::Problem),
            "domain" => Some(Self::Domain),
            "edit" => Some(Self::Edit),
            "both" => Some(Self::Both),
            "action" => Some(Self::Action),
            "predicates" => Some(Self::Predicates),
            "update" => Some(Self::Update),
            "critique" => Some(Self::Critique),
            "answer" => Some(Self::Answer),
            "ir" => Some(Self::Ir(IrPart::Program)),
            "cardinalities" => Some(Self::Ir(IrPart::Cardinalities)),
            "objects" => Some(Self::Ir(IrPart::Objects)),
            "rules" => Some(Self::Ir(IrPart::Rules)),
            _ => None,
        }
    }
}
