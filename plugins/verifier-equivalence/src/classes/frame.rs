//! The context in which actions are judged: the reference of the environment, prepared once for all
//! candidates, or the given declarations.

use crate::classes::ClassVerifierOptions;
use crate::classes::codes;
use planforge_contract::api::Host;
use planforge_contract::{Failure, FailureClass, TaskView};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Domain;
use planforge_pddl::parse_domain;
use planforge_planning::equivalence::domains::ExactReference;
use planforge_planning::equivalence::hde::{self, HdeReferenceErrorKind};
use planforge_planning::walk::ModelError;
use planforge_planning::{Poll, ResourceLimits, StopReason};
use planforge_plugin_common::judging::{Deadline, Reference};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The context in which actions are judged.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The domain whose declarations count.
    pub(crate) domain: Domain,
    /// The names of its actions; empty if the pipeline does not give them.
    pub(crate) names: Vec<String>,
    /// The behaviour of the reference; `None` if it is not compared.
    pub(crate) behaviour: Option<Arc<Behaviour>>,
}

/// The behaviour of the reference.
#[derive(Debug)]
pub(crate) struct Behaviour {
    /// Number of problems.
    pub(crate) problems: usize,
    /// The plans of the problems.
    pub(crate) plans: Result<hde::HdeReference, Open>,
    /// Their models, where actions are compared exactly.
    pub(crate) exact: Option<Result<ExactReference, Open>>,
}

/// The reason why no action's behaviour can be judged.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// The reason as a clause.
    pub(crate) why: String,
    /// The limit, if it is one.
    pub(crate) stopped: Option<StopReason>,
}

/// References with their plans, most recently used first: each sample of a task may be a separate call.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    kept: Mutex<VecDeque<(Reference, Arc<Behaviour>)>>,
}

/// Most references that are kept.
const KEPT: usize = 4;

impl Cache {
    fn open(
        &self,
        reference: &Reference,
        options: &ClassVerifierOptions,
        budget: &mut Deadline<'_>,
    ) -> Result<Arc<Behaviour>, Failure> {
        let found = self.lock().iter().find(|(kept, _)| kept == reference).map(|(_, made)| Arc::clone(made));
        if let Some(made) = found {
            return Ok(made);
        }
        // Made outside the lock: two calls may do the same work once, but none waits for another task's.
        let made = Arc::new(Behaviour::open(reference, options, budget)?);
        // A result that this call's time limit cut short is not reused by other calls.
        if budget.poll() == Poll::Continue {
            let mut kept = self.lock();
            kept.truncate(KEPT - 1);
            kept.push_front((reference.clone(), Arc::clone(&made)));
        }
        Ok(made)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(Reference, Arc<Behaviour>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Frame {
    /// Reads the frame and makes it ready.
    ///
    /// # Errors
    /// There is none, it has errors, or the run was interrupted.
    pub(crate) fn open(
        host: &dyn Host,
        options: &ClassVerifierOptions,
        task: &TaskView,
        cache: &Cache,
        budget: &mut Deadline<'_>,
    ) -> Result<Self, Failure> {
        if !options.behaviour
            && let Some(given) = given_frame(task)?
        {
            return Ok(given);
        }
        let reference = Reference::open(host).map_err(|not| not.failure(&codes::SHOWN))?;
        let behaviour = match options.behaviour {
            true => Some(cache.open(&reference, options, budget)?),
            false => None,
        };
        let names = reference.domain.actions.iter().map(|action| action.name.to_string()).collect();
        // Without behaviour the reference's actions are never used.
        let domain = match options.behaviour {
            true => reference.domain,
            false => Domain { actions: Vec::new(), ..reference.domain },
        };
        Ok(Self { domain, names, behaviour })
    }
}

/// The declarations and the names of actions that the pipeline gives.
fn given_frame(task: &TaskView) -> Result<Option<Frame>, Failure> {
    let given = &task.materials.actions;
    let Some(header) = given.header.as_deref() else { return Ok(None) };
    let unreadable = |name: &str, why: String| {
        let message = format!("the material `{name}` of suite `{}` cannot be read: {why}", task.suite);
        Failure::new(FailureClass::Request, codes::MATERIAL, message)
    };
    let read = parse_domain(header, SourceId(0));
    if let Some(error) = read.diagnostics.into_iter().find(|d| d.is_error()) {
        return Err(unreadable("domain.header", error.message));
    }
    if let Some(error) = task.materials.read_error("actions") {
        return Err(unreadable("actions", error));
    }
    let names = given.described.iter().flatten().map(|action| action.name.clone()).collect();
    Ok(Some(Frame { domain: read.value, names, behaviour: None }))
}

impl Behaviour {
    fn open(
        reference: &Reference,
        options: &ClassVerifierOptions,
        budget: &mut Deadline<'_>,
    ) -> Result<Self, Failure> {
        let problems = reference.problems();
        let plans = hde::HdeReference::new(&reference.domain, &problems, &options.hde(), budget);
        let plans = match plans {
            Ok(plans) => Ok(plans),
            Err(no) => {
                let number = no.problem + 1;
                Err(match no.why {
                    HdeReferenceErrorKind::Model(error) => Open::of(error)?,
                    HdeReferenceErrorKind::Limit(StopReason::Cancelled) => return Err(interruption_failure()),
                    HdeReferenceErrorKind::Limit(reason) => Open {
                        why: format!(
                            "{reason} was reached before a plan of reference problem {number} was found"
                        ),
                        stopped: Some(reason),
                    },
                    HdeReferenceErrorKind::Unsolvable(_) => Open {
                        why: format!(
                            "reference problem {number} has no plan, so plans cannot be compared on it"
                        ),
                        stopped: None,
                    },
                })
            }
        };
        let exact = match options.exact {
            false => None,
            true => {
                let limits = options.exact_limits();
                Some(match ExactReference::new(&reference.domain, &problems, &limits, budget) {
                    Ok(models) => Ok(models),
                    Err(not) => Err(Open::of(not.error)?),
                })
            }
        };
        Ok(Self { problems: problems.len(), plans, exact })
    }
}

impl Open {
    /// The open judgement for a reference that is not a model.
    ///
    /// # Errors
    /// The reference has errors, or the run was interrupted.
    fn of(error: ModelError) -> Result<Self, Failure> {
        match error {
            ModelError::Limit(StopReason::Cancelled) => Err(interruption_failure()),
            ModelError::Limit(reason) => Ok(Self {
                why: format!("{reason} was reached while the reference was made ready"),
                stopped: Some(reason),
            }),
            ModelError::Unsupported(_) => Ok(Self { why: format!("the reference: {error}"), stopped: None }),
            ModelError::Invalid(_) => {
                let message = format!("the reference cannot be executed: {error}");
                Err(Failure::new(FailureClass::Request, codes::REFERENCE, message)
                    .help("the reference belongs to the suite: check it with `planforge pddl validate`"))
            }
        }
    }
}

/// The run is being interrupted: no verdict.
pub(crate) fn interruption_failure() -> Failure {
    Failure::new(FailureClass::Cancelled, codes::CANCELLED, "the run was interrupted")
}
