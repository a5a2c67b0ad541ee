"""The command `planforge`, in the interpreter that the package is installed in."""

from __future__ import annotations

import os
import sys

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import List, Optional, Tuple

_PACKAGE = os.path.dirname(os.path.realpath(__file__))
PLUGINS = os.path.join(_PACKAGE, "plugins")
"""Plugins of the wheel; the folder may be missing."""

# With `-I`, neither the working directory nor PYTHONPATH can put other code in the place of this package.
_WORKER = "import sys; sys.path.append(sys.argv.pop(1)); from planforge._command import main; sys.exit(main())"


def worker() -> Optional[Tuple[str, List[str]]]:
    """The command of a worker process, or None in a program that embeds Python."""
    if not sys.executable:
        return None
    return os.path.abspath(sys.executable), ["-I", "-c", _WORKER, os.path.dirname(_PACKAGE), "worker"]


def main() -> int:
    """Runs the command with `sys.argv` and returns its exit code."""
    return _native.main(["planforge", *sys.argv[1:]], worker(), PLUGINS)
