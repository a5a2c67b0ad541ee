//! Every model table of the how-to pages about providers is accepted by `planforge check`.

use super::support::{Ran, pipeline, planforge, root};
use std::path::Path;

const PAGES: [&str; 6] = [
    "swap-a-provider.md",
    "provider-openai.md",
    "provider-anthropic.md",
    "provider-gemini.md",
    "compatible-servers.md",
    "reasoning-models.md",
];

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
fn every_model_table_of_the_pages_about_providers_is_without_mistakes() {
    let mut count = 0;
    for name in PAGES {
        let page = std::fs::read_to_string(root().join("docs/how-to").join(name)).unwrap();
        for block in tables(&page) {
            let folder = tempfile::tempdir().unwrap();
            let ran = check(folder.path(), &block);
            assert_eq!(ran.exit, 0, "{name}:\n{block}\n{}", ran.stderr);
            let wrong = |line: &str| line.starts_with("error") || line.starts_with("warning");
            assert!(!ran.stderr.lines().any(wrong), "{name}:\n{block}\n{}", ran.stderr);
            count += 1;
        }
    }
    assert!(count >= 18, "{count}");
    for name in &PAGES[1..5] {
        let page = std::fs::read_to_string(root().join("docs/how-to").join(name)).unwrap();
        assert!(page.to_lowercase().contains("not tried"), "{name} says what was not tried");
    }
}
