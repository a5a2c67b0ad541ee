"""A verifier that misbehaves on request: the option `fault` applies to candidates whose problem is "bad"."""

import json
import os
import subprocess
import sys
import threading
import time

LOCK = threading.Lock()
INSTANCES = {}
ANSWERS = {}


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def ask(call, method, **params):
    key = f"{call}-{method}-{time.monotonic_ns()}"
    ANSWERS[key] = [threading.Event(), None]
    send({"id": key, "method": method, "params": {"call": call, **params}})
    ANSWERS[key][0].wait()
    return ANSWERS.pop(key)[1]


def break_down(fault, call):
    if fault == "exit":
        sys.stderr.write("last words\n")
        sys.stderr.flush()
        os._exit(3)
    if fault == "abort":
        os.abort()
    if fault == "segfault":
        os.kill(os.getpid(), 11)
    if fault == "hang":
        time.sleep(3600)
    if fault == "garbage":
        with LOCK:
            print("Traceback: not a message", flush=True)
        time.sleep(3600)
    if fault == "flood":
        with LOCK:
            for _ in range(200):
                sys.stdout.write("x" * (1 << 20))
            sys.stdout.flush()
        time.sleep(3600)
    if fault == "memory":
        try:
            bytearray(64 << 30)
        except MemoryError:
            send({"id": call, "error": {"code": -32000, "message": "MemoryError"}})
    if fault == "child":
        subprocess.Popen(["sleep", "3599"])
        os._exit(0)
    if fault == "error":
        send({"id": call, "error": {"code": -32000, "message": "no such object: hall"}})
        return
    if fault == "failure":
        failure = {"class": "limit", "code": "mine.limit", "message": "too large", "help": "make it smaller"}
        send({"id": call, "error": {"code": -32000, "message": "too large", "data": failure}})
        return
    if fault == "document":
        send({"id": call, "result": {"verdicts": []}})
        return


def verify(call, params):
    fault = INSTANCES[params["instance"]].get("fault", "none")
    candidates = params["request"]["candidates"]
    if fault == "cancel":
        send({"method": "host/log", "params": {"call": call, "level": "info", "message": "began"}})
        return  # Answered when the host cancels the call.
    if fault != "none" and any(c.get("problem") == "bad" for c in candidates):
        return break_down(fault, call)
    summary = "fine"
    if any(c.get("problem") == "ask" for c in candidates):
        # Several questions at a time, and one that is not allowed.
        asked = {"messages": [{"role": "user", "content": "yes?"}]}
        replies = ask(call, "host/complete", role="critic", request=asked)["result"]["replies"]
        refused = ask(call, "host/fly")["error"]["message"]
        summary = f"{replies[0]['content']} / {refused}"
        send({"method": "host/progress", "params": {"call": call, "done": 1, "total": 2, "what": "asking"}})
    if any(c.get("problem") == "slow" for c in candidates):
        time.sleep(0.5)
    results = [{"ok": {"decision": "accepted", "summary": summary}} for _ in candidates]
    send({"id": call, "result": {"results": results}})


def main():
    for line in sys.stdin:
        message = json.loads(line)
        method, params, call = message.get("method"), message.get("params"), message.get("id")
        if method is None:
            event = ANSWERS[call]
            event[1] = message
            event[0].set()
        elif method == "plugin/describe":
            schema = {"type": "object", "properties": {"fault": {"type": "string"}}, "additionalProperties": False}
            roles = [{"name": "critic", "about": "answers"}]
            requests = {"capabilities": {}}
            send({"id": call, "result": {"version": "1", "about": "Misbehaves", "options_schema": schema, "roles": roles, **requests}})
        elif method == "plugin/create":
            if params["options"].get("fault") == "refuse":
                send({"id": call, "error": {"code": -32000, "message": "I do not want to"}})
                continue
            if params["options"].get("fault") == "slow create":
                time.sleep(0.3)
            INSTANCES[params["instance"]] = params["options"]
            send({"id": call, "result": None})
        elif method == "plugin/close":
            INSTANCES.pop(params["instance"], None)
            send({"id": call, "result": None})
        elif method == "call/cancel":
            send({"id": params["call"], "error": {"code": -32000, "message": "cancelled"}})
        else:
            threading.Thread(target=verify, args=(call, params), daemon=True).start()


main()
