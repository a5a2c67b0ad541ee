"""Functions that make and read the documents. The types are in `types`."""

from __future__ import annotations

import re
from typing import Any, Iterator, List, Optional, Sequence

from .failure import Failure
from .types import Assessment, Candidate, CandidatePatch, CompletionResult, Message, PlanDocument, PlanOutcome
from .types import Reply, Tags, TaskView


def accepted(summary: str = "", **fields: Any) -> Assessment:
    """The candidate is correct, as far as the verifier checks. `fields`: `metrics`, `feedback`, `evidence`, ..."""
    return {"decision": "accepted", "summary": summary, **fields}  # type: ignore


def rejected(summary: str = "", **fields: Any) -> Assessment:
    """The candidate is wrong. `feedback` is a list of texts for the model."""
    return {"decision": "rejected", "summary": summary, **fields}  # type: ignore


def undecided(message: str, reason: str = "missing-input", **fields: Any) -> Assessment:
    """Neither could be shown. `reason` is "limit", "unsupported" or "missing-input"."""
    return {"decision": "undecided", "reason": reason, "message": message, **fields}  # type: ignore


def not_comparable(message: str, **fields: Any) -> Assessment:
    """The question makes no sense for this candidate."""
    return {"decision": "not-comparable", "message": message, **fields}  # type: ignore


def plan_steps(candidate: Candidate) -> Optional[List[str]]:
    """The steps of the candidate's best plan, as `(name object ...)`; None without a plan."""
    plan = best_plan(candidate.get("plan"))
    return None if plan is None else plan["steps"]


def best_plan(outcome: Optional[PlanOutcome]) -> Optional[PlanDocument]:
    """The first plan of a planner's answer; None without one."""
    if outcome is None or outcome["outcome"] != "plan" or not outcome["plans"]:
        return None
    return outcome["plans"][0]


def plan_found(*plans: Sequence[str], optimal: bool = False, **statistics: Any) -> PlanOutcome:
    """A planner's answer: plans as lists of steps, best first. `optimal`: the first is proven cheapest."""
    documents = [{"steps": list(steps)} for steps in plans]
    return {"outcome": "plan", "plans": documents, "optimal": optimal, "statistics": statistics}  # type: ignore


def exhausted(*explanation: str) -> PlanOutcome:
    """A planner's answer: no plan was found, and nothing is proven."""
    return {"outcome": "exhausted", "explanation": list(explanation)}


def unsolvable(*explanation: str) -> PlanOutcome:
    """A planner's answer: it is proven that there is no plan."""
    return {"outcome": "proven-unsolvable", "explanation": list(explanation)}


def limit_reached(limit: str, message: str) -> PlanOutcome:
    """A planner's answer: a limit ("time", "memory", "nodes", "grounding" or "cancelled") ended the search."""
    return {"outcome": "limit-reached", "limit": limit, "message": message}  # type: ignore


def user(content: str) -> Message:
    """A question to the model."""
    return {"role": "user", "content": content}


def system(content: str) -> Message:
    """Instructions for the model."""
    return {"role": "system", "content": content}


def assistant(content: str) -> Message:
    """An earlier reply of the model."""
    return {"role": "assistant", "content": content}


def tags(task: TaskView, artefact: str) -> Tags:
    """The origin of a request, for simulated models. `artefact` is "problem", "domain" or "plan"."""
    return {"suite": task.get("suite", ""), "task": task.get("task", ""), "artefact": artefact}


def patch(reply: Reply, what: str, messages: Sequence[Message]) -> CandidatePatch:
    """A sample of a translator: the PDDL in a model's reply to `messages`. `what` is "domain" or "problem"."""
    content = reply["content"]
    turns = [*messages, assistant(content)]
    return {what: extract_pddl(content, what), "messages": turns, "raw_reply": content}  # type: ignore


def replies(*contents: str) -> CompletionResult:
    """A provider's answer: the texts of the replies."""
    made = [{"content": content, "finish": "stop"} for content in contents]
    return {"result": "replies", "replies": made, "usage": {}}  # type: ignore


def provider_failure(failure_class: str, message: str, **fields: Any) -> CompletionResult:
    """A provider's answer: the server did not answer the request. The class is one of `types.ProviderFailureClass`."""
    return {"result": "provider-failure", "class": failure_class, "message": message, **fields}  # type: ignore


def extract_pddl(text: str, what: str) -> str:
    """The last complete `(define (domain ...` or `(define (problem ...` in a text.

    Raises the failure `reply.no-pddl` if there is none. Comments (`;` to the end of the line) are passed over.
    """
    found = list(_definitions(text, what))
    if not found:
        message = f"the reply holds no complete (define ({what} ...))"
        raise Failure("reply.no-pddl", message, failure_class="reply")
    return found[-1]


def _definitions(text: str, what: str) -> Iterator[str]:
    for start in re.finditer(rf"\(\s*define\s*\(\s*{what}\b", text, re.IGNORECASE):
        depth = 0
        for token in re.finditer(r";[^\n]*|[()]", text[start.start() :]):
            depth += {"(": 1, ")": -1}.get(token.group(), 0)
            if depth == 0:
                yield text[start.start() : start.start() + token.end()]
                break
