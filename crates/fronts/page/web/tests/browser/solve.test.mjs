// Solve: a text becomes a plan on the recorded model of the demo, with questions, in one tab and in two.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { check, command, open, root, screenshot, serve, surroundings, views } from "./harness.mjs";

const place = surroundings();

async function start(page) {
  await page.goto(`${place.server.origin}/solve`);
  await page.getByRole("button", { name: "Take the text of the demo" }).click();
  await page.waitForFunction(() => document.querySelector("textarea").value.length > 100);
  await page.getByRole("button", { name: "Make a plan" }).click();
  await page.getByRole("heading", { name: "Can she hold two cakes at once?" }).waitFor();
}

for (const view of views) {
  test(`a text is asked about, answered and solved (${view.width} px, ${view.scheme})`, async () => {
    const { page, context, problems } = await open(place.browser, place.server, view);
    await page.goto(`${place.server.origin}/solve`);
    await page.getByRole("button", { name: "Make a plan" }).waitFor();
    await check(page, problems, "solve-text", view);
    await start(page);
    const readings = page.getByRole("list", { name: "Readings of your text" }).getByRole("listitem");
    await readings.nth(2).getByText("is read, and looked through for open points").waitFor();
    await check(page, problems, "solve-question", view);
    await page.getByRole("button", { name: /^no: she can lift a cake only/ }).click();
    await page.getByRole("button", { name: /^yes: a full bag is enough/ }).click();
    await page.getByText(/^planned: 12 steps\. 3 of 3 readings/).waitFor({ timeout: 60_000 });
    await page.getByText("From sentence").first().waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("After step 1 of 12").waitFor();
    const pantry = page.locator(".box.is-place", { hasText: "pantry" });
    await pantry.locator(".box-line.is-changed", { hasText: "baker" }).waitFor();
    assert.equal(await page.locator(".box.is-place").count(), 3);
    // The picture of README.md.
    await page.getByRole("button", { name: /^ice baker almond-cake/ }).click();
    await page.evaluate(() => scrollTo(0, 0));
    if (view.width === 1280) await screenshot(page, `page-${view.scheme}`, { clip: { x: 0, y: 0, width: 1280, height: 760 } });
    await check(page, problems, "solve-answer", view);
    await page.getByText("Domain and problem in PDDL, with findings").click();
    const editor = page.getByRole("textbox", { name: "Domain in PDDL" });
    await editor.getByText("define").first().waitFor();
    await editor.click();
    await page.keyboard.type("no word is taken");
    assert.equal(await page.getByText("no word is taken").count(), 0);
    await check(page, problems, "solve-pddl", view);
    await context.close();
  });
}

test("a reload in the middle shows the same question, and the first of two tabs decides", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await start(page);
  await page.reload();
  await page.getByRole("heading", { name: "Can she hold two cakes at once?" }).waitFor();
  const second = await context.newPage();
  await second.goto(page.url());
  await second.getByRole("heading", { name: "Can she hold two cakes at once?" }).waitFor();
  await page.getByRole("button", { name: /^no: she can lift a cake only/ }).click();
  await second.locator(".answered").getByText("no: she can lift a cake only when she holds nothing").waitFor();
  const late = await second.evaluate(async () => {
    const job = new URLSearchParams(location.search).get("job");
    const answer = await fetch(`/api/jobs/${job}/answer`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ question: "q1", answer: "1" }) });
    return { status: answer.status, ...(await answer.json()) };
  });
  assert.deepEqual([late.status, late.error.code, late.answer], [409, "page.answered", "2"]);
  await second.getByRole("button", { name: /^yes: a full bag is enough/ }).click();
  for (const tab of [page, second]) await tab.getByText(/^planned: 12 steps/).waitFor({ timeout: 60_000 });
  assert.deepEqual(problems, []);
  await context.close();
});

test("everything can be done with the keyboard", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/solve`);
  await page.getByRole("button", { name: "Take the text of the demo" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("textarea").value.length > 100);
  await page.getByRole("button", { name: "Make a plan" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^no: she can lift a cake only/ }).press("Enter");
  await page.getByRole("button", { name: /^yes: a full bag is enough/ }).press("Enter");
  await page.getByRole("button", { name: "Next" }).waitFor({ timeout: 60_000 });
  const slider = page.getByRole("slider", { name: "Step" });
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  await page.getByText("After step 1 of 12").waitFor();
  await context.close();
});

test("a text that is too large is refused with a message", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/solve`);
  // The browser needs seconds to lay out such a text while other programs work.
  await page.evaluate(() => {
    const box = document.querySelector("textarea");
    box.value = "a robot moves. ".repeat(450_000);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.getByRole("button", { name: "Make a plan" }).click({ timeout: 60_000 });
  await page.getByRole("alert").waitFor({ timeout: 60_000 });
  assert.deepEqual(problems, []);
  await context.close();
});

async function answerBoth(page) {
  await page.getByRole("button", { name: /^no: she can lift a cake only/ }).click();
  await page.getByRole("button", { name: /^yes: a full bag is enough/ }).click();
  await page.getByText(/^planned: 12 steps/).waitFor({ timeout: 60_000 });
}

test("a task that was stopped is shown as far as it is, and goes on from the list", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await start(page);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText(/^Stopped\./).waitFor();
  const { folder } = await page.evaluate(async () => (await (await fetch("/api/jobs")).json()).jobs[0]);
  await page.goto(`${place.server.origin}/solve`);
  await page.getByRole("link", { name: folder, exact: true }).click();
  await page.getByText("Can she hold two cakes at once?").first().waitFor();
  await check(page, problems, "solve-unfinished");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "Can she hold two cakes at once?" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await context.close();
});

test("a task that no reading fits is shown without an answer", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.route("**/api/solve?*", (route) => route.fulfill({ json: { line: "failed: no reading can be used.", end: "failed", folder: "task", plan: [], points: [], versions: ["x"], readings: [] } }));
  await page.goto(`${place.server.origin}/solve?path=task`);
  await page.getByText("failed: no reading can be used.").waitFor();
  await page.getByRole("button", { name: "Continue" }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("a map drawn with characters goes below the text", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/solve`);
  await page.getByLabel(/^What there is/).fill("A robot R walks to G. Walls are #.");
  await page.getByText("A map drawn with characters").click();
  await page.getByLabel(/^The map/).fill("#####\n#R.G#\n  #.#");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), page.getByRole("button", { name: "Make a plan" }).click()]);
  assert.equal(request.postDataJSON().request.text, "A robot R walks to G. Walls are #.\n\nMap:\n\n#####\n#R.G#\n  #.#\n");
  await context.close();
});

test("a plan with times has a chart, and each step leads to the state in which it begins", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  const [domain, problem] = ["domain", "p01"].map((name) => readFileSync(join(root, `examples/extended/bakery/${name}.pddl`), "utf8"));
  const plan = command(["pddl", "plan", "examples/extended/bakery/domain.pddl", "examples/extended/bakery/p01.pddl", "--time-limit", "3"]).stdout.split("\n").filter((line) => /^\d/.test(line));
  const sources = [{ part: "action", text: "knead", sentences: [1], assumed: false }];
  const trust = { answers: [], decided_by_text: [], assumptions: [], either_way: [], unused_sentences: [], assumed_parts: [], sources, left_out: [], remarks: [] };
  const result = { line: "planned: with times.", end: "planned", folder: "task", domain, problem, plan, points: [], trust };
  await page.route("**/api/solve?*", (route) => route.fulfill({ json: result }));
  await page.goto(`${place.server.origin}/solve?path=task`);
  const chart = page.getByRole("img", { name: "Chart of the steps over time" });
  await chart.waitFor();
  assert.ok(await chart.evaluate((picture) => picture.decode().then(() => picture.naturalWidth > 300)));
  const step = page.getByRole("button", { name: /^33\.002: \(bake loaf3/ });
  await step.click();
  await page.getByText(/at time 33\.002: start of \(bake loaf3 shelf1 oven1\)/).waitFor();
  await page.getByRole("button", { name: /^0\.000: \(knead.*From sentence 1/ }).waitFor();
  await check(page, problems, "solve-times");
  await context.close();
});

test("what an earlier server's job changed is not shown for another server's job of the same number", async () => {
  let server = await serve(place.folder);
  const { page, context } = await open(place.browser, server);
  const begin = async () => {
    await page.goto(`${server.origin}/solve`);
    await page.getByRole("button", { name: "Take the text of the demo" }).click();
    await page.waitForFunction(() => document.querySelector("textarea").value.length > 100);
    await page.getByRole("button", { name: "Make a plan" }).click();
    await answerBoth(page);
  };
  await begin();
  const first = new URL(page.url()).search;
  await page.getByLabel(/Something is not right/).fill("The bag is large.");
  await page.getByRole("button", { name: "Correct it" }).click();
  await page.waitForURL((address) => address.search !== first);
  const port = new URL(server.origin).port;
  await server.stop();
  server = await serve(place.folder, { port });
  await page.goto(server.first);
  await begin();
  await begin();
  assert.equal(await page.getByText("What your correction changed").count(), 0);
  await context.close();
  await server.stop();
});

test("a reason why own models are missing is shown", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.route("**/api/about", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), models_error: "models.toml, line 3: no such key" } });
  });
  await page.goto(`${place.server.origin}/solve`);
  await page.getByText("Your own models are missing: models.toml, line 3: no such key").waitFor();
  await context.close();
});
