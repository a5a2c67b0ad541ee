// The objects of a state: which one is in or at which other one, by the facts with two objects that change along the plan, and the map that they move on.

import type { Steps } from "./data";

export interface Fact {
  name: string;
  of: string[];
  /** The value of a function. */
  value?: string;
}

export function readFact(text: string): Fact | null {
  const number = /^\(=\s+\(?([^()]+?)\)?\s+([^\s()]+)\)$/.exec(text.trim());
  const [name, ...of] = (number?.[1] ?? text.replace(/[()]/g, " ")).trim().split(/\s+/);
  if (!name || name === "=") return null;
  return number ? { name, of, value: number[2] } : { name, of };
}

/** A fact in the words of its box: without the object that it is about. */
export const wordsOf = ({ name, of, value }: Fact, from = 1): string => [name, ...of.slice(from)].join(" ") + (value === undefined ? "" : ` = ${value}`);

export interface Thing {
  name: string;
  type: string;
  /** The fact that puts it where it is, such as `at`. */
  by: string;
  /** Facts about it alone, and those with several objects that put nothing anywhere. */
  facts: string[];
  inside: Thing[];
}

export interface Layout {
  /** Predicate with two objects -> the place (0 or 1) of the object that is inside the other one. */
  inner: Map<string, 0 | 1>;
  types: Map<string, string>;
}

/** Properties that hold for all states of a plan. */
export function layoutOf({ states, objects }: Steps): Layout {
  const all = states.map((state) => new Set(state.facts));
  // Facts of every state, such as connections between places, do not show what moves.
  const lasting = new Set([...(all[0] ?? [])].filter((fact) => all.every((state) => state.has(fact))));
  const changing = states.map((state) => state.facts.filter((fact) => !lasting.has(fact)).flatMap((fact) => readFact(fact) ?? []).filter((fact) => fact.of.length === 2 && fact.value === undefined));
  const names = new Set(changing.flat().map((fact) => fact.name));
  // An object can be inside only one other at a time.
  const isSingle = (name: string, at: 0 | 1) =>
    changing.every((facts) => {
      const own = facts.filter((fact) => fact.name === name).map((fact) => fact.of[at]);
      return new Set(own).size === own.length;
    });
  const inner = new Map<string, 0 | 1>();
  const open: string[] = [];
  for (const name of names) {
    const [first, second] = [isSingle(name, 0), isSingle(name, 1)];
    if (first && second) open.push(name);
    else if (first || second) inner.set(name, first ? 0 : 1);
  }
  // If both fit, the outer one is the one that has a place in every state.
  for (const name of open) {
    const placed = (object: string) => changing.every((facts) => facts.some((fact) => inner.has(fact.name) && fact.of[inner.get(fact.name) ?? 0] === object));
    const firsts = changing.flat().filter((fact) => fact.name === name).map((fact) => fact.of[0] ?? "");
    inner.set(name, firsts.length > 0 && firsts.every(placed) ? 1 : 0);
  }
  return { inner, types: new Map(objects.map((object) => [object.name, object.type])) };
}

/** The objects of a state, those that are in no other one first level. */
export function sceneOf(facts: string[], layout: Layout): Thing[] {
  const things = new Map<string, Thing>();
  for (const [name, type] of layout.types) things.set(name, { name, type, by: "", facts: [], inside: [] });
  const outer = new Map<string, string>();
  for (const text of facts) {
    const fact = readFact(text);
    if (!fact) continue;
    const at = fact.of.length === 2 && fact.value === undefined ? layout.inner.get(fact.name) : undefined;
    const [inside, outside] = at === 1 ? [fact.of[1], fact.of[0]] : [fact.of[0], fact.of[1]];
    const thing = inside === undefined ? undefined : things.get(inside);
    if (!thing) continue;
    if (at !== undefined && outside !== undefined && !outer.has(thing.name) && !isAround(thing.name, outside, outer)) {
      outer.set(thing.name, outside);
      thing.by = fact.name;
    } else thing.facts.push(wordsOf(fact));
  }
  for (const [name, around] of outer) {
    const thing = things.get(name);
    if (thing) things.get(around)?.inside.push(thing);
  }
  return [...things.values()].filter((thing) => !outer.has(thing.name));
}

/** True if `inside` is around `outside` already, so that the one cannot be put into the other. */
function isAround(inside: string, outside: string, outer: Map<string, string>): boolean {
  for (let at: string | undefined = outside; at !== undefined; at = outer.get(at)) if (at === inside) return true;
  return false;
}

export interface MapOfPlaces {
  /** The fact between two neighbours. */
  relation: string;
  places: string[];
  roads: [string, string][];
}

/** Most places of a map. */
const MOST_PLACES = 120;

/** The map of a plan: a fact between two objects of one type that holds in both directions and in every state, where other objects are at these. */
export function mapOf({ states, objects }: Steps, { inner, types }: Layout): MapOfPlaces | null {
  const all = states.map((state) => new Set(state.facts));
  const relations = new Map<string, [string, string][]>();
  const others = new Set<string>();
  for (const state of states) {
    for (const text of state.facts) {
      const fact = readFact(text);
      const [a, b] = fact?.of ?? [];
      if (!fact || a === undefined || b === undefined || fact.of.length !== 2 || fact.value !== undefined) continue;
      if (inner.has(fact.name)) others.add(types.get(fact.of[1 - (inner.get(fact.name) ?? 0)] ?? "") ?? "");
      else if (state === states[0] && a !== b && all.every((one) => one.has(text))) relations.set(fact.name, [...(relations.get(fact.name) ?? []), [a, b]]);
    }
  }
  let best: MapOfPlaces | null = null;
  for (const [relation, pairs] of [...relations].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const type = types.get(pairs[0]?.[0] ?? "") ?? "";
    const known = new Set(pairs.map((pair) => pair.join(" ")));
    const isMap = others.has(type) && pairs.every(([a, b]) => types.get(a) === type && types.get(b) === type && known.has(`${b} ${a}`));
    const places = objects.filter((object) => object.type === type).map((object) => object.name);
    const roads = pairs.filter(([a, b]) => a < b);
    if (isMap && places.length <= MOST_PLACES && roads.length > (best?.roads.length ?? 0)) best = { relation, places, roads };
  }
  return best;
}
