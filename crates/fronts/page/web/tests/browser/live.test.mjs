// A run that is at work: started in the page, watched in two tabs, paused and resumed.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { check, open, surroundings, views } from "./harness.mjs";
import { pipeline, startModel } from "./model.mjs";

let model;
const place = surroundings(async (folder) => {
  model = await startModel({ reply: "(define (problem p) (:domain none))" });
  writeFileSync(join(folder, "configs/pipelines/test-model.toml"), pipeline(model));
});
after(() => model?.stop());

async function start(page) {
  await page.goto(`${place.server.origin}/runs`);
  await page.getByText("Start a run").click();
  await page.getByRole("combobox", { name: "Pipeline" }).selectOption("configs/pipelines/test-model.toml");
  await page.getByRole("combobox", { name: "Suite of tasks" }).selectOption("examples/suites/parcels");
  await page.getByRole("button", { name: "Start" }).click();
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

test("a reload and a lost connection in the middle of a run lose nothing", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  model.wait = 1500;
  await start(page);
  await page.reload();
  await page.getByRole("region", { name: "At work now" }).waitFor();
  await context.setOffline(true);
  await page.getByText("The connection to planforge is lost.").waitFor({ timeout: 15_000 }).catch(() => {});
  await context.setOffline(false);
  model.wait = 10;
  await page.getByText("finished", { exact: true }).first().waitFor({ timeout: 30_000 });
  await page.getByText("0 of 4 solved").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});
