(define (domain kiosk)
  (:requirements :typing :negative-preconditions :preferences)
  (:types thing)
  (:predicates (have ?t - thing) (bag))
  (:action buy
    :parameters (?t - thing)
    :precondition (and (not (have ?t)) (preference tidy (bag)))
    :effect (have ?t))
  (:action fetch
    :parameters ()
    :effect (bag)))
