import { expect, test } from "vitest";
import { layoutOf, sceneOf } from "./scene";

const objects = [
  { name: "baker", type: "person" },
  { name: "cake", type: "cake" },
  { name: "pantry", type: "room" },
  { name: "shop", type: "room" },
];
const state = (...facts: string[]) => ({ step: null, added: [], removed: [], facts: ["(next-to pantry shop)", ...facts] });
const steps = { left_out: 0, objects, states: [state("(at baker pantry)", "(stands cake pantry)"), state("(at baker pantry)", "(holds baker cake)"), state("(at baker shop)", "(holds baker cake)")] };

test("things are inside what they are at, and what is held is inside its holder", () => {
  const layout = layoutOf(steps);
  const names = (facts: string[]) => sceneOf(facts, layout).map(function name(thing): unknown {
    return thing.inside.length ? [thing.name, ...thing.inside.map(name)] : thing.name;
  });
  expect(names(steps.states[0]!.facts)).toEqual([["pantry", "baker", "cake"], "shop"]);
  expect(names(steps.states[2]!.facts)).toEqual(["pantry", ["shop", ["baker", "cake"]]]);
});

test("a fact that lasts is told with its object and moves nothing", () => {
  const [pantry] = sceneOf(steps.states[0]!.facts, layoutOf(steps));
  expect(pantry?.facts).toEqual(["next-to shop"]);
});

test("objects that would be inside each other are not put into a circle", () => {
  const circle = { left_out: 0, objects: objects.slice(0, 2), states: [state(), { ...state(), facts: ["(on baker cake)", "(on cake baker)"] }] };
  expect(sceneOf(circle.states[1]!.facts, layoutOf(circle)).map((thing) => thing.name)).toEqual(["cake"]);
});
