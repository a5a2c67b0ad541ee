"""Results as HTML, for notebooks. Every text is escaped."""

from __future__ import annotations

from html import escape
from typing import Any, Iterable, Sequence, Tuple

from ._pddl import Comparison, Pictures, Plan, Search, Task, Validation
from ._pipelines import Evaluation, Recommendation, Run
from ._solve import Answer

# Rows of a table that a notebook shows.
_ROWS = 200


def _lines(*parts: object) -> str:
    """Paragraphs."""
    return "".join(f"<p>{escape(str(part))}</p>" for part in parts if part not in (None, ""))


def _items(texts: Iterable[object], *, numbered: bool = False) -> str:
    listed = "".join(f"<li>{escape(str(text))}</li>" for text in texts)
    tag = "ol" if numbered else "ul"
    return f"<{tag}>{listed}</{tag}>" if listed else ""


def _table(header: Sequence[object], rows: Sequence[Sequence[object]]) -> str:
    def row(cells: Sequence[object], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(row(one, "td") for one in rows[:_ROWS])
    more = _lines(f"and {len(rows) - _ROWS} more rows") if len(rows) > _ROWS else ""
    return f"<table><thead>{row(header, 'th')}</thead><tbody>{body}</tbody></table>{more}"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def _findings(diagnostics: Sequence[Any]) -> str:
    if not diagnostics:
        return ""
    rows = [(one.severity, one.place or "", one.message, one.code) for one in diagnostics]
    return _table(("severity", "place", "finding", "code"), rows)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(value)


def task(shown: Task) -> str:
    return "".join(_folded(name, text) for name, text in zip(shown._names, (shown.domain, shown.problem)))


def plan(shown: Plan) -> str:
    cost = "" if shown.cost is None else f", cost {_number(shown.cost)}"
    bound = "" if shown.bound is None else f", proven bound {_number(shown.bound)}"
    proven = ", proven optimal" if shown.optimal else bound
    steps = f"{len(shown)} step{'' if len(shown) == 1 else 's'}"
    return _lines(f"{steps}{cost}{proven}") + _items(shown, numbered=True)


def search(shown: Search) -> str:
    rows = [("" if one.cost is None else _number(one.cost), len(one), " ".join(one)) for one in shown.plans]
    plans = _table(("cost", "steps", "plan"), rows) if rows else ""
    return _lines(shown.outcome) + plans + _items(shown.explanation) + _findings(shown.diagnostics)


def validation(shown: Validation) -> str:
    cost = "" if shown.cost is None else f", cost {_number(shown.cost)}"
    return _lines(shown.decision + cost) + _findings(shown.diagnostics)


def comparison(shown: Comparison) -> str:
    found = shown.difference
    steps = "" if found is None else difference(found)
    score = None if shown.walk_score is None else f"exploration walk score {shown.walk_score:.3f}"
    return _lines(shown.decision, score) + steps + _items(shown.in_words) + _findings(shown.diagnostics)


def difference(shown: Any) -> str:
    """The steps on both sides: where one alone goes on, or reaches the goal."""
    refuses = {"first": 0, "second": 1}[shown.by]
    rows = []
    for number, step in enumerate(shown.steps, 1):
        is_refused = shown.kind == "refused" and number == len(shown.steps)
        cells = ["executed", "executed"]
        if is_refused:
            cells[refuses] = "refused"
        rows.append((number, step, *cells))
    if shown.kind == "goal":
        cells = ["holds", "holds"]
        cells[refuses] = "does not hold"
        rows.append(("", "goal", *cells))
    return _table(("", "step", "first", "second"), rows) + _lines(shown.why) + _items(shown.conditions)


def pictures(shown: Pictures) -> str:
    parts = []
    for one in shown:
        caption = "initial state" if one.step == 0 else f"after {one.step}: {shown.steps[one.step - 1]}"
        parts.append(
            f'<figure style="display:inline-block;margin:4px"><figcaption>{escape(caption)}</figcaption>{one.svg}</figure>'
        )
    return "".join(parts)


def run(shown: Run) -> str:
    rows = [(one.task, one.verdict or "", one.message) for one in shown.tasks]
    return _lines(shown.state) + _table(("task", "verdict", "reason"), rows)


def evaluation(shown: Evaluation) -> str:
    header, rows = _csv(shown, "cells")
    counts = f"{shown.cells} cells, {shown.open_cells} open, {shown.failed_tasks} failed tasks"
    return _lines(counts) + (_table(header, rows) if header else "")


def recommendation(shown: Recommendation) -> str:
    return _lines(*shown.text.splitlines())


def _csv(shown: Evaluation, table: str) -> Tuple[Sequence[str], Sequence[Sequence[str]]]:
    import csv

    file = shown.out / f"{table}.csv"
    if not file.is_file():
        return (), ()
    with file.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, rows


def answer(shown: Answer) -> str:
    words = f"<pre>{escape(shown.words)}</pre>" if shown.words else ""
    asked = [(one.id, one.question, "; ".join(one.choices), one.answer) for one in shown.points]
    points = _table(("point", "question", "choices", "answer"), asked) if asked else ""
    texts = [_folded(name, text) for name, text in (("domain", shown.domain), ("problem", shown.problem)) if text]
    return _lines(shown.line) + words + points + "".join(texts)
