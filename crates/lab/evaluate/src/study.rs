//! Studies without a language model: what small damage does to a domain, and what the walk metric makes of it.
//!
//! A study takes [`StudySuite`]s, runs on all cores and gives [`Artefact`](crate::Artefact)s: CSV, JSON, text and SVG. Every random choice
//! derives from the study's seed, the suite's name and the place of the draw ([`stream`]), so that neither the number of
//! threads nor the other suites change a figure.

pub mod ew_correlation;
pub mod omissions;
pub mod scaling;

use planforge_contract::{Failure, FailureClass};
use planforge_diagnostics::{Diagnostic, SourceMap};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::random::Random;
use planforge_pddl::{
    MAX_TEXT_BYTES, TaskSources, check_domain, check_problem, natural, parse_domain, parse_problem,
    read_pddl_bytes,
};
use planforge_planning::{Poll, ResourceLimits, StopReason};
use planforge_record::read_regular;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Computes each item on `threads` threads, in any order, and gives the results in the items' order.
///
/// # Errors
/// `study.cancelled`, `study.threads`.
pub fn run_all<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    watch: &Watch,
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, Failure> {
    watch.expect(items.len() as u64);
    // One item at a time: some take a thousand times as long as others.
    let next = AtomicUsize::new(0);
    let take_items = || {
        let mut done = Vec::new();
        while let Some((index, item)) = next_item(items, &next) {
            done.push((index, one(item, watch, &work)?));
        }
        Some(done)
    };
    let done: Option<Vec<Vec<(usize, R)>>> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len()))
            .map(|_| std::thread::Builder::new().spawn_scoped(scope, take_items))
            .collect::<Result<_, _>>()
            .map_err(|e| {
                next.store(items.len(), Ordering::Relaxed);
                Failure::new(FailureClass::System, "study.threads", format!("no threads to work with: {e}"))
            })?;
        let mut done = vec![take_items()];
        for other in others {
            done.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok::<_, Failure>(done.into_iter().collect())
    })?;
    let mut done: Vec<(usize, R)> = done
        .ok_or_else(|| Failure::new(FailureClass::Cancelled, "study.cancelled", "the study was interrupted"))?
        .into_iter()
        .flatten()
        .collect();
    done.sort_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

fn next_item<'i, T>(items: &'i [T], next: &AtomicUsize) -> Option<(usize, &'i T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    items.get(index).map(|item| (index, item))
}

fn one<T, R>(item: &T, watch: &Watch, work: &impl Fn(&T) -> R) -> Option<R> {
    if watch.cancelled() {
        return None;
    }
    let result = work(item);
    watch.advance(1);
    // Cancelled work has no result.
    (!watch.cancelled()).then_some(result)
}

/// A budget of bytes that also ends when the study does. No clock: the same limits give the same outcome on every machine.
#[derive(Debug)]
pub struct StudyBudget<'a> {
    watch: &'a Watch,
    bytes: u64,
}

impl<'a> StudyBudget<'a> {
    /// At most so many bytes for the tables of one task.
    pub fn new(watch: &'a Watch, bytes: u64) -> Self {
        Self { watch, bytes }
    }
}

impl ResourceLimits for StudyBudget<'_> {
    fn poll(&mut self) -> Poll {
        if self.watch.cancelled() { Poll::Stop(StopReason::Cancelled) } else { Poll::Continue }
    }
    fn charge(&mut self, bytes: u64) -> Poll {
        match self.bytes.checked_sub(bytes) {
            Some(rest) => {
                self.bytes = rest;
                self.poll()
            }
            None => Poll::Stop(StopReason::Memory),
        }
    }
    fn release(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }
    fn bytes_left(&self) -> u64 {
        self.bytes
    }
}

/// A domain with its problems.
#[derive(Debug, Clone)]
pub struct StudySuite {
    /// The folder's name.
    pub name: String,
    /// The reference domain.
    pub domain: Domain,
    /// The problems, in the order of their names.
    pub tasks: Vec<StudyTask>,
}

/// A problem of a suite.
#[derive(Debug, Clone)]
pub struct StudyTask {
    /// The file's name without `.pddl`.
    pub stem: String,
    /// The reference problem.
    pub problem: Problem,
}

/// Reads suites. Each path is a suite's folder or a folder of such folders; at most `tasks` problems of each are read, the
/// first by name.
///
/// # Errors
/// `study.no-suite`, and everything that reading and checking the PDDL files finds wrong, with the texts it points into.
/// Warnings are left out: a study judges no spelling.
pub fn load_suites(paths: &[PathBuf], tasks: usize) -> Result<Vec<StudySuite>, (Vec<Diagnostic>, SourceMap)> {
    let mut loader = Loader { tasks, ..Loader::default() };
    for path in paths {
        loader.path(path);
    }
    loader.suites.sort_by(|a, b| a.name.cmp(&b.name));
    if loader.diagnostics.is_empty() { Ok(loader.suites) } else { Err((loader.diagnostics, loader.sources)) }
}

#[derive(Default)]
struct Loader {
    tasks: usize,
    suites: Vec<StudySuite>,
    diagnostics: Vec<Diagnostic>,
    sources: SourceMap,
}

impl Loader {
    fn path(&mut self, path: &Path) {
        if path.join("domain.pddl").is_file() {
            return self.suite(path);
        }
        let mut folders = entries(path);
        folders.retain(|folder| folder.join("domain.pddl").is_file());
        if folders.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("study.no-suite", format!("{} holds no suite", path.display()))
                    .help("a suite is a folder with domain.pddl and problems beside it"),
            );
        }
        for folder in folders {
            self.suite(&folder);
        }
    }

    fn suite(&mut self, folder: &Path) {
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = name.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if self.suites.iter().any(|suite| suite.name == name) {
            self.diagnostics.push(
                Diagnostic::error("study.no-suite", format!("there are two suites of the name `{name}`"))
                    .help("figures are listed by name; rename one folder"),
            );
            return;
        }
        let Some((domain_source, text)) = self.text(&folder.join("domain.pddl")) else { return };
        let parsed = parse_domain(&text, domain_source);
        self.errors(parsed.diagnostics);
        let domain = parsed.value;
        self.errors(check_domain(&domain, domain_source));
        let mut files = entries(folder);
        files.retain(|file| is_problem(&file.file_name().unwrap_or_default().to_string_lossy()));
        if files.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("study.no-suite", format!("{} holds no problem", folder.display()))
                    .help("put problems beside domain.pddl, for example p01.pddl"),
            );
        }
        let mut tasks = Vec::new();
        for file in files.iter().take(self.tasks) {
            let Some((source, text)) = self.text(file) else { continue };
            let parsed = parse_problem(&text, source);
            self.errors(parsed.diagnostics);
            let sources = TaskSources { domain: domain_source, problem: source };
            self.errors(check_problem(&domain, &parsed.value, sources));
            let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            tasks.push(StudyTask { stem, problem: parsed.value });
        }
        self.suites.push(StudySuite { name, domain, tasks });
    }

    fn text(&mut self, path: &Path) -> Option<(planforge_diagnostics::SourceId, String)> {
        let name = path.display().to_string();
        let bytes = match read_regular(path, MAX_TEXT_BYTES as u64) {
            Ok(bytes) => bytes,
            Err(error) => {
                let unreadable =
                    Diagnostic::error("study.no-suite", format!("{name} cannot be read: {error}"));
                self.diagnostics.push(unreadable.help("check the path and its permissions"));
                return None;
            }
        };
        match read_pddl_bytes(&name, &bytes) {
            // Studies report errors alone.
            Ok(read) => Some((self.sources.add(name, read.text.clone()), read.text)),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn errors(&mut self, found: Vec<Diagnostic>) {
        self.diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
    }
}

/// Neither a domain (`domain_validation.pddl`, for example) nor an in-context example nor an empty template.
fn is_problem(file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".pddl") else { return false };
    let other = ["domain", "p_example"].iter().any(|start| stem.starts_with(start));
    !other && !stem.ends_with("_template") && !stem.ends_with(".template")
}

/// The entries of a folder by name; numbers in names compare as numbers, so that p2 comes before p10.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).map(|list| list.flatten().map(|e| e.path()).collect()).unwrap_or_default();
    paths.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    paths
}

/// Progress and cancellation of a study, shared with a progress bar.
#[derive(Debug, Default)]
pub struct Watch {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: Arc<AtomicBool>,
}

impl Watch {
    /// A watch that ends the study when somebody sets the flag.
    pub fn new(cancelled: Arc<AtomicBool>) -> Self {
        Self { cancelled, ..Self::default() }
    }

    /// The flag that ends the study, for work that asks it in its own way.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Units of work done and to do.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }

    /// Ends the study as soon as possible; it gives no result then.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
    }

    /// True if [`Watch::cancel`] was called.
    pub fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Says how much there is to do.
    pub fn expect(&self, units: u64) {
        self.total.fetch_add(units, Ordering::Relaxed);
    }

    /// Says that so much of it is done.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }
}

/// The random numbers of one draw: of a seed, a suite's name and the draw's place in the study.
pub fn stream(seed: u64, name: &str, place: &[u64]) -> Random {
    let mut state = Random::new(seed).next_u64();
    for value in name.bytes().map(u64::from).chain([u64::MAX]).chain(place.iter().copied()) {
        state = Random::stream(state, value).next_u64();
    }
    Random::new(state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        let items: Vec<u64> = (0..500).collect();
        let watch = Watch::default();
        let one = run_all(&items, 1, &watch, |i| i * i).unwrap();
        assert_eq!(run_all(&items, 4, &watch, |i| i * i).unwrap(), one);
        assert_eq!(watch.progress(), (1000, 1000));
    }

    #[test]
    fn a_cancelled_study_has_no_result() {
        let watch = Watch::default();
        let failure = run_all(&[1, 2, 3], 2, &watch, |_| watch.cancel()).unwrap_err();
        assert_eq!((failure.class, failure.code.as_str()), (FailureClass::Cancelled, "study.cancelled"));
        assert_eq!(StudyBudget::new(&watch, 10).poll(), Poll::Stop(StopReason::Cancelled));
        assert_eq!(StudyBudget::new(&watch, 10).charge(11), Poll::Stop(StopReason::Memory));
    }

    fn own(suite: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/suites").join(suite)
    }

    #[test]
    fn a_suite_and_a_folder_of_suites_are_read() {
        let one = load_suites(&[own("garden")], 3).unwrap();
        assert_eq!((one.len(), one[0].name.as_str()), (1, "garden"));
        let stems: Vec<&str> = one[0].tasks.iter().map(|t| t.stem.as_str()).collect();
        assert_eq!(stems, ["p01", "p02", "p03"], "the example is no task");
        let all = load_suites(&[own("")], 1).unwrap();
        assert!(all.len() > 1 && all.iter().all(|s| s.tasks.len() == 1));
    }

    #[test]
    fn folders_that_are_not_suites_are_named() {
        let (diagnostics, _) =
            load_suites(&[own("../../crates"), own("garden"), own("garden")], 1).unwrap_err();
        assert_eq!(diagnostics.len(), 2, "{diagnostics:?}");
        assert!(diagnostics.iter().all(|d| d.code == "study.no-suite"));
    }

    #[test]
    fn draws_depend_on_seed_name_and_place_alone() {
        let first = |seed, name, place: &[u64]| stream(seed, name, place).next_u64();
        let draws = [
            first(1, "depot", &[0, 1]),
            first(1, "depot", &[1, 0]),
            first(1, "rovers", &[0, 1]),
            first(2, "depot", &[0, 1]),
            first(1, "depot", &[0]),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[..i].iter().all(|b| a != b), "{draws:?}");
        }
        assert_eq!(first(1, "depot", &[0, 1]), draws[0]);
    }
}
