//! The names that may be arguments of a type.

use planforge_pddl::ast::{Domain, TypeRef, TypedName};
use planforge_pddl::{Name, TypeFit, TypeHierarchy, TypeId, undeclared_constants};

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
        let mut all: Vec<TypedName> = Vec::new();
        for object in domain.constants.iter().chain(objects) {
            if !all.iter().any(|known| known.name == object.name) {
                all.push(object.clone());
            }
        }
        Self::Known(all)
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
        let mut words: Vec<String> = Vec::new();
        if let Objects::Known(objects) = &self.objects {
            let fits = |object: &&TypedName| match self.fit(object.ty.as_ref(), wanted.as_deref()) {
                TypeFit::Always => true,
                TypeFit::Sometimes => object.ty.as_ref().is_some_and(TypeRef::is_either),
                TypeFit::Never => false,
            };
            words.extend(objects.iter().filter(fits).map(|object| object.name.to_string()));
        }
        if variables == Variables::Parameters {
            let fits = |p: &&TypedName| self.fit(p.ty.as_ref(), wanted.as_deref()) != TypeFit::Never;
            words.extend(self.parameters.iter().filter(fits).map(|p| p.name.to_string()));
        }
        Candidates {
            words,
            any_name: matches!(self.objects, Objects::Any),
            any_variable: variables == Variables::Any,
        }
    }

    /// Names of unknown types fit, as in the check of a definition: the unknown type is reported where it stands.
    fn fit(&self, given: Option<&TypeRef>, wanted: Option<&[TypeId]>) -> TypeFit {
        match (self.types.resolve(given), wanted) {
            (Some(given), Some(wanted)) => self.types.fit(&given, wanted),
            _ => TypeFit::Always,
        }
    }

    /// The names of the declared types, `object` first.
    pub(crate) fn type_names(&self) -> Vec<String> {
        self.types.names().map(|name| name.to_string()).collect()
    }
}
