(define (domain bakery)
  (:requirements :strips :typing :durative-actions :numeric-fluents)
  (:types baker dough oven shelf)
  (:predicates)
  (:durative-action knead
    :parameters (?b - baker ?d - dough)
    :duration ()
    :condition (and)
    :effect (and))
  (:durative-action burn
    :parameters (?o - oven)
    :duration ()
    :condition (and)
    :effect (and))
  (:durative-action bake
    :parameters (?d - dough ?s - shelf ?o - oven)
    :duration ()
    :condition (and)
    :effect (and)))
