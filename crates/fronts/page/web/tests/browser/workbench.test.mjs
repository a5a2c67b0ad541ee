// The PDDL workbench: editors over the language server, plans, states and pictures.

import assert from "node:assert/strict";
import { test } from "node:test";
import { check, open, surroundings, views } from "./harness.mjs";

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
  await context.close();
});
