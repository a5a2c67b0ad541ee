(define (domain hall)
  (:requirements :strips :negative-preconditions :constraints :preferences)
  (:predicates (lit) (swept))
  (:action switch-off
    :precondition (lit)
    :effect (not (lit)))
  (:action sweep
    :effect (swept)))
