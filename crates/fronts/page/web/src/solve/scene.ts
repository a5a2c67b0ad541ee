// Arranges the objects of a state: which one is in or at which other one, by the facts with two objects that change along the plan.

import type { Steps } from "./data";

interface Fact {
  name: string;
  of: string[];
}

export function readFact(text: string): Fact | null {
  const words = text.replace(/[()]/g, " ").trim().split(/\s+/);
  const [name, ...of] = words;
  return name && name !== "=" ? { name, of } : null;
}

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
  const changing = states.map((state) => state.facts.filter((fact) => !lasting.has(fact)).flatMap((fact) => readFact(fact) ?? []).filter((fact) => fact.of.length === 2));
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
    const at = fact.of.length === 2 ? layout.inner.get(fact.name) : undefined;
    const [inside, outside] = at === 1 ? [fact.of[1], fact.of[0]] : [fact.of[0], fact.of[1]];
    const thing = inside === undefined ? undefined : things.get(inside);
    if (!thing) continue;
    if (at !== undefined && outside !== undefined && !outer.has(thing.name) && !isAround(thing.name, outside, outer)) {
      outer.set(thing.name, outside);
      thing.by = fact.name;
    } else thing.facts.push([fact.name, ...fact.of.slice(1)].join(" "));
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
