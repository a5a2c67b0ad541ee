// Solve with a model over HTTP: texts with times and with a map, from the words to the chart and the picture. The model's replies are scripted.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { check, command, open, remove, surroundings } from "./harness.mjs";
import { startModel } from "./model.mjs";

const POTTERY = `A potter makes two bowls, the red bowl and the blue bowl.
She shapes a bowl in 10 minutes, and she shapes one bowl at a time.
Firing a shaped bowl in the kiln takes 60 minutes.
The kiln has room for both bowls at the same time.
At the start the potter is free and neither bowl is shaped.
In the end both bowls must be fired.
`;
const POTTERY_PDDL = `(define (domain pottery)
  (:requirements :strips :typing :durative-actions :numeric-fluents)
  (:types
    potter ; [1]
    bowl ; [1]
  )
  (:predicates
    (free ?p - potter) ; [5]
    (raw ?b - bowl) ; [5]
    (shaped ?b - bowl) ; [3]
    (fired ?b - bowl) ; [6]
  )
  (:durative-action shape ; [2]
    :parameters (?p - potter ?b - bowl)
    :duration (= ?duration 10) ; [2]
    :condition (and
      (at start (free ?p)) ; [2]
      (at start (raw ?b)) ; [5]
    )
    :effect (and
      (at start (not (free ?p))) ; [2]
      (at start (not (raw ?b))) ; assumed
      (at end (free ?p)) ; [2]
      (at end (shaped ?b)) ; [2]
    )
  )
  (:durative-action fire ; [3]
    :parameters (?b - bowl)
    :duration (= ?duration 60) ; [3]
    :condition (and
      (at start (shaped ?b)) ; [3]
    )
    :effect (and
      (at start (not (shaped ?b))) ; assumed
      (at end (fired ?b)) ; [3]
    )
  )
)
\`\`\`

\`\`\`pddl
(define (problem bowls)
  (:domain pottery)
  (:objects
    potter1 - potter ; [1]
    red-bowl - bowl ; [1]
    blue-bowl - bowl ; [1]
  )
  (:init
    (free potter1) ; [5]
    (raw red-bowl) ; [5]
    (raw blue-bowl) ; [5]
  )
  (:goal (and
    (fired red-bowl) ; [6]
    (fired blue-bowl) ; [6]
  ))
)`;

const WALK = `A robot stands at R and must reach G.
It moves one square up, down, left or right.
A square with # is a wall, and the robot never enters it.
A square with a dot is free.`;
const MAP = "#####\n#R.G#\n#.#.#\n#####";
// The column, then the row.
const SQUARES = ["s1-1", "s2-1", "s3-1", "s1-2", "s3-2"];
const ROADS = ["s1-1 s2-1", "s2-1 s3-1", "s1-1 s1-2", "s3-1 s3-2"];
const WALK_PDDL = `(define (domain walk)
  (:requirements :strips :typing)
  (:types
    robot ; [1]
    square ; [2]
  )
  (:predicates
    (at ?r - robot ?s - square) ; [1]
    (beside ?a - square ?b - square) ; [2]
  )
  (:action move ; [2]
    :parameters (?r - robot ?from - square ?to - square)
    :precondition (and
      (at ?r ?from) ; [1]
      (beside ?from ?to) ; [2]
    )
    :effect (and
      (at ?r ?to) ; [2]
      (not (at ?r ?from)) ; [2]
    )
  )
)
\`\`\`

\`\`\`pddl
(define (problem to-goal)
  (:domain walk)
  (:objects
    robot1 - robot ; [1]
${SQUARES.map((square) => `    ${square} - square ; [4] [7] [8]`).join("\n")}
  )
  (:init
    (at robot1 s1-1) ; [1] [7]
${ROADS.map((road) => `    (beside ${road}) ; [2]\n    (beside ${road.split(" ").reverse().join(" ")}) ; [2]`).join("\n")}
  )
  (:goal (and
    (at robot1 s3-1) ; [1] [7]
  ))
)`;

const CORRECTION = "The robot must end on the lower left square.";

const QUICK = `${WALK}\nThe robot is quick.`;
const JUMP = "It jumps over one square.";
const POINT = {
  kind: "capacity",
  question: "May the robot jump over a square?",
  here: "no: it moves to the next square",
  otherwise: "yes: it can jump over one square",
  decided_by: "",
  steps: ["(move robot1 s1-1 s3-1)"],
  change: { add: ["(beside s1-1 s3-1)"] },
};

function reply(prompt) {
  if (prompt.includes("You find what a text leaves open")) return `\`\`\`json\n${JSON.stringify({ points: prompt.includes("quick") && !prompt.includes(JUMP) ? [POINT] : [] })}\n\`\`\``;
  if (prompt.includes(JUMP)) return `TASK\n\n\`\`\`pddl\n${WALK_PDDL.replace("(:init", "(:init\n    (beside s1-1 s3-1) ; [12]")}\n\`\`\``;
  return `TASK\n\n\`\`\`pddl\n${prompt.includes("potter") ? POTTERY_PDDL : prompt.includes(CORRECTION) ? WALK_PDDL.replace("(at robot1 s3-1) ; [1] [7]", "(at robot1 s1-2) ; [11]") : WALK_PDDL}\n\`\`\``;
}

// The page offers the models of the user's configuration.
const configuration = mkdtempSync(join(tmpdir(), "planforge-page-configuration-"));
process.env.XDG_CONFIG_HOME = configuration;
let model;
const place = surroundings(async () => {
  model = await startModel({ wait: 10, reply });
  mkdirSync(join(configuration, "planforge"));
  writeFileSync(join(configuration, "planforge/config.toml"), `[models.scripted]\nuse = "provider-openai"\nbase_url = "${model.address}"\nmodel = "fixed"\n`);
});
after(() => {
  model?.stop();
  remove(configuration);
});

async function begin(page, text, map) {
  await page.goto(`${place.server.origin}/solve`);
  await page.getByLabel(/^What there is/).fill(text);
  if (map) {
    await page.getByText("A map drawn with characters").click();
    await page.getByLabel(/^The map/).fill(map);
  }
  await page.getByRole("combobox", { name: "Model" }).selectOption("scripted");
  await page.getByRole("button", { name: "Make a plan" }).click();
}

async function solve(page, text, map) {
  await begin(page, text, map);
  await page.getByText(/^planned: \d+ steps\. 3 of 3 readings/).waitFor({ timeout: 60_000 });
}

for (const width of [1280, 390]) {
  test(`a text with times becomes a plan with a chart (${width} px)`, async () => {
    const { page, context, problems } = await open(place.browser, place.server, { width });
    await solve(page, POTTERY);
    await page.getByText(/every sentence is used|sentence 4 is not used/).waitFor();
    const chart = page.getByRole("img", { name: "Chart of the steps over time" });
    await chart.waitFor();
    assert.ok(await chart.evaluate((picture) => picture.decode().then(() => picture.naturalWidth > 200)));
    // Start and end of a step stand together.
    const fire = page.getByRole("button", { name: /^at [\d.]+ fire (red|blue)-bowl starts: .* ends: .*fired.* From sentence 3\.$/ });
    await fire.first().waitFor();
    assert.equal(await fire.count(), 2);
    await fire.first().click();
    await page.getByText(/: start of \(fire /).waitFor();
    await page.locator(".sentences .is-marked", { hasText: "Firing a shaped bowl" }).waitFor();
    await check(page, problems, "solve-model-times", { width });
    await context.close();
  });

  test(`a text with a map becomes a plan over a map of places (${width} px)`, async () => {
    const { page, context, problems } = await open(place.browser, place.server, { width });
    await solve(page, WALK, MAP);
    await page.locator(".sentences .drawing", { hasText: "#R.G#" }).waitFor();
    const box = (name) => page.locator(".box.is-place", { hasText: name });
    assert.equal(await page.locator(".box.is-place").count(), 5);
    await box("s1-1").locator(".box-line", { hasText: "robot1" }).waitFor();
    const [left, right] = [await box("s1-1").boundingBox(), await box("s3-1").boundingBox()];
    assert.ok(left.x < right.x && Math.abs(left.y - right.y) < 30, JSON.stringify([left, right]));
    await page.getByRole("button", { name: "Next" }).click();
    await box("s2-1").locator(".box-line", { hasText: "robot1" }).waitFor();
    await check(page, problems, "solve-model-map", { width });
    await context.close();
  });
}

test("a correction shows what it changed, and the command line continues the same folder", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await solve(page, WALK, MAP);
  const first = new URL(page.url()).search;
  await page.getByLabel(/Something is not right/).fill(CORRECTION);
  await page.getByRole("button", { name: "Correct it" }).click();
  await page.waitForURL((address) => address.search !== first);
  const changes = page.getByRole("region", { name: "What your correction changed" });
  await changes.getByText("removed: goal: (at robot1 s3-1)").waitFor({ timeout: 60_000 });
  await changes.getByText("new: goal: (at robot1 s1-2)").waitFor();
  await page.getByText(/^planned: 1 step/).waitFor();
  await check(page, problems, "solve-model-correction");
  const { folder } = await page.evaluate(async () => {
    const job = new URLSearchParams(location.search).get("job");
    return (await (await fetch("/api/jobs")).json()).jobs.find((one) => one.job === job);
  });
  const asked = model.asked;
  const continued = command(["solve", "--continue", folder], place.folder);
  assert.match(continued.stdout, /^planned: 1 step\./);
  assert.equal(model.asked, asked);
  await context.close();
});

test("a question is answered by `it does not matter`, or by words of one's own, after which the text is read again", async () => {
  const { page, context, problems } = await open(place.browser, place.server);
  await begin(page, QUICK, MAP);
  await page.getByRole("heading", { name: POINT.question }).waitFor({ timeout: 60_000 });
  await page.getByRole("button", { name: "it does not matter" }).click();
  await page.getByText(/^planned: 2 steps/).waitFor({ timeout: 60_000 });
  await page.getByRole("heading", { name: "Assumed, because no answer decides it" }).waitFor();
  await begin(page, QUICK, MAP);
  await page.getByRole("heading", { name: POINT.question }).waitFor({ timeout: 60_000 });
  await page.getByLabel("Or say in your own words what is true").fill(JUMP);
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText(/^planned: 1 step\. 3 of 3 readings/).waitFor({ timeout: 60_000 });
  assert.deepEqual(problems, []);
  await context.close();
});
