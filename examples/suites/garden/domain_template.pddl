(define (domain garden)
  (:requirements :strips :typing)
  (:types place - object bed tap - place)
  (:predicates)
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and)
    :effect (and))
  (:action fill
    :parameters (?t - tap)
    :precondition (and)
    :effect (and))
  (:action water
    :parameters (?b - bed)
    :precondition (and)
    :effect (and))
  (:action pick
    :parameters (?b - bed)
    :precondition (and)
    :effect (and)))
