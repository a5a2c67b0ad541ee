(define (domain errands)
  (:requirements :typing :negative-preconditions :preferences :constraints :action-costs)
  (:types place)
  (:predicates (at ?p - place) (open ?p - place) (visited ?p - place) (raining))
  (:functions (total-cost) - number)
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and (at ?from) (preference dry (not (raining))))
    :effect (and (not (at ?from)) (at ?to) (increase (total-cost) 2)))
  (:action visit
    :parameters (?p - place)
    :precondition (and (at ?p) (open ?p))
    :effect (and (visited ?p) (increase (total-cost) 1))))
