//! A change of a domain and a problem as edits of their texts, so that comments of unchanged parts remain.

use super::comments::{
    CommentedText, Comments, comments_of_action, comments_of_goal, print_commented_action,
    print_commented_goal, read_domain,
};
use super::points::{GapKind, Point, PointChange};
use planforge_diagnostics::{Fix, SourceId, Span, apply_fixes};
use planforge_pddl::ast::{
    Action, Atom, Condition, Domain, Effect, InitElement, Parsed, PredicateDecl, Problem, Section, Term,
    TypedName,
};
use planforge_pddl::{
    Name, check_domain, diff_domains, diff_problems, parse_domain, parse_problem, print_action, print_atom,
    print_init, print_typed_list, read_task,
};
use std::ops::Range;

/// The clause about a change without consequence.
pub(super) const NOTHING_CHANGES: &str = "nothing changes";

/// The domain and the problem of another reader. Comments of unchanged parts remain.
///
/// # Errors
/// A clause that says why the change cannot be used: it is not readable, the result has an error, or nothing changes.
pub fn apply(domain: &str, problem: &str, change: &PointChange) -> Result<(String, String), String> {
    let change = ReadChange::new(change)?;
    let before = read_task(domain, problem).map_err(|_| "the PDDL that it changes has errors".to_owned())?;
    let changed = change.apply(domain, problem, &before)?;
    // Parts of the problem do not change a given domain.
    let domain_text = if changed.0 == domain { changed.0 } else { declare_requirements(changed.0) };
    let after = read_task(&domain_text, &changed.1).map_err(|found| {
        let error = found.into_iter().find(planforge_diagnostics::Diagnostic::is_error);
        error.map_or_else(
            || "the result has errors".to_owned(),
            |error| format!("the result has an error: {}", error.message),
        )
    })?;
    match diff_domains(&before.0, &after.0).is_empty() && diff_problems(&before.1, &after.1).is_empty() {
        true => Err(NOTHING_CHANGES.to_owned()),
        false => Ok((domain_text, changed.1)),
    }
}

/// The change after which the rule of other cases holds for an action, too. A point about a rule for a part of the cases adds a condition
/// to an action. If another action with the same effect needs another condition of the same things, the action needs it as well: a critic
/// that asks whether a blue lever moves only in the dark has not asked whether it moves only in the light, as a red one. `None` for all
/// other points.
pub fn rule_of_other_cases(domain: &str, point: &Point) -> Option<PointChange> {
    if point.kind != GapKind::PartialRule {
        return None;
    }
    let read = ReadChange::new(&point.change).ok()?;
    let [(changed, _)] = read.actions.as_slice() else { return None };
    let tree = read_domain(domain);
    let action = tree.actions.iter().find(|action| action.name == changed.name)?;
    let own: Vec<String> = literals(action).map(printed).collect();
    let named: Vec<(bool, &Atom)> =
        literals(changed).filter(|named| !own.contains(&printed(*named))).collect();
    let [named] = named.as_slice() else { return None };
    let things = types_of(changed, named.1);
    let is_changed = |atom: &Atom| tree.actions.iter().flat_map(added).any(|other| *other == atom.predicate);
    let has_same_effect = |other: &&Action| {
        other.name != action.name && added(other).any(|predicate| added(action).any(|own| own == predicate))
    };
    let mut rules: Vec<(bool, Atom)> = Vec::new();
    for other in tree.actions.iter().filter(has_same_effect) {
        for (holds, atom) in literals(other) {
            let rule = (holds, Atom { args: named.1.args.clone(), ..atom.clone() });
            let text = printed((holds, &rule.1));
            let is_known = own.contains(&text)
                || text == printed(*named)
                || rules.iter().any(|(holds, atom)| printed((*holds, atom)) == text);
            if !is_known && types_of(other, atom) == things && is_changed(atom) {
                rules.push(rule);
            }
        }
    }
    let [(holds, atom)] = rules.as_slice() else { return None };
    let rule = Condition::Atom(atom.clone());
    let rule = if *holds { rule } else { Condition::Not(Box::new(rule), atom.span) };
    let conditions =
        action.precondition.iter().flat_map(Condition::conjuncts).cloned().chain([rule]).collect();
    let ruled = Action { precondition: Some(Condition::And(conditions, action.span)), ..action.clone() };
    Some(PointChange { actions: vec![print_action(&ruled)], ..PointChange::default() })
}

/// The conditions of an action that are an atom or its negation: the atom, and whether it has to hold.
fn literals(action: &Action) -> impl Iterator<Item = (bool, &Atom)> {
    action.precondition.iter().flat_map(Condition::conjuncts).filter_map(|condition| match condition {
        Condition::Atom(atom) => Some((true, atom)),
        Condition::Not(inner, _) => match &**inner {
            Condition::Atom(atom) => Some((false, atom)),
            _ => None,
        },
        _ => None,
    })
}

fn printed((holds, atom): (bool, &Atom)) -> String {
    let atom = print_atom(atom).to_lowercase();
    if holds { atom } else { format!("(not {atom})") }
}

/// The predicates that an action makes true.
fn added(action: &Action) -> impl Iterator<Item = &Name> {
    action.effect.iter().flat_map(Effect::conjuncts).filter_map(|effect| match effect {
        Effect::Add(atom) => Some(&atom.predicate),
        _ => None,
    })
}

/// The types of the arguments of an atom in an action. A constant has its name.
fn types_of(action: &Action, atom: &Atom) -> Vec<String> {
    let type_of = |term: &Term| match term {
        Term::Constant(name) => name.key().to_owned(),
        Term::Variable(name) => {
            let parameter = action.parameters.iter().find(|parameter| parameter.name == *name);
            let types = parameter.iter().flat_map(|parameter| &parameter.ty).flat_map(|ty| &ty.alternatives);
            types.map(Name::key).collect::<Vec<_>>().join(" ")
        }
    };
    atom.args.iter().map(type_of).collect()
}

/// Declares the requirements that the domain uses.
fn declare_requirements(domain: String) -> String {
    let tree = read_domain(&domain);
    let found = check_domain(&tree, SourceId(0));
    let fixes: Vec<Fix> = found
        .into_iter()
        .filter(|diagnostic| diagnostic.code == "pddl.undeclared-requirement")
        .filter_map(|diagnostic| diagnostic.fix)
        .collect();
    match fixes.is_empty() {
        true => domain,
        false => apply_fixes(&domain, SourceId(0), &fixes).text,
    }
}

/// The PDDL of a change as trees.
#[derive(Debug, Default)]
pub(super) struct ReadChange {
    pub(super) types: Vec<TypedName>,
    pub(super) predicates: Vec<PredicateDecl>,
    /// Actions with their texts.
    pub(super) actions: Vec<(Action, String)>,
    pub(super) remove_actions: Vec<Name>,
    pub(super) objects: Vec<TypedName>,
    pub(super) remove_objects: Vec<Name>,
    pub(super) add: Vec<InitElement>,
    /// Facts that do not hold, without their negation.
    pub(super) remove: Vec<InitElement>,
    pub(super) goal: Option<(Condition, String)>,
}

impl ReadChange {
    /// Reads the texts of a change.
    ///
    /// # Errors
    /// A clause that names the text that cannot be read.
    pub(super) fn new(change: &PointChange) -> Result<Self, String> {
        let mut read = Self::default();
        for text in &change.types {
            let domain = domain_with(text, &format!("(:types {}\n)", list_of(text, ":types")))?;
            read.types.extend(domain.types);
        }
        for text in &change.predicates {
            let domain =
                domain_with(text, &format!("(:predicates {}\n)", parenthesised(text, ":predicates")))?;
            read.predicates.extend(domain.predicates);
        }
        for text in &change.actions {
            let source = parenthesised(text, "");
            let domain = domain_with(text, &source)?;
            if domain.actions.iter().any(|action| action.name.as_str().is_empty())
                || domain.actions.is_empty()
            {
                return Err(unreadable(text));
            }
            // The spans of the actions are those of `source` in its definition.
            read.actions.extend(domain.actions.into_iter().map(|action| (action, definition(&source))));
        }
        for text in &change.objects {
            let problem = problem_with(text, &format!("(:objects {}\n)", list_of(text, ":objects")))?;
            read.objects.extend(problem.objects);
        }
        for text in change.add.iter().chain(&change.remove) {
            let problem = problem_with(text, &format!("(:init {}\n)", parenthesised(text, ":init")))?;
            if problem.init.is_empty() {
                return Err(unreadable(text));
            }
        }
        for text in &change.add {
            for element in problem_with(text, &format!("(:init {}\n)", parenthesised(text, ":init")))?.init {
                match element {
                    InitElement::Not(atom, _) => read.remove.push(InitElement::Atom(atom)),
                    element => read.add.push(element),
                }
            }
        }
        for text in &change.remove {
            for element in problem_with(text, &format!("(:init {}\n)", parenthesised(text, ":init")))?.init {
                match element {
                    InitElement::Not(atom, _) => read.add.push(InitElement::Atom(atom)),
                    element => read.remove.push(element),
                }
            }
        }
        if let Some(text) = change.goal.as_deref().filter(|text| !text.trim().is_empty()) {
            let goal = parenthesised(text, "");
            let section = match goal.to_ascii_lowercase().starts_with("(:goal") {
                true => goal,
                false => format!("(:goal {goal}\n)"),
            };
            let problem = problem_with(text, &section)?;
            // The spans of the goal are those of `section` in its definition.
            read.goal = Some((problem.goal.ok_or_else(|| unreadable(text))?, problem_definition(&section)));
        }
        let name = |text: &String| Name::synthetic(first_word(text));
        read.remove_actions = change.remove_actions.iter().map(name).collect();
        let names = change.remove_objects.iter().flat_map(|text| removed_names(text));
        read.remove_objects = names.collect();
        Ok(read)
    }

    /// The changed texts.
    fn apply(
        &self,
        domain: &str,
        problem: &str,
        (domain_tree, problem_tree): &(Domain, Problem),
    ) -> Result<(String, String), String> {
        let mut of_domain = TextEdits::new(domain);
        self.edit_domain(&mut of_domain, domain_tree)?;
        let mut of_problem = TextEdits::new(problem);
        self.edit_problem(&mut of_problem, domain_tree, problem_tree)?;
        Ok((of_domain.finish(), of_problem.finish()))
    }

    fn edit_domain(&self, edits: &mut TextEdits<'_>, tree: &Domain) -> Result<(), String> {
        let is_constant = |entry: &&TypedName| tree.constants.iter().any(|c| c.name == entry.name);
        let constants: Vec<&TypedName> = self.objects.iter().filter(is_constant).collect();
        let removed: Vec<&Name> = self
            .remove_objects
            .iter()
            .filter(|name| tree.constants.iter().any(|c| c.name == **name))
            .collect();
        let before = tree.sections.iter().find(|s| !s.keyword.is(":requirements"));
        let place = before.map_or(tree.span.end.saturating_sub(1), |section| section.span.start);
        let types: Vec<&TypedName> = self.types.iter().collect();
        edits.typed(&tree.sections, ":types", &tree.types, &types, &[], place);
        edits.typed(&tree.sections, ":constants", &tree.constants, &constants, &removed, place);
        let mut declared: Vec<String> = Vec::new();
        for predicate in &self.predicates {
            let text = print_predicate(predicate);
            match tree.predicates.iter().find(|p| p.name == predicate.name) {
                Some(old) => edits.replace(old.span.range(), text),
                None => declared.push(text),
            }
        }
        let place = tree.actions.iter().map(|a| a.span.start).min().unwrap_or(place);
        edits.insert_items(&tree.sections, ":predicates", &declared, place);
        let mut written: Vec<String> = Vec::new();
        for (action, source) in &self.actions {
            let source = CommentedText::new(source);
            let own = comments_of_action(action, &source);
            match tree.actions.iter().find(|a| a.name == action.name) {
                Some(old) => {
                    let text = CommentedText::new(edits.text);
                    let comments: [Comments<'_>; 2] = [own, comments_of_action(old, &text)];
                    edits.replace(old.span.range(), print_commented_action(action, &comments));
                }
                None => written.push(print_commented_action(action, &[own])),
            }
        }
        for name in &self.remove_actions {
            match tree.actions.iter().find(|a| a.name == *name) {
                Some(action) if self.actions.iter().all(|(new, _)| new.name != *name) => {
                    edits.remove(action.span)
                }
                Some(_) => {}
                None => return Err(format!("there is no action `{name}` to remove")),
            }
        }
        let end = tree.span.end.saturating_sub(1);
        let place = tree.actions.iter().map(|a| a.span.start).min().unwrap_or(end);
        for text in written {
            edits.insert(place, format!("{text}\n  "));
        }
        Ok(())
    }

    fn edit_problem(&self, edits: &mut TextEdits<'_>, domain: &Domain, tree: &Problem) -> Result<(), String> {
        let is_constant = |name: &Name| domain.constants.iter().any(|c| c.name == *name);
        for name in &self.remove_objects {
            if !is_constant(name) && tree.objects.iter().all(|object| object.name != *name) {
                return Err(format!("there is no object `{name}` to remove"));
            }
        }
        let objects: Vec<&TypedName> = self.objects.iter().filter(|o| !is_constant(&o.name)).collect();
        let removed: Vec<&Name> = self.remove_objects.iter().filter(|name| !is_constant(name)).collect();
        let section = |keyword: &str| tree.sections.iter().find(|s| s.keyword.is(keyword));
        let end = tree.span.end.saturating_sub(1);
        let place = section(":init").or(section(":goal")).map_or(end, |section| section.span.start);
        edits.typed(&tree.sections, ":objects", &tree.objects, &objects, &removed, place);
        let mut added: Vec<String> = Vec::new();
        for element in &self.add {
            match tree.init.iter().find(|old| same_subject(old, element)) {
                Some(old) if print_init(old) != print_init(element) => {
                    edits.replace(old.span().range(), print_init(element));
                }
                Some(_) => {}
                None => added.push(print_init(element)),
            }
        }
        let gone = |element: &InitElement| {
            self.remove.iter().any(|fact| same_subject(fact, element))
                || self.remove_objects.iter().any(|name| mentions(element, name))
        };
        let kept = |element: &InitElement| self.add.iter().any(|fact| same_subject(fact, element));
        for element in tree.init.iter().filter(|element| gone(element) && !kept(element)) {
            edits.remove(element.span());
        }
        let place = section(":goal").map_or(end, |section| section.span.start);
        edits.insert_items(&tree.sections, ":init", &added, place);
        if let Some((goal, source)) = &self.goal {
            let source = CommentedText::new(source);
            let mut comments = vec![comments_of_goal(goal, &source)];
            let text = CommentedText::new(edits.text);
            comments.extend(tree.goal.as_ref().map(|old| comments_of_goal(old, &text)));
            let written = print_commented_goal(goal, &comments);
            match section(":goal") {
                Some(section) => edits.replace(section.span.range(), written),
                None => edits.insert(end, format!("  {written}\n")),
            }
        }
        Ok(())
    }
}

/// True if both entries set the same fluent, or are the same literal.
pub(super) fn same_subject(a: &InitElement, b: &InitElement) -> bool {
    match (a, b) {
        (InitElement::Value(a, ..), InitElement::Value(b, ..)) => {
            a.function == b.function && a.args.iter().map(Term::name).eq(b.args.iter().map(Term::name))
        }
        (InitElement::Atom(a) | InitElement::Not(a, _), InitElement::Atom(b) | InitElement::Not(b, _)) => {
            a.predicate == b.predicate && a.args.iter().map(Term::name).eq(b.args.iter().map(Term::name))
        }
        _ => print_init(a) == print_init(b),
    }
}

fn mentions(element: &InitElement, name: &Name) -> bool {
    let args = match element {
        InitElement::Atom(atom) | InitElement::Not(atom, _) => &atom.args,
        InitElement::Value(fluent, ..) => &fluent.args,
        InitElement::Timed { element, .. } => return mentions(element, name),
    };
    args.iter().any(|term| term.name() == name)
}

/// A declaration on one line.
pub(super) fn print_predicate(predicate: &PredicateDecl) -> String {
    format!("({} {}", predicate.name, print_typed_list(&predicate.parameters)).trim_end().to_owned() + ")"
}

fn unreadable(text: &str) -> String {
    let shown: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(80).collect();
    format!("`{shown}` cannot be read")
}

/// A domain that holds the sections.
fn definition(sections: &str) -> String {
    format!("(define (domain d) {sections}\n)")
}

/// A problem that holds the section.
fn problem_definition(section: &str) -> String {
    format!("(define (problem p) (:domain d) {section}\n)")
}

fn domain_with(text: &str, sections: &str) -> Result<Domain, String> {
    // An action without predicates, or predicates without an action, are not an error of the part.
    let parsed = parse_domain(&definition(sections), SourceId(0));
    accept(text, parsed)
}

fn problem_with(text: &str, section: &str) -> Result<Problem, String> {
    accept(text, parse_problem(&problem_definition(section), SourceId(0)))
}

/// The tree of a part. A missing section is not its error.
fn accept<T>(text: &str, parsed: Parsed<T>) -> Result<T, String> {
    let is_own = |code: &str| !matches!(code, "pddl.missing-section");
    let broken = parsed.diagnostics.iter().any(|found| found.is_error() && is_own(&found.code));
    if broken { Err(unreadable(text)) } else { Ok(parsed.value) }
}

/// A typed list without the section around it.
fn list_of(text: &str, keyword: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(text).trim();
    strip_keyword(inner, keyword).to_owned()
}

/// The text with parentheses around it if it has none, and without the section that it may be written in.
fn parenthesised(text: &str, keyword: &str) -> String {
    let text = text.trim();
    if !keyword.is_empty() {
        let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')).map(str::trim);
        if let Some(list) = inner.filter(|inner| starts_with_keyword(inner, keyword)) {
            return strip_keyword(list, keyword).to_owned();
        }
    }
    if text.starts_with('(') { text.to_owned() } else { format!("({text}\n)") }
}

fn starts_with_keyword(text: &str, keyword: &str) -> bool {
    text.get(..keyword.len()).is_some_and(|head| head.eq_ignore_ascii_case(keyword))
}

fn strip_keyword<'t>(text: &'t str, keyword: &str) -> &'t str {
    if starts_with_keyword(text, keyword) { text[keyword.len()..].trim() } else { text }
}

fn first_word(text: &str) -> &str {
    let text = text.trim().trim_start_matches('(').trim_start_matches(":action").trim();
    text.split(|c: char| c.is_whitespace() || c == ')').next().unwrap_or_default()
}

/// The names of a typed list.
fn removed_names(text: &str) -> Vec<Name> {
    let list = list_of(text, ":objects");
    let problem =
        parse_problem(&format!("(define (problem p) (:domain d) (:objects {list}\n))"), SourceId(0));
    problem.value.objects.into_iter().map(|object| object.name).collect()
}

/// Edits of one text.
struct TextEdits<'t> {
    text: &'t str,
    edits: Vec<(Range<usize>, String)>,
}

impl<'t> TextEdits<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, edits: Vec::new() }
    }

    fn replace(&mut self, range: Range<usize>, text: String) {
        self.edits.push((range, text));
    }

    fn insert(&mut self, at: u32, text: String) {
        self.edits.push((at as usize..at as usize, text));
    }

    /// Removes an element, and its comment if it has the line alone.
    fn remove(&mut self, span: Span) {
        let range = CommentedText::new(self.text).removal(span);
        self.edits.push((range, String::new()));
    }

    /// Adds entries to a typed list, or replaces and removes them.
    fn typed(
        &mut self,
        sections: &[Section],
        keyword: &str,
        list: &[TypedName],
        set: &[&TypedName],
        removed: &[&Name],
        place: u32,
    ) {
        let same = |a: &TypedName, b: &TypedName| {
            print_typed_list(std::slice::from_ref(a)) == print_typed_list(std::slice::from_ref(b))
        };
        let changed: Vec<&TypedName> =
            set.iter().filter(|entry| !list.iter().any(|old| same(old, entry))).copied().collect();
        let goes = |entry: &TypedName| {
            removed.iter().any(|name| **name == entry.name)
                || changed.iter().any(|new| new.name == entry.name)
        };
        // A type stands after the last name of its group and goes with all of its names.
        let mut index = 0;
        while index < list.len() {
            let group = match &list[index].ty {
                Some(ty) => list[index..]
                    .iter()
                    .take_while(|e| e.ty.as_ref().is_some_and(|t| t.span == ty.span))
                    .count(),
                None => 1,
            };
            let entries = &list[index..index + group];
            let end = entries[0].ty.as_ref().map_or(entries[0].name.span, |ty| ty.span);
            if entries.iter().all(goes) {
                self.remove(entries[0].name.span.to(end));
            } else {
                entries.iter().filter(|entry| goes(entry)).for_each(|entry| self.remove(entry.name.span));
            }
            index += group;
        }
        // At the head of the list an entry needs its type, as it would take that of the next one.
        let is_typed = list.iter().chain(changed.iter().copied()).any(|entry| entry.ty.is_some());
        let items: Vec<String> = changed
            .iter()
            .map(|entry| match is_typed && entry.ty.is_none() {
                true => format!("{} - object", entry.name),
                false => print_typed_list(std::slice::from_ref(*entry)),
            })
            .collect();
        self.insert_items(sections, keyword, &items, place);
    }

    /// Adds lines at the head of a section. A text without the section gets it before `place`.
    fn insert_items(&mut self, sections: &[Section], keyword: &str, items: &[String], place: u32) {
        if items.is_empty() {
            return;
        }
        let lines: String = items.iter().map(|item| format!("\n    {item}")).collect();
        let Some(section) = sections.iter().find(|section| section.keyword.is(keyword)) else {
            return self.insert(place, format!("({keyword}{lines}\n  )\n  "));
        };
        // A comment on the line of the keyword stays there.
        let start = section.keyword.span.end as usize;
        let rest = &self.text[start..section.span.end as usize];
        let line = rest.split('\n').next().unwrap_or_default();
        let at = match line.trim_start().starts_with(';') {
            true => start + line.trim_end().len(),
            false => start,
        };
        let is_bare = self.text[at..].split('\n').next().is_some_and(|line| line.trim().is_empty());
        self.insert(at as u32, lines + if is_bare { "" } else { "\n   " });
    }

    fn finish(mut self) -> String {
        self.edits.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = String::with_capacity(self.text.len());
        let mut at = 0;
        for (range, text) in self.edits {
            out.push_str(self.text.get(at..range.start).unwrap_or_default());
            out.push_str(&text);
            at = at.max(range.end);
        }
        out + &self.text[at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: &str = "(define (domain d)
  (:requirements :strips :typing)
  (:types robot box room) ; [1]
  (:predicates
    (at ?r - robot ?x - room) ; [2]
    (in ?b - box ?x - room)
    (holds ?r - robot ?b - box)
  )
  (:action take ; [3]
    :parameters (?r - robot ?b - box ?x - room)
    :precondition (and
      (at ?r ?x) ; [3]
      (in ?b ?x) ; [4]
    )
    :effect (and
      (holds ?r ?b) ; [5]
      (not (in ?b ?x)) ; assumed
    )
  )
)
";
    const PROBLEM: &str = "(define (problem p) (:domain d)
  (:objects
    r - robot ; [1]
    b1 b2 - box ; [6]
    x y - room ; [6]
  )
  (:init
    (at r x) ; [7]
    (in b1 x) ; [8]
    (in b2 y) ; [8]
  )
  (:goal (and
    (holds r b1) ; [9]
  ))
)
";

    fn list(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn applied(change: &PointChange) -> (String, String) {
        apply(DOMAIN, PROBLEM, change).unwrap()
    }

    #[test]
    fn an_action_is_replaced_and_its_literals_keep_their_comments() {
        let change = PointChange {
            predicates: list(&["(free ?r - robot)"]),
            actions: list(&[
                "(:action take :parameters (?r - robot ?b - box ?x - room)\n :precondition (and (at ?r ?x) (in ?b ?x) (free ?r)) ; other\n :effect (and (holds ?r ?b) (not (in ?b ?x)) (not (free ?r))))",
            ]),
            add: list(&["(free r)"]),
            ..PointChange::default()
        };
        let (domain, problem) = applied(&change);
        assert_eq!(
            domain,
            "(define (domain d)
  (:requirements :strips :typing)
  (:types robot box room) ; [1]
  (:predicates
    (free ?r - robot)
    (at ?r - robot ?x - room) ; [2]
    (in ?b - box ?x - room)
    (holds ?r - robot ?b - box)
  )
  (:action take ; [3]
    :parameters (?r - robot ?b - box ?x - room)
    :precondition (and
      (at ?r ?x) ; other
      (in ?b ?x) ; other
      (free ?r) ; other
    )
    :effect (and
      (holds ?r ?b) ; [5]
      (not (in ?b ?x)) ; assumed
      (not (free ?r))
    )
  )
)
"
        );
        assert_eq!(problem, PROBLEM.replace("(:init\n", "(:init\n    (free r)\n"));
    }

    #[test]
    fn objects_and_facts_are_added_and_removed() {
        let change = PointChange {
            objects: list(&["b3 - box", "(:objects z - room)"]),
            remove_objects: list(&["b2"]),
            add: list(&["in b3 z", "(not (at r x))"]),
            remove: list(&["(not (at r y))"]),
            goal: Some("(and (holds r b1) (holds r b3))".into()),
            ..PointChange::default()
        };
        assert_eq!(
            applied(&change).1,
            "(define (problem p) (:domain d)
  (:objects
    b3 - box
    z - room
    r - robot ; [1]
    b1 - box ; [6]
    x y - room ; [6]
  )
  (:init
    (in b3 z)
    (at r y)
    (in b1 x) ; [8]
  )
  (:goal (and
    (holds r b1) ; [9]
    (holds r b3)
  ))
)
"
        );
    }

    #[test]
    fn each_condition_of_a_goal_keeps_its_comment() {
        let change = PointChange {
            objects: list(&["b3 - box"]),
            goal: Some("(and\n  (holds r b2) ; [1]\n  (holds r b3) ; [2]\n  (at r y) ; assumed\n)".into()),
            ..PointChange::default()
        };
        let problem = applied(&change).1;
        assert!(
            problem.contains(
                "  (:goal (and
    (holds r b2) ; [1]
    (holds r b3) ; [2]
    (at r y) ; assumed
  ))"
            ),
            "{problem}"
        );
    }

    #[test]
    fn names_in_other_scripts_are_read() {
        let change = PointChange {
            objects: list(&["коробка - box"]),
            goal: Some("(and\n  (holds r коробка) ; [1]\n  (holds r b1))".into()),
            ..PointChange::default()
        };
        let problem = applied(&change).1;
        assert!(problem.contains("    (holds r коробка) ; [1]\n    (holds r b1)"), "{problem}");
    }

    #[test]
    fn a_change_of_the_problem_does_not_declare_requirements() {
        let domain = DOMAIN.replace("(at ?r ?x) ; [3]", "(at ?r ?x) (not (holds ?r ?b))");
        let change = PointChange { remove: list(&["(in b2 y)"]), ..PointChange::default() };
        assert_eq!(apply(&domain, PROBLEM, &change).unwrap().0, domain);
    }

    #[test]
    fn names_of_a_change_are_read_in_any_case() {
        let change = PointChange { remove: list(&["(IN B1 X)"]), ..PointChange::default() };
        assert!(!applied(&change).1.contains("(in b1 x)"));
    }

    #[test]
    fn actions_and_types_are_added_and_removed() {
        let drop = "(:action drop :parameters (?r - robot ?b - box) :precondition (holds ?r ?b) :effect (not (holds ?r ?b)))";
        let change = PointChange {
            types: list(&["crate - box"]),
            actions: list(&[drop]),
            remove_actions: list(&["take"]),
            objects: list(&["b1 - crate"]),
            goal: Some("(:goal (not (holds r b1)))".into()),
            ..PointChange::default()
        };
        let (domain, problem) = applied(&change);
        assert!(domain.contains("(:types\n    crate - box\n    robot box room) ; [1]"), "{domain}");
        assert!(domain.contains("(:action drop") && !domain.contains("take"), "{domain}");
        assert!(domain.contains(":requirements :strips :typing)"), "{domain}");
        assert!(problem.contains("b1 - crate\n    r - robot ; [1]\n    b2 - box ; [6]"), "{problem}");
        assert!(read_task(&domain, &problem).is_ok(), "{domain}\n{problem}");
    }

    #[test]
    fn requirements_of_the_change_are_declared() {
        let action = "(:action take :parameters (?r - robot ?b - box) :precondition (not (holds ?r ?b)) :effect (holds ?r ?b))";
        let change = PointChange { actions: list(&[action]), ..PointChange::default() };
        assert!(applied(&change).0.contains(":strips :typing :negative-preconditions)"));
    }

    #[test]
    fn a_section_that_the_text_lacks_is_added() {
        let domain = "(define (domain d) (:predicates (p) (q ?x)) (:action a :effect (p)))";
        let problem = "(define (problem p) (:domain d) (:init) (:goal (p)))";
        let change = PointChange {
            types: list(&["room"]),
            objects: list(&["k"]),
            add: list(&["(q k)"]),
            ..PointChange::default()
        };
        let (domain, problem) = apply(domain, problem, &change).unwrap();
        assert!(domain.contains("(:types\n    room\n  )"), "{domain}");
        assert!(
            problem.contains("(:objects\n    k\n  )") && problem.contains("(:init\n    (q k)\n   )"),
            "{problem}"
        );
    }

    #[test]
    fn a_rule_for_a_part_of_the_cases_may_hold_for_the_others_too() {
        let domain = "(define (domain d) (:requirements :strips) (:predicates (lit) (red ?l) (blue ?l) (down ?l))
          (:action pull-red :parameters (?l) :precondition (and (red ?l) (lit)) :effect (and (down ?l) (not (lit))))
          (:action pull-blue :parameters (?l) :precondition (blue ?l) :effect (and (down ?l) (not (lit))))
          (:action turn :parameters () :precondition (not (lit)) :effect (lit)))";
        let point = |kind, action: &str| Point {
            kind,
            question: String::new(),
            here: String::new(),
            otherwise: String::new(),
            decided_by: None,
            steps: Vec::new(),
            change: PointChange { actions: list(&[action]), ..PointChange::default() },
        };
        let problem = "(define (problem p) (:domain d) (:objects x) (:init) (:goal (lit)))";
        let blue = |more: &str| {
            format!(
                "(:action pull-blue :parameters (?l) :precondition (and (blue ?l) {more}) :effect (and (down ?l) (not (lit))))"
            )
        };
        let dark = blue("(not (lit))");
        let found = rule_of_other_cases(domain, &point(GapKind::PartialRule, &dark)).unwrap();
        assert!(
            found.actions[0].contains("(lit)") && !found.actions[0].contains("(red"),
            "{:?}",
            found.actions
        );
        assert!(apply(domain, problem, &found).is_ok());
        assert_eq!(rule_of_other_cases(domain, &point(GapKind::Capacity, &dark)), None);
        // The critic names the rule of the red ones itself; and a rule about the lamp is none about the lever.
        for named in [blue("(lit)"), blue("(not (down ?l))"), blue("(lit) (not (down ?l))")] {
            assert_eq!(rule_of_other_cases(domain, &point(GapKind::PartialRule, &named)), None, "{named}");
        }
    }

    #[test]
    fn changes_that_cannot_be_used_are_named() {
        let refused = |change: PointChange| apply(DOMAIN, PROBLEM, &change).unwrap_err();
        let none = PointChange::default;
        assert_eq!(refused(none()), "nothing changes");
        assert_eq!(refused(PointChange { add: list(&["(at r x)"]), ..none() }), "nothing changes");
        assert_eq!(refused(PointChange { remove: list(&["(in b1 y)"]), ..none() }), "nothing changes");
        let undeclared = refused(PointChange { add: list(&["(free r)"]), ..none() });
        assert!(undeclared.starts_with("the result has an error: "), "{undeclared}");
        for (change, text) in [
            (
                PointChange { goal: Some("(and (holds r b1)".into()), ..none() },
                "`(and (holds r b1)` cannot be read",
            ),
            (PointChange { actions: list(&["take"]), ..none() }, "`take` cannot be read"),
            (
                PointChange { remove_actions: list(&["drop"]), ..none() },
                "there is no action `drop` to remove",
            ),
            (PointChange { remove_objects: list(&["b9"]), ..none() }, "there is no object `b9` to remove"),
        ] {
            assert_eq!(refused(change), text);
        }
        let removed = refused(PointChange { remove_objects: list(&["b1"]), ..none() });
        assert!(removed.contains("b1"), "the goal mentions it: {removed}");
        assert_eq!(
            apply("(define", PROBLEM, &PointChange { add: list(&["(at r y)"]), ..none() }).unwrap_err(),
            "the PDDL that it changes has errors"
        );
    }
}
