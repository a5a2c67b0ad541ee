//! Rendering a generator: the functions it may call, and its limits. Wordings of tasks are rendered by the same engine.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value, context};
use planforge_pddl::random::Random;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::collections::btree_map::{BTreeMap, Entry};
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Most template instructions of one rendering.
const FUEL: u64 = 2_000_000;
/// Largest rendering, in bytes.
const MAX_OUTPUT: usize = 1 << 20;
/// Most items of one list that a function makes or takes.
const MAX_ITEMS: usize = 10_000;
/// Numbers that texts have as words, from 0.
pub(crate) const NUMBER_WORDS: [&str; 13] =
    ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

const PROBLEM: &str = "%% problem";
const TEXT: &str = "%% text";
const PLAN: &str = "%% plan";

/// The parts of a rendering.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rendered {
    pub(super) problem: String,
    pub(super) text: String,
    /// A plan that the template gives; without one, a plan is searched for.
    pub(super) plan: Option<String>,
}

/// The reason why a rendering failed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum NoRendering {
    /// The template requested the next draw, for this reason.
    Redraw(String),
    /// The template is wrong: the message, and the line where it is known.
    Wrong { message: String, line: Option<usize> },
}

impl NoRendering {
    /// A mistake without a line.
    pub(crate) fn wrong(message: String) -> Self {
        Self::Wrong { message, line: None }
    }
}

type Shared = Arc<Mutex<Random>>;

/// Renders a generator with one stream of random choices.
pub(crate) fn render(
    source: &str,
    index: u32,
    size: u32,
    name: &str,
    random: Random,
) -> Result<Rendered, NoRendering> {
    split(&print(source, context! { index, size, name }, random, |_| {})?)
}

/// Renders a template with one stream of random choices, the common functions, and those that `extend` adds.
pub(crate) fn print(
    source: &str,
    variables: Value,
    random: Random,
    extend: impl FnOnce(&mut Environment<'static>),
) -> Result<String, NoRendering> {
    let redraw = Arc::new(Mutex::new(None));
    let mut environment = environment(&Arc::new(Mutex::new(random)), &redraw);
    extend(&mut environment);
    // `# for x in xs` on a line of its own reads better than blocks, and PDDL has no number signs.
    let syntax = SyntaxConfig::builder().line_statement_prefix("#").line_comment_prefix("##").build();
    environment.set_syntax(syntax.map_err(|e| NoRendering::wrong(explain(&e)))?);
    let wrong = |error: &Error| {
        let taken = redraw.lock().unwrap_or_else(PoisonError::into_inner).take();
        match taken {
            Some(why) => NoRendering::Redraw(why),
            None => NoRendering::Wrong { message: explain(error), line: error.line() },
        }
    };
    let template = environment.template_from_str(source).map_err(|e| wrong(&e))?;
    let mut out = Bounded(Vec::new());
    // What is captured beside the output, the template's last state, is of no use here.
    drop(template.render_captured_to(variables, &mut out).map_err(|e| wrong(&e))?);
    Ok(String::from_utf8_lossy(&out.0).into_owned())
}

/// Lines without blanks at their ends, runs of blanks as one, no empty lines.
pub(crate) fn tidy_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !words.is_empty() {
            text += &words.join(" ");
            text.push('\n');
        }
    }
    text
}

/// The error with what caused it; the chain ends where the engine's own error does.
fn explain(error: &Error) -> String {
    if error.kind() == ErrorKind::OutOfFuel {
        return format!("the template ran for more than {FUEL} steps");
    }
    let mut message = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        message.push_str(&format!(": {next}"));
        cause = next.source();
    }
    message
}

/// A writer that refuses to grow without end.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + part.len() > MAX_OUTPUT {
            return Err(std::io::Error::other(format!("the template prints more than {MAX_OUTPUT} bytes")));
        }
        self.0.extend_from_slice(part);
        Ok(part.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn environment(random: &Shared, redraw: &Arc<Mutex<Option<String>>>) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    let reason = Arc::clone(redraw);
    environment.add_function("redraw", move |why: String| -> Result<Value, Error> {
        *reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        Err(Error::new(ErrorKind::InvalidOperation, "the draw was given up"))
    });
    environment.add_function("names", names);
    environment.add_function("route", route);
    environment.add_filter("index_of", |items: Vec<Value>, item: Value| {
        items
            .iter()
            .position(|other| *other == item)
            .ok_or_else(|| invalid(format!("{item} is not in the list")))
    });
    environment.add_filter("listed", list_in_words);
    environment.add_filter("word", word);
    add_random(&mut environment, random);
    environment
}

fn add_random(environment: &mut Environment<'static>, random: &Shared) {
    fn with<T>(random: &Shared, draw: impl FnOnce(&mut Random) -> T) -> T {
        draw(&mut random.lock().unwrap_or_else(PoisonError::into_inner))
    }
    let r = Arc::clone(random);
    environment.add_function("integer", move |low: i64, high: i64| -> Result<i64, Error> {
        let span = u64::try_from(i128::from(high) - i128::from(low) + 1).ok().filter(|span| *span > 0);
        let span = span.ok_or_else(|| invalid(format!("the range from {low} to {high} is empty")))?;
        Ok(low.wrapping_add_unsigned(with(&r, |r| r.below(span))))
    });
    let r = Arc::clone(random);
    environment.add_function("chance", move |p: f64| with(&r, |r| r.chance(p)));
    let r = Arc::clone(random);
    environment.add_function("pick", move |items: Vec<Value>| -> Result<Value, Error> {
        with(&r, |r| r.pick(&items).cloned()).ok_or_else(|| invalid("cannot pick from an empty list"))
    });
    let r = Arc::clone(random);
    environment.add_function("sample", move |items: Vec<Value>, k: usize| -> Result<Vec<Value>, Error> {
        let mut items = check_length(items)?;
        if k > items.len() {
            return Err(invalid(format!("{k} items cannot be sampled from {}", items.len())));
        }
        with(&r, |r| r.shuffle_front(&mut items, k));
        items.truncate(k);
        Ok(items)
    });
    let r = Arc::clone(random);
    environment.add_function("shuffle", move |items: Vec<Value>| -> Result<Vec<Value>, Error> {
        let mut items = check_length(items)?;
        with(&r, |r| r.shuffle(&mut items));
        Ok(items)
    });
    let r = Arc::clone(random);
    environment.add_function("tree", move |items: Vec<Value>| with(&r, |r| connect(items, 0, r)));
    let r = Arc::clone(random);
    environment.add_function("connected", move |items: Vec<Value>, extra: usize| {
        with(&r, |r| connect(items, extra, r))
    });
}

pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

fn check_length(items: Vec<Value>) -> Result<Vec<Value>, Error> {
    match items.len() {
        n if n > MAX_ITEMS => Err(invalid(format!("a list of {n} items is longer than {MAX_ITEMS}"))),
        _ => Ok(items),
    }
}

/// A random tree over the items, each joined to an earlier one of a random order, and further pairs without doubles.
fn connect(items: Vec<Value>, extra: usize, random: &mut Random) -> Result<Vec<Vec<Value>>, Error> {
    /// Pairs grow with the square of the items.
    const MAX_NODES: usize = 400;
    if items.len() > MAX_NODES {
        return Err(invalid(format!("{} items are more than {MAX_NODES} to join", items.len())));
    }
    let mut order: Vec<usize> = (0..items.len()).collect();
    random.shuffle(&mut order);
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (at, &node) in order.iter().enumerate().skip(1) {
        if let Some(&earlier) = order.get(..at).and_then(|before| random.pick(before)) {
            pairs.push((earlier.min(node), earlier.max(node)));
        }
    }
    let all = (0..items.len()).flat_map(|a| (a + 1..items.len()).map(move |b| (a, b)));
    let mut others: Vec<(usize, usize)> = all.filter(|pair| !pairs.contains(pair)).collect();
    random.shuffle_front(&mut others, extra);
    pairs.extend(others.into_iter().take(extra));
    pairs.sort_unstable();
    let value = |i: usize| items.get(i).cloned().unwrap_or_default();
    Ok(pairs.into_iter().map(|(a, b)| vec![value(a), value(b)]).collect())
}

/// The nodes of a shortest way from one node to another over two-way pairs, without the first node.
fn route(pairs: Vec<Vec<Value>>, from: Value, to: Value) -> Result<Vec<Value>, Error> {
    let mut neighbours: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for pair in &pairs {
        let [a, b] = pair.as_slice() else { return Err(invalid("`route` takes a list of pairs")) };
        neighbours.entry(a.to_string()).or_default().push(b);
        neighbours.entry(b.to_string()).or_default().push(a);
    }
    // Searched from the end, so that following the entries gives the nodes in the order of the way.
    let mut next: BTreeMap<String, Value> = BTreeMap::from([(to.to_string(), to.clone())]);
    let mut queue = VecDeque::from([to.clone()]);
    while let Some(node) = queue.pop_front() {
        for neighbour in neighbours.get(&node.to_string()).into_iter().flatten() {
            if let Entry::Vacant(entry) = next.entry(neighbour.to_string()) {
                entry.insert(node.clone());
                queue.push_back((*neighbour).clone());
            }
        }
    }
    let (mut way, mut node) = (Vec::new(), from.to_string());
    while node != to.to_string() {
        let step = next.get(&node).ok_or_else(|| invalid(format!("there is no way from {from} to {to}")))?;
        node = step.to_string();
        way.push(step.clone());
    }
    Ok(way)
}

fn names(stem: &str, n: usize) -> Result<Vec<String>, Error> {
    if n > MAX_ITEMS {
        return Err(invalid(format!("{n} names are more than {MAX_ITEMS}")));
    }
    Ok((1..=n).map(|i| format!("{stem}{i}")).collect())
}

/// `a`, `a and b`, `a, b and c`; another word for `and` may be given.
fn list_in_words(items: Vec<Value>, joiner: Option<String>) -> Result<String, Error> {
    let joiner = joiner.as_deref().unwrap_or("and");
    match items.as_slice() {
        [] => Err(invalid("cannot list an empty list in words")),
        [one] => Ok(one.to_string()),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(Value::to_string).collect();
            Ok(format!("{} {joiner} {last}", most.join(", ")))
        }
    }
}

/// A small number as a word.
fn word(n: i64) -> String {
    usize::try_from(n)
        .ok()
        .and_then(|n| NUMBER_WORDS.get(n))
        .map_or_else(|| n.to_string(), |w| (*w).to_owned())
}

/// Takes a rendering apart at its section lines.
fn split(rendering: &str) -> Result<Rendered, NoRendering> {
    let (mut problem, mut text, mut plan) = (None, None, None);
    let mut section: Option<&mut Option<String>> = None;
    for line in rendering.lines() {
        let line = line.trim();
        match line {
            PROBLEM => section = Some(&mut problem),
            TEXT => section = Some(&mut text),
            PLAN => section = Some(&mut plan),
            "" => {}
            _ => match section.as_deref_mut() {
                Some(part) => {
                    part.get_or_insert_with(String::new).push_str(&tidy_lines([line]));
                }
                None => {
                    return Err(NoRendering::wrong(format!(
                        "`{line}` is printed before the line `{PROBLEM}`"
                    )));
                }
            },
        }
    }
    match (problem, text) {
        (Some(problem), Some(text)) => Ok(Rendered { problem, text, plan }),
        (None, _) => Err(NoRendering::wrong(format!("the template prints nothing under a line `{PROBLEM}`"))),
        (_, None) => Err(NoRendering::wrong(format!("the template prints nothing under a line `{TEXT}`"))),
    }
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
