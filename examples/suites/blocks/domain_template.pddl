(define (domain blocks)
  (:requirements :strips :typing)
  (:types block)
  (:predicates)
  (:action lift
    :parameters (?b - block)
    :precondition (and)
    :effect (and))
  (:action lower
    :parameters (?b - block)
    :precondition (and)
    :effect (and))
  (:action stack
    :parameters (?upper ?lower - block)
    :precondition (and)
    :effect (and))
  (:action unstack
    :parameters (?upper ?lower - block)
    :precondition (and)
    :effect (and)))
