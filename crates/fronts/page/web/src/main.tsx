import { render } from "preact";
import { RunsPage } from "./runs/RunsPage";
import "./styles.css";

function Shell() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href="/runs">
          planforge
        </a>
      </header>
      <main id="main" tabIndex={-1}>
        <RunsPage />
      </main>
    </>
  );
}

const place = document.getElementById("app");
if (place) render(<Shell />, place);
