// Which page is shown, and how the page looks.

const main = document.getElementById("main");
const crumbs = document.getElementById("crumbs");
const searchInput = el("input", { type: "search", placeholder: "Search prompts and replies", "aria-label": "Search prompts and replies" });
crumbs.after(
  el("form", { role: "search", submit: (event) => (event.preventDefault(), (location.hash = `search=${encodeURIComponent(searchInput.value.trim())}`)) }, searchInput),
);
let turn = 0;

async function route() {
  const own = ++turn;
  const words = location.hash.startsWith("#search=") ? safely(location.hash.slice("#search=".length)) : null;
  const parts = words !== null ? [] : location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(safely);
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
  const where = `${task || ""} ${view || ""}`;
  const stays = main.dataset.where === where && task;
  before.forEach((node) => node.remove());
  put(main, content);
  main.dataset.where = where;
  document.title = [words && `search ${words}`, rest || task || (cell && cellParts(cell).join(" ")) || "", index.title].filter(Boolean).map(plain).join(" - ");
  if (!stays) window.scrollTo(0, 0);
  performance.mark(`shown ${location.hash}`);
  document.documentElement.dataset.shown = String(Math.round(performance.now()));
}

function safely(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// ---- Light and dark ------------------------------------------------------------------------------------------------------------------

const themes = ["system", "light", "dark"];
const button = document.getElementById("theme");

function stored() {
  try {
    return localStorage.getItem("planforge-theme");
  } catch {
    return null;
  }
}

function setTheme(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = theme;
  button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  try {
    localStorage.setItem("planforge-theme", theme);
  } catch {
    // A file opened from a disk may have no storage; the choice then lasts as long as the page.
  }
}

button.hidden = false;
button.addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || "system";
  setTheme(themes[(themes.indexOf(now) + 1) % themes.length]);
  // Drawings have the colours of the moment in which they were made.
  if (main.querySelector("img.drawing")) route();
});
setTheme(themes.includes(stored()) ? stored() : "system");

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => main.querySelector("img.drawing") && route());

// `/` goes to the first filter, or to the search.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, select, textarea")) return;
  event.preventDefault();
  (main.querySelector("input[type=search]") || searchInput).focus();
});

window.addEventListener("hashchange", route);
route();
