//! Every model table of the how-to page about providers is accepted by `planforge check`.

use super::support::{Ran, pipeline, planforge, root};
use std::path::Path;

const PAGE: &str = "docs/how-to/swap-a-provider.md";

/// The indented blocks of a page that begin with the header of a model table.
fn tables(page: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in page.lines() {
        match (line.strip_prefix("    "), blocks.last_mut()) {
            (Some(code), Some(block)) => *block += &format!("{code}\n"),
            _ => blocks.push(String::new()),
        }
    }
    blocks.retain(|block| ["[llm.main]", "[models."].iter().any(|header| block.starts_with(header)));
    blocks
}

/// `planforge check` of a file whose `[llm.main]` is that block, or whose model is that table of the user's.
fn check(folder: &Path, block: &str) -> Ran {
    let mut command = planforge();
    command.arg("check").env("XDG_CONFIG_HOME", folder);
    if let Some((name, _)) = block.strip_prefix("[models.").and_then(|rest| rest.split_once(']')) {
        std::fs::create_dir_all(folder.join("planforge")).unwrap();
        std::fs::write(folder.join("planforge/config.toml"), block).unwrap();
        command.arg(pipeline("llm-p.toml")).arg("--model").arg(name);
    } else {
        let text = std::fs::read_to_string(pipeline("llm-p.toml")).unwrap();
        let (before, rest) = text.split_once("[llm.main]\n").unwrap();
        let (_, after) = rest.split_once("\n[").unwrap();
        let file = folder.join("page.toml");
        std::fs::write(&file, format!("{before}{block}\n[{after}")).unwrap();
        command.arg(file);
    }
    Ran::wait(command.spawn().unwrap())
}

#[test]
fn every_model_table_of_the_page_about_providers_is_without_mistakes() {
    let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let tables = tables(&page);
    for block in &tables {
        let folder = tempfile::tempdir().unwrap();
        let ran = check(folder.path(), block);
        assert_eq!(ran.exit, 0, "{block}\n{}", ran.stderr);
        let wrong = |line: &str| line.starts_with("error") || line.starts_with("warning");
        assert!(!ran.stderr.lines().any(wrong), "{block}\n{}", ran.stderr);
    }
    assert!(tables.len() >= 13, "{}", tables.len());
    assert!(page.to_lowercase().contains("not tried"), "{PAGE} says what was not tried");
}
