"""What a notebook shows."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from goats import DOMAIN, OTHER_DOMAIN, PLAN, PROBLEM, TEXT, Reader

import planforge as pf

TIMED = """(define (domain oven)
  (:requirements :strips :typing :durative-actions)
  (:types bread)
  (:predicates (raw ?b - bread) (baked ?b - bread))
  (:durative-action bake
    :parameters (?b - bread)
    :duration (= ?duration 30)
    :condition (at start (raw ?b))
    :effect (and (at start (not (raw ?b))) (at end (baked ?b)))))
"""
LOAVES = """(define (problem loaves) (:domain oven) (:objects rye spelt - bread)
  (:init (raw rye) (raw spelt)) (:goal (and (baked rye) (baked spelt))))
"""


class Tags(HTMLParser):
    """The tags and the text of a document, whose tags must be closed in order."""

    def __init__(self, document):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(document)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def task():
    return pf.read(DOMAIN, PROBLEM)


def svg(picture):
    document = picture._repr_svg_()
    assert ElementTree.fromstring(document).tag == "{http://www.w3.org/2000/svg}svg"
    return document


def test_a_task_shows_its_texts_and_a_plan_its_steps(task):
    shown = Tags(task._repr_html_())
    assert shown.tags.count("details") == 2 and DOMAIN in shown.text and PROBLEM in shown.text
    assert (task.domain, task.problem) == (DOMAIN, PROBLEM)
    plan = task.plan(optimal=True)
    shown = Tags(plan._repr_html_())
    assert shown.tags.count("li") == 7 and "7 steps, cost 7, proven optimal" in shown.text
    assert all(step in shown.text for step in plan)
    shown = Tags(task.search(k=3)._repr_html_())
    assert shown.tags.count("tr") == 4 and "(load lotte west)" in shown.text


def test_costs_have_all_their_digits(task):
    plan = pf.Plan(("(a)",), 1234567.0, 1234567.25, False, task)
    assert "1 step, cost 1234567, proven bound 1234567.25" in Tags(plan._repr_html_()).text


def test_findings_and_differences_are_tables(task):
    shown = Tags(task.validate("(load lotte west)\n(unload lotte east)\n")._repr_html_())
    assert "rejected" in shown.text and "plan:2:1" in shown.text and "table" in shown.tags
    for compared in (pf.compare(DOMAIN, OTHER_DOMAIN, problems=PROBLEM), pf.compare(task, pf.read(OTHER_DOMAIN, PROBLEM))):
        shown = Tags(compared._repr_html_())
        assert "different" in shown.text and shown.text.count("refused") == 1
        assert all(step in shown.text for step in compared.difference.steps)
    assert Tags(pf.compare(task, task)._repr_html_()).text.startswith("equal")


def test_texts_are_escaped():
    wrong = "<script>alert('&')</script>"
    shown = pf.check(DOMAIN.replace("(boat ?b - bank)", f"(boat ?b - bank) {wrong}"))._repr_html_()
    assert "<script" not in shown and "&lt;script&gt;" in shown
    comment = f"; {wrong}\n"
    task = pf.read(comment + DOMAIN, PROBLEM)
    assert "<script" not in task._repr_html_() and wrong in Tags(task._repr_html_()).text


def test_states_of_a_plan_are_drawn(task, tmp_path):
    plan = task.plan(optimal=True)
    pictures = plan.pictures()
    assert [one.step for one in pictures] == sorted({one.step for one in pictures}) and pictures[0].step == 0
    assert len(pictures) > 4 and pictures.steps == plan.steps
    shown = Tags(pictures._repr_html_())
    assert shown.tags.count("figure") == len(pictures) and "initial state" in shown.text
    assert f"after 1: {plan.steps[0]}" in shown.text
    assert len({svg(one) for one in pictures}) > 1
    (initial,) = task.pictures()
    assert svg(initial) == svg(pictures[0])
    pictures[0].save(tmp_path / "first.svg")
    assert (tmp_path / "first.svg").read_text() == initial.svg
    failing = task.pictures("(load lotte west)\n(unload lotte east)\n")
    assert failing[-1].step == 1


def test_a_template_draws(task, root):
    blocks = root / "examples/suites/blocks"
    drawn = pf.read(blocks / "domain.pddl", blocks / "p01.pddl")
    texts = pf.read(drawn.domain, drawn.problem)
    template = blocks / "picture.toml"
    assert drawn.pictures()[0] == texts.pictures(template=template)[0] == texts.pictures(template=template.read_text())[0]
    assert drawn.pictures()[0] != texts.pictures()[0]
    with pytest.raises(pf.InputError):
        task.pictures(template="schema = 1\n[[stack]]\non = 'nothing ?a ?b'\n")


def test_a_plan_with_times_is_a_gantt_chart(task):
    chart = pf.read(TIMED, LOAVES).gantt("0: (bake rye) [30]\n10: (bake spelt) [30]\n")
    assert "bake rye" in svg(chart) or "rye" in svg(chart)
    with pytest.raises(pf.UsageError):
        task.gantt(PLAN)


def test_runs_evaluations_and_answers_are_tables(root):
    garden = root / "examples/suites/garden"
    run = pf.run(root / "configs/pipelines/llm-p.toml", tasks=garden / "p01", model=lambda messages: None)
    shown = Tags(run._repr_html_())
    assert "failed" in shown.text and "NoneType" in shown.text
    evaluation = pf.evaluate(
        suites=garden,
        pipelines=root / "configs/pipelines/llm-p.toml",
        set={"llm.main.use": "provider-noisy-oracle", "llm.main.model": "oracle", "llm.main.suites": [str(garden)]},
        seeds=[1, 2],
        tasks=1,
        out="evaluation",
    )
    shown = Tags(evaluation._repr_html_())
    assert shown.tags.count("tr") == 3 and "2 cells, 0 open, 0 failed tasks" in shown.text
    answer = pf.solve(TEXT, model=Reader())
    shown = Tags(answer._repr_html_())
    assert shown.text.startswith("planned: 7 steps.") and re.search(r"\(define \(domain ferry\)", shown.text)
