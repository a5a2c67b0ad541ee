// Which part of a report is shown.

import { address, cellParts, el, index, link, openData, plain, put } from "./base.js";
import { cellPage, overviewPage } from "./overview.js";
import { searchPage } from "./search.js";
import { taskPage } from "./task.js";

// Shows a report in `main`, with the way to the part that is shown in `crumbs`. The part is named by the fragment of the page's address.
export function showReport({ main, crumbs, data }) {
  openData(data);
  const searchInput = el("input", { type: "search", placeholder: "Search prompts and replies", "aria-label": "Search prompts and replies" });
  const search = el("form", { role: "search", submit: (event) => (event.preventDefault(), (location.hash = `search=${encodeURIComponent(searchInput.value.trim())}`)) }, searchInput);
  crumbs.after(search);
  const stop = new AbortController();
  let turn = 0;
  let newest = null;

  async function route(isUpdate) {
    const own = ++turn;
    if (newest) openData(newest);
    newest = null;
    const words = location.hash.startsWith("#search=") ? safely(location.hash.slice("#search=".length)) : null;
    const parts = words !== null ? [] : location.hash.split("?")[0].replace(/^#\/?/, "").split("/").filter(Boolean).map(safely);
    const only = index.kind === "run" && index.cells.length === 1 ? index.cells[0] : null;
    const cell = parts.length
      ? index.cells.find((cell) => cellParts(cell).every((part, i) => part === parts[i]))
      : only;
    const [, , , task, view, rest] = parts;
    searchInput.value = words || "";
    crumbs.replaceChildren();
    put(crumbs, el("a", { href: "#/" }, index.title));
    if (cell && !only) put(crumbs, " \u203a ", link(address(...cellParts(cell)), cellParts(cell).join(" ")));
    if (cell && task) put(crumbs, " \u203a ", link(address(...cellParts(cell), task), task));
    const before = [...main.children];
    let content;
    try {
      if (words !== null) content = searchPage(words, () => own !== turn);
      else if (parts.length && !cell) content = [el("h1", {}, "Nothing here"), el("p.note", {}, "This link names nothing in this report.")];
      else if (!cell) content = await overviewPage();
      else if (!task) content = await cellPage(cell);
      else content = await taskPage(cell, task, view, rest);
    } catch (error) {
      content = [el("h1", {}, "This page cannot be shown"), el("p.note.is-bad", {}, String(error.message || error))];
    }
    // Somebody went on while it was unpacked.
    if (own !== turn) return;
    const where = words !== null ? "search" : task ? `${task} ${view || ""}` : "";
    const stays = isUpdate || (task && main.dataset.where === where);
    const places = isUpdate ? [...main.querySelectorAll(".scroll")].map((node) => node.scrollTop) : [];
    before.forEach((node) => node.remove());
    put(main, content);
    main.querySelectorAll(".scroll").forEach((node, i) => places[i] && (node.scrollTop = places[i]));
    main.dataset.where = where;
    document.title = [words && `search ${words}`, rest || task || (cell && cellParts(cell).join(" ")) || "", index.title].filter(Boolean).map(plain).join(" - ");
    if (!stays) window.scrollTo(0, 0);
    performance.mark(`shown ${location.hash}`);
    document.documentElement.dataset.shown = String(Math.round(performance.now()));
  }

  window.addEventListener("hashchange", () => route(), { signal: stop.signal });
  // Drawings have the colours of the moment in which they were made.
  const redraw = () => main.querySelector("img.drawing") && route();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw, { signal: stop.signal });
  // `/` goes to the first filter, or to the search.
  const findFilter = (event) => {
    if (event.key !== "/" || event.target.closest("input, select, textarea, [contenteditable]")) return;
    event.preventDefault();
    (main.querySelector("input[type=search]") || searchInput).focus();
  };
  document.addEventListener("keydown", findFilter, { signal: stop.signal });
  route();
  return {
    redraw,
    // Shows newer data. A task, a search, and a filter in which somebody types stay as they are until the next part is opened.
    update(newer) {
      newest = newer;
      const isTyping = main.contains(document.activeElement) && document.activeElement.matches("input, select");
      if (!main.dataset.where && !isTyping) route(true);
    },
    stop() {
      stop.abort();
      search.remove();
      turn++;
    },
  };
}

function safely(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
