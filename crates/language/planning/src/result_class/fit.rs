//! Reads an action from a reply inside the rest of the true domain, and finds its errors of syntax and meaning.

use super::{BadPreconditionRule, ClassifiedReply, ResultClass, found, meant_action, with_action};
use crate::equivalence::hde::HdeReference;
use planforge_diagnostics::{Diagnostic, Label, SourceId, Span};
use planforge_pddl::ast::{Action, Domain, Problem};
use planforge_pddl::extract::PddlBlock;
use planforge_pddl::{
    Name, TypeHierarchy, check_domain, parse_domain, print_domain, undeclared_constants,
    undeclared_requirements,
};

/// An action without errors of syntax or meaning.
#[derive(Debug, Clone)]
pub struct FittedAction {
    /// The action; its own span and its name's are in the reply.
    pub action: Action,
    /// The domain with the action in it.
    pub domain: Domain,
}

/// Reads an action `name` from a reply, for use in `domain` in place of the true one. Its behaviour is not
/// judged. Of `domain` the declarations matter, and the features that its actions use without declaring them.
/// An undeclared constant may be an object of problems, which are unknown here. `source` is the reply's
/// source in the diagnostics.
///
/// # Errors
/// The class of syntax or meaning that makes the action unusable.
pub fn fit_action(
    reply: &str,
    source: SourceId,
    domain: &Domain,
    name: &str,
    rule: BadPreconditionRule,
) -> Result<FittedAction, Box<ClassifiedReply>> {
    fit_with_problems(reply, source, domain, name, rule, None)
}

/// [`fit_action`], with the problems where they are known.
pub(super) fn fit_with_problems(
    reply: &str,
    source: SourceId,
    domain: &Domain,
    name: &str,
    rule: BadPreconditionRule,
    reference: Option<&HdeReference>,
) -> Result<FittedAction, Box<ClassifiedReply>> {
    let not = |class, diagnostics, action| Box::new(ClassifiedReply { action, ..found(class, diagnostics) });
    let Some(block) = meant_action(reply, name) else {
        let missing = Diagnostic::error("class.no-action", "the reply holds no `(:action ...)`")
            .at(source, Span::empty(0), "")
            .help("answer with the action alone, in a code block that begins with `(:action`");
        return Err(not(ResultClass::NoPddl, vec![missing], None));
    };
    let read = Integrated::read(&block, source, domain, name, rule);
    if let Some(class) = read.syntax(&block) {
        let mut form = read.form;
        if form.is_empty() {
            let message = "the parentheses of the action do not match";
            form.push(
                Diagnostic::error("class.parentheses", message)
                    .at(source, block.span, "")
                    .help("close every list, and the action once, behind its effect"),
            );
        }
        return Err(not(class, form, None));
    }
    let Some(action) = read.action else {
        return Err(not(ResultClass::UToken, read.form, None));
    };
    let mut meaning = read.meaning;
    let types = TypeHierarchy::of(domain);
    let own = undeclared_constants(domain, &types);
    // A constant may be an object of the problems instead; the true domain may count on that too.
    let undeclared = meaning.len();
    meaning.retain(|d| {
        d.code != UNDECLARED_CONSTANT
            || !label_text(reply, d).is_some_and(|name| is_known_constant(&own, reference, name))
    });
    if meaning.len() < undeclared {
        for wrong in
            reference.map(|known| types_of_objects(&block, source, domain, name, known)).unwrap_or_default()
        {
            let same = |d: &Diagnostic| d.code == wrong.code && d.primary() == wrong.primary();
            if !meaning.iter().any(same) {
                meaning.push(wrong);
            }
        }
    }
    match semantic(&action, meaning, name, source, rule) {
        Some((class, diagnostics)) => Err(not(class, diagnostics, Some(action))),
        None => Ok(FittedAction { domain: with_action(domain, name, action.clone()), action }),
    }
}

/// Returns true if the true domain uses the constant, or every known problem has an object of that name.
fn is_known_constant(own: &[&Name], reference: Option<&HdeReference>, name: &str) -> bool {
    let key = name.to_lowercase();
    own.iter().any(|constant| constant.is(&key)) || reference.is_none_or(|known| known.has_object(&key))
}

/// Finds type errors in an action whose constants are objects of the problems, from the types of those
/// objects.
fn types_of_objects(
    block: &PddlBlock,
    source: SourceId,
    domain: &Domain,
    name: &str,
    reference: &HdeReference,
) -> Vec<Diagnostic> {
    let of_type = |d: &Diagnostic| d.is_error() && TYPES.contains(&d.code.as_ref());
    let in_problem = |problem: &Problem| {
        let mut known = domain.clone();
        let new = problem.objects.iter().filter(|o| !domain.constants.iter().any(|c| c.name == o.name));
        known.constants.extend(new.cloned());
        Integrated::read(block, source, &known, name, BadPreconditionRule::default())
            .meaning
            .into_iter()
            .filter(of_type)
            .collect::<Vec<_>>()
    };
    reference.problems().flat_map(in_problem).collect()
}

/// Returns the text under a finding's first label.
fn label_text<'r>(reply: &'r str, diagnostic: &Diagnostic) -> Option<&'r str> {
    reply.get(diagnostic.primary()?.span.range())
}

/// The reply's action, read inside the rest of the true domain.
struct Integrated {
    /// The last action of the text, which is the reply's.
    action: Option<Action>,
    /// Findings about the syntax.
    form: Vec<Diagnostic>,
    /// Findings about the meaning.
    meaning: Vec<Diagnostic>,
}

impl Integrated {
    fn read(
        block: &PddlBlock,
        source: SourceId,
        domain: &Domain,
        name: &str,
        rule: BadPreconditionRule,
    ) -> Self {
        let mut rest = domain.clone();
        rest.actions.retain(|action| !action.name.is(&name.to_lowercase()));
        // What the true domain does without declaring it, the action may do too.
        rest.requirements.extend(undeclared_requirements(domain).into_iter().map(Name::synthetic));
        let printed = print_domain(&rest);
        let head = printed.trim_end().strip_suffix(')').unwrap_or(&printed);
        let own = u32::try_from(head.len() + 1).unwrap_or(u32::MAX);
        let text = format!("{head}\n{}\n)", block.text);
        let parsed = parse_domain(&text, source);
        let place = ReplyPlace { own, block: block.span, source };
        let form = place.keep_action_findings(parsed.diagnostics);
        let mut found = check_domain(&parsed.value, source);
        let action = parsed.value.actions.into_iter().rfind(|action| action.span.start >= own);
        found.extend(action.iter().flat_map(|action| rule.findings(action, source)));
        let meaning = place.keep_action_findings(found);
        Integrated { action: action.map(|action| place.move_to_reply(action)), form, meaning }
    }

    /// Returns the class of the syntax errors, if there are any. Moves the deciding finding to the front.
    fn syntax(&self, block: &PddlBlock) -> Option<ResultClass> {
        let errors = || self.form.iter().filter(|d| d.is_error());
        let lost = |d: &&Diagnostic| PARENTHESES.contains(&d.code.as_ref());
        if !block.complete || errors().any(|d| lost(&d)) {
            return Some(ResultClass::PError);
        }
        errors().next().map(|_| ResultClass::UToken)
    }
}

const PARENTHESES: [&str; 3] = ["pddl.unclosed", "pddl.lost-parenthesis", "pddl.stray-parenthesis"];
const TYPES: [&str; 4] = ["pddl.undefined-type", "pddl.type-mismatch", "pddl.wide-type", "pddl.type-cycle"];
const REQUIREMENTS: [&str; 1] = ["pddl.undeclared-requirement"];
const UNDECLARED_CONSTANT: &str = "pddl.undeclared-constant";

/// Returns the class of the semantic errors, with the deciding finding in front.
fn semantic(
    action: &Action,
    meaning: Vec<Diagnostic>,
    name: &str,
    source: SourceId,
    rule: BadPreconditionRule,
) -> Option<(ResultClass, Vec<Diagnostic>)> {
    let class_of = |d: &Diagnostic| {
        if REQUIREMENTS.contains(&d.code.as_ref()) {
            // A warning of the front end, for planners mostly do not mind.
            return (rule == BadPreconditionRule::Requirement).then_some(ResultClass::BPError);
        }
        if BadPreconditionRule::CODES.contains(&d.code.as_ref()) {
            return Some(ResultClass::BPError);
        }
        if d.code == UNDECLARED_CONSTANT {
            // A warning too, for a problem may declare it. None does.
            return Some(ResultClass::PAError);
        }
        if !d.is_error() {
            return None;
        }
        Some(if TYPES.contains(&d.code.as_ref()) { ResultClass::TError } else { ResultClass::PAError })
    };
    let misnamed = !action.name.is(&name.to_lowercase());
    // The name of another action is wrong for being that, not for being there twice.
    let twice = |d: &Diagnostic| {
        misnamed
            && d.code == "pddl.duplicate-name"
            && d.primary().is_some_and(|label| label.span == action.name.span)
    };
    let mut wrong: Vec<(ResultClass, Diagnostic)> =
        meaning.into_iter().filter(|d| !twice(d)).filter_map(|d| Some((class_of(&d)?, d))).collect();
    if misnamed {
        let message = format!("the action is called `{}` and should be `{name}`", action.name);
        let diagnostic = Diagnostic::error("class.action-name", message)
            .at(source, action.name.span, "")
            .help(format!("call it `{name}`"));
        wrong.push((ResultClass::NError, diagnostic));
    }
    wrong.sort_by_key(|(class, _)| *class);
    let class = wrong.first()?.0;
    Some((class, wrong.into_iter().map(|(_, diagnostic)| diagnostic).collect()))
}

/// From places in the text that was read to places in the reply.
struct ReplyPlace {
    /// Start of the action in the text that was parsed.
    own: u32,
    /// The action's bytes in the reply.
    block: Span,
    source: SourceId,
}

impl ReplyPlace {
    /// Returns the findings about the action: those whose first label lies in it. Labels elsewhere, which
    /// point into the true domain, are dropped.
    fn keep_action_findings(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let own = |label: &Label| label.span.start >= self.own;
        let mut about: Vec<Diagnostic> =
            diagnostics.into_iter().filter(|d| d.primary().is_some_and(own)).collect();
        for diagnostic in &mut about {
            diagnostic.labels.retain(own);
            // Fixes would change the text that was read, not the reply.
            diagnostic.fix = None;
            for label in &mut diagnostic.labels {
                label.span = self.span(label.span);
                label.source = self.source;
            }
        }
        about.sort_by_key(|d| (!d.is_error(), !PARENTHESES.contains(&d.code.as_ref())));
        about
    }

    fn span(&self, span: Span) -> Span {
        let moved = |at: u32| (at.saturating_sub(self.own) + self.block.start).min(self.block.end);
        Span::new(moved(span.start), moved(span.end))
    }

    /// The action's own span and its name's; those of its conditions keep pointing into the text that was read.
    fn move_to_reply(&self, mut action: Action) -> Action {
        action.span = self.span(action.span);
        action.name.span = self.span(action.name.span);
        action
    }
}
