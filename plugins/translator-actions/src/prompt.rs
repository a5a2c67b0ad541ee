//! The prompts: templates in `templates/`, filled with descriptions and PDDL. What is inserted is data and is never read as a template.

use crate::grown::{declaration, mentions};
use crate::{ActionTranslatorOptions, Mode, codes};
use planforge_contract::{
    ActionDescription, ActionExample, Failure, FailureClass, PredicateDescription, TaskView,
};
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::Domain;
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, print_typed_list};
use planforge_plugin_sdk::prompt::Templates;
use serde::Serialize;

const TEMPLATES: [(&str, &str); 4] = [
    ("system", include_str!("../templates/system.txt")),
    ("system_of_unify", include_str!("../templates/system_of_unify.txt")),
    ("action", include_str!("../templates/action.txt")),
    ("unify", include_str!("../templates/unify.txt")),
];

#[derive(Debug)]
pub(crate) struct Prompts {
    templates: Templates,
}

/// The values of the question for one action.
#[derive(Debug, Serialize)]
pub(crate) struct ActionQuestion<'a> {
    pub(crate) examples: Vec<Example<'a>>,
    /// The domain in words; empty if predicates are given, which describe it.
    pub(crate) about: &'a str,
    pub(crate) frame: &'a Frame,
    pub(crate) predicates: &'a [PredicateDescription],
    /// Actions that are written already.
    pub(crate) earlier: Vec<&'a str>,
    pub(crate) action: &'a ActionDescription,
    /// The previous version of the action, if it is asked for again.
    pub(crate) previous: Option<Fenced<'a>>,
    /// Findings about the previous version.
    pub(crate) feedback: Vec<&'a str>,
    /// True if new predicates may be proposed.
    pub(crate) growing: bool,
    pub(crate) wanted: Wanted,
}

/// The part of an action that a question asks for; by default all of it.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Wanted {
    /// Name and parameters, and no more.
    pub(crate) parameters_only: bool,
    /// The parameters that the action has; the model chooses them if left out.
    pub(crate) over: Option<String>,
}

/// A solved action of another domain.
#[derive(Debug, Serialize)]
pub(crate) struct Example<'a> {
    action: &'a ActionDescription,
    pddl: &'a str,
    /// Predicates that the question shows.
    predicates: Vec<&'a PredicateDescription>,
    /// Predicates that the answer proposes: all that the action has, where predicates grow.
    proposed: Vec<&'a PredicateDescription>,
}

impl<'a> Example<'a> {
    pub(crate) fn of(example: &'a ActionExample, growing: bool) -> Self {
        let name = |p: &PredicateDescription| -> String {
            let inner = p.declaration.trim_start_matches(['(', ' ']);
            inner.chars().take_while(|c| !c.is_whitespace() && *c != ')').collect()
        };
        let all = example.predicates.iter();
        let (proposed, predicates) = all.partition(|p| growing && mentions(&example.pddl, &name(p)));
        Self { action: &example.action, pddl: &example.pddl, predicates, proposed }
    }
}

/// The declarations that an action may use besides predicates. Missing parts are empty.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Frame {
    types: String,
    constants: String,
    /// As declared, in a row.
    functions: String,
    /// True if preconditions may be negated.
    negation: bool,
    /// Requirements that allow more than literals.
    further: Vec<String>,
}

impl Frame {
    /// The frame that a domain's declarations make.
    pub(crate) fn of(header: &Domain) -> Self {
        let negated = [":negative-preconditions", ":adl", ":ucpop"];
        let plain = [":strips", ":typing", ":negative-preconditions"];
        let functions: Vec<String> =
            header.functions.iter().map(|f| declaration(&f.name, &f.parameters)).collect();
        Self {
            types: print_typed_list(&header.types),
            constants: print_typed_list(&header.constants),
            functions: functions.join(" "),
            negation: header.requirements.iter().any(|r| negated.contains(&r.key())),
            further: header
                .requirements
                .iter()
                .filter(|r| !plain.contains(&r.key()))
                .map(|r| r.key().to_owned())
                .collect(),
        }
    }
}

/// A text and a code fence that it cannot close.
#[derive(Debug, Serialize)]
pub(crate) struct Fenced<'a> {
    text: &'a str,
    fence: String,
}

impl<'a> Fenced<'a> {
    /// `None` for an empty text.
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        (!text.is_empty()).then(|| Self { text, fence: "`".repeat(3.max(longest + 1)) })
    }
}

#[derive(Serialize)]
struct SystemTurn {
    growing: bool,
}

#[derive(Serialize)]
struct UnifyQuestion<'a> {
    predicates: &'a [PredicateDescription],
}

impl Prompts {
    pub(crate) fn new() -> Result<Self, Failure> {
        Ok(Self { templates: Templates::with_trimmed_blocks(codes::TEMPLATE, &TEMPLATES)? })
    }

    pub(crate) fn system(&self, options: &ActionTranslatorOptions) -> Result<String, Failure> {
        self.templates.system(options.system.as_deref(), &SystemTurn { growing: options.mode == Mode::Grown })
    }

    pub(crate) fn system_of_unify(&self, options: &ActionTranslatorOptions) -> Result<String, Failure> {
        match &options.system {
            Some(own) => Ok(own.trim_end().to_owned()),
            None => self.templates.render("system_of_unify", &()),
        }
    }

    pub(crate) fn action(&self, question: &ActionQuestion<'_>) -> Result<String, Failure> {
        self.templates.render("action", question)
    }

    pub(crate) fn unify(&self, predicates: &[PredicateDescription]) -> Result<String, Failure> {
        self.templates.render("unify", &UnifyQuestion { predicates })
    }
}

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
