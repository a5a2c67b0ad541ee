"""Calls a plugin without the host, for unit tests."""

from __future__ import annotations

import json
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from .documents import plan_found
from .failure import Failure
from .host import Host
from .options import options_schema
from .plugin import Environment, Planner, Plugin
from .plugin import create as _create

__all__ = ["TestHost", "call", "candidate", "create", "verify"]

# What each kind may ask of the host.
_ALLOWED: Dict[str, Sequence[str]] = {
    "verifier": ("host/complete", "host/environment", "host/plan"),
    "translator": ("host/complete",),
    "planner": ("host/complete",),
    "environment": (),
    "provider": (),
}


class TestHost(Host):
    """A host with scripted replies. A request without a scripted reply fails with `testing.no-reply`.

    `replies`: role -> texts, `Reply` documents or failures, in order. `environment`: an instance of an `Environment`, opened
    on `task`. `planners`: label of a plan stage -> an instance of a `Planner`, or its answer.
    `requests`, `logs` and `progress_reports` hold what the plugin sent.
    """

    __test__ = False  # It is no test case for pytest.

    def __init__(
        self,
        replies: Optional[Dict[str, Sequence[Any]]] = None,
        environment: Optional[Environment] = None,
        task: Optional[Dict[str, Any]] = None,
        planners: Optional[Dict[str, Any]] = None,
        remaining_ms: Optional[int] = None,
    ):
        super().__init__(remaining_ms)
        self._kind = ""
        self._replies = {role: list(texts) for role, texts in (replies or {}).items()}
        self._environment = environment
        self._task = task or {}
        self._planners = planners or {}
        self._lock = threading.Lock()
        self.requests: List[Tuple[str, Dict[str, Any]]] = []
        self.logs: List[Tuple[str, str]] = []
        self.progress_reports: List[Tuple[int, int, str]] = []

    def cancel(self) -> None:
        """Interrupts the run."""
        self._is_cancelled.set()

    @property
    def left_over(self) -> int:
        """Number of scripted replies that were not asked for."""
        return sum(len(texts) for texts in self._replies.values())

    def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        if method not in _ALLOWED.get(self._kind, _ALLOWED["verifier"]):
            text = f"this kind of plugin may not call `{method}`"
            raise Failure("host.forbidden", text, failure_class="request")
        params = _through_json(params)
        if method == "host/complete":
            return self._complete(params["role"], params["request"])
        if method == "host/environment":
            return self._ask_environment(params["request"])
        return self._ask_planner(params["label"], params["request"])

    def _complete(self, role: str, request: Dict[str, Any]) -> Any:
        with self._lock:
            self.requests.append((role, request))
            made = [self._reply(role) for _ in range(request.get("sampling", {}).get("n") or 1)]
        return {"result": "replies", "replies": made, "usage": {}, "model": "scripted"}

    def _reply(self, role: str) -> Any:
        if not self._replies.get(role):
            text = f"no further reply is scripted for the role `{role}`"
            raise Failure("testing.no-reply", text, failure_class="provider")
        reply = self._replies[role].pop(0)
        if isinstance(reply, Exception):
            raise reply
        return {"content": reply, "finish": "stop"} if isinstance(reply, str) else reply

    def _ask_environment(self, request: Dict[str, Any]) -> Any:
        if self._environment is None:
            raise Failure("host.no-environment", "no environment is open", failure_class="request")
        method = request.pop("method")
        documents = {name: request for name in ("spec", "sequences", "plan", "query")}
        answer = self._environment.call(method, self, {**documents, "task": self._task})
        return {"method": method, **_through_json(answer)}

    def _ask_planner(self, label: str, request: Dict[str, Any]) -> Any:
        if label not in self._planners:
            text = f"no plan stage has the label `{label}`"
            raise Failure("host.no-planner", text, failure_class="request")
        planner = self._planners[label]
        return planner.call("plan", self, {"request": request}) if isinstance(planner, Planner) else planner

    def _tell(self, method: str, params: Dict[str, Any]) -> None:
        with self._lock:
            if method == "host/log":
                self.logs.append((params["level"], params["message"]))
            else:
                self.progress_reports.append((params["done"], params["total"], params["what"]))


def create(plugin: type, options: Optional[Dict[str, Any]] = None, secrets: Optional[Dict[str, str]] = None) -> Any:
    """An instance with options as a pipeline file gives them. Unknown and missing options are refused as by the host."""
    schema = options_schema(plugin.options)  # type: ignore
    given = _through_json(options or {})
    unknown = [name for name in given if name not in schema["properties"]]
    if unknown and schema.get("additionalProperties") is False:
        raise Failure("plugin.options", f"there is no option `{unknown[0]}`", failure_class="request")
    missing = [name for name in schema.get("required", []) if name not in given]
    if missing:
        raise Failure("plugin.options", f"the option `{missing[0]}` is missing", failure_class="request")
    return _create(plugin, given, secrets)


def call(plugin: Plugin, method: str, host: Optional[Host] = None, **documents: Any) -> Any:
    """The document that a method of the protocol answers with: `call(plugin, "verify", request={...})`."""
    host = host or TestHost()
    if isinstance(host, TestHost):
        host._kind = plugin.kind
    return _through_json(plugin.call(method, host, _through_json(documents)))


def verify(plugin: Plugin, *candidates: Any, host: Optional[Host] = None, task: Any = None) -> List[Any]:
    """The assessments of candidates, in order. The first failure is raised."""
    request = {"task": task or {}, "candidates": list(candidates), "seed": 0}
    results = call(plugin, "verify", host, request=request)["results"]
    for result in results:
        if "failure" in result:
            raise Failure.from_document(result["failure"])
    return [result["ok"] for result in results]


def candidate(steps: Optional[Sequence[str]] = None, **fields: Any) -> Dict[str, Any]:
    """A candidate: the steps of its plan, and fields of `types.Candidate` such as `domain` and `problem`."""
    plan: Dict[str, Union[Any, str]] = {} if steps is None else {"plan": plan_found(steps)}
    return {"lineage": [], **plan, **fields}


def _through_json(document: Any) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))
