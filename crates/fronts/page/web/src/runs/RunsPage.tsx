import { RunList } from "./RunList";
import { RunView } from "./RunView";
import "./runs.css";

/** The part of the page at `/runs`: the list, or the folders that the address names. */
export function RunsPage() {
  const paths = new URLSearchParams(location.search).getAll("path").filter(Boolean);
  return paths.length ? <RunView key={paths.join("\n")} paths={paths} /> : <RunList />;
}
