//! Ground terms by number, so that thousands of them are compared and stored cheaply.

use crate::syntax::ast::Term;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A ground term of a [`Store`].
pub(crate) type Id = u32;

/// The structure of a ground term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Number(i64),
    Text(Box<str>),
    /// A name with its arguments.
    Function {
        name: u32,
        arguments: SmallVec<[Id; 4]>,
    },
}

/// Every ground term once.
#[derive(Debug, Default)]
pub(crate) struct Store {
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, u32>,
    nodes: Vec<Node>,
    by_node: FxHashMap<Node, Id>,
}

impl Store {
    pub(crate) fn name(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.by_name.insert(name.into(), id);
        id
    }

    pub(crate) fn name_text(&self, name: u32) -> &str {
        &self.names[name as usize]
    }

    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn add(&mut self, node: Node) -> Id {
        if let Some(&known) = self.by_node.get(&node) {
            return known;
        }
        let id = self.nodes.len() as Id;
        self.nodes.push(node.clone());
        self.by_node.insert(node, id);
        id
    }

    /// The number of a ground term; `None` where it has variables or operations.
    pub(crate) fn intern(&mut self, term: &Term) -> Option<Id> {
        let node = match term {
            Term::Number(number) => Node::Number(*number),
            Term::Text(text) => Node::Text(text.as_str().into()),
            Term::Function { name, arguments } => {
                let arguments = arguments.iter().map(|a| self.intern(a)).collect::<Option<_>>()?;
                Node::Function { name: self.name(name), arguments }
            }
            _ => return None,
        };
        Some(self.add(node))
    }

    pub(crate) fn term(&self, id: Id) -> Term {
        match self.node(id) {
            Node::Number(number) => Term::Number(*number),
            Node::Text(text) => Term::Text(text.to_string()),
            Node::Function { name, arguments } => Term::Function {
                name: self.name_text(*name).to_owned(),
                arguments: arguments.iter().map(|a| self.term(*a)).collect(),
            },
        }
    }

    /// Name and arguments of a function, constant or atom.
    pub(crate) fn call(&self, id: Id) -> Option<(u32, &[Id])> {
        match self.node(id) {
            Node::Function { name, arguments } => Some((*name, arguments)),
            _ => None,
        }
    }
}
