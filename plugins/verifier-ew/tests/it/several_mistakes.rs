//! Several independent mistakes of a domain, and the simulated model that repairs what the feedback names: with a failing walk for each
//! refused action it repairs all of them in one round.
//!
//! The table: `cargo test -p planforge-verifier-ew --test it several_mistakes -- --nocapture`.

use planforge_diagnostics::SourceId;
use planforge_environment_pddl::{PddlEnvironment, PddlEnvironmentOptions};
use planforge_pddl::ast::{Domain, Problem};
use planforge_pddl::mutate::{Mutation, MutationKind, apply_mutations, differing_terms, random_mutations};
use planforge_pddl::random::Random;
use planforge_pddl::{parse_domain, parse_problem, print_domain};
use planforge_planning::Unlimited;
use planforge_planning::walk::{CounterexampleLimits, Model, ModelOptions, WalkDirection, counterexamples};
use planforge_plugin_sdk::prelude::*;
use planforge_plugin_sdk::testing::TestHost;
use planforge_provider_noisy_oracle::{NoisyOracle, OracleOptions, Suite};
use planforge_translator_edit::{EditOptions, EditTranslator};
use planforge_verifier_ew::{EwVerifier, FailingWalks, WalkVerifierOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SUITES: [&str; 10] = [
    "barman",
    "blocks",
    "childsnack",
    "driverlog",
    "floortile",
    "grippers",
    "hiking",
    "miconic",
    "parcels",
    "tyres",
];
const KINDS: [(MutationKind, f64); 4] = [
    (MutationKind::Omission, 3.0),
    (MutationKind::Addition, 1.0),
    (MutationKind::SwappedArguments, 0.5),
    (MutationKind::ReplacedArgument, 0.5),
];
/// Mistakes that are planted together.
const MOST: usize = 5;
/// Sets of mistakes of each size.
const DRAWS: usize = 2;
const LIMITS: CounterexampleLimits = CounterexampleLimits { max_pairs: 2000, max_length: Some(10) };

/// A host whose model is the simulated one.
struct SimulatedHost(NoisyOracle);

impl Host for SimulatedHost {
    fn complete(&self, _role: &str, request: CompletionRequest) -> Result<Replies, Failure> {
        match self.0.complete(&TestHost::new(), &request)? {
            CompletionResult::Replies(replies) => Ok(replies),
            other => panic!("{other:?}"),
        }
    }
    fn log(&self, _level: LogLevel, _message: &str) {}
    fn progress(&self, _done: u64, _total: u64, _what: &str) {}
    fn cancelled(&self) -> bool {
        false
    }
    fn remaining_ms(&self) -> Option<u64> {
        None
    }
}

type Refusals = BTreeSet<(bool, String)>;

/// The first task of a suite.
struct Task {
    name: &'static str,
    texts: [String; 2],
    domain: Domain,
    problem: Problem,
    model: Model,
}

impl Task {
    fn read(name: &'static str) -> Self {
        let folder = format!("{}/../../examples/suites/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = |file: &str| std::fs::read_to_string(format!("{folder}/{file}")).unwrap();
        let texts = [text("domain.pddl"), text("p01.pddl")];
        let domain = parse_domain(&texts[0], SourceId(0)).value;
        let problem = parse_problem(&texts[1], SourceId(1)).value;
        let model = Model::new(&domain, &problem, &ModelOptions::default(), &mut Unlimited).unwrap();
        Self { name, texts, domain, problem, model }
    }

    /// The refused actions of a domain with mistakes, each with its direction.
    fn refusals(&self, candidate: &Domain) -> Refusals {
        let Ok(model) = Model::new(candidate, &self.problem, &ModelOptions::default(), &mut Unlimited) else {
            return Refusals::new();
        };
        let found = counterexamples(&self.model, &model, LIMITS, &[], &mut Unlimited);
        let key = |c: &planforge_planning::walk::Counterexample| {
            (c.direction == WalkDirection::CandidateToReference, c.walk.action.name.to_lowercase())
        };
        found.iter().map(key).collect()
    }

    /// Mistakes that walks show, with the actions that are then refused.
    fn mistakes(&self, random: &mut Random) -> Vec<(Mutation, Refusals)> {
        let mut known = BTreeSet::new();
        let mut found = Vec::new();
        for _ in 0..150 {
            for mistake in random_mutations(&self.domain, &KINDS, 1, random) {
                if known.insert(mistake.to_string()) {
                    let refused =
                        self.refusals(&apply_mutations(&self.domain, std::slice::from_ref(&mistake)));
                    if !refused.is_empty() {
                        found.push((mistake, refused));
                    }
                }
            }
        }
        found
    }

    /// Domains with `k` independent mistakes: each alone shows by other refused actions, and together by the same ones.
    fn mistaken(&self, k: usize, random: &mut Random, mistakes: &[(Mutation, Refusals)]) -> Vec<Domain> {
        let mut found = Vec::new();
        let mut order: Vec<&(Mutation, Refusals)> = mistakes.iter().collect();
        for attempt in 0..200 {
            let length = order.len();
            random.shuffle_front(&mut order, length);
            if attempt % 2 == 1 {
                order.sort_by_key(|(_, refused)| refused.len());
            }
            let (mut chosen, mut all) = (Vec::<Mutation>::new(), Refusals::new());
            for (mistake, refused) in &order {
                let is_same_term = |m: &Mutation| m.action == mistake.action && m.place == mistake.place;
                if chosen.len() < k && refused.is_disjoint(&all) && !chosen.iter().any(is_same_term) {
                    chosen.push(mistake.clone());
                    all.extend(refused.iter().cloned());
                }
            }
            if chosen.len() == k {
                let together = apply_mutations(&self.domain, &chosen);
                if self.refusals(&together) == all {
                    found.push(together);
                }
            }
            if found.len() == DRAWS {
                break;
            }
        }
        found
    }

    /// One round: feedback, the simulated model's edits, the domain after them.
    fn round(&self, wrong: &Domain, failing_walks: FailingWalks) -> Domain {
        let open = EnvironmentOpen {
            suite: self.name.into(),
            task: "p01".into(),
            domain: Some(self.texts[0].clone()),
            problem: Some(self.texts[1].clone()),
            ..EnvironmentOpen::default()
        };
        let environment =
            PddlEnvironment::create(PddlEnvironmentOptions::default(), &Secrets::default()).unwrap();
        let host = TestHost::for_kind(PluginKind::Verifier).environment(Arc::new(environment), open);
        let options = WalkVerifierOptions {
            failing_walks,
            exact_pairs: LIMITS.max_pairs,
            walks: Some(5),
            ..WalkVerifierOptions::default()
        };
        let verifier = EwVerifier::create(options, &Secrets::default()).unwrap();
        let candidate = Candidate {
            domain: Some(print_domain(wrong)),
            problem: Some(self.texts[1].clone()),
            ..Candidate::default()
        };
        let judged = VerifyRequest { candidates: vec![candidate.clone()], ..VerifyRequest::default() };
        let judged = verifier.verify(&host, &judged).unwrap().results.remove(0).into_result().unwrap();
        assert_eq!(judged.decision, Decision::Rejected, "{}", judged.summary);
        let reference = SuiteReference {
            name: self.name.into(),
            domain: self.texts[0].clone(),
            problems: BTreeMap::from([("p01".to_owned(), self.texts[1].clone())]),
        };
        let oracle = OracleOptions {
            suites: vec![Suite::Reference(reference)],
            repair_named: 1.0,
            repair_unnamed: 0.0,
            damage: 0.0,
            ..OracleOptions::default()
        };
        let host = SimulatedHost(NoisyOracle::create(oracle, &Secrets::default()).unwrap());
        let translator = EditTranslator::create(EditOptions::default(), &Secrets::default()).unwrap();
        let request = TranslateRequest {
            task: TaskView {
                suite: self.name.into(),
                task: "p01".into(),
                domain_text: "What the actions do.".into(),
                ..TaskView::default()
            },
            candidate,
            feedback: judged.feedback,
            n: 1,
            ..TranslateRequest::default()
        };
        let patch = translator.translate(&host, &request).unwrap().samples.remove(0).into_result().unwrap();
        parse_domain(&patch.domain.unwrap(), SourceId(0)).value
    }
}

/// For each number of mistakes: sets of them, those repaired with each failing walk, and those with the shortest alone.
fn row(name: &'static str) -> [[usize; 3]; MOST] {
    let task = Task::read(name);
    let mut random = Random::new(16);
    let mistakes = task.mistakes(&mut random);
    let mut row = [[0; 3]; MOST];
    for (index, counts) in row.iter_mut().enumerate() {
        for wrong in task.mistaken(index + 1, &mut random, &mistakes) {
            let is_repaired =
                |walks| usize::from(differing_terms(&task.domain, &task.round(&wrong, walks)) == 0);
            let added = [1, is_repaired(FailingWalks::Each), is_repaired(FailingWalks::Shortest)];
            counts.iter_mut().zip(added).for_each(|(count, more)| *count += more);
        }
    }
    row
}

#[test]
fn independent_mistakes_are_repaired_in_one_round() {
    let rows: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = SUITES.map(|name| scope.spawn(move || row(name))).into_iter().collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    println!("repaired in one round, of the sets of k mistakes: with each failing walk / with the shortest");
    println!("| domain     | k = 1      | k = 2      | k = 3      | k = 4      | k = 5      |");
    println!("|------------|------------|------------|------------|------------|------------|");
    for (name, row) in SUITES.iter().zip(&rows) {
        let cells = row.map(|[sets, each, shortest]| format!("{each} / {shortest} of {sets}"));
        println!("| {name:<10} | {} |", cells.map(|cell| format!("{cell:<10}")).join(" | "));
    }
    for k in 0..MOST {
        let sum = |which: usize| rows.iter().map(|row| row[k][which]).sum::<usize>();
        assert!(sum(0) >= 6, "too few sets of {} mistakes", k + 1);
        assert_eq!(sum(1), sum(0), "k = {}", k + 1);
        if k > 1 {
            assert!(sum(2) < sum(1), "k = {}", k + 1);
        }
    }
}
