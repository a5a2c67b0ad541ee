//! Matching the actions and parameters of a domain with those of a reference.
//!
//! Behaviour is compared by ground actions, by name and position of arguments. A domain with other action
//! names needs a matching first. The search finds a bijection of the actions and, for each pair, a bijection
//! of the parameters that respects their number and types. Two types are the same if they have the same
//! objects in the given problems. If the candidate has no problems, its types may have to be renamed as well,
//! each to one of the reference's, consistently.
//!
//! The best match has the most similar action names; of several, the one with the minimum action
//! reconstruction error ([`are`](super::are)). Within a pair the names of parameters decide first, then the
//! error, then the positions. Dissimilar names count as zero, so that the error decides if all names differ.
//!
//! If no match respects the types, but both have the same actions with as many parameters, the candidate is
//! used unchanged. A wrong type is then a difference in behaviour, so that matching never reduces what can be
//! compared.
//!
//! Actions are matched as an assignment problem: every row one column, at the greatest total value (the Hungarian method, O(n³)).

use super::are::{Best, Bijections, MAX_CHOICES, Shape, action_error, type_names};
use crate::resources::{ResourceLimits, StopReason, check};
use crate::walk::NamedStep;
use planforge_pddl::ast::{Action, Domain, Problem, TypedName};
use planforge_pddl::{Name, TypeHierarchy, rename_parameters, rename_types};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Names less alike than this count nothing; 1000 is the same name.
const LEAST_SIMILARITY: u32 = 800;

/// Most actions of a domain that are matched.
const MOST_ACTIONS: usize = 200;

/// One of the two domains and its problems.
#[derive(Debug, Clone, Copy)]
pub struct DomainWithProblems<'t> {
    /// The domain to match.
    pub domain: &'t Domain,
    /// Its problems. A candidate without any is matched on the reference's.
    pub problems: &'t [&'t Problem],
}

/// A candidate's actions, parameters and types under the reference's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// By action of the reference, in its order.
    pub actions: Vec<ActionMatch>,
    /// Types that are called otherwise: the reference's name and the candidate's.
    pub types: Vec<(String, String)>,
    /// The sum of the actions' errors under this match.
    pub error: usize,
    /// True if every pair of parameters has the same type; see [`Interface::is_identity`].
    pub types_agree: bool,
    /// True if the limit on choices left nothing out. Otherwise a better match may exist.
    pub exact: bool,
}

/// A pair of corresponding actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionMatch {
    /// Name in the reference.
    pub reference: String,
    /// Name in the candidate.
    pub candidate: String,
    /// By parameter of the reference, the place of the candidate's.
    pub parameters: Vec<usize>,
    /// The action reconstruction error under this bijection.
    pub error: usize,
}

/// Reason why there is no match, as a clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoInterface {
    /// No match exists. Contains the reason.
    None(String),
    /// A limit ended the search before one was found.
    Limit {
        /// Number of choices made.
        choices: u64,
        /// The caller's limit; `None` if it was the one on choices.
        stopped: Option<StopReason>,
    },
}

impl std::fmt::Display for NoInterface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoInterface::None(why) => f.write_str(why),
            NoInterface::Limit { choices, stopped } => {
                let by = stopped.map(|reason| format!(" by {reason}")).unwrap_or_default();
                write!(f, "the search for a renaming of the actions was ended{by} after {choices} choices")
            }
        }
    }
}

impl std::error::Error for NoInterface {}

/// Checks that two domains have the same actions with as many parameters each.
///
/// # Errors
/// The first action that only one of them has, or that has another number of parameters, as a clause.
pub fn same_interface(reference: &Domain, candidate: &Domain) -> Result<(), NoInterface> {
    let no = |why: String| Err(NoInterface::None(why));
    let (own, other) = (firsts(reference), firsts(candidate));
    for a in &own {
        match other.iter().find(|b| b.name == a.name) {
            None => return no(format!("the candidate has no action {}", a.name)),
            Some(b) if a.parameters.len() != b.parameters.len() => {
                let (name, wanted, has) = (&a.name, a.parameters.len(), b.parameters.len());
                return no(format!(
                    "{name} has {has} parameters in the candidate and {wanted} in the reference"
                ));
            }
            Some(_) => {}
        }
    }
    match other.iter().find(|b| !own.iter().any(|a| a.name == b.name)) {
        Some(extra) => no(format!("the candidate has the further action {}", extra.name)),
        None => Ok(()),
    }
}

/// Searches the best match. `max_choices` bounds how many renamings of types and pairs of parameters are tried; if no limit of
/// `resources` is reached, the answer depends on nothing else.
///
/// # Errors
/// Reason why there is no interface. A metric that needs one is then undefined.
pub fn match_interface(
    reference: DomainWithProblems<'_>,
    candidate: DomainWithProblems<'_>,
    max_choices: u64,
    resources: &mut dyn ResourceLimits,
) -> Result<Interface, NoInterface> {
    let found = search(reference, candidate, max_choices, resources);
    let Err(no) = &found else { return found };
    if same_interface(reference.domain, candidate.domain).is_err() {
        return found;
    }
    let exact = !matches!(no, NoInterface::Limit { .. });
    Ok(Interface { exact, ..Interface::as_it_stands(reference.domain, candidate.domain) })
}

fn search(
    reference: DomainWithProblems<'_>,
    candidate: DomainWithProblems<'_>,
    max_choices: u64,
    resources: &mut dyn ResourceLimits,
) -> Result<Interface, NoInterface> {
    let (own, other) = (firsts(reference.domain), firsts(candidate.domain));
    let none = |why: String| Err(NoInterface::None(why));
    if own.len() != other.len() {
        return none(format!("the candidate has {} actions and the reference {}", other.len(), own.len()));
    }
    if own.len() > MOST_ACTIONS {
        return none(format!("over {MOST_ACTIONS} actions are not matched"));
    }
    let problems = if candidate.problems.is_empty() { reference.problems } else { candidate.problems };
    let hierarchy = TypeHierarchy::of(reference.domain);
    let mut wanted = Extensions::new(reference.domain, &hierarchy, reference.problems);
    let stopped = |stopped| NoInterface::Limit { choices: 0, stopped: Some(stopped) };
    let mut sides = Vec::with_capacity(own.len());
    for action in &own {
        check(resources.poll()).map_err(stopped)?;
        sides.push(MatchedAction::new(action, &mut wanted));
    }
    let mut search = InterfaceSearch {
        own: sides,
        choices: 0,
        max_choices,
        stopped: None,
        whole: true,
        best: None,
        why: String::new(),
    };
    let renamings = match candidate.problems.is_empty() {
        true => renamings(reference.domain, candidate.domain, max_choices, resources),
        false => Renamings { list: vec![Vec::new()], whole: true, stopped: None },
    };
    search.whole = renamings.whole;
    search.stopped = renamings.stopped;
    for renaming in renamings.list {
        search.stopped = search.stopped.or_else(|| check(resources.poll()).err());
        if search.choices >= max_choices || search.stopped.is_some() {
            search.whole = false;
            break;
        }
        search.choices += 1;
        let renamed = planforge_pddl::rename_types(candidate.domain, &renaming);
        let hierarchy = TypeHierarchy::of(&renamed);
        let mut has = Extensions::new(&renamed, &hierarchy, problems);
        let sides: Vec<MatchedAction> =
            firsts(&renamed).into_iter().map(|a| MatchedAction::new(a, &mut has)).collect();
        if let Err(reason) = search.under(&renaming, &sides, resources) {
            search.stopped = Some(reason);
            search.whole = false;
            break;
        }
    }
    match search.best {
        Some(best) => Ok(Interface { exact: search.whole, ..best.2 }),
        None if !search.whole => Err(NoInterface::Limit { choices: search.choices, stopped: search.stopped }),
        None if search.why.is_empty() => none("no renaming of its types fits the reference's".to_owned()),
        None => none(search.why),
    }
}

/// The actions of a domain; of several definitions of one name the first.
fn firsts(domain: &Domain) -> Vec<&Action> {
    let mut seen = BTreeSet::new();
    domain.actions.iter().filter(|a| seen.insert(a.name.key())).collect()
}

/// An action made ready to be paired.
struct MatchedAction {
    name: Name,
    shape: Shape,
    parameters: Vec<Parameter>,
}

struct Parameter {
    /// Without its question mark.
    name: String,
    types: Vec<String>,
    objects: Rc<Extension>,
}

impl MatchedAction {
    fn new(action: &Action, extensions: &mut Extensions<'_>) -> Self {
        let parameters = action.parameters.iter().map(|p| {
            let types = super::are::type_names(p.ty.as_ref());
            let name = p.name.key().trim_start_matches('?').to_owned();
            Parameter { name, objects: extensions.of(&types), types }
        });
        MatchedAction {
            name: action.name.clone(),
            shape: Shape::of(action),
            parameters: parameters.collect(),
        }
    }
}

impl Parameter {
    /// Returns true if both range over the same objects; without objects, if their types have the same name.
    fn same_objects(&self, other: &Self) -> bool {
        self.objects == other.objects && (!self.objects.is_empty() || self.types == other.types)
    }
}

/// A match with what it is worth: how alike the names of actions are, and those of types.
type Valued = ((u64, std::cmp::Reverse<usize>), u64, Interface);

struct InterfaceSearch {
    own: Vec<MatchedAction>,
    choices: u64,
    max_choices: u64,
    /// The caller's limit that ended the search.
    stopped: Option<StopReason>,
    whole: bool,
    best: Option<Valued>,
    /// Why the first renaming of types has no match.
    why: String,
}

impl InterfaceSearch {
    /// Pairs the actions under one renaming of the candidate's types (its name, the reference's).
    fn under(
        &mut self,
        renaming: &[(Name, Name)],
        other: &[MatchedAction],
        resources: &mut dyn ResourceLimits,
    ) -> Result<(), StopReason> {
        let mut pairs: Vec<Vec<Option<Best>>> = Vec::with_capacity(self.own.len());
        for number in 0..self.own.len() {
            let mut row: Vec<Option<Best>> = Vec::with_capacity(other.len());
            for b in other {
                check(resources.poll())?;
                row.push(self.pair(number, b));
            }
            if row.iter().all(Option::is_none) {
                if self.why.is_empty() {
                    let name = &self.own[number].name;
                    self.why = format!("no action of the candidate has the parameters of {name}");
                }
                return Ok(());
            }
            pairs.push(row);
        }
        let value = |i: usize, j: usize| {
            let best = pairs[i][j].as_ref()?;
            Some((similarity(self.own[i].name.key(), other[j].name.key()), best.error))
        };
        let Some(assigned) = assign(self.own.len(), &value) else {
            if self.why.is_empty() {
                self.why =
                    "its actions do not have the parameters of the reference's, one for one".to_owned();
            }
            return Ok(());
        };
        let mut names = 0;
        let mut actions = Vec::with_capacity(assigned.len());
        for (i, &j) in assigned.iter().enumerate() {
            let Some(best) = &pairs[i][j] else { return Ok(()) };
            names += u64::from(similarity(self.own[i].name.key(), other[j].name.key()));
            actions.push(ActionMatch {
                reference: self.own[i].name.to_string(),
                candidate: other[j].name.to_string(),
                parameters: best.parameters.clone(),
                error: best.error,
            });
        }
        let error = actions.iter().map(|a| a.error).sum();
        let value = (names, std::cmp::Reverse(error));
        let types_alike = renaming.iter().map(|(a, b)| u64::from(similarity(a.key(), b.key()))).sum();
        if self.best.as_ref().is_none_or(|b| (value, types_alike) > (b.0, b.1)) {
            let types = renaming.iter().map(|(a, b)| (b.to_string(), a.to_string())).collect();
            let interface = Interface { actions, types, error, types_agree: true, exact: true };
            self.best = Some((value, types_alike, interface));
        }
        Ok(())
    }

    /// The best bijection of the parameters of two actions: by objects or, where there is none, by the names of types.
    fn pair(&mut self, number: usize, b: &MatchedAction) -> Option<Best> {
        let a = &self.own[number];
        if a.parameters.len() != b.parameters.len() {
            return None;
        }
        let weight = |i: usize, j: usize| similarity(&a.parameters[i].name, &b.parameters[j].name);
        let objects = |i: usize, j: usize| a.parameters[i].same_objects(&b.parameters[j]);
        let types = |i: usize, j: usize| a.parameters[i].types == b.parameters[j].types;
        let left = self.max_choices.saturating_sub(self.choices);
        let best = Bijections::new(&a.shape, &b.shape, &objects, &weight).best(left);
        let best = best.or_else(|| Bijections::new(&a.shape, &b.shape, &types, &weight).best(left))?;
        self.choices += best.choices;
        self.whole &= best.exact;
        Some(best)
    }
}

/// Returns the similarity of two names, from 0 to 1000. Equal names have 1000; values below
/// [`LEAST_SIMILARITY`] become 0.
fn similarity(a: &str, b: &str) -> u32 {
    if a == b {
        return 1000;
    }
    let (a, b) = (a.replace('_', "-"), b.replace('_', "-"));
    let share = strsim::jaro_winkler(&a, &b).max(strsim::normalized_levenshtein(&a, &b));
    let value = ((share * 1000.0) as u32).min(999);
    if value < LEAST_SIMILARITY { 0 } else { value }
}

impl Interface {
    /// Every action as the one of its name, parameters by position.
    fn as_it_stands(reference: &Domain, candidate: &Domain) -> Self {
        let other = firsts(candidate);
        let matched = firsts(reference).into_iter().filter_map(|a| {
            let b = other.iter().find(|b| b.name == a.name)?;
            let keep = |i: usize, j: usize| i == j;
            let (own, theirs) = (Shape::of(a), Shape::of(b));
            let kept = Bijections::new(&own, &theirs, &keep, &|_, _| 0).best(MAX_CHOICES);
            let error = kept.map_or_else(|| action_error(a, b).by_position, |k| k.error);
            Some(ActionMatch {
                reference: a.name.to_string(),
                candidate: b.name.to_string(),
                parameters: (0..a.parameters.len()).collect(),
                error,
            })
        });
        let actions: Vec<ActionMatch> = matched.collect();
        let error = actions.iter().map(|a| a.error).sum();
        Interface { actions, types: Vec::new(), error, types_agree: false, exact: true }
    }

    /// Returns true if ground actions have the same names and argument orders in both domains.
    pub fn is_identity(&self) -> bool {
        self.types.is_empty() && self.actions.iter().all(ActionMatch::is_identity)
    }

    /// The candidate in the reference's names: its types, actions and the order of their parameters; these also get the
    /// reference's names, unless a quantifier of the action would catch one of them.
    pub fn rewrite(&self, reference: &Domain, candidate: &Domain) -> Domain {
        let types: Vec<(Name, Name)> =
            self.types.iter().map(|(to, from)| (Name::synthetic(from), Name::synthetic(to))).collect();
        let mut domain = rename_types(candidate, &types);
        for action in &mut domain.actions {
            let Some(matched) = self.actions.iter().find(|m| action.name.is(&m.candidate.to_lowercase()))
            else {
                continue;
            };
            let original = reference.actions.iter().find(|a| a.name.is(&matched.reference.to_lowercase()));
            if let Some(original) = original
                && let Some(renamed) = rename_action(action, original, &matched.parameters)
            {
                *action = renamed;
            }
        }
        domain
    }

    /// Number of actions with another name or order of parameters.
    pub fn renamed_actions(&self) -> usize {
        self.actions.iter().filter(|action| !action.is_identity()).count()
    }

    /// A ground action of the candidate under the reference's names; `None` if the candidate has no such action.
    pub fn reference_step(&self, step: &NamedStep) -> Option<NamedStep> {
        let matched = self.actions.iter().find(|m| m.candidate.eq_ignore_ascii_case(&step.name))?;
        if matched.parameters.len() != step.args.len() {
            return None;
        }
        let args = matched.parameters.iter().map(|&place| step.args.get(place).cloned());
        Some(NamedStep { name: matched.reference.clone(), args: args.collect::<Option<_>>()? })
    }

    /// A ground action of the reference as the candidate calls it; `None` where the reference has no such action.
    pub fn candidate_step(&self, step: &NamedStep) -> Option<NamedStep> {
        let matched = self.actions.iter().find(|m| m.reference.eq_ignore_ascii_case(&step.name))?;
        if matched.parameters.len() != step.args.len() {
            return None;
        }
        let mut args = vec![String::new(); step.args.len()];
        for (arg, &place) in step.args.iter().zip(&matched.parameters) {
            args.get_mut(place)?.clone_from(arg);
        }
        Some(NamedStep { name: matched.candidate.clone(), args })
    }
}

impl ActionMatch {
    /// True if the action has the same name and order of parameters in both domains.
    fn is_identity(&self) -> bool {
        self.reference.eq_ignore_ascii_case(&self.candidate)
            && self.parameters.iter().copied().eq(0..self.parameters.len())
    }
}

/// The action under the original's name, its parameters in the original's order.
fn rename_action(action: &Action, original: &Action, parameters: &[usize]) -> Option<Action> {
    let mut named = action.clone();
    named.name = original.name.at(action.name.span);
    // By place in the candidate, the reference's parameter.
    let mut names = action.parameters.clone();
    for (i, &place) in parameters.iter().enumerate() {
        names.get_mut(place)?.name = original.parameters.get(i)?.name.clone();
    }
    let free = rename_parameters(&named, &names);
    if Shape::of(&free).same_elements(&Shape::of(&named)) {
        named = free;
    }
    let list = named.parameters;
    named.parameters = parameters.iter().map(|&place| list.get(place).cloned()).collect::<Option<_>>()?;
    Some(named)
}

/// The objects of a type: the problem's place in the list and the name.
type Extension = BTreeSet<(usize, Name)>;

/// The objects of a domain and its problems, by type.
struct Extensions<'a> {
    hierarchy: &'a TypeHierarchy,
    /// Problem, name and types as written.
    objects: Vec<(usize, &'a TypedName, Vec<String>)>,
    /// The unions of types that were asked for.
    known: FxHashMap<Vec<String>, Rc<Extension>>,
}

impl<'a> Extensions<'a> {
    fn new(domain: &'a Domain, hierarchy: &'a TypeHierarchy, problems: &[&'a Problem]) -> Self {
        let objects = problems.iter().enumerate().flat_map(|(number, problem)| {
            let all = domain.constants.iter().chain(&problem.objects);
            all.map(move |object| (number, object, type_names(object.ty.as_ref())))
        });
        Extensions { hierarchy, objects: objects.collect(), known: FxHashMap::default() }
    }

    /// The objects of any of these types.
    fn of(&mut self, types: &[String]) -> Rc<Extension> {
        if let Some(known) = self.known.get(types) {
            return Rc::clone(known);
        }
        let ids: Vec<u32> = types.iter().filter_map(|name| self.hierarchy.get(name)).collect();
        let is_one = |direct: &String| {
            let below = self.hierarchy.get(direct);
            types.contains(direct)
                || ids.contains(&TypeHierarchy::OBJECT)
                || below.is_some_and(|below| ids.iter().any(|&above| self.hierarchy.is_subtype(below, above)))
        };
        let members = self.objects.iter().filter(|(.., direct)| direct.iter().any(is_one));
        let members = Rc::new(members.map(|(number, object, _)| (*number, object.name.clone())).collect());
        self.known.insert(types.to_vec(), Rc::clone(&members));
        members
    }
}

/// Most types of either domain that the other lacks; beyond them none is renamed.
const MOST_TYPES: usize = 100;

/// The renamings to be tried.
struct Renamings {
    /// Each as pairs of the candidate's name and the reference's; the most similar first.
    list: Vec<Vec<(Name, Name)>>,
    /// True if the list is complete.
    whole: bool,
    /// The caller's limit that ended the list.
    stopped: Option<StopReason>,
}

/// All renamings of the types that the reference does not have to those that the candidate does not have: one to one, the same
/// number of parameters of each type, and what is below a type stays below it. Types that no parameter has may keep their names.
fn renamings(
    reference: &Domain,
    candidate: &Domain,
    max_choices: u64,
    resources: &mut dyn ResourceLimits,
) -> Renamings {
    let (wanted, has) = (TypeHierarchy::of(reference), TypeHierarchy::of(candidate));
    let missing = |from: &TypeHierarchy, other: &TypeHierarchy| -> Vec<Name> {
        let mut names: Vec<Name> = from.names().filter(|n| other.get(n.key()).is_none()).cloned().collect();
        names.sort();
        names
    };
    let (unknown, free) = (missing(&has, &wanted), missing(&wanted, &has));
    if unknown.len() > MOST_TYPES || free.len() > MOST_TYPES {
        return Renamings { list: vec![Vec::new()], whole: false, stopped: None };
    }
    let mut search = RenamingSearch {
        unknown,
        free,
        uses: [uses(candidate), uses(reference)],
        hierarchies: [&has, &wanted],
        chosen: Vec::new(),
        found: Renamings { list: Vec::new(), whole: true, stopped: None },
        choices: 0,
        max_choices,
        resources,
    };
    let stopped = search.extend(0).err();
    Renamings { whole: search.found.whole && stopped.is_none(), stopped, list: search.found.list }
}

/// Counts the parameters of actions by type.
fn uses(domain: &Domain) -> FxHashMap<String, usize> {
    let mut uses = FxHashMap::default();
    let parameters = domain.actions.iter().flat_map(|a| &a.parameters);
    for name in parameters.flat_map(|p: &TypedName| type_names(p.ty.as_ref())) {
        *uses.entry(name).or_insert(0) += 1;
    }
    uses
}

struct RenamingSearch<'h, 'r> {
    unknown: Vec<Name>,
    free: Vec<Name>,
    /// The candidate's and the reference's.
    uses: [FxHashMap<String, usize>; 2],
    hierarchies: [&'h TypeHierarchy; 2],
    chosen: Vec<(Name, Name)>,
    found: Renamings,
    choices: u64,
    max_choices: u64,
    resources: &'r mut dyn ResourceLimits,
}

impl RenamingSearch<'_, '_> {
    fn extend(&mut self, next: usize) -> Result<(), StopReason> {
        let Some(name) = self.unknown.get(next).cloned() else {
            check(self.resources.charge((self.chosen.len() * size_of::<(Name, Name)>()) as u64))?;
            self.found.list.push(self.chosen.clone());
            return Ok(());
        };
        let count = |uses: &FxHashMap<String, usize>, name: &Name| uses.get(name.key()).copied().unwrap_or(0);
        let used = count(&self.uses[0], &name);
        let mut targets: Vec<Name> = self
            .free
            .iter()
            .filter(|free| count(&self.uses[1], free) == used && !self.chosen.iter().any(|c| c.1 == **free))
            .filter(|free| self.keeps_order(&name, free))
            .cloned()
            .collect();
        targets.sort_by_key(|t| std::cmp::Reverse(similarity(name.key(), t.key())));
        for target in targets {
            check(self.resources.poll())?;
            if self.choices >= self.max_choices {
                self.found.whole = false;
                return Ok(());
            }
            self.choices += 1;
            self.chosen.push((name.clone(), target));
            self.extend(next + 1)?;
            self.chosen.pop();
        }
        if used == 0 { self.extend(next + 1) } else { Ok(()) }
    }

    /// Returns true if a further pair is above and below the same types as the pairs chosen before.
    fn keeps_order(&self, name: &Name, target: &Name) -> bool {
        let below = |side: usize, a: &Name, b: &Name| {
            let hierarchy = self.hierarchies[side];
            hierarchy
                .get(a.key())
                .zip(hierarchy.get(b.key()))
                .is_some_and(|(a, b)| hierarchy.is_subtype(a, b))
        };
        self.chosen.iter().all(|(other, taken)| {
            below(0, name, other) == below(1, target, taken)
                && below(0, other, name) == below(1, taken, target)
        })
    }
}

/// Cost of a forbidden pair, larger than any sum of allowed costs.
const NEVER: i64 = 1 << 50;
/// Makes any gain in likeness worth more than any error.
const LIKENESS: i64 = 1 << 30;

/// Returns the column of each row, such that the sum of the first values is maximal and, among those, the sum
/// of the second minimal. `None` if a row would get a column without a value.
fn assign(count: usize, value: &dyn Fn(usize, usize) -> Option<(u32, usize)>) -> Option<Vec<usize>> {
    let cost = |i: usize, j: usize| match value(i, j) {
        None => NEVER,
        Some((alike, error)) => (1000 - i64::from(alike)) * LIKENESS + (error as i64).min(LIKENESS / 1024),
    };
    // Row and column 0 are not used; `column[j]` is the row that has column j.
    let (mut rows, mut columns) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    let mut column = vec![0usize; count + 1];
    for row in 1..=count {
        augment(row, &cost, &mut rows, &mut columns, &mut column);
    }
    let mut assigned = vec![0; count];
    for j in 1..=count {
        assigned[column[j] - 1] = j - 1;
    }
    assigned.iter().enumerate().all(|(i, &j)| value(i, j).is_some()).then_some(assigned)
}

/// Gives a further row a column, along the cheapest chain of exchanges.
fn augment(
    row: usize,
    cost: &dyn Fn(usize, usize) -> i64,
    rows: &mut [i64],
    columns: &mut [i64],
    column: &mut [usize],
) {
    let count = rows.len() - 1;
    let (mut least, mut before, mut seen) =
        (vec![i64::MAX; count + 1], vec![0usize; count + 1], vec![false; count + 1]);
    column[0] = row;
    let mut at = 0;
    while column[at] != 0 {
        seen[at] = true;
        let (i, mut delta, mut next) = (column[at], i64::MAX, 0);
        for j in 1..=count {
            if seen[j] {
                continue;
            }
            let reduced = cost(i - 1, j - 1) - rows[i] - columns[j];
            if reduced < least[j] {
                least[j] = reduced;
                before[j] = at;
            }
            if least[j] < delta {
                delta = least[j];
                next = j;
            }
        }
        for j in 0..=count {
            if seen[j] {
                rows[column[j]] += delta;
                columns[j] -= delta;
            } else if least[j] != i64::MAX {
                least[j] -= delta;
            }
        }
        at = next;
    }
    while at != 0 {
        let previous = before[at];
        column[at] = column[previous];
        at = previous;
    }
}

#[cfg(test)]
mod tests {
    use super::assign;
    use planforge_pddl::random::Random;

    /// The best total by trying all permutations.
    fn brute(table: &[Vec<Option<(u32, usize)>>], row: usize, taken: &mut Vec<bool>) -> Option<(i64, i64)> {
        if row == table.len() {
            return Some((0, 0));
        }
        let mut best = None;
        for j in 0..table.len() {
            let Some((alike, error)) = table[row][j] else { continue };
            if std::mem::replace(&mut taken[j], true) {
                continue;
            }
            let rest = brute(table, row + 1, taken);
            taken[j] = false;
            best = best.max(rest.map(|(a, e)| (a + i64::from(alike), e - error as i64)));
        }
        best
    }

    #[test]
    fn no_permutation_is_better() {
        let mut none = 0;
        for seed in 0..400 {
            let mut random = Random::stream(seed, 9);
            let count = 1 + random.below(5) as usize;
            let mut cell =
                || (!random.chance(0.4)).then(|| (random.below(4) as u32 * 300, random.below(9) as usize));
            let table: Vec<Vec<_>> = (0..count).map(|_| (0..count).map(|_| cell()).collect()).collect();
            let best = brute(&table, 0, &mut vec![false; count]);
            let found = assign(count, &|i, j| table[i][j]).map(|columns| {
                let cells = columns.iter().enumerate().filter_map(|(i, &j)| table[i][j]);
                cells.fold((0, 0), |sum, (a, e)| (sum.0 + i64::from(a), sum.1 - e as i64))
            });
            assert_eq!(found, best, "{table:?}");
            none += u32::from(best.is_none());
        }
        assert!((20..380).contains(&none), "{none}");
    }
}
