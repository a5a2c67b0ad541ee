// A foreign site, a model's reply, a lost connection and a second tab do no harm.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { appendFileSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { test } from "node:test";
import { open, surroundings } from "./harness.mjs";

const HOSTILE = '</script><script>window.pwned = 1</script><img src=x onerror="window.pwned = 2"><svg onload="window.pwned = 3">';

const place = surroundings(hostileRun);

/** Puts markup into a reply and a task's verdict of the first run. */
function hostileRun(folder) {
  const run = join(folder, "runs", readdirSync(join(folder, "runs"))[0]);
  const journal = join(run, "events", "0001.jsonl");
  const lines = readFileSync(journal, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  for (const event of lines) {
    if (event.event === "completion") {
      const result = JSON.parse(readFileSync(join(run, "blobs", event.result), "utf8"));
      for (const reply of result.replies ?? result.replies?.replies ?? []) reply.content = HOSTILE;
      const text = JSON.stringify(result).replaceAll("define", HOSTILE.replaceAll('"', '\\"').replaceAll("/", "\\/"));
      event.result = createHash("sha256").update(text).digest("hex");
      writeFileSync(join(run, "blobs", event.result), text);
    }
    if (event.event === "task-finished" && event.verdict.message) event.verdict.message = HOSTILE;
  }
  writeFileSync(journal, lines.map((line) => JSON.stringify(line)).join("\n") + "\n");
}

test("markup in replies and messages is text, and the policy is never violated", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs`);
  const run = page.getByRole("link", { name: /^runs\// }).last();
  await run.click();
  await page.getByText("window.pwned = 1").first().waitFor();
  await page.getByRole("link", { name: "parcels.p03" }).click();
  await page.getByRole("link", { name: /^Calls/ }).click();
  await page.locator(".call-line").first().click();
  await page.getByRole("heading", { name: "Reply" }).waitFor();
  await page.getByText("window.pwned = 2").first().waitFor();
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  assert.deepEqual(problems, []);
  await context.close();
});

test("a foreign site can neither post to the page nor read from it", async () => {
  const { page, context } = await open(place.browser, place.server);
  const requests = [];
  page.on("response", (answer) => requests.push([answer.request().method(), answer.status()]));
  const foreign = createServer((_, answer) => {
    answer.setHeader("Content-Type", "text/html");
    answer.end(`<form method="post" action="${place.server.origin}/api/jobs" enctype="text/plain"><input name='{"use":"plan","x":"' value='"}'></form>`);
  }).listen(0, "127.0.0.1");
  await new Promise((done) => foreign.on("listening", done));
  // Another port is another origin of the same site, so the browser sends even a SameSite cookie.
  const attacker = await context.newPage();
  attacker.on("response", (answer) => requests.push([answer.request().method(), answer.status()]));
  await attacker.goto(`http://127.0.0.1:${foreign.address().port}/`);
  const read = await attacker.evaluate(async (origin) => {
    const outcome = async (init) => {
      try {
        const answer = await fetch(`${origin}/api/jobs`, init);
        return `read ${answer.status}`;
      } catch {
        return "refused";
      }
    };
    return [
      await outcome({ credentials: "include" }),
      await outcome({ method: "POST", credentials: "include", headers: { "Content-Type": "application/json" }, body: "{}" }),
      await outcome({ method: "POST", credentials: "include", headers: { "Content-Type": "text/plain" }, body: "{}" }),
    ];
  }, place.server.origin);
  assert.deepEqual(read, ["refused", "refused", "refused"]);
  await Promise.all([attacker.waitForNavigation(), attacker.evaluate(() => document.forms[0].submit())]);
  assert.deepEqual(requests.filter(([method]) => method === "POST").map(([, status]) => status >= 400), requests.filter(([method]) => method === "POST").map(() => true));
  assert.ok(requests.some(([method, status]) => method === "POST" && status === 403), JSON.stringify(requests));
  const jobs = await page.evaluate(async () => (await fetch("/api/jobs")).json());
  assert.deepEqual(jobs.jobs, []);
  foreign.closeAllConnections();
  foreign.close();
  await context.close();
});

test("without the token there is no page", async () => {
  const context = await place.browser.newContext();
  const page = await context.newPage();
  const answer = await page.goto(`${place.server.origin}/runs`);
  assert.equal(answer.status(), 401);
  await context.close();
});

test("a page in a frame of another site is not shown", async () => {
  const { context } = await open(place.browser, place.server);
  const foreign = createServer((_, answer) => {
    answer.setHeader("Content-Type", "text/html");
    answer.end(`<iframe src="${place.server.origin}/runs"></iframe>`);
  }).listen(0, "127.0.0.1");
  await new Promise((done) => foreign.on("listening", done));
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${foreign.address().port}/`);
  await page.waitForTimeout(500);
  const inner = page.frames()[1];
  assert.equal(await inner.evaluate(() => document.querySelector("#app")).catch(() => null), null);
  foreign.closeAllConnections();
  foreign.close();
  await context.close();
});

test("a run that another process writes grows on the page, also after the connection was lost", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  const [name] = readdirSync(join(place.folder, "runs")).sort().reverse();
  const journal = join(place.folder, "runs", name, "events", "0001.jsonl");
  const all = readFileSync(journal, "utf8").trim().split("\n");
  const firstEnd = all.findIndex((line) => line.includes("task-finished"));
  rmSync(join(place.folder, "runs", name, "report.json"));
  writeFileSync(journal, all.slice(0, firstEnd).join("\n") + "\n");
  await page.goto(`${place.server.origin}/runs?path=runs/${name}`);
  await page.getByText("0 of 4 solved").waitFor();
  await context.setOffline(true);
  await context.setOffline(false);
  appendFileSync(journal, all.slice(firstEnd).join("\n") + "\n");
  await page.reload();
  await page.getByText("2 of 4 solved").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("the folder of a run is deleted while its page is open", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  const [name] = readdirSync(join(place.folder, "runs")).sort().reverse();
  await page.goto(`${place.server.origin}/runs?path=runs/${name}`);
  await page.getByRole("link", { name: "parcels.p01" }).waitFor();
  rmSync(join(place.folder, "runs", name), { recursive: true });
  await page.reload();
  await page.getByRole("alert").first().waitFor();
  await page.goto(`${place.server.origin}/runs`);
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});
