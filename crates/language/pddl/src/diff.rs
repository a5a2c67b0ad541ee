//! Structural differences between two domains or two problems.
//!
//! Names compare without case. The order of conjuncts, declarations and facts does not count. Parameters of
//! an action that both have correspond by position, so that renaming one is a single difference and not one
//! in every literal.

use crate::ast::{
    Action, Condition, Domain, DurativeAction, Effect, InitElement, PredicateDecl, Problem, TypedName,
};
use crate::name::Name;
use crate::print;
use crate::rename::{Renaming, rename_condition, rename_effect};
use planforge_diagnostics::Span;
use rustc_hash::FxHashMap;
use std::fmt;

/// Kind of change from the first to the second tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// Only the second has it.
    Added,
    /// Only the first has it.
    Removed,
    /// Both have it, and it differs.
    Changed,
}

/// A difference between two definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDifference {
    /// Kind of the change.
    pub change: ChangeKind,
    /// Place of the change: `predicate`, `object`, `init`, `goal`, or `action pick-up: precondition`.
    pub place: String,
    /// Text in the first tree; `None` for an addition.
    pub before: Option<String>,
    /// Text in the second tree; `None` for a removal.
    pub after: Option<String>,
    /// Place in the first tree.
    pub before_span: Option<Span>,
    /// Place in the second tree.
    pub after_span: Option<Span>,
}

impl fmt::Display for DefinitionDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nothing = String::new();
        let (before, after) =
            (self.before.as_ref().unwrap_or(&nothing), self.after.as_ref().unwrap_or(&nothing));
        match self.change {
            ChangeKind::Added => write!(f, "{}: {after} added", self.place),
            ChangeKind::Removed => write!(f, "{}: {before} removed", self.place),
            ChangeKind::Changed => write!(f, "{}: {before} became {after}", self.place),
        }
    }
}

/// Returns the changes from the first domain to the second, in the order of a domain's sections.
pub fn diff_domains(a: &Domain, b: &Domain) -> Vec<DefinitionDifference> {
    let mut diff = Diff::default();
    diff.names("domain name", a.name.as_ref(), b.name.as_ref());
    diff.items("requirement", &requirements(&a.requirements), &requirements(&b.requirements));
    diff.items("type", &typed_items(&a.types), &typed_items(&b.types));
    diff.items("constant", &typed_items(&a.constants), &typed_items(&b.constants));
    diff.items("predicate", &predicates(&a.predicates), &predicates(&b.predicates));
    diff.items("function", &functions(a), &functions(b));
    let rules = |d: &Domain| -> Vec<Item> {
        d.derived
            .iter()
            .map(|rule| {
                let body = rule.condition.as_ref().map(canonical_condition).unwrap_or_default();
                let text =
                    format!("({} {}) {body}", rule.predicate, print::print_typed_list(&rule.parameters));
                Item::whole(text, rule.span)
            })
            .collect()
    };
    diff.items("rule", &rules(a), &rules(b));
    diff.conditions("constraints", a.constraints.as_ref(), b.constraints.as_ref());
    diff.schemas(a, b);
    diff.list
}

/// Returns the changes from the first problem to the second, in the order of a problem's sections.
pub fn diff_problems(a: &Problem, b: &Problem) -> Vec<DefinitionDifference> {
    let mut diff = Diff::default();
    diff.names("problem name", a.name.as_ref(), b.name.as_ref());
    diff.names("domain", a.domain_name.as_ref(), b.domain_name.as_ref());
    diff.items("requirement", &requirements(&a.requirements), &requirements(&b.requirements));
    diff.items("object", &typed_items(&a.objects), &typed_items(&b.objects));
    diff.items("init", &facts(&a.init), &facts(&b.init));
    diff.conditions("goal", a.goal.as_ref(), b.goal.as_ref());
    diff.conditions("constraints", a.constraints.as_ref(), b.constraints.as_ref());
    let metric = |p: &Problem| -> Vec<Item> {
        let metric = p.metric.iter();
        metric
            .map(|m| {
                let text = format!("{:?} {}", m.direction, print::print_numeric(&m.expr)).to_lowercase();
                Item::with_key("metric".into(), text, m.span)
            })
            .collect()
    };
    diff.items("metric", &metric(a), &metric(b));
    diff.list
}

/// A part of a tree. Parts with equal keys correspond; they are equal if their texts are.
struct Item {
    key: String,
    /// Text for comparison, lower case and in canonical order.
    compared: String,
    /// Text for display, with the case of the source.
    shown: String,
    span: Span,
}

impl Item {
    /// Something that is there or not, and cannot be there with a difference.
    fn whole(shown: String, span: Span) -> Self {
        let compared = shown.to_lowercase();
        Self { key: compared.clone(), compared, shown, span }
    }

    /// Something with a name and content.
    fn with_key(key: String, shown: String, span: Span) -> Self {
        Self { key, compared: shown.to_lowercase(), shown, span }
    }
}

fn requirements(names: &[Name]) -> Vec<Item> {
    names.iter().map(|name| Item::whole(name.to_string(), name.span)).collect()
}

fn typed_items(list: &[TypedName]) -> Vec<Item> {
    list.iter()
        .map(|entry| {
            let shown = print::print_typed_list(std::slice::from_ref(entry));
            Item::with_key(entry.name.key().to_owned(), shown, entry.name.span)
        })
        .collect()
}

/// A declaration compares by the types of its parameters; their names mean nothing.
fn declaration(name: &Name, parameters: &[TypedName], span: Span) -> Item {
    let types: Vec<String> =
        parameters.iter().map(|p| p.ty.as_ref().map_or("object".to_owned(), |_| type_text(p))).collect();
    let list = print::print_typed_list(parameters);
    let shown = if list.is_empty() { format!("({name})") } else { format!("({name} {list})") };
    Item { key: name.key().to_owned(), compared: types.join(" "), shown, span }
}

/// The type of an entry in lower case, the alternatives sorted.
fn type_text(entry: &TypedName) -> String {
    let mut names: Vec<&str> = entry.ty.iter().flat_map(|ty| &ty.alternatives).map(Name::key).collect();
    names.sort_unstable();
    if names.is_empty() { "object".to_owned() } else { names.join("|") }
}

fn predicates(list: &[PredicateDecl]) -> Vec<Item> {
    list.iter().map(|p| declaration(&p.name, &p.parameters, p.span)).collect()
}

fn functions(domain: &Domain) -> Vec<Item> {
    domain.functions.iter().map(|f| declaration(&f.name, &f.parameters, f.span)).collect()
}

fn facts(init: &[InitElement]) -> Vec<Item> {
    init.iter()
        .map(|element| {
            let shown = print::print_init(element);
            match element {
                InitElement::Value(fluent, ..) => {
                    let mut key = fluent.function.key().to_owned();
                    for arg in &fluent.args {
                        key.push(' ');
                        key.push_str(arg.name().key());
                    }
                    Item::with_key(format!("= {key}"), shown, element.span())
                }
                _ => Item::whole(shown, element.span()),
            }
        })
        .collect()
}

/// One action schema, instantaneous or durative, as lists of items.
struct Schema<'a> {
    kind: &'static str,
    name: &'a Name,
    parameters: &'a [TypedName],
    parts: [(&'static str, Vec<Item>); 4],
    span: Span,
}

#[derive(Default)]
struct Diff {
    list: Vec<DefinitionDifference>,
}

impl Diff {
    fn push(&mut self, change: ChangeKind, place: &str, before: Option<&Item>, after: Option<&Item>) {
        self.list.push(DefinitionDifference {
            change,
            place: place.to_owned(),
            before: before.map(|item| item.shown.clone()),
            after: after.map(|item| item.shown.clone()),
            before_span: before.map(|item| item.span),
            after_span: after.map(|item| item.span),
        });
    }

    fn names(&mut self, place: &str, a: Option<&Name>, b: Option<&Name>) {
        let item = |name: &Name| Item::with_key(place.to_owned(), name.to_string(), name.span);
        let (a, b): (Vec<Item>, Vec<Item>) =
            (a.map(item).into_iter().collect(), b.map(item).into_iter().collect());
        self.items(place, &a, &b);
    }

    /// Compares two lists as multisets of keys. Linear in their lengths.
    fn items(&mut self, place: &str, a: &[Item], b: &[Item]) {
        let mut others: FxHashMap<&str, Vec<&Item>> = FxHashMap::default();
        for item in b.iter().rev() {
            others.entry(&item.key).or_default().push(item);
        }
        let mut matched: Vec<*const Item> = Vec::new();
        for item in a {
            let same_key = others.get_mut(item.key.as_str());
            let found = same_key.and_then(|list| {
                // Of several with one key, the one with equal content; otherwise the first.
                let exact = list.iter().rposition(|other| other.compared == item.compared);
                match exact {
                    Some(index) => Some(list.remove(index)),
                    None => list.pop(),
                }
            });
            match found {
                None => self.push(ChangeKind::Removed, place, Some(item), None),
                Some(other) => {
                    matched.push(other);
                    if other.compared != item.compared {
                        self.push(ChangeKind::Changed, place, Some(item), Some(other));
                    }
                }
            }
        }
        let matched: rustc_hash::FxHashSet<*const Item> = matched.into_iter().collect();
        for item in b.iter().filter(|item| !matched.contains(&std::ptr::from_ref::<Item>(item))) {
            self.push(ChangeKind::Added, place, None, Some(item));
        }
    }

    fn conditions(&mut self, place: &str, a: Option<&Condition>, b: Option<&Condition>) {
        self.items(place, &condition_items(a), &condition_items(b));
    }

    fn schemas(&mut self, a: &Domain, b: &Domain) {
        let (before, after) = (schemas(a, None), schemas(b, None));
        for old in &before {
            let place = format!("{} {}", old.kind, old.name);
            match after.iter().find(|new| new.kind == old.kind && new.name == old.name) {
                None => {
                    let item = Item::whole(old.name.to_string(), old.span);
                    self.push(ChangeKind::Removed, old.kind, Some(&item), None);
                }
                Some(new) => {
                    self.parameters(&format!("{place}: parameter"), old.parameters, new.parameters);
                    let renaming = Renaming::new(new.parameters, old.parameters);
                    let renamed = schemas(b, Some((&renaming, new.name)));
                    let Some(new) = renamed.iter().find(|s| s.kind == old.kind && s.name == old.name) else {
                        continue;
                    };
                    for ((part, old_items), (_, new_items)) in old.parts.iter().zip(&new.parts) {
                        self.items(&format!("{place}: {part}"), old_items, new_items);
                    }
                }
            }
        }
        for new in after.iter().filter(|n| !before.iter().any(|o| o.kind == n.kind && o.name == n.name)) {
            let item = Item::whole(new.name.to_string(), new.span);
            self.push(ChangeKind::Added, new.kind, None, Some(&item));
        }
    }

    /// Parameters correspond by position.
    fn parameters(&mut self, place: &str, a: &[TypedName], b: &[TypedName]) {
        let item = |(index, p): (usize, &TypedName)| {
            let shown = print::print_typed_list(std::slice::from_ref(p));
            let compared = format!("{} {}", p.name.key(), type_text(p));
            Item { key: index.to_string(), compared, shown, span: p.name.span }
        };
        let (a, b): (Vec<Item>, Vec<Item>) =
            (a.iter().enumerate().map(item).collect(), b.iter().enumerate().map(item).collect());
        self.items(place, &a, &b);
    }
}

/// The schemas of a domain; those called `only` with their variables renamed.
fn schemas<'a>(domain: &'a Domain, renaming: Option<(&Renaming, &Name)>) -> Vec<Schema<'a>> {
    let wanted = |name: &Name| renaming.is_none_or(|(_, only)| only == name);
    let map = renaming.map(|(map, _)| map);
    let instantaneous = domain.actions.iter().filter(|a| wanted(&a.name)).map(|a| action_schema(a, map));
    let durative = domain.durative_actions.iter().filter(|a| wanted(&a.name));
    instantaneous.chain(durative.map(|a| durative_schema(a, map))).collect()
}

fn action_schema<'a>(action: &'a Action, renaming: Option<&Renaming>) -> Schema<'a> {
    let precondition = action.precondition.as_ref().map(|c| renamed_condition(c, renaming));
    let effect = action.effect.as_ref().map(|e| renamed_effect(e, renaming));
    Schema {
        kind: "action",
        name: &action.name,
        parameters: &action.parameters,
        parts: [
            ("variable", typed_items(&action.vars)),
            ("precondition", condition_items(precondition.as_ref())),
            ("effect", effect_items(effect.as_ref())),
            ("duration", Vec::new()),
        ],
        span: action.span,
    }
}

fn durative_schema<'a>(action: &'a DurativeAction, renaming: Option<&Renaming>) -> Schema<'a> {
    let duration = action.duration.as_ref().map(|c| renamed_condition(c, renaming));
    let condition = action.condition.as_ref().map(|c| renamed_condition(c, renaming));
    let effect = action.effect.as_ref().map(|e| renamed_effect(e, renaming));
    Schema {
        kind: "durative action",
        name: &action.name,
        parameters: &action.parameters,
        parts: [
            ("variable", Vec::new()),
            ("condition", condition_items(condition.as_ref())),
            ("effect", effect_items(effect.as_ref())),
            ("duration", condition_items(duration.as_ref())),
        ],
        span: action.span,
    }
}

fn condition_items(condition: Option<&Condition>) -> Vec<Item> {
    let mut parts: Vec<&Condition> = Vec::new();
    condition.into_iter().for_each(|c| flatten_condition(c, &mut parts));
    parts
        .into_iter()
        .map(|part| {
            let compared = canonical_condition(part);
            Item { key: compared.clone(), compared, shown: print::print_condition(part), span: part.span() }
        })
        .collect()
}

fn effect_items(effect: Option<&Effect>) -> Vec<Item> {
    let mut parts: Vec<&Effect> = Vec::new();
    effect.into_iter().for_each(|e| flatten_effect(e, &mut parts));
    parts
        .into_iter()
        .map(|part| {
            let compared = canonical_effect(part);
            Item { key: compared.clone(), compared, shown: print::print_effect(part), span: part.span() }
        })
        .collect()
}

fn flatten_condition<'a>(condition: &'a Condition, parts: &mut Vec<&'a Condition>) {
    match condition {
        Condition::And(inner, _) => inner.iter().for_each(|c| flatten_condition(c, parts)),
        other => parts.push(other),
    }
}

fn flatten_effect<'a>(effect: &'a Effect, parts: &mut Vec<&'a Effect>) {
    match effect {
        Effect::And(inner, _) => inner.iter().for_each(|e| flatten_effect(e, parts)),
        other => parts.push(other),
    }
}

/// The condition in lower case, conjunctions and disjunctions flat and sorted.
pub(crate) fn canonical_condition(condition: &Condition) -> String {
    let mut copy = condition.clone();
    sort_condition(&mut copy);
    print::print_condition(&copy).to_lowercase()
}

pub(crate) fn canonical_effect(effect: &Effect) -> String {
    let mut copy = effect.clone();
    sort_effect(&mut copy);
    print::print_effect(&copy).to_lowercase()
}

fn sort_condition(condition: &mut Condition) {
    match condition {
        Condition::And(parts, _) => {
            let mut flat = Vec::with_capacity(parts.len());
            for mut part in parts.drain(..) {
                sort_condition(&mut part);
                match part {
                    Condition::And(inner, _) => flat.extend(inner),
                    other => flat.push(other),
                }
            }
            flat.sort_by_cached_key(|part| print::print_condition(part).to_lowercase());
            *parts = flat;
        }
        Condition::Or(parts, _) => {
            parts.iter_mut().for_each(sort_condition);
            parts.sort_by_cached_key(|part| print::print_condition(part).to_lowercase());
        }
        Condition::Not(inner, _) | Condition::Timed(_, inner, _) => sort_condition(inner),
        Condition::Imply(a, b, _) => {
            sort_condition(a);
            sort_condition(b);
        }
        Condition::Exists(q) | Condition::Forall(q) => sort_condition(&mut q.body),
        Condition::Preference(p) => sort_condition(&mut p.condition),
        Condition::Trajectory(t) => t.conditions.iter_mut().for_each(sort_condition),
        Condition::Atom(_) | Condition::Equal(..) | Condition::Compare(_) => {}
    }
}

fn sort_effect(effect: &mut Effect) {
    match effect {
        Effect::And(parts, _) => {
            parts.iter_mut().for_each(sort_effect);
            parts.sort_by_cached_key(|part| print::print_effect(part).to_lowercase());
        }
        Effect::Forall(q) => sort_effect(&mut q.body),
        Effect::When(condition, inner, _) => {
            sort_condition(condition);
            sort_effect(inner);
        }
        Effect::Timed(_, inner, _) => sort_effect(inner),
        Effect::Add(_) | Effect::Delete(..) | Effect::Assign(_) => {}
    }
}

fn renamed_condition(condition: &Condition, renaming: Option<&Renaming>) -> Condition {
    let mut copy = condition.clone();
    if let Some(renaming) = renaming {
        rename_condition(&mut copy, renaming);
    }
    copy
}

fn renamed_effect(effect: &Effect, renaming: Option<&Renaming>) -> Effect {
    let mut copy = effect.clone();
    if let Some(renaming) = renaming {
        rename_effect(&mut copy, renaming);
    }
    copy
}
