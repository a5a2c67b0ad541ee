// The PDDL workbench: editors over the language server, plans, states and pictures.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { check, open, root, surroundings, views } from "./harness.mjs";

const place = surroundings();

for (const view of views) {
  test(`a task is edited, planned and stepped through (${view.width} px, ${view.scheme})`, async () => {
    const { page, context, problems } = await open(place.browser, place.server, view);
    await page.goto(`${place.server.origin}/workbench`);
    const domain = page.getByRole("textbox", { name: "Domain" });
    await domain.waitFor();
    await page.getByRole("button", { name: "Plan", exact: true }).click();
    await page.getByText(/^A plan of \d+ steps/).waitFor();
    await check(page, problems, "workbench-plan", view);
    await page.getByRole("button", { name: "Step through" }).click();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText(/^After step 1 of/).waitFor();
    await page.locator(".edge.is-removed", { hasText: "car-at" }).waitFor();
    await page.locator(".box.is-changed", { hasText: "on-ferry" }).waitFor();
    await check(page, problems, "workbench-steps", view);
    for (const [button, title] of [["Types", "Types"], ["Causal graph", "What each action needs and changes"], ["Reachable states", "Reachable states"]]) {
      await page.getByRole("button", { name: button }).click();
      await page.getByRole("img", { name: title }).waitFor();
      assert.ok(await page.getByRole("img", { name: title }).evaluate((picture) => picture.decode().then(() => picture.naturalWidth > 10)));
    }
    await check(page, problems, "workbench-picture", view);
    await context.close();
  });
}

test("a mistake is underlined by the language server, and a text stays after a reload", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/workbench`);
  const problem = page.getByRole("textbox", { name: "Problem" });
  await problem.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("(:goal (flies red))");
  await page.locator(".cm-lintRange-error").first().waitFor();
  await page.reload();
  await page.getByText("(:goal (flies red))").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

test("a plan that does not work is explained, and two versions are compared", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/workbench`);
  await page.getByRole("textbox", { name: "Domain" }).waitFor();
  await page.getByLabel("Plan, one step a line").fill("(board red north)");
  await page.getByRole("button", { name: "Step through" }).click();
  await page.getByText(/cannot be done/).waitFor();
  await page.getByRole("button", { name: "Keep this version" }).click();
  await page.getByRole("button", { name: "Compare with the kept version" }).click();
  await page.getByText("Both versions behave in the same way").waitFor();
  const domain = await page.evaluate(() => JSON.parse(sessionStorage.getItem("planforge-workbench")).domain);
  await page.getByRole("textbox", { name: "Domain" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(domain.replace(" (empty-ferry))\n    :effect (and (on-ferry", ")\n    :effect (and (on-ferry"));
  await page.getByRole("button", { name: "Compare with the kept version" }).click();
  await page.getByText("In the kept version, the action board needs that empty ferry holds; not in this version.").waitFor();
  await context.close();
});

test("a task with time has a chart, and a search ends at the limit that is given", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  const [domain, problem] = ["domain", "p01"].map((name) => readFileSync(join(root, `examples/extended/bakery/${name}.pddl`), "utf8"));
  await page.evaluate((texts) => sessionStorage.setItem("planforge-workbench", JSON.stringify(texts)), { domain, problem, plan: "" });
  await page.goto(`${place.server.origin}/workbench`);
  await page.getByRole("textbox", { name: "Domain" }).waitFor();
  await page.getByLabel("Seconds at most").fill("3");
  const [request] = await Promise.all([page.waitForRequest("**/api/jobs"), page.getByRole("button", { name: "Plan", exact: true }).click()]);
  assert.equal(request.postDataJSON().request.time_limit, 3);
  await page.getByText(/^A plan of \d+ steps/).waitFor({ timeout: 30_000 });
  await page.getByRole("button", { name: "Step through" }).click();
  const chart = page.getByRole("img", { name: "Chart of the steps over time" });
  await chart.waitFor();
  assert.ok(await chart.evaluate((picture) => picture.decode().then(() => picture.naturalWidth > 300)));
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText(/at time 0: start of \(knead/).waitFor();
  await check(page, problems, "workbench-times");
  await context.close();
});

test("a search that cannot begin says why, and does not seem to go on", async () => {
  const { page, context } = await open(place.browser, place.server);
  await page.evaluate(() => sessionStorage.setItem("planforge-workbench", JSON.stringify({ domain: "(define (domain", problem: "(", plan: "" })));
  await page.goto(`${place.server.origin}/workbench`);
  await page.getByRole("textbox", { name: "Domain" }).waitFor();
  await page.getByRole("button", { name: "Plan", exact: true }).click();
  await page.getByRole("heading", { name: /^No plan/ }).waitFor();
  assert.equal(await page.getByText("Searching for a plan").count(), 0);
  await context.close();
});

test("the language server completes, explains, formats and mends as in an editor", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await page.goto(`${place.server.origin}/workbench`);
  const problem = page.getByRole("textbox", { name: "Problem" });
  await problem.getByText("empty-ferry").first().waitFor();
  // Hover.
  const word = await problem.evaluate((editor) => {
    const walker = document.createTreeWalker(editor, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf("car-at");
      if (at < 0) continue;
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 6);
      const { x, y, width, height } = range.getBoundingClientRect();
      return { x: x + width / 2, y: y + height / 2 };
    }
  });
  await page.mouse.move(word.x, word.y);
  await page.locator(".cm-tooltip-hover", { hasText: "car-at" }).first().waitFor();
  // Completion.
  await problem.click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("(:init (car");
  await page.keyboard.press("Control+ ");
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "car-at" }).first().waitFor();
  await page.keyboard.press("Escape");
  // A finding with its fix; then the layout.
  const domain = page.getByRole("textbox", { name: "Domain" });
  await domain.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("(define (domain ferry) (:requirements :strips) (:types car) (:predicates (on-ferry ?c - car) (empty-ferry)) (:action leave :parameters (?c - car) :precondition (on-ferry ?c) :effect (empty-ferry)))");
  await page.locator(".cm-lintRange-warning").first().waitFor();
  const fix = page.getByRole("list", { name: "Fixes for the domain" }).getByRole("button", { name: "Line 1: Declare :typing" });
  await fix.waitFor();
  await check(page, problems, "workbench-findings");
  await fix.press("Enter");
  await domain.getByText(":typing").waitFor();
  await fix.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Format" }).click();
  await page.waitForFunction(() => document.querySelectorAll("[aria-label=Domain] .cm-line").length > 4);
  assert.deepEqual(problems, []);
  await context.close();
});
