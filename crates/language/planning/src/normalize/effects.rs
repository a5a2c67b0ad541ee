//! Effects: nested `forall` and `when` flattened to groups that share variables and condition.

use super::{Normalizer, Scope};
use crate::lifted::{EffectChange, EffectGroup, Formula, LiftedAtom, Variable};
use planforge_diagnostics::Span;
use planforge_pddl::ast::{self, Effect};

/// Enclosing variables and conditions during the traversal of an effect.
struct EffectWalk {
    groups: Vec<EffectGroup>,
    variables: Vec<Variable>,
    condition: Vec<Formula>,
    /// The group that changes at this depth go to, once one exists.
    current: Option<usize>,
}

impl EffectWalk {
    fn push(&mut self, change: EffectChange, span: Span) {
        let group = match self.current {
            Some(group) => group,
            None => {
                self.groups.push(EffectGroup {
                    variables: self.variables.clone(),
                    condition: match self.condition.as_slice() {
                        [single] => single.clone(),
                        many => Formula::And(many.to_vec()),
                    },
                    changes: Vec::new(),
                });
                self.groups.len() - 1
            }
        };
        self.current = Some(group);
        self.groups[group].changes.push((change, span));
    }
}

impl Normalizer {
    /// The groups of an effect.
    pub(crate) fn effects(&mut self, effect: &Effect, scope: &mut Scope) -> Vec<EffectGroup> {
        let mut walk =
            EffectWalk { groups: Vec::new(), variables: Vec::new(), condition: Vec::new(), current: None };
        self.walk_effect(effect, scope, &mut walk);
        walk.groups
    }

    fn walk_effect(&mut self, effect: &Effect, scope: &mut Scope, walk: &mut EffectWalk) {
        match effect {
            Effect::And(parts, _) => {
                for part in parts {
                    self.walk_effect(part, scope, walk);
                }
            }
            Effect::Forall(q) => {
                let outer = (scope.names.len(), walk.variables.len(), walk.current.take());
                let variables = self.variables(&q.parameters, scope);
                walk.variables.extend(variables);
                self.walk_effect(&q.body, scope, walk);
                scope.names.truncate(outer.0);
                walk.variables.truncate(outer.1);
                walk.current = outer.2;
            }
            Effect::When(condition, body, _) => {
                let outer = walk.current.take();
                let condition = self.formula(condition, false, scope);
                walk.condition.push(condition);
                self.walk_effect(body, scope, walk);
                walk.condition.pop();
                walk.current = outer;
            }
            Effect::Add(atom) => {
                if let Some(lifted) = self.changed_atom(atom, scope) {
                    walk.push(EffectChange::Add(lifted), atom.span);
                }
            }
            Effect::Delete(atom, span) => {
                if let Some(lifted) = self.changed_atom(atom, scope) {
                    walk.push(EffectChange::Delete(lifted), *span);
                }
            }
            Effect::Assign(assignment) => self.walk_assignment(assignment, scope, walk),
            Effect::Timed(_, _, span) => self.note_unsupported("a timed effect", scope.place(*span)),
        }
    }

    fn changed_atom(&mut self, atom: &ast::Atom, scope: &Scope) -> Option<LiftedAtom> {
        let lifted = self.atom(atom, scope)?;
        if self.tables.predicates[lifted.predicate as usize].derived {
            let message = format!("{} is derived by a rule, so an effect cannot set it", atom.predicate);
            let help = "change what the rule depends on instead, or remove the rule";
            self.error("planning.derived-set", message, scope.place(atom.span), help);
            return None;
        }
        Some(lifted)
    }

    fn walk_assignment(&mut self, a: &ast::Assignment, scope: &mut Scope, walk: &mut EffectWalk) {
        let fluent = self.fluent(&a.fluent, scope);
        let value = self.expression(&a.value, scope);
        if let (Some(fluent), Some(value)) = (fluent, value) {
            walk.push(EffectChange::Numeric(a.op, fluent, value), a.span);
        }
    }
}
