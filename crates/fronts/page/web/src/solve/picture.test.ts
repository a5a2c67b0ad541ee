import { expect, test } from "vitest";
import { arrange } from "./layout";
import { drawingOf, placesOf } from "./picture";
import { readFact } from "./scene";

const state = (facts: string[], added: string[] = [], removed: string[] = []) => ({ step: added.length ? "(step)" : null, added, removed, facts });
const objects = ["a:room", "b:room", "c:room", "robot:robot", "ball:ball"].map((text) => ({ name: text.split(":")[0]!, type: text.split(":")[1]! }));
const roads = ["(door a b)", "(door b a)", "(door b c)", "(door c b)"];
const moves = {
  left_out: 0,
  objects,
  states: [
    state([...roads, "(at robot a)", "(lies ball a)", "(lit a)", "(quiet)"]),
    state([...roads, "(at robot a)", "(carries robot ball)", "(lit a)", "(quiet)"], ["(carries robot ball)"], ["(lies ball a)"]),
    state([...roads, "(at robot b)", "(carries robot ball)", "(lit a)"], ["(at robot b)"], ["(at robot a)", "(quiet)"]),
  ],
};

test("places with connections are a map, and other objects are drawn at the place they are in", () => {
  const { map, pictures } = drawingOf(moves);
  expect(map).toEqual({ relation: "door", places: ["a", "b", "c"], roads: [["a", "b"], ["b", "c"]] });
  const words = pictures.map((picture) => picture.boxes.map((box) => box.lines.map((line) => `${"-".repeat(line.depth)}${line.text}`)));
  expect(words[0]).toEqual([["lit", "robot", "ball"], [], []]);
  expect(words[2]).toEqual([["lit"], ["robot", "-carries ball"], []]);
  expect(pictures[2]!.boxes[1]!.lines[0]!.isChanged).toBe(true);
  expect(pictures.map((picture) => picture.loose.map((line) => line.text))).toEqual([["quiet"], ["quiet"], []]);
});

test("a connection in one direction only is no map: the objects are a graph whose lines change", () => {
  const oneWay = { ...moves, states: moves.states.map((one) => ({ ...one, facts: one.facts.filter((fact) => fact !== "(door b a)") })) };
  const { map, names, pictures } = drawingOf(oneWay);
  expect(map).toBeNull();
  const lines = pictures[2]!.edges.map((edge) => `${edge.kind}: ${names[edge.from]} ${edge.words} ${names[edge.to]}`);
  expect(lines).toEqual(["lasting: a door b", "lasting: b door c", "lasting: c door b", "added: robot at b", "now: robot carries ball", "removed: robot at a"]);
  expect(pictures[0]!.boxes.map((box) => box.lines.map((line) => line.text))).toEqual([["lit"], [], [], [], []]);
});

test("a relation that no step changes and that has very many lines is named and not drawn", () => {
  const names = Array.from({ length: 8 }, (_, i) => ({ name: `d${i}`, type: "disc" }));
  const smaller = names.flatMap((one, i) => names.slice(i + 1).map((other) => `(smaller ${one.name} ${other.name})`));
  const { notDrawn, pictures } = drawingOf({ left_out: 0, objects: names, states: [state([...smaller, "(on d0 d1)"]), state(smaller, [], ["(on d0 d1)"])] });
  expect(notDrawn).toEqual([["smaller", 28]]);
  expect(pictures[0]!.edges.map((edge) => edge.words)).toEqual(["on"]);
});

test("values of functions are words in the box of their object", () => {
  expect(readFact("(= (fuel truck) 3)")).toEqual({ name: "fuel", of: ["truck"], value: "3" });
  const { pictures } = drawingOf({ left_out: 0, objects: [{ name: "truck", type: "truck" }], states: [state(["(= (fuel truck) 3)", "(= (total-cost) 0)"])] });
  expect(pictures[0]!.boxes[0]!.lines.map((line) => line.text)).toEqual(["fuel = 3"]);
  expect(pictures[0]!.loose.map((line) => line.text)).toEqual(["total-cost = 0"]);
});

test("boxes keep their places in all states, never lie over each other, and fit a phone", () => {
  const sizes = Array.from({ length: 24 }, (_, i) => ({ width: 80 + ((i * 37) % 90), height: 40 + ((i * 13) % 60) }));
  const links = sizes.map((_, i): [number, number] => [i, (i * 7 + 1) % sizes.length]);
  for (const width of [350, 1200]) {
    const { spots, width: full, height } = arrange(sizes, links, width);
    expect(full).toBe(width);
    const boxes = spots.map((spot, i) => ({ left: spot.x - sizes[i]!.width / 2, right: spot.x + sizes[i]!.width / 2, top: spot.y - sizes[i]!.height / 2, bottom: spot.y + sizes[i]!.height / 2 }));
    for (const [i, a] of boxes.entries()) {
      expect(a.left >= 0 && a.right <= full && a.top >= 0 && a.bottom <= height).toBe(true);
      for (const b of boxes.slice(i + 1)) expect(a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1).toBe(true);
    }
    expect(arrange(sizes, links, width).spots).toEqual(spots);
  }
});

test("places that are named by their column and row lie in a grid", () => {
  const places = ["cell-1-1", "cell-2-1", "cell-1-2"];
  const doors = ["(next cell-1-1 cell-2-1)", "(next cell-2-1 cell-1-1)", "(next cell-1-1 cell-1-2)", "(next cell-1-2 cell-1-1)"];
  const objects = [...places.map((name) => ({ name, type: "cell" })), { name: "robot", type: "robot" }];
  const drawing = drawingOf({ left_out: 0, objects, states: [state([...doors, "(at robot cell-1-1)"]), state([...doors, "(at robot cell-2-1)"], ["(at robot cell-2-1)"], ["(at robot cell-1-1)"])] });
  const { spots } = placesOf(drawing, 800);
  expect(spots[0]!.y).toBe(spots[1]!.y);
  expect(spots[0]!.x).toBe(spots[2]!.x);
  expect(spots[1]!.x).toBeGreaterThan(spots[0]!.x);
});

test("a thing that stays at one place is drawn there, and one that is nowhere stands below the map", () => {
  const more = [...objects, { name: "lamp", type: "lamp" }, { name: "idea", type: "idea" }];
  const drawing = drawingOf({ ...moves, objects: more, states: moves.states.map((one) => ({ ...one, facts: [...one.facts, "(hangs lamp c)", "(new lamp)", "(good idea)"] })) });
  const words = drawing.pictures[0]!.boxes.map((box) => [box.name, ...box.lines.map((line) => line.text)]);
  expect(words).toEqual([["a", "lit", "robot", "ball"], ["b"], ["c", "lamp, new"], ["at no place", "idea, good"]]);
  const { spots, sizes } = placesOf(drawing, 800);
  expect(spots[3]!.y - sizes[3]!.height / 2).toBeGreaterThan(Math.max(...[0, 1, 2].map((i) => spots[i]!.y + sizes[i]!.height / 2)));
});

test("boxes in a row lie in a row, and those in a ring do not cross", () => {
  const same = (n: number) => Array.from({ length: n }, () => ({ width: 80, height: 40 }));
  const row = arrange(same(3), [[0, 1], [1, 2]], 900).spots;
  expect(Math.max(...row.map((spot) => spot.y)) - Math.min(...row.map((spot) => spot.y))).toBeLessThan(10);
  const ring = arrange(same(4), [[0, 2], [2, 1], [1, 3], [3, 0]], 900).spots;
  const side = (a: number, b: number, c: number) => Math.sign((ring[b]!.x - ring[a]!.x) * (ring[c]!.y - ring[a]!.y) - (ring[b]!.y - ring[a]!.y) * (ring[c]!.x - ring[a]!.x));
  const cross = ([a, b]: [number, number], [c, d]: [number, number]) => side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);
  expect([cross([0, 2], [1, 3]), cross([2, 1], [3, 0]), cross([0, 1], [2, 3])]).toEqual([false, false, true]);
});
