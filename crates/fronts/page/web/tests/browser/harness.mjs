// A real server, a headless browser, and what every test of the page checks.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

export const root = resolve(import.meta.dirname, "../../../../../..");
export const planforge = resolve(process.env.PLANFORGE_BIN ?? join(root, "target/debug/planforge"));
export const screenshots = join(root, "target/page-screenshots");
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Runs the command line and fails with its messages if it does. */
export function command(args, cwd = root) {
  const ran = spawnSync(planforge, args, { cwd, encoding: "utf8" });
  if (ran.status === null || ran.status >= 30) throw new Error(`planforge ${args.join(" ")}: ${ran.error ?? ran.stderr}`);
  return ran;
}

/** A folder with two finished runs, an evaluation, a suite and pipelines, for a server to work in. */
export function makeFolder() {
  const folder = mkdtempSync(join(tmpdir(), "planforge-page-"));
  for (const part of ["configs/pipelines", "examples/suites/parcels", "examples/suites/grippers", "examples/demo", "examples/recordings/tic-local-model"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  for (let i = 0; i < 2; i++) command(["run", "configs/pipelines/llm-p.toml", "--suite", "examples/suites/parcels", "--replay", "examples/demo/llm-p.jsonl"], folder);
  const recording = "examples/recordings/tic-local-model";
  const methods = ["--pipeline", "configs/pipelines/llm-p.toml", "--pipeline", `${recording}/tic-ic.toml`, "--set", "llm.main.max_tokens=1024"];
  command(["evaluate", "--suite", "examples/suites/grippers", "--seeds", "1", "--tasks", "2", ...methods, "--layout", "accuracy", "--replay", recording, "--out", "evaluation"], folder);
  return folder;
}

/** Starts `planforge serve page` and gives its first address. Port 0 is any free one. */
export async function serve(folder, { port = 0 } = {}) {
  const child = spawn(planforge, ["serve", "page", "--folder", folder, "--port", String(port), "--no-browser"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (bytes) => (said += bytes));
  const first = await new Promise((done, failed) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /http:\/\/\S+/.exec(line);
      if (found) done(found[0]);
    });
    child.on("exit", (code) => failed(new Error(`planforge serve page ended with ${code}: ${said}`)));
  });
  return { first, origin: new URL(first).origin, pid: child.pid, stop: () => new Promise((done) => (child.on("exit", done), child.kill("SIGTERM"))) };
}

export const launch = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

/** A folder, a server in it and a browser for the tests of a file; `prepare` changes the folder first. */
export function surroundings(prepare = async () => {}) {
  const place = {};
  before(async () => {
    place.folder = makeFolder();
    await prepare(place.folder);
    [place.server, place.browser] = await Promise.all([serve(place.folder), launch()]);
  });
  after(async () => {
    await place.browser?.close();
    await place.server?.stop();
    remove(place.folder);
  });
  return place;
}

/** A tab that has its cookie. `problems` collects errors of scripts and violations of the content security policy. */
export async function open(browser, server, { width = 1280, scheme = "light", zone = "UTC" } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, timezoneId: zone, reducedMotion: "reduce" });
  context.setDefaultTimeout(15_000);
  if (process.env.PAGE_DIST) await serveFrom(context, server, process.env.PAGE_DIST);
  const page = await context.newPage();
  const problems = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => /Content Security Policy|Content-Security-Policy/i.test(message.text()) && problems.push(message.text()));
  await page.addInitScript(() => addEventListener("securitypolicyviolation", (event) => console.error("Content Security Policy", event.violatedDirective, event.blockedURI, event.sourceFile)));
  await page.goto(server.first);
  await page.waitForLoadState();
  return { page, context, problems };
}

/** For work on the page: its files come from this folder, everything else from the server, so that planforge is not built again. */
async function serveFrom(context, { origin }, dist) {
  await context.route(`${origin}/assets/*`, (route) => {
    const path = join(dist, new URL(route.request().url()).pathname);
    return existsSync(path) ? route.fulfill({ path }) : route.continue();
  });
  await context.route(/\/(solve|workbench|runs)(\?.*)?$/, async (route) => {
    const answer = await route.fetch({ maxRedirects: 0 });
    const nonce = /<meta name="csp-nonce"[^>]*>/.exec(await answer.text())?.[0];
    if (!nonce) return route.fulfill({ response: answer });
    return route.fulfill({ response: answer, body: readFileSync(join(dist, "index.html"), "utf8").replace("<head>", `<head>${nonce}`) });
  });
}

/** Violations of accessibility rules in the page as it is. */
async function accessibility(page) {
  await page.evaluate(axeSource);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 4).map((node) => `${node.target.join(" ")} ${node.failureSummary.split("\n").slice(1, 2)}`).join("; ")}`);
}

export async function screenshot(page, name, options = { fullPage: true }) {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`), ...options });
}

/** True if the page is wider than its window, which a phone cannot show. */
const isTooWide = (page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);

/** The view as a person sees it: complete, without violations, not wider than the window. */
export async function check(page, problems, name, { width = 1280, scheme = "light" } = {}) {
  await screenshot(page, `${name}-${width}-${scheme}`);
  assert.deepEqual(await accessibility(page), [], name);
  assert.equal(await isTooWide(page), false, `${name} is wider than the window`);
  assert.deepEqual(problems, [], name);
}

/** Each width with each scheme of colours. */
export const views = [1280, 390].flatMap((width) => ["light", "dark"].map((scheme) => ({ width, scheme })));

export const remove = (folder) => existsSync(folder) && rmSync(folder, { recursive: true, force: true });
