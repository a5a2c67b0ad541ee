// A session with the language server through the protocol library of VS Code. A wrong answer ends it with an error.
// npm run session -- PLANFORGE
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import protocol from "vscode-languageserver-protocol/node";
import { TextDocument } from "vscode-languageserver-textdocument";

const DOMAIN = `(define (domain lamps)
  (:requirements :strips :typing) (:types lamp)
  (:predicates (lit ?l - lamp) (near ?l - lamp))
  (:action light :parameters (?l - lamp)
    :precondition (near ?l)
    :effect (lit ?l)))
`;
// The lamp has two code units in UTF-16, but one character, and four bytes in UTF-8.
const PROBLEM = `(define (problem two) (:domain lamps)
  (:objects a 💡 - lamp)
  (:init (near 💡) (near a))
  (:goal (lit 💡)))
`;

const [program = "planforge"] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "planforge-session-"));
const server = spawn(program, ["serve", "lsp"], { stdio: ["pipe", "pipe", "inherit"] });
const reader = new protocol.StreamMessageReader(server.stdout);
const connection = protocol.createProtocolConnection(reader, new protocol.StreamMessageWriter(server.stdin));
const documents = {};
const published = new EventEmitter();

connection.onNotification(protocol.PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
  published.emit(uri, diagnostics);
});
connection.listen();
setTimeout(() => process.exit(2), 60_000).unref(); // A server that does not answer.

/** Sends a notification about a document and returns the diagnostics that follow. */
async function notify(type, params) {
  const diagnostics = once(published, params.textDocument.uri);
  await connection.sendNotification(type, params);
  return (await diagnostics)[0];
}

function open(name, text) {
  const uri = pathToFileURL(join(folder, name)).href;
  writeFileSync(join(folder, name), text);
  documents[name] = TextDocument.create(uri, "pddl", 1, text);
  const textDocument = { uri, languageId: "pddl", version: 1, text };
  return notify(protocol.DidOpenTextDocumentNotification.type, { textDocument });
}

/** Replaces the first `from` by `to`, as the edit of one range. */
function change(name, from, to) {
  const document = documents[name];
  const start = document.getText().indexOf(from);
  const range = { start: document.positionAt(start), end: document.positionAt(start + from.length) };
  const contentChanges = [{ range, text: to }];
  documents[name] = TextDocument.update(document, contentChanges, document.version + 1);
  const textDocument = { uri: document.uri, version: document.version };
  return notify(protocol.DidChangeTextDocumentNotification.type, { textDocument, contentChanges });
}

/** A request about the place behind the first `before`. */
function ask(type, name, before, more = {}) {
  const document = documents[name];
  const position = document.positionAt(document.getText().indexOf(before) + before.length);
  return connection.sendRequest(type, { textDocument: { uri: document.uri }, position, ...more });
}

async function session() {
  const initialize = { processId: process.pid, rootUri: pathToFileURL(folder).href, capabilities: {} };
  const { capabilities } = await connection.sendRequest(protocol.InitializeRequest.type, initialize);
  assert.equal(capabilities.positionEncoding, "utf-16");
  await connection.sendNotification(protocol.InitializedNotification.type, {});
  assert.deepEqual(await open("domain.pddl", DOMAIN), []);
  const codes = (found) => found.map(({ code }) => code);
  assert.deepEqual(codes(await open("p01.pddl", PROBLEM)), ["pddl.non-ascii-name"]);
  const wrong = (await change("p01.pddl", "(near a)", "(neer a)")).find(({ severity }) => severity === 1);
  assert.equal(documents["p01.pddl"].getText(wrong.range), "neer");
  assert.match(wrong.message, /did you mean `near`/);
  assert.deepEqual(codes(await change("p01.pddl", "neer", "near")), ["pddl.non-ascii-name"]);

  const definition = await ask(protocol.DefinitionRequest.type, "p01.pddl", "💡) (near");
  assert.equal(definition.uri, documents["domain.pddl"].uri);
  assert.equal(documents["domain.pddl"].getText(definition.range), "near");
  const { changes } = await ask(protocol.RenameRequest.type, "p01.pddl", "💡) (near", { newName: "beside" });
  for (const [name, text] of [["domain.pddl", DOMAIN], ["p01.pddl", PROBLEM]]) {
    const renamed = TextDocument.applyEdits(documents[name], changes[documents[name].uri]);
    assert.equal(renamed, text.replaceAll("(near", "(beside"));
  }
  const hover = await ask(protocol.HoverRequest.type, "p01.pddl", "💡) (near");
  assert.match(hover.contents.value, /\(near \?l - lamp\)[^]*Needed by light/);
  const labels = async (before) => (await ask(protocol.CompletionRequest.type, "p01.pddl", before)).map(({ label }) => label);
  assert.deepEqual(await labels("(near 💡) (near "), ["a", "💡"]);
  await change("domain.pddl", "    :effect", "  :effect");
  const edits = await ask(protocol.DocumentFormattingRequest.type, "domain.pddl", "(", { options: {} });
  assert.match(TextDocument.applyEdits(documents["domain.pddl"], edits), /^    :effect/m);
  const lenses = await ask(protocol.CodeLensRequest.type, "p01.pddl", "(");
  assert.deepEqual(lenses.map(({ command }) => command.title), ["Plan"]);
  const plan = await connection.sendRequest(protocol.ExecuteCommandRequest.type, lenses[0].command);
  assert.match(plan.plan, /^\(light 💡\)\n/);

  await connection.sendRequest(protocol.ShutdownRequest.type);
  await connection.sendNotification(protocol.ExitNotification.type);
  assert.deepEqual(await once(server, "exit"), [0, null]);
  console.log("The session is as expected.");
}

try {
  await session();
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
