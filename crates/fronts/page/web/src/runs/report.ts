// The report's scripts and styles, in a chunk that is loaded with the first run.

import colours from "../../../../../lab/report/assets/tokens.css?raw";
import styles from "../../../../../lab/report/assets/report.css?raw";
export { showReport } from "../../../../../lab/report/assets/js/app.js";

// The report's rules and colours hold inside a report only.
const sheet = new CSSStyleSheet();
sheet.replaceSync(`${colours.replace(/(:root[^{]*)\{/g, "$1 .report {")} .report { ${styles} }`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
