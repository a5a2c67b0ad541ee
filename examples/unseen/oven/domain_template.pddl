(define (domain oven)
  (:requirements :strips :typing)
  (:types dish heat)
  (:predicates)
  (:action put-in
    :parameters (?d - dish)
    :precondition (and)
    :effect (and))
  (:action take-out
    :parameters (?d - dish)
    :precondition (and)
    :effect (and))
  (:action turn-up
    :parameters (?h ?g - heat)
    :precondition (and)
    :effect (and))
  (:action turn-down
    :parameters (?h ?g - heat)
    :precondition (and)
    :effect (and))
  (:action bake
    :parameters (?h - heat)
    :precondition (and)
    :effect (and)))
