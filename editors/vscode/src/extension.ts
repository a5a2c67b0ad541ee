// The VS Code client: it starts `planforge serve lsp` and shows plans with their pictures in a panel.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

/** The states of a plan, as the server describes them. */
interface States {
  names: string[];
  steps: { action: number }[];
  pictures: { step: number; svg: string }[];
}

/** The answer to a command of a lens. */
interface Answer {
  summary: string;
  text: string;
  plan?: string;
  states?: States;
}

let client: LanguageClient | undefined;
let panel: vscode.WebviewPanel | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("planforge.restart", async () => {
      await client?.stop();
      client = await start();
    }),
  );
  client = await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<LanguageClient | undefined> {
  const settings = vscode.workspace.getConfiguration("planforge");
  const server: ServerOptions = { command: settings.get("path", "planforge"), args: ["serve", "lsp"] };
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "pddl" },
      { language: "planforge-knowledge" },
      { scheme: "file", language: "toml" },
    ],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/*.{pddl,toml}") },
    initializationOptions: { timeLimitSeconds: settings.get("timeLimitSeconds", 30) },
    middleware: { executeCommand: runCommand },
  };
  const started = new LanguageClient("planforge", "planforge", server, options);
  try {
    await started.start();
    return started;
  } catch (error) {
    const choice = await vscode.window.showErrorMessage(`planforge did not start: ${String(error)}`, "Open Settings");
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "planforge.path");
    }
    return undefined;
  }
}

/** Runs a command of a lens, with a way to cancel it, and shows its answer. */
async function runCommand(command: string, args: unknown[]): Promise<void> {
  const progress = { location: vscode.ProgressLocation.Notification, title: "planforge", cancellable: true };
  try {
    const answer = await vscode.window.withProgress(progress, (_, token) => {
      const params = { command, arguments: args };
      return client?.sendRequest<Answer>("workspace/executeCommand", params, token) ?? Promise.resolve(undefined);
    });
    if (answer !== undefined) {
      show(answer);
    }
  } catch (error) {
    // A cancelled request ends with an error, too; its message says so.
    void vscode.window.showWarningMessage(error instanceof Error ? error.message : String(error));
  }
}

function show(answer: Answer): void {
  if (panel === undefined) {
    panel = vscode.window.createWebviewPanel("planforge", "planforge", vscode.ViewColumn.Beside, {
      enableScripts: false,
      localResourceRoots: [],
    });
    panel.onDidDispose(() => {
      panel = undefined;
    });
  }
  panel.webview.html = page(answer);
  panel.reveal(undefined, true);
}

/** The panel's page. It has no scripts, and pictures are images, so no name in a plan can run anything. */
export function page(answer: Answer): string {
  const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";
  const style = "figure { display: inline-block; margin: 0.5em } img { background: white; max-width: 100% }";
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<style>${style}</style>
</head>
<body>
<h2>${escape(answer.summary)}</h2>
${pictures(answer.states)}
<pre style="white-space: pre-wrap">${escape(answer.text)}</pre>
${answer.plan === undefined ? "" : `<h3>Plan</h3><pre>${escape(answer.plan)}</pre>`}
</body>
</html>`;
}

function pictures(states: States | undefined): string {
  return (states?.pictures ?? [])
    .map(({ step, svg }) => {
      const action = states?.steps[step - 1]?.action;
      const name = action === undefined ? "" : (states?.names[action] ?? "");
      const caption = step === 0 ? "At the start" : `${step}. ${name}`;
      const data = Buffer.from(svg, "utf8").toString("base64");
      const text = escape(caption);
      return `<figure><img alt="${text}" src="data:image/svg+xml;base64,${data}"><figcaption>${text}</figcaption></figure>`;
    })
    .join("\n");
}

function escape(text: string): string {
  const names: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (c) => names[c] ?? c);
}
