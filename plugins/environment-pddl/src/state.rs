//! A state in words: what actions can change, and what is worth knowing before the action that comes next.

use crate::codes;
use crate::execute::Run;
use crate::world::World;
use planforge_contract::{Failure, FailureClass, StateDescription, StateQuery};
use planforge_diagnostics::SourceId;
use planforge_planning::lifted::LiftedTask;
use planforge_planning::parse_plan;
use planforge_planning::task::{Atom, ObjectId, Symbols};
use planforge_plugin_common::judging::Deadline;
use planforge_plugin_sdk::wording::Wording;
use std::collections::{BTreeMap, BTreeSet};

/// Most argument tuples of one predicate that are considered for the objects of the next action.
const MOST_INSTANCES: usize = 256;

/// Describes the state after a sequence, as atoms and in words, one entry each. Derived atoms follow from the
/// others and are left out.
///
/// With [`StateQuery::focus`], facts about that action's objects and facts without arguments come first,
/// including those that do not hold or never change; then other facts that name one of its objects, and the rest of the state.
pub(crate) fn describe(
    budget: &mut Deadline<'_>,
    world: &World,
    wording: &Wording,
    query: &StateQuery,
) -> Result<StateDescription, Failure> {
    world.refuse_partial_execution()?;
    let run = Run::of(budget, world, &query.actions)?;
    if let Some(refusal) = run.refusal() {
        return Err(Failure::new(FailureClass::Request, codes::NOT_EXECUTABLE, refusal));
    }
    let task = world.validator.task();
    let state: BTreeSet<Atom> = run.report.state_after(run.report.trace.len()).into_iter().collect();
    let mut teller = Teller { task, wording, told: StateDescription::default() };
    let fluent = |atom: &&Atom| task.predicates[atom.predicate as usize].fluent;
    match query.focus.as_deref().map(|action| objects_of(&task.symbols, action)) {
        None => state.iter().filter(fluent).for_each(|atom| teller.fact(atom, true)),
        Some(focus) => {
            let near = |atom: &Atom| atom.args.iter().all(|o| focus.contains(o));
            let declared = |atom: &&Atom| !task.symbols.predicates[atom.predicate as usize].starts_with('@');
            let first = state.iter().filter(declared).filter(|a| near(a));
            first.for_each(|atom| teller.fact(atom, true));
            let missing = instances(task, &focus);
            missing.iter().filter(|a| !state.contains(a)).for_each(|atom| teller.fact(atom, false));
            // A fact that decides about the action may name an object that the action does not, and may never change.
            let touches = |atom: &Atom| atom.args.iter().any(|o| focus.contains(o));
            let others = || state.iter().filter(declared).filter(|a| !near(a));
            others().filter(|a| touches(a)).for_each(|atom| teller.fact(atom, true));
            let rest = others().filter(fluent);
            rest.filter(|a| !touches(a)).for_each(|atom| teller.fact(atom, true));
        }
    }
    let mut numbers: BTreeMap<&Atom, f64> =
        task.init_numbers.iter().map(|(term, value)| (term, value.to_f64())).collect();
    numbers.extend(
        run.report.trace.iter().flat_map(|step| &step.numbers).map(|(term, value)| (term, value.to_f64())),
    );
    for (term, value) in numbers {
        if task.function_fluent[term.predicate as usize] {
            teller.number(term, value);
        }
    }
    Ok(teller.told)
}

/// Writes facts and numbers down, each as a sentence and as an atom.
struct Teller<'w> {
    task: &'w LiftedTask,
    wording: &'w Wording,
    told: StateDescription,
}

impl Teller<'_> {
    fn fact(&mut self, atom: &Atom, holds: bool) {
        let symbols = &self.task.symbols;
        let name = &symbols.predicates[atom.predicate as usize];
        self.told.sentences.push(self.wording.fact(name, &arguments(symbols, atom), holds));
        let text = symbols.atom(atom);
        self.told.atoms.push(if holds { text } else { format!("(not {text})") });
    }

    fn number(&mut self, term: &Atom, value: f64) {
        let symbols = &self.task.symbols;
        let name = &symbols.functions[term.predicate as usize];
        self.told.sentences.push(self.wording.value(name, &arguments(symbols, term), value));
        self.told.atoms.push(format!("(= {} {value})", symbols.function_term(term)));
    }
}

fn arguments<'s>(symbols: &'s Symbols, atom: &Atom) -> Vec<&'s str> {
    atom.args.iter().map(|&object| symbols.objects[object as usize].as_str()).collect()
}

/// The distinct objects of a ground action. Unknown names are skipped, because an action is also refused for
/// naming one.
fn objects_of(symbols: &Symbols, action: &str) -> Vec<ObjectId> {
    let file = parse_plan(action, SourceId(2));
    let mut objects = Vec::new();
    for word in file.steps.iter().flat_map(|step| &step.args) {
        let named = symbols.objects.iter().position(|o| o.eq_ignore_ascii_case(&word.text));
        if let Some(object) = named.map(|o| o as ObjectId)
            && !objects.contains(&object)
        {
            objects.push(object);
        }
    }
    objects
}

/// Every possible fact about these objects that fits the types, and facts without arguments. Facts that
/// repeat an object and derived facts are left out.
fn instances(task: &LiftedTask, focus: &[ObjectId]) -> Vec<Atom> {
    let mut found = Vec::new();
    for (number, predicate) in (0u32..).zip(&task.predicates) {
        if predicate.derived || task.symbols.predicates[number as usize].starts_with('@') {
            continue;
        }
        let mut partial: Vec<Vec<ObjectId>> = vec![Vec::new()];
        for range in &predicate.arguments {
            let fits = |object: &&ObjectId| range.binary_search(*object).is_ok();
            partial = partial
                .iter()
                .flat_map(|args| {
                    let next = focus.iter().filter(fits).filter(|o| !args.contains(*o));
                    next.map(|o| args.iter().copied().chain([*o]).collect())
                })
                .take(MOST_INSTANCES)
                .collect();
        }
        let atoms = partial.into_iter().map(|args| Atom { predicate: number, args: args.into() });
        found.extend(atoms);
    }
    found
}
