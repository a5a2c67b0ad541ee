// A run that is at work: started in the page, watched in two tabs, paused and resumed.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { check, open, surroundings, views } from "./harness.mjs";
import { pipeline, startModel } from "./model.mjs";

let model;
// A key that would go to a loopback address is asked about.
process.env.PAGE_TEST_KEY = "not-a-key";
const place = surroundings(async (folder) => {
  model = await startModel({ reply: "(define (problem p) (:domain none))" });
  writeFileSync(join(folder, "configs/pipelines/test-model.toml"), pipeline(model));
  writeFileSync(join(folder, "configs/pipelines/test-key.toml"), pipeline(model).replace("max_calls", 'api_key_env = "PAGE_TEST_KEY"\nmax_calls'));
});
let proxy;
after(() => {
  model?.stop();
  proxy?.stop();
});

async function choose(page, file = "test-model", origin = place.server.origin) {
  await page.goto(`${origin}/runs`);
  await page.getByText("Start a run").click();
  await page.getByRole("combobox", { name: "Pipeline" }).selectOption(`configs/pipelines/${file}.toml`);
  await page.getByRole("combobox", { name: "Suite of tasks" }).selectOption("examples/suites/parcels");
  await page.getByRole("button", { name: "Start", exact: true }).click();
}

async function start(page, origin) {
  await choose(page, "test-model", origin);
  await page.getByRole("region", { name: "At work now" }).waitFor();
}

test("a run is started, watched in two tabs, paused and resumed, and no request is repeated", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  model.wait = 60_000;
  await start(page);
  await page.getByText("Requests to models that are out: 4").waitFor();
  await page.getByText(/parcels\.p0\d\/problem/).first().waitFor();
  for (const view of views) {
    await page.setViewportSize({ width: view.width, height: 900 });
    await page.emulateMedia({ colorScheme: view.scheme });
    await check(page, problems, "run-at-work", view);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByText("Requests to models that are out: 4").waitFor();
  model.wait = 20;
  await page.getByRole("button", { name: "Pause" }).click();
  for (const tab of [page, second]) await tab.getByRole("button", { name: "Resume" }).waitFor({ timeout: 15_000 });
  const before = model.asked;
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByText("0 of 4 solved").waitFor();
  for (const tab of [page, second]) await tab.getByRole("region", { name: "At work now" }).waitFor({ state: "detached", timeout: 15_000 });
  await page.getByText("finished", { exact: true }).first().waitFor();
  assert.equal(model.asked - before, 4);
  assert.deepEqual(problems, []);
  await context.close();
});

/** A server in front of the page's own, of which all connections can be cut. */
async function startProxy(target) {
  const { host, port } = new URL(target.origin);
  const sockets = new Set();
  let isCut = false;
  const server = createServer((request, answer) => {
    const headers = { ...request.headers, host };
    if (headers.origin) headers.origin = target.origin;
    const through = httpRequest({ host: "127.0.0.1", port, path: request.url, method: request.method, headers }, (found) => {
      answer.writeHead(found.statusCode, found.headers);
      found.pipe(answer);
    });
    through.on("error", () => answer.destroy());
    answer.on("close", () => through.destroy());
    request.pipe(through);
  });
  server.on("connection", (socket) => (isCut ? socket.destroy() : (sockets.add(socket), socket.on("close", () => sockets.delete(socket)))));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin,
    first: target.first.replace(target.origin, origin),
    cut: (now) => ((isCut = now), now && sockets.forEach((socket) => socket.destroy())),
    stop: () => (server.closeAllConnections(), server.close()),
  };
}

test("a reload and a lost connection in the middle of a run lose nothing", async () => {
  proxy = await startProxy(place.server);
  const { page, context, problems } = await open(place.browser, proxy);
  model.wait = 60_000;
  await start(page, proxy.origin);
  await page.reload();
  await page.getByText("Requests to models that are out: 4").waitFor();
  proxy.cut(true);
  await page.getByText("The connection to planforge is lost.").waitFor();
  model.wait = 10;
  model.release();
  // The run ends while the page is cut off.
  const control = await open(place.browser, place.server);
  await control.page.goto(`${place.server.origin}/runs${new URL(page.url()).search}`);
  await control.page.getByText("0 of 4 solved").waitFor();
  await control.context.close();
  proxy.cut(false);
  await page.getByText("The connection to planforge is lost.").waitFor({ state: "detached" });
  await page.getByText("0 of 4 solved").waitFor();
  await page.getByText("finished", { exact: true }).first().waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("a run and its resume ask for a decision, and say what follows from a refusal", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  model.wait = 60_000;
  await choose(page, "test-key");
  const decision = page.getByRole("region", { name: "A decision about your machine" });
  await decision.getByText("PAGE_TEST_KEY").waitFor();
  await check(page, problems, "run-decision");
  await decision.getByRole("button", { name: "Allow", exact: true }).click();
  await page.getByText("Requests to models that are out: 4").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  const asked = model.asked;
  await page.getByRole("button", { name: "Resume" }).click();
  await decision.getByText("PAGE_TEST_KEY").waitFor();
  await decision.getByRole("button", { name: "Do not allow" }).click();
  await page.getByRole("alert").getByText("PAGE_TEST_KEY").waitFor();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  assert.equal(model.asked, asked);
  model.release();
  assert.deepEqual(problems, []);
  await context.close();
});

test("events that the server no longer keeps are said, and the numbers come from the record", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  const [name] = readdirSync(join(place.folder, "runs")).sort();
  const holder = spawn("flock", ["--no-fork", join(place.folder, "runs", name, "events", "0001.jsonl"), "sleep", "600"], { stdio: "ignore" });
  const event = JSON.stringify({ kind: "lost", events: 700 });
  await context.route("**/api/watch*", (route) => route.fulfill({ contentType: "text/event-stream", body: `id: 700\ndata: ${event}\n\n` }));
  await page.goto(`${place.server.origin}/runs?path=runs/${name}`);
  await page.getByText("700 older events are no longer kept.").waitFor();
  await page.getByText("4 of 4 ended, 2 solved").waitFor();
  holder.kill();
  assert.deepEqual(problems, []);
  await context.close();
});

test("an evaluation is started in the page, watched, and shows its matrix", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  model.wait = 60_000;
  await page.goto(`${place.server.origin}/runs`);
  await page.getByText("Start an evaluation").click();
  await page.getByRole("checkbox", { name: "examples/suites/parcels" }).check();
  await page.getByRole("checkbox", { name: "configs/pipelines/test-model.toml" }).check();
  await page.getByLabel("Tasks of each suite at most").fill("2");
  await page.getByLabel("New folder for the results").fill("evaluations/new");
  await page.getByRole("button", { name: "What does it cost?" }).last().click();
  await page.getByText(/^At most 2 requests, at an unknown cost/).waitFor();
  await check(page, problems, "start-evaluation");
  await page.getByRole("button", { name: "Start the evaluation" }).click();
  await page.getByText("Requests to models that are out: 2").waitFor();
  await page.getByText("0 of 2 ended").waitFor();
  await page.getByText("0 of at most 50 requests").waitFor();
  model.release();
  await page.getByRole("region", { name: "At work now" }).waitFor({ state: "detached" });
  await page.getByText("Solved tasks by suite and pipeline, seed by seed").waitFor();
  await page.getByText("0 of 2 solved").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Resume" }).count(), 0);
  assert.deepEqual(problems, []);
  await context.close();
});
