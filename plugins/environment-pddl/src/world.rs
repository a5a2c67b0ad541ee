//! A task opened for simulation, and the few that are kept so that the next call need not ground again.

use crate::codes;
use planforge_contract::{
    ActionInterface, ActionSignature, EnvironmentOpen, Failure, FailureClass, TypedName,
};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::ast::{self, TypeRef};
use planforge_pddl::{TaskSources, parse_domain, parse_problem};
use planforge_planning::task::Unsupported;
use planforge_planning::{GroundLimits, Simulator, StopReason, Validator, ground, normalize};
use planforge_plugin_common::judging::Deadline;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Most prepared tasks. A run asks about one task at a time, or about those of one fan-out.
const KEPT: usize = 16;

/// A reference domain and problem, ready to be executed.
pub(crate) struct World {
    domain: ast::Domain,
    problem: ast::Problem,
    /// The texts: source 0 the domain, 1 the problem.
    pub(crate) sources: SourceMap,
    /// Executes what it is given, without grounding.
    pub(crate) validator: Validator,
    /// Lists applicable actions; grounded by the first walk.
    simulator: OnceLock<Arc<Simulator>>,
}

/// Worlds by their texts: the whole texts, because a hash that collides would answer for another task.
#[derive(Default)]
pub(crate) struct Cache {
    kept: Mutex<VecDeque<CachedWorld>>,
}

struct CachedWorld {
    domain: String,
    problem: String,
    world: Arc<World>,
}

impl Cache {
    /// The task's world, opened now or before.
    pub(crate) fn open(&self, task: &EnvironmentOpen) -> Result<Arc<World>, Failure> {
        let domain = reference(task, "domain", task.domain.as_deref())?;
        let problem = reference(task, "problem", task.problem.as_deref())?;
        if let Some(world) = self.find(domain, problem) {
            return Ok(world);
        }
        // Opened outside the lock: two calls may do the same work once, but none waits for another task's.
        let world = Arc::new(World::open(domain, problem)?);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(CachedWorld {
            domain: domain.to_owned(),
            problem: problem.to_owned(),
            world: Arc::clone(&world),
        });
        Ok(world)
    }

    fn find(&self, domain: &str, problem: &str) -> Option<Arc<World>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|k| k.problem == problem && k.domain == domain).map(|k| Arc::clone(&k.world))
    }
}

impl World {
    fn open(domain_text: &str, problem_text: &str) -> Result<Self, Failure> {
        let ids = TaskSources::default();
        let mut sources = SourceMap::default();
        sources.add("domain", domain_text);
        sources.add("problem", problem_text);
        let domain = parse_domain(domain_text, ids.domain);
        let problem = parse_problem(problem_text, ids.problem);
        let found = [domain.diagnostics, problem.diagnostics].concat();
        if found.iter().any(Diagnostic::is_error) {
            return Err(unreadable(&found, &sources));
        }
        let lifted = normalize(&domain.value, &problem.value).map_err(|e| unreadable(&e, &sources))?;
        refuse(&lifted.unexecuted)?;
        Ok(Self {
            domain: domain.value,
            problem: problem.value,
            sources,
            validator: Validator::new(lifted),
            simulator: OnceLock::new(),
        })
    }

    /// Refuses what has no state between two steps, such as a durative action: only whole plans are judged then.
    pub(crate) fn refuse_partial_execution(&self) -> Result<(), Failure> {
        refuse(&self.validator.task().unsupported)
    }

    pub(crate) fn simulator(&self, budget: &mut Deadline<'_>) -> Result<Arc<Simulator>, Failure> {
        if let Some(simulator) = self.simulator.get() {
            return Ok(Arc::clone(simulator));
        }
        let task = ground(self.validator.task(), GroundLimits::default(), budget).map_err(limit_failure)?;
        let simulator = Arc::new(Simulator::new(Arc::new(task)));
        Ok(Arc::clone(self.simulator.get_or_init(|| simulator)))
    }

    /// The actions with their parameters, and every object: constants first, then those of the problem.
    pub(crate) fn interface(&self) -> ActionInterface {
        let objects = self.domain.constants.iter().chain(&self.problem.objects);
        let instantaneous = self.domain.actions.iter().map(|a| signature(&a.name, &a.parameters));
        let durative = self.domain.durative_actions.iter().map(|a| signature(&a.name, &a.parameters));
        ActionInterface {
            types: Vec::new(),
            actions: instantaneous.chain(durative).collect(),
            objects: objects.map(|o| to_typed_name(o, "")).collect(),
        }
    }
}

fn signature(name: &impl ToString, parameters: &[ast::TypedName]) -> ActionSignature {
    let parameters = parameters.iter().map(|parameter| to_typed_name(parameter, "?")).collect();
    ActionSignature { name: name.to_string(), parameters }
}

/// The failure of the first construct, if there is one.
fn refuse(constructs: &[Unsupported]) -> Result<(), Failure> {
    let Some(construct) = constructs.first() else { return Ok(()) };
    let message = format!("the simulator does not execute {}, which the reference uses", construct.what);
    Err(Failure::new(FailureClass::Request, codes::UNSUPPORTED, message))
}

fn to_typed_name(entry: &ast::TypedName, prefix: &str) -> TypedName {
    let name = entry.name.as_str();
    TypedName {
        name: name.strip_prefix(prefix).unwrap_or(name).to_owned(),
        type_name: entry.ty.as_ref().map_or_else(|| "object".to_owned(), type_text),
    }
}

fn type_text(ty: &TypeRef) -> String {
    let names: Vec<&str> = ty.alternatives.iter().map(|n| n.as_str()).collect();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        several => format!("(either {})", several.join(" ")),
    }
}

fn reference<'a>(task: &EnvironmentOpen, what: &str, text: Option<&'a str>) -> Result<&'a str, Failure> {
    text.filter(|t| !t.trim().is_empty()).ok_or_else(|| {
        let message =
            format!("task `{}` of suite `{}` has no reference {what} to simulate", task.task, task.suite);
        Failure::new(FailureClass::Request, codes::NO_REFERENCE, message)
    })
}

fn unreadable(found: &[Diagnostic], sources: &SourceMap) -> Failure {
    let lines: Vec<String> = found
        .iter()
        .filter(|d| d.is_error())
        .map(|d| planforge_contract::ReportedDiagnostic::of(d, sources))
        .map(|d| format!("{}:{}:{}: {} [{}]", d.file, d.line, d.column, d.message, d.code))
        .collect();
    Failure::new(
        FailureClass::Request,
        codes::UNREADABLE,
        format!("the reference cannot be read\n{}", lines.join("\n")),
    )
    .help("the reference belongs to the suite: check it with `planforge pddl validate`")
}

/// The failure of a call that a limit ended.
pub(crate) fn limit_failure(reason: StopReason) -> Failure {
    let (class, code, message) = match reason {
        StopReason::Cancelled => {
            (FailureClass::Cancelled, codes::STOPPED, "the run was interrupted".to_owned())
        }
        StopReason::Grounding => {
            (FailureClass::Limit, codes::TOO_LARGE, "the reference has too many ground actions".to_owned())
        }
        other => (FailureClass::Limit, codes::STOPPED, format!("{other} ended the call")),
    };
    Failure::new(class, code, message)
}
