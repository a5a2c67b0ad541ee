"""The host's services for a plugin during one call. Every method may be called from several threads."""

from __future__ import annotations

import threading
import time
from typing import Any, Dict, List, Optional, Union

from .types import EnvironmentAnswer, Message, PlanOutcome, Replies


class Host:
    """The host of one call. A method raises `Failure` if the host answers with one."""

    def __init__(self, remaining_ms: Optional[int] = None):
        self._is_cancelled = threading.Event()
        self._deadline = None if remaining_ms is None else time.monotonic() + remaining_ms / 1000

    def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        """The host's answer to a question."""
        raise NotImplementedError

    def _tell(self, method: str, params: Dict[str, Any]) -> None:
        """Sends a message without an answer."""
        raise NotImplementedError

    def complete(self, role: str, messages: Union[str, List[Message]], **fields: Any) -> Replies:
        """Asks the language model that the pipeline gives this role. The texts are `["replies"][i]["content"]`.

        `messages` is a question or a conversation. `fields` are those of `types.CompletionRequest`, for example
        `sampling={"n": 3}` and `tags=tags(task, "problem")`.
        """
        turns = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        return self._ask("host/complete", {"role": role, "request": {"messages": turns, **fields}})

    def environment(self, method: str, **fields: Any) -> EnvironmentAnswer:
        """Asks the task's environment: `host.environment("validate", steps=[...])`. The methods are those of
        `types.EnvironmentCall`."""
        return self._ask("host/environment", {"request": {"method": method, **fields}})

    def plan(self, label: str, domain: str, problem: str, **fields: Any) -> PlanOutcome:
        """Asks the planner of the plan stage with that label. `fields` are those of `types.PlanRequest`, for example `k=3`."""
        request = {"domain": domain, "problem": problem, "k": 1, **fields}
        return self._ask("host/plan", {"label": label, "request": request})

    def log(self, message: str, level: str = "info") -> None:
        """Adds a line to the run's log. `level` is "debug", "info" or "warn"."""
        self._tell("host/log", {"level": level, "message": message})

    def progress(self, done: int, total: int = 0, what: str = "") -> None:
        """Tells how far the call is: `done` of `total` (0 if unknown)."""
        self._tell("host/progress", {"done": done, "total": total, "what": what})

    @property
    def cancelled(self) -> bool:
        """True if the run is being interrupted. Long loops read it now and then, and end."""
        return self._is_cancelled.is_set()

    @property
    def remaining_ms(self) -> Optional[int]:
        """Milliseconds until the host gives the call up; None without a deadline."""
        if self._deadline is None:
            return None
        return max(0, int((self._deadline - time.monotonic()) * 1000))
