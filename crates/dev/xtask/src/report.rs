//! Measurements and screenshots of reports, in a browser without a window that chromedriver controls over the loopback device.

use crate::programs::{Cost, absolute, run_measured};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub(crate) struct ReportArgs {
    #[arg(long, default_value = "target/release/planforge")]
    planforge: PathBuf,
    /// The suite whose first task is worked on.
    #[arg(long, default_value = "examples/suites/blocks")]
    suite: PathBuf,
    /// Number of candidates, in thousands: a thousand samples, each refined in as many rounds as needed.
    #[arg(long, default_value_t = 10)]
    thousands: u32,
    /// A run that is there already, instead of a new one.
    #[arg(long)]
    run: Option<PathBuf>,
    /// Folder for the run and the report; by default a temporary folder.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Number of times to open the report, each in a new browser. The shortest time of each kind counts.
    #[arg(long, default_value_t = 3)]
    repeat: u32,
    #[command(flatten)]
    programs: BrowserPrograms,
}

pub(crate) fn measure_report(args: &ReportArgs) -> Result<(), String> {
    let temporary = tempfile::tempdir().map_err(|e| e.to_string())?;
    let out = args.out.clone().unwrap_or_else(|| temporary.path().to_owned());
    fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let run = match &args.run {
        Some(run) => run.clone(),
        None => make_run(args, &out)?,
    };
    let report = out.join("report.html");
    let mut command = Command::new(&args.planforge);
    command.arg("report").arg(&run).arg("--out").arg(&report);
    let built = process(command, "planforge report")?;
    let (candidates, calls) = count_contents(&report)?;
    let bytes = fs::metadata(&report).map_err(|e| e.to_string())?.len();
    println!("| candidates | calls | run folder MB | report MB | built in s | processor s | peak MB |");
    println!("|---|---|---|---|---|---|---|");
    println!(
        "| {candidates} | {calls} | {:.0} | {:.1} | {:.1} | {:.1} | {:.0} |\n",
        size(&run) as f64 / 1e6,
        bytes as f64 / 1e6,
        built.wall_ms / 1000.0,
        built.cpu_ms / 1000.0,
        built.peak_kb / 1024.0
    );
    let mut least = vec![f64::INFINITY; SHOWN.len()];
    for _ in 0..args.repeat.max(1) {
        for (least, value) in least.iter_mut().zip(open_report(&args.programs, &report)?) {
            *least = least.min(value);
        }
    }
    println!("| in the browser | |\n|---|---|");
    for (what, value) in SHOWN.iter().zip(least) {
        println!("| {what} | {value:.0} |");
    }
    Ok(())
}

/// A run of the real runner with a simulated model.
fn make_run(args: &ReportArgs, out: &Path) -> Result<PathBuf, String> {
    let suite = absolute(&args.suite)?;
    let rounds = args.thousands.saturating_sub(1).max(1);
    let pipeline = format!(
        "schema = 1\n[given]\ninterface = true\nproblem = true\n[llm.main]\nuse = \"provider-noisy-oracle\"\nmodel = \"simulated\"\n\
         temperature = 0.7\nsuites = [{suite:?}]\nerrors = 2\nerror_count = \"poisson\"\ncharacters_per_token = 4\n\
         price = {{ prompt = 1.0, completion = 4.0 }}\ncritic = {{ finds = 0.6, false_findings = 0.05 }}\n\
         [environment]\nuse = \"environment-pddl\"\n\
         [[stage]]\ndo = \"translate\"\nlabel = \"domain\"\nuse = \"translator-thought\"\nn = 1000\nroles = {{ writer = \"main\" }}\n\
         options = {{ artefact = \"domain\", template = true }}\n\
         [[stage]]\ndo = \"refine\"\nlabel = \"rounds\"\nrounds = {rounds}\nkeep = \"last\"\nstop = \"never\"\n\
         [[stage.round]]\ndo = \"verify\"\nlabel = \"critique\"\nuse = \"verifier-critique\"\nroles = {{ critic = \"main\" }}\n\
         options = {{ of = \"domain\" }}\n\
         [[stage.round]]\ndo = \"translate\"\nlabel = \"update\"\nuse = \"translator-thought\"\nroles = {{ writer = \"main\" }}\n\
         options = {{ mode = \"update\", template = true }}\nfeedback = [\"critique\"]\n\
         [[stage]]\ndo = \"verify\"\nlabel = \"pddl\"\nuse = \"verifier-val\"\noptions = {{ what = \"pddl\" }}\n\
         [[stage]]\ndo = \"select\"\nlabel = \"best\"\nby = \"pddl.errors\"\norder = \"lowest\"\nkeep = 10\n\
         [[stage]]\ndo = \"plan\"\nlabel = \"plan\"\nuse = \"planner-classical\"\noptions = {{ search = \"greedy\" }}\n\
         [[stage]]\ndo = \"verify\"\nlabel = \"environment\"\nuse = \"verifier-val\"\n\
         options = {{ what = \"plan\", against = \"environment\" }}\n"
    );
    let file = out.join("many.toml");
    fs::write(&file, pipeline).map_err(|e| format!("{}: {e}", file.display()))?;
    let runs = out.join("runs");
    let mut command = Command::new(&args.planforge);
    command.arg("run").arg(&file).arg("--task").arg(suite.join("p01")).arg("--runs").arg(&runs);
    command.args(["--jobs", "4"]);
    let ran = process(command, "planforge run")?;
    println!(
        "the run took {:.0} s, {:.0} s of them on a processor\n",
        ran.wall_ms / 1000.0,
        ran.cpu_ms / 1000.0
    );
    let mut made = fs::read_dir(&runs).map_err(|e| e.to_string())?;
    let made = made.next().ok_or("the run left no folder")?.map_err(|e| e.to_string())?;
    Ok(made.path())
}

/// Runs a command to its end.
fn process(mut command: Command, what: &str) -> Result<Cost, String> {
    let (cost, status) = run_measured(&mut command).map_err(|e| format!("{what}: {e}"))?;
    if status.success() { Ok(cost) } else { Err(format!("{what} ended with {status}")) }
}

/// Numbers of candidates and calls in a report.
fn count_contents(report: &Path) -> Result<(u64, u64), String> {
    let html = fs::read_to_string(report).map_err(|e| format!("{}: {e}", report.display()))?;
    let index = html.split_once("id=\"index\">").and_then(|(_, rest)| rest.split_once("</script>"));
    let (index, _) = index.ok_or("the report has no index")?;
    let index: Value = serde_json::from_str(index).map_err(|e| e.to_string())?;
    let cells = index["cells"].as_array().ok_or("the report has no runs")?;
    let sum = |key: &str| cells.iter().filter_map(|cell| cell[key].as_u64()).sum();
    Ok((sum("candidates"), sum("calls")))
}

fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

/// The measured steps, in order.
const SHOWN: [&str; 9] = [
    "first table, ms after the file was opened",
    "whole file read, ms",
    "task with all its candidates, ms after the click",
    "to the middle of the list, ms",
    "filter over all candidates, ms",
    "candidate with its domain, ms after the click",
    "search over all prompts and replies for a word that none has, ms",
    "search for a word that most have, ms",
    "memory of the page, MB",
];

/// Waits frame by frame for an element on the page, and returns the time.
const UNTIL: &str = "const frame = () => new Promise((done) => requestAnimationFrame(done));
    const until = async (go, there) => {
      const began = performance.now();
      go();
      while (!there()) {
        if (performance.now() - began > 60000) throw new Error('not there after a minute');
        await frame();
      }
      return performance.now() - began;
    };";

const MEASURE: &str = "
    await until(() => {}, () => document.querySelector('main table a'));
    const shown = performance.getEntriesByType('mark').find((mark) => mark.name.startsWith('shown'));
    const loaded = performance.getEntriesByType('navigation')[0].loadEventEnd;
    const task = document.querySelector('main table a');
    const opened = await until(() => task.click(), () => document.querySelector('.line'));
    const list = document.querySelector('.list');
    const middle = list.firstElementChild.offsetHeight / 2;
    const at = (line) => Math.abs(parseFloat(line.style.top) - middle) < 200;
    const scrolled = await until(() => { list.scrollTop = middle; }, () => [...document.querySelectorAll('.line')].some(at));
    const filter = document.querySelector('.side input[type=search]');
    const status = document.querySelector('.side [role=status]');
    const filtered = await until(
      () => { filter.value = '999'; filter.dispatchEvent(new Event('input')); },
      () => status.textContent.includes(' of '),
    );
    filter.value = ''; filter.dispatchEvent(new Event('input'));
    await until(() => { list.scrollTop = middle; }, () => [...document.querySelectorAll('.line')].some(at));
    const line = [...document.querySelectorAll('.line')].find(at);
    document.querySelectorAll('.pddl-line').forEach((line) => line.remove());
    const candidate = await until(() => line.click(), () => document.querySelector('.pddl-line'));
    const search = async (word) => {
      performance.clearMeasures('search');
      await until(() => { location.hash = `#search=${word}`; }, () => performance.getEntriesByName('search').length);
      return performance.getEntriesByName('search')[0].duration;
    };
    const rare = await search('no-such-word');
    const often = await search('define');
    return [shown.startTime, loaded, opened, scrolled, filtered, candidate, rare, often, performance.memory.usedJSHeapSize / 1e6];";

fn open_report(programs: &BrowserPrograms, report: &Path) -> Result<Vec<f64>, String> {
    let browser = Browser::start(programs)?;
    browser.look(1200, 900, false)?;
    let report = absolute(report)?;
    browser.open(&format!("file://{}", report.display()))?;
    let measured = browser.run(&format!("return (async () => {{{UNTIL}{MEASURE}}})()"), &[json!(null)])?;
    let complaints = browser.complaints()?;
    if !complaints.is_empty() {
        return Err(complaints.join("\n"));
    }
    let values = measured.as_array().ok_or("the page measured nothing")?;
    Ok(values.iter().map(|value| value.as_f64().unwrap_or(f64::INFINITY)).collect())
}

/// The programs of a browser.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BrowserPrograms {
    #[arg(long, default_value = "chromium")]
    chromium: PathBuf,
    /// The driver of the browser.
    #[arg(long, default_value = "chromedriver")]
    chromedriver: PathBuf,
}

/// A session; the browser ends with it.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser with a temporary profile.
    pub(crate) fn start(programs: &BrowserPrograms) -> Result<Self, String> {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.map_err(|e| e.to_string())?.port();
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let driver = Command::new(&programs.chromedriver)
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", programs.chromedriver.display()))?;
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let began = Instant::now();
        while browser.request("GET", "/status", None).is_err() {
            if began.elapsed() > Duration::from_secs(20) {
                return Err("chromedriver does not answer".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let binary = which(&programs.chromium);
        let profile = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            &profile,
        ];
        let options = json!({"binary": binary, "args": arguments});
        let wanted = json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let made =
            browser.request("POST", "/session", Some(&json!({"capabilities": {"alwaysMatch": wanted}})))?;
        browser.session = made["sessionId"].as_str().unwrap_or_default().to_owned();
        Ok(browser)
    }

    /// Goes to a page and waits until it is loaded.
    pub(crate) fn open(&self, url: &str) -> Result<(), String> {
        self.command("POST", "url", Some(&json!({"url": url}))).map(drop)
    }

    /// Runs a function's body in the page and returns its result. Waits for a promise.
    pub(crate) fn run(&self, body: &str, arguments: &[Value]) -> Result<Value, String> {
        self.command("POST", "execute/sync", Some(&json!({"script": body, "args": arguments})))
    }

    /// A command of the browser's own protocol.
    fn devtools(&self, command: &str, parameters: &Value) -> Result<Value, String> {
        self.command("POST", "goog/cdp/execute", Some(&json!({"cmd": command, "params": parameters})))
    }

    /// Sets the size of the page, and whether the reader likes it dark.
    fn look(&self, width: u32, height: u32, dark: bool) -> Result<(), String> {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &size)?;
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &media).map(drop)
    }

    /// Saves the visible page as PNG.
    fn screenshot(&self, file: &Path) -> Result<(), String> {
        let shot = self.devtools("Page.captureScreenshot", &json!({"format": "png"}))?;
        let bytes = STANDARD.decode(shot["data"].as_str().unwrap_or_default()).map_err(|e| e.to_string())?;
        std::fs::write(file, bytes).map_err(|e| format!("{}: {e}", file.display()))
    }

    /// New entries of the browser's log: errors of scripts, and requests that the page's policy blocked.
    fn complaints(&self) -> Result<Vec<String>, String> {
        let log = self.command("POST", "se/log", Some(&json!({"type": "browser"})))?;
        let entries = log.as_array().cloned().unwrap_or_default();
        Ok(entries.iter().map(|entry| entry["message"].as_str().unwrap_or_default().to_owned()).collect())
    }

    fn command(&self, method: &str, what: &str, body: Option<&Value>) -> Result<Value, String> {
        self.request(method, &format!("/session/{}/{what}", self.session), body)
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(300))).map_err(|e| e.to_string())?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream
            .write_all(head.as_bytes())
            .and_then(|()| stream.write_all(body.as_bytes()))
            .map_err(|e| e.to_string())?;
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).map_err(|e| e.to_string())?;
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().map_err(|_| format!("chromedriver answered `{line}`"))?;
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).map_err(|e| e.to_string())?;
        let mut answer: Value = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
        let value = answer["value"].take();
        match value.get("error").and_then(Value::as_str) {
            Some(error) => Err(format!("{path}: {error}: {}", value["message"].as_str().unwrap_or_default())),
            None => Ok(value),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with the session; that it may be gone already changes nothing.
        let _ = self.command("DELETE", "", None);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Path of the program, since the driver requires a path.
#[expect(clippy::disallowed_methods, reason = "a command looks for programs where the shell does")]
fn which(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        return program.to_owned();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file());
    found.unwrap_or_else(|| program.to_owned())
}

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
pub(crate) fn take_screenshots(args: &ReportScreenshotsArgs) -> Result<(), String> {
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
