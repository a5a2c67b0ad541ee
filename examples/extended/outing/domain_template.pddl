(define (domain outing)
  (:requirements :strips :typing)
  (:types place ticket)
  (:predicates)
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and)
    :effect (and))
  (:action visit
    :parameters (?p - place ?t - ticket)
    :precondition (and)
    :effect (and))
  (:action look-around
    :parameters (?p - place)
    :precondition (and)
    :effect (and))
  (:action have-lunch
    :parameters (?p - place)
    :precondition (and)
    :effect (and)))
