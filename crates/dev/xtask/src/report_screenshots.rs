//! Checks a report in a headless browser: screenshots of its pages at two widths, light and dark, and an
//! error for every page that is too wide, every message of the browser, every foreign script, and every
//! violation that axe-core finds.

use crate::browser::{Browser, BrowserPrograms};
use crate::paths::absolute;
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(clap::Args)]
pub(crate) struct ReportScreenshotsArgs {
    report: PathBuf,
    /// Folder for the screenshots.
    #[arg(long, default_value = "target/report-screenshots")]
    out: PathBuf,
    /// Further pages: fragments of links, such as `#/suite/pipeline/1/suite.p01`.
    #[arg(long)]
    link: Vec<String>,
    /// The file `axe.min.js` of the npm package axe-core, which checks that everyone can use the pages.
    #[arg(long)]
    axe: Option<PathBuf>,
    #[command(flatten)]
    programs: BrowserPrograms,
}

/// Goes to a page and waits until it is drawn and nothing of it is being unpacked.
const GO: &str = "location.hash = arguments[0];
    const calm = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)));
    let last = -1;
    for (let i = 0; i < 100; i++) {
      await calm();
      const now = document.getElementById('main').innerHTML.length;
      if (now === last) break;
      last = now;
    }";

/// Finds pages to check by following links of tables, tabs, and lines of lists.
const FIND: &str = "
    const calm = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 150)));
    const found = {overview: '#/', search: '#search=define'};
    const go = async (hash) => { location.hash = hash; await calm(); await calm(); };
    const first = (selector) => [...document.querySelectorAll(selector)].map((a) => a.getAttribute('href'))[0];
    await go('#/');
    const cell = first('a.cell');
    if (cell) { found.run = cell; await go(cell); }
    const tasks = [...document.querySelectorAll('main table a')].map((a) => a.getAttribute('href'));
    if (tasks.length) {
      found.task = tasks[0];
      await go(tasks[0]);
      for (const tab of document.querySelectorAll('.tabs a')) found[tab.textContent.split(' ')[0].toLowerCase()] = tab.getAttribute('href');
      for (const [name, tab] of [['candidate', found.candidates], ['call', found.calls]]) {
        if (!tab) continue;
        await go(tab);
        const line = document.querySelector('.line .is-answer, .line .is-kept, .line .badge')?.closest('.line') || document.querySelector('.line');
        if (line) { line.click(); await calm(); found[name] = location.hash; }
      }
    }
    return found;";

/// Checks the current page.
const CHECK: &str = "
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    const scripts = document.querySelectorAll('script:not([type])').length;
    const words = document.getElementById('main').innerText;
    const broken = words.includes('This part of the report cannot be read') || words.includes('This page cannot be shown');
    return {wide, scripts, broken, pwned: window.pwned !== undefined, words: words.length};";

/// Violations of the current page, each with the first places.
const AXE: &str = "
    const found = await axe.run(document, {resultTypes: ['violations']});
    return found.violations.map((v) => `axe-core: ${v.impact}: ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(' ')).join(', ')}`);";

/// Takes and checks the screenshots.
pub(crate) fn run(args: &ReportScreenshotsArgs) -> Result<(), String> {
    let report = absolute(&args.report)?;
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    let browser = Browser::start(&args.programs)?;
    browser.look(1200, 900, false)?;
    browser.open(&format!("file://{}", report.display()))?;
    let found = browser.run(&format!("return (async () => {{{FIND}}})()"), &[])?;
    if let Some(axe) = &args.axe {
        let script = std::fs::read_to_string(axe).map_err(|e| format!("{}: {e}", axe.display()))?;
        browser.run(&script, &[])?;
    }
    let mut pages: Vec<(String, String)> = found
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(name, link)| Some((name.clone(), link.as_str()?.to_owned())))
        .collect();
    pages.extend(args.link.iter().enumerate().map(|(i, link)| (format!("link-{}", i + 1), link.clone())));
    let mut wrong = Vec::new();
    println!("| page | 1200 light | 1200 dark | 400 light | 400 dark | link |\n|---|---|---|---|---|---|");
    for (name, link) in &pages {
        let mut line = String::new();
        for (width, height) in [(1200, 900), (400, 860)] {
            for dark in [false, true] {
                browser.look(width, height, dark)?;
                browser.run(&format!("return (async () => {{{GO}}})()"), &[json!(link)])?;
                let file = format!("{name}-{width}-{}.png", if dark { "dark" } else { "light" });
                browser.screenshot(&args.out.join(&file))?;
                let mut complaints = complaints(&browser)?;
                if args.axe.is_some() {
                    let violations = browser.run(&format!("return (async () => {{{AXE}}})()"), &[])?;
                    complaints.extend(violations.as_array().into_iter().flatten().map(Value::to_string));
                }
                line.push_str(if complaints.is_empty() { " good |" } else { " BAD |" });
                wrong.extend(complaints.into_iter().map(|what| format!("{file}: {what}")));
            }
        }
        println!("| {name} |{line} `{link}` |");
    }
    println!("\nthe pictures are in {}", args.out.display());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn complaints(browser: &Browser) -> Result<Vec<String>, String> {
    let found = browser.run(CHECK, &[])?;
    let mut wrong = browser.complaints()?;
    let number = |key: &str| found[key].as_i64().unwrap_or(-1);
    if number("wide") > 0 {
        wrong.push(format!("the page is {} pixels wider than the window", number("wide")));
    }
    if number("scripts") != 1 || found["pwned"] != Value::Bool(false) {
        wrong.push(format!("a script that is not the report's own: {found}"));
    }
    if found["broken"] != Value::Bool(false) {
        wrong.push("a part of the page could not be drawn".to_owned());
    }
    if number("words") < 40 {
        wrong.push("the page is empty".to_owned());
    }
    Ok(wrong)
}
