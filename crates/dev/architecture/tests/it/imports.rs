//! The graphs of a crate's files and modules: an edge where one names an item of another.

use crate::source::{code_only, is_name};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type ModulePath = Vec<String>;

/// A file of the crate and the names that it has.
struct Module {
    file: PathBuf,
    /// Items that the file defines.
    items: BTreeSet<String>,
    /// Names that it imports or exports again, with their full paths.
    names: BTreeMap<String, ModulePath>,
    /// Modules whose names it imports as a whole.
    globs: Vec<ModulePath>,
    /// Every path that the file names.
    references: Vec<ModulePath>,
    /// Every word of the file.
    words: BTreeSet<String>,
}

/// Groups of files of the crate in `src` that import each other in a circle, each sorted by name.
///
/// The crate is read as text: `use` declarations and paths, with exports followed to the file that defines the item. A module may use what
/// its parents define. Tests do not count.
///
/// # Errors
/// A file or folder that cannot be read.
pub(crate) fn circles(src: &Path) -> std::io::Result<Vec<Vec<PathBuf>>> {
    let modules = read_modules(src)?;
    let mut edges: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    for (place, module) in &modules {
        let ancestors: Vec<&Path> =
            (0..=place.len()).filter_map(|n| Some(modules.get(&place[..n])?.file.as_path())).collect();
        for path in &module.references {
            let target = resolve(&modules, path, 0);
            if let Some(target) = target.filter(|file| !ancestors.contains(file)) {
                edges.entry(&module.file).or_default().insert(target);
            }
        }
    }
    let circles = components(&edges);
    Ok(circles.into_iter().map(|circle| circle.into_iter().map(Path::to_path_buf).collect()).collect())
}

/// Modules of one folder that import each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ModuleCircle {
    /// The module that they are in, such as `crate::reader`.
    pub(crate) parent: String,
    /// Their names in it, sorted.
    pub(crate) modules: Vec<String>,
}

/// Groups of modules of the crate in `src` that import each other in a circle.
///
/// A module is a file together with its folder, so that what its parts import counts for the whole. Modules are compared with those beside
/// them: the top-level modules of the crate, and those of each folder. A path names the first module on its way that is not around the
/// importing file: `crate::a::Thing` is an import of `a` even where `a` exports it from elsewhere, and `super::Thing` is an import of the
/// module beside the file that the parent exports it from. A module may use what its parents define. Tests do not count.
///
/// # Errors
/// A file or folder that cannot be read.
pub(crate) fn module_circles(src: &Path) -> std::io::Result<Vec<ModuleCircle>> {
    let modules = read_modules(src)?;
    let mut levels: BTreeMap<&[String], BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for (place, module) in &modules {
        for path in module.references.iter().cloned().chain(names_through_globs(&modules, module)) {
            let Some(target) = named_module(&modules, place, &path, 0) else { continue };
            let shared = place.iter().zip(target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (place.get(shared), target.get(shared)) {
                levels.entry(&place[..shared]).or_default().entry(from).or_default().insert(to);
            }
        }
    }
    let of_level = |(parent, edges): (&[String], &BTreeMap<&str, BTreeSet<&str>>)| -> Vec<ModuleCircle> {
        let parent =
            std::iter::once("crate").chain(parent.iter().map(String::as_str)).collect::<Vec<_>>().join("::");
        let circle = |names: Vec<&str>| ModuleCircle {
            parent: parent.clone(),
            modules: names.into_iter().map(str::to_owned).collect(),
        };
        components(edges).into_iter().map(circle).collect()
    };
    Ok(levels.iter().flat_map(|(parent, edges)| of_level((parent, edges))).collect())
}

/// Paths that a file names without a prefix, after `use MODULE::*`.
fn names_through_globs(modules: &BTreeMap<ModulePath, Module>, module: &Module) -> Vec<ModulePath> {
    let mut paths = module.globs.clone();
    for place in &module.globs {
        let Some(glob) = modules.get(place) else { continue };
        // Lower-case words may be variables.
        let is_named = |name: &&String| name.starts_with(char::is_uppercase) && module.words.contains(*name);
        let named = glob.names.iter().filter(|(name, _)| is_named(name));
        paths.extend(named.map(|(_, path)| absolute_in(place, path)));
    }
    paths
}

/// The module that a path names for a file at `place`: exports of the modules around the file are followed.
fn named_module<'m>(
    modules: &'m BTreeMap<ModulePath, Module>,
    place: &[String],
    path: &[String],
    depth: usize,
) -> Option<&'m [String]> {
    if depth > 16 || path.first().is_some_and(|first| first.starts_with('?')) {
        return None;
    }
    let length = (0..=path.len()).rev().find(|n| modules.contains_key(&path[..*n]))?;
    let (found, module) = modules.get_key_value(&path[..length])?;
    if !place.starts_with(found) {
        return Some(found);
    }
    let name = path.get(length)?;
    if module.items.contains(name) {
        return None;
    }
    let follow = |target: ModulePath| {
        (target != path).then(|| named_module(modules, place, &target, depth + 1)).flatten()
    };
    if let Some(target) = module.names.get(name) {
        return follow(absolute_in(&path[..length], target));
    }
    module.globs.iter().find_map(|glob| {
        let mut target = glob.clone();
        target.push(name.clone());
        let defines = |module: &Module| module.items.contains(name) || module.names.contains_key(name);
        modules.get(glob).is_some_and(defines).then(|| follow(target)).flatten()
    })
}

/// The path that a name of the module at `place` stands for; a marked one begins with a name of that module.
fn absolute_in(place: &[String], target: &[String]) -> ModulePath {
    match target.split_first() {
        Some((first, rest)) if first.starts_with('?') => {
            let mut full = place.to_vec();
            full.push(first.trim_start_matches('?').to_owned());
            full.extend(rest.iter().cloned());
            full
        }
        _ => target.to_vec(),
    }
}

fn read_modules(src: &Path) -> std::io::Result<BTreeMap<ModulePath, Module>> {
    let mut modules = BTreeMap::new();
    let mut folders = vec![(src.to_owned(), Vec::new())];
    while let Some((folder, path)) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let file = entry?.path();
            let Some(name) = file.file_stem().and_then(|n| n.to_str()).map(str::to_owned) else { continue };
            if name == "tests" || name == "bin" {
                continue;
            }
            let mut inner: ModulePath = path.clone();
            if file.is_dir() {
                inner.push(name);
                folders.push((file, inner));
            } else if file.extension().is_some_and(|e| e == "rs") {
                if !["mod", "lib", "main"].contains(&name.as_str()) {
                    inner.push(name);
                }
                let text = fs::read_to_string(&file)?;
                modules.insert(inner.clone(), module(file, &inner, &code_only(&text)));
            }
        }
    }
    let paths: BTreeSet<ModulePath> = modules.keys().cloned().collect();
    for (path, module) in &mut modules {
        // A child module is a name of its parent.
        for child in paths.iter().filter(|child| child.len() == path.len() + 1 && child.starts_with(path)) {
            if let Some(name) = child.last() {
                module.names.insert(name.clone(), child.clone());
            }
        }
        // Paths that begin with a name of the module instead of `crate`, `self` or `super`.
        let local: Vec<ModulePath> = module
            .references
            .iter()
            .filter_map(|reference| match reference.split_first() {
                Some((first, rest)) if first.starts_with('?') => {
                    let known = module.names.get(first.trim_start_matches('?'))?;
                    Some(known.iter().chain(rest).cloned().collect())
                }
                _ => None,
            })
            .collect();
        module.references.retain(|reference| reference.first().is_none_or(|first| !first.starts_with('?')));
        module.references.extend(local);
    }
    Ok(modules)
}

fn module(file: PathBuf, path: &[String], code: &str) -> Module {
    let mut module = Module {
        file,
        items: BTreeSet::new(),
        names: BTreeMap::new(),
        globs: Vec::new(),
        references: Vec::new(),
        words: BTreeSet::new(),
    };
    let tokens = tokens(code);
    module.words.extend(tokens.iter().filter(|token| token.starts_with(is_name)).cloned());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "use" => {
                let end = tokens[at..].iter().position(|t| t == ";").map_or(tokens.len(), |n| at + n);
                import(&mut module, path, &[], &tokens[at + 1..end]);
                at = end;
            }
            "struct" | "enum" | "trait" | "type" | "fn" | "const" | "static" | "union" | "mod"
            | "macro_rules" => {
                let name = tokens[at + 1..].iter().find(|t| t.starts_with(is_name)).cloned();
                module.items.extend(name.filter(|_| token != "mod"));
                at += 1;
            }
            _ if token.starts_with(is_name) && tokens.get(at + 1).is_some_and(|t| t == "::") => {
                let mut segments = vec![token.clone()];
                while tokens.get(at + 1).is_some_and(|t| t == "::")
                    && tokens.get(at + 2).is_some_and(|t| t.starts_with(is_name))
                {
                    segments.push(tokens[at + 2].clone());
                    at += 2;
                }
                module.references.push(absolute(path, &segments));
                at += 1;
            }
            _ => at += 1,
        }
    }
    module
}

/// Adds the names of a `use` tree: `a::b`, `a::{b, c as d}`, `a::*`.
fn import(module: &mut Module, path: &[String], prefix: &[String], tree: &[String]) {
    let mut segments = prefix.to_vec();
    let mut at = 0;
    while let Some(token) = tree.get(at) {
        match token.as_str() {
            "{" => {
                let mut depth = 0;
                let mut start = at + 1;
                for (n, token) in tree.iter().enumerate().skip(at) {
                    match token.as_str() {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        _ => {}
                    }
                    if (token == "," && depth == 1) || (token == "}" && depth == 0) {
                        import(module, path, &segments, &tree[start..n]);
                        start = n + 1;
                    }
                }
                return;
            }
            "*" => {
                module.globs.push(absolute(path, &segments));
                return;
            }
            "as" => break,
            "::" => {}
            name => segments.push(name.to_owned()),
        }
        at += 1;
    }
    if segments.len() == prefix.len() && tree.is_empty() {
        return;
    }
    let alias = tree.get(at + 1).filter(|_| tree.get(at).is_some_and(|t| t == "as"));
    if segments.last().is_some_and(|s| s == "self") {
        segments.pop();
    }
    let full = absolute(path, &segments);
    if let Some(name) = alias.or(segments.last()) {
        module.names.insert(name.clone(), full.clone());
    }
    module.references.push(full);
}

/// A path from the crate's root; one that starts with any other name is marked by `?`.
fn absolute(path: &[String], segments: &[String]) -> ModulePath {
    let mut base = path.to_vec();
    let mut rest = segments.iter().peekable();
    match rest.peek().map(|s| s.as_str()) {
        Some("crate") => {
            rest.next();
            base.clear();
        }
        Some("self") => {
            rest.next();
        }
        Some("super") => {
            while rest.next_if(|s| *s == "super").is_some() {
                base.pop();
            }
        }
        Some(first) => {
            let mut marked = vec![format!("?{first}")];
            marked.extend(rest.skip(1).cloned());
            return marked;
        }
        None => {}
    }
    base.extend(rest.cloned());
    base
}

/// The file that defines the item at a path.
fn resolve<'m>(modules: &'m BTreeMap<ModulePath, Module>, path: &[String], depth: usize) -> Option<&'m Path> {
    if depth > 16 || path.first().is_some_and(|first| first.starts_with('?')) {
        return None;
    }
    let length = (0..=path.len()).rev().find(|n| modules.contains_key(&path[..*n]))?;
    let module = modules.get(&path[..length])?;
    let Some(name) = path.get(length) else { return Some(&module.file) };
    if module.items.contains(name) {
        return Some(&module.file);
    }
    if let Some(target) = module.names.get(name) {
        let target = absolute_in(&path[..length], target);
        return (target != path).then(|| resolve(modules, &target, depth + 1)).flatten();
    }
    let through = |glob: &ModulePath| {
        let mut full = glob.clone();
        full.push(name.clone());
        (full != path).then(|| resolve(modules, &full, depth + 1)).flatten()
    };
    module.globs.iter().find_map(through)
}

fn tokens(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = code.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        if is_name(c) {
            let mut end = start + c.len_utf8();
            while let Some((at, c)) = chars.next_if(|(_, c)| is_name(*c)) {
                end = at + c.len_utf8();
            }
            tokens.push(code[start..end].to_owned());
        } else if c == ':' && chars.next_if(|(_, c)| *c == ':').is_some() {
            tokens.push("::".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

/// The strongly connected components of more than one node.
fn components<'n, N: Ord + ?Sized>(edges: &BTreeMap<&'n N, BTreeSet<&'n N>>) -> Vec<Vec<&'n N>> {
    let reachable = |from: &N| {
        let mut seen: BTreeSet<&'n N> = BTreeSet::new();
        let mut open: Vec<&'n N> = edges.get(from).into_iter().flatten().copied().collect();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(edges.get(file).into_iter().flatten().copied());
            }
        }
        seen
    };
    let reach: BTreeMap<&'n N, BTreeSet<&'n N>> = edges.keys().map(|file| (*file, reachable(file))).collect();
    let mut found: BTreeSet<Vec<&'n N>> = BTreeSet::new();
    for (file, to) in &reach {
        if to.contains(file) {
            let group = to.iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(file)));
            found.insert(group.copied().collect());
        }
    }
    found.into_iter().filter(|group| group.len() > 1).collect()
}
