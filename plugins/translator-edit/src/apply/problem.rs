//! Applies the calls of a reply that edit the problem, against the edited domain.
//!
//! Entries are added and removed in an order in which each needs only those before it: new objects, removed facts and conditions, new
//! types of objects, added facts and conditions, removed objects. An entry that would break the problem is refused.

use super::read::{EditReader, Refusals, or_else};
use super::{about, distinct_messages};
use crate::calls::{ProblemCall, ProblemPart, REPLY, Text};
use crate::codes;
use planforge_contract::AppliedFix;
use planforge_diagnostics::{Diagnostic, SourceId, Span};
use planforge_pddl::ast::{Condition, Domain, InitElement, Problem, TypedName};
use planforge_pddl::{
    Name, TaskSources, check_problem, parse_problem, print_condition, print_init, print_problem,
};

/// A problem after the edits of a reply.
pub(super) struct EditedProblem {
    pub(super) problem: Problem,
    pub(super) applied: usize,
    pub(super) refused: Vec<Refusals>,
    pub(super) fixes: Vec<AppliedFix>,
}

/// An entry of a call with its place in the reply.
struct Entry<T> {
    value: T,
    from: Span,
}

/// The entries of all calls.
#[derive(Default)]
struct Entries {
    objects: Vec<Entry<TypedName>>,
    removed_objects: Vec<Entry<Name>>,
    facts: Vec<Entry<InitElement>>,
    removed_facts: Vec<Entry<InitElement>>,
    conditions: Vec<Entry<Condition>>,
    removed_conditions: Vec<Entry<Condition>>,
}

/// Applies the calls to a problem of the domain.
pub(super) fn apply(
    reader: &EditReader<'_>,
    domain: &Domain,
    problem: &Problem,
    calls: &[ProblemCall],
) -> EditedProblem {
    let mut edits = Edits {
        domain,
        edited: EditedProblem {
            problem: problem.clone(),
            applied: 0,
            refused: Vec::new(),
            fixes: Vec::new(),
        },
    };
    let entries = edits.read(reader, calls);
    let known = |objects: &[TypedName], name: &Name| objects.iter().any(|o| o.name == *name);
    let (retyped, new): (Vec<_>, Vec<_>) =
        entries.objects.iter().partition(|entry| known(&problem.objects, &entry.value.name));
    for entry in new {
        edits.try_entry(ProblemPart::Objects, entry.from, |p| p.objects.push(entry.value.clone()));
    }
    for entry in &entries.removed_facts {
        edits.remove_fact(entry);
    }
    for entry in retyped {
        edits.try_entry(ProblemPart::Objects, entry.from, |p| {
            for object in p.objects.iter_mut().filter(|o| o.name == entry.value.name) {
                object.ty.clone_from(&entry.value.ty);
            }
        });
    }
    for entry in &entries.facts {
        edits.try_entry(ProblemPart::Init, entry.from, |p| add_fact(p, &entry.value));
    }
    edits.change_goal(&entries);
    for entry in &entries.removed_objects {
        if !known(&edits.edited.problem.objects, &entry.value) {
            let message = format!("`{}` is not an object of the problem", entry.value);
            edits.refuse(ProblemPart::Objects, missing(message, entry.from));
            continue;
        }
        edits.try_entry(ProblemPart::Objects, entry.from, |p| p.objects.retain(|o| o.name != entry.value));
    }
    edits.edited
}

/// A problem while edits are applied.
struct Edits<'a> {
    domain: &'a Domain,
    edited: EditedProblem,
}

impl Edits<'_> {
    fn refuse(&mut self, part: ProblemPart, finding: Diagnostic) {
        self.edited.refused.push(vec![about(part.function(), finding)]);
    }

    /// Makes a change unless the problem would have a new error.
    fn try_entry(&mut self, part: ProblemPart, from: Span, change: impl FnOnce(&mut Problem)) {
        let mut changed = self.edited.problem.clone();
        change(&mut changed);
        let found = new_faults(self.domain, &self.edited.problem, &changed);
        if found.is_empty() {
            self.edited.problem = changed;
            self.edited.applied += 1;
            return;
        }
        let moved = found.into_iter().map(|d| about(part.function(), move_to(d, from)));
        self.edited.refused.push(moved.collect());
    }

    fn remove_fact(&mut self, entry: &Entry<InitElement>) {
        let before = self.edited.problem.init.len();
        self.edited.problem.init.retain(|fact| !is_same_fact(fact, &entry.value));
        if self.edited.problem.init.len() < before {
            self.edited.applied += 1;
            return;
        }
        let message = format!("the initial state has no `{}`", one_line(&print_init(&entry.value)));
        self.refuse(ProblemPart::Init, missing(message, entry.from));
    }

    /// Removes and adds conditions of the goal. If none would be left, it stays as it is.
    fn change_goal(&mut self, entries: &Entries) {
        if entries.conditions.is_empty() && entries.removed_conditions.is_empty() {
            return;
        }
        let before = (self.edited.problem.goal.clone(), self.edited.applied);
        for entry in &entries.removed_conditions {
            let mut parts = goal_parts(&self.edited.problem);
            let count = parts.len();
            parts.retain(|part| !is_same_condition(part, &entry.value));
            if parts.len() == count {
                let message = format!("the goal has no `{}`", one_line(&print_condition(&entry.value)));
                self.refuse(ProblemPart::Goal, missing(message, entry.from));
                continue;
            }
            self.edited.problem.goal = Some(Condition::And(parts, Span::default()));
            self.edited.applied += 1;
        }
        for entry in &entries.conditions {
            self.try_entry(ProblemPart::Goal, entry.from, |p| {
                let mut parts = goal_parts(p);
                if !parts.iter().any(|part| is_same_condition(part, &entry.value)) {
                    parts.push(entry.value.clone());
                }
                p.goal = Some(Condition::And(parts, Span::default()));
            });
        }
        let is_empty = goal_parts(&self.edited.problem).is_empty();
        if let Some(first) = entries.removed_conditions.first().filter(|_| is_empty) {
            (self.edited.problem.goal, self.edited.applied) = before;
            let message = "the goal would be empty; it stays as it was";
            let empty = Diagnostic::error(codes::EDIT_BREAKS_PROBLEM, message);
            self.refuse(ProblemPart::Goal, empty.at(REPLY, first.from, ""));
        }
    }

    /// Reads the entries of all calls. Unreadable ones are refused.
    fn read(&mut self, reader: &EditReader<'_>, calls: &[ProblemCall]) -> Entries {
        let mut entries = Entries::default();
        for call in calls {
            match call.part {
                ProblemPart::Objects => {
                    self.read_objects(&call.add, |object, from| {
                        entries.objects.push(Entry { value: object, from });
                    });
                    self.read_objects(&call.remove, |object, from| {
                        entries.removed_objects.push(Entry { value: object.name, from });
                    });
                }
                ProblemPart::Init => {
                    for (texts, list) in
                        [(&call.add, &mut entries.facts), (&call.remove, &mut entries.removed_facts)]
                    {
                        self.read_lists(reader, texts, call.part, ":init", |problem, from| {
                            list.extend(problem.init.into_iter().map(|value| Entry { value, from }));
                        });
                    }
                }
                ProblemPart::Goal => {
                    for (texts, list) in [
                        (&call.add, &mut entries.conditions),
                        (&call.remove, &mut entries.removed_conditions),
                    ] {
                        self.read_lists(reader, texts, call.part, ":goal", |problem, from| {
                            list.extend(goal_parts(&problem).into_iter().map(|value| Entry { value, from }));
                        });
                    }
                }
            }
        }
        entries
    }

    /// Reads strings of lists in parentheses, each list as the content of a section.
    fn read_lists(
        &mut self,
        reader: &EditReader<'_>,
        texts: &[Text],
        part: ProblemPart,
        section: &str,
        mut take: impl FnMut(Problem, Span),
    ) {
        for text in texts {
            let lists = match reader.lists(text, section) {
                Ok((lists, fixes)) => {
                    self.edited.fixes.extend(fixes);
                    lists
                }
                Err(refused) => {
                    self.refuse(part, *refused);
                    continue;
                }
            };
            for list in lists {
                match read_section(&format!("({section} {list})"), text.span) {
                    Ok(problem) => take(problem, text.span),
                    Err(found) => {
                        let found = found.into_iter().map(|d| about(part.function(), d));
                        self.edited.refused.push(found.collect());
                    }
                }
            }
        }
    }

    fn read_objects(&mut self, texts: &[Text], mut take: impl FnMut(TypedName, Span)) {
        for text in texts {
            let inner = text.value.trim();
            let inner = inner.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(inner);
            let inner = inner.trim_start().strip_prefix(":objects").unwrap_or(inner);
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c.is_whitespace() || "-_".contains(c);
            let read = match inner.chars().all(is_plain) {
                true => read_section(&format!("(:objects {inner})"), text.span),
                false => Err(Vec::new()),
            };
            match read {
                Ok(problem) if !problem.objects.is_empty() => {
                    problem.objects.into_iter().for_each(|object| take(object, text.span));
                }
                Ok(_) | Err(_) => {
                    let message = format!("`{}` is not a list of objects", one_line(&text.value));
                    let wrong = Diagnostic::error(codes::EDIT_FORM, message).at(REPLY, text.span, "");
                    self.refuse(ProblemPart::Objects, wrong.help("write each as `name - type`"));
                }
            }
        }
    }
}

/// Reads a section of a problem that is otherwise empty.
fn read_section(section: &str, from: Span) -> Result<Problem, Refusals> {
    let before = "(define (problem p) (:domain d) ";
    let parsed = parse_problem(&format!("{before}{section})"), SourceId(0));
    let is_inside = |d: &Diagnostic| {
        d.primary().is_some_and(|label| {
            let at = label.span.start as usize;
            (before.len()..before.len() + section.len()).contains(&at)
        })
    };
    let found: Refusals = parsed.diagnostics.into_iter().filter(|d| d.is_error() && is_inside(d)).collect();
    let is_read =
        !parsed.value.init.is_empty() || parsed.value.goal.is_some() || !parsed.value.objects.is_empty();
    match found.is_empty() && is_read {
        true => Ok(parsed.value),
        false => Err(or_else(found.into_iter().map(|d| move_to(d, from)).collect(), || {
            Diagnostic::error(codes::EDIT_FORM, "this cannot be read as PDDL").at(REPLY, from, "")
        })),
    }
}

/// A finding about PDDL as one about a place of the reply.
fn move_to(found: Diagnostic, to: Span) -> Diagnostic {
    let Diagnostic { code, message, help, .. } = found;
    Diagnostic { code, message, help, ..Diagnostic::error(codes::EDIT_FORM, "") }.at(REPLY, to, "")
}

fn missing(message: String, from: Span) -> Diagnostic {
    Diagnostic::error(codes::EDIT_NOT_THERE, message).at(REPLY, from, "")
}

/// Adds a fact that does not hold yet, or sets a value.
fn add_fact(problem: &mut Problem, fact: &InitElement) {
    match problem.init.iter_mut().find(|old| is_same_fact(old, fact)) {
        Some(old) => old.clone_from(fact),
        None => problem.init.push(fact.clone()),
    }
}

/// True for the same atom, or the same function with the same arguments and any value.
fn is_same_fact(one: &InitElement, other: &InitElement) -> bool {
    let key = |fact: &InitElement| match fact {
        InitElement::Value(fluent, ..) => {
            let names = fluent.args.iter().map(|a| a.name().key());
            let words: Vec<&str> = std::iter::once(fluent.function.key()).chain(names).collect();
            format!("= {}", words.join(" "))
        }
        fact => one_line(&print_init(fact)).to_lowercase(),
    };
    key(one) == key(other)
}

fn is_same_condition(one: &Condition, other: &Condition) -> bool {
    let key = |condition: &Condition| one_line(&print_condition(condition)).to_lowercase();
    key(one) == key(other)
}

fn goal_parts(problem: &Problem) -> Vec<Condition> {
    problem.goal.as_ref().map(|goal| goal.conjuncts().to_vec()).unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The errors of a problem under a domain.
pub(crate) fn faults(domain: &Domain, problem: &Problem) -> Vec<Diagnostic> {
    let sources = TaskSources::default();
    let parsed = parse_problem(&print_problem(problem), sources.problem);
    let found = parsed.diagnostics.into_iter().chain(check_problem(domain, &parsed.value, sources));
    distinct_messages(found.filter(Diagnostic::is_error).collect())
}

/// The errors of `after` that `before` does not have.
fn new_faults(domain: &Domain, before: &Problem, after: &Problem) -> Vec<Diagnostic> {
    let old = faults(domain, before);
    let is_new = |d: &Diagnostic| !old.iter().any(|o| o.code == d.code && o.message == d.message);
    faults(domain, after).into_iter().filter(is_new).collect()
}
