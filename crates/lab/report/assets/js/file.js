// The report as one file: its data is in script elements, and its colours are chosen here.

import { showReport } from "./app.js";

const loaded = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done());
});

async function unpack(name) {
  // The page draws its first table while the rest of the file is still being read.
  if (!document.getElementById(name)) await loaded;
  const packed = document.getElementById(name).textContent;
  const bytes = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(packed)
    : Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const contents = JSON.parse(document.getElementById("index").textContent);
const report = showReport({
  main: document.getElementById("main"),
  crumbs: document.getElementById("crumbs"),
  data: { index: contents, chunk: unpack, note: `Written by planforge ${contents.planforge}. This file holds everything that it shows and loads nothing.` },
});

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
  report.redraw();
});
setTheme(themes.includes(stored()) ? stored() : "system");
