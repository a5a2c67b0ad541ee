import { render, type ComponentType } from "preact";
import { lazy, Suspense } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import "./styles.css";
import { choose, themeNow } from "./theme";

/** The parts of the page, by path. Each is loaded when it is opened. */
const PARTS: { path: string; title: string; part: ComponentType }[] = [
  { path: "/solve", title: "Solve", part: lazy(() => import("./solve/SolvePage").then((file) => file.SolvePage)) },
  { path: "/workbench", title: "Workbench", part: lazy(() => import("./workbench/WorkbenchPage").then((file) => file.WorkbenchPage)) },
  { path: "/runs", title: "Runs", part: lazy(() => import("./runs/RunsPage").then((file) => file.RunsPage)) },
];

function Shell() {
  const open = PARTS.find((one) => one.path === location.pathname) ?? PARTS[0];
  const Part = open?.part;
  document.title = `${open?.title} - planforge`;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <strong>planforge</strong>
        <nav aria-label="Parts of the page">
          {PARTS.map((one) => (
            <a key={one.path} href={one.path} aria-current={one === open ? "page" : undefined}>
              {one.title}
            </a>
          ))}
        </nav>
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        <Suspense fallback={<p role="status">Loading…</p>}>{Part && <Part />}</Suspense>
      </main>
    </>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(themeNow);
  useEffect(() => {
    const machine = matchMedia("(prefers-color-scheme: dark)");
    const look = () => setTheme(themeNow());
    machine.addEventListener("change", look);
    return () => machine.removeEventListener("change", look);
  }, []);
  const other = theme === "dark" ? "light" : "dark";
  return (
    <button
      type="button"
      class="theme"
      onClick={() => {
        choose(other);
        setTheme(other);
      }}
    >
      <span class="sr-only">Change to {other} colours</span>
      <span aria-hidden="true">{theme === "dark" ? "\u2600" : "\u263e"}</span>
    </button>
  );
}

const place = document.getElementById("app");
if (place) render(<Shell />, place);
