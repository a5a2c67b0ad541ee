//! Parses text into a tree of lists and atoms, and repairs missing and extra parentheses where keywords
//! determine the place.
//!
//! The tree is one flat vector in preorder, so neither building nor dropping it recurses, whatever the
//! nesting. A section keyword such as `(:action` may only occur directly inside `(define`, and a field
//! keyword such as `:effect` only directly inside an action. If one occurs deeper, the lists still open
//! before it lost their parentheses. If one occurs outside, the parenthesis that closed its parent was one
//! too many.

use crate::sink::Sink;
use planforge_diagnostics::{Diagnostic, Edit, Span};

/// Deepest nesting that is read. Written PDDL stays below 40.
pub const MAX_DEPTH: usize = 512;

/// One list or atom; a list begins with its parenthesis.
#[derive(Debug, Clone, Copy)]
struct Node {
    start: u32,
    end: u32,
    /// Index of the first node after this one's descendants.
    skip: u32,
}

/// Index of a node.
pub(crate) type NodeId = u32;

/// Lists and atoms of a text.
pub(crate) struct Tree<'t> {
    pub(crate) text: &'t str,
    nodes: Vec<Node>,
    /// Nesting went past [`MAX_DEPTH`]; the tree is empty then.
    pub(crate) too_deep: bool,
}

impl<'t> Tree<'t> {
    pub(crate) fn span(&self, id: NodeId) -> Span {
        let node = self.nodes[id as usize];
        Span::new(node.start, node.end)
    }
    pub(crate) fn is_list(&self, id: NodeId) -> bool {
        self.text.as_bytes()[self.nodes[id as usize].start as usize] == b'('
    }
    /// The text of a node.
    pub(crate) fn text(&self, id: NodeId) -> &'t str {
        &self.text[self.span(id).range()]
    }
    /// The text of an atom, nothing for a list.
    pub(crate) fn atom(&self, id: NodeId) -> Option<&'t str> {
        (!self.is_list(id)).then(|| self.text(id))
    }
    pub(crate) fn children(&self, id: NodeId) -> Children<'_, 't> {
        Children { tree: self, next: id + 1, end: self.nodes[id as usize].skip }
    }
    /// The lists and atoms outside every list.
    pub(crate) fn roots(&self) -> Children<'_, 't> {
        Children { tree: self, next: 0, end: self.nodes.len() as u32 }
    }
    /// The first child of a list if it is an atom.
    pub(crate) fn head(&self, id: NodeId) -> Option<&'t str> {
        self.children(id).next().and_then(|head| self.atom(head))
    }
    /// Returns true if the list's head is that word, in any case.
    pub(crate) fn head_is(&self, id: NodeId, word: &str) -> bool {
        self.is_list(id) && self.head(id).is_some_and(|head| head.eq_ignore_ascii_case(word))
    }
}

/// The children of a list, in order; a copy remembers its place.
#[derive(Clone, Copy)]
pub(crate) struct Children<'a, 't> {
    tree: &'a Tree<'t>,
    next: u32,
    end: u32,
}

impl Iterator for Children<'_, '_> {
    type Item = NodeId;
    fn next(&mut self) -> Option<NodeId> {
        if self.next >= self.end {
            return None;
        }
        let id = self.next;
        self.next = self.tree.nodes[id as usize].skip;
        Some(id)
    }
}

impl Children<'_, '_> {
    pub(crate) fn peek(&self) -> Option<NodeId> {
        (self.next < self.end).then_some(self.next)
    }

    /// Ends before that sibling; keeps the end for none.
    pub(crate) fn until(mut self, sibling: Option<NodeId>) -> Self {
        self.end = sibling.unwrap_or(self.end);
        self
    }
}

/// Kind of an open list, determined by its first atom.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Head {
    Unknown,
    Define,
    Init,
    ActionLike,
    Plain,
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    node: u32,
    head: Head,
    /// True if atoms follow the head.
    has_args: bool,
}

struct Builder<'t, 's> {
    text: &'t str,
    nodes: Vec<Node>,
    open: Vec<Frame>,
    /// End of the last token.
    last_end: u32,
    last_is_dash: bool,
    /// The action closed last directly inside `define`, and where: nothing but atoms followed.
    closed_action: Option<(Frame, u32)>,
    /// The definition closed last, and where.
    closed_define: Option<(Frame, u32)>,
    too_deep: Option<u32>,
    sink: &'s mut Sink,
}

/// Parses lists and atoms. Reports faults of parentheses to `sink`.
pub(crate) fn read<'t>(text: &'t str, sink: &mut Sink) -> Tree<'t> {
    let mut builder = Builder {
        text,
        nodes: Vec::with_capacity(text.len() / 6),
        open: Vec::new(),
        last_end: 0,
        last_is_dash: false,
        closed_action: None,
        closed_define: None,
        too_deep: None,
        sink,
    };
    builder.run();
    if let Some(at) = builder.too_deep {
        let diagnostic =
            Diagnostic::error("pddl.too-deep", format!("lists are nested more than {MAX_DEPTH} deep"))
                .at(builder.sink.source, Span::new(at, at + 1), "this one is too deep; nothing was read")
                .help("no PDDL needs such nesting; look for parentheses that are never closed");
        builder.sink.push(diagnostic);
        return Tree { text, nodes: Vec::new(), too_deep: true };
    }
    builder.finish();
    Tree { text, nodes: builder.nodes, too_deep: false }
}

impl<'t> Builder<'t, '_> {
    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut pos = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        while let Some(&byte) = bytes.get(pos) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c => pos += 1,
                b';' => pos = line_end(bytes, pos),
                b'(' => {
                    self.open(pos);
                    if self.too_deep.is_some() {
                        return;
                    }
                    pos += 1;
                }
                b')' => {
                    self.close(pos);
                    pos += 1;
                }
                _ => {
                    let end = atom_end(self.text, pos);
                    if end > pos {
                        self.atoms(pos, end);
                        pos = end;
                    } else {
                        // A space of another script; it separates like any other.
                        pos += self.text[pos..].chars().next().map_or(1, char::len_utf8);
                    }
                }
            }
        }
    }

    fn open(&mut self, pos: usize) {
        let word = self.peek_word(pos);
        if word.starts_with(':') && is_section_keyword(word) {
            self.put_section_in_place();
        } else if word.eq_ignore_ascii_case("define") {
            self.close_down_to(0);
        } else {
            self.close_broken_atoms(pos);
        }
        if self.open.len() >= MAX_DEPTH {
            self.too_deep = Some(pos as u32);
            return;
        }
        match self.open.last_mut() {
            Some(frame) => {
                if frame.head == Head::Unknown {
                    frame.head = Head::Other;
                }
                if frame.head == Head::Define {
                    self.closed_action = None;
                }
            }
            // Something else began: what follows it can no longer belong to the definition before.
            None => self.closed_define = None,
        }
        self.open.push(Frame { node: self.nodes.len() as u32, head: Head::Unknown, has_args: false });
        self.nodes.push(Node { start: pos as u32, end: pos as u32 + 1, skip: 0 });
        self.last_end = pos as u32 + 1;
        self.last_is_dash = false;
    }

    fn close(&mut self, pos: usize) {
        let at = pos as u32;
        self.last_is_dash = false;
        let Some(frame) = self.open.pop() else {
            self.stray(at, "nothing is open here");
            return;
        };
        self.end_list(frame, at + 1);
        self.last_end = at + 1;
        match (frame.head, self.open.last().map(|f| f.head)) {
            (Head::ActionLike, Some(Head::Define)) => self.closed_action = Some((frame, at)),
            (Head::Define, None) => self.closed_define = Some((frame, at)),
            _ => {}
        }
    }

    fn end_list(&mut self, frame: Frame, end: u32) {
        let skip = self.nodes.len() as u32;
        let node = &mut self.nodes[frame.node as usize];
        node.end = end;
        node.skip = skip;
    }

    /// A run without spaces: one atom, or several where `?` begins a variable without a space before it.
    fn atoms(&mut self, start: usize, end: usize) {
        let mut from = start;
        while let Some(at) = find_variable(self.text.as_bytes(), from + 1, end) {
            // `??` and `a?` begin no variable.
            if !self.text[at + 1..end].starts_with(|c: char| c.is_alphanumeric()) {
                break;
            }
            let (source, span) = (self.sink.source, Span::new(at as u32, at as u32 + 1));
            self.sink.push(
                Diagnostic::warning("pddl.glued-variable", "a space is missing before `?`")
                    .at(source, span, "")
                    .fix(
                        "insert a space",
                        vec![Edit { source, span: Span::empty(at as u32), replacement: " ".into() }],
                    ),
            );
            self.atom(from, at);
            from = at;
        }
        self.atom(from, end);
    }

    fn atom(&mut self, start: usize, end: usize) {
        let word = &self.text[start..end];
        if word.starts_with(':') && is_field_keyword(word) && self.parent_is_not_unknown() {
            self.put_field_in_place();
        }
        if let Some(frame) = self.open.last_mut() {
            if frame.head == Head::Unknown {
                frame.head = classify_head(word);
            } else {
                frame.has_args = true;
            }
        }
        let skip = self.nodes.len() as u32 + 1;
        self.nodes.push(Node { start: start as u32, end: end as u32, skip });
        self.last_end = end as u32;
        self.last_is_dash = word == "-";
    }

    /// A field keyword that heads a list, `(:parameters`, is somebody's own syntax, not a displaced field.
    fn parent_is_not_unknown(&self) -> bool {
        self.open.last().is_none_or(|f| f.head != Head::Unknown)
    }

    /// The atom right after the parenthesis at `pos`; empty if there is none.
    fn peek_word(&self, pos: usize) -> &'t str {
        let rest = self.text[pos + 1..].trim_start_matches([' ', '\t', '\r', '\n']);
        &rest[..atom_end(rest, 0)]
    }

    fn put_section_in_place(&mut self) {
        match self.open.iter().position(|f| f.head == Head::Define) {
            Some(define) => self.close_down_to(define + 1),
            None if self.open.is_empty() => self.reopen_define(),
            None => {}
        }
    }

    fn put_field_in_place(&mut self) {
        if let Some(action) = self.open.iter().rposition(|f| f.head == Head::ActionLike) {
            self.close_down_to(action + 1);
        } else if self.closed_action.is_some() {
            if self.open.is_empty() {
                self.reopen_define();
            }
            if self.open.last().is_some_and(|f| f.head == Head::Define)
                && let Some((frame, at)) = self.closed_action.take()
            {
                self.stray(at, "this closes the action, but the action goes on");
                self.open.push(frame);
            }
        }
    }

    fn reopen_define(&mut self) {
        if let Some((frame, at)) = self.closed_define.take() {
            self.stray(at, "this closes the whole definition, but the definition goes on");
            self.open.push(frame);
        }
    }

    /// `(clear a` followed by `(` on a later line: arguments of an atom are never lists, so its parenthesis is lost.
    fn close_broken_atoms(&mut self, pos: usize) {
        while let [.., parent, frame] = self.open.as_slice() {
            let broken = frame.head == Head::Plain
                && (frame.has_args || parent.head == Head::Init)
                && !self.last_is_dash
                && self.text.as_bytes()[self.last_end as usize..pos].contains(&b'\n');
            if !broken {
                return;
            }
            self.close_down_to(self.open.len() - 1);
        }
    }

    fn close_down_to(&mut self, depth: usize) {
        let lost = self.open.len() - depth;
        if lost == 0 {
            return;
        }
        let outermost = self.nodes[self.open[depth].node as usize].start;
        while self.open.len() > depth {
            if let Some(frame) = self.open.pop() {
                self.end_list(frame, self.last_end);
            }
        }
        self.report_lost(lost, outermost, "lost-parenthesis");
    }

    fn finish(&mut self) {
        let lost = self.open.len();
        if lost == 0 {
            return;
        }
        let outermost = self.nodes[self.open[0].node as usize].start;
        while let Some(frame) = self.open.pop() {
            self.end_list(frame, self.last_end);
        }
        self.report_lost(lost, outermost, "unclosed");
    }

    fn report_lost(&mut self, lost: usize, opened: u32, what: &str) {
        if self.sink.is_full() {
            return;
        }
        let source = self.sink.source;
        let (noun, verb) = if lost == 1 { ("parenthesis", "is") } else { ("parentheses", "are") };
        let (code, message) = if what == "unclosed" {
            ("pddl.unclosed", format!("{lost} closing {noun} {verb} missing at the end"))
        } else {
            ("pddl.lost-parenthesis", format!("{lost} closing {noun} {verb} missing before this point"))
        };
        let last = self.text[..self.last_end as usize].chars().next_back().map_or(0, char::len_utf8);
        let place = Span::new(self.last_end - last as u32, self.last_end);
        let title = format!("add {lost} closing {noun}");
        let edit = Edit { source, span: Span::empty(self.last_end), replacement: ")".repeat(lost) };
        self.sink.push(
            Diagnostic::error(code, message)
                .at(source, place, format!("expected {} after this", ")".repeat(lost.min(8))))
                .also(source, Span::new(opened, opened + 1), "this list is never closed")
                .fix(title, vec![edit]),
        );
    }

    fn stray(&mut self, at: u32, why: &str) {
        if self.sink.is_full() {
            return;
        }
        let source = self.sink.source;
        let span = Span::new(at, at + 1);
        // Taken away between two words, it would make one of them.
        let bytes = self.text.as_bytes();
        let (before, after) = (bytes[..at as usize].last(), bytes.get(at as usize + 1));
        let parts = |b: Option<&u8>| b.is_none_or(|b| b.is_ascii_whitespace() || b"();".contains(b));
        let replacement = if parts(before) || parts(after) { String::new() } else { " ".to_owned() };
        self.sink.push(
            Diagnostic::error("pddl.stray-parenthesis", "this closing parenthesis is one too many")
                .at(source, span, why)
                .fix("remove the parenthesis", vec![Edit { source, span, replacement }]),
        );
    }
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n + 1)
}

/// End of the atom that begins at `from`; `from` itself if no atom does.
fn atom_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut pos = from;
    while let Some(&byte) = bytes.get(pos) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c | b'(' | b')' | b';' => break,
            0..=0x7f => pos += 1,
            _ => match text[pos..].chars().next() {
                Some(c) if !c.is_whitespace() => pos += c.len_utf8(),
                _ => break,
            },
        }
    }
    pos
}

/// The next `?` in that range.
fn find_variable(bytes: &[u8], from: usize, to: usize) -> Option<usize> {
    bytes[from..to].iter().position(|b| *b == b'?').map(|n| from + n)
}

/// Returns the kind of a list from its head.
fn classify_head(word: &str) -> Head {
    if word.eq_ignore_ascii_case("define") {
        Head::Define
    } else if word.starts_with(':') {
        if is_one_of(word, &[":action", ":durative-action", ":axiom"]) {
            Head::ActionLike
        } else if word.eq_ignore_ascii_case(":init") {
            Head::Init
        } else {
            Head::Other
        }
    } else if word.starts_with(|c: char| c.is_alphabetic()) && !heads_lists(word) {
        Head::Plain
    } else {
        Head::Other
    }
}

/// Returns true if `words` contains the word, in any case.
fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|w| w.eq_ignore_ascii_case(word))
}

/// Sections a domain may have.
pub(crate) const DOMAIN_SECTIONS: &[&str] = &[
    ":requirements",
    ":types",
    ":constants",
    ":predicates",
    ":functions",
    ":action",
    ":durative-action",
    ":derived",
    ":axiom",
    ":constraints",
];

/// Sections a problem may have.
pub(crate) const PROBLEM_SECTIONS: &[&str] = &[
    ":domain",
    ":requirements",
    ":objects",
    ":init",
    ":goal",
    ":constraints",
    ":metric",
    ":situation",
    ":length",
];

/// Keywords of the fields of an action or axiom.
pub(crate) const FIELDS: &[&str] =
    &[":parameters", ":vars", ":precondition", ":effect", ":duration", ":condition", ":context", ":implies"];

/// Words that head a list of their kind in a condition, an effect or the initial state, and so are not
/// predicates.
pub(crate) const OPERATORS: &[&str] = &[
    "and",
    "or",
    "not",
    "imply",
    "implies",
    "exists",
    "forall",
    "when",
    "oneof",
    "preference",
    "at",
    "over",
    "always",
    "sometime",
    "within",
    "at-most-once",
    "sometime-after",
    "sometime-before",
    "always-within",
    "hold-during",
    "hold-after",
    "increase",
    "decrease",
    "assign",
    "scale-up",
    "scale-down",
];

/// Further words that may head a list which has lists among its arguments.
const OTHER_HEADS: &[&str] = &[
    "=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "either",
    "is-violated",
    "probabilistic",
    "unknown",
    "minimize",
    "maximize",
];

fn heads_lists(word: &str) -> bool {
    is_one_of(word, OPERATORS) || is_one_of(word, OTHER_HEADS)
}

pub(crate) fn is_section_keyword(word: &str) -> bool {
    is_one_of(word, DOMAIN_SECTIONS) || is_one_of(word, PROBLEM_SECTIONS)
}

fn is_field_keyword(word: &str) -> bool {
    is_one_of(word, FIELDS)
}
