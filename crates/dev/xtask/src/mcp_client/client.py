"""Drives an MCP server over stdio with the official SDK, measures it and the language server, and prints what it saw."""

import argparse
import asyncio
import itertools
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import mcp_types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

FERRY = """(define (domain ferry)
  (:requirements :strips :typing)
  (:types port crate)
  (:predicates (at ?c - crate ?p - port) (ferry-at ?p - port) (on-board ?c - crate) (free))
  (:action sail :parameters (?from ?to - port)
    :precondition (ferry-at ?from)
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action load :parameters (?c - crate ?p - port)
    :precondition (and (at ?c ?p) (ferry-at ?p) (free))
    :effect (and (on-board ?c) (not (at ?c ?p)) (not (free))))
  (:action unload :parameters (?c - crate ?p - port)
    :precondition (and (on-board ?c) (ferry-at ?p))
    :effect (and (at ?c ?p) (free) (not (on-board ?c)))))
"""
PROBLEM = """(define (problem two-ports) (:domain ferry)
  (:objects a b - port box - crate)
  (:init (at box a) (ferry-at b) (free))
  (:goal (at box b)))
"""
PIPELINE = """schema = 1
[given]
domain = true
[llm.main]
use = "provider-client"
model = "client"
[[stage]]
do = "translate"
label = "problem"
use = "translator-direct"
roles = { writer = "main" }
options = { mode = "problem", example = false }
[[stage]]
do = "plan"
label = "plan"
use = "planner-classical"
[[stage]]
do = "verify"
label = "valid"
use = "verifier-val"
options = { what = "plan" }
"""
TILES = """(define (domain tiles) (:predicates (at ?t ?c) (empty ?c) (next ?a ?b))
  (:action slide :parameters (?t ?from ?to)
    :precondition (and (at ?t ?from) (empty ?to) (next ?from ?to))
    :effect (and (at ?t ?to) (empty ?from) (not (at ?t ?from)) (not (empty ?to)))))
"""


EDITOR_REQUESTS = [
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "hover",
    "completion",
    "documentSymbol",
    "formatting",
    "codeAction",
    "codeLens",
]


def swapped_tiles():
    """The fifteen puzzle with two tiles swapped: no plan exists, and there are 10^13 states to search."""
    pairs = [(a, b) for a in range(16) for b in range(16) if abs(a - b) == 4 or (abs(a - b) == 1 and a // 4 == b // 4)]
    place = {0: 1, 1: 0}
    init = [f"(next c{a} c{b})" for a, b in pairs] + [f"(at t{n} c{place.get(n, n)})" for n in range(15)]
    goal = " ".join(f"(at t{n} c{n})" for n in range(15))
    objects = " ".join([f"c{n}" for n in range(16)] + [f"t{n}" for n in range(15)])
    return f"(define (problem p) (:domain tiles) (:objects {objects}) (:init (empty c15) {' '.join(init)}) (:goal (and {goal})))"


def text(value):
    return {"text": value}


def check(what, seen):
    print(f"{'ok  ' if seen else 'FAIL'} {what}", flush=True)
    if not seen:
        raise SystemExit(1)


class Connection:
    """A server, with what a client offers: a root, and a model that answers with the ferry's problem."""

    def __init__(self, command, args, root):
        self.parameters = StdioServerParameters(command=command, args=args, cwd=root)
        self.root = Path(root)
        self.asked = 0

    async def roots(self, _context):
        return types.ListRootsResult(roots=[types.Root(uri=self.root.as_uri())])

    async def sample(self, _context, _request):
        self.asked += 1
        answer = types.TextContent(type="text", text=f"```pddl\n{PROBLEM}```")
        return types.CreateMessageResult(role="assistant", content=answer, model="scripted", stop_reason="endTurn")

    async def __aenter__(self):
        before = children(os.getpid())
        self.streams = stdio_client(self.parameters)
        read, write = await self.streams.__aenter__()
        self.session = ClientSession(
            read, write, sampling_callback=self.sample, list_roots_callback=self.roots
        )
        await self.session.__aenter__()
        await self.session.initialize()
        self.process = next(iter(children(os.getpid()) - before))
        return self

    async def __aexit__(self, *error):
        await self.session.__aexit__(*error)
        await self.streams.__aexit__(*error)

    async def call(self, tool, **arguments):
        return await self.session.call_tool(tool, arguments)

    async def answer(self, tool, **arguments):
        result = await self.call(tool, **arguments)
        if result.is_error:
            raise SystemExit(f"{tool}: {result.content}")
        return result.structured_content

    async def failure(self, tool, **arguments):
        result = await self.call(tool, **arguments)
        return result.content[0].text if result.is_error else ""


def children(process):
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.split(":\t", 1) for line in status.read_text().splitlines() if ":\t" in line)
        except OSError:
            continue
        if int(lines.get("PPid", 0)) == process:
            found.add(int(status.parent.name))
    return found


def memory_kb(process):
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


def threads(process):
    return len(list(Path(f"/proc/{process}/task").iterdir()))


async def every_tool(server, small):
    listed = await server.session.list_tools()
    names = [tool.name for tool in listed.tools]
    print("tools:", ", ".join(names))
    domain, problem = text((small / "domain.pddl").read_text()), text((small / "p01.pddl").read_text())
    task = {"domain": domain, "problem": problem}
    read = await server.answer("read", **task)
    check("read", read["usable"])
    plan = await server.answer("plan", **task)
    check("plan", plan["outcome"] == "plan")
    check("validate", (await server.answer("validate", **task, plan=text(plan["plan"])))["valid"])
    compared = await server.answer("compare", reference=task, candidate={"domain": domain})
    check("compare", compared["decision"] == "equal" and compared["walks"]["score"] == 1)
    template = text((small / "picture.toml").read_text())
    states = await server.answer("states", **task, plan=text(plan["plan"]), template=template)
    check("states", states["verdict"] == "valid" and "<svg" in states["pictures"][0]["svg"])
    check("explain", (await server.answer("explain", code="pddl.empty"))["title"] != "")
    check("tasks", len((await server.answer("tasks", suite="suite"))["tasks"]) == 1)
    told = []

    async def progress(done, total, message):
        told.append(message)

    own = {"domain_text": "A ferry carries crates.", "text": "Bring the box to b.", "domain": text(FERRY)}
    ended = await server.session.call_tool(
        "run", {"pipeline": {"text": PIPELINE}, "on": {"task": own}}, progress_callback=progress
    )
    task_run = ended.structured_content["tasks"][0] if not ended.is_error else ended.content
    accepted = not ended.is_error and task_run["verdict"] == "accepted" and "unload" in task_run["plan"]
    check(f"run, answered by the client's model, {len(told)} messages of progress: {task_run}"[:300], accepted)
    check("the client's model was asked", server.asked == 1)
    report = await server.session.read_resource(ended.structured_content["report"])
    check("the report is a resource", "accepted" in report.contents[0].text)
    resources = await server.session.list_resources()
    print("resources:", len(resources.resources), "prompts:", [p.name for p in (await server.session.list_prompts()).prompts])
    called = {"read", "plan", "validate", "compare", "states", "explain", "tasks", "run"}
    check("every tool was called", set(names) == called)


async def repair(server):
    reference = {"domain": text(FERRY), "problem": text(PROBLEM)}
    broken = FERRY.replace("(at ?c ?p) (free) (not", "(free) (not").replace(
        "(and (on-board ?c) (ferry-at ?p))", "(and (on-board ?c) (ferry-on ?p))"
    )
    first = await server.answer("read", domain=text(broken), problem=text(PROBLEM))
    found = first["diagnostics"][0]
    check(f"repair: read names {found['code']}, {found['help']}", not first["usable"])
    second = broken.replace("ferry-on", "ferry-at")
    plan = await server.answer("plan", domain=text(second), problem=text(PROBLEM))
    check(f"repair: plan says {plan['outcome']}: {plan['why_not'][:1]}", plan["outcome"] == "proven-unsolvable")
    compared = await server.answer("compare", reference=reference, candidate={"domain": text(second)})
    difference = compared["behaviour"]["difference"]
    check(f"repair: compare shows {difference['steps']}", "unload" in str(difference["steps"]))
    third = second.replace("(and (free) (not (on-board", "(and (at ?c ?p) (free) (not (on-board")
    compared = await server.answer("compare", reference=reference, candidate={"domain": text(third)})
    check("repair: the repaired domain is equal to the reference", compared["decision"] == "equal")


async def hostile(server):
    large = await server.answer("read", domain=text("(" * (10 << 20)))
    check("10 MB of parentheses", not large["usable"])
    deep = "(not " * 100_000 + ")" * 100_000
    deep = f"(define (problem p) (:domain ferry) (:goal {deep}))"
    nested = await server.answer("read", domain=text(FERRY), problem=text(deep))
    check("nesting of 100,000", not nested["usable"])
    for path in ["../outside.pddl", "/etc/hostname", "link.pddl"]:
        message = await server.failure("read", domain={"path": path})
        check(f"outside of the root: {path}", "mcp.file" in message)
    check("under the root", (await server.answer("read", domain={"path": "domain.pddl"}))["usable"])
    endless = {"domain": text(TILES), "problem": text(swapped_tiles())}
    ended = await server.answer("plan", **endless, limits={"seconds": 2, "nodes": 100_000_000, "memory_mb": 2048})
    check(f"an endless search ends: {ended['outcome']}, {ended['why_not']}", ended["outcome"] == "limit-reached")
    message = await server.failure("plan", **endless, limits={"seconds": 601})
    check("a limit above its ceiling", "mcp.arguments" in message)
    programs = PIPELINE.replace(
        'use = "planner-classical"', 'use = "planner-external"\noptions = { command = ["sh"], arguments = ["-c", "touch here"] }'
    )
    own = {"domain_text": "A ferry.", "text": "Bring the box to b.", "domain": text(FERRY)}
    message = await server.failure("run", pipeline={"text": programs}, on={"task": own})
    check(f"a program without consent: {message[:100]}", "cli.consent" in message and not (server.root / "here").exists())
    call = asyncio.create_task(server.call("plan", **endless, limits={"seconds": 600, "nodes": 100_000_000, "memory_mb": 4096}))
    await asyncio.sleep(1)
    check("a long search works", ticks(server.process) > 0 and not call.done())
    call.cancel()
    try:
        await call
    except asyncio.CancelledError:
        pass
    # The search ends soon after; processor time then stands still.
    await asyncio.sleep(1)
    before = ticks(server.process)
    await asyncio.sleep(1)
    check("a cancelled call uses no more processor time", ticks(server.process) - before <= 5)
    check("the server goes on", (await server.answer("read", domain=text(FERRY)))["usable"])


def ticks(process):
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


async def many_calls(server, small, count=1000):
    task = {"domain": text((small / "domain.pddl").read_text()), "problem": text((small / "p01.pddl").read_text())}

    async def round_of(calls):
        for n in range(calls):
            if n % 4 == 3:
                await server.call("compare", reference=task, candidate={"domain": task["domain"]})
            else:
                await server.call(["read", "plan", "read"][n % 4], **task)

    await round_of(100)
    before = (memory_kb(server.process), len(children(server.process)), threads(server.process))
    await round_of(count)
    after = (memory_kb(server.process), len(children(server.process)), threads(server.process))
    print(f"before {count} calls: {before[0]} kB, {before[1]} child processes, {before[2]} threads")
    print(f"after  {count} calls: {after[0]} kB, {after[1]} child processes, {after[2]} threads")
    check("memory, processes and threads are where they were", after[0] < before[0] * 1.1 + 4096 and after[1] == before[1])


async def timed(label, call, count):
    times = []
    for _ in range(count):
        start = time.perf_counter()
        await call()
        times.append((time.perf_counter() - start) * 1000)
    times.sort()
    p50, p99 = times[len(times) // 2], times[min(len(times) - 1, int(len(times) * 0.99))]
    print(f"| {label} | {count} | {p50:.1f} | {p99:.1f} |", flush=True)


async def measure(server, files):
    """Prints the times of our tools, and returns the plans by size."""
    print("| call | calls | p50 (ms) | p99 (ms) |\n|---|---|---|---|")
    plans = {}
    for size, domain_file, problem_file in files:
        domain, problem = text(Path(domain_file).read_text()), text(Path(problem_file).read_text())
        task = {"domain": domain, "problem": problem}
        count = 200 if size == "small" else 10
        plan = await server.answer("plan", **task)
        plans[size] = plan.get("plan") or ""
        plan_text = text(plans[size])
        calls = {
            "read": lambda: server.call("read", **task),
            "plan": lambda: server.call("plan", **task),
            "validate": lambda: server.call("validate", **task, plan=plan_text),
            "compare": lambda: server.call("compare", reference=task, candidate={"domain": domain}),
            "states": lambda: server.call("states", **task, plan=plan_text),
        }
        for name, call in calls.items():
            await timed(f"{name}, {size} ({plan['outcome']})" if name == "plan" else f"{name}, {size}", call, count)
    await timed("explain", lambda: server.call("explain", code="pddl.empty"), 200)
    return plans


async def measure_peer(name, command, files, calls_on):
    """Prints the times of another server's tools, which `calls_on` names for a domain and a problem file."""
    peer = StdioServerParameters(command=command, args=[])
    async with stdio_client(peer) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        for size, domain, problem in files:
            count = 200 if size == "small" else 3
            for tool, arguments in calls_on(size, Path(domain), Path(problem)).items():
                try:
                    first = await asyncio.wait_for(session.call_tool(tool, arguments), 60)
                except (TimeoutError, asyncio.TimeoutError):
                    print(f"| {name} {tool}, {size} | 1 | over 60,000 | |")
                    continue
                label = f"{name} {tool}, {size}" + (" (an error)" if first.is_error else "")
                await timed(label, lambda: session.call_tool(tool, arguments), count)


def pddlpy_calls(_size, domain, problem):
    return dict.fromkeys(["parse", "validate", "solve"], {"domain_file": str(domain), "problem_file": str(problem)})


def ferroplan_calls(plans):
    def calls(size, domain, problem):
        task = {"domain": domain.read_text(), "problem": problem.read_text()}
        steps = [line for line in plans[size].splitlines() if line.startswith("(")]
        plan = "\n".join(f"step {n}: {step}" for n, step in enumerate(steps))
        return {"parse": {"pddl": task["problem"]}, "validate": {**task, "plan": plan}, "solve": task}

    return calls


class LanguageServer:
    """A language server, and an editor that waits for each answer."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.id = 0
        self.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized", {})

    def notify(self, method, params, **id):
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **id}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def until(self, wanted):
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()) != b"":
                length = int(line.split(b":")[1]) if line.startswith(b"Content-Length") else length
            message = json.loads(self.process.stdout.read(length))
            if wanted(message):
                return message

    def request(self, method, params):
        self.id += 1
        self.notify(method, params, id=self.id)
        answer = self.until(lambda message: message.get("id") == self.id)
        if "error" in answer:
            raise SystemExit(f"{method}: {answer['error']}")
        return answer["result"]

    def diagnostics(self, uri):
        published = "textDocument/publishDiagnostics"
        message = self.until(lambda m: m.get("method") == published and m["params"]["uri"] == uri)
        return message["params"]["diagnostics"]

    def open(self, path):
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "pddl", "version": 1, "text": path.read_text()}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return self.diagnostics(uri)


def many_lines(lines):
    """A problem of the ferry with that many lines: half of them objects, half of them facts."""
    crates = range((lines - 7) // 2)
    objects, facts = ["  b - port"] + [f"  c{n} - crate" for n in crates], [f"  (at c{n} b)" for n in crates]
    head = ["(define (problem many)", " (:domain ferry)", " (:objects"]
    return "\n".join([*head, *objects, ")", " (:init (ferry-at b)", *facts, " ) (:goal (free)))", ""])


async def measure_editor(program, files, place):
    """Prints the times of the language server: diagnostics after a change, and each request at a name of the initial state."""
    lines = place / "lines.pddl"
    lines.write_text(many_lines(50_000))
    (place / "ferry.pddl").write_text(FERRY)
    print("| request of an editor | requests | p50 (ms) | p99 (ms) |\n|---|---|---|---|")
    server = LanguageServer(program)
    for size, domain, problem in [*files, ("50,000 lines", place / "ferry.pddl", lines)]:
        folder = place / size.replace(" ", "-")
        folder.mkdir()
        own = [folder / name for name in ("domain.pddl", "p01.pddl")]
        for copy, source in zip(own, (domain, problem)):
            copy.write_text(Path(source).read_text())
        found = [server.open(path) for path in own][1]
        written, uri = own[1].read_text(), own[1].as_uri()
        at = written.index("(", written.index("(:init") + 1) + 1
        before = written[:at]
        start = {"line": before.count("\n"), "character": len(before) - (before.rfind("\n") + 1)}
        end = {**start, "character": start["character"] + 1}
        edits = itertools.cycle([(start, "x"), (end, "")])

        async def change():
            to, typed = next(edits)
            edit = {"range": {"start": start, "end": to}, "text": typed}
            server.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [edit]})
            server.diagnostics(uri)

        await timed(f"diagnostics after a change, {size} ({len(found)} found)", change, 40)
        more = {"newName": "other", "context": {"includeDeclaration": True, "diagnostics": []}, "options": {}}
        params = {"textDocument": {"uri": uri}, "position": end, "range": {"start": start, "end": end}, **more}
        for method in EDITOR_REQUESTS:

            async def ask():
                server.request(f"textDocument/{method}", params)

            await timed(f"{method}, {size}", ask, 40)
    server.request("shutdown", None)
    server.notify("exit", None)
    check("the language server ended by itself", server.process.wait(60) == 0)


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--planforge", required=True)
    parser.add_argument("--small", type=Path, required=True)
    parser.add_argument("--large", nargs=2)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--peer", nargs=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "root"
        (root / "suite").mkdir(parents=True)
        (root / "domain.pddl").write_text(FERRY)
        (root / "suite/domain.nl").write_text("A ferry carries crates.")
        (root / "suite/p01.nl").write_text("Bring the box to b.")
        (Path(place) / "outside.pddl").write_text(FERRY)
        (root / "link.pddl").symlink_to("../outside.pddl")
        async with Connection(args.planforge, ["mcp"], str(root)) as server:
            await every_tool(server, args.small)
            await repair(server)
            await hostile(server)
            await many_calls(server, args.small)
        if args.measure:
            files = [("small", args.small / "domain.pddl", args.small / "p01.pddl")]
            if args.large:
                files.append(("large", *args.large))
            async with Connection(args.planforge, ["mcp"], str(root)) as server:
                plans = await measure(server, files)
            if args.peer:
                pddlpy, ferroplan = args.peer
                await measure_peer("pddlpy", pddlpy, files, pddlpy_calls)
                await measure_peer("ferroplan", ferroplan, files, ferroplan_calls(plans))
            await measure_editor(args.planforge, files, Path(place))


asyncio.run(main())
