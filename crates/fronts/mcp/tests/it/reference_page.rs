//! The page of the tools agrees with their descriptions.

#[test]
fn the_reference_page_agrees_with_the_tools() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/mcp-tools.md");
    let page = planforge_mcp::reference_page();
    #[allow(clippy::disallowed_methods, reason = "an environment variable makes the test write")]
    if std::env::var_os("UPDATE_PAGES").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/mcp-tools.md is stale: run `UPDATE_PAGES=1 cargo test -p planforge-mcp reference_page`"
    );
}
