"""Base classes, one for each kind of plugin."""

from __future__ import annotations

import inspect
import random
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple, Union

from .failure import Failure, failure_document
from .host import Host
from .options import options_schema, read_options
from .types import (
    ActionInterface,
    Assessment,
    Candidate,
    CandidatePatch,
    CompletionRequest,
    CompletionResult,
    Declared,
    EnvironmentInfo,
    EnvironmentOpen,
    EnvironmentPlan,
    EnvironmentVerdict,
    ExecutionReport,
    PlanOutcome,
    PlanRequest,
    PluginInfo,
    Sequences,
    StateDescription,
    StateQuery,
    TaskView,
    TranslateRequest,
    VerifyRequest,
    WalkSpec,
    Walks,
)

Result = Union[Any, Failure]


class Plugin:
    """What all kinds have. The attributes of a class describe the plugin; an instance has the options of one stage.

    Calls come from several threads at once, so a method does not change the instance.
    """

    kind = ""
    """Set by the base class of the kind."""
    about = ""
    """One line for `planforge plugins list`; the first line of the class's doc string if empty."""
    version = "0.1.0"
    options: Any = {}
    """A dict of defaults, a dataclass (`field(metadata={"about": TEXT})`), or a JSON schema. In an instance: the values."""
    roles: Dict[str, str] = {}
    """Names of the model roles, each with one line about it. A plugin asks models in its roles alone."""
    metrics: Dict[str, str] = {}
    """Names of the metrics of a verifier, each with one line about it."""
    measures: Sequence[str] = ()
    """Standard quantities of a verifier: "walk-score", "plan-validity", "equivalence", "result-class"."""
    capabilities: Dict[str, Any] = {}
    """Optional capabilities (`types.Capabilities`), such as `{"environment": "always"}`."""
    secrets: Any = ()
    """Options that name an environment variable. In an instance: option -> the variable's value."""
    servers: Sequence[str] = ()
    """Options that hold the address of a server that gets the secrets."""
    files: Sequence[str] = ()
    """Options that hold the path of a file; the instance gets the file's text."""
    folders: Sequence[str] = ()
    """Options that hold the path of a folder."""
    commands: Sequence[Dict[str, Any]] = ()
    """Options that hold a command which the plugin starts (`types.CommandOption`), such as `{"option": "command"}`."""
    max_concurrency = 32
    """Number of calls that one instance takes at a time."""
    methods: Dict[str, Tuple[str, Tuple[str, ...]]] = {}
    """Method of the protocol -> method of the class, names of its documents."""

    def __init__(self, options: Any, secrets: Dict[str, str]):
        self.options = options
        self.secrets = secrets
        self.setup()

    def setup(self) -> None:
        """Called once, when the instance is created. A `Failure` refuses the options."""

    def close(self) -> None:
        """Called once, when the instance is not needed any more."""

    def call(self, method: str, host: Host, documents: Dict[str, Any]) -> Any:
        """Answers a call of the host."""
        if method not in self.methods:
            raise Failure("plugin.method", f"a {self.kind} has no method `{method}`", failure_class="request")
        name, inputs = self.methods[method]
        return self.answer(getattr(self, name)(host, *(documents[one] for one in inputs)))

    def answer(self, result: Any) -> Any:
        """The document that the result of a method becomes."""
        return result


def create(plugin: type, options: Optional[Dict[str, Any]] = None, secrets: Optional[Dict[str, str]] = None) -> Any:
    """An instance with options as a pipeline file gives them."""
    return plugin(read_options(plugin.options, options or {}), secrets or {})  # type: ignore


def describe(plugin: Any) -> PluginInfo:
    """The description of a class; id and contract come from plugin.toml."""
    about = plugin.about or (inspect.getdoc(plugin) or "").split("\n")[0]
    return {  # type: ignore
        "kind": plugin.kind,
        "version": plugin.version,
        "about": about,
        "options_schema": options_schema(plugin.options),
        "roles": _declared(plugin.roles),
        "metrics": _declared(plugin.metrics),
        "measures": list(plugin.measures),
        "capabilities": plugin.capabilities,
        "secrets": list(plugin.secrets),
        "servers": list(plugin.servers),
        "files": list(plugin.files),
        "folders": list(plugin.folders),
        "commands": list(plugin.commands),
        "max_concurrency": plugin.max_concurrency,
    }


def _declared(names: Dict[str, str]) -> List[Declared]:
    return [{"name": name, "about": about} for name, about in names.items()]


def _outcomes(results: Iterable[Result]) -> List[Dict[str, Any]]:
    return [
        {"failure": failure_document(result)} if isinstance(result, BaseException) else {"ok": result}
        for result in results
    ]


class Verifier(Plugin):
    """Judges candidates. Write `check`, or `verify` to see all candidates of a call together."""

    kind = "verifier"
    methods = {"verify": ("verify", ("request",))}

    def check(self, host: Host, task: TaskView, candidate: Candidate) -> Assessment:
        """The assessment of one candidate: `accepted(...)`, `rejected(...)`, `undecided(...)` or `not_comparable(...)`."""
        raise NotImplementedError("a verifier has `check` or `verify`")

    def verify(self, host: Host, request: VerifyRequest) -> Sequence[Result]:
        """One assessment a candidate, in order. An exception in place of an assessment is that candidate's failure."""
        results: List[Result] = []
        for candidate in request["candidates"]:
            try:
                results.append(self.check(host, request["task"], candidate))
            except Exception as error:
                results.append(error)
        return results

    def answer(self, result: Sequence[Result]) -> Any:
        return {"results": _outcomes(result)}


class Translator(Plugin):
    """Writes PDDL from text."""

    kind = "translator"
    methods = {"translate": ("translate", ("request",))}

    def translate(self, host: Host, request: TranslateRequest) -> Sequence[Union[CandidatePatch, Exception]]:
        """`request["n"]` samples. An exception in place of a sample is that sample's failure."""
        raise NotImplementedError("a translator has `translate`")

    def answer(self, result: Sequence[Result]) -> Any:
        return {"samples": _outcomes(result)}


class Planner(Plugin):
    """Finds plans."""

    kind = "planner"
    methods = {"plan": ("plan", ("request",))}

    def plan(self, host: Host, request: PlanRequest) -> PlanOutcome:
        """`plan_found(...)`, `exhausted(...)`, `unsolvable(...)`, `limit_reached(...)` or another outcome."""
        raise NotImplementedError("a planner has `plan`")


class Provider(Plugin):
    """Sends requests to a language model: one request, one attempt. Retries and limits are the host's."""

    kind = "provider"
    methods = {"complete": ("complete", ("request",))}

    def complete(self, host: Host, request: CompletionRequest) -> CompletionResult:
        """`replies(...)` or `provider_failure(...)`."""
        raise NotImplementedError("a provider has `complete`")


def _schema(action: str) -> str:
    return action.strip("()").split()[0]


def _rare(choice: random.Random, names: List[str], count: Dict[str, int]) -> str:
    """One of the names: each with a weight of 1 / (1 + its count)."""
    return choice.choices(names, [1 / (1 + count.get(one, 0)) for one in names])[0]


class Refused(Exception):
    """Raised by `Environment.step` for an action that cannot be executed in the state. Its text is the reason."""


class Environment(Plugin):
    """Executes actions. Walks, executions and verdicts are derived from `reset`, `actions`, `step` and `missing`."""

    kind = "environment"
    methods = {
        "describe": ("describe", ("task",)),
        "walks": ("walks", ("task", "spec")),
        "execute": ("execute", ("task", "sequences")),
        "validate": ("validate", ("task", "plan")),
        "describe-state": ("describe_state", ("task", "query")),
    }

    def interface(self, task: EnvironmentOpen) -> ActionInterface:
        """Actions and objects of the task."""
        raise NotImplementedError("an environment has `interface`")

    def reset(self, task: EnvironmentOpen) -> Any:
        """The initial state: any value."""
        raise NotImplementedError("an environment has `reset`")

    def actions(self, state: Any) -> List[str]:
        """The applicable ground actions as `(name object ...)`, in an order that is the same every time."""
        raise NotImplementedError("an environment has `actions`")

    def step(self, state: Any, action: str) -> Any:
        """The next state. Raises `Refused` if the action cannot be executed, and leaves the state as it was."""
        raise NotImplementedError("an environment has `step`")

    def missing(self, state: Any) -> List[str]:
        """The parts of the goal that do not hold, one sentence each; empty if the goal holds."""
        raise NotImplementedError("an environment has `missing`")

    def sentences(self, state: Any) -> StateDescription:
        """The state in words: `{"sentences": [...], "atoms": [...]}`."""
        raise NotImplementedError("an environment has `sentences`")

    def describe(self, host: Host, task: EnvironmentOpen) -> EnvironmentInfo:
        return {"interface": self.interface(task)}

    def walks(self, host: Host, task: EnvironmentOpen, spec: WalkSpec) -> Walks:
        """Random walks. With the policy `coverage-guided`, actions that were executed least are likelier."""
        count: Dict[str, int] = {}
        guided = spec.get("policy") == "coverage-guided"
        walks = []
        for index, length in enumerate(spec.get("lengths", [])):
            if host.cancelled:
                raise Failure("host.cancelled", "the run was interrupted", failure_class="cancelled")
            choice = random.Random(f"{spec.get('seed', 0)} {index}")
            walks.append(self._walk(task, length, choice, count, guided))
        return {"walks": walks}

    def _walk(
        self, task: EnvironmentOpen, length: int, choice: random.Random, count: Dict[str, int], guided: bool
    ) -> List[str]:
        """One walk. `count`: executions of each ground action and of each action schema so far."""
        state = self.reset(task)
        walk: List[str] = []
        while len(walk) < length:
            actions = self.actions(state)
            if not actions:
                break
            if guided:
                schemas = list(dict.fromkeys(_schema(one) for one in actions))
                chosen = _rare(choice, schemas, count)
                action = _rare(choice, [one for one in actions if _schema(one) == chosen], count)
            else:
                action = choice.choice(actions)
            try:
                state = self.step(state, action)
            except Refused as reason:
                message = f"the environment listed {action} as applicable and refused it: {reason}"
                raise Failure("plugin.environment", message) from reason
            for executed in (action, _schema(action)):
                count[executed] = count.get(executed, 0) + 1
            walk.append(action)
        return walk

    def _run(self, task: EnvironmentOpen, actions: Sequence[str]) -> Tuple[Any, Dict[str, Any]]:
        """The state after the longest executable prefix, and its execution."""
        state = self.reset(task)
        for executed, action in enumerate(actions):
            try:
                state = self.step(state, action)
            except Refused as reason:
                return state, {"executed": executed, "refusal": str(reason)}
        return state, {"executed": len(actions)}

    def execute(self, host: Host, task: EnvironmentOpen, sequences: Sequences) -> ExecutionReport:
        executions = [self._run(task, one)[1] for one in sequences["sequences"]]
        return {"executions": executions}  # type: ignore

    def validate(self, host: Host, task: EnvironmentOpen, plan: EnvironmentPlan) -> EnvironmentVerdict:
        state, execution = self._run(task, plan["steps"])
        reasons = [execution["refusal"]] if "refusal" in execution else self.missing(state)
        return {"valid": not reasons, "executed": execution["executed"], "reasons": reasons}

    def describe_state(self, host: Host, task: EnvironmentOpen, query: StateQuery) -> StateDescription:
        state, execution = self._run(task, query["actions"])
        if "refusal" in execution:
            message = f"step {execution['executed'] + 1} of the sequence cannot be executed: {execution['refusal']}"
            raise Failure("plugin.environment", message, failure_class="request")
        return self.sentences(state)
