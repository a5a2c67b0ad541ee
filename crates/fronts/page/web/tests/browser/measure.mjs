// Measures the page against its aims: `PLANFORGE_BIN=target/release/planforge node measure.mjs`. Prints one line a figure.
// The run of 10,000 trials is made by many-trials.mjs out of one with four.

import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, makeFolder, open, remove, serve } from "./harness.mjs";
import { makeManyTrials } from "./many-trials.mjs";

const REPEAT = 5;
const say = (what, value, unit, aim) => console.log(`${what}: ${value < 10 ? value.toFixed(2) : Math.round(value)} ${unit} (aim: below ${aim} ${unit})`);
const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];

const folder = makeFolder();
const runs = join(folder, "runs");
const [small] = readdirSync(runs);
makeManyTrials(join(runs, small), join(runs, "many"));
const server = await serve(folder);
const browser = await launch();
try {
  await load();
  await scroll();
  await events();
  await watching();
} finally {
  await browser.close();
  await server.stop();
  remove(folder);
}

/** Milliseconds of processor time that the server has used. */
function processor() {
  const ticks = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13);
  return 10 * (Number(ticks[0]) + Number(ticks[1]));
}

/** First paint and the time until the filter of the list can be used, each in a new browser context: nothing is cached. */
async function load() {
  const paints = [];
  const usable = [];
  for (let i = 0; i < REPEAT; i++) {
    const { context } = await open(browser, server);
    const page = await context.newPage();
    await page.addInitScript(() => {
      new MutationObserver(() => (window.usable ??= document.querySelector("#runs-filter") && performance.now())).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${server.origin}/runs`);
    await page.waitForFunction(() => window.usable && performance.getEntriesByName("first-contentful-paint").length);
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0].startTime));
    usable.push(await page.evaluate(() => window.usable));
    await context.close();
  }
  say("first paint, median of 5", median(paints), "ms", 300);
  say("usable, median of 5", median(usable), "ms", 600);
}

/** The longest time between two frames while the table of 10,000 trials is scrolled from its top to its end, 400 pixels a frame. */
async function scroll() {
  const { page, context } = await open(browser, server);
  const [began, before] = [Date.now(), processor()];
  await page.goto(`${server.origin}/runs?path=runs/many`);
  await page.locator("tr[aria-rowindex]").first().waitFor({ timeout: 600_000 });
  console.log(`10,000 trials: the first row after ${Date.now() - began} ms, ${processor() - before} ms of the server's processor`);
  const longest = await page.evaluate(async () => {
    const table = document.querySelector(".is-long");
    const frame = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < 10; i++) await frame();
    let worst = 0;
    let last = performance.now();
    for (let top = 0; top < table.scrollHeight; top += 400) {
      table.scrollTop = top;
      await frame();
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }
    return worst;
  });
  say("longest pause while 10,000 trials scroll", longest, "ms", 100);
  await context.close();
}

/** From a line in the journal of another process to the same on the page. */
async function events() {
  const journal = join(runs, small, "events", "0001.jsonl");
  const lines = readFileSync(journal, "utf8").trim().split("\n");
  const start = lines.findIndex((line) => line.includes("task-finished"));
  writeFileSync(journal, lines.slice(0, start).join("\n") + "\n");
  // Holding the lock of the journal is what makes a run one that is at work.
  const holder = spawn("flock", ["--no-fork", journal, "sleep", "600"], { stdio: "ignore" });
  const { page, context } = await open(browser, server);
  await page.goto(`${server.origin}/runs?path=runs/${small}`);
  await page.getByRole("region", { name: "At work now" }).waitFor();
  await page.waitForTimeout(1500);
  const times = [];
  let ended = 0;
  for (const line of lines.slice(start).filter((line) => line.includes("task-finished"))) {
    ended++;
    const seen = page.waitForFunction((n) => document.querySelector(".live-facts")?.textContent.includes(`${n} of `) && Date.now(), ended);
    const sent = Date.now();
    appendFileSync(journal, line + "\n");
    times.push((await (await seen).jsonValue()) - sent);
    await page.waitForTimeout(700);
  }
  say(`from an event to the page, longest of ${times.length}`, Math.max(...times), "ms", 200);
  await context.close();
  holder.kill();
}

/** Processor time of the server while ten tabs watch a run that another process writes, ten events a second. */
async function watching() {
  const journal = join(runs, small, "events", "0001.jsonl");
  const holder = spawn("flock", ["--no-fork", journal, "sleep", "600"], { stdio: "ignore" });
  // A browser opens at most six connections to one server, and each tab holds one for its events: ten tabs are ten browsers.
  const tabs = [];
  for (let i = 0; i < 10; i++) tabs.push(await open(browser, server));
  for (const { page } of tabs) await page.goto(`${server.origin}/runs?path=runs/${small}`);
  await new Promise((done) => setTimeout(done, 5000));
  const [before, began] = [processor(), Date.now()];
  while (Date.now() - began < 20_000) {
    appendFileSync(journal, JSON.stringify({ event: "log", plugin: "measure", level: "info", message: String(Date.now()) }) + "\n");
    await new Promise((done) => setTimeout(done, 100));
  }
  say("processor of the server, ten tabs watch a run", ((processor() - before) * 100) / (Date.now() - began), "%", 3);
  for (const { context } of tabs) await context.close();
  holder.kill();
}
