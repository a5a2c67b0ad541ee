//! Extracts the domain and problem in question from a conversation, and the findings about them.

use crate::codes;
use crate::options::Suite;
use planforge_contract::{Failure, FailureClass, Message, Speaker};
use planforge_diagnostics::SourceId;
use planforge_pddl::Name;
use planforge_pddl::ast::{Condition, Domain, Effect, InitElement, Problem};
use planforge_pddl::{find_pddl, parse_domain, parse_problem};
use std::collections::{BTreeMap, BTreeSet};

/// The relevant parts of a conversation.
#[derive(Debug, Default)]
pub(crate) struct ShownTexts {
    /// The domain in the last question, unless it belongs to an example.
    pub(crate) domain: Option<Domain>,
    /// The last problem of this reference with facts in it, anywhere in the conversation.
    pub(crate) problem: Option<Problem>,
    /// The last problem of the last question, with facts or not: a beginning to complete gives the names.
    pub(crate) beginning: Option<Problem>,
    /// Actions of the reference that the last question names outside the definitions it shows, in lower case.
    pub(crate) named: BTreeSet<String>,
    /// Predicates and functions of the reference that it names in the same way.
    pub(crate) named_predicates: BTreeSet<String>,
    /// The kind of the last definition in the last question.
    pub(crate) last: Option<Defined>,
    /// Headings that the last question requires in the answer.
    pub(crate) asked: AnswerForm,
}

/// The kind of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defined {
    Domain,
    Problem,
}

/// The required form of an answer, if the question shows one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AnswerForm {
    /// `### Thought:` is to come first.
    pub(crate) thought: bool,
    /// `### Problem:` is to come, and not `### Domain:`.
    pub(crate) problem: bool,
    /// It is about a plan.
    pub(crate) plan: bool,
}

impl ShownTexts {
    /// Reads the conversation. `update`: the question shows a thought, which names every action, then the
    /// PDDL to rewrite, then the findings.
    pub(crate) fn of(messages: &[Message], reference: &Reference, update: bool) -> Self {
        let mut shown = Self::default();
        for message in messages.iter().filter(|m| m.role != Speaker::System) {
            for block in find_pddl(&message.content, SourceId(0)).problems {
                let problem = parse_problem(&block.text, SourceId(0)).value;
                if speaks_of(&problem, reference) {
                    shown.problem = Some(problem);
                }
            }
        }
        if let Some(question) = messages.iter().rev().find(|m| m.role == Speaker::User) {
            shown.question(&question.content, reference, update);
        }
        shown
    }

    fn question(&mut self, text: &str, reference: &Reference, update: bool) {
        let mut found = find_pddl(text, SourceId(0));
        // The form of an answer may be a definition with a name and without content.
        found.domains.retain(|block| block.has_sections);
        found.problems.retain(|block| block.has_sections);
        for block in &found.domains {
            let domain = parse_domain(&block.text, SourceId(0)).value;
            if is_of(&domain, reference) {
                self.domain = Some(domain);
            }
        }
        self.beginning = found.problems.last().map(|b| parse_problem(&b.text, SourceId(0)).value);
        let mut definitions: Vec<_> = found.domains.iter().chain(&found.problems).map(|b| b.span).collect();
        definitions.sort_by_key(|span| span.start);
        let mut prose = String::new();
        let mut from = 0;
        for span in definitions {
            prose.push_str(text.get(from..span.start as usize).unwrap_or_default());
            from = span.end as usize;
        }
        let rest = text.get(from..).unwrap_or_default();
        prose.push_str(rest);
        let last =
            |blocks: &[planforge_pddl::extract::PddlBlock]| blocks.last().map(|block| block.span.start);
        self.last = match (last(&found.domains), last(&found.problems)) {
            (None, None) => None,
            (domain, problem) if domain > problem => Some(Defined::Domain),
            _ => Some(Defined::Problem),
        };
        let has = |line: &str| prose.lines().any(|l| l.trim() == line);
        self.asked =
            AnswerForm { thought: has("### Thought:"), problem: has("### Problem:"), plan: has("```plan") };
        let about = if update { rest } else { prose.as_str() };
        let domain = &reference.domain;
        self.named = mentioned_names(about, actions(domain).map(|(name, _)| name.key()));
        let functions = domain.functions.iter().map(|f| f.name.key());
        let predicates = domain.predicates.iter().map(|p| p.name.key());
        self.named_predicates = mentioned_names(about, predicates.chain(functions));
    }

    /// Drops the problem of the last question if it shows a form with other predicates.
    pub(crate) fn drop_foreign_problem(&mut self, reference: &Reference) {
        self.beginning = self.beginning.take().filter(|problem| speaks_of(problem, reference));
    }

    /// The domain to revise: the shown one, unless it is an empty template.
    pub(crate) fn domain_to_revise(&self) -> Option<&Domain> {
        self.domain.as_ref().filter(|domain| {
            let says = |c: &Condition| !c.is_empty();
            let does = |e: &Effect| !e.conjuncts().is_empty();
            let instantaneous = domain.actions.iter().map(|a| (&a.precondition, &a.effect));
            let durative = domain.durative_actions.iter().map(|a| (&a.condition, &a.effect));
            instantaneous.chain(durative).any(|(condition, effect)| {
                condition.as_ref().is_some_and(says) || effect.as_ref().is_some_and(does)
            })
        })
    }
}

/// True if the domain has most of the reference's actions; an example may share one by chance.
fn is_of(domain: &Domain, reference: &Reference) -> bool {
    let there = actions(&reference.domain).filter(|wanted| actions(domain).any(|action| action == *wanted));
    2 * there.count() > actions(&reference.domain).count()
}

/// The actions with the numbers of their parameters.
fn actions(domain: &Domain) -> impl Iterator<Item = (&Name, usize)> {
    let instantaneous = domain.actions.iter().map(|a| (&a.name, a.parameters.len()));
    instantaneous.chain(domain.durative_actions.iter().map(|a| (&a.name, a.parameters.len())))
}

/// True if the problem has a fact of a predicate of the reference, with at most as many arguments.
fn speaks_of(problem: &Problem, reference: &Reference) -> bool {
    problem.init.iter().any(|element| {
        let InitElement::Atom(atom) = element else { return false };
        let known = reference.domain.predicates.iter().find(|p| p.name == atom.predicate);
        known.is_some_and(|p| atom.args.len() <= p.parameters.len())
    })
}

/// The names of actions or predicates that the text has as feedback does: in a ground action `(sail big home far)`, quoted, or as `action sail`. A text
/// about the domain that has the word `sail` in it names nothing.
fn mentioned_names<'a>(text: &str, names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mentions = |name: &str| {
        let whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_');
        let ways = [format!("({name}"), format!("`{name}`"), format!("\"{name}\""), format!("action {name}")];
        ways.iter()
            .any(|way| words.match_indices(way.as_str()).any(|(at, _)| whole(&words[at + way.len()..])))
    };
    names.filter(|name| mentions(name)).map(str::to_owned).collect()
}

/// A suite with its reference domain and problems.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) domain: Domain,
    pub(crate) problems: BTreeMap<String, Problem>,
}

/// All suites by name.
#[derive(Debug)]
pub(crate) struct Library {
    suites: BTreeMap<String, Reference>,
}

impl Library {
    /// Reads every suite and reports all mistakes at once.
    pub(crate) fn read(given: &[Suite]) -> Result<Self, Failure> {
        let mut suites = BTreeMap::new();
        let mut wrong = Vec::new();
        for suite in given {
            let suite = match suite {
                Suite::Reference(reference) => reference,
                Suite::Path(path) => {
                    wrong.push(format!("`{path}` is a path, and the host put no reference in its place"));
                    continue;
                }
            };
            let domain = parse_domain(&suite.domain, SourceId(0));
            if domain.has_errors() || actions(&domain.value).next().is_none() {
                wrong.push(format!("the domain of suite `{}` cannot be read, or has no actions", suite.name));
            }
            let mut problems = BTreeMap::new();
            for (stem, text) in &suite.problems {
                let problem = parse_problem(text, SourceId(0));
                if problem.has_errors() {
                    wrong.push(format!("problem `{stem}` of suite `{}` cannot be read", suite.name));
                }
                problems.insert(stem.clone(), problem.value);
            }
            let reference = Reference { domain: domain.value, problems };
            if suites.insert(suite.name.clone(), reference).is_some() {
                wrong.push(format!("two suites are called `{}`", suite.name));
            }
        }
        if wrong.is_empty() {
            return Ok(Self { suites });
        }
        Err(Failure::new(FailureClass::Request, codes::SUITE, wrong.join("; "))
            .help("`planforge suite check FOLDER` says where a suite has a mistake"))
    }

    /// The reference of a task, or a message for a person if there is none.
    pub(crate) fn task(&self, suite: &str, task: &str) -> Result<(&Reference, &Problem), String> {
        let names =
            |keys: Vec<&String>| keys.into_iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ");
        let Some(reference) = self.suites.get(suite) else {
            return Err(format!(
                "the noisy oracle knows no suite `{suite}`; its option `suites` gives it {}",
                names(self.suites.keys().collect())
            ));
        };
        match reference.problems.get(task) {
            Some(problem) => Ok((reference, problem)),
            None => Err(format!(
                "the noisy oracle knows no task `{task}` of suite `{suite}`; there is {}",
                names(reference.problems.keys().collect())
            )),
        }
    }
}
