//! Rules that several grammars share: words, typed lists, atoms, numbers, conditions, effects.
//!
//! Every rule of a list or word that can follow another one begins with the blanks before it. So a text has one derivation, which keeps
//! matchers fast.

use crate::tree::{Builder, Expr, RuleId};
use planforge_pddl::ast::{Domain, TypeRef, TypedName};
use planforge_pddl::{Name, TypeFit, TypeHierarchy, TypeUnion, undeclared_constants};
use std::collections::{BTreeMap, BTreeSet};

/// Most blanks between two words: a model cannot fill its reply with them.
const MAX_BLANKS: u32 = 60;

/// Most characters behind the first one of a name that a model chooses.
const MAX_NAME: u32 = 60;

/// Use of an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    Condition,
    /// An effect or a fact: not of a derived predicate.
    Change,
}

/// A builder of grammars about one domain.
pub(crate) struct Pddl<'a> {
    pub(crate) builder: Builder,
    pub(crate) domain: &'a Domain,
    scope: Scope<'a>,
    /// True if predicates of other names may be used, with any arguments.
    open_predicates: bool,
    /// Blanks, at least one.
    pub(crate) blank: Expr,
    /// Blanks or none.
    pub(crate) gap: Expr,
    /// An opening parenthesis with the blanks around it.
    open: Expr,
    /// A closing parenthesis with the blanks before it.
    close: Expr,
    /// A name that the model chooses.
    pub(crate) name: Expr,
    /// A variable with its question mark.
    pub(crate) variable: Expr,
    pub(crate) number: Expr,
    words: BTreeMap<String, Expr>,
    terms: BTreeMap<Candidates, Expr>,
    atoms: BTreeMap<(Use, Variables), RuleId>,
    fluents: BTreeMap<Variables, RuleId>,
    numbers: BTreeMap<Variables, RuleId>,
    conditions: BTreeMap<Variables, RuleId>,
    effects: BTreeMap<Variables, RuleId>,
    typed: Option<Expr>,
}

impl<'a> Pddl<'a> {
    pub(crate) fn new(domain: &'a Domain, objects: Objects, parameters: &'a [TypedName]) -> Self {
        let mut builder = Builder::default();
        let space = Expr::class(&[(' ', ' '), ('\t', '\t'), ('\n', '\n'), ('\r', '\r')]);
        let blank = builder.token("ws", space.repeat(1, Some(MAX_BLANKS)));
        let gap = blank.clone().optional();
        let open = builder.rule("open", Expr::sequence([gap.clone(), Expr::text("("), gap.clone()]));
        let close = builder.rule("close", Expr::sequence([gap.clone(), Expr::text(")")]));
        let letters = [('a', 'z'), ('A', 'Z')];
        let inner = Expr::class(&[('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_'), ('-', '-')]);
        let name = [Expr::class(&letters), inner.repeat(0, Some(MAX_NAME))];
        let variable = Expr::sequence([Expr::text("?"), name[0].clone(), name[1].clone()]);
        let digits = |most| Expr::class(&[('0', '9')]).repeat(1, Some(most));
        let fraction = Expr::sequence([Expr::text("."), digits(9)]).optional();
        let number = Expr::sequence([Expr::text("-").optional(), digits(12), fraction]);
        Self {
            blank,
            gap,
            open,
            close,
            name: builder.token("name", Expr::sequence(name)),
            variable: builder.token("variable", variable),
            number: builder.token("number", number),
            builder,
            domain,
            scope: Scope { types: TypeHierarchy::of(domain), objects, parameters },
            open_predicates: false,
            words: BTreeMap::new(),
            terms: BTreeMap::new(),
            atoms: BTreeMap::new(),
            fluents: BTreeMap::new(),
            numbers: BTreeMap::new(),
            conditions: BTreeMap::new(),
            effects: BTreeMap::new(),
            typed: None,
        }
    }

    /// Predicates that the domain does not declare may be used as well.
    pub(crate) fn with_open_predicates(self) -> Self {
        Self { open_predicates: true, ..self }
    }

    /// Replaces the parameters in scope.
    pub(crate) fn enter(&mut self, parameters: &'a [TypedName]) {
        self.scope.parameters = parameters;
        let of_parameters = Variables::Parameters;
        self.atoms.retain(|(_, variables), _| *variables != of_parameters);
        for rules in [&mut self.fluents, &mut self.numbers, &mut self.conditions, &mut self.effects] {
            rules.remove(&of_parameters);
        }
    }

    /// A list: its first item has no blanks before it, the others have theirs.
    pub(crate) fn list(&self, items: impl IntoIterator<Item = Expr>) -> Expr {
        let items = items.into_iter();
        Expr::sequence([self.open.clone()].into_iter().chain(items).chain([self.close.clone()]))
    }

    /// The item with blanks before it.
    pub(crate) fn spaced(&self, item: Expr) -> Expr {
        Expr::sequence([self.blank.clone(), item])
    }

    /// A section of a definition, which begins with its keyword.
    pub(crate) fn section(&self, keyword: &str, items: impl IntoIterator<Item = Expr>) -> Expr {
        self.list([Expr::text(keyword)].into_iter().chain(items))
    }

    pub(crate) fn declares(&self, requirements: &[&str]) -> bool {
        self.domain.requirements.iter().any(|r| requirements.contains(&r.key()))
    }

    /// One of these words.
    pub(crate) fn one_of(&mut self, rule: &str, words: &[String]) -> Expr {
        if let Some(known) = self.words.get(&words.join(" ")) {
            return known.clone();
        }
        let expr = match words {
            [] => Expr::Choice(Vec::new()),
            [word] => Expr::text(word),
            words => self.builder.token(rule, Expr::choice(words.iter().map(Expr::text))),
        };
        self.words.insert(words.join(" "), expr.clone());
        expr
    }

    /// Names with a type each, and nothing else: `entry+ - type`. Without blanks before the first one.
    pub(crate) fn typed_list(&mut self, entry: &Expr) -> Expr {
        let typed = self.typed();
        let next = Expr::sequence([typed.clone().optional(), self.spaced(entry.clone())]);
        Expr::sequence([entry.clone(), next.any_number(), typed.optional()])
    }

    /// As [`Pddl::typed_list`], with a type for every name if the domain declares types. A name without one is of the widest type, so it
    /// could be an argument of little that the model writes next.
    pub(crate) fn fully_typed_list(&mut self, entry: &Expr) -> Expr {
        if self.domain.types.is_empty() {
            return self.typed_list(entry);
        }
        let names = Expr::sequence([entry.clone(), self.spaced(entry.clone()).any_number()]);
        let group = Expr::sequence([names, self.typed()]);
        Expr::sequence([group.clone(), self.spaced(group).any_number()])
    }

    /// ` - type`.
    fn typed(&mut self) -> Expr {
        if let Some(typed) = &self.typed {
            return typed.clone();
        }
        let names = self.scope.type_names();
        let ty = self.one_of("type", &names);
        let either = self.list([Expr::text("either"), self.spaced(ty.clone()).at_least_once()]);
        let ty = Expr::choice([self.spaced(ty), either]);
        let typed = Expr::sequence([self.spaced(Expr::text("-")), ty]);
        let typed = self.builder.rule("typed", typed);
        self.typed = Some(typed.clone());
        typed
    }

    /// These names with their types, in this order. A type shared by neighbours may stand once or behind each.
    /// Without blanks before the first one.
    pub(crate) fn fixed_typed_list(&self, list: &[TypedName]) -> Expr {
        let mut parts = Vec::new();
        for (n, entry) in list.iter().enumerate() {
            let name = Expr::text(entry.name.as_str());
            parts.push(if n > 0 { self.spaced(name) } else { name });
            let Some(ty) = &entry.ty else { continue };
            let names = |ty: &TypeRef| ty.alternatives.clone();
            let next = list.get(n + 1).and_then(|next| next.ty.as_ref());
            let is_shared = next.is_some_and(|next| names(next) == names(ty));
            let written = match ty.alternatives.as_slice() {
                [name] => self.spaced(Expr::text(name.as_str())),
                several => {
                    let several = several.iter().map(|name| self.spaced(Expr::text(name.as_str())));
                    self.list([Expr::text("either")].into_iter().chain(several))
                }
            };
            let typed = Expr::sequence([self.spaced(Expr::text("-")), written]);
            parts.push(if is_shared { typed.optional() } else { typed });
        }
        Expr::Sequence(parts)
    }

    /// Arguments of a type, without blanks before them.
    pub(crate) fn term(&mut self, ty: Option<&TypeRef>, variables: Variables) -> Expr {
        let candidates = self.scope.candidates(ty, variables);
        if let Some(known) = self.terms.get(&candidates) {
            return known.clone();
        }
        let rule = match ty {
            None => "term".to_owned(),
            Some(ty) => ty.alternatives.iter().map(|name| name.key()).collect::<Vec<_>>().join("-or-"),
        };
        let literals = candidates.words.iter().map(Expr::text);
        let expr = match (candidates.any_name, candidates.any_variable) {
            (false, false) if candidates.words.is_empty() => Expr::Choice(Vec::new()),
            (false, false) => self.builder.token(&rule, Expr::choice(literals)),
            (any_name, any_variable) => {
                let alternatives = literals
                    .chain(any_name.then(|| self.name.clone()))
                    .chain(any_variable.then(|| self.variable.clone()));
                let alternatives: Vec<Expr> = alternatives.collect();
                self.builder.rule(&rule, Expr::choice(alternatives))
            }
        };
        self.terms.insert(candidates, expr.clone());
        expr
    }

    /// An atom of a declared predicate.
    pub(crate) fn atom(&mut self, usage: Use, variables: Variables) -> Expr {
        if let Some(id) = self.atoms.get(&(usage, variables)) {
            return Expr::Rule(*id);
        }
        let id = self.builder.reserve(match usage {
            Use::Condition => "atom",
            Use::Change => "fact",
        });
        self.atoms.insert((usage, variables), id);
        let domain = self.domain;
        let is_derived = |name| domain.derived.iter().any(|rule| &rule.predicate == name);
        let predicates = domain.predicates.iter();
        let used: Vec<(String, &[TypedName])> = predicates
            .filter(|p| usage == Use::Condition || !is_derived(&p.name))
            .map(|p| (p.name.to_string(), p.parameters.as_slice()))
            .collect();
        let mut expr = self.applications("predicate", used, variables);
        if self.open_predicates {
            let term = self.term(None, variables);
            let of_new = self.list([self.name.clone(), self.spaced(term).any_number()]);
            expr = Expr::choice([expr, of_new]);
        }
        self.builder.set(id, expr);
        Expr::Rule(id)
    }

    /// A declared function with its arguments.
    pub(crate) fn fluent(&mut self, variables: Variables) -> Expr {
        if let Some(id) = self.fluents.get(&variables) {
            return Expr::Rule(*id);
        }
        let id = self.builder.reserve("fluent");
        self.fluents.insert(variables, id);
        let domain = self.domain;
        let used = domain.functions.iter().map(|f| (f.name.to_string(), f.parameters.as_slice())).collect();
        let expr = self.applications("function", used, variables);
        self.builder.set(id, expr);
        Expr::Rule(id)
    }

    /// `(name argument ...)`: names with the same argument types share an alternative.
    pub(crate) fn applications(
        &mut self,
        rule: &str,
        declared: Vec<(String, &[TypedName])>,
        variables: Variables,
    ) -> Expr {
        let mut groups: Vec<(Vec<Expr>, Vec<String>)> = Vec::new();
        for (name, parameters) in declared {
            let arguments: Vec<Expr> = parameters
                .iter()
                .map(|p| {
                    let term = self.term(p.ty.as_ref(), variables);
                    self.spaced(term)
                })
                .collect();
            match groups.iter_mut().find(|(known, _)| *known == arguments) {
                Some((_, names)) => names.push(name),
                None => groups.push((arguments, vec![name])),
            }
        }
        let lists = groups.into_iter().map(|(arguments, names)| {
            let head = self.one_of(rule, &names);
            Expr::sequence([head].into_iter().chain(arguments))
        });
        let lists = Expr::choice(lists.collect::<Vec<_>>());
        self.list([lists])
    }

    /// A numeric expression, with the blanks before it.
    pub(crate) fn numeric(&mut self, variables: Variables) -> Expr {
        if let Some(id) = self.numbers.get(&variables) {
            return Expr::Rule(*id);
        }
        let id = self.builder.reserve("numeric");
        self.numbers.insert(variables, id);
        let inner = Expr::Rule(id);
        let of = |op: &str, more: Expr| self.list([Expr::text(op), inner.clone(), more]);
        let alternatives = vec![
            self.spaced(self.number.clone()),
            of("+", inner.clone().at_least_once()),
            of("*", inner.clone().at_least_once()),
            of("-", inner.clone().optional()),
            of("/", inner.clone()),
        ];
        let fluent = self.fluent(variables);
        self.builder.set(id, Expr::choice(alternatives.into_iter().chain([fluent])));
        Expr::Rule(id)
    }

    /// `(?x - t ...)`: variables that a quantifier binds.
    fn quantified(&mut self) -> Expr {
        let list = self.typed_list(&self.variable.clone());
        self.list([list.optional()])
    }

    /// A condition.
    pub(crate) fn condition(&mut self, variables: Variables) -> Expr {
        if let Some(id) = self.conditions.get(&variables) {
            return Expr::Rule(*id);
        }
        let id = self.builder.reserve("condition");
        self.conditions.insert(variables, id);
        let inner = Expr::Rule(id);
        let body = self.condition(Variables::Any);
        let bound = self.quantified();
        let term = self.term(None, variables);
        let several = inner.clone().any_number();
        let connectives = [
            Expr::sequence([Expr::text("and"), several.clone()]),
            Expr::sequence([Expr::text("or"), several]),
            Expr::sequence([Expr::text("not"), inner.clone()]),
            Expr::sequence([Expr::text("imply"), inner.clone(), inner.clone()]),
            Expr::sequence([Expr::text("exists"), bound.clone(), body.clone()]),
            Expr::sequence([Expr::text("forall"), bound, body]),
            Expr::sequence([Expr::text("="), self.spaced(term.clone()), self.spaced(term)]),
        ];
        let mut connectives = connectives.to_vec();
        if !self.domain.functions.is_empty() {
            let number = self.numeric(variables);
            let compare = ["<", "<=", ">", ">=", "="].map(Expr::text);
            connectives.push(Expr::sequence([Expr::choice(compare), number.clone(), number]));
        }
        connectives.extend(self.pddl3(&inner));
        let atom = self.atom(Use::Condition, variables);
        let list = self.list([Expr::choice(connectives).optional()]);
        self.builder.set(id, Expr::choice([atom, list]));
        Expr::Rule(id)
    }

    /// Preferences and trajectory constraints, if the domain requires them.
    fn pddl3(&mut self, inner: &Expr) -> Vec<Expr> {
        let mut found = Vec::new();
        if self.declares(&[":preferences"]) {
            let name = self.spaced(self.name.clone()).optional();
            found.push(Expr::sequence([Expr::text("preference"), name, inner.clone()]));
        }
        if self.declares(&[":constraints"]) {
            let time = self.spaced(self.number.clone());
            for (word, times, conditions) in [
                ("always", 0, 1),
                ("sometime", 0, 1),
                ("within", 1, 1),
                ("at-most-once", 0, 1),
                ("sometime-after", 0, 2),
                ("sometime-before", 0, 2),
                ("always-within", 1, 2),
                ("hold-during", 2, 1),
                ("hold-after", 1, 1),
            ] {
                let times = std::iter::repeat_n(time.clone(), times);
                let conditions = std::iter::repeat_n(inner.clone(), conditions);
                found.push(Expr::sequence([Expr::text(word)].into_iter().chain(times).chain(conditions)));
            }
            let end =
                Expr::sequence([Expr::text("at"), self.blank.clone(), Expr::text("end"), inner.clone()]);
            found.push(end);
        }
        found
    }

    /// An effect.
    pub(crate) fn effect(&mut self, variables: Variables) -> Expr {
        if let Some(id) = self.effects.get(&variables) {
            return Expr::Rule(*id);
        }
        let id = self.builder.reserve("effect");
        self.effects.insert(variables, id);
        let inner = Expr::Rule(id);
        let fact = self.atom(Use::Change, variables);
        let body = self.effect(Variables::Any);
        let bound = self.quantified();
        let condition = self.condition(variables);
        let mut lists = vec![
            Expr::sequence([Expr::text("and"), inner.clone().any_number()]),
            Expr::sequence([Expr::text("not"), fact.clone()]),
            Expr::sequence([Expr::text("forall"), bound, body]),
            Expr::sequence([Expr::text("when"), condition, inner]),
        ];
        if !self.domain.functions.is_empty() {
            let ops = ["assign", "increase", "decrease", "scale-up", "scale-down"].map(Expr::text);
            let (fluent, value) = (self.fluent(variables), self.numeric(variables));
            lists.push(Expr::sequence([Expr::choice(ops), fluent, value]));
        }
        let list = self.list([Expr::choice(lists)]);
        self.builder.set(id, Expr::choice([fact, list]));
        Expr::Rule(id)
    }

    /// `(= (function argument ...) number)`: a value of the initial state.
    pub(crate) fn value(&mut self) -> Expr {
        let fluent = self.fluent(Variables::None);
        self.list([Expr::text("="), fluent, self.spaced(self.number.clone())])
    }
}

/// Variables that may be arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variables {
    /// None: the text is ground.
    None,
    /// The parameters of the action, by their types.
    Parameters,
    /// Any: which ones a quantifier or a parameter list binds cannot be said by a context-free grammar.
    Any,
}

/// Objects that may be arguments.
#[derive(Debug, Clone)]
pub(crate) enum Objects {
    /// Constants and objects with their types.
    Known(Vec<TypedName>),
    /// Any name.
    Any,
}

impl Objects {
    /// The constants of a domain and these objects, each once.
    pub(crate) fn with_constants(domain: &Domain, objects: &[TypedName]) -> Self {
        let mut known: BTreeSet<&Name> = BTreeSet::new();
        let all = domain.constants.iter().chain(objects);
        Self::Known(all.filter(|object| known.insert(&object.name)).cloned().collect())
    }

    /// The constants of a domain, and those that its actions use without declaring them. A problem may declare these with any type, so they fit
    /// everywhere.
    pub(crate) fn constants(domain: &Domain) -> Self {
        let types = TypeHierarchy::of(domain);
        let unknown = Some(TypeRef::single(Name::synthetic("?")));
        let used = undeclared_constants(domain, &types);
        let used = used.into_iter().map(|name| TypedName { name: name.clone(), ty: unknown.clone() });
        Self::Known(domain.constants.iter().cloned().chain(used).collect())
    }
}

/// Arguments of one type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidates {
    /// Objects, constants and parameters.
    pub(crate) words: Vec<String>,
    /// True if every name may be an argument.
    pub(crate) any_name: bool,
    /// True if every variable may be an argument.
    pub(crate) any_variable: bool,
}

/// Types, objects and parameters.
pub(crate) struct Scope<'a> {
    pub(crate) types: TypeHierarchy,
    pub(crate) objects: Objects,
    pub(crate) parameters: &'a [TypedName],
}

impl Scope<'_> {
    /// The arguments that have the type. Objects are of the type or a subtype; one of an `either` type if one of its types is. A parameter is also
    /// allowed if its type is wider, as the check of a domain allows it.
    pub(crate) fn candidates(&self, ty: Option<&TypeRef>, variables: Variables) -> Candidates {
        let wanted = self.types.resolve(ty);
        let wanted = wanted.as_deref().map(|ids| self.types.union(ids));
        let mut words: Vec<String> = Vec::new();
        if let Objects::Known(objects) = &self.objects {
            let fits = |object: &&TypedName| self.object_fits(object, wanted.as_ref());
            words.extend(objects.iter().filter(fits).map(|object| object.name.to_string()));
        }
        if variables == Variables::Parameters {
            let fits = |p: &&TypedName| self.fit(p.ty.as_ref(), wanted.as_ref()) != TypeFit::Never;
            words.extend(self.parameters.iter().filter(fits).map(|p| p.name.to_string()));
        }
        Candidates {
            words,
            any_name: matches!(self.objects, Objects::Any),
            any_variable: variables == Variables::Any,
        }
    }

    /// Names of unknown types fit, as in the check of a definition: the unknown type is reported where it stands.
    fn fit(&self, given: Option<&TypeRef>, wanted: Option<&TypeUnion<'_>>) -> TypeFit {
        match (self.types.resolve(given), wanted) {
            (Some(given), Some(wanted)) => wanted.fit(&given),
            _ => TypeFit::Always,
        }
    }

    fn object_fits(&self, object: &TypedName, wanted: Option<&TypeUnion<'_>>) -> bool {
        match self.fit(object.ty.as_ref(), wanted) {
            TypeFit::Always => true,
            TypeFit::Sometimes => object.ty.as_ref().is_some_and(TypeRef::is_either),
            TypeFit::Never => false,
        }
    }

    /// The names of the declared types, `object` first.
    pub(crate) fn type_names(&self) -> Vec<String> {
        self.types.names().map(|name| name.to_string()).collect()
    }
}

/// Counts the names in the lists of arguments of a grammar about a domain and these objects: one list for each type of a parameter, with
/// the objects that have it. A short text can need many. Counts to `most` at least, and then stops.
pub fn count_listed_names(domain: &Domain, objects: &[TypedName], most: usize) -> usize {
    let types = TypeHierarchy::of(domain);
    let scope = Scope { types, objects: Objects::with_constants(domain, objects), parameters: &[] };
    let Objects::Known(objects) = &scope.objects else { return 0 };
    let lists = domain.predicates.iter().map(|p| &p.parameters);
    let lists = lists.chain(domain.functions.iter().map(|f| &f.parameters));
    let lists = lists.chain(domain.actions.iter().map(|a| &a.parameters));
    let wanted: BTreeSet<_> = lists.flatten().filter_map(|p| scope.types.resolve(p.ty.as_ref())).collect();
    let mut count = 0;
    for ids in &wanted {
        let union = scope.types.union(ids);
        count += objects.iter().filter(|object| scope.object_fits(object, Some(&union))).count();
        if count > most {
            break;
        }
    }
    count
}
