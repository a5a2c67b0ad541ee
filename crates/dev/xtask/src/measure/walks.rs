//! Figures for exploration walks: the score of the paper's own code against pymimir, in one run on the same
//! texts; growth with the number of objects; exact mode against sampled walks; and scores observed with the
//! paper's code.

mod check;
mod growth;
mod peer;

use crate::pairs;
use planforge_pddl::mutate::{Mutation, MutationKind, MutationPlace, TermList, all_mutations};
use planforge_planning::Unlimited;
use planforge_planning::walk::{
    GroundingMethod, Model, ModelOptions, SampleSpec, Semantics, TaskDirections, WalkScore, sample_direction,
};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct WalksArgs {
    /// The folder of suites.
    #[arg(long, default_value = "../shared/suites")]
    suites: PathBuf,
    /// A Python environment with `pymimir` installed; without it only our times are printed.
    #[arg(long)]
    venv: Option<PathBuf>,
    /// Method for applicable actions: auto, ground or lifted.
    #[arg(long, default_value = "auto")]
    method: String,
    /// Measurements of each task; the fastest of each side counts.
    #[arg(long, default_value_t = 10)]
    repeats: usize,
    /// Instead: scores with one precondition removed, with those observed with the paper's own code.
    #[arg(long)]
    scores: bool,
    /// Instead: exact mode against sampled walks on every domain where exact mode fits.
    #[arg(long)]
    exact_against_sampled: bool,
    /// Walks a direction for `--exact-against-sampled`.
    #[arg(long, default_value_t = 1_000_000)]
    walks: u32,
    /// Instead: times and walk steps a second with 10, 100 and 1000 objects.
    #[arg(long)]
    growth: bool,
}

impl WalksArgs {
    fn method(&self) -> Result<GroundingMethod, String> {
        match self.method.as_str() {
            "auto" => Ok(GroundingMethod::Auto),
            "ground" => Ok(GroundingMethod::Ground),
            "lifted" => Ok(GroundingMethod::Lifted),
            other => Err(format!("`{other}` is not a method: auto, ground or lifted")),
        }
    }
}

/// Prints the requested tables.
pub(crate) fn run(args: &WalksArgs) -> Result<(), String> {
    if args.scores {
        return check::scores(&args.suites);
    }
    if args.exact_against_sampled {
        return check::exact_against_sampled(&args.suites, args.walks);
    }
    if args.growth {
        return growth::run(args.venv.as_deref(), args.repeats);
    }
    peer::run(&args.suites, args.venv.as_deref(), args.method()?, args.repeats)
}

/// A domain and a problem as texts.
#[derive(Clone)]
struct Texts {
    domain: String,
    problem: String,
}

impl Texts {
    fn read(folder: &Path, problem: &str) -> Result<Self, String> {
        let read = |name: String| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
        };
        Ok(Texts { domain: read("domain.pddl".to_owned())?, problem: read(format!("{problem}.pddl"))? })
    }

    fn model(&self, semantics: Semantics) -> Result<Model, String> {
        self.model_by(semantics, GroundingMethod::default())
    }

    fn model_by(&self, semantics: Semantics, method: GroundingMethod) -> Result<Model, String> {
        let options = ModelOptions { semantics, method, ..ModelOptions::default() };
        Model::from_texts(&self.domain, &self.problem, &options, &mut Unlimited).map_err(|e| e.to_string())
    }

    /// The same task in a domain with one mistake.
    fn with(&self, mutation: &Mutation) -> Self {
        let domain = mutation.apply(&parse(&self.domain));
        Texts { domain: planforge_pddl::print_domain(&domain), problem: self.problem.clone() }
    }

    /// The domains that lack one precondition.
    fn omissions(&self) -> Vec<Mutation> {
        let mut all = all_mutations(&parse(&self.domain), MutationKind::Omission);
        all.retain(|m| matches!(m.place, MutationPlace::Term { list: TermList::Precondition, .. }));
        all
    }
}

fn parse(domain: &str) -> planforge_pddl::ast::Domain {
    planforge_pddl::parse_domain(domain, planforge_diagnostics::SourceId(0)).value
}

/// The score that the paper's own code would give: 100 walks, 50 a direction, lengths cycling 1 to 10; with the steps walked.
fn reference_code_score(reference: &Model, candidate: &Model, seed: u64) -> Result<(WalkScore, u64), String> {
    let sample = |source, target, seed| {
        sample_direction(source, target, &SampleSpec::reference_code(seed), &mut Unlimited)
            .map_err(|e| e.to_string())
    };
    let there = sample(reference, candidate, 2 * seed)?;
    let back = sample(candidate, reference, 2 * seed + 1)?;
    let steps = [&there, &back].into_iter().flatten().map(|d| d.steps).sum();
    let directions = TaskDirections {
        reference_to_candidate: there.and_then(|d| d.score()),
        candidate_to_reference: back.and_then(|d| d.score()),
    };
    Ok((WalkScore::combine(&[directions]), steps))
}

/// One task of every domain folder below a folder of suites.
fn one_task_each(suites: &Path) -> Result<Vec<(String, Texts)>, String> {
    let mut tasks: Vec<(String, Texts)> = Vec::new();
    for pair in pairs::find(suites)? {
        let name = pair.domain.parent().unwrap_or(&pair.domain);
        let name = name.strip_prefix(suites).unwrap_or(name).display().to_string();
        if tasks.last().is_some_and(|(last, _)| *last == name) {
            continue;
        }
        let read = |path: &Path| std::fs::read(path).map(|b| String::from_utf8_lossy(&b).into_owned());
        if let (Ok(domain), Ok(problem)) = (read(&pair.domain), read(&pair.problem)) {
            tasks.push((name, Texts { domain, problem }));
        }
    }
    Ok(tasks)
}
