// The fixes that the language server knows for its findings.

import { LSPPlugin, type LSPClientExtension } from "@codemirror/lsp-client";
import type { EditorView } from "@codemirror/view";

/** A change of a text that mends a finding, or several. */
export interface Fix {
  title: string;
  /** The line that it changes first, from 1. */
  line: number;
  apply(): void;
}

interface Place {
  line: number;
  character: number;
}

interface CodeAction {
  title: string;
  edit?: { changes?: Record<string, { range: { start: Place; end: Place }; newText: string }[]> };
}

/** Asks for fixes after each message with findings, which `languageServerExtensions` shows. `found` gets those of the file `uri`. */
export const askForFixes = (found: (uri: string, fixes: Fix[]) => void): LSPClientExtension => ({
  notificationHandlers: {
    "textDocument/publishDiagnostics": (client, { uri, diagnostics }: { uri: string; diagnostics: unknown[] }) => {
      const file = client.workspace.getFile(uri);
      const view = file?.getView();
      if (!file || !view || !diagnostics.length || view.state.readOnly) {
        found(uri, []);
        return false;
      }
      const { version, doc } = file;
      const range = { start: { line: 0, character: 0 }, end: { line: doc.lines, character: 0 } };
      client.request<object, CodeAction[] | null>("textDocument/codeAction", { textDocument: { uri }, range, context: { diagnostics } }).then(
        (actions) => file.version === version && found(uri, (actions ?? []).map((action) => fixOf(action, uri, view, doc))),
        () => found(uri, []),
      );
      return false;
    },
  },
});

/** Its places hold for the text `doc` alone. */
function fixOf({ title, edit }: CodeAction, uri: string, view: EditorView, doc: EditorView["state"]["doc"]): Fix {
  const edits = edit?.changes?.[uri] ?? [];
  return {
    title,
    line: Math.min(...edits.map(({ range }) => range.start.line)) + 1,
    apply() {
      const plugin = LSPPlugin.get(view);
      if (!plugin || !view.state.doc.eq(doc)) return;
      const changes = edits.map(({ range, newText }) => ({ from: plugin.fromPosition(range.start, doc), to: plugin.fromPosition(range.end, doc), insert: newText }));
      view.dispatch({ changes, userEvent: "input.fix" });
      view.focus();
    },
  };
}
