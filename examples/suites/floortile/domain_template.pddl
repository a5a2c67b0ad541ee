(define (domain floortile)
  (:requirements :strips :typing)
  (:types robot tile paint)
  (:predicates)
  (:action step-north
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and)
    :effect (and))
  (:action step-south
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and)
    :effect (and))
  (:action step-east
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and)
    :effect (and))
  (:action step-west
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and)
    :effect (and))
  (:action paint-north
    :parameters (?r - robot ?here ?there - tile ?p - paint)
    :precondition (and)
    :effect (and))
  (:action paint-south
    :parameters (?r - robot ?here ?there - tile ?p - paint)
    :precondition (and)
    :effect (and))
  (:action swap-paint
    :parameters (?r - robot ?old ?new - paint)
    :precondition (and)
    :effect (and)))
