// A verifier in JavaScript, without a library: rejects plans that execute one ground action more often than `most` times.
// The protocol is described in docs/reference/plugin-programs.md.
"use strict";

const instances = new Map();

const info = {
  version: "1.0.0",
  about: "Rejects plans that repeat a ground action",
  metrics: [{ name: "repeats", about: "steps beyond the first of each ground action" }],
  options_schema: {
    type: "object",
    additionalProperties: false,
    properties: { most: { type: "integer", minimum: 1, default: 1, description: "Most executions of one ground action." } },
  },
};

function judge(candidate, most) {
  const plan = candidate.plan && candidate.plan.outcome === "plan" ? candidate.plan.plans[0] : null;
  if (!plan) {
    return { decision: "undecided", reason: "missing-input", message: "the candidate has no plan" };
  }
  const times = new Map();
  for (const step of plan.steps) {
    times.set(step, (times.get(step) || 0) + 1);
  }
  const metrics = { repeats: plan.steps.length - times.size };
  const often = [...times].filter(([, count]) => count > most);
  if (often.length === 0) {
    return { decision: "accepted", summary: `no action more than ${most} times`, metrics };
  }
  const feedback = often.map(([step, count]) => `${step} is executed ${count} times; ${most} is the limit.`);
  return { decision: "rejected", summary: `${often.length} actions are repeated`, metrics, feedback };
}

function answer(method, params) {
  switch (method) {
    case "plugin/describe":
      return info;
    case "plugin/create":
      instances.set(params.instance, { most: 1, ...params.options });
      return null;
    case "plugin/close":
      instances.delete(params.instance);
      return null;
    case "verify": {
      const { most } = instances.get(params.instance);
      return { results: params.request.candidates.map((candidate) => ({ ok: judge(candidate, most) })) };
    }
    default:
      throw new Error(`there is no method ${method}`);
  }
}

require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) {
      return; // A notification: calls are too short to be cancelled.
    }
    const message = { jsonrpc: "2.0", id };
    try {
      message.result = answer(method, params);
    } catch (error) {
      message.error = { code: -32000, message: String(error) };
    }
    process.stdout.write(JSON.stringify(message) + "\n");
  });
