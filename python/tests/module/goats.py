"""A text about two goats, and a model that reads it."""

from __future__ import annotations

import re

TEXT = (
    "Two goats, Lotte and Mia, stand on the west bank of a river. A ferryman has a boat there, which is empty. He can load a goat that is "
    "where the boat is, row across with whatever is aboard, and unload a goat. Both goats shall be on the east bank."
)

DOMAIN = """(define (domain ferry)
  (:requirements :strips :typing)
  (:types
    goat bank ; [1]
  )
  (:predicates
    (on ?g - goat ?b - bank) ; [1]
    (aboard ?g - goat) ; [3]
    (empty) ; [2]
    (boat ?b - bank) ; [2]
  )
  (:action load ; [3]
    :parameters (?g - goat ?b - bank)
    :precondition (and
      (on ?g ?b) ; [3]
      (boat ?b) ; [3]
      (empty) ; assumed
    )
    :effect (and
      (aboard ?g) ; [3]
      (not (on ?g ?b)) ; [3]
      (not (empty)) ; assumed
    )
  )
  (:action unload ; [3]
    :parameters (?g - goat ?b - bank)
    :precondition (and
      (aboard ?g) ; [3]
      (boat ?b) ; [3]
    )
    :effect (and
      (on ?g ?b) ; [3]
      (empty) ; assumed
      (not (aboard ?g)) ; [3]
    )
  )
  (:action row ; [3]
    :parameters (?a - bank ?b - bank)
    :precondition (boat ?a) ; [3]
    :effect (and
      (boat ?b) ; [3]
      (not (boat ?a)) ; [3]
    )
  )
)
"""

PROBLEM = """(define (problem goats)
  (:domain ferry)
  (:objects
    lotte mia - goat ; [1]
    west east - bank ; [1]
  )
  (:init
    (on lotte west) ; [1]
    (on mia west) ; [1]
    (boat west) ; [2]
    (empty) ; [2]
  )
  (:goal (and
    (on lotte east) ; [4]
    (on mia east) ; [4]
  ))
)
"""

PLAN = """(load lotte west)
(row west east)
(unload lotte east)
(row east west)
(load mia west)
(row west east)
(unload mia east)
"""

BOTH_ABOARD = (
    "(:action load :parameters (?g - goat ?b - bank) :precondition (and (on ?g ?b) (boat ?b)) "
    ":effect (and (aboard ?g) (not (on ?g ?b))))"
)
"""The action of another reading: both goats fit into the boat."""

OTHER_DOMAIN = re.sub(r"\(:action load .*?(?=\(:action unload)", BOTH_ABOARD + "\n  ", DOMAIN, flags=re.S)

READING = f"TASK\n```pddl\n{DOMAIN}```\n```pddl\n{PROBLEM}```"

POINTS = """{"points": [{
  "kind": "capacity",
  "question": "Do both goats fit into the boat?",
  "here": "no: one goat at a time",
  "otherwise": "yes: both goats at once",
  "decided_by": "",
  "change": {"actions": ["%s"]}
}]}""" % BOTH_ABOARD


class Reader:
    """A model that reads every text as the goats."""

    name = "goats-by-hand"

    def __init__(self, points: str = '{"points": []}'):
        self.points = points
        self.requests = 0

    def complete(self, messages, *, n, temperature, seed):
        self.requests += 1
        text = "\n".join(message["content"] for message in messages)
        return [self.points if "Check these kinds of points" in text else READING] * n
