// Places boxes in a plane: linked ones near each other, none over another one. The same boxes get the same places.

export interface Size {
  width: number;
  height: number;
}

/** The centre of a box. */
export interface Spot {
  x: number;
  y: number;
}

export interface Arranged {
  spots: Spot[];
  width: number;
  height: number;
}

/** Room between boxes, between linked ones, and for the words of an edge. */
const GAP = 16;
const LINKED_GAP = 40;
const LABEL = { x: 110, y: 56 };
const ROUNDS = 200;

/** `known` are places in units of one link, such as those of a grid. The result is at least as wide as the widest box. */
export function arrange(sizes: Size[], links: [number, number][], width: number, known: Spot[] | null = null): Arranged {
  if (!sizes.length) return { spots: [], width, height: 0 };
  const widest = Math.max(...sizes.map((size) => size.width));
  const highest = Math.max(...sizes.map((size) => size.height));
  const spots = known ? known.map((spot) => ({ ...spot })) : spread(sizes.length, links);
  const range = (of: (spot: Spot) => number) => Math.max(...spots.map(of)) - Math.min(...spots.map(of));
  if (!known) turn(spots, width > 500);
  const [left, top] = [Math.min(...spots.map((spot) => spot.x)), Math.min(...spots.map((spot) => spot.y))];
  // A grid keeps its columns: it is as wide as they need, and the picture scrolls.
  const full = known ? Math.max(width, range((spot) => spot.x) * (widest + GAP) + widest + 2 * GAP) : Math.max(width, widest + 2 * GAP);
  const room = full - widest - 2 * GAP;
  const unit = { x: Math.min(widest + LABEL.x, room / (range((spot) => spot.x) || 1)), y: highest + LABEL.y };
  const margin = (room - unit.x * range((spot) => spot.x)) / 2;
  for (const spot of spots) {
    spot.x = GAP + widest / 2 + margin + (spot.x - left) * unit.x;
    spot.y = (spot.y - top) * unit.y;
  }
  if (!known) separate(spots, sizes, links, full);
  const first = Math.min(...spots.map((spot, i) => spot.y - (sizes[i]?.height ?? 0) / 2));
  for (const spot of spots) spot.y += GAP - first;
  const height = Math.max(...spots.map((spot, i) => spot.y + (sizes[i]?.height ?? 0) / 2)) + GAP;
  return { spots, width: full, height };
}

/** Places whose distances are about those along the links (stress majorization, Gansner, Koren and North 2004). */
function spread(n: number, links: [number, number][]): Spot[] {
  const distances = distancesAlong(n, links);
  const radius = n / 4 + 0.5;
  const spots = Array.from({ length: n }, (): Spot => ({ x: 0, y: 0 }));
  orderAlong(n, links).forEach((at, i) => (spots[at] = { x: radius * Math.cos((2 * Math.PI * i) / n), y: radius * Math.sin((2 * Math.PI * i) / n) * 0.9 }));
  for (let round = 0; round < ROUNDS; round++) {
    spots.forEach((spot, i) => {
      let [x, y, weights] = [0, 0, 0];
      spots.forEach((other, j) => {
        if (i === j) return;
        const wanted = distances[i]?.[j] ?? 1;
        const [dx, dy] = [spot.x - other.x, spot.y - other.y];
        const now = Math.hypot(dx, dy) || 1e-6;
        const weight = 1 / (wanted * wanted);
        x += weight * (other.x + (wanted * dx) / now);
        y += weight * (other.y + (wanted * dy) / now);
        weights += weight;
      });
      if (weights) [spot.x, spot.y] = [x / weights, y / weights];
    });
  }
  return spots;
}

/** Turns places so that their longest extent is sideways, or downwards. */
function turn(spots: Spot[], isSideways: boolean): void {
  const middle = (of: (spot: Spot) => number) => spots.reduce((sum, spot) => sum + of(spot), 0) / spots.length;
  const [x, y] = [middle((spot) => spot.x), middle((spot) => spot.y)];
  const [xx, yy, xy] = [middle((spot) => (spot.x - x) ** 2), middle((spot) => (spot.y - y) ** 2), middle((spot) => (spot.x - x) * (spot.y - y))];
  const angle = (isSideways ? 0 : Math.PI / 2) - Math.atan2(2 * xy, xx - yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  for (const spot of spots) [spot.x, spot.y] = [cos * (spot.x - x) - sin * (spot.y - y), sin * (spot.x - x) + cos * (spot.y - y)];
}

/** The boxes in an order in which linked ones follow each other where that is possible. */
function orderAlong(n: number, links: [number, number][]): number[] {
  const order: number[] = [];
  const visit = (at: number) => {
    if (order.includes(at)) return;
    order.push(at);
    for (const [a, b] of links) {
      if (a === at) visit(b);
      if (b === at) visit(a);
    }
  };
  for (let at = 0; at < n; at++) visit(at);
  return order;
}

/** Number of links between each two; those without a way have a little more than the longest. */
function distancesAlong(n: number, links: [number, number][]): number[][] {
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [a, b] of links) {
    next[a]?.push(b);
    next[b]?.push(a);
  }
  const distances = Array.from({ length: n }, (_, start) => {
    const found = new Array<number>(n).fill(Infinity);
    found[start] = 0;
    const queue = [start];
    for (const at of queue) {
      for (const to of next[at] ?? []) {
        if (found[to] !== Infinity) continue;
        found[to] = (found[at] ?? 0) + 1;
        queue.push(to);
      }
    }
    return found;
  });
  const longest = Math.max(1, ...distances.flat().filter(Number.isFinite));
  return distances.map((row) => row.map((distance) => (Number.isFinite(distance) ? distance : Math.min(longest, 3) + 0.5)));
}

/** Moves boxes apart, downwards where the width does not let them go sideways. */
function separate(spots: Spot[], sizes: Size[], links: [number, number][], width: number): void {
  const linked = new Set(links.map(([a, b]) => (a < b ? `${a} ${b}` : `${b} ${a}`)));
  const inside = (spot: Spot, size: Size) => (spot.x = Math.min(width - GAP - size.width / 2, Math.max(GAP + size.width / 2, spot.x)));
  for (let round = 0; round < 300; round++) {
    let isApart = true;
    for (let i = 0; i < spots.length; i++) {
      for (let j = i + 1; j < spots.length; j++) {
        const [a, b, s, t] = [spots[i], spots[j], sizes[i], sizes[j]];
        if (!a || !b || !s || !t) continue;
        const gap = linked.has(`${i} ${j}`) ? LINKED_GAP : GAP;
        const x = (s.width + t.width) / 2 + gap - Math.abs(a.x - b.x);
        const y = (s.height + t.height) / 2 + gap - Math.abs(a.y - b.y);
        if (x <= 0.5 || y <= 0.5) continue;
        isApart = false;
        const isSideways = x < y && round < 100;
        const [from, to] = (isSideways ? a.x <= b.x : a.y <= b.y) ? [a, b] : [b, a];
        if (isSideways) {
          from.x -= x / 2;
          to.x += x / 2;
          inside(a, s);
          inside(b, t);
        } else {
          from.y -= y / 2;
          to.y += y / 2;
        }
      }
    }
    if (isApart) return;
  }
}
