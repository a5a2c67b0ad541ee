// A model server of the OpenAI kind for tests: it answers after a time that the test may change. `reply` is a text, or a function of the
// request's messages as one text.

import { createServer } from "node:http";

export async function startModel({ wait = 200, reply }) {
  const waiting = new Set();
  // `release` answers the requests that wait now.
  const state = { wait, asked: 0, release: () => waiting.forEach((reply) => reply()) };
  const server = createServer((request, answer) => {
    const parts = [];
    request.on("data", (part) => parts.push(part)).on("end", () => {
      if (!request.url.endsWith("/chat/completions")) return answer.writeHead(404).end();
      state.asked++;
      const prompt = () => JSON.parse(Buffer.concat(parts)).messages.map((message) => message.content).join("\n");
      const body = {
        id: "1", object: "chat.completion", created: 0, model: "fixed",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: typeof reply === "function" ? reply(prompt()) : reply } }],
        usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
      };
      const send = () => answer.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
      const timer = setTimeout(send, state.wait);
      waiting.add(send);
      answer.on("close", () => (clearTimeout(timer), waiting.delete(send)));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.on("listening", done));
  state.address = `http://127.0.0.1:${server.address().port}/v1`;
  state.stop = () => (server.closeAllConnections(), server.close());
  return state;
}

/** A pipeline of one stage that asks this server. */
export const pipeline = (model) => `schema = 1
about = "asks a model of the test"
[given]
domain = true
[llm.main]
use = "provider-openai"
base_url = "${model.address}"
model = "fixed"
max_calls = 50
[environment]
use = "environment-pddl"
[[stage]]
do = "translate"
label = "problem"
use = "translator-direct"
roles = { writer = "main" }
options = { mode = "problem" }
[[stage]]
do = "verify"
label = "pddl"
use = "verifier-val"
options = { what = "pddl" }
`;
