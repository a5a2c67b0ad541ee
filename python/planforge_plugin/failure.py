"""The failure of a tool. A failure is never a verdict about a candidate."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any, Dict, Optional


class Failure(Exception):
    """Ends a call with a class and a code of the plugin's choice.

    `failure_class` is one of `types.FailureClass`: "limit" for a limit, "request" for options that make no sense together,
    "reply" for an unusable reply of a model, "plugin" for anything else. `help` is one suggested action.
    """

    def __init__(self, code: str, message: str, help: Optional[str] = None, failure_class: str = "plugin"):
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help
        self.failure_class = failure_class
        self._given: Dict[str, Any] = {}

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"

    def document(self) -> Dict[str, Any]:
        """The document `failure`."""
        document = {**self._given, "class": self.failure_class, "code": self.code, "message": self.message}
        if self.help is not None:
            document["help"] = self.help
        return document

    @classmethod
    def from_document(cls, document: Dict[str, Any]) -> "Failure":
        """The failure that a document holds. Further fields are kept."""
        failure = cls(document["code"], document["message"], document.get("help"), document["class"])
        failure._given = dict(document)
        return failure


def failure_document(error: BaseException) -> Dict[str, Any]:
    """The document `failure` of an exception. The traceback of an unexpected one is written to standard error."""
    if isinstance(error, Failure):
        return error.document()
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stderr)
    sys.stderr.flush()
    message = "".join(traceback.format_exception_only(type(error), error)).strip().splitlines()[-1]
    document = {"class": "plugin", "code": "plugin.exception", "message": message}
    frames = traceback.extract_tb(error.__traceback__)
    if frames:
        document["place"] = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno}"
    return document
