(define (domain miconic)
  (:requirements :strips :typing)
  (:types floor passenger)
  (:predicates)
  (:action go-up
    :parameters (?from ?to - floor)
    :precondition (and)
    :effect (and))
  (:action go-down
    :parameters (?from ?to - floor)
    :precondition (and)
    :effect (and))
  (:action enter
    :parameters (?p - passenger ?f - floor)
    :precondition (and)
    :effect (and))
  (:action leave
    :parameters (?p - passenger ?f - floor)
    :precondition (and)
    :effect (and)))
