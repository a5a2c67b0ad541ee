//! Classes as the contract has them.

use crate::classes::options::ClassVerifierOptions;
use crate::classes::requested::RequestedAction;
use planforge_contract::{ActionReconstructionError, Classification, ExactAnswer, ReportedDiagnostic};
use planforge_diagnostics::SourceMap;
use planforge_pddl::ast::Domain;
use planforge_planning::equivalence::are::action_error;
use planforge_planning::equivalence::domains::{ComparisonVerdict, Comparisons};
use planforge_planning::result_class::{ClassifiedReply, ResultClass, ResultGroup};
use planforge_plugin_common::judging::domains;

/// The class and the group of an action that fits and whose behaviour is not compared.
const FITS: [&str; 2] = ["Fits", "fits"];

/// The result of an action.
pub(crate) fn action(
    asked: &RequestedAction,
    found: &ActionResult,
    domain: &Domain,
    options: &ClassVerifierOptions,
) -> Classification {
    let sources = SourceMap::single(format!("action {}", asked.name), asked.text.as_str());
    let reported = |d| ReportedDiagnostic::of(d, &sources);
    Classification {
        diagnostics: found.classified.diagnostics.iter().map(reported).collect(),
        reconstruction_error: reconstruction_error(asked, &found.classified, domain),
        ..classification(&asked.name, found, options)
    }
}

/// The result of the domain with all written actions.
pub(crate) fn whole(
    name: &str,
    found: &ActionResult,
    actions: &[Classification],
    options: &ClassVerifierOptions,
) -> Classification {
    let sum = |value: &dyn Fn(&ActionReconstructionError) -> Option<u64>| {
        let values = actions.iter().map(|a| a.reconstruction_error.as_ref().and_then(value));
        values.sum::<Option<u64>>()
    };
    let error = ActionReconstructionError {
        action: name.to_owned(),
        by_name: sum(&|e| e.by_name),
        by_position: sum(&|e| e.by_position),
        least: sum(&|e| e.least),
    };
    let readable = error.by_name.is_some();
    Classification { reconstruction_error: readable.then_some(error), ..classification(name, found, options) }
}

/// A class with the exact comparison.
#[derive(Debug)]
pub(crate) struct ActionResult {
    pub(crate) classified: ClassifiedReply,
    /// True if it fits and behaviour is not compared.
    pub(crate) fits: bool,
    pub(crate) exact: Option<ExactAnswer>,
}

impl ActionResult {
    /// The paper's word, or `Fits`.
    pub(crate) const fn class(&self) -> &'static str {
        if self.fits { FITS[0] } else { self.classified.class.name() }
    }

    /// The primary class in words.
    pub(crate) const fn group(&self) -> &'static str {
        if self.fits { FITS[1] } else { self.classified.class.group().name() }
    }

    /// True if no fault was found.
    pub(crate) fn is_good(&self) -> bool {
        self.fits || self.classified.class == ResultClass::Equivalent
    }

    /// True if it is undecided.
    pub(crate) fn is_open(&self) -> bool {
        !self.fits && self.classified.class == ResultClass::Undecided
    }

    /// The rank of the class, 0 (wrong) to 1 (right).
    pub(crate) fn rating(&self) -> f64 {
        match self.classified.class.group() {
            _ if self.fits => 1.0,
            ResultGroup::Syntax => 0.0,
            ResultGroup::Semantic => 1.0 / 3.0,
            ResultGroup::Different | ResultGroup::Undecided => 2.0 / 3.0,
            ResultGroup::Equivalent => 1.0,
        }
    }
}

fn classification(name: &str, found: &ActionResult, options: &ClassVerifierOptions) -> Classification {
    let hde = found.classified.hde.as_ref();
    Classification {
        name: name.to_owned(),
        class: found.class().to_owned(),
        positional: found.classified.positional.map(|class| class.name().to_owned()),
        parameters: found
            .classified
            .parameters
            .as_ref()
            .map(|order| order.iter().map(|&i| i as u64).collect()),
        group: found.group().to_owned(),
        reason: found.classified.reason.clone(),
        heuristic: hde.map(|hde| domains::heuristic(hde, &options.hde())),
        exact: found.exact.clone(),
        ..Classification::default()
    }
}

/// The differences of the written action from the reference's, in three readings.
fn reconstruction_error(
    asked: &RequestedAction,
    classified: &ClassifiedReply,
    domain: &Domain,
) -> Option<ActionReconstructionError> {
    let written = classified.action.as_ref()?;
    let original = domain.actions.iter().find(|action| action.name.is(&asked.name.to_lowercase()))?;
    Some(domains::action_error(&asked.name, Some(&action_error(original, written))))
}

/// Exact comparisons in short.
pub(crate) fn exact(compared: &Comparisons) -> ExactAnswer {
    let verdict = compared.verdict();
    let different = compared.decisive().filter(|_| verdict == ComparisonVerdict::Different);
    ExactAnswer {
        decision: domains::decision(verdict).to_owned(),
        equal_up_to: compared.equal_up_to(),
        problem: different.map(|(place, _)| place as u64),
        difference: different.and_then(|(_, outcome)| domains::to_compared_problem("", outcome).difference),
        pairs: compared.pairs(),
    }
}
