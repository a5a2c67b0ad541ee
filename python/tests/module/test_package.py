import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import planforge_plugin
import pytest

import planforge as pf
from planforge import _command, _native

PACKAGE = Path(pf.__file__).parent
SCRIPT = Path(sys.executable).parent / "planforge"


def command(*arguments, **settings):
    return subprocess.run(
        [sys.executable, "-m", "planforge", *arguments], capture_output=True, text=True, timeout=300, **settings
    )


def test_there_is_one_version():
    assert importlib.metadata.version("planforge") == pf.__version__ == planforge_plugin.__version__
    assert command("--version").stdout.split() == ["planforge", pf.__version__]


def test_the_console_script_is_the_command():
    shown = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and "Exit codes:" in shown.stdout
    assert command("pddl", "nothing").returncode == 30


def test_an_exit_code_and_json_are_those_of_the_command(root):
    domain, problem = (root / "examples/suites/parcels" / name for name in ("domain.pddl", "p01.pddl"))
    shown = command("pddl", "validate", domain, problem, "--json")
    assert shown.returncode == 0 and '"decision": "accepted"' in shown.stdout
    assert command("pddl", "validate", "nowhere.pddl").returncode == 31


def test_the_worker_process_runs_in_the_interpreter_and_ignores_the_working_directory(root):
    Path("planforge.py").write_text("raise SystemExit('code of the working directory')")
    Path("json.py").write_text("raise SystemExit('code of the working directory')")
    executable, arguments = _command.worker()
    shown = subprocess.run([executable, *arguments, "--help"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and "worker" in shown.stdout, shown.stderr
    # translator-asp reasons in a worker process.
    folder = root / "examples/suites/parcels"
    inferred = subprocess.run(
        [SCRIPT, "pddl", "infer", folder / "p_example.lp", "--domain", folder / "domain.pddl", "--json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert inferred.returncode == 0 and '"decision": "inferred"' in inferred.stdout, inferred


def test_the_wheel_has_the_licences_of_what_it_contains():
    texts = {file.name: file.read_text() for file in importlib.metadata.files("planforge") if "LICENSE" in file.name}
    assert {"LICENSE", "LICENSE-APACHE", "LICENSE-MIT"} < set(texts)
    linked = texts["LICENSES-OF-DEPENDENCIES.txt"]
    for name in ("clingo-sys", "clingo/clasp/libpotassco", "pyo3 ", "rustls ", "serde_json "):
        assert name in linked, name
    assert "planforge-app" not in linked.split("=====")[1]


def test_nothing_is_printed_by_the_module(capfd):
    with pytest.raises(pf.InputError):
        pf.read("(define", "nowhere.pddl")
    assert capfd.readouterr() == ("", "")


def test_every_public_name_has_a_docstring_and_the_stub_names_what_is_there():
    for name in pf.__all__:
        if name not in ("__version__", "Event"):
            assert getattr(pf, name).__doc__, name
    stub = (PACKAGE / "_native.pyi").read_text()
    named = set(re.findall(r"^(?:def|class) (\w+)", stub, re.M)) | {"__version__"}
    there = {name for name in dir(_native) if not name.startswith("__")} | {"__version__"}
    assert named == there - {"_native"}
    for name in ("NativeCancellation", "NativeTask"):
        body = re.search(rf"^class {name}:\n((?:    .*\n|\n)*)", stub, re.M)[1]
        methods = {one for one in dir(getattr(_native, name)) if not one.startswith("_")}
        assert set(re.findall(r"^    def (\w+)", body, re.M)) == methods
    assert (PACKAGE / "py.typed").is_file()


@pytest.mark.parametrize("library", [None, b"\x7fELF of another platform"])
def test_without_its_native_part_the_package_says_what_to_do(tmp_path, library):
    copy = tmp_path / "planforge"
    copy.mkdir()
    for file in PACKAGE.glob("*.py"):
        (copy / file.name).write_text(file.read_text())
    if library is not None:
        (copy / "_native.abi3.so").write_bytes(library)
    shown = subprocess.run([sys.executable, "-S", "-c", "import planforge"], capture_output=True, text=True, cwd=tmp_path)
    last = shown.stderr.splitlines()[-1]
    assert last.startswith("ImportError: the native part of planforge cannot be loaded") and "tools/wheel" in last


def test_pip_refuses_the_wheel_on_musl_by_its_tag():
    tags = [line[5:] for line in importlib.metadata.distribution("planforge").read_text("WHEEL").splitlines() if line.startswith("Tag: ")]
    assert tags and all(tag.startswith("cp310-abi3-") and "musl" not in tag for tag in tags), tags
    if sys.platform == "linux":
        assert all("-manylinux" in tag for tag in tags), tags


def test_an_engine_without_unified_planning_names_the_extra():
    script = "import sys; sys.modules['unified_planning'] = None; import planforge.up"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'planforge[unified-planning]'" in shown.stderr.splitlines()[-1]


def test_an_import_and_the_command_load_no_module_that_they_do_not_need():
    script = "import sys; old = set(sys.modules); import planforge._command; print(sorted(set(sys.modules) - old))"
    shown = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True)
    assert shown.stdout == "['__future__', 'planforge', 'planforge._command', 'planforge._native']\n", shown


def test_the_module_needs_no_other_package():
    script = "import sys, planforge; planforge.solve; print([name for name in ('pandas', 'numpy', 'asyncio', 'unified_planning') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "[]\n"


def test_the_examples_of_the_page_run(root, tmp_path, monkeypatch):
    page = (root / "docs/how-to/use-from-python.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(examples) == 10
    monkeypatch.chdir(root)
    names = {"FOLDER": str(tmp_path / "runs")}
    has_pandas = importlib.util.find_spec("pandas") is not None
    for example in examples:
        if "frame(" in example and not has_pandas:
            continue
        exec(compile(example, "docs/how-to/use-from-python.md", "exec"), names)
    assert names["run"].tasks[0].verdict == "accepted" and names["answer"].plan
    assert names["chart"].svg and len(names["pictures"]) > 3 and names["found"].plans
