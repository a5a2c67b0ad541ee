//! Verifiers against labelled mutants of reference domains.

use super::critic::Critic;
pub use super::critic::CriticRequest;
use super::{WrittenFiles, check_suite_names, run_on_threads, write_artefacts};
use crate::context::Context;
use crate::error::Error;
use crate::events::Notice;
use crate::status::Status;
use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_evaluate::calibration::{
    Calibration, CalibrationSpec, MutantKind, judge_all, labelled_sample, mutants, references,
};
use planforge_evaluate::study::{StudySuite, load_suites};
use serde::{Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A measurement of how often verifiers accept a wrong domain or reject a right one.
#[derive(Debug, Clone)]
pub struct CalibrateRequest {
    /// Suites: folders with domain.pddl and problems, or folders of such folders. Suites without a domain are skipped.
    pub suites: Vec<PathBuf>,
    /// Only the suites of these names; empty for all.
    pub only: Vec<String>,
    /// The problems of every suite that labels and verifiers rest on; empty for the first two of each.
    pub problems: Vec<String>,
    /// Number and kinds of mutants, verifiers, limits, seed.
    pub spec: CalibrationSpec,
    /// Threads; `None` for all cores.
    pub jobs: Option<u32>,
    /// One more verifier, called for some of the mutants.
    pub critic: Option<CriticRequest>,
    /// Folder for the files, and in `runs` for the critic's run folder.
    pub out: Option<PathBuf>,
}

/// The measurement. Its JSON form is the calibration.
#[derive(Debug, Clone)]
pub struct CalibrateResult {
    /// Figures of every verifier.
    pub calibration: Calibration,
    /// The written files, if a folder was named.
    pub written: Option<WrittenFiles>,
    /// Name and run folder of the critic.
    pub critic: Option<(String, PathBuf)>,
    /// Rewrites that must mean the same and were found different, which is a fault of planforge.
    pub faults: Vec<String>,
    critic_status: Status,
}

impl CalibrateResult {
    /// Negative if a rewrite that must mean the same was found different; else what kept the critic from all judgements.
    pub fn status(&self) -> Status {
        if self.faults.is_empty() { self.critic_status } else { Status::Negative }
    }
}

impl Serialize for CalibrateResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.calibration.serialize(serializer)
    }
}

/// Problems of a suite where none are named.
const PROBLEMS: usize = 2;

/// Judges mutants of reference domains or problems with every verifier. Each has one change: a mistake of a stated kind, or a rewrite
/// with the same meaning; its label comes from the exact comparison with the reference.
///
/// # Errors
/// Suites that cannot be read, a critic that does not fit, files that cannot be written.
pub fn calibrate(context: &Context, request: &CalibrateRequest) -> Result<CalibrateResult, Error> {
    let spec = &request.spec;
    let of_problem = spec.kinds.iter().find(|kind| matches!(kind, MutantKind::Problem(_)));
    if let (Some(kind), Some(_)) = (of_problem, &request.critic) {
        let message = format!("a critic judges domains, and `{kind}` changes problems");
        let failure = Failure::new(FailureClass::Request, "calibrate.critic", message)
            .help("leave out --critic, or name other --kinds");
        return Err(Error::from(failure).with_status(Status::Usage));
    }
    let paths: Vec<PathBuf> = request.suites.iter().map(|path| context.path(path)).collect();
    let out = request.out.as_ref().map(|out| context.path(out));
    let suites = suites(context, request, &paths)?;
    let critic = request.critic.as_ref();
    let critic = critic
        .map(|of| Ok::<_, Error>((of, Critic::new(context, of, (&paths, &suites), spec.seed)?)))
        .transpose()?;
    let made = mutants(&suites, spec);
    if made.len() < spec.mutants {
        context.note(Notice::Remark(format!(
            "note: these suites have {} different mutants of these kinds, not {}",
            made.len(),
            spec.mutants
        )));
    }
    let started = Instant::now();
    let clock = move || started.elapsed();
    let judged = run_on_threads(context, request.jobs, |threads, watch| {
        let references = references(&suites, spec, threads, watch)?;
        judge_all(&references, &made, spec, threads, watch, &clock)
    })?;
    let asked = critic
        .map(|(of, critic)| {
            let chosen = labelled_sample(&judged, of.mutants, spec.seed);
            Ok::<_, Error>((critic.ask(context, of, out.as_deref(), &made, &chosen)?, critic.name))
        })
        .transpose()?;
    let critic_status = asked.as_ref().map_or(Status::Good, |(result, _)| result.status);
    let critic = asked.as_ref().map(|(result, name)| (name.clone(), result.run.clone()));
    let others: Vec<_> = asked.into_iter().map(|(result, _)| result.judgements).collect();
    let calibration = Calibration::new(&suites, &made, &judged, &others, spec);
    let files = calibration.artefacts()?;
    let written = out.map(|out| write_artefacts(&out, &files)).transpose()?;
    let faults = calibration.broken_rewrites();
    let faults = faults.iter().map(|mutant| {
        format!(
            "{}, mutant {}: a rewrite that must mean the same is different: {}",
            mutant.suite, mutant.number, mutant.change
        )
    });
    let faults = faults.collect();
    Ok(CalibrateResult { calibration, written, critic, faults, critic_status })
}

/// The suites with the selected problems.
fn suites(
    context: &Context,
    request: &CalibrateRequest,
    paths: &[PathBuf],
) -> Result<Vec<StudySuite>, Error> {
    let (bare, paths): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| has_no_domain(path));
    for path in bare {
        let text = format!("note: {} has no domain.pddl and is passed over", path.display());
        context.note(Notice::Remark(text));
    }
    let paths: Vec<PathBuf> = paths.into_iter().cloned().collect();
    let most = if request.problems.is_empty() { PROBLEMS } else { usize::MAX };
    let refused = |found, sources| Error::findings(Status::Input, found, sources);
    let mut suites = load_suites(&paths, most).map_err(|(found, sources)| refused(found, sources))?;
    let known: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
    check_suite_names("--only", &request.only, &known)?;
    suites.retain(|suite| request.only.is_empty() || request.only.contains(&suite.name));
    if suites.is_empty() {
        let missing = Diagnostic::error("study.no-suite", "there is no reference domain to make mutants of")
            .help("a suite is a folder with domain.pddl and problems beside it");
        return Err(refused(vec![missing], SourceMap::default()));
    }
    let mut missing = Vec::new();
    for suite in suites.iter_mut().filter(|_| !request.problems.is_empty()) {
        for name in request.problems.iter().filter(|name| suite.tasks.iter().all(|t| t.stem != **name)) {
            let known: Vec<&str> = suite.tasks.iter().map(|t| t.stem.as_str()).collect();
            let message = format!("{} has no problem `{name}`", suite.name);
            let help = format!("its problems are {}", known.join(", "));
            missing.push(Diagnostic::error("calibrate.problem", message).help(help));
        }
        suite.tasks.retain(|task| request.problems.contains(&task.stem));
    }
    match missing.is_empty() {
        true => Ok(suites),
        false => Err(refused(missing, SourceMap::default())),
    }
}

/// A suite whose environment is a program: it has nothing that mutants could be made of.
fn has_no_domain(path: &Path) -> bool {
    path.join("suite.toml").is_file() && !path.join("domain.pddl").is_file()
}
