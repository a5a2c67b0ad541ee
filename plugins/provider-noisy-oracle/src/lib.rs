//! `provider-noisy-oracle`: a simulated language model with a known error rate, for studies of search
//! strategies without cost.
//!
//! It holds the references of suites and writes them with mistakes. No reply comes from a language model:
//! every reply begins with a sentence that says so, the model is called `noisy-oracle (simulated)`, and the
//! raw body in the record lists the mistakes made and repaired. Suite, task and artefact come from the
//! request's tags, which only providers declared `simulated` receive; everything else is read from the
//! conversation.
//!
//! | artefact | content of the reply |
//! |---|---|
//! | `problem` | the task's reference problem; if no predicates are shown, one predicate lacks an argument with probability `predicate_argument`; `problem_errors` facts are wrong |
//! | `domain`, first | the reference domain with `errors` mistakes of the `kinds`, for the problem shown |
//! | `domain`, revised | the domain shown, each mistake repaired with `repair_named` or `repair_unnamed`, correct actions damaged with `damage` |
//! | `update` | the domain or problem shown, revised in the same way by the critique behind it |
//! | `action`, first | the reference's action that the question names, with `actions.errors` mistakes on average and at most one of form; unlisted predicates, if they may be proposed |
//! | `action`, revised | the action shown, each mistake repaired with `repair_named` |
//! | `predicates` | the predicates that were proposed twice, each found with `repair_named` |
//! | `critique` | the mistakes of the domain or problem shown, each with `critic.finds`, and false findings with `critic.false_findings` |
//! | `answer` | if an action can be done, or the goal is reached, after the actions that the question lists; right with `critic.answers` |
//! | `edit` | the same as calls of `add_or_update_predicates` and `modify_action`: all of them first, then those for actions that change |
//! | `both` | a domain and a problem for it |
//! | `ir` | the task's reference problem as an answer set program that lists every fact, `problem_errors` of them wrong |
//! | `cardinalities`, `objects`, `rules` | the same as answers to the three generic questions |
//!
//! If a question asks for `### Thought:`, a thought comes first: the meaning of each predicate and action
//! according to the PDDL that follows. With `likelihood` each token has a simulated log-probability on
//! request, which is lower the more mistakes there are.
//!
//! An action is *named* if the last question contains it outside the definitions shown: in a ground action
//! `(sail big home far)`, quoted, or as `action sail`. A predicate that the shown problem uses without an
//! argument stays so in every domain; only another problem candidate repairs it. The random choices depend on
//! the request's seed, the conversation, and the sample's number.

mod action;
mod answer;
mod codes;
mod critic;
mod fit;
mod ir;
mod library;
mod likelihood;
mod options;
mod problem;
mod reading;
mod reply;
mod revise;
mod thought;

pub use codes::CODES;
pub use options::{Actions, Critic, ErrorCount, Kinds, Likelihood, OracleOptions, Suite};

use crate::library::{Library, Reference};
use crate::reading::{Defined, ShownTexts};
use crate::revise::Schema;
use planforge_pddl::ast::{Domain, PredicateDecl, Problem};
use planforge_pddl::mutate::{apply_mutations, random_mutations};
use planforge_pddl::random::Random;
use planforge_pddl::{print_domain, print_problem};
use planforge_plugin_sdk::prelude::*;

/// The model's name in records and tables.
pub const MODEL: &str = "noisy-oracle (simulated)";

/// Most replies to one request.
const MOST_REPLIES: u32 = 10_000;

#[derive(Debug)]
pub struct NoisyOracle {
    options: OracleOptions,
    library: Library,
}

impl Plugin for NoisyOracle {
    type Options = OracleOptions;

    fn about() -> About {
        About::new(
            "Simulates a language model that writes a suite's reference with mistakes, at a known rate",
        )
        .simulated()
        .several_replies()
        .suites("suites")
    }

    fn create(options: OracleOptions, _secrets: &Secrets) -> Result<Self, Failure> {
        options.check()?;
        let library = Library::read(&options.suites)?;
        Ok(Self { options, library })
    }
}

impl Provider for NoisyOracle {
    fn complete(&self, _host: &dyn Host, request: &CompletionRequest) -> Result<CompletionResult, Failure> {
        let refused = |class, message| {
            let failure = ProviderFailure { class, status: None, retry_after_ms: None, message };
            Ok(CompletionResult::ProviderFailure(failure))
        };
        if let Some(schema) = &request.schema {
            let message = format!("the noisy oracle follows no schema, and was asked for `{}`", schema.name);
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let Some(artefact) = Artefact::of(&request.tags.artefact) else {
            let message = format!(
                "the noisy oracle writes problems, domains, actions, edits, updates, critiques, answers and representations, and was asked for `{}`",
                request.tags.artefact
            );
            return refused(ProviderFailureClass::BadRequest, message);
        };
        let (reference, problem) = match self.library.task(&request.tags.suite, &request.tags.task) {
            Ok(found) => found,
            Err(message) => return refused(ProviderFailureClass::NotFound, message),
        };
        let shown = ShownTexts::of(&request.messages, reference, artefact == Artefact::Update);
        if artefact == Artefact::Critique && shown.asked.plan {
            let message =
                "the noisy oracle criticises domains and problems, and was asked about a plan".to_owned();
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let question = messages_last(&request.messages);
        let action = action::Question::of(question, &reference.domain);
        if artefact == Artefact::Action && action.is_none() {
            let message = "the noisy oracle was asked for an action, and the question names none of the reference's in `backticks`";
            return refused(ProviderFailureClass::BadRequest, message.to_owned());
        }
        let right = answer::Question::read(question)
            .filter(|_| artefact == Artefact::Answer)
            .and_then(|question| question.answer(&reference.domain, problem));
        if artefact == Artefact::Answer && right.is_none() {
            let message =
                "the noisy oracle was asked for an answer, and the reference has none to this question";
            return refused(ProviderFailureClass::BadRequest, message.to_owned());
        }
        let asked = LastQuestion { question, action: action.as_ref(), right };
        let writer = Writer { options: &self.options, reference, problem, shown: &shown, asked, artefact };
        if let Err(why) = writer.check_representation() {
            let message = format!("the noisy oracle cannot write this task as a representation: {why}");
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let seed = request.sampling.seed.unwrap_or(0) ^ fingerprint(&request.messages, &shown);
        let n = request.sampling.n.unwrap_or(1).clamp(1, MOST_REPLIES);
        let scored = request.sampling.logprobs == Some(true);
        let written: Vec<SimulatedReply> =
            (0..n).map(|sample| writer.reply(&mut Random::stream(seed, u64::from(sample)), scored)).collect();
        Ok(CompletionResult::Replies(self.replies(request, written)))
    }
}

impl NoisyOracle {
    fn replies(&self, request: &CompletionRequest, written: Vec<SimulatedReply>) -> Replies {
        let notes: Vec<serde_json::Value> = written.iter().map(|w| w.note.clone()).collect();
        let raw = serde_json::json!({
            "simulated": true,
            "provider": env!("CARGO_PKG_NAME"),
            "artefact": request.tags.artefact,
            "replies": notes,
        });
        let tokens = |characters: usize| {
            self.options.characters_per_token.map(|per| (characters as u64).div_ceil(u64::from(per.max(1))))
        };
        Replies {
            usage: Usage {
                prompt_tokens: tokens(request.messages.iter().map(|m| m.content.chars().count()).sum()),
                completion_tokens: tokens(written.iter().map(|w| w.text.chars().count()).sum()),
                ..Usage::default()
            },
            replies: written
                .into_iter()
                .map(|w| Reply { logprobs: w.tokens, ..Reply::new(w.text, FinishReason::Stop) })
                .collect(),
            model: MODEL.to_owned(),
            raw: raw.to_string(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Artefact {
    Problem,
    Domain,
    Edit,
    Both,
    /// One action of a domain (domain-generators paper, section 3).
    Action,
    /// Finds predicates with the same meaning.
    Predicates,
    /// Rewrites a domain or problem (test-time-scaling paper, Eq. 4).
    Update,
    /// Criticises a domain or problem (Eq. 3).
    Critique,
    /// Answers a question about what can be done.
    Answer,
    /// A part of the translate-infer-compile paper's intermediate representation.
    Ir(IrPart),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IrPart {
    Program,
    Cardinalities,
    Objects,
    Rules,
}

impl Artefact {
    fn of(tag: &str) -> Option<Self> {
        match tag {
            "problem" => Some(Self::Problem),
            "domain" => Some(Self::Domain),
            "edit" => Some(Self::Edit),
            "both" => Some(Self::Both),
            "action" => Some(Self::Action),
            "predicates" => Some(Self::Predicates),
            "update" => Some(Self::Update),
            "critique" => Some(Self::Critique),
            "answer" => Some(Self::Answer),
            "ir" => Some(Self::Ir(IrPart::Program)),
            "cardinalities" => Some(Self::Ir(IrPart::Cardinalities)),
            "objects" => Some(Self::Ir(IrPart::Objects)),
            "rules" => Some(Self::Ir(IrPart::Rules)),
            _ => None,
        }
    }
}

/// One reply with notes for the record.
struct SimulatedReply {
    text: String,
    note: serde_json::Value,
    /// Number of mistakes.
    mistakes: usize,
    /// The tokens, if log-probabilities are requested and the options define them.
    tokens: Option<Vec<TokenLogprob>>,
}

impl SimulatedReply {
    fn new(text: String, note: serde_json::Value, mistakes: usize) -> Self {
        Self { text, note, mistakes, tokens: None }
    }
}

/// A domain or problem with notes for the record.
struct Drawn<T> {
    made: T,
    note: serde_json::Value,
    mistakes: usize,
}

struct Writer<'a> {
    options: &'a OracleOptions,
    reference: &'a Reference,
    problem: &'a Problem,
    shown: &'a ShownTexts,
    asked: LastQuestion<'a>,
    artefact: Artefact,
}

/// The last question, in words, as one for an action, and with its right answer.
struct LastQuestion<'a> {
    question: &'a str,
    action: Option<&'a action::Question<'a>>,
    /// The right answer, if it is a question about what can be done.
    right: Option<bool>,
}

fn messages_last(messages: &[Message]) -> &str {
    messages.iter().rev().find(|m| m.role == Speaker::User).map_or("", |m| m.content.as_str())
}

impl Writer<'_> {
    /// A reply. The likelihood is drawn last, so that the text does not depend on it.
    fn reply(&self, random: &mut Random, scored: bool) -> SimulatedReply {
        let written = self.write(random);
        let likelihood = self.options.likelihood.as_ref().filter(|_| scored);
        let characters = self.options.characters_per_token.unwrap_or(likelihood::CHARACTERS);
        let tokens =
            likelihood.map(|l| likelihood::tokens(l, characters, &written.text, written.mistakes, random));
        SimulatedReply { tokens, ..written }
    }

    fn write(&self, random: &mut Random) -> SimulatedReply {
        match self.artefact {
            Artefact::Problem => self.problem_alone(self.problem(random)),
            Artefact::Domain => self.domain_alone(self.domain(random)),
            Artefact::Both => {
                let domain = self.domain(random);
                let problem = self.problem(random);
                SimulatedReply::new(
                    reply::definitions(&[print_domain(&domain.made), print_problem(&problem.made)]),
                    serde_json::json!({ "domain": domain.note, "problem": problem.note }),
                    domain.mistakes + problem.mistakes,
                )
            }
            Artefact::Action => self.action(random),
            Artefact::Predicates => action::unify(self.options, self.asked.question, random),
            Artefact::Update if self.is_about_problem() => self.problem_alone(self.problem_again(random)),
            Artefact::Update => self.domain_alone(self.domain(random)),
            Artefact::Critique => self.critique(random),
            Artefact::Answer => self.answer(random),
            Artefact::Edit => self.edits(random),
            Artefact::Ir(part) => self.ir(part, random),
        }
    }

    fn action(&self, random: &mut Random) -> SimulatedReply {
        let Some(question) = self.asked.action else {
            let text = "The question names no action of the reference.";
            return SimulatedReply::new(
                reply::prose(text),
                serde_json::json!({ "mistakes": ["no-action"] }),
                1,
            );
        };
        action::ActionWriter { options: self.options, domain: &self.reference.domain, question }.write(random)
    }

    fn domain_alone(&self, drawn: Drawn<Domain>) -> SimulatedReply {
        let text = print_domain(&drawn.made);
        let text = match self.shown.asked.thought {
            true => reply::thought(&thought::of_domain(&drawn.made), "Domain", &text),
            false => reply::definitions(&[text]),
        };
        SimulatedReply::new(text, drawn.note, drawn.mistakes)
    }

    fn problem_alone(&self, drawn: Drawn<Problem>) -> SimulatedReply {
        let text = print_problem(&drawn.made);
        let domain = self.shown.domain.as_ref().unwrap_or(&self.reference.domain);
        let text = match self.shown.asked.thought {
            true => reply::thought(&thought::of_problem(domain, &drawn.made), "Problem", &text),
            false => reply::definitions(&[text]),
        };
        SimulatedReply::new(text, drawn.note, drawn.mistakes)
    }

    /// Checks that the task can be written as the requested representation.
    fn check_representation(&self) -> Result<(), String> {
        match self.artefact {
            Artefact::Ir(_) => ir::program(self.problem).map(drop),
            _ => Ok(()),
        }
    }

    /// Mistakes in facts keep every name and the shape of the goal, so what can be written of the reference can be written of them.
    fn ir(&self, part: IrPart, random: &mut Random) -> SimulatedReply {
        let mut problem = self.problem.clone();
        let mut mistakes = Vec::new();
        if matches!(part, IrPart::Program | IrPart::Rules) {
            mistakes = problem::wrong_facts(self.options, &self.reference.domain, &mut problem, random);
        }
        let (language, text) = match part {
            IrPart::Program => ("prolog", ir::program(&problem)),
            IrPart::Rules => ("prolog", ir::rules(&problem)),
            IrPart::Cardinalities => ("json", ir::cardinalities(&problem)),
            IrPart::Objects => ("json", ir::named(&problem)),
        };
        let text = reply::block(language, &text.unwrap_or_default());
        SimulatedReply::new(text, serde_json::json!({ "mistakes": mistakes }), mistakes.len())
    }

    fn problem(&self, random: &mut Random) -> Drawn<Problem> {
        self.problem_with(self.options, random)
    }

    fn problem_with(&self, options: &OracleOptions, random: &mut Random) -> Drawn<Problem> {
        let lost = fit::lost_arguments(self.reference, self.problem, self.shown);
        let domain = &self.reference.domain;
        let written = problem::write(options, domain, self.problem, self.shown, lost, random);
        let mistakes = written.mistakes.len();
        Drawn { made: written.problem, note: serde_json::json!({ "mistakes": written.mistakes }), mistakes }
    }

    /// The problem as it should be for what is shown.
    fn wanted_problem(&self) -> Problem {
        let faultless = OracleOptions { problem_errors: 0, predicate_argument: 0.0, ..self.options.clone() };
        // Nothing is drawn where nothing may go wrong.
        self.problem_with(&faultless, &mut Random::new(0)).made
    }

    /// The problem that is shown, revised.
    fn problem_again(&self, random: &mut Random) -> Drawn<Problem> {
        let Some(current) = self.shown.beginning.as_ref().filter(|problem| !problem.init.is_empty()) else {
            return self.problem(random);
        };
        let wanted = self.wanted_problem();
        let domain = &self.reference.domain;
        let revised = problem::revise_problem(self.options, domain, &wanted, current, self.shown, random);
        let note = serde_json::json!({
            "repaired": revised.repaired,
            "damaged": revised.damaged,
            "mistakes_left": revised.left,
        });
        Drawn { made: revised.problem, note, mistakes: revised.left + revised.damaged.len() }
    }

    /// True if a problem is to be rewritten or criticised: as the required form of the answer tells, else the
    /// last definition in the question.
    fn is_about_problem(&self) -> bool {
        match self.artefact {
            Artefact::Update if self.shown.asked.thought => self.shown.asked.problem,
            _ => self.shown.last == Some(Defined::Problem),
        }
    }

    fn critique(&self, random: &mut Random) -> SimulatedReply {
        let parts = if self.is_about_problem() {
            let nothing = Problem::default();
            let current = self.shown.beginning.as_ref().unwrap_or(&nothing);
            critic::facts(problem::facts(current), problem::faults(&self.wanted_problem(), current))
        } else {
            let nothing = Domain::default();
            let current = self.shown.domain.as_ref().unwrap_or(&nothing);
            critic::actions(&self.fitted_domain(), current)
        };
        let critique = critic::criticise(self.options, &parts, random);
        SimulatedReply::new(critique.text, critique.note, critique.wrong)
    }

    fn answer(&self, random: &mut Random) -> SimulatedReply {
        let right = self.asked.right.unwrap_or_default();
        let answer = answer::draw(right, self.options.critic.answers, random);
        let text = reply::prose(if answer { "Answer: yes" } else { "Answer: no" });
        SimulatedReply::new(
            text,
            serde_json::json!({ "right": answer == right }),
            usize::from(answer != right),
        )
    }

    /// The domain as it should be for what is shown.
    fn fitted_domain(&self) -> Domain {
        let lost = fit::lost_arguments(self.reference, self.problem, self.shown);
        fit::fit_reference(self.reference, &lost, self.shown)
    }

    /// A first domain, with its mistakes.
    fn first(&self, wanted: &Domain, random: &mut Random) -> Drawn<Domain> {
        let kinds = self.options.kinds.weights();
        let errors = match self.options.error_count {
            ErrorCount::Fixed => self.options.errors,
            ErrorCount::Poisson => likelihood::poisson(f64::from(self.options.errors), random),
        };
        let mutations = random_mutations(wanted, &kinds, errors as usize, random);
        let mistakes: Vec<String> = mutations.iter().map(ToString::to_string).collect();
        Drawn {
            made: apply_mutations(wanted, &mutations),
            mistakes: mistakes.len(),
            note: serde_json::json!({ "mistakes": mistakes }),
        }
    }

    fn domain(&self, random: &mut Random) -> Drawn<Domain> {
        let mut wanted = self.fitted_domain();
        let Some(current) = self.shown.domain_to_revise() else { return self.first(&wanted, random) };
        let revision = revise::revise(self.options, &wanted, current, self.shown, true, random);
        for (action, schema) in wanted.actions.iter_mut().zip(&revision.schemas) {
            schema.write_to(action);
        }
        Drawn { made: wanted, note: revision_note(&revision), mistakes: revision.mistakes() }
    }

    fn edits(&self, random: &mut Random) -> SimulatedReply {
        let wanted = self.fitted_domain();
        let shown = self.shown.domain.as_ref();
        let costs = shown.is_some_and(|d| d.functions.iter().any(|f| f.name.is("total-cost")));
        let Some(current) = self.shown.domain_to_revise() else {
            let drawn = self.first(&wanted, random);
            let schemas: Vec<Schema> = drawn.made.actions.iter().map(|a| Schema::of(a, costs)).collect();
            let predicates: Vec<&PredicateDecl> = drawn.made.predicates.iter().collect();
            let text = reply::edits(&predicates, &schemas.iter().collect::<Vec<_>>());
            return SimulatedReply::new(text, drawn.note, drawn.mistakes);
        };
        let revision = revise::revise(self.options, &wanted, current, self.shown, costs, random);
        let declared = |p: &&PredicateDecl| current.predicates.iter().any(|c| c.name == p.name);
        let missing: Vec<&PredicateDecl> = wanted.predicates.iter().filter(|p| !declared(p)).collect();
        let changed: Vec<&Schema> =
            revision.changed.iter().filter_map(|index| revision.schemas.get(*index)).collect();
        SimulatedReply::new(reply::edits(&missing, &changed), revision_note(&revision), revision.mistakes())
    }
}

fn revision_note(revision: &revise::Revision) -> serde_json::Value {
    serde_json::json!({
        "repaired": revision.repaired,
        "damaged": revision.damaged,
        "mistakes_left": revision.left,
    })
}

/// FNV-1a over what the conversation shows and how long it is, so that another question with the same seed is answered by other
/// choices, and the same question in other words by the same.
fn fingerprint(messages: &[Message], shown: &ShownTexts) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    let mut add = |text: &str| {
        for byte in text.bytes().chain([0xFF]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    };
    add(&messages.len().to_string());
    add(&shown.domain.as_ref().map(print_domain).unwrap_or_default());
    add(&shown.problem.as_ref().map(print_problem).unwrap_or_default());
    shown.named.iter().for_each(|name| add(name));
    hash
}

planforge_plugin_sdk::export_plugin!(Provider, NoisyOracle);

#[cfg(test)]
mod tests;
