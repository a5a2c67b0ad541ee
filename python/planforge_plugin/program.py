"""The main loop of a plugin: JSON-RPC 2.0 over standard streams, one message a line (docs/reference/plugin-programs.md)."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from typing import Any, BinaryIO, Callable, Dict, List, Optional

from .failure import Failure, failure_document
from .host import Host
from .plugin import create, describe

MOST_THREADS = 128
"""Most calls that are worked on at a time, over all instances. Further ones wait."""
MOST_BYTES = 64 << 20
"""Longest line that the host reads."""


def run(plugin: type) -> None:
    """Serves a plugin class until the host closes standard input.

    What the plugin prints goes to standard error, because standard output belongs to the protocol. So does the output of
    programs that it starts.
    """
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    Program(plugin, source, sink).serve()


class Program:
    """A plugin class with its instances and open calls."""

    def __init__(self, plugin: type, source: BinaryIO, sink: BinaryIO):
        self.plugin = plugin
        self.source = source
        self.sink = sink
        self.instances: Dict[int, Any] = {}
        self.threads = Threads(MOST_THREADS)
        self._lock = threading.Lock()
        self._write_lock = threading.Lock()
        self._calls: Dict[int, CallHost] = {}
        self._questions: Dict[str, Question] = {}
        self._asked = 0
        self._is_closed = False

    def serve(self) -> None:
        """Answers messages until the end of input, then closes the instances."""
        for line in self.source:
            message = json.loads(line)
            if "method" not in message:
                self._answered(message)
            elif message["method"] == "call/cancel":
                self._cancel(message["params"]["call"])
            elif "id" in message:
                self._begin(message)
        with self._lock:
            self._is_closed = True
            questions, calls = list(self._questions.values()), list(self._calls.values())
        for call in calls:
            call.cancel()
        for question in questions:
            question.set({"error": {"data": _gone()}})
        for instance in list(self.instances.values()):
            _close(instance)
        self.threads.end()

    def _begin(self, message: Dict[str, Any]) -> None:
        """Works on a request in a thread. A call exists from now on, so that it can be cancelled while it waits."""
        call, params = message["id"], message.get("params", {})
        host = CallHost(self, call, params.get("remaining_ms"))
        with self._lock:
            self._calls[call] = host
        self.threads.start(lambda: self._work(call, message["method"], params, host))

    def _work(self, call: int, method: str, params: Dict[str, Any], host: "CallHost") -> None:
        try:
            line = _line({"jsonrpc": "2.0", "id": call, "result": self._result(method, params, host)})
        except BaseException as error:  # SystemExit too: it would end the thread without an answer.
            failure = failure_document(error)
            error_object = {"code": -32000, "message": failure["message"], "data": failure}
            line = _line({"jsonrpc": "2.0", "id": call, "error": error_object})
        with self._lock:
            del self._calls[call]
        self._write(line)

    def _result(self, method: str, params: Dict[str, Any], host: "CallHost") -> Any:
        if method == "plugin/describe":
            return describe(self.plugin)
        if method == "plugin/create":
            self.instances[params["instance"]] = create(self.plugin, params.get("options"), params.get("secrets"))
            return None
        if method == "plugin/close":
            _close(self.instances.pop(params["instance"], None))
            return None
        return self.instances[params["instance"]].call(method, host, params)

    def _answered(self, message: Dict[str, Any]) -> None:
        with self._lock:
            question = self._questions.pop(message["id"], None)
        if question is not None:
            question.set(message)

    def _cancel(self, call: int) -> None:
        with self._lock:
            host = self._calls.get(call)
        if host is not None:
            host.cancel()

    def ask(self, method: str, params: Dict[str, Any]) -> Any:
        """The host's answer to a question of the program."""
        question = Question()
        with self._lock:
            if self._is_closed:
                raise Failure.from_document(_gone())
            self._asked += 1
            number = f"q{self._asked}"
            self._questions[number] = question
        try:
            self._write(_line({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            answer = question.wait()
        finally:
            with self._lock:
                self._questions.pop(number, None)
        if "error" not in answer:
            return answer["result"]
        error = answer["error"]
        raise Failure.from_document(
            error.get("data") or {"class": "plugin", "code": "plugin.exception", "message": error["message"]}
        )

    def tell(self, method: str, params: Dict[str, Any]) -> None:
        """Sends a message without an answer."""
        self._write(_line({"jsonrpc": "2.0", "method": method, "params": params}))

    def _write(self, line: bytes) -> None:
        try:
            with self._write_lock:
                self.sink.write(line)
                self.sink.flush()
        except (OSError, ValueError):
            pass  # The host is gone, and the end of input follows or closed the output (ValueError).


class CallHost(Host):
    """The host of one call of a running program."""

    def __init__(self, program: Program, call: int, remaining_ms: Optional[int]):
        super().__init__(remaining_ms)
        self._program = program
        self._call = call

    def cancel(self) -> None:
        self._is_cancelled.set()

    def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        return self._program.ask(method, {"call": self._call, **params})

    def _tell(self, method: str, params: Dict[str, Any]) -> None:
        self._program.tell(method, {"call": self._call, **params})


class Question:
    """A question to the host, until it is answered."""

    def __init__(self) -> None:
        self._is_answered = threading.Event()
        self._answer: Dict[str, Any] = {}

    def set(self, answer: Dict[str, Any]) -> None:
        self._answer = answer
        self._is_answered.set()

    def wait(self) -> Dict[str, Any]:
        self._is_answered.wait()
        return self._answer


class Threads:
    """Threads that are made when they are needed and used again."""

    def __init__(self, most: int):
        self._most = most
        self._jobs: "queue.SimpleQueue[Optional[Callable[[], None]]]" = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._all: List[threading.Thread] = []

    def start(self, job: Callable[[], None]) -> None:
        with self._lock:
            # A thread is counted as waiting until a job is put for it.
            if self._waiting > 0:
                self._waiting -= 1
            elif len(self._all) < self._most:
                thread = threading.Thread(target=self._work, daemon=True)
                self._all.append(thread)
                thread.start()
            else:
                self._waiting -= 1
        self._jobs.put(job)

    def end(self) -> None:
        """Ends each thread after the jobs that wait. No job is started after it."""
        for _ in self._all:
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            with self._lock:
                self._waiting += 1


def _line(message: Dict[str, Any]) -> bytes:
    """A message as a line. Half of a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
    line = json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
    if len(line) > MOST_BYTES:
        text = f"a message of {len(line) >> 20} MB; the host reads at most {MOST_BYTES >> 20} MB"
        raise Failure("plugin.reply-size", text, failure_class="limit")
    return line


def _gone() -> Dict[str, Any]:
    return {"class": "cancelled", "code": "host.gone", "message": "the host has closed the connection"}


def _close(instance: Any) -> None:
    if instance is not None:
        try:
            instance.close()
        except Exception:
            traceback.print_exc()
