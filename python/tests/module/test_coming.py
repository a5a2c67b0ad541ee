"""The page for users of other tools: what it says about planforge runs."""

import ast
import asyncio
import inspect
import re
import shlex
import subprocess
import sys

import pytest
from goats import TEXT, Reader

import planforge as pf

# What a line of Python on the page begins with.
LINE = re.compile(r"(?:\w+ = )?(?:await )?(?:pf|task|answer|evaluation|verdict|found|states|print)\b")


def calls_of_planforge(page):
    """The code of the right columns, in order."""
    for row in re.findall(r"^\| .* \| (.*) \|$", page, re.M):
        yield from (code for code in re.findall(r"`([^`]+)`", row) if code.startswith("planforge ") or LINE.match(code))


def run(code, names):
    if code.startswith("planforge "):
        shown = subprocess.run([sys.executable, "-m", *shlex.split(code)], capture_output=True, text=True, timeout=300)
        assert shown.returncode == 0, (code, shown.stdout, shown.stderr)
        return
    done = eval(compile(code, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(done):
        asyncio.run(done)


def test_each_line_of_the_page_runs(root, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "configs"):
        (tmp_path / folder).symlink_to(root / folder)
    names = {"pf": pf, "text": TEXT, "model": Reader()}
    codes = list(calls_of_planforge((root / "docs/how-to/coming-from-other-tools.md").read_text()))
    assert len(codes) >= 30
    for code in codes:
        run(code, names)
    assert names["answer"].end == "planned" and names["plan"].steps and names["verdict"].valid
    assert len(names["states"]) == 100 and len(names["trials"]) == 6 and len(names["cells"]) == 3
    assert names["run"].tasks[0].verdict == "unusable"
    assert all((tmp_path / "runs" / name).is_file() for name in ("report.html", "again.html"))
