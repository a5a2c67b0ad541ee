// A picture of a state: boxes of objects with lines between them, or the places of a map with what is at each.

import type { Steps } from "./data";
import { arrange, type Arranged, type Size, type Spot } from "./layout";
import { layoutOf, mapOf, readFact, sceneOf, wordsOf, type Fact, type Layout, type MapOfPlaces, type Thing } from "./scene";

export interface Line {
  text: string;
  /** How many objects it is inside of, besides the one of the box. */
  depth: number;
  isChanged: boolean;
}

export interface Box {
  name: string;
  type: string;
  lines: Line[];
  isChanged: boolean;
}

export interface Edge {
  from: number;
  to: number;
  words: string;
  kind: "road" | "lasting" | "now" | "added" | "removed";
}

export interface Picture {
  boxes: Box[];
  edges: Edge[];
  /** Facts that are in no box and on no line. */
  loose: Line[];
}

/** What all pictures of a plan have in common. */
export interface Drawing {
  map: MapOfPlaces | null;
  /** The objects with a box. */
  names: string[];
  /** Relations with too many lines to be drawn, with their number. */
  notDrawn: [string, number][];
  /** Objects without a box: no step changes them, and there are too many. */
  leftOut: number;
  pictures: Picture[];
}

const MOST_BOXES = 40;
const MOST_LINES = 7;
/** The name of the box of what is at no place. */
const ELSEWHERE = "at no place";

export function drawingOf(steps: Steps): Drawing {
  const layout = layoutOf(steps);
  const map = mapOf(steps, layout);
  return map ? mapDrawing(steps, layout, map) : graphDrawing(steps, layout);
}

/** The objects that a step is about. */
const changedBy = ({ added, removed }: Steps["states"][number]): Set<string> => new Set([...added, ...removed].flatMap((fact) => readFact(fact)?.of ?? []));

function mapDrawing(steps: Steps, layout: Layout, map: MapOfPlaces): Drawing {
  const places = new Set(map.places);
  const pictures = steps.states.map((state) => {
    const changed = changedBy(state);
    const added = new Set(state.added);
    const things = new Map<string, Thing>();
    const top = sceneOf(state.facts, layout);
    const visit = (thing: Thing) => {
      things.set(thing.name, thing);
      thing.inside.forEach(visit);
    };
    top.forEach(visit);
    const homes = homesOf(top, places);
    const linesOf = (thing: Thing, depth: number): Line[] => {
      const home = homes.get(thing.name);
      const facts = thing.facts.filter((fact) => fact !== home?.fact);
      const own = { text: [depth > 0 ? `${thing.by} ${thing.name}` : thing.name, ...facts].join(", "), depth, isChanged: changed.has(thing.name) };
      return [own, ...inside(thing, depth + 1)];
    };
    const inside = (thing: Thing, depth: number): Line[] => thing.inside.filter((one) => !places.has(one.name)).flatMap((one) => linesOf(one, depth));
    const boxes = map.places.map((name): Box => {
      const thing = things.get(name);
      const facts = (thing?.facts ?? []).filter((fact) => !fact.startsWith(`${map.relation} `));
      const own = facts.map((text) => ({ text, depth: 0, isChanged: false }));
      const staying = top.filter((one) => homes.get(one.name)?.place === name).flatMap((one) => linesOf(one, 0));
      return { name, type: "", lines: [...own, ...(thing ? inside(thing, 0) : []), ...staying], isChanged: changed.has(name) };
    });
    const elsewhere = top.filter((thing) => !places.has(thing.name) && !homes.has(thing.name)).flatMap((thing) => linesOf(thing, 0));
    const loose = looseOf(state.facts, added);
    return { boxes: [...boxes, { name: ELSEWHERE, type: "", lines: elsewhere, isChanged: false }], edges: [] as Edge[], loose };
  });
  // The last box is there only if something is at no place in some state.
  const isNeeded = pictures.some((picture) => picture.boxes.at(-1)?.lines.length);
  if (!isNeeded) for (const picture of pictures) picture.boxes.pop();
  const at = new Map(map.places.map((name, i) => [name, i]));
  const roads = map.roads.map(([a, b]): Edge => ({ from: at.get(a) ?? 0, to: at.get(b) ?? 0, words: "", kind: "road" }));
  for (const picture of pictures) picture.edges = roads;
  return { map, names: [...map.places, ...(isNeeded ? [ELSEWHERE] : [])], notDrawn: [], leftOut: 0, pictures };
}

/** Things that no step moves, with the one place that a fact of theirs names. */
function homesOf(top: Thing[], places: Set<string>): Map<string, { place: string; fact: string }> {
  const homes = new Map<string, { place: string; fact: string }>();
  for (const thing of top) {
    const named = thing.facts.flatMap((fact) => {
      const [, place = "", ...more] = fact.split(" ");
      return places.has(place) && more.length === 0 ? [{ place, fact }] : [];
    });
    if (named.length === 1 && named[0] && !places.has(thing.name)) homes.set(thing.name, named[0]);
  }
  return homes;
}

function looseOf(facts: string[], added: Set<string>): Line[] {
  return facts.flatMap((text) => {
    const fact = readFact(text);
    return fact?.of.length === 0 ? [{ text: wordsOf(fact), depth: 0, isChanged: added.has(text) }] : [];
  });
}

const isLine = (fact: Fact): boolean => fact.of.length === 2 && fact.of[0] !== fact.of[1] && fact.value === undefined;

function graphDrawing(steps: Steps, { types }: Layout): Drawing {
  const changed = new Set(steps.states.flatMap((state) => [...changedBy(state)]));
  const all = steps.objects.map((object) => object.name);
  const names = all.length <= MOST_BOXES ? all : [...all.filter((name) => changed.has(name)), ...all.filter((name) => !changed.has(name))].slice(0, MOST_BOXES);
  const at = new Map(names.map((name, i) => [name, i]));
  const sets = steps.states.map((state) => new Set(state.facts));
  const lasting = new Set([...(sets[0] ?? [])].filter((text) => sets.every((set) => set.has(text))));
  const counts = new Map<string, number>();
  for (const text of lasting) {
    const fact = readFact(text);
    if (fact && isLine(fact)) counts.set(fact.name, (counts.get(fact.name) ?? 0) + 1);
  }
  const notDrawn = [...counts].filter(([, n]) => n > 2 * names.length);
  const hidden = new Set(notDrawn.map(([name]) => name));
  const pictures = steps.states.map((state) => {
    const added = new Set(state.added);
    const touched = changedBy(state);
    const lines = names.map((): Line[] => []);
    const edges: Edge[] = [];
    const take = (text: string, kind: Edge["kind"]) => {
      const fact = readFact(text);
      const from = at.get(fact?.of[0] ?? "");
      if (!fact || from === undefined) return;
      const to = at.get(fact.of[1] ?? "");
      if (isLine(fact) && to !== undefined && !hidden.has(fact.name)) edges.push({ from, to, words: fact.name, kind });
      else if (kind !== "removed" && !(isLine(fact) && hidden.has(fact.name))) lines[from]?.push({ text: wordsOf(fact), depth: 0, isChanged: kind === "added" });
    };
    for (const text of state.facts) take(text, added.has(text) ? "added" : lasting.has(text) ? "lasting" : "now");
    for (const text of state.removed) take(text, "removed");
    const boxes = names.map((name, i): Box => ({ name, type: types.get(name) ?? "", lines: lines[i] ?? [], isChanged: touched.has(name) }));
    return { boxes, edges, loose: looseOf(state.facts, added) };
  });
  return { map: null, names, notDrawn, leftOut: all.length - names.length, pictures };
}

// ---- Places --------------------------------------------------------------------------------------------------------------------------

export const LINE_HEIGHT = 17;
export const TITLE_HEIGHT = 24;
const INDENT = 12;
const WIDEST = 210;

/** Pixels of a character in a name and in a line, in a wide font. */
const CHARACTER = { name: 9.6, line: 8 };

/** A text that is cut to the width of its box. */
export const cut = (text: string, width: number, depth = 0): string => {
  const most = Math.floor((width - 16 - depth * INDENT) / CHARACTER.line);
  return text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
};

export const shownLines = (lines: Line[]): Line[] =>
  lines.length <= MOST_LINES ? lines : [...lines.slice(0, MOST_LINES - 1), { text: `and ${lines.length - MOST_LINES + 1} more`, depth: 0, isChanged: lines.slice(MOST_LINES - 1).some((line) => line.isChanged) }];

/** The places and sizes of the boxes, the same for all states. */
export function placesOf({ map, names, pictures }: Drawing, width: number): Arranged & { sizes: Size[] } {
  const sizes = names.map((name, i): Size => {
    const all = pictures.map((picture) => shownLines(picture.boxes[i]?.lines ?? []));
    const widest = 18 + Math.max(name.length * CHARACTER.name, ...all.flat().map((line) => line.text.length * CHARACTER.line + line.depth * INDENT));
    return { width: Math.min(WIDEST, Math.max(76, widest)), height: TITLE_HEIGHT + LINE_HEIGHT * Math.max(...all.map((lines) => lines.length)) + 8 };
  });
  const seen = new Set<string>();
  const links: [number, number][] = [];
  for (const { from, to } of pictures.flatMap((picture) => picture.edges)) {
    const key = from < to ? `${from} ${to}` : `${to} ${from}`;
    if (seen.has(key)) continue;
    seen.add(key);
    links.push([from, to]);
  }
  const places = map ? sizes.slice(0, map.places.length) : sizes;
  const arranged = arrange(places, links, width, map && gridOf(map));
  const elsewhere = sizes[places.length];
  if (!elsewhere) return { ...arranged, sizes };
  // What is at no place stands below the map.
  const spots = [...arranged.spots, { x: elsewhere.width / 2 + 16, y: arranged.height + elsewhere.height / 2 }];
  return { spots, width: arranged.width, height: arranged.height + elsewhere.height + 16, sizes };
}

/** Places by the two numbers in their names, if every road leads to a neighbour in such a grid. */
function gridOf({ places, roads }: MapOfPlaces): Spot[] | null {
  const spots = new Map<string, Spot>();
  for (const name of places) {
    const found = /(\d+)\D+(\d+)\D*$/.exec(name);
    if (!found) return null;
    spots.set(name, { x: Number(found[1]), y: Number(found[2]) });
  }
  const isUnique = new Set([...spots.values()].map(({ x, y }) => `${x} ${y}`)).size === places.length;
  const isNear = ([from, to]: [string, string]) => {
    const [a, b] = [spots.get(from), spots.get(to)];
    return a !== undefined && b !== undefined && Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) === 1;
  };
  return isUnique && roads.every(isNear) ? [...spots.values()] : null;
}
