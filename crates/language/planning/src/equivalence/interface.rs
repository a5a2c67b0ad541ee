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

mod assign;
mod rewrite;
mod types;

use super::are::Shape;
use super::are::bijection::{Best, Bijections};
use planforge_pddl::Name;
use planforge_pddl::ast::{Action, Domain, Problem};
use std::collections::BTreeSet;
use types::{Extension, Extensions};

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
    /// The limit on choices ended the search before one was found.
    Limit {
        /// Number of choices made.
        choices: u64,
    },
}

impl std::fmt::Display for NoInterface {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoInterface::None(why) => f.write_str(why),
            NoInterface::Limit { choices } => {
                write!(f, "the search for a renaming of the actions was ended after {choices} choices")
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

/// Searches the best match. `max_choices` bounds how many renamings of types and pairs of parameters are tried; the answer depends on
/// nothing else.
///
/// # Errors
/// Reason why there is no interface. A metric that needs one is then undefined.
pub fn match_interface(
    reference: DomainWithProblems<'_>,
    candidate: DomainWithProblems<'_>,
    max_choices: u64,
) -> Result<Interface, NoInterface> {
    let found = search(reference, candidate, max_choices);
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
    let wanted = Extensions::new(reference.domain, reference.problems);
    let mut search = InterfaceSearch {
        own: own.iter().map(|a| MatchedAction::new(a, &wanted)).collect(),
        choices: 0,
        max_choices,
        whole: true,
        best: None,
        why: String::new(),
    };
    let renamings = match candidate.problems.is_empty() {
        true => types::renamings(reference.domain, candidate.domain, max_choices),
        false => types::Renamings { list: vec![Vec::new()], whole: true },
    };
    search.whole = renamings.whole;
    for renaming in renamings.list {
        if search.choices >= max_choices {
            search.whole = false;
            break;
        }
        search.choices += 1;
        let renamed = planforge_pddl::rename_types(candidate.domain, &renaming);
        let has = Extensions::new(&renamed, problems);
        let sides: Vec<MatchedAction> =
            firsts(&renamed).into_iter().map(|a| MatchedAction::new(a, &has)).collect();
        search.under(&renaming, &sides);
    }
    match search.best {
        Some(best) => Ok(Interface { exact: search.whole, ..best.2 }),
        None if !search.whole => Err(NoInterface::Limit { choices: search.choices }),
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
    objects: Extension,
}

impl MatchedAction {
    fn new(action: &Action, extensions: &Extensions) -> Self {
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
    whole: bool,
    best: Option<Valued>,
    /// Why the first renaming of types has no match.
    why: String,
}

impl InterfaceSearch {
    /// Pairs the actions under one renaming of the candidate's types (its name, the reference's).
    fn under(&mut self, renaming: &[(Name, Name)], other: &[MatchedAction]) {
        let mut pairs: Vec<Vec<Option<Best>>> = Vec::with_capacity(self.own.len());
        for number in 0..self.own.len() {
            let row: Vec<Option<Best>> = other.iter().map(|b| self.pair(number, b)).collect();
            if row.iter().all(Option::is_none) {
                if self.why.is_empty() {
                    let name = &self.own[number].name;
                    self.why = format!("no action of the candidate has the parameters of {name}");
                }
                return;
            }
            pairs.push(row);
        }
        let value = |i: usize, j: usize| {
            let best = pairs[i][j].as_ref()?;
            Some((similarity(self.own[i].name.key(), other[j].name.key()), best.error))
        };
        let Some(assigned) = assign::assign(self.own.len(), &value) else {
            if self.why.is_empty() {
                self.why =
                    "its actions do not have the parameters of the reference's, one for one".to_owned();
            }
            return;
        };
        let mut names = 0;
        let mut actions = Vec::with_capacity(assigned.len());
        for (i, &j) in assigned.iter().enumerate() {
            let Some(best) = &pairs[i][j] else { return };
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
