//! Revising a domain: which mistakes of the current one are repaired, and which new ones are made.

use crate::options::OracleOptions;
use crate::reading::ShownTexts;
use planforge_diagnostics::SourceId;
use planforge_pddl::ast::{Action, Condition, Domain, DurativeAction, Effect};
use planforge_pddl::mutate::{apply_mutations, random_mutations};
use planforge_pddl::random::Random;
use planforge_pddl::{Name, parse_domain, print_condition, print_effect};

/// An action as an edit gives it: its lists, each term as PDDL on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) name: Name,
    /// Constraints on the duration; `None` for an instantaneous action.
    pub(crate) durations: Option<Vec<String>>,
    pub(crate) preconditions: Vec<String>,
    pub(crate) effects: Vec<String>,
}

impl Schema {
    /// The action's lists; without the effect that counts its cost where `costs` is false.
    pub(crate) fn of(action: &Action, costs: bool) -> Self {
        Self {
            name: action.name.clone(),
            durations: None,
            preconditions: conditions_of(&action.precondition),
            effects: effects_of(&action.effect, costs),
        }
    }

    /// As [`Schema::of`].
    fn of_durative(action: &DurativeAction, costs: bool) -> Self {
        Self {
            name: action.name.clone(),
            durations: Some(conditions_of(&action.duration)),
            preconditions: conditions_of(&action.condition),
            effects: effects_of(&action.effect, costs),
        }
    }

    /// All actions of a domain, durative ones last.
    pub(crate) fn all(domain: &Domain, costs: bool) -> Vec<Self> {
        let actions = domain.actions.iter().map(|action| Self::of(action, costs));
        let durative = domain.durative_actions.iter().map(|action| Self::of_durative(action, costs));
        actions.chain(durative).collect()
    }

    /// The schema of the same action without any term.
    fn emptied(&self) -> Self {
        Self {
            name: self.name.clone(),
            durations: self.durations.as_ref().map(|_| Vec::new()),
            preconditions: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// The schema among those of another domain, empty where there is none.
    pub(crate) fn find_in(&self, schemas: &[Self]) -> Self {
        let same =
            |other: &&Self| other.name == self.name && other.durations.is_some() == self.durations.is_some();
        schemas.iter().find(same).cloned().unwrap_or_else(|| self.emptied())
    }

    /// The lists, each with its name.
    pub(crate) fn lists(&self) -> Vec<(&'static str, &Vec<String>)> {
        let durations = self.durations.iter().map(|list| ("duration", list));
        durations.chain([("precondition", &self.preconditions), ("effect", &self.effects)]).collect()
    }

    fn lists_mut(&mut self) -> Vec<&mut Vec<String>> {
        self.durations.iter_mut().chain([&mut self.preconditions, &mut self.effects]).collect()
    }

    /// Puts the lists into an action.
    pub(crate) fn write_to(&self, action: &mut Action) {
        let text = format!(
            "(define (domain d) (:action a :parameters () :precondition (and {}) :effect (and {})))",
            self.preconditions.join(" "),
            self.effects.join(" ")
        );
        if let Some(read) = parse_domain(&text, SourceId(0)).value.actions.into_iter().next() {
            action.precondition = read.precondition;
            action.effect = read.effect;
        }
    }

    /// Puts the lists into a durative action.
    pub(crate) fn write_to_durative(&self, action: &mut DurativeAction) {
        let duration = match self.durations.as_deref() {
            Some([one]) => one.clone(),
            all => format!("(and {})", all.unwrap_or_default().join(" ")),
        };
        let text = format!(
            "(define (domain d) (:durative-action a :parameters () :duration {duration} :condition (and {}) :effect (and {})))",
            self.preconditions.join(" "),
            self.effects.join(" ")
        );
        if let Some(read) = parse_domain(&text, SourceId(0)).value.durative_actions.into_iter().next() {
            action.duration = read.duration;
            action.condition = read.condition;
            action.effect = read.effect;
        }
    }
}

fn conditions_of(condition: &Option<Condition>) -> Vec<String> {
    let conjuncts = condition.as_ref().map_or(&[][..], Condition::conjuncts);
    conjuncts.iter().map(|c| one_line(&print_condition(c))).collect()
}

fn effects_of(effect: &Option<Effect>, costs: bool) -> Vec<String> {
    let counts = |e: &&Effect| costs || !matches!(e, Effect::Assign(a) if a.fluent.function.is("total-cost"));
    let conjuncts = effect.as_ref().map_or(&[][..], Effect::conjuncts);
    conjuncts.iter().filter(counts).map(|e| one_line(&print_effect(e))).collect()
}

/// The domain with one action, by its place in [`Schema::all`].
fn with_one_action(domain: &Domain, index: usize) -> Domain {
    let durative = index.checked_sub(domain.actions.len());
    let durative = durative.and_then(|index| domain.durative_actions.get(index));
    Domain {
        actions: domain.actions.get(index).into_iter().cloned().collect(),
        durative_actions: durative.into_iter().cloned().collect(),
        ..domain.clone()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A revised domain.
#[derive(Debug, Default)]
pub(crate) struct Revision {
    /// Every action after the revision, in the reference's order.
    pub(crate) schemas: Vec<Schema>,
    /// Indices of the changed actions; without a change, of one that is written again unchanged.
    pub(crate) changed: Vec<usize>,
    pub(crate) repaired: Vec<String>,
    pub(crate) damaged: Vec<String>,
    /// Number of remaining mistakes.
    pub(crate) left: usize,
}

impl Revision {
    /// Mistakes after it, old and new.
    pub(crate) fn mistakes(&self) -> usize {
        self.left + self.damaged.len()
    }

    /// The revision for the record.
    pub(crate) fn note(&self) -> serde_json::Value {
        serde_json::json!({
            "repaired": self.repaired,
            "damaged": self.damaged,
            "mistakes_left": self.left,
        })
    }
}

/// Compares the current domain with what it should be, action by action, repairs each mistake with the probability that fits
/// its action, and damages actions that have none.
pub(crate) fn revise(
    options: &OracleOptions,
    wanted: &Domain,
    current: &Domain,
    shown: &ShownTexts,
    costs: bool,
    random: &mut Random,
) -> Revision {
    let mut revision = Revision::default();
    let now = Schema::all(current, costs);
    for (index, goal) in Schema::all(wanted, costs).into_iter().enumerate() {
        let before = goal.find_in(&now);
        let named = shown.named.contains(goal.name.key());
        let p = if named { options.repair_named } else { options.repair_unnamed };
        let mut schema = before.clone();
        let mut faulty = false;
        for (list, (what, goal_list)) in schema.lists_mut().into_iter().zip(goal.lists()) {
            let repairs = repair(list, goal_list, p, random);
            revision.left += repairs.left;
            let tell = |r: String| format!("action {}: {what} {r}", goal.name);
            revision.repaired.extend(repairs.made.into_iter().map(tell));
            faulty |= repairs.faults > 0;
        }
        if !faulty && random.chance(options.damage) {
            let alone = with_one_action(wanted, index);
            let mutations = random_mutations(&alone, &options.kinds.weights(), 1, random);
            revision.damaged.extend(mutations.iter().map(ToString::to_string));
            schema = Schema::all(&apply_mutations(&alone, &mutations), costs).swap_remove(0);
        }
        if schema != before {
            revision.changed.push(index);
        }
        revision.schemas.push(schema);
    }
    if revision.changed.is_empty() {
        // A model that is asked for a correction always writes something, even the unchanged text.
        let named = revision.schemas.iter().position(|schema| shown.named.contains(schema.name.key()));
        revision.changed.extend(named.or_else(|| (!revision.schemas.is_empty()).then_some(0)));
    }
    revision
}

pub(crate) struct Repairs {
    faults: usize,
    pub(crate) left: usize,
    pub(crate) made: Vec<String>,
}

/// A mistake in a list: a term too many, a term missing, or both of one predicate, which are a term gone wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The current text.
    pub(crate) old: Option<String>,
    /// The correct text.
    pub(crate) new: Option<String>,
}

impl Fault {
    /// The predicate of its term, in lower case.
    pub(crate) fn predicate(&self) -> String {
        head(self.old.as_deref().or(self.new.as_deref()).unwrap_or_default())
    }

    /// A description of the repair.
    pub(crate) fn describe_repair(&self) -> String {
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => format!("{old} became {new}"),
            (Some(old), None) => format!("{old} omitted"),
            (None, new) => format!("{} added", new.as_deref().unwrap_or_default()),
        }
    }
}

/// The mistakes in a list.
pub(crate) fn faults(list: &[String], goal: &[String]) -> Vec<Fault> {
    let key = |text: &String| text.to_lowercase();
    let mut missing: Vec<&String> = goal.iter().collect();
    let mut extra: Vec<String> = Vec::new();
    for term in list.iter() {
        match missing.iter().position(|m| key(m) == key(term)) {
            Some(index) => {
                missing.remove(index);
            }
            None => extra.push(term.clone()),
        }
    }
    let mut faults: Vec<Fault> = Vec::new();
    for term in extra {
        let partner = missing.iter().position(|m| head(m) == head(&term));
        faults.push(Fault { old: Some(term), new: partner.map(|index| missing.remove(index).clone()) });
    }
    faults.extend(missing.into_iter().map(|term| Fault { old: None, new: Some(term.clone()) }));
    faults
}

/// Repairs a list in place.
pub(crate) fn repair(list: &mut Vec<String>, goal: &[String], p: f64, random: &mut Random) -> Repairs {
    let faults = faults(list, goal);
    let mut repairs = Repairs { faults: faults.len(), left: 0, made: Vec::new() };
    for fault in faults {
        if !random.chance(p) {
            repairs.left += 1;
            continue;
        }
        let place = fault.old.as_ref().and_then(|old| list.iter().position(|term| term == old));
        match (place, &fault.new) {
            (Some(place), Some(new)) => list[place].clone_from(new),
            (Some(place), None) => {
                list.remove(place);
            }
            (None, Some(new)) => list.push(new.clone()),
            (None, None) => continue,
        }
        repairs.made.push(fault.describe_repair());
    }
    repairs
}

/// The predicate of a literal's text, or the operator of anything else.
fn head(text: &str) -> String {
    let words = text.to_lowercase();
    // The value of a function, and what holds at a moment, are named by what stands inside.
    let outer = ["(= (", "(at start (", "(at end (", "(over all ("];
    let words = outer.iter().find_map(|outer| words.strip_prefix(outer)).unwrap_or(&words);
    let mut words =
        words.split(|c: char| c == '(' || c == ')' || c.is_whitespace()).filter(|w| !w.is_empty());
    words.find(|word| *word != "not").unwrap_or_default().to_owned()
}
