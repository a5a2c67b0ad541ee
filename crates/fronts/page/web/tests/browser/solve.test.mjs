// Solve: a text becomes a plan on the recorded model of the demo, with questions, in one tab and in two.

import assert from "node:assert/strict";
import { test } from "node:test";
import { check, open, surroundings, views } from "./harness.mjs";

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
    await check(page, problems, "solve-question", view);
    await page.getByRole("button", { name: /^no: she can lift a cake only/ }).click();
    await page.getByRole("button", { name: /^yes: a full bag is enough/ }).click();
    await page.getByText(/^planned: 12 steps\. 3 of 3 readings/).waitFor({ timeout: 60_000 });
    await page.getByText("From sentence").first().waitFor();
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("After step 1 of 12").waitFor();
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
  await page.evaluate(() => {
    const box = document.querySelector("textarea");
    box.value = "a robot moves. ".repeat(450_000);
    box.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.getByRole("button", { name: "Make a plan" }).click();
  await page.getByRole("alert").waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});
