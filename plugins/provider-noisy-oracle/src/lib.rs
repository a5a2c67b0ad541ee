//! `provider-noisy-oracle`: a simulated language model with a known error rate, for studying search strategies without cost.
//!
//! It holds the reference of suites and writes it with mistakes. Nothing it says comes from a language model: every reply
//! begins with a sentence that says so, its model is called `noisy-oracle (simulated)`, and the raw body in the record lists the mistakes it
//! made and repaired. It knows suite, task and artefact from the request's tags, which only providers declared `simulated` receive;
//! everything else it reads in the conversation, as a model would.
//!
//! | artefact | what it writes |
//! |---|---|
//! | `problem` | the task's reference problem; where no predicates are shown, with probability `predicate_argument` one predicate has lost an argument; `problem_errors` facts are wrong |
//! | `domain`, first | the reference domain with `errors` mistakes of the `kinds`, for the problem shown |
//! | `domain`, revised | the domain shown, each mistake repaired with `repair_named` or `repair_unnamed`, sound actions damaged with `damage` |
//! | `edit` | the same as calls of `add_or_update_predicates` and `modify_action`: all of them first, then those for actions that change |
//! | `both` | a domain and a problem for it |
//! | `ir` | the task's reference problem as an answer set program that spells out every fact, `problem_errors` of them wrong |
//! | `cardinalities`, `objects`, `rules` | the same as answers to the three generic questions: how many objects, which, and what holds |
//!
//! An action is *named* when the last question has it outside the definitions shown: in a ground action `(sail big home far)`, quoted, or as
//! `action sail`. A predicate that the problem shown has
//! written without an argument stays without it in every domain, so that only another problem candidate mends it. The
//! random choices come from the request's seed, what the conversation shows, and the sample's number.

mod codes;
mod fit;
mod ir;
mod library;
mod options;
mod problem;
mod reading;
mod reply;
mod revise;

pub use codes::CODES;
pub use options::{Kinds, Options, Suite};

use crate::library::{Library, Reference};
use crate::reading::Shown;
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

/// The plugin.
#[derive(Debug)]
pub struct NoisyOracle {
    options: Options,
    library: Library,
}

impl Plugin for NoisyOracle {
    type Options = Options;

    fn about() -> About {
        About::new(
            "Simulates a language model that writes a suite's reference with mistakes, at a known rate",
        )
        .capability("simulated")
        .capability("n")
        .suites("suites")
    }

    fn create(options: Options, _secrets: &Secrets) -> Result<Self, Failure> {
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
        let Some(artefact) = Artefact::of(&request.tags.artefact) else {
            let message = format!(
                "the noisy oracle writes problems, domains, edits and representations, and was asked for `{}`",
                request.tags.artefact
            );
            return refused(ProviderFailureClass::BadRequest, message);
        };
        let (reference, problem) = match self.library.task(&request.tags.suite, &request.tags.task) {
            Ok(found) => found,
            Err(message) => return refused(ProviderFailureClass::NotFound, message),
        };
        let shown = Shown::of(&request.messages, reference);
        let writer = Writer { options: &self.options, reference, problem, shown: &shown, artefact };
        if let Err(why) = writer.represented() {
            let message = format!("the noisy oracle cannot write this task as a representation: {why}");
            return refused(ProviderFailureClass::BadRequest, message);
        }
        let seed = request.sampling.seed.unwrap_or(0) ^ fingerprint(&request.messages, &shown);
        let n = request.sampling.n.unwrap_or(1).clamp(1, MOST_REPLIES);
        let written: Vec<Written> =
            (0..n).map(|sample| writer.write(&mut Random::stream(seed, u64::from(sample)))).collect();
        Ok(CompletionResult::Replies(self.replies(request, written)))
    }
}

impl NoisyOracle {
    fn replies(&self, request: &CompletionRequest, written: Vec<Written>) -> Replies {
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
            },
            replies: written
                .into_iter()
                .map(|w| Reply { content: w.text, finish: FinishReason::Stop, logprobs: None })
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
            "ir" => Some(Self::Ir(IrPart::Program)),
            "cardinalities" => Some(Self::Ir(IrPart::Cardinalities)),
            "objects" => Some(Self::Ir(IrPart::Objects)),
            "rules" => Some(Self::Ir(IrPart::Rules)),
            _ => None,
        }
    }
}

/// One reply, and what the record is told about it.
struct Written {
    text: String,
    note: serde_json::Value,
}

struct Writer<'a> {
    options: &'a Options,
    reference: &'a Reference,
    problem: &'a Problem,
    shown: &'a Shown,
    artefact: Artefact,
}

impl Writer<'_> {
    fn write(&self, random: &mut Random) -> Written {
        match self.artefact {
            Artefact::Problem => {
                let (text, mistakes) = self.problem(random);
                Written {
                    text: reply::definitions(&[text]),
                    note: serde_json::json!({ "mistakes": mistakes }),
                }
            }
            Artefact::Domain => {
                let (domain, note) = self.domain(random);
                Written { text: reply::definitions(&[print_domain(&domain)]), note }
            }
            Artefact::Both => {
                let (domain, note) = self.domain(random);
                let (problem, mistakes) = self.problem(random);
                Written {
                    text: reply::definitions(&[print_domain(&domain), problem]),
                    note: serde_json::json!({ "domain": note, "problem": { "mistakes": mistakes } }),
                }
            }
            Artefact::Edit => self.edits(random),
            Artefact::Ir(part) => self.ir(part, random),
        }
    }

    /// What keeps the task from being written as a representation, where that is asked for.
    fn represented(&self) -> Result<(), String> {
        match self.artefact {
            Artefact::Ir(_) => ir::program(self.problem).map(drop),
            _ => Ok(()),
        }
    }

    /// Mistakes in facts keep every name and the shape of the goal, so what can be written of the reference can be written of them.
    fn ir(&self, part: IrPart, random: &mut Random) -> Written {
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
        Written { text, note: serde_json::json!({ "mistakes": mistakes }) }
    }

    fn problem(&self, random: &mut Random) -> (String, Vec<String>) {
        let lost = fit::lost_arguments(self.reference, self.problem, self.shown);
        let domain = &self.reference.domain;
        let written = problem::write(self.options, domain, self.problem, self.shown, lost, random);
        (print_problem(&written.problem), written.mistakes)
    }

    /// The domain as it should be for what is shown.
    fn wanted(&self) -> Domain {
        let lost = fit::lost_arguments(self.reference, self.problem, self.shown);
        fit::fitted(self.reference, &lost, self.shown)
    }

    /// A first domain, with its mistakes.
    fn first(&self, wanted: &Domain, random: &mut Random) -> (Domain, serde_json::Value) {
        let kinds = self.options.kinds.weights();
        let mutations = random_mutations(wanted, &kinds, self.options.errors as usize, random);
        let mistakes: Vec<String> = mutations.iter().map(ToString::to_string).collect();
        (apply_mutations(wanted, &mutations), serde_json::json!({ "mistakes": mistakes }))
    }

    fn domain(&self, random: &mut Random) -> (Domain, serde_json::Value) {
        let mut wanted = self.wanted();
        let Some(current) = self.shown.revised() else { return self.first(&wanted, random) };
        let revision = revise::revise(self.options, &wanted, current, self.shown, true, random);
        for (action, schema) in wanted.actions.iter_mut().zip(&revision.schemas) {
            schema.write_to(action);
        }
        (wanted, noted(&revision))
    }

    fn edits(&self, random: &mut Random) -> Written {
        let wanted = self.wanted();
        let shown = self.shown.domain.as_ref();
        let costs = shown.is_some_and(|d| d.functions.iter().any(|f| f.name.is("total-cost")));
        let Some(current) = self.shown.revised() else {
            let (domain, note) = self.first(&wanted, random);
            let schemas: Vec<Schema> = domain.actions.iter().map(|a| Schema::of(a, costs)).collect();
            let predicates: Vec<&PredicateDecl> = domain.predicates.iter().collect();
            return Written { text: reply::edits(&predicates, &schemas.iter().collect::<Vec<_>>()), note };
        };
        let revision = revise::revise(self.options, &wanted, current, self.shown, costs, random);
        let declared = |p: &&PredicateDecl| current.predicates.iter().any(|c| c.name == p.name);
        let missing: Vec<&PredicateDecl> = wanted.predicates.iter().filter(|p| !declared(p)).collect();
        let changed: Vec<&Schema> =
            revision.changed.iter().filter_map(|index| revision.schemas.get(*index)).collect();
        Written { text: reply::edits(&missing, &changed), note: noted(&revision) }
    }
}

fn noted(revision: &revise::Revision) -> serde_json::Value {
    serde_json::json!({
        "repaired": revision.repaired,
        "damaged": revision.damaged,
        "mistakes_left": revision.left,
    })
}

/// FNV-1a over what the conversation shows and how long it is, so that another question with the same seed is answered by other
/// choices, and the same question in other words by the same.
fn fingerprint(messages: &[Message], shown: &Shown) -> u64 {
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
