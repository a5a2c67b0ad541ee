//! Functions on PDDL texts.

use crate::call::{Surroundings, answer, call};
use crate::port::Answer;
use crate::requests::{LimitsArgument, SourceArgument};
use planforge_app::diagnostics::SourceId;
use planforge_app::pddl::Sentences;
use planforge_app::pddl::compare::domains::{self, DomainComparisonMethod, DomainsRequest};
use planforge_app::pddl::compare::models::{self, ModelsRequest};
use planforge_app::pddl::draw::{PICTURE_LIMITS, PictureRequest, PictureResult, picture, standalone};
use planforge_app::pddl::format::{self as formatting, FormatRequest};
use planforge_app::pddl::plan::{PlanRequest, PlanSearch, plan};
use planforge_app::pddl::task::{SampleRequest, Task};
use planforge_app::pddl::validate::{
    FailingStep, ValidateReport, ValidateRequest, ValidateResult, gantt_svg, validate,
};
use planforge_app::{Context, Error, RequestLimits, Source, Status};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde_json::json;
use std::num::NonZeroU32;
use std::sync::Arc;

/// Seconds that the execution of a plan may take in the calling thread, where no signal is handled.
const SHORT: f64 = 0.1;

/// A domain and a problem without errors.
#[pyclass(frozen)]
pub(crate) struct NativeTask {
    /// The texts as they were read. Their files may have changed since.
    domain: Source,
    problem: Source,
    /// Those beside the domain's file.
    sentences: Sentences,
    /// The template of pictures beside the domain's file.
    template: Option<Source>,
    task: Arc<Task>,
    /// Of plans that are executed in the calling thread.
    context: Context,
}

/// The report of a verdict on a plan. Its JSON form is made when it is read.
#[pyclass(frozen)]
pub(crate) struct NativeVerdict {
    report: ValidateReport,
    /// Number of steps, and the first that cannot be executed; `None` if a text cannot be used.
    steps: Option<(usize, Option<FailingStep>)>,
}

/// The decision, the cost of a valid plan, and the report.
type Verdict<'py> = (Bound<'py, PyString>, Option<f64>, NativeVerdict);

impl NativeVerdict {
    fn of(py: Python<'_>, result: ValidateResult) -> Verdict<'_> {
        let report = result.report();
        let steps = result.validation.map(|one| (one.steps, one.failing_step));
        (PyString::intern(py, result.decision), report.cost, Self { report, steps })
    }
}

#[pymethods]
impl NativeVerdict {
    /// The report with `steps` and, if a step cannot be executed, `failing_step`.
    fn json(&self) -> String {
        let mut report = json!(self.report);
        if let Some((steps, failing)) = &self.steps {
            report["steps"] = json!(steps);
            if let Some(failing) = failing {
                report["failing_step"] = json!({"index": failing.index, "step": failing.text});
            }
        }
        report.to_string()
    }
}

/// Sampled states: facts, values, actions, walks as `i32` in the byte order of the machine, goals.
type NativeStates = (Vec<String>, Py<PyBytes>, Vec<String>, Py<PyBytes>, Py<PyBytes>);

/// Arguments of [`NativeTask::plan`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct PlanArguments {
    /// `best`, `first` or `optimal`; `top-k` with the next three.
    search: String,
    k: u32,
    quality: Option<f64>,
    semantics: Option<String>,
    nodes: Option<u64>,
    report_plans: bool,
    limits: LimitsArgument,
}

#[pymethods]
impl NativeTask {
    /// Reads the texts. The second value is their findings.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        domain: SourceArgument,
        problem: SourceArgument,
        surroundings: Surroundings,
    ) -> PyResult<(Self, String)> {
        let [domain, problem] = [domain, problem].map(Source::from);
        let texts = [domain.clone(), problem.clone()];
        let (task, (_, findings)) = call(py, surroundings, move |context| {
            let task = Task::read(context, &texts[0], &texts[1])?;
            let findings = answer(Status::Good, &task.findings().reported())?;
            Ok((task, findings))
        })?;
        let as_read = |number, given: &Source| {
            let file = task.findings().sources.get(SourceId(number));
            file.map_or_else(|| given.clone(), |file| Source::text(file.name.clone(), file.text.clone()))
        };
        let beside = |name: &str| match &domain {
            Source::File(path) => std::path::absolute(path.with_file_name(name)).ok().filter(|f| f.is_file()),
            _ => None,
        };
        let sentences = beside("sentences.toml")
            .map_or(Sentences::BesideDomain, |file| Sentences::Given(Source::File(file)));
        let template = beside("picture.toml").map(Source::File);
        let (domain, problem) = (as_read(0, &domain), as_read(1, &problem));
        let context = Context::default();
        Ok((Self { domain, problem, sentences, template, task: Arc::new(task), context }, findings))
    }

    /// Executes a plan. One that takes long is executed again, on a thread that an interrupt ends.
    fn validate<'py>(
        &self,
        py: Python<'py>,
        plan: SourceArgument,
        time_limit: Option<f64>,
        surroundings: &Bound<'py, PyAny>,
    ) -> PyResult<Verdict<'py>> {
        let plan = Source::from(plan);
        let is_short = time_limit.is_some_and(|seconds| seconds <= SHORT);
        let first = RequestLimits::seconds(if is_short { time_limit } else { Some(SHORT) });
        let result = py.detach(|| self.task.validate(&self.context, &plan, &first));
        if result.status != Status::TimeLimit || is_short {
            return Ok(NativeVerdict::of(py, result));
        }
        let task = Arc::clone(&self.task);
        let limits = RequestLimits::seconds(time_limit);
        let result =
            call(py, surroundings.extract()?, move |context| Ok(task.validate(context, &plan, &limits)))?;
        Ok(NativeVerdict::of(py, result))
    }

    /// Searches a plan.
    fn plan(&self, py: Python<'_>, request: PlanArguments, surroundings: Surroundings) -> PyResult<Answer> {
        let PlanArguments { search, k, quality, semantics, nodes, report_plans, limits } = request;
        let request = PlanRequest {
            domain: self.domain.clone(),
            problem: self.problem.clone(),
            search: match search.as_str() {
                "first" => PlanSearch::First,
                "optimal" => PlanSearch::Optimal,
                "top-k" => PlanSearch::TopK { k, quality, semantics },
                _ => PlanSearch::Best,
            },
            in_words: None,
            limits: limits.into(),
            nodes,
            threads: None,
            report_plans,
        };
        call(py, surroundings, move |context| {
            let result = plan(context, &request)?;
            answer(result.status, &result)
        })
    }

    /// A plan in sentences.
    fn words(
        &self,
        py: Python<'_>,
        plan: SourceArgument,
        limits: LimitsArgument,
        surroundings: Surroundings,
    ) -> PyResult<Answer> {
        let request = ValidateRequest {
            domain: self.domain.clone(),
            problem: Some(self.problem.clone()),
            plan: Some(plan.into()),
            in_words: Some(self.sentences.clone()),
            epsilon: None,
            limits: limits.into(),
        };
        call(py, surroundings, move |context| {
            let result = validate(context, &request)?;
            match &result.told {
                Some(told) => answer(result.status, &told.to_string()),
                None => Err(not_told(result)),
            }
        })
    }

    /// The texts of domain and problem.
    fn texts(&self) -> Vec<String> {
        let sources = &self.task.findings().sources;
        [0, 1]
            .into_iter()
            .filter_map(|n| sources.get(SourceId(n)))
            .map(|file| file.text.to_string())
            .collect()
    }

    /// Pictures of the states of a plan, or of the initial state. States that look like the one before are left out.
    fn pictures(
        &self,
        py: Python<'_>,
        plan: Option<SourceArgument>,
        template: Option<SourceArgument>,
        limits: LimitsArgument,
        surroundings: Surroundings,
    ) -> PyResult<Answer> {
        let request = PictureRequest {
            domain: self.domain.clone(),
            problem: self.problem.clone(),
            plan: plan.map(Into::into),
            template: template.map(Into::into).or_else(|| self.template.clone()),
            out: None,
            step: None,
            limits: PICTURE_LIMITS,
            work: limits.into(),
        };
        call(py, surroundings, move |context| {
            let PictureResult { states, status, .. } = picture(context, &request)?;
            let drawn =
                states.pictures.iter().map(|one| json!({"step": one.step, "svg": standalone(&one.svg)}));
            let steps = states.steps.iter().map(|step| states.names.get(step.action as usize));
            let pictures = json!({"pictures": drawn.collect::<Vec<_>>(), "steps": steps.collect::<Vec<_>>()});
            answer(status, &pictures)
        })
    }

    /// The Gantt chart of a plan with times, as SVG.
    fn gantt(
        &self,
        py: Python<'_>,
        plan: SourceArgument,
        limits: LimitsArgument,
        surroundings: Surroundings,
    ) -> PyResult<Answer> {
        let (task, plan, limits) = (Arc::clone(&self.task), Source::from(plan), limits.into());
        call(py, surroundings, move |context| {
            let result = task.validate(context, &plan, &limits);
            answer(result.status, &gantt_svg(&result)?)
        })
    }

    /// States at the ends of random walks.
    fn sample(
        &self,
        py: Python<'_>,
        request: (u32, NonZeroU32, u64),
        limits: LimitsArgument,
        surroundings: Surroundings,
    ) -> PyResult<NativeStates> {
        let (task, limits) = (Arc::clone(&self.task), RequestLimits::from(limits));
        let (states, longest, seed) = request;
        let request = SampleRequest { states, longest, seed };
        let sampled = call(py, surroundings, move |context| task.sample_states(context, &request, &limits))?;
        let walks: Vec<u8> = sampled.walks.iter().flat_map(|step| step.to_ne_bytes()).collect();
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes).unbind();
        Ok((sampled.facts, bytes(&sampled.values), sampled.actions, bytes(&walks), bytes(&sampled.goals)))
    }
}

/// The reason why a plan has no sentences.
fn not_told(result: ValidateResult) -> Error {
    if result.findings.has_errors() {
        return Error::findings(result.status, result.findings.diagnostics, result.findings.sources);
    }
    Error::usage("the plan is not told in sentences: it was not executed step by step", None)
}

/// Checks a domain, or a domain and a problem.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    domain: SourceArgument,
    problem: Option<SourceArgument>,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    let request = ValidateRequest {
        domain: domain.into(),
        problem: problem.map(Into::into),
        plan: None,
        in_words: None,
        epsilon: None,
        limits: RequestLimits::default(),
    };
    call(py, surroundings, move |context| {
        let result = validate(context, &request)?;
        answer(result.status, &result)
    })
}

/// Lays out a PDDL text. A file is read and not changed.
#[pyfunction]
pub(crate) fn format(py: Python<'_>, source: SourceArgument, surroundings: Surroundings) -> PyResult<Answer> {
    let request = FormatRequest { source: source.into(), check: true };
    call(py, surroundings, move |context| answer(Status::Good, &formatting::format(context, &request)?))
}

/// Arguments of [`compare`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CompareArguments {
    first: Py<NativeTask>,
    second: Py<NativeTask>,
    seed: u64,
    nodes: u64,
    limits: LimitsArgument,
}

/// Compares two models of one task.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    request: CompareArguments,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    let (first, second) = (request.first.get(), request.second.get());
    let request = ModelsRequest {
        domain: first.domain.clone(),
        problem: first.problem.clone(),
        candidate_domain: Some(second.domain.clone()),
        candidate_problem: Some(second.problem.clone()),
        sentences: first.sentences.clone(),
        seed: request.seed,
        nodes: request.nodes,
        limits: request.limits.into(),
    };
    call(py, surroundings, move |context| {
        let result = models::models(context, &request)?;
        let status = match result.decision {
            "equal" => Status::Good,
            "different" => Status::Negative,
            _ => Status::Undecided,
        };
        answer(status, &result)
    })
}

/// Arguments of [`compare_domains`].
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CompareDomainsArguments {
    first: SourceArgument,
    second: SourceArgument,
    problems: Vec<SourceArgument>,
    second_problems: Vec<SourceArgument>,
    match_names: bool,
    max_states: u64,
    max_depth: Option<u32>,
    limits: LimitsArgument,
}

/// Compares two domains on problems, by every sequence of actions.
#[pyfunction]
pub(crate) fn compare_domains(
    py: Python<'_>,
    request: CompareDomainsArguments,
    surroundings: Surroundings,
) -> PyResult<Answer> {
    let sources = |arguments: Vec<SourceArgument>| arguments.into_iter().map(Source::from).collect();
    let CompareDomainsArguments { max_states, max_depth, .. } = request;
    let request = DomainsRequest {
        first: request.first.into(),
        second: request.second.into(),
        problems: sources(request.problems),
        second_problems: sources(request.second_problems),
        method: DomainComparisonMethod::Exact { max_states, max_depth },
        match_interface: request.match_names,
        max_choices: None,
        semantics: None,
        limits: request.limits.into(),
    };
    call(py, surroundings, move |context| {
        let result = domains::domains(context, &request)?;
        answer(result.status, &result)
    })
}
