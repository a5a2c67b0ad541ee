"""The notebook runs from start to end. Its cells are executed here: a kernel of Jupyter would double what this package's tests install."""

import ast
import json

import pytest

import planforge as pf


class Shown(list):
    """The results of cells."""

    def run(self, source, names):
        """Executes a cell as a notebook does: the value of a last expression is its result."""
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if last is not None:
            self.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))


def test_the_notebook_runs_and_shows_what_its_text_says(root, monkeypatch, capsys):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib").use("Agg")
    folder = root / "examples/notebook"
    monkeypatch.chdir(folder)
    cells = json.loads((folder / "planforge.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in cells)
    names, shown = {"__name__": "__main__"}, Shown()
    for source in code:
        shown.run(source, names)
    results = {type(one): one for one in shown if one is not None}
    assert results[pf.Answer].end == "planned" and results[pf.Plan].optimal
    assert "needs a list of steps" in capsys.readouterr().out
    assert results[pf.Validation].decision == "rejected" and results[pf.Comparison].decision == "different"
    for kind in (pf.Answer, pf.Plan, pf.Pictures, pf.Validation, pf.Comparison):
        assert results[kind]._repr_html_().startswith("<")
    assert results[pf.Picture]._repr_svg_().startswith("<svg")
    shares = names["shares"]
    assert list(shares.index) == [0, 1, 2, 3] and (shares.loc[0] == 1).all() and (shares.loc[3] < 1).all()
    assert len(names["axes"].patches) == shares.size
