//! Result classes (Oswald et al. 2024, section 3): the classes of an action schema that a model wrote.
//!
//! The action replaces the one of that name in an otherwise true domain. Classes follow the paper's order of
//! precedence, and the first that applies counts: errors of syntax, errors of meaning, behaviour. Each of the
//! first two stems from a diagnostic and has its place in the reply. Behaviour is judged by [heuristic domain
//! equivalence](crate::equivalence::hde).
//!
//! The paper's lists omit errors that its own parser does not notice. Here an undeclared predicate, an
//! unbound variable and a name without an object are argument errors (PAError). By default a construct whose
//! requirement the domain neither declares nor uses itself, not negation alone, is a bad precondition (BPError);
//! [`BadPreconditionRule`] has the paper's definition and its planner's. A constant that the domain does not
//! declare may be an object of every problem; it has its type there, and a wrong one is TError. An action under
//! the name of another one of the domain has a wrong name (NError). A limit is [`ResultClass::Undecided`], never
//! "no plan".
//!
//! The paper compares parameters by position, so an action in the order of its text can be a different domain
//! for its order alone. Here behaviour is compared up to a typed bijection of the parameters, and the class by
//! position stands beside it ([`ClassifiedReply::positional`]).
//!
//! [`fit_action`] reads an action from a reply inside the rest of the true domain, and finds its errors of syntax and meaning.

use crate::equivalence::hde::{HdeClass, HdeOutcome, HdeReference, HdeResult};
use crate::equivalence::parameters::{has_same_types, keeps_positions, reorder_parameters, typed_orders};
use crate::resources::{ResourceLimits, StopReason};
use crate::walk::ModelError;
use planforge_diagnostics::{Diagnostic, Label, SourceId, Span};
use planforge_pddl::ast::{Action, Atom, Condition, Domain, Effect, Problem};
use planforge_pddl::extract::PddlBlock;
use planforge_pddl::mutate::action::Flaw;
use planforge_pddl::{
    Name, TypeHierarchy, action_blocks, check_domain, parse_domain, print_atom, print_condition,
    print_domain, undeclared_constants, undeclared_requirements,
};
use std::collections::BTreeSet;

/// A classified reply and the findings behind the class.
#[derive(Debug, Clone)]
pub struct ClassifiedReply {
    /// The first class that applies, up to a typed bijection of the parameters.
    pub class: ResultClass,
    /// The class with parameters by position, as the paper has it, if it is another.
    pub positional: Option<ResultClass>,
    /// The order in which the behaviour was compared, if it is not the written one: by parameter of the
    /// reference, the place of the written action's.
    pub parameters: Option<Vec<usize>>,
    /// Everything that was found wrong with the action, the finding that decides the class first. Places are in the reply.
    pub diagnostics: Vec<Diagnostic>,
    /// The action, where it can be read; spans are in the reply.
    pub action: Option<Action>,
    /// The domain with the action in it, where they fit; its parameters in the order of the comparison.
    pub domain: Option<Domain>,
    /// Comparison of plans; `None` if behaviour was not compared.
    pub hde: Option<HdeResult>,
    /// The limit that left it open, where one did.
    pub stopped: Option<StopReason>,
    /// Reason why the class is [`ResultClass::Undecided`], or which action of a whole domain does not fit.
    pub reason: Option<String>,
}

/// The action in a reply that is meant to be `name`: the last of that name, else the last.
pub fn meant_action(reply: &str, name: &str) -> Option<PddlBlock> {
    let mut blocks = action_blocks(reply);
    match blocks.iter().rposition(|block| is_named(block, name)) {
        Some(index) => Some(blocks.swap_remove(index)),
        None => blocks.pop(),
    }
}

/// The last action of that name in a text, such as a whole domain.
pub fn named_action(text: &str, name: &str) -> Option<PddlBlock> {
    action_blocks(text).into_iter().rfind(|block| is_named(block, name))
}

fn is_named(block: &PddlBlock, name: &str) -> bool {
    let word = block.text.get("(:action".len()..).unwrap_or_default().split_whitespace().next();
    word.is_some_and(|word| word.trim_end_matches('(').eq_ignore_ascii_case(name))
}

/// The class of a reply that is meant to hold the action `name` of `domain`; `reference` was made of that domain and the problems.
/// `source` is the reply's in the diagnostics.
pub fn classify_action(
    reply: &str,
    source: SourceId,
    domain: &Domain,
    name: &str,
    rule: BadPreconditionRule,
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    match fit_with_problems(reply, source, domain, name, rule, Some(reference)) {
        Ok(fit) => up_to_order(fit, domain, name, reference, resources),
        Err(classified) => *classified,
    }
}

impl ClassifiedReply {
    /// The class with parameters by position, as in the paper.
    pub fn by_position(&self) -> ResultClass {
        self.positional.unwrap_or(self.class)
    }

    /// The action with its parameters in the order of the comparison.
    fn ordered_action(&self) -> Option<Action> {
        let action = self.action.as_ref()?;
        match &self.parameters {
            Some(order) => reorder_parameters(action, order),
            None => Some(action.clone()),
        }
    }
}

/// Classifies the behaviour of an action, as it is written and, if plans fail, in other orders of its
/// parameters. An order in which it is equivalent decides. Otherwise the written order does, unless its types
/// are not the reference's: then the order with the least reconstruction error.
fn up_to_order(
    fit: FittedAction,
    domain: &Domain,
    name: &str,
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    let FittedAction { action, domain: whole } = fit;
    let mut written = behaviour(&whole, reference, resources);
    written.action = Some(action.clone());
    written.domain = Some(whole);
    let original = domain.actions.iter().find(|own| own.name.is(&name.to_lowercase()));
    let (ResultClass::NPApp | ResultClass::OPApp, Some(original)) = (written.class, original) else {
        return written;
    };
    let mut best: Option<ClassifiedReply> = None;
    for order in typed_orders(original, &action) {
        let Some(reordered) = reorder_parameters(&action, &order).filter(|_| !keeps_positions(&order)) else {
            continue;
        };
        let whole = with_action(domain, name, reordered);
        let mut found = behaviour(&whole, reference, resources);
        found.positional = (found.class != written.class).then_some(written.class);
        found.parameters = Some(order);
        found.action = Some(action.clone());
        found.domain = Some(whole);
        match found.class {
            ResultClass::Equivalent => return found,
            ResultClass::Undecided => {
                let stopped = found.stopped.is_some();
                best = Some(found);
                if stopped {
                    break;
                }
            }
            _ if best.is_none() && !has_same_types(original, &action) => best = Some(found),
            _ => {}
        }
    }
    best.unwrap_or(written)
}

/// Classifies the domain in which each of these actions replaces the true one of the given name. If some do
/// not fit, the domain has the first of their classes in the order of precedence, and the reason names the
/// action. Otherwise its behaviour decides.
pub fn classify_domain(
    domain: &Domain,
    actions: &[(&str, &ClassifiedReply)],
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    match fit_all_actions(domain, actions) {
        Ok(whole) => {
            let mut classified = behaviour(&whole, reference, resources);
            if actions.iter().any(|(_, c)| c.parameters.is_some()) {
                let written = actions.iter().filter_map(|(name, c)| Some((name, c.action.clone()?)));
                let as_written = written.fold(domain.clone(), |all, (name, a)| with_action(&all, name, a));
                let positional = behaviour(&as_written, reference, resources).class;
                classified.positional = (positional != classified.class).then_some(positional);
            }
            classified.domain = Some(whole);
            classified
        }
        Err(classified) => *classified,
    }
}

/// Builds the domain of [`classify_domain`] without judging its behaviour; the parameters of each action are in
/// the order in which it was compared.
///
/// # Errors
/// The first class of syntax or meaning among the actions.
pub fn fit_all_actions(
    domain: &Domain,
    actions: &[(&str, &ClassifiedReply)],
) -> Result<Domain, Box<ClassifiedReply>> {
    let wrong = |c: &ClassifiedReply| matches!(c.class.group(), ResultGroup::Syntax | ResultGroup::Semantic);
    let first = actions.iter().filter(|(_, c)| wrong(c)).min_by_key(|(_, c)| c.class);
    if let Some((name, classified)) = first {
        let reason = Some(format!("action `{name}` does not fit"));
        return Err(Box::new(ClassifiedReply { reason, ..found(classified.class, Vec::new()) }));
    }
    let written = actions.iter().filter_map(|(name, c)| Some((name, c.ordered_action()?)));
    Ok(written.fold(domain.clone(), |whole, (name, action)| with_action(&whole, name, action)))
}

/// Returns the true domain with `action` in place of `name`.
pub fn with_action(domain: &Domain, name: &str, action: Action) -> Domain {
    let mut whole = domain.clone();
    match whole.actions.iter_mut().find(|old| old.name.is(&name.to_lowercase())) {
        Some(old) => *old = action,
        None => whole.actions.push(action),
    }
    whole
}

fn found(class: ResultClass, diagnostics: Vec<Diagnostic>) -> ClassifiedReply {
    ClassifiedReply {
        class,
        positional: None,
        parameters: None,
        diagnostics,
        action: None,
        domain: None,
        hde: None,
        stopped: None,
        reason: None,
    }
}

fn behaviour(
    domain: &Domain,
    reference: &HdeReference,
    resources: &mut dyn ResourceLimits,
) -> ClassifiedReply {
    let hde = match reference.compare(domain, resources) {
        Ok(hde) => hde,
        Err(not) => {
            let stopped = match not.error {
                ModelError::Limit(reason) => Some(reason),
                _ => None,
            };
            return ClassifiedReply {
                stopped,
                reason: Some(not.error.to_string()),
                ..found(ResultClass::Undecided, Vec::new())
            };
        }
    };
    let mut left = None;
    let (class, reason) = match &hde.outcome {
        HdeOutcome::Equivalent => (ResultClass::Equivalent, None),
        HdeOutcome::Different { difference, .. } => (difference.class().into(), None),
        HdeOutcome::Undecided { problem, stopped, .. } => {
            left = Some(*stopped);
            let reason =
                format!("{stopped} was reached before all plans of problem {} were found", problem + 1);
            (ResultClass::Undecided, Some(reason))
        }
    };
    ClassifiedReply { hde: Some(hde), stopped: left, reason, ..found(class, Vec::new()) }
}

/// Table 1's rows, and what the paper has no row for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResultClass {
    /// Syntax: the reply holds no action.
    NoPddl,
    /// Syntax: parentheses do not match.
    PError,
    /// Syntax: a token at a place where it is not allowed.
    UToken,
    /// Meaning: an unknown type, or an argument of a wrong one.
    TError,
    /// Meaning: a predicate has the wrong arguments.
    PAError,
    /// Meaning: the action has another name.
    NError,
    /// Meaning: the precondition or effect needs a requirement that the domain does not declare, such as negation.
    BPError,
    /// Behaviour: a problem has no plan any more.
    NoPlan,
    /// Behaviour: a plan of the new domain is none of the original.
    NPApp,
    /// Behaviour: a plan of the original domain is none of the new.
    OPApp,
    /// No difference was found.
    Equivalent,
    /// A limit was reached, or the domains use what the search does not plan for.
    Undecided,
}

/// The primary classes of Fig. 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ResultGroup {
    /// The reply cannot be read.
    Syntax,
    /// It can be read and does not fit the domain.
    Semantic,
    /// It fits and behaves differently.
    Different,
    /// No difference in behaviour was found.
    Equivalent,
    /// A limit left the class open.
    Undecided,
}

impl ResultClass {
    /// All, in the order of precedence.
    pub const ALL: [Self; 12] = [
        Self::NoPddl,
        Self::PError,
        Self::UToken,
        Self::TError,
        Self::PAError,
        Self::NError,
        Self::BPError,
        Self::NoPlan,
        Self::NPApp,
        Self::OPApp,
        Self::Equivalent,
        Self::Undecided,
    ];

    /// Returns the paper's name of the class.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoPddl => "NoPDDL",
            Self::PError => "PError",
            Self::UToken => "UToken",
            Self::TError => "TError",
            Self::PAError => "PAError",
            Self::NError => "NError",
            Self::BPError => "BPError",
            Self::NoPlan => "NoPlan",
            Self::NPApp => "NPApp",
            Self::OPApp => "OPApp",
            Self::Equivalent => "Equivalent",
            Self::Undecided => "Undecided",
        }
    }

    /// Returns the primary class.
    pub const fn group(self) -> ResultGroup {
        match self {
            Self::NoPddl | Self::PError | Self::UToken => ResultGroup::Syntax,
            Self::TError | Self::PAError | Self::NError | Self::BPError => ResultGroup::Semantic,
            Self::NoPlan | Self::NPApp | Self::OPApp => ResultGroup::Different,
            Self::Equivalent => ResultGroup::Equivalent,
            Self::Undecided => ResultGroup::Undecided,
        }
    }
}

impl From<Flaw> for ResultClass {
    /// The class of a text that was made with one flaw.
    fn from(flaw: Flaw) -> Self {
        match flaw {
            Flaw::NoAction => Self::NoPddl,
            Flaw::Parentheses => Self::PError,
            Flaw::Token => Self::UToken,
            Flaw::Type => Self::TError,
            Flaw::Arguments => Self::PAError,
            Flaw::Name => Self::NError,
            Flaw::Requirement => Self::BPError,
        }
    }
}

impl From<HdeClass> for ResultClass {
    fn from(class: HdeClass) -> Self {
        match class {
            HdeClass::NoPlan => Self::NoPlan,
            HdeClass::NPApp => Self::NPApp,
            HdeClass::OPApp => Self::OPApp,
        }
    }
}

impl ResultGroup {
    /// The word used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax error",
            Self::Semantic => "semantic error",
            Self::Different => "different domain",
            Self::Equivalent => "equivalent",
            Self::Undecided => "undecided",
        }
    }
}

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
fn fit_with_problems(
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

/// The actions that count as having a bad precondition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BadPreconditionRule {
    /// A construct whose requirement the domain neither declares nor uses itself.
    #[default]
    Requirement,
    /// A negated precondition, whatever the domain declares: the paper's definition.
    Negation,
    /// A delete effect whose atom the precondition does not contain. The paper's planner, K* with LM-cut, stops
    /// there (exit code 34): its translator makes a conditional effect of it. It may accept a delete of an atom
    /// that is in no mutex group, which this rule does not.
    UnguardedDelete,
}

const NEGATED: &str = "class.negated-precondition";
const UNGUARDED: &str = "class.unguarded-delete";

impl BadPreconditionRule {
    /// The codes of findings that are bad preconditions.
    const CODES: [&str; 2] = [NEGATED, UNGUARDED];

    /// Findings in an action under this rule; the front end reports undeclared requirements.
    fn findings(self, action: &Action, source: SourceId) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        match self {
            Self::Requirement => {}
            Self::Negation => {
                if let Some(condition) = &action.precondition {
                    negations(condition, source, &mut found);
                }
            }
            Self::UnguardedDelete => {
                let mut required = BTreeSet::new();
                if let Some(condition) = &action.precondition {
                    required_atoms(condition, &mut required);
                }
                if let Some(effect) = &action.effect {
                    unguarded_deletes(effect, &required, source, &mut found);
                }
            }
        }
        found
    }
}

fn negations(condition: &Condition, source: SourceId, found: &mut Vec<Diagnostic>) {
    match condition {
        Condition::Not(_, span) => {
            let message = format!("the precondition `{}` is negated", print_condition(condition));
            let help = "require an atom that is true where this one is false";
            found.push(Diagnostic::error(NEGATED, message).at(source, *span, "").help(help));
        }
        Condition::And(parts, _) | Condition::Or(parts, _) => {
            parts.iter().for_each(|part| negations(part, source, found));
        }
        Condition::Imply(a, b, _) => [a, b].into_iter().for_each(|part| negations(part, source, found)),
        Condition::Exists(q) | Condition::Forall(q) => negations(&q.body, source, found),
        _ => {}
    }
}

fn atom_key(atom: &Atom) -> String {
    print_atom(atom).to_lowercase()
}

fn required_atoms(condition: &Condition, atoms: &mut BTreeSet<String>) {
    match condition {
        Condition::And(parts, _) => parts.iter().for_each(|part| required_atoms(part, atoms)),
        Condition::Atom(atom) => {
            atoms.insert(atom_key(atom));
        }
        _ => {}
    }
}

fn unguarded_deletes(
    effect: &Effect,
    required: &BTreeSet<String>,
    source: SourceId,
    found: &mut Vec<Diagnostic>,
) {
    match effect {
        Effect::And(parts, _) => {
            parts.iter().for_each(|part| unguarded_deletes(part, required, source, found));
        }
        Effect::Delete(atom, span) if !required.contains(&atom_key(atom)) => {
            let message =
                format!("`{}` is made false, and the precondition does not contain it", print_atom(atom));
            let help = format!("add `{}` to the precondition", print_atom(atom));
            found.push(Diagnostic::error(UNGUARDED, message).at(source, *span, "").help(help));
        }
        _ => {}
    }
}
