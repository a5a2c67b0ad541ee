//! Links of the documents: each leads to a file and a heading that exist, and docs/ is a complete book.

use crate::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Files below `folder` whose name ends in one of `endings`. Build folders and recordings are left out.
fn files(folder: &Path, endings: &[&str], out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "recordings", "book", "node_modules"].contains(&name.as_str())
                && !name.starts_with('.')
            {
                files(&path, endings, out);
            }
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            out.push(path);
        }
    }
}

fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    for folder in ["docs", "examples", "plugins", "crates", "tests"] {
        files(&root().join(folder), &[".md"], &mut found);
    }
    found
}

/// The lines of a document that are not code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return false;
        }
        !fenced && !line.starts_with("    ")
    })
}

/// Targets of the inline links of a document.
fn links(text: &str) -> Vec<String> {
    prose(text)
        .flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split_once(')')))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// The anchors that GitHub and mdBook give to the headings of a document.
fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            line.trim_start_matches('#')
                .trim()
                .chars()
                .filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-' || *c == '_')
                .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
                .collect()
        })
        .collect()
}

/// The path without `.` and `..`, for links to files that may not exist.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

#[test]
fn every_link_of_a_document_leads_to_a_file_and_a_heading_that_exist() {
    let book = root().join("docs");
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                document.clone()
            } else {
                normal(&document.parent().unwrap().join(file))
            };
            let name = document.strip_prefix(root()).unwrap().display();
            if !target.exists() {
                broken.push(format!("{name}: `{link}` does not exist"));
            } else if document.starts_with(&book) && !target.starts_with(&book) {
                broken.push(format!("{name}: `{link}` is outside docs/, so the book would not have it"));
            } else if !anchor.is_empty()
                && !anchors(&fs::read_to_string(&target).unwrap_or_default()).contains(anchor)
            {
                broken.push(format!("{name}: `{link}` has no such heading"));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn the_summary_lists_every_page_of_the_book_once() {
    let book = root().join("docs");
    let listed: Vec<PathBuf> = links(&fs::read_to_string(book.join("SUMMARY.md")).unwrap())
        .iter()
        .map(|link| normal(&book.join(link)))
        .collect();
    let mut pages = Vec::new();
    files(&book, &[".md"], &mut pages);
    pages.retain(|page| !page.ends_with("SUMMARY.md"));
    for page in &pages {
        let times = listed.iter().filter(|entry| *entry == page).count();
        assert_eq!(times, 1, "docs/SUMMARY.md lists {} {times} times", page.display());
    }
    assert_eq!(listed.len(), pages.len(), "docs/SUMMARY.md lists pages that do not exist");
}

#[test]
fn pages_that_sources_and_configurations_name_exist() {
    let mut sources = Vec::new();
    for folder in ["crates", "plugins", "configs", "examples", "tests"] {
        files(&root().join(folder), &[".rs", ".toml", ".py", ".txt"], &mut sources);
    }
    let mut missing = Vec::new();
    for source in sources {
        let Ok(text) = fs::read_to_string(&source) else { continue };
        for rest in text.split("docs/").skip(1) {
            let name: String =
                rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_/.".contains(*c)).collect();
            let Some(page) = name.split_inclusive(".md").next().filter(|page| page.ends_with(".md")) else {
                continue;
            };
            if !root().join("docs").join(page).exists() {
                missing.push(format!("{}: docs/{page}", source.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(missing.is_empty(), "pages that do not exist:\n{}", missing.join("\n"));
}
