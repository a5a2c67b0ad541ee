// Runs: the list, a trial down to its evidence, side by side, a run that is at work, and addresses that show the same view again.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { check, open, remove, surroundings, views } from "./harness.mjs";

const place = surroundings();

for (const view of views) {
  test(`a trial is shown down to prompt, reply, PDDL, verdict and evidence (${view.width} px, ${view.scheme})`, async () => {
    const { page, context, problems } = await open(place.browser, place.server, view);
    await page.goto(`${place.server.origin}/runs`);
    await page.getByRole("link", { name: /^runs\// }).first().waitFor();
    await check(page, problems, "runs-list", view);
    await page.getByRole("link", { name: /^runs\// }).first().click();
    await page.getByRole("link", { name: "parcels.p01" }).waitFor();
    await check(page, problems, "run", view);
    await page.getByRole("link", { name: "parcels.p01" }).click();
    await page.getByText("The verdict is about").first().waitFor();
    if (view.width < 900) await page.getByRole("link", { name: "problem/0" }).first().click();
    await page.getByText("The environment accepts the plan: 10 steps.").waitFor();
    await page.getByText("Evidence").first().click();
    await page.getByText(/Problem written in its reply/).waitFor();
    await check(page, problems, "trial", view);
    await page.getByRole("link", { name: /^Calls/ }).click();
    await page.locator(".call-line").first().click();
    await page.getByRole("heading", { name: "Prompt" }).waitFor();
    await page.getByRole("heading", { name: "Reply" }).waitFor();
    await check(page, problems, "call", view);
    await context.close();
  });

  test(`an evaluation shows its matrix (${view.width} px, ${view.scheme})`, async () => {
    const { page, context, problems } = await open(place.browser, place.server, view);
    await page.goto(`${place.server.origin}/runs?path=evaluation`);
    await page.getByText("Solved tasks by suite and pipeline, seed by seed").waitFor();
    await check(page, problems, "evaluation", view);
    await context.close();
  });
}

test("filters and the chosen trial are in the address, which shows the same view in another tab", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs?words=llm&state=ended`);
  assert.equal(await page.getByLabel("Filter by name or pipeline").inputValue(), "llm");
  await page.getByRole("link", { name: /^runs\// }).first().click();
  await page.getByRole("link", { name: "parcels.p03" }).click();
  await page.getByLabel("Filter candidates").fill("problem");
  await page.getByLabel("Candidates shown").selectOption("accepted");
  await page.getByText("0 of 1 candidate").waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await other.getByText("0 of 1 candidate").waitFor();
  assert.equal(await other.getByLabel("Filter candidates").inputValue(), "problem");
  assert.equal(await other.getByLabel("Candidates shown").inputValue(), "accepted");
  await context.close();
});

test("on a phone the way back from a candidate keeps the filter", async () => {
  const { page, context } = await open(place.browser, place.server, { width: 390 });
  await page.goto(`${place.server.origin}/runs?words=llm`);
  await page.getByRole("link", { name: /^runs\// }).first().click();
  await page.getByRole("link", { name: "parcels.p01" }).click();
  await page.getByRole("link", { name: "all candidates" }).click();
  await page.getByLabel("Filter candidates").fill("problem");
  await page.getByRole("treeitem").first().click();
  await page.getByRole("link", { name: "all candidates" }).click();
  await page.getByText("1 candidate", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("Filter candidates").inputValue(), "problem");
  await context.close();
});

test("an evaluation with cells that have not begun is not finished, and can be resumed", async () => {
  cpSync(join(place.folder, "evaluation"), join(place.folder, "half"), { recursive: true });
  const file = join(place.folder, "half/matrix.json");
  const matrix = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...matrix, seeds: [...matrix.seeds, 77] }));
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs?words=half`);
  await page.getByText("2 of 4 cells finished").waitFor();
  await page.getByText("not finished", { exact: true }).last().waitFor();
  await page.getByRole("link", { name: "half" }).click();
  await page.getByRole("button", { name: "Resume" }).waitFor();
  await context.close();
  remove(join(place.folder, "half"));
});

test("a folder with more than is looked at is said to be incomplete", async () => {
  mkdirSync(join(place.folder, "a/b/c/d/e/f/g"), { recursive: true });
  const { page, context } = await open(place.browser, place.server);
  for (const part of ["runs", "solve"]) {
    await page.goto(`${place.server.origin}/${part}`);
    await page.getByText("This folder has more than is looked at").waitFor();
  }
  remove(join(place.folder, "a"));
  await page.goto(`${place.server.origin}/runs`);
  await page.getByRole("link", { name: /^runs\// }).first().waitFor();
  assert.equal(await page.getByText("This folder has more than is looked at").count(), 0);
  await context.close();
});

test("the colours are chosen by a button, and stay after a reload", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs?path=evaluation`);
  await page.getByText("Solved tasks by suite and pipeline, seed by seed").waitFor();
  const ground = () => page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector(".report table")).color]);
  const before = await ground();
  await page.getByRole("button", { name: "Change to dark colours" }).click();
  const after = await ground();
  await page.reload();
  await page.getByText("Solved tasks by suite and pipeline, seed by seed").waitFor();
  assert.deepEqual(await ground(), after);
  assert.ok(after.every((colour, i) => colour !== before[i]));
  await check(page, problems, "evaluation-chosen-dark");
  await page.getByRole("button", { name: "Change to light colours" }).click();
  assert.deepEqual(await ground(), before);
  await context.close();
});

test("two runs stand side by side, trial by trial", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs`);
  const boxes = page.getByRole("checkbox", { name: /runs\// });
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await page.getByRole("link", { name: "Show the 2 chosen side by side" }).click();
  await page.locator(".matrix a.cell").first().click();
  await page.getByRole("link", { name: "parcels.p01" }).click();
  await page.getByRole("link", { name: /^Side by side/ }).click();
  await page.getByRole("heading", { name: /parcels/ }).nth(1).waitFor();
  await page.getByText(/Prompt: the same in both/).waitFor();
  await check(page, problems, "side-by-side");
  await context.close();
});

test("the one-file report is a download", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs?path=evaluation`);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download as one file" }).click()]);
  assert.match(file.suggestedFilename(), /\.html$/);
  await context.close();
});

for (const width of [1280, 390]) {
  test(`what is read stays at its place while a view is loaded (${width} px)`, async () => {
    const { page, context } = await open(place.browser, place.server, { width });
    await page.addInitScript(() => {
      window.shifts = [];
      new PerformanceObserver((list) => window.shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
    });
    const [run] = readdirSync(join(place.folder, "runs"));
    for (const path of ["runs", "runs?path=evaluation", `runs?path=runs/${run}`, "solve", "workbench"]) {
      await page.goto(`${place.server.origin}/${path}`);
      await page.waitForLoadState("networkidle");
      const shifts = await page.evaluate(() => window.shifts.filter((shift) => !shift.hadRecentInput).map((shift) => shift.value));
      // Above 0.1 the shift of a page is noticed (web.dev/cls).
      assert.ok(shifts.reduce((sum, shift) => sum + shift, 0) < 0.1, `${path}: ${shifts}`);
    }
    await context.close();
  });
}

test("times are those of the reader's zone", async () => {
  const [run] = readdirSync(join(place.folder, "runs"));
  const times = [];
  for (const zone of ["UTC", "Asia/Tokyo"]) {
    const { page, context } = await open(place.browser, place.server, { zone });
    await page.goto(`${place.server.origin}/runs?path=runs/${run}`);
    const time = page.locator("time").first();
    const shown = (await time.textContent()).match(/(\d+):(\d+)/);
    const { created_at: recorded } = JSON.parse(readFileSync(join(place.folder, "runs", run, "run.json"), "utf8"));
    assert.equal(await time.getAttribute("datetime"), recorded);
    times.push([Number(shown[1]), Number(shown[2]), recorded.slice(11, 16)]);
    await context.close();
  }
  const [[hour, minute, recorded], [later, same]] = times;
  assert.equal(`${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`, recorded);
  assert.deepEqual([later, same], [(hour + 9) % 24, minute]);
});

test("a folder that is no run is named in the message", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/runs?path=examples`);
  await page.getByRole("alert").getByText(/neither a run/).waitFor();
  await context.close();
});
