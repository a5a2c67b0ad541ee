// Draws a picture of a state as SVG. The words of the same facts stand beside it, so a screen reader skips the drawing's parts.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Size, Spot } from "./layout";
import { cut, LINE_HEIGHT, placesOf, shownLines, TITLE_HEIGHT, type Box, type Drawing, type Edge } from "./picture";

export function PictureView({ drawing, at, title }: { drawing: Drawing; at: number; title: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!place.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.floor(entry.contentRect.width)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const places = useMemo(() => (width ? placesOf(drawing, width) : null), [drawing, width]);
  const picture = drawing.pictures[at];
  return (
    <div ref={place} class="picture" tabIndex={0} role="group" aria-label="Picture of the state">
      {places && picture && (
        <svg role="img" aria-label={title} width={places.width} height={places.height} viewBox={`0 0 ${places.width} ${places.height}`}>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" class="arrow" />
            </marker>
          </defs>
          {bundlesOf(picture.edges).map((edges) => (
            <EdgeView key={`${edges[0]?.from} ${edges[0]?.to} ${edges[0]?.kind}`} edges={edges} spots={places.spots} sizes={places.sizes} />
          ))}
          {picture.boxes.map((box, i) => {
            const [spot, size] = [places.spots[i], places.sizes[i]];
            return spot && size && <BoxView key={box.name} box={box} spot={spot} size={size} isPlace={drawing.map !== null} />;
          })}
        </svg>
      )}
    </div>
  );
}

/** Edges from one box to the same other one and of one kind, as one line. */
function bundlesOf(edges: Edge[]): Edge[][] {
  const bundles = new Map<string, Edge[]>();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to} ${edge.kind}`;
    bundles.set(key, [...(bundles.get(key) ?? []), edge]);
  }
  return [...bundles.values()];
}

function EdgeView({ edges, spots, sizes }: { edges: Edge[]; spots: Spot[]; sizes: Size[] }) {
  const [edge] = edges;
  const [from, to, size] = edge ? [spots[edge.from], spots[edge.to], sizes[edge.to]] : [];
  const start = edge && sizes[edge.from];
  if (!edge || !from || !to || !size || !start) return null;
  const [a, b] = [borderOf(from, start, to), borderOf(to, size, from)];
  const words = edges.map((one) => one.words).join(", ");
  return (
    <g class={`edge is-${edge.kind}`}>
      <line x1={a.x} y1={a.y} x2={b.x} y2={b.y} marker-end={edge.kind === "road" ? undefined : "url(#arrow)"} />
      {words && (
        <text x={(a.x + b.x) / 2} y={(a.y + b.y) / 2 + 4} text-anchor="middle">
          {words}
        </text>
      )}
    </g>
  );
}

/** The point at which the line from the centre of a box to another point leaves the box. */
function borderOf(spot: Spot, size: Size, to: Spot): Spot {
  const [dx, dy] = [to.x - spot.x, to.y - spot.y];
  const share = Math.min(size.width / 2 / (Math.abs(dx) || 1e-6), size.height / 2 / (Math.abs(dy) || 1e-6), 1);
  return { x: spot.x + dx * share, y: spot.y + dy * share };
}

function BoxView({ box, spot, size, isPlace }: { box: Box; spot: Spot; size: Size; isPlace: boolean }) {
  const [left, top] = [spot.x - size.width / 2, spot.y - size.height / 2];
  return (
    <g class={`box${box.isChanged ? " is-changed" : ""}${isPlace ? " is-place" : ""}`}>
      <rect x={left} y={top} width={size.width} height={size.height} rx="8" />
      <text class="box-name" x={left + 8} y={top + 17}>
        {cut(box.name, size.width)}
        <title>{[box.name, box.type].filter(Boolean).join(", ")}</title>
      </text>
      {shownLines(box.lines).map((line, i) => (
        <text key={i} class={line.isChanged ? "box-line is-changed" : "box-line"} x={left + 8 + line.depth * 12} y={top + TITLE_HEIGHT + 13 + i * LINE_HEIGHT}>
          {cut(line.text, size.width, line.depth)}
          <title>{line.text}</title>
        </text>
      ))}
    </g>
  );
}
