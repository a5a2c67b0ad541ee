; Written for planforge: bread is baked while a wood fire burns; who kneads has no hand free.
(define (domain bakery)
  (:requirements :strips :typing :durative-actions :numeric-fluents)
  (:types baker dough oven shelf)
  (:predicates
    (free ?b - baker)
    (raw ?d - dough)
    (kneaded ?d - dough)
    (baked ?d - dough)
    (has-wood ?o - oven)
    (burning ?o - oven)
    (shelf-of ?s - shelf ?o - oven)
    (empty ?s - shelf))
  (:functions
    (kneading-time ?d - dough)
    (baking-time ?d - dough)
    (burning-time ?o - oven))
  (:durative-action knead
    :parameters (?b - baker ?d - dough)
    :duration (= ?duration (kneading-time ?d))
    :condition (and (at start (free ?b)) (at start (raw ?d)))
    :effect (and
      (at start (not (free ?b)))
      (at start (not (raw ?d)))
      (at end (free ?b))
      (at end (kneaded ?d))))
  (:durative-action burn
    :parameters (?o - oven)
    :duration (= ?duration (burning-time ?o))
    :condition (at start (has-wood ?o))
    :effect (and
      (at start (not (has-wood ?o)))
      (at start (burning ?o))
      (at end (not (burning ?o)))))
  (:durative-action bake
    :parameters (?d - dough ?s - shelf ?o - oven)
    :duration (= ?duration (baking-time ?d))
    :condition (and
      (at start (kneaded ?d))
      (at start (empty ?s))
      (at start (shelf-of ?s ?o))
      (over all (burning ?o)))
    :effect (and
      (at start (not (kneaded ?d)))
      (at start (not (empty ?s)))
      (at end (empty ?s))
      (at end (baked ?d)))))
