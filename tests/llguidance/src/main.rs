//! Counts, with llguidance's matcher, what the grammars of planforge accept and reject.
//!
//! `planforge-llguidance [--lower] [--most N] [--derivations N] PATH...`: every folder at or below a path that has a domain.pddl. Of each problem
//! and action, the grammar has to accept the text in several layouts and reject mutants. `--lower` reads texts in lower case, `--most N` takes
//! N folders spread over all of them, and `--derivations N` reads N random problems and N random actions of each domain with planforge's reader.

#[allow(dead_code, reason = "the tests of the crate use more of it")]
#[path = "../../../crates/language/grammar/tests/grammars/corpus.rs"]
mod corpus;

use corpus::{
    Folder, MUTANTS, action_errors, action_mutants, folders, layouts, problem_errors, problem_mutants,
};
use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, TokEnv};
use llguidance::{Matcher, ParserFactory};
use planforge_diagnostics::SourceId;
use planforge_grammar::json::{action_schema, asp_schema, edit_schema, problem_schema};
use planforge_grammar::{
    ActionHead, AspVocabulary, EditFunctions, Grammar, action_grammar, plan_grammar, problem_grammar,
};
use planforge_pddl::random::Random;
use planforge_pddl::{TaskSources, check_problem, print_action, print_problem};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Random derivations of each problem grammar that the matcher reads.
const MATCHED: u64 = 5;

/// Most failures printed.
const MOST_PRINTED: usize = 10;

#[derive(Default)]
struct Counts {
    folders: usize,
    problems: usize,
    actions: usize,
    /// Problems that planforge's own check finds errors in; they are not counted otherwise.
    faulty: usize,
    /// Texts: accepted, all.
    texts: (usize, usize),
    /// Random derivations: accepted, all.
    derived: (usize, usize),
    /// Random problems and actions that planforge's reader finds no error of a guaranteed kind in, all.
    read: (usize, usize),
    /// Mutants of each kind: rejected, all.
    mutants: BTreeMap<&'static str, (usize, usize)>,
    /// Texts and mutants that planforge's own matcher judges otherwise.
    differences: usize,
    /// JSON schemas that compile, all.
    schemas: (usize, usize),
    /// Longest times to compile, in milliseconds, with the size of the grammar in bytes and its name.
    compile: Vec<(f64, usize, String)>,
    /// The largest grammar of a problem, with its name.
    largest: Option<(Grammar, String)>,
    failures: Vec<String>,
}

struct Judge {
    env: TokEnv,
    factory: ParserFactory,
    /// Random problems, and random actions, of each domain that planforge's reader reads.
    derivations: usize,
    counts: Counts,
}

impl Judge {
    fn matcher(&self, grammar: TopLevelGrammar) -> Matcher {
        Matcher::new(self.factory.create_parser(grammar))
    }

    /// Compiles the grammar and notes the time.
    fn compile(&mut self, grammar: &Grammar, name: &str) -> Matcher {
        let start = Instant::now();
        let lark = grammar.to_lark();
        let size = lark.len();
        let mut matcher = self.matcher(TopLevelGrammar::from_lark(lark));
        // The first mask builds the tables of the lexer.
        let ready = matcher.compute_mask();
        self.counts.compile.push((start.elapsed().as_secs_f64() * 1000.0, size, name.to_owned()));
        if let Err(error) = ready {
            self.fail(format!("{name}: the grammar does not compile: {error}"));
        }
        matcher
    }

    fn accepts(&self, matcher: &Matcher, text: &str) -> bool {
        let mut matcher = matcher.deep_clone();
        let tokens = self.env.tokenize(text);
        matches!(matcher.try_consume_tokens(&tokens), Ok(read) if read == tokens.len())
            && matcher.is_accepting().unwrap_or(false)
    }

    fn fail(&mut self, message: String) {
        self.counts.failures.push(message);
    }

    fn texts(&mut self, grammar: &Grammar, matcher: &Matcher, texts: &[String], name: &str) {
        for text in texts {
            let accepted = self.accepts(matcher, text);
            self.counts.texts.1 += 1;
            self.counts.texts.0 += usize::from(accepted);
            self.counts.differences += usize::from(grammar.accepts(text) != accepted);
            if !accepted {
                let (read, rest) = text.split_at(grammar.accepted_prefix(text));
                let read: String =
                    read.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
                let rest: String = rest.chars().take(40).collect();
                self.fail(format!("{name}: not accepted: ...{read}<HERE>{rest}..."));
            }
        }
    }

    fn mutants(
        &mut self,
        grammar: &Grammar,
        matcher: &Matcher,
        mutants: Vec<(&'static str, String)>,
        name: &str,
    ) {
        for (kind, text) in mutants {
            let rejected = !self.accepts(matcher, &text);
            let count = self.counts.mutants.entry(kind).or_default();
            count.1 += 1;
            count.0 += usize::from(rejected);
            self.counts.differences += usize::from(grammar.accepts(&text) == rejected);
            if !rejected {
                self.fail(format!("{name}: {kind} accepted: {text}"));
            }
        }
    }

    fn schema(&mut self, schema: serde_json::Value, name: &str) {
        let mut matcher = self.matcher(TopLevelGrammar::from_json_schema(schema));
        self.counts.schemas.1 += 1;
        match matcher.compute_mask() {
            Ok(_) => self.counts.schemas.0 += 1,
            Err(error) => self.fail(format!("{name}: the JSON schema does not compile: {error}")),
        }
    }

    /// Reads random texts of a grammar with planforge's reader.
    fn read(&mut self, grammar: &Grammar, count: usize, name: &str, errors: impl Fn(&str) -> Vec<String>) {
        for n in 0..count as u64 {
            let text = grammar.derive(&mut Random::stream(7, n), 10);
            let found = errors(&text);
            self.counts.read.1 += 1;
            self.counts.read.0 += usize::from(found.is_empty());
            if !found.is_empty() {
                self.fail(format!("{name}: {}: {text}", found.join(", ")));
            }
        }
    }

    fn folder(&mut self, folder: &Folder, seed: u64) {
        self.counts.folders += 1;
        let domain = &folder.domain;
        let objects = folder.problems.first().map(|(_, _, problem)| problem.objects.as_slice());
        self.schema(edit_schema(domain, objects, EditFunctions::BOTH), &format!("edits of {}", folder.name));
        let mangled = |name: &str| name.to_lowercase().replace('-', "_");
        let vocabulary = AspVocabulary {
            types: domain.types.iter().map(|ty| mangled(ty.name.as_str())).chain(["object".into()]).collect(),
            predicates: domain
                .predicates
                .iter()
                .map(|p| (mangled(p.name.as_str()), p.parameters.len()))
                .collect(),
            functions: Vec::new(),
        };
        self.schema(asp_schema(&vocabulary), &format!("representations of {}", folder.name));
        for (file, text, problem) in &folder.problems {
            let name = format!("{}/{file}", folder.name);
            let sources = TaskSources { domain: SourceId(0), problem: SourceId(1) };
            let found = check_problem(domain, problem, sources);
            if found.iter().any(|diagnostic| diagnostic.is_error()) {
                self.counts.faulty += 1;
                continue;
            }
            let grammar = problem_grammar(domain, Some(&problem.objects));
            let matcher = self.compile(&grammar, &name);
            let size = |grammar: &Grammar| grammar.to_lark().len();
            if self.counts.largest.as_ref().is_none_or(|(known, _)| size(known) < size(&grammar)) {
                self.counts.largest = Some((grammar.clone(), name.clone()));
            }
            // Sections in another order than PDDL's are not of the grammar.
            let printed = print_problem(problem);
            let mut texts = layouts(&printed);
            texts.push(printed.clone());
            if corpus::tokens(text) == corpus::tokens(&printed) {
                texts.push(text.clone());
            }
            self.texts(&grammar, &matcher, &texts, &name);
            self.mutants(&grammar, &matcher, problem_mutants(domain, problem, &mut Random::new(seed)), &name);
            let share = self.derivations.div_ceil(folder.problems.len());
            self.read(&grammar, share, &name, |text| problem_errors(domain, text));
            for n in 0..MATCHED {
                let derived = grammar.derive(&mut Random::stream(seed, n), 10);
                let accepted = self.accepts(&matcher, &derived);
                self.counts.derived.1 += 1;
                self.counts.derived.0 += usize::from(accepted);
                if !accepted {
                    self.fail(format!("{name}: derivation not accepted: {derived}"));
                }
            }
            self.schema(problem_schema(domain, Some(&problem.objects)), &name);
            self.compile(&plan_grammar(domain, Some(&problem.objects)), &format!("plans of {name}"));
            self.counts.problems += 1;
        }
        for action in &domain.actions {
            let name = format!("{} {}", folder.name, action.name);
            let grammar = action_grammar(domain, ActionHead::Interface(action));
            let matcher = self.compile(&grammar, &name);
            let printed = print_action(action);
            let mut texts = layouts(&printed);
            let reply = format!("Use `p`, then ``q``.\n```pddl\n{printed}\n```");
            texts.push(printed);
            self.texts(&grammar, &matcher, &texts, &name);
            let in_reply = grammar.in_code_block("pddl", true);
            let matcher_of_reply = self.compile(&in_reply, &format!("reply with {name}"));
            self.texts(&in_reply, &matcher_of_reply, &[reply], &name);
            self.mutants(&grammar, &matcher, action_mutants(domain, action, &mut Random::new(seed)), &name);
            self.schema(action_schema(domain, ActionHead::Interface(action)), &name);
            let share = self.derivations.div_ceil(domain.actions.len());
            self.read(&grammar, share, &name, |text| action_errors(domain, text));
            self.counts.actions += 1;
        }
    }
}

fn main() -> ExitCode {
    let (mut paths, mut lower, mut most, mut derivations) = (Vec::new(), false, usize::MAX, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--lower" => lower = true,
            "--most" => most = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(usize::MAX),
            "--derivations" => derivations = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(0),
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let env = ApproximateTokEnv::single_byte_env();
    let factory = ParserFactory::new(&env, Default::default(), &[]).map(|mut factory| {
        factory.quiet();
        // Texts are consumed byte by byte: the limits for one step of a model are not what is measured.
        factory.limits_mut().initial_lexer_fuel = 1 << 28;
        factory
    });
    let factory = match factory {
        Ok(factory) => factory,
        Err(error) => {
            println!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut all: Vec<Folder> = paths.iter().flat_map(|path| folders(path, lower)).collect();
    if all.len() > most {
        let step = all.len() as f64 / most as f64;
        let chosen: Vec<usize> = (0..most).map(|n| (n as f64 * step) as usize).collect();
        let mut index = 0;
        all.retain(|_| {
            index += 1;
            chosen.contains(&(index - 1))
        });
    }
    let mut judge = Judge { env, factory, derivations, counts: Counts::default() };
    for (n, folder) in all.iter().enumerate() {
        judge.folder(folder, n as u64);
    }
    judge.report()
}

impl Judge {
    /// Compiles the largest grammar again, because other programs may have disturbed the first time.
    fn report(mut self) -> ExitCode {
        let Some((grammar, name)) = self.counts.largest.take() else { return report(self.counts) };
        let before = self.counts.compile.len();
        (0..21).for_each(|_| drop(self.compile(&grammar, &name)));
        let mut again: Vec<f64> = self.counts.compile.drain(before..).map(|c| c.0).collect();
        again.sort_by(f64::total_cmp);
        let exit = report(self.counts);
        let size = grammar.to_lark().len();
        println!(
            "largest grammar of a problem, {size} bytes, {name}: least {:.2} ms, median {:.2} ms of 21 times",
            again[0], again[10]
        );
        exit
    }
}

fn report(mut counts: Counts) -> ExitCode {
    println!("{} domains, {} problems, {} actions", counts.folders, counts.problems, counts.actions);
    println!("problems with errors of their own, not counted: {}", counts.faulty);
    println!("references accepted: {} of {} texts", counts.texts.0, counts.texts.1);
    println!("random derivations accepted: {} of {}", counts.derived.0, counts.derived.1);
    println!("random problems and actions read without an error: {} of {}", counts.read.0, counts.read.1);
    for kind in MUTANTS {
        let (rejected, all) = counts.mutants.get(kind).copied().unwrap_or_default();
        println!("mutants rejected, {kind}: {rejected} of {all}");
    }
    println!("judged otherwise by planforge's own matcher: {}", counts.differences);
    println!("JSON schemas that compile: {} of {}", counts.schemas.0, counts.schemas.1);
    counts.compile.sort_by(|a, b| b.0.total_cmp(&a.0));
    let median = counts.compile.get(counts.compile.len() / 2).map_or(0.0, |c| c.0);
    println!("time to compile a grammar to its first mask: median {median:.2} ms; longest:");
    for (ms, size, name) in counts.compile.iter().take(3) {
        println!("  {ms:.2} ms  {size} bytes  {name}");
    }
    println!("{} failures", counts.failures.len());
    for failure in counts.failures.iter().take(MOST_PRINTED) {
        println!("  {failure}");
    }
    if counts.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
