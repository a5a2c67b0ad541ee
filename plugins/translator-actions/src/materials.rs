//! The actions in the task's materials, and the examples of a question.

use crate::codes;
use crate::options::{ActionTranslatorOptions, Mode};
use crate::prompt::Frame;
use planforge_contract::{
    ActionDescription, ActionExample, Failure, FailureClass, PredicateDescription, TaskView,
};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Domain;
use planforge_pddl::parse_domain;
use planforge_pddl::random::Random;

/// The materials of one task.
#[derive(Debug)]
pub(crate) struct Materials {
    /// The actions to write, in the order of the suite.
    pub(crate) actions: Vec<ActionDescription>,
    /// The given predicates; none if they grow.
    pub(crate) predicates: Vec<PredicateDescription>,
    /// The domain without its actions, and without its predicates and what is made of them where predicates grow.
    pub(crate) header: Domain,
    /// The frame that the header declares.
    pub(crate) frame: Frame,
    /// Solved actions of other suites.
    pool: Vec<ActionExample>,
}

impl Materials {
    /// Reads them.
    ///
    /// # Errors
    /// Class `Request`: the pipeline gives no actions in words, `only` names one that there is not, or there are fewer
    /// examples than each question shows.
    pub(crate) fn of(task: &TaskView, options: &ActionTranslatorOptions) -> Result<Self, Failure> {
        let given = &task.materials.actions;
        let header = given.header.as_deref().ok_or_else(|| not_given(task, "domain.header"))?;
        let mut actions = present(task, "actions", given.described.as_ref())?;
        if let Some(only) = &options.only {
            let known = |name: &String| actions.iter().any(|a| a.name.eq_ignore_ascii_case(name));
            let unknown: Vec<&str> = only.iter().filter(|name| !known(name)).map(String::as_str).collect();
            if !unknown.is_empty() {
                let names: Vec<&str> = actions.iter().map(|a| a.name.as_str()).collect();
                let message = format!("suite `{}` describes no action {}", task.suite, unknown.join(", "));
                return Err(Failure::new(FailureClass::Request, codes::UNKNOWN_ACTION, message)
                    .help(format!("its actions are {}", names.join(", "))));
            }
            actions.retain(|action| only.iter().any(|name| name.eq_ignore_ascii_case(&action.name)));
        }
        let pool = present(task, "example.actions", given.examples.as_ref())?;
        if pool.len() < options.examples as usize {
            let message = format!(
                "each request shows {} examples, and there are {} actions of other suites",
                options.examples,
                pool.len()
            );
            return Err(Failure::new(FailureClass::Request, codes::FEW_EXAMPLES, message)
                .help("list more suites in `action_examples` of [given], or lower `examples`"));
        }
        let mut header = parse_domain(header, SourceId(0)).value;
        let mut predicates = Vec::new();
        match options.mode {
            Mode::Given => predicates = present(task, "predicates.declared", given.predicates.as_ref())?,
            Mode::Grown => {
                header.predicates.clear();
                header.functions.clear();
                header.derived.clear();
                header.constraints = None;
            }
        }
        Ok(Self { actions, predicates, frame: Frame::of(&header), header, pool })
    }

    /// So many examples, uniformly and each at most once.
    pub(crate) fn draw(&self, count: u32, random: &mut Random) -> Vec<&ActionExample> {
        let mut left: Vec<usize> = (0..self.pool.len()).collect();
        let mut drawn = Vec::new();
        while drawn.len() < count as usize && !left.is_empty() {
            let index = left.swap_remove(random.below(left.len() as u64) as usize);
            drawn.extend(self.pool.get(index));
        }
        drawn
    }
}

/// A copy of a material.
///
/// # Errors
/// Class `Request`: it is not given, or cannot be read.
fn present<T: Clone>(task: &TaskView, name: &str, material: Option<&Vec<T>>) -> Result<Vec<T>, Failure> {
    material.cloned().ok_or_else(|| match task.materials.read_error(name) {
        Some(error) => {
            let message = format!("the material `{name}` of suite `{}` cannot be read: {error}", task.suite);
            Failure::new(FailureClass::Request, codes::NOT_GIVEN, message)
        }
        None => not_given(task, name),
    })
}

fn not_given(task: &TaskView, name: &str) -> Failure {
    let message = format!("there is no material `{name}` for suite `{}`", task.suite);
    Failure::new(FailureClass::Request, codes::NOT_GIVEN, message)
        .help("set `actions = \"base\"` (or flipped, random) in [given] of the pipeline file, without `predicates = false` unless the plugin's mode is `grown`")
}
