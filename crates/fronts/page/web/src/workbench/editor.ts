// An editor for PDDL over planforge's language server: findings with fixes, completion, hover, names, format.

import { formatDocument, LSPClient, languageServerExtensions, languageServerSupport, type Transport } from "@codemirror/lsp-client";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { basicSetup } from "codemirror";
import { inWords, openEvents, post } from "../api";
import { askForFixes, type Fix } from "./findings";

/** Words, variables, sections and comments of PDDL. */
const pddl = StreamLanguage.define({
  name: "pddl",
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/;.*/)) return "comment";
    if (stream.match(/\?[^\s()]+/)) return "variableName";
    if (stream.match(/:[a-zA-Z][\w-]*/)) return "typeName";
    if (stream.match(/(define|domain|problem|and|or|not|forall|exists|imply|when|either|increase|decrease|assign|minimize|maximize)(?![\w-])/i)) return "keyword";
    if (!stream.match(/[^\s();?:]+/)) stream.next();
    return null;
  },
  languageData: { commentTokens: { line: ";" }, closeBrackets: { brackets: ["("] } },
});

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--keyword)" },
  { tag: tags.variableName, color: "var(--variable)" },
  { tag: tags.typeName, color: "var(--section)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
]);

const look = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--panel)", height: "100%", fontSize: "14px" },
  ".cm-content": { caretColor: "var(--ink)", fontFamily: "var(--mono)" },
  "&.cm-focused .cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--chosen)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "transparent" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--chosen)", color: "var(--ink)" },
});

const ALLOWED = new Set(["P", "PRE", "CODE", "STRONG", "EM", "UL", "OL", "LI", "BR", "SPAN", "HR"]);

/** Words of the language server as markup without attributes, so that nothing in them can run or load. */
export function plainMarkup(html: string): string {
  const body = new DOMParser().parseFromString(html, "text/html").body;
  for (const node of [...body.querySelectorAll("*")]) {
    if (!ALLOWED.has(node.tagName)) node.replaceWith(node.textContent ?? "");
    else for (const { name } of [...node.attributes]) node.removeAttribute(name);
  }
  return body.innerHTML;
}

/** Names of files for the language server. */
const FOLDER = "page:///";

const ENDED = "The language server has ended. Reload the page to start it again; your texts stay. ";

/** A session of the language server. Messages are sent one after the other. */
async function connect(problem: (text: string) => void): Promise<{ transport: Transport; close(): void }> {
  const { session } = await post<{ session: string }>("/api/lsp/open", {});
  const address = `/api/lsp/${encodeURIComponent(session)}`;
  const handlers = new Set<(message: string) => void>();
  let sending: Promise<unknown> = Promise.resolve();
  const close = openEvents<{ kind: string }>(`${address}/events`, {
    event: (message) => handlers.forEach((handle) => handle(JSON.stringify(message))),
    connection: () => {},
    gone: (cause) => problem(ENDED + inWords(cause)),
  }, { whileHidden: true });
  return {
    transport: {
      send: (message) => {
        sending = sending.then(() => post(address, { message })).catch((cause) => problem(ENDED + inWords(cause)));
      },
      subscribe: (handle) => handlers.add(handle),
      unsubscribe: (handle) => handlers.delete(handle),
    },
    close,
  };
}

export interface Editors {
  texts(): string[];
  /** Lays out all texts; one with mistakes of form stays as it is. */
  format(): void;
  close(): void;
}

/** Makes one editor for each file. Without a language server they are editors all the same; `problem` says so. `takeFixes` gets the fixes of a file by its name. */
export async function makeEditors(files: { place: HTMLElement; name: string; label: string; text: string }[], changed: () => void, problem: (text: string) => void, { isReadOnly = false, takeFixes = (_name: string, _fixes: Fix[]) => {} } = {}): Promise<Editors> {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
  const client = new LSPClient({ extensions: [askForFixes((uri, fixes) => takeFixes(uri.slice(FOLDER.length), fixes)), ...languageServerExtensions()], sanitizeHTML: plainMarkup, timeout: 10_000 });
  let end = () => {};
  try {
    const { transport, close } = await connect(problem);
    client.connect(transport);
    end = close;
  } catch (cause) {
    problem(`The language server does not answer: ${cause instanceof Error ? cause.message : cause}`);
  }
  const views = files.map(
    ({ place, name, label, text }) =>
      new EditorView({
        parent: place,
        doc: text,
        extensions: [
          EditorView.cspNonce.of(nonce),
          basicSetup,
          pddl,
          syntaxHighlighting(colours),
          look,
          EditorState.readOnly.of(isReadOnly),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          EditorView.updateListener.of((update) => update.docChanged && changed()),
          languageServerSupport(client, FOLDER + name, "pddl"),
        ],
      }),
  );
  return {
    texts: () => views.map((view) => view.state.doc.toString()),
    format: () => views.forEach(formatDocument),
    close: () => {
      views.forEach((view) => view.destroy());
      client.disconnect();
      end();
    },
  };
}
