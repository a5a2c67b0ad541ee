// A list of which only the lines in sight are drawn, so that ten thousand lines cost as much as thirty.

import { el, figure, plain, put } from "./base.js";

let listNumber = 0;

// `row(i)` gives the content of line i, `open(i)` is called when it is chosen. `keys(i, key)` may take further keys.
export function lazyList({ height, row, open, label, role, keys, attributes }) {
  const id = `list-${++listNumber}`;
  const inner = el("div.lines", { role: "presentation" });
  const node = el("div.list", { tabindex: 0, role, "aria-label": label, id }, inner);
  const item = role === "tree" ? "treeitem" : "option";
  let total = 0;
  let chosen = -1;
  let drawn = new Map();
  let waiting = false;

  function draw() {
    waiting = false;
    const first = Math.max(0, Math.floor(node.scrollTop / height) - 12);
    const last = Math.min(total, Math.ceil((node.scrollTop + (node.clientHeight || 600)) / height) + 12);
    const next = new Map();
    for (let i = first; i < last; i++) {
      let line = drawn.get(i);
      if (!line) {
        line = el("div.line", { role: item, id: `${id}-${i}`, ...(attributes ? attributes(i) : {}) }, row(i));
        line.style.top = `${i * height}px`;
        line.style.height = `${height}px`;
        line.addEventListener("click", (event) => {
          if (event.defaultPrevented) return;
          choose(i);
          open(i);
        });
        inner.append(line);
      }
      line.setAttribute("aria-selected", String(i === chosen));
      next.set(i, line);
    }
    for (const [i, line] of drawn) if (!next.has(i)) line.remove();
    drawn = next;
  }
  function later() {
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(draw);
    }
  }
  function choose(i) {
    chosen = i;
    if (i >= 0) {
      const top = i * height;
      const room = node.clientHeight || 600;
      if (top < node.scrollTop) node.scrollTop = top;
      else if (top + height > node.scrollTop + room) node.scrollTop = top + height - room;
      node.setAttribute("aria-activedescendant", `${id}-${i}`);
    } else node.removeAttribute("aria-activedescendant");
    draw();
  }
  node.addEventListener("scroll", later, { passive: true });
  new ResizeObserver(later).observe(node);
  node.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(node.clientHeight / height) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -total, End: total };
    if (event.key in moves && total) choose(Math.min(total - 1, Math.max(0, chosen + moves[event.key])));
    else if (event.key === "Enter" && chosen >= 0) open(chosen);
    else if (!(keys && chosen >= 0 && keys(chosen, event.key))) return;
    event.preventDefault();
  });
  return {
    node,
    choose,
    // The list has other lines now.
    set(lines) {
      total = lines;
      for (const line of drawn.values()) line.remove();
      drawn = new Map();
      chosen = Math.min(chosen, total - 1);
      inner.style.height = `${Math.max(1, total) * height}px`;
      draw();
      // Somebody may scroll in this very frame, of which no event tells where the place is that of the frame before.
      later();
    },
  };
}

// Rows of a table that are drawn at once; a longer table draws only the rows in sight, all of one height.
const MOST_ROWS = 200;
const ROW_HEIGHT = 34;
// Rows above and below those in sight: each costs layout in every frame of scrolling.
const ROWS_AROUND = 5;

// A table. `columns` are [title, class]; `cells(item)` gives the cells of a row.
export function table(caption, columns, items, cells) {
  const body = el("tbody");
  const row = (i) => el("tr", { "aria-rowindex": items.length > MOST_ROWS ? i + 2 : null }, cells(items[i]).map((cell, k) => el("td", { class: columns[k][1] }, cell)));
  const head = el("tr", {}, columns.map(([title, kind]) => el("th", { scope: "col", class: kind }, title)));
  const node = el("table", {}, el("caption", {}, caption), el("thead", {}, head), body);
  const scroll = el("div.scroll", { tabindex: 0, role: "group", "aria-label": plain(caption) }, node);
  if (items.length <= MOST_ROWS) put(body, items.map((_, i) => row(i)));
  else drawRowsInSight(scroll, body, items.length, row);
  return scroll;
}

function drawRowsInSight(scroll, body, total, row) {
  const space = () => el("tr.space", { "aria-hidden": "true" }, el("td", { colspan: scroll.querySelectorAll("th").length }));
  const [above, below] = [space(), space()];
  const drawn = new Map();
  const node = scroll.querySelector("table");
  scroll.classList.add("is-long");
  node.setAttribute("aria-rowcount", total + 1);
  body.append(above, below);
  function draw() {
    const first = Math.min(Math.max(0, Math.floor(scroll.scrollTop / ROW_HEIGHT) - ROWS_AROUND), total);
    const last = Math.min(total, first + 2 * ROWS_AROUND + Math.ceil((scroll.clientHeight || 600) / ROW_HEIGHT));
    for (const [i, line] of drawn) {
      if (i >= first && i < last) continue;
      line.remove();
      drawn.delete(i);
    }
    let next = below;
    for (let i = last - 1; i >= first; i--) {
      if (!drawn.has(i)) {
        drawn.set(i, row(i));
        next.before(drawn.get(i));
      }
      next = drawn.get(i);
    }
    above.firstChild.style.height = `${first * ROW_HEIGHT}px`;
    below.firstChild.style.height = `${(total - last) * ROW_HEIGHT}px`;
  }
  let isWaiting = false;
  // Columns have the widths of the first rows, so that nothing moves sideways while somebody scrolls.
  const fixColumns = () => {
    if (node.style.tableLayout) return;
    const titles = [...node.querySelectorAll("th")];
    const widths = titles.map((title) => Math.ceil(title.getBoundingClientRect().width + 1));
    if (widths[0] < 2) return;
    titles.forEach((title, i) => (title.style.width = `${widths[i]}px`));
    node.style.tableLayout = "fixed";
    node.style.width = "100%";
    node.style.minWidth = `${node.offsetWidth}px`;
  };
  const later = () => {
    fixColumns();
    if (!isWaiting) requestAnimationFrame(() => ((isWaiting = false), draw()));
    isWaiting = true;
  };
  scroll.addEventListener("scroll", later, { passive: true });
  new ResizeObserver(later).observe(scroll);
  draw();
}

// A part that is filled when it is opened for the first time.
export function fold(title, fill, isOpen) {
  const body = el("div.folded");
  let filled = false;
  const node = el("details", {}, el("summary", {}, title), body);
  async function open() {
    if (filled) return;
    filled = true;
    await shown(body, fill);
  }
  node.addEventListener("toggle", () => node.open && open());
  if (isOpen) {
    node.open = true;
    open();
  }
  return node;
}

// Puts what `fill` gives, or says that it could not be read.
export async function shown(body, fill) {
  try {
    put(body, await fill());
  } catch (error) {
    put(body, el("p.note.is-bad", {}, `This part of the report cannot be read: ${error.message || error}`));
  }
}
